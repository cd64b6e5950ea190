/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: what the static rules of AIE control code share. Pages are judged one after
 * the other; what concerns several pages or columns is gathered on the way. */
#ifndef NOCAP_CHECKER_AIE_LINT_PRIVATE_H
#define NOCAP_CHECKER_AIE_LINT_PRIVATE_H

#include "checker/aie/lint.h"
#include "checker/core/findings.h"
#include "formats/aie/lines.h"
#include "formats/aie/page.h"

enum {
    LINT_OPS_MAX = NOCAP_AIE_PAGE_SIZE / 4,
    LINT_JOBS_MAX = LINT_OPS_MAX,
    LINT_TEXT_MAX = 2048 /* what was observed */
};
enum { LINT_COLUMNS_MAX = 32 }; /* bits of a party mask */
#define LINT_NONE UINT32_MAX

struct lint_op {
    const struct nocap_aie_insn_info *info;
    uint32_t value[NOCAP_AIE_FIELDS_MAX];
    uint32_t off; /* from the page's start */
    bool stray;
};

struct lint_job {
    uint32_t first, last; /* ops: START_JOB and END_JOB */
    uint32_t id;
    bool deferred;
};

/* A page, decoded. */
struct lint_code {
    const struct nocap_aie_page *page;
    struct lint_op ops[LINT_OPS_MAX]; /* up to EOF, which is the last one if there is one */
    uint32_t op_count;
    uint16_t job_of[LINT_OPS_MAX]; /* by op */
    struct lint_job jobs[LINT_JOBS_MAX];
    uint32_t job_count;
    enum nocap_aie_walk end; /* how the walk ended */
    uint32_t end_off;        /* where */
    uint32_t data;           /* where the data begin */
    uint32_t limit;          /* references must end up to here */
    bool broken; /* its jobs are not well-formed: rules that build on them do not judge */
    bool bad_length, bad_barrier, bad_launch;
};

/* An instruction that matters beyond its page. */
struct lint_record {
    uint32_t group, uc, page, off, job; /* job: place in the page */
    uint32_t a, b, c;                   /* as the list says */
};
struct lint_records {
    struct lint_record *items;
    size_t count;
};

struct lint {
    struct nocap_report *report;
    const struct nocap_aie_image *image;
    const struct nocap_lint_options *options;
    enum nocap_aie_dialect dialect;
    enum nocap_aie_chip chip;
    uint32_t shim; /* relocation of its tables; 0: the chip is not known */
    uint64_t exercised[NOCAP_RULE_COUNT];
    struct nocap_check_options check; /* what holds of the options for all findings */
    struct nocap_findings findings;
    struct lint_lines {
        bool opened;
        struct nocap_aie_lines *lines; /* NULL: none */
    } * lines;                         /* by kernel, or of the only one */
    bool *main; /* by page of the image: it belongs to the code that its column begins with */
    bool out_of_memory;
    struct lint_code *code;    /* the page that is being judged */
    struct lint_records sync;  /* barriers and launches: opcode, id, participants or mask */
    struct lint_records jobs;  /* jobs of pages that have any of these: id, deferred */
    struct lint_records loads; /* PREEMPT, LOAD_PDI, LOAD_CORES: opcode, id, page */
    struct lint_records waits; /* WAIT_TCTS: tile, actor, tokens */
    struct lint_records tasks; /* known writes that start a task with a token: address */
    const struct nocap_aie_page *handles_of; /* a page of the column that shared_handles is of */
    uint32_t shared_handles; /* shared registers that get handles of transfers; bits */
    bool hidden_tasks;       /* tasks may be started in ways that are not seen */
    bool broken_pages;       /* some page is broken: what concerns all of them is not judged */
    bool bad_remote;         /* a remote barrier has a wrong number */
    bool broken_local;       /* jobs of some page hang at barriers, others apart */
};

/* Whether a rule is judged; the first one of two that say the same. */
bool lint_judged(const struct lint *l, enum nocap_rule rule);
enum nocap_rule lint_first(const struct lint *l, enum nocap_rule a, enum nocap_rule b);

struct lint_place {
    uint32_t group, uc, page, off;
};
void lint_say(struct lint *l, enum nocap_rule rule, enum nocap_severity severity,
              struct lint_place place, const char *expected, const char *observed, ...)
    __attribute__((format(printf, 6, 7)));
void lint_record(struct lint *l, struct lint_records *list, const struct lint_record *remark);

/* A place of the page that is being judged. */
#define LINT_HERE(l, off) LINT_AT((l)->code->page, off)
#define LINT_AT(page_, off)                                                                        \
    ((struct lint_place){(page_)->group, (page_)->uc, (page_)->index, (off)})
/* That of a remark. */
#define LINT_REMARKED(r) ((struct lint_place){(r)->group, (r)->uc, (r)->page, (r)->off})

/* Counts the rule as exercised, says so if it does not hold, and gives the condition. */
bool lint_expect(struct lint *l, enum nocap_rule rule, enum nocap_severity severity, bool condition,
                 struct lint_place place, const char *expected, const char *observed, ...)
    __attribute__((format(printf, 7, 8)));
#define LINT_CHECK(l, RULE, condition, place, expected, ...)                                       \
    lint_expect(l, RULE, nocap_rules[RULE].severity, condition, place, expected, __VA_ARGS__)
#define LINT_EXPECT_AS(l, RULE, severity, condition, place, expected, ...)                         \
    lint_expect(l, RULE, severity, condition, place, expected, __VA_ARGS__)

/* The page's own rules, in this order. */
void lint_decode(struct lint *l, const struct nocap_aie_page *page); /* 001, 007, 014..018 */
void lint_header(struct lint *l);                                    /* 048, 049 */
void lint_ops(struct lint *l);                                       /* 002..013, 039, 040 */
void lint_jobs(struct lint *l);                                      /* 019..021, 023..025, 061 */
void lint_data(struct lint *l);                                      /* 027..035 */
void lint_local(struct lint *l);                                     /* 037, 041, 043 */
/* What concerns several pages. */
void lint_envelope(struct lint *l); /* 036, 059, 060 */
void lint_chains(struct lint *l);   /* 050..058 */
void lint_remote(struct lint *l);   /* 044..047 */
/* 044, 045. False: some remote barrier is wrong, and what would happen with it is not worth
 * telling. */
bool lint_parties(struct lint *l);

/* Of the columns that a party mask can name. */
static inline bool lint_is_remote(const struct lint_record *r)
{
    return r->a == NOCAP_AIE_REMOTE_BARRIER && r->uc < LINT_COLUMNS_MAX;
}
static inline uint32_t lint_bit(uint32_t uc)
{
    return UINT32_C(1) << uc;
}
/* The order by the first pair that differs, for qsort; by column, page and offset. */
int lint_order(const uint32_t (*keys)[2], size_t count);
int lint_by_place(const void *a, const void *b);
enum nocap_status lint_tokens(struct lint *l, struct nocap_error *err); /* 038 */
/* The rules TXN of all streams of the image; fails if one is none. */
enum nocap_status lint_streams(struct lint *l, struct nocap_error *err);

/* Sets l->main; false: no memory. */
bool lint_find_main(struct lint *l);
/* Whether a page belongs to the code that its column begins with. */
bool lint_in_main_chain(const struct lint *l, uint32_t group, uint32_t uc, uint32_t index);

/* Whether an instruction starts a chain of descriptors, and where it begins in the page. */
static inline bool lint_chain_of(const struct lint_op *op, uint32_t *at)
{
    uint8_t opcode = op->info->opcode;
    if (opcode == NOCAP_AIE_UC_DMA_WRITE_DES) {
        *at = op->value[NOCAP_AIE_UC_DMA_WRITE_DES_descriptor_ptr] + NOCAP_AIE_HEADER_SIZE;
        return true;
    }
    *at = op->value[NOCAP_AIE_UC_DMA_WRITE_DES_SYNC_descriptor_ptr] + NOCAP_AIE_HEADER_SIZE;
    return opcode == NOCAP_AIE_UC_DMA_WRITE_DES_SYNC;
}

/* ---- order of the jobs of one page ---- */

/* What is known to happen before what, from barriers and launches. */
struct lint_order;
/* NULL: no memory. Runs the page's jobs as far as they get. */
struct lint_order *lint_order_new(const struct lint_code *code);
void lint_order_free(struct lint_order *order);
/* Whether op `a` of job `ja` is over before op `b` of job `jb` begins. */
bool lint_order_before(const struct lint_order *order, uint32_t ja, uint32_t a, uint32_t jb,
                       uint32_t b);
/* The op at which a job that was started is blocked indefinitely; LINT_NONE: it ends. */
uint32_t lint_order_blocked(const struct lint_order *order, uint32_t job);
bool lint_order_started(const struct lint_order *order, uint32_t job);

#endif
