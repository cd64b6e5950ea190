/* SPDX-License-Identifier: Apache-2.0 */
/* Hung, at work, or not to be told: what the progress of the parties allows to say. A hang that is
 * none costs more trust than one that is not claimed. */
#include "checker/hang/hang_private.h"

/* What must be seen before a silence means something. Times are in header units; how often somebody
 * polls is his choice, so polls alone never do. */
enum {
    POLLS = 16,             /* polls that found all as it was, in .. */
    SILENCE_LEAST = 5000,   /* .. so much time, or .. */
    SILENCE = 10000,        /* .. so much time alone */
    PATIENCE = 6,           /* times the longest that any party took to act */
    OTHERS = 10,            /* times the limit where parties outside of the chain still act */
    POLLS_BLIND = 100,      /* polls where no agent was ever seen to act, in .. */
    SILENCE_BLIND = 100000, /* .. so much time: firmware boots in a fifth of it on a simulator */
    POLLS_ALONE = 1000,     /* the same at a party whose acts are not observed */
};

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
    uint64_t limit = PATIENCE * h->expected;
    bool watched = h->expected > 0
                       ? (p->polls >= POLLS && quiet >= SILENCE_LEAST) || quiet >= SILENCE
                       : p->polls >= POLLS_BLIND && quiet >= SILENCE_BLIND;
    bool still = h->quiet >= limit || quiet >= OTHERS * limit;
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
                       : "an agent waits, but too little was observed to tell a hang from slow "
                         "work";
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

void nocap_hang_judge(struct nocap_hang *h, const struct nocap_engine *engine,
                      const struct nocap_progress *all)
{
    h->quiet = all->index != UINT64_MAX ? since(h, all->t) : 0;
    h->expected = all->max_gap;
    for (size_t i = 0; i < h->party_count; i++) {
        struct nocap_hang_party *p = &h->parties[i];
        if (p->root) {
            p->verdict = judge_root(h, i);
            h->verdict = p->verdict > h->verdict ? p->verdict : h->verdict;
            h->wedged |= p->wait != SIZE_MAX && h->waits[p->wait].wait.wedged;
        }
    }
    h->why = reason(h);
    if (engine == NULL) {
        return;
    }
    const char *unexplained = nocap_engine_unexplained(engine);
    if (unexplained != NULL) {
        h->verdict = NOCAP_HANG_INCONCLUSIVE;
        h->why = strcmp(unexplained, "mailbox") == 0
                     ? "no profile explains its mailbox, so it is not known which agent waits: "
                       "TRC-010 of nocap check"
                     : "no profile explains its command queue, so it is not known which agent "
                       "waits: TRC-010 of nocap check";
    } else if (h->verdict == NOCAP_HANG_NONE && !nocap_engine_shows_waits(engine)) {
        h->verdict = NOCAP_HANG_INCONCLUSIVE;
        h->why = "nothing was observed that would show which agent waits: neither launches, nor "
                 "what cores poll (core-load)";
    } else if (h->verdict == NOCAP_HANG_NONE && nocap_engine_queue_hidden(engine)) {
        h->verdict = NOCAP_HANG_INCONCLUSIVE;
        h->why = "entries of the command queue were filled behind the last completion, and the "
                 "trace shows neither their bytes (cq-host or sysmem) nor who waits for them";
    } else if (h->verdict == NOCAP_HANG_NONE && nocap_engine_launch_hidden(engine)) {
        h->verdict = NOCAP_HANG_INCONCLUSIVE;
        h->why =
            "a tile has a GO of the host, and the trace shows neither its cores (core-store) nor "
            "that the host read DONE since";
    } else if (h->verdict == NOCAP_HANG_NONE && queue_doubted(h, engine)) {
        h->verdict = NOCAP_HANG_INCONCLUSIVE;
        h->why = "the command queue was not seen to end, and its protocol was violated earlier: "
                 "see nocap check; consequences not traced";
    }
}
