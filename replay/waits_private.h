/* Private to replay: how the models tell their waits. Each subject has a file. */
#ifndef NOCAP_REPLAY_WAITS_PRIVATE_H
#define NOCAP_REPLAY_WAITS_PRIVATE_H

#include "replay/tile.h"
#include "replay/waits.h"

enum { WAIT_TEXT = 256 };

struct telling {
    struct model *m;
    nocap_wait_sink *sink;
    void *context;
    struct tile *tile; /* the one that is told about */
    uint16_t chip;     /* where tile is NULL */
};

struct nocap_party wait_party(const struct telling *t, unsigned agent);
struct nocap_party wait_party_at(const struct telling *t, unsigned agent, struct nocap_xy at);
/* A wait of `agent` of the tile since `since`, for nobody yet. */
struct nocap_wait wait_begin(const struct telling *t, unsigned agent, struct moment since);
/* To be filled in: `what`, whom, state. */
void wait_tell(const struct telling *t, const struct nocap_wait *wait);

/* Nothing in the tile runs, so nothing in it waits. */
static inline bool wait_in_reset(const struct tile *tile)
{
    return tile->boot.running[NOCAP_PROCESSOR_BRISC] == NO &&
           (tile->boot.phase == BOOT_HELD || tile->boot.phase == BOOT_POWER_ON);
}

/* waits_tile.c: host, boot, launch, sync word */
void waits_tile(const struct telling *t);
/* waits_gate.c: the threads of the coprocessor */
void waits_gate(const struct telling *t);
/* Whether words of the thread are held or pushed and not issued. */
bool waits_thread_pending(const struct tile *tile, unsigned thread);
/* waits_core.c: what a core looks at again and again. False: nothing is known. */
bool waits_core_looks(const struct telling *t, unsigned processor, const char *state);
/* What the cores of the tile say that they wait for, in notes. */
void waits_said(const struct telling *t);
/* waits_cert.c: the jobs of AIE control code */
void waits_cert(const struct telling *t);
/* waits_cq.c: the parties of the command queue */
void waits_cq(const struct telling *t);
/* Whether the tile is one of the two of a queue that runs: their kernels never end. */
bool waits_cq_owns(const struct telling *t);

#endif
