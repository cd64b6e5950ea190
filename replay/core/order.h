/* SPDX-License-Identifier: Apache-2.0 */
/* Time and order: within one source events are in true order; several sources are merged by time.
 */
#ifndef NOCAP_REPLAY_ORDER_H
#define NOCAP_REPLAY_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "formats/trace/event.h"

/* The latest time of each source. All zero to begin with. */
struct source_time {
    uint32_t src;
    uint8_t rank; /* of the latest event among those of the same time, see order.c */
    uint64_t t;
};
struct source_clock {
    struct source_time *entries; /* open addressing by source; NULL: none but the first */
    uint32_t count;
    struct source_time first; /* of source 0, which most traces have alone */
};

/* That of source `src`; NULL: there are more sources than are kept, this one is not judged. */
struct source_time *source_clock_time(struct source_clock *clock, uint32_t src);

/* False if the event is earlier than the one `before` of its source. */
static inline bool source_clock_tick(struct source_clock *clock, const struct nocap_event *event,
                                     uint64_t *before)
{
    struct source_time *time =
        event->src == 0 ? &clock->first : source_clock_time(clock, event->src);
    if (time == NULL) {
        return true;
    }
    *before = time->t;
    time->t = event->t; /* also when it goes back: the next event is compared with this one */
    return event->t >= *before;
}

void source_clock_free(struct source_clock *clock);

/* Brings the events of several sources into one order by time: file order within a source; of the
 * same time causes before effects; over a window of NOCAP_MERGE_WINDOW events. A source that lags
 * further behind than the window is taken as it comes. */
enum { NOCAP_MERGE_WINDOW = 1 << 16 };

struct nocap_merge;

typedef enum nocap_status nocap_merge_sink(void *context, const struct nocap_event *events,
                                           size_t count, struct nocap_error *err);

enum nocap_status nocap_merge_new(struct nocap_merge **order, nocap_merge_sink *sink, void *context,
                                  struct nocap_error *err);
/* Takes copies of the events and hands on those whose turn has come. */
enum nocap_status nocap_merge_feed(struct nocap_merge *order, const struct nocap_event *events,
                                   size_t count, struct nocap_error *err);
/* Hands on what waits and is not later than `t`; an event that is earlier and comes after this is
 * taken as it comes. */
enum nocap_status nocap_merge_commit(struct nocap_merge *order, uint64_t t,
                                     struct nocap_error *err);
/* Hands on the rest. */
enum nocap_status nocap_merge_finish(struct nocap_merge *order, struct nocap_error *err);
void nocap_merge_free(struct nocap_merge *order);

#endif
