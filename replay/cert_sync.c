/* What instructions wait for: transfers, tokens, barriers, polled values. */
#include <stdio.h>
#include <string.h>

#include "formats/aie/operands.h"
#include "replay/cert_private.h"

/* Texts are made only for who wants them. */
#define TELL(text, size, ...)                                                                      \
    do {                                                                                           \
        if ((text) != NULL) {                                                                      \
            snprintf((text), (size), __VA_ARGS__);                                                 \
        }                                                                                          \
    } while (0)

/* ---- tokens ---- */

static struct cert_channel *channel(struct cert_uc *uc, uint32_t tile, uint32_t actor)
{
    for (uint32_t i = 0; i < uc->channel_count; i++) {
        if (uc->channels[i].tile == tile && uc->channels[i].actor == actor) {
            return &uc->channels[i];
        }
    }
    if (uc->channel_count == CERT_CHANNELS) {
        uc->channels_lost = true;
        return NULL;
    }
    uc->channels[uc->channel_count] = (struct cert_channel){.tile = tile, .actor = actor};
    return &uc->channels[uc->channel_count++];
}

void cert_token(struct cert_uc *uc, const struct nocap_event *e)
{
    struct cert_channel *c = channel(uc, (uint32_t)e->tile, (uint32_t)e->actor);
    if (c != NULL) {
        c->arrived++;
    }
}

void cert_consume(struct cert_uc *uc, const struct cert_step *step)
{
    struct cert_channel *c =
        channel(uc, CERT_V(step, WAIT_TCTS, tile_id), CERT_V(step, WAIT_TCTS, actor_id));
    uint64_t wanted = CERT_V(step, WAIT_TCTS, target_tcts);
    if (c != NULL) {
        c->consumed = c->consumed + wanted < c->arrived ? c->consumed + wanted : c->arrived;
    }
}

/* `known`: the value is; else the task may send as many tokens as there are. */
static void start_task(struct cert *c, uint32_t queue, bool known, uint32_t value)
{
    uint32_t i = 0;
    while (i < c->task_count && c->tasks[i].queue != queue) {
        i++;
    }
    if (i == CERT_CHANNELS) {
        return;
    }
    if (i == c->task_count) {
        c->tasks[c->task_count++] = (struct cert_tasks){.queue = queue};
    }
    uint32_t repeats = value >> NOCAP_AIE_TASK_REPEAT_SHIFT & NOCAP_AIE_TASK_REPEAT_MASK;
    c->tasks[i].tokens += !known                                ? UINT32_MAX
                          : (value & NOCAP_AIE_TASK_TOKEN) != 0 ? 1 + repeats
                                                                : 0;
}

void cert_tasks_note(struct cert *c, const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_DATA) == 0) {
        if (nocap_aie_is_task_queue((uint32_t)e->addr)) {
            start_task(c, (uint32_t)e->addr, (e->has & NOCAP_F_VALUE) != 0, (uint32_t)e->value);
        }
        return;
    }
    for (uint32_t i = 0; i + 4 <= e->data_size; i += 4) {
        if (nocap_aie_is_task_queue((uint32_t)e->addr + i)) {
            start_task(c, (uint32_t)e->addr + i, true, nocap_aie_u32(e->data + i));
        }
    }
}

/* Where the waits of a channel ask for more than the tasks that were seen can send. */
static void tell_excess(const struct cert *c, const struct cert_step *step, uint64_t asked,
                        char *text, size_t size)
{
    uint32_t queue;
    size_t used = strlen(text);
    if (!nocap_aie_task_queue(CERT_V(step, WAIT_TCTS, tile_id), CERT_V(step, WAIT_TCTS, actor_id),
                              &queue)) {
        return;
    }
    for (uint32_t i = 0; i < c->task_count; i++) {
        if (c->tasks[i].queue == queue && c->tasks[i].tokens < asked) {
            snprintf(text + used, size - used,
                     "; tasks for %llu in all were started, the waits ask for %llu",
                     (unsigned long long)c->tasks[i].tokens, (unsigned long long)asked);
        }
    }
}

static enum known tokens_came(const struct model *m, const struct cert_uc *uc,
                              const struct cert_step *step, char *text, size_t size)
{
    uint32_t tile = CERT_V(step, WAIT_TCTS, tile_id), actor = CERT_V(step, WAIT_TCTS, actor_id);
    uint64_t wanted = CERT_V(step, WAIT_TCTS, target_tcts), there = 0, consumed = 0;
    for (uint32_t i = 0; i < uc->channel_count; i++) {
        const struct cert_channel *c = &uc->channels[i];
        if (c->tile == tile && c->actor == actor) {
            there = c->arrived - c->consumed;
            consumed = c->consumed;
        }
    }
    TELL(text, size, "tile 0x%x actor %u: %llu of %llu tokens arrived", tile, actor,
         (unsigned long long)there, (unsigned long long)wanted);
    if (text != NULL && uc->fresh && there < wanted) {
        tell_excess(m->cert, step, consumed + wanted, text, size);
    }
    return !uc->fresh || uc->channels_lost ? UNKNOWN : there >= wanted ? YES : NO;
}

/* ---- transfers ---- */

static enum known transfer_done(const struct cert_chain *chain, uint32_t handle, char *text,
                                size_t size)
{
    if (chain == NULL) {
        TELL(text, size, "a transfer whose handle is not known");
        return UNKNOWN;
    }
    TELL(text, size, "transfer %u of index %llu is %s", handle, (unsigned long long)chain->at.index,
         chain->done ? "done" : "not done");
    return chain->done ? YES : NO;
}

static enum known waited_done(const struct cert_uc *uc, const struct cert_job *job, char *text,
                              size_t size)
{
    uint32_t handle;
    const struct cert_chain *chain = NULL;
    if (cert_register(uc, job, CERT_V(&job->step, WAIT_UC_DMA, wait_handle), &handle)) {
        chain = cert_chain_by_handle(uc, handle);
    }
    return transfer_done(chain, chain == NULL ? 0 : handle, text, size);
}

static enum known sync_done(const struct cert_uc *uc, const struct cert_step *step, char *text,
                            size_t size)
{
    const struct cert_chain *chain = &uc->chains[step->chain % CERT_CHAINS];
    bool sure = step->chain != 0 && chain->number == step->chain && chain->has_handle;
    return transfer_done(sure ? chain : NULL, sure ? chain->handle : 0, text, size);
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
    b->doubtful |= step->doubtful;
    if (b->arrived == 0) {
        b->participants = participants;
    }
    b->doubtful |= participants != b->participants || participants == 0;
    /* One that was let go too early comes again: who is who is not certain any more. */
    b->doubtful |= job->last_barrier == id && job->last_phase == b->phase;
    if (b->doubtful) {
        return;
    }
    step->phase = b->phase;
    job->last_barrier = id;
    job->last_phase = b->phase;
    if (++b->arrived == b->participants) {
        b->arrived = 0;
        b->phase++;
    }
}

void cert_arrive(struct cert_uc *uc, struct cert_page *page, struct cert_job *job)
{
    struct cert_step *step = &job->step;
    if (step->info->opcode == NOCAP_AIE_LOCAL_BARRIER) {
        arrive_local(page, job);
    } else {
        uint32_t id = CERT_V(step, REMOTE_BARRIER, remote_barrier_id);
        step->phase = ++uc->arrivals[id];
    }
}

static enum known local_matured(const struct cert_page *page, const struct cert_step *step,
                                char *text, size_t size)
{
    uint32_t id = CERT_V(step, LOCAL_BARRIER, local_barrier_id);
    if (id >= NOCAP_AIE_LOCAL_BARRIERS || step->phase == 0 || page->barriers[id].doubtful) {
        TELL(text, size, "local barrier %u", id);
        return UNKNOWN;
    }
    const struct cert_barrier *b = &page->barriers[id];
    bool matured = step->phase < b->phase;
    TELL(text, size, "local barrier %u: %u of %u jobs arrived", id,
         matured ? b->participants : b->arrived, b->participants);
    return matured ? YES : NO;
}

enum known cert_column_came(const struct model *m, unsigned column, const struct cert_step *step)
{
    const struct cert_uc *uc = m->cert->ucs[column];
    const struct nocap_aie_image *image = m->cert->code == NULL ? NULL : m->cert->code[column];
    uint32_t id = CERT_V(step, REMOTE_BARRIER, remote_barrier_id);
    if (uc != NULL) {
        return uc->arrivals[id] >= step->phase ? YES : uc->fresh ? NO : UNKNOWN;
    }
    /* It has done nothing yet. That means something only if it has code. */
    bool here = image != NULL && nocap_aie_image_page(image, 0, column, 0) != NULL;
    return here && m->header->complete == NOCAP_TRUE && !m->cert->lost ? NO : UNKNOWN;
}

static enum known remote_matured(const struct model *m, const struct cert_uc *uc,
                                 const struct cert_step *step, char *text, size_t size)
{
    uint32_t mask = CERT_V(step, REMOTE_BARRIER, party_mask), missing = 0;
    bool sure = uc->fresh && step->phase != 0 &&
                !m->cert->doubtful[CERT_V(step, REMOTE_BARRIER, remote_barrier_id)];
    enum known all = sure ? YES : UNKNOWN;
    for (unsigned column = 0; column < CERT_COLUMNS && step->phase != 0; column++) {
        enum known came = (mask >> column & 1u) == 0 ? YES : cert_column_came(m, column, step);
        all = came == NO && all != UNKNOWN ? NO : came == UNKNOWN ? UNKNOWN : all;
        missing |= came == YES ? 0 : 1u << column;
    }
    TELL(text, size, "remote barrier %u: columns of mask 0x%x did not come",
         CERT_V(step, REMOTE_BARRIER, remote_barrier_id) - 1, missing);
    return all;
}

/* ---- polls ---- */

static enum known poll_matched(const struct cert_uc *uc, const struct cert_step *step, char *text,
                               size_t size)
{
    bool masked = step->info->opcode == NOCAP_AIE_MASK_POLL_32;
    uint32_t mask = masked ? CERT_V(step, MASK_POLL_32, mask) : UINT32_MAX;
    uint32_t value = masked ? CERT_V(step, MASK_POLL_32, value) : CERT_V(step, POLL_32, value);
    bool never = (value & ~mask) != 0;
    TELL(text, size, "0x%x under mask 0x%x to become 0x%x%s", CERT_V(step, POLL_32, address), mask,
         value, never ? ", which can never be" : "");
    return step->doubtful              ? UNKNOWN
           : step->matched             ? YES
           : step->polled || uc->fresh ? NO
                                       : UNKNOWN;
}

/* ---- all of them ---- */

enum known cert_condition(const struct model *m, const struct cert_uc *uc,
                          const struct cert_page *page, const struct cert_job *job, char *text,
                          size_t size)
{
    const struct cert_step *step = &job->step;
    TELL(text, size, "something unknown");
    if (step->info == NULL || step->doubtful) {
        return UNKNOWN;
    }
    switch (step->info->opcode) {
    case NOCAP_AIE_WAIT_UC_DMA: return waited_done(uc, job, text, size);
    case NOCAP_AIE_UC_DMA_WRITE_DES_SYNC: return sync_done(uc, step, text, size);
    case NOCAP_AIE_WAIT_TCTS: return tokens_came(m, uc, step, text, size);
    case NOCAP_AIE_LOCAL_BARRIER: return local_matured(page, step, text, size);
    case NOCAP_AIE_REMOTE_BARRIER: return remote_matured(m, uc, step, text, size);
    case NOCAP_AIE_POLL_32:
    case NOCAP_AIE_MASK_POLL_32: return poll_matched(uc, step, text, size);
    case NOCAP_AIE_UC_DMA_WRITE_DES: TELL(text, size, "room in the DMA queue"); return UNKNOWN;
    default: TELL(text, size, "%s to end", step->info->mnemonic); return UNKNOWN;
    }
}

/* Of a barrier that let somebody go too early nothing more is certain. */
static void doubt_barrier(struct model *m, struct cert_page *page, const struct cert_step *step)
{
    if (cert_is(step, NOCAP_AIE_REMOTE_BARRIER)) {
        m->cert->doubtful[CERT_V(step, REMOTE_BARRIER, remote_barrier_id)] = true;
    } else if (cert_is(step, NOCAP_AIE_LOCAL_BARRIER)) {
        page->barriers[CERT_V(step, LOCAL_BARRIER, local_barrier_id)].doubtful = true;
    }
}

void cert_released(struct model *m, struct cert_uc *uc, struct cert_page *page,
                   struct cert_job *job)
{
    struct cert_step *step = &job->step;
    char text[NOCAP_CERT_TEXT] = "";
    enum known came = step->judged ? UNKNOWN : cert_condition(m, uc, page, job, NULL, 0);
    step->judged = true;
    if (came == UNKNOWN) {
        return;
    }
    if (came == NO) {
        cert_condition(m, uc, page, job, text, sizeof text);
        doubt_barrier(m, page, step);
    }
    if (cert_is(step, NOCAP_AIE_LOCAL_BARRIER) || cert_is(step, NOCAP_AIE_REMOTE_BARRIER)) {
        CERT_EXPECT(m, uc, AIE_065, came == YES, RELATED(step->at.index),
                    "a barrier to let its jobs go when all have come", CERT_PLACE " goes on; %s",
                    CERT_AT(page, job), text);
    } else {
        CERT_EXPECT(m, uc, AIE_068, came == YES, RELATED(step->at.index),
                    "a wait to end when its condition holds", CERT_PLACE " goes on; %s",
                    CERT_AT(page, job), text);
    }
}
