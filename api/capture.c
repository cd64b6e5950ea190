/* SPDX-License-Identifier: Apache-2.0 */
/* Begin and end of a capture. The calls that record one event are the recorder's own. */
#include "capture/recorder/capture.h"
#include "api/api.h"
#include <string.h>

#include "formats/trace/header.h"
#include "formats/trace/jsonl.h"

/* Who records knows what he records: a class that there is not would leave rules unjudged. */
static enum nocap_status check_observes(const struct nocap_header *header, struct nocap_error *err)
{
    const char *name;
    char text[200];
    for (size_t i = 0; (name = nocap_header_observed(header, i)) != NULL; i++) {
        RETURN_ERROR_IF(nocap_class_unknown(name, text, sizeof text), err, NOCAP_E_USAGE,
                        "`observes` of the header: %s", text);
    }
    return NOCAP_OK;
}

enum nocap_status nocap_capture_open(struct nocap_capture **capture, const char *path,
                                     const struct nocap_trace_header *header,
                                     const struct nocap_capture_open_options *options,
                                     struct nocap_error *err)
{
    struct nocap_capture_open_options o;
    struct nocap_header full;
    RETURN_IF_FAILED(api_take(&o, sizeof o, options, "nocap_capture_open_options", err));
    RETURN_IF_FAILED(api_header(&full, header, err));
    if (header->json == NULL) {
        full.has_time_unit = false; /* the clock says it */
    }
    const struct nocap_capture_options inside = {.size = sizeof inside,
                                                 .policy = o.policy,
                                                 .clock = o.clock,
                                                 .fork = o.fork,
                                                 .ring_bytes = o.ring_bytes,
                                                 .flush_interval = o.flush_interval,
                                                 .level = o.level,
                                                 .one_source = o.one_source};
    enum nocap_status status = check_observes(&full, err);
    if (status == NOCAP_OK) {
        status = nocap_recorder_open(capture, path, &full, &inside, err);
    }
    nocap_header_free(&full);
    return status;
}

enum nocap_status nocap_capture_close(struct nocap_capture *capture,
                                      struct nocap_capture_sums *sums, struct nocap_error *err)
{
    struct nocap_capture_totals totals;
    enum nocap_status status = nocap_recorder_close(capture, &totals, err);
    const struct nocap_capture_sums s = {.size = sizeof s,
                                         .events = totals.events,
                                         .bytes = totals.bytes,
                                         .dropped = totals.dropped,
                                         .seconds = totals.seconds};
    if (sums != NULL && api_give(sums, &s, sizeof s) != NOCAP_OK && status == NOCAP_OK) {
        status = nocap_fail(err, NOCAP_E_USAGE, "struct nocap_capture_sums does not say its size");
    }
    return status;
}

bool nocap_capture_event(struct nocap_capture *capture, const struct nocap_event *event)
{
    struct nocap_event room;
    event = api_event(&room, event);
    return event != NULL && nocap_recorder_event(capture, event);
}

struct record {
    struct nocap_capture *capture;
    bool safe;
};

static void record(void *context, const struct nocap_event *event)
{
    struct record *r = context;
    r->safe = nocap_recorder_event(r->capture, event);
}

enum nocap_status nocap_capture_event_json(struct nocap_capture *capture, const char *line,
                                           bool *recorded, struct nocap_error *err)
{
    struct record r = {.capture = capture};
    enum nocap_status status = nocap_jsonl_parse_line(line, strlen(line), record, &r, err);
    if (recorded != NULL) {
        *recorded = r.safe;
    }
    return status;
}
