/* What jobs of AIE control code wait for: for reports about hangs. Source: AIE control code fact
 * sheet, rules R62 to R66. */
#ifndef NOCAP_REPLAY_CERT_H
#define NOCAP_REPLAY_CERT_H

#include "formats/aie/image.h"
#include "replay/engine.h"

enum { NOCAP_CERT_MISSING = 8, NOCAP_CERT_TEXT = 160 };

/* Who has not come to a barrier. */
struct nocap_cert_party {
    uint8_t uc;
    bool has_job; /* false: any job of the column */
    uint32_t job;
};

/* A job that waits. */
struct nocap_cert_wait {
    uint8_t uc;
    uint8_t why; /* enum nocap_why */
    uint32_t page, off, job;
    uint64_t since, t; /* index and time of the event at which it began to wait */
    bool outside;      /* what it waits for comes from outside the jobs: DMA, token, poll */
    char what[NOCAP_CERT_TEXT]; /* "local barrier 0: 3 of 4 jobs arrived" */
    struct nocap_cert_party missing[NOCAP_CERT_MISSING]; /* at a barrier, as far as it is known */
    uint32_t missing_count;
};

/* The waiting jobs at this moment, by uc, page and job: fills `list` and gives their number, which
 * may be above `capacity`. */
size_t nocap_engine_cert_waits(const struct nocap_engine *engine, struct nocap_cert_wait *list,
                               size_t capacity);
/* Whether no job can go on by itself any more: all that are not over wait for each other, or for
 * something outside that did not come for a long time. False if nobody waits. */
bool nocap_engine_cert_hung(const struct nocap_engine *engine);

#endif
