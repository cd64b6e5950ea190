/* SPDX-License-Identifier: Apache-2.0 */
/* NOC requests: `noc` events as they stand, and those that show only as stores to registers, which
 * the model puts together. The same that `info --noc` counts. */
#include "checker/query/rows_replay.h"

enum {
    IDX,
    T,
    CHIP,
    X,
    Y,
    TILE,
    BY,
    NOC,
    BUF,
    OP,
    POSTED,
    MCAST,
    FROM,
    FROM_ADDR,
    INTO,
    INTO_ADDR,
    SIZE,
    ID,
    SENT,
    SENT_T,
    DONE,
    DONE_T,
    DURATION,
    NS,
    COLUMNS
};

/* An end is looked for among so many requests that have none yet, the latest first. */
enum { OPEN_MAX = 4096 };

static const struct nocap_column columns[COLUMNS] = {
    [IDX] = {"idx", NOCAP_CELL_NUMBER},
    [T] = {"t", NOCAP_CELL_NUMBER},
    [CHIP] = {"chip", NOCAP_CELL_NUMBER},
    [X] = {"x", NOCAP_CELL_NUMBER},
    [Y] = {"y", NOCAP_CELL_NUMBER},
    [TILE] = {"tile", NOCAP_CELL_TEXT},
    [BY] = {"agent", NOCAP_CELL_TEXT},
    [NOC] = {"noc", NOCAP_CELL_NUMBER},
    [BUF] = {"buf", NOCAP_CELL_NUMBER},
    [OP] = {"op", NOCAP_CELL_TEXT},
    [POSTED] = {"posted", NOCAP_CELL_NUMBER},
    [MCAST] = {"mcast", NOCAP_CELL_NUMBER},
    [FROM] = {"source", NOCAP_CELL_TEXT},
    [FROM_ADDR] = {"source_addr", NOCAP_CELL_NUMBER},
    [INTO] = {"target", NOCAP_CELL_TEXT},
    [INTO_ADDR] = {"target_addr", NOCAP_CELL_NUMBER},
    [SIZE] = {"size", NOCAP_CELL_NUMBER},
    [ID] = {"id", NOCAP_CELL_NUMBER},
    [SENT] = {"sent", NOCAP_CELL_NUMBER},
    [SENT_T] = {"sent_t", NOCAP_CELL_NUMBER},
    [DONE] = {"done", NOCAP_CELL_NUMBER},
    [DONE_T] = {"done_t", NOCAP_CELL_NUMBER},
    [DURATION] = {"duration", NOCAP_CELL_NUMBER},
    [NS] = {"ns", NOCAP_CELL_NUMBER},
};

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
