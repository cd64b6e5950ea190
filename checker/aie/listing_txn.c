/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/foreign_text.h"
#include "base/json_text.h"
#include "checker/aie/listing.h"
#include "formats/aie/txn.h"

static void put_address(struct nocap_json *json, const struct nocap_aie_txn *txn,
                        const struct nocap_aie_txn_op *op)
{
    struct nocap_aie_txn_at at;
    nocap_aie_txn_locate(txn, op->address, &at);
    nocap_json_number(json, "address", op->address);
    nocap_json_number(json, "column", at.column);
    nocap_json_number(json, "row", at.row);
}

static void put_operands(struct nocap_json *json, const struct nocap_aie_txn *txn,
                         const struct nocap_aie_txn_op *op)
{
    switch (op->opcode) {
    case NOCAP_AIE_TXN_WRITE:
        put_address(json, txn, op);
        nocap_json_number(json, "value", op->value);
        break;
    case NOCAP_AIE_TXN_MASKWRITE:
    case NOCAP_AIE_TXN_MASKPOLL:
    case NOCAP_AIE_TXN_MASKPOLL_BUSY:
        put_address(json, txn, op);
        nocap_json_number(json, "mask", op->mask);
        nocap_json_number(json, "value", op->value);
        break;
    case NOCAP_AIE_TXN_BLOCKWRITE:
        put_address(json, txn, op);
        nocap_json_array(json, "values");
        for (uint32_t i = 0; i < op->word_count; i++) {
            nocap_json_number(json, NULL, nocap_aie_u32(op->words + (size_t)4 * i));
        }
        nocap_json_array_end(json);
        break;
    case NOCAP_AIE_TXN_DDR_PATCH:
        put_address(json, txn, op);
        nocap_json_number(json, "argument", op->arg);
        nocap_json_number(json, "plus", op->plus);
        break;
    case NOCAP_AIE_TXN_TCT:
        nocap_json_number(json, "column", op->column);
        nocap_json_number(json, "columns", op->columns);
        nocap_json_number(json, "row", op->row);
        nocap_json_number(json, "rows", op->rows);
        nocap_json_text(json, "direction", op->mm2s ? "MM2S" : "S2MM");
        nocap_json_number(json, "channel", op->channel);
        break;
    case NOCAP_AIE_TXN_PREEMPT: nocap_json_number(json, "level", op->value); break;
    case NOCAP_AIE_TXN_RECORD_TIMER: nocap_json_number(json, "id", op->value); break;
    case NOCAP_AIE_TXN_LOADPDI:
        nocap_json_number(json, "id", op->value);
        nocap_json_number(json, "bytes", op->mask);
        nocap_json_number(json, "address", op->plus);
        break;
    case NOCAP_AIE_TXN_LOAD_PM_START:
        nocap_json_number(json, "operations", op->value);
        nocap_json_number(json, "id", op->mask);
        break;
    case NOCAP_AIE_TXN_MERGE_SYNC:
        nocap_json_number(json, "column", op->column);
        nocap_json_number(json, "tokens", op->value);
        break;
    default: break;
    }
}

static void put_op(struct nocap_json *json, const struct nocap_aie_txn *txn,
                   const struct nocap_aie_txn_op *op)
{
    char note[160];
    nocap_json_map(json, NULL);
    nocap_json_number(json, "index", op->index);
    nocap_json_number(json, "off", op->off);
    nocap_json_number(json, "size", op->size);
    nocap_json_text(json, "op", op->mnemonic);
    put_operands(json, txn, op);
    nocap_aie_txn_op_note(txn, op, note, sizeof note);
    nocap_json_text_if(json, "note", note[0] != 0, note);
    nocap_json_map_end(json);
}

static enum nocap_status put_stream(struct nocap_json *json, const struct nocap_aie_stream *stream,
                                    bool *complete, struct nocap_error *err)
{
    struct nocap_aie_txn txn;
    struct nocap_aie_txn_walker w;
    enum nocap_aie_txn_step step;
    char chip[32];
    RETURN_IF_FAILED(nocap_aie_txn_open(&txn, stream, err));
    char *section = foreign_copy(stream->section);
    RETURN_ERROR_IF(section == NULL, err, NOCAP_E_MEMORY, "out of memory");
    nocap_json_map(json, NULL);
    nocap_json_text(json, "section", section);
    free(section);
    nocap_json_text(json, "chip", nocap_aie_txn_chip(&txn, chip, sizeof chip));
    nocap_json_text(json, "version", txn.late ? "1.0" : "0.1");
    nocap_json_number(json, "rows", txn.rows);
    nocap_json_number(json, "columns", txn.columns);
    nocap_json_number(json, "memory_rows", txn.memory_rows);
    nocap_json_number(json, "operations", txn.op_count);
    nocap_json_array(json, "ops");
    nocap_aie_txn_begin(&w, &txn);
    while ((step = nocap_aie_txn_next(&w)) == NOCAP_AIE_TXN_STEP_OP) {
        put_op(json, &txn, &w.op);
    }
    if (step != NOCAP_AIE_TXN_STEP_END) { /* what is not decoded */
        nocap_json_map(json, NULL);
        nocap_json_number(json, "index", w.index);
        nocap_json_number(json, "off", w.next);
        nocap_json_null(json, "op");
        nocap_json_map_end(json);
        *complete = false;
    }
    nocap_json_array_end(json);
    nocap_json_map_end(json);
    return NOCAP_OK;
}

enum nocap_status nocap_aie_put_streams(struct nocap_json *json,
                                        const struct nocap_aie_image *image, bool *complete,
                                        struct nocap_error *err)
{
    enum nocap_status status = NOCAP_OK;
    nocap_json_array(json, "streams");
    for (size_t i = 0; i < image->stream_count && status == NOCAP_OK; i++) {
        status = put_stream(json, &image->streams[i], complete, err);
    }
    nocap_json_array_end(json);
    return status;
}
