/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: one observation of an event, as every model sees it. core/decode.c makes it;
 * nothing after it looks at an address to find out what kind of thing happened. */
#ifndef NOCAP_REPLAY_OBSERVATION_H
#define NOCAP_REPLAY_OBSERVATION_H

#include "formats/blackhole/cores.h"
#include "formats/blackhole/noc_ends.h"
#include "formats/blackhole/registers.h"
#include "formats/blackhole/tile_map.h"
#include "replay/core/access.h"

struct tile;

/* An event is one observation or several: a multicast one for each tile; a request of the network
 * one at its initiator, one at its far end, and, where landings are not observed, a store at each
 * target. */
enum observation_kind {
    OBS_CORE_STORE,    /* a core of the tile stores to the tile's address space */
    OBS_CORE_LOAD,     /* it loads */
    OBS_OUTSIDE_STORE, /* host, NOC or DMA store to the tile */
    OBS_HOST_LOAD,     /* the host loads from the tile */
    OBS_OUTSIDE_LOAD,  /* NOC or DMA fetch from it */
    OBS_FAR_END,       /* a request reaches for bytes of this tile; memory does not change yet */
    OBS_RESTATED, /* a landing whose request was taken for the store, since none was seen before */
    OBS_PLACED,   /* those above have `places` */
    OBS_MEMORY = OBS_PLACED, /* bytes are shown as they are: no access */
    OBS_ELSEWHERE, /* an access that is to no worker tile: host memory, BARs, other tiles, AIE */
    OBS_REQUEST,   /* a network interface issues a request; `tile`: the initiator's */
    OBS_PHASE,     /* a request was sent or is done */
    OBS_ENTER,     /* a core enters its kernel */
    OBS_EXIT,      /* it leaves it */
    OBS_RUN,       /* a core leaves reset */
    OBS_HALT,      /* it is taken into reset */
    OBS_NOTE,      /* text of the capture */
    OBS_TENSIX,    /* the coprocessor's instruction stream */
    OBS_QUEUE,     /* a command-queue record seen as one unit */
    OBS_CONTROL,   /* AIE control code */
    OBS_LOST,      /* events were lost here */
    OBS_KINDS
};
#define OBS(kind) (1u << OBS_##kind)

/* What of a tile an access touches: one place, or several where it is long. */
enum place {
    PLACE_L1,          /* L1 after the mailbox */
    PLACE_LOW,         /* L1 below it, and what of the mailbox has no place of its own */
    PLACE_SYNC,        /* the subordinate sync word */
    PLACE_RD_PTR,      /* launch_msg_rd_ptr */
    PLACE_LAUNCH,      /* the ring of launch messages */
    PLACE_GO,          /* go words */
    PLACE_GO_INDEX,    /* go_message_index */
    PLACE_SOFT_RESET,  /* SOFT_RESET_0 */
    PLACE_DEBUG,       /* other registers of the debug page, TDMA mover */
    PLACE_NIU,         /* registers of the network interfaces */
    PLACE_STREAM,      /* registers of the streams */
    PLACE_COPROCESSOR, /* FIFOs, PC buffers, GPRs, MOP and backend configuration, mailboxes */
    PLACE_OTHER,       /* private memory, reserved pages, gaps */
    PLACES
};
#define PLACE(name)   (1u << PLACE_##name)
#define PLACE_ALL     ((1u << PLACES) - 1)
#define PLACE_MAILBOX (PLACE(SYNC) | PLACE(RD_PTR) | PLACE(LAUNCH) | PLACE(GO) | PLACE(GO_INDEX))

struct observation {
    const struct nocap_event *event;
    struct tile *tile;                      /* a worker tile; NULL: none */
    const struct nocap_region_info *region; /* of an access to a tile: where its first byte lies */
    struct access access;                   /* of stores, loads, far ends and memory */
    const struct nocap_noc_ends *ends;      /* of OBS_REQUEST */
    uint32_t places;                        /* of accesses: 1 << enum place */
    uint8_t kind;                           /* enum observation_kind */
    bool lead; /* the one that stands for the whole event, where there are several */
};

/* Whether a store takes all cores of the tile into reset, or may: its value was not captured. */
static inline bool may_hold_all_cores(const struct observation *o)
{
    uint32_t value;
    return (o->places & PLACE(SOFT_RESET)) != 0 &&
           (!access_word(&o->access, NOCAP_REG_SOFT_RESET_0, &value) ||
            (value & NOCAP_SOFT_RESET_ALL) == NOCAP_SOFT_RESET_ALL);
}

#endif
