/* SPDX-License-Identifier: Apache-2.0 */
/* Private to nocap: the events of all rings of a capture as one sequence, by time. Records are not
 * trusted: they may come from a file. */
#ifndef NOCAP_RINGS_RING_MERGE_H
#define NOCAP_RINGS_RING_MERGE_H

#include "formats/rings/ring_file.h"
#include "formats/trace/access_row.h"

struct ring_cursor {
    const uint8_t *base;                   /* mapped twice; NULL: not in use */
    struct ring_position at;               /* after the last event that was taken */
    uint64_t tail_before, reported_before; /* in front of it */
    uint64_t end;                          /* records before it may be read */
    uint64_t last; /* raw time of the event before: times of a source do not decrease */
    const struct ring_word *record; /* at `at`; NULL: not looked for yet, or there is none */
    uint64_t next;                  /* its raw time */
    bool broken;                    /* a record made no sense; nothing after it is read */
    bool access;                    /* `event` is an access of this kind .. has */
    uint64_t what;
    struct nocap_event event; /* the last one */
};

struct ring_merge {
    struct ring_clock clock;
    uint64_t ring_bytes;
    unsigned count;            /* of cursors */
    unsigned broken;           /* of these */
    struct ring_cursor *taken; /* whose event came last; NULL: none came */
    uint64_t until;            /* none of the other rings has an earlier record */
    struct ring_cursor cursor[RING_SLOTS];
};

/* The next event with a raw time before `limit`, good until the next call; its data stays in the
 * ring. NULL: there is none. */
const struct nocap_event *ring_merge_next(struct ring_merge *merge, uint64_t limit);

/* The last event was not taken after all. */
void ring_merge_give_back(struct ring_merge *merge);

/* Accesses of the same ring and kind after the last event, at most `max`, that come before all
 * else and before `limit`: what they have of their own. They are yet to be taken. */
size_t ring_merge_peek(const struct ring_merge *merge, uint64_t limit, struct access_row *rows,
                       size_t max);
/* Takes the first `count` of them. */
void ring_merge_take(struct ring_merge *merge, size_t count);
/* Nothing more is read from this ring. */
void ring_merge_break(struct ring_merge *merge, struct ring_cursor *cursor);
/* How many records a broken ring still holds, as far as their lengths make sense; at least 1. */
uint64_t ring_merge_left(const struct ring_merge *merge, const struct ring_cursor *cursor);

/* The event that tells of `count` lost events. */
void ring_drop_event(struct nocap_event *event, uint64_t t, uint32_t src, uint64_t count);

#endif
