/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/reader_private.h"

#include <stdlib.h>
#include <string.h>

/* With a sound seek table the footer is known from the start; without it, from when it is met. */
static void load_footer(struct nocap_reader *r)
{
    const struct frame_reader *f = &r->frames;
    uint64_t field, at = f->frame_count >= 2 ? f->offsets[f->frame_count - 1] : 0;
    struct span message;
    bool no_memory = false;
    if (f->frame_count >= 2 && frame_read(&r->frames, at) == FRAME_GOOD &&
        reader_split(&r->frames.content, &field, &message) && field == TRACE_FOOTER) {
        r->footer = footer_unpack(&message, &no_memory);
    }
    if (no_memory) {
        frame_reader_no_memory(&r->frames, at);
    }
}

static enum nocap_status read_header(struct nocap_reader *r, const char *name,
                                     struct nocap_error *err)
{
    uint8_t magic[4] = {0};
    size_t n = frame_reader_bytes(&r->frames, 0, magic, sizeof magic);
    RETURN_ERROR_IF(n == sizeof magic && get_u32(magic) != ZSTD_FRAME_MAGIC, err, NOCAP_E_INPUT,
                    "%s is no .nocap file: it does not begin like one", name);
    enum frame_result result = frame_read(&r->frames, 0);
    uint64_t field = 0;
    struct span message;
    RETURN_IF_FAILED(frame_reader_failed(&r->frames, name, err));
    RETURN_ERROR_IF(result == FRAME_END, err, NOCAP_E_INPUT, "%s is empty, not a nocap trace",
                    name);
    RETURN_ERROR_IF(result == FRAME_CUT, err, NOCAP_E_INPUT,
                    "%s is no nocap trace, or is cut within its header", name);
    RETURN_ERROR_IF(result == FRAME_DAMAGED, err, NOCAP_E_INPUT,
                    "%s is no nocap trace, or its header is damaged: %s", name, r->frames.why);
    RETURN_ERROR_IF(
        result != FRAME_GOOD || !reader_split(&r->frames.content, &field, &message) ||
            field != TRACE_HEADER,
        err, NOCAP_E_INPUT,
        "%s is no nocap trace: it is compressed, but does not begin with a trace header", name);
    r->offset = r->first_block = r->frames.next;
    enum nocap_status status =
        header_unpack(&r->header, message.at, (size_t)(message.end - message.at), err);
    return status == NOCAP_OK ? status : nocap_fail_context(err, status, "%s", name);
}

static enum nocap_status prepare(struct nocap_reader *r, struct nocap_error *err)
{
    r->decoder = block_decoder_new();
    r->events = malloc(READER_BATCH * sizeof *r->events);
    RETURN_ERROR_IF(r->decoder == NULL || r->events == NULL, err, NOCAP_E_MEMORY, "out of memory");
    RETURN_IF_FAILED(read_header(r, r->name, err));
    load_footer(r);
    return frame_reader_failed(&r->frames, r->name, err);
}

/* Takes the source over. */
static enum nocap_status open_any(struct nocap_reader **reader, struct source *source,
                                  const char *name, struct nocap_error *err)
{
    struct nocap_reader *r = calloc(1, sizeof *r);
    char *copy = strdup(name);
    if (r == NULL || copy == NULL) {
        free(r);
        free(copy);
        source_close(source);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    }
    r->name = copy;
    nocap_header_init(&r->header);
    r->whole = true;
    r->limit = UINT64_MAX;
    enum nocap_status status = frame_reader_open(&r->frames, source, name, err);
    if (status != NOCAP_OK) {
        free(r->name);
        free(r);
        return status;
    }
    status = prepare(r, err);
    if (status != NOCAP_OK) {
        nocap_reader_close(r);
        return status;
    }
    *reader = r;
    return NOCAP_OK;
}

enum nocap_status nocap_reader_open(struct nocap_reader **reader, const char *path,
                                    struct nocap_error *err)
{
    struct source source;
    RETURN_IF_FAILED(source_open(&source, path, err));
    return open_any(reader, &source, strcmp(path, "-") == 0 ? "standard input" : path, err);
}

enum nocap_status nocap_reader_open_fd(struct nocap_reader **reader, int fd, const char *name,
                                       struct nocap_error *err)
{
    struct source source;
    RETURN_IF_FAILED(source_open_fd(&source, fd, name, err));
    return open_any(reader, &source, name, err);
}

enum nocap_status nocap_reader_open_memory(struct nocap_reader **reader, const void *bytes,
                                           size_t size, struct nocap_error *err)
{
    struct source source = {.fd = -1, .memory = bytes, .size = size};
    return open_any(reader, &source, "the trace", err);
}

enum nocap_status nocap_reader_again(struct nocap_reader **again, const struct nocap_reader *r,
                                     struct nocap_error *err)
{
    const struct source *source = &r->frames.source;
    return source->fd < 0 ? nocap_reader_open_memory(again, source->memory, source->size, err)
                          : nocap_reader_open_fd(again, source->fd, r->name, err);
}

void nocap_reader_close(struct nocap_reader *r)
{
    if (r == NULL) {
        return;
    }
    footer_free(r->footer);
    nocap_header_free(&r->header);
    frame_reader_close(&r->frames);
    block_decoder_free(r->decoder);
    free(r->events);
    free(r->name);
    free(r);
}

const struct nocap_header *nocap_reader_header(const struct nocap_reader *r)
{
    return &r->header;
}

struct nocap_header *nocap_reader_own_header(struct nocap_reader *r)
{
    return &r->header;
}

enum nocap_status nocap_reader_next(struct nocap_reader *r, const struct nocap_event **events,
                                    size_t *count, struct nocap_error *err)
{
    while (!r->ended) {
        if (block_decoder_left(r->decoder) == 0) {
            if (r->offset >= r->limit) {
                break;
            }
            RETURN_IF_FAILED(reader_next_frame(r, err));
            continue;
        }
        const char *why;
        size_t n = block_decoder_take(r->decoder, r->events, READER_BATCH, &why), skip = 0;
        r->expected += n;
        r->read += n;
        r->last_time = n > 0 ? r->events[n - 1].t : r->last_time;
        if (why != NULL) {
            reader_damage(r, NOCAP_DAMAGE_BLOCK, r->offset, "%s", why);
            r->resync = true;
        }
        if (r->skip_until != 0) {
            while (skip < n && r->events[skip].index < r->skip_until) {
                skip++;
            }
        }
        if (skip < n) {
            r->handed_out = true;
            *events = r->events + skip;
            *count = n - skip;
            return NOCAP_OK;
        }
    }
    return NOCAP_END;
}

void nocap_reader_allow_dense(struct nocap_reader *r)
{
    r->dense = true;
}

void nocap_reader_made_of(struct nocap_reader *r, uint64_t bytes)
{
    r->made_of = bytes;
}

void nocap_reader_limit(struct nocap_reader *r, uint64_t bytes)
{
    r->limit = bytes;
    source_grow(&r->frames.source);
}

/* Events before `index` are not handed out; before `otherwise`, if the footer turns out wrong. */
static void restart_at(struct nocap_reader *r, uint64_t block, uint64_t index, uint64_t otherwise)
{
    r->sought = block != 0 || index != otherwise;
    r->skip_until = index;
    r->skip_otherwise = otherwise;
    reader_read_from(r, reader_has_block_index(r) ? r->frames.offsets[block + 1] : r->first_block);
}

enum nocap_status nocap_reader_seek_index(struct nocap_reader *r, uint64_t index,
                                          struct nocap_error *err)
{
    (void)err;
    uint64_t block = 0;
    if (reader_has_block_index(r) && r->footer->blocks != 0) {
        for (uint64_t first = 0; block < r->footer->blocks - 1; block++) {
            first += r->footer->block_events[block];
            if (first > index) {
                break;
            }
        }
    }
    restart_at(r, block, index, index);
    return NOCAP_OK;
}

/* The last block that is passed over is read all the same: if times are in order and it is what the
 * footer says, none before it is wanted. */
enum nocap_status nocap_reader_seek_time(struct nocap_reader *r, uint64_t t,
                                         struct nocap_error *err)
{
    (void)err;
    uint64_t block = 0, first = 0;
    if (reader_has_block_index(r)) {
        while (block < r->footer->blocks && r->footer->block_last_time[block] < t) {
            first += r->footer->block_events[block++];
        }
    }
    restart_at(r, block != 0 ? block - 1 : 0, first, 0);
    return NOCAP_OK;
}

const struct nocap_integrity *nocap_reader_integrity(const struct nocap_reader *r)
{
    return &r->integrity;
}

bool nocap_reader_totals(const struct nocap_reader *r, struct nocap_trace_totals *totals)
{
    if (r->footer == NULL) {
        return false;
    }
    *totals = (struct nocap_trace_totals){.events = r->footer->events,
                                          .bytes = r->frames.source.size,
                                          .blocks = r->footer->blocks,
                                          .t_first = r->footer->first_time,
                                          .t_last = r->footer->last_time};
    return true;
}

uint64_t nocap_reader_cut_line(const struct nocap_reader *r, const char **damage)
{
    *damage = r->footer != NULL ? r->footer->cut_damage : NULL;
    return r->footer != NULL && r->footer->has_cut_line ? r->footer->cut_line : 0;
}

bool nocap_reader_time_ordered(const struct nocap_reader *r)
{
    return r->footer != NULL && r->footer->time_ordered && !r->footer_wrong;
}
