/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: requests of the network interfaces, whichever way a trace shows them: as
 * stores to the interface's registers, as `noc` events, or as both. What has not been seen is
 * unknown. Source: NOC fact sheet, section 4. */
#ifndef NOCAP_REPLAY_NOC_PRIVATE_H
#define NOCAP_REPLAY_NOC_PRIVATE_H

#include "formats/blackhole/niu.h"
#include "formats/blackhole/noc_ends.h"
#include "replay/core/tile.h"
#include "replay/noc/noc.h"

enum {
    NOC_NOCS = NOCS,
    NOC_BUFFER_WORDS = 11, /* TARG_ADDR_LO to AT_DATA */
    NOC_OPEN = 64, /* requests of a tile's interface that may be under way: bits of a word */
    NOC_ANY_BUFFER = NOCAP_NIU_BUFFERS,
};

/* A command buffer: it keeps its registers from request to request. */
struct noc_buffer {
    uint32_t words[NOC_BUFFER_WORDS];
    uint16_t known;   /* by word */
    bool unconfirmed; /* sent, and not seen to be free since */
    bool busy;        /* seen busy, and not free since */
    uint64_t sent;    /* index of the latest send */
    uint8_t tag_by;   /* who stored PACKET_TAG */
    uint64_t tag_index;
    fault_id tag_since;                    /* it was left there by a kernel before */
    enum noc_restating {                   /* by a `noc` event that says what `request` says: */
                         NOC_NOT_EXPECTED, /* one need not follow */
                         NOC_PENDING,      /* one must follow */
                         NOC_RESTATED,     /* it followed: another one stands for nothing */
    } restating;
    struct nocap_event request;
    fault_id restated_since;         /* since when they do not say the same .. */
    int differs_in;                  /* .. in this register; -1: one of them was one too many */
    uint64_t sent_turn, sent_before; /* turn of the latest send, and of the one before it */
};

/* A chain of linked requests that is not closed. */
struct noc_chain {
    bool open;
    struct nocap_event last;
};

/* A request that may be under way. */
struct noc_request {
    uint64_t index, turn, id;
    uint64_t local, size; /* bytes of the own L1 that it reads or fills; size 0: not known */
    enum nocap_requests kind;
    uint8_t by, trid;
    bool posted, has_id, has_trid, sent, done;
    /* Its bytes were touched, or its kernel returned, before an end showed. That is a fault only if
     * an end of this very request shows later: ends of single requests are reported where a capture
     * cared, not always. */
    struct noc_touch {
        struct event_ref at;
        uint64_t addr;
        enum noc_touch_kind { NOC_TOUCH_NONE, NOC_TOUCH_LOAD, NOC_TOUCH_STORE, NOC_TOUCH_EXIT } how;
    } touch;
};

/* The counters that firmware waits for, and what they must come to. */
struct noc_pending {
    bool known;     /* `total` is what the counter shows when nothing is under way */
    bool shared;    /* several cores sent such requests */
    uint8_t by;     /* who sent the latest; NOCAP_BY_NONE: none */
    bool proved;    /* requests were counted, and the counter came to show just that */
    uint32_t total; /* grows with each request by the answers that it gets */
};

struct noc_interface {
    struct noc_pending pending[NOCAP_REQUESTS];
    struct noc_buffer buffers[NOCAP_NIU_BUFFERS];
    struct noc_chain chain;
    struct noc_request open[NOC_OPEN]; /* a ring */
    uint8_t id_bytes[NOC_OPEN];        /* the lowest of each id, to find it by */
    uint32_t first, count;
    uint8_t unread;                    /* 1 << buffer: sent, and CMD_CTRL not read back since */
    uint64_t undone[NOCAP_REQUESTS];   /* by kind, 1 << slot of `open`: not known to be done */
    uint64_t held;                     /* 1 << slot: `local` may not be touched yet .. */
    uint64_t low, high;                /* .. and lies in [low, high) */
    uint16_t outstanding[NOCAP_TRIDS]; /* issued since the id was last seen to be flushed */
    struct {
        bool sent, done;
    } barriers[NOCAP_REQUESTS]; /* which of them the trace has shown */
    bool any_barrier;
    bool polled;     /* its counters are looked at */
    bool programmed; /* its requests show as register stores */
    bool fifo;       /* a FIFO of requests in front: a buffer is never busy */
};

/* A core that waits for the requests of an interface: it polls a counter, or says so. Or it says
 * that it waits for a semaphore. */
enum { NOC_WAIT_REQUESTS = 8 };
struct noc_wait {
    bool semaphore;
    uint8_t noc;
    enum nocap_requests kind;
    struct event_ref since; /* the first poll */
    uint64_t polls;         /* 0: the trace says that it waits, and shows no polls */
    bool value_known, total_known;
    uint32_t value, total;  /* as polled last, and as it must come to */
    uint64_t settled;       /* polls that showed all answers, one after the other */
    fault_id fault;         /* it polls on, as was reported */
    uint32_t request_count; /* that may have been under way at the first poll, the latest ones */
    uint64_t requests[NOC_WAIT_REQUESTS]; /* their indexes */
};

struct noc_tile {
    struct noc_interface noc[NOC_NOCS];
    struct noc_wait waits[CORES]; /* by processor */
    uint32_t waiting;             /* 1 << enum nocap_agent: it has done nothing else since */
};

/* BAR2 registers of one chip's PCIe endpoint, as far as the trace has shown them. */
enum { NOC_IATU_REGIONS = 16, NOC_IATU_WORDS = 9, NOC_ENDPOINTS = 64 };
struct noc_endpoint {
    uint16_t chip;
    uint32_t iatu[NOC_IATU_REGIONS][NOC_IATU_WORDS];
    uint16_t iatu_known[NOC_IATU_REGIONS];
    uint32_t dma_size, dma_address;
    bool dma_size_known, dma_address_known;
};

/* Tiles that are no workers, as far as their rules need it. */
enum { NOC_QUEUES = 8, NOC_QUEUE_WORDS = 3, NOC_ARC_QUEUES = 8 };
struct noc_queue { /* of an Ethernet tile: what the next transfer is to be */
    uint16_t chip;
    struct nocap_xy at;
    uint8_t number, known; /* by word */
    uint32_t words[NOC_QUEUE_WORDS];
    fault_id absent; /* there is no such queue: of the first access */
};
struct noc_arc { /* of one chip: where its message queues are, as the host found them */
    uint16_t chip;
    uint32_t block, base, entries; /* control block, first queue, messages that one queue holds */
    bool block_known, base_known, entries_known;
    uint32_t written[NOC_ARC_QUEUES], fetched[NOC_ARC_QUEUES]; /* of requests, by queue */
    uint8_t fetched_known;                                     /* by queue */
};
struct noc_eth_arc {
    struct noc_queue queues[NOC_QUEUES]; /* the latest */
    uint32_t queue_count;
    struct noc_arc arc;
};

/* noc.c */
/* The interfaces' state, made when it is needed first; NULL without memory. */
struct noc_tile *noc_of(struct model *m, struct tile *tile);
/* All loads of registers are in the trace. */
bool noc_sees_loads(const struct model *m, const struct tile *tile);

/* noc_buffer.c: `value`: NULL: it was not captured. */
void noc_buffer_store(struct model *m, struct tile *tile, unsigned noc, unsigned buffer,
                      uint32_t reg, const uint32_t *value);
void noc_buffer_load(struct noc_interface *n, unsigned buffer,
                     const uint32_t *value); /* of CMD_CTRL */
/* A phase: requests have left their buffers, one or all that a barrier waited for. */
void noc_buffers_left(struct noc_interface *n, const struct nocap_event *e);
/* A `noc` event, which may restate what a buffer sent. */
void noc_restate(struct model *m, const struct tile *tile, struct noc_interface *n,
                 const struct nocap_event *e);

/* noc_request.c: rules that need nothing but the request. */
void noc_judge_request(struct model *m, const struct observation *o);

/* noc_open.c: what is under way. */
void noc_take(struct model *m, struct tile *tile, const struct nocap_event *e);
void noc_phase(struct model *m, struct tile *tile, struct noc_interface *n,
               const struct nocap_event *e);
/* A poll of a counter; `all`: it shows that no such request is under way. */
void noc_counter_load(struct model *m, struct tile *tile, unsigned noc, unsigned counter, bool all);
/* Brings the facts about the interface up to date. */
void noc_publish(const struct model *m, struct tile *tile, unsigned noc);
void noc_memory_access(struct model *m, struct tile *tile, const struct access *a);
void noc_kernel_exit(struct model *m, struct tile *tile, unsigned agent);

/* noc_counter.c: barriers as polls of counters. */
void noc_count_pending(struct model *m, struct tile *tile, const struct nocap_event *request);
/* What a poll of a counter says of the requests that it counts: nothing certain, some are certainly
 * still under way, all are over and the count is exact. */
enum noc_poll_result { NOC_POLL_UNSURE, NOC_POLL_OPEN, NOC_POLL_OVER };
/* `value`: NULL: it was not captured. */
enum noc_poll_result noc_poll(struct model *m, struct tile *tile, unsigned noc, unsigned counter,
                              const uint32_t *value);
/* A note that a core begins to wait. */
void noc_wait_begins(struct model *m, struct tile *tile, const struct nocap_event *note);
/* The barrier in which a core stood when it was seen last, whose count was not seen to be reached;
 * NULL: none. What it waits for and lacks stands there. */
const struct noc_wait *noc_waiting(const struct tile *tile, unsigned by);

/* noc_host.c: what the host does to the interfaces and the endpoint. */
void noc_register_store(struct model *m, const struct tile *tile, const struct access *a);
void noc_host_access(struct model *m, const struct nocap_event *e);

/* noc_eth_arc.c: an access to an Ethernet tile from outside; `tile`: who asks, NULL: the host.
 * `value`: NULL: a load, or not captured. */
void noc_ethernet_access(struct model *m, const struct tile *tile, uint16_t chip,
                         struct nocap_xy at, uint64_t addr, const uint32_t *value);
/* The host's access to the ARC, by an address of its tile. */
void noc_arc_access(struct model *m, const struct nocap_event *e, uint64_t addr);
/* Of these, and of the endpoints. */
void noc_others_forget(struct model *m);

/* What this model keeps of a tile, and of the whole. */
struct noc_part {
    struct noc_tile *noc;          /* NULL until the interfaces do something */
    struct noc_landings *landings; /* of its requests; NULL: none yet */
    struct noc_landings *memory;   /* .. of those that write to host memory */
    uint64_t since;                /* time of its first request */
    uint32_t src;                  /* who observes them */
    bool asks;                     /* there was one */
    bool opaque;                   /* one did not say where it goes, or several observe */
};
struct noc_state {
    struct noc_endpoint *endpoints[NOC_ENDPOINTS]; /* by chip; NULL: not touched yet */
    struct noc_eth_arc *others;                    /* NULL: such a tile was not touched yet */
    bool anonymous;     /* something arrived that does not say whose it is */
    struct tile *stale; /* the facts about its interfaces are; NULL: none */
};
static inline struct noc_part *noc_part(const struct tile *tile)
{
    return tile->part[MODEL_NOC];
}
/* The end of a wait, or anything else that the core does. */
static inline void noc_wait_ends(struct noc_tile *t, unsigned by)
{
    t->waiting &= by < 32 ? ~(1u << by) : UINT32_MAX;
}
static inline struct noc_state *noc_state(const struct model *m)
{
    return m->state[MODEL_NOC];
}

/* noc_landing.c: bytes that arrive against requests: rule NOC-047. */
void noc_landing_request(struct model *m, const struct observation *o);
void noc_landing_done(struct model *m, const struct tile *tile, const struct nocap_event *e);
void noc_landing(struct model *m, const struct observation *o);
/* The endpoint writes to host memory. */
void noc_memory_landing(struct model *m, const struct nocap_event *e);

/* noc_waits.c */
void noc_tile_waits(const struct wait_builder *t);

#endif
