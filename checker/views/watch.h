/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/views: a timeline made of a trace while it is checked. What is shown of a core
 * or queue is what the models know of it after each event; requests, kernels, stalls and control
 * code are shown as their events tell. */
#ifndef NOCAP_CHECKER_VIEWS_WATCH_H
#define NOCAP_CHECKER_VIEWS_WATCH_H

#include "base/map.h"
#include "checker/views/timeline.h"
#include "formats/blackhole/registers.h"
#include "formats/profile/profile.h"
#include "replay/core/state.h"

/* A network interface: requests that overlap are in lanes, tracks of one name. */
enum { WATCH_LANES = 16 };
struct watch_request {
    uint64_t index, id;
    uint32_t track; /* made when the lane is used first */
    uint8_t kind;   /* enum nocap_requests */
    bool has_id, posted;
    bool untold;               /* begun in the lead: the timeline does not have it yet */
    struct nocap_event issued; /* then; without its data */
};

/* A worker core, or another tile that issues requests. */
struct watch_cb { /* a circular buffer */
    uint32_t track;
    uint16_t received, acked;
    bool received_known, acked_known;
};
struct watch_tile {
    uint16_t chip;
    struct nocap_xy at;
    uint32_t group, launches, sync, go, rd_ptr;
    uint32_t cores[NOCAP_PROCESSOR_COUNT], threads[NOCAP_TENSIX_THREADS];
    uint32_t units[NOCAP_TENSIX_THREADS][NOCAP_UNIT_COUNT];
    uint32_t semaphores[NOCAP_SEMAPHORE_COUNT], open_requests[NOCAP_STATE_NOCS];
    struct watch_request requests[NOCAP_STATE_NOCS][WATCH_LANES];
    uint32_t open[NOCAP_STATE_NOCS]; /* of these, a bit each: those that are open */
    struct watch_cb cbs[NOCAP_CB_COUNT];
    bool launched;       /* a launch is under way .. */
    uint64_t go_written; /* .. by the GO of this index */
    bool requested[NOCAP_STATE_NOCS];
    uint64_t flow; /* of the launch; 0: none */
};

/* Records have flows: what is relayed to a page of the dispatch buffer, and executed there, is of
 * the record that is relayed at that moment. */
enum { WATCH_PAGES = 1024, WATCH_QUEUES = 64 };
struct watch_queue {
    uint32_t number;
    uint16_t chip;
    bool any;
    struct nocap_queue_state last;
    uint32_t group, records, fetch[4], relay, dispatch, completion;
    uint32_t queued, in_flight, pages, streams[NOCAP_QUEUE_COUNTERS], wr, rd;
    uint64_t page_flow[WATCH_PAGES]; /* 0: not known */
    uint64_t flow;                   /* of the command that is executed; 0: not known */
};

enum { WATCH_COLUMNS = 224, WATCH_JOBS = 64, WATCH_SOURCES = 64 };
struct watch_column {
    uint32_t group, pages, jobs[WATCH_JOBS];
};

/* A tile by chip and coordinate. */
struct watch_place {
    uint64_t key;
    struct watch_tile *tile;
};

struct watch {
    struct nocap_timeline *tl;
    nocap_watch_header *show;
    struct nocap_shapes shapes;
    const struct nocap_header *header;
    const struct nocap_profile *profile;
    const struct nocap_mailbox_layout *layout;
    const struct nocap_engine *engine; /* after the event that is seen */
    struct {
        MAP(struct watch_place);
    } tiles;
    struct watch_queue *queues[WATCH_QUEUES];
    size_t queue_count;
    struct watch_column *columns[WATCH_COLUMNS];
    uint32_t host, sources[WATCH_SOURCES], trace, notes;
    uint64_t flows; /* so many are in use */
    /* Long before the picture's start nothing is made of events but what models cannot tell at its
     * end, which is `lead_end`: some time before the picture, so that what leads into it is seen.
     */
    bool leads, timed; /* `timed`: lead_end is known */
    uint64_t lead_end;
    bool raised; /* the stores of the present event make a request */
    struct nocap_event request;
    bool out_of_memory;
    struct watch_tile *latest; /* that was asked for; NULL: none */
};

/* Whether counters of circular buffers are there, which no model keeps. */
static inline bool watch_is_buffer(uint64_t addr)
{
    const uint64_t first = nocap_stream_address(NOCAP_CB_STREAM, 0);
    return addr - first < (uint64_t)NOCAP_CB_COUNT * NOCAP_STREAM_STRIDE;
}

/* The group of the tile, made where there is none; NULL without memory. */
struct watch_tile *watch_tile(struct watch *w, uint16_t chip, struct nocap_xy at);
/* What a track in the group of the tile has. */
static inline struct nocap_track watch_tile_track(const struct watch_tile *tile,
                                                  enum nocap_track_kind kind)
{
    return (struct nocap_track){.kind = (uint8_t)kind,
                                .has_tile = true,
                                .at = tile->at,
                                .chip = tile->chip,
                                .parent = tile->group};
}

/* The track, made where `*track` is 0. */
uint32_t watch_track(struct watch *w, uint32_t *track, const struct nocap_track *made);
/* Of a worker core: slices of a RISC's kernels. */
uint32_t watch_core(struct watch *w, struct watch_tile *tile, unsigned processor);
/* Of a counter: no name, and nothing more to say. */
extern const struct nocap_mark watch_counter;
/* Mark with no more than the event's index. */
struct nocap_mark watch_mark(const char *name, const struct nocap_event *event);
void watch_add(struct nocap_mark *mark, const char *key, uint64_t number);
void watch_add_text(struct nocap_mark *mark, const char *key, const char *text);

/* watch_tile.c: a worker core's mailbox, kernels, coprocessor. */
void watch_access(struct watch *w, const struct nocap_event *event);
void watch_forget_tile(struct watch_tile *tile);
/* The lead is over: what goes on in the tile. */
void watch_catch_up(struct watch *w, const struct nocap_event *event, uint16_t chip,
                    struct nocap_xy at);
void watch_kernel(struct watch *w, const struct nocap_event *event);
void watch_reset(struct watch *w, const struct nocap_event *event);
void watch_tensix(struct watch *w, const struct nocap_event *event);
/* What may have changed in the mailboxes of these tiles. */
void watch_mailboxes(struct watch *w, const struct nocap_event *event, struct nocap_xy first,
                     struct nocap_xy last);

/* watch_request.c: requests of the network interfaces. */
void watch_request(struct watch *w, const struct nocap_event *event);
void watch_phase(struct watch *w, const struct nocap_event *event);
void watch_requests_end(struct watch *w, const struct nocap_requests_end *end);
void watch_requests_forget(struct watch_tile *tile);
void watch_requests_catch_up(struct watch *w, struct watch_tile *tile, uint64_t t);

/* watch_queue.c: the command queue. */
void watch_queue(struct watch *w, const struct nocap_event *event);
/* Workers were told to go by the event; each of them gets a flow. */
void watch_queue_goes(struct watch *w, const struct nocap_event *event, const uint64_t *flows,
                      uint32_t count);
void watch_queue_forget(struct watch *w);
void watch_queue_catch_up(struct watch *w, const struct nocap_event *event, uint16_t chip);

/* watch_control.c: AIE control code. */
void watch_control(struct watch *w, const struct nocap_event *event);

/* watch_end.c: findings, and who waits when the trace ends. */
void watch_hang(struct watch *w, const struct nocap_hang *hang);

#endif
