/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/trace_input.h"
#include "formats/trace/recompress.h"

struct settings {
    const char *output;
    struct cli_number level;
    bool dense;
};

static const struct cli_option options[] = {
    CLI_OUTPUT_TRACE(struct settings),
    {"level", "N", "of zstd, 1 to 22: what is smaller takes longer (19)",
     offsetof(struct settings, level), CLI_NUMBER, 0},
    CLI_DENSE(struct settings),
};

static void print_result(const struct cli_call *call, uint64_t before,
                         const struct nocap_trace_totals *now)
{
    double each = now->events == 0 ? 0.0 : (double)now->bytes / (double)now->events;
    cli_message(call,
                "%" PRIu64 " event%s, %" PRIu64 " bytes in, %" PRIu64
                " bytes out, %.2f bytes an event",
                now->events, now->events == 1 ? "" : "s", before, now->bytes, each);
}

static int recompress(const struct cli_call *call, struct nocap_reader *reader)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    struct cli_progress progress;
    struct nocap_trace_totals before = {0}, now;
    bool whole;
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    (void)nocap_reader_totals(reader, &before);
    cli_progress_start(&progress, "recompress", "events");
    const struct nocap_recompress_options how = {.size = sizeof how,
                                                 .level = (int)s->level.value,
                                                 .dense = s->dense,
                                                 .progress = cli_progress_show,
                                                 .context = &progress};
    status = nocap_recompress(reader, output.fd, &how, &now, &whole, &err);
    cli_progress_end(&progress);
    if (status == NOCAP_OK && !whole) {
        cli_output_abandon(&output);
        cli_message(call, "nothing is made of a trace that lacks events");
        return cli_trace_damage(call, reader);
    }
    int result = cli_output_finish(&output, call, status, &err);
    if (result == CLI_EXIT_OK) {
        print_result(call, before.bytes, &now);
    }
    return result;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_reader *reader;
    if (s->output == NULL) {
        return cli_usage(call, "no output: -o OUT is needed, - is standard output");
    }
    if (s->level.given && (s->level.value < 1 || s->level.value > NOCAP_RECOMPRESS_LEVEL_MAX)) {
        return cli_usage(call, "--level takes 1 to %d", NOCAP_RECOMPRESS_LEVEL_MAX);
    }
    enum nocap_status status = nocap_reader_open(&reader, call->operands.items[0], &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    int result = recompress(call, reader);
    nocap_reader_close(reader);
    return result;
}

CLI_COMMAND(command) = {
    .name = "recompress",
    .operands = "IN -o OUT",
    .summary = "make a trace smaller, for archives",
    .details = "OUT is a trace of the same events under the same header, which dumps and\n"
               "checks the same: in the newest version of the file format, in larger blocks,\n"
               "compressed harder. IN is a .nocap file, - is standard input; nothing is made\n"
               "of one that is damaged or cut short.",
    .findings = "IN is damaged or cut short: there is no OUT",
    .examples = "  nocap recompress run.nocap -o run-small.nocap\n"
                "  nocap recompress --level 12 run.nocap -o - | ssh archive 'cat >run.nocap'",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .makes = CLI_MAKES_TRACE,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
