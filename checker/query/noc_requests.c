/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/query/noc_requests.h"

#include <stdlib.h>

#include "replay/core/engine.h"

struct nocap_requests {
    const struct nocap_header *header;
    struct nocap_noc_stats *stats;
    struct nocap_engine *engine;
    bool full; /* without memory */
};

static void requested(void *context, const struct nocap_event *request)
{
    struct nocap_requests *r = context;
    r->full |= !nocap_noc_stats_add(r->stats, request);
}

enum nocap_status nocap_requests_new(struct nocap_requests **requests,
                                     const struct nocap_header *header,
                                     struct nocap_noc_stats *stats, struct nocap_error *err)
{
    static const bool nothing[NOCAP_RULE_COUNT]; /* is judged */
    struct nocap_requests *r = calloc(1, sizeof *r);
    RETURN_ERROR_IF(r == NULL, err, NOCAP_E_MEMORY, "out of memory");
    r->stats = stats;
    r->header = header;
    const struct nocap_engine_options options = {
        .size = sizeof options, .observable = nothing, .context = r, .requested = requested};
    enum nocap_status status = nocap_engine_new(&r->engine, header, &options, err);
    if (status != NOCAP_OK) {
        free(r);
        return status;
    }
    *requests = r;
    return NOCAP_OK;
}

void nocap_requests_free(struct nocap_requests *r)
{
    if (r != NULL) {
        nocap_engine_free(r->engine);
        free(r);
    }
}

enum nocap_status nocap_requests_feed(void *requests, const struct nocap_event *events,
                                      size_t count, struct nocap_error *err)
{
    struct nocap_requests *r = requests;
    for (size_t i = 0; i < count; i++) {
        if (nocap_header_event_problem(r->header, &events[i]) == NULL) {
            r->full |= !nocap_noc_stats_add(r->stats, &events[i]);
        }
    }
    RETURN_ERROR_IF(r->full, err, NOCAP_E_MEMORY, "out of memory");
    return nocap_engine_feed(r->engine, events, count, err);
}
