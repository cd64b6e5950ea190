/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles that are no workers: streams and queues of Ethernet tiles, message queues of the ARC. Rules
 * NOC-007, NOC-017, NOC-018. */
#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/other_tiles.h"
#include "replay/noc/noc_private.h"

static struct noc_eth_arc *others_of(struct model *m)
{
    if (noc_state(m)->others == NULL) {
        noc_state(m)->others = calloc(1, sizeof *noc_state(m)->others);
        m->out_of_memory |= noc_state(m)->others == NULL;
    }
    return noc_state(m)->others;
}

void noc_others_forget(struct model *m)
{
    free(noc_state(m)->others);
    noc_state(m)->others = NULL;
    for (unsigned i = 0; i < NOC_ENDPOINTS; i++) {
        free(noc_state(m)->endpoints[i]);
        noc_state(m)->endpoints[i] = NULL;
    }
}

/* ---- Ethernet ---- */

static struct noc_queue *transfers_of(struct noc_eth_arc *o, uint16_t chip, struct nocap_xy at,
                                      unsigned number)
{
    uint32_t count = o->queue_count < NOC_QUEUES ? o->queue_count : NOC_QUEUES;
    for (uint32_t i = 0; i < count; i++) {
        struct noc_queue *q = &o->queues[i];
        if (q->chip == chip && nocap_xy_equal(q->at, at) && q->number == number) {
            return q;
        }
    }
    struct noc_queue *q = &o->queues[o->queue_count++ % NOC_QUEUES];
    *q = (struct noc_queue){.chip = chip, .at = at, .number = (uint8_t)number};
    return q;
}

enum { WORD_START, WORD_SIZE, WORD_TARGET };

static void judge_transfer(struct model *m, const struct tile *tile, const struct noc_queue *q)
{
    if ((q->known >> WORD_SIZE & 1) == 0) {
        return;
    }
    for (unsigned word = 0; word < NOC_QUEUE_WORDS; word += 2) {
        uint64_t end = (uint64_t)q->words[word] + q->words[WORD_SIZE];
        if ((q->known >> word & 1) != 0) {
            CHECK(m, tile, NOC_017, end <= NOCAP_NIU_ETHERNET_L1_SIZE, NO_REFS,
                  word == WORD_START ? "a transfer from inside the 512 KiB of L1"
                                     : "a transfer into the 512 KiB of L1 of the other side",
                  "transfer of %u bytes at 0x%x by queue %u of Ethernet core %u,%u, outside the "
                  "512 KiB of L1",
                  q->words[WORD_SIZE], q->words[word], q->number, q->at.x, q->at.y);
            if (end > NOCAP_NIU_ETHERNET_L1_SIZE) {
                return;
            }
        }
    }
}

static void queue_access(struct model *m, const struct tile *tile, struct noc_queue *q,
                         unsigned offset, const uint32_t *value)
{
    unsigned word = offset == NOCAP_ETHERNET_START    ? WORD_START
                    : offset == NOCAP_ETHERNET_SIZE   ? WORD_SIZE
                    : offset == NOCAP_ETHERNET_TARGET ? WORD_TARGET
                                                      : NOC_QUEUE_WORDS;
    if (word < NOC_QUEUE_WORDS && value != NULL) {
        q->words[word] = *value;
        q->known |= (uint8_t)(1u << word);
    } else if (offset == NOCAP_ETHERNET_COMMAND && value != NULL &&
               *value == NOCAP_ETHERNET_SEND_DATA) {
        judge_transfer(m, tile, q);
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
    struct noc_eth_arc *o = others_of(m);
    struct noc_queue *q = o != NULL ? transfers_of(o, chip, at, number) : NULL;
    bool exists = number < NOCAP_ETHERNET_QUEUES;
    CHECK_AFTER(m, tile, NOC_017, q != NULL ? q->absent : FAULT_NONE, exists, NO_REFS,
                "one of the three queues of an Ethernet core",
                "access to queue %u of Ethernet core %u,%u, which has three", number, at.x, at.y);
    if (q != NULL && !exists) {
        q->absent = m->fault;
    } else if (q != NULL && sends) {
        queue_access(m, tile, q, (unsigned)offset % NOCAP_ETHERNET_QUEUE_STRIDE, value);
    }
}

/* ---- ARC ---- */

static void judge_block(struct model *m, const struct noc_arc *arc)
{
    bool there = !arc->block_known || (arc->block >= NOCAP_ARC_MEMORY &&
                                       arc->block < NOCAP_ARC_MEMORY + NOCAP_ARC_MEMORY_SIZE);
    bool holds = !arc->entries_known || arc->entries != 0;
    if (arc->block_known || arc->entries_known) {
        CHECK(m, NULL, NOC_018, there && holds, NO_REFS,
              there ? "queues that hold messages" : "a control block of the queues in ARC memory",
              there ? "ARC queues of %u messages, control block at 0x%x"
                    : "ARC queues of %u messages, control block at 0x%x, outside ARC memory",
              arc->entries, arc->block);
    }
}

static void judge_room(struct model *m, struct noc_arc *arc, unsigned queue)
{
    if (!arc->entries_known || arc->entries == 0 || (arc->fetched_known >> queue & 1) == 0) {
        return;
    }
    uint32_t turn = 2 * arc->entries, written = arc->written[queue], fetched = arc->fetched[queue];
    uint32_t waiting = (written % turn + turn - fetched % turn) % turn;
    CHECK(m, NULL, NOC_018, written < turn && waiting <= arc->entries, NO_REFS,
          "no more messages written than the queue holds",
          "%u messages written and %u fetched when the host last polled, the queue holds %u",
          written, fetched, arc->entries);
}

/* One of the pointers of a queue, as the host writes or reads it. */
static void arc_pointer(struct model *m, struct noc_arc *arc, uint64_t addr, bool store, uint32_t v)
{
    uint64_t stride = NOCAP_ARC_QUEUE_HEAD + 2 * (uint64_t)arc->entries * NOCAP_ARC_MESSAGE;
    uint64_t distance = addr - arc->base;
    unsigned queue = (unsigned)(distance / stride);
    if (!arc->base_known || !arc->entries_known || addr < arc->base ||
        distance >= NOC_ARC_QUEUES * stride) {
        return;
    }
    if (distance % stride == NOCAP_ARC_FETCHED) {
        arc->fetched[queue] = v;
        arc->fetched_known |= (uint8_t)(1u << queue);
    } else if (distance % stride == NOCAP_ARC_WRITTEN && store) {
        arc->written[queue] = v;
        judge_room(m, arc, queue);
    }
}

void noc_arc_access(struct model *m, const struct nocap_event *e, uint64_t addr)
{
    struct noc_eth_arc *o = others_of(m);
    bool store = e->kind == NOCAP_EV_WRITE;
    uint32_t v;
    if (o == NULL || e->size != 4 || !nocap_event_word(e, &v)) {
        return;
    }
    struct noc_arc *arc = &o->arc;
    if (arc->chip != e->chip) { /* hosts speak with one at a time */
        *arc = (struct noc_arc){.chip = e->chip};
    }
    bool rings = store && ((addr == NOCAP_ARC_CONTROL && (v & NOCAP_ARC_IRQ) != 0) ||
                           (addr >= NOCAP_ARC_DOORBELL && addr < NOCAP_ARC_DOORBELL_END));
    if (rings) {
        judge_block(m, arc);
    } else if (addr == NOCAP_ARC_QUEUES_AT) {
        *arc = (struct noc_arc){.chip = e->chip, .block = v, .block_known = true};
    } else if (arc->block_known && addr == arc->block) {
        arc->base = v;
        arc->base_known = true;
    } else if (arc->block_known && addr == (uint64_t)arc->block + NOCAP_ARC_BLOCK_ENTRIES) {
        arc->entries = v & NOCAP_ARC_ENTRIES_MASK;
        arc->entries_known = true;
    } else {
        arc_pointer(m, arc, addr, store, v);
    }
}
