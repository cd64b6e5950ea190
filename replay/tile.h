/* Private to replay: everything the models know of one tile. */
#ifndef NOCAP_REPLAY_TILE_H
#define NOCAP_REPLAY_TILE_H

#include "formats/blackhole/registers.h"
#include "replay/model.h"
#include "replay/pace.h"

enum {
    CORES = NOCAP_PROCESSOR_COUNT,
    SUBORDINATES = NOCAP_SYNC_BYTES,
    THREADS = NOCAP_TENSIX_THREADS
};

/* L1 from 0 to behind the widest mailbox, with a known bit a byte. */
enum { SHADOW_SIZE = 0x600 };
struct shadow {
    uint8_t bytes[SHADOW_SIZE];
    uint8_t known[SHADOW_SIZE / 8];
};

/* A write from outside that is remembered as one piece: firmware, kernel image, table. */
struct span {
    uint32_t addr, size; /* bytes */
    uint64_t index, turn; /* turn: of images */
    uint64_t hash;
    bool has_hash;
    bool growing; /* the next write may continue it */
};
/* Registers that BRISC sets up while it boots, boot.c. */
enum { BOOT_SETUP_REGISTERS = 6, BOOT_SETUP_ALL = (1 << BOOT_SETUP_REGISTERS) - 1 };

enum { FIRMWARE_SPANS = 24, IMAGE_SPANS = 16, ZEROS_WORDS = NOCAP_L1_ZEROS_SIZE / 4 };

enum boot_phase { BOOT_UNKNOWN, BOOT_POWER_ON, BOOT_HELD, BOOT_RELEASED, BOOT_DONE };

struct boot {
    enum boot_phase phase;
    enum known running[CORES];
    uint32_t soft_reset;
    bool soft_reset_known;
    struct moment released;
    struct span spans[FIRMWARE_SPANS]; /* uploaded while all cores were held */
    uint32_t span_count;               /* may exceed FIRMWARE_SPANS: then not all are known */
    uint32_t reset_pc[CORES];
    bool reset_pc_known[CORES];
    uint32_t host_pc[CORES];          /* as the host programmed it, 0: not seen */
    uint8_t override_known, override; /* by processor bit */
    uint8_t pc_judged;                /* since the last reset, by processor bit */
    bool caches_invalidated;
    bool init_doubted; /* the sync word was not set up: what is cleared later means nothing */
    uint8_t setup;     /* which of the device_setup registers are done */
    uint64_t zeros[ZEROS_WORDS / 64];
    uint64_t gpr_zeroed[THREADS];
    uint8_t prng_seeded; /* by thread bit */
    uint8_t cleared;     /* by sync byte: INIT was cleared */
    bool text_fault;     /* text was overwritten: said once until the next release */
    struct moment
        early_done; /* DONE came while a byte stood at INIT: which rule, the future tells */
    bool was_held;  /* all cores were held by a write to SOFT_RESET_0 */
    bool polled;    /* the host waited for this tile */
    struct moment last_poll;
};

struct sync {
    uint8_t group;       /* TRISCs that got GO, while not all three did */
    bool triscs_doubted; /* BRISC stored them no value that it can: the GOs of this launch are not
                            judged */
    bool group_faulty;
    uint64_t group_index;
    enum known caches; /* invalidated since the last DONE */
    bool initialising; /* TRISC0 zeroes the tile counters */
    bool init_faulty;
    uint32_t received, acked; /* by circular buffer */
    uint64_t init_index;
    uint8_t drained, drain_loaded; /* by thread, since kernel exit */
    uint8_t doubted;               /* by sync byte: not certain after the present store */
};

struct kernel {
    enum known inside;
    uint8_t entered, left; /* times in this launch */
    uint64_t enter_index, exit_index, enter_time, exit_time, enter_turn;
};

struct slot {
    enum known fresh; /* written since it was last consumed */
    uint64_t index, turn; /* of that write */
    bool judged;
};

enum cause { CAUSE_UNKNOWN, CAUSE_NONE, CAUSE_GO, CAUSE_PRELOAD };

struct launch {
    enum known go_pending; /* GO was written and DONE is not */
    struct moment go;
    enum known active; /* BRISC works on it */
    enum cause cause;
    int slot; /* -1: not known */
    bool message_known;
    struct nocap_launch message;
    uint8_t got_load, got_go; /* by processor bit, as the next two */
    uint8_t excused;          /* a fault of it was told already */
    uint8_t obscure;          /* got what was not captured before the launch was seen to begin */
    bool any_go;
    bool begun;    /* before the trace shows it: its first commands and kernels may be missing */
    bool intruded; /* one finding a launch */
    bool by_host;  /* the last GO, or a message of HOST mode since, was the host's */
    bool doubtful; /* a GO was lost: what BRISC does next is not certain */
    struct kernel kernels[CORES];
    /* the reset request that waits in the go word */
    uint8_t request; /* signal, 0: none */
    enum known request_done;
    struct moment requested;
    /* what is owed after DONE */
    enum known advance; /* rd_ptr is still to move on */
    int finished_slot;
    enum known finished_host; /* the last launch was of HOST mode */
    bool notify_owed, notify_known;
    bool rd_ptr_doubted; /* the present store left it uncertain */
    struct nocap_go_word notify;
    struct moment done;
    struct slot slots[NOCAP_LAUNCH_SLOTS];
    struct span images[IMAGE_SPANS]; /* the latest writes from outside above the mailbox */
    uint32_t image_count;
};

struct gate;
struct noc_tile;

/* Findings about writes to a tile of which nobody has seen yet whether BRISC runs. They are told
 * when it shows signs of life, and dropped when it is released only then. */
enum { DEFERRED_MAX = 8, DEFERRED_TEXT = 256 };
struct deferred {
    uint32_t count;
    struct nocap_divergence findings[DEFERRED_MAX];
    char texts[DEFERRED_MAX][DEFERRED_TEXT];
};
void deferred_tell(struct model *m, struct tile *tile);
void deferred_drop(struct tile *tile);

struct tile {
    uint16_t chip;
    struct nocap_xy at;
    bool in_scope;             /* events inside the tile were observed */
    bool sees_cores;           /* so were its cores' stores to L1 */
    bool sees_outside;         /* so are the writes that launch kernels: host and dispatcher */
    struct deferred *deferred; /* NULL: none */
    struct shadow l1;
    struct boot boot;
    struct sync sync;
    struct launch launch;
    struct gate *gate;    /* of the coprocessor; NULL until it does something */
    bool gate_lost;       /* what it did before is not known */
    struct noc_tile *noc; /* network interfaces, noc.h; NULL until they do something */
    struct pace pace;
};

/* The tile, made when it is met first; NULL without memory. */
struct tile *tile_get(struct model *m, uint16_t chip, struct nocap_xy at);
/* NULL if it was not met yet. */
struct tile *tile_find(const struct model *m, uint16_t chip, struct nocap_xy at);
/* What may have changed while events were lost: everything. */
void tile_forget(struct tile *tile);
void tiles_free(struct model *m);

void shadow_store(struct shadow *l1, const struct access *a);
void shadow_forget(struct shadow *l1, uint32_t addr, uint32_t size);
bool shadow_byte(const struct shadow *l1, uint32_t addr, uint8_t *v);
bool shadow_word(const struct shadow *l1, uint32_t addr, uint32_t *v);
/* False unless all bytes are known. */
bool shadow_copy(const struct shadow *l1, uint32_t addr, uint32_t size, uint8_t *to);

static inline bool brisc_runs(const struct tile *tile)
{
    return tile->boot.running[NOCAP_PROCESSOR_BRISC] == YES;
}

/* What is found then is deferred. */
static inline bool brisc_may_run(const struct tile *tile)
{
    return tile->boot.running[NOCAP_PROCESSOR_BRISC] != NO;
}

/* A store from outside (host, NOC, DMA) to a tile is judged by all, then takes effect, then moves
 * the state machines. */

/* map.c */
void map_access(struct model *m, const struct tile *tile, const struct access *a,
                const struct nocap_region_info *row);
enum nocap_status map_init(struct model *m, struct nocap_error *err);
void map_finish(struct model *m);

/* boot.c */
void boot_init(struct tile *tile, bool power_on);
void boot_outside_store(struct model *m, struct tile *tile, const struct access *a);
void boot_core_store(struct model *m, struct tile *tile, const struct access *a);
/* The core does something: it is out of reset. */
void boot_core_runs(struct model *m, struct tile *tile, unsigned processor);
void boot_reset_event(struct model *m, struct tile *tile, unsigned agent, bool run);
void boot_sync_clear(struct model *m, struct tile *tile, unsigned agent, uint8_t old);
void boot_done(struct model *m, struct tile *tile);
void boot_host_read(struct model *m, struct tile *tile, const struct access *a);
void boot_byte_reused(struct model *m, struct tile *tile, unsigned sync_byte);
bool boot_done_doubted(const struct tile *tile);
void boot_finish(struct model *m, struct tile *tile, bool cut);
void boot_write_combining(struct model *m, struct tile *tile, const struct nocap_event *event,
                          const struct access *a, const struct nocap_region_info *row);
bool boot_uploading(const struct tile *tile);

/* boot_upload.c */
void boot_upload(struct model *m, struct tile *tile, const struct access *a);
void boot_judge_upload(struct model *m, struct tile *tile);
bool boot_in_text(const struct model *m, const struct tile *tile, const struct access *a);
bool boot_text_begins(const struct model *m, const struct tile *tile, unsigned processor,
                      uint32_t addr);
bool boot_spans_known(const struct boot *b);

/* sync.c */
void sync_init(struct tile *tile, bool power_on);
void sync_core_store(struct model *m, struct tile *tile, const struct access *a);
void sync_outside_store(struct model *m, struct tile *tile, const struct access *a);
void sync_core_load(struct tile *tile, const struct access *a);
void sync_kernel_enter(struct model *m, struct tile *tile, unsigned agent);
void sync_kernel_exit(struct tile *tile, unsigned agent);
void sync_launch_over(struct tile *tile);
/* After a store took effect: bytes that a fault made uncertain. */
void sync_settle(struct tile *tile);
/* After a fault the core's byte, and what it was told in this launch, are not certain any more. */
void sync_doubt(struct tile *tile, unsigned processor);
void sync_overrun(struct tile *tile, uint32_t word);

/* launch_outside.c: before and after the store takes effect */
void launch_judge_outside_store(struct model *m, struct tile *tile, const struct access *a);
void launch_judge_core_store(struct model *m, struct tile *tile, const struct access *a);
void launch_take_outside_store(struct model *m, struct tile *tile, const struct access *a);

/* launch.c */
void launch_init(struct tile *tile, bool power_on);
/* The slot that BRISC will read for the next launch; -1: not known. */
int launch_next_slot(const struct tile *tile);
/* Whether the message that BRISC reads next, or any where that is not known, starts without GO. */
bool launch_may_preload(const struct model *m, const struct tile *tile);
/* A launch that reads its message from `slot`. */
void launch_start(struct model *m, struct tile *tile, int slot);
void launch_core_store(struct model *m, struct tile *tile, const struct access *a);
void launch_act(struct model *m, struct tile *tile);
void launch_load(struct model *m, struct tile *tile);
void launch_go(struct model *m, struct tile *tile, unsigned processor);
/* BRISC stored a command to the core that was not captured. */
void launch_command_unknown(struct tile *tile, unsigned processor);
void launch_kernel_enter(struct model *m, struct tile *tile, unsigned agent,
                         const struct nocap_event *event);
void launch_kernel_exit(struct model *m, struct tile *tile, unsigned agent);
void launch_host_read(struct model *m, struct tile *tile, const struct access *a);
void launch_memory(struct model *m, struct tile *tile);
void launch_forget(struct tile *tile);
/* Whether the message in `slot` is known to be the one that runs next. */
bool launch_tells_message(const struct model *m, const struct tile *tile, int slot);
/* BRISC works and nothing is seen that told it to. False: the trace would show it. True: it need
 * not, so somebody who is not observed launches; the tile is followed no further from outside. */
bool launch_unseen(const struct model *m, struct tile *tile);
/* The active go word's index; -1 if not known. */
int launch_go_index(const struct model *m, const struct tile *tile);

/* launch_done.c */
/* The launch is over in a way that was found faulty: nothing more is judged of it. */
void launch_abandon(struct tile *tile);
void launch_finish_done(struct model *m, struct tile *tile);
void launch_rd_ptr_store(struct model *m, struct tile *tile, uint32_t v);
void launch_noc(struct model *m, struct tile *tile, const struct nocap_event *event);
void launch_notify_missing(struct model *m, struct tile *tile, const char *when);

/* launch_message.c */
/* Firmware starts all three TRISCs by the bit of TRISC0. */
bool launch_enabled(const struct nocap_launch *message, unsigned processor);
/* The processors that are started together with this one, as bits. */
uint8_t launch_group(unsigned processor);
void launch_judge_message(struct model *m, struct tile *tile, unsigned slot);
bool launch_read_message(const struct model *m, const struct tile *tile, unsigned slot,
                         struct nocap_launch *message);

/* gate.c, gate_deadlock.c */
void gate_event(struct model *m, struct tile *tile, const struct nocap_event *event);
void gate_core_access(struct model *m, struct tile *tile, const struct access *a);
void gate_kernel_enter(struct model *m, struct tile *tile, unsigned agent);
void gate_forget(struct tile *tile);
void gate_finish(struct model *m, struct tile *tile, bool cut);

#endif
