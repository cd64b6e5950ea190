/* SPDX-License-Identifier: Apache-2.0 */
/* Private to nocap: what may differ between an access and the one before it. Programs record in
 * runs, and a run is written much quicker than its events one by one. */
#ifndef NOCAP_TRACE_ACCESS_ROW_H
#define NOCAP_TRACE_ACCESS_ROW_H

#include <stddef.h>
#include <string.h>

#include "formats/trace/event.h"

struct access_row {
    uint64_t source; /* src, chip, at; src lowest */
    uint64_t t, addr, value;
    uint16_t to;
};

_Static_assert(offsetof(struct nocap_event, chip) == offsetof(struct nocap_event, src) + 4 &&
                   offsetof(struct nocap_event, at) == offsetof(struct nocap_event, src) + 6 &&
                   sizeof(struct nocap_xy) == 2 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "`source` and `to` as they stand in an event");

/* Words: member by member would take several times as long. */
static inline void access_row_put(const struct access_row *row, struct nocap_event *event)
{
    memcpy(&event->src, &row->source, sizeof row->source);
    memcpy(&event->to, &row->to, sizeof row->to);
    event->t = row->t;
    event->addr = row->addr;
    event->value = row->value;
}

static inline uint64_t access_source(const struct nocap_event *event)
{
    uint64_t source;
    memcpy(&source, &event->src, sizeof source);
    return source;
}

#endif
