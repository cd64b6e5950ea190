/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the rings of the command queue, and how one moves in a ring. Each is a row of
 * one table, which is that of one build of the firmware. */
#ifndef NOCAP_REPLAY_CQ_PLACES_H
#define NOCAP_REPLAY_CQ_PLACES_H

#include <stdbool.h>

#include "formats/blackhole/cq_commands.h"
#include "formats/blackhole/cq_layout.h"

/* Units from `base` on: an address of L1, or an offset in host memory. */
struct cq_place {
    uint32_t base, unit, units;
};
struct cq_places {
    struct cq_place slots;      /* the prefetch queue */
    struct cq_place landing;    /* records that were read */
    struct cq_place buffer;     /* pages of the dispatch buffer */
    struct cq_place issue;      /* records of the host */
    struct cq_place completion; /* its pages */
    struct cq_place stamps;
};
static const struct cq_places cq_places = {
    .slots = {NOCAP_CQ_QUEUE, 2, NOCAP_CQ_QUEUE_SLOTS},
    .landing = {NOCAP_CQ_CMDDAT, 1, NOCAP_CQ_CMDDAT_SIZE},
    .buffer = {NOCAP_CQ_BUFFER, NOCAP_CQ_PAGE, NOCAP_CQ_BUFFER_PAGES},
    .issue = {NOCAP_CQ_ISSUE, 1, NOCAP_CQ_ISSUE_SIZE},
    .completion = {NOCAP_CQ_COMPLETION, NOCAP_CQ_PAGE, NOCAP_CQ_COMPLETION_PAGES},
    .stamps = {NOCAP_CQ_TIMESTAMPS, NOCAP_CQ_TIMESTAMP_STRIDE, NOCAP_CQ_TIMESTAMP_SLOTS},
};

static inline uint32_t place_size(const struct cq_place *p)
{
    return p->unit * p->units;
}
static inline bool place_has(const struct cq_place *p, uint64_t addr)
{
    return addr - p->base < place_size(p);
}
static inline uint32_t place_index(const struct cq_place *p, uint64_t addr)
{
    return (uint32_t)((addr - p->base) / p->unit) % p->units;
}
static inline uint32_t place_address(const struct cq_place *p, uint32_t index)
{
    return p->base + index * p->unit;
}
/* `count` units behind unit `index`. */
static inline uint32_t place_behind(const struct cq_place *p, uint32_t index, uint32_t count)
{
    return (index + count) % p->units;
}
static inline uint32_t place_before(const struct cq_place *p, uint32_t index)
{
    return (index + p->units - 1) % p->units;
}
/* So many units from one forward to another. */
static inline uint32_t place_distance(const struct cq_place *p, uint32_t from, uint32_t to)
{
    return (to + p->units - from) % p->units;
}
/* An address behind the end is one behind the start. */
static inline uint32_t place_wrap(const struct cq_place *p, uint64_t addr)
{
    return p->base + (uint32_t)(addr - p->base) % place_size(p);
}
/* Where something of `size` bytes goes that is not split: at `addr`, or at the start again. */
static inline uint32_t place_whole(const struct cq_place *p, uint32_t addr, uint64_t size)
{
    return addr + size > (uint64_t)p->base + place_size(p) ? p->base : addr;
}

#endif
