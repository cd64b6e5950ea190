/* SPDX-License-Identifier: Apache-2.0 */
/* The device's doors, and tiles that are no workers: outbound windows and DMA of the PCIe endpoint,
 * the BARs, multicast windows, routers; streams and queues of Ethernet tiles, message queues of the
 * ARC. Rules NOC-006, NOC-007, NOC-009 to NOC-013, NOC-017, NOC-018. */
#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/endpoint.h"
#include "formats/blackhole/other_tiles.h"
#include "replay/noc/noc_private.h"

static bool word_of(const struct nocap_event *e, uint32_t *v)
{
    return e->size == 4 && nocap_event_word(e, v);
}

/* NULL without memory. */
static struct noc_chip *chip_of(struct model *m, uint16_t number)
{
    struct noc_chip **c = &noc_state(m)->chips[number % NOC_CHIPS];
    if (*c == NULL) {
        *c = calloc(1, sizeof **c);
        m->out_of_memory |= *c == NULL;
    }
    if (*c != NULL && (*c)->number != number) {
        **c = (struct noc_chip){.number = number};
    }
    return *c;
}

/* ---- outbound windows ---- */

struct window {
    uint64_t base, limit;
};

/* False unless the region is known to be on, and where. */
static bool iatu_window(const struct noc_endpoint *p, unsigned region, struct window *w)
{
    const struct value *r = p->iatu[region], *control = &r[NOCAP_IATU_CTRL2 / 4];
    return noc_pair(&r[NOCAP_IATU_BASE_LO / 4], &r[NOCAP_IATU_BASE_HI / 4], &w->base) &&
           noc_pair(&r[NOCAP_IATU_LIMIT_LO / 4], &r[NOCAP_IATU_LIMIT_HI / 4], &w->limit) &&
           control->known && (control->v & NOCAP_IATU_ENABLE) != 0;
}

static void judge_iatu(struct model *m, const struct noc_endpoint *p, unsigned region)
{
    struct window w, other;
    if (!iatu_window(p, region, &w)) {
        return;
    }
    bool order = w.base <= w.limit;
    bool inside = w.limit >> NOCAP_IATU_ADDRESS_BITS == 0;
    unsigned overlaps = NOC_IATU_REGIONS;
    for (unsigned i = 0; i < NOC_IATU_REGIONS; i++) {
        if (i != region && iatu_window(p, i, &other) && w.base <= other.limit &&
            other.base <= w.limit) {
            overlaps = i;
        }
    }
    CHECK(m, NULL, NOC_010, order && inside && overlaps == NOC_IATU_REGIONS, NO_REFS,
          "an outbound region that ends after its base, within 2^58, apart from the others",
          "outbound region %u set to 0x%llx..0x%llx, %s", region, (unsigned long long)w.base,
          (unsigned long long)w.limit,
          order && inside ? "which overlaps another region"
                          : "which ends before its base or beyond 2^58");
}

/* NULL: there is none that is kept. */
static struct value *endpoint_word(struct noc_endpoint *p, uint64_t addr)
{
    uint64_t region = (addr - NOCAP_IATU_FIRST) / NOCAP_IATU_STRIDE;
    uint64_t word = (addr - NOCAP_IATU_FIRST) % NOCAP_IATU_STRIDE / 4;
    return addr >= NOCAP_IATU_FIRST && word < NOC_IATU_WORDS ? &p->iatu[region][word]
           : addr == NOCAP_DMA_SIZE                          ? &p->dma_size
           : addr == NOCAP_DMA_DEVICE_ADDRESS                ? &p->dma_address
                                                             : NULL;
}

static void judge_dma(struct model *m, const struct noc_endpoint *p)
{
    bool address = !p->dma_address.known || p->dma_address.v % 4 == 0;
    CHECK(m, NULL, NOC_012, p->dma_size.v != 0 && p->dma_size.v % 4 == 0 && address, NO_REFS,
          "a DMA of a multiple of 4 bytes, not 0, at a multiple of 4",
          address ? "DMA of %u bytes at 0x%x, must be a multiple of 4 and not 0"
                  : "DMA of %u bytes at 0x%x, not at a multiple of 4",
          p->dma_size.v, p->dma_address.v);
}

/* A store may be of several registers: what it starts is judged by all of them. */
static void endpoint_store(struct model *m, const struct nocap_event *e)
{
    const uint64_t end = NOCAP_IATU_FIRST + NOC_IATU_REGIONS * NOCAP_IATU_STRIDE;
    struct noc_chip *c = chip_of(m, e->chip);
    if (c == NULL || e->addr >= end || e->size == 0) {
        return;
    }
    struct noc_endpoint *p = &c->endpoint;
    const struct access a = access_of_event(e, e->addr, e->size);
    uint64_t last = e->addr + (e->size < end - e->addr ? e->size : end - e->addr) - 1;
    for (uint64_t at = e->addr / 4 * 4; at <= last; at += 4) {
        uint32_t v;
        struct value *word = endpoint_word(p, at);
        if (word != NULL) {
            noc_word_set(word, access_word(&a, at, &v) ? &v : NULL);
        }
    }
    for (unsigned region = 0; region < NOC_IATU_REGIONS; region++) {
        if (touches(&a, NOCAP_IATU_FIRST + region * NOCAP_IATU_STRIDE + NOCAP_IATU_CTRL2, 4)) {
            judge_iatu(m, p, region);
        }
    }
    uint32_t doorbell;
    if (access_word(&a, NOCAP_DMA_DOORBELL, &doorbell) && (doorbell & 1) != 0 &&
        p->dma_size.known) {
        judge_dma(m, p);
    }
}

/* ---- Ethernet ---- */

static struct noc_queue *transfers_of(struct noc_state *s, uint16_t chip, struct nocap_xy at,
                                      unsigned number)
{
    uint32_t count = s->queue_count < NOC_QUEUES ? s->queue_count : NOC_QUEUES;
    for (uint32_t i = 0; i < count; i++) {
        struct noc_queue *q = &s->queues[i];
        if (q->chip == chip && nocap_xy_equal(q->at, at) && q->number == number) {
            return q;
        }
    }
    struct noc_queue *q = &s->queues[s->queue_count++ % NOC_QUEUES];
    *q = (struct noc_queue){.chip = chip, .at = at, .number = (uint8_t)number};
    return q;
}

enum { WORD_START, WORD_SIZE, WORD_TARGET };

static void judge_transfer(struct model *m, const struct tile *tile, const struct noc_queue *q)
{
    const struct value *size = &q->words[WORD_SIZE];
    bool inside = true;
    for (unsigned word = 0; word < NOC_QUEUE_WORDS && inside; word += 2) {
        const struct value *place = &q->words[word];
        if (size->known && place->known) {
            inside = (uint64_t)place->v + size->v <= NOCAP_NIU_ETHERNET_L1_SIZE;
            CHECK(m, tile, NOC_017, inside, NO_REFS,
                  word == WORD_START ? "a transfer from inside the 512 KiB of L1"
                                     : "a transfer into the 512 KiB of L1 of the other side",
                  "transfer of %u bytes at 0x%x by queue %u of Ethernet core %u,%u, outside the "
                  "512 KiB of L1",
                  size->v, place->v, q->number, q->at.x, q->at.y);
        }
    }
}

static void queue_access(struct model *m, const struct tile *tile, struct noc_queue *q,
                         unsigned offset, uint32_t value)
{
    switch (offset) {
    case NOCAP_ETHERNET_START: noc_word_set(&q->words[WORD_START], &value); break;
    case NOCAP_ETHERNET_SIZE: noc_word_set(&q->words[WORD_SIZE], &value); break;
    case NOCAP_ETHERNET_TARGET: noc_word_set(&q->words[WORD_TARGET], &value); break;
    case NOCAP_ETHERNET_COMMAND:
        if (value == NOCAP_ETHERNET_SEND_DATA) {
            judge_transfer(m, tile, q);
        }
        break;
    default: break;
    }
}

void noc_ethernet_access(struct model *m, const struct tile *tile, uint16_t chip,
                         struct nocap_xy at, uint64_t addr, const uint32_t *value)
{
    if (addr >= NOCAP_ETHERNET_STREAMS && addr < NOCAP_ETHERNET_STREAM_END) {
        CHECK(m, tile, NOC_007, addr < NOCAP_ETHERNET_NO_STREAMS, NO_REFS,
              "one of the 32 streams of an Ethernet core",
              "access to stream %llu of Ethernet core %u,%u, which has 32",
              (unsigned long long)((addr - NOCAP_ETHERNET_STREAMS) / NOCAP_STREAM_STRIDE), at.x,
              at.y);
        return;
    }
    bool sends = addr < NOCAP_ETHERNET_RECEIVE;
    uint64_t offset = addr - (sends ? NOCAP_ETHERNET_SEND : NOCAP_ETHERNET_RECEIVE);
    unsigned number = (unsigned)(offset / NOCAP_ETHERNET_QUEUE_STRIDE);
    if (addr < NOCAP_ETHERNET_SEND ||
        offset >= NOCAP_ETHERNET_QUEUE_SLOTS * NOCAP_ETHERNET_QUEUE_STRIDE) {
        return;
    }
    struct noc_queue *q = transfers_of(noc_state(m), chip, at, number);
    bool exists = number < NOCAP_ETHERNET_QUEUES;
    CHECK_AFTER(m, tile, NOC_017, q->absent, exists, NO_REFS,
                "one of the three queues of an Ethernet core",
                "access to queue %u of Ethernet core %u,%u, which has three", number, at.x, at.y);
    if (!exists) {
        q->absent = m->fault;
    } else if (sends && value != NULL) {
        queue_access(m, tile, q, (unsigned)offset % NOCAP_ETHERNET_QUEUE_STRIDE, *value);
    }
}

/* ---- ARC ---- */

static void judge_block(struct model *m, const struct noc_arc *arc)
{
    bool there =
        arc->block.v >= NOCAP_ARC_MEMORY && arc->block.v < NOCAP_ARC_MEMORY + NOCAP_ARC_MEMORY_SIZE;
    bool holds = !arc->entries.known || arc->entries.v != 0;
    if (arc->block.known) {
        CHECK(m, NULL, NOC_018, there && holds, NO_REFS,
              there ? "queues that hold messages" : "a control block of the queues in ARC memory",
              there ? "ARC queues of %u messages, control block at 0x%x"
                    : "ARC queues of %u messages, control block at 0x%x, outside ARC memory",
              arc->entries.v, arc->block.v);
    }
}

static void judge_room(struct model *m, const struct noc_arc *arc, unsigned queue)
{
    const uint32_t turn = 2 * arc->entries.v;
    if (turn != 0 && arc->fetched[queue].known) {
        uint32_t written = arc->written[queue], fetched = arc->fetched[queue].v;
        uint32_t waiting = (written % turn + turn - fetched % turn) % turn;
        CHECK(m, NULL, NOC_018, written < turn && waiting <= arc->entries.v, NO_REFS,
              "no more messages written than the queue holds",
              "%u messages written and %u fetched when the host last polled, the queue holds %u",
              written, fetched, arc->entries.v);
    }
}

/* One of the pointers of a queue, as the host writes or reads it. */
static void arc_pointer(struct model *m, struct noc_arc *arc, uint64_t addr, bool store,
                        const uint32_t *v)
{
    uint64_t stride = NOCAP_ARC_QUEUE_HEAD + 2 * (uint64_t)arc->entries.v * NOCAP_ARC_MESSAGE;
    uint64_t distance = addr - arc->base.v;
    unsigned queue = (unsigned)(distance / stride);
    if (!arc->base.known || !arc->entries.known || addr < arc->base.v ||
        distance >= NOC_ARC_QUEUES * stride) {
        return;
    }
    if (distance % stride == NOCAP_ARC_FETCHED) {
        noc_word_set(&arc->fetched[queue], v);
    } else if (distance % stride == NOCAP_ARC_WRITTEN && store && v != NULL) {
        arc->written[queue] = *v;
        judge_room(m, arc, queue);
    }
}

static void arc_access(struct model *m, const struct nocap_event *e, uint64_t addr)
{
    struct noc_chip *c = chip_of(m, e->chip);
    bool store = e->kind == NOCAP_EV_WRITE;
    uint32_t word;
    const uint32_t *v = word_of(e, &word) ? &word : NULL;
    if (c == NULL) {
        return;
    }
    struct noc_arc *arc = &c->arc;
    bool rings = store && v != NULL &&
                 ((addr == NOCAP_ARC_CONTROL && (*v & NOCAP_ARC_IRQ) != 0) ||
                  (addr >= NOCAP_ARC_DOORBELL && addr < NOCAP_ARC_DOORBELL_END));
    if (rings) {
        judge_block(m, arc);
    } else if (addr == NOCAP_ARC_QUEUES_AT) {
        *arc = (struct noc_arc){0};
        noc_word_set(&arc->block, v);
    } else if (arc->block.known && addr == arc->block.v) {
        noc_word_set(&arc->base, v);
    } else if (arc->block.known && addr == (uint64_t)arc->block.v + NOCAP_ARC_BLOCK_ENTRIES) {
        noc_word_set(&arc->entries, v);
        arc->entries.v &= NOCAP_ARC_ENTRIES_MASK;
    } else {
        arc_pointer(m, arc, addr, store, v);
    }
}

/* ---- BARs, multicast windows, registers of other tiles ---- */

static void judge_bar(struct model *m, const struct nocap_event *e)
{
    uint64_t size = e->space == NOCAP_SPACE_BAR0   ? NOCAP_BAR0_SIZE
                    : e->space == NOCAP_SPACE_BAR2 ? NOCAP_BAR2_SIZE
                                                   : NOCAP_BAR4_SIZE;
    CHECK(m, NULL, NOC_013, e->addr < size && e->size <= size - e->addr, NO_REFS,
          "an access inside the BAR", "access of %llu bytes at 0x%llx beyond the end of %s",
          (unsigned long long)e->size, (unsigned long long)e->addr, nocap_space_name(e->space));
}

static void judge_multicast(struct model *m, const struct nocap_event *e)
{
    bool order = e->at.x <= e->to.x && e->at.y <= e->to.y;
    bool workers = model_is_tensix(m, e->at) && model_is_tensix(m, e->to);
    bool read = e->kind == NOCAP_EV_READ;
    /* hosts read a multicast window to drain it: one tile answers, and while all are held in reset
     * which, matters to none */
    const struct tile *tile = read ? tile_find(m, e->chip, e->at) : NULL;
    m->harmless =
        order && workers && tile != NULL && tile->launch.running[NOCAP_PROCESSOR_BRISC] == NO;
    CHECK(m, NULL, NOC_011, order && workers && !read, NO_REFS,
          "a host multicast that writes, from corner to corner inside the worker grid",
          "host multicast %s of %u,%u-%u,%u%s", read ? "read" : "write", e->at.x, e->at.y, e->to.x,
          e->to.y, read ? "" : ", not from corner to corner inside the worker grid");
    m->harmless = false;
}

/* Of Ethernet and DRAM cores; MAP-001 and MAP-002 say it of workers. It is no more than that: a
 * host that means other cores is not one that was judged and found right. */
static void judge_memory(struct model *m, const struct nocap_event *e)
{
    enum nocap_tile_kind kind = model_tile_kind(m, e->at);
    uint64_t over = nocap_niu_overrun(kind, e->addr, e->size);
    if (over != 0) {
        CHECK(m, NULL, NOC_008, false, NO_REFS, "an access that does not cross a memory boundary",
              "access goes %llu bytes past the end of %s core %u,%u", (unsigned long long)over,
              nocap_tile_kind_name(kind), e->at.x, e->at.y);
    }
}

static void judge_ethernet(struct model *m, const struct nocap_event *e)
{
    if (model_tile_kind(m, e->at) != NOCAP_TILE_ETHERNET ||
        nocap_niu_place(NOCAP_TILE_ETHERNET, e->addr) != NOCAP_PLACE_MMIO) {
        return;
    }
    bool word = e->size == 4 && e->addr % 4 == 0;
    CHECK(m, NULL, NOC_009, word, NO_REFS, "4 bytes at a multiple of 4",
          "access of %llu bytes at 0x%llx of Ethernet core %u,%u, not 4 bytes at a multiple of 4",
          (unsigned long long)e->size, (unsigned long long)e->addr, e->at.x, e->at.y);
    uint32_t v;
    bool store = e->kind == NOCAP_EV_WRITE && word_of(e, &v);
    if (word) {
        noc_ethernet_access(m, NULL, e->chip, e->at, e->addr, store ? &v : NULL);
    }
}

void noc_host_access(struct model *m, const struct nocap_event *e)
{
    switch (e->space) {
    case NOCAP_SPACE_TILE:
        if ((e->has & NOCAP_F_TO) != 0) {
            judge_multicast(m, e);
        } else if (model_tile_kind(m, e->at) == NOCAP_TILE_ARC) {
            arc_access(m, e, e->addr);
        } else {
            judge_memory(m, e);
        }
        judge_ethernet(m, e);
        break;
    case NOCAP_SPACE_BAR0:
        if (e->addr >= NOCAP_ARC_BAR0_FIRST && e->addr < NOCAP_BAR0_SIZE) {
            arc_access(m, e, e->addr - NOCAP_ARC_BAR0_FIRST + NOCAP_ARC_REGISTERS);
        } /* fall through */
    case NOCAP_SPACE_BAR4: judge_bar(m, e); break;
    case NOCAP_SPACE_BAR2:
        judge_bar(m, e);
        if (e->kind == NOCAP_EV_WRITE) {
            endpoint_store(m, e);
        }
        break;
    default: break;
    }
}

/* ---- routers ---- */

/* NOC 1 counts columns and rows from the other end; which of the two its registers use is not
 * said, so either passes there. */
static uint32_t mirrored(uint64_t mask, unsigned bits)
{
    uint32_t other = 0;
    for (unsigned i = 0; i < bits; i++) {
        other |= (uint32_t)(mask >> i & 1) << (bits - 1 - i);
    }
    return other;
}

void noc_register_store(struct model *m, const struct tile *tile, const struct access *a)
{
    const unsigned noc = a->addr >= NOCAP_BASE_NIU1;
    bool columns = a->addr == nocap_niu_address(noc, NOCAP_NIU_ROUTER_CFG_1);
    bool rows = a->addr == nocap_niu_address(noc, NOCAP_NIU_ROUTER_CFG_3);
    uint32_t v;
    if ((!columns && !rows) || !access_word(a, a->addr, &v)) {
        return;
    }
    uint32_t mask = (uint32_t)(columns ? NOCAP_NIU_FIXED_COLUMNS : NOCAP_NIU_FIXED_ROWS);
    uint32_t other = mirrored(mask, columns ? NOCAP_GRID_WIDTH : NOCAP_GRID_HEIGHT);
    bool right = (v & mask) == mask || (noc == 1 && (v & other) == other);
    CHECK(m, tile, NOC_006, right, NO_REFS,
          columns ? "columns 0, 8 and 9 left out of broadcasts"
                  : "rows 0 and 1 left out of broadcasts",
          columns ? "0x%x stored to ROUTER_CFG_1, which does not leave out columns 0, 8 and 9"
                  : "0x%x stored to ROUTER_CFG_3, which does not leave out rows 0 and 1",
          v);
    store_strays(m); /* it may have been to go to another */
}

void noc_doors_forget(struct model *m)
{
    struct noc_state *s = noc_state(m);
    for (unsigned i = 0; i < NOC_CHIPS; i++) {
        free(s->chips[i]);
    }
    *s = (struct noc_state){
        .anonymous = s->anonymous, .asked = s->asked, .sources = s->sources, .src = s->src};
}
