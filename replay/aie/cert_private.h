/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the machine that runs AIE control code, as a trace shows it. Each control
 * processor (uC) has pages, a page has jobs, a job has an instruction under way. The model does not
 * schedule: it follows what the trace says and judges whether the instruction set allows it. */
#ifndef NOCAP_REPLAY_CERT_PRIVATE_H
#define NOCAP_REPLAY_CERT_PRIVATE_H

#include "formats/aie/page.h"
#include "replay/core/model.h"
#include "replay/core/value.h"

enum {
    CERT_PAGES = 4,    /* of a uC, that may be live together: one that runs, its caller, the next */
    CERT_JOBS = 1024,  /* of a page */
    CERT_CHAINS = 256, /* of a uC, that are remembered */
    CERT_CHANNELS = 128, /* whose tokens are counted */
    CERT_COLUMNS = 32,   /* bits of a party mask */
    CERT_ACCESSES = 2,   /* of one instruction, polls apart */
    CERT_TARGETS = 8,    /* pages that LOAD and PREEMPT named last */
    CERT_MISPLACED = 4,  /* of a job, whose other events are expected */
    CERT_TEXT = 160,     /* bytes of what a job waits for */
};

/* An access that an instruction must make. */
struct cert_expect {
    bool store;
    struct value addr;
    uint32_t value, known; /* known: bits of the value that are */
    fault_id since;        /* the value is known since it */
};

/* An instruction under way. */
struct cert_step {
    bool active;
    const struct nocap_aie_insn_info *info; /* NULL: not decoded */
    uint32_t value[NOCAP_AIE_FIELDS_MAX];
    uint32_t off, next;
    uint32_t instead_of; /* the offset that was next as it began at another one; 0: none */
    fault_id since;      /* its bytes, or its place in its job, are those of a fault */
    struct event_ref at, blocked_at; /* its start; where it blocked last */
    struct cert_expect expect[CERT_ACCESSES];
    uint8_t expected, seen;
    bool blocked, released;
    uint8_t why;
    bool polled, matched;   /* a poll has read; its last value was the one */
    struct value result;    /* for the register that the instruction writes */
    uint64_t chain;         /* number of the descriptor chain, from 1; 0: none */
    uint64_t phase;         /* of its barrier; 0: not known */
    struct event_ref raced; /* a write of another uC into a MASK_WRITE_32; index NO_INDEX: none */
};

struct cert_job {
    uint32_t id;
    bool deferred, launched, started, ran, ended, done; /* ran: past START_JOB */
    uint64_t launch_session;
    uint64_t launch_index; /* of the end of its LAUNCH_JOB; 0: none was seen */
    uint32_t launch_off;
    uint32_t next; /* offset of the next instruction, 0: not known */
    /* Offsets of instructions whose start or end a fault left out, or put elsewhere; a ring. */
    struct value misplaced[CERT_MISPLACED];
    uint32_t misplaced_count;
    fault_id over_since;          /* it ended although it was not over */
    struct event_ref deferred_at; /* where its START_JOB_DEFERRED ran */
    struct value reg[NOCAP_AIE_GLOBAL_FIRST];
    fault_id next_since; /* of the instruction before, where its bytes may be other ones */
    uint64_t ordered;    /* index of the event after which it may rely on what was before */
    struct cert_step step;
};

/* A local barrier. */
struct cert_barrier {
    uint64_t phase; /* that is open, from 1 */
    uint32_t arrived, participants;
    bool known;
    fault_id since; /* that let a job go too early, or brought one here */
};

struct cert_page {
    bool live, whole, entered; /* whole: seen from its load on */
    bool over;                 /* its end came after its jobs */
    fault_id since;            /* it was loaded while jobs of it ran */
    uint32_t index;
    enum nocap_aie_dialect dialect;    /* of the code */
    const struct nocap_aie_page *code; /* NULL: no ELF file */
    struct cert_job *jobs;
    uint32_t job_count;
    struct cert_barrier barriers[NOCAP_AIE_LOCAL_BARRIERS];
};

/* A chain of uC-DMA descriptors that was queued. */
struct cert_chain {
    uint64_t number; /* 0: none */
    uint32_t handle;
    bool has_handle, done;
    bool known;     /* its descriptors are, and which of them were written */
    fault_id since; /* they are known since it */
    struct event_ref at;
    const struct nocap_aie_page *code;
    const uint8_t *patched;
    uint32_t first; /* offset of the first descriptor */
    struct cert_progress {
        uint32_t bd, bytes; /* offset of the descriptor at work, and what it has written */
        bool written;       /* all of the chain's writes were seen */
    } work;
};

/* What is counted by a number: tokens of a channel; those that the tasks of a queue may send. */
struct cert_count {
    uint64_t key; /* tile and actor; address of the queue */
    uint64_t arrived, consumed;
};
struct cert_counts {
    struct cert_count list[CERT_CHANNELS];
    uint32_t count;
    bool full; /* there were more */
};

/* An instruction that has ended and not made all of its accesses. */
struct cert_late {
    struct cert_step step; /* active: there is one */
    uint32_t page, job;
    struct event_ref at; /* its end */
};
#define CERT_LATE_AT(late) (late)->job, (late)->page, (late)->step.off, (late)->step.info->mnemonic

/* Who wrote a shared register last, in the page that runs. */
struct cert_writer {
    bool known;
    fault_id since; /* a job that read it too early */
    uint32_t page, job;
    struct event_ref at;
};

struct cert_uc {
    uint8_t index;
    bool fresh;   /* observed from the beginning */
    bool at_work; /* its latest event was not the end of a page */
    struct cert_page pages[CERT_PAGES];
    /* by page of the column: one bit a byte that was patched; NULL: none */
    uint8_t **patched;
    uint32_t patched_count;
    struct value reg[NOCAP_AIE_REGISTERS - NOCAP_AIE_GLOBAL_FIRST];
    struct cert_writer writers[NOCAP_AIE_REGISTERS - NOCAP_AIE_GLOBAL_FIRST];
    /* who has the uC */
    bool held; /* the job below may not be interrupted */
    uint32_t holder_page, holder_job;
    uint64_t session; /* grows whenever a job gives up the uC */
    /* DMA */
    struct cert_chain chains[CERT_CHAINS];
    uint64_t chain_count;
    uint32_t open_chains; /* that are not done */
    struct value next_handle;
    struct cert_counts channels;
    uint64_t arrivals[UINT8_MAX + 1]; /* at each remote barrier */
    struct cert_late late;
    struct cert_expect missed; /* the latest access that an instruction has not made, since */
    struct value unattributed; /* the step of an access that no instruction makes */
    uint32_t steps;            /* starts, blocks and ends so far */
    /* the way of pages */
    struct value last_page;
    bool any_page; /* LOAD_LAST_PDI may have led anywhere */
    uint32_t targets[CERT_TARGETS], target_count;
};

struct cert {
    struct cert_uc *ucs[NOCAP_UCS];
    unsigned uc_end;                           /* after the last one that did something */
    const struct nocap_aie_image *const *code; /* by uc; NULL: none was given */
    enum nocap_aie_chip array;                 /* whose registers the files tell */
    struct cert_counts tasks;      /* that were started; more than these are not counted */
    fault_id early[UINT8_MAX + 1]; /* by remote barrier: let a column go too early */
    uint64_t activity, activity_index, longest; /* time of what happened last; longest pause */
    bool active;
    bool any;      /* something of control code was seen */
    bool job_ends; /* so was the end of a job */
    uint16_t chip; /* of the first; others are not followed */
};

/* A job and where it is. */
struct cert_at {
    struct cert_uc *uc;
    struct cert_page *page;
    struct cert_job *job;
};

/* Where its step is, or another one, for texts. */
#define CERT_PLACE "job %u at page %u offset %u (%s)"
#define CERT_AT_STEP(at, step)                                                                     \
    (at)->job->id, (at)->page->index, (step)->off,                                                 \
        (step)->info == NULL ? "?" : (step)->info->mnemonic
#define CERT_AT(at) CERT_AT_STEP(at, &(at)->job->step)

struct event_ref cert_now(const struct model *m, const struct cert_uc *uc);
/* The file with the code of the uC; NULL: none was given. */
const struct nocap_aie_image *cert_image(const struct model *m, const struct cert_uc *uc);
/* CHECK of the uC as agent. */
#define CERT_EXPECT(m, uc, RULE, condition, related, expected, ...)                                \
    CHECK_AT(m, NULL, RULE, condition, cert_now(m, uc), related, expected, __VA_ARGS__)
#define CERT_EXPECT_AFTER(m, uc, RULE, since, ...)                                                 \
    FOLLOWING(m, since, CERT_EXPECT(m, uc, RULE, __VA_ARGS__))

/* What is judged by two values follows from the fault of either. */
static inline fault_id either(fault_id a, fault_id b)
{
    return a != FAULT_NONE ? a : b;
}

/* A value of the instruction by its name. */
#define CERT_V(step, INSN, name) ((step)->value[NOCAP_AIE_##INSN##_##name])

static inline bool cert_is(const struct cert_step *step, uint8_t opcode)
{
    return step->active && step->info != NULL && step->info->opcode == opcode;
}

static inline struct cert *cert_of(const struct model *m)
{
    return m->state[MODEL_AIE];
}

/* cert_page.c */
struct cert_page *cert_page_find(struct cert_uc *uc, uint32_t index);
struct cert_page *cert_page_enter(struct model *m, struct cert_uc *uc, uint32_t index);
void cert_page_load(struct model *m, struct cert_uc *uc, const struct nocap_event *e);
void cert_page_eof(struct model *m, struct cert_uc *uc, const struct nocap_event *e);
void cert_page_leave(struct cert_page *page);
/* Whether a job must still run before its page is over; the first such job, NULL: none is known. */
bool cert_job_unfinished(const struct cert_page *page, const struct cert_job *job);
const struct cert_job *cert_page_unfinished(const struct cert_page *page);
/* A page that the instruction at work may lead to. */
void cert_page_target(struct cert_uc *uc, const struct cert_step *step);
struct cert_job *cert_job_find(const struct cert_page *page, uint32_t id);
/* The next job of the uC after `at`, whose page is NULL at first; false: there are no more. */
bool cert_next_job(struct cert_at *at);
struct cert_job *cert_job_add(struct model *m, struct cert_page *page, uint32_t id);
/* The fault that left out the start or the end of the instruction at that offset, or put it
 * elsewhere. */
fault_id cert_misplaced_since(const struct cert_job *job, uint64_t off);
/* No fault: it is where it must be. */
void cert_misplace(struct cert_job *job, uint32_t off, fault_id since);
/* The job that has the uC; false: it is not known. */
bool cert_holder(struct cert_at *at);
/* Bytes of the page that are not as in the file: NULL: none. */
const uint8_t *cert_patched(const struct cert_uc *uc, uint32_t page);
/* Bytes of 32-bit words from `at` on, as bits, that the model does not know from now on. */
void cert_patch_words(struct model *m, struct cert_uc *uc, uint32_t page, uint32_t at,
                      uint32_t words);
static inline bool cert_is_patched(const uint8_t *patched, uint32_t offset)
{
    return patched != NULL && (patched[offset / 8] >> offset % 8 & 1) != 0;
}

/* cert_bytes.c */
/* Takes the instruction of the event into the step. `due`: the offset of the job's next one; 0: not
 * known. */
void cert_take_insn(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                    struct cert_step *step, uint32_t due);

/* cert_step.c */
void cert_step_start(struct model *m, struct cert_uc *uc, const struct nocap_event *e);
/* It ends, blocks or goes on. */
void cert_step_event(struct model *m, struct cert_uc *uc, const struct nocap_event *e);
void cert_job_end(struct model *m, struct cert_uc *uc, const struct nocap_event *e);

/* cert_insn.c: rule AIE-026; what the machine does with an instruction. A field is an index of
 * cert_step.value, from 1; 0: none. */
struct cert_insn {
    bool keeps_uc;         /* it never gives up the uC */
    bool opaque;           /* what it accesses is not known */
    bool calls;            /* it runs other pages and comes back */
    uint8_t why;           /* what it may wait for: bits over enum nocap_why */
    uint8_t reads, writes; /* fields that name registers */
    bool loads, stores;    /* a word of the array, in this order: */
    uint8_t addr, value;   /* fields; no addr: it is in the register of `reads` */
    bool flags;            /* field 0 says which of them are registers */
};
const struct cert_insn *cert_insn(const struct cert_step *step);
/* It starts: what it will access, and the shared registers that it reads, which are judged. */
void cert_insn_start(struct model *m, const struct cert_at *at);
/* It ends: what it puts into registers. The one that ended before has not made its accesses. */
void cert_insn_end(struct model *m, const struct cert_at *at);
/* NULL: there is no such register. */
struct value *cert_register(struct cert_uc *uc, struct cert_job *job, uint32_t number);
void cert_registers_forget(struct cert_uc *uc, struct cert_job *job);
/* Who wrote what is not known any more. */
void cert_writers_forget(struct cert_uc *uc);
/* Whether it shows that the column is alive: a poll may go on forever. */
bool cert_access(struct model *m, struct cert_uc *uc, const struct access *a);
/* What the instruction that ended last has not accessed will not come any more. */
void cert_late_report(struct model *m, struct cert_uc *uc);
bool cert_is_poll(const struct cert_step *step);
uint32_t cert_poll_value(const struct cert_step *step, uint32_t *mask);

/* cert_dma.c */
void cert_dma_start(struct model *m, const struct cert_at *at);
/* `step`: NULL if its start was not shown. */
void cert_dma_queued(struct cert_uc *uc, struct cert_step *step, const struct nocap_event *e);
/* Its instruction waits: for room in the queue, or for the transfer. */
void cert_dma_blocked(struct cert_uc *uc, const struct cert_step *step);
void cert_dma_done(struct model *m, struct cert_uc *uc, const struct nocap_event *e);
struct cert_chain *cert_chain(struct cert_uc *uc, uint64_t number);
/* The next one after `chain` that is not done; NULL: the first. */
struct cert_chain *cert_chain_open(struct cert_uc *uc, const struct cert_chain *chain);
const struct cert_chain *cert_chain_by_handle(const struct cert_uc *uc, uint32_t handle);
/* A write that a chain may have made: takes it if it is right, or, if `wrong`, also if only its
 * data are not. */
bool cert_dma_write(struct model *m, struct cert_uc *uc, const struct access *a, bool wrong);
/* Something was written that no chain accounts for: what they write is known since that fault;
 * FAULT_UNREPORTED: not at all. */
void cert_dma_disturb(struct cert_uc *uc, fault_id since);

/* cert_sync.c */
void cert_arrive(const struct cert_at *at);
void cert_token(struct cert_uc *uc, const struct nocap_event *e);
/* Counts the tasks that a write starts. */
void cert_tasks_note(struct cert *cert, const struct access *a);
/* What an instruction waits for, and whether it has come. */
struct cert_condition {
    enum known came;
    fault_id since;   /* that is known since it */
    uint32_t missing; /* of a remote barrier: columns that did not come */
    char text[CERT_TEXT];
};
struct cert_condition cert_condition(const struct model *m, const struct cert_at *at);
/* The same for who looks ahead: after a fault it is not known. */
enum known cert_came(const struct model *m, const struct cert_at *at);
/* Judges that the wait is over, once. The fault, if it is one. */
fault_id cert_released(struct model *m, const struct cert_at *at);
void cert_consume(struct cert_uc *uc, const struct cert_step *step);

/* cert_wait.c: rule AIE-066 */
void cert_judge_end(struct model *m);
void cert_report_waits(const struct wait_builder *t);

#endif
