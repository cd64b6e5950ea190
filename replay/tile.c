#include "replay/tile.h"

#include <stdlib.h>
#include <string.h>

#include "replay/noc.h"

/* At the size of struct tile this bounds the model to 32 MiB; what happens on tiles beyond is not
 * judged. */
enum { TILES_START = 256 };

static uint32_t hash_of(uint16_t chip, struct nocap_xy at)
{
    return ((uint32_t)chip << 16 | (uint32_t)at.x << 8 | at.y) * UINT32_C(2654435761) >> 8;
}

static struct tile *new_tile(struct model *m, uint16_t chip, struct nocap_xy at)
{
    struct tile *tile = calloc(1, sizeof *tile);
    if (tile == NULL) {
        m->out_of_memory = true;
        return NULL;
    }
    tile->chip = chip;
    tile->at = at;
    tile->in_scope = nocap_header_in_scope(m->header, at);
    tile->sees_cores = tile->in_scope && (m->header->observes & NOCAP_CLASS_CORE_STORE) != 0;
    /* What is known at power-on stays known only while the host's writes are seen. */
    tile->sees_outside = (m->header->observes & NOCAP_CLASS_HOST_MMIO) != 0 &&
                         ((m->header->observes & NOCAP_CLASS_NOC) != 0 || !m->header->cq.present);
    bool power_on = m->header->complete == NOCAP_TRUE && !m->dropped &&
                    (m->header->observes & NOCAP_CLASS_HOST_MMIO) != 0;
    memset(tile->l1.known, power_on ? 0xFF : 0, sizeof tile->l1.known);
    const uint32_t inside = NOCAP_CLASS_CORE_STORE | NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO |
                            NOCAP_CLASS_NOC | NOCAP_CLASS_KERNEL | NOCAP_CLASS_TENSIX_PUSH |
                            NOCAP_CLASS_TENSIX_ISSUE;
    pace_init(&tile->pace, tile->in_scope && (m->header->observes & inside) != 0);
    boot_init(tile, power_on);
    sync_init(tile, power_on);
    launch_init(tile, power_on);
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

void tile_forget(struct tile *tile)
{
    deferred_drop(tile);
    memset(tile->l1.known, 0, sizeof tile->l1.known);
    gate_forget(tile);
    noc_forget(tile);
    pace_init(&tile->pace, tile->pace.all.known); /* a silence may be what was lost */
    boot_init(tile, false);
    sync_init(tile, false);
    launch_init(tile, false);
}

void tiles_free(struct model *m)
{
    for (uint32_t i = 0; m->tiles.slots != NULL && i <= m->tiles.mask; i++) {
        if (m->tiles.slots[i] != NULL) {
            gate_forget(m->tiles.slots[i]);
            noc_forget(m->tiles.slots[i]);
            deferred_drop(m->tiles.slots[i]);
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
    for (uint32_t i = 0; i < size; i++) {
        if (!shadow_byte(l1, addr + i, &to[i])) {
            return false;
        }
    }
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
