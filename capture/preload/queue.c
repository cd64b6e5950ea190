/* SPDX-License-Identifier: Apache-2.0 */
/* Command-queue records, copied when the host tells the device of them. Where the queue is, its
 * set-up says: the host stores two pointers into the prefetcher's tile, and one of them is where
 * the device finds the records in host memory. The host puts them there one behind the other. */
#include <string.h>

#include "capture/preload/preload.h"
#include "formats/blackhole/cq_commands.h"
#include "formats/blackhole/xy.h"
#include "formats/profile/profile.h"

/* Whose queue it is: nobody says another one. */
static const struct nocap_profile *protocol(void)
{
    return nocap_profile_default();
}

static uint32_t queue_bytes(const struct nocap_queue *p)
{
    return p->queue_slots * p->entry_bytes;
}

/* The set-up of a queue. */
static void keep_pointers(struct queue *q, struct nocap_xy at, uint64_t addr, uint32_t value)
{
    const struct nocap_queue *p = &protocol()->queue;
    if (addr == p->rd_ptr_echo && value == p->queue + queue_bytes(p)) {
        *q = (struct queue){.at = at, .seq = q->seq, .named = true};
    } else if (addr == p->pcie_ptr_echo && q->named && nocap_xy_equal(q->at, at) &&
               value >= p->issue) {
        q->base = value - p->issue;
        q->next = p->issue;
        q->placed = true;
    }
}

/* The program's bytes for `size` bytes at `offset` of the queue's memory; NULL: not known. */
static const uint8_t *memory_at(const struct chip *chip, uint64_t offset, uint64_t size)
{
    return pin_bytes(chip, PIN_NOC,
                     protocol()->queue.pcie_address_bit | (chip->queue.base + offset), size);
}

/* Bytes that the records at `offset` take, of which an entry announces `size`: as their headers
 * say, which a wrong entry does not change. 0: there is no record. */
static uint32_t extent(const struct chip *chip, uint32_t offset, uint32_t size)
{
    const struct nocap_profile *p = protocol();
    uint64_t total = 0, end = (uint64_t)p->queue.issue + p->queue.issue_size;
    while (total == 0 || total < size) {
        struct nocap_cq_record r;
        const uint8_t *bytes = memory_at(chip, offset + total, NOCAP_CQ_HEADER);
        if (bytes == NULL || offset + total + NOCAP_CQ_HEADER > end ||
            !nocap_cq_decode_record_by(&p->commands, bytes, NOCAP_CQ_HEADER, &r) ||
            r.consumed == 0 || r.consumed > p->queue.issue_size) {
            break;
        }
        total += r.consumed;
    }
    return (uint32_t)nocap_cq_align(total, p->queue.record_align);
}

/* Fills in where the record is and its bytes, as far as the host keeps to its own rule. */
static void find_record(struct chip *chip, uint32_t size, struct nocap_event *e)
{
    struct queue *q = &chip->queue;
    const struct nocap_queue *p = &protocol()->queue;
    uint32_t at = q->next, length = extent(chip, at, size);
    if (at + (length > size ? length : size) > p->issue + p->issue_size) {
        at = p->issue;
        length = extent(chip, at, size);
    }
    const uint8_t *bytes = memory_at(chip, at, size);
    if (bytes == NULL || length == 0) {
        q->lost = true; /* the host puts records elsewhere: nobody knows where the next one is */
        chip_tell(chip, TOLD_ALWAYS,
                  "no record of the command queue is where the next one should be: from here on "
                  "records are in the trace without their bytes");
        return;
    }
    e->addr = at;
    e->data = bytes;
    e->data_size = size;
    e->has |= NOCAP_F_ADDR | NOCAP_F_DATA;
    q->next = at + length;
}

bool queue_store(struct nocap_capture *capture, struct chip *chip, struct nocap_place place,
                 uint64_t addr, const void *from, size_t size)
{
    struct queue *q = &chip->queue;
    const struct nocap_queue *p = &protocol()->queue;
    uint32_t value = 0;
    if (place.multicast || (size != 2 && size != 4)) {
        return false;
    }
    memcpy(&value, from, size);
    if (size == 4) {
        keep_pointers(q, place.at, addr, value);
    }
    uint32_t slot = (uint32_t)(addr - p->queue) / p->entry_bytes;
    bool again = q->told && slot == q->slot && value == q->entry;
    if (size != p->entry_bytes || addr < p->queue || addr >= p->queue + queue_bytes(p) ||
        (addr - p->queue) % p->entry_bytes != 0 || value == 0) {
        return false;
    }
    if (!q->placed) {
        chip_tell(chip, TOLD_OTHER_QUEUE,
                  "a store to where slots of a prefetch queue lie, in tile %u,%u, and this process "
                  "has set up none: the records of such a queue are not in the trace",
                  place.at.x, place.at.y);
        return false;
    }
    if (!nocap_xy_equal(q->at, place.at) || again) {
        return false; /* a copy of two bytes may store them twice */
    }
    struct nocap_event record = {.kind = NOCAP_EV_CQ,
                                 .op = NOCAP_OP_RECORD,
                                 .chip = chip->live.number,
                                 .at = q->at,
                                 .slot_index = slot,
                                 .entry = value,
                                 .seq = ++q->seq,
                                 .has = NOCAP_F_AT | NOCAP_F_SLOT | NOCAP_F_ENTRY | NOCAP_F_SEQ};
    if (!q->lost) {
        find_record(chip, (value & (p->entry_stall - 1)) * p->entry_unit, &record);
    }
    q->told = true;
    q->slot = slot;
    q->entry = value;
    nocap_recorder_event(capture, &record);
    live_record_store(capture, place, addr, value, (unsigned)size, q->seq);
    return true;
}
