/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/trace_input.h"
#include "formats/import/import.h"

struct settings {
    const char *output;
    unsigned arch; /* enum nocap_arch */
    bool dense;
};

static const struct cli_option options[] = {
    CLI_OUTPUT_TRACE(struct settings),
    {"arch", "blackhole|wormhole",
     "the machine, for formats that do not say it: noc-json\n"
     "(blackhole)",
     offsetof(struct settings, arch), CLI_CHOICE, 0},
    CLI_DENSE(struct settings),
};

static void print_formats(FILE *out, const void *what)
{
    (void)what;
    for (size_t i = 0; i < nocap_import_format_count; i++) {
        fprintf(out, "%-12s%s\n", nocap_import_formats[i].name, nocap_import_formats[i].summary);
    }
}

static int list(void)
{
    cli_print_folded(print_formats, NULL);
    return CLI_EXIT_OK;
}

static void print_result(const struct cli_call *call, const struct nocap_import_result *r)
{
    double each = r->events == 0 ? 0.0 : (double)r->bytes_out / (double)r->events;
    cli_message(call,
                "%" PRIu64 " event%s, %" PRIu64 " bytes in, %" PRIu64
                " bytes out, %.2f bytes an event",
                r->events, r->events == 1 ? "" : "s", r->bytes_in, r->bytes_out, each);
    if (r->dense) {
        cli_message(call, "more than 256 events for each byte of the input: the rest is left out "
                          "(--dense reads it)");
    }
    for (size_t i = 0; i < r->remark_count; i++) {
        cli_message(call, "%" PRIu64 " %s", r->remarks[i].count, r->remarks[i].text);
    }
}

static int import(const struct cli_call *call, const struct nocap_import_format *format)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    struct cli_progress progress;
    struct nocap_import_result imported;
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    cli_progress_start(&progress, "import", "bytes");
    struct nocap_import_options import_options = {.size = sizeof import_options,
                                                  .progress = cli_progress_show,
                                                  .context = &progress,
                                                  .arch = (enum nocap_arch)s->arch,
                                                  .dense = s->dense};
    status = nocap_import(format, call->operands.items + 1, call->operands.count - 1, output.fd,
                          &import_options, &imported, &err);
    cli_progress_end(&progress);
    int result = cli_output_finish(&output, call, status, &err);
    if (result == CLI_EXIT_OK && status == NOCAP_OK) { /* not: the reader of the pipe went away */
        print_result(call, &imported);
        cli_import_malformed(call, call->operands.items[1], &imported);
        bool left_out = imported.malformed + imported.broken_line != 0 || imported.dense;
        result = left_out ? CLI_EXIT_FINDINGS : CLI_EXIT_OK;
    }
    return result;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    const char *name = call->operands.items[0];
    if (strcmp(name, "list") == 0) {
        return call->operands.count == 1 ? list() : cli_usage(call, "list takes nothing more");
    }
    const struct nocap_import_format *format = nocap_import_format_find(name);
    if (format == NULL) {
        return cli_usage(call, "there is no format '%.100s'; nocap import list names them", name);
    }
    if (call->operands.count == 1) {
        return cli_usage(call, "no input: nocap import %s IN -o OUT", name);
    }
    if (!format->takes_arch && s->arch != NOCAP_ARCH_BLACKHOLE) {
        return cli_usage(call, "--arch is not for %s, which says it itself", name);
    }
    if (s->output == NULL) {
        return cli_usage(call, "no output: -o OUT is needed, - is standard output");
    }
    return import(call, format);
}

CLI_COMMAND(command) = {
    .name = "import",
    .operands = "FORMAT IN... -o OUT | list",
    .summary = "make a .nocap file of another form of trace",
    .details = "IN may be compressed with zstd; - is standard input. Lines that are no event\n"
               "stay in the trace as they are, where check reports them. Several files of\n"
               "noc-json make one trace; a device stays a chip.",
    .findings =
        "lines were no events, or what is too dense was left out; OUT was written all the same",
    .examples = "  nocap import jsonl run.jsonl.zst -o run.nocap\n"
                "  my-simulator | nocap import jsonl - -o run.nocap\n"
                "  nocap import noc-json --arch wormhole noc_trace_dev*.json -o run.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .makes = CLI_MAKES_TRACE,
    .operands_min = 1,
    .operands_max = CLI_MANY,
    .run = run,
};
