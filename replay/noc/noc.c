/* SPDX-License-Identifier: Apache-2.0 */
/* The network interfaces of a tile: what cores do to their registers. Rule NOC-031. */
#include "replay/noc/noc_private.h"

#include <stdlib.h>
#include <string.h>

struct noc_tile *noc_of(struct model *m, struct tile *tile)
{
    struct noc_part *part = noc_part(tile);
    if (part->noc == NULL) {
        part->noc = calloc(1, sizeof *part->noc);
        m->out_of_memory |= part->noc == NULL;
        m->due |= part->noc != NULL ? 1u << MODEL_NOC : 0;
    }
    return part->noc;
}

static void drop(struct tile *tile)
{
    free(noc_part(tile)->noc);
    free(noc_part(tile)->landings);
    free(noc_part(tile)->memory);
    *noc_part(tile) = (struct noc_part){0};
    memset(tile->noc, 0, sizeof tile->noc);
}

static void forget_tile(struct model *m, struct tile *tile)
{
    (void)m;
    drop(tile);
}

bool noc_sees_loads(const struct model *m, const struct tile *tile)
{
    const uint32_t both = NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO;
    return tile->in_scope && (m->header->observes & both) == both;
}

static void observe_request(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    const struct nocap_event *e = o->event;
    struct noc_tile *t = noc_of(m, tile);
    if (t == NULL || e->noc >= NOC_NOCS) {
        return;
    }
    struct noc_interface *n = &t->noc[e->noc];
    if (e->phase == NOCAP_PHASE_ISSUE || (e->has & NOCAP_F_ID) == 0) {
        noc_wait_ends(t, e->by);
    }
    if (e->phase != NOCAP_PHASE_ISSUE) {
        noc_buffers_left(n, e);
        noc_phase(m, tile, n, e);
        noc_landing_done(m, tile, e);
        return;
    }
    if (m->knows_tiles) {
        noc_judge_request(m, o);
        noc_restate(m, tile, n, e);
        noc_landing_request(m, o);
    }
    noc_take(m, tile, e);
    noc_count_pending(m, tile, e);
}

/* ---- stores and loads of the registers ---- */

static void other_store(struct noc_interface *n, uint32_t offset, uint32_t v)
{
    if (offset == NOCAP_NIU_NIU_CFG_0) {
        n->fifo = (v & NOCAP_NIU_CFG_FIFO) != 0;
    } else if (offset == NOCAP_NIU_CLEAR_OUTSTANDING_REQ_CNT) {
        for (unsigned id = 0; id < NOCAP_TRIDS; id++) {
            n->outstanding[id] = (v >> id & 1) != 0 ? 0 : n->outstanding[id];
        }
    }
}

static void judge_read_back(struct model *m, struct tile *tile, struct noc_interface *n)
{
    const struct noc_buffer *unread = NULL;
    for (unsigned i = 0; i < NOCAP_NIU_BUFFERS; i++) {
        struct noc_buffer *b = &n->buffers[i];
        if ((n->unread >> i & 1) != 0 && b->request.by == m->event->by) {
            unread = b;
        }
        b->use = NOC_FREE; /* whoever waits for an end knows it left */
    }
    n->unread = 0;
    if (n->programmed) {
        m->harmless = !noc_sees_loads(m, tile); /* it may have been read back unseen */
        CHECK(m, tile, NOC_031, unread == NULL, RELATED(unread->sent),
              "CMD_CTRL read back between a request and the first poll of a counter", "%s",
              "counter polled before CMD_CTRL was read back after a request");
        m->harmless = false;
    }
}

/* A poll of a counter: what a core does while it waits. */
static void poll(struct model *m, struct tile *tile, unsigned noc, unsigned counter,
                 const uint32_t *value)
{
    struct noc_interface *n = &noc_part(tile)->noc->noc[noc];
    judge_read_back(m, tile, n);
    noc_tells(m, &n->polled);
    enum noc_poll_result result = noc_poll(m, tile, noc, counter, value);
    if (result != NOC_POLL_OPEN) {
        noc_counter_load(m, tile, noc, counter, result == NOC_POLL_OVER);
    }
}

/* What firmware does between kernels is far enough from the last request. */
static void mailbox_store(struct tile *tile, unsigned by)
{
    for (unsigned noc = 0; noc < NOC_NOCS; noc++) {
        struct noc_interface *n = &noc_part(tile)->noc->noc[noc];
        for (unsigned left = n->unread; left != 0; left &= left - 1) {
            const unsigned buffer = (unsigned)__builtin_ctz(left);
            if (n->buffers[buffer].request.by == by) {
                n->unread &= (uint8_t) ~(1u << buffer);
            }
        }
    }
}

/* An access of a core to registers of the interfaces. */
static __attribute__((noinline)) void register_access(struct model *m, struct tile *tile,
                                                      const struct access *a)
{
    unsigned noc = a->addr >= NOCAP_BASE_NIU1;
    uint32_t offset = (uint32_t)(a->addr - nocap_niu_base(noc)), v;
    unsigned buffer = offset / NOCAP_NIU_BUFFER_STRIDE;
    unsigned counter = (offset - NOCAP_NIU_COUNTER_BASE) / 4;
    uint32_t reg = offset % NOCAP_NIU_BUFFER_STRIDE;
    const uint32_t *value = access_word(a, a->addr, &v) ? &v : NULL;
    bool polls = !a->store && offset >= NOCAP_NIU_COUNTER_BASE && counter < NOCAP_COUNTER_COUNT;
    if (noc_of(m, tile) == NULL) {
        return;
    }
    if (!polls) {
        noc_wait_ends(noc_part(tile)->noc, a->by);
    }
    if (buffer >= NOCAP_NIU_BUFFERS) {
        return;
    }
    struct noc_interface *n = &noc_part(tile)->noc->noc[noc];
    if (polls) {
        poll(m, tile, noc, counter, value);
    } else if (!a->store && reg == NOCAP_NIU_CMD_CTRL) {
        noc_buffer_load(n, buffer, value);
    } else if (a->store) {
        noc_register_store(m, tile, a);
        if (reg <= NOCAP_NIU_CMD_CTRL) {
            noc_buffer_store(m, tile, noc, buffer, reg, value);
        } else if (value != NULL) {
            other_store(n, offset, v);
        }
    }
}

/* ---- the model ---- */

static bool init(struct model *m, const struct nocap_engine_options *options)
{
    (void)options;
    m->state[MODEL_NOC] = calloc(1, sizeof(struct noc_state));
    return m->state[MODEL_NOC] != NULL;
}

static void release(struct model *m)
{
    if (noc_state(m) != NULL) {
        noc_doors_forget(m);
        free(noc_state(m));
    }
}

static uint32_t wants(const struct model *m)
{
    const uint32_t requests = OBS(REQUEST) | OBS(PHASE) | OBS(EXIT) | OBS(NOTE);
    const uint32_t accesses = OBS(CORE_STORE) | OBS(CORE_LOAD) | OBS(OUTSIDE_STORE) |
                              OBS(RESTATED) | OBS(HOST_LOAD) | OBS(ELSEWHERE);
    return m->knows_tiles                           ? requests | accesses
           : m->header->arch == NOCAP_ARCH_WORMHOLE ? requests
                                                    : 0;
}

static void check(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    bool host = o->lead && (o->kind == OBS_OUTSIDE_STORE || o->kind == OBS_HOST_LOAD ||
                            o->kind == OBS_ELSEWHERE);
    if (host && e->by == NOCAP_BY_HOST) {
        noc_host_access(m, e);
        if (o->kind == OBS_OUTSIDE_STORE && (o->places & PLACE(NIU)) != 0) {
            noc_register_store(m, o->tile, &o->access);
        }
    }
    if (e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_DMA && e->space == NOCAP_SPACE_SYSMEM) {
        noc_memory_landing(m, e);
    }
    if (o->tile == NULL) {
        return;
    }
    switch (o->kind) {
    case OBS_OUTSIDE_STORE:
    case OBS_RESTATED:
        if (e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_NOC) {
            noc_landing(m, o);
        }
        break;
    case OBS_REQUEST:
    case OBS_PHASE: observe_request(m, o); break;
    case OBS_EXIT: noc_kernel_exit(m, o->tile, e->by); break;
    case OBS_NOTE: noc_wait_begins(m, o->tile, e); break;
    default: break;
    }
}

static __attribute__((noinline)) void memory_access(struct model *m, const struct observation *o)
{
    noc_memory_access(m, o->tile, &o->access);
    if (o->kind == OBS_CORE_STORE && (o->places & (PLACE(LOW) | PLACE_MAILBOX)) != 0) {
        mailbox_store(o->tile, o->access.by);
    }
}

static void check_core(struct model *m, const struct observation *o)
{
    struct noc_tile *n = noc_part(o->tile)->noc;
    if ((o->places & PLACE(NIU)) != 0) {
        register_access(m, o->tile, &o->access);
    } else if (n != NULL) {
        noc_wait_ends(n, o->access.by);
        if (o->region->region == NOCAP_REGION_L1) {
            memory_access(m, o);
        }
    }
}

static void apply(struct model *m, const struct observation *o)
{
    noc_publish(m, o->tile, 0);
    noc_publish(m, o->tile, 1);
}

const struct model_ops noc_model = {
    .name = "noc",
    .id = MODEL_NOC,
    .tile_size = sizeof(struct noc_part),
    .first_rule = NOC_001,
    .last_rule = NOC_040,
    .more_first = NOC_046,
    .more_last = NOC_047,
    .uses = 1u << MODEL_LAUNCH | 1u << MODEL_CQ | 1u << MODEL_MAP,
    .wants = wants,
    .places = PLACE_ALL,
    .init = init,
    .free = release,
    .tile_free = drop,
    .check = check,
    .check_of = {[OBS_CORE_STORE] = check_core, [OBS_CORE_LOAD] = check_core},
    .apply = apply,
    .forget = noc_doors_forget,
    .tile_forget = forget_tile,
    .tile_waits = noc_tile_waits,
};
