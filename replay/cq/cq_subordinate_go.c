/* SPDX-License-Identifier: Apache-2.0 */
/* The go words of the subordinate dispatcher: when they may leave, and for which tiles. Rules
 * CQ-048, CQ-058, CQ-072 and CQ-073, as far as they are about it. */
#include "formats/blackhole/noc_ends.h"
#include "replay/cq/cq_private.h"

static uint64_t record_index(struct cq *q)
{
    const struct cq_record *r = cq_subordinate_record(q);
    return r != NULL ? r->at.index : NO_INDEX;
}

static uint64_t stream_number(const struct cq *q, const struct nocap_cq_command *c)
{
    return c->wait_stream - q->numbers->first_stream;
}

/* Whoever gets no go word does not notify. */
static void blame_stream(struct cq *q, const struct nocap_cq_command *c, fault_id fault)
{
    if (stream_number(q, c) < CQ_STREAMS) {
        cq_blame(&q->dispatcher.streams[stream_number(q, c)].since, fault);
    }
}

/* It begins with a launch: workers run with what was written for it. */
void cq_subordinate_start(struct cq *q)
{
    struct cq_subordinate *s = &q->subordinate;
    const struct nocap_cq_command *c = cq_subordinate_command(q);
    if (!s->started && c != NULL && c->id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL) {
        s->started = true;
        q->expected.launch = s->written;
        const struct cq_record *r = cq_subordinate_record(q);
        cq_blame(&q->expected.launch, r != NULL ? r->brief.since : FAULT_NONE);
        s->written = FAULT_NONE;
    }
}

/* How many launches of a stream the dispatcher had notified it of when it read that; where its
 * loads are not observed, has now. */
static uint32_t count_heard(const struct cq_subordinate *s, uint64_t stream)
{
    const struct value *stored = &s->stored[stream], *loaded = &s->loaded[stream];
    int32_t since = stored->known && loaded->known ? (int32_t)(stored->v - loaded->v) : 0;
    return s->notified[stream] - (uint32_t)(since > 0 ? since : 0);
}

/* It sends the go words of a launch, or has sent them: the dispatcher must have notified it. */
static void judge_let(struct cq *q, const struct nocap_cq_command *c)
{
    struct cq_subordinate *s = &q->subordinate;
    uint64_t stream = stream_number(q, c);
    if (s->notify_judged || stream >= CQ_STREAMS) {
        return;
    }
    s->notify_judged = true;
    s->launched[stream]++;
    if (s->origin && (s->notifies || q->prefetcher.events_seen)) {
        uint32_t notified = count_heard(s, stream);
        bool right = s->launched[stream] <= notified + s->unknown;
        fault_id since = s->missing != FAULT_NONE ? s->missing : s->since; /* those of before */
        cq_blame(&since, q->ring.since);
        const struct cq_record *r = cq_subordinate_record(q);
        cq_blame(&since, r != NULL ? r->says_since : FAULT_NONE);
        CQ_EXECUTOR_AFTER(q, CQ_073, since, right, RELATED(record_index(q)),
                          "go messages sent when the dispatcher has notified its subordinate",
                          "go messages of launch %u of stream %llu sent, %u launches were notified",
                          s->launched[stream], wide(c->wait_stream), notified);
        cq_blame(&q->expected.launch, fault_of(q->m, right));
        if (s->notified[stream] < s->launched[stream]) {
            s->notified[stream] = s->launched[stream];
        }
    }
    value_forget(&s->loaded[stream]);
}

/* Its first go word leaves. */
static void judge_counted(struct cq *q, const struct nocap_cq_command *c)
{
    struct cq_subordinate *s = &q->subordinate;
    uint64_t stream = stream_number(q, c);
    if (s->sent > 0 || stream >= CQ_STREAMS || !s->fresh[stream]) {
        return;
    }
    struct cq_record *r = cq_subordinate_record(q);
    if (r != NULL && nocap_cq_multicasts(c) != 0) {
        cq_judge_waited(q, &r->brief);
    }
    cq_judge_counted(q, (unsigned)stream, s->counts[stream], (uint32_t)c->wait_count,
                     r != NULL ? r->brief.since : FAULT_NONE);
    cq_blame(&q->expected.launch, q->m->fault);
    cq_blame(&q->expected.launch, q->dispatcher.streams[stream].since); /* it counted that, too */
    s->fresh[stream] = false;
}

/* ---- which: go words of a command by number, multicasts first ---- */

/* Whether the table says where multicasts go. */
static bool is_listed(const struct nocap_cq_command *c)
{
    return nocap_cq_multicast_words(c) != 0;
}

static uint64_t count_words(const struct nocap_cq_command *c)
{
    return nocap_cq_multicasts(c) + c->num_unicast_txns;
}

/* Where the table has that one, or its rectangle; NULL: it is not known, or no table says it. */
static const uint32_t *entry_of(const struct cq_subordinate *s, const struct nocap_cq_command *c,
                                uint64_t i)
{
    const uint64_t multicasts = nocap_cq_multicasts(c), words = nocap_cq_multicast_words(c);
    uint64_t at = c->noc_data_start_index;
    at += i < multicasts ? NOCAP_CQ_MULTICAST_WORDS * i : words + i - multicasts;
    bool there = s->listed && at < s->words && !(i < multicasts && words == 0);
    return there ? &s->table[at] : NULL;
}

static bool equal(struct nocap_cq_rect a, struct nocap_cq_rect b)
{
    return nocap_xy_equal(a.low, b.low) && nocap_xy_equal(a.high, b.high);
}

bool cq_grid_allows(const struct cq_grid *g, struct nocap_cq_rect rect)
{
    return !g->known || equal(g->rect, rect) || (g->tentative && equal(g->other, rect));
}

void cq_grid_take(struct cq_grid *g, struct nocap_cq_rect rect, bool right)
{
    g->other = right ? g->other : rect;
    g->rect = right ? rect : g->rect;
    g->tentative = !right;
    g->known = true;
}

static bool goes_to(const struct cq *q, const struct nocap_cq_command *c, uint64_t i,
                    const struct nocap_event *e)
{
    const struct cq_subordinate *s = &q->subordinate;
    const struct nocap_noc_ends ends = nocap_noc_ends(e);
    const struct nocap_cq_rect to = {ends.to, ends.to_other};
    const uint32_t *entry = entry_of(s, c, i);
    const struct nocap_cq_rect said = nocap_cq_rect_decode(entry != NULL ? *entry : 0);
    if (i >= nocap_cq_multicasts(c)) {
        return e->mcast == 0 && entry != NULL && ends.to_known && nocap_xy_equal(ends.to, said.low);
    }
    uint64_t at = q->m->layout->go_messages + c->multicast_go_offset * NOCAP_GO_WORD_SIZE;
    return e->mcast != 0 && e->daddr == at &&
           (!is_listed(c) ? cq_grid_allows(&s->grid, to) : entry != NULL && equal(said, to));
}

/* How many of those from `from` to `to` are known to go to workers: tiles of another kind have
 * theirs elsewhere. */
static uint32_t count_out(const struct cq *q, const struct nocap_cq_command *c, uint64_t from,
                          uint64_t to)
{
    uint32_t count = 0;
    for (uint64_t i = from; i < to; i++) {
        const uint32_t *entry = entry_of(&q->subordinate, c, i);
        bool worker = entry != NULL && cq_is_worker(q, nocap_cq_rect_decode(*entry).low);
        count += worker || (i < nocap_cq_multicasts(c) && !is_listed(c));
    }
    return count;
}

static void judge_stray(struct cq *q, const struct nocap_event *e, uint32_t word, bool said)
{
    struct cq_subordinate *s = &q->subordinate;
    CQ_EXECUTOR_AFTER(q, CQ_072, s->missing != FAULT_NONE ? s->missing : s->since, said,
                      RELATED(record_index(q)), "only go messages that the command says",
                      "unexpected go message 0x%08x to 0x%llx of core %u,%u%s", word,
                      wide(e->daddr), e->d.x, e->d.y, e->mcast != 0 ? " and others" : "");
    cq_blame(&q->expected.launch, fault_of(q->m, said));
    s->unmatched += !said;
}

/* False: the go word is none of its command. */
static bool take_word(struct cq *q, const struct nocap_cq_command *c, const struct nocap_event *e,
                      uint32_t word)
{
    struct cq_subordinate *s = &q->subordinate;
    const uint64_t count = count_words(c);
    uint64_t i = s->sent;
    while (i < count && !(goes_to(q, c, i, e) && word == (uint32_t)c->go_signal)) {
        i++;
    }
    judge_stray(q, e, word, i < count);
    if (i == count) {
        return false;
    }
    uint32_t out = count_out(q, c, s->sent, i);
    bool right = out <= s->unmatched;
    s->left_out += out;
    CQ_EXECUTOR_AFTER(q, CQ_072, s->since, right, RELATED(record_index(q)),
                      "the go messages of a command in order",
                      "go messages missing before that of core %u,%u: %u", e->d.x, e->d.y, out);
    cq_blame(&q->expected.launch, fault_of(q->m, right));
    cq_blame(&s->missing, fault_of(q->m, right));
    s->unmatched -= out < s->unmatched ? out : s->unmatched;
    s->sent = (uint32_t)i + 1;
    return true;
}

/* How many workers of a rectangle are not in another one. */
static uint32_t count_missed(const struct cq *q, struct nocap_cq_rect of, struct nocap_cq_rect in)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < CQ_TILES; i++) {
        const struct nocap_xy at = {(uint8_t)(i % NOCAP_GRID_WIDTH),
                                    (uint8_t)(i / NOCAP_GRID_WIDTH)};
        count += cq_is_worker(q, at) && nocap_in_rectangle(of.low, of.high, at) &&
                 !nocap_in_rectangle(in.low, in.high, at);
    }
    return count;
}

/* Where no table says to which rectangle, it is the same each time. */
static void take_grid(struct cq *q, const struct nocap_event *e, bool said)
{
    struct cq_subordinate *s = &q->subordinate;
    const struct nocap_noc_ends ends = nocap_noc_ends(e);
    const struct nocap_cq_rect grid = {ends.to, ends.to_other};
    bool same = cq_grid_allows(&s->grid, grid);
    s->left_out += same ? 0 : count_missed(q, s->grid.rect, grid);
    if (said || !same) {
        cq_grid_take(&s->grid, grid, same);
    }
}

bool cq_is_go_word(const struct cq *q, const struct nocap_event *e, const struct access *a,
                   uint32_t *word)
{
    uint64_t at = e->daddr - q->m->layout->go_messages;
    bool place = at % NOCAP_GO_WORD_SIZE == 0 && at / NOCAP_GO_WORD_SIZE < q->m->layout->go_words;
    return place && (e->has & NOCAP_F_D) != 0 && access_word(a, e->daddr, word) &&
           (e->mcast != 0 || (at == 0 && cq_is_worker(q, e->d)));
}

void cq_subordinate_write(struct cq *q, const struct nocap_event *e)
{
    struct cq_subordinate *s = &q->subordinate;
    uint64_t size = (e->has & NOCAP_F_SIZE) != 0 ? e->size : e->data_size;
    struct access a = access_of_event(e, e->daddr, size);
    uint32_t word;
    const struct nocap_cq_command *c = q->loose ? NULL : cq_subordinate_command(q);
    bool known = c != NULL && c->id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL;
    bool go = !q->loose && cq_is_go_word(q, e, &a, &word);
    if (!go && known && (e->mcast != 0 || cq_is_worker(q, e->d))) {
        cq_subordinate_start(q);
        judge_stray(q, e, (uint32_t)c->go_signal, false); /* it writes nothing else */
        blame_stream(q, c, q->m->fault);
    }
    if (!go) {
        return;
    }
    bool said = false;
    if (known) {
        cq_subordinate_start(q);
        judge_let(q, c);
        judge_counted(q, c);
    }
    bool grid = known && e->mcast != 0 && !is_listed(c);
    if (known) {
        said = (!grid && !s->listed) || take_word(q, c, e, word);
    }
    if (grid) {
        take_grid(q, e, said);
    }
    if (e->mcast != 0) {
        cq_dispatcher_go_to_all(q, e, word, said);
    } else {
        cq_dispatcher_go(q, e, word, said);
    }
}

/* What the trace says of it when it goes on: all go words have left. */
void cq_subordinate_end_launch(struct cq *q, const struct nocap_cq_command *c)
{
    struct cq_subordinate *s = &q->subordinate;
    cq_subordinate_start(q);
    judge_let(q, c);
    if (cq_sees_writes(q)) {
        uint32_t out = count_out(q, c, s->sent, count_words(c));
        bool elsewhere = !is_listed(c) && s->sent < nocap_cq_multicasts(c) &&
                         s->unmatched > 0; /* take_grid has counted those that it missed */
        s->left_out += out - elsewhere;
        bool right = out <= s->unmatched;
        CQ_EXECUTOR_AFTER(q, CQ_072, s->since, right, RELATED(record_index(q)),
                          "every go message of a command sent before its page is released",
                          "%u of %llu go messages missing at the end of the command", out,
                          wide(count_words(c)));
        cq_blame(&q->expected.launch, fault_of(q->m, right));
        s->missing = fault_of(q->m, right);
        blame_stream(q, c, fault_of(q->m, right));
    }
}
