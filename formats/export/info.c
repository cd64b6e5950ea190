/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/export/info.h"

#include <stdlib.h>

#include "base/sum.h"
#include "formats/blackhole/xy.h"

/* The table of tiles has a power of two of places, at most half of them taken. */
struct tile_table {
    struct nocap_info_tile *places;
    size_t capacity, count;
    struct nocap_info_tile *last; /* events of one tile often come in a row */
};

static bool is_tile(const struct nocap_info_tile *tile, const struct nocap_event *event)
{
    return tile->chip == event->chip && nocap_xy_equal(tile->at, event->at);
}

static size_t hash_tile(uint16_t chip, struct nocap_xy at)
{
    uint32_t key = (uint32_t)chip << 16 | (uint32_t)at.x << 8 | at.y;
    return (size_t)(key * UINT32_C(0x9E3779B1)) >> 8;
}

/* The tile's place, or the empty one where it belongs. */
static struct nocap_info_tile *find_tile(struct nocap_info_tile *places, size_t capacity,
                                         uint16_t chip, struct nocap_xy at)
{
    size_t i = hash_tile(chip, at) & (capacity - 1);
    while (places[i].count != 0 && (places[i].chip != chip || !nocap_xy_equal(places[i].at, at))) {
        i = (i + 1) & (capacity - 1);
    }
    return &places[i];
}

static bool grow(struct tile_table *table)
{
    size_t capacity = table->capacity == 0 ? 256 : 2 * table->capacity;
    struct nocap_info_tile *places = calloc(capacity, sizeof *places);
    if (places == NULL) {
        return false;
    }
    for (size_t i = 0; i < table->capacity; i++) {
        const struct nocap_info_tile *tile = &table->places[i];
        if (tile->count != 0) {
            *find_tile(places, capacity, tile->chip, tile->at) = *tile;
        }
    }
    free(table->places);
    table->places = places;
    table->capacity = capacity;
    table->last = NULL;
    return true;
}

static bool count_tile(struct tile_table *table, struct nocap_info *info,
                       const struct nocap_event *event)
{
    if (table->last != NULL && is_tile(table->last, event)) {
        table->last->count++;
        return true;
    }
    if (2 * table->count >= table->capacity && !grow(table)) {
        return false;
    }
    struct nocap_info_tile *tile =
        find_tile(table->places, table->capacity, event->chip, event->at);
    if (tile->count == 0) {
        if (table->count == NOCAP_INFO_TILES_MAX) {
            info->other_tiles++;
            return true;
        }
        table->count++;
        *tile = (struct nocap_info_tile){event->chip, event->at, 0};
    }
    tile->count++;
    table->last = tile;
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
                free(table.places);
                return nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
            }
        }
        if (also != NULL && (status = also(context, events, count, err)) != NOCAP_OK) {
            break;
        }
    }
    if (status != NOCAP_END) {
        free(table.places);
        return status;
    }
    if (table.capacity > 0) {
        qsort(table.places, table.capacity, sizeof *table.places, by_falling_count);
    }
    info->tiles = table.places;
    info->tile_count = table.count;
    return NOCAP_OK;
}

void nocap_info_free(struct nocap_info *info)
{
    free(info->tiles);
    info->tiles = NULL;
}
