/* SPDX-License-Identifier: Apache-2.0 */
/* The coprocessor of a tile: three instruction FIFOs, eight semaphores. A word that waits is itself
 * held at the gate, with everything behind it; no unit is ever busy, so only semaphores hold. A
 * pushed NOP is swallowed. */
#include "capture/sim/launch/machine.h"
#include "formats/blackhole/tensix_isa.h"

enum { THREAD_MATH = 1 };

void sim_push(struct sim *m, struct sim_core *c, unsigned thread, uint32_t word)
{
    struct sim_tile *t = c->tile;
    struct sim_fifo *fifo = &t->tensix.fifo[thread];
    fifo->word[(fifo->head + fifo->count) % SIM_FIFO_DEPTH] = word;
    fifo->count++;
    sim_emit_word(m, t, NOCAP_OP_PUSH, thread, word, c);
    struct sim_core *coprocessor = &t->core[SIM_COPROCESSOR];
    if (!m->k.timer[coprocessor->id].armed) {
        sim_sleep(m, coprocessor, 1);
    }
}

static bool selected(uint32_t mask, unsigned semaphore)
{
    return (mask >> semaphore & 1) != 0;
}

static bool holds(const struct sim_tensix *x, uint32_t word)
{
    if (nocap_tensix_opcode(word) != NOCAP_TENSIX_SEMWAIT) {
        return false;
    }
    uint32_t mask = NOCAP_TENSIX_GET(word, SEMWAIT, sem_sel);
    uint32_t condition = NOCAP_TENSIX_GET(word, SEMWAIT, condition);
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        if (selected(mask, i) &&
            (((condition & NOCAP_SEMWAIT_WHILE_ZERO) != 0 && x->value[i] == 0) ||
             ((condition & NOCAP_SEMWAIT_WHILE_MAX) != 0 && x->value[i] >= x->max[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_lost(struct sim *m, struct sim_tile *t, uint32_t word)
{
    return nocap_tensix_opcode(word) == NOCAP_TENSIX_SFPLOAD &&
           sim_fault_due(m, t, NOCAP_SIM_FAULT_WORD_LOST);
}

static void execute(struct sim_tensix *x, uint32_t word)
{
    unsigned opcode = nocap_tensix_opcode(word);
    uint32_t mask = NOCAP_TENSIX_GET(word, SEMPOST, sem_sel); /* at the same place in all three */
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        if (!selected(mask, i)) {
            continue;
        }
        if (opcode == NOCAP_TENSIX_SEMINIT) {
            x->value[i] = (uint8_t)NOCAP_TENSIX_GET(word, SEMINIT, value);
            x->max[i] = (uint8_t)NOCAP_TENSIX_GET(word, SEMINIT, max);
        } else if (opcode == NOCAP_TENSIX_SEMPOST && x->value[i] < NOCAP_SEMAPHORE_MAX) {
            x->value[i]++;
        } else if (opcode == NOCAP_TENSIX_SEMGET && x->value[i] > 0) {
            x->value[i]--;
        }
    }
}

/* A fault: the wait goes, and with it the word after it. */
static bool leaks(struct sim *m, struct sim_tile *t, unsigned thread, uint32_t word)
{
    struct sim_fifo *fifo = &t->tensix.fifo[thread];
    if (thread == THREAD_MATH && fifo->count > 1 &&
        nocap_tensix_opcode(word) == NOCAP_TENSIX_SEMWAIT &&
        sim_fault_due(m, t, NOCAP_SIM_FAULT_GATE_LEAKS)) {
        fifo->leaked = word;
        fifo->leaks = 1;
        return true;
    }
    return false;
}

static bool is_held(struct sim *m, struct sim_tile *t, unsigned thread, uint32_t word)
{
    struct sim_fifo *fifo = &t->tensix.fifo[thread];
    if (fifo->leaked != 0) {
        bool open = !holds(&t->tensix, fifo->leaked);
        fifo->leaked = open ? 0 : fifo->leaked;
        if (!open) {
            return fifo->leaks == 0 || fifo->leaks-- == 0;
        }
    }
    return holds(&t->tensix, word) && !leaks(m, t, thread, word);
}

/* The word at the head of a thread's FIFO: goes, or is held. Whether it went. */
static bool try_issue(struct sim *m, struct sim_tile *t, unsigned thread)
{
    struct sim_fifo *fifo = &t->tensix.fifo[thread];
    if (fifo->count == 0) {
        return false;
    }
    uint32_t word = fifo->word[fifo->head];
    if (is_held(m, t, thread, word)) {
        if (!fifo->held) {
            fifo->held = true;
            sim_emit_word(m, t, NOCAP_OP_STALL, thread, word, NULL);
        }
        return false;
    }
    fifo->held = false;
    fifo->head = (uint8_t)((fifo->head + 1) % SIM_FIFO_DEPTH);
    fifo->count--;
    if (nocap_tensix_opcode(word) != NOCAP_TENSIX_NOP && !is_lost(m, t, word)) {
        if (nocap_tensix_opcode(word) != NOCAP_TENSIX_SEMGET ||
            !sim_fault_due(m, t, NOCAP_SIM_FAULT_GET_LOST)) {
            execute(&t->tensix, word);
        }
        sim_emit_word(m, t, NOCAP_OP_ISSUE, thread, word, NULL);
    }
    sim_changed(m, t, SIM_WATCH_FIFO);
    return true;
}

void sim_coprocessor(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    bool went = false;
    for (unsigned thread = 0; thread < NOCAP_TENSIX_THREADS; thread++) {
        went |= try_issue(m, t, thread);
    }
    if (went) {
        sim_sleep(m, c, 1);
    }
}
