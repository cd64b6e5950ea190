/* The completion queue: event pages, write and read pointers with their toggles; timestamps. Rules
 * CQ-059 to CQ-065, CQ-067. */
#include <string.h>

#include "replay/cq.h"

void cq_completion_init(struct cq *q, bool origin)
{
    struct cq_completion *c = &q->completion;
    memset(c, 0, sizeof *c);
    memset(&q->timestamps, 0, sizeof q->timestamps);
    const uint32_t records = NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_CQ | NOCAP_CLASS_SYSMEM;
    c->ids_whole = origin && (q->m->header->observes & records) != 0;
    if (origin) {
        cq_next_set(&c->wr, NOCAP_CQ_COMPLETION_FIRST);
        cq_next_set(&c->rd, NOCAP_CQ_COMPLETION_FIRST);
    }
}

static uint32_t offset_of(uint32_t ptr)
{
    return (ptr & ~NOCAP_CQ_TOGGLE) * NOCAP_CQ_POINTER_UNIT - (uint32_t)NOCAP_CQ_SYSMEM_BASE;
}

static bool in_ring(uint32_t ptr)
{
    uint32_t at = ptr & ~NOCAP_CQ_TOGGLE;
    return at >= NOCAP_CQ_COMPLETION_FIRST && at < NOCAP_CQ_COMPLETION_LAST &&
           (at - NOCAP_CQ_COMPLETION_FIRST) % NOCAP_CQ_PAGE_UNITS == 0;
}

static unsigned page_number(uint64_t offset)
{
    return (unsigned)((offset - NOCAP_CQ_COMPLETION) / NOCAP_CQ_PAGE % NOCAP_CQ_COMPLETION_PAGES);
}

/* ---- event ids ---- */

void cq_completion_sent(struct cq *q, uint32_t id)
{
    struct cq_completion *c = &q->completion;
    c->ids[c->id_count++ % CQ_EVENTS] = id;
}

void cq_completion_lose(struct cq *q)
{
    q->completion.ids_whole = false;
    q->program.event.known = false;
    if (q->timestamps.any) {
        memset(&q->timestamps, 0, sizeof q->timestamps);
    }
}

/* Which event comes back: in the order in which they were sent. `agent` NONE: after a fault that
 * was told this only shows where they are. */
static void judge_id(struct cq *q, uint32_t id, uint64_t *next, uint8_t agent)
{
    struct cq_completion *c = &q->completion;
    uint64_t first = c->id_count > CQ_EVENTS ? c->id_count - CQ_EVENTS : 0, n = *next;
    if (!c->ids_whole || n < first) { /* events of before the trace come first */
        for (uint64_t i = first; i < c->id_count; i++) {
            if (c->ids[i % CQ_EVENTS] == id) {
                *next = i + 1;
                return;
            }
        }
        return;
    }
    bool right = n < c->id_count && c->ids[n % CQ_EVENTS] == id;
    if (right || agent != NOCAP_BY_NONE) {
        EXPECT_AT(q->m, NULL, CQ_065, right, cq_moment(q, agent), NOTHING,
                  "events come back as they were sent, in order", "event 0x%x, 0x%x is next", id,
                  n < c->id_count ? c->ids[n % CQ_EVENTS] : 0);
    }
    uint64_t skipped = 0;
    for (uint64_t i = 1; !right && i <= CQ_LEAP && n + i < c->id_count && skipped == 0; i++) {
        skipped = c->ids[(n + i) % CQ_EVENTS] == id ? i : 0;
    }
    *next = n + 1 + skipped;
}

/* ---- the dispatcher writes ---- */

static void judge_room(struct cq *q, const struct access *a, uint32_t pages)
{
    struct cq_completion *c = &q->completion;
    uint32_t wr = c->wr.value, rd = c->rd_read;
    if (!c->wr.known) {
        return;
    }
    bool place = a->addr == offset_of(wr) || c->payload;
    bool room = true;
    if (c->rd_read_known) {
        bool turned = ((rd ^ wr) & NOCAP_CQ_TOGGLE) != 0;
        uint32_t ahead = (wr & ~NOCAP_CQ_TOGGLE) - (rd & ~NOCAP_CQ_TOGGLE);
        uint32_t avail = turned ? 0 - ahead : NOCAP_CQ_COMPLETION_UNITS - ahead;
        room = pages * NOCAP_CQ_PAGE_UNITS <= avail;
    }
    CQ_EXECUTOR(q, CQ_059, place && room, NOTHING,
                "a free page at the write pointer for every completion",
                room ? "written at +0x%llx, the pointer is at +0x%x"
                     : "written at +0x%llx (+0x%x): the host has not read that far",
                (unsigned long long)a->addr, offset_of(wr));
}

/* A completion leaves for host memory. */
void cq_completion_payload(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t id, pages = cq_pages_of(a->size);
    bool first = !c->payload;
    /* of the page before the pointer: that was told at the store */
    bool late = c->owed && (!c->wr.known || a->addr != offset_of(c->wr.value));
    c->owed = false;
    CQ_EXECUTOR(q, CQ_060, late || !c->stored_new, NOTHING,
                "the page written before the pointer moves on", "%s", "0x196D0 was stored first");
    c->payloads++;
    if (!late) {
        judge_room(q, a, c->payload_pages + pages);
        c->payload = true;
        c->payload_index = q->m->event->index;
        c->payload_pages += pages;
    }
    if (first && access_word(a, a->addr + NOCAP_CQ_HEADER, &id) && a->known >= 4 &&
        a->bytes[0] == NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST && a->bytes[1] == 1) {
        judge_id(q, id, &c->device_id, NOCAP_BY_DISPATCH);
        c->page_id[page_number(a->addr)] = (struct cq_page_id){true, id};
    }
}

/* A new write pointer, wherever it is seen first. */
static bool judge_value(struct cq *q, uint32_t value)
{
    struct cq_completion *c = &q->completion;
    uint32_t pages = c->payload ? c->payload_pages : 1;
    bool sees_pages = q->sees_noc && q->sees[CQ_DISPATCH];
    bool known = c->wr.known && (c->payload || sees_pages);
    uint32_t want = c->wr.known ? cq_ptr_advance(c->wr.value, pages) : value;
    bool right =
        in_ring(value) && (!known || value == want ||
                           (c->wr.has_other && value == cq_ptr_advance(c->wr.other, pages)));
    CQ_EXECUTOR(q, CQ_061, right, RELATED(c->payload ? c->payload_index : NO_INDEX),
                "a write pointer that moves on by the pages written, its toggle where it wraps",
                "0x%x, 0x%x is next", value, want);
    c->wr = (struct cq_next){
        .known = true, .value = right ? value : want, .has_other = !right, .other = value};
    if (!right) { /* the host may take pages that it should not */
        c->wr.has_other = in_ring(value);
        c->ids_whole = false;
        c->misled = true;
    }
    return right;
}

void cq_completion_core(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t value;
    if (!a->store) {
        if (access_word(a, NOCAP_CQ_COMPLETION_RD, &value)) {
            c->rd_read = value;
            c->rd_read_known = true;
        }
        return;
    }
    if (touches(a, NOCAP_CQ_COMPLETION_RD, 4)) {
        CQ_EXECUTOR(q, CQ_062, q->boot[CQ_DISPATCH].running != YES, NOTHING,
                    "the read pointer at 0x196E0 written by the host only", "%s stored to it",
                    nocap_agent_name(a->by));
    }
    if (access_word(a, NOCAP_CQ_COMPLETION_WR, &value)) {
        cq_boot_running(q, CQ_DISPATCH);
        bool again = c->stored_known && value == c->stored && c->wr.known;
        bool late = c->copied_first && value == c->wr.value; /* its copy was told */
        c->stored = value;
        c->stored_known = true;
        c->copied_first = false;
        if (late) {
            return;
        }
        if (again) {
            CQ_EXECUTOR(q, CQ_061, false, NOTHING,
                        "a write pointer that moves on by the pages written", "0x%x once more",
                        value);
            return;
        }
        c->owed = !c->payload && c->wr.known && q->sees_noc && q->sees[CQ_DISPATCH];
        CQ_EXECUTOR(q, CQ_060, !c->owed, NOTHING, "the page written before the pointer moves on",
                    "%s", "nothing was written since it moved last");
        c->told_value = !judge_value(q, value);
        c->stored_new = true;
        c->copy_owed = c->payload = false;
        c->payload_pages = 0;
    }
}

/* The pointer leaves for host memory. */
void cq_completion_pointer(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t value;
    if (!access_word(a, NOCAP_CQ_HOST_WR, &value)) {
        return;
    }
    if (!q->sees_stores || !q->sees[CQ_DISPATCH]) {
        judge_value(q, value);
    } else if (c->copy_owed && value == c->stored) { /* the right one, behind a wrong one */
        c->copy_owed = false;
        return;
    } else {
        bool same = !c->stored_known || (c->stored_new && value == c->stored);
        if (!c->told_value && c->wr.known) {
            CQ_EXECUTOR(q, CQ_061, same, NOTHING,
                        "the pointer stored to 0x196D0, then the same copied to +0x80",
                        "0x%x, 0x196D0 holds 0x%x", value, c->stored);
        }
        if (c->stored_new) {
            c->copy_owed = !same;
        } else {
            cq_next_set(&c->wr, value);
            c->copied_first = c->stored_known;
        }
    }
    c->told_value = c->stored_new = c->payload = false;
    c->payload_pages = 0;
}

/* ---- what arrives in host memory ---- */

void cq_completion_dma(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t value;
    EXPECT(q->m, NULL, CQ_062, q->sees_noc || !touches(a, NOCAP_CQ_HOST_RD, 4), NOTHING,
           "+0xc0 written by the host only", "the device wrote +0x%llx",
           (unsigned long long)a->addr);
    if (a->addr >= NOCAP_CQ_COMPLETION && a->addr < NOCAP_CQ_COMPLETION_END) {
        c->payload_landed++;
        if (c->pointer_early) {
            EXPECT_AT(q->m, NULL, CQ_060, false, c->pointer_at, RELATED(c->payload_index),
                      "the page in host memory before the pointer that announces it", "%s",
                      "the pointer came first");
            c->pointer_early = false;
            c->payload_landed = c->payloads;
        }
    } else if (access_word(a, NOCAP_CQ_HOST_WR, &value)) {
        if (!q->sees_noc || !q->sees[CQ_DISPATCH]) {
            judge_value(q, value);
        } else {
            c->pointer_early = c->payloads > 0 && c->payload_landed < c->payloads;
            c->pointer_at = cq_moment(q, NOCAP_BY_DMA);
            if (!c->pointer_early) {
                HOLDS(q->m, CQ_060);
            }
        }
    }
}

void cq_completion_memory(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t value;
    if (access_word(a, NOCAP_CQ_HOST_WR, &value)) {
        CQ_EXECUTOR(q, CQ_061, in_ring(value), NOTHING, "a write pointer in the completion ring",
                    "0x%x", value);
        c->seen = value;
        c->seen_known = in_ring(value);
    }
    bool next =
        a->addr == offset_of(c->rd.value) || (c->rd.has_other && a->addr == offset_of(c->rd.other));
    if (a->addr >= NOCAP_CQ_COMPLETION && a->addr < NOCAP_CQ_COMPLETION_END && c->rd.known &&
        next && access_word(a, a->addr + NOCAP_CQ_HEADER, &value)) {
        judge_id(q, value, &c->host_id, c->rd.has_other ? NOCAP_BY_NONE : NOCAP_BY_DISPATCH);
    }
}

/* ---- the host reads ---- */

static void read_page(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t page = offset_of(c->rd.value), id;
    if (c->rd.known && c->rd.has_other && !touches(a, page, NOCAP_CQ_PAGE)) {
        page = offset_of(c->rd.other);
    }
    if (!c->rd.known || !touches(a, page, NOCAP_CQ_PAGE)) {
        return;
    }
    if (c->seen_known && !c->rd.has_other) {
        CQ_HOST(q, CQ_063, c->seen != c->rd.value, NOTHING,
                "a page read after the write pointer was seen to have passed it", "page at +0x%x",
                page);
        c->told_read = c->seen == c->rd.value;
    }
    c->page_read = true;
    if (access_word(a, page + NOCAP_CQ_HEADER, &id)) {
        const struct cq_page_id *written = &c->page_id[page_number(page)];
        if (c->misled) {
            return; /* that was told */
        }
        if (written->known) { /* the device's word was judged when it was written */
            CQ_HOST(q, CQ_065, written->id == id, NOTHING, "the event that the dispatcher wrote",
                    "event 0x%x, 0x%x was written", id, written->id);
        } else {
            judge_id(q, id, &c->host_id, NOCAP_BY_HOST);
        }
    }
}

static void read_timestamp(struct cq *q, uint64_t addr)
{
    struct cq_timestamps *t = &q->timestamps;
    uint64_t slot = (addr - NOCAP_CQ_TIMESTAMPS) / NOCAP_CQ_TIMESTAMP_STRIDE;
    uint32_t seen = (uint32_t)q->completion.pages_read + q->completion.page_read;
    const uint32_t pages = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM;
    if (t->ready[slot] == 0 || (q->m->header->observes & pages) != pages) {
        return; /* of before the trace, or nobody sees which pages the host has read */
    }
    CQ_HOST(q, CQ_067, seen >= t->ready[slot], RELATED(t->index[slot]),
            "a timestamp read after the event that follows it",
            "slot %llu, event %u of %u was seen", (unsigned long long)slot, seen, t->ready[slot]);
    t->ready[slot] = 0;
}

void cq_completion_host_sysmem(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t value;
    if (a->store) {
        if (access_word(a, NOCAP_CQ_HOST_RD, &value) && c->rd.known && c->pages_read > 0) {
            if (!c->told_rd) {
                CQ_HOST(q, CQ_064, c->stored_rd && value == c->stored_rd_value, NOTHING,
                        "the read pointer written to 0x196E0, then the same to +0xc0",
                        c->stored_rd ? "0x%x, 0x196E0 got 0x%x" : "0x%x before 0x196E0 (0x%x)",
                        value, c->stored_rd_value);
            }
            c->rd_fault = !c->stored_rd && value != c->stored_rd_value;
            c->copied_value = value;
            if (c->rd_fault && !c->rd.has_other && value == cq_ptr_advance(c->rd.value, 1)) {
                c->rd.has_other = true; /* perhaps 0x196E0 was stored all the same */
                c->rd.other = value;
            }
            c->stored_rd = c->told_rd = false;
        } else if (access_word(a, NOCAP_CQ_HOST_RD, &value) && c->rd.known &&
                   value != c->rd.value) {
            CQ_HOST(q, CQ_064, false, NOTHING,
                    "the read pointer written to 0x196E0, then the same to +0xc0",
                    "0x%x before 0x196E0", value);
            c->rd_fault = true;
            c->copied_value = value;
        }
        return;
    }
    if (access_word(a, NOCAP_CQ_HOST_WR, &value)) {
        c->seen = value;
        c->seen_known = true;
    } else if (a->addr >= NOCAP_CQ_COMPLETION && a->addr < NOCAP_CQ_COMPLETION_END) {
        read_page(q, a);
    } else if (a->addr >= NOCAP_CQ_TIMESTAMPS && a->addr < NOCAP_CQ_TIMESTAMPS_END) {
        read_timestamp(q, a->addr);
    }
}

/* NULL, or what is wrong when the host gives back a page. */
static const char *store_problem(const struct cq *q, uint32_t value)
{
    const struct cq_completion *c = &q->completion;
    if (!cq_next_is(&(struct cq_next){.known = true,
                                      .value = cq_ptr_advance(c->rd.value, 1),
                                      .has_other = c->rd.has_other,
                                      .other = cq_ptr_advance(c->rd.other, 1)},
                    value)) {
        return "0x%x, not one page on";
    }
    if (c->rd.has_other) {
        return NULL; /* which of the two lines it is on shows now */
    }
    if (c->seen_known && c->seen == c->rd.value) {
        return "0x%x, past what was written";
    }
    return q->sees_sysmem && !c->page_read && c->seen_known ? "0x%x, the page was not read" : NULL;
}

/* The host gives back a page: 0x196E0. */
void cq_completion_host_store(struct cq *q, uint32_t value)
{
    struct cq_completion *c = &q->completion;
    const char *wrong = c->rd.known && !c->told_read ? store_problem(q, value) : NULL;
    bool first = !c->rd.known; /* perhaps of the boot, which copies none */
    c->told_rd = first || wrong != NULL;
    c->told_read = false;
    if (q->m->armed[CQ_063] && c->rd.known) {
        q->m->exercised[CQ_063]++;
        if (wrong != NULL) {
            diverge(q->m, cq_tile(q, CQ_DISPATCH), CQ_063, cq_moment(q, NOCAP_BY_HOST), -1, NOTHING,
                    "the read pointer one page on, after that page was seen and read", wrong,
                    value);
        }
    }
    if (c->stored_rd && q->sees_sysmem && c->rd.known) {
        CQ_HOST(q, CQ_064, false, NOTHING, "every read pointer copied to +0xc0", "%s",
                "the one before was not");
    }
    c->misled = c->misled && (value != c->seen || value != c->wr.value);
    uint32_t next = c->rd.known ? cq_ptr_advance(c->rd.value, 1) : value;
    bool other = c->rd.has_other && value == cq_ptr_advance(c->rd.other, 1);
    uint32_t from = other ? cq_ptr_advance(c->rd.value, 1) : next;
    next = other ? value : next;
    c->rd = (struct cq_next){
        .known = true, .value = next, .has_other = value != next && in_ring(value), .other = value};
    c->stored_rd = !first && !(c->rd_fault && value == c->copied_value);
    c->rd_fault = false;
    c->stored_rd_value = value;
    c->page_read = false;
    uint32_t pages = value - from <= CQ_LEAP * NOCAP_CQ_PAGE_UNITS
                         ? (value - from) / NOCAP_CQ_PAGE_UNITS
                         : 0; /* that a store was left out for */
    c->pages_read += 1 + pages;
}

void cq_timestamp_sent(struct cq *q, uint64_t addr)
{
    struct cq_timestamps *t = &q->timestamps;
    uint64_t slot = (addr - NOCAP_CQ_TIMESTAMPS) / NOCAP_CQ_TIMESTAMP_STRIDE;
    uint32_t ready = (uint32_t)q->program.events + 1;
    CQ_HOST(q, CQ_067, t->ready[slot] != ready, RELATED(t->index[slot]),
            "a timestamp slot used once between two events", "slot %llu for the second time",
            (unsigned long long)slot);
    t->any = true;
    t->ready[slot] = ready;
    t->index[slot] = q->m->event->index;
}
