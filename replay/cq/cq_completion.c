/* SPDX-License-Identifier: Apache-2.0 */
/* The completion queue: event pages, write and read pointers with their toggles. Rules CQ-059 to
 * CQ-065. */
#include <string.h>

#include "replay/cq/cq_private.h"

void cq_completion_init(struct cq *q, bool origin)
{
    struct cq_completion *c = &q->completion;
    *c = (struct cq_completion){.page_id = c->page_id};
    memset(c->page_id, 0, q->places.completion.units * sizeof *c->page_id);
    cq_timestamps_forget(q);
    const uint32_t records = NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_CQ | NOCAP_CLASS_SYSMEM;
    c->ids_whole = origin && (q->m->header->observes & records) != 0;
    if (origin) {
        value_set(&c->wr, q->first);
        value_set(&c->stored, q->first);
        value_set(&c->rd, q->first);
        value_set(&c->shown, q->first);
    }
}

/* ---- the dispatcher writes ---- */

static bool judge_room(struct cq *q, const struct access *a, uint32_t pages)
{
    const struct cq_completion *c = &q->completion;
    if (!c->wr.known) {
        return true;
    }
    bool back =
        c->due.known && a->addr == cq_ptr_offset(q, cq_ptr_advance(q, c->due.v, c->payload_pages));
    uint32_t wr = back ? c->due.v : c->wr.v, rd = c->rd_read.v;
    bool place = a->addr == cq_ptr_offset(q, cq_ptr_advance(q, wr, c->payload_pages));
    bool room = true;
    if (c->rd_read.known) {
        bool turned = ((rd ^ wr) & q->numbers->toggle) != 0;
        uint32_t ahead = (wr & ~q->numbers->toggle) - (rd & ~q->numbers->toggle);
        uint32_t avail = turned ? 0 - ahead : (q->last - q->first) - ahead;
        room = (c->payload_pages + pages) * q->page_units <= avail;
    }
    if (q->sees_loads) { /* else a page elsewhere is one that the pointer announces and lacks */
        CQ_EXECUTOR_AFTER(
            q, CQ_059, c->wr.since, place && room, NO_REFS,
            "a free page at the write pointer for every completion",
            room ? "completion written at +0x%llx, the write pointer is at +0x%x"
                 : "completion written at +0x%llx (write pointer +0x%x) before the host "
                   "released that page",
            wide(a->addr), cq_ptr_offset(q, wr));
    }
    return place;
}

/* A completion went elsewhere: perhaps the one that the pointer announces next, perhaps one of
 * before once more. */
static void payload_elsewhere(struct cq *q, const struct access *a, bool event, uint32_t id)
{
    struct cq_completion *c = &q->completion;
    uint64_t next = c->device.next;
    cq_blame(&c->wr.since, q->sees_loads ? q->m->fault : FAULT_NONE);
    cq_blame(&c->elsewhere, q->sees_loads ? q->m->fault : FAULT_UNREPORTED);
    c->device.next += event && next < c->id_count && c->ids[next % CQ_EVENTS] == id;
    c->page_id[place_index(&q->places.completion, a->addr)].known = false;
}

enum { EVENT_ID_END = NOCAP_CQ_HEADER + 4 };

/* The size and the bytes of an event against its command; its id has a rule of its own. */
static void judge_event(struct cq *q, const struct access *a)
{
    const struct cq_record *r = q->ring.executing ? cq_record(q, q->ring.record) : NULL;
    const uint8_t *bytes = r != NULL && r->good ? cq_bytes_of(q, r) : NULL;
    if (bytes == NULL || r->known < EVENT_ID_END + NOCAP_CQ_HEADER || a->known < EVENT_ID_END ||
        r->brief.id != NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST ||
        r->length != q->numbers->event_bytes) {
        return;
    }
    bytes += NOCAP_CQ_HEADER;
    const struct access head = {.bytes = a->bytes, .known = NOCAP_CQ_HEADER};
    const struct access rest = {.bytes = a->bytes + EVENT_ID_END, .known = a->known - EVENT_ID_END};
    uint64_t known = r->known - NOCAP_CQ_HEADER;
    bool same = cq_bytes_differ(&head, bytes, known) == UINT64_MAX &&
                cq_bytes_differ(&rest, bytes + EVENT_ID_END, known - EVENT_ID_END) == UINT64_MAX;
    CQ_EXECUTOR_AFTER(
        q, CQ_072, r->relayed_since != FAULT_NONE ? r->relayed_since : r->says_since,
        same && a->size == r->length, RELATED(r->at.index),
        "an event written as its command has it",
        same ? "event of %llu bytes written, its command has %u"
             : "bytes of the event differ from its command (%llu bytes written, %u in the command)",
        wide(a->size), r->length);
}

/* A completion leaves for host memory. */
void cq_completion_payload(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t id = 0, pages = cq_pages_of(q, a->size);
    bool first = c->payload_pages == 0;
    /* of the page before the pointer, which moved on without it */
    bool late =
        c->unwritten != FAULT_NONE && (!c->wr.known || a->addr != cq_ptr_offset(q, c->wr.v));
    CQ_EXECUTOR_AFTER(q, CQ_060, late ? c->unwritten : c->unmatched, !late && !c->stored_new,
                      NO_REFS, "the page written before the pointer moves on", "%s",
                      "completion_q_wr_ptr stored before the completion page was written");
    c->unwritten = FAULT_NONE;
    struct nocap_cq_command k;
    bool event = first && access_word(a, a->addr + NOCAP_CQ_HEADER, &id) &&
                 nocap_cq_decode_by(q->set, NOCAP_CQ_DISPATCH, a->bytes, a->known, &k) &&
                 k.id == NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST && k.is_event == 1;
    c->payloads++;
    if (!late && !judge_room(q, a, pages)) {
        payload_elsewhere(q, a, event, id);
        return;
    }
    if (!late) {
        c->payload_index = q->m->event->index;
        c->payload_pages += pages;
    }
    if (first && !late) {
        judge_event(q, a);
    }
    if (event) {
        cq_completion_judge_id(q, id, &c->device, FAULT_NONE, NOCAP_BY_DISPATCH);
    } else if (first && a->known < EVENT_ID_END && a->known < a->size) {
        c->device.lost = true; /* perhaps it was one */
    }
    if (first) {
        c->page_id[place_index(&q->places.completion, a->addr)] = (struct cq_page_id){event, id};
    }
}

/* Whether the pointer goes on from where it should have been. */
static bool goes_back(const struct cq *q, uint32_t value, uint32_t pages)
{
    const struct value *due = &q->completion.due;
    return due->known && value == cq_ptr_advance(q, due->v, pages);
}

void cq_completion_moved(struct cq *q, uint32_t value)
{
    struct cq_completion *c = &q->completion;
    bool payload = c->payload_pages != 0;
    bool known = c->wr.known && (payload || cq_sees_writes(q) || c->landed_seen);
    uint32_t pages = payload ? c->payload_pages : 1;
    uint32_t want = c->wr.known ? cq_ptr_advance(q, c->wr.v, pages) : value;
    bool back = goes_back(q, value, pages);
    bool right = cq_ptr_in_ring(q, value) && (!known || value == want || back);
    CQ_EXECUTOR_AFTER(
        q, CQ_061, c->wr.since, right, RELATED(payload ? c->payload_index : NO_INDEX),
        "a write pointer that moves on by the pages written, its toggle where it wraps",
        "completion write pointer moved to 0x%x, 0x%x is next", value, want);
    resync(&c->wr, cq_ptr_in_ring(q, value) ? value : want, right ? FAULT_NONE : q->m->fault);
    if (value != want && (value ^ want) == q->numbers->toggle) {
        c->toggled = c->toggled == FAULT_NONE ? q->m->fault : FAULT_NONE;
    }
    c->due = (struct value){.known = !right, .v = want};
}

/* Whether each store of the dispatcher to its pointer is seen, and not some of them. */
static bool sees_pointer(const struct cq *q)
{
    return q->sees_stores && q->sees[CQ_DISPATCH];
}

/* The pointer moves on. */
static void judge_page_before(struct cq *q)
{
    struct cq_completion *c = &q->completion;
    bool written = c->payload_pages != 0 || !c->wr.known || !cq_sees_writes(q);
    CQ_EXECUTOR_AFTER(q, CQ_060, c->wr.since, written, NO_REFS,
                      "the page written before the pointer moves on", "%s",
                      "completion_q_wr_ptr moved, but no page was written since its last move");
    c->unwritten = fault_of(q->m, written);
    cq_blame(&c->wr.since, c->unwritten);
    cq_blame(&c->device.since, c->unwritten); /* its event may never come */
}

void cq_completion_core(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t value;
    if (!a->store) {
        if (access_word(a, q->numbers->completion_rd, &value)) {
            value_set(&c->rd_read, value);
        }
        return;
    }
    if (touches(a, q->numbers->completion_rd, 4)) {
        CQ_EXECUTOR(q, CQ_062, q->boot[CQ_DISPATCH].running != YES, NO_REFS,
                    "completion_q_rd_ptr written by the host only",
                    "%s stored to completion_q_rd_ptr", nocap_agent_name(a->by));
        cq_blame(&c->wr.since, q->m->fault); /* perhaps for the other pointer */
        cq_blame(&c->stored.since, q->m->fault);
    }
    if (access_word(a, q->numbers->completion_wr, &value)) {
        cq_boot_running(q, CQ_DISPATCH);
        bool back = goes_back(q, value, c->payload_pages);
        if (c->stored.known && value == c->stored.v && c->wr.known && !back) {
            CQ_EXECUTOR_AFTER(q, CQ_061, c->stored.since, false, NO_REFS,
                              "a write pointer that moves on by the pages written",
                              "completion_q_wr_ptr stored as 0x%x a second time", value);
            cq_blame(&c->stored.since, q->m->fault); /* perhaps instead of the next */
            cq_blame(&c->wr.since, q->m->fault);
            resync(&c->due, cq_ptr_advance(q, value, c->payload_pages), q->m->fault);
            return;
        }
        if (c->unstored.known && value == c->unstored.v && c->payload_pages == 0) {
            CQ_EXECUTOR_AFTER(q, CQ_061, c->unstored.since, false, NO_REFS,
                              "completion_q_wr_ptr stored, then the same copied to host memory",
                              "completion_q_wr_ptr stored as 0x%x, which was copied before", value);
            c->stored = c->unstored;
            value_forget(&c->unstored);
            return;
        }
        judge_page_before(q);
        cq_completion_moved(q, value);
        resync(&c->stored, value, c->wr.since);
        c->stored_new = true;
        c->payload_pages = 0;
    }
}

/* The pointer leaves for host memory. */
void cq_completion_pointer(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t value;
    if (!access_word(a, q->numbers->host_wr, &value)) {
        return;
    }
    c->announced[c->announced_count++ % CQ_ANNOUNCED] =
        (struct cq_announced){value, c->payloads, c->elsewhere};
    if (!sees_pointer(q)) {
        judge_page_before(q);
        cq_completion_moved(q, value);
    } else {
        bool same = c->stored.known ? c->stored_new && value == c->stored.v : c->payload_pages == 0;
        SEEING(q->m, q->at[CQ_DISPATCH], q->numbers->completion_wr, 4,
               CQ_EXECUTOR_AFTER(q, CQ_061, c->stored.since, same, NO_REFS,
                                 "completion_q_wr_ptr stored, then the same copied to host memory",
                                 c->stored.known
                                     ? "0x%x copied to host memory, completion_q_wr_ptr holds 0x%x"
                                     : "0x%x copied to host memory before it was stored",
                                 value, c->stored.v));
        cq_blame(&c->stored.since, fault_of(q->m, same));
        if (!same && !c->stored_new) {
            resync(&c->unstored, value, c->stored.since);
        }
    }
    if (sees_pointer(q) && !c->stored_new) {
        resync(&c->wr, value, c->stored.since);
    }
    c->stored_new = false;
    c->unmatched = c->elsewhere = FAULT_NONE;
    c->payload_pages = 0;
}

/* ---- what arrives in host memory ---- */

/* What the pointer of this value announced; no payloads: it is not known. */
static struct cq_announced announced_by(const struct cq_completion *c, uint32_t value)
{
    for (uint32_t i = 1; i <= c->announced_count && i <= CQ_ANNOUNCED; i++) {
        const struct cq_announced *a = &c->announced[(c->announced_count - i) % CQ_ANNOUNCED];
        if (a->value == value) {
            return *a;
        }
    }
    return (struct cq_announced){.value = value};
}

void cq_judge_early(struct cq *q)
{
    struct cq_completion *c = &q->completion;
    fault_id since = c->early.since;
    cq_blame(&since, q->intruder.since); /* the page may have been that */
    FOLLOWING(q->m, since,
              CHECK_AT(q->m, NULL, CQ_060, false, c->pointer_at, RELATED(c->payload_index),
                       "a page in host memory before the write pointer moves past it", "%s",
                       "completion write pointer arrived in host memory before its page"));
    c->early_for = 0;
}

void cq_completion_dma(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t value;
    CHECK(q->m, NULL, CQ_062, q->sees_noc || !touches(a, q->numbers->host_rd, 4), NO_REFS,
          "the completion read pointer in host memory (+0xc0) written by the host only",
          "device wrote +0x%llx, over the completion read pointer in host memory", wide(a->addr));
    bool only_lands =
        !sees_pointer(q) && !cq_sees_writes(q) && c->payloads == 0; /* no request is seen */
    c->lands = true;
    if (place_has(&q->places.completion, a->addr)) {
        if (only_lands) {
            cq_pointer_page(q, a);
        }
        if (a->addr == c->absent) { /* it comes after all */
            c->absent = 0;
        } else if (c->early_for > c->payload_landed++) {
            bool next =
                a->addr == cq_ptr_offset(q, c->early.value); /* and the one before never came */
            c->payload_landed = c->early_for + next;
            cq_judge_early(q);
        }
    } else if (access_word(a, q->numbers->host_wr, &value)) {
        if (only_lands) {
            cq_pointer_landed(q, value);
        } else if (!cq_sees_writes(q)) {
            cq_completion_moved(q, value);
        } else {
            c->early = announced_by(c, value);
            c->early_for = c->payload_landed < c->early.payloads ? c->early.payloads : 0;
            c->pointer_at = cq_event_ref(q, NOCAP_BY_DMA);
            exercise(q->m, CQ_060, c->early_for == 0);
        }
    }
}

void cq_completion_left(struct cq *q, const struct nocap_event *e)
{
    struct cq_completion *c = &q->completion;
    uint64_t offset;
    const fault_id fault = q->m->request_fault;
    if (fault == FAULT_NONE || e->op != NOCAP_OP_WRITE ||
        !nocap_xy_equal(e->at, q->at[CQ_DISPATCH])) {
        return;
    }
    if (c->stored_new) {
        cq_blame(&c->unmatched, fault); /* perhaps the copy that is due */
    } else if (cq_sysmem_offset(q, e->daddr, &offset) && c->payload_pages == 0 &&
               place_has(&q->places.completion, offset)) {
        cq_blame(&c->wr.since, fault); /* and that page is missing where it should be */
    }
}

void cq_completion_arrived(struct cq *q)
{
    struct cq_completion *c = &q->completion;
    if (q->m->request_fault != FAULT_NONE) {
        c->altered = q->m->request_fault;
        c->altered_pages = c->payloads;
        cq_blame(&c->unmatched, q->m->request_fault); /* no request was seen: perhaps this one's */
    }
}

void cq_completion_memory(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t value;
    if (access_word(a, q->numbers->host_wr, &value)) {
        CQ_EXECUTOR(q, CQ_061, cq_ptr_in_ring(q, value), NO_REFS,
                    "a write pointer in the completion ring",
                    "completion write pointer 0x%x is no page of the completion ring", value);
        cq_pointer_shown(q, value);
        resync(&c->seen, value, c->shown.since != FAULT_NONE ? c->shown.since : c->wr.since);
        c->seen.known = cq_ptr_in_ring(q, value);
    }
    bool next = a->addr == cq_ptr_offset(q, c->rd.v);
    if (place_has(&q->places.completion, a->addr) && c->rd.known && next &&
        access_word(a, a->addr + NOCAP_CQ_HEADER, &value)) {
        fault_id since = c->rd.since;
        cq_blame(&since, c->seen.since);
        cq_completion_judge_id(q, value, &c->host, since, NOCAP_BY_DISPATCH);
    }
}
