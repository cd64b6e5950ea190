/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: reading one of any form, writing a .nocap file. A handle belongs to one thread at a time.
 * What a header says and what an event means: docs/events.md. */
#ifndef NOCAP_TRACE_H
#define NOCAP_TRACE_H

#include <nocap/event.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nocap_arch {
    NOCAP_ARCH_BLACKHOLE = 0,
    NOCAP_ARCH_WORMHOLE = 1,
    NOCAP_ARCH_AIE2PS = 2,
    NOCAP_ARCH_COUNT = 3
};
enum nocap_board {
    NOCAP_BOARD_UNKNOWN = 0,
    NOCAP_BOARD_P100 = 1,
    NOCAP_BOARD_P150 = 2,
    NOCAP_BOARD_COUNT = 3
};
enum nocap_time_unit { NOCAP_TIME_CYCLES = 0, NOCAP_TIME_NS = 1, NOCAP_TIME_UNIT_COUNT = 2 };

/* Event classes: what a trace observes. A rule is judged only where the classes it needs were. */
enum nocap_class_bit {
    NOCAP_CLASS_BIT_HOST_MMIO = 0,
    NOCAP_CLASS_BIT_SYSMEM = 1,
    NOCAP_CLASS_BIT_CORE_STORE = 2,
    NOCAP_CLASS_BIT_CORE_LOAD = 3,
    NOCAP_CLASS_BIT_CORE_MMIO = 4,
    NOCAP_CLASS_BIT_NOC = 5,
    NOCAP_CLASS_BIT_TENSIX_PUSH = 6,
    NOCAP_CLASS_BIT_TENSIX_ISSUE = 7,
    NOCAP_CLASS_BIT_TENSIX_RETIRE = 8,
    NOCAP_CLASS_BIT_TENSIX_UNIT = 9,
    NOCAP_CLASS_BIT_KERNEL = 10,
    NOCAP_CLASS_BIT_RESET = 11,
    NOCAP_CLASS_BIT_CQ_HOST = 12,
    NOCAP_CLASS_BIT_CQ = 13,
    NOCAP_CLASS_BIT_CERT = 14,
    NOCAP_CLASS_BIT_AIE_MMIO = 15,
    NOCAP_CLASS_BIT_NOC_BARRIER = 16,
    NOCAP_CLASS_BIT_SAMPLED = 17,
    NOCAP_CLASS_COUNT = 18
};
enum nocap_class {
    NOCAP_CLASS_HOST_MMIO = 1 << NOCAP_CLASS_BIT_HOST_MMIO,
    NOCAP_CLASS_SYSMEM = 1 << NOCAP_CLASS_BIT_SYSMEM,
    NOCAP_CLASS_CORE_STORE = 1 << NOCAP_CLASS_BIT_CORE_STORE,
    NOCAP_CLASS_CORE_LOAD = 1 << NOCAP_CLASS_BIT_CORE_LOAD,
    NOCAP_CLASS_CORE_MMIO = 1 << NOCAP_CLASS_BIT_CORE_MMIO,
    NOCAP_CLASS_NOC = 1 << NOCAP_CLASS_BIT_NOC,
    NOCAP_CLASS_TENSIX_PUSH = 1 << NOCAP_CLASS_BIT_TENSIX_PUSH,
    NOCAP_CLASS_TENSIX_ISSUE = 1 << NOCAP_CLASS_BIT_TENSIX_ISSUE,
    NOCAP_CLASS_TENSIX_RETIRE = 1 << NOCAP_CLASS_BIT_TENSIX_RETIRE,
    NOCAP_CLASS_TENSIX_UNIT = 1 << NOCAP_CLASS_BIT_TENSIX_UNIT,
    NOCAP_CLASS_KERNEL = 1 << NOCAP_CLASS_BIT_KERNEL,
    NOCAP_CLASS_RESET = 1 << NOCAP_CLASS_BIT_RESET,
    NOCAP_CLASS_CQ_HOST = 1 << NOCAP_CLASS_BIT_CQ_HOST,
    NOCAP_CLASS_CQ = 1 << NOCAP_CLASS_BIT_CQ,
    NOCAP_CLASS_CERT = 1 << NOCAP_CLASS_BIT_CERT,
    NOCAP_CLASS_AIE_MMIO = 1 << NOCAP_CLASS_BIT_AIE_MMIO,
    NOCAP_CLASS_NOC_BARRIER = 1 << NOCAP_CLASS_BIT_NOC_BARRIER,
    NOCAP_CLASS_SAMPLED = 1 << NOCAP_CLASS_BIT_SAMPLED
};

/* What stands in front of the events. */
struct nocap_trace_header {
    size_t size; /* sizeof(struct nocap_trace_header) */
    enum nocap_arch arch;
    enum nocap_board board;
    enum nocap_time_unit time_unit;
    uint32_t observes;    /* NOCAP_CLASS_*: all of what is recorded, and nothing that is not */
    uint64_t clock_hz;    /* 0: not said */
    const char *producer; /* NULL: not said */
    /* The whole header as one JSON object, with keys that have no member here, such as `scope` or
     * `firmware`. Reading: always there. Writing: if it is not NULL the members above do not
     * count; `observes` there and not here is refused. */
    const char *json;
};

/* ---- reading ---- */

struct nocap_trace;

struct nocap_trace_open_options {
    size_t size;        /* sizeof(struct nocap_trace_open_options) */
    const char *filter; /* only events that match, "ev==write && by==host", as
                           `nocap dump --help` explains; NULL: all */
    bool dense;         /* read on where few bytes hold more than 256 events each */
};

/* What a trace comes to. */
struct nocap_trace_sums {
    size_t size;     /* sizeof(struct nocap_trace_sums) */
    bool known;      /* the file has an end that says the rest; else all is 0 */
    uint64_t events; /* those too that a filter hides */
    uint64_t bytes;
    uint64_t t_first, t_last; /* of the earliest and the latest event */
};

/* One thing that is wrong with a file that could be opened. */
struct nocap_trace_damage {
    size_t size;      /* sizeof(struct nocap_trace_damage) */
    const char *rule; /* TRC-001: it lacks its end; TRC-002: a block is damaged; TRC-007: its end
                         disagrees with what was read */
    uint64_t index;   /* of the first event that is missing; the number of events for the others */
    uint64_t offset;  /* in the file, bytes */
    const char *text; /* what exactly; lives as long as the trace */
};

/* Opens a .nocap file or JSON Lines, plain or zstd-compressed; "-" is standard input. What a killed
 * capture left in its rings is read as the trace's end. `options` may be NULL. Fails with
 * NOCAP_E_INPUT if it is no trace, NOCAP_E_USAGE if the filter makes no sense. */
NOCAP_API enum nocap_status nocap_trace_open(struct nocap_trace **trace, const char *path,
                                             const struct nocap_trace_open_options *options,
                                             struct nocap_error *err);
/* The same on the bytes of a .nocap file, which must live as long as the trace. */
NOCAP_API enum nocap_status nocap_trace_open_memory(struct nocap_trace **trace, const void *bytes,
                                                    size_t size,
                                                    const struct nocap_trace_open_options *options,
                                                    struct nocap_error *err);
NOCAP_API void nocap_trace_close(struct nocap_trace *trace); /* NULL is fine */
NOCAP_API const struct nocap_trace_header *nocap_trace_header(const struct nocap_trace *trace);
/* The next event in file order; it and what it points to stay until the next call. NOCAP_END when
 * there are no more. Damage is stepped over and remembered. */
NOCAP_API enum nocap_status nocap_trace_next(struct nocap_trace *trace,
                                             const struct nocap_event **event,
                                             struct nocap_error *err);
/* Continues at event `index`, or at the first event at or after time `t`. */
NOCAP_API enum nocap_status nocap_trace_seek_index(struct nocap_trace *trace, uint64_t index,
                                                   struct nocap_error *err);
NOCAP_API enum nocap_status nocap_trace_seek_time(struct nocap_trace *trace, uint64_t t,
                                                  struct nocap_error *err);
NOCAP_API enum nocap_status nocap_trace_totals(const struct nocap_trace *trace,
                                               struct nocap_trace_sums *totals);
/* What was found damaged so far, whole only after NOCAP_END: number `i` from 0; NOCAP_END: there is
 * no such. The first 64 are kept. */
NOCAP_API enum nocap_status nocap_trace_damage_at(const struct nocap_trace *trace, size_t i,
                                                  struct nocap_trace_damage *damage);
/* An event of this trace as a line for people, in the words of the field, without a newline.
 * Returns as snprintf does. */
NOCAP_API int nocap_trace_text(struct nocap_trace *trace, const struct nocap_event *event,
                               char *text, size_t size);

/* ---- writing ---- */

struct nocap_trace_writer;

struct nocap_trace_create_options {
    size_t size;           /* sizeof(struct nocap_trace_create_options) */
    int level;             /* zstd level, 0: 1 */
    uint32_t block_events; /* events a block at most, 0: 65536 */
};

/* Creates `path` ("-": standard output) and writes the header. `options` may be NULL. */
NOCAP_API enum nocap_status nocap_trace_create(struct nocap_trace_writer **writer, const char *path,
                                               const struct nocap_trace_header *header,
                                               const struct nocap_trace_create_options *options,
                                               struct nocap_error *err);
/* Copies the event; `index` is ignored, events are numbered as they come. */
NOCAP_API enum nocap_status nocap_trace_add(struct nocap_trace_writer *writer,
                                            const struct nocap_event *event,
                                            struct nocap_error *err);
/* Ends the block, so that everything added so far is on its way to the disk. */
NOCAP_API enum nocap_status nocap_trace_flush(struct nocap_trace_writer *writer,
                                              struct nocap_error *err);
/* Writes what is pending and the trace's end; frees the writer whatever comes. */
NOCAP_API enum nocap_status nocap_trace_finish(struct nocap_trace_writer *writer,
                                               struct nocap_error *err);
/* Frees the writer without an end: the file looks cut short. NULL is fine. */
NOCAP_API void nocap_trace_abandon(struct nocap_trace_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
