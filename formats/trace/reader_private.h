/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: a reader from inside. */
#ifndef NOCAP_TRACE_READER_PRIVATE_H
#define NOCAP_TRACE_READER_PRIVATE_H

#include "formats/trace/footer.h"
#include "formats/trace/frame_reader.h"
#include "formats/trace/trace.h"

enum { READER_BATCH = 256 }; /* events handed out at a time: they stay in the second-level cache */

struct nocap_reader {
    char *name; /* of the input, for messages */
    struct frame_reader frames;
    struct nocap_header header;
    struct block_decoder *decoder;
    struct nocap_event *events;
    struct nocap_integrity integrity;
    uint64_t first_block;    /* offset of the frame after the header */
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

/* reader_frames.c */

/* Splits a frame's content into field number and message; false if it is not exactly one field of
 * Trace. */
bool reader_split(const struct bytes *content, uint64_t *field, struct span *message);
void reader_damage(struct nocap_reader *r, enum nocap_damage_kind kind, uint64_t offset,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Block `i` is frame i + 1, if table and footer agree on how many there are, and it was not found
 * out yet that they do not say what is so. */
bool reader_has_block_index(const struct nocap_reader *r);
void reader_read_from(struct nocap_reader *r, uint64_t offset);
/* Reads the next frame; sets `ended` where there is none. Fails only if the file cannot be read. */
enum nocap_status reader_next_frame(struct nocap_reader *r, struct nocap_error *err);

#endif
