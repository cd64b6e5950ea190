/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction words by themselves: what no thread may push. Rules TNX-010 to -012, -016, -017. And
 * the work that a thread issues, in its order, and the waits between: what must have drained before
 * what. Rules TNX-018, -020, -030 to -035. */
#include <string.h>

#include "replay/core/tile.h"
#include "replay/gate/gate_private.h"

enum {
    THREAD_UNPACK = 0,
    THREAD_MATH = 1,
    THREAD_PACK = 2,
    OF_MATH = NOCAP_WAIT_MATH | NOCAP_WAIT_SFPU,
    BOTH_BANKS = NOCAP_DVALID_A | NOCAP_DVALID_B,
    WIDE_GPRS = 0xF, /* registers that a 128-bit access touches, from the first on */
    GPRS = NOCAP_GPR_COUNT,
};

/* ---- words by themselves ---- */

#define SEM_MASK_UNUSED ((uint32_t)NOCAP_SEM_MASK_UNUSED << NOCAP_SEMPOST_sem_sel_LOW)

static bool names_semaphores(unsigned opcode)
{
    return opcode >= NOCAP_TENSIX_SEMINIT && opcode <= NOCAP_TENSIX_SEMWAIT;
}

/* What makes a word none. */
static void judge_form(const struct gate_word *w)
{
    uint32_t word = w->word;
    bool sync = nocap_tensix_opcodes[w->opcode].unit == NOCAP_TENSIX_UNIT_SYNC;
    uint32_t stray = sync ? nocap_tensix_stray_bits(word) : 0;
    stray &= names_semaphores(w->opcode) ? ~SEM_MASK_UNUSED : ~UINT32_C(0);
    CHECK_WORD(w, TNX_010, stray == 0 && nocap_tensix_opcodes[w->opcode].name != NULL, NO_REFS,
               "an opcode of the instruction set, and no bit outside its fields",
               stray != 0 ? "instruction 0x%08x has bits 0x%x outside its fields"
                          : "0x%08x is no Tensix instruction",
               word, stray);
    if (w->opcode == NOCAP_TENSIX_SEMWAIT) {
        CHECK_WORD(w, TNX_011, NOCAP_TENSIX_GET(word, SEMWAIT, condition) != 0, NO_REFS,
                   "a condition in a SEMWAIT", "SEMWAIT 0x%08x has no condition", word);
    }
    if (w->opcode == NOCAP_TENSIX_SEMINIT) {
        uint32_t value = NOCAP_TENSIX_GET(word, SEMINIT, value);
        uint32_t max = NOCAP_TENSIX_GET(word, SEMINIT, max);
        CHECK_WORD(w, TNX_016, value <= max, NO_REFS, "a SEMINIT with a value up to the maximum",
                   "SEMINIT with value %u, above its maximum %u", value, max);
    }
}

/* What a word says, but perhaps does not mean. */
static void judge_sense(const struct gate_word *w)
{
    uint32_t word = w->word;
    bool stalls = w->opcode == NOCAP_TENSIX_STALLWAIT;
    CHECK_WORD(w, TNX_019, w->opcode != NOCAP_TENSIX_RESOURCEDECL, NO_REFS, "no RESOURCEDECL",
               "%s, which the hardware does by itself", nocap_tensix_opcode_name(w->opcode));
    if (names_semaphores(w->opcode)) {
        bool selects = NOCAP_TENSIX_GET(word, SEMPOST, sem_sel) != 0;
        CHECK_WORD(w, TNX_012, selects && (word & SEM_MASK_UNUSED) == 0, NO_REFS,
                   "one of the semaphores 0..7 selected, and no others",
                   selects ? "%s selects semaphores above 7" : "%s selects no semaphore",
                   GATE_TEXT(word));
    }
    if (w->opcode == NOCAP_TENSIX_SEMWAIT || stalls) {
        bool block = NOCAP_TENSIX_GET(word, STALLWAIT, stall_res) != 0;
        bool waits = !stalls || NOCAP_TENSIX_GET(word, STALLWAIT, wait_res) != 0;
        CHECK_WORD(w, TNX_017, block && waits, NO_REFS,
                   "a wait that says what it blocks and what it waits for", "wait 0x%08x has %s",
                   word,
                   block ? "no condition, the hardware takes THCON|UNPACK0|UNPACK1|PACK"
                         : "no block bit, the hardware takes STALL_MATH");
    }
}

fault_id gate_judge_word(const struct gate_word *w)
{
    uint32_t before = w->m->faults;
    judge_form(w);
    judge_sense(w);
    if (w->m->faults == before) {
        return FAULT_NONE;
    }
    if (w->t != NULL) { /* else of a store, whose stream is not followed */
        w->t->wrong[w->t->wrong_next++ % GATE_WRONG] = (struct gate_wrong){w->word, w->m->faults};
    }
    return w->m->faults;
}

void gate_judge_expanded(const struct gate_word *w)
{
    for (unsigned i = 0; i < GATE_WRONG; i++) {
        const struct gate_wrong *wrong = &w->t->wrong[i];
        if (wrong->since != FAULT_NONE && wrong->word == w->word) {
            FOLLOWING(w->m, wrong->since, judge_form(w); judge_sense(w));
            return;
        }
    }
    gate_judge_word(w);
}

/* ---- what a word does ---- */

void work_start(struct gate_work *w, bool known)
{
    *w = (struct gate_work){
        .src_known = known ? BOTH_BANKS : 0,
        .may_use_dest = known ? NO : UNKNOWN,
    };
}

/* What instructions do to Src banks, Dest and registers, by opcode. */
enum {
    AWAITS_A = NOCAP_DVALID_A, /* waits by itself until the bank is the matrix unit's */
    AWAITS_B = NOCAP_DVALID_B,
    AWAITS = AWAITS_A | AWAITS_B,
    RELEASES = 1 << 2,    /* gives the banks of clear_dvalid back to the unpackers */
    WRITES_DEST = 1 << 3, /* and what waits for a bank does too */
    /* no data is unpacked, computed or packed: what another thread, or a change of configuration,
     * may meet half done */
    NO_DATA = 1 << 4,
    COMPUTES_GPR = 1 << 5, /* `result` is a general purpose register */
    LOADS_GPR = 1 << 6,    /* `data` is one, loaded from memory, which takes long */
};
static const uint8_t traits[NOCAP_TENSIX_OPCODES] = {
    [NOCAP_TENSIX_ELWADD] = AWAITS | RELEASES,
    [NOCAP_TENSIX_ELWSUB] = AWAITS | RELEASES,
    [NOCAP_TENSIX_ELWMUL] = AWAITS | RELEASES,
    [NOCAP_TENSIX_MVMUL] = AWAITS | RELEASES,
    [NOCAP_TENSIX_GMPOOL] = AWAITS | RELEASES,
    [NOCAP_TENSIX_GAPOOL] = AWAITS | RELEASES,
    [NOCAP_TENSIX_MOVA2D] = AWAITS_A,
    [NOCAP_TENSIX_MOVB2D] = AWAITS_B,
    [NOCAP_TENSIX_SFPSTORE] = WRITES_DEST,
    [NOCAP_TENSIX_DOTPV] = RELEASES,
    [NOCAP_TENSIX_CLEARDVALID] = RELEASES | NO_DATA,
    [NOCAP_TENSIX_SETRWC] = RELEASES | NO_DATA,
    [NOCAP_TENSIX_INCRWC] = NO_DATA,
    [NOCAP_TENSIX_CLREXPHIST] = NO_DATA,
    [NOCAP_TENSIX_GATESRCRST] = NO_DATA,
    [NOCAP_TENSIX_ZEROSRC] = NO_DATA,
    [NOCAP_TENSIX_MOVB2A] = NO_DATA,
    [NOCAP_TENSIX_TRNSPSRCB] = NO_DATA,
    [NOCAP_TENSIX_SHIFTXA] = NO_DATA,
    [NOCAP_TENSIX_SHIFTXB] = NO_DATA,
    [NOCAP_TENSIX_SFPNOP] = NO_DATA,
    [NOCAP_TENSIX_SFPCONFIG] = NO_DATA,
    [NOCAP_TENSIX_SFPLOADI] = NO_DATA,
    [NOCAP_TENSIX_SFPENCC] = NO_DATA,
    [NOCAP_TENSIX_UNPACR_NOP] = NO_DATA,
    [NOCAP_TENSIX_PACR_SETREG] = NO_DATA,
    [NOCAP_TENSIX_SETDMAREG] = COMPUTES_GPR,
    [NOCAP_TENSIX_ADDDMAREG] = COMPUTES_GPR,
    [NOCAP_TENSIX_SUBDMAREG] = COMPUTES_GPR,
    [NOCAP_TENSIX_MULDMAREG] = COMPUTES_GPR,
    [NOCAP_TENSIX_BITWOPDMAREG] = COMPUTES_GPR,
    [NOCAP_TENSIX_CMPDMAREG] = COMPUTES_GPR,
    [NOCAP_TENSIX_SHIFTDMAREG] = COMPUTES_GPR,
    [NOCAP_TENSIX_LOADREG] = LOADS_GPR,
    [NOCAP_TENSIX_LOADIND] = LOADS_GPR,
    [NOCAP_TENSIX_ATINCGET] = LOADS_GPR,
    [NOCAP_TENSIX_ATINCGETPTR] = LOADS_GPR,
    [NOCAP_TENSIX_ATSWAP] = LOADS_GPR,
    [NOCAP_TENSIX_ATCAS] = LOADS_GPR,
};

/* The unit that executes it, as condition of a wait; ThCon's work shows in its registers. */
static uint32_t unit_of(uint32_t word)
{
    return gate_unit_of(word) & ~(uint32_t)NOCAP_WAIT_THCON;
}

/* General purpose registers that ThCon writes. */
static uint64_t writes_gprs(const struct gate_word *w)
{
    uint32_t gpr;
    uint64_t registers = 1;
    switch (w->opcode) {
    case NOCAP_TENSIX_LOADREG: gpr = NOCAP_TENSIX_GET(w->word, LOADREG, data); break;
    case NOCAP_TENSIX_SETDMAREG: gpr = NOCAP_TENSIX_GET(w->word, SETDMAREG, half) / 2; break;
    case NOCAP_TENSIX_LOADIND:
        registers =
            NOCAP_TENSIX_GET(w->word, LOADIND, size_sel) == 0 ? WIDE_GPRS : 1; /* fall through */
    default:
        gpr = (traits[w->opcode] & LOADS_GPR) != 0
                  ? NOCAP_TENSIX_GET(w->word, LOADIND, data)
                  : NOCAP_TENSIX_GET(w->word, BITWOPDMAREG, result);
        break;
    }
    return registers << gpr; /* of those that exist */
}

/* ---- waits ---- */

/* The wait held an instruction, so its condition was met: for what was issued in front of it. */
static void pass_wait(struct gate_work *w, unsigned thread)
{
    struct gate_wait *wait = &w->wait;
    const struct gate_after *after = &w->after;
    wait->opcode = 0;
    w->in_flight &= ~wait->conditions | after->units;
    if ((wait->conditions & NOCAP_WAIT_THCON) != 0) {
        w->gpr_written &= after->written;
        w->gpr_loaded &= after->loaded;
    } else if ((wait->block & NOCAP_BLOCK_CFG) != 0) {
        w->gpr_written &= after->written;
    }
    uint8_t ready = (uint8_t)(((wait->conditions & NOCAP_WAIT_SRCA_VLD) != 0 ? NOCAP_DVALID_A : 0) |
                              ((wait->conditions & NOCAP_WAIT_SRCB_VLD) != 0 ? NOCAP_DVALID_B : 0));
    w->src_ready |= (uint8_t)(ready & ~after->released);
    uint32_t wanted = thread == THREAD_PACK ? NOCAP_SEMWAIT_WHILE_ZERO : NOCAP_SEMWAIT_WHILE_MAX;
    if ((wait->semaphores >> NOCAP_SEM_MATH_PACK & 1) != 0 &&
        (wait->semaphore_condition & wanted) != 0 && !after->reported) {
        w->may_use_dest = YES;
    }
}

void work_drained(struct gate_work *w, unsigned thread)
{
    pass_wait(w, thread);
    w->in_flight = 0;
    w->gpr_written = w->gpr_loaded = 0;
}

/* TNX-018: an instruction of an awaited unit slips past a wait that does not hold it. One that
 * blocks the sync unit counts as a wait that does. */
static void judge_slip(const struct gate_word *w)
{
    struct gate_work *work = &w->t->work;
    uint32_t unit = unit_of(w->word) & work->wait.conditions;
    if (unit != 0) {
        bool held = (work->slipped & unit) != 0 || (work->wait.block & NOCAP_BLOCK_SYNC) != 0;
        CHECK_WORD(w, TNX_018, held, RELATED(work->wait.index),
                   "a wait that blocks further instructions of the unit that it waits for",
                   "%s passes a wait for its own unit", GATE_TEXT(w->word));
        work->slipped |= unit;
    }
}

/* ---- hazards ---- */

/* Drains by a load of the PC buffer are seen only where register accesses are, and have a place
 * only in the source of the words: without them what is still under way is unknown. */
static bool sees_drains(const struct gate_word *w)
{
    const uint32_t accesses = NOCAP_CLASS_CORE_MMIO | NOCAP_CLASS_CORE_LOAD;
    return (w->m->header->observes & accesses) != 0 && !w->t->unordered;
}

/* TNX-032 and -035: something tells, or takes as said, that units are done that are at work. */
static void judge_idle(const struct gate_word *w, enum nocap_rule rule, uint32_t units,
                       const char *expected, const char *act)
{
    struct gate_work *work = &w->t->work;
    uint32_t running = work->in_flight & units;
    if (!sees_drains(w)) {
        return;
    }
    CHECK_WORD(w, rule, running == 0, RELATED(work->work_index), expected,
               "%s with%s%s%s work under way", act, (running & NOCAP_WAIT_MATH) != 0 ? " math" : "",
               (running & NOCAP_WAIT_SFPU) != 0 ? " SFPU" : "",
               (running & NOCAP_WAIT_UNPACK0) != 0 ? " unpacker 0" : "");
    work->in_flight &= ~units;
}

/* TNX-030 and -034: WRCFG and RMWCIB. */
static void judge_config(const struct gate_word *w)
{
    struct gate_work *work = &w->t->work;
    bool wrcfg = w->opcode == NOCAP_TENSIX_WRCFG;
    uint32_t reg = wrcfg ? NOCAP_TENSIX_GET(w->word, WRCFG, reg)
                         : NOCAP_TENSIX_GET(w->word, RMWCIB0, reg); /* of all four at one place */
    if (wrcfg) {
        uint32_t gpr = NOCAP_TENSIX_GET(w->word, WRCFG, gpr) % GPRS;
        bool wide = NOCAP_TENSIX_GET(w->word, WRCFG, wide) != 0;
        uint64_t read = wide ? (uint64_t)WIDE_GPRS << (gpr & ~3u) : UINT64_C(1) << gpr;
        bool fresh = ((work->gpr_written | work->gpr_loaded) & read) == 0;
        CHECK_WORD(w, TNX_030, fresh, NO_REFS,
                   "a wait for ThCon between the instruction that writes a GPR and WRCFG",
                   "WRCFG of GPR %u to register %u, and no wait since the GPR was %s", gpr, reg,
                   (work->gpr_loaded & read) != 0 ? "loaded from memory" : "written");
        if (!fresh) { /* one wait would have done for all of them */
            work->gpr_written = work->gpr_loaded = 0;
        }
    }
    if (w->thread == THREAD_PACK && nocap_tensix_is_packer_register(reg)) {
        bool idle = (work->in_flight & NOCAP_WAIT_PACK) == 0;
        CHECK_WORD(w, TNX_034, idle, RELATED(work->work_index),
                   "packer registers changed after a wait for the packer",
                   "packer register %u written with packing under way", reg);
        work->in_flight &= ~(uint32_t)NOCAP_WAIT_PACK;
    }
}

/* TNX-031 */
static void judge_src(const struct gate_word *w)
{
    struct gate_work *work = &w->t->work;
    bool a = w->opcode == NOCAP_TENSIX_MOVD2A;
    uint8_t bank = a ? NOCAP_DVALID_A : NOCAP_DVALID_B;
    bool ready = (work->src_ready & bank) != 0;
    if (ready || (work->src_known & bank) != 0) {
        CHECK_WORD(
            w, TNX_031, ready, NO_REFS,
            a ? "MOVD2A after a wait for SRCA_VLD, or after an instruction that waits for "
                "SrcA by itself"
              : "MOVD2B after a wait for SRCB_VLD, or after an instruction that waits "
                "for SrcB by itself",
            a ? "MOVD2A (0x%08x) without a wait for SRCA_VLD since the bank was last handed over"
              : "MOVD2B (0x%08x) without a wait for SRCB_VLD since the bank was last handed over",
            w->word);
        work->src_ready |= bank;
    }
}

/* TNX-032: the semaphore says done while the work is not; and whose turn it is to use Dest. */
static void use_semaphores(const struct gate_word *w)
{
    struct gate_work *work = &w->t->work;
    bool post = w->opcode == NOCAP_TENSIX_SEMPOST, get = w->opcode == NOCAP_TENSIX_SEMGET;
    uint32_t mask = NOCAP_TENSIX_GET(w->word, SEMPOST, sem_sel); /* in all four at one place */
    bool math_pack = (mask >> NOCAP_SEM_MATH_PACK & 1) != 0;
    bool unpack_to_dest = (mask >> NOCAP_SEM_UNPACK_TO_DEST & 1) != 0;
    bool computed = (post && math_pack) || (get && unpack_to_dest);
    bool unpacked = post && unpack_to_dest;
    if ((w->thread == THREAD_MATH && computed) || (w->thread == THREAD_UNPACK && unpacked)) {
        judge_idle(w, TNX_032, w->thread == THREAD_MATH ? OF_MATH : NOCAP_WAIT_UNPACK0,
                   "a wait for the units at work before the semaphore says that they are done",
                   post ? "SEMPOST" : "SEMGET");
    }
    work->uses_math_pack |= math_pack;
    if (math_pack && (w->thread == THREAD_PACK ? get : post)) {
        work->may_use_dest = NO;
        work->after.reported = true;
    }
}

/* The kernel does: what other sources tell may be of the one before or after. */
static bool uses_math_pack(const struct gate_word *w)
{
    bool uses = w->t->work.uses_math_pack;
    for (unsigned i = 0; !uses && !w->g->unordered && i < THREADS; i++) {
        uses = w->g->threads[i].work.uses_math_pack;
    }
    return uses && !(w->t->has_kernel && w->t->kernel_source != w->m->event->src);
}

/* TNX-033: Dest is used without asking whose turn it is. */
static void judge_dest(const struct gate_word *w)
{
    struct gate_work *work = &w->t->work;
    bool packs = w->thread == THREAD_PACK && w->opcode == NOCAP_TENSIX_PACR;
    bool computes = w->thread == THREAD_MATH && (traits[w->opcode] & (AWAITS | WRITES_DEST)) != 0;
    if ((!packs && !computes) || work->may_use_dest == UNKNOWN || !uses_math_pack(w)) {
        return;
    }
    CHECK_WORD(w, TNX_033, work->may_use_dest == YES, NO_REFS,
               packs ? "a SEMWAIT on MATH_PACK between SEMGET and the next PACR"
                     : "a SEMWAIT on room in MATH_PACK between SEMPOST and the next write to "
                       "Dest",
               packs ? "PACR (0x%08x) without a SEMWAIT on MATH_PACK before it"
                     : "write to Dest (0x%08x) without a SEMWAIT on MATH_PACK before it",
               w->word);
    work->may_use_dest = YES;
}

/* TNX-035 */
static void judge_flip(const struct gate_word *w)
{
    struct gate_thread *t = w->t;
    uint16_t offset = (uint16_t)NOCAP_TENSIX_GET(w->word, SETC16, value);
    if (NOCAP_TENSIX_GET(w->word, SETC16, reg) != NOCAP_CFG_DEST_OFFSET) {
        return;
    }
    if (t->dest_known && ((offset ^ t->dest_offset) & NOCAP_DEST_HALF) != 0) {
        judge_idle(w, TNX_035, OF_MATH, "a wait for math and SFPU before the Dest half is flipped",
                   "Dest half flipped");
    }
    t->dest_offset = offset;
    t->dest_known = true;
}

/* TNX-020 */
static void judge_mutex(const struct gate_word *w)
{
    struct gate_thread *t = w->t;
    bool gets = w->opcode == NOCAP_TENSIX_ATGETM;
    uint32_t i = NOCAP_TENSIX_GET(w->word, ATGETM, mutex);
    bool exists = i < NOCAP_MUTEXES && i != NOCAP_MUTEX_MISSING;
    uint8_t bit = (uint8_t)(exists ? 1 << i : 0);
    bool held = (t->mutex_held & bit) != 0, known = (t->mutex_known & bit) != 0;
    CHECK_WORD(w, TNX_020, exists && (!known || held != gets), NO_REFS,
               "a mutex of 0, 2, 3, 4 acquired when free of this thread, released when owned",
               !exists ? "mutex %u does not exist"
               : gets  ? "mutex %u acquired again by its owner"
                       : "mutex %u released without being owned",
               i);
    t->mutex_known |= bit;
    t->mutex_held = (uint8_t)(gets ? t->mutex_held | bit : t->mutex_held & ~bit);
}

/* What an instruction needs, by opcode. */
static void judge_word(const struct gate_word *w)
{
    switch (w->opcode) {
    case NOCAP_TENSIX_WRCFG:
    case NOCAP_TENSIX_RMWCIB0:
    case NOCAP_TENSIX_RMWCIB1:
    case NOCAP_TENSIX_RMWCIB2:
    case NOCAP_TENSIX_RMWCIB3:
        if (sees_drains(w)) {
            judge_config(w);
        }
        break;
    case NOCAP_TENSIX_MOVD2A:
    case NOCAP_TENSIX_MOVD2B: judge_src(w); break;
    case NOCAP_TENSIX_SEMINIT:
    case NOCAP_TENSIX_SEMPOST:
    case NOCAP_TENSIX_SEMGET:
    case NOCAP_TENSIX_SEMWAIT: use_semaphores(w); break;
    case NOCAP_TENSIX_ATGETM:
    case NOCAP_TENSIX_ATRELM: judge_mutex(w); break;
    case NOCAP_TENSIX_SETC16: judge_flip(w); break;
    default: judge_dest(w); break;
    }
}

/* What it leaves behind. */
static void take_work(const struct gate_word *w)
{
    struct gate_work *work = &w->t->work;
    uint8_t trait = traits[w->opcode];
    uint32_t banks = NOCAP_TENSIX_GET(w->word, MVMUL, clear_dvalid); /* at one place in all */
    uint8_t released = (uint8_t)((trait & RELEASES) != 0 ? banks : 0);
    work->src_ready = (uint8_t)((work->src_ready | (trait & AWAITS)) & ~released);
    work->src_known |= released;
    work->after.released |= released;
    if ((trait & (COMPUTES_GPR | LOADS_GPR)) != 0) {
        bool loads = (trait & LOADS_GPR) != 0;
        uint64_t gprs = writes_gprs(w);
        *(loads ? &work->gpr_loaded : &work->gpr_written) |= gprs;
        *(loads ? &work->after.loaded : &work->after.written) |= gprs;
    }
    uint32_t units = (trait & NO_DATA) == 0 ? unit_of(w->word) : 0;
    if (units != 0) {
        work->in_flight |= units;
        work->after.units |= units;
        work->work_index = w->m->event->index;
    }
}

void gate_work_word(const struct gate_word *w)
{
    struct gate_work *work = &w->t->work;
    bool stall = work->wait.opcode == NOCAP_TENSIX_STALLWAIT;
    if (gate_holds_back(&work->wait, w->word)) {
        pass_wait(work, w->thread);
        if (stall) {
            MARK_EXERCISED(w->m, TNX_018);
        }
    } else if (stall) {
        judge_slip(w);
    }
    judge_word(w);
    take_work(w);
    if (nocap_tensix_is_wait(w->word)) {
        work->wait = gate_wait_of(w->word, w->m->event->index);
        work->after = (struct gate_after){0};
        work->slipped = 0;
    }
}
