/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/core/tile.h"

#include <stdlib.h>
#include <string.h>

/* At the size of struct tile this bounds the model to 32 MiB; what happens on tiles beyond is not
 * judged. */
enum { TILES_START = 256 };

static uint32_t hash_of(uint16_t chip, struct nocap_xy at)
{
    return ((uint32_t)chip << 16 | (uint32_t)at.x << 8 | at.y) * UINT32_C(2654435761) >> 8;
}

/* The tile and the parts of all models in one piece. */
static struct tile *new_tile(struct model *m, uint16_t chip, struct nocap_xy at)
{
    enum { ALIGNMENT = 16 };
    size_t size = (sizeof(struct tile) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, offset[MODELS];
    for (unsigned id = 0; id < MODELS; id++) {
        offset[id] = size;
        size += (m->models[id]->tile_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    struct tile *tile = calloc(1, size);
    if (tile == NULL) {
        m->out_of_memory = true;
        return NULL;
    }
    tile->chip = chip;
    tile->at = at;
    tile->in_scope = nocap_header_in_scope(m->header, at);
    tile->sees_cores = tile->in_scope && (m->header->observes & NOCAP_CLASS_CORE_STORE) != 0;
    bool power_on = m->header->complete == NOCAP_TRUE && !m->dropped &&
                    (m->header->observes & NOCAP_CLASS_HOST_MMIO) != 0;
    memset(tile->l1.known, power_on ? 0xFF : 0, sizeof tile->l1.known);
    for (unsigned id = 0; id < MODELS; id++) {
        tile->part[id] = m->models[id]->tile_size > 0 ? (unsigned char *)tile + offset[id] : NULL;
        if (m->models[id]->tile_init != NULL) {
            m->models[id]->tile_init(m, tile, power_on);
        }
    }
    return tile;
}

static bool grow(struct tile_table *table)
{
    uint32_t size = table->slots == NULL ? TILES_START : 2 * (table->mask + 1);
    struct tile **slots = calloc(size, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    for (uint32_t i = 0; table->slots != NULL && i <= table->mask; i++) {
        struct tile *tile = table->slots[i];
        if (tile != NULL) {
            uint32_t at = hash_of(tile->chip, tile->at) & (size - 1);
            while (slots[at] != NULL) {
                at = (at + 1) & (size - 1);
            }
            slots[at] = tile;
        }
    }
    free(table->slots);
    table->slots = slots;
    table->mask = size - 1;
    return true;
}

/* The tile's place in the table, or the free one where it belongs. */
static struct tile **place_of(const struct tile_table *table, uint16_t chip, struct nocap_xy at)
{
    uint32_t i = hash_of(chip, at) & table->mask;
    while (table->slots[i] != NULL &&
           (table->slots[i]->chip != chip || table->slots[i]->at.x != at.x ||
            table->slots[i]->at.y != at.y)) {
        i = (i + 1) & table->mask;
    }
    return &table->slots[i];
}

struct tile *tile_find(const struct model *m, uint16_t chip, struct nocap_xy at)
{
    return m->tiles.slots == NULL ? NULL : *place_of(&m->tiles, chip, at);
}

struct tile *tile_get(struct model *m, uint16_t chip, struct nocap_xy at)
{
    struct tile_table *table = &m->tiles;
    if ((table->slots == NULL || 2 * table->count > table->mask) && !grow(table)) {
        m->out_of_memory = true;
        return NULL;
    }
    struct tile **place = place_of(table, chip, at);
    if (*place != NULL || table->count == NOCAP_TILES_MAX) {
        table->full |= *place == NULL;
        return *place;
    }
    struct tile *tile = new_tile(m, chip, at);
    if (tile != NULL) {
        *place = tile;
        table->count++;
    }
    return tile;
}

void tile_forget(struct model *m, struct tile *tile)
{
    memset(tile->l1.known, 0, sizeof tile->l1.known);
    for (unsigned id = 0; id < MODELS; id++) {
        if (m->models[id]->tile_forget != NULL) {
            m->models[id]->tile_forget(m, tile);
        }
    }
}

void tiles_free(struct model *m)
{
    for (uint32_t i = 0; m->tiles.slots != NULL && i <= m->tiles.mask; i++) {
        for (unsigned id = 0; m->tiles.slots[i] != NULL && id < MODELS; id++) {
            if (m->models[id]->tile_free != NULL) {
                m->models[id]->tile_free(m->tiles.slots[i]);
            }
        }
        free(m->tiles.slots[i]);
    }
    free(m->tiles.slots);
}

void shadow_store(struct shadow *l1, const struct access *a)
{
    if (a->addr >= SHADOW_SIZE) {
        return;
    }
    uint64_t end = a->addr + a->size < SHADOW_SIZE ? a->addr + a->size : SHADOW_SIZE;
    for (uint64_t at = a->addr; at < end; at++) {
        uint8_t bit = (uint8_t)(1 << at % 8);
        if (at - a->addr < a->known) {
            l1->bytes[at] = a->bytes[at - a->addr];
            l1->known[at / 8] |= bit;
        } else {
            l1->known[at / 8] &= (uint8_t)~bit;
        }
    }
}

void shadow_forget(struct shadow *l1, uint32_t addr, uint32_t size)
{
    shadow_store(l1, &(struct access){.addr = addr, .size = size});
}

bool shadow_byte(const struct shadow *l1, uint32_t addr, uint8_t *v)
{
    if (addr >= SHADOW_SIZE || (l1->known[addr / 8] >> addr % 8 & 1) == 0) {
        return false;
    }
    *v = l1->bytes[addr];
    return true;
}

bool shadow_copy(const struct shadow *l1, uint32_t addr, uint32_t size, uint8_t *to)
{
    if (addr >= SHADOW_SIZE || size > SHADOW_SIZE - addr) {
        return false;
    }
    for (uint32_t at = addr; at < addr + size; at++) {
        if (at % 8 == 0 && addr + size - at >= 8 && l1->known[at / 8] == 0xFF) {
            at += 7;
        } else if ((l1->known[at / 8] >> at % 8 & 1) == 0) {
            return false;
        }
    }
    memcpy(to, l1->bytes + addr, size);
    return true;
}

bool shadow_word(const struct shadow *l1, uint32_t addr, uint32_t *v)
{
    uint8_t b[4];
    if (!shadow_copy(l1, addr, sizeof b, b)) {
        return false;
    }
    *v = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return true;
}

int tile_go_index(const struct model *m, const struct tile *tile)
{
    uint32_t index;
    if (!shadow_word(&tile->l1, m->layout->go_message_index, &index)) {
        return -1;
    }
    return index < NOCAP_GO_WORDS ? (int)index : -1;
}
