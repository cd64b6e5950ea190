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
    x->known = origin;
    x->decoded = false;
    x->strays = 0;
    x->since = FAULT_NONE;
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
    x->at.listed = k->known == k->subs.count && k->known <= NOCAP_CQ_GO_TABLE;
    for (uint32_t i = 0; i < k->known && x->at.listed; i++) {
        x->at.table[i] = k->targets[i].noc_xy;
    }
}

/* The go words that SEND_GO_SIGNAL sends; false: where to is not known. */
static bool add_go_words(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    const struct nocap_cq_command *c = &x->command.record.dispatch;
    uint64_t first = c->noc_data_start_index, end = first + c->num_unicast_txns;
    bool there = x->at.listed && end <= NOCAP_CQ_GO_TABLE;
    for (unsigned i = 0; i < NOCAP_GO_WORD_SIZE; i++) {
        x->go_word[i] = (uint8_t)(c->go_signal >> 8 * i);
    }
    for (uint64_t i = first; i < end && there; i++) {
        add_target(&x->command, &(struct cq_target){.noc_xy = x->at.table[i],
                                                    .addr = q->m->layout->go_messages,
                                                    .size = NOCAP_GO_WORD_SIZE,
                                                    .payload = x->go_word,
                                                    .known = NOCAP_GO_WORD_SIZE});
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
    case NOCAP_CQ_DISPATCH_WRITE_PAGED:
    case NOCAP_CQ_DISPATCH_SET_WRITE_OFFSET: return false;
    default: return k->known == k->subs.count && c->write_offset_index == 0;
    }
}

static void lose(struct cq_expected *x)
{
    x->known = x->decoded = false;
    x->strays = 0;
}

/* Reads the command that comes next; false: it is not known, or not published. */
static bool decode(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    const struct cq_record *r = cq_record(q, x->at.record);
    if (x->at.record >= q->published) {
        return false;
    }
    const uint8_t *bytes = r != NULL && r->good ? cq_bytes_of(q, r) : NULL;
    bool whole = bytes != NULL && r->brief.since == FAULT_NONE;
    if (!x->decoded && whole) {
        x->decoded = cq_decode(&x->command, bytes, r->known) && x->command.record.has_dispatch &&
                     complete(q);
    }
    if (!whole || !x->decoded) {
        lose(x);
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
    }
    x->at.record++;
    x->at.target = 0;
    x->decoded = false;
}

/* What is written next; NULL: nothing that is known. */
static const struct cq_target *next_target(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    while (x->known && decode(q)) {
        for (; x->at.target < x->command.known; x->at.target++) {
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
    return own ? q->expected.since : r->relayed_since;
}

static void pass(struct cq_expected *x)
{
    x->at.target++;
    x->at.done = 0;
}

/* ---- a write ---- */

static bool fits(const struct cq *q, const struct cq_target *t, const struct nocap_event *e,
                 const struct access *a)
{
    uint64_t addr = t->addr + q->expected.at.done, left = t->size - q->expected.at.done;
    uint64_t offset;
    bool memory = cq_sysmem_offset(q, a->addr, &offset);
    if (a->size > left || memory != t->memory) {
        return false;
    }
    if (memory) {
        return (a->addr & ~NOCAP_CQ_PCIE_ADDRESS_BIT) == addr;
    }
    const struct nocap_noc_ends ends = nocap_noc_ends(e);
    struct nocap_cq_rect rect = nocap_cq_rect_decode(t->noc_xy);
    rect.high = q->expected.command.mcast ? rect.high : rect.low;
    bool tiles = ends.to_known && nocap_xy_equal(ends.to, rect.low) &&
                 nocap_xy_equal(ends.to_other, rect.high);
    bool network = (e->has & NOCAP_F_NOC) == 0 || e->noc == NOCAP_CQ_NOC_DISPATCH;
    return tiles && network && a->addr == addr;
}

/* Goes on to the write that this one is, within the commands that follow. The writes that are left
 * out for it; UINT32_MAX: it is none of them, and nothing has changed. */
static uint32_t leave_out(struct cq *q, const struct nocap_event *e, const struct access *a)
{
    struct cq_expected *x = &q->expected;
    const struct cq_expected_at before = x->at;
    const fault_id since = x->since;
    const struct cq_target *t = next_target(q);
    for (uint32_t out = 0; t != NULL && x->at.record - before.record <= CQ_LEAP; out++) {
        if (fits(q, t, e, a)) {
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

static const char *where_text(char text[WHERE_TEXT], const struct cq_target *t, bool mcast)
{
    struct nocap_cq_rect r = nocap_cq_rect_decode(t->noc_xy);
    int n = snprintf(text, WHERE_TEXT, "%llu bytes to 0x%llx of ", wide(t->size), wide(t->addr));
    char *rest = text + n;
    size_t room = WHERE_TEXT - (size_t)n;
    if (t->memory) {
        snprintf(rest, room, "host memory");
    } else if (mcast) {
        snprintf(rest, room, "%u,%u to %u,%u", r.low.x, r.low.y, r.high.x, r.high.y);
    } else {
        snprintf(rest, room, "%u,%u", r.low.x, r.low.y);
    }
    return text;
}

static void judge_bytes(struct cq *q, const struct cq_target *t, const struct access *a)
{
    struct cq_expected *x = &q->expected;
    uint64_t done = x->at.done, known = t->known > done ? t->known - done : 0;
    const uint8_t *bytes = known > 0 ? t->payload + done : NULL;
    uint64_t at = known > 0 ? cq_bytes_differ(a, bytes, known) : UINT64_MAX;
    bool by_byte = at != UINT64_MAX;
    bool hash = !by_byte && a->has_hash && known >= a->size &&
                nocap_fnv1a64(NOCAP_FNV1A64_START, bytes, a->size) != a->hash;
    const struct cq_record *r = cq_record(q, x->at.record);
    CQ_EXECUTOR_AFTER(
        q, CQ_072, since_of(q), !by_byte && !hash, RELATED(r->at.index),
        "the bytes written that the command has",
        hash ? "others at 0x%llx, by their hash" : "byte 0x%llx is 0x%02x, the command has 0x%02x",
        wide(a->addr + (by_byte ? at : 0)), by_byte ? a->bytes[at] : 0, by_byte ? bytes[at] : 0);
    cq_note_fault(q);
}

/* The write is none that a command near by makes. */
static void judge_stray(struct cq *q, const struct nocap_event *e, const struct access *a)
{
    struct cq_expected *x = &q->expected;
    char text[WHERE_TEXT];
    const struct cq_target *t = next_target(q);
    if (!x->known) {
        return;
    }
    const struct cq_record *r = t != NULL ? cq_record(q, x->at.record) : NULL;
    CQ_EXECUTOR_AFTER(q, CQ_072, since_of(q), false, RELATED(r != NULL ? r->at.index : NO_INDEX),
                      "the writes of the dispatcher, which its commands say",
                      "%llu bytes to 0x%llx of %u,%u on NOC %u; next: %s", wide(a->size),
                      wide(a->addr), e->d.x, e->d.y, e->noc,
                      t != NULL ? where_text(text, t, x->command.mcast) : "none");
    cq_blame(&x->since, q->m->fault);
    cq_note_fault(q);
    if (++x->strays > CQ_LEAP) {
        lose(x);
    }
}

/* `out` writes are left out. */
static void judge_missing(struct cq *q, const struct cq_target *first, bool mcast,
                          const struct cq_record *r, uint32_t out)
{
    struct cq_expected *x = &q->expected;
    char text[WHERE_TEXT];
    bool right = out <= x->strays;
    CQ_EXECUTOR_AFTER(q, CQ_072, since_of(q), right, RELATED(r->at.index),
                      "every write of a command made before those of the next", "%u missing: %s",
                      out, where_text(text, first, mcast));
    cq_note_fault(q);
    x->since = fault_of(q->m, right);
    x->strays = 0;
}

/* What completions are written with has rules of its own. */
static bool is_completion(const struct cq *q, const struct access *a)
{
    uint64_t offset;
    return cq_sysmem_offset(q, a->addr, &offset) &&
           (touches(&(struct access){.addr = offset, .size = a->size}, NOCAP_CQ_HOST_WR, 4) ||
            place_has(&cq_places.completion, offset));
}

void cq_expected_write(struct cq *q, const struct nocap_event *e, const struct access *a)
{
    struct cq_expected *x = &q->expected;
    const struct cq_target *t = is_completion(q, a) ? NULL : next_target(q);
    if (!x->known || is_completion(q, a)) {
        return;
    }
    struct cq_target first = t != NULL ? *t : (struct cq_target){0};
    const struct cq_record *r = cq_record(q, x->at.record);
    bool mcast = x->command.mcast;
    uint32_t out = t != NULL ? leave_out(q, e, a) : UINT32_MAX;
    if (out == UINT32_MAX) {
        judge_stray(q, e, a);
        return;
    }
    if (out > 0) {
        judge_missing(q, &first, mcast, r, out);
    }
    t = next_target(q);
    judge_bytes(q, t, a);
    if (out == 0) {
        x->since = FAULT_NONE;
        x->strays = 0;
    }
    x->at.done += a->size;
    if (x->at.done >= t->size) {
        pass(x);
    }
}

/* ---- what else shows where the dispatcher is ---- */

void cq_expected_exec(struct cq *q, uint64_t record)
{
    struct cq_expected *x = &q->expected;
    if (!x->known && record != NO_INDEX) {
        cq_expected_init(q, true);
        x->at.record = record;
        x->at.pages = q->ring.consumed;
    }
}

void cq_expected_released(struct cq *q)
{
    struct cq_expected *x = &q->expected;
    char text[WHERE_TEXT];
    for (const struct cq_target *t = next_target(q); t != NULL; t = next_target(q)) {
        const struct cq_record *r = cq_record(q, x->at.record);
        if (!q->ring.origin || x->at.pages + r->pages > q->ring.released) {
            return;
        }
        CQ_EXECUTOR_AFTER(q, CQ_072, since_of(q), x->strays > 0, RELATED(r->at.index),
                          "every write of a command made before its pages are given back",
                          "missing: %s", where_text(text, t, x->command.mcast));
        cq_blame(&x->since, q->m->fault);
        next_command(q);
    }
}
