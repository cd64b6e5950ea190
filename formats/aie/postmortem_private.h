/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: what is read of a text or a log of columns that hung, fact by fact. */
#ifndef NOCAP_AIE_POSTMORTEM_PRIVATE_H
#define NOCAP_AIE_POSTMORTEM_PRIVATE_H

#include "formats/aie/postmortem.h"

enum postmortem_table_column {
#define COLUMN(NAME, head) POSTMORTEM_##NAME,
#include "formats/aie/postmortem.def"
    POSTMORTEM_TABLE_COLUMNS
};

struct postmortem_reading {
    struct nocap_aie_postmortem *postmortem;
    struct nocap_aie_column_postmortem
        *column; /* of which is reported now; NULL: none that is kept */
    bool any, memory;
    bool below;    /* columns were named that come before the partition */
    bool listing;  /* jobs that are not over follow */
    bool watchdog; /* it is about to say where it struck */
    bool several;  /* contexts in a table */
    bool has_context;
    uint32_t context;
    uint32_t cells[POSTMORTEM_TABLE_COLUMNS]; /* of the table that is being read, from 1; 0: none */
};

/* The column that follows is this one, counted from the partition's first or the device's. */
void postmortem_column(struct postmortem_reading *r, uint64_t number, bool of_device);
/* postmortem_facts.c: what is told of r->column, which is none. */
void postmortem_watchdog(struct postmortem_reading *r);
void postmortem_page(struct postmortem_reading *r, uint32_t page);
void postmortem_place(struct postmortem_reading *r, uint32_t page, uint32_t off);
void postmortem_state(struct postmortem_reading *r, uint32_t state);
void postmortem_list(struct postmortem_reading *r);
void postmortem_job(struct postmortem_reading *r, const struct nocap_aie_left_job *job);
void postmortem_job_pc(struct postmortem_reading *r, uint32_t pc);
void postmortem_register(struct postmortem_reading *r, uint32_t addr, uint32_t value);
void postmortem_operation(struct postmortem_reading *r, uint32_t index);

/* postmortem_table.c: a line of a table, or its head; false: it is none. */
bool postmortem_table_line(struct postmortem_reading *r, const char *line);

enum { POSTMORTEM_RECORD = 32 }; /* bytes */
/* postmortem_log.c: whether these bytes begin a log in its binary form, and the records after. */
bool postmortem_is_log(const uint8_t *head, size_t size);
void postmortem_read_log(struct postmortem_reading *r, FILE *stream);

#endif
