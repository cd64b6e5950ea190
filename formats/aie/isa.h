/* SPDX-License-Identifier: Apache-2.0 */
/* AIE control code: instructions, and the numbers of pages and descriptors. Source: isa.def. */
#ifndef NOCAP_AIE_ISA_H
#define NOCAP_AIE_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/aie/chip.h"

enum nocap_aie_dialect {
    NOCAP_AIE_F25,  /* assembler of February 2025 */
    NOCAP_AIE_M25,  /* that of May to July 2025: LOAD_PDI has 8 bytes */
    NOCAP_AIE_SEED, /* the instruction set document */
    NOCAP_AIE_N26,  /* assembler of 2026 */
    NOCAP_AIE_DIALECT_COUNT,
    NOCAP_AIE_DIALECT_OF_FILE = NOCAP_AIE_DIALECT_COUNT /* what the file tells */
};

/* NOCAP_AIE_WRITE_32 ..: opcode byte. LOAD_PDI_SHORT, LOAD_PDI_MIDDLE and
 * PREEMPTION_CHECKPOINT are older forms of LOAD_PDI and PREEMPT and have their opcodes. */
#define INSN(ID, mnemonic, opcode, dialects, size, blocks) NOCAP_AIE_##ID = (opcode),
enum nocap_aie_opcode {
#include "formats/aie/isa.def"
    NOCAP_AIE_OPCODES = 256 /* values that an opcode can have */
};

/* NOCAP_AIE_WRITE_32_address ..: index of an operand in nocap_aie_insn.value. */
#define FIELD(ID, index, name, KIND, offset, bits) NOCAP_AIE_##ID##_##name = (index),
enum nocap_aie_field_index {
#include "formats/aie/isa.def"
    NOCAP_AIE_FIELDS_MAX = 4
};

/* See isa.def. */
enum nocap_aie_kind {
    NOCAP_AIE_REG,
    NOCAP_AIE_LB,
    NOCAP_AIE_RB,
    NOCAP_AIE_DESC,
    NOCAP_AIE_TABLE,
    NOCAP_AIE_PAGE,
    NOCAP_AIE_ADDR,
    NOCAP_AIE_TILE,
    NOCAP_AIE_ACTOR,
    NOCAP_AIE_ARG,
    NOCAP_AIE_JOB,
    NOCAP_AIE_SIZE,
    NOCAP_AIE_CONST
};

struct nocap_aie_field {
    const char *name;
    uint8_t kind; /* enum nocap_aie_kind */
    uint8_t offset, bits;
};

struct nocap_aie_insn_info {
    const char *mnemonic;
    uint8_t opcode;
    uint8_t dialects;                                    /* 1 << enum nocap_aie_dialect */
    uint8_t size;                                        /* bytes */
    bool blocks;                                         /* may give up the uC */
    struct nocap_aie_field fields[NOCAP_AIE_FIELDS_MAX]; /* in assembly order, SIZE included */
};

struct nocap_aie_insn {
    const struct nocap_aie_insn_info *info;
    uint32_t value[NOCAP_AIE_FIELDS_MAX]; /* as in the binary, by index of the field */
    bool stray;                           /* a padding byte is not zero */
};

/* Fields of an instruction, SIZE included. */
static inline unsigned nocap_aie_field_count(const struct nocap_aie_insn_info *info)
{
    unsigned count = 0;
    while (count < NOCAP_AIE_FIELDS_MAX && info->fields[count].bits != 0) {
        count++;
    }
    return count;
}

/* NULL if the dialect has no such opcode or mnemonic (case is ignored; `length` bytes). In f25
 * PREEMPT is accepted for PREEMPTION_CHECKPOINT, elsewhere the other way round. */
const struct nocap_aie_insn_info *nocap_aie_insn_info(enum nocap_aie_dialect dialect,
                                                      uint8_t opcode);
const struct nocap_aie_insn_info *nocap_aie_insn_find(enum nocap_aie_dialect dialect,
                                                      const char *mnemonic, size_t length);

/* " (PREEMPT in seed, n26)": the dialects that have the opcode, or nothing if none has it. */
void nocap_aie_opcode_note(uint8_t opcode, char *text, size_t size);

enum nocap_aie_decoded {
    NOCAP_AIE_DECODED,
    NOCAP_AIE_NO_OPCODE, /* the dialect has no such opcode */
    NOCAP_AIE_CUT,       /* `size` ends inside the instruction; info is set */
};
enum nocap_aie_decoded nocap_aie_decode(enum nocap_aie_dialect dialect, const uint8_t *bytes,
                                        size_t size, struct nocap_aie_insn *insn);
/* Writes info->size bytes; values are cut to the width of their field. */
void nocap_aie_encode(const struct nocap_aie_insn_info *info,
                      const uint32_t value[NOCAP_AIE_FIELDS_MAX], uint8_t *bytes);

/* "f25", "m25", "seed", "n26"; NULL if out of range. */
const char *nocap_aie_dialect_name(enum nocap_aie_dialect dialect);

/* Whether the instruction begins a job: START_JOB, its deferred and its conditional form. */
bool nocap_aie_starts_job(uint8_t opcode);

enum {
    NOCAP_AIE_PAGE_SIZE = 8192,
    NOCAP_AIE_HEADER_SIZE = 16, /* of a page; offsets in operands count from its end */
    NOCAP_AIE_EOF_SIZE = 4,
    NOCAP_AIE_FILLER = 0xA5, /* between EOF and the data */
    NOCAP_AIE_DATA_ALIGN = 16,
    NOCAP_AIE_REGISTERS = 24,
    NOCAP_AIE_GLOBAL_FIRST = 8, /* registers from here on are shared by the jobs */
    NOCAP_AIE_LOCAL_BARRIERS = 16,
    NOCAP_AIE_REMOTE_BARRIERS_MAX = 64, /* numbers 1..64 */
    NOCAP_AIE_TABLE_ENTRY_SIZE = 36,    /* of APPLY_OFFSET_57: an image of a shim DMA descriptor */
    NOCAP_AIE_PL_ENTRY_SIZE = 40,       /* of APPLY_OFFSET_PL */
    NOCAP_AIE_BASE_ARG = 0xFFFF,        /* APPLY_OFFSET_57: base of the control code */
    NOCAP_AIE_ARGS_IN_FIRMWARE = 7,     /* arguments from here on are patched by the host only */
    NOCAP_AIE_BD_SIZE = 16,
    NOCAP_AIE_ADDRESS_IS_CONST = 1, /* flags of WRITE_32_D; else a register number */
    NOCAP_AIE_VALUE_IS_CONST = 2,
};

/* Those of 2025, which write some things otherwise. */
static inline bool nocap_aie_is_early(enum nocap_aie_dialect dialect)
{
    return dialect == NOCAP_AIE_F25 || dialect == NOCAP_AIE_M25;
}

/* How many remote barriers the dialect has. */
unsigned nocap_aie_remote_barriers(enum nocap_aie_dialect dialect);

/* Page header: 16-bit words, by byte offset. */
enum {
    NOCAP_AIE_HEAD_SIGNATURE = 0, /* 0xFFFF */
    NOCAP_AIE_HEAD_PAGE = 2,      /* number of the page in its column */
    NOCAP_AIE_HEAD_BRANCH = 4,    /* length of the first page of the pdi, cores or save code */
    NOCAP_AIE_HEAD_RESTORE = 6,   /* length of the first page of the restore code */
    NOCAP_AIE_HEAD_LENGTH = 8,    /* bytes of this page that are in use, header included */
    NOCAP_AIE_HEAD_NEXT = 10,     /* length of the next page of the chain; 0: the last one */
    NOCAP_AIE_HEAD_ZERO1 = 12,
    NOCAP_AIE_HEAD_ZERO2 = 14,
    NOCAP_AIE_SIGNATURE = 0xFFFF,
};

/* uC-DMA descriptor, 4 words. The next one of the chain follows it. */
struct nocap_aie_bd {
    uint32_t length; /* 32-bit words */
    bool next, external, local_relative;
    bool stray;     /* a bit that is always 0 is set */
    uint32_t local; /* from the descriptor's own first byte, if local_relative */
    uint64_t remote;
};
void nocap_aie_bd_decode(const uint8_t bytes[NOCAP_AIE_BD_SIZE], struct nocap_aie_bd *bd);
void nocap_aie_bd_encode(const struct nocap_aie_bd *bd, uint8_t bytes[NOCAP_AIE_BD_SIZE]);

/* Image of a shim DMA descriptor: the 57-bit base address (aie2ps: in words 1, 2, 8; aie4: 0 and
 * 1), and `add` added to it, all other bits kept. */
uint64_t nocap_aie_table_base(enum nocap_aie_chip chip,
                              const uint8_t bytes[NOCAP_AIE_TABLE_ENTRY_SIZE]);
void nocap_aie_table_add(enum nocap_aie_chip chip, uint8_t bytes[NOCAP_AIE_TABLE_ENTRY_SIZE],
                         uint64_t add);

/* Adds to the address in control packets, from where its relocation points on. */
void nocap_aie_packet_add(enum nocap_aie_chip chip, uint8_t *bytes, uint64_t add);

static inline uint16_t nocap_aie_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t nocap_aie_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline void nocap_aie_put_u16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}
static inline void nocap_aie_put_u32(uint8_t *p, uint32_t v)
{
    nocap_aie_put_u16(p, v);
    nocap_aie_put_u16(p + 2, v >> 16);
}

#endif
