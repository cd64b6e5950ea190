/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/operands.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum kind { SHIM, MEM, CORE, NO_KIND };

static const struct rows {
    enum nocap_aie_chip chip;
    enum kind kind;
    const char *prefix;
    uint8_t first, last;
} rows[] = {
#define ROWS(CHIP, KIND, prefix, first, last) {NOCAP_##CHIP, KIND, prefix, first, last},
#include "formats/aie/operands.def"
};

static const struct channels {
    enum nocap_aie_chip chip;
    enum kind kind;
    const char *direction;
    uint8_t channel, actor, count;
    uint32_t queue;
} channels[] = {
#define CHANNELS(CHIP, KIND, direction, channel, actor, count, queue)                              \
    {NOCAP_##CHIP, KIND, direction, channel, actor, count, queue},
#include "formats/aie/operands.def"
};

static const struct registers {
    enum nocap_aie_chip chip;
    enum kind kind;
    const char *name;
    uint32_t first, offset;
    uint8_t step, count, size;
} registers[] = {
#define REGISTERS(CHIP, KIND, name, first, offset, step, count, size)                              \
    {NOCAP_##CHIP, KIND, name, first, offset, step, count, size},
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

static bool is_numbered(const struct channels *c)
{
    return c->direction[strlen(c->direction) - 1] == '_';
}

static const struct rows *rows_of(enum nocap_aie_chip chip, enum kind kind)
{
    const struct rows *r = rows;
    while (r->chip != chip || r->kind != kind) {
        r++;
    }
    return r;
}

/* What the tiles of a row are; NO_KIND: the chip is not known. */
static enum kind kind_of(enum nocap_aie_chip chip, uint32_t row)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].chip == chip && row >= rows[i].first && row <= rows[i].last) {
            return rows[i].kind;
        }
    }
    return NO_KIND;
}

/* The tile of an address, and the offset in it, which is above NOCAP_AIE_REGISTER_MASK in the
 * memory of memory tiles that has rows of its own. */
static uint32_t tile_at(enum nocap_aie_chip chip, uint32_t address, uint32_t *offset)
{
    const struct nocap_aie_chip_info *info = nocap_aie_chip_info(chip);
    uint32_t row = address >> NOCAP_AIE_ROW_SHIFT & NOCAP_AIE_ROW_MAX;
    uint32_t above = info == NULL || row <= info->memory_row_last ? 0 : row - info->memory_row_last;
    uint32_t fewer = above == 0 ? 0 : above < info->wide ? above : info->wide;
    bool memory = above != 0 && above <= info->wide;
    *offset = (address & NOCAP_AIE_REGISTER_MASK) | (memory ? above << NOCAP_AIE_ROW_SHIFT : 0);
    return nocap_aie_tile(address >> NOCAP_AIE_COLUMN_SHIFT, row - fewer);
}

static uint32_t address_of(enum nocap_aie_chip chip, uint32_t tile)
{
    const struct nocap_aie_chip_info *info = nocap_aie_chip_info(chip);
    uint32_t row = nocap_aie_tile_row(tile);
    row += info != NULL && row > info->memory_row_last ? info->wide : 0;
    return nocap_aie_tile_column(tile) << NOCAP_AIE_COLUMN_SHIFT | row << NOCAP_AIE_ROW_SHIFT;
}

/* Without a prefix the channel may be one of any kind of tile, which the numbers of aie2ps allow
 * for. */
bool nocap_aie_actor_parse(enum nocap_aie_chip chip, const char *text, size_t length,
                           uint32_t *actor)
{
    static const char core[] = "TILE_CORE";
    if (length == sizeof core - 1 && strncasecmp(text, core, length) == 0) {
        *actor = NOCAP_AIE_ACTOR_CORE;
        return true;
    }
    for (unsigned i = 0; i < CHANNEL_ROWS; i++) {
        const struct channels *c = &channels[i];
        const char *rest = text;
        size_t left = length;
        uint32_t channel = c->channel;
        bool named =
            c->chip == chip && take_prefix(&rest, &left, rows_of(c->chip, c->kind)->prefix);
        if (c->chip == chip && (named || (c->kind == MEM && chip == NOCAP_AIE2PS)) &&
            take_prefix(&rest, &left, c->direction) &&
            (!is_numbered(c) || take_number(&rest, &left, &channel)) && left == 0 &&
            channel - c->channel < c->count) {
            *actor = c->actor + (channel - c->channel);
            return true;
        }
    }
    return false;
}

static const struct channels *find_channels(enum nocap_aie_chip chip, uint32_t tile, uint32_t actor)
{
    enum kind kind = kind_of(chip, nocap_aie_tile_row(tile));
    for (unsigned i = 0; i < CHANNEL_ROWS; i++) {
        const struct channels *c = &channels[i];
        if (c->chip == chip && c->kind == kind && actor - c->actor < c->count) {
            return c;
        }
    }
    return NULL;
}

bool nocap_aie_actor_name(enum nocap_aie_chip chip, uint32_t tile, uint32_t actor,
                          enum nocap_aie_dialect dialect, char *text, size_t size)
{
    const struct channels *c = find_channels(chip, tile, actor);
    const struct nocap_aie_chip_info *info = nocap_aie_chip_info(chip);
    if (c != NULL) {
        int used = snprintf(text, size, "%s%s", rows_of(c->chip, c->kind)->prefix, c->direction);
        if (is_numbered(c) && (size_t)used < size) {
            snprintf(text + used, size - (size_t)used, "%u", c->channel + (actor - c->actor));
        }
        return true;
    }
    if (dialect == NOCAP_AIE_N26 && actor == NOCAP_AIE_ACTOR_CORE && info != NULL &&
        nocap_aie_tile_row(tile) > info->memory_row_last) {
        snprintf(text, size, "TILE_CORE");
        return true;
    }
    return false;
}

bool nocap_aie_task_queue(enum nocap_aie_chip chip, uint32_t tile, uint32_t actor,
                          uint32_t *address)
{
    const struct channels *c = find_channels(chip, tile, actor);
    if (c == NULL || c->queue == 0) {
        return false;
    }
    *address = address_of(chip, tile) | (c->queue + (actor - c->actor) * QUEUE_STEP);
    return true;
}

/* The channel whose queue has this offset in the tile. */
static const struct channels *queue_of(enum nocap_aie_chip chip, uint32_t tile, uint32_t offset)
{
    enum kind kind = kind_of(chip, nocap_aie_tile_row(tile));
    for (unsigned i = 0; i < CHANNEL_ROWS; i++) {
        const struct channels *c = &channels[i];
        uint32_t past = offset - c->queue;
        if (c->chip == chip && c->kind == kind && c->queue != 0 && past % QUEUE_STEP == 0 &&
            past / QUEUE_STEP < c->count) {
            return c;
        }
    }
    return NULL;
}

bool nocap_aie_next_queue(enum nocap_aie_chip chip, uint32_t from, uint32_t *address)
{
    uint32_t offset, next = UINT32_MAX;
    enum kind kind = kind_of(chip, nocap_aie_tile_row(tile_at(chip, from, &offset)));
    for (unsigned i = 0; i < CHANNEL_ROWS; i++) {
        const struct channels *c = &channels[i];
        uint32_t after = offset > c->queue ? offset - c->queue : 0;
        uint32_t number = (after + QUEUE_STEP - 1) / QUEUE_STEP;
        if (c->chip == chip && c->kind == kind && c->queue != 0 && number < c->count &&
            c->queue + number * QUEUE_STEP < next) {
            next = c->queue + number * QUEUE_STEP;
        }
    }
    *address = (from & ~(uint32_t)NOCAP_AIE_REGISTER_MASK) | next;
    return next != UINT32_MAX;
}

bool nocap_aie_is_task_queue(enum nocap_aie_chip chip, uint32_t address)
{
    uint32_t offset, tile = tile_at(chip, address, &offset);
    return queue_of(chip, tile, offset) != NULL;
}

bool nocap_aie_queue_actor(enum nocap_aie_chip chip, uint32_t address, uint32_t *tile,
                           uint32_t *actor)
{
    uint32_t offset;
    *tile = tile_at(chip, address, &offset);
    const struct channels *c = queue_of(chip, *tile, offset);
    if (c == NULL) {
        return false;
    }
    *actor = c->actor + (offset - c->queue) / QUEUE_STEP;
    return true;
}

const char *nocap_aie_channel_text(enum nocap_aie_chip chip, uint32_t tile, uint32_t actor,
                                   char *text, size_t size)
{
    char name[32];
    if (nocap_aie_actor_name(chip, tile, actor, NOCAP_AIE_N26, name, sizeof name)) {
        snprintf(text, size, "TILE_%u_%u %s", nocap_aie_tile_column(tile), nocap_aie_tile_row(tile),
                 name);
    } else {
        snprintf(text, size, "tile 0x%x actor %u", tile, actor);
    }
    return text;
}

/* "descriptor 3 + 0x8", or the offset. */
static const char *register_text(enum nocap_aie_chip chip, uint32_t row, uint32_t offset,
                                 char *text, size_t size)
{
    enum kind kind = kind_of(chip, row);
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
        const struct registers *r = &registers[i];
        uint32_t number = (offset - r->offset) / r->step, past = (offset - r->offset) % r->step;
        char count[16] = "", part[16] = "";
        if (r->chip != chip || r->kind != kind || offset < r->offset || number >= r->count ||
            past >= r->size) {
            continue;
        }
        if (r->count > 1) {
            snprintf(count, sizeof count, " %u", r->first + number);
        }
        if (past != 0) {
            snprintf(part, sizeof part, " + 0x%x", past);
        }
        snprintf(text, size, "%s%s%s", r->name, count, part);
        return text;
    }
    snprintf(text, size, "+ 0x%x", offset);
    return text;
}

const char *nocap_aie_address_text(enum nocap_aie_chip chip, uint32_t address, char *text,
                                   size_t size)
{
    char channel[48];
    uint32_t tile, actor, offset;
    if (nocap_aie_queue_actor(chip, address, &tile, &actor)) {
        snprintf(text, size, "queue of %s",
                 nocap_aie_channel_text(chip, tile, actor, channel, sizeof channel));
    } else {
        tile = tile_at(chip, address, &offset);
        uint32_t row = nocap_aie_tile_row(tile);
        snprintf(text, size, "TILE_%u_%u %s", nocap_aie_tile_column(tile), row,
                 register_text(chip, row, offset, channel, sizeof channel));
    }
    return text;
}
