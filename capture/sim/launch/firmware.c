/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/sim/launch/firmware.h"

#include "formats/blackhole/niu.h"
#include "formats/blackhole/tensix_isa.h"

const struct sim_segment sim_segments[] = {
    {SIM_TEXT_BRISC, 4528, false},  {0x82B0, 2088, true},
    {SIM_TEXT_NCRISC, 1080, false}, {0xA2B0, 2068, true},
    {SIM_TEXT_TRISC0, 996, false},  {0xC2B0, 1056, true},
    {SIM_TEXT_TRISC1, 580, false},  {0xD2B0, 28, true},
    {SIM_TEXT_TRISC2, 948, false},  {0xE2B0, 1056, true},
};
const unsigned sim_segment_count = sizeof sim_segments / sizeof sim_segments[0];

const uint32_t sim_text[NOCAP_PROCESSOR_COUNT] = {
    [NOCAP_PROCESSOR_BRISC] = SIM_TEXT_BRISC,   [NOCAP_PROCESSOR_NCRISC] = SIM_TEXT_NCRISC,
    [NOCAP_PROCESSOR_TRISC0] = SIM_TEXT_TRISC0, [NOCAP_PROCESSOR_TRISC1] = SIM_TEXT_TRISC1,
    [NOCAP_PROCESSOR_TRISC2] = SIM_TEXT_TRISC2,
};
const uint32_t sim_kernel_return[NOCAP_PROCESSOR_COUNT] = {
    [NOCAP_PROCESSOR_BRISC] = 0x3F54,  [NOCAP_PROCESSOR_NCRISC] = 0x5764,
    [NOCAP_PROCESSOR_TRISC0] = 0x5DFC, [NOCAP_PROCESSOR_TRISC1] = 0x625C,
    [NOCAP_PROCESSOR_TRISC2] = 0x69CC,
};

const struct sim_trisc sim_triscs[NOCAP_TENSIX_THREADS] = {
    {458, 165, 0x5B9C, 0x5BB0, 0x5C10, 0x5E04, 0x5E10},
    {66, 22, 0x618C, 0x61A0, 0x61F0, 0x6264, 0x6270},
    {458, 171, 0x679C, 0x67B0, 0x6804, 0x69D4, 0x69E0},
};

#define STORE(after, addr, value, pc)                                                              \
    {                                                                                              \
        (after), SIM_STEP_STORE, (addr), (value), (pc), NOCAP_SIM_FAULT_NONE                       \
    }
#define STORE_UNLESS(fault, after, addr, value, pc)                                                \
    {                                                                                              \
        (after), SIM_STEP_STORE, (addr), (value), (pc), NOCAP_SIM_FAULT_##fault                    \
    }
#define SET_BITS(after, addr, value, pc)                                                           \
    {                                                                                              \
        (after), SIM_STEP_SET_BITS, (addr), (value), (pc), NOCAP_SIM_FAULT_NONE                    \
    }
#define OWN_XY(after, addr, pc)                                                                    \
    {                                                                                              \
        (after), SIM_STEP_OWN_XY, (addr), 0, (pc), NOCAP_SIM_FAULT_NONE                            \
    }
#define STEPS(name, table) const struct sim_steps name = {table, sizeof(table) / sizeof((table)[0])}

/* Registers of NOC n and of its command buffer b. */
#define NIU(n, NAME)                                                                               \
    (((n) == 0 ? (uint32_t)NOCAP_BASE_NIU0 : (uint32_t)NOCAP_BASE_NIU1) + NOCAP_NIU_##NAME)
#define BUFFER(n, b, NAME) (NIU(n, NAME) + (b)*NOCAP_NIU_BUFFER_STRIDE)

static const struct sim_step device_setup[] = {
    STORE(1910, NOCAP_RD_PTR, 0, 0x3988),
    STORE(35, NOCAP_REG_DEST_CG_CTRL, 0, 0x3A14),
    STORE_UNLESS(CLK_GATE_MISSING, 1, NOCAP_REG_CLK_GATE_EN, NOCAP_CLK_GATE_EN_BOOT, 0x3A18),
    SET_BITS(22, NIU(0, NIU_CFG_0), NOCAP_CFG_BOOT, 0x4930),
    SET_BITS(23, NIU(0, ROUTER_CFG_0), NOCAP_CFG_BOOT, 0x4930),
    SET_BITS(24, NIU(1, NIU_CFG_0), NOCAP_CFG_BOOT, 0x4930),
    SET_BITS(23, NIU(1, ROUTER_CFG_0), NOCAP_CFG_BOOT, 0x4930),
    STORE(6, NOCAP_REG_NCRISC_RESET_PC, SIM_TEXT_NCRISC, 0x3A80),
    STORE(2, NOCAP_REG_TRISC0_RESET_PC, SIM_TEXT_TRISC0, 0x3A88),
    STORE(2, NOCAP_REG_TRISC1_RESET_PC, SIM_TEXT_TRISC1, 0x3A90),
    STORE(2, NOCAP_REG_TRISC2_RESET_PC, SIM_TEXT_TRISC2, 0x3A98),
    STORE(2, NOCAP_REG_TRISC_RESET_PC_OVERRIDE, NOCAP_RESET_PC_OVERRIDE_TRISCS, 0x3AA0),
    STORE(3, NOCAP_REG_NCRISC_RESET_PC_OVERRIDE, NOCAP_RESET_PC_OVERRIDE_NCRISC, 0x3AAC),
};
STEPS(sim_device_setup, device_setup);

/* Zeroing accumulators, enabling all lanes, a constant for the vector unit; the ECC scrubber; the
 * semaphores. */
#define SEMINIT(mask)                                                                              \
    (NOCAP_TENSIX_WORD(SEMINIT) | NOCAP_TENSIX_SET(SEMINIT, max, 1) |                              \
     NOCAP_TENSIX_SET(SEMINIT, sem_sel, (mask)))
static const struct sim_step device_release[] = {
    STORE_UNLESS(NO_ICACHE_INVALIDATE, 11, NOCAP_REG_RISCV_IC_INVALIDATE, NOCAP_IC_INVALIDATE_ALL,
                 0x3AC0),
    STORE(2, NOCAP_BASE_INSTRN_FIFO0, 0x10180000, 0x3AC8),
    STORE(2, NOCAP_BASE_INSTRN_FIFO0, 0x8A00300A, 0x3AD4),
    STORE(1, NOCAP_BASE_INSTRN_FIFO0, NOCAP_TENSIX_WORD(NOP), 0x3ADC),
    STORE(3, NOCAP_BASE_INSTRN_FIFO0, 0x7100BF80, 0x3AE8),
    STORE(2, NOCAP_BASE_INSTRN_FIFO0, 0x910000B0, 0x3AF4),
    SET_BITS(3, NOCAP_REG_ECC_SCRUBBER, 0x1, 0x3B04),
    SET_BITS(4, NOCAP_REG_ECC_SCRUBBER, 0x2, 0x3B14),
    SET_BITS(6, NOCAP_REG_ECC_SCRUBBER, 0x800, 0x3B2C),
    STORE(3, NOCAP_BASE_INSTRN_FIFO0, SEMINIT(1 << 1), 0x3B38),
    STORE(1, NOCAP_BASE_INSTRN_FIFO0, SEMINIT(1 << 2), 0x3B40),
    STORE(1, NOCAP_BASE_INSTRN_FIFO0, SEMINIT(1 << 7), 0x3B48),
    STORE(2, NOCAP_NCRISC_HALT_RESUME, 0, 0x3B54),
    STORE_UNLESS(SYNC_NOT_INIT, 2, NOCAP_SYNC, NOCAP_SYNC_ALL_INIT, SIM_PC_ALL_INIT),
    STORE(1, NOCAP_REG_SOFT_RESET_0, 0, 0x3B60),
};
STEPS(sim_device_release, device_release);

/* Buffer 1 reads into the own tile: response wanted, static virtual channel 1. Atomics return to
 * the fixed place. */
#define READ_CTRL                                                                                  \
    (NOCAP_NIU_READ | NOCAP_CTRL_RESPONSE | NOCAP_CTRL_VC_STATIC | 1 << NOCAP_VC_SHIFT)
#define NOC_INIT(n, first, p0, p1, p2, p3, p4, p5, p6, p7, p8, p9)                                 \
    STORE(first, BUFFER(n, 0, TARG_ADDR_MID), 0, p0), OWN_XY(8, BUFFER(n, 0, TARG_ADDR_HI), p1),   \
        STORE(2, BUFFER(n, 2, TARG_ADDR_MID), 0, p2), OWN_XY(1, BUFFER(n, 2, TARG_ADDR_HI), p3),   \
        STORE(3, BUFFER(n, 3, RET_ADDR_LO), NOCAP_L1_NOC_ATOMIC_RET_VAL, p4),                      \
        STORE(1, BUFFER(n, 3, RET_ADDR_MID), 0, p5), OWN_XY(2, BUFFER(n, 3, RET_ADDR_HI), p6),     \
        STORE(2, BUFFER(n, 1, CTRL), READ_CTRL, p7), STORE(1, BUFFER(n, 1, RET_ADDR_MID), 0, p8),  \
        OWN_XY(1, BUFFER(n, 1, RET_ADDR_HI), p9)
static const struct sim_step noc_init[] = {
    NOC_INIT(0, 3, 0x3B78, 0x3B98, 0x3BA0, 0x3BA4, 0x3BB0, 0x3BB4, 0x3BBC, 0x3BC4, 0x3BC8, 0x3BCC),
    NOC_INIT(1, 3, 0x3BD8, 0x3BF8, 0x3C00, 0x3C04, 0x3C0C, 0x3C10, 0x3C14, 0x3C18, 0x3C1C, 0x3C20),
};
STEPS(sim_noc_init, noc_init);

/* Command buffer 3: posted inline write. */
#define NOTIFY_CTRL                                                                                \
    (NOCAP_NIU_WRITE | NOCAP_CTRL_INLINE | NOCAP_CTRL_VC_STATIC | 1 << NOCAP_VC_SHIFT)
#define NOTIFY(a0, p0, a1, p1, a2, p2, a3, p3, a4, p4, a5, p5, a6, p6)                             \
    STORE(a0, BUFFER(0, 3, AT_DATA), NOCAP_NOTIFY_VALUE, p0),                                      \
        STORE(a1, BUFFER(0, 3, CTRL), NOTIFY_CTRL, p1),                                            \
        {a2, SIM_STEP_STREAM, BUFFER(0, 3, TARG_ADDR_LO), 0, p2, NOCAP_SIM_FAULT_NONE},            \
        STORE(a3, BUFFER(0, 3, TARG_ADDR_MID), 0, p3),                                             \
        {a4, SIM_STEP_MASTER, BUFFER(0, 3, TARG_ADDR_HI), 0, p4, NOCAP_SIM_FAULT_NONE},            \
        STORE(a5, BUFFER(0, 3, AT_LEN_BE), 0, p5), STORE(a6, BUFFER(0, 3, CMD_CTRL), 1, p6)
static const struct sim_step notify[] = {
    NOTIFY(22, 0x3FDC, 5, 0x3FF0, 3, 0x3FFC, 3, 0x4008, 4, 0x4018, 3, 0x4024, 2, 0x402C),
};
STEPS(sim_notify, notify);
static const struct sim_step notify_reset[] = {
    NOTIFY(16, 0x40DC, 2, 0x40E4, 2, 0x40EC, 2, 0x40F4, 3, 0x4100, 2, 0x4108, 1, 0x410C),
};
STEPS(sim_notify_reset, notify_reset);
