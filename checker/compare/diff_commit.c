/* SPDX-License-Identifier: Apache-2.0 */
/* Where the steps of one agent in two traces part, and where they meet again. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "checker/compare/diff_private.h"

enum { QUEUE_FIRST = 8, REST_MAX = DIFF_WINDOW };

enum nocap_status diff_queue_push(struct diff_queue *queue, const struct diff_step *step,
                                  struct nocap_error *err)
{
    if (queue->count == queue->capacity) {
        size_t capacity = queue->capacity == 0 ? QUEUE_FIRST : queue->capacity * 2;
        struct diff_step *steps = malloc(capacity * sizeof *steps);
        RETURN_ERROR_IF(steps == NULL, err, NOCAP_E_MEMORY, "out of memory for the comparison");
        for (size_t i = 0; i < queue->count; i++) {
            steps[i] = *diff_step_at(queue, i);
        }
        free(queue->steps);
        *queue = (struct diff_queue){.steps = steps, .count = queue->count, .capacity = capacity};
    }
    queue->steps[(queue->head + queue->count++) & (queue->capacity - 1)] = *step;
    return NOCAP_OK;
}

/* A queue that was long and is empty gives its memory back. */
static void diff_queue_drop(struct diff_queue *queue, size_t count)
{
    queue->head = queue->capacity == 0 ? 0 : (queue->head + count) & (queue->capacity - 1);
    queue->count -= count;
    if (queue->count == 0 && queue->capacity > DIFF_WINDOW * 4) {
        free(queue->steps);
        *queue = (struct diff_queue){0};
    }
}

void diff_stream_free(struct diff_stream *stream)
{
    for (int side = 0; side < DIFF_SIDES; side++) {
        free(stream->queue[side].steps);
        nocap_repeats_free(&stream->repeats[side]);
    }
    free(stream->past);
}

static void drop(struct diff_run *run, struct diff_stream *stream, int side, size_t count)
{
    diff_queue_drop(&stream->queue[side], count);
    run->pending[side] -= count;
}

/* Takes one equal step off both queues and remembers where it stood. */
static void pass(struct diff_run *run, struct diff_stream *stream)
{
    if (stream->past == NULL) {
        stream->past = malloc(NOCAP_DIFF_CONTEXT_MAX * sizeof *stream->past);
    }
    for (int side = 0; side < DIFF_SIDES; side++) {
        if (stream->past != NULL) {
            stream->past[stream->equal % NOCAP_DIFF_CONTEXT_MAX][side] =
                diff_step_at(&stream->queue[side], 0)->index;
        }
        drop(run, stream, side, 1);
    }
    stream->equal++;
}

static bool equal(const struct diff_stream *stream, size_t i, size_t j)
{
    return diff_step_at(&stream->queue[DIFF_A], i)->hash ==
           diff_step_at(&stream->queue[DIFF_B], j)->hash;
}

/* How many steps are equal from step i of A and j of B on, if the streams meet there again - a few
 * equal steps, or the same rest - else 0. */
static size_t meet(const struct diff_stream *stream, size_t i, size_t j)
{
    size_t a = stream->queue[DIFF_A].count - i, b = stream->queue[DIFF_B].count - j;
    size_t least = a < b ? a : b, run = 0;
    while (run < least && run < DIFF_WINDOW && equal(stream, i + run, j + run)) {
        run++;
    }
    return run >= DIFF_RUN || (a == b && run == a) ? run + 1 : 0;
}

/* The nearest place where they meet: the fewest steps left out, and of these the longest way
 * together, since firmware repeats itself. False if there is none near. */
static bool find_meeting(const struct diff_stream *stream, size_t count[DIFF_SIDES])
{
    size_t a = stream->queue[DIFF_A].count, b = stream->queue[DIFF_B].count, longest = 0;
    for (size_t sum = 1; sum <= 2 * DIFF_WINDOW && longest == 0; sum++) {
        for (size_t i = sum < b ? 0 : sum - b; i <= sum && i <= a && i <= DIFF_WINDOW; i++) {
            size_t run = sum - i <= DIFF_WINDOW ? meet(stream, i, sum - i) : 0;
            if (run > longest) {
                longest = run;
                count[DIFF_A] = i;
                count[DIFF_B] = sum - i;
            }
        }
    }
    return longest != 0;
}

/* ---- describing ---- */

static int by_hash(const void *a, const void *b)
{
    const uint64_t *p = a, *q = b;
    return *p < *q ? -1 : *p > *q;
}

/* Whether A's and B's steps before the meeting are the same ones in another order. */
static bool permuted(const struct diff_stream *stream, size_t count)
{
    uint64_t hashes[DIFF_SIDES][DIFF_WINDOW];
    for (int side = 0; side < DIFF_SIDES; side++) {
        for (size_t i = 0; i < count; i++) {
            hashes[side][i] = diff_step_at(&stream->queue[side], i)->hash;
        }
        qsort(hashes[side], count, sizeof hashes[side][0], by_hash);
    }
    return memcmp(hashes[DIFF_A], hashes[DIFF_B], count * sizeof hashes[DIFF_A][0]) == 0;
}

static enum nocap_diff_kind kind_of(const struct diff_stream *stream,
                                    const size_t count[DIFF_SIDES])
{
    if (count[DIFF_A] == 0 || count[DIFF_B] == 0) {
        return count[DIFF_B] == 0 ? NOCAP_DIFF_MISSING : NOCAP_DIFF_EXTRA;
    }
    bool same = count[DIFF_A] == count[DIFF_B] && count[DIFF_A] <= DIFF_WINDOW &&
                permuted(stream, count[DIFF_A]);
    return same ? NOCAP_DIFF_REORDERED : NOCAP_DIFF_CHANGED;
}

static void add_row(struct nocap_difference *d, const uint64_t *a, const uint64_t *b, bool same)
{
    if (d->row_count < NOCAP_DIFF_ROWS_MAX) {
        d->rows[d->row_count++] = (struct nocap_diff_row){
            .has = {a != NULL, b != NULL},
            .equal = same,
            .index = {a != NULL ? *a : 0, b != NULL ? *b : 0},
        };
    }
}

static void add_rows(const struct diff_run *run, const struct diff_stream *stream,
                     struct nocap_difference *d, const size_t count[DIFF_SIDES])
{
    const struct diff_queue *a = &stream->queue[DIFF_A], *b = &stream->queue[DIFF_B];
    uint64_t context = run->options.context;
    uint64_t before = stream->past == NULL ? 0 : stream->equal < context ? stream->equal : context;
    for (uint64_t i = stream->equal - before; i < stream->equal; i++) {
        const uint64_t *past = stream->past[i % NOCAP_DIFF_CONTEXT_MAX];
        add_row(d, &past[DIFF_A], &past[DIFF_B], true);
    }
    size_t rows = count[DIFF_A] > count[DIFF_B] ? count[DIFF_A] : count[DIFF_B];
    size_t most = NOCAP_DIFF_ROWS_MAX - NOCAP_DIFF_CONTEXT_MAX - (size_t)before;
    for (size_t i = 0; i < rows && i < most; i++) {
        add_row(d, i < count[DIFF_A] ? &diff_step_at(a, i)->index : NULL,
                i < count[DIFF_B] ? &diff_step_at(b, i)->index : NULL, false);
    }
    for (size_t k = 0;
         rows <= most && k < context && count[DIFF_A] + k < a->count &&
         count[DIFF_B] + k < b->count && equal(stream, count[DIFF_A] + k, count[DIFF_B] + k);
         k++) {
        add_row(d, &diff_step_at(a, count[DIFF_A] + k)->index,
                &diff_step_at(b, count[DIFF_B] + k)->index, true);
    }
}

static uint64_t time_of(const struct diff_stream *stream)
{
    uint64_t t = UINT64_MAX;
    for (int side = 0; side < DIFF_SIDES; side++) {
        if (stream->queue[side].count != 0 && diff_step_at(&stream->queue[side], 0)->t < t) {
            t = diff_step_at(&stream->queue[side], 0)->t;
        }
    }
    return t;
}

/* An object tells only what no agent's own stream can: that two agents changed their order. */
static bool worth_telling(const struct diff_run *run, const struct diff_stream *stream,
                          enum nocap_diff_kind kind)
{
    size_t number = (size_t)(stream - run->streams);
    return nocap_stream_key_kind(&run->table.rows[number]) != NOCAP_STREAM_OBJECT ||
           (kind == NOCAP_DIFF_REORDERED && diff_step_at(&stream->queue[DIFF_A], 0)->by !=
                                                diff_step_at(&stream->queue[DIFF_B], 0)->by);
}

/* Describes the first count[] steps of both queues as one difference. */
static enum nocap_status emit_rows(struct diff_run *run, const struct diff_stream *stream,
                                   enum nocap_diff_kind kind, const size_t count[DIFF_SIDES],
                                   struct nocap_error *err)
{
    struct nocap_diff *diff = run->diff;
    char where[128];
    if (!worth_telling(run, stream, kind)) {
        return NOCAP_OK;
    }
    diff->count++;
    if (diff->list_count == DIFF_KEPT_MAX) {
        return NOCAP_OK;
    }
    struct nocap_difference *d = LIST_NEXT(diff->list, diff->list_count);
    RETURN_ERROR_IF(d == NULL, err, NOCAP_E_MEMORY, "out of memory for the differences");
    nocap_stream_key_name(where, sizeof where, &run->table.rows[stream - run->streams],
                          run->layout);
    *d = (struct nocap_difference){.where = strdup(where),
                                   .kind = kind,
                                   .t = time_of(stream),
                                   .equal = stream->equal,
                                   .steps = {count[DIFF_A], count[DIFF_B]}};
    RETURN_ERROR_IF(d->where == NULL, err, NOCAP_E_MEMORY, "out of memory for the differences");
    diff->list_count++;
    add_rows(run, stream, d, count);
    return NOCAP_OK;
}

/* ---- settling ---- */

static enum nocap_status take_off(struct diff_run *run, struct diff_stream *stream,
                                  enum nocap_diff_kind kind, const size_t count[DIFF_SIDES],
                                  struct nocap_error *err)
{
    RETURN_IF_FAILED(emit_rows(run, stream, kind, count, err));
    for (int side = 0; side < DIFF_SIDES; side++) {
        drop(run, stream, side, count[side]);
    }
    return NOCAP_OK;
}

static enum nocap_status part(struct diff_run *run, struct diff_stream *stream, bool apart,
                              struct nocap_error *err)
{
    size_t count[DIFF_SIDES] = {stream->queue[DIFF_A].count, stream->queue[DIFF_B].count};
    stream->apart = apart;
    return take_off(run, stream, apart ? NOCAP_DIFF_APART : kind_of(stream, count), count, err);
}

enum nocap_status diff_give_up(struct diff_run *run, size_t number, struct nocap_error *err)
{
    return part(run, &run->streams[number], true, err);
}

enum nocap_status diff_commit(struct diff_run *run, size_t number, bool ended,
                              struct nocap_error *err)
{
    struct diff_stream *stream = &run->streams[number];
    const struct diff_queue *a = &stream->queue[DIFF_A], *b = &stream->queue[DIFF_B];
    for (;;) {
        size_t count[DIFF_SIDES];
        while (a->count != 0 && b->count != 0 && equal(stream, 0, 0)) {
            pass(run, stream);
        }
        if (a->count == 0 || b->count == 0) {
            bool rest = a->count != 0 || b->count != 0;
            return ended && rest ? part(run, stream, false, err) : NOCAP_OK;
        }
        size_t wanted = 2 * DIFF_WINDOW;
        if (!ended && (a->count < wanted || b->count < wanted)) {
            return NOCAP_OK;
        }
        if (!find_meeting(stream, count)) {
            bool few = ended && a->count <= REST_MAX && b->count <= REST_MAX;
            return part(run, stream, !few, err);
        }
        RETURN_IF_FAILED(take_off(run, stream, kind_of(stream, count), count, err));
    }
}
