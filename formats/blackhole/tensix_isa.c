#include "formats/blackhole/tensix_isa.h"

#include <stddef.h>

#define OPCODE(NAME, code) [code] = #NAME,
static const char *const names[NOCAP_TENSIX_OPCODES] = {
#include "formats/blackhole/tensix_isa.def"
};

const char *nocap_tensix_opcode_name(unsigned opcode)
{
    return opcode < NOCAP_TENSIX_OPCODES ? names[opcode] : NULL;
}

/* Bits of all operands of an opcode, plus those of the opcode itself; 0: not in the table. In the
 * table an opcode's row stands before those of its operands: it becomes the case that they are in.
 */
static uint32_t known_bits(unsigned opcode)
{
    uint32_t bits_of = nocap_tensix_opcode_name(opcode) ? UINT32_C(0xFF) << 24 : 0;
    switch (opcode) {
#define OPCODE(NAME, code)                                                                         \
    break;                                                                                         \
    case code:
#define OPERAND(NAME, member, low, bits) bits_of |= ((UINT32_C(1) << (bits)) - 1) << (low);
#include "formats/blackhole/tensix_isa.def"
        break;
    default: break;
    }
    return bits_of;
}

uint32_t nocap_tensix_stray_bits(uint32_t word)
{
    uint32_t known = known_bits(nocap_tensix_opcode(word));
    return known ? word & ~known : 0;
}
