/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/trace/block.h"
#include "formats/trace/frame.h"
#include "formats/trace/nocap.pb-c.h"

/* Blocks grow, so that a short trace that is cut has lost no more than half. */
enum { DEFAULT_LEVEL = 1, FIRST_BLOCK_EVENTS = 1024, DEFAULT_BLOCK_EVENTS = 65536 };

enum { PART_OVERHEAD = 8 }; /* bytes that a zstd block of its own adds at most */

/* What the footer says about a block, and the seek table about a frame. */
struct block_entry {
    uint32_t events;
    uint64_t first_time, last_time;
};
struct frame_entry {
    uint32_t compressed, decompressed;
};

struct nocap_writer {
    int fd;
    bool owns_fd;
    char *name;
    uint32_t block_events; /* of the block that is being filled */
    uint32_t room;         /* how many of them are yet to come */
    bool grows;
    struct block_encoder *encoder;
    ZSTD_CCtx *zstd;
    struct bytes message, compressed;
    struct block_parts parts; /* of the message */
    struct bytes blocks;      /* of struct block_entry */
    struct bytes frames;      /* of struct frame_entry */
    struct nocap_trace_totals totals;
    uint64_t last_time;
    bool time_ordered;
    uint64_t cut_line;    /* 0: not cut */
    char cut_damage[160]; /* "": the text ends there */
};

static enum nocap_status write_all(struct nocap_writer *w, const void *data, size_t size,
                                   struct nocap_error *err)
{
    const uint8_t *p = data;
    while (size > 0) {
        ssize_t n = write(w->fd, p, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        RETURN_ERROR_IF(n < 0, err, NOCAP_E_OUTPUT, "cannot write %s: %s", w->name,
                        strerror(errno));
        p += n;
        size -= (size_t)n;
        w->totals.bytes += (uint64_t)n;
    }
    return NOCAP_OK;
}

static size_t compress_until(struct nocap_writer *w, ZSTD_inBuffer *in, size_t end,
                             ZSTD_EndDirective directive)
{
    ZSTD_outBuffer out = {w->compressed.data, w->compressed.capacity, w->compressed.size};
    in->size = end;
    size_t n = ZSTD_compressStream2(w->zstd, &out, in, directive);
    w->compressed.size = out.pos;
    return n;
}

/* The pending message after `head`, its tag and length: a block of zstd's for each part, so that
 * the statistics of one column do not spoil the next one's. An error code of zstd's, or not. */
static size_t compress_parts(struct nocap_writer *w, const struct bytes *head)
{
    ZSTD_inBuffer in = {head->data, 0, 0};
    size_t n = ZSTD_CCtx_setPledgedSrcSize(w->zstd, head->size + w->message.size);
    if (!ZSTD_isError(n)) {
        n = compress_until(w, &in, head->size, ZSTD_e_continue);
    }
    in = (ZSTD_inBuffer){w->message.data, 0, 0};
    for (unsigned i = 0; i < w->parts.count && !ZSTD_isError(n); i++) {
        n = compress_until(w, &in, w->parts.end[i], ZSTD_e_flush);
    }
    return ZSTD_isError(n) ? n : compress_until(w, &in, w->message.size, ZSTD_e_end);
}

/* One frame: field `number` of Trace with the pending message as its content. */
static enum nocap_status write_frame(struct nocap_writer *w, enum trace_field number,
                                     struct nocap_error *err)
{
    static const char no_memory[] = "out of memory while writing %s";
    uint8_t tag_and_length[2 * VARINT_MAX];
    struct bytes head = {tag_and_length, 0, sizeof tag_and_length};
    bytes_varint(&head, (uint64_t)number << 3 | 2);
    bytes_varint(&head, w->message.size);
    const size_t size = head.size + w->message.size;

    w->compressed.size = 0;
    RETURN_ERROR_IF(!bytes_reserve(&w->compressed, ZSTD_compressBound(size) +
                                                       (size_t)w->parts.count * PART_OVERHEAD),
                    err, NOCAP_E_MEMORY, no_memory, w->name);
    size_t n = compress_parts(w, &head);
    w->message.size = 0;
    w->parts.count = 0;
    RETURN_ERROR_IF(ZSTD_isError(n), err, NOCAP_E_INTERNAL, "cannot compress a block of %s: %s",
                    w->name, ZSTD_getErrorName(n));
    struct frame_entry entry = {(uint32_t)w->compressed.size, (uint32_t)size};
    RETURN_ERROR_IF(!bytes_append(&w->frames, &entry, sizeof entry), err, NOCAP_E_MEMORY, no_memory,
                    w->name);
    return write_all(w, w->compressed.data, w->compressed.size, err);
}

static enum nocap_status writer_new(struct nocap_writer **writer, int fd, bool owns_fd,
                                    const char *name, const struct nocap_header *header,
                                    const struct nocap_writer_options *options,
                                    struct nocap_error *err)
{
    struct nocap_writer *w = calloc(1, sizeof *w);
    enum nocap_status status = NOCAP_E_MEMORY;
    if (w == NULL) {
        nocap_fail(err, status, "out of memory");
        goto fail;
    }
    *w = (struct nocap_writer){.fd = fd,
                               .owns_fd = owns_fd,
                               .time_ordered = true,
                               .name = strdup(name),
                               .block_events = FIRST_BLOCK_EVENTS,
                               .grows = true,
                               .encoder = block_encoder_new(),
                               .zstd = ZSTD_createCCtx()};
    if (w->name == NULL || w->encoder == NULL || w->zstd == NULL) {
        nocap_fail(err, status, "out of memory");
        goto fail;
    }
    if (options != NULL && options->block_events != 0) {
        w->grows = false;
        w->block_events = options->block_events < NOCAP_BLOCK_EVENTS_MAX ? options->block_events
                                                                         : NOCAP_BLOCK_EVENTS_MAX;
    }
    w->room = w->block_events;
    int level = options != NULL && options->level != 0 ? options->level : DEFAULT_LEVEL;
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
    status = header_pack(&w->message, header, err);
    if (status == NOCAP_OK) {
        *writer = w;
        return NOCAP_OK;
    }
fail:
    if (w != NULL) {
        w->owns_fd = false; /* still the caller's */
    }
    nocap_writer_abandon(w);
    return status;
}

enum nocap_status nocap_writer_open_fd(struct nocap_writer **writer, int fd,
                                       const struct nocap_header *header,
                                       const struct nocap_writer_options *options,
                                       struct nocap_error *err)
{
    return writer_new(writer, fd, false, "the trace", header, options, err);
}

enum nocap_status nocap_writer_open(struct nocap_writer **writer, const char *path,
                                    const struct nocap_header *header,
                                    const struct nocap_writer_options *options,
                                    struct nocap_error *err)
{
    if (strcmp(path, "-") == 0) {
        return writer_new(writer, STDOUT_FILENO, false, "standard output", header, options, err);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    RETURN_ERROR_IF(fd < 0, err, NOCAP_E_OUTPUT, "cannot create %s: %s", path, strerror(errno));
    enum nocap_status status = writer_new(writer, fd, true, path, header, options, err);
    if (status != NOCAP_OK) {
        close(fd);
    }
    return status;
}

/* Takes what the block adds to the file's sums. */
static void add_summary(struct nocap_writer *w, const struct block_summary *block)
{
    struct nocap_trace_totals *totals = &w->totals;
    bool any = totals->events != 0;
    w->time_ordered &= block->ordered && (!any || block->first >= w->last_time);
    totals->t_first = !any || block->earliest < totals->t_first ? block->earliest : totals->t_first;
    totals->t_last = !any || block->latest > totals->t_last ? block->latest : totals->t_last;
    w->last_time = block->last;
    totals->events += block->count;
    totals->blocks++;
}

enum nocap_status nocap_writer_flush(struct nocap_writer *w, struct nocap_error *err)
{
    const struct block_summary block = *block_encoder_summary(w->encoder);
    if (w->frames.size == 0) { /* the message is the header still */
        RETURN_IF_FAILED(write_frame(w, TRACE_HEADER, err));
    }
    if (block.count == 0) {
        return NOCAP_OK;
    }
    const struct block_entry entry = {block.count, block.earliest, block.latest};
    RETURN_ERROR_IF(!block_encoder_finish(w->encoder, w->totals.events, &w->message, &w->parts) ||
                        !bytes_append(&w->blocks, &entry, sizeof entry),
                    err, NOCAP_E_MEMORY, "out of memory while writing %s", w->name);
    add_summary(w, &block);
    if (w->grows && w->block_events < DEFAULT_BLOCK_EVENTS) {
        w->block_events *= 2;
    }
    w->room = w->block_events;
    return write_frame(w, TRACE_BLOCK, err);
}

/* What is to be done after an event: the block ends, or the event was not added. */
static __attribute__((noinline)) enum nocap_status settle(struct nocap_writer *w,
                                                          const struct nocap_event *event,
                                                          enum block_state state,
                                                          struct nocap_error *err)
{
    const uint64_t index = w->totals.events + block_encoder_summary(w->encoder)->count;
    switch (state) {
    case BLOCK_NO_MEMORY:
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory while writing %s", w->name);
    case BLOCK_NO_EVENT:
        return nocap_fail(err, NOCAP_E_USAGE,
                          "event %" PRIu64 " is none: its kind, op or a field in `has` is not one "
                          "that it may have",
                          index);
    case BLOCK_TOO_LONG:
        return nocap_fail(
            err, NOCAP_E_USAGE,
            "event %" PRIu64 " carries %u bytes of data, an event may have %d; split it", index,
            event->data_size > event->extra_size ? event->data_size : event->extra_size,
            NOCAP_PAYLOAD_MAX);
    case BLOCK_OPEN:
    case BLOCK_FULL: break;
    }
    return nocap_writer_flush(w, err);
}

enum nocap_status nocap_writer_add(struct nocap_writer *w, const struct nocap_event *event,
                                   struct nocap_error *err)
{
    enum block_state state = block_encoder_add(w->encoder, event);
    return __builtin_expect(state == BLOCK_OPEN && --w->room != 0, 1)
               ? NOCAP_OK
               : settle(w, event, state, err);
}

size_t nocap_writer_add_rows(struct nocap_writer *w, struct nocap_event *like,
                             const struct access_row *rows, size_t n, enum nocap_status *status,
                             struct nocap_error *err)
{
    enum block_state state;
    const size_t added =
        block_encoder_add_rows(w->encoder, like, rows, n < w->room ? n : w->room, &state);
    w->room -= (uint32_t)added;
    *status = state == BLOCK_OPEN && w->room != 0 ? NOCAP_OK : settle(w, like, state, err);
    return added;
}

void nocap_writer_totals(const struct nocap_writer *w, struct nocap_trace_totals *totals)
{
    *totals = w->totals;
}

uint64_t nocap_writer_blocks(const struct nocap_writer *w)
{
    return w->totals.blocks;
}

void nocap_writer_cut(struct nocap_writer *w, uint64_t line, const char *damage)
{
    w->cut_line = line;
    snprintf(w->cut_damage, sizeof w->cut_damage, "%s", damage != NULL ? damage : "");
}

static enum nocap_status write_footer(struct nocap_writer *w, struct nocap_error *err)
{
    const struct block_entry *entries = (const void *)w->blocks.data;
    size_t n = (size_t)w->totals.blocks;
    Nocap__Footer m = NOCAP__FOOTER__INIT;
    m.events = w->totals.events;
    m.blocks = w->totals.blocks;
    m.has_first_time = m.has_last_time = w->totals.events != 0;
    m.first_time = w->totals.t_first;
    m.last_time = w->totals.t_last;
    m.has_time_ordered = true;
    m.time_ordered = w->time_ordered;
    m.has_cut_line = w->cut_line != 0;
    m.cut_line = w->cut_line;
    m.cut_damage = w->cut_damage[0] != 0 ? w->cut_damage : NULL;
    m.n_block_events = m.n_block_first_time = m.n_block_last_time = n;
    m.block_events = calloc(n + 1, sizeof *m.block_events);
    m.block_first_time = calloc(2 * n + 1, sizeof *m.block_first_time);
    if (m.block_events == NULL || m.block_first_time == NULL) {
        free(m.block_events);
        free(m.block_first_time);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory while writing %s", w->name);
    }
    m.block_last_time = m.block_first_time + n;
    for (size_t i = 0; i < n; i++) {
        m.block_events[i] = entries[i].events;
        m.block_first_time[i] = entries[i].first_time;
        m.block_last_time[i] = entries[i].last_time;
    }
    bool ok = bytes_reserve(&w->message, nocap__footer__get_packed_size(&m));
    if (ok) {
        w->message.size = nocap__footer__pack(&m, w->message.data);
    }
    free(m.block_events);
    free(m.block_first_time);
    RETURN_ERROR_IF(!ok, err, NOCAP_E_MEMORY, "out of memory while writing %s", w->name);
    return write_frame(w, TRACE_FOOTER, err);
}

static enum nocap_status write_seek_table(struct nocap_writer *w, struct nocap_error *err)
{
    const struct frame_entry *entries = (const void *)w->frames.data;
    size_t n = w->frames.size / sizeof *entries;
    size_t content = n * SEEK_ENTRY_SIZE + SEEK_FOOTER_SIZE;
    struct bytes *out = &w->compressed;
    out->size = 0;
    RETURN_ERROR_IF(!bytes_reserve(out, SKIPPABLE_HEADER_SIZE + content), err, NOCAP_E_MEMORY,
                    "out of memory while writing %s", w->name);
    uint8_t *p = out->data;
    put_u32(p, ZSTD_SKIPPABLE_SEEK);
    put_u32(p + 4, (uint32_t)content);
    p += SKIPPABLE_HEADER_SIZE;
    for (size_t i = 0; i < n; i++, p += SEEK_ENTRY_SIZE) {
        put_u32(p, entries[i].compressed);
        put_u32(p + 4, entries[i].decompressed);
    }
    put_u32(p, (uint32_t)n);
    p[4] = 0; /* no checksums here: every frame has its own */
    put_u32(p + 5, ZSTD_SEEKABLE_MAGIC);
    return write_all(w, out->data, SKIPPABLE_HEADER_SIZE + content, err);
}

enum nocap_status nocap_writer_close(struct nocap_writer *w, struct nocap_trace_totals *totals,
                                     struct nocap_error *err)
{
    enum nocap_status status = nocap_writer_flush(w, err);
    if (status == NOCAP_OK) {
        status = write_footer(w, err);
    }
    if (status == NOCAP_OK) {
        status = write_seek_table(w, err);
    }
    if (totals != NULL) {
        *totals = w->totals;
    }
    if (w->owns_fd && close(w->fd) != 0 && status == NOCAP_OK) {
        status = nocap_fail(err, NOCAP_E_OUTPUT, "cannot write %s: %s", w->name, strerror(errno));
    }
    w->owns_fd = false;
    nocap_writer_abandon(w);
    return status;
}

void nocap_writer_abandon(struct nocap_writer *w)
{
    if (w == NULL) {
        return;
    }
    if (w->owns_fd) {
        close(w->fd);
    }
    block_encoder_free(w->encoder);
    ZSTD_freeCCtx(w->zstd);
    free(w->message.data);
    free(w->compressed.data);
    free(w->blocks.data);
    free(w->frames.data);
    free(w->name);
    free(w);
}
