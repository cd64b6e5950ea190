/* SPDX-License-Identifier: Apache-2.0 */
/* Numbered events of several threads, as the tests of the recorder send and count them. */
#ifndef NOCAP_TESTS_RECORDING_H
#define NOCAP_TESTS_RECORDING_H

#include "tests/temp_dir.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "capture/recorder/capture.h"
#include "formats/import/import.h"
#include "formats/rings/ring_merge.h"

enum { THREADS = 4, RING_SMALL = 1 << 16 };

static inline struct nocap_capture *open_capture(const char *path,
                                                 struct nocap_capture_options options)
{
    struct nocap_header header;
    struct nocap_capture *capture = NULL;
    struct nocap_error err = {{0}};
    options.size = sizeof options;
    nocap_header_init(&header);
    assert_int_equal(nocap_header_observe(&header, "host-mmio", &err), NOCAP_OK);
    if (nocap_recorder_open(&capture, path, &header, &options, &err) != NOCAP_OK) {
        print_error("%s\n", err.text);
        fail();
    }
    nocap_header_free(&header);
    return capture;
}

static inline void close_capture(struct nocap_capture *capture, struct nocap_capture_totals *totals)
{
    struct nocap_error err = {{0}};
    if (nocap_recorder_close(capture, totals, &err) != NOCAP_OK) {
        print_error("%s\n", err.text);
        fail();
    }
}

/* What a trace of numbered events holds: each source counts from 0, in `value` or `seq`. */
struct counted {
    uint64_t events, drops, dropped, recovered;
    uint64_t next[RING_SLOTS], last_time[RING_SLOTS];
    unsigned sources;
    size_t damage;
};

/* `gaps`: events may be missing where a drop tells so. */
static inline void count_events(const char *path, bool gaps, struct counted *c)
{
    struct nocap_reader *reader;
    struct nocap_import_result result;
    struct nocap_error err = {{0}};
    const struct nocap_event *events;
    size_t count;
    uint64_t told[RING_SLOTS] = {0};
    *c = (struct counted){0};
    if (nocap_import_open(&reader, path, false, &result, &err) != NOCAP_OK) {
        print_error("%s\n", err.text);
        fail();
    }
    c->recovered = result.recovered.events;
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            const struct nocap_event *e = &events[i];
            assert_null(nocap_event_problem(e));
            assert_true(e->src < RING_SLOTS);
            assert_true(e->t >= c->last_time[e->src]);
            c->last_time[e->src] = e->t;
            c->sources = e->src >= c->sources ? e->src + 1 : c->sources;
            if (e->kind == NOCAP_EV_DROP) {
                assert_true(gaps);
                c->drops++;
                c->dropped += e->value;
                told[e->src] += e->value;
                continue;
            }
            uint64_t number = (e->has & NOCAP_F_SEQ) != 0 ? e->seq : e->value;
            assert_true(number == c->next[e->src] + told[e->src]);
            c->next[e->src] = number + 1;
            told[e->src] = 0;
            c->events++;
        }
    }
    c->damage = nocap_reader_integrity(reader)->count;
    nocap_reader_close(reader);
}

static inline bool record_number(struct nocap_capture *capture, uint64_t i)
{
    static const uint8_t bytes[300];
    if (i % 16 != 5) {
        return nocap_capture_write(capture, nocap_at_tile(1, 2), NOCAP_BY_HOST, 0x100 + i % 64 * 4,
                                   8, i);
    }
    struct nocap_event e = {.kind = NOCAP_EV_WRITE,
                            .by = NOCAP_BY_HOST,
                            .has = NOCAP_F_AT | NOCAP_F_BY | NOCAP_F_ADDR | NOCAP_F_SIZE |
                                   NOCAP_F_SEQ | NOCAP_F_DATA,
                            .seq = i,
                            .data = bytes,
                            .data_size = (uint32_t)(9 + i % 200)};
    e.size = e.data_size;
    return nocap_recorder_event(capture, &e);
}

/* ---- threads ---- */

struct worker {
    struct nocap_capture *capture;
    uint64_t events;
    _Atomic uint64_t *returned; /* may be NULL */
    uint64_t kept;
};

static inline void *work(void *argument)
{
    struct worker *w = argument;
    for (uint64_t i = 0; i < w->events; i++) {
        w->kept += record_number(w->capture, i);
        if (w->returned != NULL) {
            atomic_store_explicit(w->returned, i + 1, memory_order_release);
        }
    }
    return NULL;
}

static inline uint64_t run_workers(struct nocap_capture *capture, uint64_t events,
                                   _Atomic uint64_t *returned)
{
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    uint64_t kept = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){capture, events, returned != NULL ? &returned[i] : NULL, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        kept += workers[i].kept;
    }
    return kept;
}

#endif
