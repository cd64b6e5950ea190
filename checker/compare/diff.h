/* SPDX-License-Identifier: Apache-2.0 */
/* `nocap diff`: what two traces say, compared. Each agent's events are compared in their order, and
 * the order of the writes to each word of a tile's mailbox that several agents share. What two runs
 * of one program need not share does not count (checker/compare/event_key.h), nor how agents
 * interleave.
 *
 * Both traces are read side by side. Memory grows with how far one agent is ahead of itself in the
 * other trace, not with the length of the traces, and is bounded. */
#ifndef NOCAP_CHECKER_COMPARE_DIFF_H
#define NOCAP_CHECKER_COMPARE_DIFF_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"
#include "formats/trace/event.h"

/* A part of a trace: what happened at a tile, and to it; of each tile a launch, from GO to DONE. */
struct nocap_diff_part {
    bool has_tile, has_launch;
    struct nocap_xy tile;
    uint64_t launch; /* of its tile, from 1, as the table launches of nocap sql has it */
};

struct nocap_diff_options {
    size_t size;                    /* sizeof(struct nocap_diff_options) */
    bool with_time;                 /* times and numbers of polls count too */
    bool dense;                     /* nocap_reader_allow_dense, of both */
    const char *profile;            /* as of nocap_check_options, of both */
    uint32_t context;               /* equal steps kept before and after a difference, at most
                                       NOCAP_DIFF_CONTEXT_MAX */
    uint32_t max;                   /* differences that are described, 0: 20; all are counted */
    struct nocap_diff_part part[2]; /* of A and of B; both have the same members, or none */
};

enum { NOCAP_DIFF_CONTEXT_MAX = 16, NOCAP_DIFF_ROWS_MAX = 48 };

#define NOCAP_DIFF_KINDS(X)                                                                        \
    X(MISSING, "missing")     /* A has steps that B lacks */                                       \
    X(EXTRA, "extra")         /* B has steps that A lacks */                                       \
    X(CHANGED, "changed")     /* other steps in their place */                                     \
    X(REORDERED, "reordered") /* the same steps in another order */                                \
    X(APART, "apart")         /* streams do not resynchronise after this point */
#define X(name, text) NOCAP_DIFF_##name,
enum nocap_diff_kind { NOCAP_DIFF_KINDS(X) NOCAP_DIFF_KIND_COUNT };
#undef X

/* A line of the comparison: an event of A, of B, or equal ones of both. */
struct nocap_diff_row {
    bool has[2], equal;
    uint64_t index[2];
};

struct nocap_difference {
    char *where; /* whose steps: "core 1,2 brisc" */
    enum nocap_diff_kind kind;
    uint64_t t;        /* when, of the earlier of the two */
    uint64_t equal;    /* steps of this agent that were equal before */
    uint64_t steps[2]; /* how many differ, in A and in B */
    struct nocap_diff_row rows[NOCAP_DIFF_ROWS_MAX];
    size_t row_count;
};

struct nocap_diff {
    char *path[2];
    uint64_t events[2], compared[2]; /* read; and of these, steps that count */
    uint64_t count;                  /* differences, also those that are not described */
    struct nocap_difference *list;   /* the first ones, by time */
    size_t list_count;
    char **notes; /* what limits the comparison: one sentence each */
    size_t note_count;
    struct nocap_reader *reader[2];
};

/* Compares two traces of any form that nocap_import_open takes; files, not pipes. The tile of B's
 * part stands for that of A's, and what multicasts do there counts. Fails with
 * NOCAP_E_INPUT if one cannot be read, NOCAP_E_USAGE if an option makes no sense. */
enum nocap_status nocap_diff(struct nocap_diff **diff, const char *a, const char *b,
                             const struct nocap_diff_options *options, struct nocap_error *err);
void nocap_diff_free(struct nocap_diff *diff); /* NULL is fine */

const char *nocap_diff_kind_name(enum nocap_diff_kind kind);

/* `width`: columns of a terminal, in which both sides find room; 0: as wide as it needs. */
enum nocap_status nocap_diff_text(FILE *out, const struct nocap_diff *diff, bool color,
                                  unsigned width, struct nocap_error *err);
enum nocap_status nocap_diff_json(FILE *out, const struct nocap_diff *diff,
                                  struct nocap_error *err);

#endif
