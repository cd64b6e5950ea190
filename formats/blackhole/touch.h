/* SPDX-License-Identifier: Apache-2.0 */
/* Which events touch given bytes of a tile: stores and loads that overlap them, multicasts that
 * cover the tile, requests of a network interface that end or begin there, landings. */
#ifndef NOCAP_BLACKHOLE_TOUCH_H
#define NOCAP_BLACKHOLE_TOUCH_H

#include "formats/trace/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes first..last, both included, of a tile's address space; NOC 0's coordinates. */
struct nocap_bytes_at {
    struct nocap_xy at;
    uint64_t first, last;
};

enum nocap_touch {
    NOCAP_TOUCH_NONE,
    NOCAP_TOUCH_STORE,     /* a write: by a core, the host, or bytes of a packet that land */
    NOCAP_TOUCH_MULTICAST, /* a write to a rectangle that covers the tile */
    NOCAP_TOUCH_REQUEST,   /* a request whose bytes go there */
    NOCAP_TOUCH_ANSWER,    /* an atomic whose answer goes there */
    NOCAP_TOUCH_HELD,      /* not an access: what memory held */
    NOCAP_TOUCH_LOAD,      /* a read */
    NOCAP_TOUCH_SOURCE,    /* a request that takes bytes from there */
};
/* How the event touches them; the first of these that fits. A request of unknown size counts as one
 * byte. */
enum nocap_touch nocap_touch(const struct nocap_event *event, const struct nocap_bytes_at *bytes);
/* Whether it may have changed them, or told what they were. */
static inline bool nocap_touch_writes(enum nocap_touch touch)
{
    return touch >= NOCAP_TOUCH_STORE && touch <= NOCAP_TOUCH_HELD;
}
/* "store", "multicast", "NOC request to", "NOC answer to", "held", "load", "NOC request from". */
const char *nocap_touch_name(enum nocap_touch touch);

/* Where the bytes of that access begin. */
uint64_t nocap_touch_start(const struct nocap_event *event, enum nocap_touch touch);
/* The byte at `addr` as the access left it, or found it; false: the trace does not have it. */
bool nocap_touch_byte(const struct nocap_event *event, enum nocap_touch touch, uint64_t addr,
                      uint8_t *byte);

#ifdef __cplusplus
}
#endif

#endif
