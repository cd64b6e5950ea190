/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/query: one replay of a trace that judges nothing and hands on what the models
 * see. */
#ifndef NOCAP_CHECKER_QUERY_ROWS_REPLAY_H
#define NOCAP_CHECKER_QUERY_ROWS_REPLAY_H

#include "checker/query/rows.h"
#include "formats/trace/trace.h"
#include "replay/core/engine.h"

/* The columns of a table, of which LIST(COLUMN) has a COLUMN(cell, "name", type) for each: the
 * cells' numbers and COUNT, how many they are; `columns`, what they are. */
#define ROWS_NUMBER(cell, name, type) cell,
#define ROWS_COLUMN(cell, name, type) {name, NOCAP_CELL_##type},
#define ROWS_COLUMNS(LIST, COUNT, columns)                                                         \
    enum { LIST(ROWS_NUMBER) COUNT };                                                              \
    static const struct nocap_column columns[COUNT] = {LIST(ROWS_COLUMN)}

struct rows_replay {
    struct nocap_rows *rows;
    const struct nocap_header *header; /* set by rows_replay */
    bool full;                         /* a row could not be added */
    void (*event)(struct rows_replay *replay, const struct nocap_event *event); /* NULL: none */
    /* Events are missing before event `index`. NULL: that does not matter. */
    void (*lost)(struct rows_replay *replay, uint64_t index);
};

/* `sinks`: their context is `replay`. */
enum nocap_status rows_replay(struct rows_replay *replay, const char *path,
                              const struct nocap_row_options *options,
                              struct nocap_engine_options sinks, struct nocap_error *err);

/* Times in nanoseconds; NOCAP_CELL_NONE where the trace does not say its clock, or a time is none.
 */
int64_t rows_ns(const struct nocap_header *header, int64_t duration);
/* "1,2", or with the other corner "1,2-7,11". */
int64_t rows_tile(struct nocap_rows *rows, struct nocap_xy at);
int64_t rows_rectangle(struct nocap_rows *rows, struct nocap_xy from, struct nocap_xy to);

#endif
