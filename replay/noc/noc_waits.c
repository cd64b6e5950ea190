/* SPDX-License-Identifier: Apache-2.0 */
/* What the cores of a tile say that they wait for, in notes. */
#include <inttypes.h>
#include <stdio.h>

#include "replay/core/progress.h"
#include "replay/core/wait_builder.h"
#include "replay/noc/noc_private.h"

static void report_said(const struct wait_builder *t, unsigned agent, const struct noc_wait *said)
{
    struct nocap_wait w = wait_begin(t, agent, said->since);
    char what[WAIT_TEXT], requests[160];
    w.said = true;
    if (said->semaphore) {
        w.what = "waits for a semaphore in its L1";
        w.state = "waiting for a semaphore";
        w.release = "a change of the semaphore";
        wait_report(t, &w);
        return;
    }
    const struct progress_requests *r = &progress_of(t->tile)->requests[said->noc][said->kind];
    wait_describe_requests(r, said->kind, requests, sizeof requests);
    snprintf(what, sizeof what, "waits for its %ss on noc%u%s%s", wait_request_name(said->kind),
             said->noc, r->issued > 0 ? ": " : "", r->issued > 0 ? requests : "");
    w.what = what;
    w.state = "in a NOC barrier";
    w.release = "the answers to its requests";
    wait_report(t, &w);
}

void noc_tile_waits(const struct wait_builder *t)
{
    if (t->tile->launch.in_reset) {
        return;
    }
    for (unsigned p = 0; p < CORES; p++) {
        unsigned agent = nocap_cores[p].agent;
        const struct noc_wait *said = noc_waiting(t->tile, agent);
        if (said != NULL && said->polls == 0) { /* polls tell more */
            report_said(t, agent, said);
        }
    }
}
