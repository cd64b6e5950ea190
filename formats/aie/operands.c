/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/operands.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ROWS(NAME, prefix, first, last) NAME,
enum kind {
#include "formats/aie/operands.def"
    KIND_COUNT
};

static const struct {
    const char *prefix;
    uint8_t first, last;
} rows[KIND_COUNT] = {
#define ROWS(NAME, prefix, first, last) [NAME] = {prefix, first, last},
#include "formats/aie/operands.def"
};

static const struct channels {
    uint8_t kind;
    const char *direction;
    uint8_t actor, count;
    uint32_t queue;
} channels[] = {
#define CHANNELS(NAME, direction, actor, count, queue) {NAME, direction, actor, count, queue},
#include "formats/aie/operands.def"
};
enum { CHANNEL_ROWS = sizeof channels / sizeof channels[0], QUEUE_STEP = 8 };

/* Takes `prefix` off the text. */
static bool take_prefix(const char **text, size_t *length, const char *prefix)
{
    size_t n = strlen(prefix);
    if (*length < n || strncasecmp(*text, prefix, n) != 0) {
        return false;
    }
    *text += n;
    *length -= n;
    return true;
}

/* Takes a number of at most 3 digits off the text. */
static bool take_number(const char **text, size_t *length, uint32_t *number)
{
    enum { DIGITS_MAX = 3 };
    size_t n = 0;
    *number = 0;
    while (n < *length && n < DIGITS_MAX && (*text)[n] >= '0' && (*text)[n] <= '9') {
        *number = *number * 10 + (uint32_t)((*text)[n++] - '0');
    }
    *text += n;
    *length -= n;
    return n != 0;
}

bool nocap_aie_tile_parse(const char *text, size_t length, uint32_t *tile)
{
    uint32_t column, row;
    if (!take_prefix(&text, &length, "TILE_") || !take_number(&text, &length, &column) ||
        !take_prefix(&text, &length, "_") || !take_number(&text, &length, &row) || length != 0 ||
        column > NOCAP_AIE_COLUMN_MAX || row > NOCAP_AIE_ROW_MAX) {
        return false;
    }
    *tile = nocap_aie_tile(column, row);
    return true;
}

/* Without a prefix the channel may be one of any kind of tile, which the numbers allow for. */
bool nocap_aie_actor_parse(const char *text, size_t length, uint32_t *actor)
{
    static const char core[] = "TILE_CORE";
    if (length == sizeof core - 1 && strncasecmp(text, core, length) == 0) {
        *actor = NOCAP_AIE_ACTOR_CORE;
        return true;
    }
    for (unsigned i = 0; i < CHANNEL_ROWS; i++) {
        const char *rest = text;
        size_t left = length;
        uint32_t channel;
        bool named = take_prefix(&rest, &left, rows[channels[i].kind].prefix);
        if ((named || channels[i].kind == MEM) &&
            take_prefix(&rest, &left, channels[i].direction) &&
            take_number(&rest, &left, &channel) && left == 0 && channel < channels[i].count) {
            *actor = channels[i].actor + channel;
            return true;
        }
    }
    return false;
}

static const struct channels *find_channels(uint32_t tile, uint32_t actor)
{
    uint32_t row = nocap_aie_tile_row(tile);
    for (unsigned i = 0; i < CHANNEL_ROWS; i++) {
        const struct channels *c = &channels[i];
        if (row >= rows[c->kind].first && row <= rows[c->kind].last && actor >= c->actor &&
            actor < (uint32_t)c->actor + c->count) {
            return c;
        }
    }
    return NULL;
}

bool nocap_aie_actor_name(uint32_t tile, uint32_t actor, enum nocap_aie_dialect dialect, char *text,
                          size_t size)
{
    const struct channels *c = find_channels(tile, actor);
    if (c != NULL) {
        snprintf(text, size, "%s%s%u", rows[c->kind].prefix, c->direction, actor - c->actor);
        return true;
    }
    if (dialect == NOCAP_AIE_N26 && actor == NOCAP_AIE_ACTOR_CORE &&
        nocap_aie_tile_row(tile) > NOCAP_AIE_MEM_ROW_LAST) {
        snprintf(text, size, "TILE_CORE");
        return true;
    }
    return false;
}

bool nocap_aie_task_queue(uint32_t tile, uint32_t actor, uint32_t *address)
{
    const struct channels *c = find_channels(tile, actor);
    if (c == NULL || c->queue == 0) {
        return false;
    }
    *address = nocap_aie_tile_column(tile) << NOCAP_AIE_COLUMN_SHIFT |
               nocap_aie_tile_row(tile) << NOCAP_AIE_ROW_SHIFT |
               (c->queue + (actor - c->actor) * QUEUE_STEP);
    return true;
}

bool nocap_aie_is_task_queue(uint32_t address)
{
    uint32_t row = address >> NOCAP_AIE_ROW_SHIFT & NOCAP_AIE_ROW_MAX;
    uint32_t offset = address & NOCAP_AIE_REGISTER_MASK;
    for (unsigned i = 0; i < CHANNEL_ROWS; i++) {
        const struct channels *c = &channels[i];
        uint32_t past = offset - c->queue;
        if (c->queue != 0 && row >= rows[c->kind].first && row <= rows[c->kind].last &&
            past % QUEUE_STEP == 0 && past / QUEUE_STEP < c->count) {
            return true;
        }
    }
    return false;
}
