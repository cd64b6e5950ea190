/* SPDX-License-Identifier: Apache-2.0 */
/* The wheel of time: a bucket for each of the next cycles, a bit for each bucket that is not empty.
 * Who polls is not in the wheel, so a run costs what happens in it, however many tiles stand idle.
 */
#include "capture/sim/machine.h"
#include "capture/sim/random.h"

enum {
    NOBODY = UINT16_MAX,
    POLL_GO = 20, /* instructions of one iteration of BRISC's dispatch loop */
    POLL_BYTE = 6 /* of other polling loops */
};

void sim_wheel_init(struct sim *m)
{
    for (unsigned i = 0; i < SIM_BUCKETS; i++) {
        m->bucket[i] = NOBODY;
    }
}

static void arm(struct sim *m, struct sim_core *c, uint64_t cycle)
{
    unsigned slot = (unsigned)(cycle % SIM_BUCKETS);
    c->armed = true;
    c->next = m->bucket[slot];
    m->bucket[slot] = c->id;
    m->occupied[slot / 64] |= UINT64_C(1) << slot % 64;
}

uint64_t sim_wheel_peek(const struct sim *m)
{
    unsigned start = (unsigned)(m->now % SIM_BUCKETS);
    unsigned word = start / 64;
    uint64_t bits = m->occupied[word] & UINT64_MAX << start % 64;
    for (unsigned n = 0; n <= SIM_BUCKETS / 64; n++) {
        if (bits != 0) {
            unsigned slot = word * 64 + (unsigned)__builtin_ctzll(bits);
            return m->now + (slot - start) % SIM_BUCKETS;
        }
        word = (word + 1) % (SIM_BUCKETS / 64);
        bits = m->occupied[word];
    }
    return UINT64_MAX;
}

struct sim_core *sim_wheel_next(struct sim *m)
{
    for (;;) {
        uint64_t cycle = sim_wheel_peek(m);
        if (cycle == UINT64_MAX) {
            return NULL;
        }
        m->now = cycle;
        unsigned slot = (unsigned)(cycle % SIM_BUCKETS);
        struct sim_core *c = &m->core[m->bucket[slot]];
        m->bucket[slot] = c->next;
        if (c->next == NOBODY) {
            m->occupied[slot / 64] &= ~(UINT64_C(1) << slot % 64);
        }
        c->armed = false;
        if (c->run == NULL) {
            continue;
        }
        if (c->until <= cycle) {
            return c;
        }
        sim_sleep_cycles(m, c, c->until - cycle);
    }
}

void sim_sleep_cycles(struct sim *m, struct sim_core *c, uint64_t n)
{
    c->until = m->now + n;
    if (!c->armed) {
        arm(m, c, m->now + (n < SIM_BUCKETS ? n : SIM_BUCKETS - 1));
    }
}

void sim_sleep(struct sim *m, struct sim_core *c, uint32_t n)
{
    uint64_t extra = (uint64_t)n * c->stretch * (sim_random(m) & 0xFF) >> 8;
    sim_sleep_cycles(m, c, n + extra);
}

void sim_poll(struct sim_core *c, uint8_t what)
{
    c->watch = what;
    c->tile->watched |= what;
}

void sim_changed(struct sim *m, struct sim_tile *t, uint8_t what)
{
    if ((t->watched & what) == 0) {
        return;
    }
    t->watched = 0;
    for (unsigned i = 0; i < SIM_TILE_CORES; i++) {
        struct sim_core *c = &t->core[i];
        if ((c->watch & what) != 0) {
            uint32_t iteration = c->watch == SIM_WATCH_GO ? POLL_GO : POLL_BYTE;
            c->watch = 0;
            sim_sleep(m, c, 1 + sim_below(m, iteration));
        }
        t->watched |= c->watch;
    }
}

uint64_t sim_random(struct sim *m)
{
    return sim_next_random(&m->random);
}

uint32_t sim_below(struct sim *m, uint32_t n)
{
    return sim_next_below(&m->random, n);
}

uint64_t sim_mix(const struct sim *m, uint64_t a, uint64_t b)
{
    return sim_mix_seed(m->options.variant, a, b);
}

void sim_start_random(struct sim *m)
{
    m->random = sim_mix_seed(m->options.seed, 3, 0) | 1;
}
