/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: requests of the network interfaces, whichever way a trace shows them: as
 * stores to the interface's registers, as `noc` events, or as both. What has not been seen is
 * unknown. Source: NOC fact sheet, section 4. */
#ifndef NOCAP_REPLAY_NOC_PRIVATE_H
#define NOCAP_REPLAY_NOC_PRIVATE_H

#include "formats/blackhole/niu.h"
#include "formats/blackhole/noc_ends.h"
#include "replay/core/tile.h"
#include "replay/core/value.h"
#include "replay/noc/noc.h"

enum {
    NOC_BUFFER_WORDS = 11, /* TARG_ADDR_LO to AT_DATA */
    NOC_OPEN = 64, /* requests of a tile's interface that may be under way: bits of a word */
};

/* A register is given `v`; NULL: what, was not captured. */
static inline void noc_word_set(struct value *word, const uint32_t *v)
{
    *word = (struct value){.known = v != NULL, .v = v != NULL ? *v : 0};
}

/* The number in two registers; false: it is not known. */
static inline bool noc_pair(const struct value *low, const struct value *high, uint64_t *v)
{
    *v = (uint64_t)high->v << 32 | low->v;
    return low->known && high->known;
}

/* A command buffer: it keeps its registers from request to request. */
struct noc_buffer {
    struct value words[NOC_BUFFER_WORDS]; /* the tag's `since`: a kernel before left it there */
    enum noc_use {
        NOC_FREE, /* as far as is known */
        NOC_SENT, /* and not seen to be free since */
        NOC_BUSY, /* seen busy, and not free since */
    } use;
    uint64_t sent;  /* index of the latest send */
    uint8_t tag_by; /* who stored PACKET_TAG */
    uint64_t tag_index;
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
    uint8_t barriers, flushes; /* 1 << enum nocap_requests: which of them the trace has shown */
    bool polled;               /* its counters are looked at */
    bool programmed;           /* its requests show as register stores */
    bool fifo;                 /* a FIFO of requests in front: a buffer is never busy */
};

/* A core that waits for the requests of an interface: it polls a counter, or says so. Or it says
 * that it waits for a semaphore. */
struct noc_wait {
    bool semaphore;
    bool said; /* the trace says that it waits, and shows no polls */
    bool idle; /* nothing was under way when it began */
    uint8_t noc;
    enum nocap_requests kind;
    struct event_ref since; /* the first poll */
    uint64_t settled;       /* polls that showed all answers, one after the other */
    fault_id fault;         /* it polls on, as was reported */
};

struct noc_tile {
    struct noc_interface noc[NOCS];
    struct noc_wait waits[CORES]; /* by processor */
    uint32_t waiting;             /* 1 << enum nocap_agent: it has done nothing else since */
};

/* BAR2 registers of a PCIe endpoint, as far as the trace has shown them. */
enum { NOC_IATU_REGIONS = 16, NOC_IATU_WORDS = 9 };
struct noc_endpoint {
    struct value iatu[NOC_IATU_REGIONS][NOC_IATU_WORDS], dma_size, dma_address;
};

/* Tiles that are no workers, as far as their rules need it. */
enum { NOC_QUEUES = 8, NOC_QUEUE_WORDS = 3, NOC_ARC_QUEUES = 8 };
struct noc_queue { /* of an Ethernet tile: what the next transfer is to be */
    uint16_t chip;
    struct nocap_xy at;
    uint8_t number;
    struct value words[NOC_QUEUE_WORDS];
    fault_id absent; /* there is no such queue: of the first access */
};
struct noc_arc {                       /* where its message queues are, as the host found them */
    struct value block, base, entries; /* control block, first queue, messages that one holds */
    uint32_t written[NOC_ARC_QUEUES];  /* of requests, by queue */
    struct value fetched[NOC_ARC_QUEUES];
};
/* What there is once a chip. */
enum { NOC_CHIPS = 64 };
struct noc_chip {
    uint16_t number;
    struct noc_endpoint endpoint;
    struct noc_arc arc;
};

/* noc.c */
/* All loads of registers are in the trace. */
bool noc_sees_loads(const struct model *m, const struct tile *tile);

/* noc_buffer.c: `value`: NULL: it was not captured. */
void noc_buffer_store(struct model *m, struct tile *tile, unsigned noc, unsigned buffer,
                      uint32_t reg, const uint32_t *value);
void noc_buffer_load(struct noc_interface *n, unsigned buffer,
                     const uint32_t *value); /* of CMD_CTRL */
/* A phase: requests have left their buffers, one or all that a barrier waited for. */
void noc_buffers_left(struct noc_interface *n, const struct nocap_event *e);
/* Whether two events say the same in a field that both have. */
bool noc_same(enum nocap_field field, const struct nocap_event *a, const struct nocap_event *b);
/* A `noc` event, which may restate what a buffer sent. */
void noc_restate(struct model *m, const struct tile *tile, struct noc_interface *n,
                 const struct nocap_event *e);

/* noc_request.c: rules that need nothing but the request. */
void noc_judge_request(struct model *m, const struct observation *o);

/* noc_open.c: what is under way. */
/* Of a ring of requests, each marked by the lowest byte of its id: of the `count` from slot `first`
 * on the next one, from the `i`th on, that may have this id; `count`: there is none. */
uint32_t noc_marked(const uint8_t marks[NOC_OPEN], uint64_t first, uint32_t i, uint32_t count,
                    uint64_t id);
void noc_take(struct model *m, struct tile *tile, const struct nocap_event *e);
void noc_phase(struct model *m, struct tile *tile, struct noc_interface *n,
               const struct nocap_event *e);
/* Such requests are seen to have left, or ended: those of one core, if `by` is not NONE. `all`: no
 * other is under way. */
void noc_counted_ended(struct model *m, struct tile *tile, unsigned noc,
                       const struct nocap_niu_counted *c, unsigned by, bool all);
/* Brings the facts about the interface up to date. */
void noc_publish(const struct model *m, struct tile *tile, unsigned noc);
void noc_memory_access(struct model *m, struct tile *tile, const struct access *a);
void noc_kernel_exit(struct model *m, struct tile *tile, unsigned agent);

/* noc_doors.c: what the host does to the interfaces and the endpoint. */
void noc_register_store(struct model *m, const struct tile *tile, const struct access *a);
void noc_host_access(struct model *m, const struct nocap_event *e);
/* An access to an Ethernet tile from outside; `tile`: who asks, NULL: the host. `value`: NULL: a
 * load, or not captured. */
void noc_ethernet_access(struct model *m, const struct tile *tile, uint16_t chip,
                         struct nocap_xy at, uint64_t addr, const uint32_t *value);
void noc_doors_forget(struct model *m);

/* What this model keeps of a tile, and of the whole. */
struct noc_part {
    struct noc_tile *noc;          /* NULL until the interfaces do something */
    struct noc_landings *landings; /* of its requests; NULL: none yet */
    struct noc_landings *memory;   /* .. of those that write to host memory */
    uint64_t since;                /* time of its first request */
    uint32_t src;                  /* who observes them */
    bool asks;                     /* there was one */
    uint8_t elsewhere;             /* .. 1 << enum nocap_tile_kind: to such, no worker core */
    bool opaque;                   /* one did not say where it goes, or several observe */
};
struct noc_state {
    struct noc_chip *chips[NOC_CHIPS];   /* by number; NULL: not touched yet */
    struct noc_queue queues[NOC_QUEUES]; /* the latest */
    uint32_t queue_count;
    bool anonymous;      /* something arrived that does not say whose it is */
    bool asked, sources; /* a request was seen, and of several sources */
    uint32_t src;        /* that of the first */
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
/* The trace shows this of an interface: by such things it may show that requests end. */
static inline void noc_tells(struct model *m, bool *shown)
{
    m->due |= *shown ? 0 : 1u << MODEL_NOC;
    *shown = true;
}
static inline struct noc_state *noc_state(const struct model *m)
{
    return m->state[MODEL_NOC];
}

/* noc_landing.c: bytes that arrive against requests: rule NOC-047. */
void noc_landing_request(struct model *m, const struct observation *o);
void noc_landing_done(struct model *m, const struct tile *tile, const struct nocap_event *e);
/* All reads or writes of an interface that barriers wait for are over; those of one core, if `by`
 * is not NONE: their bytes have arrived. */
void noc_landings_over(struct model *m, const struct tile *tile, unsigned noc, unsigned by,
                       enum nocap_requests kind);
void noc_landing(struct model *m, const struct observation *o);
/* The endpoint writes to host memory. */
void noc_memory_landing(struct model *m, const struct nocap_event *e);

#endif
