/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: a thread that reads and decodes the next events while whoever asked for
 * them uses those before. Two threads, a ring of batches, and the few frames that these point into:
 * memory has a bound, whatever the file is. */
#ifndef NOCAP_TRACE_READ_AHEAD_H
#define NOCAP_TRACE_READ_AHEAD_H

#include "base/bytes.h"
#include "base/status.h"
#include "formats/trace/event.h"

enum read_ahead_size {
    READER_BATCH = 256,      /* events handed out at a time: they stay in the second-level cache */
    READ_AHEAD_BATCHES = 32, /* 1.6 MiB of events */
    READ_AHEAD_FRAMES = 3,   /* decompressed, of NOCAP_BLOCK_BYTES_MAX at most */
};

/* What one call of the reader gives. */
struct read_ahead_batch {
    const struct nocap_event *events;
    size_t count;
    enum nocap_status status; /* NOCAP_OK, or this is the last one */
    bool time_ordered;        /* as far as this: nocap_reader_time_ordered */
};

/* Makes the next batch, in `room` for READER_BATCH events; called by the thread. */
typedef void read_ahead_fill(void *context, struct nocap_event *room,
                             struct read_ahead_batch *batch, struct nocap_error *err);

struct read_ahead;

/* *ahead is there before `fill` is called first; NULL: no memory, or no thread. */
void read_ahead_start(struct read_ahead **ahead, read_ahead_fill *fill, void *context);
/* The next batch, which stays until the next call; `err` says why it is the last one. */
struct read_ahead_batch read_ahead_next(struct read_ahead *ahead, struct nocap_error *err);
/* Ends the thread, wherever it is; events that were given are gone. NULL is fine. */
void read_ahead_stop(struct read_ahead *ahead);

/* For `fill`, before a frame is read: puts a buffer that no batch points into in the place of
 * `content`, and waits for it. */
void read_ahead_turn_frame(struct read_ahead *ahead, struct bytes *content);

#endif
