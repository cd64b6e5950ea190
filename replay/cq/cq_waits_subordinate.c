/* SPDX-License-Identifier: Apache-2.0 */
/* What the subordinate dispatcher waits for - commands, a notification, announcements of workers -
 * and what prefetcher and dispatcher have not sent it yet. */
#include "replay/cq/cq_waits.h"

/* Whether it looks for pages: it is through with the command that it began. */
static bool is_idle(const struct queue_view *v)
{
    const struct poll *l = v->subordinate_poll;
    return l != NULL && l->addr == v->q->subordinate_sem[CQ_DISPATCH];
}

/* Its present command; NULL: it has none, or not known. */
static const struct cq_record *present(const struct queue_view *v)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    const struct cq_record *r =
        s->reads && s->at.known && !is_idle(v) ? cq_record(v->q, s->page[s->at.v]) : NULL;
    return r != NULL && r->brief.known ? r : NULL;
}

/* Whether the trace would show that it finishes a command, and shows which. */
static bool is_seen(const struct queue_view *v)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    bool unknown = s->after_unknown || (s->reads && cq_record(v->q, s->page[s->at.v]) == NULL);
    return !unknown && v->q->numbers->dispatchers > 1 && v->observed[CQ_DISPATCH] && s->at.known &&
           (s->executed != NO_INDEX || (s->origin && cq_sees_writes(v->q)));
}

void cq_look_at_subordinate(struct queue_view *v)
{
    const unsigned core = PROGRESS_CORE0 + NOCAP_PROCESSOR_NCRISC;
    const struct tile *tile = tile_find(v->t->m, v->q->chip, v->q->subordinate_at);
    uint64_t from = v->q->published > CQ_RECORDS ? v->q->published - CQ_RECORDS : 0;
    if (!is_seen(v)) {
        return;
    }
    v->subordinate_poll = tile != NULL ? progress_poll_of(&progress_of(tile)->agents[core]) : NULL;
    const struct cq_subordinate *s = &v->q->subordinate;
    bool through = s->reads && is_idle(v) && cq_record(v->q, s->page[s->at.v]) != NULL;
    uint64_t after = through ? s->page[s->at.v] + 1 : s->after;
    from = after > from ? after : from;
    for (uint64_t n = from; n < v->q->published; n++) {
        const struct cq_record *r = cq_record(v->q, n);
        uint32_t stream = (uint32_t)r->brief.stream - v->q->numbers->first_stream;
        if (r->subordinate && !cq_ends(&r->brief)) {
            v->commands++;
            if (r->brief.known && r->brief.id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL &&
                stream < CQ_STREAMS) {
                v->launches[stream]++;
            }
        }
    }
}

/* ---- what it waits for from others ---- */

static uint64_t released_pages(const struct queue_view *v)
{
    const struct poll *l = v->polls[CQ_PREFETCH];
    const struct cq_subordinate *s = &v->q->subordinate;
    uint32_t units = v->q->places.subordinate.units;
    bool counts = l != NULL && l->addr == v->q->subordinate_sem[CQ_PREFETCH] && s->origin &&
                  l->value >= units && l->value <= UINT32_MAX;
    return counts ? l->value - units : s->released;
}

/* Whether the next record has no page there. */
static bool is_short_of_pages(const struct queue_view *v)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    const struct cq_record *r = cq_record(v->q, cq_relay_first(v->q));
    return s->origin && !s->open && v->unrelayed > 0 && r != NULL && r->good && r->subordinate &&
           s->acquired >= released_pages(v) + v->q->places.subordinate.units;
}

bool cq_wants_subordinate_credit(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct poll *l = v->polls[CQ_PREFETCH];
    bool polls = l != NULL && l->addr == v->q->subordinate_sem[CQ_PREFETCH];
    wait_since(w, polls ? l->since : wait_at_index(v->q->prefetcher.fetch.index));
    w->by = cq_subordinate_party(v);
    w->counted = true;
    w->have = 0;
    w->need = 1;
    wait_place(w, v->q->subordinate_sem[CQ_PREFETCH], 4);
    WHAT("1 free page of the subordinate dispatcher's buffer for prefetch command %llu: %llu "
         "acquired, %llu released, it has %u",
         wide(cq_relay_first(v->q)), wide(v->q->subordinate.acquired), wide(released_pages(v)),
         v->q->places.subordinate.units);
    return is_short_of_pages(v);
}

/* Pages that were never published to it, as its semaphore shows where it looks at it. */
static uint64_t lost_pages(const struct queue_view *v)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    uint64_t relayed = s->published + s->open;
    bool counts = is_idle(v) && s->origin && v->subordinate_poll->value < relayed;
    return counts ? relayed - v->subordinate_poll->value : s->lost + s->open;
}

bool cq_forgot_subordinate_page(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    uint64_t lost = v->commands > 0 ? lost_pages(v) : 0;
    wait_since(w, wait_at_index(s->lost > 0 ? s->lost_at : s->begun));
    WHAT("relayed %llu pages to the subordinate dispatcher and made only %llu of them ready",
         wide(s->published + s->open), wide(s->published + s->open - lost));
    return lost > 0;
}

/* Where it finds how many notifications of a stream were made. */
static uint64_t sync_word(const struct queue_view *v, unsigned stream)
{
    return v->q->numbers->sync_sems + stream * v->q->numbers->l1_align;
}

static bool polls_sync(const struct queue_view *v, unsigned stream)
{
    return v->subordinate_poll != NULL && v->subordinate_poll->addr == sync_word(v, stream);
}

static uint64_t notifies_made(const struct queue_view *v, unsigned stream)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    return s->origin && polls_sync(v, stream) ? v->subordinate_poll->value : s->notified[stream];
}

/* A notification that the dispatcher executed and did not store. */
bool cq_forgot_notify(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    const struct cq_brief *b = &v->q->ring.brief;
    bool at_it = v->q->ring.executing && !v->q->ring.finished && b->known &&
                 b->id == NOCAP_CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL;
    for (unsigned i = 0; i < CQ_STREAMS && !at_it; i++) {
        const uint64_t made = notifies_made(v, i);
        if (v->launches[i] > 0 && s->launched[i] >= made && s->announced[i] > made) {
            wait_since(w, wait_at_index(v->q->ring.executed_index));
            wait_place(w, sync_word(v, i), 4);
            WHAT("executed %u notifications of stream %u and made %llu of them: the subordinate "
                 "dispatcher waits for launch %u",
                 s->announced[i], v->q->numbers->first_stream + i, wide(made), s->launched[i] + 1);
            return true;
        }
    }
    return false;
}

/* ---- what it waits for ---- */

static bool is_over(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    wait_since(w, wait_at_index(v->q->subordinate.executed));
    WHAT("executed TERMINATE and takes no more commands");
    return v->q->subordinate.ended;
}

/* How many notifications of a stream the dispatcher still finds among its commands. */
static unsigned count_notifies(const struct queue_view *v, unsigned stream)
{
    unsigned count = 0;
    uint64_t from = v->q->published > CQ_RECORDS ? v->q->published - CQ_RECORDS : 0;
    bool known = v->q->ring.record != NO_INDEX && v->q->ring.record >= from;
    from = known ? v->q->ring.record + !v->q->ring.executing : from;
    for (uint64_t n = from; n < v->q->published; n++) {
        const struct cq_brief *b = &cq_record(v->q, n)->brief;
        count += b->known && b->id == NOCAP_CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL &&
                 (b->count >> stream & 1) != 0;
    }
    return count;
}

/* The host enqueues no notification of a launch. */
static void report_unnotified(const struct queue_view *v, const struct nocap_wait *waiting,
                              const struct cq_record *launch, uint64_t number)
{
    struct nocap_wait host = cq_host_error(v, waiting, launch->at, waiting->release);
    wait_report_as(v->t, &host, "never enqueued the notification of launch %llu of stream %u",
                   wide(number), (unsigned)launch->brief.stream);
}

/* The go words of a launch wait for what the launch needs. */
static bool wants_notify(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    const struct cq_record *r = present(v);
    const struct poll *l = v->subordinate_poll;
    unsigned i = r != NULL ? (unsigned)r->brief.stream - v->q->numbers->first_stream : CQ_STREAMS;
    if (r == NULL || r->brief.id != NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL || i >= CQ_STREAMS) {
        return false;
    }
    bool polls = polls_sync(v, i);
    if (!polls && (s->notify_judged || s->launched[i] < s->notified[i] || !s->origin)) {
        return false;
    }
    bool pending = s->announced[i] > notifies_made(v, i) || count_notifies(v, i) > 0;
    bool all = s->origin || cq_sees_syncs(v->q); /* it is known which were made */
    w->have = polls ? l->value : s->notified[i];
    w->need = (polls ? l->value : s->launched[i]) + 1;
    w->counted = true;
    wait_since(w, polls ? l->since : wait_at_index(s->executed));
    w->index = s->executed;
    wait_place(w, sync_word(v, i), 4);
    w->release = "the dispatcher executes NOTIFY_SUBORDINATE_GO_SIGNAL";
    if (pending) {
        w->by = cq_party(v, CQ_DISPATCH);
    } else if (all) {
        w->by = (struct nocap_party){.agent = NOCAP_BY_HOST, .job = -1};
        w->release = "the host enqueues NOTIFY_SUBORDINATE_GO_SIGNAL for the launch";
        report_unnotified(v, w, r, w->need);
    }
    WHAT("the dispatcher's notification of launch %llu of stream %u%s", wide(w->need),
         (unsigned)r->brief.stream,
         pending ? ""
         : all   ? ", which the host did not enqueue"
                 : "; whether the host enqueued it is not observed");
    return true;
}

static bool wants_workers(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    const struct cq_record *r = present(v);
    unsigned i = r != NULL ? (unsigned)r->brief.stream - v->q->numbers->first_stream : CQ_STREAMS;
    if (r == NULL || r->brief.id != NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL || i >= CQ_STREAMS ||
        s->notify_judged) {
        return false;
    }
    const struct cq_asked asked = {.stream = i,
                                   .command = &r->brief,
                                   .own = true,
                                   .poll = v->subordinate_poll,
                                   .read = s->fresh[i],
                                   .value = s->counts[i],
                                   .index = s->executed};
    return cq_wants_workers(v, &asked, w, what);
}

static bool wants_end(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    wait_since(w, wait_at_index(s->executed));
    WHAT("never finished the command at 0x%x that it began at index %llu",
         place_address(&v->q->places.subordinate, s->at.v), wide(s->executed));
    return s->reads && !is_idle(v);
}

/* Pages that it is through with, while the prefetcher is short of them. */
static bool must_release(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    uint64_t finished = s->finished + s->reads, back = released_pages(v);
    wait_since(w, wait_at_index(s->executed));
    WHAT("finished %llu commands and released %llu pages, %llu too few", wide(finished), wide(back),
         wide(finished > back ? finished - back : 0));
    return is_short_of_pages(v) && finished > back;
}

static bool left_out_words(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    wait_since(w, wait_at_index(s->executed));
    WHAT("finished its launches and left out %u go messages", s->left_out);
    return s->left_out > 0 && v->commands == 0;
}

static bool wants_pages(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_subordinate *s = &v->q->subordinate;
    bool polls = is_idle(v);
    bool lost = lost_pages(v) > 0;
    if (v->commands == 0) {
        return false;
    }
    wait_since(w, polls ? v->subordinate_poll->since : wait_at_index(s->executed));
    wait_place(w, v->q->subordinate_sem[CQ_DISPATCH], 4);
    if (s->finished < s->published && !polls && !lost) {
        w->state = "not reading its buffer";
        w->release = NULL;
        WHAT(v->q->sees_loads ? "never took %llu of %llu pages that were made ready"
                              : "has not finished %llu of %llu pages that were made ready",
             wide(s->published - s->finished), wide(s->published));
    } else {
        w->by = cq_party(v, CQ_PREFETCH);
        WHAT("pages of its own: it has finished %llu, and %llu commands are enqueued for it",
             wide(s->finished), wide(v->commands));
    }
    return true;
}

static const struct {
    cq_waiting *waits;
    const char *state, *release;
} steps[] = {
    {is_over, "ended", NULL},
    {must_release, "pages not released",
     "it adds them to the prefetcher's semaphore of its buffer"},
    {wants_notify, "in SEND_GO_SIGNAL", NULL},
    {wants_workers, "in SEND_GO_SIGNAL", "a notify from each missing worker"},
    {wants_end, "in a command", NULL},
    {left_out_words, "after a launch", "it sends the go messages that it left out"},
    {wants_pages, "polling for pages", "the prefetcher makes a page ready"},
};

void cq_tell_subordinate(const struct queue_view *v)
{
    char what[WAIT_TEXT];
    const struct tile *tile = tile_find(v->t->m, v->q->chip, v->q->subordinate_at);
    bool pending = v->commands > 0 || v->q->subordinate.left_out > 0 || is_short_of_pages(v);
    for (unsigned i = 0; pending && is_seen(v) && i < sizeof steps / sizeof steps[0]; i++) {
        struct nocap_wait w = wait_begin(v->t, NOCAP_BY_NONE, wait_at_index(NO_INDEX));
        w.who = cq_subordinate_party(v);
        w.what = what;
        w.state = steps[i].state;
        w.release = steps[i].release;
        w.progress = tile != NULL ? progress_of(tile)->all : w.progress;
        if (steps[i].waits(v, &w, what)) {
            if (*what != '\0') {
                wait_report(v->t, &w);
            }
            return;
        }
    }
}
