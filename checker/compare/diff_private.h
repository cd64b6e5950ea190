/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/diff*.c: the steps of one agent in both traces, and what differs between
 * them. */
#ifndef NOCAP_CHECKER_COMPARE_DIFF_PRIVATE_H
#define NOCAP_CHECKER_COMPARE_DIFF_PRIVATE_H

#include "checker/compare/diff.h"
#include "checker/compare/event_key.h"
#include "checker/compare/streams.h"

enum {
    DIFF_A,
    DIFF_B,
    DIFF_SIDES,
    DIFF_WINDOW = 256,          /* steps in which two streams must meet again */
    DIFF_RUN = 3,               /* equal steps that count as having met */
    DIFF_PENDING_MAX = 1 << 22, /* steps of one trace that wait for the other */
    DIFF_KEPT_MAX = 4096,       /* differences that are sorted by time */
};

struct diff_step {
    uint64_t hash, index;
    uint64_t t;
    uint8_t by;
};

/* Steps that wait for the other trace: a ring. */
struct diff_queue {
    struct diff_step *steps;
    size_t head, count, capacity;
};

struct diff_stream {
    struct diff_queue queue[DIFF_SIDES];
    struct nocap_repeats repeats[DIFF_SIDES];
    uint64_t (*past)[DIFF_SIDES]; /* indexes of the last equal steps, by `equal`; NULL: none yet */
    uint64_t equal;
    bool apart; /* given up */
};

/* Everything of one comparison. */
struct diff_run {
    struct nocap_diff *diff;
    struct nocap_diff_options options;
    const struct nocap_mailbox_layout *layout;
    struct nocap_stream_table table;
    struct diff_stream *streams; /* by number of the table */
    size_t count;
    size_t pending[DIFF_SIDES]; /* over all streams */
};

static inline const struct diff_step *diff_step_at(const struct diff_queue *queue, size_t i)
{
    return &queue->steps[(queue->head + i) & (queue->capacity - 1)];
}

enum nocap_status diff_queue_push(struct diff_queue *queue, const struct diff_step *step,
                                  struct nocap_error *err);

/* Takes equal steps off both queues, and differences as soon as enough is known of what follows;
 * `ended`: no steps will come any more. */
enum nocap_status diff_commit(struct diff_run *run, size_t stream, bool ended,
                              struct nocap_error *err);
/* No longer compares the stream, because one side is too far ahead. */
enum nocap_status diff_give_up(struct diff_run *run, size_t stream, struct nocap_error *err);
void diff_stream_free(struct diff_stream *stream);

#endif
