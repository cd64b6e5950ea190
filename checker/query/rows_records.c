/* SPDX-License-Identifier: Apache-2.0 */
/* Records of command queues, and when each of their stages took them. */
#include "checker/query/rows_replay.h"
#include "formats/blackhole/cq_commands.h"

#define STEP(COLUMN, cell, name)                                                                   \
    COLUMN(cell, name, NUMBER)                                                                     \
    COLUMN(cell##_T, name "_t", NUMBER)
/* Of the prefetcher's tile; of each step, in the order of enum nocap_record_step, the event and its
 * time. */
#define COLUMNS_OF(COLUMN)                                                                         \
    COLUMN(CHIP, "chip", NUMBER)                                                                   \
    COLUMN(X, "x", NUMBER)                                                                         \
    COLUMN(Y, "y", NUMBER)                                                                         \
    COLUMN(SLOT, "slot", NUMBER)                                                                   \
    COLUMN(ADDR, "addr", NUMBER)                                                                   \
    COLUMN(SIZE, "size", NUMBER)                                                                   \
    COLUMN(COMMAND, "command", TEXT)                                                               \
    STEP(COLUMN, PUBLISHED, "published")                                                           \
    STEP(COLUMN, FETCHED, "fetched")                                                               \
    STEP(COLUMN, LANDED, "landed")                                                                 \
    STEP(COLUMN, RELAYED, "relayed")                                                               \
    STEP(COLUMN, HANDED, "handed")                                                                 \
    STEP(COLUMN, EXECUTED, "executed")                                                             \
    COLUMN(DURATION, "duration", NUMBER)                                                           \
    COLUMN(NS, "ns", NUMBER)
ROWS_COLUMNS(COLUMNS_OF, COLUMNS, columns);

/* Records under way are looked for among so many of the latest. */
enum { LOOKED_AT = 8192 };

static void describe(struct rows_replay *r, int64_t *row, const struct nocap_recorded *step)
{
    row[CHIP] = step->chip;
    row[X] = step->prefetch.x;
    row[Y] = step->prefetch.y;
    row[SIZE] = step->size;
    row[SLOT] = step->has_slot ? (int64_t)step->slot : NOCAP_CELL_NONE;
    row[ADDR] = step->has_addr ? (int64_t)step->addr : NOCAP_CELL_NONE;
    if (step->has_command) {
        row[COMMAND] = nocap_rows_text(r->rows, nocap_cq_name(NOCAP_CQ_DISPATCH, step->command));
    }
}

/* That of the command: those of an entry stand in a row. */
static int64_t *row_of(const struct nocap_rows *rows, const struct nocap_recorded *step)
{
    size_t last = rows->count > LOOKED_AT ? rows->count - LOOKED_AT : 0, first = rows->count;
    for (size_t i = rows->count; i > last; i--) {
        const int64_t *row = &rows->cells[(i - 1) * COLUMNS];
        if (row[PUBLISHED] < (int64_t)step->record) {
            break;
        }
        first = row[PUBLISHED] == (int64_t)step->record && row[CHIP] == step->chip ? i - 1 : first;
    }
    if (first + step->part >= rows->count) {
        return NULL;
    }
    int64_t *row = &rows->cells[(first + step->part) * COLUMNS];
    return row[PUBLISHED + 2 * step->step] == NOCAP_CELL_NONE ? row : NULL; /* each step once */
}

static void recorded(void *context, const struct nocap_recorded *step)
{
    struct rows_replay *r = context;
    bool begins = step->step == NOCAP_RECORD_PUBLISHED;
    int64_t *row = begins ? nocap_rows_add(r->rows) : row_of(r->rows, step);
    if (row == NULL) {
        r->full |= begins;
        return;
    }
    if (begins) {
        describe(r, row, step);
    }
    row[PUBLISHED + 2 * step->step] = (int64_t)step->index;
    row[PUBLISHED + 2 * step->step + 1] = (int64_t)step->t;
    int64_t begin = row[PUBLISHED_T];
    if (step->step == NOCAP_RECORD_EXECUTED && (int64_t)step->t >= begin) {
        row[DURATION] = (int64_t)step->t - begin;
        row[NS] = rows_ns(r->header, row[DURATION]);
    }
}

static enum nocap_status fill(struct nocap_rows *rows, const char *path,
                              const struct nocap_row_options *options, struct nocap_error *err)
{
    struct rows_replay replay = {.rows = rows};
    return rows_replay(&replay, path, options, (struct nocap_engine_options){.recorded = recorded},
                       err);
}

const struct nocap_row_table nocap_record_table = {
    .name = "records", .columns = columns, .column_count = COLUMNS, .fill = fill};
