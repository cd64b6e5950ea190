/* Private to replay: requests of the network interfaces, whichever way a trace shows them: as
 * stores to the interface's registers, as `noc` events, or as both. What has not been seen is
 * unknown. Source: NOC fact sheet, section 4. */
#ifndef NOCAP_REPLAY_NOC_H
#define NOCAP_REPLAY_NOC_H

#include "formats/blackhole/niu.h"
#include "replay/tile.h"

enum {
    NOC_NOCS = 2,
    NOC_BUFFER_WORDS = 11, /* TARG_ADDR_LO to AT_DATA */
    NOC_OPEN = 64,         /* requests of a tile's interface that may be under way */
    NOC_ANY_BUFFER = NOCAP_NIU_BUFFERS,
};

/* A command buffer: it keeps its registers from request to request. */
struct noc_buffer {
    uint32_t words[NOC_BUFFER_WORDS];
    uint16_t known;   /* by word */
    bool unconfirmed; /* sent, and not seen to be free since */
    bool busy;        /* seen busy, and not free since */
    bool unread;      /* sent, and CMD_CTRL not read back since */
    uint64_t sent;    /* index of the latest send */
    uint8_t tag_by;   /* who stored PACKET_TAG */
    uint64_t tag_index;
    bool owed;     /* a `noc` event that restates `request` must follow */
    bool restated; /* such an event was seen before */
    struct nocap_event request;
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
    uint8_t op, by, trid;
    bool posted, has_id, has_trid, sent, done;
    /* Its bytes were touched, or its kernel returned, before an end showed. That is a fault only if
     * an end of this very request shows later: ends of single requests are told where a capture
     * cared, not always. */
    struct moment touched; /* index NO_INDEX: not */
    uint64_t touched_addr;
    bool touched_by_exit, touched_by_store;
};

/* Which ends of which requests have shown in this trace, by op. */
struct noc_evidence {
    bool phases[NOCAP_OP_ATOMIC + 1][NOCAP_PHASE_COUNT];
};

/* The counters that firmware waits for, and what they must come to. */
enum noc_answer { NOC_ANSWER_ATOMIC, NOC_ANSWER_WRITE, NOC_ANSWER_READ, NOC_ANSWERS };
struct noc_owed {
    bool known;     /* `total` is what the counter shows when nothing is under way */
    bool shared;    /* several cores sent such requests */
    uint8_t by;     /* who sent the latest; NOCAP_BY_NONE: nobody */
    bool proved;    /* requests were counted, and the counter came to show just that */
    uint32_t total; /* grows with each request by the answers that it gets */
};

struct noc_interface {
    struct noc_owed owed[NOC_ANSWERS];
    struct noc_buffer buffers[NOCAP_NIU_BUFFERS];
    struct noc_chain chain;
    struct noc_request open[NOC_OPEN]; /* a ring */
    uint32_t first, count;
    uint64_t low, high;                /* all `local` of `open` lie in [low, high) */
    uint16_t outstanding[NOCAP_TRIDS]; /* issued since the id was last seen to be flushed */
    struct noc_evidence by_barrier;
    bool barriers;   /* and at all */
    bool polled;     /* its counters are looked at */
    bool programmed; /* its requests show as register stores */
    bool fifo;       /* a FIFO of requests in front: a buffer is never busy */
};

/* A core that waits for the requests of an interface: it polls a counter, or says so. Or it says
 * that it waits for a semaphore. */
enum { NOC_WAIT_REQUESTS = 8 };
struct noc_wait {
    bool active, semaphore;
    uint8_t noc, answer; /* enum noc_answer */
    struct moment since; /* the first poll */
    uint64_t polls;      /* 0: the trace says that it waits, and shows no polls */
    bool value_known, total_known;
    uint32_t value, total; /* as polled last, and as it must come to */
    uint64_t settled;      /* polls that showed all answers, one after the other */
    bool told;
    uint32_t request_count; /* that may have been under way at the first poll, the latest ones */
    uint64_t requests[NOC_WAIT_REQUESTS]; /* their indexes */
};

struct noc_tile {
    struct noc_interface noc[NOC_NOCS];
    struct noc_wait waits[CORES]; /* by processor */
};

/* BAR2 registers of the PCIe endpoint, as far as the trace has shown them. */
enum { NOC_IATU_REGIONS = 16, NOC_IATU_WORDS = 9 };
struct noc_endpoint {
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
};
struct noc_arc { /* of one chip: where its message queues are, as the host found them */
    uint16_t chip;
    uint32_t block, base, entries; /* control block, first queue, messages that one queue holds */
    bool block_known, base_known, entries_known;
    uint32_t written[NOC_ARC_QUEUES], fetched[NOC_ARC_QUEUES]; /* of requests, by queue */
    uint8_t fetched_known;                                     /* by queue */
};
struct noc_others {
    struct noc_queue queues[NOC_QUEUES]; /* the latest */
    uint32_t queue_count;
    struct noc_arc arc;
};

/* noc.c: a core's access to its tile; true: it sent `request`, which no event will restate. */
bool noc_core_access(struct model *m, struct tile *tile, const struct access *a,
                     struct nocap_event *request);
/* A `noc` event, or what noc_core_access found. */
void noc_observe(struct model *m, struct tile *tile, const struct nocap_event *e);
void noc_forget(struct tile *tile);
/* The interfaces' state, made when it is needed first; NULL without memory. */
struct noc_tile *noc_of(struct model *m, struct tile *tile);

/* noc_request.c: rules that need nothing but the request. */
void noc_judge_request(struct model *m, const struct tile *tile, const struct nocap_event *e);
/* Where a request takes its data from and puts it, in NOC 0's numbers. */
struct noc_ends {
    bool from_known, to_known;
    struct nocap_xy from, to, to_other; /* to_other: the other corner of a multicast, else `to` */
};
struct noc_ends noc_ends(const struct nocap_event *e);
/* The address is one to which a stream's counter is added by writing. */
bool noc_adds_to_stream(uint64_t addr);

/* noc_open.c: what is under way. */
void noc_take(struct model *m, struct tile *tile, const struct nocap_event *e);
void noc_phase(struct model *m, struct tile *tile, struct noc_interface *n,
               const struct nocap_event *e);
void noc_counter_load(struct noc_interface *n, unsigned counter);
/* Whether the trace would certainly show that requests of this op have left or ended. Phases of
 * single requests do not count: a capture tells them where it cared. */
bool noc_end_shows(const struct model *m, const struct tile *tile, unsigned noc, unsigned op,
                   unsigned phase);
void noc_memory_access(struct model *m, struct tile *tile, const struct access *a);
void noc_kernel_exit(struct model *m, struct tile *tile, unsigned agent);

/* noc_counter.c: barriers as polls of counters. */
void noc_owe(struct model *m, struct tile *tile, const struct nocap_event *request);
/* What a look at a counter says of the requests that it counts: nothing certain, some are certainly
 * still under way, all are over and the count is exact. */
enum noc_look { NOC_LOOK_UNSURE, NOC_LOOK_OPEN, NOC_LOOK_OVER };
/* `value`: NULL: it was not captured. */
enum noc_look noc_poll(struct model *m, struct tile *tile, unsigned noc, unsigned counter,
                       const uint32_t *value);
/* A note that a core begins to wait; the end of it, or anything else that the core does. */
void noc_wait_begins(struct model *m, struct tile *tile, const struct nocap_event *note);
void noc_wait_ends(struct tile *tile, unsigned by);
/* The barrier in which a core stood when it was seen last, whose count was not seen to be reached;
 * NULL: none. What it waits for and lacks stands there. */
const struct noc_wait *noc_waiting(const struct tile *tile, unsigned by);

/* noc_host.c: what the host does to the interfaces and the endpoint. */
void noc_register_store(struct model *m, const struct tile *tile, const struct access *a);
void noc_host_access(struct model *m, const struct nocap_event *e);

/* noc_others.c: an access to an Ethernet tile from outside; `tile`: who asks, NULL: the host.
 * `value`: NULL: a load, or not captured. */
void noc_ethernet_access(struct model *m, const struct tile *tile, uint16_t chip,
                         struct nocap_xy at, uint64_t addr, const uint32_t *value);
/* The host's access to the ARC, by an address of its tile. */
void noc_arc_access(struct model *m, const struct nocap_event *e, uint64_t addr);
void noc_others_forget(struct model *m);

#endif
