/* SPDX-License-Identifier: Apache-2.0 */
/* What the models of the command queue and of the Wait Gate cost, apart from reading a file: events
 * in memory, replayed with all rules. usage: bench_models BUILD */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/sim/sim.h"
#include "formats/trace/trace.h"
#include "replay/core/engine.h"

enum { EVENTS = 1 << 16, REPEATS = 20 };

struct memory {
    struct nocap_event *events;
    size_t count, room;
};

/* Of this process alone: the machine may have other work. */
static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what, const struct nocap_error *err)
{
    fprintf(stderr, "bench: %s: %s\n", what, err->text);
    exit(1);
}

static enum nocap_status keep(void *context, const struct nocap_event *event,
                              struct nocap_error *err)
{
    struct memory *m = context;
    if (m->count == m->room) {
        m->room = m->room == 0 ? 4096 : 2 * m->room;
        m->events = realloc(m->events, m->room * sizeof *m->events);
        RETURN_ERROR_IF(m->events == NULL, err, NOCAP_E_MEMORY, "out of memory");
    }
    struct nocap_event *e = &m->events[m->count];
    *e = *event;
    e->index = m->count++;
    if (event->data_size > 0) {
        uint8_t *data = malloc(event->data_size);
        RETURN_ERROR_IF(data == NULL, err, NOCAP_E_MEMORY, "out of memory");
        memcpy(data, event->data, event->data_size);
        e->data = data;
    }
    return m->count < EVENTS ? NOCAP_OK : NOCAP_END;
}

static void forget(struct memory *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free((void *)(uintptr_t)m->events[i].data);
    }
    free(m->events);
    *m = (struct memory){0};
}

static void told(void *context, const struct nocap_divergence *divergence)
{
    (void)divergence;
    ++*(uint64_t *)context;
}

static double replay_once(const struct nocap_header *header, const struct memory *m)
{
    struct nocap_error err = {{0}};
    struct nocap_engine *engine;
    uint64_t findings = 0;
    const struct nocap_engine_options options = {
        .size = sizeof options, .diverged = told, .context = &findings};
    if (nocap_engine_new(&engine, header, &options, &err) != NOCAP_OK) {
        die("replay", &err);
    }
    double start = seconds();
    if (nocap_engine_feed(engine, m->events, m->count, &err) != NOCAP_OK) {
        die("replay", &err);
    }
    double taken = seconds() - start;
    nocap_engine_free(engine);
    return taken;
}

/* Seconds an event, in the best of several runs. */
static double replay(const struct nocap_header *header, const struct memory *m)
{
    double best = replay_once(header, m);
    for (unsigned i = 1; i < REPEATS; i++) {
        double taken = replay_once(header, m);
        best = taken < best ? taken : best;
    }
    return best / (double)m->count;
}

static struct memory run(struct nocap_sim_options options, struct nocap_header *header)
{
    struct nocap_error err = {{0}};
    struct memory m = {0};
    options.size = sizeof options;
    options.launches = 1 << 30;
    options.seed = 1;
    enum nocap_status status = nocap_sim_run(&options, keep, &m, &err);
    if (status == NOCAP_OK || status == NOCAP_END) {
        status = nocap_sim_header(&options, header, &err);
    }
    if (status != NOCAP_OK) {
        die("device", &err);
    }
    return m;
}

static void bench_queue(enum nocap_sim_scenario scenario, enum nocap_sim_view view,
                        const char *name)
{
    struct nocap_header header;
    struct memory m = run((struct nocap_sim_options){.scenario = scenario, .view = view}, &header);
    double taken = replay(&header, &m);
    printf("command queue, %-18s %8.1f M/s   goal   5.0\n", name, 1e-6 / taken);
    forget(&m);
    nocap_header_free(&header);
}

/* The coprocessor's events of launches, with what every event costs. */
static void bench_device_gate(void)
{
    struct nocap_header header;
    struct memory m =
        run((struct nocap_sim_options){.scenario = NOCAP_SIM_LAUNCH_HOST, .tiles = 8}, &header);
    struct memory gate = {.events = malloc(m.count * sizeof *m.events)};
    for (size_t i = 0; i < m.count && gate.events != NULL; i++) {
        if (m.events[i].kind == NOCAP_EV_TENSIX) {
            gate.events[gate.count++] = m.events[i];
        }
    }
    printf("Wait Gate, the device's kernels    %8.1f ns/event   goal at most 60\n",
           1e9 * replay(&header, &gate));
    free(gate.events);
    forget(&m);
    nocap_header_free(&header);
}

/* MOP and REPLAY expansion, units, Src banks: a trace of the independent gate model. */
static void bench_dense_gate(const char *path)
{
    struct nocap_error err = {{0}};
    struct nocap_reader *reader;
    const struct nocap_event *events;
    struct memory m = {0};
    size_t count;
    if (nocap_reader_open(&reader, path, &err) != NOCAP_OK) {
        die(path, &err);
    }
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            (void)keep(&m, &events[i], &err);
        }
    }
    printf("Wait Gate, dense trace             %8.1f ns/event   goal at most 60\n",
           1e9 * replay(nocap_reader_header(reader), &m));
    forget(&m);
    nocap_reader_close(reader);
}

int main(void)
{
    bench_queue(NOCAP_SIM_FAST_DISPATCH, NOCAP_SIM_VIEW_RAW, "raw view");
    bench_queue(NOCAP_SIM_FAST_DISPATCH_RINGS, NOCAP_SIM_VIEW_RAW, "rings, raw view");
    bench_queue(NOCAP_SIM_FAST_DISPATCH, NOCAP_SIM_VIEW_ALL, "all views");
    bench_queue(NOCAP_SIM_FAST_DISPATCH, NOCAP_SIM_VIEW_HOST, "host's view");
    bench_device_gate();
    bench_dense_gate("golden/gate-random17.nocap");
    return 0;
}
