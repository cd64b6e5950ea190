/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the bytes of one access to one memory, whatever kind of event it came from. */
#ifndef NOCAP_REPLAY_ACCESS_H
#define NOCAP_REPLAY_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/trace/event.h"

struct access {
    uint64_t addr, size;
    const uint8_t *bytes; /* what was written or read */
    uint64_t known;       /* how many bytes of it, from the first on; the rest was not captured */
    uint64_t hash;        /* FNV-1a of all bytes, if has_hash */
    bool has_hash;
    bool store;
    uint8_t by; /* enum nocap_agent */
};

static inline bool touches(const struct access *a, uint64_t addr, uint64_t size)
{
    return a->addr < addr + size && addr < a->addr + a->size;
}

/* The byte or word at `addr` as this access has it; false if it is not in it, or not captured. */
static inline bool access_byte(const struct access *a, uint64_t addr, uint8_t *v)
{
    if (addr < a->addr || addr - a->addr >= a->known) {
        return false;
    }
    *v = a->bytes[addr - a->addr];
    return true;
}

static inline bool access_word(const struct access *a, uint64_t addr, uint32_t *v)
{
    uint64_t at = addr - a->addr;
    if (addr < a->addr || at >= a->known || a->known - at < sizeof *v) {
        return false;
    }
    const uint8_t *b = a->bytes + at;
    *v = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return true;
}

/* Whether all bytes that are known are 0. */
static inline bool access_is_zero(const struct access *a)
{
    uint64_t i = 0;
    while (i < a->known && a->bytes[i] == 0) {
        i++;
    }
    return i == a->known;
}

/* Whether the word at `addr` may have been given `value` under `mask`: it was, or its bytes were
 * not captured. */
static inline bool may_store(const struct access *a, uint64_t addr, uint32_t mask, uint32_t value)
{
    uint32_t v = 0;
    return touches(a, addr, 4) && (!access_word(a, addr, &v) || (v & mask) == value);
}

/* The bytes of an event as an access to `addr`; the access is all zero before. */
static inline void access_fill(struct access *a, const struct nocap_event *e, uint64_t addr,
                               uint64_t size)
{
    a->addr = addr;
    a->size = size;
    a->by = e->by;
    a->store = e->kind == NOCAP_EV_WRITE;
    if ((e->has & NOCAP_F_VALUE) != 0) {
        a->bytes =
            (const uint8_t *)&e->value; /* little-endian, as the machines that nocap runs on */
        a->known = size < sizeof e->value ? size : sizeof e->value;
    } else if ((e->has & (NOCAP_F_DATA | NOCAP_F_HEAD)) != 0) {
        a->bytes = e->data;
        a->known = size < e->data_size ? size : e->data_size;
    }
    a->hash = e->hash;
    a->has_hash = (e->has & NOCAP_F_HASH) != 0;
}

static inline struct access access_of_event(const struct nocap_event *e, uint64_t addr,
                                            uint64_t size)
{
    struct access a = {0};
    access_fill(&a, e, addr, size);
    return a;
}

#endif
