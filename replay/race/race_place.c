/* SPDX-License-Identifier: Apache-2.0 */
/* The memories that requests touch: found by chip and coordinate, made when they are met first. */
#include "replay/race/race_private.h"

#include <stdlib.h>

enum { SLOTS_START = 256 };

/* ---- places ---- */

static uint32_t hash_of(uint16_t chip, struct nocap_xy at)
{
    return ((uint32_t)chip << 16 | (uint32_t)at.x << 8 | at.y) * UINT32_C(2654435761) >> 8;
}

static uint32_t *slot_of(const struct race *r, uint16_t chip, struct nocap_xy at)
{
    uint32_t i = hash_of(chip, at) & r->mask;
    while (r->slots[i] != 0) {
        const struct race_place *p = r->places[r->slots[i] - 1];
        if (p->chip == chip && nocap_xy_equal(p->at, at)) {
            break;
        }
        i = (i + 1) & r->mask;
    }
    return &r->slots[i];
}

static bool grow(struct race *r)
{
    uint32_t size = r->slots == NULL ? SLOTS_START : 2 * (r->mask + 1);
    uint32_t *slots = calloc(size, sizeof *slots);
    struct race_place **places = realloc(r->places, size / 2 * sizeof *places);
    if (places != NULL) {
        r->places = places;
    }
    if (slots == NULL || places == NULL) {
        free(slots);
        return false;
    }
    free(r->slots);
    r->slots = slots;
    r->mask = size - 1;
    for (uint32_t i = 0; i < r->count; i++) {
        *slot_of(r, r->places[i]->chip, r->places[i]->at) = i + 1;
    }
    return true;
}

struct race_place *race_place_find(const struct race *r, uint16_t chip, struct nocap_xy at)
{
    uint32_t slot = r == NULL || r->slots == NULL ? 0 : *slot_of(r, chip, at);
    return slot == 0 ? NULL : r->places[slot - 1];
}

struct race_place *race_place_get(struct model *m, uint16_t chip, struct nocap_xy at)
{
    struct race *r = race_of(m);
    struct race_place *p = race_place_find(r, chip, at);
    if (p != NULL || r->count == RACE_PLACES_MAX) {
        return p;
    }
    if ((r->slots == NULL || 2 * r->count >= r->mask) && !grow(r)) {
        m->out_of_memory = true;
        return NULL;
    }
    p = calloc(1, sizeof *p);
    if (p == NULL) {
        m->out_of_memory = true;
        return NULL;
    }
    p->chip = chip;
    p->at = at;
    p->number = r->count;
    r->places[r->count++] = p;
    *slot_of(r, chip, at) = r->count;
    return p;
}

/* ---- the model's part ---- */

static void free_places(struct race *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct race_place *p = r->places[i];
        race_memory_free(&p->memory);
        for (unsigned core = 0; core < RACE_CORES; core++) {
            race_clock_drop(p->clocks[core]);
        }
        free(p);
    }
    free(r->places);
    free(r->slots);
    r->places = NULL;
    r->slots = NULL;
    r->count = r->mask = 0;
}

void race_free(struct model *m)
{
    if (race_of(m) != NULL) {
        free_places(race_of(m));
        free(race_of(m));
        m->state[MODEL_RACE] = NULL;
    }
}

void race_forget(struct model *m)
{
    if (race_of(m) != NULL) {
        free_places(race_of(m));
        race_of(m)->start = m->event->index + 1;
    }
}

bool race_begin(struct model *m)
{
    if (race_of(m) != NULL) {
        return true;
    }
    m->state[MODEL_RACE] = calloc(1, sizeof *race_of(m));
    m->out_of_memory |= race_of(m) == NULL;
    if (race_of(m) != NULL) {
        const uint32_t outside = NOCAP_CLASS_HOST_MMIO;
        race_of(m)->all_seen = (m->header->observes & outside) == outside && !m->header->has_scope;
    }
    return race_of(m) != NULL;
}
