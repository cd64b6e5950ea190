/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of random events for tests of the file: each event follows from its index, so that what is
 * read can be compared with what was written. */
#ifndef NOCAP_TESTS_TRACE_FILE_H
#define NOCAP_TESTS_TRACE_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/trace/block.h"
#include "formats/trace/trace.h"

struct trace_file {
    uint8_t *bytes;
    size_t size;
};

static inline uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint8_t payload[4096];

static inline void fill_payload(void)
{
    uint64_t random = 42;
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (uint8_t)next_random(&random);
    }
}

/* Event `i` of a stream that uses every home of a field. */
static inline struct nocap_event make_event(uint64_t i, uint64_t *random)
{
    uint64_t r = next_random(random);
    struct nocap_event e = {
        .t = i / 2 * 3, .seq = i * 7, .at = {(uint8_t)(1 + r % 7), (uint8_t)(2 + (r >> 8) % 10)}};
    e.has = NOCAP_F_AT | NOCAP_F_SEQ;
    switch (r >> 60) {
    case 0:
        e.kind = NOCAP_EV_NOC;
        e.op = NOCAP_OP_INLINE;
        e.has |= NOCAP_F_DADDR | NOCAP_F_D | NOCAP_F_POSTED | NOCAP_F_AT_DATA;
        e.daddr = r;
        e.d = (struct nocap_xy){2, 3};
        e.posted = 1;
        e.at_data = ~r;
        break;
    case 1:
        e.kind = NOCAP_EV_NOTE;
        e.has = NOCAP_F_TEXT;
        e.at = (struct nocap_xy){0, 0};
        e.seq = 0;
        e.data = payload;
        e.data_size = (uint32_t)(r % sizeof payload);
        break;
    default:
        e.kind = NOCAP_EV_WRITE;
        e.by = NOCAP_BY_BRISC;
        e.has |= NOCAP_F_BY | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE;
        e.addr = (r & 1) != 0 ? 0x68 : r >> 20;
        e.size = 4;
        e.value = r >> 33;
        e.src = (uint32_t)(r % 3);
        if ((r & 0xF0) == 0) {
            e.extra = "\"k\":1";
            e.extra_size = 5;
        }
        break;
    }
    return e;
}

static inline bool same_event(const struct nocap_event *a, const struct nocap_event *b)
{
    return a->t == b->t && a->has == b->has && memcmp(a->slot, b->slot, sizeof a->slot) == 0 &&
           a->src == b->src && a->chip == b->chip &&
           memcmp(&a->at, &b->at, 2 * sizeof a->at) == 0 &&
           memcmp(&a->kind, &b->kind, SMALL_SIZE + 2) == 0 && a->data_size == b->data_size &&
           a->extra_size == b->extra_size &&
           (a->data_size == 0 || memcmp(a->data, b->data, a->data_size) == 0) &&
           (a->extra_size == 0 || memcmp(a->extra, b->extra, a->extra_size) == 0);
}

static inline struct trace_file write_file(uint64_t events, uint32_t block_events)
{
    FILE *file = tmpfile();
    struct nocap_header header;
    struct nocap_error err;
    nocap_header_init(&header);
    header.complete = NOCAP_TRUE;
    assert_int_equal(nocap_header_observe(&header, "host-mmio", &err), NOCAP_OK);
    struct nocap_writer_options options = {.size = sizeof options, .block_events = block_events};
    struct nocap_writer *writer;
    assert_int_equal(nocap_writer_open_fd(&writer, fileno(file), &header, &options, &err),
                     NOCAP_OK);
    uint64_t random = 1;
    for (uint64_t i = 0; i < events; i++) {
        struct nocap_event e = make_event(i, &random);
        assert_int_equal(nocap_writer_add(writer, &e, &err), NOCAP_OK);
    }
    struct nocap_trace_totals totals;
    assert_int_equal(nocap_writer_close(writer, &totals, &err), NOCAP_OK);
    assert_true(totals.events == events);
    struct trace_file f = {malloc((size_t)totals.bytes), (size_t)totals.bytes};
    assert_true(pread(fileno(file), f.bytes, f.size, 0) == (ssize_t)f.size);
    fclose(file);
    nocap_header_free(&header);
    return f;
}

/* Reads all and compares each event with the one written at its index. Returns how many came, -1 if
 * the file could not be opened; integrity is copied. */
static inline long read_and_compare(const uint8_t *bytes, size_t size,
                                    struct nocap_integrity *integrity)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    enum nocap_status status = nocap_reader_open_memory(&reader, bytes, size, &err);
    if (status != NOCAP_OK) {
        assert_int_equal(status, NOCAP_E_INPUT);
        assert_true(strlen(err.text) > 0);
        return -1;
    }
    const struct nocap_event *events;
    size_t count;
    long total = 0;
    uint64_t random = 1, at = 0;
    struct nocap_event want = {0};
    while ((status = nocap_reader_next(reader, &events, &count, &err)) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            assert_true(events[i].index >= at);
            for (; at <= events[i].index; at++) {
                want = make_event(at, &random);
            }
            assert_true(same_event(&events[i], &want));
        }
        total += (long)count;
    }
    assert_int_equal(status, NOCAP_END);
    *integrity = *nocap_reader_integrity(reader);
    nocap_reader_close(reader);
    return total;
}

#endif
