/* SPDX-License-Identifier: Apache-2.0 */
/* Records that the simulated host makes, private to capture/sim/cq. Each function leaves one in
 * q->record. Multicasts go to q->lowering.cores; what a program is stands in q->lowering.program.
 */
#ifndef NOCAP_CAPTURE_SIM_CQ_PUT_H
#define NOCAP_CAPTURE_SIM_CQ_PUT_H

#include "capture/sim/cq/machine.h"

enum {
    CQ_RTA_SLICES = 3, /* of 16 bytes of runtime arguments, at most */
    CQ_CHUNKS_MAX = 3, /* KiB of a binary */
};

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
/* The list of workers; go words for the first `count` of it. */
void sim_cq_put_go_list(struct sim_cq *q);
void sim_cq_put_go(struct sim_cq *q, uint32_t count);
/* The record that was made last, to a dispatcher that there is not. */
void sim_cq_put_elsewhere(struct sim_cq *q);
/* The next event. */
void sim_cq_put_event(struct sim_cq *q);

#endif
