/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "checker/views/watch.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/niu.h"

enum { NAME = 64 };

static uint32_t lane_track(struct watch *w, struct watch_tile *tile, unsigned noc, unsigned lane)
{
    if (tile->requests[noc][lane].track != 0) {
        return tile->requests[noc][lane].track;
    }
    struct nocap_track made = watch_tile_track(tile, NOCAP_TRACK_SLICES);
    made.role = NOCAP_ROLE_REQUEST;
    snprintf(made.name, sizeof made.name, "NIU %u", noc);
    return watch_track(w, &tile->requests[noc][lane].track, &made);
}

/* As far as the models know. */
static void count_open(struct watch *w, struct watch_tile *tile, unsigned noc, uint64_t t)
{
    struct nocap_track made = watch_tile_track(tile, NOCAP_TRACK_COUNTER);
    struct nocap_tile_state s;
    uint64_t open = 0;
    made.bits = 16;
    if (w->leads ||
        !nocap_engine_tile_parts(w->engine, tile->chip, tile->at, NOCAP_STATE_REQUESTS, &s)) {
        return;
    }
    for (unsigned kind = 0; kind < NOCAP_STATE_REQUEST_KINDS; kind++) {
        open += s.requests[noc][kind].issued - s.requests[noc][kind].ended;
    }
    snprintf(made.name, sizeof made.name, "NIU %u open requests", noc);
    nocap_timeline_value(w->tl, watch_track(w, &tile->open_requests[noc], &made), t, open,
                         &watch_counter);
}

static void close_request(struct watch *w, struct watch_tile *tile, unsigned noc, unsigned lane,
                          uint64_t t)
{
    const struct watch_request *r = &tile->requests[noc][lane];
    tile->open[noc] &= ~(1u << lane);
    if (!r->untold) {
        nocap_timeline_end(w->tl, r->track, t);
    }
}

/* A free lane; where all are taken, that of the oldest request, whose end is not shown. */
static unsigned take_lane(struct watch *w, struct watch_tile *tile, unsigned noc, uint64_t t)
{
    const struct watch_request *lanes = tile->requests[noc];
    const unsigned first = (unsigned)__builtin_ctz(~tile->open[noc]);
    unsigned oldest = 0;
    if (first < WATCH_LANES) {
        return first;
    }
    for (unsigned i = 0; i < WATCH_LANES; i++) {
        oldest = lanes[i].index < lanes[oldest].index ? i : oldest;
    }
    if (!lanes[oldest].untold) {
        nocap_timeline_instant(w->tl, lanes[oldest].track, t,
                               &(struct nocap_mark){.name = "end not observed"});
    }
    close_request(w, tile, noc, oldest, t);
    return oldest;
}

static void describe(char name[NAME], const struct nocap_event *e)
{
    const char *op = nocap_op_name(e->op);
    if ((e->has & NOCAP_F_D2) != 0) {
        snprintf(name, NAME, "%s multicast %u,%u..%u,%u", op, e->d.x, e->d.y, e->d2.x, e->d2.y);
    } else if (e->op == NOCAP_OP_READ && (e->has & NOCAP_F_S) != 0) {
        snprintf(name, NAME, "read %u,%u", e->s.x, e->s.y);
    } else if ((e->has & NOCAP_F_D) != 0) {
        snprintf(name, NAME, "%s %u,%u", op, e->d.x, e->d.y);
    } else {
        snprintf(name, NAME, "%s", op);
    }
}

/* In a lane until its end shows; its number. */
static unsigned open_lane(struct watch *w, struct watch_tile *tile, const struct nocap_event *e)
{
    unsigned lane = take_lane(w, tile, e->noc, e->t);
    struct watch_request *r = &tile->requests[e->noc][lane];
    r->index = e->index;
    r->id = e->id;
    r->kind = (uint8_t)nocap_requests_of(e->op);
    r->untold = false;
    tile->open[e->noc] |= 1u << lane;
    r->has_id = (e->has & NOCAP_F_ID) != 0;
    r->posted = e->posted != 0;
    tile->requested[e->noc] = true;
    return lane;
}

/* Whether it tells a dispatcher that a worker is done. */
static bool is_notify(const struct nocap_event *e)
{
    const uint64_t first = nocap_stream_address(NOCAP_NOTIFY_STREAM, NOCAP_STREAM_SPACE_UPDATE);
    return e->op == NOCAP_OP_INLINE && e->daddr >= first &&
           (e->daddr - first) % NOCAP_STREAM_STRIDE == 0 &&
           (e->daddr - first) / NOCAP_STREAM_STRIDE < NOCAP_QUEUE_COUNTERS;
}

/* Nothing answers it, or tells that it left. */
static bool is_never_over(const struct nocap_event *e)
{
    return e->posted && (e->has & NOCAP_F_ID) == 0;
}

static void report_request(struct watch *w, struct watch_tile *tile, const struct nocap_event *e,
                           uint32_t track)
{
    char name[NAME];
    describe(name, e);
    struct nocap_mark mark = watch_mark(name, e);
    const bool reads = e->op == NOCAP_OP_READ;
    watch_add(&mark, reads ? "from" : "to", reads ? e->saddr : e->daddr);
    watch_add(&mark, "bytes", e->size);
    watch_add_text(&mark, "by", nocap_agent_name(e->by));
    mark.request = e;
    if (is_notify(e) && tile->flow != 0) {
        mark.flows = &tile->flow;
        mark.flow_count = 1;
    }
    if (is_never_over(e)) {
        nocap_timeline_instant(w->tl, track, e->t, &mark);
    } else {
        nocap_timeline_begin(w->tl, track, e->t, &mark);
    }
}

static void lead_request(struct watch *w, struct watch_tile *tile, const struct nocap_event *e)
{
    if (is_never_over(e)) {
        return;
    }
    struct watch_request *r = &tile->requests[e->noc][open_lane(w, tile, e)];
    r->untold = true;
    r->issued = *e;
    r->issued.has &= ~NOCAP_F_DATA;
    r->issued.data = NULL;
    r->issued.data_size = 0;
}

void watch_request(struct watch *w, const struct nocap_event *e)
{
    struct watch_tile *tile = e->noc < NOCAP_STATE_NOCS ? watch_tile(w, e->chip, e->at) : NULL;
    if (tile == NULL) {
        return;
    }
    if (w->leads) {
        lead_request(w, tile, e);
        return;
    }
    if (is_never_over(e)) {
        report_request(w, tile, e, lane_track(w, tile, e->noc, 0));
    } else {
        report_request(w, tile, e, lane_track(w, tile, e->noc, open_lane(w, tile, e)));
        count_open(w, tile, e->noc, e->t);
    }
    if (e->op != NOCAP_OP_READ && e->daddr < NOCAP_MAILBOX_END && (e->has & NOCAP_F_D) != 0) {
        watch_mailboxes(w, e, e->d, (e->has & NOCAP_F_D2) != 0 ? e->d2 : e->d);
    }
}

void watch_requests_catch_up(struct watch *w, struct watch_tile *tile, uint64_t t)
{
    for (unsigned noc = 0; noc < NOCAP_STATE_NOCS; noc++) {
        for (uint32_t left = tile->open[noc]; left != 0; left &= left - 1) {
            const unsigned i = (unsigned)__builtin_ctz(left);
            struct watch_request *r = &tile->requests[noc][i];
            if (r->untold) {
                r->untold = false;
                report_request(w, tile, &r->issued, lane_track(w, tile, noc, i));
            }
        }
        if (tile->requested[noc]) {
            count_open(w, tile, noc, t);
        }
    }
}

/* One request, which the phase names. What is not answered is over when it has left. */
void watch_phase(struct watch *w, const struct nocap_event *e)
{
    struct watch_tile *tile = e->noc < NOCAP_STATE_NOCS ? watch_tile(w, e->chip, e->at) : NULL;
    const bool one = tile != NULL && (e->has & NOCAP_F_ID) != 0;
    for (uint32_t left = one ? tile->open[e->noc] : 0; left != 0; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        const struct watch_request *r = &tile->requests[e->noc][i];
        if (r->has_id && r->id == e->id && (e->phase == NOCAP_PHASE_DONE || r->posted)) {
            close_request(w, tile, e->noc, i, e->t);
            count_open(w, tile, e->noc, e->t);
        }
    }
}

void watch_requests_end(struct watch *w, const struct nocap_requests_end *end)
{
    struct watch_tile *tile = watch_tile(w, end->chip, end->at);
    if (tile == NULL) {
        return;
    }
    for (uint32_t left = tile->open[end->noc]; left != 0; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        const struct watch_request *r = &tile->requests[end->noc][i];
        if (r->kind == end->kind && r->index <= end->index) {
            close_request(w, tile, end->noc, i, end->t);
        }
    }
    count_open(w, tile, end->noc, end->t);
}

void watch_requests_forget(struct watch_tile *tile)
{
    memset(tile->open, 0, sizeof tile->open);
}
