/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: the steps of `nocap hang`. */
#ifndef NOCAP_CHECKER_HANG_HANG_PRIVATE_H
#define NOCAP_CHECKER_HANG_HANG_PRIVATE_H

#include "checker/hang/hang.h"

/* hang.c: what is told of waits. */
struct nocap_hang_waits {
    struct nocap_hang *hang;
    bool memory; /* gone */
};
void nocap_hang_take(void *waits, const struct nocap_wait *wait);
/* Sorts them and makes the graph. */
enum nocap_status nocap_hang_link(const struct nocap_hang_waits *waits, struct nocap_error *err);
/* hang_graph.c: parties, roots and cycles, the chain. Needs `waits` with its texts. */
enum nocap_status nocap_hang_graph(struct nocap_hang *hang, struct nocap_error *err);
/* hang_verdict.c: needs the graph. `engine`: NULL where no trace was replayed. */
void nocap_hang_judge(struct nocap_hang *hang, const struct nocap_engine *engine,
                      const struct nocap_progress *all);
/* Whether the agent is a party of the command queue, which runs on a BRISC. */
static inline bool nocap_hang_is_queue(unsigned agent)
{
    return agent == NOCAP_BY_PREFETCH || agent == NOCAP_BY_DISPATCH;
}

/* Whether the finding is of the command queue. */
bool nocap_hang_of_queue(const struct nocap_finding *finding);
/* Findings that may be why, needs graph and findings. */
enum nocap_status nocap_hang_causes(struct nocap_hang *hang, struct nocap_error *err);
/* hang_tiles.c: the states of all tiles, equal ones together. */
enum nocap_status nocap_hang_tiles(struct nocap_hang *hang, struct nocap_engine *engine,
                                   struct nocap_error *err);
/* hang_source.c: where the cores of roots were last. */
enum nocap_status nocap_hang_source(struct nocap_hang *hang, struct nocap_engine *engine,
                                    const struct nocap_elf_cores *cores, struct nocap_error *err);
/* hang_events.c: reads the trace once more. */
enum nocap_status nocap_hang_events(struct nocap_hang *hang, struct nocap_reader *reader,
                                    const struct nocap_hang_options *options,
                                    struct nocap_error *err);
/* .. and once more for who wrote what is waited for. */
enum nocap_status nocap_hang_cite(struct nocap_hang *hang, struct nocap_reader *reader,
                                  const struct nocap_hang_options *options,
                                  struct nocap_error *err);
/* The party that is the root to speak of; SIZE_MAX: none. */
size_t nocap_hang_root(const struct nocap_hang *hang);

/* Whether the answer has this note of the report: of what was left all, of a trace what its capture
 * left behind. */
static inline bool nocap_hang_has_note(const struct nocap_hang *hang, size_t note)
{
    return hang->offline || hang->report->notes[note] == hang->report->rings;
}

#endif
