/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/by_place.h"

#include <stdlib.h>

#include "formats/trace/block.h"

bool shape_runs_reserve(struct shape_runs *runs, bool first, size_t events)
{
    runs->used = first ? 1 : runs->used;
    const size_t used = runs->used * sizeof *runs->run, more = events * sizeof *runs->run;
    if (runs->size < used + more && !buffer_widen(&runs->run, &runs->size, used, more)) {
        return false;
    }
    runs->run[0].used = RUN_BYTES;
    return true;
}

struct shape_run *shape_runs_begin(struct shape_runs *runs, struct at_place *at)
{
    const uint32_t number = runs->used++;
    if (at->events == 0) {
        at->first = number;
    } else {
        runs->run[at->last].next = number;
    }
    at->last = number;
    runs->run[number].used = 0;
    return &runs->run[number];
}

bool shape_runs_pack(const struct shape_runs *runs, const struct at_place *at, struct bytes *out)
{
    bool ok = true;
    for (uint32_t i = at->first; ok && i != at->last; i = runs->run[i].next) {
        ok = bytes_append(out, runs->run[i].bytes, runs->run[i].used);
    }
    return ok && bytes_append(out, runs->run[at->last].bytes, runs->run[at->last].used);
}

void by_place_free(struct by_place *b)
{
    free(b->shape);
}

static bool make_room(struct by_place *b, size_t count)
{
    const size_t size = count * sizeof *b->shape;
    return size <= b->size || buffer_widen(&b->shape, &b->size, 0, size);
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
        return block_no_memory;
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
