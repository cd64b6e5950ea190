/* SPDX-License-Identifier: Apache-2.0 */
/* NOC requests: `noc` events as they stand, and those that show only as stores to registers, which
 * the model puts together. The same that `info --noc` counts. */
#include "checker/query/rows_replay.h"

#define COLUMNS_OF(COLUMN)                                                                         \
    COLUMN(IDX, "idx", NUMBER)                                                                     \
    COLUMN(T, "t", NUMBER)                                                                         \
    COLUMN(CHIP, "chip", NUMBER)                                                                   \
    COLUMN(X, "x", NUMBER)                                                                         \
    COLUMN(Y, "y", NUMBER)                                                                         \
    COLUMN(TILE, "tile", TEXT)                                                                     \
    COLUMN(BY, "agent", TEXT)                                                                      \
    COLUMN(NOC, "noc", NUMBER)                                                                     \
    COLUMN(BUF, "buf", NUMBER)                                                                     \
    COLUMN(OP, "op", TEXT)                                                                         \
    COLUMN(POSTED, "posted", NUMBER)                                                               \
    COLUMN(MCAST, "mcast", NUMBER)                                                                 \
    COLUMN(FROM, "source", TEXT)                                                                   \
    COLUMN(FROM_ADDR, "source_addr", NUMBER)                                                       \
    COLUMN(INTO, "target", TEXT)                                                                   \
    COLUMN(INTO_ADDR, "target_addr", NUMBER)                                                       \
    COLUMN(SIZE, "size", NUMBER)                                                                   \
    COLUMN(ID, "id", NUMBER)                                                                       \
    COLUMN(SENT, "sent", NUMBER)                                                                   \
    COLUMN(SENT_T, "sent_t", NUMBER)                                                               \
    COLUMN(DONE, "done", NUMBER)                                                                   \
    COLUMN(DONE_T, "done_t", NUMBER)                                                               \
    COLUMN(DURATION, "duration", NUMBER)                                                           \
    COLUMN(NS, "ns", NUMBER)
ROWS_COLUMNS(COLUMNS_OF, COLUMNS, columns);

/* An end is looked for among so many requests that have none yet, the latest first. */
enum { OPEN_MAX = 4096 };

struct requests {
    struct rows_replay replay; /* comes first: the context of the sinks */
    size_t open[OPEN_MAX];     /* rows without an end, oldest first */
    size_t count;
};

static bool has(const struct nocap_event *e, uint64_t fields)
{
    return (e->has & fields) == fields;
}

static void fill_row(struct nocap_rows *rows, int64_t *row, const struct nocap_event *e)
{
    row[IDX] = nocap_cell_number(e->index);
    row[T] = (int64_t)e->t;
    row[CHIP] = e->chip;
    row[X] = e->at.x;
    row[Y] = e->at.y;
    row[TILE] = rows_tile(rows, e->at);
    row[OP] = nocap_cell_static(nocap_op_name(e->op));
    row[POSTED] = e->posted;
    row[MCAST] = e->mcast;
    if (has(e, NOCAP_F_BY)) {
        row[BY] = nocap_cell_static(nocap_agent_name(e->by));
    }
    static const struct {
        enum nocap_field field;
        unsigned column;
    } numbers[] = {
        {NOCAP_FIELD_NOC, NOC},         {NOCAP_FIELD_BUF, BUF},   {NOCAP_FIELD_SADDR, FROM_ADDR},
        {NOCAP_FIELD_DADDR, INTO_ADDR}, {NOCAP_FIELD_SIZE, SIZE}, {NOCAP_FIELD_ID, ID},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (has(e, NOCAP_FIELD_BIT(numbers[i].field))) {
            row[numbers[i].column] = (int64_t)nocap_event_number(e, numbers[i].field);
        }
    }
    if (has(e, NOCAP_F_S)) {
        row[FROM] = rows_tile(rows, e->s);
    }
    if (has(e, NOCAP_F_D)) {
        row[INTO] = rows_rectangle(rows, e->d, has(e, NOCAP_F_D2) ? e->d2 : e->d);
    }
}

static void add(void *context, const struct nocap_event *e)
{
    struct requests *r = context;
    struct nocap_rows *rows = r->replay.rows;
    int64_t *row = nocap_rows_add(rows);
    if (row == NULL) {
        r->replay.full = true;
        return;
    }
    fill_row(rows, row, e);
    if (r->count == OPEN_MAX) { /* the older half is given up */
        r->count /= 2;
        memmove(r->open, r->open + r->count, r->count * sizeof r->open[0]);
    }
    r->open[r->count++] = rows->count - 1;
}

/* Reads, writes and inline writes, atomics: what one counter waits for. */
static int kind_of(const char *op)
{
    return op[0] == 'r' ? 0 : op[0] == 'a' ? 2 : 1;
}

static bool ends(const int64_t *row, const struct nocap_event *e)
{
    bool here = row[CHIP] == e->chip && row[X] == e->at.x && row[Y] == e->at.y &&
                has(e, NOCAP_F_NOC) && row[NOC] == e->noc;
    if (has(e, NOCAP_F_ID)) {
        return here && row[ID] == (int64_t)e->id;
    }
    return here && kind_of(nocap_cell_text(row[OP])) == kind_of(nocap_op_name(e->op));
}

/* A phase of one request, or, without `id`, of all of its kind: a barrier. */
static void end(struct requests *r, const struct nocap_event *e)
{
    struct nocap_rows *rows = r->replay.rows;
    bool done = e->phase == NOCAP_PHASE_DONE, more = true;
    for (size_t i = r->count; i > 0 && more; i--) {
        int64_t *row = &rows->cells[r->open[i - 1] * COLUMNS];
        if (!ends(row, e)) {
            continue;
        }
        more = !has(e, NOCAP_F_ID);
        unsigned column = done ? DONE : SENT;
        if (row[column] == NOCAP_CELL_NONE) {
            row[column] = nocap_cell_number(e->index);
            row[column + 1] = (int64_t)e->t;
        }
        if (done) {
            row[DURATION] = row[DONE_T] >= row[T] ? row[DONE_T] - row[T] : NOCAP_CELL_NONE;
            row[NS] = rows_ns(r->replay.header, row[DURATION]);
            r->count--;
            memmove(&r->open[i - 1], &r->open[i], (r->count - (i - 1)) * sizeof r->open[0]);
        }
    }
}

static void see(struct rows_replay *replay, const struct nocap_event *e)
{
    if (e->kind != NOCAP_EV_NOC) {
        return;
    }
    if (e->phase == NOCAP_PHASE_ISSUE) {
        add(replay, e);
    } else {
        end((struct requests *)replay, e);
    }
}

/* Their ends may be among what was lost. */
static void lose(struct rows_replay *replay, uint64_t index)
{
    (void)index;
    ((struct requests *)replay)->count = 0;
}

static enum nocap_status fill(struct nocap_rows *rows, const char *path,
                              const struct nocap_row_options *options, struct nocap_error *err)
{
    struct requests requests = {.replay = {.rows = rows, .event = see, .lost = lose}};
    return rows_replay(&requests.replay, path, options,
                       (struct nocap_engine_options){.requested = add}, err);
}

const struct nocap_row_table nocap_request_table = {
    .name = "requests", .columns = columns, .column_count = COLUMNS, .fill = fill};
