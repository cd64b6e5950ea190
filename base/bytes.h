/* SPDX-License-Identifier: Apache-2.0 */
/* Growing byte buffers and protobuf varints. */
#ifndef NOCAP_BASE_BYTES_H
#define NOCAP_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

/* Widens `data`, a pointer to a buffer, to hold `size` + `more` bytes; false: no memory. */
bool buffer_widen(void *data, size_t *capacity, size_t size, size_t more);

/* Makes room for `more` bytes; false: no memory. */
static inline bool bytes_reserve(struct bytes *b, size_t more)
{
    return __builtin_expect(b->capacity - b->size >= more, 1) ||
           buffer_widen(&b->data, &b->capacity, b->size, more);
}

static inline bool bytes_append(struct bytes *b, const void *data, size_t size)
{
    if (!bytes_reserve(b, size)) {
        return false;
    }
    if (size > 0) {
        memcpy(b->data + b->size, data, size);
    }
    b->size += size;
    return true;
}

#define VARINT_MAX 10 /* bytes of a 64-bit varint at most */

/* The end of `v` at `p`, where room for VARINT_MAX bytes must be. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

/* The same there. */
static inline void bytes_varint(struct bytes *b, uint64_t v)
{
    b->size = (size_t)(varint_put(b->data + b->size, v) - b->data);
}

static inline uint64_t zigzag(uint64_t difference)
{
    return (difference << 1) ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t unzigzag(uint64_t v)
{
    return (v >> 1) ^ (0 - (v & 1));
}

/* A part of a message that is being read; `at` == NULL: absent. */
struct span {
    const uint8_t *at, *end;
};

/* False at the end or on a varint of more than 64 bits. */
static inline bool span_varint(struct span *s, uint64_t *v)
{
    const uint8_t *p = s->at;
    if (__builtin_expect(p < s->end && *p < 0x80, 1)) {
        *v = *p;
        s->at = p + 1;
        return true;
    }
    if (s->end - p >= 2 && p[1] < 0x80) {
        *v = (p[0] & 0x7Fu) | (uint64_t)p[1] << 7;
        s->at = p + 2;
        return true;
    }
    uint64_t result = 0;
    for (unsigned shift = 0; shift < 70 && p < s->end; shift += 7) {
        uint64_t byte = *p++;
        result |= (byte & 0x7F) << (shift & 63);
        if (byte < 0x80) {
            s->at = p;
            *v = result;
            return shift < 63 || byte < 2;
        }
    }
    return false;
}

#endif
