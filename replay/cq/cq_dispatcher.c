/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher at work: what it waits for, what it writes, in which order. Rules CQ-041, CQ-044,
 * CQ-045, CQ-049, CQ-055 to CQ-058. */
#include "formats/blackhole/noc_ends.h"
#include "replay/cq/cq_private.h"

static struct cq_stream *stream_of(struct cq *q, uint64_t stream)
{
    uint64_t i = stream - q->numbers->first_stream;
    return i < CQ_STREAMS ? &q->dispatcher.streams[i] : NULL;
}

/* What the notifies of a stream are known since. */
static fault_id notifies_since(const struct cq *q, const struct cq_stream *s)
{
    return s->since != FAULT_NONE ? s->since : q->expected.launch;
}

void cq_dispatcher_begin(struct cq *q)
{
    for (unsigned i = 0; i < CQ_STREAMS; i++) {
        q->dispatcher.streams[i].fresh = false;
    }
}

void cq_judge_counted(struct cq *q, unsigned stream, uint32_t value, uint32_t want, fault_id since)
{
    struct cq_stream *s = &q->dispatcher.streams[stream];
    uint32_t ahead = (value - want) << (32 - q->numbers->count_bits);
    bool passed = (int32_t)ahead >= 0;
    bool all = !passed || want == 0 || !s->settled || want < s->goes || !q->sees_noc ||
               cq_set_empty(&q->owing);
    since = since == FAULT_NONE && passed && !all ? cq_worker_lost(q) : since;
    cq_blame(&since, passed && !all ? s->since : s->wrong);
    CQ_EXECUTOR_AFTER(
        q, CQ_058, since, passed && all, RELATED(s->index),
        "the dispatcher to continue when all notifies have arrived",
        passed ? "dispatcher continued at %u of %u notifies, but not one from every worker core"
               : "dispatcher continued at %u of %u notifies",
        value, want);
    cq_blame(&s->since, fault_of(q->m, passed)); /* the others come later */
}

/* A WAIT, or the wait that a SEND_GO_SIGNAL begins with, is over. */
static void judge_passed(struct cq *q)
{
    const struct cq_brief *b = &q->ring.brief;
    bool waits =
        b->known && ((b->id == NOCAP_CQ_DISPATCH_WAIT && (b->flags & NOCAP_CQ_WAIT_STREAM) != 0) ||
                     b->id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL);
    struct cq_stream *s = waits ? stream_of(q, b->stream) : NULL;
    if (s != NULL && s->fresh) {
        cq_judge_counted(q, (unsigned)(s - q->dispatcher.streams), s->value, b->count, b->since);
        s->fresh = false;
        if (b->id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL) { /* who runs what is known since */
            cq_blame(&q->expected.launch, q->m->fault);
            cq_blame(&q->expected.launch, b->since);
            cq_blame(&q->expected.launch, s->since);
        }
    }
}

void cq_dispatcher_end(struct cq *q)
{
    judge_passed(q);
}

/* ---- streams ---- */

static void read_count(struct cq *q, struct cq_stream *s, uint32_t value)
{
    const fault_id last = s->read ? s->wrong : FAULT_NONE; /* it has counted on from there */
    s->wrong = FAULT_NONE;
    if (s->settled && q->sees_noc && q->sees[CQ_DISPATCH] && cq_is_placed(q)) {
        /* so are all go messages */
        bool right = value <= s->goes;
        bool stale = !right && s->cleared && value != 0 && value == s->before;
        CQ_EXECUTOR_AFTER(q, CQ_057, notifies_since(q, s), !stale, RELATED(s->index),
                          "a clear of the stream to show in the count read after it",
                          "count %u read after the stream was cleared, as it was before the clear",
                          value);
        s->wrong = fault_of(q->m, !stale);
        if (!stale) {
            CQ_EXECUTOR_AFTER(q, CQ_055, last != FAULT_NONE ? last : notifies_since(q, s), right,
                              RELATED(s->index), "no more notifies than go messages",
                              "notify count %u after %llu go messages", value, wide(s->goes));
            s->wrong = fault_of(q->m, right);
        }
    }
    s->fresh = true;
    s->read = true;
    s->cleared = false;
    s->value = value;
    s->index = q->m->event->index;
}

static void store_update(struct cq *q, struct cq_stream *s, uint32_t value)
{
    const struct cq_brief *b = &q->ring.brief;
    uint32_t want = (0 - s->value) << q->numbers->count_shift;
    if (s->read) {
        CQ_EXECUTOR_AFTER(q, CQ_056, s->wrong, value == want, RELATED(s->index),
                          "a clear that subtracts the count just read",
                          "0x%x stored to clear the stream, the count read was %u", value,
                          s->value);
        cq_blame(&s->wrong, fault_of(q->m, value == want)); /* or it had read another */
    }
    bool clear = b->known && b->id == NOCAP_CQ_DISPATCH_WAIT && q->ring.executing;
    if (clear && s->read && s->settled && b->count == 0) {
        bool all = s->value >= s->goes;
        CQ_EXECUTOR_AFTER(
            q, CQ_049, b->since != FAULT_NONE ? b->since : notifies_since(q, s), all,
            RELATED(s->index), "no notify outstanding when the stream is cleared before a launch",
            "stream cleared when %u of %llu notifies had come", s->value, wide(s->goes));
        cq_resync(q, &s->since, all);
    }
    if (clear) {
        judge_passed(q);
    }
    /* notifies that a WAIT did not wait for come when they come */
    s->goes = s->settled && s->read && s->goes > s->value ? s->goes - s->value : 0;
    s->settled = s->read && value == want && !q->loose;
    s->before = s->value;
    s->cleared = true;
    s->read = false;
}

void cq_dispatcher_extra(struct cq *q, uint64_t stream)
{
    struct cq_stream *s = stream_of(q, stream);
    if (s != NULL) {
        cq_blame(&s->since, q->m->fault);
    }
}

/* ---- loads and stores of the dispatch core ---- */

static void stream_access(struct cq *q, const struct access *a)
{
    uint64_t at = a->addr - NOCAP_BASE_STREAM, index = at % NOCAP_STREAM_STRIDE / 4;
    struct cq_stream *s = stream_of(q, at / NOCAP_STREAM_STRIDE);
    uint32_t value;
    if (s == NULL) {
        return;
    }
    if (!access_word(a, a->addr, &value)) {
        bool count = index == (a->store ? NOCAP_STREAM_SPACE_UPDATE : NOCAP_STREAM_SPACE_AVAILABLE);
        s->fresh &= !count; /* what the dispatcher goes on by was not captured */
        s->read &= !count;
        s->settled &= !(count && a->store);
        return;
    }
    if (!a->store && index == NOCAP_STREAM_SPACE_AVAILABLE) {
        cq_expected_polled(q);
        read_count(q, s, value);
    } else if (a->store && index == NOCAP_STREAM_SPACE_UPDATE) {
        store_update(q, s, value);
    } else if (a->store && index == NOCAP_STREAM_TILES_RECEIVED) { /* here: the size */
        CQ_EXECUTOR(q, CQ_056, false, NO_REFS, "the size of a notify stream not written",
                    "0x%x stored to the size of a notify stream", value);
    }
}

void cq_dispatcher_host_store(struct cq *q, const struct access *a)
{
    uint64_t at = a->addr - NOCAP_BASE_STREAM, index = at % NOCAP_STREAM_STRIDE / 4;
    struct cq_stream *s = stream_of(q, at / NOCAP_STREAM_STRIDE);
    bool size = index == NOCAP_STREAM_TILES_RECEIVED;
    uint32_t value;
    if (s == NULL || (index != NOCAP_STREAM_SPACE_UPDATE && !size) ||
        !access_word(a, a->addr, &value)) {
        return;
    }
    bool up = !size && (int32_t)value >= 0;
    CHECK(q->m, cq_tile(q, CQ_DISPATCH), CQ_056, up, NO_REFS,
          "a notify stream counted down by the dispatcher only, its size not written",
          "0x%x stored to a notify stream by the host", value);
    CHECK(q->m, cq_tile(q, CQ_DISPATCH), CQ_055, !up, NO_REFS,
          "notifies of worker cores that have a go message",
          "0x%x added to a notify stream by the host", value);
}

void cq_dispatcher_core(struct cq *q, const struct access *a)
{
    uint32_t value;
    if (a->addr >= NOCAP_L1_SIZE) {
        stream_access(q, a);
        return;
    }
    if (!a->store && place_has(&q->places.buffer, a->addr)) {
        if (!q->prefetcher.events_seen) {
            cq_ring_read(q, a);
        } else {
            cq_ring_restated(q, a->addr, a->bytes, a->known);
        }
    } else if (touches(a, q->sem[CQ_DISPATCH], 4)) {
        if (!a->store && access_word(a, a->addr, &value)) {
            cq_ring_counter(q, CQ_DISPATCH, value);
        } else if (a->store) {
            CQ_EXECUTOR(q, CQ_041, q->boot[CQ_DISPATCH].running != YES, NO_REFS,
                        "semaphore 0 never stored to by the dispatcher",
                        "dispatcher stored %llu bytes at 0x%llx, over semaphore 0", wide(a->size),
                        wide(a->addr));
        }
    } else if (!a->store || !cq_subordinate_notified(q, a)) {
        cq_completion_core(q, a);
    }
}

/* ---- NOC ---- */

void cq_end_write(struct cq_dispatcher *d, struct cq_write *w)
{
    d->unacked -= w->unacked;
    w->unacked = false;
}

static void remember(struct cq *q, const struct nocap_event *e)
{
    struct cq_dispatcher *d = &q->dispatcher;
    struct cq_write *w = &d->writes[d->write_count++ % CQ_WRITES];
    cq_end_write(d, w); /* who knows: it is not remembered any longer */
    bool named = (e->has & NOCAP_F_ID) != 0;
    *w = (struct cq_write){.id = named ? e->id : UINT64_MAX,
                           .index = e->index,
                           .page = q->ring.consumed,
                           .mcast = e->mcast != 0,
                           .unacked = e->mcast != 0 && named};
    d->unacked += w->unacked;
}

struct cq_write *cq_unacked(struct cq_dispatcher *d)
{
    uint64_t from = d->write_count > CQ_WRITES ? d->write_count - CQ_WRITES : 0;
    for (uint64_t i = from; d->unacked != 0 && i < d->write_count; i++) {
        if (d->writes[i % CQ_WRITES].unacked) {
            return &d->writes[i % CQ_WRITES];
        }
    }
    return NULL;
}

/* A go word leaves: what it depends on must have arrived. */
static void judge_arrived(struct cq *q, const struct nocap_event *e)
{
    struct cq_dispatcher *d = &q->dispatcher;
    const struct cq_brief *b = &q->ring.brief;
    if (!d->acks_seen) {
        bool unproven = b->known && b->id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL && b->unproven;
        CHECK_AT(q->m, NULL, CQ_044, !unproven, unproven ? b->at : cq_event_ref(q, NOCAP_BY_HOST),
                 NO_REFS, "a barrier between the multicasts of a launch and its GO", "%s",
                 "no barrier between the multicasts of a launch and its GO");
        q->ring.brief.unproven = false;
        return;
    }
    struct cq_write *w = cq_unacked(d);
    CQ_EXECUTOR_AFTER(
        q, CQ_044, q->expected.launch, w == NULL, RELATED(w != NULL ? w->index : NO_INDEX),
        "the multicasts of a launch acknowledged before its GO",
        "GO sent to worker core %u,%u before a multicast of the launch was acknowledged", e->d.x,
        e->d.y);
    if (w != NULL) {
        q->unobeyed = w->index; /* if it is a reset */
        q->unobeyed_since = q->m->fault;
        cq_end_write(d, w);
    }
}

/* Unicasts and go words keep their order only on one network and one virtual channel. */
static void judge_channel(struct cq *q, const struct nocap_event *e)
{
    bool unicast = q->ring.brief.known && q->ring.executing &&
                   q->ring.brief.id == NOCAP_CQ_DISPATCH_WRITE_PACKED && e->mcast == 0;
    if (unicast && (e->has & NOCAP_F_VC) != 0) {
        CQ_EXECUTOR(q, CQ_045, e->vc == q->numbers->vc_unicast, NO_REFS,
                    "unicast data on the virtual channel of the go messages",
                    "unicast data sent on virtual channel %u, go messages use %u", e->vc,
                    q->numbers->vc_unicast);
    }
}

void cq_dispatcher_go(struct cq *q, const struct nocap_event *e, uint32_t word, bool said)
{
    struct nocap_go_word go = nocap_go_decode(word);
    struct cq_stream *s = stream_of(q, q->numbers->first_stream + (uint64_t)go.offset);
    if (s != NULL) {
        s->goes++;
        s->settled = s->settled && said; /* who answers that one is not known */
    }
    if (!q->loose) {
        cq_worker_go(q, e->d, word);
    }
}

/* Whether the tile looks at go word `index`. Where multicasts are counted all look at the first. */
static enum known looks_at(const struct cq *q, struct nocap_xy at, int index)
{
    if (q->set->multicasts_by_count) {
        return index == 0 ? YES : NO;
    }
    const struct tile *tile = tile_find(q->m, q->m->event->chip, at);
    int own = tile != NULL ? tile_go_index(q->m, tile) : -1;
    return own < 0 ? UNKNOWN : own == index ? YES : NO;
}

void cq_dispatcher_go_to_all(struct cq *q, const struct nocap_event *e, uint32_t word, bool said)
{
    const struct nocap_noc_ends ends = nocap_noc_ends(e);
    const int index = (int)((e->daddr - q->m->layout->go_messages) / NOCAP_GO_WORD_SIZE);
    struct cq_stream *s =
        stream_of(q, q->numbers->first_stream + (uint64_t)nocap_go_decode(word).offset);
    bool known = ends.to_known;
    uint64_t goes = 0;
    for (unsigned i = 0; i < CQ_TILES; i++) {
        const struct nocap_xy at = {(uint8_t)(i % NOCAP_GRID_WIDTH),
                                    (uint8_t)(i / NOCAP_GRID_WIDTH)};
        bool inside = !ends.to_known || nocap_in_rectangle(ends.to, ends.to_other, at);
        enum known looks = !inside || !cq_is_worker(q, at) ? NO
                           : ends.to_known                 ? looks_at(q, at, index)
                                                           : UNKNOWN;
        known &= looks != UNKNOWN;
        goes += looks == YES;
        if (looks == YES) {
            cq_worker_go(q, at, word);
        } else if (looks == UNKNOWN) {
            cq_worker_forget(q, at);
        }
    }
    if (s != NULL) {
        s->goes += goes;
        s->settled = s->settled && known && said;
    }
    if (!known) {
        cq_note_gap(q, NOCAP_QUEUE_MULTICASTS);
    }
}

void cq_judge_waited(struct cq *q, struct cq_brief *b)
{
    const struct cq_stream *s = stream_of(q, b->stream);
    if (s == NULL || !q->program.counts || !s->settled || !q->sees_noc ||
        q->set->multicasts_by_count) { /* then the commands say how many answer */
        return;
    }
    uint32_t off = (b->count - (uint32_t)s->goes) << (32 - q->numbers->count_bits);
    FOLLOWING(q->m, b->since != FAULT_NONE ? b->since : notifies_since(q, s),
              CHECK_AT(q->m, NULL, CQ_048, off == 0, b->at, NO_REFS,
                       "SEND_GO_SIGNAL after the notifies of all go messages before it",
                       "SEND_GO_SIGNAL waits for %u notifies, %llu go messages were sent before it",
                       b->count, wide(s->goes)));
    cq_note_fault(q);
    cq_blame(&b->since, fault_of(q->m, off == 0));
    cq_blame(&q->expected.launch, b->since);
}

/* A multicast of a go word: that of SEND_GO_SIGNAL, or any with GO. */
static bool goes_to_all(const struct cq *q, const struct nocap_event *e, const struct access *a,
                        uint32_t *word)
{
    const struct cq_brief *b = &q->ring.brief;
    return !q->loose && e->mcast != 0 && cq_is_go_word(q, e, a, word) &&
           ((b->known && b->id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL) ||
            nocap_go_decode(*word).signal == NOCAP_GO_GO);
}

static void send_go_to_all(struct cq *q, const struct nocap_event *e, uint32_t word, bool said)
{
    if (q->ring.brief.known) {
        cq_judge_waited(q, &q->ring.brief);
    }
    judge_passed(q);
    cq_dispatcher_go_to_all(q, e, word, said);
}

static bool is_go(const struct cq *q, const struct nocap_event *e, const struct access *a,
                  uint32_t *word)
{
    return access_word(a, q->m->layout->go_messages, word) &&
           nocap_go_decode(*word).signal == NOCAP_GO_GO && e->mcast == 0 &&
           (e->has & NOCAP_F_D) != 0;
}

/* Whether a TIMESTAMP is executed, and says this place of host memory. */
static bool is_timestamp(struct cq *q, uint64_t offset)
{
    const struct cq_record *r = q->ring.executing ? cq_record(q, q->ring.record) : NULL;
    return r != NULL && r->brief.known && r->brief.id == NOCAP_CQ_DISPATCH_TIMESTAMP &&
           offset == q->wrong.stamp && q->wrong.stamp_since != FAULT_NONE;
}

void cq_dispatcher_noc(struct cq *q, const struct nocap_event *e)
{
    uint64_t size = (e->has & NOCAP_F_SIZE) != 0 ? e->size : e->data_size;
    struct access a = access_of_event(e, e->daddr, size);
    uint32_t word;
    if (e->by != NOCAP_BY_BRISC || (e->op != NOCAP_OP_WRITE && e->op != NOCAP_OP_INLINE)) {
        return;
    }
    bool said = cq_expected_write(q, e, &a);
    if (!said) {
        cq_blame(&q->completion.unmatched, q->m->fault);
    }
    uint64_t offset;
    if (cq_sysmem_offset(q, e->daddr, &offset)) {
        a.addr = offset;
        const bool stamp = is_timestamp(q, offset); /* its command, which was judged, says where */
        if (!stamp && touches(&a, q->numbers->host_wr, 4)) {
            cq_completion_pointer(q, &a);
        } else if (!stamp && place_has(&q->places.completion, a.addr)) {
            cq_completion_payload(q, &a);
        }
    } else if (is_go(q, e, &a, &word)) {
        judge_arrived(q, e);
        if (q->ring.brief.id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL) {
            judge_passed(q);
        }
        cq_dispatcher_go(q, e, word, said);
    } else if (goes_to_all(q, e, &a, &word)) {
        send_go_to_all(q, e, word, said);
    } else {
        judge_channel(q, e);
    }
    remember(q, e);
}

void cq_dispatcher_phase(struct cq *q, const struct nocap_event *e)
{
    struct cq_dispatcher *d = &q->dispatcher;
    uint64_t count = d->write_count < CQ_WRITES ? d->write_count : CQ_WRITES;
    for (uint64_t i = 1; i <= count; i++) {
        struct cq_write *w = &d->writes[(d->write_count - i) % CQ_WRITES];
        if (w->id == e->id) {
            if (e->phase == NOCAP_PHASE_DONE) {
                cq_end_write(d, w);
                d->acks_seen |= w->mcast;
            } else {
                cq_ring_sent(q, w);
            }
            return;
        }
    }
}
