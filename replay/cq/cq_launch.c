/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands add up to, in the order of their records: messages, barriers, go words, waits.
 * The order in which the host made them is the order in which the dispatcher executes them. Rules
 * CQ-044, CQ-047, CQ-048. */
#include "replay/cq/cq_private.h"

static struct cq_goes *goes_of(struct cq *q, uint64_t stream)
{
    uint64_t i = stream - q->numbers->first_stream;
    return i < CQ_STREAMS ? &q->program.streams[i] : NULL;
}

/* ---- SET_GO, SEND_GO ---- */

static void take_list(struct cq *q, const struct cq_command *k, fault_id fault)
{
    struct cq_program *p = &q->program;
    p->list = (struct cq_tile_set){{0}};
    p->words = k->subs.count;
    p->tabled = fault == FAULT_NONE && k->known == k->subs.count && k->known <= CQ_GO_TABLE;
    p->table_since = FAULT_NONE;
    p->listed = p->tabled ? YES : UNKNOWN;
    p->list_at = cq_event_ref(q, NOCAP_BY_HOST);
    p->list_since = FAULT_NONE;
    p->counted = fault == FAULT_NONE && q->numbers->inline_only != 0;
    for (uint32_t i = 0; p->tabled && i < k->known; i++) {
        p->table[i] = k->targets[i].noc_xy;
    }
    for (uint32_t i = 0; i < k->known; i++) {
        struct nocap_xy at = nocap_cq_rect_decode(k->targets[i].noc_xy).low;
        bool worker = !nocap_cq_is_rect(k->targets[i].noc_xy) && cq_is_worker(q, at);
        cq_set_add(&p->list, at);
        p->listed = worker ? p->listed : UNKNOWN; /* a rectangle, or none that is followed */
    }
}

/* What the number of go words is known since. */
static fault_id judge_count(struct cq *q, const struct nocap_cq_command *c)
{
    const struct cq_program *p = &q->program;
    bool set = p->listed == YES || p->counted, count = set && c->num_unicast_txns == p->words;
    if ((p->listed == UNKNOWN && !p->counted) || c->noc_data_start_index != 0) {
        return FAULT_NONE;
    }
    CQ_HOST(q, CQ_047, count, RELATED(set ? p->list_at.index : NO_INDEX),
            "a go message for every worker core of the list that was set before",
            set ? "go message count %llu, the list has %u worker cores"
                : "go message count %llu, and no list was set before",
            wide(c->num_unicast_txns), p->words);
    return fault_of(q->m, count);
}

static void judge_tiles(struct cq *q, fault_id since, bool right, const char *wrong)
{
    FOLLOWING(q->m, since,
              CHECK_AT(q->m, NULL, CQ_047, right, q->program.list_at, NO_REFS,
                       "the list of go messages to have the worker cores that are launched", "%s",
                       wrong));
}

/* The tiles of the list against those that got a launch message and a reset. `counted`: what its
 * number is known since; `twice`: they got a GO too many. Returns what is wrong with their
 * messages and resets. */
static fault_id judge_list(struct cq *q, fault_id counted, fault_id twice)
{
    struct cq_program *p = &q->program;
    struct cq_tile_set without = p->list, again = p->list;
    if (!p->whole || p->listed == UNKNOWN) {
        return FAULT_NONE;
    }
    cq_blame(&twice, p->astray);
    cq_set_leave(&without, &p->messaged);
    bool messaged = cq_set_empty(&without);
    bool foreign = !messaged && !cq_set_meets(&without, &p->reset) && !cq_set_empty(&p->messaged);
    if (foreign) {
        judge_tiles(q, counted, false,
                    "worker core without launch message in the list of go messages");
        p->list_since = q->m->fault;
        return FAULT_NONE;
    }
    cq_set_leave(&again, &p->reset);
    bool reset = !cq_set_meets(&again, &p->ran);
    CQ_HOST_AFTER(
        q, CQ_052, twice, messaged && reset, NO_REFS,
        "a launch message in slot 0, and a reset of the read pointer, before each GO", "%s",
        messaged ? "SEND_GO_SIGNAL without a reset of the read pointer since the last launch"
                 : "SEND_GO_SIGNAL without a launch message since the last launch");
    return fault_of(q->m, messaged && reset);
}

/* Returns what is wrong with a GO to worker cores that have one. */
static fault_id judge_order(struct cq *q, struct cq_goes *s)
{
    const struct cq_program *p = &q->program;
    bool busy = cq_set_meets(&p->list, &p->busy);
    if (busy && p->listed == YES) {
        CQ_HOST_AFTER(q, CQ_048, p->waited, false, RELATED(s->index),
                      "a WAIT for the notifies before the next GO to a worker core", "%s",
                      "SEND_GO_SIGNAL to a worker core without WAIT for its notify of the last GO");
        return q->m->fault;
    }
    if (s->sent.known && !s->open && s->cleared != UNKNOWN) {
        CQ_HOST(q, CQ_048, s->cleared == YES, NO_REFS,
                "the stream cleared by WAIT with count 0 before SEND_GO_SIGNAL", "%s",
                "stream not cleared between the last WAIT for notifies and SEND_GO_SIGNAL");
        s->early = fault_of(q->m, s->cleared == YES);
    }
    return FAULT_NONE;
}

static void judge_barrier(struct cq *q, struct cq_brief *brief)
{
    const struct cq_program *p = &q->program;
    bool depends = p->unacked && (p->listed != YES || cq_set_meets(&p->unacked_tiles, &p->list));
    brief->unproven = depends;
    if (!q->sees_noc || !q->sees[CQ_DISPATCH]) {
        CQ_HOST(q, CQ_044, !depends, RELATED(p->unacked_index),
                "a barrier between the multicasts of a launch and its GO", "%s",
                "no barrier between the multicasts of a launch and its GO");
    }
}

/* The subordinate dispatcher may send the go words of a launch. It may also be one of no program,
 * for which nothing was written. */
static void take_notify(struct cq *q, const struct nocap_cq_command *c)
{
    struct cq_program *p = &q->program;
    CQ_HOST(q, CQ_044, !p->unacked_message || c->wait != 0, RELATED(p->unacked_index),
            "a barrier between the multicasts of a launch and its GO", "%s",
            "NOTIFY_SUBORDINATE_GO_SIGNAL without a barrier after the multicasts of its launch");
    p->unacked = p->unacked && c->wait == 0;
    p->unacked_message = false;
}

/* The host is seen to count notifies on. What it waited for before may have been more. */
static void count_on(struct cq_program *p)
{
    if (!p->counts && !p->origin) {
        cq_launch_forget_streams(p);
    }
    p->counts = true;
}

/* How many tiles answer the multicasts of a SEND_GO_SIGNAL. */
static struct value count_answers(const struct cq *q, const struct cq_goes *s,
                                  const struct nocap_cq_command *c)
{
    const struct cq_program *p = &q->program;
    const uint64_t first = c->noc_data_start_index, words = nocap_cq_multicast_words(c);
    uint32_t reached;
    if (words == 0) {
        return s->answers;
    }
    struct value sum = {.known = p->tabled && first + words <= p->words, .since = p->table_since};
    for (uint64_t i = 0; sum.known && i < words; i += NOCAP_CQ_MULTICAST_WORDS) {
        sum.v += cq_count_workers(q, nocap_cq_rect_decode(p->table[first + i]), &reached);
    }
    return sum;
}

/* What is waited for next agrees with the answers that one pair showed - `exact`: that many are -
 * or shows that it showed the wrong ones. Which of the two was wrong the workers' answers show,
 * where these are observed; else it is the one that differs. */
static void doubt_answers(const struct cq *q, struct cq_goes *s, bool right, bool exact)
{
    if (q->sees_noc && s->tentative && s->sent.known && !right) {
        value_forget(&s->answers);
        value_forget(&s->sent);
    }
    s->tentative = s->tentative && s->answers.known && !(exact && s->sent.known);
}

/* Go words of a host that counts notifies on: they wait for those of all launches before. */
static void take_go_on(struct cq *q, const struct nocap_cq_command *c, struct cq_brief *brief)
{
    struct cq_program *p = &q->program;
    struct cq_goes *s = goes_of(q, c->wait_stream);
    p->whole = p->ran_all = false;
    if (s == NULL) {
        cq_launch_forget_streams(p);
        return;
    }
    bool right = c->wait_count == s->sent.v;
    brief->sent = s->sent;
    doubt_answers(q, s, right, true);
    if (s->sent.known) {
        CQ_HOST_AFTER(q, CQ_048, s->sent.since, right, RELATED(s->index),
                      "SEND_GO_SIGNAL after the notifies of all go messages before it",
                      "SEND_GO_SIGNAL waits for %llu notifies, %u go messages were sent before it",
                      wide(c->wait_count), s->sent.v);
        brief->since = s->sent.since = fault_of(q->m, right);
    } else {
        if (s->after.known) {
            value_set(&s->answers, (uint32_t)c->wait_count - s->after.v);
            s->tentative = true;
        }
        value_set(&s->sent, (uint32_t)c->wait_count);
    }
    s->sent.v += (uint32_t)c->num_unicast_txns;
    s->index = q->m->event->index;
    value_forget(&s->after);
    const struct value answers = count_answers(q, s, c);
    if (nocap_cq_multicasts(c) == 0) {
        return;
    }
    if (answers.known) {
        s->sent.v += answers.v;
        cq_blame(&s->sent.since, answers.since);
    } else { /* how many tiles answer that one, the next one says */
        value_set(&s->after, s->sent.v);
        value_forget(&s->sent);
    }
}

/* What such a host waits for. */
static void take_wait_on(struct cq *q, const struct nocap_cq_command *c, struct cq_goes *s,
                         struct cq_brief *brief)
{
    bool clears = (c->flags & NOCAP_CQ_WAIT_CLEAR_STREAM) != 0;
    bool waits = (c->flags & NOCAP_CQ_WAIT_STREAM) != 0;
    uint32_t count = waits ? (uint32_t)c->count : 0;
    bool right = clears ? count == s->sent.v : (int32_t)(s->sent.v - count) >= 0;
    doubt_answers(q, s, right, clears);
    brief->sent = s->sent;
    if (s->sent.known) {
        CQ_HOST_AFTER(q, CQ_048, s->sent.since, right, RELATED(s->index),
                      clears
                          ? "WAIT for the notifies of all go messages before it clears the stream"
                          : "WAIT for no more notifies than there were go messages",
                      "WAIT for %u notifies, there were %u go messages", count, s->sent.v);
        brief->since = fault_of(q->m, right);
        if (clears || !right) { /* else there may be as many, or more */
            cq_resync(q, &s->sent.since, right);
        }
    }
    if (clears) {
        value_set(&s->sent, 0);
    }
}

static void take_go(struct cq *q, const struct nocap_cq_command *c, struct cq_brief *brief,
                    bool subordinate)
{
    struct cq_program *p = &q->program;
    struct cq_goes *s = goes_of(q, c->wait_stream);
    bool multicast = nocap_cq_multicasts(c) != 0 && q->numbers->go_multicast != 0;
    if (multicast) {
        count_on(p);
    }
    if (p->counts) {
        if (!subordinate && !multicast) { /* multicasts keep their order, as far as is known */
            judge_barrier(q, brief);
        }
        take_go_on(q, c, brief);
        return;
    }
    fault_id counted = judge_count(q, c);
    judge_barrier(q, brief);
    if (s == NULL) { /* which of them the notifies come to is not known */
        for (unsigned i = 0; i < CQ_STREAMS; i++) {
            value_forget(&p->streams[i].sent);
        }
        return;
    }
    const fault_id order = judge_order(q, s);
    cq_blame(&brief->message, order);
    brief->unreset = judge_list(q, counted, order);
    bool again = p->listed == YES && cq_set_meets(&p->list, &p->busy);
    if (!again) {
        s->open = true;
        s->sent.v += (uint32_t)c->num_unicast_txns;
        s->sent.since = counted != FAULT_NONE ? counted : s->sent.since;
    }
    s->index = q->m->event->index;
    if (p->listed == YES) {
        cq_set_join(&p->busy, &p->list);
        cq_set_join(&p->ran, &p->list);
        cq_set_leave(&p->messaged, &p->list);
        cq_set_leave(&p->reset, &p->list);
    } else {
        p->ran_all = false;
    }
    p->busy_written = p->waited = p->astray = FAULT_NONE;
    p->unacked = false;
}

/* ---- WAIT ---- */

static fault_id judge_wait(struct cq *q, const struct nocap_cq_command *c, const struct cq_goes *s)
{
    bool waits = (c->flags & NOCAP_CQ_WAIT_STREAM) != 0;
    bool clears = (c->flags & NOCAP_CQ_WAIT_CLEAR_STREAM) != 0;
    if (!s->sent.known) {
        return FAULT_NONE;
    }
    if (!s->open) {
        CQ_HOST_AFTER(q, CQ_048, q->program.waited, !waits || c->count == 0, RELATED(s->index),
                      "WAIT for as many notifies as there were go messages",
                      "WAIT for %llu notifies, there were no go messages", wide(c->count));
        return fault_of(q->m, !waits || c->count == 0);
    }
    bool count = waits && c->count == s->sent.v;
    fault_id since = s->sent.since != FAULT_NONE ? s->sent.since : q->program.waited;
    if (since == FAULT_NONE && c->count == 0) { /* that of the next launch: there was none */
        since = q->program.busy_written;
    }
    CQ_HOST_AFTER(q, CQ_048, since, count && clears, RELATED(s->index),
                  "after SEND_GO_SIGNAL a WAIT for that many notifies, which clears the stream",
                  !waits  ? "stream cleared without WAIT for the notifies of its launch"
                  : count ? "WAIT after SEND_GO_SIGNAL does not clear the stream"
                          : "WAIT for %llu notifies, there were %u go messages",
                  wide(c->count), s->sent.v);
    return fault_of(q->m, count && clears);
}

/* Tiles that got a message, and no GO until the launch was waited for. */
static void judge_left_over(struct cq *q, fault_id counted)
{
    struct cq_program *p = &q->program;
    cq_blame(&counted, p->list_since);
    cq_blame(&counted, p->busy_written); /* perhaps the message came after its GO */
    if (p->whole && p->listed == YES) {
        judge_tiles(q, counted, cq_set_empty(&p->messaged),
                    "worker core with a launch message missing from the list of go messages");
    }
}

static void take_wait(struct cq *q, const struct nocap_cq_command *c, struct cq_brief *brief)
{
    struct cq_program *p = &q->program;
    const unsigned streams = NOCAP_CQ_WAIT_STREAM | NOCAP_CQ_WAIT_CLEAR_STREAM;
    if ((c->flags & NOCAP_CQ_WAIT_BARRIER) != 0) {
        p->unacked = p->unacked_message = false;
    }
    struct cq_goes *s = (c->flags & streams) != 0 ? goes_of(q, c->stream) : NULL;
    if (s == NULL) {
        return;
    }
    if (q->numbers->inline_only == 0 && (c->flags & NOCAP_CQ_WAIT_CLEAR_STREAM) == 0) {
        count_on(p);
    }
    if (p->counts) {
        take_wait_on(q, c, s, brief);
        return;
    }
    brief->sent = s->sent;
    fault_id early = s->early;
    s->early = FAULT_NONE;
    if (early != FAULT_NONE && c->count == 0) { /* the one that SEND_GO should have come after */
        brief->since = early;
        return;
    }
    brief->since = judge_wait(q, c, s);
    bool right = brief->since == FAULT_NONE;
    cq_blame(&p->waited, brief->since);
    bool clears = (c->flags & NOCAP_CQ_WAIT_CLEAR_STREAM) != 0;
    if (s->open || (!s->sent.known && c->count != 0)) {
        if (s->sent.known && right) {
            judge_left_over(q, s->sent.since);
            p->messaged = (struct cq_tile_set){{0}};
        }
        if (!cq_set_empty(&p->busy)) {
            MARK_EXERCISED(q->m, CQ_050);
        }
        p->busy = (struct cq_tile_set){{0}};
        p->whole = p->listed == YES && (right || p->whole);
        s->cleared = NO;
    }
    if (clears && (c->count == 0 || (!right && !s->open))) { /* it should be 0 */
        s->cleared = YES;
    }
    value_set(&s->sent, 0);
    s->open = false;
}

/* ---- all ---- */

void cq_brief(const struct nocap_cq_command *c, struct cq_brief *brief)
{
    bool go = c->id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL;
    bool notifies = c->id == NOCAP_CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL;
    brief->known = true;
    brief->id = c->id;
    brief->flags = (uint8_t)(notifies ? c->wait : c->flags);
    brief->stream = (uint16_t)(go ? c->wait_stream : c->stream);
    brief->count = (uint32_t)(go ? c->wait_count : notifies ? c->index_bitmask : c->count);
}

/* A command whose data the prefetcher reads elsewhere, to write them or to send them to the host.
 */
static void take_head(struct cq *q, const struct nocap_cq_record *r, struct cq_brief *brief)
{
    bool known = r->has_dispatch;
    bool writes = known && (r->dispatch.id == NOCAP_CQ_DISPATCH_WRITE_LINEAR ||
                            r->dispatch.id == NOCAP_CQ_DISPATCH_WRITE_LINEAR_H ||
                            r->dispatch.id == NOCAP_CQ_DISPATCH_WRITE_PAGED);
    bool reads = known && r->dispatch.id == NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST;
    if (known) {
        cq_brief(&r->dispatch, brief);
        brief->at = cq_event_ref(q, NOCAP_BY_HOST);
    }
    if (!writes) {
        cq_completion_lose(q);
    }
    if (!reads) {
        cq_launch_lose(q, !writes);
    }
}

/* A command for one of the dispatchers; `fault`: what keeps it from being executed. */
static void take_command(struct cq *q, struct cq_command *k, struct cq_brief *brief, fault_id fault)
{
    const struct nocap_cq_record *r = &k->record;
    const struct nocap_cq_command *c = &r->dispatch;
    cq_brief(c, brief);
    brief->at = cq_event_ref(q, NOCAP_BY_HOST);
    brief->since = fault;
    brief->unaligned = q->program.unaligned;
    bool good = fault == FAULT_NONE;
    bool subordinate = r->prefetch.dispatcher_type == 1;
    if (subordinate || c->id == NOCAP_CQ_DISPATCH_SET_WRITE_OFFSET) {
        count_on(&q->program);
    }
    switch (c->id) {
    case NOCAP_CQ_DISPATCH_WAIT:
        if (good) {
            take_wait(q, c, brief);
        } else {
            cq_launch_lose(q, true);
        }
        break;
    case NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA: take_list(q, k, fault); break;
    case NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL:
        brief->message = q->program.go_word;
        if (good) {
            take_go(q, c, brief, subordinate);
        } else {
            cq_launch_lose(q, true);
        }
        break;
    case NOCAP_CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL: take_notify(q, c); break;
    case NOCAP_CQ_DISPATCH_TIMESTAMP: q->program.unacked = false; break; /* ends with a barrier */
    case NOCAP_CQ_DISPATCH_TERMINATE:
        q->program.terminated = subordinate ? q->program.terminated : q->m->event->index;
        break;
    case NOCAP_CQ_DISPATCH_WRITE_PAGED: cq_launch_lose(q, false); break; /* wherever banks are */
    case NOCAP_CQ_DISPATCH_SET_WRITE_OFFSET: cq_offsets_set(&q->program.offsets, r); break;
    default:
        if (good) {
            brief->message = cq_launch_writes(q, k);
            cq_blame(&brief->message, q->program.unaligned);
            cq_blame(&q->program.astray, q->program.unaligned);
        } else {
            cq_launch_lose(q, true);
        }
        break;
    }
}

void cq_launch_command(struct cq *q, struct cq_command *k, struct cq_brief *brief, fault_id fault)
{
    const struct nocap_cq_record *r = &k->record;
    if (q->loose) {
        cq_completion_lose(q);
        cq_launch_lose(q, true);
        return;
    }
    switch (cq_relays(q, r->prefetch.id)) {
    case NOCAP_CQ_RELAYS_NOTHING:
    case NOCAP_CQ_RELAYS_DATA: return;
    case NOCAP_CQ_RELAYS_HEAD: take_head(q, r, brief); return;
    case NOCAP_CQ_RELAYS_BUFFER:
    case NOCAP_CQ_RELAYS_WHOLE: break;
    }
    if (r->prefetch.id != NOCAP_CQ_PREFETCH_RELAY_INLINE || !r->has_dispatch) {
        if (r->prefetch.id != NOCAP_CQ_PREFETCH_TERMINATE) {
            cq_completion_lose(q);
            cq_launch_lose(q, true);
        }
        return;
    }
    take_command(q, k, brief, fault);
}
