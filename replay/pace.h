/* Private to replay: how the parties of a trace get on: what each did last, how long it ever took,
 * what it looks at again and again. From this it is told whether who waits still can hope. A load
 * that finds what it found before is a look; all else that a party does is an act. */
#ifndef NOCAP_REPLAY_PACE_H
#define NOCAP_REPLAY_PACE_H

#include "formats/blackhole/waypoint.h"
#include "replay/model.h"
#include "replay/waits.h"

enum {
    PACE_LOOKS = 4,
    PACE_GAVE_UP = 16, /* looks in vain, from which on a reset means that somebody gave up */
};

/* A place that a party reads and finds as it was. */
struct look {
    uint64_t addr, value;
    struct moment since; /* found with this value first */
    uint64_t count;      /* how often; 0: nothing is here */
};

struct pace_agent {
    struct look looks[PACE_LOOKS];
    uint8_t latest, next;  /* which of them it looked at last; which is given up next */
    bool looking;          /* a repeated look was the last that it did */
    struct moment acted;   /* index NO_INDEX: never */
    uint64_t pc, pc_index; /* where it was last; pc_index NO_INDEX: not known */
    char waypoint[NOCAP_WAYPOINT_MAX +
                  1]; /* where a note said that it is, "": none since it acted */
    uint16_t kernel;  /* what it runs, of trace_pace.kernels; 0: not known */
};

/* Who reads a tile or acts in it: the host, then the cores by processor. */
enum { PACE_HOST, PACE_CORE0, PACE_AGENTS = PACE_CORE0 + NOCAP_PROCESSOR_COUNT };

/* Requests of a network interface of the tile that are answered: how many, and those of the latest
 * whose end was not told. */
enum { PACE_NOCS = 2, PACE_OPEN = 4 };
enum pace_op { PACE_READ, PACE_WRITE, PACE_ATOMIC, PACE_OPS };
struct pace_requests {
    uint64_t issued, ended; /* ended: as far as the trace tells */
    uint32_t open_count;
    struct pace_request {
        uint64_t index, id;
        bool has_far;
        struct nocap_xy far;
    } open[PACE_OPEN]; /* the latest, oldest first */
};

struct pace {
    struct nocap_pace all;
    struct pace_requests requests[PACE_NOCS][PACE_OPS];
    struct pace_agent agents[PACE_AGENTS];
    /* the host's reads of a go word's signal, since they show anything but DONE */
    struct moment asked, asked_last; /* index NO_INDEX: it does not ask */
    uint32_t asked_at;
    uint8_t asked_signal;
    /* host reads that gave nothing but ones */
    struct moment ones;
    uint32_t ones_count;
    uint32_t debug_select; /* what the debug bus shows, as the host chose */
};

/* Who wrote a word last: who would have to again. A table that forgets. */
enum { PACE_WRITERS = 1024, PACE_WRITER_BYTES = 16 };
struct pace_writer {
    uint64_t key; /* of chip, tile and address; 0: nobody */
    uint64_t index;
    uint8_t agent;
    struct nocap_xy at;
};

/* Of the trace as a whole. */
enum { PACE_KERNELS = 256, PACE_KERNEL_NAME = 128 };
struct trace_pace {
    bool wanted; /* else nothing is followed */
    bool polls;  /* loads of cores are observed: what they look at can be told */
    bool acted;  /* somebody did something: the trace is no picture of memory alone */
    struct pace_writer writers[PACE_WRITERS];
    struct nocap_pace all;
    uint64_t end;             /* latest time that an event tells of */
    struct pace_agent memory; /* the host's reads of its own memory */
    struct moment host;       /* its latest read; index NO_INDEX: none */
    struct moment gave_up;    /* the last look at a tile that it then took into reset; NO_INDEX */
    uint16_t gave_up_chip;
    struct nocap_xy gave_up_at;
    char kernels[PACE_KERNELS][PACE_KERNEL_NAME]; /* names that notes told; 0 is none */
    uint16_t kernel_count;
};
/* NULL without memory; free() gives it back. */
struct trace_pace *trace_pace_new(const struct nocap_header *header, bool wanted);

/* `observed`: what happens inside the tile is in the trace. */
void pace_init(struct pace *p, bool observed);
/* Events were lost: nobody is known to wait any more. How long things took stays known. */
void pace_forget(struct pace *p);
void trace_pace_forget(struct trace_pace *p);
/* A core's access to its tile; before it takes effect. */
void pace_core(struct model *m, struct tile *tile, const struct access *a);
/* Something that a tile does which is no access. `agent`: enum nocap_agent, NONE: nobody in
 * particular. */
void pace_act(struct model *m, struct tile *tile, unsigned agent);
/* A request of the tile, or the end of one. */
void pace_noc(struct model *m, struct tile *tile, const struct nocap_event *event);
/* A counter shows an answer for each of them. */
void pace_all_ended(struct model *m, struct tile *tile, unsigned noc, enum pace_op op);
/* Something that is done to the tile from outside. */
void pace_upon(struct model *m, struct tile *tile);
/* Memory is shown as it is. */
void pace_memory(struct model *m, struct tile *tile, const struct access *a);
void pace_host_read(struct model *m, struct tile *tile, const struct access *a);
/* An event that is no access to a tile: time goes on, the host or the DMA acts. */
void pace_event(struct model *m, const struct nocap_event *event);
/* A host's store to the tile, before it takes effect: what it waited for is over, or it chooses
 * what the debug bus shows. */
void pace_host_store(struct model *m, struct tile *tile, const struct access *a);
/* pace_note.c: a note at a tile says where a core is, or what it runs. */
void pace_note(struct model *m, struct tile *tile, const struct nocap_event *event);
/* Whether the core's waypoint is one of kernels. */
bool pace_in_kernel(const struct pace_agent *agent);

/* NULL: nobody is known who wrote there. */
const struct pace_writer *pace_writer(const struct model *m, uint16_t chip, struct nocap_xy at,
                                      uint64_t addr);

/* NULL unless a repeated look is the last that the agent did. */
const struct look *pace_looks_at(const struct pace_agent *agent);

#endif
