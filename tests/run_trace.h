/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a trace of a simulated run, event by event, so that a test can leave some out, change
 * them or add others. */
#ifndef NOCAP_TESTS_RUN_TRACE_H
#define NOCAP_TESTS_RUN_TRACE_H

#include "tests/sim_run.h"

#include "checker/core/checker.h"
#include "formats/trace/trace.h"

struct run_trace {
    struct nocap_header header; /* may be changed until the trace is opened */
    struct nocap_writer *writer;
    const char *path;
};

/* With the header that the device model gives to such a run. */
static inline struct run_trace run_trace_of(const struct nocap_sim_options *options)
{
    struct run_trace t = {0};
    struct nocap_error err = {{0}};
    if (nocap_sim_header(options, &t.header, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return t;
}

static inline void run_trace_open(struct run_trace *t, const char *path)
{
    struct nocap_error err = {{0}};
    t->path = path;
    if (nocap_writer_open(&t->writer, path, &t->header, NULL, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
}

static inline void run_trace_add(struct run_trace *t, const struct nocap_event *event)
{
    struct nocap_error err = {{0}};
    if (nocap_writer_add(t->writer, event, &err) != NOCAP_OK) {
        fail_msg("event %llu: %s", (unsigned long long)event->index, err.text);
    }
}

static inline void run_trace_close(struct run_trace *t)
{
    struct nocap_error err = {{0}};
    if (nocap_writer_close(t->writer, NULL, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    nocap_header_free(&t->header);
}

/* Closes the trace; what the checker says of it. */
static inline struct nocap_report *run_trace_check(struct run_trace *t)
{
    struct nocap_error err = {{0}};
    struct nocap_report *report;
    run_trace_close(t);
    if (nocap_check(&report, t->path, NULL, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return report;
}

static inline enum nocap_status run_trace_take(void *writer, const struct nocap_event *event,
                                               struct nocap_error *err)
{
    return nocap_writer_add(writer, event, err);
}

/* A whole run that need not be in memory; the trace is still open. */
static inline struct run_trace run_trace_simulated(const char *path,
                                                   struct nocap_sim_options options)
{
    struct nocap_error err = {{0}};
    options.size = sizeof options;
    struct run_trace t = run_trace_of(&options);
    run_trace_open(&t, path);
    if (nocap_sim_run(&options, run_trace_take, t.writer, &err) != NOCAP_OK) {
        fail_msg("%s, seed %llu: %s", options.profile != NULL ? options.profile : "",
                 (unsigned long long)options.seed, err.text);
    }
    return t;
}

/* A whole run that is in memory. */
static inline void run_trace_write(const char *path, const struct nocap_sim_options *options,
                                   const struct run *run)
{
    struct run_trace t = run_trace_of(options);
    run_trace_open(&t, path);
    for (size_t i = 0; i < run->count; i++) {
        run_trace_add(&t, &run->events[i]);
    }
    run_trace_close(&t);
}

#endif
