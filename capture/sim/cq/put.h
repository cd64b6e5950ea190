/* SPDX-License-Identifier: Apache-2.0 */
/* Records that the simulated host makes, private to capture/sim/cq. Each function leaves one in
 * q->record. Multicasts go to q->lowering.cores; what a program is stands in q->lowering.program.
 */
#ifndef NOCAP_CAPTURE_SIM_CQ_PUT_H
#define NOCAP_CAPTURE_SIM_CQ_PUT_H

#include "capture/sim/cq/machine.h"

enum {
    CQ_RTA_SLICES = 3,    /* of 16 bytes of runtime arguments, at most */
    CQ_CHUNKS_MAX = 3,    /* KiB of a binary */
    CQ_CONFIG_PLACES = 4, /* with write offsets: programs whose kernels have places of their own */
};

/* In a stage of the lowering: the record is made. */
#define MADE(l) CO_PAUSE(l, , true)

/* A command that is a header alone. */
void sim_cq_put_command(struct sim_cq *q, const struct nocap_cq_command *c);
/* A word to all of the role. */
void sim_cq_put_word(struct sim_cq *q, uint32_t addr, uint32_t value);
/* Runtime arguments: one slice of its own for each worker from `first` on, as many as a command
 * takes; all slices, shared by them; all slices, to the whole role by multicast. */
void sim_cq_put_arguments(struct sim_cq *q, uint32_t slice, uint32_t first);
void sim_cq_share_arguments(struct sim_cq *q, uint32_t first);
void sim_cq_multicast_arguments(struct sim_cq *q);
/* A block of data for one worker; `upload` counts those of the program. */
/* The record as one of the commands in DRAM; then the entry that has them executed. */
void sim_cq_put_in_buffer(struct sim_cq *q);
void sim_cq_put_exec(struct sim_cq *q);
/* A WAIT of the dispatcher that lets the prefetcher go on, and the STALL that waits for it. */
void sim_cq_put_stall(struct sim_cq *q);
void sim_cq_put_upload(struct sim_cq *q, uint32_t upload);
void sim_cq_put_barrier(struct sim_cq *q);
/* Waits until `count` workers have notified, and clears the counter. */
void sim_cq_put_wait_stream(struct sim_cq *q, uint32_t count);
void sim_cq_put_stamp(struct sim_cq *q, uint32_t slot);
/* Launch message, and one KiB of the binary, of the role that the host works on. */
void sim_cq_put_message(struct sim_cq *q);
void sim_cq_put_chunk(struct sim_cq *q, uint32_t chunk);
/* The list of workers; go words for the first `count` of it, or one to all, when `wait_count`
 * workers have announced their end. */
void sim_cq_put_go_list(struct sim_cq *q, bool multicasts);
void sim_cq_put_go(struct sim_cq *q, uint32_t count, uint32_t wait_count, bool multicasts);
/* The record that was made last is for that dispatcher. */
void sim_cq_address(struct sim_cq *q, uint32_t dispatcher);
/* For hosts that work with two: how many counters there are; where the program's kernels lie; the
 * subordinate may send the go words of a launch, once all that was written has arrived; a WAIT that
 * does not clear. */
void sim_cq_put_worker_sems(struct sim_cq *q);
void sim_cq_put_offsets(struct sim_cq *q);
void sim_cq_put_notify(struct sim_cq *q, bool barrier);
void sim_cq_put_wait_count(struct sim_cq *q, uint32_t count);
/* The next event. */
void sim_cq_put_event(struct sim_cq *q);

/* lower_split.c: stages of hosts that work with two dispatchers; false: the stage is over. */
bool sim_cq_split_prepare(struct sim_cq *q);
bool sim_cq_split_go(struct sim_cq *q);

#endif
