/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated command queue, private to capture/sim/cq: a host, a prefetch core, a dispatch core
 * and workers with kernels. They are agents of their own and meet only in host memory, in the
 * memories of the tiles and in packets on their way; none looks into another.
 * Sources: fast-dispatch firmware document, command-queue fact sheet. */
#ifndef NOCAP_CAPTURE_SIM_CQ_MACHINE_H
#define NOCAP_CAPTURE_SIM_CQ_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/kernel/kernel.h"
#include "capture/sim/brisc.h"
#include "capture/sim/cq/places.h"
#include "capture/sim/scenario.h"
#include "formats/blackhole/cq_commands.h"
#include "formats/blackhole/cq_layout.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/registers.h"
#include "formats/blackhole/tile_map.h"
#include "formats/profile/profile.h"

struct sim_cq;
struct cq_agent;
typedef void cq_routine(struct sim_cq *q, struct cq_agent *a);

enum cq_size {
    CQ_WORKERS_MAX = 138,
    CQ_WORKERS_OBSERVED = 4, /* of more workers the trace shows the first four alone */
    CQ_AGENTS_MAX = 4 + 2 * CQ_WORKERS_MAX,
    CQ_PACKETS_MAX = 1024,
    CQ_PACKETS_OUT = 256, /* packets on their way at which the dispatcher pauses */
    CQ_RECTANGLES_MAX = NOCAP_CQ_PACKED_LARGE,
    CQ_LOW_L1 = NOCAP_MAILBOX_END, /* bytes of a worker's L1 that are kept: its mailbox */
    CQ_SHOWN = 4096,               /* a longer payload is left out of the trace */
    CQ_RECORD_MAX = 0x20000,
    CQ_DEPTH = 3,                     /* routines that call each other */
    CQ_TEXT_HEAD = 64,                /* bytes of firmware text that an event shows */
    CQ_SMALL = NOCAP_LAUNCH_SIZE_MAX, /* bytes of a packet that land in memory that is kept */
    CQ_READS_MAX = 64,                /* of host memory on their way */
    CQ_STREAMS_MAX = 64,
};

/* Within a channel packets arrive in the order in which they were sent. Each tile is one for the
 * dispatcher's unicasts; these are the others. */
enum cq_channel {
    CQ_CHANNEL_MCAST = NOCAP_GRID_WIDTH * NOCAP_GRID_HEIGHT,
    CQ_CHANNEL_HOST,
    CQ_CHANNEL_READ,
    CQ_CHANNEL_PUBLISH,
    CQ_CHANNEL_RELEASE,
    CQ_CHANNEL_SUBORDINATE_RELEASE,
    CQ_CHANNEL_COUNT,
    CQ_CHANNELS,
};

/* What an agent waits for. */
enum cq_watch {
    CQ_WATCH_START = 1 << 0,     /* go word of a command-queue tile */
    CQ_WATCH_SLOT = 1 << 1,      /* a slot of the prefetch queue was filled */
    CQ_WATCH_FREED = 1 << 2,     /* a slot became free */
    CQ_WATCH_LANDED = 1 << 3,    /* bytes of the issue region arrived */
    CQ_WATCH_CREDIT = 1 << 4,    /* free pages of the dispatch buffer */
    CQ_WATCH_PUBLISHED = 1 << 5, /* pages for the dispatcher */
    CQ_WATCH_ACKED = 1 << 6,     /* writes of the dispatcher were acknowledged */
    CQ_WATCH_STREAM = 1 << 7,    /* a worker's notify */
    CQ_WATCH_READ_PTR = 1 << 8,  /* completion read pointer */
    CQ_WATCH_MIRROR = 1 << 9,    /* completion write pointer in host memory */
    CQ_WATCH_WORKER = 1 << 10,   /* mailbox of the agent's own tile */
    CQ_WATCH_NOTIFIED = 1 << 11, /* the dispatcher lets the subordinate send go words */
    CQ_WATCH_TURN = 1 << 12,     /* the host of the other queue has done with the workers */
};

/* A word that an agent polls. */
struct cq_place {
    struct nocap_xy at;
    uint8_t space, by, size;
    uint32_t addr;
    uint32_t period; /* cycles from one poll to the next */
};

struct cq_agent {
    cq_routine *run; /* NULL: it does nothing any more */
    int32_t line;    /* place in `run` */
    struct {
        cq_routine *run;
        int32_t line;
    } up[CQ_DEPTH]; /* callers of `run` */
    uint8_t depth;
    uint16_t id;
    uint16_t watch;         /* set over enum cq_watch; 0: it does not wait */
    struct cq_place poll;   /* what it polls meanwhile; size 0: nothing that a trace shows */
    struct cq_place wanted; /* what it is about to poll */
    uint32_t i, j;          /* loop counters of `run` */
};

enum cq_packet_kind {
    CQ_PACKET_READ,    /* issue region to the prefetch tile */
    CQ_PACKET_PUBLISH, /* pages to the dispatcher's counter */
    CQ_PACKET_RELEASE, /* pages to the prefetcher's counter */
    CQ_PACKET_TILE,    /* dispatcher to one tile, or to a rectangle */
    CQ_PACKET_HOST,    /* dispatcher to host memory */
    CQ_PACKET_NOTIFY,  /* worker to a stream of the dispatch tile */
    CQ_PACKET_COUNT,   /* .. the count of which a subordinate elsewhere passes on */
};

/* One read of the issue region, of one packet or several. */
struct cq_read {
    uint32_t offset, size, slot;
};

struct cq_packet {
    uint64_t id, addr, seq;
    uint32_t size, value, l1;
    struct nocap_xy from, to, corner; /* the other corner of a rectangle */
    uint8_t kind;                     /* enum cq_packet_kind */
    uint8_t by;                       /* enum nocap_agent: the core that sent it */
    bool mcast, landed, shows_done, last;
    struct cq_read read; /* that it belongs to; `last`: as its last packet */
    uint16_t next;       /* in the list of free ones */
    uint8_t data[CQ_SMALL];
};

/* A set of workers, as runs of the list and as rectangles. */
struct cq_cores {
    uint32_t first, count;
    struct nocap_cq_rect rect[CQ_RECTANGLES_MAX];
    uint32_t rects;
};
enum cq_role { CQ_ROLE_ALL, CQ_ROLE_A, CQ_ROLE_B, CQ_ROLES };

struct cq_worker {
    struct nocap_xy at;
    struct sim_cq *home, *launcher; /* whose agents it is; whose go word it got last */
    struct cq_agent *brisc, *others;
    struct sim_brisc firmware;
    bool observed;
    uint8_t l1[CQ_LOW_L1];
};

/* How runtime arguments travel: all workers get the same, by multicast or by one write each; or
 * each its own. */
enum cq_arguments { CQ_ARGUMENTS_MULTICAST, CQ_ARGUMENTS_SHARED, CQ_ARGUMENTS_OWN };

/* What one program is. */
struct cq_program {
    uint64_t index;
    uint8_t roles;      /* 1: one binary for all workers; 2: two */
    uint8_t enables[2]; /* of each role */
    uint8_t chunks[2];  /* KiB of each role's binary; 0: it stays from before */
    uint8_t slices;     /* of 16 bytes of runtime arguments */
    uint8_t arguments;  /* enum cq_arguments */
    uint8_t uploads;    /* blocks of data written ahead of it, each to one worker */
};

/* Turns a run into records, one at a time. */
struct cq_lowering {
    int32_t line; /* in stage `stage` of the program */
    uint32_t stage, i, j, role, count;
    bool swapped;
    struct cq_program program;
    const struct cq_cores *cores; /* that multicasts go to */
};

struct cq_host {
    uint32_t wr;      /* offset in the issue region */
    uint32_t slot;    /* of the prefetch queue */
    uint32_t rd;      /* completion read pointer with toggle, units of 16 bytes */
    uint32_t written; /* read pointer as the host stored it */
    uint64_t program; /* next one */
    uint64_t event;   /* id sent last */
    uint64_t event_seen;
    uint64_t entries; /* published */
    uint32_t stamps;  /* timestamp slots written in this run */
    uint32_t syncs;   /* events that the run still sends */
    uint32_t in_run;  /* index of the program in its run */
    uint32_t run_programs;
    uint32_t launched; /* go words so far, where the counter is not cleared */
};

struct cq_prefetch {
    uint32_t slot;
    uint32_t size;                  /* of the record that its entry stands for */
    uint64_t pcie;                  /* device address that it reads next */
    uint32_t fence, cmd;            /* end of what was asked for, and what it works on */
    uint32_t landed;                /* end of what it knows to have landed */
    uint32_t asked, arrived, taken; /* reads: begun, over, known to be over */
    uint32_t ends[CQ_READS_MAX];    /* of those on their way, in L1 */
    struct cq_read read;            /* asked for last */
    uint32_t acquired;              /* pages */
    uint32_t ring;                  /* L1 address in the dispatch buffer where it writes next */
    uint32_t stride, length, left, pages, from;
    uint64_t ids[CQ_RECORD_MAX / 4096];
    uint32_t pieces;
    uint32_t data;      /* bytes of the command that is relayed, with those from elsewhere */
    uint64_t elsewhere; /* DRAM address that it reads next */
    uint32_t stalls;
    bool stalled;                   /* an EXEC_BUF was read: nothing after it is, until its end */
    uint32_t resume, resume_landed; /* where it goes on then */
    cq_routine *runs;               /* of the command that it works on */
    bool ignores_credit;
    struct {
        uint32_t ring, acquired; /* as above, of the subordinate dispatcher's buffer */
    } subordinate;
};

struct cq_dispatch {
    uint32_t ptr, fence_left;   /* L1 address that it reads; bytes that it may read from there */
    uint32_t taken, block_left; /* pages; of the block */
    uint32_t blocks;            /* finished */
    uint64_t commands;          /* begun */
    uint32_t command_at;        /* L1 address of the command */
    struct nocap_cq_command command;
    uint8_t header[CQ_SHOWN]; /* with its sub-commands */
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    uint64_t issued, acked; /* writes that are to be acknowledged */
    uint32_t go_table[NOCAP_CQ_GO_TABLE];
    uint32_t offsets[NOCAP_CQ_WRITE_OFFSETS]; /* that writes are moved by */
    uint32_t wr;                              /* completion write pointer with toggle */
    uint32_t streams[CQ_STREAMS_MAX];
    uint32_t count; /* as read last */
    bool ahead;     /* a fault released a block too early */
    uint32_t turn;  /* sub-command */
    uint64_t payload_id;
    /* the write that is being cut into packets */
    struct nocap_xy to, corner;
    bool mcast;
    uint64_t addr;
    uint32_t left;
};

/* The subordinate dispatcher, on another core of the dispatch tile, or on a tile of its own.
 * Workers notify its tile. */
struct cq_subordinate {
    uint32_t ptr;   /* L1 address of the command */
    uint32_t taken; /* pages */
    uint8_t header[CQ_SHOWN];
    struct nocap_cq_command command;
    uint32_t go_table[NOCAP_CQ_GO_TABLE];
    uint32_t launched[NOCAP_CQ_STREAMS]; /* go signals of each counter */
    uint32_t turn;                       /* go word */
    bool hasty, keeps;                   /* faults: it does not wait; it releases no page */
    /* apart: notifies as they come, and as the dispatcher knows of them from here */
    uint32_t streams[CQ_STREAMS_MAX], passed_on[CQ_STREAMS_MAX];
};

struct sim_cq {
    struct sim_kernel k; /* a timer for each agent, then one for each packet */
    struct nocap_sim_options options;
    uint64_t next_id, next_seq;
    uint32_t shows;       /* set over enum nocap_class */
    bool quick_pointer;   /* a fault hurries the next completion pointer */
    uint64_t records;     /* that the host has made */
    uint64_t slow_record; /* whose multicasts a fault delays; 0: none */
    bool unproven;        /* .. and the barrier after them is left out */
    uint64_t load_seq;    /* of the next load that a trace shows; 0: none */
    uint64_t fault_program;
    struct sim_queue_tiles board;
    struct sim_cq *peer;        /* the other queue of the chip, with a clock of its own; or NULL */
    uint32_t number;            /* of this one, from 0 */
    bool shares, busy;          /* both launch on the same workers; this one does now */
    struct nocap_queue numbers; /* of the runtime's profile, for this queue */
    const struct nocap_queue *n;
    const struct nocap_command_set *set;
    const struct nocap_mailbox_layout *layout;
    uint32_t workers;
    struct cq_cores cores[CQ_ROLES];
    struct cq_worker *worker;
    struct cq_agent agent[CQ_AGENTS_MAX];
    uint32_t agents;
    struct cq_host host;
    struct cq_lowering lowering;
    struct cq_prefetch prefetch;
    struct cq_dispatch dispatch;
    struct cq_subordinate subordinate;
    uint8_t *sysmem, *prefetch_l1, *dispatch_l1,
        *subordinate_l1;           /* the last one where it is apart */
    uint8_t record[CQ_RECORD_MAX]; /* that the host makes, with its data commands */
    uint32_t record_size;
    uint8_t entry[CQ_RECORD_MAX]; /* that it publishes: one record, or several */
    uint32_t entry_size, entry_records;
    uint8_t buffer[CQ_RECORD_MAX];       /* commands in DRAM that an EXEC_BUF has executed */
    uint32_t buffer_size, executed_size; /* as it grows; of the one that was published */
    bool executes;                       /* the entry is that EXEC_BUF */
    /* packets on their way */
    struct cq_packet packet[CQ_PACKETS_MAX];
    uint16_t free_packet;
    uint32_t packets_out;
    uint64_t lands_last[CQ_CHANNELS]; /* of each ordered channel */
};

enum cq_agent_index {
    CQ_AGENT_HOST,
    CQ_AGENT_PREFETCH,
    CQ_AGENT_DISPATCH,
    CQ_AGENT_SUBORDINATE,
    CQ_AGENT_WORKERS
};

/* ---- wait.c ---- */

/* Goes on `least` .. `least + spread - 1` cycles later. */
void sim_cq_sleep(struct sim_cq *q, struct cq_agent *a, uint32_t least, uint32_t spread);
void sim_cq_block(struct cq_agent *a, uint16_t what, const struct cq_place *poll);
/* Wakes all agents but workers that wait for one of `what`; `a` alone. */
void sim_cq_changed(struct sim_cq *q, uint16_t what);
void sim_cq_poke(struct sim_cq *q, struct cq_agent *a);

#define CQ_SLEEP(q, a, least, spread) CO_PAUSE(a, sim_cq_sleep((q), (a), (least), (spread)), )
/* Goes on when the condition holds; it can only begin to hold when one of `what` changes. */
#define CQ_AWAIT(q, a, what, condition) CO_UNTIL(a, condition, sim_cq_block((a), (what), NULL))
/* The same, where the condition is about a word that the agent reads again and again. */
#define CQ_POLL(q, a, what, place, condition)                                                      \
    CO_UNTIL(a, (sim_cq_emit_poll((q), (place), !(condition)), (condition)),                       \
             sim_cq_block((a), (what), (place)))

/* emit.c: events, where the view shows them. */
static inline bool sim_cq_shows(const struct sim_cq *q, uint32_t classes)
{
    return (q->shows & classes) != 0;
}
/* An access by a core of a tile; `data` stands in for the value where it is not NULL. */
void sim_cq_emit_store(struct sim_cq *q, struct nocap_xy at, enum nocap_agent by, uint32_t addr,
                       uint32_t size, uint64_t value);
void sim_cq_emit_load_by(struct sim_cq *q, struct nocap_xy at, enum nocap_agent by, uint32_t addr,
                         uint32_t size, uint64_t value, const uint8_t *data);
static inline void sim_cq_emit_load(struct sim_cq *q, struct nocap_xy at, uint32_t addr,
                                    uint32_t size, uint64_t value, const uint8_t *data)
{
    sim_cq_emit_load_by(q, at, NOCAP_BY_BRISC, addr, size, value, data);
}
/* A word that the agent polls, `period` cycles apart: of an L1 or of the stream registers; of host
 * memory. Valid until it asks for another. */
const struct cq_place *sim_cq_tile_place(struct cq_agent *a, struct nocap_xy at,
                                         enum nocap_agent by, uint32_t addr, uint8_t size,
                                         uint32_t period);
const struct cq_place *sim_cq_sysmem_place(struct cq_agent *a, uint32_t addr, uint32_t period);
/* A poll that fails is shown as often as it repeats before anything else can happen. */
void sim_cq_emit_poll(struct sim_cq *q, const struct cq_place *place, bool fails);
/* The polls of who still waits when all is over. */
void sim_cq_emit_last_polls(struct sim_cq *q);
void sim_cq_emit_host_tile(struct sim_cq *q, struct nocap_xy at, uint32_t addr, uint32_t size,
                           uint32_t value, const uint8_t *data, uint64_t seq);
void sim_cq_emit_host_text(struct sim_cq *q, struct nocap_xy at, uint32_t addr, uint32_t size);
/* An access to host memory, by the host or by the device. */
void sim_cq_emit_sysmem(struct sim_cq *q, enum nocap_kind kind, enum nocap_agent by, uint32_t addr,
                        uint32_t size, const uint8_t *data);
void sim_cq_emit_sysmem_word(struct sim_cq *q, enum nocap_kind kind, uint32_t addr, uint32_t value);
void sim_cq_emit_mem(struct sim_cq *q, enum nocap_space space, struct nocap_xy at, uint32_t addr,
                     const uint8_t *data, uint32_t size);
/* A `cq` event; the caller has filled q->event, but for what all have. */
void sim_cq_emit_unit(struct sim_cq *q, enum nocap_op op, struct nocap_xy at, uint32_t addr,
                      uint32_t size, uint64_t seq);
/* A dispatcher begins with a command. */
void sim_cq_emit_exec(struct sim_cq *q, struct nocap_xy at, uint32_t addr, const uint8_t *header,
                      uint32_t size, uint64_t seq);
void sim_cq_emit_read(struct sim_cq *q, enum nocap_op op, const struct cq_read *read, uint64_t seq);
void sim_cq_emit_credit(struct sim_cq *q, enum nocap_agent by, struct nocap_xy at,
                        uint32_t semaphore, uint32_t pages, uint64_t seq);
/* The record as it stands in host memory. */
void sim_cq_emit_record(struct sim_cq *q, uint32_t slot, uint32_t entry, uint32_t addr,
                        uint64_t seq);
/* A number that ties a `cq` event to the access that it restates; 0: this view has only one of the
 * two. */
uint64_t sim_cq_seq(struct sim_cq *q);

/* noc.c: requests of the three kinds of initiator. */
void sim_cq_send_read(struct sim_cq *q, uint32_t offset, uint32_t l1, uint32_t size, uint64_t seq,
                      bool last);
/* `size` bytes of DRAM, for a command whose data do not stand in its record. */
void sim_cq_send_gather(struct sim_cq *q, uint64_t addr, uint32_t l1, uint32_t size);
void sim_cq_emit_gathered(struct sim_cq *q);
/* Returns the id of the request. */
uint64_t sim_cq_send_relay(struct sim_cq *q, uint32_t from, struct nocap_xy at, uint32_t to,
                           uint32_t size);
void sim_cq_emit_sent(struct sim_cq *q, struct nocap_xy at, uint32_t noc, uint64_t id);
/* `pages` to a semaphore: of the prefetcher to a dispatcher's tile; of the dispatcher, and of the
 * subordinate one, to the prefetch tile. */
void sim_cq_send_publish(struct sim_cq *q, struct nocap_xy at, uint32_t semaphore, uint32_t pages);
void sim_cq_send_release(struct sim_cq *q, uint32_t semaphore, uint32_t pages);
void sim_cq_send_subordinate_release(struct sim_cq *q, uint32_t pages);
/* Where multicast `i` of a SEND_GO_SIGNAL goes. A fault: not to its first row, or column. */
struct nocap_cq_rect sim_cq_go_rectangle(struct sim_cq *q, const struct nocap_cq_command *command,
                                         const uint32_t *table, uint32_t i);
/* A go word of the subordinate dispatcher, from L1 address `from`. */
void sim_cq_send_go(struct sim_cq *q, struct nocap_cq_rect to, bool mcast, uint32_t from);
/* Of the dispatcher: d->to .. d->addr say where. `shows_done`: the trace shows its acknowledgement.
 */
void sim_cq_send_tile(struct sim_cq *q, uint32_t from, uint32_t size);
uint64_t sim_cq_send_host(struct sim_cq *q, uint32_t from, uint64_t offset, uint32_t size,
                          bool shows_done);
void sim_cq_send_notify(struct sim_cq *q, struct cq_worker *w);
/* What the dispatchers owe each other where they are apart: how many launches of a stream may go;
 * how many workers have announced their end. */
void sim_cq_send_launches(struct sim_cq *q, uint32_t stream, uint32_t launches);
void sim_cq_send_count(struct sim_cq *q, uint32_t stream, uint32_t count);
void sim_cq_packet_arrives(struct sim_cq *q, struct cq_packet *p);

/* Agents. */
cq_routine sim_cq_host_boot, sim_cq_prefetch_boot, sim_cq_dispatch_boot, sim_cq_subordinate_boot,
    sim_cq_worker_brisc, sim_cq_worker_others;
/* execute.c: the command that was read; ends with CQ_RETURN. */
cq_routine sim_cq_execute;
/* dispatch.c: bytes at d->ptr become readable; d->left bytes go out from there. */
cq_routine sim_cq_dispatch_copy;
void sim_cq_dispatch_advance(struct sim_cq *q, uint32_t bytes);

/* execute.c: whether so many workers have announced their end, in the width of the counter, as that
 * tile knows. */
bool sim_cq_has_counted(struct sim_cq *q, struct nocap_xy at, uint64_t stream, uint64_t want);

/* lower.c: the next record of the run into q->record; false: the run is complete. */
bool sim_cq_lower_next(struct sim_cq *q);
/* Whether that record is one of those that lie in DRAM. */
bool sim_cq_takes_buffer(const struct sim_cq *q);
/* The same for the end of the queue's firmware. */
bool sim_cq_lower_end(struct sim_cq *q);

/* run.c */
/* Whether the planned fault is `fault` and may strike from now on; whether it strikes now. */
bool sim_cq_fault_pending(const struct sim_cq *q, enum nocap_sim_fault fault);
bool sim_cq_fault_due(struct sim_cq *q, enum nocap_sim_fault fault);
/* The same of a fault that the device has from its boot on. */
bool sim_cq_lasts(struct sim_cq *q, enum nocap_sim_fault fault);
void sim_cq_worker_init(struct sim_cq *q, struct cq_worker *w);
void sim_cq_write_worker(struct sim_cq *q, struct cq_worker *w, uint32_t addr, const uint8_t *data,
                         uint32_t size);

/* Whether the host works with the subordinate dispatcher. */
static inline bool sim_cq_splits(const struct sim_cq *q)
{
    return q->options.scenario == NOCAP_SIM_FAST_DISPATCH_SUBORDINATE;
}

/* Whether it counts notifies on, and does not clear the count for each launch. */
static inline bool sim_cq_counts_on(const struct sim_cq *q)
{
    return sim_cq_splits(q) || q->options.scenario == NOCAP_SIM_FAST_DISPATCH_MULTICAST;
}

/* ---- places ---- */

/* Whether the subordinate dispatcher has a tile of its own. */
static inline bool sim_cq_is_apart(const struct sim_cq *q)
{
    return !nocap_xy_equal(q->board.subordinate, q->board.dispatch);
}
/* Memory of a tile of the queue; its counters of notifies, which a dispatcher's tile has. */
static inline uint8_t *sim_cq_l1(const struct sim_cq *q, struct nocap_xy at)
{
    return nocap_xy_equal(at, q->board.prefetch)   ? q->prefetch_l1
           : nocap_xy_equal(at, q->board.dispatch) ? q->dispatch_l1
                                                   : q->subordinate_l1;
}
static inline uint32_t *sim_cq_streams(struct sim_cq *q, struct nocap_xy at)
{
    return nocap_xy_equal(at, q->board.dispatch) ? q->dispatch.streams : q->subordinate.streams;
}
/* From the start of the host memory of all queues to that of this one. */
static inline uint64_t sim_cq_offset(const struct sim_cq *q)
{
    return (uint64_t)q->number * q->n->sysmem_size;
}
static inline struct nocap_xy sim_cq_pcie_tile(const struct sim_cq *q)
{
    return (struct nocap_xy){(uint8_t)q->n->pcie_x, (uint8_t)q->n->pcie_y};
}
static inline uint32_t sim_cq_load_slot(const struct sim_cq *q, uint32_t addr)
{
    return q->n->entry_bytes == 2 ? sim_cq_load16(q->prefetch_l1, addr)
                                  : sim_cq_load32(q->prefetch_l1, addr);
}
/* Of a dispatcher's command as this runtime has it. */
static inline uint32_t sim_cq_header_size(const struct sim_cq *q, unsigned id)
{
    uint32_t size = id < NOCAP_CQ_IDS ? q->set->forms[NOCAP_CQ_DISPATCH][id].header : 0;
    return size != 0 ? size : NOCAP_CQ_HEADER;
}

#endif
