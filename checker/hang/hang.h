/* SPDX-License-Identifier: Apache-2.0 */
/* `nocap hang`: why a trace does not go on. What the models say of waiting parties is made into a
 * wait-for graph; its roots are agents that do not act and wait for none, or for each other. */
#ifndef NOCAP_CHECKER_HANG_HANG_H
#define NOCAP_CHECKER_HANG_HANG_H

#include <nocap/hang.h>

#include "checker/core/checker.h"
#include "formats/aie/postmortem.h"
#include "replay/core/waits.h"

enum nocap_hang_verdict {
    NOCAP_HANG_NONE,    /* no agent waits */
    NOCAP_HANG_RUNNING, /* an agent waits, and what it waits for was in progress until the end */
    NOCAP_HANG_INCONCLUSIVE, /* an agent waits, and not enough was observed to say more */
    NOCAP_HANG_HUNG,
    NOCAP_HANG_VERDICT_COUNT
};

struct nocap_hang_wait {
    struct nocap_wait wait;       /* texts are the report's */
    char *what, *state, *release; /* release: NULL: nothing is known */
    char *written;  /* the write behind what it sees, as query/cite.h says it; NULL: not known */
    size_t who, by; /* indexes of parties; by: SIZE_MAX: none */
};

struct nocap_hang_party {
    struct nocap_party id;
    bool waits, waited; /* for another, by another */
    bool at_fault;      /* did wrong: what it waits for does not release it */
    bool root, in_cycle;
    bool erred;                      /* an error was found that is about it */
    size_t wait;                     /* the most telling of its waits, SIZE_MAX: it has none */
    enum nocap_hang_verdict verdict; /* of a root */
    char *source; /* of a root: function and line where its core was last, NULL: unknown */
};

/* Tiles in equal states. */
struct nocap_hang_tiles {
    char *places; /* "1,2 1,3 2,2", or the first of them */
    size_t count;
    char *state;
};

struct nocap_hang {
    enum nocap_hang_verdict verdict;
    bool offline;    /* of what was left, without a trace: there are no events and no times */
    const char *why; /* one sentence about the verdict */
    struct nocap_integrity damage; /* of the file: after it the models began anew */
    bool wedged;                   /* looks like hardware, no fault of the protocol */
    uint64_t end;                  /* latest time that the trace tells of, polls included */
    uint64_t quiet;                /* since the last act of any party, in header units */
    uint64_t expected;             /* the longest that a party ever took to act, in header units */
    bool gave_up;                  /* the host timed out before, and took the tile into reset */
    struct nocap_gave_up last_look;
    bool recovered; /* one wait of the host, which came to its end, stands out */
    struct nocap_slow_wait slow;
    struct nocap_report *report; /* of the check that ran along */
    struct nocap_hang_wait *waits;
    size_t wait_count;
    struct nocap_hang_party *parties;
    size_t party_count;
    size_t *chain; /* indexes of waits, from who waits first to a root */
    size_t chain_count;
    const struct nocap_finding *
        *causes; /* findings that come before and touch who is in the chain */
    size_t cause_count;
    struct nocap_hang_tiles *tiles;
    size_t tiles_count;
    char **events; /* the last that touched the root's resource, a line each */
    size_t event_count;
};

struct nocap_hang_options {
    size_t size; /* sizeof(struct nocap_hang_options) */
    bool has_at;
    uint64_t at;                     /* as if the trace ended after this time */
    const struct nocap_elf_arg *elf; /* of cores, for rules and for places in the source */
    size_t elf_count;
    uint32_t events;                       /* how many of the last events, 0: 10 */
    bool dense;                            /* nocap_reader_allow_dense */
    bool trust_paths;                      /* as of nocap_check_options */
    const char *profile;                   /* as of nocap_check_options */
    const struct nocap_check_watch *watch; /* as of nocap_check_options */
    bool has_lead;                         /* as of nocap_check_options */
    uint64_t lead_to, lead;
    bool beside;    /* as of nocap_check_options */
    bool read_once; /* neither the last events nor who wrote what is waited for */
};

/* Replays one trace, as nocap_check does, and says who waits for whom at its end. */
enum nocap_status nocap_hang(struct nocap_hang **hang, const char *path,
                             const struct nocap_hang_options *options, struct nocap_error *err);
/* The same of AIE control code that was not traced: `path` is its ELF file, or the bare image of a
 * column. Jobs are straight lines, so that who cannot have come where follows from where others
 * stood. `kernel` chooses one of a file with several: see nocap_aie_image_select. Fails with
 * NOCAP_E_INPUT if the file does not have what is named. */
enum nocap_status nocap_hang_postmortem(struct nocap_hang **hang, const char *path,
                                        const char *kernel,
                                        const struct nocap_aie_postmortem *postmortem,
                                        struct nocap_error *err);

const char *nocap_hang_verdict_name(enum nocap_hang_verdict verdict);
/* "host 1,2", "trisc1 1,2", "uc0 job 3"; at most `size` characters with the terminator. */
const char *nocap_party_name(const struct nocap_party *party, char *text, size_t size);

enum nocap_status nocap_hang_text(FILE *out, const struct nocap_hang *hang, bool color,
                                  struct nocap_error *err);
enum nocap_status nocap_hang_json(FILE *out, const struct nocap_hang *hang,
                                  struct nocap_error *err);
/* The wait-for graph for Graphviz. */
enum nocap_status nocap_hang_dot(FILE *out, const struct nocap_hang *hang, struct nocap_error *err);

#endif
