/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/isa.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define INSN(ID, mnemonic, opcode, dialects, size, blocks) ROW_##ID,
enum row {
#include "formats/aie/isa.def"
    ROW_COUNT
};

enum {
    F25 = 1 << NOCAP_AIE_F25,
    M25 = 1 << NOCAP_AIE_M25,
    SEED = 1 << NOCAP_AIE_SEED,
    N26 = 1 << NOCAP_AIE_N26
};

static const struct nocap_aie_insn_info rows[ROW_COUNT] = {
#define INSN(ID, mnemonic_, opcode_, dialects_, size_, blocks_)                                    \
    [ROW_##ID].mnemonic = mnemonic_, [ROW_##ID].opcode = opcode_, [ROW_##ID].dialects = dialects_, \
    [ROW_##ID].size = size_, [ROW_##ID].blocks = blocks_,
#define FIELD(ID, index, name_, KIND, offset_, bits_)                                              \
    [ROW_##ID].fields[index].name = #name_, [ROW_##ID].fields[index].kind = NOCAP_AIE_##KIND,      \
    [ROW_##ID].fields[index].offset = offset_, [ROW_##ID].fields[index].bits = bits_,
#include "formats/aie/isa.def"
};

const struct nocap_aie_insn_info *nocap_aie_insn_info(enum nocap_aie_dialect dialect,
                                                      uint8_t opcode)
{
    for (int i = 0; i < ROW_COUNT; i++) {
        if (rows[i].opcode == opcode && (rows[i].dialects >> dialect & 1) != 0) {
            return &rows[i];
        }
    }
    return NULL;
}

const struct nocap_aie_insn_info *nocap_aie_insn_find(enum nocap_aie_dialect dialect,
                                                      const char *mnemonic, size_t length)
{
    for (int i = 0; i < ROW_COUNT; i++) {
        if (strlen(rows[i].mnemonic) == length &&
            strncasecmp(rows[i].mnemonic, mnemonic, length) == 0) {
            return nocap_aie_insn_info(dialect, rows[i].opcode);
        }
    }
    return NULL;
}

void nocap_aie_opcode_note(uint8_t opcode, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < NOCAP_AIE_DIALECT_COUNT; i++) {
        const struct nocap_aie_insn_info *info =
            nocap_aie_insn_info((enum nocap_aie_dialect)i, opcode);
        if (info != NULL && used < size) {
            used +=
                (size_t)snprintf(text + used, size - used, used == 0 ? " (%s in %s" : ", %.0s%s",
                                 info->mnemonic, nocap_aie_dialect_name((enum nocap_aie_dialect)i));
        }
    }
    if (used != 0 && used < size) {
        snprintf(text + used, size - used, ")");
    }
}

static uint32_t get(const uint8_t *bytes, const struct nocap_aie_field *field)
{
    const uint8_t *p = bytes + field->offset;
    return field->bits == 8 ? p[0] : field->bits == 16 ? nocap_aie_u16(p) : nocap_aie_u32(p);
}

enum nocap_aie_decoded nocap_aie_decode(enum nocap_aie_dialect dialect, const uint8_t *bytes,
                                        size_t size, struct nocap_aie_insn *insn)
{
    *insn = (struct nocap_aie_insn){.info = NULL};
    insn->info = size == 0 ? NULL : nocap_aie_insn_info(dialect, bytes[0]);
    if (insn->info == NULL) {
        return size == 0 ? NOCAP_AIE_CUT : NOCAP_AIE_NO_OPCODE;
    }
    if (size < insn->info->size) {
        return NOCAP_AIE_CUT;
    }
    uint8_t plain[UINT8_MAX];
    for (unsigned f = 0; f < nocap_aie_field_count(insn->info); f++) {
        insn->value[f] = get(bytes, &insn->info->fields[f]);
    }
    nocap_aie_encode(insn->info, insn->value, plain);
    insn->stray = memcmp(plain, bytes, insn->info->size) != 0;
    return NOCAP_AIE_DECODED;
}

void nocap_aie_encode(const struct nocap_aie_insn_info *info,
                      const uint32_t value[NOCAP_AIE_FIELDS_MAX], uint8_t *bytes)
{
    memset(bytes, 0, info->size);
    bytes[0] = info->opcode;
    for (unsigned f = 0; f < nocap_aie_field_count(info); f++) {
        uint8_t *p = bytes + info->fields[f].offset;
        switch (info->fields[f].bits) {
        case 8: p[0] = (uint8_t)value[f]; break;
        case 16: nocap_aie_put_u16(p, value[f]); break;
        default: nocap_aie_put_u32(p, value[f]); break;
        }
    }
}

const char *nocap_aie_dialect_name(enum nocap_aie_dialect dialect)
{
    static const char *const names[NOCAP_AIE_DIALECT_COUNT] = {[NOCAP_AIE_F25] = "f25",
                                                               [NOCAP_AIE_M25] = "m25",
                                                               [NOCAP_AIE_SEED] = "seed",
                                                               [NOCAP_AIE_N26] = "n26"};
    return (unsigned)dialect < NOCAP_AIE_DIALECT_COUNT ? names[dialect] : NULL;
}

bool nocap_aie_starts_job(uint8_t opcode)
{
    return opcode == NOCAP_AIE_START_JOB || opcode == NOCAP_AIE_START_JOB_DEFERRED ||
           opcode == NOCAP_AIE_START_COND_JOB_PREEMPT;
}

unsigned nocap_aie_remote_barriers(enum nocap_aie_dialect dialect)
{
    return dialect == NOCAP_AIE_N26 ? 8 : NOCAP_AIE_REMOTE_BARRIERS_MAX;
}

/* ---- uC-DMA descriptors ---- */

enum {
    BD_LENGTH_MASK = 0x7FFF,
    BD_NEXT = 1 << 16,
    BD_EXTERNAL = 1 << 17,
    BD_LOCAL_RELATIVE = 1 << 18,
};
#define BD_REMOTE_HIGH_MASK UINT32_C(0x1FFFFFFF)

void nocap_aie_bd_decode(const uint8_t bytes[NOCAP_AIE_BD_SIZE], struct nocap_aie_bd *bd)
{
    const uint32_t known = BD_LENGTH_MASK | BD_NEXT | BD_EXTERNAL | BD_LOCAL_RELATIVE;
    uint32_t control = nocap_aie_u32(bytes), high = nocap_aie_u32(bytes + 12);
    *bd = (struct nocap_aie_bd){
        .length = control & BD_LENGTH_MASK,
        .next = (control & BD_NEXT) != 0,
        .external = (control & BD_EXTERNAL) != 0,
        .local_relative = (control & BD_LOCAL_RELATIVE) != 0,
        .stray = (control & ~known) != 0 || (high & ~BD_REMOTE_HIGH_MASK) != 0,
        .local = nocap_aie_u32(bytes + 4),
        .remote = (uint64_t)(high & BD_REMOTE_HIGH_MASK) << 32 | nocap_aie_u32(bytes + 8),
    };
}

void nocap_aie_bd_encode(const struct nocap_aie_bd *bd, uint8_t bytes[NOCAP_AIE_BD_SIZE])
{
    uint32_t control = bd->length & BD_LENGTH_MASK;
    control |= bd->next ? BD_NEXT : 0;
    control |= bd->external ? BD_EXTERNAL : 0;
    control |= bd->local_relative ? BD_LOCAL_RELATIVE : 0;
    nocap_aie_put_u32(bytes, control);
    nocap_aie_put_u32(bytes + 4, bd->local);
    nocap_aie_put_u32(bytes + 8, (uint32_t)bd->remote);
    nocap_aie_put_u32(bytes + 12, (uint32_t)(bd->remote >> 32) & BD_REMOTE_HIGH_MASK);
}

/* ---- images of shim DMA descriptors: the parts of the base address ---- */

static const struct part {
    uint8_t word, shift;
    uint32_t mask;
} parts[NOCAP_AIE_CHIP_COUNT][3] = {
    [NOCAP_AIE2PS] = {{1, 0, UINT32_MAX}, {2, 32, 0xFFFF}, {8, 48, 0x1FF}},
    [NOCAP_AIE4] = {{1, 0, UINT32_MAX}, {0, 32, 0x1FFFFFF}},
};

/* The same of an address in control packets. */
static const struct part packet_parts[NOCAP_AIE_CHIP_COUNT][2] = {
    [NOCAP_AIE2PS] = {{2, 0, UINT32_MAX}, {3, 32, 0xFFFF}},
    [NOCAP_AIE4] = {{2, 0, UINT32_MAX}, {1, 32, 0x1FFFFFF}},
};

static uint64_t get_parts(const struct part *list, size_t count, const uint8_t *bytes)
{
    uint64_t base = 0;
    for (size_t i = 0; i < count; i++) {
        base |= (uint64_t)(nocap_aie_u32(bytes + 4 * list[i].word) & list[i].mask) << list[i].shift;
    }
    return base;
}

static void put_parts(const struct part *list, size_t count, uint8_t *bytes, uint64_t base)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t *word = bytes + 4 * list[i].word;
        nocap_aie_put_u32(word, (nocap_aie_u32(word) & ~list[i].mask) |
                                    ((uint32_t)(base >> list[i].shift) & list[i].mask));
    }
}

uint64_t nocap_aie_table_base(enum nocap_aie_chip chip,
                              const uint8_t bytes[NOCAP_AIE_TABLE_ENTRY_SIZE])
{
    return get_parts(parts[chip], 3, bytes);
}

void nocap_aie_table_add(enum nocap_aie_chip chip, uint8_t bytes[NOCAP_AIE_TABLE_ENTRY_SIZE],
                         uint64_t add)
{
    put_parts(parts[chip], 3, bytes, nocap_aie_table_base(chip, bytes) + add);
}

void nocap_aie_packet_add(enum nocap_aie_chip chip, uint8_t *bytes, uint64_t add)
{
    put_parts(packet_parts[chip], 2, bytes, get_parts(packet_parts[chip], 2, bytes) + add);
}
