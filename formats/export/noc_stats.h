/* SPDX-License-Identifier: Apache-2.0 */
/* What the NOC requests of a trace amount to: by network, type, initiator, target and size, and how
 * many were under way at once. Counted from `noc` events; those that stand for stores to registers
 * are the caller's to put together. */
#ifndef NOCAP_EXPORT_NOC_STATS_H
#define NOCAP_EXPORT_NOC_STATS_H

#include <stdio.h>

#include "base/json_text.h"
#include "formats/trace/event.h"

enum {
    NOCAP_NOC_TYPES = 4,  /* read, write, inline, atomic, in this order */
    NOCAP_NOC_SIZES = 25, /* bucket i: less than 2^i bytes, and not less than 2^(i-1) */
    NOCAP_NOC_TILES_SHOWN = 20,
    NOCAP_NOC_UNKNOWN = 2, /* the network of an event that names none */
};

struct nocap_noc_count {
    /* bytes of those that say their size, at most UINT64_MAX; a multicast counts once */
    uint64_t requests, bytes;
};

/* Requests of one tile on one network that one counter waits for. */
struct nocap_noc_open {
    uint64_t now, most; /* under way */
    bool ends;          /* the trace shows when they end */
};

/* One tile as initiator or as target. */
struct nocap_noc_tile {
    uint16_t chip;
    struct nocap_xy at;
    struct nocap_noc_count count;
    struct nocap_noc_open open[2][3]; /* of an initiator: by network; reads, writes, atomics */
};

struct nocap_noc_stats;

/* NULL without memory. */
struct nocap_noc_stats *nocap_noc_stats_new(void);
void nocap_noc_stats_free(struct nocap_noc_stats *stats);
/* `event`: well formed (nocap_header_event_problem). False without memory. */
bool nocap_noc_stats_add(struct nocap_noc_stats *stats, const struct nocap_event *event);
void nocap_noc_stats_print(FILE *out, struct nocap_noc_stats *stats);
/* One JSON object. */
void nocap_noc_stats_json(struct nocap_json *json, const char *key, struct nocap_noc_stats *stats);

#endif
