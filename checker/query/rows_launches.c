/* SPDX-License-Identifier: Apache-2.0 */
/* Launches as the model sees them end; of those that do not, what is known when the trace does. */
#include "base/map.h"
#include "checker/query/rows_replay.h"

/* The cores' kernels stand in the order of enum nocap_processor. */
#define COLUMNS_OF(COLUMN)                                                                         \
    COLUMN(CHIP, "chip", NUMBER)                                                                   \
    COLUMN(X, "x", NUMBER)                                                                         \
    COLUMN(Y, "y", NUMBER)                                                                         \
    COLUMN(TILE, "tile", TEXT)                                                                     \
    COLUMN(N, "n", NUMBER)                                                                         \
    COLUMN(BY, "agent", TEXT)                                                                      \
    COLUMN(GO, "go", NUMBER)                                                                       \
    COLUMN(GO_T, "go_t", NUMBER)                                                                   \
    COLUMN(DONE, "done", NUMBER)                                                                   \
    COLUMN(DONE_T, "done_t", NUMBER)                                                               \
    COLUMN(DONE_BY, "done_by", TEXT)                                                               \
    COLUMN(DURATION, "duration", NUMBER)                                                           \
    COLUMN(NS, "ns", NUMBER)                                                                       \
    COLUMN(PRELOADED, "preloaded", NUMBER)                                                         \
    COLUMN(ENABLES, "enables", NUMBER)                                                             \
    COLUMN(FIRST_KERNEL_T, "first_kernel_t", NUMBER)                                               \
    COLUMN(LAST_KERNEL_T, "last_kernel_t", NUMBER)                                                 \
    COLUMN(BRISC, "brisc", NUMBER)                                                                 \
    COLUMN(NCRISC, "ncrisc", NUMBER)                                                               \
    COLUMN(TRISC0, "trisc0", NUMBER)                                                               \
    COLUMN(TRISC1, "trisc1", NUMBER)                                                               \
    COLUMN(TRISC2, "trisc2", NUMBER)
ROWS_COLUMNS(COLUMNS_OF, COLUMNS, columns);

static void add_kernels(int64_t *row, const struct nocap_launched *l)
{
    for (unsigned p = 0; p < NOCAP_PROCESSOR_COUNT; p++) {
        int64_t enter = (int64_t)l->kernels[p].enter_t, leave = (int64_t)l->kernels[p].exit_t;
        if (l->kernels[p].entered &&
            (row[FIRST_KERNEL_T] == NOCAP_CELL_NONE || enter < row[FIRST_KERNEL_T])) {
            row[FIRST_KERNEL_T] = enter;
        }
        if (l->kernels[p].left && leave > row[LAST_KERNEL_T]) { /* none is the least number */
            row[LAST_KERNEL_T] = leave;
        }
        if (l->kernels[p].entered && l->kernels[p].left && leave >= enter) {
            row[BRISC + p] = leave - enter;
        }
    }
}

/* How many there were so far, by chip and tile. */
struct tile_launches {
    uint64_t key;
    int64_t count;
};

struct launches {
    struct rows_replay replay; /* comes first: the context of the sink */
    struct {
        MAP(struct tile_launches);
    } counts;
    uint64_t lost; /* events are missing before this one: whose launch is the how many-th after it,
                      unknown */
};

static void lose(struct rows_replay *replay, uint64_t index)
{
    struct launches *launches = (struct launches *)replay;
    launches->lost = index < launches->lost ? index : launches->lost;
}

static void launched(void *context, const struct nocap_launched *l)
{
    struct launches *launches = context;
    struct rows_replay *r = &launches->replay;
    const uint64_t key = (uint64_t)l->chip << 16 | (uint64_t)l->at.y << 8 | l->at.x;
    struct tile_launches *tile = MAP_GET(&launches->counts, &key, UINT32_MAX);
    int64_t *row = tile == NULL ? NULL : nocap_rows_add(r->rows);
    if (row == NULL) {
        r->full = true;
        return;
    }
    uint64_t known = l->go_index != UINT64_MAX ? l->go_index : l->done_index;
    row[N] =
        known < launches->lost || launches->lost == UINT64_MAX ? ++tile->count : NOCAP_CELL_NONE;
    bool called = l->go_index != UINT64_MAX, ended = l->done_index != UINT64_MAX;
    row[CHIP] = l->chip;
    row[X] = l->at.x;
    row[Y] = l->at.y;
    row[TILE] = rows_tile(r->rows, l->at);
    row[PRELOADED] = l->preloaded;
    if (called) {
        row[BY] = nocap_cell_static(nocap_agent_name(l->go_by));
        row[GO] = (int64_t)l->go_index;
        row[GO_T] = (int64_t)l->go_t;
    }
    if (ended) {
        row[DONE] = (int64_t)l->done_index;
        row[DONE_T] = (int64_t)l->done_t;
        row[DONE_BY] = nocap_cell_static(nocap_agent_name(l->done_by));
    }
    if (l->has_enables) {
        row[ENABLES] = l->enables;
    }
    add_kernels(row, l);
    int64_t begin = called ? row[GO_T] : row[FIRST_KERNEL_T];
    if (ended && begin != NOCAP_CELL_NONE && row[DONE_T] >= begin) {
        row[DURATION] = row[DONE_T] - begin;
        row[NS] = rows_ns(r->header, row[DURATION]);
    }
}

static enum nocap_status fill(struct nocap_rows *rows, const char *path,
                              const struct nocap_row_options *options, struct nocap_error *err)
{
    struct launches launches = {.replay = {.rows = rows, .lost = lose}, .lost = UINT64_MAX};
    enum nocap_status status = rows_replay(
        &launches.replay, path, options, (struct nocap_engine_options){.launched = launched}, err);
    MAP_FREE(&launches.counts);
    return status;
}

const struct nocap_row_table nocap_launch_table = {
    .name = "launches", .columns = columns, .column_count = COLUMNS, .fill = fill};
