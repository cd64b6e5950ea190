/* SPDX-License-Identifier: Apache-2.0 */
/* Why a trace does not go on: who waits for whom at its end, and who should act. */
#ifndef NOCAP_HANG_H
#define NOCAP_HANG_H

#include <nocap/check.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nocap_hang_outcome {
    NOCAP_HANG_OUTCOME_IDLE = 0,         /* no agent waits */
    NOCAP_HANG_OUTCOME_RUNNING = 1,      /* what an agent waits for was in progress until the end */
    NOCAP_HANG_OUTCOME_INCONCLUSIVE = 2, /* an agent waits, and not enough was observed */
    NOCAP_HANG_OUTCOME_HUNG = 3
};

enum nocap_hang_format { NOCAP_HANG_TEXT = 0, NOCAP_HANG_JSON = 1, NOCAP_HANG_DOT = 2 };

struct nocap_hang_run_options {
    size_t size; /* sizeof(struct nocap_hang_run_options) */
    bool has_at;
    uint64_t at;            /* as if the trace ended after this time */
    const char *const *elf; /* "CORE=FILE": firmware and kernels, for places in the source */
    size_t elf_count;
    uint32_t events;  /* how many of the last events about the root, 0: 10 */
    bool dense;       /* read on where few bytes hold more than 256 events each */
    bool trust_paths; /* firmware paths of the header may lead out of the trace's folder */
};

/* What it comes to. Times in header units. */
struct nocap_hang_sums {
    size_t size; /* sizeof(struct nocap_hang_sums) */
    enum nocap_hang_outcome outcome;
    const char *why;                     /* one sentence about the outcome */
    bool wedged;                         /* looks like hardware, no fault of the protocol */
    uint64_t end;                        /* latest time of the trace */
    uint64_t quiet;                      /* since the last act of any agent */
    uint64_t expected;                   /* the longest that any agent ever took to act */
    size_t waits, chain, causes, events; /* how many there are, for the calls below */
};

/* One who waits. Texts live as long as the hang. */
struct nocap_hang_wait_info {
    size_t size;         /* sizeof(struct nocap_hang_wait_info) */
    char who[64];        /* "trisc1 1,2" */
    char by[64];         /* who would have to act; "": no agent is known that could */
    const char *what;    /* what it waits for; where it waits for no agent: why it does not go on */
    const char *release; /* what would release it; NULL: not known */
    bool root;           /* it is who should act, and does not */
    uint64_t since, index; /* the event with which it began; UINT64_MAX: not known */
    uint64_t have, need;   /* where it counts: how far it is; need 0: it does not count */
};

struct nocap_hang;

/* Replays one trace, as nocap_check_run does. `options` may be NULL. */
NOCAP_API enum nocap_status nocap_hang_run(struct nocap_hang **hang, const char *path,
                                           const struct nocap_hang_run_options *options,
                                           struct nocap_error *err);
NOCAP_API void nocap_hang_free(struct nocap_hang *hang); /* NULL is fine */
NOCAP_API enum nocap_status nocap_hang_totals(const struct nocap_hang *hang,
                                              struct nocap_hang_sums *sums);
/* Number `i` from 0; NOCAP_END: there is no such. */
NOCAP_API enum nocap_status nocap_hang_wait_at(const struct nocap_hang *hang, size_t i,
                                               struct nocap_hang_wait_info *wait);
/* The chain from who waits first to the root: link `i` of it. */
NOCAP_API enum nocap_status nocap_hang_chain_at(const struct nocap_hang *hang, size_t i,
                                                struct nocap_hang_wait_info *wait);
/* A finding that comes before and touches who is in the chain. */
NOCAP_API enum nocap_status nocap_hang_cause_at(const struct nocap_hang *hang, size_t i,
                                                struct nocap_check_finding *finding);
/* The last events about what the root is waited for, a line each; NULL past the end. */
NOCAP_API const char *nocap_hang_event_at(const struct nocap_hang *hang, size_t i);
/* Fails with NOCAP_E_OUTPUT. */
NOCAP_API enum nocap_status nocap_hang_print(FILE *out, const struct nocap_hang *hang,
                                             enum nocap_hang_format format,
                                             struct nocap_error *err);

#ifdef __cplusplus
}
#endif

#endif
