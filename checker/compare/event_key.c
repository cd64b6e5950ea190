/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/compare/event_key.h"

#include <stdlib.h>

#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/registers.h"
#include "formats/blackhole/tile_map.h"

uint64_t nocap_hash_mix(uint64_t hash, uint64_t v)
{
    uint64_t z = hash ^ (v + UINT64_C(0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t mix_bytes(uint64_t hash, const uint8_t *bytes, size_t size)
{
    hash = nocap_hash_mix(hash, size);
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        size_t n = size - i < sizeof word ? size - i : sizeof word;
        for (size_t k = 0; k < n; k++) {
            word |= (uint64_t)bytes[i + k] << (8 * k);
        }
        hash = nocap_hash_mix(hash, word);
    }
    return hash;
}

/* The payload as a number, whether it was given as one or as bytes; false if it is none. */
static bool number_of(const struct nocap_event *event, uint64_t *value, size_t *size)
{
    if ((event->has & NOCAP_F_VALUE) != 0) {
        bool sized = (event->has & NOCAP_F_SIZE) != 0 && event->size < sizeof *value;
        *size = sized ? (size_t)event->size : sizeof *value;
        *value = sized ? event->value & ((UINT64_C(1) << (8 * event->size)) - 1) : event->value;
        return true;
    }
    *value = 0;
    *size = event->data_size;
    for (size_t i = 0; i < *size && i < sizeof *value; i++) {
        *value |= (uint64_t)event->data[i] << (8 * i);
    }
    return *size <= sizeof *value;
}

uint64_t nocap_payload_hash(const struct nocap_event *event)
{
    uint64_t value;
    size_t size;
    return number_of(event, &value, &size) ? nocap_hash_mix(nocap_hash_mix(1, size), value)
                                           : mix_bytes(1, event->data, event->data_size);
}

/* The same for bytes and for the hash that stands in for them. */
static uint64_t payload_by_hash(const struct nocap_event *event)
{
    uint64_t value;
    size_t size;
    if ((event->has & (NOCAP_F_VALUE | NOCAP_F_DATA)) == 0) {
        return nocap_hash_mix(2, event->hash);
    }
    if (number_of(event, &value, &size)) {
        return nocap_payload_hash(event);
    }
    return nocap_hash_mix(2, nocap_fnv1a64(NOCAP_FNV1A64_START, event->data, event->data_size));
}

/* ---- clocks ---- */

static struct nocap_clock_value *clock_slot(struct nocap_event_key *event_key, uint32_t value)
{
    return &event_key->clock[value * UINT32_C(2654435761) >> 20];
}
_Static_assert(NOCAP_CLOCKS_KEPT == 1 << 12, "clock_slot takes the upper 12 bits");

static bool is_clock(const struct nocap_event *event)
{
    return event->space == NOCAP_SPACE_TILE &&
           (event->addr == NOCAP_REG_WALL_CLOCK_L || event->addr == NOCAP_REG_WALL_CLOCK_H);
}

static bool by_core(const struct nocap_event *event)
{
    return event->by >= NOCAP_BY_BRISC && event->by <= NOCAP_BY_TRISC2;
}

/* Whether a clock returned the word before: to the core that now stores it, or, where bytes arrive
 * from elsewhere, to any. */
static bool came_from_clock(struct nocap_event_key *event_key, const struct nocap_event *event,
                            uint32_t word)
{
    const struct nocap_clock_value *clock = clock_slot(event_key, word);
    bool same = clock->by == event->by && nocap_xy_equal(clock->at, event->at);
    return clock->value == word && (same || !by_core(event));
}

/* Whether the payload is a time: a word by the core that read it, or both words of it. */
static bool tells_time(struct nocap_event_key *event_key, const struct nocap_event *event)
{
    uint64_t value;
    size_t size;
    if (!number_of(event, &value, &size) ||
        size < (by_core(event) ? sizeof(uint32_t) : sizeof value)) {
        return false;
    }
    uint32_t low = (uint32_t)value, high = (uint32_t)(value >> 32);
    return low != 0 && came_from_clock(event_key, event, low) &&
           (high == 0 || came_from_clock(event_key, event, high));
}

/* ---- what counts ---- */

/* Fields that say when, or how often, or what only one run knows. */
static uint64_t left_out(const struct nocap_event *event)
{
    uint64_t fields = NOCAP_F_SEQ | NOCAP_F_N | NOCAP_F_T2 | NOCAP_F_ID;
    bool enter = event->kind == NOCAP_EV_KERNEL && event->op == NOCAP_OP_ENTER;
    fields |= enter ? 0 : NOCAP_F_PC;
    fields |= event->kind == NOCAP_EV_TENSIX ? NOCAP_F_SEM : 0;
    return fields;
}

/* Kind and every field that counts; a field that is 0 is as good as none, save a payload. */
static uint64_t hash_of(const struct nocap_event_key *event_key, const struct nocap_event *event,
                        bool payload)
{
    uint64_t fields = nocap_kind_fields((enum nocap_kind)event->kind) & ~left_out(event);
    bool by_hash = event_key->by_hash && (fields & NOCAP_F_HASH) != 0 &&
                   (event->has & (NOCAP_F_DATA | NOCAP_F_HASH)) != 0;
    uint64_t data = NOCAP_F_VALUE | NOCAP_F_DATA | NOCAP_F_INSN | NOCAP_F_HEAD | NOCAP_F_TEXT |
                    (by_hash ? NOCAP_F_HASH : 0);
    uint64_t hash = nocap_hash_mix(event->kind, event->op);
    for (uint64_t rest = fields & ~data & event->has; rest != 0; rest &= rest - 1) {
        unsigned f = (unsigned)__builtin_ctzll(rest);
        uint64_t v = nocap_event_number(event, (enum nocap_field)f);
        hash = v == 0 ? hash : nocap_hash_mix(nocap_hash_mix(hash, f), v);
    }
    bool opaque = event->kind == NOCAP_EV_UNKNOWN || event->kind == NOCAP_EV_MALFORMED;
    if (opaque || (payload && (event->has & fields & data) != 0)) {
        hash = nocap_hash_mix(hash, by_hash ? payload_by_hash(event) : nocap_payload_hash(event));
    }
    return hash;
}

/* Leaves out what two runs of one program need not share. */
static bool counts(const struct nocap_event_key *event_key, const struct nocap_event *event)
{
    switch (event->kind) {
    case NOCAP_EV_READ: /* loads of cores are a sample if the capture does not promise all */
        if (by_core(event) && event_key->header->has_observes &&
            (event_key->header->observes & NOCAP_CLASS_CORE_LOAD) == 0) {
            return false;
        }
        return !nocap_places_polled(event_key->places, event);
    case NOCAP_EV_MEM: return !nocap_places_polled(event_key->places, event);
    case NOCAP_EV_NOTE:
    case NOCAP_EV_DROP: return false;
    case NOCAP_EV_NOC: return event->phase == NOCAP_PHASE_ISSUE;
    case NOCAP_EV_TENSIX: return event->op == NOCAP_OP_PUSH || event->op == NOCAP_OP_ISSUE;
    case NOCAP_EV_CERT: return event->op != NOCAP_OP_BLOCK && event->op != NOCAP_OP_UNBLOCK;
    default: return true;
    }
}

/* Firmware stores the read pointer at every poll while a reset request stands. */
static bool is_idle(const struct nocap_event_key *event_key, const struct nocap_event *event)
{
    if (event->kind != NOCAP_EV_WRITE || !by_core(event) || event->space != NOCAP_SPACE_TILE) {
        return false;
    }
    const struct nocap_mailbox_layout *layout = nocap_header_layout(event_key->header, NULL);
    return layout != NULL && event->addr == layout->rd_ptr;
}

bool nocap_event_key_of(struct nocap_event_key *event_key, const struct nocap_event *event,
                        struct nocap_item *item)
{
    bool is_read = event->kind == NOCAP_EV_READ || event->kind == NOCAP_EV_MEM;
    if (event_key->with_time) {
        uint64_t polls = nocap_hash_mix(event->n, event->t2);
        *item = (struct nocap_item){
            .hash = nocap_hash_mix(nocap_hash_mix(hash_of(event_key, event, true), event->t),
                                   is_read ? polls : 0)};
        return event->kind != NOCAP_EV_NOTE;
    }
    if (nocap_header_event_problem(event_key->header, event) != NULL) {
        *item = (struct nocap_item){.hash = hash_of(event_key, event, true)};
        return true; /* all that it says, as it stands */
    }
    if (event->kind == NOCAP_EV_READ && is_clock(event) && event->value != 0) {
        uint32_t value = (uint32_t)event->value;
        *clock_slot(event_key, value) =
            (struct nocap_clock_value){.value = value, .at = event->at, .by = event->by};
    }
    if (!counts(event_key, event)) {
        return false;
    }
    /* Registers return counters and clocks: that they were read counts, not what they said. */
    bool returns_time = event->kind == NOCAP_EV_READ && event->space == NOCAP_SPACE_TILE &&
                        nocap_tile_region(event->addr)->kind != NOCAP_KIND_MEMORY;
    bool payload = !returns_time && !tells_time(event_key, event);
    *item = (struct nocap_item){.hash = hash_of(event_key, event, payload),
                                .is_read = is_read,
                                .is_idle = is_idle(event_key, event)};
    return true;
}

/* ---- repeats ---- */

bool nocap_repeats_drop(struct nocap_repeats *repeats, const struct nocap_item *item)
{
    bool again = item->is_idle && repeats->last == item->hash;
    repeats->last = item->hash;
    if (!item->is_read) {
        repeats->run_count = 0;
        return again;
    }
    for (unsigned i = 0; i < repeats->run_count; i++) {
        if (repeats->run[i] == item->hash) {
            return true;
        }
    }
    if (repeats->run == NULL) {
        repeats->run = malloc(NOCAP_RUN_MAX * sizeof *repeats->run);
    }
    if (repeats->run != NULL && repeats->run_count < NOCAP_RUN_MAX) {
        repeats->run[repeats->run_count++] = item->hash;
    }
    return false;
}

void nocap_repeats_free(struct nocap_repeats *repeats)
{
    free(repeats->run);
}
