/* SPDX-License-Identifier: Apache-2.0 */
/* Records events of a running program into a .nocap file: open, one call an event from any thread,
 * close. A call costs 10 to 20 ns and never allocates: the event goes into a ring of the calling
 * thread, a thread of the library writes the file. The rings lie in FILE.rings beside the trace:
 * should the program be killed, whatever opens the trace finds in them every event whose call had
 * returned. What each kind of event means: docs/events.md. */
#ifndef NOCAP_CAPTURE_H
#define NOCAP_CAPTURE_H

#include <nocap/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nocap_capture;

/* What happens to an event that finds its ring full. */
enum nocap_capture_policy {
    NOCAP_CAPTURE_BLOCK = 0, /* the call waits: nothing is lost */
    NOCAP_CAPTURE_DROP = 1   /* it is counted; the trace says how many are missing, and where */
};

/* Where times come from. */
enum nocap_capture_clock {
    /* nanoseconds since open, of the processor's time stamp counter; of clock_gettime where that
     * does not run evenly */
    NOCAP_CAPTURE_CLOCK_TSC = 0,
    /* what nocap_capture_set_time said last: a simulator's cycles */
    NOCAP_CAPTURE_CLOCK_USER = 1,
    /* as _TSC, but up to eight reads and writes of a value share a reading of the counter, as long
     * as one thread alone records: the order of events is exact, a time may be that of up to seven
     * events before */
    NOCAP_CAPTURE_CLOCK_TSC_COARSE = 2
};

/* What the child of fork() does with the capture that it inherits. */
enum nocap_capture_fork {
    NOCAP_CAPTURE_FORK_STOP = 0,  /* its calls do nothing; the parent goes on */
    NOCAP_CAPTURE_FORK_FOLLOW = 1 /* with its first event it begins a trace of its own:
                                     FILE.<pid>.nocap for FILE.nocap */
};

struct nocap_capture_open_options {
    size_t size; /* sizeof(struct nocap_capture_open_options) */
    enum nocap_capture_policy policy;
    enum nocap_capture_clock clock;
    enum nocap_capture_fork fork;
    uint64_t ring_bytes;     /* of a thread, a power of two from 64 KiB to 1 GiB; 0: 8 MiB */
    uint32_t flush_interval; /* milliseconds after which an event is in the file; 0: 1000 */
    int level;               /* zstd level; 0: 1 */
    bool one_source; /* recording calls come one at a time, whatever thread makes them: the trace
                        has one source, in their order */
};

struct nocap_capture_sums {
    size_t size;      /* sizeof(struct nocap_capture_sums) */
    uint64_t events;  /* in the trace, those that count drops among them */
    uint64_t bytes;   /* of the file */
    uint64_t dropped; /* events that are missing */
    double seconds;   /* from open to close */
};

/* Makes `path` and `path`.rings. A trace that had the name before is replaced once all else is
 * there; one of a capture that was killed, with its rings, is kept as STEM.killed.nocap for
 * STEM.nocap. The unit of time follows from the clock, unless the header is given as JSON that
 * names one. `options` may be NULL. Fails with NOCAP_E_OUTPUT. */
NOCAP_API enum nocap_status nocap_capture_open(struct nocap_capture **capture, const char *path,
                                               const struct nocap_trace_header *header,
                                               const struct nocap_capture_open_options *options,
                                               struct nocap_error *err);
/* Waits until everything recorded so far is in the file. */
NOCAP_API enum nocap_status nocap_capture_flush(struct nocap_capture *capture,
                                                struct nocap_error *err);
/* Ends the trace and removes the rings. No other thread may be in a call. Frees the capture
 * whatever comes; `sums` may be NULL. An error of the writer, such as a full disk, is reported
 * here: the rings stay then, and `sums` counts what is in them too. */
NOCAP_API enum nocap_status nocap_capture_close(struct nocap_capture *capture,
                                                struct nocap_capture_sums *sums,
                                                struct nocap_error *err);
/* Where it goes; stays until the capture is closed, or the child of a fork begins its own. */
NOCAP_API const char *nocap_capture_path(const struct nocap_capture *capture);
/* For NOCAP_CAPTURE_CLOCK_USER: the time of the events to come, of all threads. */
NOCAP_API void nocap_capture_set_time(struct nocap_capture *capture, uint64_t t);

/* ---- recording: any thread, also a signal handler. True: the event is safe. False: it was
 * dropped, and counted. ---- */

/* Where an access goes: never grows. Zero-initialised: tile 0,0 of chip 0. */
struct nocap_place {
    struct nocap_xy at, to; /* the tile; with `multicast` the two corners of the rectangle */
    uint16_t chip;
    uint8_t space; /* enum nocap_space; tiles count only in NOCAP_SPACE_TILE */
    bool multicast;
    /* of the host's TLB window, where known */
    bool has_window;
    uint8_t noc, order, map; /* 0 or 1, enum nocap_order, enum nocap_map */
};

static inline struct nocap_place nocap_at_tile(uint8_t x, uint8_t y)
{
    struct nocap_place place = {{x, y}, {0, 0}, 0, NOCAP_SPACE_TILE, false, false, 0, 0, 0};
    return place;
}
static inline struct nocap_place nocap_in_space(enum nocap_space space)
{
    struct nocap_place place = {{0, 0}, {0, 0}, 0, (uint8_t)space, false, false, 0, 0, 0};
    return place;
}

/* An access of `size` bytes, 1 to 8, with its value, little-endian. `by`: enum nocap_agent. */
NOCAP_API bool nocap_capture_write(struct nocap_capture *capture, struct nocap_place place,
                                   unsigned by, uint64_t addr, unsigned size, uint64_t value);
NOCAP_API bool nocap_capture_read(struct nocap_capture *capture, struct nocap_place place,
                                  unsigned by, uint64_t addr, unsigned size, uint64_t value);
/* An access of any size with its bytes, or with `data` NULL where they are not known. One that does
 * not fit a quarter of a ring becomes several. */
NOCAP_API bool nocap_capture_write_data(struct nocap_capture *capture, struct nocap_place place,
                                        unsigned by, uint64_t addr, const void *data, size_t size);
NOCAP_API bool nocap_capture_read_data(struct nocap_capture *capture, struct nocap_place place,
                                       unsigned by, uint64_t addr, const void *data, size_t size);

/* The NOC transaction `op` (NOCAP_OP_READ, _WRITE, _INLINE, _ATOMIC) of `size` bytes that the
 * network interface of `tile` issues to `daddr` of `target`. Further fields: nocap_capture_event.
 */
NOCAP_API bool nocap_capture_noc(struct nocap_capture *capture, enum nocap_op op,
                                 struct nocap_xy tile, unsigned by, unsigned noc, unsigned buf,
                                 struct nocap_xy target, uint64_t daddr, uint64_t size);
/* `word` of `thread` 0..2: NOCAP_OP_PUSH, _ISSUE, _STALL, _RETIRE. */
NOCAP_API bool nocap_capture_tensix(struct nocap_capture *capture, enum nocap_op op,
                                    struct nocap_xy tile, unsigned thread, uint32_t word);
/* NOCAP_OP_ENTER, _EXIT of a kernel on core `by`. */
NOCAP_API bool nocap_capture_kernel(struct nocap_capture *capture, enum nocap_op op,
                                    struct nocap_xy tile, unsigned by, uint64_t pc);
/* NOCAP_OP_RUN, _HALT: core `by` leaves or enters reset. */
NOCAP_API bool nocap_capture_reset(struct nocap_capture *capture, enum nocap_op op,
                                   struct nocap_xy tile, unsigned by);
/* A record that the host made visible: queue slot, its 16-bit entry, offset in the mapping, bytes.
 */
NOCAP_API bool nocap_capture_cq_record(struct nocap_capture *capture, uint64_t slot, unsigned entry,
                                       uint64_t addr, const void *data, size_t size);
/* What the command queue's cores do: NOCAP_OP_FETCH .. NOCAP_OP_DONE. `slot` counts for _FETCH and
 * _LANDED. */
NOCAP_API bool nocap_capture_cq(struct nocap_capture *capture, enum nocap_op op, uint64_t slot,
                                uint64_t addr, uint64_t size);
/* A step of AIE control code at `off` bytes from the start of `page`; `insn`, the instruction's
 * bytes, counts for NOCAP_OP_START alone, `job` for what belongs to one. Operations with operands
 * of their own (_BLOCK, _TCT, _DMA_DONE): nocap_capture_event. */
NOCAP_API bool nocap_capture_cert(struct nocap_capture *capture, enum nocap_op op, unsigned uc,
                                  uint64_t page, uint64_t off, uint64_t job, const void *insn,
                                  size_t insn_size);
/* What memory held, of any size as above, and a text in between. */
NOCAP_API bool nocap_capture_mem(struct nocap_capture *capture, struct nocap_place place,
                                 uint64_t addr, const void *data, size_t size);
NOCAP_API bool nocap_capture_note(struct nocap_capture *capture, const char *text);

/* Any event, as it stands; `index`, `src` and `extra` are not looked at, `t` only with
 * NOCAP_CAPTURE_CLOCK_USER: if it is not 0 it is the event's own time. Its record, some 100 bytes
 * and the payload, must fit half a ring. */
NOCAP_API bool nocap_capture_event(struct nocap_capture *capture, const struct nocap_event *event);
/* The same from a line of JSON Lines, for other languages. `recorded` (may be NULL): the event is
 * safe. NOCAP_E_INPUT: it is not well formed, or has a key that events do not have. */
NOCAP_API enum nocap_status nocap_capture_event_json(struct nocap_capture *capture,
                                                     const char *line, bool *recorded,
                                                     struct nocap_error *err);

#ifdef __cplusplus
}
#endif

#endif
