/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: a worker tile: its memory as far as models share it, the facts about it, and
 * what each model keeps of it. */
#ifndef NOCAP_REPLAY_TILE_H
#define NOCAP_REPLAY_TILE_H

#include <stddef.h>
#include <string.h>

#include "formats/blackhole/registers.h"
#include "replay/core/model.h"

/* L1 from 0 to the end of the widest mailbox, with a known bit a byte. */
enum { SHADOW_SIZE = 4 * ADDRESS_WORDS };
struct shadow {
    uint8_t bytes[SHADOW_SIZE];
    uint8_t known[SHADOW_SIZE / 8];
};

struct tile {
    uint32_t key; /* of chip and coordinate */
    uint16_t chip;
    struct nocap_xy at;
    bool worker;     /* it has the address space of one */
    bool in_scope;   /* events inside the tile were observed */
    bool sees_cores; /* so were its cores' stores to L1 */
    struct gate_facts gate;
    struct noc_facts noc[NOCS];
    void *part[MODELS]; /* what each model keeps of the tile: after it, the smallest first */
    struct launch_facts launch;
    fault_id go_since;       /* what the GO stored now launches is known since; owner: host, read in
                                `apply` of a store of GO by the host */
    fault_id notified_since; /* of a notify to a queue that came before DONE; owner: cq */
    fault_id go_misled;  /* its GO went to another tile, or it got that of another, as the latest
                            that arrived; owner: noc */
    uint64_t arrived[4]; /* address + 1 of the latest requests that were taken for stores, and
                            have not been seen landing; 0: none; owner: decode */
    struct shadow l1;
    struct stray strays[CORES + 1]; /* the latest of each core, and of the host; owner: engine */
};
enum { STRAYS_OF_HOST = CORES };

/* The fault of a stray store after `turn`, if what it brought is `value` under `mask`; FAULT_NONE:
 * there is none. */
static inline fault_id stray_since(const struct tile *tile, unsigned who, uint64_t turn,
                                   uint32_t mask, uint32_t value)
{
    const struct stray *s = &tile->strays[who];
    return s->turn > turn && (s->value & mask) == value ? s->fault : FAULT_NONE;
}

static inline uint32_t tile_key(uint16_t chip, struct nocap_xy at)
{
    return chip | (uint32_t)at.x << 16 | (uint32_t)at.y << 24;
}

/* Of the tile that an event names: its bytes stand there like that. */
static inline uint32_t tile_key_of(const struct nocap_event *e)
{
    enum { KEY = offsetof(struct nocap_event, chip) };
    _Static_assert(offsetof(struct nocap_event, at) == KEY + sizeof e->chip, "side by side");
    uint32_t key;
    memcpy(&key, (const uint8_t *)e + KEY, sizeof key);
    return key;
}

/* The slot where a tile is looked for first. */
static inline uint32_t tile_slot(uint32_t key)
{
    return key * UINT32_C(2654435761) >> (32 - TILE_SLOT_BITS);
}

/* NULL if it was not met yet. */
static inline struct tile *tile_by_key(const struct model *m, uint32_t key)
{
    for (uint32_t i = tile_slot(key);; i = (i + 1) % TILE_SLOTS) {
        struct tile *tile = m->tiles.slots[i];
        if (tile == NULL || tile->key == key) {
            return tile;
        }
    }
}
static inline struct tile *tile_find(const struct model *m, uint16_t chip, struct nocap_xy at)
{
    return tile_by_key(m, tile_key(chip, at));
}

/* Whether there is one that has the address space of a worker tile. */
static inline bool tile_is_worker(const struct model *m, struct nocap_xy at)
{
    return m->knows_tiles ? model_is_tensix(m, at) : m->header->arch == NOCAP_ARCH_WORMHOLE;
}

/* The tile, made when it is met first; NULL without memory, or if there are too many. */
struct tile *tile_get(struct model *m, uint16_t chip, struct nocap_xy at);
/* What may have changed while events were lost: everything. */
void tile_forget(struct model *m, struct tile *tile);
void tiles_init(struct model *m);
void tiles_free(struct model *m);

/* The go word that go_message_index selects; -1 if not known. */
int tile_go_index(const struct model *m, const struct tile *tile);
/* Where the signal is that BRISC looks at: of that go word, of the first where it is not known. */
uint32_t tile_signal_address(const struct model *m, const struct tile *tile);

void shadow_store(struct shadow *l1, const struct access *a);
void shadow_forget(struct shadow *l1, uint32_t addr, uint32_t size);
static inline bool shadow_byte(const struct shadow *l1, uint32_t addr, uint8_t *v)
{
    if (addr >= SHADOW_SIZE || (l1->known[addr / 8] >> addr % 8 & 1) == 0) {
        return false;
    }
    *v = l1->bytes[addr];
    return true;
}
bool shadow_word(const struct shadow *l1, uint32_t addr, uint32_t *v);
/* As the store makes it. */
bool shadow_word_after(const struct shadow *l1, uint32_t addr, const struct access *store,
                       uint32_t *v);
/* False unless all bytes are known. */
bool shadow_copy(const struct shadow *l1, uint32_t addr, uint32_t size, uint8_t *to);

/* Whether it is from inside a tile that is out of scope, of which not all is shown. */
static inline bool shows_part(const struct observation *o)
{
    const uint32_t inside = OBS(CORE_STORE) | OBS(CORE_LOAD) | OBS(REQUEST) | OBS(PHASE) |
                            OBS(ENTER) | OBS(EXIT) | OBS(RUN) | OBS(HALT) | OBS(TENSIX);
    return o->tile != NULL && !o->tile->in_scope && (inside >> o->kind & 1) != 0;
}

#endif
