/* SPDX-License-Identifier: Apache-2.0 */
/* A host boots tiles and launches kernels on them. What it must have done before each step shows in
 * its own stores and loads alone; what others wrote, and what the tile shows of itself, counts
 * where it is observed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "replay/host/host_private.h"

static void written_release(struct written *w)
{
    for (unsigned s = 0; s < WRITTEN_SPANS; s++) {
        struct written_span *span = w->spans[s];
        for (uint32_t i = 0; span != NULL && i < WRITTEN_BYTES; i++) {
            span->before[i] |= span->since_release[i];
            span->since_release[i] = 0;
        }
    }
}

/* ---- reset ---- */

static void boot(struct host_tile *h, enum known running)
{
    h->running = running;
    h->done_pending = NO;
    h->ready = h->waited = false;
    h->looks = 0;
    h->go.index = h->done.index = NO_INDEX;
    h->go_since = h->held_since = h->message_since = h->texts_since = FAULT_NONE;
    h->slot = -1;
    h->slots_run = 0;
    h->message_known = false;
    h->rd_ptr = running == YES ? 0 : h->rd_ptr;
}

static void judge_release(struct model *m, struct tile *tile)
{
    const struct written *w = host_of(tile)->written;
    uint32_t word, target = 0;
    if (w == NULL) {
        return;
    }
    bool jump = written_when(w, NOCAP_L1_BOOT_JAL) != 0;
    bool known =
        jump && shadow_word(&tile->l1, NOCAP_L1_BOOT_JAL, &word) && nocap_boot_jump(word, &target);
    CHECK_ONCE(
        m, tile, RST_018, FAULT_NONE, jump && (!known || written_when(w, target) != 0), NO_REFS,
        "a jump at L1 address 0 and firmware where it leads, written before BRISC is released",
        jump ? "BRISC released with nothing written to 0x%x, where the jump at L1 address 0 leads"
             : "BRISC released with nothing written to L1 address 0x%x",
        target);
}

static void soft_reset(struct model *m, struct tile *tile, const struct access *a)
{
    struct host_tile *h = host_of(tile);
    uint32_t value;
    if (a->by != NOCAP_BY_HOST || !access_word(a, NOCAP_REG_SOFT_RESET_0, &value)) {
        boot(h, UNKNOWN);
        h->rd_ptr = -1;
        return;
    }
    bool run = (value & nocap_cores[NOCAP_PROCESSOR_BRISC].reset_mask) == 0;
    if (run && h->running != YES) {
        host_state_of(m)->waited_held = false;
        host_state_of(m)->held_since = FAULT_NONE;
        judge_release(m, tile);
        boot(h, YES);
        if (h->written != NULL) {
            written_release(h->written);
        }
    } else if (!run) {
        boot(h, NO);
    }
}

/* ---- stores ---- */

static void forget_signal(struct host_tile *h)
{
    h->signal = -1;
    h->done_pending = UNKNOWN;
    h->looks = 0;
    h->rd_ptr = -1;
}

/* A host may clear the go word and then store GO to its signal; but if a launch is under way, or it
 * looks for DONE before, it sees its own. */
static void judge_own_done(struct model *m, struct tile *tile)
{
    struct host_tile *h = host_of(tile);
    bool own = h->done.index != NO_INDEX;
    SEEING(m, tile->at, tile_signal_address(m, tile), 1,
           FOLLOWING(m, h->go_since,
                     CHECK_AT(m, tile, GO_002, !own, own ? h->done : now(m), NO_REFS,
                              "DONE stored by BRISC only",
                              "DONE stored by the host over signal 0x%02x", h->done_over)));
    h->go_since = own ? m->fault : h->go_since;
    h->done.index = NO_INDEX;
}

static void store_signal(struct model *m, struct tile *tile, const struct access *store,
                         uint8_t signal)
{
    struct host_tile *h = host_of(tile);
    if (signal == NOCAP_GO_GO) {
        host_judge_go(m, tile, store);
    } else if (signal != NOCAP_GO_DONE && h->rd_ptr != 0) {
        h->rd_ptr = -1; /* a request sets it to 0, if BRISC sees it */
    }
    if (signal != NOCAP_GO_DONE) {
        h->done.index = NO_INDEX;
    } else if (h->running == YES && h->signal > NOCAP_GO_DONE && !tile->sees_cores) {
        h->done = now(m);
        h->done_over = (uint8_t)h->signal;
        if (h->done_pending == YES) {
            judge_own_done(m, tile);
        }
    }
    h->signal = signal;
    h->looks = 0;
}

static void mark_written(struct model *m, const struct tile *tile, uint64_t addr, uint64_t size)
{
    struct written *w = host_of(tile)->written;
    const uint64_t end = addr + size < NOCAP_L1_SIZE ? addr + size : NOCAP_L1_SIZE;
    for (uint64_t g = addr / WRITTEN_GRAIN; w != NULL && g * WRITTEN_GRAIN < end; g++) {
        struct written_span **span = &w->spans[g * WRITTEN_GRAIN / WRITTEN_SPAN];
        if (*span == NULL && (*span = calloc(1, sizeof **span)) == NULL) {
            m->out_of_memory = true;
            return;
        }
        (*span)->since_release[g / 8 % WRITTEN_BYTES] |= (uint8_t)(1u << g % 8);
    }
}

static void remember(struct model *m, struct tile *tile, const struct access *a)
{
    struct host_tile *h = host_of(tile);
    if (a->addr >= SHADOW_SIZE && a->addr < NOCAP_L1_SIZE && a->by == NOCAP_BY_HOST) {
        struct image *latest = &h->images[(h->image_count + IMAGES - 1) % IMAGES];
        uint32_t addr = (uint32_t)a->addr, size = (uint32_t)a->size;
        if (latest->addr + latest->size == addr && size <= latest->piece) {
            latest->size += size;
        } else {
            h->images[h->image_count++ % IMAGES] = (struct image){addr, size, size};
        }
    }
    mark_written(m, tile, a->addr, a->size);
}

/* A core may fetch kernels itself. */
static void request(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    if (o->tile != NULL && e->op == NOCAP_OP_READ && (e->has & NOCAP_F_DADDR) != 0) {
        mark_written(m, o->tile, e->daddr, (e->has & NOCAP_F_SIZE) != 0 ? e->size : 1);
    }
}

static void store(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    struct host_tile *h = host_of(tile);
    const struct access *a = &o->access;
    const bool by_host = a->by == NOCAP_BY_HOST;
    if ((o->places & PLACE(SOFT_RESET)) != 0) {
        soft_reset(m, tile, a);
    }
    if (by_host && h->running == YES && h->done_pending == YES && !tile->sees_cores) {
        host_judge_intrusion(m, tile, a);
    }
    for (unsigned i = 0; (o->places & PLACE(LAUNCH)) != 0 && i < NOCAP_LAUNCH_SLOTS; i++) {
        bool hit = touches(a, nocap_launch_slot(m->layout, i), m->layout->launch_size);
        h->slots_written |= (uint8_t)(hit << i);
        h->slots_run &= (uint8_t) ~(hit << i);
        h->message_index = hit ? o->event->index : h->message_index;
        h->message_indexes[i] = hit ? o->event->index : h->message_indexes[i];
    }
    remember(m, tile, a);
    uint32_t at = tile_signal_address(m, tile);
    uint8_t signal;
    if ((o->places & PLACE(GO)) != 0 && touches(a, at, 1)) {
        bool known = by_host && access_byte(a, at, &signal);
        h->launched |= !known || signal == NOCAP_GO_GO;
        if (known) {
            store_signal(m, tile, a, signal);
        } else {
            forget_signal(h); /* others launch here, too */
        }
    }
}

/* ---- looks ---- */

static void look(struct model *m, struct tile *tile, uint8_t signal)
{
    struct host_tile *h = host_of(tile);
    struct host_state *s = host_state_of(m);
    h->signal = signal;
    if (signal == NOCAP_GO_DONE) {
        judge_own_done(m, tile);
        h->ready = true;
        h->done_pending = NO;
        h->done_index = m->event->index;
    }
    if (signal == NOCAP_GO_DONE || (signal == NOCAP_GO_GO && !host_holds(tile))) {
        h->looks = 0;
        return;
    }
    h->looks = sum_of(h->looks, (m->event->has & NOCAP_F_N) != 0 ? m->event->n : 1);
    if (host_holds(tile) && !s->waited_held) {
        CHECK_AFTER(m, tile, RST_019, h->held_since, h->looks < LOOKS, NO_REFS,
                    "BRISC released before the host waits for its firmware",
                    "%" PRIu64 " polls in a row of the go message (0x%02x) of a worker core whose "
                    "BRISC is held in reset",
                    h->looks, signal);
        if (h->looks >= LOOKS) {
            s->waited_held = true;
            h->held_since = s->held_since = m->fault;
        }
    }
    bool answers = signal == NOCAP_GO_RESET_READ_PTR || signal == NOCAP_GO_REPLAY_TRACE;
    if (h->running == YES && h->ready && h->done_pending == NO && !answers && !h->waited) {
        bool elsewhere = s->wrong_tile_index > h->message_index;
        CHECK_AFTER(
            m, tile, GO_026,
            since_or(elsewhere ? s->wrong_tile_since : FAULT_NONE, tile->launch.ignored_since),
            h->looks < LOOKS, RELATED(h->done_index), "GO stored before the host waits for DONE",
            "%" PRIu64
            " polls in a row of signal 0x%02x, and no GO since the worker core was last done",
            h->looks, signal);
        h->waited = h->looks >= LOOKS;
    }
}

/* The read pointer stands where the host's launches have brought it, or is still to move on; or
 * others launch here, too. */
static void look_at_rd_ptr(struct host_tile *h, uint32_t v)
{
    const uint32_t count = (uint32_t)h->rd_ptr;
    if (h->rd_ptr >= 0 && v != count && (v + 1) % NOCAP_LAUNCH_SLOTS != count) {
        h->rd_ptr = -1;
    }
}

static void load(struct model *m, const struct observation *o)
{
    uint32_t at = tile_signal_address(m, o->tile), v;
    uint8_t signal;
    if (access_word(&o->access, m->layout->rd_ptr, &v)) {
        look_at_rd_ptr(host_of(o->tile), v);
    }
    if (access_byte(&o->access, at, &signal)) {
        look(m, o->tile, signal);
    } else if (touches(&o->access, at, 1)) {
        forget_signal(host_of(o->tile));
    }
}

/* ---- the model ---- */

static void check(struct model *m, const struct observation *o)
{
    switch (o->kind) {
    case OBS_OUTSIDE_STORE: store(m, o); break;
    case OBS_HOST_LOAD: load(m, o); break;
    case OBS_CORE_STORE: mark_written(m, o->tile, o->access.addr, o->access.size); break;
    default: request(m, o); break;
    }
}

static bool init(struct model *m, const struct nocap_engine_options *options)
{
    (void)options;
    return (m->state[MODEL_HOST] = calloc(1, sizeof(struct host_state))) != NULL;
}

static void release(struct model *m)
{
    free(m->state[MODEL_HOST]);
}

static void tile_free(struct tile *tile)
{
    struct written *w = host_of(tile)->written;
    for (unsigned s = 0; w != NULL && s < WRITTEN_SPANS; s++) {
        free(w->spans[s]);
    }
    free(w);
    host_of(tile)->written = NULL;
}

static void forget(struct model *m, struct tile *tile)
{
    (void)m;
    tile_free(tile);
    boot(host_of(tile), UNKNOWN);
    forget_signal(host_of(tile));
}

static void tile_init(struct model *m, struct tile *tile, bool power_on)
{
    struct host_tile *h = host_of(tile);
    forget(m, tile);
    if (power_on) {
        boot(h, NO);
        h->written = calloc(1, sizeof *h->written);
        m->out_of_memory |= h->written == NULL;
    }
}

static uint32_t wants(const struct model *m)
{
    bool complete = m->header->complete == NOCAP_TRUE;
    return !m->knows_tiles ? 0
                           : OBS(OUTSIDE_STORE) | OBS(HOST_LOAD) |
                                 (complete ? OBS(CORE_STORE) | OBS(REQUEST) : 0);
}

const struct model_ops host_model = {
    .name = "host",
    .id = MODEL_HOST,
    .first_rule = GO_002, /* and on to GO-026: those before GO-021 are the launches', but this */
    .last_rule = GO_026,
    .more_first = RST_018,
    .more_last = RST_019,
    .uses = 1u << MODEL_LAUNCH,
    .tile_size = sizeof(struct host_tile),
    .wants = wants,
    .places = PLACE_MAILBOX | PLACE(L1) | PLACE(LOW) | PLACE(SOFT_RESET),
    .init = init,
    .free = release,
    .tile_init = tile_init,
    .tile_free = tile_free,
    .check = check,
    .tile_forget = forget,
};
