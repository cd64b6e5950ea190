/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "checker/core/profile_choice.h"
#include "checker/query/noc_requests.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/trace_input.h"
#include "formats/export/info.h"
#include "formats/profile/profile.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

struct settings {
    unsigned format; /* enum format */
    const char *output, *profile;
    bool noc, dense;
};

static const struct cli_option options[] = {
    {"format", "text|json", "form of the output (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
    CLI_OUTPUT(struct settings),
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
    {"noc", NULL,
     "count NOC requests by type, size, initiator and\n"
     "target too",
     offsetof(struct settings, noc), CLI_FLAG, 0},
};

static void name_profile(struct nocap_info_file *file, const struct nocap_header *header,
                         const struct nocap_profile_choice *choice)
{
    const struct nocap_profile *profile = nocap_header_profile(header, NULL);
    const struct nocap_mailbox_layout *layout = nocap_header_layout(header, NULL);
    if (header->arch == NOCAP_ARCH_BLACKHOLE && profile != NULL && layout != NULL) {
        file->profile = choice->profile[0] != '\0' ? choice->profile : profile->name;
        file->mailbox = choice->layout != NULL ? choice->layout->name : layout->name;
        file->why = choice->unexplained         ? choice->seen
                    : choice->queue_unexplained ? choice->queue_seen
                                                : choice->why;
    }
}

static enum nocap_status print(const struct cli_call *call, struct cli_output *output,
                               const struct nocap_info *info, struct nocap_noc_stats *noc,
                               const struct nocap_reader *reader,
                               const struct nocap_import_result *imported,
                               const struct nocap_profile_choice *choice, struct nocap_error *err)
{
    const struct settings *s = call->settings;
    struct stat st;
    struct nocap_info_file file = {.path = call->operands.items[0],
                                   .imported = imported->bytes_in != 0};
    name_profile(&file, nocap_reader_header(reader), choice);
    if (file.imported) {
        file.bytes = imported->bytes_in;
    } else if (strcmp(file.path, "-") != 0) {
        RETURN_ERROR_IF(stat(file.path, &st) != 0, err, NOCAP_E_INPUT,
                        "cannot find the size of %s: %s", file.path, strerror(errno));
        file.bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    }
    if (s->format == FORMAT_TEXT) {
        cli_output_fold(output);
    }
    FILE *stream = cli_output_stream(output, err);
    if (stream == NULL) {
        return NOCAP_E_OUTPUT;
    }
    if (s->format == FORMAT_JSON) {
        return nocap_info_print_json(stream, info, &file, reader, noc, err);
    }
    nocap_info_print_text(stream, info, &file, reader, noc);
    return NOCAP_OK;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_import_result imported;
    struct nocap_reader *reader;
    struct cli_output output;
    int result = cli_trace_open(call, call->operands.items[0], s->dense, &reader, &imported);
    if (result != CLI_EXIT_OK) {
        return result;
    }
    result = cli_profile_set(call, s->profile, reader);
    if (result != CLI_EXIT_OK) {
        nocap_reader_close(reader);
        return result;
    }
    struct nocap_info info = {0};
    struct nocap_profile_choice choice = {.why = ""};
    struct nocap_noc_stats *noc = s->noc ? nocap_noc_stats_new() : NULL;
    struct nocap_requests *requests = NULL;
    enum nocap_status status = nocap_profile_choose(&choice, reader, call->operands.items[0], &err);
    if (status == NOCAP_OK && s->noc && noc == NULL) {
        status = nocap_fail(&err, NOCAP_E_MEMORY, "out of memory");
    } else if (status == NOCAP_OK && s->noc) {
        status = nocap_requests_new(&requests, nocap_reader_header(reader), noc, &err);
    }
    if (status == NOCAP_OK) {
        status =
            nocap_info_collect(&info, s->noc ? nocap_requests_feed : NULL, requests, reader, &err);
    }
    nocap_requests_free(requests);
    if (status == NOCAP_OK) {
        status = cli_output_open(&output, s->output, &err);
    }
    if (status != NOCAP_OK) {
        result = cli_fail(call, status, &err);
    } else {
        status = print(call, &output, &info, noc, reader, &imported, &choice, &err);
        result = cli_output_finish(&output, call, status, &err);
        if (result == CLI_EXIT_OK) {
            const struct nocap_integrity *integrity = nocap_reader_integrity(reader);
            result =
                integrity->nothing ? cli_trace_damage(call, reader) : cli_damage_status(integrity);
        }
    }
    nocap_noc_stats_free(noc);
    nocap_info_free(&info);
    nocap_reader_close(reader);
    return result;
}

CLI_COMMAND(command) = {
    .name = "info",
    .operands = "TRACE",
    .summary = "show what a trace holds: header, counts, times, size, integrity",
    .details = "TRACE is a .nocap file or JSON Lines, plain or zstd-compressed; - is standard\n"
               "input.",
    .findings = "the trace is damaged; what could be read was counted",
    .examples = "  nocap info boot.nocap\n"
                "  nocap info boot.nocap --format json | jq .kinds",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
