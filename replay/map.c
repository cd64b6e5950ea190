/* Who may touch what in the address space of a tile: rules MAP, and NOC-015. Stateless: each access
 * is judged by the row of the tile map it falls in, and breaks one rule at most, the most telling
 * one. */
#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/registers.h"
#include "replay/tile.h"

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

static bool past_region(const struct access *a)
{
    return a->addr + a->size - 1 > nocap_tile_region(a->addr)->last;
}

/* Which accesses a rule speaks of, and which of those break it. The first row that is broken is
 * told. */
static const struct permission {
    enum nocap_rule rule;
    uint64_t regions;
    uint32_t agents;
    unsigned ways;
    bool (*broken)(const struct access *a);
    bool speaks_of_all; /* counts as exercised by every access of these agents, not just by those to
                           the regions */
    const char *expected;
} permissions[] = {
    {MAP_001, ROW(GAP), ANYBODY, EITHER, always, true,
     "an address that belongs to a region of the tile"},
    {MAP_013, ROW(RESERVED_10), ANYBODY, EITHER, always, true,
     "no access to 0xFFB10000..0xFFB10FFF"},
    {MAP_005, ROWS_PADDING, ANYBODY, EITHER, always, true,
     "no access to the padding above a TRISC's private memory"},
    {MAP_002, ROW(GPR_RESERVED), ANYBODY, EITHER, always, true,
     "an access within the 768 bytes of the GPR file"},
    {MAP_004, ROW(LDM), OUTSIDE, EITHER, always, true,
     "private memory reached through its slow path, 0xFFB14000 on"},
    {MAP_014, ROWS_FIFO | ROWS_PC_BUF | ROWS_MAILBOX, OUTSIDE, EITHER, always, true,
     "hardware mailboxes, PC buffers and instruction FIFOs touched by the tile's cores only"},
    {MAP_003, ROW(LDM), TRISC_AGENTS, EITHER, past_trisc_ldm, false,
     "the lower 4 KiB of private memory"},
    {MAP_006, ROWS_FIFO, AGENT(NCRISC), STORE, always, true, "no push from NCRISC"},
    {MAP_007, ROW(INSTRN_FIFO1) | ROW(INSTRN_FIFO2), TRISC_AGENTS, STORE, always, true,
     "a push to 0xFFE40000, where a TRISC finds its own FIFO"},
    {MAP_008, ROWS_FIFO | ROW(MOP_CFG), ANYBODY, LOAD, always, true,
     "no load from a write-only region"},
    {MAP_010, ROW(GPR) | ROWS_PC_BUF | ROW(MOP_CFG) | ROWS_MAILBOX, AGENT(NCRISC), EITHER, always,
     true, "no Tensix access from NCRISC"},
    {MAP_010, ROW(TENSIX_CFG), AGENT(NCRISC), STORE, always, true,
     "no store to backend configuration from NCRISC"},
    {MAP_011, ROW(GPR), TRISC_AGENTS, EITHER, other_thread, false,
     "the own 64 registers, at 0xFFE00000..0xFFE000FF"},
    {MAP_011, ROW(PC_BUF1) | ROW(PC_BUF2), TRISC_AGENTS, EITHER, always, false,
     "the own PC buffer, at 0xFFE80000"},
    {MAP_015, ROW(MOP_CFG), AGENT(BRISC), EITHER, always, true,
     "MOP configuration left to the TRISCs"},
    {MAP_009, ROW(DEST_WINDOW) | ROW(PC_READBACK), ANYBODY, STORE, always, true,
     "no store to a read-only region"},
    {MAP_009, ROWS_NIU, ANYBODY, STORE, read_only, false, "no store to a read-only register"},
    {NOC_015, ROW(DEBUG), ANYBODY, EITHER, no_register, false, "a register that the page has"},
    {MAP_002, ROWS_ALL & ~ROW(GAP), ANYBODY, EITHER, past_region, false,
     "an access that ends within its region"},
};

enum nocap_status map_init(struct model *m, struct nocap_error *err)
{
    m->accesses = calloc(nocap_region_rows, sizeof *m->accesses);
    RETURN_ERROR_IF(m->accesses == NULL, err, NOCAP_E_MEMORY, "out of memory");
    return NOCAP_OK;
}

static void tell(struct model *m, const struct tile *tile, const struct access *a,
                 const struct nocap_region_info *row, enum nocap_rule rule, const char *expected)
{
    if (m->armed[rule]) {
        diverge(m, tile, rule, now(m), -1, NOTHING, expected, "a %s of %llu bytes at 0x%llx (%s)",
                a->store ? "store" : "load", (unsigned long long)a->size,
                (unsigned long long)a->addr, row->name);
    }
}

static bool applies(const struct permission *p, unsigned region, unsigned agent, bool store)
{
    return (p->regions >> region & 1) != 0 && (p->agents >> agent & 1) != 0 &&
           (p->ways & (store ? STORE : LOAD)) != 0;
}

void map_access(struct model *m, const struct tile *tile, const struct access *a,
                const struct nocap_region_info *row)
{
    m->accesses[row - nocap_regions][a->by][a->store]++;
    if (row->region == NOCAP_REGION_L1) { /* the common case: everybody may do everything */
        if (__builtin_expect(a->addr + a->size > NOCAP_L1_SIZE, 0)) {
            tell(m, tile, a, row, MAP_002, "an access that ends within its region");
        }
        return;
    }
    for (size_t i = 0; i < sizeof permissions / sizeof permissions[0]; i++) {
        const struct permission *p = &permissions[i];
        if (applies(p, row->region, a->by, a->store) && p->broken(a)) {
            tell(m, tile, a, row, p->rule, p->expected);
            return;
        }
    }
    if (row->kind == NOCAP_KIND_REGISTERS && not_a_word(a)) {
        tell(m, tile, a, row, MAP_012, "4 bytes at a multiple of 4");
    }
}

/* Exercised: what the rule speaks of happened, in whatever way. Counted by region while the trace
 * runs, summed here. */
void map_finish(struct model *m)
{
    bool counted[NOCAP_RULE_COUNT][NOCAP_BY_COUNT][2];
    for (unsigned r = 0; r < nocap_region_rows; r++) {
        memset(counted, 0, sizeof counted);
        const struct nocap_region_info *row = &nocap_regions[r];
        for (unsigned agent = 0; agent < NOCAP_BY_COUNT; agent++) {
            for (unsigned store = 0; store < 2; store++) {
                uint64_t n = m->accesses[r][agent][store];
                if (n == 0) {
                    continue;
                }
                for (size_t i = 0; i < sizeof permissions / sizeof permissions[0]; i++) {
                    const struct permission *p = &permissions[i];
                    bool speaks = p->speaks_of_all ? (p->agents >> agent & 1) != 0 &&
                                                         (p->ways & (store ? STORE : LOAD)) != 0
                                                   : applies(p, row->region, agent, store);
                    if (speaks && m->armed[p->rule] && !counted[p->rule][agent][store]) {
                        counted[p->rule][agent][store] = true;
                        m->exercised[p->rule] += n;
                    }
                }
                if (row->kind == NOCAP_KIND_REGISTERS && m->armed[MAP_012]) {
                    m->exercised[MAP_012] += n;
                }
            }
        }
    }
}
