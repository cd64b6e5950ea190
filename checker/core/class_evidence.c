/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/class_evidence.h"

#include "formats/aie/isa.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/registers.h"
#include "formats/blackhole/tensix_isa.h"
#include "formats/blackhole/tile_map.h"

/* One of a kind may be what a short trace leaves out, or a fault; so many are none. */
enum {
    ENDED = 8,
    SENT = 8,
    RINGS = 16,   /* of the doorbell */
    WORDS = 64,   /* of a thread, whose FIFO holds less */
    ARRIVED = 32, /* in host memory, more than what a ring takes at a time */
    /* .. and so many where the trace is long enough to be no example of a few events */
    ACTS = 48, /* of cores */
    FEW = 2,
    FEW_WORDS = 6,
    AFTER = 8,    /* acts of a worker core after kernels were left, all of which it reports */
    ACCESSES = 4, /* of control code */
};

/* Each launch loads its message and stores DONE, clears caches and counters. */
static const uint32_t of_launches =
    NOCAP_CLASS_CORE_STORE | NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO;
static const uint32_t provable = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM |
                                 NOCAP_CLASS_CORE_STORE | NOCAP_CLASS_CORE_LOAD |
                                 NOCAP_CLASS_CORE_MMIO | NOCAP_CLASS_NOC | NOCAP_CLASS_TENSIX_PUSH |
                                 NOCAP_CLASS_TENSIX_ISSUE | NOCAP_CLASS_CERT | NOCAP_CLASS_AIE_MMIO;

void class_evidence_init(struct class_evidence *e, const struct nocap_header *header)
{
    const struct nocap_mailbox_layout *layout = nocap_header_layout(header, NULL);
    *e = (struct class_evidence){.header = header,
                                 .go_messages = layout != NULL ? layout->go_messages : 0,
                                 .rd_ptr = layout != NULL ? layout->rd_ptr : 0};
}

bool class_evidence_open(const struct class_evidence *e)
{
    return (e->header->observes & provable & ~e->seen) != 0 && !e->lost;
}

uint32_t class_evidence_absent(const struct class_evidence *e)
{
    return e->lost ? 0 : e->header->observes & e->proven & ~e->seen;
}

static void prove(struct class_evidence *e, uint32_t classes, const struct nocap_event *event,
                  struct nocap_xy at, const char *act)
{
    for (unsigned bit = 0; bit < NOCAP_CLASS_COUNT; bit++) {
        if ((classes & ~e->proven) >> bit & 1u) {
            e->proofs[bit] = (struct class_proof){event->index, event->t, at, act};
        }
    }
    e->proven |= classes;
}

/* A launch or a boot came to an end, and what the tile did in it was not hidden. */
static void ends(struct class_evidence *e, const struct nocap_event *event, struct nocap_xy at)
{
    e->ended++;
    if (e->ended >= ENDED || e->acts >= ACTS) {
        const bool released = e->header->complete == NOCAP_TRUE; /* by the host, after power-on */
        const bool issued = e->pushed >= FEW_WORDS;              /* as is waited for before */
        prove(e,
              of_launches | (released ? NOCAP_CLASS_HOST_MMIO : 0) |
                  (issued ? NOCAP_CLASS_TENSIX_ISSUE : 0),
              event, at, "launches or boots ended");
    }
}

static bool enough(const struct class_evidence *e, uint32_t count)
{
    return count >= SENT || (count >= FEW && e->acts >= ACTS);
}

static bool count_up(uint8_t *count)
{
    *count = (uint8_t)(*count + (*count < UINT8_MAX));
    return *count > 1;
}

/* Whether a go message lies there, in the mailbox that is meant or in another one. */
static bool is_go_word(const struct class_evidence *e, uint64_t addr)
{
    const uint64_t from = addr - e->go_messages;
    return nocap_layout_from_go_address(addr) != NULL ||
           (from < NOCAP_GO_WORDS * NOCAP_GO_WORD_SIZE && from % NOCAP_GO_WORD_SIZE == 0);
}

/* The signal of the go message that an access has, of all that write and load them. */
static bool go_signal(const struct class_evidence *e, const struct nocap_event *event,
                      uint64_t addr, uint8_t *signal)
{
    uint32_t word;
    if (event->size != NOCAP_GO_WORD_SIZE || !nocap_event_word(event, &word) ||
        !is_go_word(e, addr)) {
        return false;
    }
    *signal = nocap_go_decode(word).signal;
    return true;
}

static void look_at_signal(struct class_evidence *e, const struct nocap_event *event,
                           struct nocap_xy at, uint8_t signal)
{
    struct class_tile *tile = &e->tiles[at.y][at.x];
    tile->asked |= signal == NOCAP_GO_GO || signal == NOCAP_GO_INIT;
    if (signal == NOCAP_GO_GO && tile->acted && count_up(&tile->gos)) {
        ends(e, event, at);
    }
    tile->acted = false;
}

static bool on_grid(struct nocap_xy at)
{
    return at.x < CLASS_GRID && at.y < CLASS_GRID;
}

/* A go message that host or network write, to one tile or to a rectangle. */
static void look_at_write(struct class_evidence *e, const struct nocap_event *event, uint64_t addr,
                          struct nocap_xy from, struct nocap_xy to)
{
    uint8_t signal;
    if (!on_grid(from) || !on_grid(to) || !go_signal(e, event, addr, &signal)) {
        return;
    }
    for (unsigned y = from.y; y <= to.y; y++) {
        for (unsigned x = from.x; x <= to.x; x++) {
            look_at_signal(e, event, (struct nocap_xy){(uint8_t)x, (uint8_t)y}, signal);
        }
    }
}

static void look_at_load(struct class_evidence *e, struct class_tile *tile,
                         const struct nocap_event *event)
{
    uint8_t signal;
    if (tile->asked && tile->acted && go_signal(e, event, event->addr, &signal) &&
        signal == NOCAP_GO_DONE) {
        tile->asked = false;
        ends(e, event, event->at);
    }
}

static void look_at_core(struct class_evidence *e, struct class_tile *tile,
                         const struct nocap_event *event)
{
    struct nocap_register_place place;
    tile->acted = true;
    if (event->kind == NOCAP_EV_KERNEL && event->op == NOCAP_OP_EXIT) {
        tile->exits = (uint8_t)(tile->exits + (tile->exits < FEW));
    } else if (event->kind == NOCAP_EV_KERNEL &&
               count_up(&tile->enters[event->by - NOCAP_BY_BRISC])) {
        ends(e, event, event->at);
    } else if (tile->exits == FEW && e->acts >= ACTS && ++tile->after == AFTER) {
        prove(e, of_launches, event, event->at, "kernels were left");
    }
    if (event->kind == NOCAP_EV_WRITE && (event->value & 1) != 0 &&
        nocap_register_find(event->addr, event->by, &place) &&
        place.family == NOCAP_FAMILY_NIU_BUFFER && place.id == NOCAP_NIU_CMD_CTRL &&
        enough(e, ++e->sent)) {
        prove(e, NOCAP_CLASS_NOC, event, event->at, "several requests were sent");
    }
    if (event->kind == NOCAP_EV_WRITE && event->by == NOCAP_BY_BRISC && event->addr == e->rd_ptr &&
        event->value != 0 && enough(e, ++e->moved)) {
        prove(e, NOCAP_CLASS_NOC, event, event->at, "several launches in DEV mode were notified");
    }
}

/* What reaches host memory from the device came through its network, and was asked for by cores. */
static void look_at_endpoint(struct class_evidence *e, const struct nocap_event *event)
{
    const struct nocap_cq_place *cq = &e->header->cq;
    const bool inside = !e->header->has_scope ||
                        (cq->has_prefetch && nocap_header_in_scope(e->header, cq->prefetch) &&
                         cq->has_dispatch && nocap_header_in_scope(e->header, cq->dispatch));
    if (inside && ++e->arrived == ARRIVED) {
        prove(e, NOCAP_CLASS_NOC | NOCAP_CLASS_CORE_STORE | NOCAP_CLASS_CORE_LOAD, event, event->at,
              "many accesses to host memory arrived");
    }
}

void class_evidence_doorbell(struct class_evidence *e, uint32_t count,
                             const struct nocap_event *event)
{
    const uint32_t records = NOCAP_CLASS_SYSMEM | NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_CQ;
    if (count >= RINGS && (e->seen & records) == 0) {
        prove(e, records, event, event->at, "a sixteenth doorbell rang");
    }
}

static void look_at_word(struct class_evidence *e, struct class_tile *tile,
                         const struct nocap_event *event)
{
    const bool issue = event->op == NOCAP_OP_ISSUE;
    const unsigned opcode = nocap_tensix_opcode((uint32_t)event->value);
    bool expands = opcode == NOCAP_TENSIX_MOP || opcode == NOCAP_TENSIX_MOP_CFG ||
                   opcode == NOCAP_TENSIX_REPLAY;
    if (event->thread >= CLASS_THREADS || expands || (!issue && event->op != NOCAP_OP_PUSH)) {
        return;
    }
    uint8_t *count = issue ? &tile->issues[event->thread] : &tile->pushes[event->thread];
    *count = (uint8_t)(*count + (*count < WORDS));
    e->pushed += !issue;
    const bool fresh = e->header->complete == NOCAP_TRUE ||
                       tile->enters[NOCAP_BY_TRISC0 - NOCAP_BY_BRISC + event->thread] != 0;
    if (!issue && *count == WORDS) {
        prove(e, NOCAP_CLASS_TENSIX_ISSUE, event, event->at,
              "more words were pushed than its FIFO holds");
    } else if (issue && fresh && *count >= FEW_WORDS) {
        prove(e, NOCAP_CLASS_TENSIX_PUSH, event, event->at,
              "several words issued that no MOP before the trace made");
    }
}

static bool accesses_a_word(uint8_t opcode)
{
    return opcode == NOCAP_AIE_WRITE_32 || opcode == NOCAP_AIE_WRITE_32_D ||
           opcode == NOCAP_AIE_MASK_WRITE_32 || opcode == NOCAP_AIE_READ_32 ||
           opcode == NOCAP_AIE_READ_32_D;
}

/* Instructions of control code, and accesses, of which each is made by some. */
static void look_at_code(struct class_evidence *e, const struct nocap_event *event)
{
    if (event->kind != NOCAP_EV_CERT) {
        if (e->header->complete == NOCAP_TRUE && ++e->accesses == ACCESSES) {
            prove(e, NOCAP_CLASS_CERT, event, event->at, "control code made several accesses");
        }
    } else if (event->op == NOCAP_OP_START && event->data_size != 0 &&
               accesses_a_word(event->data[0]) && ++e->instructions == ACCESSES) {
        prove(e, NOCAP_CLASS_AIE_MMIO, event, event->at, "several instructions access a word");
    }
}

void class_evidence_look(struct class_evidence *e, const struct nocap_event *event)
{
    const bool core = event->by >= NOCAP_BY_BRISC && event->by <= NOCAP_BY_TRISC2;
    const bool loads_register = core && event->kind == NOCAP_EV_READ &&
                                event->addr >= NOCAP_L1_SIZE &&
                                (e->header->observes & NOCAP_CLASS_CORE_LOAD) != 0;
    e->seen |= loads_register ? NOCAP_CLASS_CORE_MMIO : nocap_event_class(event);
    e->lost |= event->kind == NOCAP_EV_DROP;
    if (event->kind == NOCAP_EV_CQ && event->op == NOCAP_OP_RECORD && ++e->records == SENT) {
        prove(e, NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM, event, event->at,
              "several prefetch commands were submitted");
    }
    if (event->kind == NOCAP_EV_CERT || event->by >= NOCAP_BY_UC0) {
        look_at_code(e, event);
        return;
    }
    if (event->chip != 0 || !on_grid(event->at) || !class_evidence_open(e)) {
        return;
    }
    struct class_tile *tile = &e->tiles[event->at.y][event->at.x];
    e->acts += core || event->kind == NOCAP_EV_TENSIX;
    if (event->kind == NOCAP_EV_TENSIX) {
        look_at_word(e, tile, event);
    } else if (event->kind == NOCAP_EV_NOC) {
        const bool many = (event->has & NOCAP_F_D2) != 0;
        look_at_write(e, event, event->daddr, event->d, many ? event->d2 : event->d);
    } else if (event->by == NOCAP_BY_DMA) {
        look_at_endpoint(e, event);
    } else if (core && event->kind != NOCAP_EV_RESET) {
        look_at_core(e, tile, event);
    } else if (event->kind == NOCAP_EV_WRITE && event->space == NOCAP_SPACE_TILE) {
        const bool many = (event->has & NOCAP_F_TO) != 0;
        look_at_write(e, event, event->addr, event->at, many ? event->to : event->at);
    } else if (event->kind == NOCAP_EV_READ && event->space == NOCAP_SPACE_TILE) {
        look_at_load(e, tile, event);
    }
}
