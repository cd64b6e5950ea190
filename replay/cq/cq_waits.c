/* SPDX-License-Identifier: Apache-2.0 */
/* What the parties of the command queue wait for: slots, records, credits, pages, announcements of
 * workers, completion space. An idle queue waits for nothing. Source: command-queue fact sheet. */
#include <stdio.h>

#include "replay/cq/cq_waits.h"

/* ---- the prefetcher: entries, reads of host memory, free pages ---- */

/* Pages that came back from the dispatcher, as the prefetcher's own semaphore shows them where it
 * looks at it, else as they were sent. */
uint64_t cq_released_pages(const struct queue_view *v)
{
    const struct poll *l = v->polls[CQ_PREFETCH];
    bool counts = l != NULL && l->addr == v->q->sem[CQ_PREFETCH] && v->q->ring.origin &&
                  l->value >= v->q->numbers->buffer_pages && l->value <= UINT32_MAX;
    return counts ? l->value - v->q->numbers->buffer_pages : v->q->ring.released;
}

/* Whether the next record needs more pages than are free. */
bool cq_short_of_credits(const struct queue_view *v, uint64_t *have, uint64_t *need)
{
    const struct cq_ring *r = &v->q->ring;
    const struct cq_prefetcher *p = &v->q->prefetcher;
    const struct cq_record *record = cq_record(v->q, cq_relay_first(v->q));
    if (!r->origin || p->open || v->unrelayed == 0 || record == NULL || !record->good ||
        record->subordinate) {
        return false;
    }
    uint64_t used = r->acquired - cq_released_pages(v);
    *have = used < v->q->numbers->buffer_pages ? v->q->numbers->buffer_pages - used : 0;
    *need = record->gathered ? 1 : record->pages; /* it takes the others as their bytes come */
    return *have < *need;
}

/* Where pages are not counted, whether it looks for more. */
bool cq_looks_for_credits(const struct queue_view *v)
{
    const struct poll *l = v->polls[CQ_PREFETCH];
    return !v->q->ring.origin && l != NULL && l->addr == v->q->sem[CQ_PREFETCH] &&
           l->count >= PROGRESS_LOOKS;
}

static bool wants_credits(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    wait_since(w, wait_at_index(v->q->prefetcher.fetch.index));
    w->by = cq_party(v, CQ_DISPATCH);
    wait_place(w, v->q->sem[CQ_PREFETCH], 4);
    if (cq_looks_for_credits(v)) {
        WHAT("free pages of the dispatch buffer: its semaphore stays 0x%llx",
             wide(v->polls[CQ_PREFETCH]->value));
        return true;
    }
    if (!cq_short_of_credits(v, &w->have, &w->need)) {
        return false;
    }
    w->counted = true;
    WHAT("%llu free pages of the dispatch buffer for prefetch command %llu", wide(w->need),
         wide(cq_relay_first(v->q)));
    return true;
}

static bool wants_publish(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_prefetcher *p = &v->q->prefetcher;
    wait_since(w, wait_at_index(p->index));
    wait_place(w, p->begin, p->bytes);
    if (p->unsent.count > 0 && p->sents_seen) {
        WHAT("%u of its writes to the dispatch buffer to leave, of the command begun at index %llu",
             p->unsent.count, wide(p->index));
    } else {
        WHAT("wrote %u bytes at 0x%x of the dispatch buffer and never made their pages ready",
             p->bytes, p->begin);
    }
    return p->open;
}

/* STALL: the semaphore that a WAIT of the dispatcher counts up. */
static bool in_stall(const struct queue_view *v)
{
    const struct nocap_queue *n = v->q->numbers;
    const struct poll *l = v->polls[CQ_PREFETCH];
    return l != NULL && n->semaphore_count > 2 &&
           l->addr == v->q->sem[CQ_PREFETCH] + n->sync_semaphore * n->semaphore_stride;
}

static bool wants_notify(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct nocap_queue *n = v->q->numbers;
    const struct poll *l = v->polls[CQ_PREFETCH];
    w->by = cq_party(v, CQ_DISPATCH);
    if (in_stall(v)) {
        wait_since(w, l->since);
        wait_place(w, l->addr, 4);
        WHAT("the dispatcher's notify: semaphore %u stays %llu", n->sync_semaphore, wide(l->value));
        return true;
    }
    const uint64_t next = cq_relay_first(v->q);
    const struct cq_record *last = next > 0 ? cq_record(v->q, next - 1) : NULL;
    wait_since(w, wait_at_index(v->q->prefetcher.fetch.index));
    WHAT("the dispatcher's notify, before prefetch command %llu", wide(next));
    return !v->q->sees_loads && !v->pages_wanted && v->unrelayed > 0 && last != NULL &&
           last->stalls;
}

static bool wants_read(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_prefetcher *p = &v->q->prefetcher;
    const struct cq_fetch *f = &p->fetch;
    wait_since(w, wait_at_index(f->index));
    w->in_sysmem = true;
    wait_place(w, v->q->offset + f->addr, f->got);
    WHAT("its read of host memory at +0x%x, %u bytes, which has not landed", f->addr, f->got);
    return f->any && f->record != NO_INDEX && (p->dones_seen || p->landed_seen) &&
           p->landed <= f->record;
}

static bool wants_relay(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    wait_since(w, wait_at_index(v->q->prefetcher.fetch.index));
    WHAT(v->q->ring.origin || v->q->sees_loads
             ? "never relayed prefetch command %llu, which has landed"
             : "has not relayed prefetch command %llu, which has landed; which pages are free is "
               "not observed",
         wide(cq_relay_first(v->q)));
    return v->unrelayed > 0;
}

/* An entry that it does not take. */
static bool wants_entry(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_prefetcher *p = &v->q->prefetcher;
    const struct cq_record *r = cq_record(v->q, p->next);
    const struct poll *l = v->polls[CQ_PREFETCH];
    char where[64] = "";
    const uint64_t last = cq_entries_back(v->q, p->next, 1);
    const struct cq_record *before = last < p->next ? cq_record(v->q, last) : NULL;
    const struct cq_place *slots = &v->q->places.slots;
    bool queue = l != NULL && place_has(slots, l->addr) && l->value == 0;
    bool known = r != NULL && r->slot_known;
    uint32_t due = before != NULL && before->slot_known ? place_after(slots, before->slot, 1)
                   : before == NULL && p->slot.known    ? p->slot.v
                   : known                              ? r->slot
                                                        : 0;
    bool skips = known && due != r->slot;                    /* the host, before that command */
    uint32_t at = queue ? place_index(slots, l->addr) : due; /* where it is */
    wait_since(w, r != NULL ? r->at : wait_at_index(NO_INDEX));
    if (known) {
        snprintf(where, sizeof where, " in prefetch_q entry %u", r->slot);
        wait_place(w, place_address(&v->q->places.slots, r->slot), v->q->numbers->entry_bytes);
    }
    bool passed = known && (v->q->host.slots[at] == CQ_SLOT_PASSED || (skips && at == due));
    if (passed || (queue && known && at != r->slot)) {
        w->by = wait_party_at(v->t, NOCAP_BY_HOST, v->q->at[CQ_PREFETCH]);
        w->state = "at an empty prefetch_q entry";
        w->release = "the host writes that entry";
        wait_place(w, place_address(&v->q->places.slots, at), v->q->numbers->entry_bytes);
    }
    if (passed) {
        WHAT("prefetch_q entry %u, which the host left out; %llu commands behind it", at,
             wide(v->unfetched - (r->slot == at)));
    } else if (w->by.agent == NOCAP_BY_HOST) {
        WHAT("prefetch_q entry %u, which is empty; the next command is%s", at, where);
    } else {
        WHAT("never took prefetch command %llu%s; %llu commands submitted and not read",
             wide(p->next), where, wide(v->unfetched));
    }
    if (passed && v->unfetched > 0) {
        struct nocap_wait host = cq_host_error(v, w, r->at, w->release);
        wait_report_as(v->t, &host, "left out prefetch_q entry %u, at which the prefetcher waits",
                       at);
    }
    return v->unfetched > 0;
}

bool cq_looks_for_pages(const struct queue_view *v)
{
    const struct poll *l = v->polls[CQ_DISPATCH];
    return l != NULL && l->addr == v->q->sem[CQ_DISPATCH];
}

/* Whether the dispatcher is through with its command, and pages of a record were passed over. */
bool cq_passed_pages(const struct queue_view *v)
{
    return v->q->prefetcher.forgot != FAULT_NONE && (cq_looks_for_pages(v) || v->q->ring.finished);
}

/* Pages that it has relayed, and that the dispatcher's semaphore does not show; where that is not
 * seen, or not all of them are known, those of a record that it passed over. */
static bool lost_pages(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct poll *l = v->polls[CQ_DISPATCH];
    const struct cq_ring *r = &v->q->ring;
    const struct cq_prefetcher *p = &v->q->prefetcher;
    const bool counts = r->origin && cq_looks_for_pages(v);
    if (r->ended || !(counts ? l->value < r->published : cq_passed_pages(v))) {
        return false;
    }
    wait_since(w, wait_at_index(p->index));
    wait_place(w, v->q->sem[CQ_DISPATCH], 4);
    if (counts) {
        WHAT("made ready %llu of the %llu pages that it relayed, by the dispatcher's semaphore",
             wide(l->value), wide(r->published));
    } else if (p->forgot_pages == 0) { /* not known */
        WHAT("never made ready the pages that it relayed to 0x%x", p->forgot_begin);
    } else {
        WHAT("never made ready the %u pages that it relayed to 0x%x", p->forgot_pages,
             p->forgot_begin);
    }
    return true;
}

/* .. and the dispatcher has looked since the prefetcher waits for it. */
static bool lost_before_stall(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct poll *own = v->polls[CQ_PREFETCH], *l = v->polls[CQ_DISPATCH];
    return in_stall(v) && l != NULL && l->seen > own->since.t && lost_pages(v, w, what);
}

/* What a core looks at where nothing is asked of it. */
static bool rests(const struct queue_view *v, unsigned core)
{
    const struct poll *l = v->polls[core];
    const struct cq_place *slots = &v->q->places.slots;
    return l != NULL && (core == CQ_PREFETCH ? place_has(slots, l->addr) && l->value == 0
                                             : l->addr == v->q->sem[CQ_DISPATCH]);
}

static bool wants_host(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    w->by = (struct nocap_party){.agent = NOCAP_BY_HOST, .job = -1};
    WHAT("a prefetch command: it has relayed all that the host submitted");
    return v->pages_wanted && (v->relays_known || rests(v, CQ_PREFETCH));
}

/* What it may wait for, the first of which holds. */
static const struct cq_wait_step prefetcher_steps[] = {
    {wants_credits, "polling its credits", "the dispatcher returns a block of page credits"},
    {cq_wants_subordinate_credit, "polling its credits",
     "the subordinate dispatcher returns a page"},
    {cq_forgot_subordinate_page, "after a relay",
     "it adds 1 to the semaphore of the subordinate dispatcher"},
    {wants_publish, "in a relay", "it adds the pages to semaphore 0 of the dispatcher"},
    {lost_before_stall, "after a relay", NULL},
    {wants_notify, "in STALL", "the dispatcher executes the WAIT with NOTIFY_PREFETCH"},
    {wants_read, "in a PCIe read", "the data land"},
    {wants_relay, "holding a prefetch command", NULL},
    {wants_entry, "not reading its queue", NULL},
    {lost_pages, "after a relay", NULL},
    {wants_host, "idle", "the host writes a prefetch_q entry"},
    {0},
};

/* Whom the core waits for. */
static unsigned report_core(struct queue_view *v, enum cq_core core)
{
    char what[WAIT_TEXT];
    const struct cq_wait_step *step = core == CQ_PREFETCH ? prefetcher_steps : cq_dispatcher_steps;
    for (; step->waits != NULL; step++) {
        struct nocap_wait w = wait_begin(v->t, NOCAP_BY_NONE, wait_at_index(NO_INDEX));
        w.who = cq_party(v, core);
        w.what = what;
        w.state = step->state;
        w.release = step->release;
        w.progress = v->tiles[core] != NULL ? progress_of(v->tiles[core])->all : w.progress;
        if (step->waits(v, &w, what)) {
            if (*what != '\0') {
                wait_report(v->t, &w);
            }
            v->explained = true;
            return w.by.agent;
        }
    }
    return NOCAP_BY_NONE;
}

static void report_cores(struct queue_view *v)
{
    if (!v->demand) {
        return;
    }
    const bool blind = v->q->ring.executed_index == NO_INDEX && v->observed[CQ_PREFETCH];
    if (blind) { /* whether the prefetcher is stuck tells of the dispatcher, too */
        v->relay_stuck = report_core(v, CQ_PREFETCH) != NOCAP_BY_DISPATCH && v->explained;
    }
    const bool reported = v->explained;
    v->pages_wanted = !v->observed[CQ_DISPATCH] || report_core(v, CQ_DISPATCH) == NOCAP_BY_PREFETCH;
    if (v->observed[CQ_PREFETCH] && !reported) {
        report_core(v, CQ_PREFETCH);
    }
    cq_tell_subordinate(v);
}

/* Whether a command comes after the one that ended the dispatcher: the host enqueued one, or one
 * was relayed. */
static bool goes_on_after_end(const struct queue_view *v)
{
    const struct cq_ring *r = &v->q->ring;
    const struct cq_prefetcher *p = &v->q->prefetcher;
    const uint64_t from = v->q->published > CQ_RECORDS ? v->q->published - CQ_RECORDS : 0;
    bool ended = false, after = place_has(&v->q->places.buffer, p->begin) && p->begin != r->current;
    for (uint64_t n = from; r->ended && n < v->q->published; n++) {
        const struct cq_record *one = cq_record(v->q, n);
        if (one->brief.known && !one->subordinate) {
            after |= ended;
            ended |= cq_ends(&one->brief);
        }
    }
    return r->ended && after;
}

/* Whether pages were made ready behind the command that the dispatcher began with last. */
static bool is_next_ready(const struct queue_view *v)
{
    const struct cq_ring *r = &v->q->ring;
    const struct cq_place *pages = &v->q->places.buffer;
    const uint32_t last = place_index(pages, r->current);
    const struct cq_page *page = &r->page[last],
                         *next = &r->page[place_after(pages, last, page->pages)];
    return r->executed_index != NO_INDEX && page->pages != 0 && next->pages != 0 &&
           next->first > page->first;
}

static void look_at_cores(struct queue_view *v)
{
    const struct cq *q = v->q;
    for (unsigned core = 0; core < CQ_CORES; core++) {
        const struct tile *tile = v->tiles[core] = tile_find(v->t->m, q->chip, q->at[core]);
        const unsigned brisc = PROGRESS_CORE0 + NOCAP_PROCESSOR_BRISC;
        v->polls[core] = tile != NULL ? progress_poll_of(&progress_of(tile)->agents[brisc]) : NULL;
        v->observed[core] =
            !q->loose && ((q->sees[core] && (q->sees_noc || q->sees_stores)) ||
                          q->prefetcher.events_seen || (core == CQ_DISPATCH && q->ring.ends_shown));
    }
}

/* Events that the host asked for, as far as that is known of all. */
static void count_completions(struct queue_view *v)
{
    const struct cq *q = v->q;
    const struct cq_completion *c = &q->completion;
    uint64_t pages = c->pages_read + c->page_read; /* came back, whoever shows it */
    uint64_t ids = c->device.next > c->host.next ? c->device.next : c->host.next;
    v->done = pages > ids ? pages : ids;
    const uint32_t host = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM;
    bool shown = c->ids_whole &&
                 ((v->t->m->header->observes & host) != 0 || (q->sees_noc && q->sees[CQ_DISPATCH]));
    v->pending = shown && c->id_count > v->done ? c->id_count - v->done : 0;
}

/* Prefetch commands that the prefetcher has still to read, that have not landed, that it has still
 * to relay. */
static void count_commands(struct queue_view *v)
{
    struct cq *q = v->q;
    const struct cq_prefetcher *p = &q->prefetcher;
    const bool reads = (q->sees[CQ_PREFETCH] && q->sees_noc) || p->events_seen;
    const uint64_t ready = p->landed_seen || p->dones_seen ? p->landed : p->next;
    const uint64_t relay = cq_relay_first(q);
    const struct cq_record *last = cq_record(q, q->published - 1);
    v->unfetched = reads && p->synced ? cq_count_entries(q, p->next, q->published) : 0;
    v->unlanded = reads && ready < p->next ? p->next - ready : 0;
    v->relays_known = reads && p->synced && relay != NO_INDEX;
    v->unrelayed = v->relays_known ? cq_count_relayed(q, relay, ready) : 0;
    if (last != NULL && last->ends) { /* the prefetcher's own end */
        v->unfetched -= v->unfetched > 0 && q->ring.ended;
    }
}

static void look_over(struct queue_view *v)
{
    const struct cq *q = v->q;
    look_at_cores(v);
    cq_look_at_subordinate(v);
    count_completions(v);
    count_commands(v);
    v->overrun = goes_on_after_end(v);
    const bool host =
        v->pending > 0 || cq_host_slot_poll(v) != NULL || cq_host_completion_poll(v) != NULL;
    const bool prefetcher =
        v->unfetched > 0 || v->unlanded > 0 || v->unrelayed > 0 || q->prefetcher.open;
    const bool dispatcher = v->overrun || cq_polled_stream(v) < CQ_STREAMS ||
                            ((cq_in_command(v) || is_next_ready(v)) && !q->ring.ended);
    v->demand = host || prefetcher || dispatcher || v->commands > 0;
}

/* Nothing but the host shows, and it has enqueued something since it last gave a completion back.
 */
static bool is_hidden(const struct queue_view *v)
{
    const struct cq *q = v->q;
    const bool shown = (q->sees[CQ_DISPATCH] && (q->sees_noc || q->sees_stores || q->sees_loads)) ||
                       q->ring.ends_shown || q->prefetcher.events_seen;
    const bool asks = q->published > 0 &&
                      q->records[(q->published - 1) % CQ_RECORDS].at.turn > q->completion.read_turn;
    return !shown && asks;
}

/* The latest command that the host enqueued came after the dispatcher began with its latest one, or
 * says something else than that. */
static bool is_behind(const struct queue_view *v)
{
    const struct cq_record *last = cq_record(v->q, v->q->published - 1);
    const struct cq_ring *r = &v->q->ring;
    const bool sees = (v->t->m->header->observes & NOCAP_CLASS_CQ) != 0;
    if (last == NULL || last->silent || last->subordinate) {
        return false;
    }
    const struct cq_brief *a = &last->brief, *b = &r->brief;
    bool other =
        a->known && b->known &&
        (a->id != b->id || a->flags != b->flags || a->stream != b->stream || a->count != b->count);
    return r->executed_index == NO_INDEX ? sees : r->executed_index < last->at.index || other;
}

/* No wait is known of, and a core looks for long at something else, or commands are not observed
 * and neither what becomes of them, or the prefetcher is not seen to look for one. */
static bool is_unsure(const struct queue_view *v)
{
    const uint32_t records = NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_CQ | NOCAP_CLASS_SYSMEM;
    const bool shown = v->q->published > 0 && (v->t->m->header->observes & records) != 0;
    bool unsure = !shown && !(v->q->sees_noc && rests(v, CQ_PREFETCH));
    for (unsigned core = 0; core < CQ_CORES; core++) {
        const struct poll *l = v->polls[core];
        bool looks = l != NULL && l->count >= PROGRESS_LONG && l->addr >= NOCAP_MAILBOX_END;
        unsure |= looks && !rests(v, core);
    }
    return ((unsure || v->demand || is_behind(v)) && !v->explained) || is_hidden(v);
}

void cq_waits(const struct wait_builder *t)
{
    struct wait_builder builder = *t;
    for (struct cq *q = cq_first(t->m); q != NULL; q = q->next) {
        struct queue_view v = {.t = &builder, .q = q};
        builder.chip = q->chip;
        if (q->any) {
            look_over(&v);
            cq_tell_host(&v);
            report_cores(&v);
            q->m->queues[q->number].unsure = is_unsure(&v);
        }
    }
}
