/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace_input.h"

#include <inttypes.h>

int cli_trace_open(const struct cli_call *call, const char *path, bool dense,
                   struct nocap_reader **reader, struct nocap_import_result *imported)
{
    struct nocap_error err = {{0}};
    struct nocap_import_result result;
    enum nocap_status status = nocap_import_open(reader, path, dense, &result, &err);
    if (imported != NULL) {
        *imported = result;
    }
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    char text[NOCAP_RINGS_TEXT];
    nocap_rings_describe(&result.recovered, path, text, sizeof text);
    if (text[0] != '\0') {
        cli_message(call, "%s", text);
    }
    return CLI_EXIT_OK;
}

int cli_trace_damage(const struct cli_call *call, const struct nocap_reader *reader)
{
    return cli_damage(call, nocap_reader_integrity(reader));
}

int cli_damage(const struct cli_call *call, const struct nocap_integrity *integrity)
{
    for (size_t i = 0; i < integrity->count && i < NOCAP_DAMAGE_KEPT; i++) {
        const struct nocap_damage *d = &integrity->damage[i];
        cli_message(call, "the trace is damaged at event %" PRIu64 ", byte %" PRIu64 ": %s",
                    d->index, d->offset, d->text);
    }
    if (integrity->count > NOCAP_DAMAGE_KEPT) {
        cli_message(call, "and at %zu more places", integrity->count - NOCAP_DAMAGE_KEPT);
    }
    return integrity->count == 0 ? CLI_EXIT_OK : CLI_EXIT_FINDINGS;
}

void cli_import_malformed(const struct cli_call *call, const char *path,
                          const struct nocap_import_result *result)
{
    if (result->broken_line != 0) {
        cli_message(call,
                    "the input breaks off at line %" PRIu64 ": %s; what stands before it was taken",
                    result->broken_line, result->broken_why);
    }
    if (result->malformed != 0) {
        cli_message(call,
                    "%s: %" PRIu64 " of %" PRIu64 " lines %s; the first is line %" PRIu64 ": %s",
                    path, result->malformed, result->events,
                    result->malformed == 1 ? "is no event" : "are no events",
                    result->malformed_line, result->malformed_why);
    }
}
