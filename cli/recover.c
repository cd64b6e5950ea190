/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/output.h"
#include "formats/rings/recover.h"

int cli_recover(const struct cli_call *call, const char *trace, const char *to)
{
    struct nocap_error err = {{0}};
    struct nocap_recovered recovered;
    struct cli_output output;
    char rings[PATH_MAX], kept[NOCAP_RINGS_PATH] = "";
    int n = snprintf(rings, sizeof rings, "%s" NOCAP_RINGS_SUFFIX, trace);
    if (n >= (int)sizeof rings || access(rings, F_OK) != 0) {
        cli_message(call, "nothing to recover: there is no %s", rings);
        return CLI_EXIT_INPUT;
    }
    enum nocap_status status = cli_output_open(&output, to != NULL ? to : trace, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    status = nocap_rings_recover(trace, output.fd, &recovered, &err);
    if (status == NOCAP_END) {
        status = nocap_fail(&err, NOCAP_E_INPUT,
                            recovered.capturing ? "%s is still being captured"
                                                : "the rings do not belong to %s, or are damaged",
                            trace);
    }
    if (status == NOCAP_OK && to == NULL && recovered.incomplete) {
        status = nocap_rings_set_aside(trace, kept, &err);
    }
    int result = cli_output_finish(&output, call, status, &err);
    if (result != CLI_EXIT_OK) {
        return result;
    }
    cli_message(call, "%" PRIu64 " events were in the rings, %" PRIu64 " dropped", recovered.events,
                recovered.dropped);
    if (to == NULL && !recovered.incomplete) {
        unlink(rings);
    }
    if (!recovered.incomplete) {
        return CLI_EXIT_OK;
    }
    cli_message(call,
                "the trace or a ring is damaged: what could not be read, %" PRIu64
                " bytes of the rings, is left out%s%s",
                recovered.unread, to == NULL ? " and kept in " : "", kept);
    return CLI_EXIT_FINDINGS;
}
