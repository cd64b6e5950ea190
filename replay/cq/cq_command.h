/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: what is known of a command of a command queue by its bytes. */
#ifndef NOCAP_REPLAY_CQ_COMMAND_H
#define NOCAP_REPLAY_CQ_COMMAND_H

#include "formats/profile/profile.h"
#include "replay/core/state.h"
#include "replay/core/value.h"

/* What the later stages need of a dispatch command. */
struct cq_brief {
    bool known;
    uint8_t id, flags;
    uint16_t stream;
    uint32_t count;
    fault_id since;      /* it cannot be executed, or breaks the order of a launch */
    bool unproven;       /* SEND_GO: no barrier after a multicast that it depends on */
    fault_id unaligned;  /* of an address that it writes to */
    fault_id message;    /* of a launch message or go message that it writes */
    fault_id unreset;    /* SEND_GO: of the read pointers of its workers */
    struct value sent;   /* that waits for notifies: go words before it on its stream */
    struct event_ref at; /* its record */
};

/* A record's bytes, decoded once: what is judged, added up, written. */
enum { CQ_TARGETS = 1024 }; /* more than any command has that can be executed */
struct cq_target {
    uint32_t noc_xy, dests; /* a tile, or a rectangle of so many */
    bool mcast;             /* it is a rectangle */
    bool unlinks;
    bool memory; /* it is host memory */
    bool to_all; /* a go word for the rectangle of all workers, which no command says */
    uint64_t addr, size;
    const uint8_t *payload; /* of the first of the tiles */
    uint64_t known;         /* so many bytes of it */
};
struct cq_command {
    struct nocap_cq_record record;
    struct nocap_cq_subs subs; /* count 0: it has none, and writes nothing to tiles */
    bool mcast;
    uint32_t known; /* so many of them, from the first on */
    struct cq_target targets[CQ_TARGETS];
};

/* What the dispatcher adds to the addresses of its writes. */
struct cq_offsets {
    uint8_t known; /* a bit each */
    uint32_t v[NOCAP_CQ_WRITE_OFFSETS];
};

#endif
