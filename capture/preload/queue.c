/* SPDX-License-Identifier: Apache-2.0 */
/* Command-queue records, copied when the host tells the device of them. Where a queue is, its
 * set-up says: the host stores two pointers into the prefetcher's tile, the end of the slots and
 * then where the device finds the records, which is memory that the program gave it. Where the two
 * words are as in a profile, slots are too. Elsewhere the first store after them that announces
 * just the record at the start of that memory is the first slot. Records stand one after the
 * other. */
#include <string.h>

#include "capture/preload/preload.h"
#include "formats/blackhole/cq_commands.h"
#include "formats/blackhole/tile_map.h"
#include "formats/blackhole/xy.h"
#include "formats/profile/profile.h"

enum { PROFILES_MAX = 16 };
static struct nocap_profile profiles[PROFILES_MAX]; /* the first one is what the header says */
static unsigned profile_count;

void queue_begin(const struct nocap_header *header)
{
    const char *name;
    profile_count = 0;
    if (header->protocol != NULL) {
        profiles[profile_count++] = *header->protocol;
        return;
    }
    while (profile_count < PROFILES_MAX && (name = nocap_profile_name(profile_count)) != NULL &&
           nocap_profile_find(&profiles[profile_count], name, NULL) == NOCAP_OK) {
        profile_count++;
    }
}

static uint32_t slots_end(const struct nocap_queue *p)
{
    return p->queue + p->queue_slots * p->entry_bytes;
}

/* ---- set-up ---- */

/* Room for a queue: where it was before, or what looked like one and had no record. */
static struct queue *place_for(struct chip *chip, const struct queue *found)
{
    struct queue *unsure = NULL;
    for (unsigned i = 0; i < chip->queue_count; i++) {
        struct queue *q = &chip->queues[i];
        if (nocap_xy_equal(q->at, found->at) && q->pointer == found->pointer) {
            return q;
        }
        unsure = q->profile == NULL ? q : unsure;
    }
    return chip->queue_count < QUEUES_MAX ? &chip->queues[chip->queue_count++] : unsure;
}

/* The program's bytes for `size` bytes at `offset` from the first record; NULL: not known. */
static const uint8_t *memory_at(const struct chip *chip, const struct queue *q,
                                const struct nocap_queue *p, uint64_t offset, uint64_t size)
{
    return pin_bytes(chip, PIN_NOC, p->pcie_address_bit | (q->start + offset), size);
}

/* Takes a profile; it is reported if a reader of the trace would take another one. */
static void settle(struct chip *chip, struct queue *q, const struct nocap_profile *p)
{
    bool expected = profile_count == 1 || q->start == (uint32_t)p->queue.sysmem + p->queue.issue;
    q->profile = p;
    if (p == &profiles[0] && q->exact && expected) {
        return;
    }
    chip_report(
        chip, TOLD_ALWAYS,
        "the command queue of core %u,%u is not the one that the header means: prefetch_q entries "
        "of %u bits from 0x%x to 0x%x, commands from 0x%x on%s; profile %s, or one like it",
        q->at.x, q->at.y, 8 * p->queue.entry_bytes, q->slots, q->end, q->start,
        q->exact ? "" : ", addresses of its own", p->name);
}

/* The host tells where records begin, after the word that tells where slots end. */
static void set_up(struct chip *chip, struct nocap_xy at, uint64_t addr, uint32_t start)
{
    struct queue found = {
        .at = at, .pointer = chip->queue_end.addr, .end = chip->queue_end.value, .start = start};
    uint32_t like = 0;
    for (unsigned i = 0; i < profile_count; i++) {
        const struct nocap_queue *p = &profiles[i].queue;
        if (addr - found.pointer != p->pcie_ptr_echo - p->rd_ptr_echo || start < p->issue ||
            memory_at(chip, &found, p, 0, NOCAP_CQ_HEADER) == NULL) {
            continue;
        }
        like |= UINT32_C(1) << i;
        if (found.pointer == p->rd_ptr_echo && found.end == slots_end(p)) {
            found.candidates |= UINT32_C(1) << i;
            found.profile = found.profile == NULL ? &profiles[i] : found.profile;
        }
    }
    struct queue *q = like != 0 ? place_for(chip, &found) : NULL;
    if (found.profile != NULL) {
        found.slots = found.profile->queue.queue;
        found.exact = true;
    } else {
        found.candidates = like;
    }
    if (q != NULL) {
        *q = found;
        if (found.exact) {
            settle(chip, q, found.profile);
        }
    } else if (found.exact) {
        chip_report(chip, TOLD_ALWAYS,
                    "more command queues than can be followed: prefetch commands of that of core "
                    "%u,%u are not in the trace",
                    at.x, at.y);
    }
}

/* ---- records ---- */

/* Bytes that the records at `offset` take, of which an entry announces `size`: as their headers
 * say, which a wrong entry does not change. 0: there is no record. */
static uint32_t extent(const struct chip *chip, const struct queue *q,
                       const struct nocap_profile *p, uint32_t offset, uint32_t size)
{
    uint64_t total = 0, most = size < p->queue.entry_max ? size : p->queue.entry_max;
    while (total == 0 || total < most) {
        struct nocap_cq_record r;
        const uint8_t *bytes = memory_at(chip, q, &p->queue, offset + total, NOCAP_CQ_HEADER);
        if (bytes == NULL || offset + total + NOCAP_CQ_HEADER > p->queue.issue_size ||
            !nocap_cq_decode_record_by(&p->commands, bytes, NOCAP_CQ_HEADER, &r) ||
            r.consumed == 0 || r.consumed > p->queue.issue_size) {
            break;
        }
        total += r.consumed;
    }
    return (uint32_t)nocap_cq_align(total, p->queue.record_align);
}

/* Bytes that an entry announces. */
static uint32_t announced(const struct nocap_profile *p, uint32_t entry)
{
    uint64_t size = (uint64_t)(entry & (p->queue.entry_stall - 1)) * p->queue.entry_unit;
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

/* Whether the record at `offset` has just the size that the entry announces. */
static bool fits(const struct chip *chip, const struct queue *q, const struct nocap_profile *p,
                 uint32_t offset, uint32_t entry)
{
    uint32_t size = announced(p, entry);
    return size != 0 && (uint64_t)offset + size <= p->queue.issue_size &&
           extent(chip, q, p, offset, size) == size;
}

/* Whether the entry announces the record at `offset`, by the profile that was taken or by another
 * one that the queue may be of, which is taken then. */
static bool explained(struct chip *chip, struct queue *q, uint32_t offset, uint32_t entry)
{
    if (fits(chip, q, q->profile, offset, entry)) {
        return true;
    }
    for (unsigned i = 0; i < profile_count; i++) {
        if ((q->candidates >> i & 1) != 0 &&
            profiles[i].queue.entry_bytes == q->profile->queue.entry_bytes &&
            fits(chip, q, &profiles[i], offset, entry)) {
            settle(chip, q, &profiles[i]);
            return true;
        }
    }
    return false;
}

/* A queue with addresses of its own: the store announces just the first record. */
static bool begins_here(struct chip *chip, struct queue *q, uint32_t addr, uint32_t value,
                        unsigned width)
{
    for (unsigned i = 0; i < profile_count; i++) {
        if ((q->candidates >> i & 1) != 0 && profiles[i].queue.entry_bytes == width &&
            (q->end - addr) % width == 0 && fits(chip, q, &profiles[i], 0, value)) {
            q->slots = addr;
            settle(chip, q, &profiles[i]);
            return true;
        }
    }
    return false;
}

/* The queue to whose slots a store of `value` belongs; NULL: none. */
static struct queue *queue_of(struct chip *chip, struct nocap_xy at, uint64_t addr, uint32_t value,
                              unsigned width)
{
    for (unsigned i = 0; i < chip->queue_count; i++) {
        struct queue *q = &chip->queues[i];
        if (q->profile != NULL && nocap_xy_equal(q->at, at) && addr >= q->slots && addr < q->end) {
            return q;
        }
    }
    for (unsigned i = 0; i < chip->queue_count && value != 0; i++) {
        struct queue *q = &chip->queues[i];
        if (q->profile == NULL && nocap_xy_equal(q->at, at) && addr > q->pointer && addr < q->end &&
            begins_here(chip, q, (uint32_t)addr, value, width)) {
            return q;
        }
    }
    return NULL;
}

/* Where the record lies that an entry announces: after the one before, or at the start again. */
static uint32_t place_of_record(struct chip *chip, struct queue *q, uint32_t entry,
                                uint32_t *length)
{
    uint32_t at = q->next;
    bool here = explained(chip, q, at, entry);
    uint32_t size = announced(q->profile, entry);
    *length = extent(chip, q, q->profile, at, size);
    bool over = at + (*length > size ? *length : size) > q->profile->queue.issue_size;
    if (over || (!here && !q->exact && explained(chip, q, 0, entry))) {
        at = 0;
        *length = extent(chip, q, q->profile, at, size);
    }
    return at;
}

/* Fills in where the record is and its bytes, as far as the host keeps to its own rule. */
static void find_record(struct chip *chip, struct queue *q, struct nocap_event *e)
{
    uint32_t length, at = place_of_record(chip, q, (uint32_t)e->entry, &length);
    const struct nocap_queue *p = &q->profile->queue;
    uint32_t size = announced(q->profile, (uint32_t)e->entry);
    const uint8_t *bytes = memory_at(chip, q, p, at, size);
    if (bytes == NULL || length == 0) {
        q->lost = true; /* the host puts records elsewhere: where the next one is is unknown */
        chip_report(chip, TOLD_ALWAYS,
                    "no prefetch command is where the next one should be: from here on prefetch "
                    "commands are in the trace without their bytes");
        return;
    }
    e->addr = p->issue + at;
    e->data = bytes;
    e->data_size = size;
    e->has |= NOCAP_F_ADDR | NOCAP_F_DATA;
    q->next = at + length;
}

/* ---- stores ---- */

static void keep_pointers(struct chip *chip, struct nocap_xy at, uint64_t addr, uint32_t value)
{
    if (addr >= NOCAP_L1_SIZE) {
        return;
    }
    if (chip->queue_end.value != 0 && nocap_xy_equal(chip->queue_end.at, at)) {
        set_up(chip, at, addr, value);
    }
    bool after = value > addr && value < NOCAP_L1_SIZE; /* as slots lie after their pointer */
    chip->queue_end.at = at;
    chip->queue_end.addr = (uint32_t)addr;
    chip->queue_end.value = after ? value : 0;
}

/* A store to the prefetch queue of a profile that the header says, or means. */
static bool is_slot(uint64_t addr, size_t size)
{
    const struct nocap_queue *p = &profiles[0].queue;
    return size == p->entry_bytes && addr >= p->queue && addr < slots_end(p) &&
           (addr - p->queue) % p->entry_bytes == 0;
}

bool queue_store(struct nocap_capture *capture, struct chip *chip, struct nocap_place place,
                 uint64_t addr, const void *from, size_t size)
{
    uint32_t value = 0;
    if (place.multicast || (size != 2 && size != 4)) {
        return false;
    }
    memcpy(&value, from, size);
    struct queue *q = queue_of(chip, place.at, addr, value, (unsigned)size);
    if (q == NULL) {
        if (value != 0 && is_slot(addr, size)) {
            chip_report(
                chip, TOLD_OTHER_QUEUE,
                "a store to where entries of a prefetch_q lie, in core %u,%u, and this process has "
                "set up none: the commands of such a queue are not in the trace",
                place.at.x, place.at.y);
        }
        if (size == 4) {
            keep_pointers(chip, place.at, addr, value);
        }
        return false;
    }
    uint32_t slot = (uint32_t)(addr - q->slots) / (uint32_t)size;
    bool again = q->told && slot == q->slot && value == q->entry;
    if (value == 0 || size != q->profile->queue.entry_bytes || (addr - q->slots) % size != 0 ||
        again) {
        return false; /* a copy of two bytes may store them twice */
    }
    struct nocap_event record = {.kind = NOCAP_EV_CQ,
                                 .op = NOCAP_OP_RECORD,
                                 .chip = chip->live.number,
                                 .at = q->at,
                                 .slot_index = slot,
                                 .entry = value,
                                 .seq = ++chip->queue_seq,
                                 .has = NOCAP_F_AT | NOCAP_F_SLOT | NOCAP_F_ENTRY | NOCAP_F_SEQ};
    if (!q->lost) {
        find_record(chip, q, &record);
    }
    q->told = true;
    q->slot = slot;
    q->entry = value;
    nocap_recorder_event(capture, &record);
    live_record_store(capture, place, addr, value, (unsigned)size, chip->queue_seq);
    return true;
}
