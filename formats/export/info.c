/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/export/info.h"

#include <stdlib.h>

#include "base/list.h"
#include "base/map.h"
#include "base/sum.h"
#include "formats/blackhole/xy.h"

struct tile_table {
    MAP(uint64_t); /* of chip and coordinate */
    struct nocap_info_tile *tiles;
    struct nocap_info_tile *last; /* events of one tile often come in a row */
};

static bool count_tile(struct tile_table *table, struct nocap_info *info,
                       const struct nocap_event *event)
{
    if (table->last == NULL || table->last->chip != event->chip ||
        !nocap_xy_equal(table->last->at, event->at)) {
        uint64_t key = (uint64_t)event->chip << 16 | (uint64_t)event->at.x << 8 | event->at.y;
        size_t known = table->count;
        const uint64_t *row = MAP_GET(table, &key, NOCAP_INFO_TILES_MAX);
        if (row == NULL && known == NOCAP_INFO_TILES_MAX) {
            info->other_tiles++;
            return true;
        }
        if (row == NULL || (table->count > known && LIST_NEXT(table->tiles, known) == NULL)) {
            return false;
        }
        table->last = &table->tiles[row - table->rows];
        table->last->chip = event->chip;
        table->last->at = event->at;
    }
    table->last->count++;
    return true;
}

static bool count_event(struct nocap_info *info, struct tile_table *table,
                        const struct nocap_header *header, const struct nocap_event *event)
{
    info->t_first = info->events == 0 || event->t < info->t_first ? event->t : info->t_first;
    info->t_last = info->events == 0 || event->t > info->t_last ? event->t : info->t_last;
    info->events++;
    if (nocap_header_event_problem(header, event) != NULL) {
        info->kinds[NOCAP_EV_MALFORMED]++; /* what its fields say is not to be counted with */
        return true;
    }
    info->kinds[event->kind]++;
    uint32_t src = event->src < NOCAP_INFO_SOURCES ? event->src : NOCAP_INFO_SOURCES - 1;
    info->sources[src / 64] |= UINT64_C(1) << (src % 64);
    if ((event->has & NOCAP_F_BY) != 0) {
        info->agents[event->by]++;
    } else if (event->kind == NOCAP_EV_CERT) {
        info->agents[(uint8_t)(NOCAP_BY_UC0 + event->uc)]++;
    } else if (event->kind == NOCAP_EV_DROP) {
        info->dropped = sum_of(info->dropped, event->value);
    }
    if ((event->has & NOCAP_F_TO) != 0) {
        info->multicasts++;
    }
    if ((event->has & NOCAP_F_AT) == 0) {
        info->without_tile++;
        return true;
    }
    return count_tile(table, info, event);
}

static int by_falling_count(const void *a, const void *b)
{
    const struct nocap_info_tile *left = a, *right = b;
    if (left->count != right->count) {
        return left->count < right->count ? 1 : -1;
    }
    int chip = (int)left->chip - (int)right->chip;
    int x = (int)left->at.x - (int)right->at.x;
    return chip != 0 ? chip : x != 0 ? x : (int)left->at.y - (int)right->at.y;
}

enum nocap_status nocap_info_collect(struct nocap_info *info, nocap_info_sink *also, void *context,
                                     struct nocap_reader *reader, struct nocap_error *err)
{
    *info = (struct nocap_info){0};
    const struct nocap_header *header = nocap_reader_header(reader);
    struct tile_table table = {0};
    const struct nocap_event *events;
    size_t count;
    enum nocap_status status;
    while ((status = nocap_reader_next(reader, &events, &count, err)) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            if (!count_event(info, &table, header, &events[i])) {
                free(table.tiles);
                MAP_FREE(&table);
                return nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
            }
        }
        if (also != NULL && (status = also(context, events, count, err)) != NOCAP_OK) {
            break;
        }
    }
    info->tiles = table.tiles;
    info->tile_count = table.count;
    MAP_FREE(&table);
    if (status != NOCAP_END) {
        nocap_info_free(info);
        return status;
    }
    if (info->tile_count > 1) {
        qsort(info->tiles, info->tile_count, sizeof *info->tiles, by_falling_count);
    }
    return NOCAP_OK;
}

void nocap_info_free(struct nocap_info *info)
{
    free(info->tiles);
    info->tiles = NULL;
}
