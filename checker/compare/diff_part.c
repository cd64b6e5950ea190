/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/compare/diff_part.h"

#include <inttypes.h>
#include <stdlib.h>

#include "checker/query/rows.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/niu.h"
#include "formats/blackhole/registers.h"
#include "formats/blackhole/xy.h"

/* The events of a launch, at the tile. */
struct diff_span {
    uint32_t place; /* chip, y, x */
    uint64_t go, first, last;
};

static uint32_t place_of(unsigned chip, struct nocap_xy at)
{
    return chip << 16 | (uint32_t)at.y << 8 | at.x;
}

static int by_place(const void *a, const void *b)
{
    const struct diff_span *s = a, *t = b;
    return s->place < t->place ? -1 : s->place > t->place;
}

static struct diff_span *find_span(const struct diff_part *part, uint32_t place)
{
    const struct diff_span key = {.place = place};
    return bsearch(&key, part->spans, part->span_count, sizeof key, by_place);
}

/* ---- launches ---- */

struct row {
    struct nocap_xy at;
    uint32_t place;
    int64_t n, go, done;
};

static struct row row_of(const struct nocap_rows *rows, const size_t columns[6], size_t i)
{
    const int64_t *row = &rows->cells[i * nocap_launch_table.column_count];
    struct nocap_xy at = {(uint8_t)row[columns[1]], (uint8_t)row[columns[2]]};
    return (struct row){.at = at,
                        .place = place_of((unsigned)row[columns[0]], at),
                        .n = row[columns[3]],
                        .go = row[columns[4]],
                        .done = row[columns[5]]};
}

/* A launch whose end was not seen is over when the next one of its tile begins. */
static void end_before(struct diff_span *span, const struct row *row)
{
    if (span != NULL && span->last == UINT64_MAX && row->go != NOCAP_CELL_NONE &&
        (uint64_t)row->go > span->go) {
        span->last = (uint64_t)row->go - 1;
    }
}

/* What a tile does from the end of the launch before: what BRISC tells the others after DONE may
 * come after the next GO. The first launch begins with its GO. */
static enum nocap_status take_spans(struct diff_part *part, const struct nocap_rows *rows,
                                    struct nocap_error *err)
{
    static const char *const names[6] = {"chip", "x", "y", "n", "go", "done"};
    size_t columns[6];
    for (size_t i = 0; i < 6; i++) {
        columns[i] = nocap_row_column(&nocap_launch_table, names[i]);
    }
    part->spans = calloc(rows->count + 1, sizeof *part->spans);
    RETURN_ERROR_IF(part->spans == NULL, err, NOCAP_E_MEMORY, "out of memory for launches");
    for (size_t i = 0; i < rows->count; i++) {
        const struct row row = row_of(rows, columns, i);
        if (row.n == (int64_t)part->wanted.launch && row.go != NOCAP_CELL_NONE &&
            (!part->wanted.has_tile || nocap_xy_equal(row.at, part->wanted.tile))) {
            part->endless += row.done == NOCAP_CELL_NONE;
            part->spans[part->span_count++] =
                (struct diff_span){row.place, (uint64_t)row.go, (uint64_t)row.go,
                                   row.done == NOCAP_CELL_NONE ? UINT64_MAX : (uint64_t)row.done};
        }
    }
    qsort(part->spans, part->span_count, sizeof *part->spans, by_place);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row row = row_of(rows, columns, i);
        struct diff_span *span =
            row.n + 1 == (int64_t)part->wanted.launch && row.done != NOCAP_CELL_NONE
                ? find_span(part, row.place)
                : NULL;
        if (span != NULL) {
            span->first = (uint64_t)row.done + 1;
        }
        end_before(find_span(part, row.place), &row);
    }
    return NOCAP_OK;
}

static enum nocap_status find_launches(struct diff_part *part, const char *path,
                                       const struct nocap_diff_options *options,
                                       struct nocap_error *err)
{
    const struct nocap_row_options read = {.dense = options->dense, .profile = options->profile};
    struct nocap_rows rows = {.table = &nocap_launch_table};
    enum nocap_status status = nocap_launch_table.fill(&rows, path, &read, err);
    if (status == NOCAP_OK) {
        status = take_spans(part, &rows, err);
    }
    nocap_rows_free(&rows);
    RETURN_IF_FAILED(status);
    RETURN_ERROR_IF(part->span_count == 0, err, NOCAP_E_USAGE,
                    "%s shows no launch %" PRIu64 "%s that began with GO: see nocap launches", path,
                    part->wanted.launch, part->wanted.has_tile ? " of that worker core" : "");
    return NOCAP_OK;
}

enum nocap_status diff_part_open(struct diff_part *part, const char *path,
                                 const struct nocap_diff_options *options, int which,
                                 const struct nocap_header *header, struct nocap_error *err)
{
    *part = (struct diff_part){.wanted = options->part[which], .as = options->part[0].tile};
    if (header->arch == NOCAP_ARCH_BLACKHOLE) {
        part->layout = nocap_header_layout(header, NULL);
    }
    return part->wanted.has_launch ? find_launches(part, path, options, err) : NOCAP_OK;
}

void diff_part_close(struct diff_part *part)
{
    free(part->spans);
    part->spans = NULL;
}

/* ---- events ---- */

static bool covers(const struct nocap_event *e, struct nocap_xy at)
{
    return (e->has & NOCAP_F_TO) != 0 && at.x >= e->at.x && at.x <= e->to.x && at.y >= e->at.y &&
           at.y <= e->to.y;
}

static bool in_launch(const struct diff_part *part, const struct nocap_event *e, struct nocap_xy at)
{
    const struct diff_span *span = find_span(part, place_of(e->chip, at));
    return span != NULL && e->index >= span->first && e->index <= span->last;
}

/* Whether a command buffer's register that takes the place of a tile. */
static bool takes_place(uint64_t addr)
{
    for (unsigned noc = 0; noc < 2; noc++) {
        for (unsigned buffer = 0; buffer < NOCAP_NIU_BUFFERS; buffer++) {
            if (addr == nocap_niu_buffer_address(noc, buffer, NOCAP_NIU_TARG_ADDR_HI) ||
                addr == nocap_niu_buffer_address(noc, buffer, NOCAP_NIU_RET_ADDR_HI)) {
                return true;
            }
        }
    }
    return false;
}

/* A core that writes where it is itself. */
static void rename_value(const struct diff_part *part, struct nocap_event *e)
{
    if (part->layout != NULL && e->kind == NOCAP_EV_WRITE && (e->has & NOCAP_F_VALUE) != 0 &&
        e->value == nocap_niu_hi(part->wanted.tile) && takes_place(e->addr)) {
        e->value = nocap_niu_hi(part->as);
    }
}

static void rename_tile(const struct diff_part *part, struct nocap_xy *at)
{
    *at = nocap_xy_equal(*at, part->wanted.tile) ? part->as : *at;
}

/* Which slot of the ring a launch has is its place among the others. False: the event says nothing
 * but that. */
static bool forget_slot(const struct diff_part *part, struct nocap_event *e)
{
    const struct nocap_mailbox_layout *l = part->layout;
    if (l == NULL || (e->kind != NOCAP_EV_WRITE && e->kind != NOCAP_EV_READ) ||
        e->space != NOCAP_SPACE_TILE) {
        return true;
    }
    if (e->addr >= l->launch_base &&
        e->addr < l->launch_base + (uint64_t)l->launch_size * l->launch_slots) {
        e->addr = l->launch_base + (e->addr - l->launch_base) % l->launch_size;
    }
    return e->addr != l->rd_ptr;
}

const struct nocap_event *diff_part_take(struct diff_part *part, const struct nocap_event *event,
                                         struct nocap_event *copy)
{
    const struct nocap_diff_part *wanted = &part->wanted;
    if (!wanted->has_tile && !wanted->has_launch) {
        return event;
    }
    bool at_all = (event->has & NOCAP_F_AT) != 0, covered = false;
    if (at_all && wanted->has_tile && !nocap_xy_equal(event->at, wanted->tile)) {
        covered = covers(event, wanted->tile);
        at_all = covered;
    }
    struct nocap_xy at = covered ? wanted->tile : event->at;
    if (!at_all || (wanted->has_launch && !in_launch(part, event, at))) {
        return NULL;
    }
    *copy = *event;
    copy->shape = 0;
    if (!part->begun) {
        part->begun = true;
        part->base = event->t;
    }
    copy->t = event->t - part->base; /* wraps where sources overlap: the same on both sides */
    copy->t2 -= (event->has & NOCAP_F_T2) != 0 ? part->base : 0;
    if (wanted->has_tile) {
        copy->has &= ~NOCAP_F_TO; /* what a multicast does there is what counts */
        copy->to = (struct nocap_xy){0, 0};
        copy->at = part->as;
        rename_tile(part, &copy->s);
        rename_tile(part, &copy->d);
        rename_tile(part, &copy->ret);
        rename_value(part, copy);
    }
    return !wanted->has_launch || forget_slot(part, copy) ? copy : NULL;
}
