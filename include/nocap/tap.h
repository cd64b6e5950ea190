/* SPDX-License-Identifier: Apache-2.0 */
/* Taps for a simulator of one's own: an inline call where its core stores, loads, sends a NOC
 * request, begins or ends a kernel. Without a trace a tap is one test of a pointer, never taken.
 * All of it is made of nocap/capture.h, whose calls go beside these for what has no tap, after
 * nocap_tap_on(tap). How to go about it: docs/capture.md. */
#ifndef NOCAP_TAP_H
#define NOCAP_TAP_H

#include <nocap/capture.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kept out of the loop that has the tap. */
#if defined(__GNUC__)
#define NOCAP_TAP_COLD       __attribute__((noinline, cold, unused)) static
#define NOCAP_TAP_LIKELY(is) __builtin_expect(!!(is), 1)
#else
#define NOCAP_TAP_COLD       static inline
#define NOCAP_TAP_LIKELY(is) (is)
#endif

/* A party that does something: a core, or what the NOC or the host does to a tile. It never crosses
 * to the library, so it may lie anywhere and be copied. All zero: off. */
struct nocap_tap {
    struct nocap_capture *capture; /* NULL: off */
    const uint64_t *cycle;         /* the simulator's own count, which is the time of what is
                                      recorded; it stays where it is, and never goes back */
    uint16_t chip;
    struct nocap_xy tile; /* in coordinates of NOC 0 */
    uint8_t by;           /* enum nocap_agent: NOCAP_BY_BRISC .. NOCAP_BY_NONE: for requests, where
                             the network interface does not know which core made them */
};

/* What these calls show where all of them are made. Name in the header's `observes` only what is
 * tapped whole; NOCAP_CLASS_HOST_MMIO, _RESET, _SYSMEM beside it where that is recorded too. */
#define NOCAP_TAP_OBSERVES                                                                         \
    ((uint32_t)(NOCAP_CLASS_CORE_STORE | NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO |           \
                NOCAP_CLASS_NOC | NOCAP_CLASS_KERNEL))

/* For `pc`: the party has none, or it is not known. */
#define NOCAP_TAP_NO_PC UINT64_MAX

/* ---- begin and end of the simulation ---- */

/* Opens `path` as nocap_capture_open does, with the simulator's cycles for time. With `path` NULL,
 * such as a variable that is not set, there is no capture: `*capture` is NULL and all taps are off.
 */
static inline enum nocap_status nocap_tap_begin(struct nocap_capture **capture, const char *path,
                                                const struct nocap_trace_header *header,
                                                struct nocap_error *err)
{
    struct nocap_capture_open_options options;
    struct nocap_capture *opened = NULL;
    enum nocap_status status = NOCAP_OK;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.clock = NOCAP_CAPTURE_CLOCK_USER;
    if (path != NULL) {
        status = nocap_capture_open(&opened, path, header, &options, err);
    }
    *capture = status == NOCAP_OK ? opened : NULL;
    return status;
}

/* As nocap_capture_close; NULL is fine. No tap may be used any more. */
static inline enum nocap_status nocap_tap_end(struct nocap_capture *capture,
                                              struct nocap_error *err)
{
    return capture != NULL ? nocap_capture_close(capture, NULL, err) : NOCAP_OK;
}

static inline struct nocap_tap nocap_tap_of(struct nocap_capture *capture, const uint64_t *cycle,
                                            uint8_t x, uint8_t y, enum nocap_agent by)
{
    struct nocap_tap tap = {capture, cycle, 0, {x, y}, (uint8_t)by};
    return tap;
}

/* Whether a trace runs. After it: calls of nocap/capture.h, after nocap_capture_set_time. */
static inline bool nocap_tap_on(const struct nocap_tap *tap)
{
    return !NOCAP_TAP_LIKELY(tap->capture == NULL);
}

/* ---- what runs only while a trace does ---- */

static inline uint64_t nocap_tap_bytes(uint64_t value, uint64_t size)
{
    return size < sizeof value ? value & (((uint64_t)1 << (8 * size)) - 1) : value;
}

static inline struct nocap_event nocap_tap_event(const struct nocap_tap *tap, enum nocap_kind kind)
{
    struct nocap_event event = nocap_event_of(kind);
    event.t = *tap->cycle;
    event.chip = tap->chip;
    event.at = tap->tile;
    event.by = tap->by;
    event.has = tap->by != NOCAP_BY_NONE ? NOCAP_F_AT | NOCAP_F_BY : NOCAP_F_AT;
    return event;
}

NOCAP_TAP_COLD void nocap_tap_record_access(const struct nocap_tap *tap, enum nocap_kind kind,
                                            uint64_t pc, uint64_t addr, unsigned size,
                                            uint64_t value)
{
    struct nocap_event event = nocap_tap_event(tap, kind);
    event.addr = addr;
    event.size = size;
    event.value = nocap_tap_bytes(value, size);
    event.has |= NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE;
    if (pc != NOCAP_TAP_NO_PC) {
        event.pc = pc;
        event.has |= NOCAP_F_PC;
    }
    nocap_capture_event(tap->capture, &event);
}

NOCAP_TAP_COLD void nocap_tap_record_noc(const struct nocap_tap *tap, enum nocap_op op,
                                         unsigned noc, unsigned buf, uint64_t operand,
                                         struct nocap_xy target, uint64_t remote, uint64_t size)
{
    struct nocap_event event = nocap_tap_event(tap, NOCAP_EV_NOC);
    bool read = op == NOCAP_OP_READ;
    event.op = (uint8_t)op;
    event.noc = (uint8_t)noc;
    event.buf = (uint8_t)buf;
    event.size = size;
    event.has |= NOCAP_F_NOC | NOCAP_F_BUF | NOCAP_F_SIZE | NOCAP_F_D | NOCAP_F_DADDR;
    event.d = read ? tap->tile : target;
    event.daddr = read ? operand : remote;
    if (read || op == NOCAP_OP_WRITE) {
        event.s = read ? target : tap->tile;
        event.saddr = read ? remote : operand;
        event.has |= NOCAP_F_S | NOCAP_F_SADDR;
    } else {
        event.value = nocap_tap_bytes(operand, size);
        event.has |= NOCAP_F_VALUE;
    }
    nocap_capture_event(tap->capture, &event);
}

NOCAP_TAP_COLD void nocap_tap_record_kernel(const struct nocap_tap *tap, enum nocap_op op,
                                            uint64_t pc)
{
    struct nocap_event event = nocap_tap_event(tap, NOCAP_EV_KERNEL);
    event.op = (uint8_t)op;
    event.pc = pc;
    event.has |= NOCAP_F_PC;
    nocap_capture_event(tap->capture, &event);
}

/* ---- the taps ---- */

/* `size` bytes, 1, 2, 4 or 8, of `value` are stored at `addr`, as the core sees it: memory or a
 * register. Call it before the store is done: what that sets off comes after it. For bytes that a
 * NOC request brings: a tap of the target tile by NOCAP_BY_NOC; more than 8 at a time:
 * nocap_capture_write_data. */
static inline void nocap_tap_store(const struct nocap_tap *tap, uint64_t pc, uint64_t addr,
                                   unsigned size, uint64_t value)
{
    if (nocap_tap_on(tap)) {
        nocap_tap_record_access(tap, NOCAP_EV_WRITE, pc, addr, size, value);
    }
}

/* .. and loaded: call it once the value is known. Fetches of instructions are no loads. */
static inline void nocap_tap_load(const struct nocap_tap *tap, uint64_t pc, uint64_t addr,
                                  unsigned size, uint64_t value)
{
    if (nocap_tap_on(tap)) {
        nocap_tap_record_access(tap, NOCAP_EV_READ, pc, addr, size, value);
    }
}

/* The network interface `noc` of the tile sends the request of command buffer `buf`: `size` bytes
 * to or from address `remote` of tile `target`. `operand`: with NOCAP_OP_WRITE and _READ the
 * address in this tile, with _INLINE and _ATOMIC the value. */
static inline void nocap_tap_noc(const struct nocap_tap *tap, enum nocap_op op, unsigned noc,
                                 unsigned buf, uint64_t operand, struct nocap_xy target,
                                 uint64_t remote, uint64_t size)
{
    if (nocap_tap_on(tap)) {
        nocap_tap_record_noc(tap, op, noc, buf, operand, target, remote, size);
    }
}

/* The core goes into a kernel, NOCAP_OP_ENTER, or out of it, NOCAP_OP_EXIT, at `pc`. */
static inline void nocap_tap_kernel(const struct nocap_tap *tap, enum nocap_op op, uint64_t pc)
{
    if (nocap_tap_on(tap)) {
        nocap_tap_record_kernel(tap, op, pc);
    }
}

#ifdef __cplusplus
}
#endif

#endif
