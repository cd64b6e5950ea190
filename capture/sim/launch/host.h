/* SPDX-License-Identifier: Apache-2.0 */
/* The host program's accesses, private to capture/sim/launch. Each aims TLB window 0 first, except
 * where one aim serves several accesses. */
#ifndef NOCAP_CAPTURE_SIM_HOST_H
#define NOCAP_CAPTURE_SIM_HOST_H

#include "capture/sim/launch/firmware.h"
#include "capture/sim/launch/machine.h"
#include "capture/sim/launch/program.h"

/* What a write carries: a number, bytes, or a payload shown by hash and head. */
struct sim_content {
    uint32_t size;
    uint32_t value;
    const uint8_t *data;               /* NULL: not bytes */
    const struct sim_payload *payload; /* NULL: not a payload */
};
#define SIM_WORD(v) ((struct sim_content){.size = 4, .value = (v)})

/* Aims window 0 at `addr` of a tile, or of a rectangle by multicast. */
void sim_host_aim(struct sim *m, struct nocap_xy at, uint64_t addr);
void sim_host_aim_all(struct sim *m, const struct sim_rectangle *r, uint64_t addr,
                      enum nocap_map map);
/* Writes through the window as it is aimed. */
void sim_host_write_all(struct sim *m, const struct sim_rectangle *r, uint32_t addr,
                        struct sim_content content, enum nocap_map map);
/* Reads `n` times the same, `period` cycles apart. */
void sim_host_read(struct sim *m, const struct sim_tile *t, uint32_t addr, uint32_t size,
                   uint32_t value, uint64_t n, uint64_t period);
/* Polls low L1 once, or as often as nothing happens anywhere; cycles until the next poll is due. */
uint64_t sim_host_poll(struct sim *m, const struct sim_tile *t, uint32_t addr, uint32_t size,
                       uint32_t want, uint64_t period);
/* Cycles that one access takes. */
uint64_t sim_host_pace(struct sim *m);

/* The tile that the host works on. */
static inline struct sim_tile *sim_host_tile(struct sim *m)
{
    return &m->tile[m->host.tile];
}
/* A write to the host's tile by host->via: aimed MMIO write, or NOC write of the dispatcher. */
void sim_deliver(struct sim *m, uint32_t addr, struct sim_content content);
/* The kernel image and the launch message of `launch`; the go word with `signal`. */
void sim_deliver_image(struct sim *m, const struct sim_plan *plan, unsigned area);
void sim_deliver_message(struct sim *m, const struct sim_plan *plan, unsigned slot, unsigned area,
                         uint64_t launch);
void sim_deliver_signal(struct sim *m, uint8_t signal);

/* Whether the planned fault strikes in the launch and tile that the host works on; it does so now.
 */
bool sim_host_fault_due(struct sim *m, enum nocap_sim_fault fault);
bool sim_host_fault_pending(const struct sim *m, enum nocap_sim_fault fault); /* not yet now */
/* Whether the host should let everything come to rest first, so that a planned fault does no harm
 * but its own. */
bool sim_host_pauses(const struct sim *m);
/* The same between the launch of the fault and a reset of the launch rings after it. */
bool sim_host_pauses_after(const struct sim *m);
/* What a faulty host writes before a launch, and while the tile is busy with it. */
void sim_host_inject(struct sim *m);
bool sim_host_injects_busy(const struct sim *m);
void sim_host_inject_busy(struct sim *m, unsigned slot);

/* Polls until low L1 at `addr` holds `want`, or gives up. */
#define CO_HOST_POLL(m, c, addr, size, wanted, period)                                             \
    (m)->host.polls = 0;                                                                           \
    sim_host_aim((m), sim_host_tile(m)->at, 0);                                                    \
    for (;;) {                                                                                     \
        CO_CYCLES((m), (c),                                                                        \
                  sim_host_poll((m), sim_host_tile(m), (addr), (size), (wanted), (period)));       \
        if ((m)->host.seen || (m)->host.gave_up) {                                                 \
            break;                                                                                 \
        }                                                                                          \
    }

#endif
