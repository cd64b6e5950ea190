/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: what is read of a text or a log of columns that hung, fact by fact. */
#ifndef NOCAP_AIE_REMAINS_PRIVATE_H
#define NOCAP_AIE_REMAINS_PRIVATE_H

#include "formats/aie/remains.h"

enum remains_table_column {
#define COLUMN(NAME, head) REMAINS_##NAME,
#include "formats/aie/remains.def"
    REMAINS_TABLE_COLUMNS
};

struct remains_reading {
    struct nocap_aie_remains *remains;
    struct nocap_aie_column_remains *column; /* of which is told now; NULL: none that is kept */
    bool any, memory;
    bool below;    /* columns were named that come before the partition */
    bool listing;  /* jobs that are not over follow */
    bool watchdog; /* it is about to say where it struck */
    bool several;  /* contexts in a table */
    bool has_context;
    uint32_t context;
    uint32_t cells[REMAINS_TABLE_COLUMNS]; /* of the table that is being read, from 1; 0: none */
};

/* The column that follows is this one, counted from the partition's first or the device's. */
void remains_column(struct remains_reading *r, uint64_t number, bool of_device);
/* remains_facts.c: what is told of r->column, which is none. */
void remains_watchdog(struct remains_reading *r);
void remains_page(struct remains_reading *r, uint32_t page);
void remains_place(struct remains_reading *r, uint32_t page, uint32_t off);
void remains_state(struct remains_reading *r, uint32_t state);
void remains_list(struct remains_reading *r);
void remains_job(struct remains_reading *r, const struct nocap_aie_left_job *job);
void remains_job_pc(struct remains_reading *r, uint32_t pc);
void remains_register(struct remains_reading *r, uint32_t addr, uint32_t value);
void remains_operation(struct remains_reading *r, uint32_t index);

/* remains_table.c: a line of a table, or its head; false: it is none. */
bool remains_table_line(struct remains_reading *r, const char *line);

enum { REMAINS_RECORD = 32 }; /* bytes */
/* remains_log.c: whether these bytes begin a log in its binary form, and the records behind. */
bool remains_is_log(const uint8_t *head, size_t size);
void remains_read_log(struct remains_reading *r, FILE *stream);

#endif
