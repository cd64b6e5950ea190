/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/txn.h"

#include "formats/aie/operands.h"

enum { WORD = 4, DESCRIPTOR = 32, QUEUE_STEP = 8, STATUS_STEP = 4 };

static const struct row {
    const char *mnemonic;
    uint8_t number;
    uint8_t least[2], size_at[2]; /* by whether the stream is of the later version */
} rows[] = {
#define OP(NAME, number, mnemonic, early, early_at, late, late_at)                                 \
    {mnemonic, number, {early, late}, {early_at, late_at}},
#include "formats/aie/txn.def"
};

enum kind { SHIM, MEM, CORE };
static const struct dma {
    enum kind kind;
    bool mm2s;
    uint32_t queue, status;
    uint8_t count;
    uint32_t bd;
    uint8_t bds;
} dmas[] = {
#define DMA(KIND, direction, queue, status, count, bd, bds)                                        \
    {KIND, direction[0] == 'M', queue, status, count, bd, bds},
#include "formats/aie/txn.def"
};

static const struct link {
    uint8_t offset, use, next, bits;
} links[] = {
#define LINK(KIND, offset, use, next, bits) [KIND] = {offset, use, next, bits},
#include "formats/aie/txn.def"
};

/* ---- the stream ---- */

static bool is_version(const uint8_t *bytes)
{
    return (bytes[0] == 0 && bytes[1] == 1) || (bytes[0] == 1 && bytes[1] == 0);
}

bool nocap_aie_is_txn(const uint8_t *bytes, size_t size)
{
    return size >= NOCAP_AIE_TXN_HEADER && is_version(bytes) && bytes[3] != 0 && bytes[4] != 0 &&
           nocap_aie_u32(bytes + 12) == size;
}

enum nocap_status nocap_aie_txn_open(struct nocap_aie_txn *txn,
                                     const struct nocap_aie_stream *stream, struct nocap_error *err)
{
    const uint8_t *b = stream->bytes;
    RETURN_ERROR_IF(stream->size < NOCAP_AIE_TXN_HEADER, err, NOCAP_E_INPUT,
                    "%.60s has %zu bytes; a transaction stream begins with a header of %d",
                    stream->section, stream->size, NOCAP_AIE_TXN_HEADER);
    RETURN_ERROR_IF(!is_version(b), err, NOCAP_E_INPUT,
                    "%.60s is no transaction stream of version 0.1 or 1.0: it begins with %u.%u; "
                    "code of the kind dpu, which is older, is not read",
                    stream->section, b[0], b[1]);
    *txn = (struct nocap_aie_txn){.stream = stream,
                                  .late = b[0] == 1,
                                  .generation = b[2],
                                  .rows = b[3],
                                  .columns = b[4],
                                  .memory_rows = b[5],
                                  .op_count = nocap_aie_u32(b + 8),
                                  .size = nocap_aie_u32(b + 12)};
    RETURN_ERROR_IF(txn->size < NOCAP_AIE_TXN_HEADER || txn->size > stream->size, err,
                    NOCAP_E_INPUT, "%.60s says that it has %u bytes, and the file has %zu of it",
                    stream->section, txn->size, stream->size);
    return NOCAP_OK;
}

const char *nocap_aie_txn_chip(const struct nocap_aie_txn *txn, char *text, size_t size)
{
    enum { AIE2 = 3, AIE2P = 4 };
    if (txn->generation == AIE2 || txn->generation == AIE2P) {
        snprintf(text, size, "%s", txn->generation == AIE2 ? "aie2" : "aie2p");
    } else {
        snprintf(text, size, "generation %u", txn->generation);
    }
    return text;
}

/* ---- operations ---- */

void nocap_aie_txn_begin(struct nocap_aie_txn_walker *w, const struct nocap_aie_txn *txn)
{
    *w = (struct nocap_aie_txn_walker){.txn = txn, .next = NOCAP_AIE_TXN_HEADER};
}

static const struct row *find_row(uint8_t number)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].number == number) {
            return &rows[i];
        }
    }
    return NULL;
}

static uint64_t u64(const uint8_t *p)
{
    return nocap_aie_u32(p) | (uint64_t)nocap_aie_u32(p + WORD) << 32;
}

static void take_token(struct nocap_aie_txn_op *op, const uint8_t *p)
{
    op->mm2s = p[8] != 0;
    op->row = p[9];
    op->column = p[10];
    op->rows = p[13];
    op->columns = p[14];
    op->channel = p[15];
}

/* Its operands; the bytes are there. */
static void take_operands(struct nocap_aie_txn_op *op, const uint8_t *p, bool late)
{
    switch (op->opcode) {
    case NOCAP_AIE_TXN_WRITE:
        op->address = nocap_aie_u32(p + (late ? 4 : 8));
        op->value = nocap_aie_u32(p + (late ? 8 : 16));
        break;
    case NOCAP_AIE_TXN_MASKWRITE:
    case NOCAP_AIE_TXN_MASKPOLL:
    case NOCAP_AIE_TXN_MASKPOLL_BUSY:
        op->address = nocap_aie_u32(p + (late ? 4 : 8));
        op->value = nocap_aie_u32(p + (late ? 8 : 16));
        op->mask = nocap_aie_u32(p + (late ? 12 : 20));
        break;
    case NOCAP_AIE_TXN_BLOCKWRITE:
        op->address = nocap_aie_u32(p + (late ? 4 : 8));
        op->words = p + (late ? 12 : 16);
        op->word_count = (op->size - (late ? 12 : 16)) / WORD;
        break;
    case NOCAP_AIE_TXN_TCT: take_token(op, p); break;
    case NOCAP_AIE_TXN_DDR_PATCH:
        op->address = nocap_aie_u32(p + (late ? 8 : 24));
        op->arg = late ? p[12] : u64(p + 32);
        op->plus = u64(p + (late ? 16 : 40));
        break;
    case NOCAP_AIE_TXN_PREEMPT: op->value = p[1]; break;
    case NOCAP_AIE_TXN_LOADPDI:
        op->value = nocap_aie_u16(p + 2);
        op->mask = nocap_aie_u32(p + 4);
        op->plus = u64(p + 8);
        break;
    case NOCAP_AIE_TXN_LOAD_PM_START:
        op->value = nocap_aie_u32(p) >> 8;
        op->mask = nocap_aie_u32(p + 4);
        break;
    case NOCAP_AIE_TXN_RECORD_TIMER: op->value = nocap_aie_u32(p + 8); break;
    case NOCAP_AIE_TXN_MERGE_SYNC:
        op->value = p[8];
        op->column = p[9];
        break;
    default: break;
    }
}

enum nocap_aie_txn_step nocap_aie_txn_next(struct nocap_aie_txn_walker *w)
{
    const struct nocap_aie_txn *txn = w->txn;
    const uint8_t *p = txn->stream->bytes + w->next;
    uint32_t left = txn->size - w->next;
    if (w->index == txn->op_count) {
        return left == 0 ? NOCAP_AIE_TXN_STEP_END : NOCAP_AIE_TXN_STEP_CUT;
    }
    const struct row *row = left == 0 ? NULL : find_row(p[0]);
    if (left == 0 || row == NULL) {
        return left == 0 ? NOCAP_AIE_TXN_STEP_CUT : NOCAP_AIE_TXN_STEP_UNKNOWN;
    }
    uint32_t size = row->least[txn->late], at = row->size_at[txn->late];
    if (size > left) {
        return NOCAP_AIE_TXN_STEP_CUT;
    }
    uint32_t said = at == 0 ? size : nocap_aie_u32(p + at);
    if (said < size || said > left || said % WORD != 0) {
        return NOCAP_AIE_TXN_STEP_CUT;
    }
    w->op = (struct nocap_aie_txn_op){.mnemonic = row->mnemonic,
                                      .opcode = row->number,
                                      .index = w->index++,
                                      .off = w->next,
                                      .size = said};
    take_operands(&w->op, p, txn->late);
    w->next += said;
    return NOCAP_AIE_TXN_STEP_OP;
}

/* ---- places ---- */

static enum kind kind_of(const struct nocap_aie_txn *txn, uint32_t row)
{
    return row == 0 ? SHIM : row <= txn->memory_rows ? MEM : CORE;
}

void nocap_aie_txn_locate(const struct nocap_aie_txn *txn, uint32_t address,
                          struct nocap_aie_txn_at *at)
{
    uint32_t offset = address & NOCAP_AIE_REGISTER_MASK;
    uint32_t row = address >> NOCAP_AIE_ROW_SHIFT & NOCAP_AIE_ROW_MAX;
    enum kind kind = kind_of(txn, row);
    *at = (struct nocap_aie_txn_at){.place = NOCAP_AIE_TXN_OTHER,
                                    .column = (uint8_t)(address >> NOCAP_AIE_COLUMN_SHIFT),
                                    .row = (uint8_t)row,
                                    .offset = offset};
    for (size_t i = 0; i < sizeof dmas / sizeof dmas[0]; i++) {
        const struct dma *d = &dmas[i];
        if (d->kind != kind) {
            continue;
        }
        at->mm2s = d->mm2s;
        if (offset >= d->bd && offset < d->bd + d->bds * DESCRIPTOR) {
            at->place = NOCAP_AIE_TXN_BD;
            at->number = (uint8_t)((offset - d->bd) / DESCRIPTOR);
            at->offset = (offset - d->bd) % DESCRIPTOR;
            return;
        }
        if (offset >= d->queue && (offset - d->queue) % QUEUE_STEP == 0 &&
            (offset - d->queue) / QUEUE_STEP < d->count) {
            at->place = NOCAP_AIE_TXN_QUEUE;
            at->number = (uint8_t)((offset - d->queue) / QUEUE_STEP);
            return;
        }
        if (offset >= d->status && (offset - d->status) % STATUS_STEP == 0 &&
            (offset - d->status) / STATUS_STEP < d->count) {
            at->place = NOCAP_AIE_TXN_STATUS;
            at->number = (uint8_t)((offset - d->status) / STATUS_STEP);
            return;
        }
    }
}

bool nocap_aie_txn_link(const struct nocap_aie_txn *txn, const struct nocap_aie_txn_at *at,
                        uint32_t word, uint8_t *next)
{
    const struct link *link = &links[kind_of(txn, at->row)];
    uint32_t number = word >> link->next & ((1u << link->bits) - 1);
    *next = (word >> link->use & 1) != 0 ? (uint8_t)(number + 1) : 0;
    return at->place == NOCAP_AIE_TXN_BD && at->offset == link->offset;
}
