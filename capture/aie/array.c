/* SPDX-License-Identifier: Apache-2.0 */
/* What lies outside the control processors: registers as a memory, channels that send tokens, the
 * uC-DMA. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/map.h"
#include "capture/aie/machine.h"
#include "formats/aie/operands.h"

/* ---- memory ---- */

void run_set(struct machine *r, uint32_t address, uint32_t value)
{
    uint64_t key = address;
    struct run_word *word = MAP_GET(&r->memory, &key, UINT32_MAX);
    if (word == NULL) {
        r->k.status = nocap_fail(r->k.err, NOCAP_E_MEMORY, "out of memory");
        return;
    }
    word->value = value;
}

uint32_t run_peek(const struct machine *r, uint32_t address)
{
    uint64_t key = address;
    const struct run_word *word = MAP_FIND(&r->memory, &key);
    return word != NULL ? word->value : 0;
}

static struct nocap_event *uc_access(struct machine *r, const struct run_uc *uc,
                                     enum nocap_kind kind, uint64_t address, uint32_t size)
{
    struct nocap_event *e =
        sim_access(&r->k, kind, (enum nocap_agent)(NOCAP_BY_UC0 + uc->index), address, size);
    sim_set_space(e, NOCAP_SPACE_AIE);
    return e;
}

static void emit_word(struct machine *r, const struct run_uc *uc, enum nocap_kind kind,
                      uint32_t address, uint32_t value)
{
    struct nocap_event *e = uc_access(r, uc, kind, address, 4);
    sim_set_value(e, value);
    run_emit(r, e);
}

uint32_t run_load(struct machine *r, const struct run_uc *uc, uint32_t address)
{
    uint32_t value = run_peek(r, address);
    emit_word(r, uc, NOCAP_EV_READ, address, value);
    return value;
}

/* A word in a task queue starts a task, which sends a token when it is over. */
static void take_effect(struct machine *r, uint32_t address, uint32_t value)
{
    run_set(r, address, value);
    for (size_t i = 0; i < r->channel_count; i++) {
        struct run_channel *c = &r->channels[i];
        if (c->has_queue && c->queue == address && (value & NOCAP_AIE_TASK_TOKEN) != 0) {
            c->started = true;
            c->owed += (value >> NOCAP_AIE_TASK_REPEAT_SHIFT & NOCAP_AIE_TASK_REPEAT_MASK) + 1;
        }
    }
}

void run_store(struct machine *r, const struct run_uc *uc, uint32_t address, uint32_t value)
{
    emit_word(r, uc, NOCAP_EV_WRITE, address, value);
    take_effect(r, address, value);
}

/* ---- tokens ---- */

static bool add_channel(struct machine *r, uint8_t uc, uint32_t tile, uint32_t actor)
{
    for (size_t i = 0; i < r->channel_count; i++) {
        const struct run_channel *c = &r->channels[i];
        if (c->uc == uc && c->tile == tile && c->actor == actor) {
            return true;
        }
    }
    struct run_channel *c = LIST_NEXT(r->channels, r->channel_count);
    if (c == NULL) {
        return false;
    }
    r->channel_count++;
    *c = (struct run_channel){.tile = tile, .actor = actor, .uc = uc};
    c->has_queue = nocap_aie_task_queue(r->image->chip, tile, actor, &c->queue);
    return true;
}

/* Tokens are routed to the uC that waits for them. */
bool run_find_channels(struct machine *r)
{
    struct nocap_aie_walker walker;
    for (size_t i = 0; i < r->image->page_count; i++) {
        const struct nocap_aie_page *page = &r->image->pages[i];
        nocap_aie_walk_begin(&walker, page, r->options->dialect);
        while (nocap_aie_walk_next(&walker) == NOCAP_AIE_WALK_INSN) {
            if (walker.insn.info->opcode == NOCAP_AIE_WAIT_TCTS && page->uc < RUN_UCS &&
                !add_channel(r, (uint8_t)page->uc, walker.insn.value[NOCAP_AIE_WAIT_TCTS_tile_id],
                             walker.insn.value[NOCAP_AIE_WAIT_TCTS_actor_id])) {
                return false;
            }
        }
    }
    return true;
}

struct run_channel *run_channel(struct machine *r, const struct run_uc *uc, uint32_t tile,
                                uint32_t actor)
{
    for (size_t i = 0; i < r->channel_count; i++) {
        struct run_channel *c = &r->channels[i];
        if (c->uc == uc->index && c->tile == tile && c->actor == actor) {
            return c;
        }
    }
    return NULL;
}

void run_token(struct machine *r, struct run_channel *channel)
{
    struct nocap_event e = {.kind = NOCAP_EV_CERT,
                            .op = NOCAP_OP_TCT,
                            .uc = channel->uc,
                            .tile = channel->tile,
                            .actor = channel->actor,
                            .has = NOCAP_F_UC | NOCAP_F_TILE | NOCAP_F_ACTOR};
    channel->there++;
    run_emit(r, &e);
}

/* ---- uC-DMA ---- */

bool run_enqueue(struct run_uc *uc, uint32_t pointer, uint32_t *handle)
{
    for (unsigned i = 0; i < RUN_QUEUE; i++) {
        if (!uc->queue[i].active) {
            *handle = uc->next_handle++;
            uc->queue[i] = (struct run_transfer){.active = true,
                                                 .handle = *handle,
                                                 .bd = pointer + NOCAP_AIE_HEADER_SIZE,
                                                 .frame = (uint8_t)(uc->depth - 1)};
            return true;
        }
    }
    return false;
}

bool run_has_room(const struct run_uc *uc)
{
    for (unsigned i = 0; i < RUN_QUEUE; i++) {
        if (!uc->queue[i].active) {
            return true;
        }
    }
    return false;
}

bool run_transferring(const struct run_uc *uc, uint32_t handle)
{
    for (unsigned i = 0; i < RUN_QUEUE; i++) {
        if (uc->queue[i].active && uc->queue[i].handle == handle) {
            return true;
        }
    }
    return false;
}

static void write_piece(struct machine *r, const struct run_uc *uc, uint64_t remote,
                        const uint8_t *bytes, uint32_t size)
{
    struct nocap_event *e = uc_access(r, uc, NOCAP_EV_WRITE, remote, size);
    sim_set_data(e, bytes, size);
    run_emit(r, e);
    for (uint32_t i = 0; i + 4 <= size; i += 4) {
        take_effect(r, (uint32_t)remote + i, nocap_aie_u32(bytes + i));
    }
}

static void finish(struct machine *r, const struct run_uc *uc, struct run_transfer *t)
{
    struct nocap_event e = {.kind = NOCAP_EV_CERT,
                            .op = NOCAP_OP_DMA_DONE,
                            .uc = uc->index,
                            .handle = t->handle,
                            .has = NOCAP_F_UC | NOCAP_F_HANDLE};
    t->active = false;
    run_emit(r, &e);
}

/* The next piece of a transfer: long ones go in two. A descriptor that points out of its page ends
 * the chain. */
void run_transfer(struct machine *r, struct run_uc *uc, struct run_transfer *t)
{
    const uint8_t *page = uc->frames[t->frame]->bytes;
    struct nocap_aie_bd bd = {.next = false};
    if (t->bd > NOCAP_AIE_PAGE_SIZE - NOCAP_AIE_BD_SIZE) {
        finish(r, uc, t);
        return;
    }
    nocap_aie_bd_decode(page + t->bd, &bd);
    uint32_t local = t->bd + bd.local, size = bd.length * 4;
    if (local > NOCAP_AIE_PAGE_SIZE || size > NOCAP_AIE_PAGE_SIZE - local) {
        finish(r, uc, t);
        return;
    }
    uint32_t left = size - t->bytes;
    uint32_t piece = left > 8 && run_below(r, 4) == 0 ? left / 8 * 4 : left;
    if (piece != 0) {
        write_piece(r, uc, bd.remote + t->bytes, page + local + t->bytes, piece);
    }
    t->bytes += piece;
    if (t->bytes == size) {
        t->bytes = 0;
        t->bd += NOCAP_AIE_BD_SIZE;
        if (!bd.next) {
            finish(r, uc, t);
        }
    }
}
