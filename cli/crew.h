/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that judge traces for a run, one at a time each. What crashes on a trace is one of them
 * and not the run. */
#ifndef NOCAP_CLI_CREW_H
#define NOCAP_CLI_CREW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

/* Judges trace `at` of the run and writes what is to be kept. */
typedef enum nocap_status crew_judge(const void *context, uint64_t at, FILE *out,
                                     struct nocap_error *err);

/* What came of a trace. */
struct crew_result {
    uint64_t at;
    int signal;               /* that ended the process; 0: none */
    enum nocap_status status; /* of the judge; not NOCAP_OK: `text` says why */
    char *text;               /* what it wrote; free it */
    size_t size;
};

/* Where processes are had. `give` hands a trace to one that has nothing to do, the first `size`
 * calls to one each; `take` waits for one that is done, which then has nothing to do. */
struct crew {
    size_t size;
    enum nocap_status (*give)(struct crew *crew, uint64_t at, struct nocap_error *err);
    enum nocap_status (*take)(struct crew *crew, struct crew_result *result,
                              struct nocap_error *err);
};

/* A process of this machine that judges one trace. */
struct crew_child {
    int pid, fd; /* 0: none */
    uint64_t at;
};
enum nocap_status crew_child_start(struct crew_child *child, crew_judge *judge, const void *context,
                                   uint64_t at, struct nocap_error *err);
/* What came of it, once it has ended with `status` as waitpid says it. */
enum nocap_status crew_child_end(struct crew_child *child, int status, struct crew_result *result,
                                 struct nocap_error *err);

/* Children of this process. */
struct crew_local {
    struct crew crew; /* the first member */
    crew_judge *judge;
    const void *context;
    struct crew_child *children; /* `crew.size` of them */
};
enum nocap_status crew_local_open(struct crew_local *local, size_t size, crew_judge *judge,
                                  const void *context, struct nocap_error *err);
/* Ends those that are still at it. */
void crew_local_close(struct crew_local *local);

/* Processes that were started together and run the same command; this is one of them. */
struct crew_ranks {
    size_t rank;
    /* Rank 0: all of them as a crew, each with this judge. */
    enum nocap_status (*open)(struct crew_ranks *ranks, crew_judge *judge, const void *context,
                              struct crew **crew, struct nocap_error *err);
    /* The others: judges what rank 0 hands out, until it has no more. */
    enum nocap_status (*serve)(struct crew_ranks *ranks, crew_judge *judge, const void *context,
                               struct nocap_error *err);
};

#endif
