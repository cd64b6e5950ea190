/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two accesses to the same bytes are in an order that the protocol keeps. Rules NOC-041 to
 * NOC-045. */
#include "replay/race/race_private.h"

#include <stdio.h>

enum {
    FLAG_SIZE = 4,    /* a word: it is there to be seen whenever it comes */
    POLLED_SIZE = 16, /* the same of the least that moves over the NOC, where it is polled */
    TEXT = 96,
};

static bool is_request(const struct race_access *a)
{
    return a->way != RACE_CORE;
}

/* Nothing is said of words that cores poll and of counters that many add to. */
static bool is_flag(const struct race_span *span, const struct race_access *before,
                    const struct race_access *a, bool writes)
{
    bool words = before->size <= FLAG_SIZE && a->size <= FLAG_SIZE;
    bool polled = !writes && !is_request(a) && before->size <= POLLED_SIZE && span->polled;
    return before->atomic || a->atomic || words || polled;
}

/* The end of a request shows, or that nothing waited for it; the end of a core's access does not.
 */
static bool concerns(const struct race_span *span, const struct race_access *before,
                     const struct race_access *a, bool writes)
{
    return is_request(before) && before->agent != NULL && a->agent != NULL &&
           before->turn != a->turn && !is_flag(span, before, a, writes);
}

static bool at_far_end(const struct race_access *a)
{
    return is_request(a) && a->way != RACE_LEAVE;
}

/* Two requests of one core on one path, or two answers from one place: neither overtakes. */
static bool same_path(const struct race_access *before, const struct race_access *a)
{
    return before->agent == a->agent && at_far_end(before) && at_far_end(a) &&
           before->source == a->source && before->noc == a->noc &&
           race_same_channel(before->channel, a->channel);
}

static bool ordered(const struct race_mem_ctx *where, const struct race_access *before,
                    const struct race_access *a)
{
    const struct race_mem_ctx *from = before->agent->place;
    const struct race_clock *clock = a->agent->clock;
    const uint64_t turn = before->turn;
    bool own = from == a->agent->place;
    if (!own && clock != NULL && clock->base_epoch >= turn) {
        return true;
    }
    bool counted = before->way < RACE_ENDS; /* nothing counts the arrival of posted writes */
    if ((own && counted && from->over[before->way][before->noc] >= turn) || same_path(before, a) ||
        (counted &&
         race_clock_until(clock, race_completion_key(before->way, from, before->noc)) >= turn)) {
        return true;
    }
    if (before->way == RACE_LEAVE) { /* what was acknowledged has left */
        return race_clock_until(clock, race_completion_key(RACE_ACK, from, before->noc)) >= turn;
    }
    return before->way != RACE_ARRIVE &&
           race_clock_arrived(clock, race_order_key(from, before->noc, where, 0), before->channel,
                              turn);
}

/* Would the trace show it if a core had waited for the end of this access? */
static bool end_shows(const struct model *m, const struct race_access *before)
{
    if (before->way == RACE_ORDER) {
        return true;
    }
    const struct race_mem_ctx *p = before->agent->place;
    const struct tile *tile = tile_find(m, p->chip, p->at);
    const struct noc_facts *shows = tile != NULL ? &tile->noc[before->noc] : NULL;
    return shows != NULL && tile->in_scope &&
           (before->way == RACE_ARRIVE  ? shows->reads_done
            : before->way == RACE_LEAVE ? shows->writes_sent
                                        : shows->writes_done);
}

/* ---- reporting ---- */

static const char *describe(char text[TEXT], const struct race_access *a, bool writes)
{
    const struct nocap_xy at = a->agent->place->at;
    const char *by =
        nocap_agent_name(NOCAP_BY_BRISC + (unsigned)(a->agent - a->agent->place->agents));
    unsigned long long index = a->index;
    if (!is_request(a)) {
        snprintf(text, TEXT, "%s of %s %u,%u at event %llu", writes ? "a store" : "a load", by,
                 at.x, at.y, index);
        return text;
    }
    const char *kind = a->way == RACE_ARRIVE  ? writes ? "data of a NOC read" : "a NOC read"
                       : a->way == RACE_LEAVE ? "the source of a NOC write"
                       : a->way == RACE_ORDER ? "a posted NOC write"
                                              : "a NOC write";
    snprintf(text, TEXT, "%s of %s %u,%u on NOC %u at event %llu", kind, by, at.x, at.y, a->noc,
             index);
    return text;
}

/* What should have stood between the two, of two agents or of one. */
#define ONE_PATH                                                                                   \
    "a response to wait for, or the same NOC and virtual channel for what follows: nothing waits " \
    "for a posted write"
static const char *const missing[][2] = {
    [RACE_ARRIVE] = {"a read barrier before signalling the other agent",
                     "a read barrier between the two"},
    [RACE_LEAVE] = {"a flush or a write barrier before signalling the other agent",
                    "a flush or a write barrier between the two"},
    [RACE_ACK] = {"a write barrier before signalling the other agent, or the notification on the "
                  "same NOC and virtual channel as the data",
                  "a write barrier between the two, or one NOC and one virtual channel for both"},
    [RACE_ORDER] = {ONE_PATH, ONE_PATH},
};

static const char *why_open(const struct race_access *before, bool same_agent, bool signalled)
{
    if (same_agent) {
        return before->way == RACE_ACK || before->way == RACE_ORDER
                   ? "the two travel on different paths, and no barrier is between them"
                   : "no barrier is between them";
    }
    return signalled
               ? "the second agent was signalled by a notification that may overtake the first "
                 "access"
               : "no synchronisation between the two accesses";
}

/* The fault that the access is part of already, at another tile of a multicast perhaps. */
static struct raced *fault_of(struct model *m, uint64_t turn)
{
    for (unsigned i = 0; i < RACED; i++) {
        if (m->raced[i].turn == turn) {
            return &m->raced[i];
        }
    }
    struct raced *fault = &m->raced[m->raced_next++ % RACED];
    *fault = (struct raced){.turn = turn};
    return fault;
}

static void report(struct model *m, enum nocap_rule rule, const struct race_access *before,
                   const struct race_access *a, bool signalled)
{
    char first[TEXT], second[TEXT];
    bool same_agent = before->agent == a->agent;
    const struct tile *tile = tile_get(m, a->agent->place->chip, a->agent->place->at);
    uint64_t from = before->first > a->first ? before->first : a->first;
    uint64_t end = before->end < a->end ? before->end : a->end;
    struct raced *fault = fault_of(m, before->turn);
    CHECK_AFTER(m, tile, rule, fault->since, false, RELATED(before->index),
                missing[before->way][same_agent], "%s and %s both touch 0x%llx..0x%llx: %s",
                describe(first, before, rule != NOC_042), describe(second, a, rule != NOC_041),
                (unsigned long long)from, (unsigned long long)(end - 1),
                why_open(before, same_agent, signalled));
    fault->since = m->fault;
}

/* Nothing at all came to the tile since: it cannot know of the first access. What a core loads may
 * itself be the notification. */
static bool isolated(const struct model *m, const struct race_access *before,
                     const struct race_access *a)
{
    const struct race_mem_ctx *p = a->agent->place;
    return race_of(m)->all_seen && p->reached <= before->turn && p->fetched < before->turn &&
           before->agent->place != p && is_request(a);
}

static void judge_pair(struct model *m, const struct race_mem_ctx *where,
                       const struct race_access *before, bool before_writes,
                       const struct race_access *a, bool writes)
{
    enum nocap_rule rule = !writes ? NOC_041 : !before_writes ? NOC_042 : NOC_043;
    if (ordered(where, before, a)) {
        MARK_EXERCISED(m, rule);
        return;
    }
    bool same_agent = before->agent == a->agent;
    if (same_agent && !is_request(a)) {
        return; /* what a core does with bytes of its own requests is NOC-029's */
    }
    bool signalled =
        race_clock_until(a->agent->clock, race_core_key(before->agent)) >= before->turn;
    if ((same_agent || signalled || isolated(m, before, a)) && end_shows(m, before)) {
        report(m, rule, before, a, signalled);
    }
}

/* A core of the tile may have polled before requests were seen. */
static bool may_have_polled(const struct model *m, const struct race_mem_ctx *where)
{
    const struct tile *tile = tile_find(m, where->chip, where->at);
    for (unsigned core = 0; tile != NULL && core < CORES; core++) {
        const struct kernel *k = &tile->launch.kernels[core];
        if (k->inside == UNKNOWN || (k->inside == YES && k->enter_turn < race_of(m)->started)) {
            return true;
        }
    }
    return false;
}

bool race_judge(struct model *m, const struct race_mem_ctx *where, uint32_t row,
                const struct race_access *a, bool writes)
{
    const struct race_memory *memory = &where->memory;
    bool polled = false, first = true;
    for (; row < memory->count && memory->rows[row].first < a->end; row++) {
        const struct race_span *span = race_memory_at(memory, row);
        const struct race_access *before = &span->news.write;
        first &= before->turn == 0;
        if (before->turn != 0 && concerns(span, before, a, writes)) {
            judge_pair(m, where, before, true, a, writes);
        }
        for (uint8_t r = 0; writes && r < span->reader_count; r++) {
            before = &span->readers[r];
            polled |= before->way == RACE_CORE;
            if (before->first < a->end && a->first < before->end &&
                concerns(span, before, a, true)) {
                judge_pair(m, where, before, false, a, true);
            }
        }
    }
    return polled || (writes && first && a->size <= POLLED_SIZE && may_have_polled(m, where));
}

void race_judge_locks(struct model *m, struct race_mem_ctx *where, const struct race_access *a)
{
    fault_id since = FAULT_NONE; /* of the same write */
    for (uint32_t i = 0; i < where->lock_count; i++) {
        const struct race_lock *l = &where->locks[i];
        const struct race_mem_ctx *p = a->agent->place;
        bool free_bytes = a->end <= l->first || a->first >= l->end;
        CHECK_AFTER(m, tile_get(m, p->chip, p->at), l->cb ? NOC_045 : NOC_044, since, free_bytes,
                    RELATED(l->index),
                    l->cb ? "no NOC write to a circular buffer while a RISC holds it"
                          : "no NOC write to memory while a RISC holds it",
                    "NOC write to 0x%llx..0x%llx of core %u,%u, of which %s holds 0x%llx..0x%llx",
                    (unsigned long long)a->first, (unsigned long long)(a->end - 1), where->at.x,
                    where->at.y, nocap_agent_name(l->by), (unsigned long long)l->first,
                    (unsigned long long)(l->end - 1));
        since = free_bytes ? since : m->fault;
    }
}
