/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: from file offset to decompressed frame, with the seek table where it is
 * sound. */
#ifndef NOCAP_TRACE_FRAME_READER_H
#define NOCAP_TRACE_FRAME_READER_H

#include <zstd.h>

#include "base/bytes.h"
#include "formats/trace/frame.h"
#include "formats/trace/source.h"

enum frame_result {
    FRAME_GOOD,      /* `content` is the decompressed frame */
    FRAME_DAMAGED,   /* `why` says how; `next` is where to go on */
    FRAME_SKIPPABLE, /* a skippable frame, whole */
    FRAME_CUT,       /* the file ends within the frame */
    FRAME_END,       /* the file ends here */
    FRAME_FAILED,    /* no memory, or the file cannot be read: frame_reader_failed says why */
};

struct frame_reader {
    struct source source;
    ZSTD_DCtx *zstd;
    struct bytes raw, content;
    uint64_t next; /* offset after the frame read last */
    char why[120];
    /* The seek table; offsets[frame_count] is where it begins. frame_count 0: there is none that
     * holds. */
    uint64_t *offsets;
    size_t frame_count;
    /* The first error, which no later success makes good, as errno says it; failure 0: none. */
    int failure;
    uint64_t failed_at;
};

/* Takes the source over whatever comes; `name` is for messages. */
enum nocap_status frame_reader_open(struct frame_reader *reader, const struct source *source,
                                    const char *name, struct nocap_error *err);
void frame_reader_close(struct frame_reader *reader);
/* Which frame begins at `offset`, by the seek table; SIZE_MAX: not known. */
size_t frame_number(const struct frame_reader *reader, uint64_t offset);
enum frame_result frame_read(struct frame_reader *reader, uint64_t offset);
/* Up to `size` bytes as they stand in the file, as source_read gives them; an error is remembered.
 */
size_t frame_reader_bytes(struct frame_reader *reader, uint64_t offset, void *to, size_t size);
/* What lies at `offset` needs memory that there is not: an error of reading. FRAME_FAILED. */
enum frame_result frame_reader_no_memory(struct frame_reader *reader, uint64_t offset);
/* NOCAP_E_MEMORY or NOCAP_E_INPUT where reading failed, else NOCAP_OK. */
enum nocap_status frame_reader_failed(const struct frame_reader *reader, const char *name,
                                      struct nocap_error *err);

#endif
