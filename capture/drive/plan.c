/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "capture/drive/plan.h"
#include "formats/blackhole/tlb.h"

/* A read of the host: of which place, of which address whatever the tile, after how many of its
 * stores. */
struct read {
    uint64_t epoch, place, word, index, answer;
};

struct reads {
    struct read *items;
    size_t count;
    uint64_t epoch;
    bool window_used[NOCAP_TLB_2M_COUNT];
};

static uint64_t place_of(const struct nocap_event *e)
{
    const uint64_t parts[] = {(uint64_t)e->space << 48 | (uint64_t)e->chip << 32 |
                                  (uint64_t)e->at.x << 8 | e->at.y,
                              e->addr, e->size};
    return nocap_fnv1a64(NOCAP_FNV1A64_START, parts, sizeof parts);
}

static uint64_t word_of(const struct nocap_event *e)
{
    const uint64_t parts[] = {e->space, e->addr, e->size};
    return nocap_fnv1a64(NOCAP_FNV1A64_START, parts, sizeof parts);
}

uint64_t drive_answer(const void *bytes, size_t size)
{
    return nocap_fnv1a64(NOCAP_FNV1A64_START, bytes, size);
}

static uint64_t answer_of(const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_VALUE) != 0 && e->size <= sizeof e->value) {
        return drive_answer(&e->value, e->size);
    }
    return (e->has & NOCAP_F_DATA) != 0 && e->data_size == e->size ? drive_answer(e->data, e->size)
           : (e->has & NOCAP_F_HASH) != 0                          ? e->hash
                                                                   : 0;
}

static enum nocap_status add(struct reads *reads, const struct nocap_event *e,
                             struct nocap_error *err)
{
    struct read *next = LIST_NEXT(reads->items, reads->count);
    RETURN_ERROR_IF(next == NULL, err, NOCAP_E_MEMORY, "out of memory");
    reads->count++;
    *next = (struct read){reads->epoch, place_of(e), word_of(e), e->index, answer_of(e)};
    return NOCAP_OK;
}

/* What aims windows changes nothing in the device. */
static enum nocap_status take(struct reads *reads, const struct nocap_event *e,
                              struct nocap_error *err)
{
    unsigned window, word;
    uint64_t inside;
    if (e->by != NOCAP_BY_HOST || (e->kind != NOCAP_EV_WRITE && e->kind != NOCAP_EV_READ)) {
        return NOCAP_OK;
    }
    bool aims = e->space == NOCAP_SPACE_BAR0 && nocap_tlb_is_register(e->addr, &window, &word);
    if ((aims ||
         (e->space == NOCAP_SPACE_BAR0 && nocap_tlb_find(e->space, e->addr, &window, &inside))) &&
        window < NOCAP_TLB_2M_COUNT) {
        reads->window_used[window] = true;
    }
    if (e->kind == NOCAP_EV_READ) {
        return add(reads, e, err);
    }
    reads->epoch += !aims;
    return NOCAP_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct read *x = a, *y = b;
    return x->epoch != y->epoch   ? (x->epoch < y->epoch ? -1 : 1)
           : x->place != y->place ? (x->place < y->place ? -1 : 1)
           : x->index != y->index ? (x->index < y->index ? -1 : 1)
                                  : 0;
}

static int by_index(const void *a, const void *b)
{
    const struct drive_poll *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int by_word(const void *a, const void *b)
{
    const struct drive_poll *x = a, *y = b;
    return x->word != y->word ? (x->word < y->word ? -1 : 1) : by_index(a, b);
}

/* A read that stands alone is a poll that was answered at once if the host polled that address
 * before, at this tile or another; it waits through what that poll waited through. Others are
 * none. */
static void settle_single(struct drive_plan *plan)
{
    size_t kept = 0;
    uint64_t word = 0, waited = 0;
    bool polled = false;
    if (plan->count > 0) {
        qsort(plan->polls, plan->count, sizeof *plan->polls, by_word);
    }
    for (size_t i = 0; i < plan->count; i++) {
        struct drive_poll poll = plan->polls[i];
        polled = polled && poll.word == word;
        if (!poll.single) {
            word = poll.word;
            waited = poll.answer;
            polled = true;
        } else if (polled) {
            poll.answer = waited;
        }
        if (polled) {
            plan->polls[kept++] = poll;
        }
    }
    plan->count = kept;
}

static enum nocap_status find_polls(struct drive_plan *plan, struct reads *reads,
                                    struct nocap_error *err)
{
    const struct read *last = NULL;
    plan->polls = malloc((reads->count + 1) * sizeof *plan->polls);
    RETURN_ERROR_IF(plan->polls == NULL, err, NOCAP_E_MEMORY, "out of memory");
    if (reads->count > 0) {
        qsort(reads->items, reads->count, sizeof *reads->items, by_place);
    }
    for (size_t i = reads->count; i-- > 0;) {
        const struct read *r = &reads->items[i];
        if (last != NULL && r->epoch == last->epoch && r->place == last->place) {
            struct drive_poll poll = {
                .index = r->index,
                .last = last->index,
                .answer = r->answer,
                .end = last->answer,
                .word = r->word,
            };
            plan->polls[plan->count++] = poll;
            if (r + 1 == last) {
                struct drive_poll *end = &plan->polls[plan->count - 2];
                end->answer = r->answer;
                end->single = false;
            }
        } else {
            last = r;
            plan->polls[plan->count++] = (struct drive_poll){
                .index = r->index,
                .last = r->index,
                .end = r->answer,
                .word = r->word,
                .single = true,
            };
        }
    }
    settle_single(plan);
    if (plan->count > 0) {
        qsort(plan->polls, plan->count, sizeof *plan->polls, by_index);
    }
    return NOCAP_OK;
}

static enum nocap_status find_window(struct drive_plan *plan, const struct reads *reads,
                                     struct nocap_error *err)
{
    plan->window = NOCAP_TLB_2M_COUNT;
    while (plan->window > 0 && reads->window_used[plan->window - 1]) {
        plan->window--;
    }
    RETURN_ERROR_IF(plan->window == 0, err, NOCAP_E_INPUT,
                    "the trace's host uses all %d TLB windows of 2 MiB: none is left to replay it",
                    NOCAP_TLB_2M_COUNT);
    plan->window--;
    return NOCAP_OK;
}

enum nocap_status drive_plan_make(struct drive_plan *plan, struct nocap_reader *reader,
                                  struct nocap_error *err)
{
    const struct nocap_event *events;
    size_t count;
    struct reads reads = {0};
    enum nocap_status status;
    memset(plan, 0, sizeof *plan);
    while ((status = nocap_reader_next(reader, &events, &count, err)) == NOCAP_OK) {
        for (size_t i = 0; i < count && status == NOCAP_OK; i++) {
            status = take(&reads, &events[i], err);
        }
        if (status != NOCAP_OK) {
            break;
        }
    }
    if (status == NOCAP_END) {
        status = find_window(plan, &reads, err);
    }
    if (status == NOCAP_OK) {
        status = find_polls(plan, &reads, err);
    }
    free(reads.items);
    return status;
}

void drive_plan_free(struct drive_plan *plan)
{
    free(plan->polls);
    plan->polls = NULL;
}

const struct drive_poll *drive_plan_poll(struct drive_plan *plan, uint64_t index)
{
    while (plan->next < plan->count && plan->polls[plan->next].index < index) {
        plan->next++;
    }
    const struct drive_poll *poll = &plan->polls[plan->next];
    return plan->next < plan->count && poll->index == index ? poll : NULL;
}
