/* SPDX-License-Identifier: Apache-2.0 */
/* Who may touch what in the address space of a tile: rules MAP, and NOC-015. Stateless: each access
 * is judged by the row of the tile map it falls in, and breaks one rule at most, the most telling
 * one. */
#include <stdlib.h>

#include "formats/blackhole/registers.h"
#include "replay/core/tile.h"
#include "replay/map/map.h"

#define AGENT(name)  (1u << NOCAP_BY_##name)
#define TRISC_AGENTS (AGENT(TRISC0) | AGENT(TRISC1) | AGENT(TRISC2))
#define CORE_AGENTS  (AGENT(BRISC) | AGENT(NCRISC) | TRISC_AGENTS)
#define OUTSIDE      (AGENT(HOST) | AGENT(NOC) | AGENT(DMA))
#define ANYBODY      (CORE_AGENTS | OUTSIDE)

#define ROW(name)    (UINT64_C(1) << NOCAP_REGION_##name)
#define ROWS_FIFO    (ROW(INSTRN_FIFO0) | ROW(INSTRN_FIFO1) | ROW(INSTRN_FIFO2))
#define ROWS_PC_BUF  (ROW(PC_BUF0) | ROW(PC_BUF1) | ROW(PC_BUF2))
#define ROWS_MAILBOX (ROW(HW_MAILBOX0) | ROW(HW_MAILBOX1) | ROW(HW_MAILBOX2) | ROW(HW_MAILBOX3))
#define ROWS_PADDING (ROW(LDM_PADDING0) | ROW(LDM_PADDING1) | ROW(LDM_PADDING2))
#define ROWS_NIU     (ROW(NIU0) | ROW(NIU1))
#define ROWS_ALL     (~UINT64_C(0))
_Static_assert(NOCAP_REGION_COUNT <= 64, "a set of regions is 64 bits wide");

enum { LOAD = 1, STORE = 2, EITHER = LOAD | STORE };

static bool always(const struct access *a)
{
    (void)a;
    return true;
}

static bool past_trisc_ldm(const struct access *a)
{
    return a->addr + a->size >
           NOCAP_BASE_LDM + (uint64_t)nocap_cores[NOCAP_PROCESSOR_TRISC0].ldm_size;
}

static bool read_only(const struct access *a)
{
    return nocap_register_read_only(a->addr);
}

static bool other_thread(const struct access *a)
{
    return a->addr + a->size > NOCAP_BASE_GPR + (uint64_t)NOCAP_GPR_THREAD_SIZE;
}

static bool not_a_word(const struct access *a)
{
    return a->size != 4 || a->addr % 4 != 0;
}

/* A word of the debug page where there is none. What is no whole word breaks another rule. */
static bool no_register(const struct access *a)
{
    struct nocap_register_place place;
    return !not_a_word(a) && !nocap_register_find(a->addr, NOCAP_BY_NONE, &place);
}

/* Which accesses a rule speaks of, and which of those break it. The first row that is broken is
 * reported. */
static const struct permission {
    enum nocap_rule rule;
    uint64_t regions;
    uint32_t agents;
    unsigned ways;
    bool (*broken)(const struct access *a); /* NULL: `check` asks it of every access */
    bool speaks_of_all; /* counts as exercised by every access of these agents, not just by those to
                           the regions */
    const char *expected, *wrong;
} permissions[] = {
    {MAP_001, ROW(GAP), ANYBODY, EITHER, always, true,
     "an address that belongs to a region of the worker core", "an unmapped address"},
    {MAP_013, ROW(RESERVED_10), ANYBODY, EITHER, always, true,
     "no access to 0xFFB10000..0xFFB10FFF", "a reserved block"},
    {MAP_005, ROWS_PADDING, ANYBODY, EITHER, always, true,
     "no access to the padding above a TRISC's private memory",
     "the padding above a TRISC's private memory"},
    {MAP_002, ROW(GPR_RESERVED), ANYBODY, EITHER, always, true,
     "an access within the 768 bytes of the GPR file", "past the 768 bytes of the GPR file"},
    {MAP_002, ROWS_ALL & ~ROW(GAP), ANYBODY, EITHER, NULL, false,
     "an access that ends within its region", "which runs past the end of its region"},
    {MAP_004, ROW(LDM), OUTSIDE, EITHER, always, true,
     "private memory reached through its slow path, 0xFFB14000 on",
     "private memory reached from outside"},
    {MAP_014, ROWS_FIFO | ROWS_PC_BUF | ROWS_MAILBOX, OUTSIDE, EITHER, always, true,
     "hardware mailboxes, PC buffers and instruction FIFOs touched by the worker core's RISCs only",
     "reached from outside"},
    {MAP_003, ROW(LDM), TRISC_AGENTS, EITHER, past_trisc_ldm, false,
     "the lower 4 KiB of private memory", "past a TRISC's 4 KiB of private memory"},
    {MAP_006, ROWS_FIFO, AGENT(NCRISC), STORE, always, true, "no push from NCRISC",
     "a push from NCRISC"},
    {MAP_007, ROW(INSTRN_FIFO1) | ROW(INSTRN_FIFO2), TRISC_AGENTS, STORE, always, true,
     "a push to 0xFFE40000, where a TRISC finds its own FIFO", "no FIFO of a TRISC"},
    {MAP_008, ROWS_FIFO | ROW(MOP_CFG), ANYBODY, LOAD, always, true,
     "no load from a write-only region", "a write-only region"},
    {MAP_010, ROW(GPR) | ROWS_PC_BUF | ROW(MOP_CFG) | ROWS_MAILBOX, AGENT(NCRISC), EITHER, always,
     true, "no Tensix access from NCRISC", "a Tensix access from NCRISC"},
    {MAP_010, ROW(TENSIX_CFG), AGENT(NCRISC), STORE, always, true,
     "no store to backend configuration from NCRISC", "backend configuration stored by NCRISC"},
    {MAP_011, ROW(GPR), TRISC_AGENTS, EITHER, other_thread, false,
     "the own 64 registers, at 0xFFE00000..0xFFE000FF", "a GPR of another thread"},
    {MAP_011, ROW(PC_BUF1) | ROW(PC_BUF2), TRISC_AGENTS, EITHER, always, false,
     "the own PC buffer, at 0xFFE80000", "the PC buffer of another thread"},
    {MAP_015, ROW(MOP_CFG), AGENT(BRISC), EITHER, always, true,
     "MOP configuration left to the TRISCs", "MOP configuration touched by BRISC"},
    {MAP_009, ROW(DEST_WINDOW) | ROW(PC_READBACK), ANYBODY, STORE, always, true,
     "no store to a read-only region", "a read-only region"},
    {MAP_009, ROWS_NIU, ANYBODY, STORE, read_only, false, "no store to a read-only register",
     "a read-only register"},
    {NOC_015, ROW(DEBUG), ANYBODY, EITHER, no_register, false, "a register that the page has",
     "where the page has no register"},
};

enum { PERMISSIONS = sizeof permissions / sizeof permissions[0] };
_Static_assert(PERMISSIONS <= 32, "a set of permissions is 32 bits wide");

/* A request that reaches for what it may not; its bytes may be seen there, too. */
struct reach {
    uint16_t chip;
    struct nocap_xy low, high;
    uint64_t addr, end;
    bool store;
    fault_id fault;
};
enum { REACHES = 16 };

/* Of one row of the tile map. */
struct row_state {
    uint64_t accesses[NOCAP_BY_COUNT][2];    /* by agent, store */
    uint32_t permissions[NOCAP_BY_COUNT][2]; /* those that speak of such an access */
};

struct map_state {
    struct reach reaches[REACHES]; /* the latest */
    uint32_t next;
    struct row_state rows[];
};

static struct map_state *state_of_map(const struct model *m)
{
    return m->state[MODEL_MAP];
}

static void keep_reach(struct model *m, const struct observation *o)
{
    struct map_state *s = state_of_map(m);
    const struct nocap_event *e = o->event;
    const struct nocap_noc_ends ends = nocap_noc_ends(e);
    const struct nocap_xy at = o->tile->at;
    const bool many = o->access.store && ends.to_known;
    s->reaches[s->next++ % REACHES] = (struct reach){.chip = e->chip,
                                                     .low = many ? ends.to : at,
                                                     .high = many ? ends.to_other : at,
                                                     .addr = o->access.addr,
                                                     .end = o->access.addr + o->access.size,
                                                     .store = o->access.store,
                                                     .fault = m->fault};
}

/* The fault of the request whose bytes these are. */
static fault_id reached_since(const struct model *m, const struct observation *o)
{
    const struct access *a = &o->access;
    const struct nocap_xy at = o->tile->at;
    fault_id since = FAULT_NONE;
    for (unsigned i = 0; o->kind != OBS_FAR_END && a->by == NOCAP_BY_NOC && i < REACHES; i++) {
        const struct reach *r = &state_of_map(m)->reaches[i];
        const bool there = r->chip == o->event->chip && at.x >= r->low.x && at.x <= r->high.x &&
                           at.y >= r->low.y && at.y <= r->high.y;
        const bool bytes = a->addr < r->end && r->addr < a->addr + a->size;
        since = there && bytes && r->store == a->store ? r->fault : since;
    }
    return since;
}

static __attribute__((cold, noinline)) void report(struct model *m, const struct observation *o,
                                                   enum nocap_rule rule, const char *expected,
                                                   const char *wrong)
{
    const struct access *a = &o->access;
    FOLLOWING(m, reached_since(m, o),
              report_violation(m, o->tile, rule, now(m), -1, NO_REFS, expected,
                               "%s of %llu bytes at 0x%llx (%s), %s", a->store ? "store" : "load",
                               (unsigned long long)a->size, (unsigned long long)a->addr,
                               o->region->name, wrong));
    if (o->kind == OBS_FAR_END) {
        keep_reach(m, o);
    }
    if (a->store) {
        store_strays(m);
    }
}

static bool is_by(const struct permission *p, unsigned agent, bool store)
{
    return (p->agents >> agent & 1) != 0 && (p->ways & (store ? STORE : LOAD)) != 0;
}

static bool is_at(const struct permission *p, const struct nocap_region_info *row)
{
    return (p->regions >> row->region & 1) != 0;
}

static void release(struct model *m)
{
    free(m->state[MODEL_MAP]);
}

static bool init(struct model *m, const struct nocap_engine_options *options)
{
    struct map_state *s = calloc(1, sizeof *s + nocap_region_rows * sizeof s->rows[0]);
    struct row_state *rows = s != NULL ? s->rows : NULL;
    (void)options;
    m->state[MODEL_MAP] = s;
    for (unsigned r = 0; rows != NULL && r < nocap_region_rows; r++) {
        for (unsigned agent = 0; agent < NOCAP_BY_COUNT; agent++) {
            for (unsigned i = 0; i < 2 * PERMISSIONS; i++) {
                const struct permission *p = &permissions[i / 2];
                if (p->broken != NULL && is_at(p, &nocap_regions[r]) && is_by(p, agent, i % 2)) {
                    rows[r].permissions[agent][i % 2] |= UINT32_C(1) << i / 2;
                }
            }
        }
    }
    return rows != NULL;
}

/* Not inlined, as few accesses are spoken of: whether one of the permissions is
 * broken that the trace can show. */
static __attribute__((noinline)) bool breaks(struct model *m, const struct observation *o,
                                             uint32_t set)
{
    for (; set != 0; set &= set - 1) {
        const struct permission *p = &permissions[__builtin_ctz(set)];
        if (p->broken(&o->access)) {
            report(m, o, p->rule, p->expected, p->wrong);
            if (m->fault != FAULT_UNREPORTED) {
                return true;
            }
        }
    }
    return false;
}

static void check(struct model *m, const struct observation *o)
{
    const struct access *a = &o->access;
    const struct nocap_region_info *region = o->region;
    if ((!o->lead && o->kind != OBS_FAR_END && !asked_for(m, o->tile)) || a->by >= NOCAP_BY_COUNT) {
        m->due |= m->stray_turn == m->turn ? DUE_STRAY : 0;
        return; /* a multicast is one act; no agent of a tile does any */
    }
    struct row_state *row = &state_of_map(m)->rows[region - nocap_regions];
    row->accesses[a->by][a->store]++;
    const uint32_t set = row->permissions[a->by][a->store];
    if (set != 0 && breaks(m, o, set)) {
        return;
    }
    if (a->addr + a->size > region->last + 1 && region->region != NOCAP_REGION_GAP) {
        report(m, o, MAP_002, "an access that ends within its region",
               "which runs past the end of its region");
    } else if (region->kind == NOCAP_KIND_REGISTERS && not_a_word(a)) {
        report(m, o, MAP_012, "4 bytes at a multiple of 4", "not 4 bytes at a multiple of 4");
    }
}

/* Exercised: what the rule speaks of happened, in whatever way. Counted by region while the trace
 * runs, summed here; the permissions of one rule stand together. */
static void sum(struct model *m, const struct nocap_region_info *row, unsigned agent, bool store,
                uint64_t n)
{
    enum nocap_rule last = NOCAP_RULE_COUNT;
    for (const struct permission *p = permissions; p < permissions + PERMISSIONS; p++) {
        if (p->rule != last && is_by(p, agent, store) && (p->speaks_of_all || is_at(p, row))) {
            last = p->rule;
            exercise(m, p->rule, n);
        }
    }
    exercise(m, MAP_012, row->kind == NOCAP_KIND_REGISTERS ? n : 0);
}

static void finish(struct model *m, bool cut)
{
    (void)cut;
    const struct row_state *rows = state_of_map(m)->rows;
    for (unsigned r = 0; r < nocap_region_rows; r++) {
        for (unsigned agent = 0; agent < NOCAP_BY_COUNT; agent++) {
            sum(m, &nocap_regions[r], agent, false, rows[r].accesses[agent][false]);
            sum(m, &nocap_regions[r], agent, true, rows[r].accesses[agent][true]);
        }
    }
}

static uint32_t wants(const struct model *m)
{
    return m->knows_tiles ? OBS(CORE_STORE) | OBS(CORE_LOAD) | OBS(OUTSIDE_STORE) | OBS(HOST_LOAD) |
                                OBS(OUTSIDE_LOAD) | OBS(FAR_END)
                          : 0;
}

const struct model_ops map_model = {
    .name = "map",
    .id = MODEL_MAP,
    .first_rule = MAP_001,
    .last_rule = MAP_015,
    .more_first = NOC_015,
    .more_last = NOC_015,
    .wants = wants,
    .places = PLACE_ALL,
    .init = init,
    .free = release,
    .check = check,
    .finish = finish,
};
