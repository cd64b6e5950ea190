/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: how the models tell their waits. Each subject has a file. */
#ifndef NOCAP_REPLAY_WAITS_PRIVATE_H
#define NOCAP_REPLAY_WAITS_PRIVATE_H

#include "formats/blackhole/niu.h"
#include "replay/core/tile.h"
#include "replay/core/waits.h"

enum { WAIT_TEXT = 384 };

struct wait_builder {
    struct model *m;
    nocap_wait_sink *sink;
    void *context;
    struct tile *tile; /* the one that is described */
    uint16_t chip;     /* where tile is NULL */
};

struct nocap_party wait_party(const struct wait_builder *t, unsigned agent);
struct nocap_party wait_party_at(const struct wait_builder *t, unsigned agent, struct nocap_xy at);
/* A wait of `agent` of the tile since `since`, by no agent yet. */
struct nocap_wait wait_begin(const struct wait_builder *t, unsigned agent, struct event_ref since);
/* To be filled in: `what`, whom, state. */
void wait_report(const struct wait_builder *t, const struct nocap_wait *wait);

/* The same, for what the format says. */
void wait_report_as(const struct wait_builder *t, struct nocap_wait *wait, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* A moment of which only the event is known. */
static inline struct event_ref wait_at_index(uint64_t index)
{
    return (struct event_ref){.index = index, .t = NO_INDEX};
}

/* Which bytes it waits for. */
static inline void wait_place(struct nocap_wait *wait, uint64_t addr, uint64_t size)
{
    wait->addr = addr;
    wait->size = size;
}

/* Whether the tile is one of the two of a queue that runs: their kernels never end. */
bool wait_queue_owns(const struct model *m, const struct tile *tile);
/* waits_polls.c: what a core polls. False: nothing is known. `state` NULL: of a kernel whose
 * beginning was not seen, which may wait for work, so that all but a barrier need not end. */
bool wait_polls(const struct wait_builder *t, unsigned processor, const char *state);
/* The same for a core within its kernel whose polls the trace does not show: by the circular
 * buffers that it fills and empties. False: they do not hold it. */
bool wait_at_buffer(const struct wait_builder *t, unsigned processor, struct event_ref since);
/* The cores of a tile of whose launch nothing is known: those that do nothing but poll. */
void wait_pollers(const struct wait_builder *t);
/* The circular buffers of which it was the core that moved a counter last:
 * " (CB 16: received 2, acked 0)", or "". */
const char *wait_buffers(const struct wait_builder *t, unsigned agent, char *text, size_t size);
struct progress_requests;
/* "2 reads issued, 1 known to have ended; without an end #17 from 2,2" */
void wait_describe_requests(const struct progress_requests *r, enum nocap_requests kind, char *text,
                            size_t size);
const char *wait_request_name(enum nocap_requests kind);

#endif
