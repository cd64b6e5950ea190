/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: AIE control code that hung and was not traced, run as far as it could
 * possibly get. */
#ifndef NOCAP_CHECKER_AIE_POSTMORTEM_H
#define NOCAP_CHECKER_AIE_POSTMORTEM_H

#include "checker/hang/hang_private.h"
#include "formats/aie/lines.h"
#include "formats/aie/page.h"

#define V(op, INSN, name) ((op)->value[NOCAP_AIE_##INSN##_##name])

enum { STUCK_COLUMNS = 32, STUCK_OPS = NOCAP_AIE_PAGE_SIZE / 4 }; /* bits of a party mask */

struct blocked_op {
    const struct nocap_aie_insn_info *info;
    uint32_t value[NOCAP_AIE_FIELDS_MAX];
    uint32_t off;
};

struct blocked_job {
    uint32_t id, first, end, at; /* ops; at == end: it is over */
    bool deferred, started;
    bool fixed; /* it stands at `at` and was seen there */
    bool left;  /* it was listed as not over */
};

/* The page at which a column stands. */
struct blocked_column {
    const struct nocap_aie_page *page; /* NULL: not known */
    const struct nocap_aie_column_postmortem *postmortem;
    struct blocked_op ops[STUCK_OPS];
    uint32_t op_count;
    struct blocked_job *jobs;
    uint32_t job_count;
    bool main;                      /* the page belongs to the code that the column begins with */
    uint32_t before[UINT8_MAX + 1]; /* uses of remote barriers in earlier pages of the chain */
};

struct blocked {
    const struct nocap_aie_image *image;
    const struct nocap_aie_postmortem *postmortem;
    struct blocked_column *columns; /* STUCK_COLUMNS of them */
    struct nocap_hang_waits waits;
    struct nocap_error *err;
    /* uCs that the input mentions, as bits: that have no code, that are idle, whose place the file
     * does not have, for which `err` has the words. */
    uint32_t passed, idle, misfits;
};

/* Decodes the page of a column and puts its jobs where they stood. What does not fit the file is
 * remembered as such. */
enum nocap_status blocked_open(struct blocked *stuck, uint32_t uc);
/* Runs all jobs whose place is not known: transfers end, tokens come, polls match if they can. */
void blocked_run(const struct blocked *stuck);

/* How often a job has come to a barrier, where it stands included; how often it ever does. */
uint32_t blocked_came(const struct blocked_column *column, const struct blocked_job *job,
                      uint8_t opcode, uint32_t id);
uint32_t blocked_uses(const struct blocked_column *column, const struct blocked_job *job,
                      uint8_t opcode, uint32_t id);
/* Jobs that have come to the local barrier at which this one stands, itself included. */
uint32_t blocked_locals(const struct blocked_column *column, const struct blocked_job *job);
/* Columns of the mask that have not come as often as this one; those of which nothing is known are
 * taken to have come. */
uint32_t blocked_remotes_missing(const struct blocked *stuck, const struct blocked_column *column,
                                 const struct blocked_op *op);
uint32_t blocked_poll_mask(const struct blocked_op *op);
uint32_t blocked_poll_value(const struct blocked_op *op);
/* The list of the firmware is whole, and this job is not in it. */
bool blocked_is_over(const struct blocked_column *column, const struct blocked_job *job);

/* postmortem_text.c: takes the waits of all jobs into `waits`. */
void blocked_report(struct blocked *stuck);
/* postmortem_txn.c: the same of the operation of a transaction stream at which the firmware was. */
enum nocap_status blocked_report_stream(struct blocked *stuck);
/* "page 3 offset 0x2c, WAIT_TCTS, design.asm:12"; freed by the caller, NULL without memory. */
char *blocked_place(const struct blocked_column *column, const struct nocap_aie_lines *lines,
                    uint32_t off);

#endif
