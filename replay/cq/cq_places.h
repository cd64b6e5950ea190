/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the rings of the command queue, and how one moves in a ring. Where they lie
 * the profile says: cq_chips.c makes the table. */
#ifndef NOCAP_REPLAY_CQ_PLACES_H
#define NOCAP_REPLAY_CQ_PLACES_H

#include <stdbool.h>
#include <stdint.h>

/* Units from `base` on: an address of L1, or an offset in host memory. */
struct cq_place {
    uint32_t base, shift, units; /* a unit has 1 << shift bytes */
};
struct cq_places {
    struct cq_place slots;       /* the prefetch queue */
    struct cq_place landing;     /* records that were read */
    struct cq_place buffer;      /* pages of the dispatch buffer */
    struct cq_place subordinate; /* .. and of the subordinate dispatcher's; none: it is idle */
    struct cq_place issue;       /* records of the host */
    struct cq_place completion;  /* its pages */
    struct cq_place stamps;
    struct cq_place timings; /* those of worker cores, as many and as large, after them */
};

static inline uint32_t place_size(const struct cq_place *p)
{
    return p->units << p->shift;
}
static inline uint32_t place_end(const struct cq_place *p)
{
    return p->base + place_size(p);
}
static inline bool place_has(const struct cq_place *p, uint64_t addr)
{
    return addr - p->base < place_size(p);
}
static inline uint32_t place_index(const struct cq_place *p, uint64_t addr)
{
    uint32_t index = (uint32_t)((addr - p->base) >> p->shift);
    return index < p->units ? index : index % p->units;
}
static inline uint32_t place_address(const struct cq_place *p, uint32_t index)
{
    return p->base + (index << p->shift);
}
/* `count` units after unit `index`. */
static inline uint32_t place_after(const struct cq_place *p, uint32_t index, uint32_t count)
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
/* An address past the end is one past the start. */
static inline uint32_t place_wrap(const struct cq_place *p, uint64_t addr)
{
    uint32_t offset = (uint32_t)(addr - p->base), size = place_size(p);
    return p->base + (offset < size ? offset : offset % size);
}
/* Where something of `size` bytes goes that is not split: at `addr`, or at the start again. */
static inline uint32_t place_whole(const struct cq_place *p, uint32_t addr, uint64_t size)
{
    return addr + size > (uint64_t)p->base + place_size(p) ? p->base : addr;
}

#endif
