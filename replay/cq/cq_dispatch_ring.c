/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the dispatch buffer on the dispatcher's side: taken one command after the other, given
 * back by blocks. Rules CQ-038 to CQ-040, CQ-069. */
#include <string.h>

#include "replay/cq/cq_private.h"

void cq_ring_init(struct cq *q, bool origin)
{
    struct cq_ring *r = &q->ring;
    *r = (struct cq_ring){.page = r->page, .origin = origin};
    memset(r->page, 0, q->places.buffer.units * sizeof *r->page);
    r->cursor = (struct value){.known = origin, .v = q->numbers->buffer};
    r->current = q->numbers->buffer;
    r->executed_index = r->record = NO_INDEX;
}

void cq_ring_brief(struct cq *q, struct cq_brief *brief, const uint8_t *bytes, uint64_t known,
                   uint8_t agent)
{
    struct nocap_cq_command c;
    if (!brief->known && known > 0 &&
        nocap_cq_decode_by(q->set, NOCAP_CQ_DISPATCH, bytes, known, &c)) {
        cq_brief(&c, brief);
        brief->at = cq_event_ref(q, agent);
    }
}

static uint32_t page_index(const struct cq *q, uint64_t addr)
{
    return place_index(&q->places.buffer, addr);
}

/* Pages from the command that is executed to `addr`. */
static uint32_t distance(const struct cq *q, uint64_t addr)
{
    return place_distance(&q->places.buffer, page_index(q, q->ring.current), page_index(q, addr));
}

static void finish_command(struct cq *q)
{
    struct cq_ring *r = &q->ring;
    if (r->executing) {
        r->executing = false;
        cq_dispatcher_end(q);
    }
}

bool cq_sees_published(const struct cq *q)
{
    return (q->sees[CQ_PREFETCH] && q->sees_noc) || q->prefetcher.events_seen;
}

void cq_ring_doubt(struct cq *q, fault_id fault)
{
    struct cq_ring *r = &q->ring;
    cq_blame(&r->since, fault);
    cq_blame(&r->counted_since, fault);
    r->doubted = fault != FAULT_NONE ? r->published : r->doubted;
}

static void judge_published(struct cq *q, uint64_t pages, uint64_t addr)
{
    struct cq_ring *r = &q->ring;
    if (r->origin && cq_sees_published(q)) {
        CQ_EXECUTOR_AFTER(q, CQ_038, r->since, pages < r->published, NO_REFS,
                          "only pages that were made ready read by the dispatcher",
                          "page at 0x%llx read after %llu others, %llu made ready so far",
                          wide(addr), wide(pages), wide(r->published));
        cq_ring_doubt(q, fault_of(q->m, pages < r->published));
    }
}

/* Whether a command begins at that page that was published after the present one. */
static bool begins_later(const struct cq_ring *r, const struct cq_page *page)
{
    return page->pages != 0 && page->record != NO_INDEX && r->record != NO_INDEX &&
           page->record > r->record;
}

/* It goes on `ahead` pages further: the command that it should begin with lies nearer. */
static void judge_in_turn(struct cq *q, uint32_t ahead)
{
    struct cq_ring *r = &q->ring;
    const uint32_t after =
        place_wrap(&q->places.buffer, r->current + (uint64_t)r->current_pages * q->numbers->page);
    bool passed = r->current_pages != 0 && ahead > r->current_pages &&
                  begins_later(r, &r->page[page_index(q, after)]);
    CQ_EXECUTOR_AFTER(q, CQ_038, r->since, !passed, RELATED(r->executed_index),
                      "each command executed in its turn",
                      "command at 0x%x passed over, it was made ready before this one", after);
    cq_ring_doubt(q, fault_of(q->m, !passed));
}

enum known cq_judge_found(struct cq *q, const struct cq_record *record, const uint8_t *found,
                          uint64_t known, fault_id since)
{
    const uint8_t *bytes = record != NULL && record->good ? cq_bytes_of(q, record) : NULL;
    if (bytes == NULL || record->known <= NOCAP_CQ_HEADER || known == 0) {
        return UNKNOWN;
    }
    const struct access a = {.bytes = found, .known = known};
    uint64_t at = cq_bytes_differ(&a, bytes + NOCAP_CQ_HEADER, record->known - NOCAP_CQ_HEADER);
    bool right = at == UINT64_MAX;
    fault_id first = record->relayed_since;
    cq_blame(&first, record->says_since);
    cq_blame(&first, since);
    CQ_FETCHER_AFTER(q, CQ_071, first, right, RELATED(record->at.index),
                     "the bytes of the prefetch command relayed",
                     "byte %llu of the command executed is 0x%02x, the prefetch command has 0x%02x",
                     wide(right ? 0 : at), right ? 0 : found[at],
                     right ? 0 : bytes[NOCAP_CQ_HEADER + at]);
    return right ? YES : NO;
}

/* `last`: the record before; of an earlier one than that the page is left from the lap before. */
static void judge_found(struct cq *q, uint64_t last, const uint8_t *found, uint64_t known)
{
    struct cq_ring *r = &q->ring;
    const bool before = last != NO_INDEX && r->record <= last;
    if (before && known > 0) {
        r->brief = (struct cq_brief){.since = r->since}; /* as where it differs */
    }
    if (before || (last == NO_INDEX && r->executed_index != NO_INDEX)) {
        return;
    }
    const struct cq_record *record = r->record != NO_INDEX ? cq_record(q, r->record) : NULL;
    if (cq_judge_found(q, record, found, known, r->since) == NO) {
        cq_ring_doubt(q, q->m->fault);
        r->brief = (struct cq_brief){.since = q->m->fault}; /* it executes what it found */
        cq_launch_lose(q, true);
    }
}

/* The dispatcher begins with the command that it has begun with already. */
static bool judge_again(struct cq *q, uint32_t ahead)
{
    struct cq_ring *r = &q->ring;
    bool again = r->executed_index != NO_INDEX && ahead == 0 &&
                 r->current_pages % q->numbers->buffer_pages != 0;
    CQ_EXECUTOR_AFTER(q, CQ_038, r->since, !again, RELATED(r->executed_index),
                      "each command executed once", "command at 0x%x executed a second time",
                      r->current);
    cq_ring_doubt(q, fault_of(q->m, !again));
    return again;
}

/* What is known of the command that begins at a page. */
static void take_page(struct cq *q, const struct cq_page *page)
{
    struct cq_ring *r = &q->ring;
    r->brief = page->pages != 0 ? page->brief : (struct cq_brief){.known = false};
    if (r->brief.known) {
        const struct cq_record *record = cq_record(q, page->record);
        cq_report_step(q, NOCAP_RECORD_EXECUTED,
                       record != NULL ? record : &(struct cq_record){.at = r->brief.at});
    }
    r->current_pages = page->pages;
    r->record = page->pages != 0 ? page->record : NO_INDEX;
}

/* It goes on to the command at `addr`, so many pages further; `bytes`: what it finds. */
static void go_on(struct cq *q, uint64_t addr, uint32_t ahead, const uint8_t *bytes, uint64_t known)
{
    struct cq_ring *r = &q->ring;
    const struct cq_page *page = &r->page[page_index(q, addr)];
    bool begins = page->pages != 0;
    bool relayed = r->current_pages != 0 && r->record != NO_INDEX && begins &&
                   page->record == r->record + 1; /* the next one, wherever it was relayed to */
    bool follows = relayed || r->current_pages % q->numbers->buffer_pages == ahead;
    const uint64_t last = r->record;
    bool back = !follows && begins && last != NO_INDEX && page->record < last &&
                ahead > q->numbers->buffer_pages / 2; /* else what is there is of a lap ago */
    if (!follows) {
        judge_in_turn(q, ahead);
    }
    r->consumed += follows ? r->current_pages : ahead;
    r->current = place_address(&q->places.buffer, page_index(q, addr));
    judge_published(q, r->consumed, addr);
    r->consumed -= back ? q->numbers->buffer_pages : 0;
    take_page(q, page);
    judge_found(q, last, bytes, known);
    if (follows && begins && page->first >= r->doubted) {
        r->since = FAULT_NONE;
    }
}

/* The dispatcher begins with the command at `addr`. */
void cq_ring_exec(struct cq *q, uint64_t addr, const uint8_t *bytes, uint64_t known)
{
    struct cq_ring *r = &q->ring;
    const bool at_page = addr % q->numbers->page == 0;
    if (!place_has(&q->places.buffer, addr)) {
        CQ_EXECUTOR(q, CQ_038, false, NO_REFS, "commands executed in the dispatch buffer",
                    "command executed at 0x%llx, outside the dispatch buffer", wide(addr));
        cq_ring_doubt(q, q->m->fault);
        return;
    }
    q->any = true;
    cq_boot_running(q, CQ_DISPATCH);
    if (q->loose) {
        return;
    }
    CQ_EXECUTOR(q, CQ_038, at_page, NO_REFS, "commands executed from the first byte of a page on",
                "command executed at 0x%llx, not at the start of a page", wide(addr));
    cq_ring_doubt(q, fault_of(q->m, at_page));
    cq_subordinate_doubt(q, fault_of(q->m, at_page));
    uint32_t ahead =
        distance(q, addr); /* where it went to the right place, the pages of a command */
    if (judge_again(q, ahead)) {
        return;
    }
    finish_command(q);
    go_on(q, addr, ahead, bytes, known);
    cq_ring_brief(q, &r->brief, bytes, known, NOCAP_BY_DISPATCH);
    cq_subordinate_brief(q, &r->brief);
    cq_expected_exec(q, r->record);
    r->executing = true;
    r->finished = false;
    r->executed_index = q->m->event->index;
    r->seq = cq_seq(q->m->event);
    r->ended |= r->brief.known && r->brief.id == NOCAP_CQ_DISPATCH_TERMINATE;
    cq_dispatcher_begin(q);
}

void cq_ring_restated(struct cq *q, uint64_t addr, const uint8_t *bytes, uint64_t known)
{
    struct cq_ring *r = &q->ring;
    if (!r->executing || cq_seq(q->m->event) != r->seq || r->seq == NO_INDEX) {
        return;
    }
    CQ_EXECUTOR_AFTER(q, CQ_038, r->since, addr == r->current, RELATED(r->executed_index),
                      "a command executed at one place",
                      "the same command executed at 0x%x, and at 0x%llx", r->current, wide(addr));
    judge_found(q, r->record != 0 ? r->record - 1 : NO_INDEX, bytes, known);
}

/* A load that begins a command, which an event may restate, or have stated already. */
static void exec_by_load(struct cq *q, const struct access *a)
{
    if (!cq_is_duplicate(q, CQ_ACT_EXEC, q->m->event)) {
        cq_ring_exec(q, a->addr, a->bytes, a->known);
    }
}

/* A load of the dispatch core from the buffer; true if it begins a command: the next, or a later
 * one if loads are missing. */
bool cq_ring_read(struct cq *q, const struct access *a)
{
    struct cq_ring *r = &q->ring;
    uint32_t d = distance(q, a->addr);
    bool at_page = !q->loose && a->addr % q->numbers->page == 0;
    bool first = r->executed_index == NO_INDEX;
    if (first && !r->origin) {
        if (at_page && r->page[page_index(q, a->addr)].pages != 0) {
            exec_by_load(q, a);
            return true;
        }
        return false;
    }
    uint32_t pages = first ? 0 : r->current_pages;
    bool next = at_page && (pages != 0 || first ? d == pages : d != 0);
    bool later = at_page && d > pages && begins_later(r, &r->page[page_index(q, a->addr)]);
    if (next || later) {
        exec_by_load(q, a);
        return true;
    }
    if (pages != 0 && d >= pages && d < pages + q->numbers->block_pages) {
        judge_published(q, r->consumed + d, a->addr);
    }
    return false;
}

/* ---- credits ---- */

static void judge_block(struct cq *q, uint32_t value)
{
    struct cq_ring *r = &q->ring;
    uint64_t end = r->consumed + (r->executed_index == NO_INDEX ? 0 : r->current_pages);
    uint64_t blocks = end / q->numbers->block_pages;
    bool unknown = r->executed_index == NO_INDEX || !r->brief.known; /* perhaps it is TERMINATE */
    bool any = unknown && r->since == FAULT_NONE;
    uint64_t may = any ? end : blocks > 0 ? (blocks - 1) * q->numbers->block_pages : 0;
    uint64_t released = r->released + value;
    if (r->ended) {
        return; /* what is left comes back as it is, CQ-069 at the end */
    }
    bool count = !r->origin || released <= may ||
                 !(q->sees[CQ_DISPATCH] || q->prefetcher.events_seen) ||
                 (!q->sees_loads && !q->prefetcher.events_seen) ||
                 (r->current_pages == 0 && r->executed_index != NO_INDEX);
    bool fewer = value < q->numbers->block_pages;
    bool block = value == q->numbers->block_pages || (fewer && unknown);
    fault_id since = r->released_since;
    cq_blame(&since, r->since);
    CQ_EXECUTOR_AFTER(
        q, CQ_039, fewer || block ? since : FAULT_NONE, block && count, RELATED(r->executed_index),
        "whole blocks of pages released, each when the next one is finished as well",
        block ? "%u pages released too early, on top of %llu, %llu are finished"
              : "%u pages released on top of %llu, not a whole block (%llu are finished)",
        value, wide(r->released), wide(end));
    cq_resync(q, &r->released_since, block && count);
    cq_ring_doubt(q, fault_of(q->m, block && count));
}

void cq_ring_credit(struct cq *q, uint32_t value)
{
    struct cq_ring *r = &q->ring;
    cq_boot_running(q, CQ_DISPATCH);
    q->any = true;
    MARK_EXERCISED(q->m, CQ_041);
    if (q->loose) {
        return;
    }
    judge_block(q, value);
    r->released += value;
    unsigned i = (unsigned)(r->release_count++ % CQ_RELEASES);
    r->releases[i].released = r->ended ? 0 : r->released;
    r->releases[i].at = cq_event_ref(q, NOCAP_BY_DISPATCH);
    cq_expected_released(q);
}

void cq_ring_credit_elsewhere(struct cq *q, const struct nocap_event *e)
{
    struct cq_ring *r = &q->ring;
    char counted[CQ_COUNTED_TEXT];
    bool subordinate = e->by == NOCAP_BY_NCRISC;
    bool executor = subordinate || e->by == NOCAP_BY_BRISC || e->by == NOCAP_BY_DISPATCH;
    if (q->loose || q->boot[CQ_DISPATCH].running != YES || !q->any || !cq_is_placed(q) ||
        !executor) {
        return;
    }
    fault_id since = subordinate ? q->subordinate.since : r->released_since;
    cq_blame(&since, subordinate ? FAULT_NONE : r->since);
    cq_counted_text(counted, e);
    CQ_EXECUTOR_AFTER(q, CQ_039, since, false, RELATED(r->executed_index),
                      "pages released to the prefetcher",
                      "%s counted up instead of the prefetcher's semaphore", counted);
    bool either = e->by == NOCAP_BY_DISPATCH && q->numbers->dispatchers > 1;
    if (subordinate || either) {
        cq_subordinate_doubt(q, q->m->fault);
    }
    if (!subordinate) {
        cq_blame(&r->released_since, q->m->fault);
    }
    cq_ring_doubt(q, q->m->fault);
}

/* A write that a command of a page made has left only now: was the page released before? */
void cq_ring_sent(struct cq *q, const struct cq_write *w)
{
    struct cq_ring *r = &q->ring;
    uint64_t count = r->release_count < CQ_RELEASES ? r->release_count : CQ_RELEASES;
    for (uint64_t i = r->release_count - count; i < r->release_count && r->origin; i++) {
        unsigned at = (unsigned)(i % CQ_RELEASES);
        if (r->releases[at].released > w->page && r->releases[at].at.index > w->index) {
            CHECK_AT(q->m, cq_tile(q, CQ_DISPATCH), CQ_039, false, r->releases[at].at,
                     RELATED(w->index), "pages released when all writes from them have left", "%s",
                     "pages released before a write from them had left");
            return;
        }
    }
}

/* A core reads its own semaphore 0. It may lag behind, but never be ahead. */
void cq_ring_counter(struct cq *q, enum cq_core core, uint32_t value)
{
    struct cq_ring *r = &q->ring;
    if (!r->origin || q->boot[core].running == NO) {
        return;
    }
    if (core == CQ_PREFETCH) {
        uint64_t limit = q->numbers->buffer_pages + r->released;
        if (q->sees[CQ_DISPATCH] && q->sees_noc) {
            CQ_FETCHER_ON(q, CQ_040, &r->counted_since, value <= limit, NO_REFS,
                          "a count of at most the pages of the buffer and those released",
                          "semaphore 0 of the prefetcher is %u, the buffer has %u pages and %llu "
                          "were released",
                          value, q->numbers->buffer_pages, wide(r->released));
        } else if (value > limit) {
            r->released = value - q->numbers->buffer_pages;
        }
    } else if (q->sees[CQ_PREFETCH] && q->sees_noc) {
        if (value > r->counter) {
            cq_relay_counted(q, value - r->counter);
        }
        CQ_EXECUTOR_AFTER(q, CQ_040, r->counted_since, value <= r->counter, NO_REFS,
                          "a count of at most the pages made ready",
                          "semaphore 0 of the dispatcher is %u, %llu pages were made ready", value,
                          wide(r->counter));
        cq_ring_doubt(q, fault_of(q->m, value <= r->counter));
    }
}

void cq_ring_finish(struct cq *q, bool cut)
{
    struct cq_ring *r = &q->ring;
    bool sees =
        (q->sees[CQ_DISPATCH] && q->sees[CQ_PREFETCH] && q->sees_noc) || q->prefetcher.events_seen;
    bool at_work = r->executing && r->ends_shown && !r->finished; /* it may still release pages */
    bool over = r->ends_shown || r->released > r->published; /* else the rest may be on its way */
    if (cut || at_work || !over || !r->ended || !r->origin || !sees || r->release_count == 0) {
        return;
    }
    cq_blame(&r->counted_since, q->program.reopened);
    FOLLOWING(q->m, r->counted_since,
              CHECK_AT(q->m, cq_tile(q, CQ_DISPATCH), CQ_069, r->released == r->published,
                       r->releases[(r->release_count - 1) % CQ_RELEASES].at, NO_REFS,
                       "after TERMINATE as many pages released as were made ready",
                       "%llu pages released at the end, %llu were made ready", wide(r->released),
                       wide(r->published)));
}
