/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/compare/polled_addrs.h"

#include <stdlib.h>

#include "checker/compare/event_key.h"
#include "formats/blackhole/mailbox.h"

enum { SLOTS_FIRST = 1 << 10, SLOTS_MAX = 1 << 21 };

struct place {
    uint64_t key;   /* 0: free */
    uint64_t value; /* hash of what the first read returned */
    bool seen;      /* there was a read with a value */
    bool polled;
};

struct nocap_places {
    const struct nocap_header *header;
    struct place *slots; /* open addressing, at most half full */
    size_t count, size;
    uint64_t mailbox_first, mailbox_last; /* L1 addresses; none if first > last */
};

enum nocap_status nocap_places_new(struct nocap_places **places, const struct nocap_header *header,
                                   struct nocap_error *err)
{
    struct nocap_places *p = calloc(1, sizeof *p);
    struct place *slots = calloc(SLOTS_FIRST, sizeof *slots);
    *places = p;
    if (p == NULL || slots == NULL) {
        free(slots);
        free(p);
        *places = NULL;
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory for the places that are polled");
    }
    const struct nocap_mailbox_layout *layout = nocap_header_layout(header, NULL);
    p->header = header;
    p->slots = slots;
    p->size = SLOTS_FIRST;
    p->mailbox_first = 1;
    if (header->arch == NOCAP_ARCH_BLACKHOLE && layout != NULL) {
        p->mailbox_first = NOCAP_MAILBOX_BASE;
        p->mailbox_last = layout->go_message_index + sizeof(uint32_t) - 1;
    }
    return NOCAP_OK;
}

void nocap_places_free(struct nocap_places *places)
{
    if (places != NULL) {
        free(places->slots);
        free(places);
    }
}

static uint64_t key_of(unsigned space, unsigned chip, struct nocap_xy at, uint64_t addr,
                       uint64_t size)
{
    uint64_t place = (uint64_t)space << 32 | (uint64_t)chip << 16 | (uint64_t)at.x << 8 | at.y;
    return nocap_hash_mix(nocap_hash_mix(nocap_hash_mix(1, place), addr), size) | 1;
}

static struct place *slot_of(const struct nocap_places *places, uint64_t key)
{
    size_t mask = places->size - 1, i = (size_t)(key >> 1) & mask;
    while (places->slots[i].key != 0 && places->slots[i].key != key) {
        i = (i + 1) & mask;
    }
    return &places->slots[i];
}

/* Doubles the table; false if it may not grow further. */
static bool grow(struct nocap_places *places)
{
    struct nocap_places twice = *places;
    twice.size *= 2;
    twice.slots = twice.size > SLOTS_MAX ? NULL : calloc(twice.size, sizeof *twice.slots);
    if (twice.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < places->size; i++) {
        if (places->slots[i].key != 0) {
            *slot_of(&twice, places->slots[i].key) = places->slots[i];
        }
    }
    free(places->slots);
    *places = twice;
    return true;
}

static struct place *find_or_add(struct nocap_places *places, uint64_t key)
{
    struct place *place = slot_of(places, key);
    if (place->key != 0) {
        return place;
    }
    if (places->count * 2 >= places->size) {
        if (!grow(places)) {
            return NULL;
        }
        place = slot_of(places, key);
    }
    places->count++;
    place->key = key;
    return place;
}

static uint64_t size_of(const struct nocap_event *event)
{
    return (event->has & NOCAP_F_SIZE) != 0 ? event->size : event->data_size;
}

void nocap_places_add(struct nocap_places *places, const struct nocap_event *event)
{
    struct place *place;
    if (nocap_header_event_problem(places->header, event) != NULL) {
        return;
    }
    if (event->kind == NOCAP_EV_READ || event->kind == NOCAP_EV_MEM) {
        place = find_or_add(
            places, key_of(event->space, event->chip, event->at, event->addr, size_of(event)));
        uint64_t value = nocap_payload_hash(event);
        if (place != NULL) {
            place->polled |= place->seen && place->value != value;
            place->value = value;
            place->seen = true;
        }
    } else if (event->kind == NOCAP_EV_NOC && event->op == NOCAP_OP_ATOMIC) {
        place = find_or_add(places, key_of(NOCAP_SPACE_TILE, event->chip, event->d, event->daddr,
                                           sizeof(uint32_t)));
        if (place != NULL) {
            place->polled = true;
        }
    }
}

bool nocap_places_polled(const struct nocap_places *places, const struct nocap_event *event)
{
    if (event->space == NOCAP_SPACE_TILE && event->addr >= places->mailbox_first &&
        event->addr <= places->mailbox_last) {
        return true;
    }
    return slot_of(places,
                   key_of(event->space, event->chip, event->at, event->addr, size_of(event)))
        ->polled;
}
