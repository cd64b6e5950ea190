/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: what an event says, apart from when. Two runs of one program share this and
 * nothing more. Left out are times, `seq`, transaction ids, the number of polls, stalls and unit
 * states of the coprocessor, values of clocks and what was made from them, values of registers,
 * and loads of cores where the capture has only a sample of them. */
#ifndef NOCAP_CHECKER_COMPARE_EVENT_KEY_H
#define NOCAP_CHECKER_COMPARE_EVENT_KEY_H

#include "checker/compare/polled_addrs.h"
#include "formats/trace/header.h"

enum { NOCAP_CLOCKS_KEPT = 1 << 12 };

/* A value that a clock returned, and to whom. */
struct nocap_clock_value {
    uint32_t value; /* 0: none */
    struct nocap_xy at;
    uint8_t by;
};

/* How a trace is looked at. Set the first four, the rest begins as zero. */
struct nocap_event_key {
    const struct nocap_header *header;
    const struct nocap_places *places; /* of all traces that are compared */
    bool with_time;                    /* times, ids and polls count too */
    bool by_hash; /* a hash is as good as the bytes that it stands for; not so in digests, which are
                     kept */
    struct nocap_clock_value clock[NOCAP_CLOCKS_KEPT]; /* hashed by value */
};

struct nocap_item {
    uint64_t hash;
    bool is_read; /* or a look at memory: may stand for many polls */
    bool is_idle; /* a store that firmware repeats while it polls */
};

/* False if the event does not count. */
bool nocap_event_key_of(struct nocap_event_key *event_key, const struct nocap_event *event,
                        struct nocap_item *item);

/* The recent past of one agent. All zero to begin with. */
enum { NOCAP_RUN_MAX = 64 };
struct nocap_repeats {
    uint64_t last;
    uint64_t *run; /* what was read since the last event that was no read */
    unsigned run_count;
};
/* Whether the item only repeats what the agent just did. */
bool nocap_repeats_drop(struct nocap_repeats *repeats, const struct nocap_item *item);
void nocap_repeats_free(struct nocap_repeats *repeats);

uint64_t nocap_hash_mix(uint64_t hash, uint64_t v);
/* The same for a number and for its bytes. */
uint64_t nocap_payload_hash(const struct nocap_event *event);

#endif
