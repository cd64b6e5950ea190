/* SPDX-License-Identifier: Apache-2.0 */
/* What the dispatcher writes against what its commands say, in their order: tile or rectangle,
 * address, bytes, network, each once. Completions are judged where their pointers are. Rule CQ-072.
 */
#include <stdio.h>
#include <string.h>

#include "formats/blackhole/noc_ends.h"
#include "replay/cq/cq_private.h"

void cq_expected_init(struct cq *q, bool origin)
{
    struct cq_expected *x = &q->expected;
    memset(&x->at, 0, sizeof x->at);
    cq_offsets_init(q, &x->at.offsets, origin);
    x->known = origin;
    x->decoded = false;
    x->unmatched = 0;
    x->since = x->launch = x->next = x->missed.since = FAULT_NONE;
}

/* ---- what comes next ---- */

static void add_target(struct cq_command *k, const struct cq_target *t)
{
    k->targets[k->known++] = *t;
    k->subs.count = k->known;
}

static void take_table(struct cq_expected *x)
{
    const struct cq_command *k = &x->command;
    x->at.listed = k->known == k->subs.count && k->known <= CQ_GO_TABLE;
    for (uint32_t i = 0; i < k->known && x->at.listed; i++) {
        x->at.table[i] = k->targets[i].noc_xy;
    }
}

/* The go words that SEND_GO_SIGNAL sends, first those that are multicast; false: where to is not
 * known. Tiles of another kind have theirs elsewhere. */
static bool add_go_words(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    const struct nocap_cq_command *c = &x->command.record.dispatch;
    const uint64_t words = nocap_cq_multicast_words(c);
    uint64_t first = c->noc_data_start_index, end = first + words + c->num_unicast_txns;
    bool there = end == first || (x->at.listed && end <= CQ_GO_TABLE);
    struct cq_target t = {.addr = q->m->layout->go_messages,
                          .size = NOCAP_GO_WORD_SIZE,
                          .payload = x->go_word,
                          .known = NOCAP_GO_WORD_SIZE};
    for (unsigned i = 0; i < NOCAP_GO_WORD_SIZE; i++) {
        x->go_word[i] = (uint8_t)(c->go_signal >> 8 * i);
    }
    for (uint32_t i = 0; there && i < nocap_cq_multicasts(c); i++) {
        struct cq_target m = t;
        m.mcast = true;
        m.to_all = words == 0;
        m.noc_xy = m.to_all ? 0 : x->at.table[first + NOCAP_CQ_MULTICAST_WORDS * i];
        m.addr += c->multicast_go_offset * NOCAP_GO_WORD_SIZE;
        add_target(&x->command, &m);
    }
    for (uint64_t i = first + words; i < end && there; i++) {
        t.noc_xy = x->at.table[i];
        there = cq_is_worker(q, nocap_cq_rect_decode(t.noc_xy).low);
        add_target(&x->command, &t);
    }
    return there;
}

/* Adds what the command writes and its bytes do not list. False: what it writes is not known. */
static bool complete(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    struct cq_command *k = &x->command;
    const struct nocap_cq_command *c = &k->record.dispatch;
    switch (c->id) {
    case NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL: return add_go_words(q);
    case NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA:
        take_table(x);
        k->subs.count = k->known = 0;
        return true;
    case NOCAP_CQ_DISPATCH_TIMESTAMP:
        add_target(k, &(struct cq_target){.memory = true, .addr = c->addr, .size = 8});
        return true;
    case NOCAP_CQ_DISPATCH_SET_WRITE_OFFSET:
        cq_offsets_set(&x->at.offsets, &k->record);
        return true;
    case NOCAP_CQ_DISPATCH_WRITE_PAGED: return false;
    default: return k->known == k->subs.count && cq_offsets_move(&x->at.offsets, k);
    }
}

static void lose(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    x->known = x->decoded = x->at.listed = false;
    x->unmatched = 0;
    cq_offsets_init(q, &x->at.offsets, false);
}

/* The go words of a launch are not followed one by one. */
static void launch_unfollowed(struct cq_expected *x)
{
    x->launch = x->next;
    x->next = FAULT_NONE;
}

/* Reads the command that comes next; false: it is not known, or not published. */
static bool decode(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    const struct cq_record *r = cq_record(q, x->at.record);
    if (x->at.record >= q->published) {
        return false;
    }
    if (r != NULL && r->subordinate) { /* it is none of the dispatcher's */
        x->command.known = x->command.subs.count = 0;
        return x->decoded = true;
    }
    const uint8_t *bytes = r != NULL && r->good ? cq_bytes_of(q, r) : NULL;
    bool whole = bytes != NULL && r->brief.since == FAULT_NONE;
    if (!x->decoded && whole) {
        x->decoded = cq_decode(q, &x->command, bytes, r->known) && x->command.record.has_dispatch &&
                     complete(q);
    }
    if (!whole || !x->decoded) {
        if (whole && r->brief.id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL) {
            launch_unfollowed(x);
        }
        lose(q);
    }
    return x->decoded;
}

static void next_command(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    const struct cq_record *r = cq_record(q, x->at.record);
    if (r != NULL) {
        x->at.pages += r->pages;
        cq_blame(&x->since, r->relayed_since);
        cq_blame(&x->since, r->says_since);
    }
    x->at.record++;
    x->at.target = 0;
    x->decoded = false;
    if (r != NULL && r->several) {
        lose(q);
    }
}

/* What is written next; NULL: nothing that is known. */
static const struct cq_target *next_target(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    while (x->known) {
        const struct cq_record *r = cq_record(q, x->at.record);
        bool silent = r != NULL && r->silent; /* the dispatcher gets nothing of it */
        if (!silent && !decode(q)) {
            break;
        }
        for (; !silent && x->at.target < x->command.known; x->at.target++) {
            const struct cq_target *t = &x->command.targets[x->at.target];
            if (t->addr != NOCAP_CQ_DISCARD) {
                return t;
            }
        }
        next_command(q);
    }
    return NULL;
}

/* What the writes of the present command are known since. */
static fault_id since_of(struct cq *q)
{
    const struct cq_record *r = cq_record(q, q->expected.at.record);
    bool own = q->expected.since != FAULT_NONE || r == NULL;
    return own                              ? q->expected.since
           : r->relayed_since != FAULT_NONE ? r->relayed_since
                                            : r->says_since;
}

static void pass(struct cq_expected *x)
{
    x->at.target++;
    x->at.done = 0;
}

/* ---- a write ---- */

/* Whether the write is the rest of `t`, of which `done` bytes were written. */
static bool fits(const struct cq *q, const struct cq_target *t, uint64_t done,
                 const struct nocap_event *e, const struct access *a)
{
    uint64_t addr = t->addr + done, left = t->size - done;
    uint64_t offset;
    bool memory = cq_sysmem_offset(q, a->addr, &offset);
    uint64_t end = e->saddr + a->size; /* pieces end where the buffer's pages do */
    bool piece = a->size == left || (e->has & NOCAP_F_SADDR) == 0 || end % q->numbers->page == 0 ||
                 a->size == q->numbers->burst;
    bool network = (e->has & NOCAP_F_NOC) == 0 || e->noc == q->numbers->noc_dispatch;
    if (a->size > left || !piece || !network || memory != t->memory) {
        return false;
    }
    const struct nocap_noc_ends ends = nocap_noc_ends(e);
    struct nocap_cq_rect rect = nocap_cq_rect_decode(t->noc_xy);
    rect.high = t->mcast ? rect.high : rect.low;
    const struct nocap_cq_rect to = {ends.to, ends.to_other};
    bool all = e->mcast != 0 && (!ends.to_known || cq_grid_allows(&q->expected.all, to));
    bool tiles = t->to_all ? all
                           : ends.to_known && nocap_xy_equal(ends.to, rect.low) &&
                                 nocap_xy_equal(ends.to_other, rect.high);
    return memory ? (a->addr & ~q->numbers->pcie_address_bit) == addr : tiles && a->addr == addr;
}

/* Goes on from `t`, which is next, to the write that this one is, within the commands that follow.
 * The writes that are left out for it; UINT32_MAX: it is none of them, and nothing has changed. */
static uint32_t leave_out(struct cq *q, const struct cq_target *t, const struct nocap_event *e,
                          const struct access *a)
{
    struct cq_expected *x = &q->expected;
    if (fits(q, t, x->at.done, e, a)) {
        return 0;
    }
    const struct cq_expected_at before = x->at;
    const fault_id since = x->since;
    for (uint32_t out = 0; t != NULL && x->at.record - before.record <= CQ_LEAP; out++) {
        if (fits(q, t, x->at.done, e, a)) {
            return out;
        }
        pass(x);
        t = next_target(q);
    }
    x->at = before;
    x->since = since;
    x->known = true;
    x->decoded = false;
    return UINT32_MAX;
}

enum { WHERE_TEXT = 96 };

static const char *where_text(char text[WHERE_TEXT], const struct cq_target *t)
{
    struct nocap_cq_rect r = nocap_cq_rect_decode(t->noc_xy);
    int n = snprintf(text, WHERE_TEXT, "%llu bytes to 0x%llx of ", wide(t->size), wide(t->addr));
    char *rest = text + n;
    size_t room = WHERE_TEXT - (size_t)n;
    if (t->memory) {
        snprintf(rest, room, "host memory");
    } else if (t->to_all) {
        snprintf(rest, room, "all worker cores");
    } else if (t->mcast) {
        snprintf(rest, room, "cores %u,%u to %u,%u", r.low.x, r.low.y, r.high.x, r.high.y);
    } else {
        snprintf(rest, room, "core %u,%u", r.low.x, r.low.y);
    }
    return text;
}

/* Workers run with what was written, and with what was not. */
static void note_fault(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    if (q->m->fault != FAULT_NONE) {
        cq_blame(&x->launch, q->m->fault);
        cq_blame(&x->next, q->m->fault);
    }
}

/* Go words that are multicast go to the same rectangle each time. */
static void take_all(struct cq_expected *x, const struct cq_target *t, const struct nocap_event *e,
                     bool right)
{
    if (t == NULL || !t->to_all || e->mcast == 0) {
        return;
    }
    const struct nocap_noc_ends ends = nocap_noc_ends(e);
    if (ends.to_known) {
        cq_grid_take(&x->all, (struct nocap_cq_rect){ends.to, ends.to_other}, right);
    }
}

/* Go words end what is written for one launch and begin with the next. */
static void take_go_word(struct cq_expected *x)
{
    bool goes = x->command.record.dispatch.id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL;
    if (goes && x->at.target == 0) {
        x->launch = x->next;
    }
    if (goes && x->at.target + 1 == x->command.known) {
        x->next = FAULT_NONE;
    }
}

static void judge_bytes(struct cq *q, const struct cq_target *t, const struct access *a)
{
    struct cq_expected *x = &q->expected;
    uint64_t done = x->at.done, known = t->known > done ? t->known - done : 0;
    if (known == 0 || a->known == 0) {
        MARK_EXERCISED(q->m, CQ_072);
        return;
    }
    const uint8_t *bytes = t->payload + done;
    uint64_t at = cq_bytes_differ(a, bytes, known);
    bool right = at == UINT64_MAX;
    CQ_EXECUTOR_AFTER(q, CQ_072, since_of(q), right, RELATED(cq_record(q, x->at.record)->at.index),
                      "the bytes written that the command has",
                      "byte at 0x%llx written as 0x%02x, the command has 0x%02x",
                      wide(a->addr + (right ? 0 : at)), right ? 0 : a->bytes[at],
                      right ? 0 : bytes[at]);
    note_fault(q);
}

/* The write is none that a command near by makes. */
static void judge_stray(struct cq *q, const struct nocap_event *e, const struct access *a)
{
    struct cq_expected *x = &q->expected;
    char text[WHERE_TEXT];
    const struct cq_target *t = next_target(q);
    const struct cq_record *r = t != NULL ? cq_record(q, x->at.record) : NULL;
    CQ_EXECUTOR_AFTER(q, CQ_072, since_of(q), false, RELATED(r != NULL ? r->at.index : NO_INDEX),
                      "only writes that its commands say",
                      "unexpected write of %llu bytes to 0x%llx of core %u,%u on NOC %u; next: %s",
                      wide(a->size), wide(a->addr), e->d.x, e->d.y, e->noc,
                      t != NULL ? where_text(text, t) : "none");
    cq_blame(&x->since, q->m->fault);
    note_fault(q);
    x->unmatched++;
    const struct cq_brief *b = &q->ring.brief;
    bool shown = q->ring.executing && b->known;
    if (shown ? b->id == NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST
              : a->size == q->numbers->event_bytes) {
        cq_completion_strayed(q, q->m->fault);
    }
}

/* `out` writes are left out. */
static void judge_missing(struct cq *q, const struct cq_target *first, const struct cq_record *r,
                          uint32_t out)
{
    struct cq_expected *x = &q->expected;
    char text[WHERE_TEXT];
    bool right = out <= x->unmatched;
    CQ_EXECUTOR_AFTER(q, CQ_072, since_of(q), right, RELATED(r->at.index),
                      "every write of a command made before those of the next",
                      "writes missing before those of the next command: %u, the first of %s", out,
                      where_text(text, first));
    note_fault(q);
    x->since = fault_of(q->m, right);
    x->unmatched = 0;
    x->missed = (struct cq_missed){.since = x->since, .target = *first};
}

/* Whether it is the first of the writes that were missing, late. */
static bool is_missed(struct cq *q, const struct nocap_event *e, const struct access *a)
{
    struct cq_expected *x = &q->expected;
    struct cq_missed *missed = &x->missed;
    bool late = missed->since != FAULT_NONE && fits(q, &missed->target, 0, e, a);
    if (late) {
        CQ_EXECUTOR_AFTER(q, CQ_072, missed->since, false, NO_REFS,
                          "every write of a command made before those of the next",
                          "write of %llu bytes to 0x%llx of core %u,%u made too late",
                          wide(a->size), wide(a->addr), e->d.x, e->d.y);
        missed->since = FAULT_NONE;
    }
    return late;
}

/* What completions are written with has rules of its own. */
static bool is_completion(const struct cq *q, const struct access *a)
{
    uint64_t offset;
    return cq_sysmem_offset(q, a->addr, &offset) &&
           (touches(&(struct access){.addr = offset, .size = a->size}, q->numbers->host_wr, 4) ||
            place_has(&q->places.completion, offset));
}

bool cq_expected_write(struct cq *q, const struct nocap_event *e, const struct access *a)
{
    struct cq_expected *x = &q->expected;
    const struct cq_target *t = is_completion(q, a) ? NULL : next_target(q);
    if (!x->known || is_completion(q, a)) {
        return true;
    }
    struct cq_target first = t != NULL ? *t : (struct cq_target){0};
    const struct cq_record *r = cq_record(q, x->at.record);
    uint32_t out = t != NULL ? leave_out(q, t, e, a) : UINT32_MAX;
    if (out == UINT32_MAX && is_missed(q, e, a)) {
        return false;
    }
    if (out == UINT32_MAX) {
        judge_stray(q, e, a);
        take_all(x, next_target(q), e, false);
        return false;
    }
    if (out > 0) {
        judge_missing(q, &first, r, out);
    }
    t = next_target(q);
    judge_bytes(q, t, a);
    if (out == 0) {
        x->since = FAULT_NONE;
        x->unmatched = 0;
    }
    take_all(x, t, e, true);
    take_go_word(x);
    x->at.done += a->size;
    if (x->at.done >= t->size) {
        pass(x);
    }
    return true;
}

/* ---- what else shows where the dispatcher is ---- */

void cq_expected_exec(struct cq *q, uint64_t record)
{
    struct cq_expected *x = &q->expected;
    const struct cq_record *r = cq_record(q, record);
    x->polls = 0;
    if (r != NULL) { /* what it makes of workers is its own */
        cq_blame(&x->next, r->brief.since);
    }
    if (r != NULL && r->brief.id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL) {
        cq_blame(&x->next, r->brief.message);
        x->launch = x->next;
        x->next = r->brief.since != FAULT_NONE ? FAULT_NONE : x->next;
    }
    if (!x->known && record != NO_INDEX) {
        x->known = true;
        x->decoded = false;
        x->since = FAULT_NONE;
        x->at.record = record;
        x->at.pages = q->ring.consumed;
        x->at.target = 0;
        x->at.done = 0;
    }
}

/* The command that comes next is over. */
static void judge_left(struct cq *q, const struct cq_target *t, const char *until)
{
    struct cq_expected *x = &q->expected;
    char text[WHERE_TEXT];
    bool right = x->unmatched > 0;
    CQ_EXECUTOR_AFTER(q, CQ_072, since_of(q), right, RELATED(cq_record(q, x->at.record)->at.index),
                      "every write of a command made before it is over", "write missing %s: %s",
                      until, where_text(text, t));
    note_fault(q);
    cq_blame(&x->since, fault_of(q->m, right));
    next_command(q);
}

void cq_expected_released(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    if (!q->ring.origin || !cq_sees_writes(q)) {
        return;
    }
    for (const struct cq_target *t = next_target(q); t != NULL; t = next_target(q)) {
        const struct cq_record *r = cq_record(q, x->at.record);
        if (x->at.pages + r->pages > q->ring.released) {
            return;
        }
        judge_left(q, t, "when the pages of its command are released");
    }
}

void cq_expected_polled(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    const struct cq_ring *r = &q->ring;
    const struct nocap_event *e = q->m->event;
    if (!cq_sees_writes(q) || !r->executing || r->record == NO_INDEX || x->at.record >= r->record) {
        return;
    }
    x->polls += (e->has & NOCAP_F_N) != 0 ? e->n : 1;
    for (const struct cq_target *t = next_target(q); t != NULL && x->polls >= CQ_POLLS;
         t = next_target(q)) {
        if (x->at.record >= r->record) {
            return;
        }
        judge_left(q, t, "while the dispatcher waits in a later command");
    }
}
