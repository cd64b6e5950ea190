/* SPDX-License-Identifier: Apache-2.0 */
/* What the NOC event profiler recorded, as events. A file names a core by device, coordinates and
 * processor; each such core is a source of its own, since only its own events are in order. Zones
 * name no device: they wait for the next event of the same run and core, which names it or shows
 * that nothing does. */
#include <stdlib.h>

#include "base/map.h"
#include "formats/import/noc_json.h"
#include "formats/trace/note.h"

enum {
    WAITING_MAX = 8192,
    CORE_MASK = 0xffffff, /* of a key: tile and core, without the run */
    CORES_MAX = 1 << 20,
};

/* What is said of an import when it is over. */
static const char *const remarks[NOC_JSON_REMARKS] = {
    [NOC_JSON_REMARK_TYPE] = "of a type that is not known, kept as notes",
    [NOC_JSON_REMARK_STATE] = "that set up a command buffer and send nothing, kept as notes",
    [NOC_JSON_REMARK_LOCAL] =
        "that do not say which bytes of the own memory they touch, kept as notes",
    [NOC_JSON_REMARK_FAR] = "go to another chip: where they end is kept beside the event",
    [NOC_JSON_REMARK_AGENT] = "that name no RISC of a worker core",
    [NOC_JSON_REMARK_PLACE] = "that name no core, kept as notes",
    [NOC_JSON_REMARK_TIME] = "without a time, kept as notes",
    [NOC_JSON_REMARK_BACK] =
        "earlier than the one before of their RISC: a source of their own begins there",
    [NOC_JSON_REMARK_CHIP] = "zones of unknown device, put on the file's first",
    [NOC_JSON_REMARK_KEPT] = "with members too long to keep",
};

struct zone {
    struct noc_json_entry *entry; /* owned */
    uint64_t key;
};

/* What is known of a core, or of a run. */
struct core {
    uint64_t key;
    uint64_t number; /* of its source, or of its chip */
    uint64_t latest; /* time */
};
struct cores {
    MAP(struct core);
};

struct noc_json_events {
    struct nocap_writer *writer;
    struct cores sources; /* by chip, tile and core */
    struct cores chips;   /* by run, tile and core, and by run alone */
    struct zone *waiting; /* a ring */
    uint32_t first, count;
    uint32_t next_source;
    uint16_t chip;
    bool devices; /* an event has named one */
    uint64_t remarks[NOC_JSON_REMARKS];
};

enum nocap_status noc_json_events_new(struct noc_json_events **events, struct nocap_writer *writer,
                                      struct nocap_error *err)
{
    struct noc_json_events *v = calloc(1, sizeof *v);
    struct zone *waiting = calloc(WAITING_MAX, sizeof *waiting);
    if (v == NULL || waiting == NULL) {
        free(v);
        free(waiting);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    }
    v->writer = writer;
    v->waiting = waiting;
    *events = v;
    return NOCAP_OK;
}

void noc_json_events_free(struct noc_json_events *v)
{
    if (v == NULL) {
        return;
    }
    for (uint32_t i = 0; i < v->count; i++) {
        free(v->waiting[(v->first + i) % WAITING_MAX].entry);
    }
    free(v->waiting);
    MAP_FREE(&v->sources);
    MAP_FREE(&v->chips);
    free(v);
}

void noc_json_events_input(struct noc_json_events *v, uint16_t chip)
{
    v->chip = chip;
    v->devices = false;
    MAP_FREE(&v->chips); /* runs of another file are others */
}

/* ---- sources and chips ---- */

static uint64_t core_key(uint64_t group, struct nocap_xy at, uint8_t by)
{
    return group << 24 | (uint64_t)at.x << 16 | (uint64_t)at.y << 8 | by;
}

static uint64_t run_of(const struct noc_json_entry *entry)
{
    uint64_t run;
    return noc_json_positive(entry, NOC_JSON_RUN_HOST_ID, &run) ? (run + 1) & UINT32_MAX : 0;
}

static void set_chip(struct noc_json_events *v, uint64_t key, uint64_t chip)
{
    struct core *row = MAP_GET(&v->chips, &key, CORES_MAX);
    if (row != NULL) {
        row->number = chip;
    }
}

/* Learns or looks up the chip of an entry; false: nothing tells it yet. */
static bool chip_of(struct noc_json_events *v, const struct noc_json_entry *entry,
                    const struct nocap_event *e, uint16_t *chip)
{
    uint64_t device, run = run_of(entry);
    uint64_t key = core_key(run, e->at, e->by);
    uint64_t run_key = core_key(run, (struct nocap_xy){UINT8_MAX, UINT8_MAX}, UINT8_MAX);
    if (noc_json_positive(entry, NOC_JSON_SRC_DEVICE, &device) && device <= UINT16_MAX) {
        set_chip(v, key, device);
        set_chip(v, run_key, device);
        v->devices = true;
        *chip = (uint16_t)device;
        return true;
    }
    const struct core *row = MAP_FIND(&v->chips, &key);
    *chip = row != NULL ? (uint16_t)row->number : v->chip;
    return row != NULL || (run == 0 && !v->devices);
}

static uint16_t chip_guess(struct noc_json_events *v, const struct noc_json_entry *entry)
{
    uint64_t key = core_key(run_of(entry), (struct nocap_xy){UINT8_MAX, UINT8_MAX}, UINT8_MAX);
    const struct core *row = MAP_FIND(&v->chips, &key);
    v->remarks[NOC_JSON_REMARK_CHIP] += row == NULL && v->devices;
    return row != NULL ? (uint16_t)row->number : v->chip;
}

static enum nocap_status put(struct noc_json_events *v, struct noc_json_builder *d,
                             struct nocap_error *err)
{
    struct nocap_event *e = &d->event;
    uint8_t by = e->by;
    uint64_t key = core_key(e->chip, e->at, e->by);
    struct core *row = MAP_GET(&v->sources, &key, CORES_MAX);
    RETURN_ERROR_IF(row == NULL, err, NOCAP_E_MEMORY,
                    "more than %d RISCs in one trace, or no memory", CORES_MAX);
    e->t = d->timeless ? row->latest : e->t;
    if (row->number == 0 || e->t < row->latest) {
        v->remarks[NOC_JSON_REMARK_BACK] += row->number != 0;
        row->number = ++v->next_source;
    }
    row->latest = e->t;
    e->src = (uint32_t)(row->number - 1);
    e->by = (e->has & NOCAP_F_BY) != 0 ? by : NOCAP_BY_NONE; /* a note has none */
    enum nocap_status status = nocap_writer_add(v->writer, e, err);
    e->by = by;
    return status == NOCAP_E_USAGE ? NOCAP_E_INPUT : status;
}

static enum nocap_status put_entry(struct noc_json_events *v, struct noc_json_builder *d,
                                   const struct noc_json_entry *entry, struct nocap_error *err)
{
    unsigned count = noc_json_make(d, entry);
    for (unsigned i = 0; i < NOC_JSON_REMARKS; i++) {
        v->remarks[i] += d->remarks >> i & 1;
    }
    RETURN_IF_FAILED(put(v, d, err));
    while (--count > 0) {
        noc_json_next_ended(d);
        RETURN_IF_FAILED(put(v, d, err));
    }
    return NOCAP_OK;
}

/* ---- zones that wait for their chip ---- */

static enum nocap_status put_waiting(struct noc_json_events *v, struct zone *z, bool known,
                                     uint16_t chip, struct nocap_error *err)
{
    struct noc_json_builder d;
    noc_json_begin(&d, z->entry);
    d.event.chip = known ? chip : chip_guess(v, z->entry);
    enum nocap_status status = put_entry(v, &d, z->entry, err);
    free(z->entry);
    z->entry = NULL;
    return status;
}

static enum nocap_status drop_put(struct noc_json_events *v, struct nocap_error *err)
{
    while (v->count > 0 && v->waiting[v->first].entry == NULL) {
        v->first = (v->first + 1) % WAITING_MAX;
        v->count--;
    }
    if (v->count < WAITING_MAX) {
        return NOCAP_OK;
    }
    struct zone *oldest = &v->waiting[v->first];
    RETURN_IF_FAILED(put_waiting(v, oldest, false, 0, err));
    return drop_put(v, err);
}

static enum nocap_status wait_for_chip(struct noc_json_events *v,
                                       const struct noc_json_entry *entry, uint64_t key,
                                       struct nocap_error *err)
{
    RETURN_IF_FAILED(drop_put(v, err));
    struct noc_json_entry *copy = malloc(sizeof *copy);
    RETURN_ERROR_IF(copy == NULL, err, NOCAP_E_MEMORY, "out of memory");
    *copy = *entry;
    v->waiting[(v->first + v->count++) % WAITING_MAX] = (struct zone){copy, key};
    return NOCAP_OK;
}

/* The chip of a core is known now: its zones go first. In a file that names no device those of its
 * earlier runs go too. */
static enum nocap_status put_zones_of(struct noc_json_events *v, uint64_t key, uint16_t chip,
                                      struct nocap_error *err)
{
    uint64_t mask = v->devices ? UINT64_MAX : CORE_MASK;
    for (uint32_t i = 0; i < v->count; i++) {
        struct zone *z = &v->waiting[(v->first + i) % WAITING_MAX];
        if (z->entry != NULL && ((z->key ^ key) & mask) == 0) {
            RETURN_IF_FAILED(put_waiting(v, z, true, chip, err));
        }
    }
    return drop_put(v, err);
}

enum nocap_status noc_json_events_add(struct noc_json_events *v, const struct noc_json_entry *entry,
                                      struct nocap_error *err)
{
    struct noc_json_builder d;
    noc_json_begin(&d, entry);
    uint64_t key = core_key(run_of(entry), d.event.at, d.event.by);
    bool known_before = MAP_FIND(&v->chips, &key) != NULL;
    bool known = chip_of(v, entry, &d.event, &d.event.chip);
    bool placed = (d.event.has & NOCAP_F_AT) != 0;
    if (!known && entry->type[0] == 0 && placed) {
        return wait_for_chip(v, entry, key, err);
    }
    if (!known && placed) {
        set_chip(v, key, v->chip); /* no device is named where it could be: of its own chip */
    }
    if (!known_before && placed && v->count != 0) {
        RETURN_IF_FAILED(put_zones_of(v, key, d.event.chip, err));
    }
    return put_entry(v, &d, entry, err);
}

enum nocap_status noc_json_events_flush(struct noc_json_events *v, struct nocap_error *err)
{
    for (; v->count > 0; v->count--) {
        struct zone *z = &v->waiting[v->first];
        if (z->entry != NULL) {
            RETURN_IF_FAILED(put_waiting(v, z, false, 0, err));
        }
        v->first = (v->first + 1) % WAITING_MAX;
    }
    return NOCAP_OK;
}

void noc_json_events_remarks(const struct noc_json_events *v, struct nocap_import_result *result)
{
    for (unsigned i = 0; i < NOC_JSON_REMARKS && result->remark_count < NOCAP_IMPORT_REMARKS; i++) {
        if (v->remarks[i] != 0) {
            result->remarks[result->remark_count++] =
                (struct nocap_import_remark){remarks[i], v->remarks[i]};
        }
    }
}
