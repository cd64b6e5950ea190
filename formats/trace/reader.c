/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/footer.h"
#include "formats/trace/frame_reader.h"

enum {
    BATCH = 256, /* events handed out at a time: they stay in the second-level cache */
    /* Events beyond the first ones need bytes: else a small file would take hours. */
    DENSE_FREE = 1 << 22,
    DENSE_EVENTS_A_BYTE = 256,
};

struct nocap_reader {
    char *name; /* of the input, for messages */
    struct frame_reader frames;
    struct nocap_header header;
    struct block_decoder *decoder;
    struct nocap_event *events;
    struct nocap_integrity integrity;
    uint64_t first_block;    /* offset of the frame behind the header */
    uint64_t offset;         /* of the frame to read next */
    uint64_t limit;          /* frames from here on are not there yet */
    uint64_t expected;       /* index of the event to come next */
    uint64_t skip_until;     /* after a seek: events before this index are not handed out */
    uint64_t skip_otherwise; /* the same, once the footer is known to be wrong */
    uint64_t read;           /* events decoded since the start or the last seek */
    bool whole;              /* read from the first block on: the footer's counts can be compared */
    bool resync; /* after a seek or damage: the next block's first index is taken as it is */
    bool footer_passed, ended;
    Nocap__Footer *footer; /* NULL: none found yet */
    struct footer_place place;
    uint64_t last_time;            /* of the event decoded last, if `read` is not 0 */
    uint64_t stored;               /* bytes of the blocks read since the start or the last seek */
    uint64_t made_of;              /* bytes of another form that count instead; 0: none */
    bool handed_out;               /* events, since the start or the last seek */
    bool sought;                   /* blocks were passed over because of what the footer says */
    bool dense;                    /* small files may hold any number of events */
    bool footer_wrong;             /* a block holds something else than the footer says of it */
    struct nocap_damage how_wrong; /* where and how */
};

static void damage(struct nocap_reader *r, enum nocap_damage_kind kind, uint64_t offset,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

static void damage(struct nocap_reader *r, enum nocap_damage_kind kind, uint64_t offset,
                   const char *format, ...)
{
    struct nocap_integrity *integrity = &r->integrity;
    if (integrity->count < NOCAP_DAMAGE_KEPT || kind == NOCAP_DAMAGE_CUT) {
        size_t last = NOCAP_DAMAGE_KEPT - 1;
        struct nocap_damage *d =
            &integrity->damage[integrity->count < last ? integrity->count : last];
        d->kind = kind;
        d->index = r->expected;
        d->offset = offset;
        va_list args;
        va_start(args, format);
        vsnprintf(d->text, sizeof d->text, format, args);
        va_end(args);
    }
    integrity->count++;
}

/* Splits a frame's content into field number and message; false if it is not exactly one field of
 * Trace. */
static bool split(const struct bytes *content, uint64_t *field, struct span *message)
{
    struct span s = {content->data, content->data + content->size};
    uint64_t tag, size;
    if (!span_varint(&s, &tag) || (tag & 7) != 2 || !span_varint(&s, &size) ||
        size != (uint64_t)(s.end - s.at)) {
        return false;
    }
    *field = tag >> 3;
    *message = s;
    return true;
}

/* With a sound seek table the footer is known from the start; without it, from when it is met. */
static void load_footer(struct nocap_reader *r)
{
    const struct frame_reader *f = &r->frames;
    uint64_t field;
    struct span message;
    if (f->frame_count >= 2 &&
        frame_read(&r->frames, f->offsets[f->frame_count - 1]) == FRAME_GOOD &&
        split(&r->frames.content, &field, &message) && field == TRACE_FOOTER) {
        r->footer = footer_unpack(&message);
    }
}

static enum nocap_status read_header(struct nocap_reader *r, const char *name,
                                     struct nocap_error *err)
{
    uint8_t magic[4] = {0};
    size_t n = frame_reader_bytes(&r->frames, 0, magic, sizeof magic);
    RETURN_ERROR_IF(n == sizeof magic && get_u32(magic) != ZSTD_FRAME_MAGIC, err, NOCAP_E_INPUT,
                    "%s is no nocap trace: it begins neither like one nor like JSON Lines", name);
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
        result != FRAME_GOOD || !split(&r->frames.content, &field, &message) ||
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
    r->events = malloc(BATCH * sizeof *r->events);
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

/* Block `i` is frame i + 1, if table and footer agree on how many there are, and it was not found
 * out yet that they do not say what is so. */
static bool has_block_index(const struct nocap_reader *r)
{
    return r->footer != NULL && !r->footer_wrong && r->frames.frame_count == r->footer->blocks + 2;
}

static void read_from(struct nocap_reader *r, uint64_t offset)
{
    r->offset = offset;
    block_decoder_drop(r->decoder);
    r->whole = false;
    r->ended = r->footer_passed = false;
    r->resync = true;
    r->expected = 0;
    r->read = r->stored = 0;
    r->handed_out = false;
    r->integrity.count = 0;
    if (r->footer_wrong) {
        r->integrity.damage[r->integrity.count++] = r->how_wrong;
    }
}

/* The block that was begun, against what the footer says of it. False: what was passed over because
 * of the footer may be what is wanted, so reading begins anew at the first block. */
static bool believe_footer(struct nocap_reader *r, uint64_t offset)
{
    size_t frame = has_block_index(r) ? frame_number(&r->frames, offset) : SIZE_MAX;
    if (frame == 0 || frame == SIZE_MAX) {
        return true;
    }
    char why[FOOTER_WHY];
    const struct footer_block block = {.number = frame - 1,
                                       .first = block_decoder_first_index(r->decoder),
                                       .count = block_decoder_left(r->decoder),
                                       .times = block_decoder_times(r->decoder),
                                       .before = r->read != 0 ? &r->last_time : NULL};
    if (footer_agrees(r->footer, &r->place, &block, why)) {
        return true;
    }
    r->footer_wrong = true;
    r->how_wrong =
        (struct nocap_damage){.kind = NOCAP_DAMAGE_COUNTS, .index = block.first, .offset = offset};
    bool again = r->sought && !r->handed_out;
    bool lacks = r->sought && !again;
    snprintf(r->how_wrong.text, sizeof r->how_wrong.text, "%s%s", why,
             lacks ? "; more may be wanted" : "");
    if (again) {
        r->sought = false;
        r->skip_until = r->skip_otherwise;
        read_from(r, r->first_block);
        return false;
    }
    if (r->integrity.count < NOCAP_DAMAGE_KEPT) {
        r->integrity.damage[r->integrity.count] = r->how_wrong;
    }
    r->integrity.count++;
    return true;
}

/* False: so many events in so few bytes are left out, with all that follow. */
static bool is_stored(struct nocap_reader *r, uint64_t offset)
{
    uint64_t events = r->read + block_decoder_left(r->decoder);
    r->stored += r->frames.next - offset;
    uint64_t bytes = r->made_of != 0 ? r->made_of : r->stored;
    if (r->dense || !nocap_dense(events, bytes)) {
        return true;
    }
    damage(r, NOCAP_DAMAGE_BLOCK, offset,
           "%llu events in %llu bytes, more than %d a byte: left out from here on (--dense reads "
           "them)",
           (unsigned long long)events, (unsigned long long)bytes, DENSE_EVENTS_A_BYTE);
    block_decoder_drop(r->decoder);
    r->integrity.lost_end = r->ended = true;
    return false;
}

static void start_block(struct nocap_reader *r, const struct span *message, uint64_t offset)
{
    const char *why =
        block_decoder_start(r->decoder, message->at, (size_t)(message->end - message->at));
    if (why != NULL) {
        damage(r, NOCAP_DAMAGE_BLOCK, offset, "%s", why);
        r->resync = true;
        return;
    }
    uint64_t first = block_decoder_first_index(r->decoder);
    if (first < r->expected) {
        damage(r, NOCAP_DAMAGE_BLOCK, offset, "a block repeats events from %llu on; it is left out",
               (unsigned long long)first);
        block_decoder_drop(r->decoder);
        return;
    }
    if (!is_stored(r, offset) || !believe_footer(r, offset)) {
        return;
    }
    if (first > r->expected && !r->resync) {
        damage(r, NOCAP_DAMAGE_BLOCK, offset, "events %llu to %llu are missing",
               (unsigned long long)r->expected, (unsigned long long)first - 1);
    }
    r->expected = first;
    r->resync = false;
}

/* The end of the frames: is everything there that the writer put at the end? */
static void finish(struct nocap_reader *r, bool cut, bool garbage)
{
    r->ended = true;
    r->integrity.lost_end = r->resync;
    if (!r->footer_passed || (r->frames.frame_count == 0 && (cut || !garbage))) {
        char used[64] = "no block is whole";
        if (r->read != 0) {
            snprintf(used, sizeof used, "all %llu events of whole blocks are used",
                     (unsigned long long)r->read);
        }
        damage(r, NOCAP_DAMAGE_CUT, r->frames.source.size, "the file ends without its footer; %s",
               used);
    } else if (r->frames.frame_count == 0) {
        damage(r, NOCAP_DAMAGE_BLOCK, r->frames.source.size,
               "the seek table does not fit the file: all events up to the first footer are used");
    }
    if (r->whole && r->footer != NULL && r->footer->events != r->read && r->integrity.count == 0) {
        damage(r, NOCAP_DAMAGE_COUNTS, r->frames.source.size,
               "the footer says %llu events, the blocks hold %llu",
               (unsigned long long)r->footer->events, (unsigned long long)r->read);
    }
    if (r->footer_passed && r->footer != NULL && r->footer->has_cut_line) {
        r->integrity.lost_end = true;
        damage(
            r, NOCAP_DAMAGE_CUT, r->frames.source.size,
            "what the trace was made of breaks off in line %llu; what stands before it was taken",
            (unsigned long long)r->footer->cut_line);
    }
}

static void pass_footer(struct nocap_reader *r, const struct span *message, uint64_t offset)
{
    r->footer_passed = true;
    if (r->footer == NULL && (r->footer = footer_unpack(message)) == NULL) {
        damage(r, NOCAP_DAMAGE_BLOCK, offset, "the footer does not decode; no event is lost");
    }
}

/* Reads the next frame; sets `ended` where there is none. Fails only if the file cannot be read. */
static enum nocap_status next_frame(struct nocap_reader *r, struct nocap_error *err)
{
    uint64_t offset = r->offset, field;
    struct span message;
    enum frame_result result = frame_read(&r->frames, offset);
    r->offset = r->frames.next;
    switch (result) {
    case FRAME_GOOD:
        if (!split(&r->frames.content, &field, &message)) {
            damage(r, NOCAP_DAMAGE_BLOCK, offset, "a frame holds no field of a trace");
            r->resync = true;
        } else if (field == TRACE_BLOCK) {
            start_block(r, &message, offset);
        } else if (field == TRACE_FOOTER) {
            pass_footer(r, &message, offset);
        }
        break;
    case FRAME_SKIPPABLE:
        if (r->footer_passed) {
            finish(r, false, true);
        }
        break;
    case FRAME_DAMAGED:
        if (r->footer_passed) {
            finish(r, false, true);
        } else {
            damage(r, NOCAP_DAMAGE_BLOCK, offset, "%s", r->frames.why);
            r->resync = true;
        }
        break;
    case FRAME_CUT: finish(r, true, false); break;
    case FRAME_END: finish(r, false, false); break;
    case FRAME_FAILED: return frame_reader_failed(&r->frames, r->name, err);
    }
    return NOCAP_OK;
}

enum nocap_status nocap_reader_next(struct nocap_reader *r, const struct nocap_event **events,
                                    size_t *count, struct nocap_error *err)
{
    while (!r->ended) {
        if (block_decoder_left(r->decoder) == 0) {
            if (r->offset >= r->limit) {
                break;
            }
            RETURN_IF_FAILED(next_frame(r, err));
            continue;
        }
        const char *why;
        size_t n = block_decoder_take(r->decoder, r->events, BATCH, &why), skip = 0;
        r->expected += n;
        r->read += n;
        r->last_time = n > 0 ? r->events[n - 1].t : r->last_time;
        if (why != NULL) {
            damage(r, NOCAP_DAMAGE_BLOCK, r->offset, "%s", why);
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

bool nocap_dense(uint64_t events, uint64_t bytes)
{
    return events > DENSE_FREE && events / DENSE_EVENTS_A_BYTE > bytes;
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
    read_from(r, has_block_index(r) ? r->frames.offsets[block + 1] : r->first_block);
}

enum nocap_status nocap_reader_seek_index(struct nocap_reader *r, uint64_t index,
                                          struct nocap_error *err)
{
    (void)err;
    uint64_t block = 0;
    if (has_block_index(r) && r->footer->blocks != 0) {
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
    if (has_block_index(r)) {
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

bool nocap_reader_time_ordered(const struct nocap_reader *r)
{
    return r->footer != NULL && r->footer->time_ordered && !r->footer_wrong;
}
