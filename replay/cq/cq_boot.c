/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up of the command queue: pointers, semaphores, launch messages, and the GO of its two
 * cores. Rules CQ-032, CQ-041, CQ-053, CQ-062, CQ-066, CQ-068. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replay/cq/cq_private.h"

enum {
    CQ_INITS_PREFETCH =
        CQ_INIT_ECHOES | CQ_INIT_PCIE | CQ_INIT_QUEUE | CQ_INIT_SEMS | CQ_INIT_MESSAGE,
    CQ_INITS_DISPATCH = CQ_INIT_WR | CQ_INIT_RD | CQ_INIT_SEMS | CQ_INIT_MESSAGE,
    CQ_INITS_ANY = CQ_INIT_SEMS | CQ_INIT_MESSAGE, /* what any other kernel gets as well */
};

/* Pointer words that have one right value at the start. */
enum { WORDS = 4 };
struct word {
    uint32_t addr, value;
    uint8_t core, bit;
};
static void list_words(const struct cq *q, struct word words[WORDS])
{
    const struct nocap_queue *n = q->numbers;
    const struct word list[WORDS] = {
        {n->rd_ptr_echo, place_end(&q->places.slots), CQ_PREFETCH, CQ_INIT_ECHOES},
        {n->pcie_ptr_echo, (uint32_t)q->sysmem + n->issue, CQ_PREFETCH, CQ_INIT_PCIE},
        {n->completion_wr, q->first, CQ_DISPATCH, CQ_INIT_WR},
        {n->completion_rd, q->first, CQ_DISPATCH, CQ_INIT_RD},
    };
    memcpy(words, list, sizeof list);
}

void cq_boot_running(struct cq *q, enum cq_core core)
{
    if (q->boot[core].running == UNKNOWN) {
        q->boot[core].running = YES;
    }
}

bool cq_boot_done(struct cq *q, uint32_t value)
{
    struct cq_boot *dispatch = &q->boot[CQ_DISPATCH];
    if ((dispatch->missing & CQ_INIT_RD) != 0 && value == q->first) {
        return false;
    }
    dispatch->missing &= (uint8_t)~CQ_INIT_RD;
    return dispatch->running == YES ||
           (dispatch->running == UNKNOWN && q->boot[CQ_PREFETCH].done == 0);
}

void cq_boot_looked(struct cq *q, struct nocap_xy at, const struct access *a)
{
    uint8_t signal;
    const uint32_t word = q->m->layout->go_messages;
    bool over = access_byte(a, word + NOCAP_GO_SIGNAL_BYTE, &signal) && signal == NOCAP_GO_DONE;
    for (unsigned core = 0; over && core < CQ_CORES; core++) {
        if (nocap_xy_equal(at, q->at[core]) && q->boot[core].running == YES) {
            q->boot[core] = (struct cq_boot){.running = NO};
        }
    }
}

static void judge_pointer(struct cq *q, uint64_t addr, uint32_t value, uint32_t want)
{
    CQ_HOST(q, CQ_066, value == want, NO_REFS, "each pointer word set to the start of its ring",
            "0x%x written to the pointer at 0x%llx, its ring starts at 0x%x", value, wide(addr),
            want);
}

static void take_message(struct cq *q, enum cq_core core, const struct access *a)
{
    const struct nocap_mailbox_layout *layout = q->m->layout;
    struct nocap_launch message;
    value_forget(&q->boot[core].mode);
    if (a->addr == layout->launch_base && a->known >= layout->launch_size) {
        nocap_launch_decode(layout, a->bytes, &message);
        value_set(&q->boot[core].mode, message.mode);
    }
}

/* What of the start-up this store does. */
static uint8_t init_of(struct cq *q, enum cq_core core, const struct access *a)
{
    uint8_t bits = 0;
    uint32_t value;
    struct word words[WORDS];
    list_words(q, words);
    for (unsigned i = 0; i < WORDS; i++) {
        bool part = q->boot[core].running != YES || (q->boot[core].missing & words[i].bit) != 0;
        if (part && words[i].core == core && touches(a, words[i].addr, 4)) {
            bits |= words[i].bit;
            if (access_word(a, words[i].addr, &value)) {
                if (core == CQ_DISPATCH && q->boot[core].running != YES) {
                    cq_take_pointer(q, value);
                } else if (words[i].bit == CQ_INIT_PCIE && q->boot[core].running != YES) {
                    cq_take_base(q, value);
                }
                list_words(q, words);
                judge_pointer(q, words[i].addr, value, words[i].value);
                if ((q->boot[core].done & words[i].bit) != 0) {
                    cq_blame(&q->boot[core].stray, fault_of(q->m, value == words[i].value));
                }
            }
        }
    }
    if (touches(a, q->sem[core], 4)) {
        bits |= CQ_INIT_SEMS;
        if (!access_word(a, q->sem[core], &q->boot[core].sem0)) {
            q->boot[core].sem0 = core == CQ_PREFETCH ? q->numbers->buffer_pages : 0;
        }
    }
    if (touches(a, q->m->layout->launch_base, q->m->layout->launch_size)) {
        bits |= CQ_INIT_MESSAGE;
        take_message(q, core, a);
    }
    return bits;
}

/* The names of parts of the set-up. */
static const char *names_of(unsigned inits, char *text, size_t size)
{
    static const struct {
        unsigned bit;
        const char *name;
    } parts[] = {{CQ_INIT_ECHOES, "prefetch_q_rd_ptr"},   {CQ_INIT_PCIE, "prefetch_q_pcie_rd_ptr"},
                 {CQ_INIT_QUEUE, "prefetch_q"},           {CQ_INIT_SEMS, "semaphore 0"},
                 {CQ_INIT_MESSAGE, "the launch message"}, {CQ_INIT_WR, "completion_q_wr_ptr"},
                 {CQ_INIT_RD, "completion_q_rd_ptr"}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if ((inits & parts[i].bit) != 0 && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used == 0 ? "" : ", ",
                                     parts[i].name);
        }
    }
    return text;
}

static void judge_go(struct cq *q, enum cq_core core)
{
    char text[128];
    struct cq_boot *b = &q->boot[core];
    uint8_t all = core == CQ_PREFETCH ? CQ_INITS_PREFETCH : CQ_INITS_DISPATCH;
    uint32_t want = core == CQ_PREFETCH ? q->numbers->buffer_pages : 0;
    uint8_t missing = all & (uint8_t)~b->done;
    bool whole = b->whole || q->m->header->complete == NOCAP_TRUE;
    b->go = cq_event_ref(q, NOCAP_BY_HOST);
    b->since = FAULT_NONE;
    if (whole) { /* the trace has the set-up from its first word on */
        bool counter = (b->done & CQ_INIT_SEMS) == 0 || b->sem0 == want;
        if (missing != 0) {
            names_of(missing, text, sizeof text);
        } else {
            snprintf(text, sizeof text, "%" PRIu32, b->sem0);
        }
        CHECK_AFTER(q->m, cq_tile(q, core), CQ_068, b->stray, missing == 0 && counter, NO_REFS,
                    "pointers, queue, semaphores and launch message written before GO",
                    missing != 0 ? "GO sent before these were written: %s"
                                 : "semaphore 0 is %s at GO, not %u",
                    text, want);
        b->since = fault_of(q->m, missing == 0);
    }
    if (b->mode.known) {
        CHECK(q->m, cq_tile(q, core), CQ_053, b->mode.v != NOCAP_MODE_DEV, NO_REFS,
              "launch mode HOST for the cores of the command queue",
              "launch mode %u for a command-queue core, not HOST", b->mode.v);
    }
    b->missing = missing;
    b->running = YES;
}

/* A part of the set-up comes after the GO. */
void cq_boot_late(struct cq *q, enum cq_core core, uint8_t late)
{
    struct cq_boot *b = &q->boot[core];
    char text[128];
    b->missing &= (uint8_t)~late;
    FOLLOWING(q->m, b->since,
              CHECK_AT(q->m, cq_tile(q, core), CQ_068, false, b->go, RELATED(q->m->event->index),
                       "pointers, queue, semaphores and launch message written before GO",
                       "%s written after GO", names_of(late, text, sizeof text)));
    b->since = q->m->fault;
}

/* The host releases a completion: both cores work, so one that was set up has got its GO. */
static void judge_works(struct cq *q, enum cq_core core)
{
    struct cq_boot *b = &q->boot[core];
    uint8_t all = core == CQ_PREFETCH ? CQ_INITS_PREFETCH : CQ_INITS_DISPATCH;
    if (b->running == NO && (b->done & all) == all) {
        CHECK(q->m, cq_tile(q, core), CQ_068, false,
              RELATED(b->other_store ? b->other_index : NO_INDEX),
              "GO stored before the core works",
              "first completion released by the host, but no GO was stored to the %s",
              core == CQ_PREFETCH ? "prefetcher" : "dispatcher");
        b->running = YES;
    }
}

void cq_boot_completion(struct cq *q, uint32_t value)
{
    const struct value *rd = &q->completion.rd;
    if (rd->known && rd->v == q->first && value == cq_ptr_advance(q, q->first, 1)) {
        judge_works(q, CQ_PREFETCH);
        judge_works(q, CQ_DISPATCH);
    }
}

static void take_go_word(struct cq *q, enum cq_core core, const struct access *a)
{
    struct cq_boot *b = &q->boot[core];
    const uint32_t words = q->m->layout->go_messages;
    uint8_t signal = 0;
    bool own = access_byte(a, words + NOCAP_GO_SIGNAL_BYTE, &signal);
    bool queue = (b->done & ~CQ_INITS_ANY) != 0 || q->m->header->complete == NOCAP_TRUE;
    if (own && signal == NOCAP_GO_GO && queue) {
        judge_go(q, core);
    } else if (own && signal == NOCAP_GO_GO) {
        b->running = UNKNOWN; /* its queue may lie elsewhere */
    } else if (touches(a, words, NOCAP_GO_WORDS * NOCAP_GO_WORD_SIZE) && signal != NOCAP_GO_INIT) {
        b->other_store = true;
        b->other_index = q->m->event->index;
    }
}

/* What a store of the host where it has none to make is known since: the set-up is late, or it is
 * the doorbell of a command whose entry there is not. */
static fault_id unasked_since(struct cq *q, enum cq_core core)
{
    const struct cq_boot *b = &q->boot[core];
    if (b->missing != 0) {
        return b->since;
    }
    bool doorbell = core == CQ_PREFETCH && cq_is_duplicate(q, CQ_ACT_RECORD, q->m->event);
    return doorbell ? q->host.slot.since : FAULT_NONE;
}

/* To a core that runs: only what was to be done before is done late, nothing else. */
static void judge_store(struct cq *q, enum cq_core core, const struct access *a)
{
    const struct cq_boot *b = &q->boot[core];
    uint32_t value;
    bool counter = touches(a, q->sem[core], 4);
    uint8_t late = b->missing != 0 ? init_of(q, core, a) & b->missing : 0;
    if (late != 0) {
        cq_boot_late(q, core, late);
        return;
    }
    CHECK(q->m, cq_tile(q, core), CQ_041, !counter, NO_REFS,
          "semaphore 0 not written by the host while the queue runs",
          "host wrote %llu bytes at 0x%llx, over semaphore 0, while the queue runs", wide(a->size),
          wide(a->addr));
    CHECK_AFTER(q->m, cq_tile(q, core), CQ_032, unasked_since(q, core), counter, NO_REFS,
                "nothing but prefetch_q and completion_q_rd_ptr written by the host while the "
                "queue runs",
                "host wrote %llu bytes at 0x%llx of a command-queue core while the queue runs",
                wide(a->size), wide(a->addr));
    const bool slot = core == CQ_PREFETCH || place_has(&q->places.slots, a->addr);
    if (slot && a->size == q->numbers->entry_bytes) { /* perhaps it was for one */
        cq_issue_missed(q);
    }
    const struct value *rd = &q->completion.rd;
    if (rd->known && access_word(a, a->addr, &value) &&
        value == cq_ptr_advance(q, rd->v, 1)) { /* it was meant for the read pointer */
        cq_completion_host_store(q, value);
    }
}

/* Completion pointers, before the core runs. */
static void take_pointers(struct cq *q, uint8_t bits, const struct access *a)
{
    uint32_t value;
    if ((bits & CQ_INIT_WR) != 0 && access_word(a, q->numbers->completion_wr, &value)) {
        const fault_id since = fault_of(q->m, value == q->first);
        resync(&q->completion.wr, value, since);
        resync(&q->completion.stored, value, since);
    }
    if ((bits & CQ_INIT_RD) != 0 && access_word(a, q->numbers->completion_rd, &value)) {
        resync(&q->completion.rd, value, fault_of(q->m, value == q->first));
    }
}

/* The host writes to a tile of the queue, other than to the prefetch queue. */
void cq_boot_host_store(struct cq *q, enum cq_core core, const struct access *a)
{
    struct cq_boot *b = &q->boot[core];
    uint32_t value;
    if (access_word(a, NOCAP_REG_SOFT_RESET_0, &value)) {
        if ((value & NOCAP_SOFT_RESET_BRISC) != 0) {
            *b = (struct cq_boot){.running = NO};
        }
        return;
    }
    if (a->addr >= NOCAP_L1_SIZE) {
        if (core == CQ_DISPATCH && b->running == YES) {
            cq_dispatcher_host_store(q, a);
        }
        return;
    }
    if (b->running == YES) {
        judge_store(q, core, a);
        return;
    }
    uint8_t bits = init_of(q, core, a);
    if (b->done == 0) {
        b->whole = !q->blind && (((bits | q->boot[CQ_PREFETCH].done) & CQ_INIT_ECHOES) != 0 ||
                                 ((bits | q->boot[CQ_DISPATCH].done) & CQ_INIT_WR) != 0);
    }
    b->done |= bits;
    if ((bits & ~CQ_INIT_MESSAGE) != 0) {
        b->running = NO; /* no agent does that later */
    }
    take_pointers(q, bits, a);
    take_go_word(q, core, a);
}

/* The two pointer words at the start of host memory. */
void cq_boot_host_sysmem(struct cq *q, const struct access *a)
{
    uint32_t value;
    bool running = q->boot[CQ_DISPATCH].running == YES;
    if (touches(a, q->numbers->host_wr, 4)) {
        CQ_HOST(q, CQ_062, !running, NO_REFS,
                "the write pointer in host memory written by the dispatcher only",
                "host wrote %llu bytes at +0x%llx, over the completion write pointer",
                wide(a->size), wide(a->addr));
        cq_blame(&q->completion.given.since, q->m->fault); /* perhaps for the other one */
        if (!running && access_word(a, q->numbers->host_wr, &value)) {
            cq_take_pointer(q, value);
            judge_pointer(q, q->numbers->host_wr, value, q->first);
        }
    }
    if (access_word(a, q->numbers->host_rd, &value)) {
        if (!running && q->boot[CQ_PREFETCH].running == NO) {
            cq_take_pointer(q, value);
            judge_pointer(q, q->numbers->host_rd, value, q->first);
        } else {
            cq_completion_host_sysmem(q, a);
        }
    }
}
