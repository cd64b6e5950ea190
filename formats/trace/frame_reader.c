/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/frame_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/trace.h"

enum {
    READ_STEP = 256 << 10,
    FRAME_BYTES_MAX =
        NOCAP_BLOCK_BYTES_MAX + (1 << 20), /* compressed; incompressible data grows a little */
    SKIPPABLE_MASK = 0x184D2A5,            /* magic number without its last hex digit */
};

size_t frame_reader_bytes(struct frame_reader *r, uint64_t offset, void *to, size_t size)
{
    int failure;
    size_t n = source_read(&r->source, offset, to, size, &failure);
    if (failure != 0 && r->failure == 0) {
        r->failure = failure;
        r->failed_at = offset + n;
    }
    return n;
}

enum frame_result frame_reader_no_memory(struct frame_reader *r, uint64_t offset)
{
    if (r->failure == 0) {
        r->failure = ENOMEM;
        r->failed_at = offset;
    }
    return FRAME_FAILED;
}

enum nocap_status frame_reader_failed(const struct frame_reader *r, const char *name,
                                      struct nocap_error *err)
{
    RETURN_ERROR_IF(r->failure == ENOMEM, err, NOCAP_E_MEMORY,
                    "out of memory while reading %s at byte %llu", name,
                    (unsigned long long)r->failed_at);
    RETURN_ERROR_IF(r->failure != 0, err, NOCAP_E_INPUT, "cannot read %s at byte %llu: %s", name,
                    (unsigned long long)r->failed_at, strerror(r->failure));
    return NOCAP_OK;
}

/* Takes over the table only if its sizes add up to exactly the place where it stands. */
static void load_seek_table(struct frame_reader *r)
{
    uint8_t footer[SEEK_FOOTER_SIZE];
    if (r->source.size < SEEK_FOOTER_SIZE + SKIPPABLE_HEADER_SIZE ||
        frame_reader_bytes(r, r->source.size - SEEK_FOOTER_SIZE, footer, sizeof footer) !=
            sizeof footer ||
        get_u32(footer + 5) != ZSTD_SEEKABLE_MAGIC) {
        return;
    }
    uint64_t count = get_u32(footer);
    uint64_t size = SKIPPABLE_HEADER_SIZE + count * SEEK_ENTRY_SIZE + SEEK_FOOTER_SIZE;
    if (count == 0 || count > SEEK_FRAMES_MAX || footer[4] != 0 || size > r->source.size) {
        return;
    }
    uint8_t *table = malloc((size_t)size);
    uint64_t *offsets = malloc((size_t)(count + 1) * sizeof *offsets);
    uint64_t start = r->source.size - size, offset = 0;
    if (table == NULL || offsets == NULL) {
        frame_reader_no_memory(r, start);
    } else if (frame_reader_bytes(r, start, table, (size_t)size) == size &&
               get_u32(table) == ZSTD_SKIPPABLE_SEEK &&
               get_u32(table + 4) == size - SKIPPABLE_HEADER_SIZE) {
        for (size_t i = 0; i < count; i++) {
            offsets[i] = offset;
            offset += get_u32(table + SKIPPABLE_HEADER_SIZE + i * SEEK_ENTRY_SIZE);
        }
        if (offset == start) {
            offsets[count] = start;
            r->offsets = offsets;
            r->frame_count = (size_t)count;
            offsets = NULL;
        }
    }
    free(table);
    free(offsets);
}

enum nocap_status frame_reader_open(struct frame_reader *r, const struct source *source,
                                    const char *name, struct nocap_error *err)
{
    *r = (struct frame_reader){.source = *source};
    r->zstd = ZSTD_createDCtx();
    enum nocap_status status = NOCAP_OK;
    if (r->zstd == NULL) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    } else {
        load_seek_table(r);
        status = frame_reader_failed(r, name, err);
    }
    if (status != NOCAP_OK) {
        frame_reader_close(r);
    }
    return status;
}

void frame_reader_close(struct frame_reader *r)
{
    source_close(&r->source);
    ZSTD_freeDCtx(r->zstd);
    free(r->raw.data);
    free(r->content.data);
    free(r->offsets);
}

size_t frame_number(const struct frame_reader *r, uint64_t offset)
{
    size_t low = 0, high = r->frame_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->offsets[middle] < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < r->frame_count && r->offsets[low] == offset ? low : SIZE_MAX;
}

/* Where the frame at `offset` ends by the seek table; 0: not known. */
static uint64_t end_by_table(const struct frame_reader *r, uint64_t offset)
{
    size_t number = frame_number(r, offset);
    return number != SIZE_MAX ? r->offsets[number + 1] : 0;
}

static enum frame_result damaged(struct frame_reader *r, uint64_t next, const char *why)
{
    r->next = next;
    snprintf(r->why, sizeof r->why, "%s", why);
    return FRAME_DAMAGED;
}

/* The next place after `offset` at which a frame seems to begin, the end of the file if none. */
static uint64_t find_magic(struct frame_reader *r, uint64_t offset)
{
    uint8_t buffer[4096];
    for (;;) {
        size_t n = frame_reader_bytes(r, offset, buffer, sizeof buffer);
        if (n < 4) {
            break;
        }
        for (size_t i = 0; i + 4 <= n; i++) {
            uint32_t magic = get_u32(buffer + i);
            if (magic == ZSTD_FRAME_MAGIC || magic == ZSTD_SKIPPABLE_SEEK) {
                return offset + i;
            }
        }
        offset += n - 3;
    }
    return r->source.size;
}

/* Reads the raw frame into `raw`. */
static enum frame_result read_raw(struct frame_reader *r, uint64_t offset, size_t *size)
{
    uint64_t end = end_by_table(r, offset);
    size_t want = end != 0 ? (size_t)(end - offset) : READ_STEP;
    for (;; want *= 2) {
        r->raw.size = 0;
        if (want > FRAME_BYTES_MAX) {
            return damaged(r, find_magic(r, offset + 1), "a frame is larger than any block may be");
        }
        if (!bytes_reserve(&r->raw, want)) {
            return frame_reader_no_memory(r, offset);
        }
        r->raw.size = frame_reader_bytes(r, offset, r->raw.data, want);
        if (r->failure != 0) {
            return FRAME_FAILED;
        }
        size_t n = ZSTD_findFrameCompressedSize(r->raw.data, r->raw.size);
        if (end != 0) {
            *size = want;
            return ZSTD_isError(n) || n != want
                       ? damaged(r, end, "a frame's own size is not that of the seek table")
                       : FRAME_GOOD;
        }
        if (!ZSTD_isError(n)) {
            *size = n;
            return FRAME_GOOD;
        }
        if (r->raw.size < want) { /* all there is */
            uint64_t next = find_magic(r, offset + 1);
            return next < r->source.size ? damaged(r, next, "a frame has no sound structure")
                                         : FRAME_CUT;
        }
    }
}

static enum frame_result read_frame(struct frame_reader *r, uint64_t offset)
{
    uint8_t magic[4];
    size_t n = frame_reader_bytes(r, offset, magic, sizeof magic);
    if (n == 0) {
        return FRAME_END;
    }
    if (n < sizeof magic) {
        return FRAME_CUT;
    }
    bool skippable = get_u32(magic) >> 4 == SKIPPABLE_MASK;
    if (!skippable && get_u32(magic) != ZSTD_FRAME_MAGIC) {
        uint64_t end = end_by_table(r, offset);
        return damaged(r, end != 0 ? end : find_magic(r, offset + 1),
                       "no frame where one should begin");
    }
    size_t size;
    enum frame_result result = read_raw(r, offset, &size);
    if (result != FRAME_GOOD) {
        return result;
    }
    r->next = offset + size;
    if (skippable) {
        return FRAME_SKIPPABLE;
    }
    unsigned long long content = ZSTD_getFrameContentSize(r->raw.data, size);
    if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN ||
        content > FRAME_BYTES_MAX) {
        return damaged(r, r->next, "a frame does not state a size that a block may have");
    }
    r->content.size = 0;
    if (!bytes_reserve(&r->content, (size_t)content + 1)) {
        return frame_reader_no_memory(r, offset);
    }
    size_t got = ZSTD_decompressDCtx(r->zstd, r->content.data, (size_t)content, r->raw.data, size);
    if (ZSTD_isError(got)) {
        return damaged(r, r->next, ZSTD_getErrorName(got));
    }
    r->content.size = got;
    return FRAME_GOOD;
}

enum frame_result frame_read(struct frame_reader *r, uint64_t offset)
{
    enum frame_result result = read_frame(r, offset);
    return r->failure != 0 ? FRAME_FAILED : result;
}
