/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay/launch: one protocol in three parts: boot, the sync word, launches. */
#ifndef NOCAP_REPLAY_LAUNCH_PRIVATE_H
#define NOCAP_REPLAY_LAUNCH_PRIVATE_H

#include "formats/blackhole/registers.h"
#include "replay/core/tile.h"
#include "replay/launch/launch.h"

enum {
    SUBORDINATES = NOCAP_SYNC_BYTES,
    ALL_BYTES = (1 << SUBORDINATES) - 1, /* of the sync word, by bit */
    ALL_CORES = (1 << CORES) - 1
};

/* A write from outside that is remembered as one piece: firmware, kernel image, table. */
struct span {
    uint32_t addr, size;  /* bytes */
    uint64_t index, turn; /* turn: of images */
    uint64_t hash;
    bool has_hash;
    bool growing; /* the next write may continue it */
    bool earlier; /* of firmware: uploaded before the latest reset */
    bool changed; /* .. and written to since, while RISCs ran */
};
/* Registers that BRISC sets up while it boots, boot.c. */
enum { BOOT_SETUP_REGISTERS = 6, BOOT_SETUP_ALL = (1 << BOOT_SETUP_REGISTERS) - 1 };

enum { FIRMWARE_SPANS = 24, IMAGE_SPANS = 16, ZEROS_WORDS = NOCAP_L1_ZEROS_SIZE / 4 };

enum boot_phase { BOOT_UNKNOWN, BOOT_POWER_ON, BOOT_HELD, BOOT_RELEASED, BOOT_DONE };

struct boot {
    enum boot_phase phase;
    enum known running[CORES];
    struct event_ref released;
    bool halfway;                      /* by an act after it, which was not observed itself */
    struct span spans[FIRMWARE_SPANS]; /* uploaded while all cores were held */
    uint32_t span_count;
    enum { LOST_NONE, LOST_EARLIER, LOST_LATEST } lost; /* of which upload some are no spans */
    bool data_before;       /* and bytes that are none of them were written before */
    fault_id private_since; /* what was uploaded to private memory itself */
    uint32_t reset_pc[CORES];
    bool reset_pc_known[CORES];
    uint32_t host_pc[CORES];    /* as the host programmed it, 0: not seen */
    enum known override[CORES]; /* of its reset PC: it is in force */
    fault_id pc_since[CORES];   /* what its reset PC is known since */
    fault_id jump_since;        /* .. and where BRISC begins */
    fault_id start_since;       /* .. and what keeps the tile from getting ready */
    uint8_t setup;              /* which of the device_setup registers are done */
    uint64_t zeros[ZEROS_WORDS / 64];
    uint64_t gpr_zeroed[THREADS];
    uint8_t prng_seeded;         /* by thread bit */
    uint8_t cleared;             /* by sync byte: INIT was cleared */
    fault_id text_since;         /* what firmware text is known since */
    struct event_ref early_done; /* DONE came while a byte was INIT: which rule, the future tells */
    struct event_ref last_poll;  /* of the host, which waits for this tile; index NO_INDEX: none */
    bool seen_ready;             /* .. and one showed DONE, which BRISC is not seen to store */
    struct event_ref unstored;   /* .. the first that did where INIT was; index NO_INDEX: none */
    struct event_ref shown_done; /* the host's load of DONE where INIT stood, of a tile of which it
                                    alone tells; index NO_INDEX: none */
    uint8_t met;                 /* cores that were out of reset at some time, by processor bit */
    struct event_ref unreleased[2]; /* BRISC, the first subordinate ran, and no agent has released
                                       it; index NO_INDEX: no such thing */
};

struct sync {
    fault_id since[SUBORDINATES];  /* what its byte is known since */
    fault_id late[SUBORDINATES];   /* the answer that was missed since, and may still come */
    fault_id owed[SUBORDINATES];   /* the same of BRISC's LOAD or GO, up to the next GO */
    fault_id reset_owed;           /* .. and of the counter reset that it asks for */
    uint64_t stored[SUBORDINATES]; /* the turn of the latest store to its byte */
    uint8_t group;                 /* TRISCs that got GO, while not all three did */
    fault_id group_since;          /* what is known of that since */
    uint64_t group_index;
    enum known caches;        /* invalidated since the last DONE, or since BRISC was released .. */
    uint8_t invalidated;      /* .. which of them, by bit of the register */
    bool initialising;        /* TRISC0 zeroes the tile counters */
    fault_id init_since;      /* .. which is known since */
    unsigned init_wrong;      /* stores of it that zero no counter, or one again .. */
    fault_id lack_since;      /* .. so that others lack, since */
    uint32_t received, acked; /* by circular buffer */
    uint64_t init_index;
    enum drain { DRAIN_NONE, DRAIN_STORED, DRAIN_LOADED } drain[THREADS]; /* since kernel exit */
    fault_id drain_late; /* TRISC0's was missed since, and may still come */
};

struct slot {
    enum known fresh;     /* written since it was last consumed */
    uint64_t index, turn; /* of that write */
    bool judged;
    fault_id since;  /* what the message is known since */
    fault_id early;  /* it came while a launch ran from this slot */
    enum known read; /* its bytes, since they changed; NO: not all are known */
    struct nocap_launch message;
};

enum launch_cause { CAUSE_UNKNOWN, CAUSE_NONE, CAUSE_GO, CAUSE_PRELOAD };

struct launch {
    enum known go_pending; /* GO was written and DONE is not */
    fault_id go_since;     /* what is known since of that, and of what BRISC does with it */
    struct event_ref go;
    bool open;         /* which agent asks for launches is not known yet */
    enum known active; /* BRISC works on it */
    enum launch_cause cause;
    int slot; /* -1: not known */
    bool message_known;
    struct nocap_launch message;
    uint8_t got_go;         /* by processor bit */
    fault_id since[CORES];  /* what the part of each in the launch is known since */
    fault_id message_since; /* the same of its message */
    fault_id parts_since;   /* what it works with is known since */
    uint64_t shift; /* of the latest kernel that was entered elsewhere than the message says */
    fault_id shift_since; /* .. known since */
    bool begun;   /* before the trace shows it: its first commands and kernels may be missing */
    bool by_host; /* the last GO, or a HOST mode message or go word since, was the host's */
    struct kernel kernels[CORES];
    uint64_t exit_turn[CORES]; /* of model.turn: when each left its kernel last */
    uint32_t exit_source[CORES];
    /* the reset request that waits in the go word */
    uint8_t request; /* signal, 0: none */
    bool asked;      /* there was one since the latest launch began */
    enum known request_done;
    struct event_ref requested;
    /* what must follow DONE */
    enum known advance;       /* rd_ptr is still to move on */
    enum known finished_host; /* the last launch was of HOST mode */
    bool notify_pending, notify_known;
    fault_id notify_since;  /* what is known of it since */
    fault_id notify_early;  /* it was sent before DONE */
    fault_id notify_late;   /* it was missed, and may still come */
    fault_id rd_since;      /* what rd_ptr is known since */
    fault_id slot_since;    /* host and BRISC are known to take different slots, since */
    fault_id ignored_since; /* the latest go word from outside is none that BRISC obeys, since */
    fault_id index_since;   /* since when go_message_index and this go word are known to differ */
    unsigned index_word;
    unsigned go_word;       /* of the GO that is not DONE yet */
    struct nocap_xy master; /* whom the go word names .. */
    fault_id master_since;  /* .. which is no dispatcher: known since */
    struct nocap_go_word notify;
    struct event_ref done;
    struct slot slots[NOCAP_LAUNCH_SLOTS];
    struct span images[IMAGE_SPANS]; /* the latest writes from outside above the mailbox */
    uint32_t image_count;
    struct text {
        uint32_t first, entry, end;
    } texts[CORES]; /* of its kernels: the image that each is part of, where it is entered */
    uint32_t text_count, texts_first, texts_end; /* all lie between */
};

/* Findings about writes to a tile of which it is not known yet whether BRISC runs. They are
 * reported when it shows signs of life, and dropped when it is released only then. */
enum { DEFERRED_MAX = 8 };
struct deferred {
    uint32_t count;
    struct nocap_divergence findings[DEFERRED_MAX];
    char texts[DEFERRED_MAX][OBSERVED_TEXT];
};
void deferred_report(struct model *m, struct tile *tile);
void deferred_drop(struct tile *tile);

/* What this model keeps of a tile. */
struct launch_tile {
    struct deferred *deferred; /* NULL: none */
    bool changed;              /* a fact, without an observation that tells so */
    bool shown;                /* an event of one of its cores was seen */
    bool unshown; /* none was, though it booted or ran: not observed, whatever the header says */
    bool sees_outside; /* the writes that launch kernels are observed: host and dispatcher */
    struct sync sync;
    struct boot boot;
    struct launch launch;
};

static inline struct launch_tile *part_of(const struct tile *tile)
{
    return tile->part[MODEL_LAUNCH];
}
static inline struct boot *boot_of(const struct tile *tile)
{
    return &part_of(tile)->boot;
}
static inline struct sync *sync_of(const struct tile *tile)
{
    return &part_of(tile)->sync;
}
static inline struct launch *launch_of(const struct tile *tile)
{
    return &part_of(tile)->launch;
}

/* Of the whole. */
struct launch_state {
    const struct nocap_mailbox_layout *other_layout; /* whose go words are written; NULL: none */
    bool layout_fits;                                /* those are written of the header's layout */
    struct event_ref wc_write; /* host bytes that may still sit in a write-combining buffer; index
                               NO_INDEX: none */
    uint16_t wc_chip;          /* for which chip */
    bool kernels_shown;        /* an event of a kernel was seen */
    bool any_ready;            /* a tile was seen to boot */
    uint64_t boot_took;        /* the longest of them */
    /* What certainly happened, and no event shows it. */
    struct unshown {
        uint32_t count;
        struct nocap_xy at; /* the first */
        struct event_ref event_ref;
    } tiles, kernels;
    struct decoded { /* the latest launch message, of whatever tile; at first one of zeros */
        uint8_t bytes[NOCAP_LAUNCH_SIZE_MAX];
        struct nocap_launch message;
    } decoded;
    struct wrong_pc { /* the latest reset PC that was wrong: tiles of one release share it */
        uint64_t release;
        uint32_t pc;
        fault_id fault;
    } wrong_pc[CORES];
    uint64_t *unready; /* indexes of the releases of which RST-017 was reported */
    uint32_t unready_count;
    uint64_t ready_turn; /* of the latest poll of the host that may have found one ready */
};
static inline struct launch_state *state_of(const struct model *m)
{
    return m->state[MODEL_LAUNCH];
}

/* The parts of these processors in the launch, as bits, are known since this fault. */
static inline void launch_group_fault(struct launch *l, uint8_t processors, fault_id fault)
{
    for (unsigned p = 0; p < CORES; p++) {
        l->since[p] = (processors >> p & 1) != 0 ? fault : l->since[p];
    }
}

/* The protocol goes on while the core is in its kernel: its exit was lost, or comes too late, and
 * what it does now is not its kernel's. */
static inline void kernel_overrun(struct kernel *k, fault_id fault)
{
    if (k->inside == YES) {
        k->inside = UNKNOWN;
        k->exit_owed = fault;
    }
}

/* The processors that are started together with this one, as bits. */
static inline uint8_t launch_group(unsigned processor)
{
    const unsigned triscs = ALL_CORES & ~0u << NOCAP_PROCESSOR_TRISC0;
    return (uint8_t)(processor >= NOCAP_PROCESSOR_TRISC0 ? triscs : 1u << processor);
}

/* That it is to run, as the message says, and its commands. */
static inline fault_id launch_enabled_since(const struct launch *l, unsigned processor)
{
    return since_or(l->since[processor], l->message_since);
}

static inline uint32_t go_signal_address(const struct model *m, unsigned i)
{
    return nocap_go_word_address(m->layout, i) + NOCAP_GO_SIGNAL_BYTE;
}

/* What is found then is deferred. */
static inline bool brisc_may_run(const struct tile *tile)
{
    return boot_of(tile)->running[NOCAP_PROCESSOR_BRISC] != NO;
}

/* What RISCs store to registers. */
static inline bool sees_registers(const struct model *m)
{
    return (m->header->observes & NOCAP_CLASS_CORE_MMIO) != 0;
}

static inline void launch_unshown(const struct tile *tile, struct event_ref at,
                                  struct unshown *what)
{
    if (what->count++ == 0) {
        what->at = tile->at;
        what->event_ref = at;
    }
}

/* boot.c */
void boot_init(struct tile *tile, bool power_on);
void boot_outside_store(struct model *m, const struct observation *o);
void boot_core_store(struct model *m, const struct observation *o);
/* Whether BRISC stores the whole sync word while it boots: INIT for all, from which a boot is known
 * whose release was not observed. */
bool boot_inits_all(const struct model *m, struct tile *tile, const struct access *a);
/* The core is seen to run. */
void boot_core_runs(struct model *m, struct tile *tile, unsigned processor);
/* What BRISC must have set up until it stores DONE. */
void boot_judge_setup(struct model *m, struct tile *tile, struct event_ref at);
void boot_reset_event(struct model *m, struct tile *tile, unsigned agent, bool run);
void boot_sync_clear(struct model *m, struct tile *tile, unsigned agent, uint8_t old);
void boot_done(struct model *m, struct tile *tile);
void boot_host_read(struct model *m, struct tile *tile, const struct access *a);
/* Of these bytes of the sync word, by bit: no clear comes any more that is still awaited. */
void boot_never_cleared(struct model *m, struct tile *tile, unsigned bytes);
/* BRISC begins a launch: it is through with its boot, whether or not DONE was seen. */
void boot_over(struct model *m, struct tile *tile);
/* The host stores GO. */
void boot_host_go(struct model *m, struct tile *tile);
/* Whether the host has seen one of the tiles ready that it released until then. */
bool boot_host_waited(const struct model *m, const struct boot *b);
/* No more comes of the boot. */
void boot_judge_ready(struct model *m, struct tile *tile, bool cut, const char *until);
void boot_write_combining(struct model *m, const struct observation *o);
bool boot_uploading(const struct tile *tile);

/* boot_upload.c */
void boot_upload(struct model *m, struct tile *tile, const struct access *a);
/* All cores are held: what was uploaded before stays in memory. */
void boot_upload_begins(struct boot *b);
/* A write to what is no firmware text, while RISCs run. */
void boot_upload_changes(struct boot *b, const struct access *a);
void boot_judge_upload(struct model *m, struct tile *tile);
bool boot_in_text(const struct model *m, const struct tile *tile, const struct access *a);
bool boot_text_begins(const struct model *m, const struct tile *tile, unsigned processor,
                      uint32_t addr);
bool boot_sees_all(const struct model *m, const struct boot *b);
bool boot_spans_known(const struct boot *b);
/* The span that holds this L1 address, the latest if several do; NULL: none. */
const struct span *boot_span_at(const struct boot *b, uint32_t at);
/* Where fewer texts than RISCs were uploaded, as by a host that resets a worker core, what lies at
 * an address that was not written may be there since before the trace. */
bool boot_may_be_older(const struct model *m, const struct tile *tile, uint32_t addr);

/* sync.c */
void sync_core_store(struct model *m, const struct observation *o);
/* Gives the fault where it is one. */
fault_id sync_outside_store(struct model *m, struct tile *tile, const struct access *a);
/* The core stores to the register that tells when its coprocessor is idle, or loads it. */
void sync_drain_step(struct tile *tile, unsigned agent, enum drain from, enum drain to);
/* When it clears its byte, whether it has. */
void sync_judge_drain(struct model *m, struct tile *tile, const struct nocap_core_info *core);
void sync_kernel_enter(struct model *m, struct tile *tile, unsigned agent);
/* What was stored so far is not the drain at the kernel's end. */
void sync_forget_drain(struct tile *tile, unsigned agent);
void sync_launch_over(struct tile *tile);
/* What BRISC may store to a byte, and that as a text. */
bool sync_value_allowed(unsigned byte, uint8_t v);
const char *sync_values(unsigned byte);

/* sync_since.c */
/* The processor of a byte: they stand in the same order. */
static inline unsigned sync_processor(unsigned byte)
{
    return byte + NOCAP_PROCESSOR_NCRISC;
}
/* The byte, and what its processor was signalled in this launch, are known since this fault. */
void sync_fault(struct tile *tile, unsigned byte, fault_id fault);
/* What a byte is known since; where it is not as it must be, perhaps since the store that was to
 * bring `due` went astray. */
fault_id sync_byte_since(const struct tile *tile, unsigned byte, uint8_t due);
/* The answer that was missed, and comes now. */
fault_id sync_late_since(struct tile *tile, unsigned byte);
/* What the bytes of `word` that are not 0 are known since. */
fault_id sync_since(const struct tile *tile, uint32_t word);
/* BRISC went on as if all had answered, or this one: so are the bytes of those that had not. */
void sync_overrun(struct tile *tile, uint32_t word, fault_id fault);
/* All have answered. */
void sync_idle(struct tile *tile);

/* sampled.c: memory that was looked at from time to time */
void sampled_judge(struct model *m, const struct observation *o);

/* launch_outside.c: before and after the store takes effect */
/* `since`: what it brings is known since. */
void launch_judge_outside_store(struct model *m, const struct observation *o, fault_id since);
/* Whether it hits what a launch works with that is not DONE yet. */
void launch_judge_intrusion(struct model *m, const struct observation *o);
void launch_take_outside_store(struct model *m, const struct observation *o);
/* It may bring a kernel. */
void launch_note_image(const struct model *m, const struct observation *o);
/* The kernels of the message, in the images that were written before GO. */
void launch_locate_texts(struct launch *l);

/* launch.c */
/* With the sync word. */
void launch_init(struct tile *tile, bool power_on);
/* The slot that BRISC will read for the next launch; -1: not known. */
int launch_next_slot(const struct model *m, const struct tile *tile);
/* Whether the message that BRISC reads next, or any where that is not known, starts without GO. NO:
 * they are known, and none does. */
enum known launch_preloads(const struct model *m, const struct tile *tile);
/* What is known of BRISC's next launch, or of the present one, is known since this fault. */
void launch_fault(struct launch *l, fault_id fault);
/* What the queue's dispatcher wrote for the present launch is known since. */
fault_id launch_written_since(const struct model *m, const struct tile *tile);
/* A launch that reads its message from `slot`. */
void launch_start(struct model *m, struct tile *tile, int slot);
void launch_core_store(struct model *m, const struct observation *o);
void launch_act(struct model *m, struct tile *tile);
/* BRISC stores GO or LOAD for a processor. Gives the fault where it must not. */
fault_id launch_command(struct model *m, struct tile *tile, unsigned processor, bool go);
void launch_kernel_enter(struct model *m, struct tile *tile, const struct nocap_event *event);
void launch_kernel_exit(const struct model *m, struct tile *tile, const struct nocap_event *event);
/* Whether the host alone tells of the tile. `acted`: its cores must have been at work by now, which
 * an event would show if they were observed. */
bool launch_host_alone(struct model *m, struct tile *tile, bool acted);
void launch_host_read(struct model *m, struct tile *tile, const struct access *a);
void launch_memory(struct model *m, struct tile *tile);
void launch_forget(struct tile *tile);
/* Whether the message in `slot` is known to be the one that runs next. */
bool launch_reports_message(const struct model *m, const struct tile *tile, int slot);
/* BRISC works and nothing is seen that started it. False: the trace would show it. True: it need
 * not, so an agent that is not observed launches; the tile is followed no further from outside. */
bool launch_unseen(const struct model *m, struct tile *tile);
void launch_judge_message(struct model *m, struct tile *tile, unsigned slot,
                          const struct nocap_launch *message);
/* The message in a slot, as it is or as `store` is about to make it; NULL: not known, or no slot
 * (-1). */
const struct nocap_launch *launch_message(const struct model *m, const struct tile *tile, int slot);
const struct nocap_launch *launch_message_after(const struct model *m, const struct tile *tile,
                                                int slot, const struct access *store);

/* launch_done.c */
void launch_finish_done(struct model *m, struct tile *tile);
void launch_lose_request(struct model *m, struct tile *tile, uint8_t signal, fault_id since);
/* Tells who asked for launches of the present one: it was DONE now, or, `done` false, never. */
void launch_report(const struct model *m, struct tile *tile, bool done);
/* `whole`: it is stored as a word, not in part. */
void launch_rd_ptr_store(struct model *m, struct tile *tile, uint32_t v, bool whole);
void launch_noc(struct model *m, struct tile *tile, const struct nocap_event *event);
void launch_notify_missing(struct model *m, struct tile *tile, const char *when);

/* launch_waits.c */
void launch_settle(const struct model *m, struct tile *tile);
void launch_waits(const struct wait_builder *t);
void launch_describe(const struct model *m, const struct tile *tile, unsigned parts,
                     struct nocap_tile_state *s);

#endif
