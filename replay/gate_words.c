/* Instruction words by themselves: what no thread may push. Rules TNX-010 to -012, -016, -017,
 * -019.
 */
#include "replay/gate.h"
#include "replay/tile.h"

/* Bits that are not part of any field, in the words of the Sync Unit; semaphore masks have a rule
 * of their own. */
static uint32_t stray_bits(uint32_t word)
{
    switch (nocap_tensix_opcode(word)) {
    case NOCAP_TENSIX_SEMINIT:
    case NOCAP_TENSIX_SEMPOST:
    case NOCAP_TENSIX_SEMGET:
    case NOCAP_TENSIX_SEMWAIT:
        return nocap_tensix_stray_bits(word) &
               ~((uint32_t)NOCAP_SEM_MASK_UNUSED << NOCAP_SEMPOST_sem_sel_LOW);
    case NOCAP_TENSIX_ATGETM:
    case NOCAP_TENSIX_ATRELM:
    case NOCAP_TENSIX_STALLWAIT:
    case NOCAP_TENSIX_STREAMWAIT: return nocap_tensix_stray_bits(word);
    default: return 0;
    }
}

static void judge_semaphores(struct model *m, struct tile *tile, unsigned thread, uint32_t word)
{
    char text[NOCAP_TENSIX_TEXT_MAX];
    uint32_t mask = NOCAP_TENSIX_GET(word, SEMPOST, sem_sel);
    uint32_t unused = word >> NOCAP_SEMPOST_sem_sel_LOW & NOCAP_SEM_MASK_UNUSED;
    EXPECT_THREAD(m, tile, TNX_012, mask != 0 && unused == 0, thread, NOTHING,
                  "one of the semaphores 0..7 selected, and no others", "%s",
                  nocap_tensix_disassemble(word, text, sizeof text));
}

static void judge_defaults(struct model *m, struct tile *tile, unsigned thread, uint32_t word)
{
    bool block = NOCAP_TENSIX_GET(word, STALLWAIT, stall_res) != 0;
    bool waits = nocap_tensix_opcode(word) != NOCAP_TENSIX_STALLWAIT ||
                 NOCAP_TENSIX_GET(word, STALLWAIT, wait_res) != 0;
    EXPECT_THREAD(m, tile, TNX_017, block && waits, thread, NOTHING,
                  "a wait that says what it holds and what it waits for", "0x%08x: %s", word,
                  block ? "no condition, the hardware takes THCON|UNPACK0|UNPACK1|PACK"
                        : "no block bit, the hardware takes STALL_MATH");
}

void gate_judge_word(struct model *m, struct tile *tile, unsigned thread, uint32_t word)
{
    unsigned opcode = nocap_tensix_opcode(word);
    bool known = nocap_tensix_opcode_name(opcode) != NULL;
    uint32_t stray = stray_bits(word);
    EXPECT_THREAD(m, tile, TNX_010, known && stray == 0, thread, NOTHING,
                  "an opcode of the instruction set, and no bit outside its fields",
                  known ? "0x%08x has stray bits 0x%x" : "0x%08x is no instruction", word, stray);
    switch (opcode) {
    case NOCAP_TENSIX_SEMWAIT:
        EXPECT_THREAD(m, tile, TNX_011, NOCAP_TENSIX_GET(word, SEMWAIT, condition) != 0, thread,
                      NOTHING, "a condition in a SEMWAIT", "0x%08x has none", word);
        judge_semaphores(m, tile, thread, word);
        judge_defaults(m, tile, thread, word);
        break;
    case NOCAP_TENSIX_SEMINIT:
        EXPECT_THREAD(
            m, tile, TNX_016,
            NOCAP_TENSIX_GET(word, SEMINIT, value) <= NOCAP_TENSIX_GET(word, SEMINIT, max), thread,
            NOTHING, "a SEMINIT with a value up to the maximum", "value %u, maximum %u",
            NOCAP_TENSIX_GET(word, SEMINIT, value), NOCAP_TENSIX_GET(word, SEMINIT, max));
        judge_semaphores(m, tile, thread, word);
        break;
    case NOCAP_TENSIX_SEMPOST:
    case NOCAP_TENSIX_SEMGET: judge_semaphores(m, tile, thread, word); break;
    case NOCAP_TENSIX_STALLWAIT: judge_defaults(m, tile, thread, word); break;
    default: break;
    }
}

void gate_judge_push(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                     unsigned by)
{
    unsigned opcode = nocap_tensix_opcode(word);
    bool expands = opcode == NOCAP_TENSIX_MOP || opcode == NOCAP_TENSIX_MOP_CFG;
    bool declares = opcode == NOCAP_TENSIX_RESOURCEDECL;
    if (by == NOCAP_BY_BRISC || declares) {
        EXPECT_THREAD(m, tile, TNX_019, !declares && !expands, thread, NOTHING,
                      "no RESOURCEDECL, and no MOP or MOP_CFG from BRISC, whose words enter behind "
                      "the MOP expander",
                      "%s pushed by %s", nocap_tensix_opcode_name(opcode), nocap_agent_name(by));
    } else {
        HOLDS(m, TNX_019);
    }
}
