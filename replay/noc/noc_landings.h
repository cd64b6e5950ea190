/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: requests whose bytes arrive, as they were asked for (noc_asked.c) and as they
 * arrive (noc_landing.c). Rule NOC-047. */
#ifndef NOCAP_REPLAY_NOC_LANDINGS_H
#define NOCAP_REPLAY_NOC_LANDINGS_H

#include <stdlib.h>

#include "replay/noc/noc_private.h"

#define MEMORY ((struct nocap_xy){0}) /* for a tile, of what goes to host memory */
enum {
    WAITED = NOC_OPEN, /* requests of a tile whose bytes may still arrive; a ring */
};

/* A request that brings bytes to worker tiles. */
struct noc_waited {
    struct event_ref at;
    uint64_t id, addr, end, hash;
    struct nocap_xy to, to_other, sender;
    uint32_t tiles;                      /* workers of that rectangle */
    uint32_t arrived[NOCAP_GRID_HEIGHT]; /* by row: 1 << column: all its bytes */
    uint64_t bytes;                      /* that have arrived, over all tiles */
    uint64_t next, sum;                  /* of pieces from the front on: end, and hash */
    uint64_t back, rest;                 /* .. from the end on: begin, and hash in front of it */
    fault_id since;                      /* it is not as it should be: what arrives may be */
    bool has_id, has_hash, must_arrive;  /* must_arrive: its end proves that they arrived */
    bool over, unjudged;                 /* its end was seen, and before any arrival was */
    bool answered;                       /* a read or write that barriers wait for, of this core */
    bool may_return;                     /* .. to its sender, which tiles leaves out */
    uint8_t noc, by, kind;               /* kind: enum nocap_requests */
};

struct noc_landings {
    struct noc_waited waited[WAITED];
    uint8_t marks[WAITED];               /* a byte of each one's id */
    uint64_t count;                      /* requests, ever */
    uint64_t open;                       /* all before this one have arrived, or are forgotten */
    bool shown;                          /* something of their sender was seen to arrive */
    uint8_t shows;                       /* .. 1 << enum nocap_requests: of these alone */
    bool apart;                          /* .. by another agent: what came first is not known */
    uint32_t reached[NOCAP_GRID_HEIGHT]; /* by row: 1 << column: one has arrived there */
    bool lost;                           /* one was forgotten before it arrived */
    uint64_t lost_t;                     /* .. at this time */
};

/* The hash of all bytes; false: they are not all known. */
static inline bool hash_of(const struct access *a, uint64_t *hash)
{
    if (a->size != 0 && a->known == a->size) {
        *hash = nocap_fnv1a64(NOCAP_FNV1A64_START, a->bytes, a->size);
        return true;
    }
    *hash = a->hash;
    return a->has_hash;
}

static inline bool is_over(const struct noc_waited *w)
{
    return w->bytes >= w->tiles * (w->end - w->addr);
}

/* The oldest that is remembered. */
static inline uint64_t oldest(const struct noc_landings *l)
{
    return l->count > WAITED ? l->count - WAITED : 0;
}

/* NULL: no memory. */
static inline struct noc_landings *noc_landings_of(struct model *m, struct noc_landings **kept)
{
    *kept = *kept != NULL ? *kept : calloc(1, sizeof **kept);
    m->out_of_memory |= *kept == NULL;
    return *kept;
}

#endif
