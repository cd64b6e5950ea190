/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a run of the built-in device model in memory. */
#ifndef NOCAP_TESTS_SIM_RUN_H
#define NOCAP_TESTS_SIM_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/sim/sim.h"

/* Every event of a run. */
struct run {
    struct nocap_event *events;
    size_t count, capacity;
    uint64_t hash; /* over every field and payload */
};

static inline void hash_bytes(struct run *run, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        run->hash = (run->hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001B3);
    }
}

static inline void hash_event(struct run *run, const struct nocap_event *event)
{
    struct nocap_event plain = *event;
    plain.data = NULL;
    hash_bytes(run, &plain, sizeof plain);
    hash_bytes(run, event->data, event->data_size);
}

static inline void run_add(struct run *run, const struct nocap_event *event)
{
    if (run->count == run->capacity) {
        run->capacity = run->capacity * 2 + 1024;
        run->events = realloc(run->events, run->capacity * sizeof *run->events);
        assert_non_null(run->events);
    }
    struct nocap_event *kept = &run->events[run->count++];
    *kept = *event;
    kept->data = NULL;
    if (event->data_size > 0) {
        uint8_t *data = malloc(event->data_size);
        assert_non_null(data);
        memcpy(data, event->data, event->data_size);
        kept->data = data;
    }
}

static inline enum nocap_status keep(void *context, const struct nocap_event *event,
                                     struct nocap_error *err)
{
    struct run *run = context;
    (void)err;
    assert_null(nocap_event_problem(event));
    assert_int_equal(event->src, 0);
    hash_event(run, event);
    if (run->count > 0) {
        assert_true(event->t >= run->events[run->count - 1].t);
    }
    run_add(run, event);
    return NOCAP_OK;
}

static inline void run_free(struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        free((void *)(uintptr_t)run->events[i].data);
    }
    free(run->events);
    memset(run, 0, sizeof *run);
}

static inline struct run run_with(struct nocap_sim_options options)
{
    struct run run = {0};
    struct nocap_error err = {{0}};
    options.size = sizeof options;
    if (nocap_sim_run(&options, keep, &run, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return run;
}

static inline uint64_t hash_with(struct nocap_sim_options options)
{
    struct run run = run_with(options);
    uint64_t hash = run.hash;
    run_free(&run);
    return hash;
}

static inline bool at(const struct nocap_event *e, struct nocap_xy xy)
{
    return e->at.x == xy.x && e->at.y == xy.y;
}

static inline bool is_store(const struct nocap_event *e, unsigned by)
{
    return e->kind == NOCAP_EV_WRITE && e->by == by;
}

#endif
