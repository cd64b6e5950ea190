/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions wait for: transfers, tokens, barriers, polled values. */
#include <stdio.h>
#include <string.h>

#include "formats/aie/operands.h"
#include "replay/aie/cert_private.h"

/* ---- tokens ---- */

/* NULL: there are too many. */
static struct cert_count *count_of(struct cert_counts *c, uint64_t key)
{
    uint32_t i = 0;
    while (i < c->count && c->list[i].key != key) {
        i++;
    }
    if (i == CERT_CHANNELS) {
        c->full = true;
        return NULL;
    }
    if (i == c->count) {
        c->list[c->count++] = (struct cert_count){.key = key};
    }
    return &c->list[i];
}

static struct cert_count *channel(struct cert_uc *uc, uint32_t tile, uint32_t actor)
{
    return count_of(&uc->channels, (uint64_t)tile << 32 | actor);
}

void cert_token(struct cert_uc *uc, const struct nocap_event *e)
{
    struct cert_count *c = channel(uc, (uint32_t)e->tile, (uint32_t)e->actor);
    if (c != NULL) {
        c->arrived++;
    }
}

void cert_consume(struct cert_uc *uc, const struct cert_step *step)
{
    struct cert_count *c =
        channel(uc, CERT_V(step, WAIT_TCTS, tile_id), CERT_V(step, WAIT_TCTS, actor_id));
    uint64_t wanted = CERT_V(step, WAIT_TCTS, target_tcts);
    if (c != NULL) {
        c->consumed = c->consumed + wanted < c->arrived ? c->consumed + wanted : c->arrived;
    }
}

void cert_tasks_note(struct cert *c, const struct access *a)
{
    for (uint64_t at = a->addr; at == a->addr || at - a->addr + 4 <= a->known; at += 4) {
        uint32_t value, repeats;
        struct cert_count *tasks = nocap_aie_is_task_queue(c->array, (uint32_t)at)
                                       ? count_of(&c->tasks, (uint32_t)at)
                                       : NULL;
        if (tasks != NULL && !access_word(a, at, &value)) {
            tasks->arrived += UINT32_MAX; /* it may send as many tokens as there are */
        } else if (tasks != NULL && (value & NOCAP_AIE_TASK_TOKEN) != 0) {
            repeats = value >> NOCAP_AIE_TASK_REPEAT_SHIFT & NOCAP_AIE_TASK_REPEAT_MASK;
            tasks->arrived += 1 + repeats;
        }
    }
}

/* Says how far a condition is. */
#define SAY(condition, ...) snprintf((condition)->text, sizeof(condition)->text, __VA_ARGS__)

/* Where the waits of a channel ask for more than the tasks that were seen can send. */
static void add_excess(struct cert *cert, const struct cert_step *step, uint64_t asked,
                       struct cert_condition *c)
{
    uint32_t queue;
    size_t used = strlen(c->text);
    bool known = nocap_aie_task_queue(cert->array, CERT_V(step, WAIT_TCTS, tile_id),
                                      CERT_V(step, WAIT_TCTS, actor_id), &queue);
    for (uint32_t i = 0; known && i < cert->tasks.count; i++) {
        const struct cert_count *tasks = &cert->tasks.list[i];
        if (tasks->key == queue && tasks->arrived < asked) {
            snprintf(c->text + used, sizeof c->text - used,
                     "; tasks for %llu in all were started, the waits ask for %llu",
                     (unsigned long long)tasks->arrived, (unsigned long long)asked);
        }
    }
}

static void tokens_came(const struct model *m, struct cert_uc *uc, const struct cert_step *step,
                        struct cert_condition *c)
{
    uint32_t tile = CERT_V(step, WAIT_TCTS, tile_id), actor = CERT_V(step, WAIT_TCTS, actor_id);
    const struct cert_count *tokens = channel(uc, tile, actor);
    uint64_t wanted = CERT_V(step, WAIT_TCTS, target_tcts);
    uint64_t there = tokens == NULL ? 0 : tokens->arrived - tokens->consumed;
    char name[48];
    SAY(c, "%s: %llu of %llu tokens arrived",
        nocap_aie_channel_text(cert_of(m)->array, tile, actor, name, sizeof name),
        (unsigned long long)there, (unsigned long long)wanted);
    if (uc->fresh && tokens != NULL && there < wanted) {
        add_excess(cert_of(m), step, tokens->consumed + wanted, c);
    }
    c->came = !uc->fresh || uc->channels.full ? UNKNOWN : there >= wanted ? YES : NO;
}

/* ---- transfers ---- */

static void transfer_done(const struct cert_chain *chain, struct cert_condition *c)
{
    if (chain == NULL) {
        SAY(c, "a transfer whose handle is not known");
        return;
    }
    SAY(c, "transfer %u of index %llu is %s", chain->handle, (unsigned long long)chain->at.index,
        chain->done ? "done" : "not done");
    c->came = chain->done ? YES : NO;
}

static void waited_done(struct cert_uc *uc, struct cert_job *job, struct cert_condition *c)
{
    const struct value *handle =
        cert_register(uc, job, CERT_V(&job->step, WAIT_UC_DMA, wait_handle));
    bool known = handle != NULL && handle->known;
    transfer_done(known ? cert_chain_by_handle(uc, handle->v) : NULL, c);
}

static void sync_done(struct cert_uc *uc, const struct cert_step *step, struct cert_condition *c)
{
    const struct cert_chain *chain = cert_chain(uc, step->chain);
    transfer_done(chain != NULL && chain->has_handle ? chain : NULL, c);
}

/* ---- barriers ---- */

static void arrive_local(struct cert_page *page, struct cert_job *job)
{
    struct cert_step *step = &job->step;
    uint32_t id = CERT_V(step, LOCAL_BARRIER, local_barrier_id);
    uint32_t participants = CERT_V(step, LOCAL_BARRIER, num_participants);
    if (id >= NOCAP_AIE_LOCAL_BARRIERS) {
        return;
    }
    struct cert_barrier *b = &page->barriers[id];
    if (b->arrived == 0) {
        b->participants = participants;
    }
    b->known &= participants == b->participants && participants != 0;
    if (!b->known) {
        return;
    }
    step->phase = b->phase;
    if (++b->arrived == b->participants) {
        b->arrived = 0;
        b->phase++;
    }
}

void cert_arrive(const struct cert_at *at)
{
    struct cert_step *step = &at->job->step;
    if (step->info->opcode == NOCAP_AIE_LOCAL_BARRIER) {
        arrive_local(at->page, at->job);
    } else {
        uint32_t id = CERT_V(step, REMOTE_BARRIER, remote_barrier_id);
        step->phase = ++at->uc->arrivals[id];
    }
}

static void local_matured(const struct cert_page *page, const struct cert_step *step,
                          struct cert_condition *c)
{
    uint32_t id = CERT_V(step, LOCAL_BARRIER, local_barrier_id);
    if (id >= NOCAP_AIE_LOCAL_BARRIERS || step->phase == 0 || !page->barriers[id].known) {
        SAY(c, "local barrier %u", id);
        return;
    }
    const struct cert_barrier *b = &page->barriers[id];
    bool matured = step->phase < b->phase;
    SAY(c, "local barrier %u: %u of %u jobs arrived", id, matured ? b->participants : b->arrived,
        b->participants);
    c->came = matured ? YES : NO;
    c->since = either(c->since, b->since);
}

/* Whether a column has come to the remote barrier as often as the one of the step. */
static enum known column_came(const struct model *m, unsigned column, const struct cert_step *step)
{
    const struct cert_uc *uc = cert_of(m)->ucs[column];
    const struct nocap_aie_image *image =
        cert_of(m)->code == NULL ? NULL : cert_of(m)->code[column];
    uint32_t id = CERT_V(step, REMOTE_BARRIER, remote_barrier_id);
    if (uc != NULL) {
        return uc->arrivals[id] >= step->phase ? YES : uc->fresh ? NO : UNKNOWN;
    }
    /* It has done nothing yet. That means something only if it has code. */
    bool here = image != NULL && nocap_aie_image_page(image, 0, column, 0) != NULL;
    return here && m->header->complete == NOCAP_TRUE && !m->dropped ? NO : UNKNOWN;
}

static void remote_matured(const struct model *m, const struct cert_uc *uc,
                           const struct cert_step *step, struct cert_condition *c)
{
    uint32_t id = CERT_V(step, REMOTE_BARRIER, remote_barrier_id);
    uint32_t mask = CERT_V(step, REMOTE_BARRIER, party_mask);
    c->came = uc->fresh && step->phase != 0 ? YES : UNKNOWN;
    for (unsigned column = 0; column < CERT_COLUMNS && step->phase != 0; column++) {
        enum known came = (mask >> column & 1u) == 0 ? YES : column_came(m, column, step);
        c->came = came < c->came ? came : c->came; /* UNKNOWN, then NO */
        c->missing |= came == YES ? 0 : 1u << column;
    }
    SAY(c, "remote barrier %u: columns of mask 0x%x did not come", id - 1, c->missing);
    c->since = either(c->since, cert_of(m)->early[id]);
}

/* ---- polls ---- */

static void poll_matched(const struct cert_uc *uc, const struct cert_step *step,
                         struct cert_condition *c)
{
    uint32_t mask, value = cert_poll_value(step, &mask);
    bool never = (value & ~mask) != 0;
    SAY(c, "0x%x under mask 0x%x to become 0x%x%s", CERT_V(step, POLL_32, address), mask, value,
        never ? ", unsatisfiable" : "");
    c->came = step->matched ? YES : step->polled || uc->fresh ? NO : UNKNOWN;
}

/* ---- all of them ---- */

struct cert_condition cert_condition(const struct model *m, const struct cert_at *at)
{
    const struct cert_step *step = &at->job->step;
    struct cert_condition c = {.came = UNKNOWN, .since = step->since};
    switch (step->info == NULL ? NOCAP_AIE_OPCODES : step->info->opcode) {
    case NOCAP_AIE_OPCODES: SAY(&c, "something unknown"); break;
    case NOCAP_AIE_WAIT_UC_DMA: waited_done(at->uc, at->job, &c); break;
    case NOCAP_AIE_UC_DMA_WRITE_DES_SYNC: sync_done(at->uc, step, &c); break;
    case NOCAP_AIE_WAIT_TCTS: tokens_came(m, at->uc, step, &c); break;
    case NOCAP_AIE_LOCAL_BARRIER: local_matured(at->page, step, &c); break;
    case NOCAP_AIE_REMOTE_BARRIER: remote_matured(m, at->uc, step, &c); break;
    case NOCAP_AIE_POLL_32:
    case NOCAP_AIE_MASK_POLL_32: poll_matched(at->uc, step, &c); break;
    case NOCAP_AIE_UC_DMA_WRITE_DES: SAY(&c, "room in the DMA queue"); break;
    default: SAY(&c, "%s to end", step->info->mnemonic); break;
    }
    return c;
}

enum known cert_came(const struct model *m, const struct cert_at *at)
{
    struct cert_condition c = cert_condition(m, at);
    return c.since != FAULT_NONE ? UNKNOWN : c.came;
}

fault_id cert_released(struct model *m, const struct cert_at *at)
{
    struct cert_step *step = &at->job->step;
    struct cert_condition c = cert_condition(m, at);
    bool local = cert_is(step, NOCAP_AIE_LOCAL_BARRIER), came = c.came == YES;
    bool before = step->released;
    step->released = true;
    if (before || c.came == UNKNOWN) {
        return FAULT_NONE;
    }
    if (!local && !cert_is(step, NOCAP_AIE_REMOTE_BARRIER)) {
        CERT_EXPECT_AFTER(m, at->uc, AIE_068, c.since, came, RELATED(step->at.index),
                          "a wait to end when its condition holds", CERT_PLACE " continues; %s",
                          CERT_AT(at), c.text);
        return m->fault;
    }
    CERT_EXPECT_AFTER(m, at->uc, AIE_065, c.since, came, RELATED(step->at.index),
                      "a barrier to release its jobs when all have arrived",
                      CERT_PLACE " continues; %s", CERT_AT(at), c.text);
    if (!came) {
        *(local ? &at->page->barriers[CERT_V(step, LOCAL_BARRIER, local_barrier_id)].since
                : &cert_of(m)->early[CERT_V(step, REMOTE_BARRIER, remote_barrier_id)]) = m->fault;
    }
    return m->fault;
}
