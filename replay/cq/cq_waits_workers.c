/* SPDX-License-Identifier: Apache-2.0 */
/* Who keeps a dispatcher that waits for announcements of workers: workers, the subordinate
 * dispatcher that sends their go words, or the host that asks for too many. */
#include <stdio.h>

#include "replay/cq/cq_waits.h"

/* BRISC of a worker that stored DONE and did not announce it. */
static void report_unannounced(const struct queue_view *v, struct nocap_xy at)
{
    struct wait_builder t = *v->t;
    t.tile = tile_find(t.m, 0, at);
    if (t.tile != NULL) {
        struct nocap_wait w = wait_begin(&t, NOCAP_BY_BRISC, t.tile->launch.done);
        w.what = "stored DONE and never notified the dispatcher";
        w.state = "after its launch";
        w.release = "an inline write of 0x40 to the dispatcher's stream";
        wait_report(&t, &w);
    }
}

static bool is_missing(const struct cq_worker *worker, unsigned offset)
{
    bool missing = worker->notify_pending || (worker->go && worker->since != FAULT_NONE);
    return missing && worker->offset == offset;
}

static struct nocap_xy worker_place(unsigned i)
{
    return (struct nocap_xy){(uint8_t)(i % NOCAP_GRID_WIDTH), (uint8_t)(i / NOCAP_GRID_WIDTH)};
}

/* Whether those whose announcements the trace would show are all that the count lacks: the others
 * have sent theirs. */
static bool seen_are_all(const struct queue_view *v, uint32_t have, unsigned offset)
{
    const struct cq_stream *s = &v->q->dispatcher.streams[offset];
    uint64_t seen = 0;
    for (unsigned i = 0; i < CQ_TILES; i++) {
        seen += is_missing(&v->q->workers[i], offset) && cq_set_has(&v->q->owing, worker_place(i));
    }
    return s->settled && s->goes > have && seen >= s->goes - have;
}

/* The workers of which an announcement is missing, each as one to wait for. Their number. */
static unsigned report_missing(const struct queue_view *v, const struct nocap_wait *base,
                               unsigned offset)
{
    unsigned found = 0;
    bool seen_only = seen_are_all(v, (uint32_t)base->have, offset);
    for (unsigned i = 0; i < CQ_TILES; i++) {
        struct nocap_xy at = worker_place(i);
        const struct cq_worker *worker = &v->q->workers[i];
        if (!is_missing(worker, offset) || (seen_only && !cq_set_has(&v->q->owing, at))) {
            continue;
        }
        struct nocap_wait w = *base;
        w.by = wait_party_at(v->t, NOCAP_BY_BRISC, at);
        wait_report(v->t, &w);
        found++;
        if (worker->done == YES) {
            report_unannounced(v, at);
        }
    }
    return found;
}

/* Whether as many have come as there were go words: whoever is not seen to announce has done so. */
static bool all_answered(const struct queue_view *v, const struct cq_stream *s, uint32_t have)
{
    return v->q->sees_noc && s->settled && have >= s->goes;
}

/* Why no more announcements come. */
static void report_go_words(char *what, size_t at, const struct queue_view *v,
                            const struct cq_stream *s)
{
    const struct cq_stream *streams = v->q->dispatcher.streams;
    for (unsigned i = 0; s->goes == 0 && i < CQ_STREAMS; i++) {
        if (streams[i].goes > 0) {
            snprintf(what + at, WAIT_TEXT - at, "; the %llu go messages name stream %u instead",
                     wide(streams[i].goes), v->q->numbers->first_stream + i);
            return;
        }
    }
    snprintf(what + at, WAIT_TEXT - at, "; %llu go messages were sent for it, and all are answered",
             wide(s->goes));
}

/* Whether go words are missing that the subordinate dispatcher is to send: those of commands that
 * it has not finished, or that it left out. Then it is the one to wait for. */
static bool lacks_go_words(const struct queue_view *v, const struct cq_asked *asked,
                           struct nocap_wait *w, char *what, size_t n)
{
    const struct cq_stream *s = &v->q->dispatcher.streams[asked->stream];
    const struct cq_subordinate *by = &v->q->subordinate;
    bool enough = s->settled && asked->count <= s->goes;
    unsigned launches = v->launches[asked->stream];
    if (enough || (launches == 0 && by->left_out == 0)) {
        return false;
    }
    if (asked->own && by->left_out == 0) {
        return false;
    }
    if (asked->own) {
        snprintf(what + n, WAIT_TEXT - n, "; it left out %u go message%s itself", by->left_out,
                 by->left_out > 1 ? "s" : "");
        return true;
    }
    w->by = cq_subordinate_party(v);
    w->release = "the subordinate dispatcher sends go messages";
    if (launches > 0) {
        snprintf(what + n, WAIT_TEXT - n,
                 "; the subordinate dispatcher has not finished %u SEND_GO_SIGNAL for it",
                 launches);
    } else {
        snprintf(what + n, WAIT_TEXT - n, "; the subordinate dispatcher left out %u go message%s",
                 by->left_out, by->left_out > 1 ? "s" : "");
    }
    return true;
}

bool cq_wants_workers(const struct queue_view *v, const struct cq_asked *asked,
                      struct nocap_wait *w, char *what)
{
    const struct cq_stream *s = &v->q->dispatcher.streams[asked->stream];
    const unsigned number = v->q->numbers->first_stream + asked->stream;
    const uint64_t where = nocap_stream_address(number, NOCAP_STREAM_SPACE_AVAILABLE);
    bool polls = asked->poll != NULL && asked->poll->addr == where;
    uint32_t have = polls ? (uint32_t)asked->poll->value : asked->value;
    uint32_t ahead = (have - asked->count) << (32 - v->q->numbers->count_bits);
    bool come = asked->count == 0 || ((polls || asked->read) && (int32_t)ahead >= 0);
    if (come || (!polls && v->q->sees_loads)) {
        return false;
    }
    int n = WHAT("%u notifies of workers on stream %u", asked->count, number);
    wait_since(w, polls ? asked->poll->since : asked->at);
    w->index = asked->index;
    w->counted = v->q->sees_noc;
    w->have = have;
    w->need = asked->count;
    wait_place(w, where, 4);
    bool missing = !all_answered(v, s, have) && report_missing(v, w, asked->stream) != 0;
    if (lacks_go_words(v, asked, w, what, (size_t)n)) {
        return true;
    }
    if (missing) {
        *what = '\0'; /* all is reported */
    } else if (all_answered(v, s, have)) {
        w->by = (struct nocap_party){.agent = NOCAP_BY_HOST, .job = -1};
        w->release = "the host, which enqueued it, waits for as many as it sends go messages";
        report_go_words(what, (size_t)n, v, s);
    } else if (v->q->sees_noc) {
        snprintf(what + n, WAIT_TEXT - (size_t)n,
                 "; %llu go messages were sent and no worker is left to notify", wide(s->goes));
    }
    return true;
}
