/* The work that a thread issues, in its order, and the waits between: what must have drained before
 * what. Rules TNX-018, -020, -030 to -035. */
#include <string.h>

#include "replay/gate.h"
#include "replay/tile.h"

enum {
    THREAD_UNPACK = 0,
    THREAD_MATH = 1,
    THREAD_PACK = 2,
    OF_MATH = NOCAP_WAIT_MATH | NOCAP_WAIT_SFPU,
    BOTH_BANKS = NOCAP_DVALID_A | NOCAP_DVALID_B,
    WIDE_GPRS = 4, /* registers that a 128-bit access touches */
    GPRS = NOCAP_GPR_COUNT,
};

/* Which block bits hold further work of an awaited unit. C0 needs none: loads wait for nothing. */
static const struct {
    uint32_t condition;
    uint16_t block;
} advice[] = {
    {NOCAP_WAIT_UNPACK0, NOCAP_BLOCK_UNPACK | NOCAP_BLOCK_TDMA},
    {NOCAP_WAIT_UNPACK1, NOCAP_BLOCK_UNPACK | NOCAP_BLOCK_TDMA},
    {NOCAP_WAIT_PACK, NOCAP_BLOCK_PACK | NOCAP_BLOCK_TDMA},
    {NOCAP_WAIT_MATH, NOCAP_BLOCK_MATH},
    {NOCAP_WAIT_XMOV, NOCAP_BLOCK_XMOV | NOCAP_BLOCK_TDMA},
    {NOCAP_WAIT_SFPU, NOCAP_BLOCK_SFPU},
    {NOCAP_WAIT_CFG, NOCAP_BLOCK_CFG},
};

void work_start(struct gate_work *w, bool known)
{
    struct gate_work fresh = {
        .src_known = known ? BOTH_BANKS : 0,
        .may_use_dest = known ? NO : UNKNOWN,
        /* registers and mutexes outlive a kernel */
        .dest_known = w->dest_known,
        .dest_offset = w->dest_offset,
        .mutex_known = w->mutex_known,
        .mutex_held = w->mutex_held,
    };
    *w = fresh;
}

/* ---- what a word does ---- */

/* Condition bit of the unit that executes it, 0: none that can be waited for. */
static uint32_t unit_of(uint32_t word)
{
    switch (nocap_tensix_opcodes[nocap_tensix_opcode(word)].unit) {
    case NOCAP_TENSIX_UNIT_UNPACK:
        return NOCAP_TENSIX_GET(word, UNPACR, unpacker) == 0 ? NOCAP_WAIT_UNPACK0
                                                             : NOCAP_WAIT_UNPACK1;
    case NOCAP_TENSIX_UNIT_PACK: return NOCAP_WAIT_PACK;
    case NOCAP_TENSIX_UNIT_FPU: return NOCAP_WAIT_MATH;
    case NOCAP_TENSIX_UNIT_SFPU: return NOCAP_WAIT_SFPU;
    case NOCAP_TENSIX_UNIT_MOVER: return NOCAP_WAIT_XMOV;
    case NOCAP_TENSIX_UNIT_CFG: return NOCAP_WAIT_CFG;
    default: return 0;
    }
}

/* The same for work that another thread, or a change of configuration, must not meet half done:
 * data that is unpacked, computed, packed. */
static uint32_t work_of(uint32_t word)
{
    switch (nocap_tensix_opcode(word)) {
    case NOCAP_TENSIX_CLREXPHIST:
    case NOCAP_TENSIX_GATESRCRST:
    case NOCAP_TENSIX_CLEARDVALID:
    case NOCAP_TENSIX_SETRWC:
    case NOCAP_TENSIX_INCRWC:
    case NOCAP_TENSIX_ZEROSRC:
    case NOCAP_TENSIX_MOVB2A:
    case NOCAP_TENSIX_TRNSPSRCB:
    case NOCAP_TENSIX_SHIFTXA:
    case NOCAP_TENSIX_SHIFTXB:
    case NOCAP_TENSIX_SFPNOP:
    case NOCAP_TENSIX_SFPCONFIG:
    case NOCAP_TENSIX_SFPLOADI:
    case NOCAP_TENSIX_SFPENCC:
    case NOCAP_TENSIX_UNPACR_NOP:
    case NOCAP_TENSIX_PACR_SETREG: return 0;
    default: return unit_of(word);
    }
}

/* Source banks whose ownership an instruction awaits by itself. */
static uint8_t awaits_src(uint32_t word)
{
    switch (nocap_tensix_opcode(word)) {
    case NOCAP_TENSIX_ELWADD:
    case NOCAP_TENSIX_ELWSUB:
    case NOCAP_TENSIX_ELWMUL:
    case NOCAP_TENSIX_MVMUL:
    case NOCAP_TENSIX_GMPOOL:
    case NOCAP_TENSIX_GAPOOL: return BOTH_BANKS;
    case NOCAP_TENSIX_MOVA2D: return NOCAP_DVALID_A;
    case NOCAP_TENSIX_MOVB2D: return NOCAP_DVALID_B;
    default: return 0;
    }
}

/* Source banks that it gives back to the unpackers. */
static uint8_t releases_src(uint32_t word)
{
    switch (nocap_tensix_opcode(word)) {
    case NOCAP_TENSIX_ELWADD:
    case NOCAP_TENSIX_ELWSUB:
    case NOCAP_TENSIX_ELWMUL:
    case NOCAP_TENSIX_MVMUL:
    case NOCAP_TENSIX_DOTPV:
    case NOCAP_TENSIX_GMPOOL:
    case NOCAP_TENSIX_GAPOOL:
    case NOCAP_TENSIX_CLEARDVALID:
    case NOCAP_TENSIX_SETRWC:
        return (uint8_t)NOCAP_TENSIX_GET(word, MVMUL, clear_dvalid); /* at one place in all */
    default: return 0;
    }
}

static bool writes_dest(uint32_t word)
{
    switch (nocap_tensix_opcode(word)) {
    case NOCAP_TENSIX_MOVB2D:
    case NOCAP_TENSIX_SFPSTORE: return true;
    default: return awaits_src(word) != 0;
    }
}

/* General purpose registers that ThCon writes; `*loads`: from memory, so it takes long. */
static uint64_t writes_gprs(uint32_t word, bool *loads)
{
    uint32_t gpr;
    unsigned count = 1;
    *loads = false;
    switch (nocap_tensix_opcode(word)) {
    case NOCAP_TENSIX_SETDMAREG: gpr = NOCAP_TENSIX_GET(word, SETDMAREG, half) / 2; break;
    case NOCAP_TENSIX_ADDDMAREG:
    case NOCAP_TENSIX_SUBDMAREG:
    case NOCAP_TENSIX_MULDMAREG:
    case NOCAP_TENSIX_BITWOPDMAREG:
    case NOCAP_TENSIX_CMPDMAREG:
    case NOCAP_TENSIX_SHIFTDMAREG: gpr = NOCAP_TENSIX_GET(word, BITWOPDMAREG, result); break;
    case NOCAP_TENSIX_LOADREG:
        gpr = NOCAP_TENSIX_GET(word, LOADREG, data);
        *loads = true;
        break;
    case NOCAP_TENSIX_LOADIND:
        count = NOCAP_TENSIX_GET(word, LOADIND, size_sel) == 0 ? WIDE_GPRS : 1;
        gpr = NOCAP_TENSIX_GET(word, LOADIND, data);
        *loads = true;
        break;
    case NOCAP_TENSIX_ATINCGET:
    case NOCAP_TENSIX_ATINCGETPTR:
    case NOCAP_TENSIX_ATSWAP:
    case NOCAP_TENSIX_ATCAS:
        gpr = NOCAP_TENSIX_GET(word, ATINCGET, data);
        *loads = true;
        break;
    default: return 0;
    }
    uint64_t bits = 0;
    for (unsigned i = 0; i < count && gpr + i < GPRS; i++) {
        bits |= UINT64_C(1) << (gpr + i);
    }
    return bits;
}

/* ---- waits ---- */

static void take_wait(struct gate_wait *wait, uint32_t word, uint64_t index)
{
    struct gate_latch l = gate_latch_of(word);
    *wait = (struct gate_wait){.pending = true,
                               .is_stall = l.opcode == NOCAP_TENSIX_STALLWAIT,
                               .block = l.block,
                               .conditions = l.conditions,
                               .semaphores = l.semaphores,
                               .semaphore_condition = l.semaphore_condition,
                               .index = index};
    for (size_t i = 0; i < sizeof advice / sizeof advice[0]; i++) {
        if ((l.conditions & advice[i].condition) != 0 && (l.block & advice[i].block) == 0 &&
            (l.block & NOCAP_BLOCK_SYNC) == 0) {
            wait->unblocked |= advice[i].condition;
        }
    }
}

/* The wait held an instruction, so its condition was met. */
static void pass_wait(struct gate_work *w, unsigned thread)
{
    struct gate_wait *wait = &w->wait;
    wait->pending = false;
    w->in_flight &= ~wait->conditions;
    if ((wait->conditions & NOCAP_WAIT_THCON) != 0) {
        w->gpr_written = w->gpr_loaded = 0;
    } else if ((wait->block & NOCAP_BLOCK_CFG) != 0) {
        w->gpr_written = 0;
    }
    if ((wait->conditions & NOCAP_WAIT_SRCA_VLD) != 0) {
        w->src_ready |= NOCAP_DVALID_A;
    }
    if ((wait->conditions & NOCAP_WAIT_SRCB_VLD) != 0) {
        w->src_ready |= NOCAP_DVALID_B;
    }
    uint32_t wanted = thread == THREAD_PACK ? NOCAP_SEMWAIT_WHILE_ZERO : NOCAP_SEMWAIT_WHILE_MAX;
    if ((wait->semaphores >> NOCAP_SEM_MATH_PACK & 1) != 0 &&
        (wait->semaphore_condition & wanted) != 0) {
        w->may_use_dest = YES;
    }
}

void work_drained(struct gate_work *w, unsigned thread)
{
    if (w->wait.pending) {
        pass_wait(w, thread);
    }
    w->in_flight = 0;
    w->gpr_written = w->gpr_loaded = 0;
}

/* TNX-018: an instruction of an awaited unit slips past a wait that does not hold it. */
static void judge_slip(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                       struct gate_wait *wait)
{
    uint32_t unit = unit_of(word);
    char text[NOCAP_TENSIX_TEXT_MAX];
    if (unit == 0 || (wait->conditions & unit) == 0) {
        return;
    }
    bool slips = (wait->unblocked & unit) != 0;
    EXPECT_THREAD(m, tile, TNX_018, !slips, thread, RELATED(wait->index),
                  "a wait that holds further instructions of the unit that it waits for",
                  "%s passes it", nocap_tensix_disassemble(word, text, sizeof text));
    wait->unblocked &= ~unit;
}

/* ---- hazards ---- */

static bool uses_math_pack(const struct gate *g)
{
    bool uses = false;
    for (unsigned i = 0; i < GATE_THREADS; i++) {
        uses = uses || g->threads[i].work.uses_math_pack;
    }
    return uses;
}

/* TNX-030 and -034: WRCFG and RMWCIB. */
static void judge_config(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                         struct gate_work *w)
{
    bool wrcfg = nocap_tensix_opcode(word) == NOCAP_TENSIX_WRCFG;
    uint32_t reg = wrcfg ? NOCAP_TENSIX_GET(word, WRCFG, reg)
                         : NOCAP_TENSIX_GET(word, RMWCIB0, reg); /* of all four at one place */
    if (wrcfg) {
        uint32_t gpr = NOCAP_TENSIX_GET(word, WRCFG, gpr) % GPRS;
        bool wide = NOCAP_TENSIX_GET(word, WRCFG, wide) != 0;
        uint64_t read = (wide ? UINT64_C(0xF) << (gpr & ~3u) : UINT64_C(1) << gpr);
        bool fresh = ((w->gpr_written | w->gpr_loaded) & read) == 0;
        EXPECT_THREAD(m, tile, TNX_030, fresh, thread, NOTHING,
                      "a wait for ThCon between the instruction that writes a GPR and WRCFG",
                      "WRCFG of GPR %u to register %u%s", gpr, reg,
                      (w->gpr_loaded & read) != 0 ? ", which is loaded from memory" : "");
        if (!fresh) { /* one wait would have done for all of them */
            w->gpr_written = w->gpr_loaded = 0;
        }
    }
    if (thread == THREAD_PACK && nocap_tensix_is_packer_register(reg)) {
        bool idle = (w->in_flight & NOCAP_WAIT_PACK) == 0;
        EXPECT_THREAD(m, tile, TNX_034, idle, thread, RELATED(w->work_index),
                      "packer registers changed after a wait for the packer",
                      "register %u written with packing under way", reg);
        w->in_flight &= ~(uint32_t)NOCAP_WAIT_PACK;
    }
}

/* TNX-031 */
static void judge_src(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                      struct gate_work *w)
{
    bool a = nocap_tensix_opcode(word) == NOCAP_TENSIX_MOVD2A;
    uint8_t bank = a ? NOCAP_DVALID_A : NOCAP_DVALID_B;
    bool ready = (w->src_ready & bank) != 0;
    if (ready || (w->src_known & bank) != 0) {
        EXPECT_THREAD(
            m, tile, TNX_031, ready, thread, NOTHING,
            a ? "MOVD2A after a wait for SRCA_VLD, or after an instruction that waits for "
                "SrcA by itself"
              : "MOVD2B after a wait for SRCB_VLD, or after an instruction that waits "
                "for SrcB by itself",
            "0x%08x without one since the bank was last handed over", word);
        w->src_ready |= bank;
    }
}

/* TNX-032: the semaphore says done while the work is not. */
static void judge_signal(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                         struct gate_work *w)
{
    bool post = nocap_tensix_opcode(word) == NOCAP_TENSIX_SEMPOST;
    uint32_t mask = NOCAP_TENSIX_GET(word, SEMPOST, sem_sel), units = 0;
    bool math_pack = (mask >> NOCAP_SEM_MATH_PACK & 1) != 0;
    bool unpack_to_dest = (mask >> NOCAP_SEM_UNPACK_TO_DEST & 1) != 0;
    if (thread == THREAD_MATH && ((post && math_pack) || (!post && unpack_to_dest))) {
        units = OF_MATH;
    } else if (thread == THREAD_UNPACK && post && unpack_to_dest) {
        units = NOCAP_WAIT_UNPACK0;
    }
    if (units == 0) {
        return;
    }
    uint32_t running = w->in_flight & units;
    EXPECT_THREAD(m, tile, TNX_032, running == 0, thread, RELATED(w->work_index),
                  "a wait for the units at work before the semaphore says that they are done",
                  "%s with%s%s%s work under way", post ? "SEMPOST" : "SEMGET",
                  (running & NOCAP_WAIT_MATH) != 0 ? " math" : "",
                  (running & NOCAP_WAIT_SFPU) != 0 ? " SFPU" : "",
                  (running & NOCAP_WAIT_UNPACK0) != 0 ? " unpacker 0" : "");
    w->in_flight &= ~units;
}

/* TNX-033: Dest is used without asking whose turn it is. */
static void judge_dest(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                       struct gate_work *w)
{
    bool packs = thread == THREAD_PACK && nocap_tensix_opcode(word) == NOCAP_TENSIX_PACR;
    bool computes = thread == THREAD_MATH && writes_dest(word);
    if ((!packs && !computes) || w->may_use_dest == UNKNOWN || !uses_math_pack(tile->gate)) {
        return;
    }
    EXPECT_THREAD(m, tile, TNX_033, w->may_use_dest == YES, thread, NOTHING,
                  packs ? "a SEMWAIT on MATH_PACK between SEMGET and the next PACR"
                        : "a SEMWAIT on room in MATH_PACK between SEMPOST and the next write to "
                          "Dest",
                  "0x%08x without one", word);
    w->may_use_dest = YES;
}

/* TNX-035 */
static void judge_flip(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                       struct gate_work *w)
{
    uint16_t offset = (uint16_t)NOCAP_TENSIX_GET(word, SETC16, value);
    if (NOCAP_TENSIX_GET(word, SETC16, reg) != NOCAP_CFG_DEST_OFFSET) {
        return;
    }
    if (w->dest_known && ((offset ^ w->dest_offset) & NOCAP_DEST_HALF) != 0) {
        uint32_t running = w->in_flight & OF_MATH;
        EXPECT_THREAD(m, tile, TNX_035, running == 0, thread, RELATED(w->work_index),
                      "a wait for math and SFPU before the Dest half is flipped",
                      "flipped with%s%s work under way",
                      (running & NOCAP_WAIT_MATH) != 0 ? " math" : "",
                      (running & NOCAP_WAIT_SFPU) != 0 ? " SFPU" : "");
        w->in_flight &= ~(uint32_t)OF_MATH;
    }
    w->dest_offset = offset;
    w->dest_known = true;
}

/* TNX-020 */
static void judge_mutex(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                        struct gate_work *w)
{
    bool gets = nocap_tensix_opcode(word) == NOCAP_TENSIX_ATGETM;
    uint32_t i = NOCAP_TENSIX_GET(word, ATGETM, mutex);
    bool exists = i < NOCAP_MUTEXES && i != NOCAP_MUTEX_MISSING;
    uint8_t bit = (uint8_t)(exists ? 1 << i : 0);
    bool held = (w->mutex_held & bit) != 0, known = (w->mutex_known & bit) != 0;
    EXPECT_THREAD(m, tile, TNX_020, exists && (!known || held != gets), thread, NOTHING,
                  "a mutex of 0, 2, 3, 4 acquired when free of this thread, released when owned",
                  !exists ? "there is no mutex %u"
                  : gets  ? "mutex %u acquired again by its owner"
                          : "mutex %u released without being owned",
                  i);
    w->mutex_known |= bit;
    w->mutex_held = (uint8_t)(gets ? w->mutex_held | bit : w->mutex_held & ~bit);
}

static void use_semaphores(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                           struct gate_work *w)
{
    unsigned opcode = nocap_tensix_opcode(word);
    if (opcode == NOCAP_TENSIX_SEMPOST || opcode == NOCAP_TENSIX_SEMGET) {
        judge_signal(m, tile, thread, word, w);
    }
    if ((NOCAP_TENSIX_GET(word, SEMPOST, sem_sel) >> NOCAP_SEM_MATH_PACK & 1) != 0) {
        w->uses_math_pack = true;
        if ((thread == THREAD_PACK && opcode == NOCAP_TENSIX_SEMGET) ||
            (thread == THREAD_MATH && opcode == NOCAP_TENSIX_SEMPOST)) {
            w->may_use_dest = NO;
        }
    }
}

/* What an instruction needs, by opcode. */
static void judge_word(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                       struct gate_work *w)
{
    switch (nocap_tensix_opcode(word)) {
    case NOCAP_TENSIX_WRCFG:
    case NOCAP_TENSIX_RMWCIB0:
    case NOCAP_TENSIX_RMWCIB1:
    case NOCAP_TENSIX_RMWCIB2:
    case NOCAP_TENSIX_RMWCIB3: judge_config(m, tile, thread, word, w); break;
    case NOCAP_TENSIX_MOVD2A:
    case NOCAP_TENSIX_MOVD2B: judge_src(m, tile, thread, word, w); break;
    case NOCAP_TENSIX_SEMINIT:
    case NOCAP_TENSIX_SEMPOST:
    case NOCAP_TENSIX_SEMGET:
    case NOCAP_TENSIX_SEMWAIT: use_semaphores(m, tile, thread, word, w); break;
    case NOCAP_TENSIX_ATGETM:
    case NOCAP_TENSIX_ATRELM: judge_mutex(m, tile, thread, word, w); break;
    case NOCAP_TENSIX_SETC16: judge_flip(m, tile, thread, word, w); break;
    default: judge_dest(m, tile, thread, word, w); break;
    }
}

/* What it leaves behind. Drains by a load of the PC buffer are seen only where register accesses
 * are: without them nobody knows what is still under way. */
static void take_work(const struct model *m, struct gate_work *w, uint32_t word)
{
    uint8_t awaited = awaits_src(word), released = releases_src(word);
    w->src_ready = (uint8_t)((w->src_ready | awaited) & ~released);
    w->src_known |= released;
    if ((m->header->observes & (NOCAP_CLASS_CORE_MMIO | NOCAP_CLASS_CORE_LOAD)) == 0) {
        return;
    }
    bool loads;
    uint64_t gprs = writes_gprs(word, &loads);
    w->gpr_written |= loads ? 0 : gprs;
    w->gpr_loaded |= loads ? gprs : 0;
    uint32_t work = work_of(word);
    if (work != 0) {
        w->in_flight |= work;
        w->work_index = m->event->index;
    }
}

void gate_work_word(struct model *m, struct tile *tile, unsigned thread, uint32_t word)
{
    struct gate_work *w = &tile->gate->threads[thread].work;
    if (w->wait.pending) {
        if (nocap_tensix_is_wait(word) || nocap_tensix_is_held(word, w->wait.block)) {
            pass_wait(w, thread);
            if (w->wait.is_stall) {
                HOLDS(m, TNX_018);
            }
        } else if (w->wait.is_stall) {
            judge_slip(m, tile, thread, word, &w->wait);
        }
    }
    judge_word(m, tile, thread, word, w);
    take_work(m, w, word);
    if (nocap_tensix_is_wait(word)) {
        take_wait(&w->wait, word, m->event->index);
    }
}
