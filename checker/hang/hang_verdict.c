/* SPDX-License-Identifier: Apache-2.0 */
/* Hung, running or inconclusive: what the progress of the parties allows to say. A hang that is
 * none costs more trust than one that is not claimed. */
#include "checker/hang/hang_private.h"

/* What must be seen before a silence means something. How often an agent polls is its choice, so
 * polls alone never do. */
enum {
    POLLS = 16,         /* that found all as it was, in patience.least; or patience.alone passed */
    POLLS_BLIND = 100,  /* .. where no agent was ever seen to act, in patience.blind */
    POLLS_ALONE = 1000, /* .. at a party whose acts are not observed */
    BESIDE = 60,        /* times the longest that any party took to act, where others act */
};

/* Times in cycles, or microseconds where the header's are ns: such a device is no simulator, and
 * kernels of a millisecond are nothing special there. Of a party whose acts are not observed it is
 * not known what it is at. */
enum { NS = 1000 };
struct patience {
    uint64_t least, alone, blind;
    unsigned times; /* the longest that any party took to act */
};
enum { HIDDEN, SHOWN };
static const struct patience patience_of[] = {
    [HIDDEN] = {50000, 50000, 100000, 12}, [SHOWN] = {5000, 10000, 100000, 6}};

static uint64_t since(const struct nocap_hang *h, uint64_t t)
{
    return h->end > t ? h->end - t : 0;
}

/* Time since any of those who wait for the root, or the root itself, acted. */
static uint64_t chain_quiet(const struct nocap_hang *h, const struct nocap_progress *root)
{
    uint64_t latest = root->index != UINT64_MAX ? root->t : 0;
    for (size_t i = 0; i < h->chain_count; i++) {
        const struct nocap_wait *w = &h->waits[h->chain[i]].wait;
        bool own = w->who.agent != NOCAP_BY_HOST && w->progress.index != UINT64_MAX;
        latest = own && w->progress.t > latest ? w->progress.t : latest;
    }
    return since(h, latest);
}

/* The progress of a root: its own, or that of who waits for it. */
static const struct nocap_progress *progress_of(const struct nocap_hang *h, size_t root)
{
    if (h->parties[root].wait != SIZE_MAX) {
        return &h->waits[h->parties[root].wait].wait.progress;
    }
    for (size_t i = 0; i < h->wait_count; i++) {
        if (h->waits[i].by == root) {
            return &h->waits[i].wait.progress;
        }
    }
    return NULL;
}

static enum nocap_hang_verdict judge_root(const struct nocap_hang *h, size_t root)
{
    const struct nocap_progress *p = progress_of(h, root);
    size_t wait = h->parties[root].wait;
    if (wait != SIZE_MAX && h->waits[wait].wait.certain) {
        return NOCAP_HANG_HUNG;
    }
    if (p == NULL || p->index == UINT64_MAX) {
        return NOCAP_HANG_INCONCLUSIVE;
    }
    uint64_t quiet = chain_quiet(h, p);
    bool followed = wait != SIZE_MAX && p->known,
         said = wait != SIZE_MAX && h->waits[wait].wait.said;
    const struct patience *least = &patience_of[p->known ? SHOWN : HIDDEN];
    bool ns = h->report != NULL && h->report->time_unit == NOCAP_TIME_NS;
    uint64_t had = quiet / (ns ? NS : 1);
    uint64_t limit = least->times * h->expected;
    bool watched = h->expected > 0
                       ? (p->polls >= POLLS && had >= least->least) || had >= least->alone
                       : p->polls >= POLLS_BLIND && had >= least->blind;
    bool still = h->quiet >= limit || quiet >= BESIDE * h->expected;
    if ((followed || (h->expected > 0 && !said)) && h->quiet <= h->expected && quiet <= limit) {
        return NOCAP_HANG_RUNNING;
    }
    if (said || !watched || !still) {
        return NOCAP_HANG_INCONCLUSIVE;
    }
    return followed || h->expected > 0 || p->polls >= POLLS_ALONE ? NOCAP_HANG_HUNG
                                                                  : NOCAP_HANG_INCONCLUSIVE;
}

/* Whether those that hang wait for each other. */
static bool in_circle(const struct nocap_hang *h)
{
    for (size_t i = 0; i < h->party_count; i++) {
        const struct nocap_hang_party *p = &h->parties[i];
        if (p->root && p->in_cycle && p->verdict == NOCAP_HANG_HUNG) {
            return true;
        }
    }
    return false;
}

/* Whether all that hang do so for certain, however long it took. */
static bool for_certain(const struct nocap_hang *h)
{
    for (size_t i = 0; i < h->party_count; i++) {
        const struct nocap_hang_party *p = &h->parties[i];
        if (p->verdict == NOCAP_HANG_HUNG &&
            (p->wait == SIZE_MAX || !h->waits[p->wait].wait.certain)) {
            return false;
        }
    }
    return true;
}

/* No agent shows waiting, but the queue was not seen to end, and its protocol was violated. */
static bool queue_doubted(const struct nocap_hang *h, const struct nocap_engine *engine)
{
    bool broken = false;
    for (size_t i = 0; i < h->report->finding_count; i++) {
        const struct nocap_finding *f = &h->report->findings[i];
        broken |= f->severity == NOCAP_ERROR && !f->waived && nocap_hang_of_queue(f);
    }
    return broken && nocap_engine_queue_open(engine);
}

/* Whether what hangs are jobs of AIE control code, and nothing else. */
static bool of_control_code(const struct nocap_hang *h)
{
    bool jobs = h->party_count > 0;
    for (size_t i = 0; i < h->party_count; i++) {
        const struct nocap_hang_party *p = &h->parties[i];
        jobs &= p->verdict != NOCAP_HANG_HUNG || p->id.agent >= NOCAP_BY_UC0;
    }
    return jobs;
}

static const char *reason(const struct nocap_hang *h)
{
    bool ended = h->report != NULL && h->report->ended;
    switch (h->verdict) {
    case NOCAP_HANG_NONE:
        return ended ? "the process ended inside a call of the simulator: what it printed says why"
                     : "no agent is blocked at the end of the trace";
    case NOCAP_HANG_RUNNING:
        return ended ? "work was in progress when the process ended inside a call of the "
                       "simulator: what it printed says why"
                     : "work is still in progress at the end of the trace; no deadlock is seen";
    case NOCAP_HANG_INCONCLUSIVE:
        return h->wedged
                   ? "the device appears to be lost (reads all ones); a snapshot is inconclusive"
               : ended ? "an agent waits, and the process ended inside a call of the simulator: "
                         "what it printed says why"
                       : "an agent waits, but too little was observed to distinguish a hang from "
                         "slow work";
    default:
        return h->wedged ? "the device appears to be lost (reads all ones); this is no fault of "
                           "the protocol"
               : of_control_code(h)
                   ? "no job of the control code can continue, and nothing is seen "
                     "to come from outside"
               : for_certain(h) ? "deadlock: no pending event can unblock the root"
               : in_circle(h) ? "they wait for each other; no progress for longer than the longest "
                                "wait seen so far"
               : ended ? "no progress for longer than the longest wait seen so far (stall); then "
                         "the process ended inside a call of the simulator"
                       : "no progress for longer than the longest wait seen so far (stall)";
    }
}

/* A release or GO of the host that had no time yet to be answered. */
static bool still_expected(const struct nocap_hang *h, const struct nocap_engine *engine)
{
    uint64_t unanswered;
    return nocap_engine_unanswered(engine, &unanswered) && h->expected > 0 &&
           since(h, unanswered) <= h->expected;
}

/* Why it is not known who waits, though no agent shows waiting; NULL: it is. */
static const char *what_is_unknown(const struct nocap_hang *h, const struct nocap_engine *engine,
                                   const struct nocap_progress *all)
{
    bool lost = all->index == UINT64_MAX || nocap_engine_dropped_at(engine) > all->index;
    const char *unexplained = nocap_engine_unexplained(engine);
    uint64_t unanswered;
    if (unexplained != NULL) {
        return strcmp(unexplained, "mailbox") == 0
                   ? "no profile explains its mailbox, so it is not known which agent waits: "
                     "TRC-010 of nocap check"
                   : "no profile explains its command queue, so it is not known which agent waits: "
                     "TRC-010 of nocap check";
    }
    return h->verdict != NOCAP_HANG_NONE ? NULL
           : nocap_engine_queue_hidden(engine)
               ? "a command queue is in use, and the trace shows neither its prefetch commands "
                 "(cq-host or sysmem) nor which agent waits for them"
           : nocap_engine_queue_unsure(engine) ? "a command queue is in use, and the trace does "
                                                 "not show what its cores or the host "
                                                 "still wait for"
           : nocap_engine_jobs_unsure(engine)
               ? "control code is at work, and the trace does not show what all of its jobs do"
           : nocap_engine_dropped(engine) > 0 && lost
               ? "events were lost at the end of the trace, so it is not known which agent waits"
           : nocap_engine_unanswered(engine, &unanswered)
               ? "the host released or launched a worker core, and the trace shows neither its "
                 "RISCs (core-store) nor that the host found DONE since"
           : !nocap_engine_shows_waits(engine)
               ? "nothing was observed that would show which agent waits: neither launches, nor "
                 "what RISCs poll (core-load)"
           : queue_doubted(h, engine)
               ? "the command queue was not seen to end, and its protocol was violated earlier: "
                 "see nocap check; consequences not traced"
               : NULL;
}

void nocap_hang_judge(struct nocap_hang *h, const struct nocap_engine *engine,
                      const struct nocap_progress *all)
{
    h->quiet = all->index != UINT64_MAX ? since(h, all->t)
               : h->report != NULL      ? since(h, h->report->t_first)
                                        : 0;
    h->expected = all->max_gap;
    for (size_t i = 0; i < h->party_count; i++) {
        struct nocap_hang_party *p = &h->parties[i];
        if (p->root) {
            p->verdict = judge_root(h, i);
            h->verdict = p->verdict > h->verdict ? p->verdict : h->verdict;
            h->wedged |= p->wait != SIZE_MAX && h->waits[p->wait].wait.wedged;
        }
    }
    if (engine != NULL && h->verdict == NOCAP_HANG_NONE && still_expected(h, engine)) {
        h->verdict = NOCAP_HANG_RUNNING;
    }
    h->why = reason(h);
    const char *unknown = engine != NULL ? what_is_unknown(h, engine, all) : NULL;
    if (unknown != NULL) {
        h->verdict = NOCAP_HANG_INCONCLUSIVE;
        h->why = unknown;
    }
}
