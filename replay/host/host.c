/* SPDX-License-Identifier: Apache-2.0 */
/* A host boots tiles and launches kernels on them. What it must have done before each step shows in
 * its own stores and loads alone. Where the cores' stores are observed the model of launches knows
 * more, and this one keeps still. */
#include "replay/host/host.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "replay/core/tile.h"
#include "replay/host/written.h"

enum { LOOKS = 16, IMAGES = 16 };

/* One write of the host behind the mailbox. */
struct image {
    uint32_t addr, size;
};

struct host_tile {
    enum known running; /* BRISC is out of reset */
    enum known owed;    /* GO was stored, and no load of the host has shown DONE since */
    bool ready;         /* a load has shown DONE since BRISC's release */
    int signal;         /* of the go word, as last stored or loaded; -1: not known */
    int rd_ptr;         /* -1: not known */
    struct event_ref go;
    struct event_ref done; /* which the host stored itself; index NO_INDEX: it did not */
    uint8_t done_over;     /* the signal that stood there */
    fault_id go_since;     /* what is known of the launch since */
    fault_id held_since;   /* that it is in reset, and should not be, is known since */
    fault_id texts_since;  /* what lacks of the kernels is known to lack since */
    int slot;              /* that the launch reads; -1: not known */
    bool message_known;
    struct nocap_launch message;
    uint8_t slots_written;       /* since power-on, by slot */
    uint64_t message_index;      /* of the latest store to one */
    uint64_t looks;              /* in a row that showed neither DONE nor GO */
    bool waited;                 /* GO-026 was reported */
    struct image images[IMAGES]; /* the latest */
    uint32_t image_count;
    struct written *written; /* NULL: the trace does not begin at power-on */
};

/* Of the whole. */
struct host_state {
    bool waited_held;    /* RST-019 was reported since BRISC was last released somewhere */
    fault_id held_since; /* so is a tile then, for the same reason */
    struct {
        uint64_t turn; /* of the event of which the rule was reported */
        fault_id fault;
    } reported[NOCAP_RULE_COUNT];
};

static struct host_tile *part_of(const struct tile *tile)
{
    return tile->part[MODEL_HOST];
}

static bool is_complete(const struct tile *tile)
{
    return part_of(tile)->written != NULL;
}

/* A multicast is one act: its rule is reported once, at the first tile that shows it. */
static bool already_reported(struct model *m, enum nocap_rule rule)
{
    const struct host_state *s = m->state[MODEL_HOST];
    if (s->reported[rule].turn != m->turn) {
        return false;
    }
    m->fault = s->reported[rule].fault;
    return true;
}

static void note_reported(struct model *m, enum nocap_rule rule)
{
    struct host_state *s = m->state[MODEL_HOST];
    s->reported[rule].turn = m->turn;
    s->reported[rule].fault = m->fault;
}

/* As CHECK_AFTER, for what one store makes wrong at several tiles. */
#define CHECK_ONCE(m, tile, RULE, since, condition, ...)                                           \
    do {                                                                                           \
        bool right_ = (condition);                                                                 \
        if (right_) {                                                                              \
            CHECK_AFTER(m, tile, RULE, since, true, __VA_ARGS__);                                  \
        } else if (asked_for(m, tile) || !already_reported(m, RULE)) {                             \
            CHECK_AFTER(m, tile, RULE, since, false, __VA_ARGS__);                                 \
            note_reported(m, RULE);                                                                \
        }                                                                                          \
    } while (0)

/* ---- reset ---- */

static void boot(struct host_tile *h, enum known running)
{
    h->running = running;
    h->owed = NO;
    h->ready = h->waited = false;
    h->looks = 0;
    h->go.index = h->done.index = NO_INDEX;
    h->go_since = h->held_since = h->texts_since = FAULT_NONE;
    h->slot = -1;
    h->message_known = false;
    h->rd_ptr = running == YES ? 0 : h->rd_ptr;
}

static bool was_written(const struct written *w, uint32_t addr)
{
    return written_at(w->since_release, addr) || written_at(w->before, addr);
}

static void judge_release(struct model *m, struct tile *tile)
{
    const struct written *w = part_of(tile)->written;
    uint32_t word, target = 0;
    if (w == NULL) {
        return;
    }
    bool jump = was_written(w, NOCAP_L1_BOOT_JAL);
    bool known =
        jump && shadow_word(&tile->l1, NOCAP_L1_BOOT_JAL, &word) && nocap_boot_jump(word, &target);
    CHECK_ONCE(
        m, tile, RST_018, FAULT_NONE, jump && (!known || was_written(w, target)), NO_REFS,
        "a jump at L1 address 0 and firmware where it leads, written before BRISC is released",
        jump ? "no agent has written to 0x%x, where the jump at address 0 leads"
             : "no agent has written to L1 address 0x%x",
        target);
}

static void soft_reset(struct model *m, struct tile *tile, const struct access *a)
{
    struct host_tile *h = part_of(tile);
    uint32_t value;
    if (!access_word(a, NOCAP_REG_SOFT_RESET_0, &value)) {
        boot(h, UNKNOWN);
        h->rd_ptr = -1;
        return;
    }
    bool run = (value & nocap_cores[NOCAP_PROCESSOR_BRISC].reset_mask) == 0;
    if (run && h->running != YES) {
        struct host_state *s = m->state[MODEL_HOST];
        s->waited_held = false;
        s->held_since = FAULT_NONE;
        judge_release(m, tile);
        boot(h, YES);
        if (h->written != NULL) {
            written_release(h->written);
        }
    } else if (!run && h->running != NO) {
        boot(h, NO);
    }
}

/* ---- launches ---- */

/* Where more is observed than what a host does, and still not what the cores store, messages and
 * kernels may be those of a dispatcher that is not. */
static bool hides_dispatcher(const struct model *m)
{
    const uint32_t host =
        NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM | NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_SAMPLED;
    return (m->header->observes & ~host) != 0;
}

/* The initial contents of local memory lie there while firmware boots: no kernel. */
static bool has_text(const struct written *w, const struct nocap_launch *message, uint32_t entry)
{
    uint32_t base = message->kernel_config_base[0];
    bool scratch = entry >= base && entry - base < NOCAP_BANK_TABLE_FROM_KERNEL_CONFIG;
    return written_at(w->since_release, entry) || (!scratch && written_at(w->before, entry));
}

static void judge_texts(struct model *m, struct tile *tile)
{
    struct host_tile *h = part_of(tile);
    uint32_t entry = 0;
    unsigned lacking = CORES;
    for (unsigned p = CORES; p-- > 0;) {
        uint32_t at = nocap_kernel_entry(&h->message, (enum nocap_processor)p);
        if (nocap_launch_starts(&h->message, p) && !has_text(h->written, &h->message, at)) {
            lacking = p;
            entry = at;
        }
    }
    fault_id since = h->go_since != FAULT_NONE ? h->go_since : h->texts_since;
    CHECK_ONCE(m, tile, GO_024, since, lacking == CORES, RELATED(h->message_index),
               "the kernels of all enabled processors in L1 when GO is stored",
               "no agent has written to 0x%x, where the kernel of %s begins", entry,
               lacking < CORES ? nocap_agent_name(nocap_cores[lacking].agent) : "");
    h->texts_since = lacking == CORES ? FAULT_NONE : m->fault;
    h->go_since = lacking == CORES ? h->go_since : m->fault;
}

/* The message that BRISC will read, in the state of L1 before this store, which may bring it. */
static void take_message(struct model *m, struct tile *tile, const struct access *store)
{
    struct host_tile *h = part_of(tile);
    uint8_t bytes[NOCAP_LAUNCH_SIZE_MAX];
    uint32_t at = nocap_launch_slot(m->layout, h->rd_ptr < 0 ? 0 : (unsigned)h->rd_ptr);
    h->slot = h->rd_ptr;
    h->message_known = h->slot >= 0 && !touches(store, at, m->layout->launch_size) &&
                       shadow_copy(&tile->l1, at, m->layout->launch_size, bytes);
    if (h->message_known) {
        nocap_launch_decode(m->layout, bytes, &h->message);
    }
}

static void judge_go(struct model *m, struct tile *tile, const struct access *store)
{
    struct host_tile *h = part_of(tile);
    struct host_state *s = m->state[MODEL_HOST];
    bool complete = is_complete(tile);
    if (complete && h->running != UNKNOWN) {
        fault_id since = asked_for(m, tile) ? h->held_since : s->held_since;
        CHECK_ONCE(m, tile, GO_025, since, h->running == YES, NO_REFS,
                   "GO to a tile whose BRISC was released from reset",
                   "BRISC of tile %u,%u is held in reset", tile->at.x, tile->at.y);
        h->held_since = h->running == YES ? FAULT_NONE : m->fault;
        s->held_since = h->running == YES ? s->held_since : m->fault;
    }
    if (h->running == NO) {
        return;
    }
    if (h->owed != UNKNOWN && h->go.index != NO_INDEX) {
        CHECK_ONCE(m, tile, GO_021, h->go_since, h->owed == NO, RELATED(h->go.index),
                   "DONE (0x00) loaded from the go word's signal since the last GO",
                   "the last load of it since the GO at #%llu did not show DONE",
                   (unsigned long long)h->go.index);
    }
    h->go_since = h->owed == YES ? m->fault : FAULT_NONE;
    h->rd_ptr = h->owed == NO ? h->rd_ptr : -1;
    take_message(m, tile, store);
    complete &= !hides_dispatcher(m);
    if (complete && h->slot >= 0) {
        bool right = (h->slots_written >> h->slot & 1) != 0;
        CHECK_ONCE(m, tile, GO_023, h->go_since, right, NO_REFS,
                   "a launch message in the slot that BRISC reads when GO is stored",
                   "no agent has written to slot %d", h->slot);
        h->go_since = right ? h->go_since : m->fault;
        h->message_known &= right;
    }
    if (complete && h->message_known) {
        judge_texts(m, tile);
    }
    h->owed = YES;
    h->go = now(m);
    if (h->rd_ptr >= 0) {
        bool moves = h->message_known && h->message.mode == NOCAP_MODE_DEV;
        h->rd_ptr = !h->message_known ? -1 : (h->rd_ptr + moves) % NOCAP_LAUNCH_SLOTS;
    }
}

static uint32_t active_signal(const struct model *m, const struct tile *tile)
{
    int active = tile_go_index(m, tile);
    return nocap_go_word_address(m->layout, active < 0 ? 0 : (unsigned)active) +
           NOCAP_GO_SIGNAL_BYTE;
}

static void forget_signal(struct host_tile *h)
{
    h->signal = -1;
    h->owed = UNKNOWN;
    h->looks = 0;
    h->rd_ptr = -1;
}

static void store_signal(struct model *m, struct tile *tile, const struct access *store,
                         uint8_t signal)
{
    struct host_tile *h = part_of(tile);
    if (signal == NOCAP_GO_GO) {
        judge_go(m, tile, store);
    } else if (signal != NOCAP_GO_DONE && h->rd_ptr != 0) {
        h->rd_ptr = -1; /* a request sets it to 0, if BRISC sees it */
    }
    if (signal != NOCAP_GO_DONE) {
        h->done.index = NO_INDEX;
    } else if (h->running == YES && h->signal > NOCAP_GO_DONE) {
        h->done = now(m);
        h->done_over = (uint8_t)h->signal;
    }
    h->signal = signal;
    h->looks = 0;
}

/* What the launch that the host has not seen end works with; NULL: nothing of that. */
static const char *part_in_use(const struct model *m, const struct tile *tile,
                               const struct access *a)
{
    const struct host_tile *h = part_of(tile);
    uint8_t signal;
    if (access_byte(a, active_signal(m, tile), &signal) && signal != NOCAP_GO_GO &&
        signal != NOCAP_GO_DONE) {
        return "the go word";
    }
    if (touches(a, m->layout->go_message_index, 4)) {
        return "go_message_index";
    }
    if (h->slot >= 0 &&
        touches(a, nocap_launch_slot(m->layout, (unsigned)h->slot), m->layout->launch_size)) {
        return "its launch message";
    }
    for (unsigned p = 0; h->message_known && p < CORES; p++) {
        uint32_t entry = nocap_kernel_entry(&h->message, (enum nocap_processor)p);
        for (uint32_t i = 0;
             nocap_launch_starts(&h->message, p) && i < IMAGES && i < h->image_count; i++) {
            const struct image *image = &h->images[i];
            if (image->addr <= entry && entry < image->addr + image->size &&
                touches(a, image->addr, image->size)) {
                return "the image of its kernels";
            }
        }
    }
    return NULL;
}

static void judge_intrusion(struct model *m, struct tile *tile, const struct access *a)
{
    struct host_tile *h = part_of(tile);
    const char *part = part_in_use(m, tile, a);
    CHECK_ONCE(m, tile, GO_022, h->go_since, part == NULL, RELATED(h->go.index),
               "what a launch works with not written before DONE was loaded",
               "%s written: %llu bytes at 0x%llx; no load since GO has shown DONE", part,
               (unsigned long long)a->size, (unsigned long long)a->addr);
    h->go_since = part == NULL ? h->go_since : m->fault;
}

static void remember(struct tile *tile, const struct access *a)
{
    struct host_tile *h = part_of(tile);
    if (a->addr >= SHADOW_SIZE && a->addr < NOCAP_L1_SIZE && a->by == NOCAP_BY_HOST) {
        h->images[h->image_count++ % IMAGES] = (struct image){(uint32_t)a->addr, (uint32_t)a->size};
    }
    if (h->written != NULL && a->addr < NOCAP_L1_SIZE) {
        written_mark(h->written, a->addr, a->size);
    }
}

static void store(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    struct host_tile *h = part_of(tile);
    const struct access *a = &o->access;
    bool by_host = a->by == NOCAP_BY_HOST;
    if ((o->places & PLACE(SOFT_RESET)) != 0 && by_host) {
        soft_reset(m, tile, a);
    }
    if (by_host && h->running == YES && h->owed == YES) {
        judge_intrusion(m, tile, a);
    }
    for (unsigned i = 0; (o->places & PLACE(LAUNCH)) != 0 && i < NOCAP_LAUNCH_SLOTS; i++) {
        bool hit = touches(a, nocap_launch_slot(m->layout, i), m->layout->launch_size);
        h->slots_written |= (uint8_t)(hit << i);
        h->message_index = hit ? o->event->index : h->message_index;
    }
    remember(tile, a);
    uint32_t at = active_signal(m, tile);
    uint8_t signal;
    if ((o->places & PLACE(GO)) != 0 && touches(a, at, 1)) {
        if (by_host && access_byte(a, at, &signal)) {
            store_signal(m, tile, a, signal);
        } else {
            forget_signal(h); /* others launch here, too */
        }
    }
}

/* ---- looks ---- */

/* A host may clear the go word and then store GO to its signal; but if it looks for DONE before, it
 * sees its own. */
static void judge_own_done(struct model *m, struct tile *tile)
{
    struct host_tile *h = part_of(tile);
    bool own = h->done.index != NO_INDEX;
    SEEING(m, tile->at, active_signal(m, tile), 1,
           FOLLOWING(m, h->go_since,
                     CHECK_AT(m, tile, GO_002, !own, own ? h->done : now(m), NO_REFS,
                              "DONE stored by BRISC only", "the host stored it over signal 0x%02x",
                              h->done_over)));
    h->go_since = own ? m->fault : h->go_since;
    h->done.index = NO_INDEX;
}

static void look(struct model *m, struct tile *tile, uint8_t signal)
{
    struct host_tile *h = part_of(tile);
    struct host_state *s = m->state[MODEL_HOST];
    h->signal = signal;
    if (signal == NOCAP_GO_DONE) {
        judge_own_done(m, tile);
        h->ready = true;
        h->owed = NO;
    }
    if (signal == NOCAP_GO_DONE || signal == NOCAP_GO_GO) {
        h->looks = 0;
        return;
    }
    h->looks = sum_of(h->looks, (m->event->has & NOCAP_F_N) != 0 ? m->event->n : 1);
    if (h->running == NO && !s->waited_held) {
        CHECK(m, tile, RST_019, h->looks < LOOKS, NO_REFS,
              "BRISC released before the host waits for its firmware",
              "%" PRIu64
              " polls in a row of the go word (0x%02x) of a tile whose BRISC is held in reset",
              h->looks, signal);
        s->waited_held = h->looks >= LOOKS;
        if (s->waited_held) {
            h->held_since = s->held_since = m->fault;
        }
    }
    bool answers = signal == NOCAP_GO_RESET_READ_PTR || signal == NOCAP_GO_REPLAY_TRACE;
    if (h->running == YES && h->ready && h->owed == NO && !answers && !h->waited) {
        CHECK(m, tile, GO_026, h->looks < LOOKS, NO_REFS,
              "GO stored before the host waits for DONE",
              "%" PRIu64 " polls in a row of signal 0x%02x, and no GO since the tile was last done",
              h->looks, signal);
        h->waited = h->looks >= LOOKS;
    }
}

static void load(struct model *m, const struct observation *o)
{
    uint32_t at = active_signal(m, o->tile);
    uint8_t signal;
    if (!touches(&o->access, at, 1)) {
        return;
    }
    if (access_byte(&o->access, at, &signal)) {
        look(m, o->tile, signal);
    } else {
        forget_signal(part_of(o->tile));
    }
}

/* ---- the model ---- */

static void check(struct model *m, const struct observation *o)
{
    if (o->kind == OBS_OUTSIDE_STORE) {
        store(m, o);
    } else {
        load(m, o);
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

static void forget(struct host_tile *h)
{
    free(h->written);
    h->written = NULL;
    boot(h, UNKNOWN);
    forget_signal(h);
}

static void tile_forget_all(struct model *m, struct tile *tile)
{
    (void)m;
    forget(part_of(tile));
}

static void tile_init(struct model *m, struct tile *tile, bool power_on)
{
    struct host_tile *h = part_of(tile);
    forget(h);
    if (!power_on || (m->header->observes & NOCAP_CLASS_CORE_STORE) != 0) {
        return;
    }
    boot(h, NO);
    h->written = calloc(1, sizeof *h->written);
    m->out_of_memory |= h->written == NULL;
}

static void tile_free(struct tile *tile)
{
    free(part_of(tile)->written);
}

static uint32_t wants(const struct model *m)
{
    bool cores = (m->header->observes & NOCAP_CLASS_CORE_STORE) != 0;
    return m->knows_tiles && !cores ? OBS(OUTSIDE_STORE) | OBS(HOST_LOAD) : 0;
}

const struct model_ops host_model = {
    .name = "host",
    .id = MODEL_HOST,
    .first_rule = GO_002, /* and on to GO-026: those before GO-021 are the launches', but this */
    .last_rule = GO_026,
    .more_first = RST_018,
    .more_last = RST_019,
    .tile_size = sizeof(struct host_tile),
    .wants = wants,
    .places = PLACE_MAILBOX | PLACE(L1) | PLACE(LOW) | PLACE(SOFT_RESET),
    .init = init,
    .free = release,
    .tile_init = tile_init,
    .tile_free = tile_free,
    .check = check,
    .tile_forget = tile_forget_all,
};
