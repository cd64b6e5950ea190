/* SPDX-License-Identifier: Apache-2.0 */
/* Private to nocap: event classes that a header lists in `observes` and that a capture does not
 * have: events of other classes show work that nothing could do without them, again and again. */
#ifndef NOCAP_CHECKER_CORE_CLASS_EVIDENCE_H
#define NOCAP_CHECKER_CORE_CLASS_EVIDENCE_H

#include "formats/trace/header.h"

enum { CLASS_CORES = 5, CLASS_THREADS = 3, CLASS_GRID = 32 };

/* What a worker core showed. */
struct class_tile {
    bool asked, acted;             /* it got INIT or GO; its RISCs did something since */
    uint8_t gos;                   /* that came after it had acted */
    uint8_t enters[CLASS_CORES];   /* of kernels */
    uint8_t exits, after;          /* of kernels, of which two count; acts since */
    uint8_t pushes[CLASS_THREADS]; /* of words that issue */
    uint8_t issues[CLASS_THREADS];
};

/* The act that shows that a class is not there. */
struct class_proof {
    uint64_t index, t;
    struct nocap_xy at;
    const char *act;
};

struct class_evidence {
    const struct nocap_header *header;
    uint32_t go_messages;  /* where the mailbox has them, as header or user say .. */
    uint32_t rd_ptr;       /* .. and the read pointer */
    uint32_t seen;         /* NOCAP_CLASS_* */
    uint32_t proven;       /* that must have had events; bits of `proofs` */
    uint32_t acts;         /* of cores */
    uint32_t arrived;      /* accesses of the device to host memory */
    uint32_t records;      /* of a queue, submitted */
    uint32_t pushed;       /* words, to the coprocessors */
    uint32_t ended;        /* launches and boots that came to an end */
    uint32_t sent;         /* stores that send a request into the network */
    uint32_t moved;        /* stores that move the read pointer on, after a notify */
    uint32_t accesses;     /* of control code */
    uint32_t instructions; /* of control code, that access one word */
    bool lost;             /* events */
    struct class_proof proofs[NOCAP_CLASS_COUNT];
    struct class_tile tiles[CLASS_GRID][CLASS_GRID]; /* of chip 0 */
};

void class_evidence_init(struct class_evidence *evidence, const struct nocap_header *header);
/* Whether a class that can be proven to be missing has shown no event yet. */
bool class_evidence_open(const struct class_evidence *evidence);
void class_evidence_look(struct class_evidence *evidence, const struct nocap_event *event);
/* The host rang a doorbell of a command queue, in all `count` times. */
void class_evidence_doorbell(struct class_evidence *evidence, uint32_t count,
                             const struct nocap_event *event);
/* Classes that are listed, have no event and must have some: NOCAP_CLASS_*. */
uint32_t class_evidence_absent(const struct class_evidence *evidence);

#endif
