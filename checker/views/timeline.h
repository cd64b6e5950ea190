/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace shows over time: tracks with slices, states, counters and instants, made once by a
 * run of the checker (watch.c) and written by one of several views. Times are the header's. */
#ifndef NOCAP_CHECKER_VIEWS_TIMELINE_H
#define NOCAP_CHECKER_VIEWS_TIMELINE_H

#include "checker/hang/hang.h"

enum nocap_track_kind {
    NOCAP_TRACK_GROUP,   /* a worker core, a queue, a column, the host; has no items of its own */
    NOCAP_TRACK_SLICES,  /* slices that nest, and instants */
    NOCAP_TRACK_STATE,   /* a value with a name, one after the other */
    NOCAP_TRACK_COUNTER, /* a number */
};

enum nocap_track_role {
    NOCAP_ROLE_OTHER,
    NOCAP_ROLE_LAUNCH,  /* from GO to DONE */
    NOCAP_ROLE_REQUEST, /* of a network interface */
    NOCAP_ROLE_FINDING, /* findings that are of no other track */
    NOCAP_ROLE_WAIT,    /* who waits when the trace ends */
};

struct nocap_track {
    uint8_t kind, role; /* enum nocap_track_kind, enum nocap_track_role */
    uint8_t bits;       /* of a state or counter */
    bool has_tile;
    struct nocap_xy at;
    uint16_t chip;
    uint32_t parent; /* number of the group; 0: none */
    char name[64];
};

/* A slice's, an instant's or a state's name and what is known of it. Texts live until the call
 * returns. */
enum { NOCAP_MARK_ARGS = 6, NOCAP_MARK_FLOWS = 240 };
struct nocap_mark {
    const char *name;
    struct nocap_mark_arg {
        const char *key, *text; /* text NULL: the number */
        uint64_t number;
    } args[NOCAP_MARK_ARGS];
    uint32_t arg_count, flow_count;
    const uint64_t *flows;               /* this mark is a step of each of these */
    const struct nocap_event *request;   /* that it stands for; NULL: it is none */
    const struct nocap_finding *finding; /* the same */
    bool waits;                          /* an agent is stalled meanwhile */
};

/* A view. Tracks are numbered from 1 and come before their first item, groups before their tracks.
 * What fails is kept by the view until `finish`. */
struct nocap_view_ops {
    void (*track)(void *view, uint32_t number, const struct nocap_track *track);
    void (*begin)(void *view, uint32_t track, uint64_t t, const struct nocap_mark *mark);
    void (*end)(void *view, uint32_t track, uint64_t t);
    void (*instant)(void *view, uint32_t track, uint64_t t, const struct nocap_mark *mark);
    /* Of a state or counter; `mark` NULL: the value is not known any more. A counter's mark has no
     * name. */
    void (*value)(void *view, uint32_t track, uint64_t t, uint64_t value,
                  const struct nocap_mark *mark);
};

struct nocap_timeline_options {
    bool has_from, has_tiles;
    uint64_t from;
    const struct nocap_xy *tiles; /* of worker cores only these */
    size_t tile_count;
    uint64_t limit; /* slices; 0: all */
};

struct nocap_timeline {
    struct nocap_timeline_options options;
    const struct nocap_view_ops *ops;
    void *view;
    struct timeline_track *tracks;
    uint32_t track_count;
    bool out_of_memory;
    bool begun; /* the picture's start was reached */
    bool full;  /* the limit was: what comes later is counted only */
    uint64_t t; /* of the latest item */
    uint64_t full_at;
    uint64_t slices, left_out; /* slices in the picture, and after its end for the limit */
};

void nocap_timeline_init(struct nocap_timeline *tl, const struct nocap_timeline_options *options,
                         const struct nocap_view_ops *ops, void *view);
void nocap_timeline_free(struct nocap_timeline *tl);

/* A new track; its number, or 0 without memory or where it is none of the tiles that are asked
 * for: items of track 0 are dropped. The view hears of it with its first item. */
uint32_t nocap_timeline_track(struct nocap_timeline *tl, const struct nocap_track *track);
void nocap_timeline_begin(struct nocap_timeline *tl, uint32_t track, uint64_t t,
                          const struct nocap_mark *mark);
void nocap_timeline_end(struct nocap_timeline *tl, uint32_t track, uint64_t t);
void nocap_timeline_instant(struct nocap_timeline *tl, uint32_t track, uint64_t t,
                            const struct nocap_mark *mark);
/* Of a state or counter; told where it differs from what was reported before. */
void nocap_timeline_value(struct nocap_timeline *tl, uint32_t track, uint64_t t, uint64_t value,
                          const struct nocap_mark *mark);
/* .. and that it is not known any more, if it was. */
void nocap_timeline_unknown(struct nocap_timeline *tl, uint32_t track, uint64_t t);
/* Events were lost: what is open ends, and no value is known. */
void nocap_timeline_forget(struct nocap_timeline *tl, uint64_t t);
bool nocap_timeline_is_open(const struct nocap_timeline *tl, uint32_t track);
/* What comes now is not bound by the limit: findings, who waits at the end. */
void nocap_timeline_settle(struct nocap_timeline *tl);

/* Told before the first event; the header lives as long as the run. */
typedef void nocap_watch_header(void *view, const struct nocap_header *header);
/* Checks the trace and makes the timeline of it. The caller frees `hang`. */
enum nocap_status nocap_watch(struct nocap_timeline *tl, nocap_watch_header *show, const char *path,
                              const struct nocap_hang_options *options, struct nocap_hang **hang,
                              struct nocap_error *err);

#endif
