/* SPDX-License-Identifier: Apache-2.0 */
/* The host reads completions, and gives their pages back. Rules CQ-063 to CQ-065. */
#include "replay/cq/cq_private.h"

static void read_page(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t page = cq_ptr_offset(q, c->rd.v), id;
    if (!c->rd.known || !touches(a, page, q->numbers->page)) {
        return;
    }
    if (c->seen.known) {
        cq_blame(&c->rd.since, c->seen.v != c->rd.v ? FAULT_NONE : c->seen.since);
        CQ_HOST_AFTER(q, CQ_063, c->rd.since, c->seen.v != c->rd.v, NO_REFS,
                      "a page read after the write pointer was seen past it",
                      "completion page at +0x%x read before the write pointer was seen past it",
                      page);
        cq_blame(&c->rd.since, fault_of(q->m, c->seen.v != c->rd.v));
    }
    c->page_read = true;
    if (access_word(a, page + NOCAP_CQ_HEADER, &id)) {
        fault_id since = c->seen.since;
        cq_blame(&since, c->toggled);
        cq_blame(&since, c->rd.since);
        cq_blame(&since, c->pages_read <= c->altered_pages ? c->altered : FAULT_NONE);
        const struct cq_page_id *written = &c->page_id[place_index(&q->places.completion, page)];
        if (written->known) { /* the device's word was judged when it was written */
            if (written->id != id && c->early_for > c->payload_landed) {
                c->payload_landed = c->early_for;
                c->absent = page;
                cq_judge_early(q);
                cq_blame(&since, q->m->fault);
            }
            CQ_HOST_AFTER(q, CQ_065, since, written->id == id, NO_REFS,
                          "the event that the dispatcher wrote",
                          "event 0x%x read, the dispatcher wrote 0x%x", id, written->id);
            uint64_t n = cq_completion_find(c, c->host.next, written->id);
            c->host.next = n < c->id_count ? n + 1 : c->host.next;
        } else {
            cq_completion_judge_id(q, id, &c->host, since, NOCAP_BY_HOST);
        }
    }
}

/* The host writes the read pointer to +0xc0. */
static void copy_rd(struct cq *q, uint32_t value)
{
    struct cq_completion *c = &q->completion;
    bool begun = c->pages_read > 0;
    if (!c->rd.known || (!begun && value == c->rd.v)) {
        return;
    }
    if (c->uncopied.known && value == c->uncopied.v) {
        CQ_HOST_AFTER(q, CQ_064, c->uncopied.since, false, NO_REFS,
                      "every read pointer copied to host memory",
                      "0x%x copied to host memory after the next completion_q_rd_ptr", value);
        c->uncopied.known = false;
        return;
    }
    SEEING(q->m, q->at[CQ_DISPATCH], q->numbers->completion_rd, 4,
           CQ_HOST_AFTER(q, CQ_064, c->given.since, c->given.known && value == c->given.v, NO_REFS,
                         "completion_q_rd_ptr written, then the same to host memory",
                         c->given.known ? "0x%x copied to host memory, completion_q_rd_ptr got 0x%x"
                         : begun
                             ? "0x%x copied to host memory, completion_q_rd_ptr still has 0x%x"
                             : "0x%x copied to host memory before completion_q_rd_ptr was written",
                         value, c->given.v));
    c->copied =
        (struct value){.known = !c->given.known && (!begun || value != c->given.v), .v = value};
    if (c->copied.known && value == cq_ptr_advance(q, c->rd.v, 1)) {
        cq_blame(&c->rd.since, q->m->fault); /* perhaps 0x196E0 was stored all the same */
    }
    c->given.known = false;
    c->given.since = FAULT_NONE;
}

void cq_completion_host_sysmem(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t value;
    if (a->store) {
        if (access_word(a, q->numbers->host_rd, &value)) {
            copy_rd(q, value);
        }
    } else if (access_word(a, q->numbers->host_wr, &value)) {
        cq_pointer_shown(q, value);
        resync(&c->seen, value, c->shown.since != FAULT_NONE ? c->shown.since : c->wr.since);
    } else if (place_has(&q->places.completion, a->addr)) {
        read_page(q, a);
    } else if (place_has(&q->places.stamps, a->addr) || place_has(&q->places.timings, a->addr)) {
        cq_timestamp_read(q, a->addr);
    }
}

/* NULL, or what is wrong when the host releases a page. */
static const char *store_problem(const struct cq *q, uint32_t value)
{
    const struct cq_completion *c = &q->completion;
    if (value != cq_ptr_advance(q, c->rd.v, 1)) {
        return "completion_q_rd_ptr moved to 0x%x, not one page on";
    }
    if (c->seen.known && c->seen.v == c->rd.v) {
        return "completion_q_rd_ptr moved to 0x%x, past the pages written";
    }
    return q->sees_sysmem && !c->page_read && c->seen.known
               ? "completion_q_rd_ptr moved to 0x%x, but the page was not read"
               : NULL;
}

/* The host releases a page: 0x196E0. */
void cq_completion_host_store(struct cq *q, uint32_t value)
{
    struct cq_completion *c = &q->completion;
    c->read_turn = q->m->turn;
    bool first = !c->rd.known; /* perhaps of the boot, which copies none */
    fault_id since = first ? FAULT_UNREPORTED : FAULT_NONE;
    uint32_t next = first ? value : cq_ptr_advance(q, c->rd.v, 1);
    if (c->left_out.known && value == c->left_out.v && value != next) {
        CQ_HOST_AFTER(q, CQ_063, c->left_out.since, false, NO_REFS,
                      "the read pointer one page on, after that page was seen and read",
                      "completion_q_rd_ptr 0x%x written late, after the next one", value);
        c->left_out.known = false;
        return;
    }
    if (!first) {
        const char *wrong = store_problem(q, value);
        FOLLOWING(q->m, c->rd.since,
                  CHECK_AT(q->m, cq_tile(q, CQ_DISPATCH), CQ_063, wrong == NULL,
                           cq_event_ref(q, NOCAP_BY_HOST), NO_REFS,
                           "the read pointer one page on, after that page was seen and read",
                           WITH_NUMBER(wrong, value)));
        since = wrong == NULL ? FAULT_NONE : q->m->fault;
        cq_blame(&c->host.since, since); /* events that it passed over may be read late, or never */
        if (value == cq_ptr_advance(q, next, 1)) {
            resync(&c->left_out, next, since);
        }
    }
    if (c->given.known && q->sees_sysmem && !first) {
        CQ_HOST_AFTER(q, CQ_064, c->given.since, false, NO_REFS,
                      "every read pointer copied to host memory", "%s",
                      "previous completion_q_rd_ptr not copied to host memory");
        resync(&c->uncopied, c->given.v, q->m->fault);
    }
    resync(&c->rd, cq_ptr_in_ring(q, value) ? value : next, first ? FAULT_NONE : since);
    bool copied = c->copied.known && value == c->copied.v;
    c->given = (struct value){.known = !first && !copied, .since = since, .v = value};
    c->copied.known = false;
    c->page_read = false;
    uint32_t pages = value - next <= CQ_LEAP * q->page_units
                         ? (value - next) / q->page_units
                         : 0; /* that a store was left out for */
    c->pages_read += 1 + pages;
}
