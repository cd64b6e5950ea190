/* Feeds events to the models. Each event is resolved once - which tiles, which region, which bytes
 * - and handed to those that asked for its kind. */
#include "replay/engine.h"

#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/mailbox.h"
#include "formats/trace/jsonl.h"
#include "replay/cert_private.h"
#include "replay/cq.h"
#include "replay/engine_private.h"
#include "replay/noc.h"
#include "replay/race.h"

/* " bh-launch96 .." */
#define LAYOUT(ID, name, ...) " " name
static const char layout_names[] =
#include "formats/blackhole/layouts.def"
    ;
#undef LAYOUT

enum nocap_status nocap_engine_new(struct nocap_engine **engine, const struct nocap_header *header,
                                   const struct nocap_engine_options *options,
                                   struct nocap_error *err)
{
    struct nocap_engine *e = calloc(1, sizeof *e);
    RETURN_ERROR_IF(e == NULL, err, NOCAP_E_MEMORY, "out of memory");
    struct model *m = &e->model;
    m->header = header;
    m->diverged = options->diverged;
    m->requested = options->requested;
    m->context = options->context;
    m->wc_write.index = m->unready_release = NO_INDEX;
    m->knows_tiles = header->arch == NOCAP_ARCH_BLACKHOLE;
    m->layout = nocap_layout_find(header->layout);
    for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
        m->armed[i] = options->armed == NULL || options->armed[i];
    }
    for (unsigned p = 0; options->firmware != NULL && p < NOCAP_PROCESSOR_COUNT; p++) {
        m->firmware[p] = options->firmware[nocap_cores[p].agent];
    }
    m->pace = trace_pace_new(header, options->waits);
    enum nocap_status status = NOCAP_OK;
    if (m->pace == NULL) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    } else if (m->layout == NULL) {
        status = nocap_fail(err, NOCAP_E_INPUT,
                            "the header names a mailbox layout that is not known, '%.40s'; known "
                            "are%s",
                            header->layout, layout_names);
    } else {
        status = map_init(m, err);
    }
    if (status == NOCAP_OK && (!cq_init(m) || !cert_init(m, options->control_code))) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    }
    if (status != NOCAP_OK) {
        nocap_engine_free(e);
        return status;
    }
    *engine = e;
    return NOCAP_OK;
}

void nocap_engine_free(struct nocap_engine *e)
{
    if (e == NULL) {
        return;
    }
    cq_free(&e->model);
    cert_free(&e->model);
    race_free(&e->model);
    free(e->model.endpoint);
    free(e->model.others);
    free(e->model.pace);
    tiles_free(&e->model);
    free(e->model.accesses);
    source_clock_free(&e->clock);
    free(e);
}

/* Host and dispatcher write go words as one word, and where they do depends on the layout. */
static void notice_layout(struct model *m, const struct access *a)
{
    uint32_t go = m->layout->go_messages, word;
    if (m->layout_fits || a->size != NOCAP_GO_WORD_SIZE || !access_word(a, a->addr, &word)) {
        return;
    }
    uint8_t signal = nocap_go_decode(word).signal;
    if (signal != NOCAP_GO_INIT && signal != NOCAP_GO_GO) {
        return;
    }
    m->layout_fits = a->addr >= go && a->addr < go + NOCAP_GO_WORDS * NOCAP_GO_WORD_SIZE;
    const struct nocap_mailbox_layout *other = nocap_layout_from_go_address(a->addr);
    if (other != NULL && a->addr == other->go_messages) {
        m->other_layout = other;
    }
}

static void outside_store(struct model *m, struct tile *tile, const struct access *a)
{
    notice_layout(m, a);
    race_outside_store(m, tile, a);
    m->deferring = tile->boot.running[NOCAP_PROCESSOR_BRISC] == UNKNOWN ? tile : NULL;
    sync_outside_store(m, tile, a);
    launch_judge_outside_store(m, tile, a);
    boot_outside_store(m, tile, a);
    shadow_store(&tile->l1, a);
    launch_take_outside_store(m, tile, a);
    sync_settle(tile);
    m->deferring = NULL;
}

static void noc_event(struct model *m, const struct nocap_event *e);

static void core_access(struct model *m, struct tile *tile, const struct access *a)
{
    struct nocap_event request;
    boot_core_runs(m, tile, nocap_core(a->by)->processor);
    gate_core_access(m, tile, a);
    race_core_access(m, tile, a);
    if (noc_core_access(m, tile, a, &request)) {
        if (m->requested != NULL) {
            m->requested(m->context, &request);
        }
        noc_event(m, &request);
    }
    if (!a->store) {
        sync_core_load(tile, a);
        return;
    }
    boot_core_store(m, tile, a);
    sync_core_store(m, tile, a);
    launch_core_store(m, tile, a);
    shadow_store(&tile->l1, a);
    sync_settle(tile);
}

static void host_read(struct model *m, struct tile *tile, const struct access *a)
{
    boot_host_read(m, tile, a);
    launch_host_read(m, tile, a);
}

static void tile_access(struct model *m, struct tile *tile, const struct access *a)
{
    if (nocap_is_core(a->by)) {
        pace_core(m, tile, a);
        core_access(m, tile, a);
    } else if (a->store) {
        pace_upon(m, tile);
        outside_store(m, tile, a);
    } else if (a->by == NOCAP_BY_HOST) {
        pace_host_read(m, tile, a);
        host_read(m, tile, a);
    }
}

/* The bytes of an event as an access. `word` keeps them where the event has them as a number. */
static struct access access_of(const struct nocap_event *e, uint64_t addr, uint64_t size)
{
    struct access a = {.addr = addr, .size = size, .by = e->by, .store = e->kind == NOCAP_EV_WRITE};
    if ((e->has & NOCAP_F_VALUE) != 0) {
        a.bytes =
            (const uint8_t *)&e->value; /* little-endian, as the machines that nocap runs on */
        a.known = size < sizeof e->value ? size : sizeof e->value;
    } else if ((e->has & (NOCAP_F_DATA | NOCAP_F_HEAD)) != 0) {
        a.bytes = e->data;
        a.known = size < e->data_size ? size : e->data_size;
    }
    a.hash = e->hash;
    a.has_hash = (e->has & NOCAP_F_HASH) != 0;
    return a;
}

/* All tiles from `at` to `to` that have the Tensix address space. */
static void each_tile(struct model *m, const struct nocap_event *e, struct nocap_xy at,
                      struct nocap_xy to, const struct access *a)
{
    for (unsigned x = at.x; x <= to.x; x++) {
        for (unsigned y = at.y; y <= to.y; y++) {
            struct nocap_xy xy = {(uint8_t)x, (uint8_t)y};
            if (nocap_is_tensix_tile(m->header->board, xy)) {
                struct tile *tile = tile_get(m, e->chip, xy);
                if (tile != NULL) {
                    tile_access(m, tile, a);
                }
            }
        }
    }
}

static void access_event(struct model *m, const struct nocap_event *e)
{
    noc_host_access(m, e);
    if (e->space != NOCAP_SPACE_TILE || !nocap_is_tensix_tile(m->header->board, e->at)) {
        return;
    }
    struct tile *tile = tile_get(m, e->chip, e->at);
    if (tile == NULL) {
        return;
    }
    struct access a = access_of(e, e->addr, e->size);
    const struct nocap_region_info *row = nocap_tile_region(a.addr);
    bool upload =
        a.store && a.by == NOCAP_BY_HOST && row->region == NOCAP_REGION_LDM && boot_uploading(tile);
    if (!upload) { /* that is RST-009's */
        map_access(m, tile, &a, row);
    }
    if (a.by == NOCAP_BY_HOST) {
        if (a.store) {
            pace_host_store(m, tile, &a);
            noc_register_store(m, tile, &a);
        }
        boot_write_combining(m, tile, e, &a, row);
    }
    if (a.by == NOCAP_BY_NOC && a.store) {
        m->landings = true;
    }
    if ((e->has & NOCAP_F_TO) != 0) {
        each_tile(m, e, e->at, e->to, &a);
    } else {
        tile_access(m, tile, &a);
    }
}

/* Where no landings are observed the request stands for the bytes that arrive. */
static void noc_as_store(struct model *m, const struct nocap_event *e)
{
    bool writes = e->op == NOCAP_OP_WRITE || e->op == NOCAP_OP_INLINE;
    if (m->landings || !writes || e->phase != NOCAP_PHASE_ISSUE || (e->has & NOCAP_F_D) == 0 ||
        (e->has & NOCAP_F_DADDR) == 0 || e->daddr >= NOCAP_L1_SIZE) {
        return;
    }
    uint64_t size = (e->has & NOCAP_F_SIZE) != 0 ? e->size : e->data_size;
    struct access a = access_of(e, e->daddr, size);
    a.by = NOCAP_BY_NOC;
    a.store = true;
    each_tile(m, e, e->d, (e->has & NOCAP_F_D2) != 0 ? e->d2 : e->d, &a);
}

/* A request is also an access to the far tile; where it is seen landing, that is judged instead. */
static void noc_as_access(struct model *m, const struct nocap_event *e)
{
    bool load = e->op == NOCAP_OP_READ;
    struct nocap_xy far = load ? e->s : e->d;
    uint64_t addr = load ? e->saddr : e->daddr;
    uint64_t place = load ? NOCAP_F_S : NOCAP_F_D, address = load ? NOCAP_F_SADDR : NOCAP_F_DADDR;
    if (e->phase != NOCAP_PHASE_ISSUE || (e->has & place) == 0 || (e->has & address) == 0 ||
        (m->landings && !load) || !nocap_is_tensix_tile(m->header->board, far)) {
        return;
    }
    struct tile *tile = tile_get(m, e->chip, far);
    bool sized = (e->has & NOCAP_F_SIZE) != 0 && e->size > 0;
    struct access a = {
        .addr = addr, .size = sized ? e->size : 4, .store = !load, .by = NOCAP_BY_NOC};
    if (tile != NULL) {
        if (!load) {
            pace_upon(m, tile);
        }
        map_access(m, tile, &a, nocap_tile_region(addr));
    }
}

static void noc_event(struct model *m, const struct nocap_event *e)
{
    if (e->phase == NOCAP_PHASE_ISSUE) {
        race_request(m, e);
    }
    noc_as_access(m, e);
    if (nocap_is_tensix_tile(m->header->board, e->at)) {
        struct tile *tile = tile_get(m, e->chip, e->at);
        if (tile != NULL) {
            pace_noc(m, tile, e);
            launch_noc(m, tile, e);
            noc_observe(m, tile, e);
        }
    }
    noc_as_store(m, e);
}

static void memory_event(struct model *m, const struct nocap_event *e)
{
    if (e->space != NOCAP_SPACE_TILE || !nocap_is_tensix_tile(m->header->board, e->at)) {
        return;
    }
    struct tile *tile = tile_get(m, e->chip, e->at);
    if (tile != NULL) {
        struct access a = access_of(e, e->addr, e->data_size);
        pace_memory(m, tile, &a);
        shadow_store(&tile->l1, &a);
        launch_memory(m, tile);
    }
}

static void core_event(struct model *m, const struct nocap_event *e)
{
    struct tile *tile = nocap_is_core(e->by) && nocap_is_tensix_tile(m->header->board, e->at)
                            ? tile_get(m, e->chip, e->at)
                            : NULL;
    if (tile == NULL) {
        return;
    }
    pace_act(m, tile, e->by);
    if (e->kind == NOCAP_EV_RESET) {
        boot_reset_event(m, tile, e->by, e->op == NOCAP_OP_RUN);
        return;
    }
    boot_core_runs(m, tile, nocap_core(e->by)->processor);
    if (e->op == NOCAP_OP_ENTER) {
        sync_kernel_enter(m, tile, e->by);
        gate_kernel_enter(m, tile, e->by);
        launch_kernel_enter(m, tile, e->by, e);
    } else {
        noc_kernel_exit(m, tile, e->by);
        launch_kernel_exit(m, tile, e->by);
        sync_kernel_exit(tile, e->by);
    }
}

/* Events were lost: what they did, nobody knows. */
static void forget(struct model *m)
{
    for (uint32_t i = 0; m->tiles.slots != NULL && i <= m->tiles.mask; i++) {
        if (m->tiles.slots[i] != NULL) {
            tile_forget(m->tiles.slots[i]);
            pace_forget(&m->tiles.slots[i]->pace);
        }
    }
    trace_pace_forget(m->pace);
    cq_forget(m);
    cert_forget(m);
    race_forget(m);
    noc_others_forget(m);
    m->dropped = true;
    m->wc_write.index = NO_INDEX;
}

void nocap_engine_forget(struct nocap_engine *engine)
{
    engine->lost = true;
}

static void drop_event(struct model *m, const struct nocap_event *e)
{
    forget(m);
    EXPECT(m, NULL, TRC_003, false, NOTHING, "no event lost",
           "%llu events of source %u lost before this one", (unsigned long long)e->value, e->src);
}

/* A note of a capture that says what no kind of event does. */
static void note_event(struct model *m, const struct nocap_event *e)
{
    bool place = (e->has & NOCAP_F_AT) != 0 &&
                 (!m->knows_tiles || nocap_is_tensix_tile(m->header->board, e->at));
    struct tile *tile = place ? tile_get(m, e->chip, e->at) : NULL;
    if (tile != NULL) {
        race_note(m, e);
        noc_wait_begins(m, tile, e);
        pace_note(m, tile, e);
    }
}

static void tile_event(struct model *m, const struct nocap_event *e)
{
    switch (e->kind) {
    case NOCAP_EV_WRITE:
    case NOCAP_EV_READ: access_event(m, e); break;
    case NOCAP_EV_NOC: noc_event(m, e); break;
    case NOCAP_EV_KERNEL:
    case NOCAP_EV_RESET: core_event(m, e); break;
    case NOCAP_EV_MEM: memory_event(m, e); break;
    case NOCAP_EV_NOTE: note_event(m, e); break;
    case NOCAP_EV_TENSIX:
        if (nocap_is_tensix_tile(m->header->board, e->at)) {
            struct tile *tile = tile_get(m, e->chip, e->at);
            if (tile != NULL) {
                pace_act(m, tile, NOCAP_BY_NONE);
                gate_event(m, tile, e);
            }
        }
        break;
    default: break;
    }
}

/* What is no event: why, and the beginning of its line. It has no time either. */
static void malformed_event(struct model *m, const struct nocap_event *e)
{
    enum { SHOWN = 120, WHY_MAX = 160 };
    char why[WHY_MAX];
    nocap_jsonl_explain((const char *)e->data, e->data_size, why, sizeof why);
    EXPECT(m, NULL, TRC_005, false, NOTHING, "a well-formed event", "%s: %.*s%s", why,
           e->data_size < SHOWN ? (int)e->data_size : SHOWN, (const char *)e->data,
           e->data_size > SHOWN ? ".." : "");
}

/* Of another architecture: how requests end and order is the same, where tiles and registers lie is
 * not. */
static void foreign_event(struct model *m, const struct nocap_event *e)
{
    bool request = e->kind == NOCAP_EV_NOC,
         exit = e->kind == NOCAP_EV_KERNEL && e->op == NOCAP_OP_EXIT;
    struct tile *tile = request || exit ? tile_get(m, e->chip, e->at) : NULL;
    if (e->kind == NOCAP_EV_NOTE) {
        note_event(m, e);
    } else if (tile != NULL && request) {
        if (e->phase == NOCAP_PHASE_ISSUE) {
            race_request(m, e);
        }
        noc_observe(m, tile, e);
    } else if (tile != NULL) {
        noc_kernel_exit(m, tile, e->by);
    }
}

/* Whether the event itself can be used: rules TRC. */
static bool well_formed(struct model *m, struct source_clock *clock, const struct nocap_event *e)
{
    uint64_t before;
    if (e->kind == NOCAP_EV_MALFORMED) {
        malformed_event(m, e);
        return false;
    }
    if (!source_clock_tick(clock, e, &before)) {
        EXPECT(m, NULL, TRC_004, false, NOTHING, "time that does not decrease within a source",
               "%llu after %llu in source %u", (unsigned long long)e->t, (unsigned long long)before,
               e->src);
    } else {
        HOLDS(m, TRC_004);
    }
    if (e->kind == NOCAP_EV_UNKNOWN) {
        EXPECT(m, NULL, TRC_006, false, NOTHING, "an event kind of this version", "%.*s",
               e->data_size < 120 ? (int)e->data_size : 120, (const char *)e->data);
        return false;
    }
    const char *problem = nocap_event_problem(e);
    EXPECT(m, NULL, TRC_005, problem == NULL, NOTHING,
           "every field that the event needs, none out of range", "%s", problem);
    return problem == NULL;
}

enum nocap_status nocap_engine_feed(struct nocap_engine *engine, const struct nocap_event *events,
                                    size_t count, struct nocap_error *err)
{
    struct model *m = &engine->model;
    for (size_t i = 0; i < count; i++) {
        const struct nocap_event *e = m->event = &events[i];
        m->last_t = e->t;
        m->turn++;
        if (engine->lost) {
            engine->lost = false;
            forget(m);
        }
        if (!well_formed(m, &engine->clock, e)) {
            continue;
        }
        pace_event(m, e);
        m->requests |= e->kind == NOCAP_EV_NOC && e->phase == NOCAP_PHASE_ISSUE;
        if (m->cq != NULL || e->kind == NOCAP_EV_CQ) {
            cq_event(m, e);
        }
        if (e->kind == NOCAP_EV_DROP) {
            drop_event(m, e);
        } else if (m->knows_tiles) {
            tile_event(m, e);
        } else if (m->cert != NULL) {
            cert_event(m, e);
        } else if (m->header->arch == NOCAP_ARCH_WORMHOLE) {
            foreign_event(m, e);
        }
    }
    m->event = NULL;
    RETURN_ERROR_IF(m->out_of_memory, err, NOCAP_E_MEMORY, "out of memory while replaying");
    return NOCAP_OK;
}

enum nocap_status nocap_engine_finish(struct nocap_engine *engine, bool cut,
                                      struct nocap_error *err)
{
    (void)err;
    struct model *m = &engine->model;
    for (uint32_t i = 0; m->tiles.slots != NULL && i <= m->tiles.mask; i++) {
        struct tile *tile = m->tiles.slots[i];
        if (tile != NULL) {
            boot_finish(m, tile, cut);
            gate_finish(m, tile, cut);
        }
    }
    map_finish(m);
    cq_finish(m, cut);
    cert_finish(m, cut);
    return NOCAP_OK;
}

bool nocap_engine_full(const struct nocap_engine *engine)
{
    return engine->model.tiles.full;
}

uint32_t nocap_engine_other_go_words(const struct nocap_engine *engine)
{
    const struct model *m = &engine->model;
    return m->layout_fits || m->other_layout == NULL ? 0 : m->other_layout->go_messages;
}

const uint64_t *nocap_engine_exercised(const struct nocap_engine *engine)
{
    return engine->model.exercised;
}
