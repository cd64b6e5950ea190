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

unsigned cq_report_at_work(const struct queue_view *v, const struct nocap_wait *base)
{
    const struct model *m = v->t->m;
    unsigned found = 0;
    for (uint32_t i = 0; i < m->tiles.count; i++) {
        const struct tile *tile = m->tiles.met[i];
        if (tile->chip == v->q->chip && tile->sees_cores && tile->launch.active == YES &&
            queue_at(m, tile->chip, tile->at) == NULL) {
            struct nocap_wait w = *base;
            w.by = wait_party_at(v->t, NOCAP_BY_BRISC, tile->at);
            wait_report(v->t, &w);
            found++;
        }
    }
    return found;
}

/* Whether as many have come as there were go words: whoever is not seen to announce has done so. */
static bool all_answered(const struct queue_view *v, const struct cq_stream *s, uint32_t have)
{
    return v->q->sees_noc && s->settled && have >= s->goes;
}

/* The stream that the go words name instead of the one that is waited for, and that no command
 * speaks of; CQ_STREAMS: none. */
static unsigned named_instead(const struct queue_view *v, const struct cq_asked *asked)
{
    const unsigned first = v->q->numbers->first_stream;
    unsigned meant = 0, i = 0;
    uint64_t from = v->q->published > CQ_RECORDS ? v->q->published - CQ_RECORDS : 0;
    for (uint64_t n = from; n < v->q->published; n++) {
        const struct cq_brief *b = &cq_record(v->q, n)->brief;
        uint32_t stream = (uint32_t)b->stream - first;
        meant |= b->known && stream < CQ_STREAMS ? 1u << stream : 0;
    }
    while (i < CQ_STREAMS &&
           (i == asked->stream || (meant >> i & 1) != 0 || v->q->dispatcher.streams[i].goes == 0)) {
        i++;
    }
    return i;
}

/* Why no more announcements come: the host asks for more than it sends go words, or these name
 * another stream; whoever sends them left some out; or it is not known which of the two. No agent
 * has to act but for the last: it waits in vain. */
static void report_go_words(const struct queue_view *v, const struct cq_asked *asked,
                            struct nocap_wait *w, char *what, size_t at)
{
    const struct cq_stream *streams = v->q->dispatcher.streams;
    const struct cq_brief *b = asked->command;
    const uint64_t goes = streams[asked->stream].goes;
    const unsigned other = named_instead(v, asked);
    const bool sends = b->sent.known && b->count <= b->sent.v;
    w->release = "go messages to as many workers, or a count of those that were sent";
    if (other < CQ_STREAMS) {
        snprintf(what + at, WAIT_TEXT - at, "; stream %u is named by %llu go messages instead",
                 v->q->numbers->first_stream + other, wide(streams[other].goes));
    } else if (b->sent.known && !sends) {
        snprintf(what + at, WAIT_TEXT - at,
                 "; the host, which enqueued it at index %llu, sends %u go messages before it, and "
                 "no answer to them is missing",
                 wide(b->at.index), b->sent.v);
    } else {
        snprintf(what + at, WAIT_TEXT - at,
                 "; %llu go messages were sent for it, and no answer to them is missing",
                 wide(goes));
    }
    if (other == CQ_STREAMS && sends && v->q->numbers->dispatchers > 1 && !asked->own) {
        w->by = cq_subordinate_party(v);
        w->release = "the go messages that were left out";
    }
}

/* Whether go words are missing that the subordinate dispatcher is to send: those of commands that
 * it has not finished, or that it left out. Then it is the one to wait for. */
static bool lacks_go_words(const struct queue_view *v, const struct cq_asked *asked,
                           struct nocap_wait *w, char *what, size_t n)
{
    const struct cq_stream *s = &v->q->dispatcher.streams[asked->stream];
    const struct cq_subordinate *by = &v->q->subordinate;
    bool enough = s->settled && asked->command->count <= s->goes;
    unsigned launches = v->launches[asked->stream];
    if (enough || (launches == 0 && by->left_out == 0)) {
        return false;
    }
    if (asked->own && by->left_out == 0) {
        return false;
    }
    if (asked->own) {
        snprintf(what + n, WAIT_TEXT - n, "; it left out %u go messages itself", by->left_out);
        return true;
    }
    w->by = cq_subordinate_party(v);
    w->release = "the subordinate dispatcher sends go messages";
    if (launches > 0) {
        snprintf(what + n, WAIT_TEXT - n,
                 "; the subordinate dispatcher has not finished %u SEND_GO_SIGNAL for it",
                 launches);
    } else {
        snprintf(what + n, WAIT_TEXT - n, "; the subordinate dispatcher left out %u go messages",
                 by->left_out);
    }
    return true;
}

bool cq_wants_workers(const struct queue_view *v, const struct cq_asked *asked,
                      struct nocap_wait *w, char *what)
{
    const struct cq_stream *s = &v->q->dispatcher.streams[asked->stream];
    const uint32_t count = asked->command->count;
    const unsigned number = v->q->numbers->first_stream + asked->stream;
    const uint64_t where = nocap_stream_address(number, NOCAP_STREAM_SPACE_AVAILABLE);
    bool polls = asked->poll != NULL && asked->poll->addr == where;
    uint32_t have = polls ? (uint32_t)asked->poll->value : asked->value;
    uint32_t ahead = (have - count) << (32 - v->q->numbers->count_bits);
    bool come = count == 0 || ((polls || asked->read) && (int32_t)ahead >= 0);
    const uint32_t looks = NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO;
    bool shown = (v->t->m->header->observes & looks) == looks; /* it would be seen to look */
    if (come || (!polls && shown)) {
        return false;
    }
    int n = WHAT("%u notifies of workers on stream %u", count, number);
    wait_since(w, polls ? asked->poll->since : asked->command->at);
    w->index = asked->index;
    w->counted = v->q->sees_noc;
    w->have = have;
    w->need = count;
    wait_place(w, where, 4);
    bool missing = !all_answered(v, s, have) && report_missing(v, w, asked->stream) != 0;
    if (lacks_go_words(v, asked, w, what, (size_t)n)) {
        return true;
    }
    if (missing) {
        *what = '\0'; /* all is reported */
    } else if (all_answered(v, s, have)) {
        report_go_words(v, asked, w, what, (size_t)n);
    } else if (v->q->sees_noc && s->settled) {
        snprintf(what + n, WAIT_TEXT - (size_t)n,
                 "; %llu go messages were sent and no worker is left to notify", wide(s->goes));
    } else if (cq_report_at_work(v, w) > 0) {
        *what = '\0';
    } else {
        snprintf(what + n, WAIT_TEXT - (size_t)n, "; which of them are missing is not observed");
    }
    return true;
}
