/* SPDX-License-Identifier: Apache-2.0 */
/* The two expanders in front of a Tensix thread: what MOP and REPLAY words become. Both work word
 * by word without allocation; an expansion has up to 32639 words. Source: Wait Gate and semaphore
 * document; instruction set documentation, MOP expander and REPLAY. */
#ifndef NOCAP_BLACKHOLE_TENSIX_EXPAND_H
#define NOCAP_BLACKHOLE_TENSIX_EXPAND_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/blackhole/tensix_isa.h"

/* The write-only configuration of a thread's MOP expander, as far as its stores were seen. */
struct nocap_mop_config {
    uint32_t word[NOCAP_MOP_WORDS];
    uint16_t known; /* by word */
};

/* One MOP being expanded. */
struct nocap_mop {
    struct nocap_mop_config config;
    uint32_t mask;
    uint32_t outer, inner; /* rounds; inner is 0 for template 0 */
    uint32_t round, step;  /* where it is */
    bool loops;            /* template 1 */
};

/* Whether everything that the expansion depends on is known. `mask_known`: the sticky upper half of
 * template 0's mask. */
bool nocap_mop_is_known(const struct nocap_mop_config *config, uint32_t word, bool mask_known);
void nocap_mop_start(struct nocap_mop *mop, const struct nocap_mop_config *config, uint32_t word,
                     uint32_t mask_high);
/* The next word; false at the end. */
bool nocap_mop_next(struct nocap_mop *mop, uint32_t *word);

/* The replay expander of a thread: a ring of 32 words. */
struct nocap_replay {
    uint32_t known; /* by word */
    uint8_t at;     /* next slot to fill or to read */
    uint8_t left;   /* words still to record, or to replay */
    bool loads, executes;
    bool
        doubtful; /* the count is one that documents disagree about: 0, or more than the ring has */
    uint32_t word[NOCAP_REPLAY_RING];
};

enum nocap_replay_result {
    NOCAP_REPLAY_PASSES, /* the word goes on to the gate */
    NOCAP_REPLAY_KEPT,   /* it was taken: a REPLAY, or recorded without execution */
};

/* A word arrives while no replay is under way (nocap_replay_next gives false). */
enum nocap_replay_result nocap_replay_take(struct nocap_replay *replay, uint32_t word);
/* The next replayed word; false if none is under way. `*known` false: it was never recorded as far
 * as seen. */
bool nocap_replay_next(struct nocap_replay *replay, uint32_t *word, bool *known);

#endif
