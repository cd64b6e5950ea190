/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/core/tile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SMALL = 16, LINE = 64 }; /* bytes of the parts of models that keep their state elsewhere */

static size_t to_line(size_t size)
{
    return (size + LINE - 1) / LINE * LINE;
}

/* Where the parts lie: small ones in one line of the cache, each other one begins with a line. */
void tiles_init(struct model *m)
{
    struct tile_table *t = &m->tiles;
    const size_t small = to_line(sizeof(struct tile));
    t->size = small;
    for (unsigned id = 0; id < MODELS; id++) {
        bool is_small = m->models[id]->tile_size <= SMALL;
        t->offset[id] = t->size;
        t->size += is_small && m->models[id]->tile_size > 0 ? SMALL : 0;
    }
    for (unsigned id = 0; id < MODELS; id++) {
        if (m->models[id]->tile_size > SMALL) {
            t->offset[id] = to_line(t->size);
            t->size = t->offset[id] + m->models[id]->tile_size;
        }
    }
    t->size = to_line(t->size);
    const uint32_t launch = (uint32_t)t->offset[MODEL_LAUNCH];
    const uint32_t hot[TILE_HOT_LINES] = {0, LINE, (uint32_t)small, launch, launch + LINE};
    memcpy(t->hot, hot, sizeof hot);
}

/* A trace has few tiles, or most of a chip, met by one multicast. So behind the first tiles lie the
 * others in pieces of memory that are a large page each, where the system has them. */
enum { FIRST_TILES = 16, LARGE_PAGE = 2 << 20 };

/* Whether the tile that is met as this one begins a piece. */
static bool begins_piece(const struct tile_table *t, uint32_t number)
{
    return number == 0 ||
           (number >= FIRST_TILES && (number - FIRST_TILES) % (LARGE_PAGE / t->size) == 0);
}

/* NULL without memory. */
static void *next_place(const struct tile_table *t)
{
    if (!begins_piece(t, t->count)) {
        return (unsigned char *)t->met[t->count - 1] + t->size;
    }
    if (t->count == 0) {
        return aligned_alloc(LINE, FIRST_TILES * t->size);
    }
    void *piece = aligned_alloc(LARGE_PAGE, LARGE_PAGE);
    if (piece != NULL) {
        madvise(piece, LARGE_PAGE, MADV_HUGEPAGE);
    }
    return piece;
}

/* The tile and the parts of all models in one piece. */
static struct tile *new_tile(struct model *m, uint16_t chip, struct nocap_xy at)
{
    struct tile *tile = next_place(&m->tiles);
    if (tile == NULL) {
        m->out_of_memory = true;
        return NULL;
    }
    memset(tile, 0, m->tiles.size);
    tile->key = tile_key(chip, at);
    tile->chip = chip;
    tile->at = at;
    tile->worker = tile_is_worker(m, at);
    tile->in_scope = nocap_header_in_scope(m->header, at);
    tile->sees_cores = tile->in_scope && (m->header->observes & NOCAP_CLASS_CORE_STORE) != 0;
    bool power_on = m->header->complete == NOCAP_TRUE && !m->dropped &&
                    (m->header->observes & NOCAP_CLASS_HOST_MMIO) != 0;
    memset(tile->l1.known, power_on ? 0xFF : 0, sizeof tile->l1.known);
    for (unsigned id = 0; id < MODELS; id++) {
        tile->part[id] =
            m->models[id]->tile_size > 0 ? (unsigned char *)tile + m->tiles.offset[id] : NULL;
    }
    EACH_MODEL(m, tile_init, m, tile, power_on);
    return tile;
}

struct tile *tile_get(struct model *m, uint16_t chip, struct nocap_xy at)
{
    struct tile_table *table = &m->tiles;
    struct tile *tile = tile_find(m, chip, at);
    if (tile != NULL || table->count == NOCAP_TILES_MAX) {
        table->full |= tile == NULL;
        return tile;
    }
    tile = new_tile(m, chip, at);
    if (tile != NULL) {
        uint32_t slot = tile_slot(tile->key);
        while (table->slots[slot] != NULL) {
            slot = (slot + 1) % TILE_SLOTS;
        }
        table->slots[slot] = table->met[table->count++] = tile;
    }
    return tile;
}

void tile_forget(struct model *m, struct tile *tile)
{
    memset(tile->l1.known, 0, sizeof tile->l1.known);
    EACH_MODEL(m, tile_forget, m, tile);
}

void tiles_free(struct model *m)
{
    for (uint32_t i = m->tiles.count; i-- > 0;) {
        EACH_MODEL(m, tile_free, m->tiles.met[i]);
        if (begins_piece(&m->tiles, i)) {
            free(m->tiles.met[i]);
        }
    }
}

/* Known bits of eight bytes of memory are a byte: those of `at` up to the end of its eight, or to
 * `end`, of which `next` is then the first one after that. */
static inline uint8_t known_bits(uint64_t at, uint64_t end, uint64_t *next)
{
    *next = (at | 7) + 1 < end ? (at | 7) + 1 : end;
    return (uint8_t)(((1u << (*next - at)) - 1) << at % 8);
}

static bool all_known(const struct shadow *l1, uint64_t at, uint64_t end)
{
    uint8_t unknown = 0;
    while (at % 8 == 0 && end - at >= 8 && l1->known[at / 8] == 0xFF) {
        at += 8;
    }
    for (uint64_t next; at < end && unknown == 0; at = next) {
        unknown = known_bits(at, end, &next) & (uint8_t)~l1->known[at / 8];
    }
    return unknown == 0;
}

void shadow_store(struct shadow *l1, const struct access *a)
{
    if (a->addr >= SHADOW_SIZE) {
        return;
    }
    uint64_t room = SHADOW_SIZE - a->addr, size = a->size < room ? a->size : room;
    uint64_t known = a->known < size ? a->known : size, next;
    if (known > 0) {
        memcpy(l1->bytes + a->addr, a->bytes, known);
    }
    for (uint64_t at = a->addr; at < a->addr + known; at = next) {
        l1->known[at / 8] |= known_bits(at, a->addr + known, &next);
    }
    for (uint64_t at = a->addr + known; at < a->addr + size; at = next) {
        l1->known[at / 8] &= (uint8_t)~known_bits(at, a->addr + size, &next);
    }
}

void shadow_forget(struct shadow *l1, uint32_t addr, uint32_t size)
{
    shadow_store(l1, &(struct access){.addr = addr, .size = size});
}

bool shadow_copy(const struct shadow *l1, uint32_t addr, uint32_t size, uint8_t *to)
{
    if (addr >= SHADOW_SIZE || size > SHADOW_SIZE - addr ||
        !all_known(l1, addr, (uint64_t)addr + size)) {
        return false;
    }
    memcpy(to, l1->bytes + addr, size);
    return true;
}

bool shadow_word(const struct shadow *l1, uint32_t addr, uint32_t *v)
{
    enum { ALIGNED = 0xF }; /* known bits of such a word */
    uint8_t b[4];
    if (addr % sizeof b == 0 && addr < SHADOW_SIZE) {
        memcpy(b, l1->bytes + addr, sizeof b);
        if ((l1->known[addr / 8] >> addr % 8 & ALIGNED) != ALIGNED) {
            return false;
        }
    } else if (!shadow_copy(l1, addr, sizeof b, b)) {
        return false;
    }
    *v = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return true;
}

bool shadow_word_after(const struct shadow *l1, uint32_t addr, const struct access *store,
                       uint32_t *v)
{
    *v = 0;
    for (unsigned i = 0; i < sizeof *v; i++) {
        uint8_t byte;
        if (!access_byte(store, addr + i, &byte) &&
            (touches(store, addr + i, 1) || !shadow_byte(l1, addr + i, &byte))) {
            return false;
        }
        *v |= (uint32_t)byte << 8 * i;
    }
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

uint32_t tile_signal_address(const struct model *m, const struct tile *tile)
{
    int active = tile_go_index(m, tile);
    return nocap_go_word_address(m->layout, active < 0 ? 0 : (unsigned)active) +
           NOCAP_GO_SIGNAL_BYTE;
}
