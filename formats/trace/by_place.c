/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/by_place.h"

#include <stdlib.h>

enum { ROOM = 256 }; /* entries get room for so many at a time */

void by_place_free(struct by_place *b)
{
    free(b->shape);
}

static bool make_room(struct by_place *b, size_t count)
{
    const size_t size = count * sizeof *b->shape;
    return size <= b->size || buffer_widen(&b->shape, &b->size, 0, size);
}

/* Entries of one byte each, as most are: true if all of them were. */
static inline bool put_small(const uint16_t *entry, size_t count, uint8_t *to)
{
    uint16_t all = 0;
    for (size_t i = 0; i < count; i++) {
        to[i] = (uint8_t)entry[i];
        all |= entry[i];
    }
    return all < 0x80;
}

static bool put_entries(const uint16_t *entry, size_t count, struct bytes *out)
{
    for (size_t done = 0; done < count; done += ROOM) {
        const size_t part = count - done < ROOM ? count - done : ROOM;
        if (!bytes_reserve(out, (size_t)ROOM * VARINT_MAX)) {
            return false;
        }
        if (put_small(entry + done, part, out->data + out->size)) {
            out->size += part;
            continue;
        }
        for (size_t i = 0; i < part; i++) {
            bytes_varint(out, entry[done + i]);
        }
    }
    return true;
}

bool by_place_pack(struct by_place *b, const struct by_place_event *events, size_t count,
                   uint32_t *next, uint32_t places, struct bytes *out)
{
    if (!make_room(b, count)) {
        return false;
    }
    uint32_t start = 0;
    for (uint32_t p = 0; p < places; p++) {
        const uint32_t n = next[p];
        next[p] = start;
        start += n;
    }
    for (size_t i = 0; i < count; i++) {
        b->shape[next[events[i].place]++] = events[i].shape;
    }
    return put_entries(b->shape, count, out);
}

/* The next eight entries, if each is of one byte. */
static inline bool take_eight(const uint8_t *at, uint16_t *to)
{
    uint64_t eight;
    memcpy(&eight, at, sizeof eight);
    if ((eight & UINT64_C(0x8080808080808080)) != 0) {
        return false;
    }
    for (unsigned i = 0; i < sizeof eight; i++) {
        to[i] = at[i];
    }
    return true;
}

const char *by_place_unpack(struct by_place *b, struct span column, uint32_t count)
{
    enum { EIGHT = 8 };
    /* An entry is a byte at least: no claim of a count makes room for more than there is. */
    if ((size_t)(column.end - column.at) < count) {
        return "the block's column of shapes ends early";
    }
    if (!make_room(b, count)) {
        return "out of memory";
    }
    for (uint32_t i = 0; i < count;) {
        if (count - i >= EIGHT && column.end - column.at >= EIGHT &&
            take_eight(column.at, b->shape + i)) {
            i += EIGHT;
            column.at += EIGHT;
            continue;
        }
        for (uint32_t end = count - i < EIGHT ? count : i + EIGHT; i < end; i++) {
            uint64_t shape;
            if (!span_varint(&column, &shape) || shape >= BLOCK_SHAPES_MAX) {
                return "the block's column of shapes does not decode";
            }
            b->shape[i] = (uint16_t)shape;
        }
    }
    return column.at == column.end ? NULL : "the block's columns hold more than its events";
}
