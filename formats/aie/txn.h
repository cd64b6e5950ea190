/* SPDX-License-Identifier: Apache-2.0 */
/* Transaction streams: the control code of aie2 and aie2p, a header and then operations that the
 * firmware runs one after the other. Source: txn.def. */
#ifndef NOCAP_AIE_TXN_H
#define NOCAP_AIE_TXN_H

#include <stdio.h>

#include "formats/aie/image.h"

enum nocap_aie_txn_opcode {
#define OP(NAME, number, mnemonic, early, early_at, late, late_at) NOCAP_AIE_TXN_##NAME = (number),
#include "formats/aie/txn.def"
};

enum {
    NOCAP_AIE_TXN_HEADER = 16,
    NOCAP_AIE_TXN_QUEUE_BD = 0x3F, /* of the word in a task queue: the descriptor */
};

struct nocap_aie_txn {
    const struct nocap_aie_stream *stream;
    bool late; /* version 1.0, whose operations are shorter; else 0.1 */
    uint8_t generation, rows, columns, memory_rows;
    uint32_t op_count, size;
};

struct nocap_aie_txn_op {
    const char *mnemonic;
    uint8_t opcode;
    uint32_t index, off, size; /* off: from the stream's start, header included */
    uint32_t address;          /* of the array, of what it writes, polls or patches */
    uint32_t value, mask;
    const uint8_t *words; /* BLOCKWRITE: what it writes */
    uint32_t word_count;
    /* TCT: a token of each of these tiles, of one channel. */
    uint8_t column, columns, row, rows, channel;
    bool mm2s;
    uint64_t arg, plus; /* DDR_PATCH: address of the argument and what is added */
};

/* Whether these bytes are a stream and nothing else. */
bool nocap_aie_is_txn(const uint8_t *bytes, size_t size);
/* Fails with NOCAP_E_INPUT if its header is that of no stream that is known. */
enum nocap_status nocap_aie_txn_open(struct nocap_aie_txn *txn,
                                     const struct nocap_aie_stream *stream,
                                     struct nocap_error *err);
/* "aie2", "aie2p", or "of generation 9". Returns `text`. */
const char *nocap_aie_txn_chip(const struct nocap_aie_txn *txn, char *text, size_t size);

enum nocap_aie_txn_step {
    NOCAP_AIE_TXN_STEP_OP,
    NOCAP_AIE_TXN_STEP_END,
    NOCAP_AIE_TXN_STEP_UNKNOWN, /* no operation is known by the number at `next`: the end */
    NOCAP_AIE_TXN_STEP_CUT,     /* it does not fit into the stream, or its size is wrong: the end */
};
struct nocap_aie_txn_walker {
    const struct nocap_aie_txn *txn;
    uint32_t next, index;
    struct nocap_aie_txn_op op;
};
void nocap_aie_txn_begin(struct nocap_aie_txn_walker *walker, const struct nocap_aie_txn *txn);
/* After anything but an operation the walk is over. */
enum nocap_aie_txn_step nocap_aie_txn_next(struct nocap_aie_txn_walker *walker);

/* What lies at an address. */
enum nocap_aie_txn_place {
    NOCAP_AIE_TXN_OTHER,
    NOCAP_AIE_TXN_QUEUE,
    NOCAP_AIE_TXN_STATUS,
    NOCAP_AIE_TXN_BD, /* `number` is the descriptor, else the channel */
};
struct nocap_aie_txn_at {
    enum nocap_aie_txn_place place;
    uint8_t column, row, number;
    bool mm2s;
    uint32_t offset; /* in the tile; of a descriptor: in it */
};
void nocap_aie_txn_locate(const struct nocap_aie_txn *txn, uint32_t address,
                          struct nocap_aie_txn_at *at);
/* Whether the word of a descriptor at `at` is the one that links it to another; *next: its number
 * and 1, 0: it is the last one. */
bool nocap_aie_txn_link(const struct nocap_aie_txn *txn, const struct nocap_aie_txn_at *at,
                        uint32_t word, uint8_t *next);

/* "XAIE_IO_WRITE @0x801d214, 0x30000", and what that is: "queue of TILE_4_0 MM2S_0: descriptor 0".
 * Words of BLOCKWRITE are not among them. Return `text`. */
const char *nocap_aie_txn_op_text(const struct nocap_aie_txn_op *op, char *text, size_t size);
const char *nocap_aie_txn_op_note(const struct nocap_aie_txn *txn,
                                  const struct nocap_aie_txn_op *op, char *text, size_t size);

/* Writes all streams of an image as text. *complete: all of them could be decoded. */
enum nocap_status nocap_aie_txn_disassemble(FILE *out, const struct nocap_aie_image *image,
                                            bool *complete, struct nocap_error *err);

#endif
