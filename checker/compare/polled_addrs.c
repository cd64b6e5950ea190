/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/compare/polled_addrs.h"

#include <stdlib.h>

#include "base/map.h"
#include "checker/compare/event_key.h"
#include "formats/blackhole/mailbox.h"

enum { PLACES_MAX = 1 << 20 };

struct place {
    uint64_t key;
    uint64_t value; /* hash of what the first read returned */
    bool seen;      /* there was a read with a value */
    bool polled;
};

struct nocap_places {
    const struct nocap_header *header;
    MAP(struct place);
    uint64_t mailbox_first, mailbox_last; /* L1 addresses; none if first > last */
};

enum nocap_status nocap_places_new(struct nocap_places **places, const struct nocap_header *header,
                                   struct nocap_error *err)
{
    struct nocap_places *p = calloc(1, sizeof *p);
    *places = p;
    RETURN_ERROR_IF(p == NULL, err, NOCAP_E_MEMORY, "out of memory for the places that are polled");
    const struct nocap_mailbox_layout *layout = nocap_header_layout(header, NULL);
    p->header = header;
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
        MAP_FREE(places);
        free(places);
    }
}

static uint64_t key_of(unsigned space, unsigned chip, struct nocap_xy at, uint64_t addr,
                       uint64_t size)
{
    uint64_t place = (uint64_t)space << 32 | (uint64_t)chip << 16 | (uint64_t)at.x << 8 | at.y;
    return nocap_hash_mix(nocap_hash_mix(nocap_hash_mix(1, place), addr), size);
}

static struct place *find_or_add(struct nocap_places *places, uint64_t key)
{
    return MAP_GET(places, &key, PLACES_MAX);
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
    uint64_t key = key_of(event->space, event->chip, event->at, event->addr, size_of(event));
    const struct place *place = MAP_FIND(places, &key);
    return place != NULL && place->polled;
}
