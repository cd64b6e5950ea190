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

static const struct race_place *place_of(const struct model *m, const struct race_access *a)
{
    return race_of(m)->places[a->agent / RACE_CORES];
}

static struct race_clock *clock_of(const struct model *m, const struct race_access *a)
{
    return place_of(m, a)->clocks[a->agent % RACE_CORES];
}

/* Nothing is said of words that cores poll and of counters that many add to. */
static bool is_flag(const struct race_span *span, const struct race_access *before,
                    const struct race_access *a, bool writes)
{
    if (before->atomic || a->atomic || (before->size <= FLAG_SIZE && a->size <= FLAG_SIZE)) {
        return true;
    }
    if (is_request(before) && !is_request(a) && !writes) {
        return before->size <= POLLED_SIZE && span->polled;
    }
    return !is_request(before) && is_request(a) && writes && a->size <= POLLED_SIZE;
}

/* Two requests of one core on one path overtake each other nowhere. */
static bool same_path(const struct race_access *before, const struct race_access *a)
{
    bool far_end =
        before->way == RACE_ACK || before->way == RACE_ORDER || before->way == RACE_ARRIVE;
    bool other_end = a->way == RACE_ACK || a->way == RACE_ORDER || a->way == RACE_ARRIVE;
    unsigned either = before->channel | a->channel;
    bool kind = ((before->channel ^ a->channel) & RACE_CHANNEL_MULTICAST) == 0;
    return before->agent == a->agent && far_end && other_end && before->noc == a->noc && kind &&
           (before->channel == a->channel || (either & RACE_CHANNEL_UNKNOWN) != 0);
}

static bool ordered(const struct model *m, struct race_place *where,
                    const struct race_access *before, const struct race_access *a)
{
    const struct race_clock *clock = clock_of(m, a);
    bool own = before->place == a->place;
    uint64_t index = before->index;
    if (index <= race_of(m)->start || (!own && clock != NULL && clock->floor >= index)) {
        return true;
    }
    if (!is_request(before)) {
        return before->agent == a->agent ||
               race_clock_until(clock, race_core_key(before->agent)) >= index;
    }
    bool counted = before->way < RACE_ENDS; /* nothing counts the arrival of posted writes */
    if ((own && counted && place_of(m, a)->over[before->way][before->noc] >= index) ||
        same_path(before, a)) {
        return true;
    }
    uint64_t key = race_way_key((enum race_way)before->way, before->place, before->noc);
    uint64_t ack = race_way_key(RACE_ACK, before->place, before->noc);
    if (race_clock_until(clock, key) >= index ||
        (before->way == RACE_LEAVE && race_clock_until(clock, ack) >= index)) {
        return true;
    }
    bool travels = before->way == RACE_ACK || before->way == RACE_ORDER;
    return travels && race_clock_arrived(clock, before->place, before->noc, where->number,
                                         before->channel, index);
}

/* Would the trace show it if somebody had waited for the end of this access? */
static bool end_shows(const struct model *m, const struct race_access *before)
{
    if (!is_request(before) || before->way == RACE_ORDER) {
        return true;
    }
    const struct race_place *p = place_of(m, before);
    const struct tile *tile = tile_find(m, p->chip, p->at);
    if (tile == NULL) {
        return false;
    }
    const struct noc_facts *shows = &tile->noc[before->noc];
    return before->way == RACE_ARRIVE  ? shows->reads_done
           : before->way == RACE_LEAVE ? shows->writes_sent
                                       : shows->writes_done;
}

/* ---- reporting ---- */

static const char *describe(const struct model *m, char text[TEXT], const struct race_access *a,
                            bool writes)
{
    const struct race_place *p = place_of(m, a);
    unsigned by = a->agent % RACE_CORES + NOCAP_BY_BRISC;
    if (!is_request(a)) {
        snprintf(text, TEXT, "%s of %s %u,%u at event %llu", writes ? "a store" : "a load",
                 nocap_agent_name(by), p->at.x, p->at.y, (unsigned long long)a->index - 1);
        return text;
    }
    const char *kind = a->way == RACE_ARRIVE  ? writes ? "data of a NOC read" : "a NOC read"
                       : a->way == RACE_LEAVE ? "the source of a NOC write"
                       : a->way == RACE_ORDER ? "a posted NOC write"
                                              : "a NOC write";
    snprintf(text, TEXT, "%s of %s %u,%u on NOC %u at event %llu", kind, nocap_agent_name(by),
             p->at.x, p->at.y, a->noc, (unsigned long long)a->index - 1);
    return text;
}

/* What should have stood between the two. */
static const char *missing(const struct race_access *before, bool same_agent)
{
    switch (before->way) {
    case RACE_ARRIVE:
        return same_agent ? "a read barrier between the two"
                          : "a read barrier before the other agent is told to go on";
    case RACE_LEAVE:
        return same_agent ? "a flush or a write barrier between the two"
                          : "a flush or a write barrier before the other agent is told to go on";
    case RACE_ACK:
        return same_agent
                   ? "a write barrier between the two, or one NOC and one virtual channel for both"
                   : "a write barrier before the other agent is told, or the news on the same NOC "
                     "and virtual channel as the data";
    case RACE_ORDER:
        return "a response to wait for, or the same NOC and virtual channel for what follows: "
               "nothing waits for a posted write";
    default: return "news of the end of the first access before the second";
    }
}

static const char *why_open(const struct race_access *before, bool same_agent, bool signalled)
{
    if (same_agent) {
        return before->way == RACE_ACK || before->way == RACE_ORDER
                   ? "the two travel on different paths, and no barrier stands between them"
                   : "no barrier stands between them";
    }
    return signalled
               ? "the second agent was told to go on by news that may arrive before the first "
                 "access is over"
               : "nothing reached the second agent in between";
}

/* The fault that the access is part of already, at another tile of a multicast perhaps. */
static struct race_fault *fault_of(struct race *r, uint64_t index)
{
    for (unsigned i = 0; i < RACE_FAULTS; i++) {
        if (r->faults[i].index == index) {
            return &r->faults[i];
        }
    }
    struct race_fault *fault = &r->faults[r->fault_next++ % RACE_FAULTS];
    *fault = (struct race_fault){.index = index};
    return fault;
}

static void report(struct model *m, enum nocap_rule rule, const struct race_access *before,
                   const struct race_access *a, bool signalled)
{
    char first[TEXT], second[TEXT];
    bool same_agent = before->agent == a->agent;
    const struct race_place *p = place_of(m, a);
    const struct tile *tile = tile_get(m, p->chip, p->at);
    uint64_t from = before->first > a->first ? before->first : a->first;
    uint64_t end = before->end < a->end ? before->end : a->end;
    struct race_fault *fault = fault_of(race_of(m), before->index);
    EXPECT_AFTER(m, tile, rule, fault->since, false, RELATED(before->index - 1),
                 missing(before, same_agent), "%s and %s both touch 0x%llx..0x%llx: %s",
                 describe(m, first, before, rule != NOC_042),
                 describe(m, second, a, rule != NOC_041), (unsigned long long)from,
                 (unsigned long long)(end - 1), why_open(before, same_agent, signalled));
    fault->since = m->fault;
}

/* Nothing at all came to the tile since: it cannot know of the first access. What a core loads may
 * itself be the news. */
static bool isolated(const struct model *m, const struct race_access *before,
                     const struct race_access *a)
{
    const struct race_place *p = place_of(m, a);
    const struct race_clock *clock = clock_of(m, a);
    return race_of(m)->all_seen && p->reached <= before->index && p->fetched < before->index &&
           (clock == NULL || clock->floor < before->index) && before->place != a->place &&
           is_request(before) && is_request(a);
}

static void judge_pair(struct model *m, struct race_place *where, const struct race_access *before,
                       bool before_writes, const struct race_access *a, bool writes)
{
    enum nocap_rule rule = !writes ? NOC_041 : !before_writes ? NOC_042 : NOC_043;
    bool requests = is_request(before) || is_request(a);
    if ((!before_writes && !writes) || !requests || before->agent == RACE_NOBODY ||
        before->index == a->index) {
        return;
    }
    if (ordered(m, where, before, a)) {
        HOLDS(m, rule);
        return;
    }
    bool same_agent = before->agent == a->agent;
    if (same_agent && !is_request(a) && where->number == a->place && m->knows_tiles) {
        return; /* what a core does with bytes of its own requests is NOC-029's */
    }
    bool signalled =
        race_clock_until(clock_of(m, a), race_core_key(before->agent)) >= before->index;
    if ((same_agent || signalled || isolated(m, before, a)) && end_shows(m, before)) {
        report(m, rule, before, a, signalled);
    }
}

static bool overlaps(const struct race_access *x, const struct race_access *y)
{
    return x->first < y->end && y->first < x->end;
}

void race_judge(struct model *m, struct race_place *where, const struct race_access *a, bool writes)
{
    struct race_memory *memory = &where->memory;
    for (uint32_t i = race_memory_find(memory, a->first);
         i < memory->count && memory->rows[i].first < a->end; i++) {
        struct race_span *span = race_memory_at(memory, i);
        if (span->written && !is_flag(span, &span->write, a, writes)) {
            judge_pair(m, where, &span->write, true, a, writes);
        }
        for (uint8_t r = 0; writes && r < span->reader_count; r++) {
            struct race_access *reader = &span->readers[r];
            if (overlaps(reader, a) && !is_flag(span, reader, a, true)) {
                judge_pair(m, where, reader, false, a, true);
            }
        }
    }
}

void race_judge_locks(struct model *m, struct race_place *where, const struct race_access *a)
{
    fault_id since = FAULT_NONE; /* of the same write */
    for (uint32_t i = 0; i < where->lock_count; i++) {
        const struct race_lock *l = &where->locks[i];
        const struct race_place *p = place_of(m, a);
        const struct tile *tile = tile_get(m, p->chip, p->at);
        bool free_bytes = a->end <= l->first || a->first >= l->end;
        EXPECT_AFTER(m, tile, l->cb ? NOC_045 : NOC_044, since, free_bytes, RELATED(l->index),
                     l->cb ? "no NOC write to a circular buffer while a core holds it"
                           : "no NOC write to memory while a core holds it",
                     "a NOC write to 0x%llx..0x%llx of %u,%u, of which %s holds 0x%llx..0x%llx",
                     (unsigned long long)a->first, (unsigned long long)(a->end - 1), where->at.x,
                     where->at.y, nocap_agent_name(l->by), (unsigned long long)l->first,
                     (unsigned long long)(l->end - 1));
        since = free_bytes ? since : m->fault;
    }
}
