/* SPDX-License-Identifier: Apache-2.0 */
/* What users hold of control code that hung: where its columns stood, as they typed it or as logs
 * of the firmware, messages of the runtime and of the kernel tell it. Source: AIE control code fact
 * sheet, section 6. */
#ifndef NOCAP_AIE_POSTMORTEM_H
#define NOCAP_AIE_POSTMORTEM_H

#include <stdio.h>

#include "base/status.h"
#include "formats/aie/isa.h"

enum nocap_aie_counter {
#define COUNTER(ID, name) NOCAP_AIE_C_##ID,
#include "formats/aie/postmortem.def"
    NOCAP_AIE_COUNTERS
};

enum {
    NOCAP_AIE_POSTMORTEM_COLUMNS = 128,   /* of the address space */
    NOCAP_AIE_POSTMORTEM_JOBS = 1024,     /* of a column, that are kept */
    NOCAP_AIE_POSTMORTEM_REGISTERS = 1024 /* that are kept */
};

/* A job that was not over. */
struct nocap_aie_left_job {
    uint32_t id, pc; /* bytes from the page's start */
    bool has_pc;
};

struct nocap_aie_column_postmortem {
    bool known; /* the input says anything of it */
    bool has_page, has_off;
    uint32_t page, off; /* the instruction that ran last; bytes from the page's start */
    bool has_jobs;      /* the list of unfinished jobs is there, and it is whole */
    struct nocap_aie_left_job *jobs;
    size_t job_count;
    uint32_t counters[NOCAP_AIE_COUNTERS], counted; /* counted: those that are known, as bits */
    bool has_state;
    uint32_t state; /* of the firmware */
    bool hang;      /* its watchdog struck */
    bool idle;      /* it has nothing to do */
};

struct nocap_aie_left_register {
    uint32_t addr, value;
};

enum { NOCAP_AIE_POSTMORTEM_NAME = 128 };

struct nocap_aie_postmortem {
    uint32_t first_column; /* of the partition: taken off what counts from the device's */
    char kernel[NOCAP_AIE_POSTMORTEM_NAME]; /* that ran, "KERNEL:INSTANCE"; "": not given */
    char uid[NOCAP_AIE_POSTMORTEM_NAME];    /* of its file, hexadecimal digits; "": not given */
    bool has_operation;
    uint32_t operation; /* of a transaction stream: the last that began */
    struct nocap_aie_column_postmortem columns[NOCAP_AIE_POSTMORTEM_COLUMNS];
    struct nocap_aie_left_register
        registers[NOCAP_AIE_POSTMORTEM_REGISTERS]; /* the latest values */
    size_t register_count;
};

/* "UC:PAGE:OFFSET", decimal or 0x...: where a column stood. Fails with NOCAP_E_USAGE. */
enum nocap_status nocap_aie_postmortem_add(struct nocap_aie_postmortem *postmortem,
                                           const char *text, struct nocap_error *err);
/* Reads a text line by line, or the log of a uC in its binary form; lines about something else are
 * passed over. `column`: of the partition, of which it tells where it does not say so. `name` is
 * for messages. Fails with NOCAP_E_INPUT if nothing tells anything, or of several contexts. */
enum nocap_status nocap_aie_postmortem_read(struct nocap_aie_postmortem *postmortem, FILE *stream,
                                            const char *name, uint32_t column,
                                            struct nocap_error *err);
void nocap_aie_postmortem_clear(struct nocap_aie_postmortem *postmortem);

#endif
