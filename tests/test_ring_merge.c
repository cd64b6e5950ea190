/* SPDX-License-Identifier: Apache-2.0 */
/* Rings as one sequence: by time, of equal times by ring, in the order of each ring; in whatever
 * pieces they are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/rings/ring_merge.h"

enum { RINGS = 3, RECORDS = 300, BYTES = 1 << 16, ROUNDS = 200 };

/* A record as it was put, and where it ends. */
struct put {
    uint64_t t, value, end;
    uint8_t kind;
};
static struct put records[RINGS][RECORDS];
static unsigned done[RINGS];
static size_t rows_taken;
static _Alignas(8) uint8_t memory[RINGS][BYTES];
static struct ring_merge merge;

static unsigned below(unsigned n)
{
    return (unsigned)rand() % n;
}

static size_t put_access(uint8_t *to, uint64_t t, struct put *p)
{
    p->kind = below(4) == 0 ? NOCAP_EV_READ : NOCAP_EV_WRITE;
    const struct ring_access a = {
        .word = {sizeof a / sizeof(uint64_t), RING_ACCESS, (uint16_t)below(2)},
        .t = t,
        .at = {(uint8_t)below(9), 2},
        .kind = p->kind,
        .by = NOCAP_BY_HOST,
        .size = 8,
        .has = RING_HAS_AT,
        .addr = 0x100,
        .value = p->value};
    memcpy(to, &a, sizeof a);
    return sizeof a;
}

/* Any event, with a slot for its value; or the sum of what was dropped, which stands for the event
 * of one more. */
static size_t put_other(uint8_t *to, uint64_t t, struct put *p, uint64_t *total)
{
    if (below(2) == 0) {
        const struct ring_dropped d = {
            .word = {sizeof d / sizeof(uint64_t), RING_DROPPED, 0}, .t = t, .total = *total += 1};
        p->kind = NOCAP_EV_DROP;
        p->value = 1;
        memcpy(to, &d, sizeof d);
        return sizeof d;
    }
    const struct nocap_event e = {.kind = p->kind = NOCAP_EV_TENSIX};
    struct ring_event r = {
        .word = {sizeof r / sizeof(uint64_t) + 1, RING_EVENT, 0},
        .t = t,
        .has = NOCAP_F_WORD,
        .slots = 1u << (offsetof(struct nocap_event, value) - offsetof(struct nocap_event, slot)) /
                           sizeof(uint64_t)};
    memcpy(r.what, &e.kind, sizeof r.what);
    memcpy(to, &r, sizeof r);
    memcpy(to + sizeof r, &p->value, sizeof p->value);
    return sizeof r + sizeof p->value;
}

/* Times stand still often, and go back at times: then the one before counts. */
static void fill(unsigned ring)
{
    uint64_t t = below(20), last = 0, at = 0, total = 0;
    for (unsigned i = 0; i < RECORDS; i++) {
        struct put *p = &records[ring][i];
        t = below(20) == 0 && t > 3 ? t - 3 : t + (below(3) == 0 ? below(9) : 0);
        last = t > last ? t : last;
        *p = (struct put){.t = last, .value = ring * 1000 + i};
        at += below(8) == 0 ? put_other(memory[ring] + at, t, p, &total)
                            : put_access(memory[ring] + at, t, p);
        p->end = at;
    }
    merge.cursor[ring] = (struct ring_cursor){.base = memory[ring]};
    done[ring] = 0;
}

/* What comes next of what may be read; RINGS: nothing. */
static unsigned expected(uint64_t limit)
{
    unsigned first = RINGS;
    for (unsigned i = 0; i < RINGS; i++) {
        const struct put *p = &records[i][done[i]];
        bool there = done[i] < RECORDS && p->end <= merge.cursor[i].end && p->t < limit;
        if (there && (first == RINGS || p->t < records[first][done[first]].t)) {
            first = i;
        }
    }
    return first;
}

/* More of the same kind after the last event, of which some are taken. */
static void take_rows(uint64_t limit)
{
    enum { ROWS = 9 };
    struct access_row rows[ROWS];
    const size_t count = ring_merge_peek(&merge, limit, rows, 1 + below(ROWS));
    const size_t taken = count == 0 ? 0 : below((unsigned)count + 1);
    const uint64_t before = merge.taken->at.tail;
    for (size_t i = 0; i < count; i++) {
        const unsigned ring = (unsigned)(merge.taken - merge.cursor);
        const struct put *p = &records[ring][done[ring] + i];
        assert_int_equal(p->kind, merge.taken->event.kind);
        assert_true(rows[i].t == p->t && rows[i].value == p->value && rows[i].addr == 0x100);
        assert_int_equal(rows[i].source >> 56, 2);
    }
    for (size_t i = 0; i < taken; i++) {
        assert_int_equal(expected(limit), merge.taken - merge.cursor);
        done[expected(limit)]++;
    }
    assert_int_equal(merge.taken->at.tail, before);
    ring_merge_take(&merge, taken);
    rows_taken += taken;
}

/* Reads what there is up to `limit`; now and then an event is given back and comes again. */
static void drain(uint64_t limit)
{
    unsigned ring;
    while ((ring = expected(limit)) != RINGS) {
        const struct put *p = &records[ring][done[ring]];
        for (bool again = true; again;) {
            const struct nocap_event *event = ring_merge_next(&merge, limit);
            assert_non_null(event);
            assert_ptr_equal(merge.taken, &merge.cursor[ring]);
            assert_int_equal(event->kind, p->kind);
            assert_true(event->t == p->t && event->value == p->value);
            assert_int_equal(merge.cursor[ring].at.tail, p->end);
            again = below(30) == 0;
            if (again) {
                ring_merge_give_back(&merge);
            }
        }
        done[ring]++;
        take_rows(limit);
    }
    assert_null(ring_merge_next(&merge, limit));
}

static void rings_are_one_sequence(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        srand(round);
        memset(&merge, 0, sizeof merge);
        merge = (struct ring_merge){.ring_bytes = BYTES, .count = RINGS, .clock = {.from_user = 1}};
        for (unsigned i = 0; i < RINGS; i++) {
            fill(i);
        }
        for (unsigned upto = 0; upto < RECORDS;) {
            upto += 1 + below(RECORDS / 3);
            upto = upto < RECORDS ? upto : RECORDS;
            for (unsigned i = 0; i < RINGS; i++) {
                unsigned n = upto < RECORDS ? below(upto) : RECORDS;
                uint64_t end = n == 0 ? 0 : records[i][n - 1].end;
                merge.cursor[i].end = end > merge.cursor[i].end ? end : merge.cursor[i].end;
            }
            drain(below(2) == 0 && upto < RECORDS ? below(500) : UINT64_MAX);
        }
        for (unsigned i = 0; i < RINGS; i++) {
            assert_int_equal(done[i], RECORDS);
        }
    }
    assert_true(rows_taken > RECORDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rings_are_one_sequence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
