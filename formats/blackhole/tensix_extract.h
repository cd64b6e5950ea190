/* SPDX-License-Identifier: Apache-2.0 */
/* What a RISC-V program does to the coprocessor, read from its code in the order of addresses:
 * words in rotated form, and stores and loads whose address is a constant. Branches are not
 * followed and loops are seen once; a register that was loaded or computed from something unknown
 * is unknown. */
#ifndef NOCAP_BLACKHOLE_TENSIX_EXTRACT_H
#define NOCAP_BLACKHOLE_TENSIX_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nocap_extracted_kind {
    NOCAP_EXTRACTED_WORD,  /* a rotated word; `value` is it, as the coprocessor sees it */
    NOCAP_EXTRACTED_STORE, /* of 4 bytes to `target` */
    NOCAP_EXTRACTED_LOAD,  /* of 4 bytes from `target` */
    NOCAP_EXTRACTED_JUMP,  /* a call, a return or a jump: what follows comes from elsewhere */
};

struct nocap_extracted {
    enum nocap_extracted_kind kind;
    uint32_t address; /* of the instruction */
    uint32_t target;
    uint32_t value;
    bool known; /* the value is */
};

/* False stops. */
typedef bool nocap_extract_visitor(void *context, const struct nocap_extracted *what);

/* `size` bytes of code that begin at `address`; what is left after the last whole word is not
 * looked at. Gives false if the visitor stopped. */
bool nocap_tensix_extract(const uint8_t *code, size_t size, uint32_t address,
                          nocap_extract_visitor *visit, void *context);

#endif
