/* SPDX-License-Identifier: Apache-2.0 */
/* Traces with another footer than their own, for tests. */
#ifndef NOCAP_TESTS_FOOTER_LIE_H
#define NOCAP_TESTS_FOOTER_LIE_H

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "formats/trace/footer.h"
#include "formats/trace/frame.h"

typedef void lie(Nocap__Footer *footer, const void *context);

static inline void lie_require(bool ok)
{
    if (!ok) {
        abort();
    }
}

/* The frame of a footer, compressed. */
static inline size_t lie_pack(const Nocap__Footer *footer, uint8_t *to, size_t room,
                              uint32_t *content)
{
    size_t size = nocap__footer__get_packed_size(footer), used = 1;
    uint8_t *all = malloc(size + 16);
    lie_require(all != NULL);
    all[0] = TRACE_FOOTER << 3 | 2;
    for (size_t v = size; v != 0; v >>= 7) {
        all[used++] = (uint8_t)((v & 127) | (v >> 7 != 0 ? 128 : 0));
    }
    nocap__footer__pack(footer, all + used);
    *content = (uint32_t)(used + size);
    size_t n = ZSTD_compress(to, room, all, used + size, 1);
    lie_require(!ZSTD_isError(n));
    free(all);
    return n;
}

/* Changes the footer of a small trace; the caller frees what comes of it. */
static inline uint8_t *lie_told(const uint8_t *bytes, size_t size, lie *change, const void *context,
                                size_t *new_size)
{
    enum { ROOM = 1 << 14 };
    uint8_t content[ROOM], packed[ROOM];
    size_t frames = get_u32(bytes + size - SEEK_FOOTER_SIZE);
    size_t table = size - SEEK_FOOTER_SIZE - frames * SEEK_ENTRY_SIZE;
    size_t last = table + (frames - 1) * SEEK_ENTRY_SIZE, old = get_u32(bytes + last);
    size_t begin = table - SKIPPABLE_HEADER_SIZE - old;
    size_t n = ZSTD_decompress(content, sizeof content, bytes + begin, old);
    struct span message = {content, content + n};
    uint64_t skipped;
    lie_require(!ZSTD_isError(n) && span_varint(&message, &skipped) &&
                span_varint(&message, &skipped));
    bool no_memory;
    Nocap__Footer *footer = footer_unpack(&message, &no_memory);
    lie_require(footer != NULL);
    change(footer, context);
    uint32_t content_size;
    size_t packed_size = lie_pack(footer, packed, sizeof packed, &content_size);
    footer_free(footer);
    uint8_t *out = malloc(size + packed_size);
    lie_require(out != NULL);
    memcpy(out, bytes, begin);
    memcpy(out + begin, packed, packed_size);
    memcpy(out + begin + packed_size, bytes + begin + old, size - begin - old);
    put_u32(out + last - old + packed_size, (uint32_t)packed_size);
    put_u32(out + last - old + packed_size + 4, content_size);
    *new_size = size - old + packed_size;
    return out;
}

#endif
