/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: how the parties of a trace get on: what each did last, how long it ever took,
 * what it polls. From this it is reported whether who waits still can hope. A load
 * that finds what it found before is a poll; all else that a party does is an act. Owner:
 * progress; read by what tells waits. */
#ifndef NOCAP_REPLAY_CORE_PROGRESS_H
#define NOCAP_REPLAY_CORE_PROGRESS_H

#include "formats/blackhole/niu.h"
#include "formats/blackhole/registers.h"
#include "formats/blackhole/waypoint.h"
#include "replay/core/tile.h"
#include "replay/core/waits.h"

enum {
    PROGRESS_POLLS = 4,
    PROGRESS_GAVE_UP = 16, /* polls without success, from which on a reset means a timeout */
};

/* A place that a party reads and finds as it was. */
struct poll {
    uint64_t addr, value;
    struct event_ref since; /* found with this value first */
    uint64_t seen;          /* time of the latest look */
    uint64_t count;         /* how often; 0: nothing is here */
};

struct progress_agent {
    struct poll polls[PROGRESS_POLLS];
    uint8_t latest, next;  /* which of them it polled last; which is given up next */
    bool polling;          /* a repeated poll was the last that it did */
    uint64_t pc, pc_index; /* where it was last; pc_index NO_INDEX: not known */
    char waypoint[NOCAP_WAYPOINT_MAX +
                  1]; /* where a note said that it is, "": none since it acted */
    uint16_t kernel;  /* what it runs, of trace_progress.kernels; 0: not known */
};

/* Who reads a tile or acts in it: the host, then the cores by processor. */
enum { PROGRESS_HOST, PROGRESS_CORE0, PROGRESS_AGENTS = PROGRESS_CORE0 + NOCAP_PROCESSOR_COUNT };

/* Requests of a network interface of the tile that are answered: how many, and those of the latest
 * whose end was not reported. */
enum { PROGRESS_NOCS = 2, PROGRESS_OPEN = 4 };
struct progress_requests {
    uint64_t issued, ended; /* ended: as far as the trace tells */
    uint32_t open_count;
    struct progress_request {
        uint64_t index, id;
        bool has_far;
        struct nocap_xy far;
    } open[PROGRESS_OPEN]; /* the latest, oldest first */
};

/* Of a circular buffer: what its counters were last seen to hold, and which core moved them last;
 * that they are zeroed moves none. */
enum { BUFFER_RECEIVED, BUFFER_ACKED, BUFFER_COUNTERS };
struct progress_buffer {
    bool known[BUFFER_COUNTERS];
    uint8_t by[BUFFER_COUNTERS]; /* NONE: no agent */
    uint16_t tiles[BUFFER_COUNTERS];
    uint16_t most; /* tiles that it ever held when some were taken out */
};

/* 0 also where it is not known. */
static inline uint16_t progress_buffer_holds(const struct progress_buffer *b)
{
    bool known = b->known[BUFFER_RECEIVED] && b->known[BUFFER_ACKED];
    return known ? (uint16_t)(b->tiles[BUFFER_RECEIVED] - b->tiles[BUFFER_ACKED]) : 0;
}

struct progress {
    struct nocap_progress all;
    struct progress_buffer buffers[NOCAP_CB_COUNT];
    struct progress_requests requests[PROGRESS_NOCS][NOCAP_REQUESTS];
    struct progress_agent agents[PROGRESS_AGENTS];
    /* the host's reads of a go word's signal, since they show anything but DONE */
    struct event_ref asked, asked_last; /* index NO_INDEX: it does not ask */
    uint64_t asked_count;               /* how often it found that signal, in a row */
    uint32_t asked_at;
    uint8_t asked_signal;
    /* the sync word as the host found it last; index NO_INDEX: it did not look */
    struct event_ref sync_seen;
    uint32_t sync;
    /* host reads that gave nothing but ones */
    struct event_ref ones;
    uint64_t ones_count;
    uint32_t debug_select; /* what the debug bus shows, as the host chose */
};

/* Who wrote a word last: who would have to again. A table that forgets. */
enum { PROGRESS_WRITERS = 1024, PROGRESS_WRITER_BYTES = 16 };
struct last_writer {
    uint64_t key; /* of chip, tile and address; 0: none */
    uint64_t index;
    uint8_t agent;
    struct nocap_xy at;
};

/* Of the trace as a whole. */
enum { PROGRESS_KERNELS = 256, PROGRESS_KERNEL_NAME = 128 };
struct trace_progress {
    bool polls; /* loads of cores are observed: what they poll is known */
    bool acted; /* some agent acted: the trace is no snapshot of memory alone */
    bool shows; /* .. in a way that lets it be seen whether one waits */
    struct last_writer writers[PROGRESS_WRITERS];
    struct nocap_progress all;
    const struct tile *asks; /* whose go word the host looks at, NULL: none; .. in a row */
    uint64_t asks_count;
    uint64_t end;                 /* latest time that an event tells of */
    struct progress_agent memory; /* the host's reads of its own memory */
    struct nocap_gave_up gave_up; /* index NO_INDEX: it did not */
    struct nocap_slow_wait slow, memory_slow;
    struct event_ref memory_asked; /* first look at `memory_asked_at` that found nothing new */
    uint64_t memory_asked_at;
    char kernels[PROGRESS_KERNELS][PROGRESS_KERNEL_NAME]; /* names from notes; 0 is none */
    uint16_t kernel_count;
};
/* Of a tile, and of the trace as a whole. */
static inline struct progress *progress_of(const struct tile *tile)
{
    return tile->part[MODEL_PROGRESS];
}
static inline struct trace_progress *trace_of(const struct model *m)
{
    return m->state[MODEL_PROGRESS];
}

/* From so many on it is no chance that an agent looks again; that it waits. */
enum { PROGRESS_LOOKS = 16, PROGRESS_LONG = 100 };
/* The host has looked at the go word of another tile ever since, and so does not wait for this one.
 */
static inline bool progress_asks_other(const struct model *m, const struct tile *tile)
{
    const struct trace_progress *p = trace_of(m);
    return p->asks_count >= PROGRESS_LOOKS && p->asks != tile && p->asks->chip == tile->chip;
}

/* Where the core looked last, polling or not; NULL: it did not. */
static inline const struct poll *progress_look_of(const struct tile *tile, unsigned processor)
{
    const struct progress_agent *a = &progress_of(tile)->agents[PROGRESS_CORE0 + processor];
    return a->polls[a->latest].count > 0 ? &a->polls[a->latest] : NULL;
}

/* Whether the core's waypoint is one of kernels. */
bool progress_in_kernel(const struct progress_agent *agent);
/* The agent of the event writes from a tile to `addr` of one. */
void last_writer_note(struct model *m, struct nocap_xy to, uint64_t addr, struct nocap_xy from);
/* NULL: the writer is not known. */
const struct last_writer *last_writer(const struct model *m, uint16_t chip, struct nocap_xy at,
                                      uint64_t addr);
/* NULL unless a repeated poll is the last that the agent did. */
const struct poll *progress_poll_of(const struct progress_agent *agent);

#endif
