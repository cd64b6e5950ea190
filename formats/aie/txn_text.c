/* SPDX-License-Identifier: Apache-2.0 */
/* Transaction streams as text: operations as their assembler writes them, with a comment that says
 * where each one stands and what it is about. */
#include <inttypes.h>
#include <string.h>

#include "base/foreign_text.h"
#include "formats/aie/operands.h"
#include "formats/aie/txn.h"

enum { TEXT = 160, MNEMONIC = 31, OPERANDS = 64 };

static const char *level_name(uint32_t level)
{
    static const char *const names[] = {"NOOP", "MEM_TILE", "AIE_TILE", "AIE_REGISTERS"};
    return level < sizeof names / sizeof names[0] ? names[level] : "INVALID";
}

static void put_operands(const struct nocap_aie_txn_op *op, char *text, size_t size)
{
    switch (op->opcode) {
    case NOCAP_AIE_TXN_WRITE: snprintf(text, size, "@0x%x, 0x%x", op->address, op->value); break;
    case NOCAP_AIE_TXN_BLOCKWRITE:
        snprintf(text, size, "@0x%x, [%u]", op->address, op->word_count);
        break;
    case NOCAP_AIE_TXN_MASKWRITE:
        snprintf(text, size, "@0x%x, 0x%x(), 0x%x", op->address, op->mask, op->value);
        break;
    case NOCAP_AIE_TXN_MASKPOLL:
    case NOCAP_AIE_TXN_MASKPOLL_BUSY:
        snprintf(text, size, "@0x%x, 0x%x()==0x%x", op->address, op->mask, op->value);
        break;
    case NOCAP_AIE_TXN_PREEMPT: snprintf(text, size, "#%s", level_name(op->value)); break;
    case NOCAP_AIE_TXN_LOADPDI:
        snprintf(text, size, "#%u, 0x%x, 0x%" PRIx64, op->value, op->mask, op->plus);
        break;
    case NOCAP_AIE_TXN_LOAD_PM_START: snprintf(text, size, "0x%x, #%u", op->value, op->mask); break;
    case NOCAP_AIE_TXN_TCT:
        snprintf(text, size, "R[%u]+%u, C[%u]+%u, #DMA_%s, %u", op->row, op->rows, op->column,
                 op->columns, op->mm2s ? "MM2S" : "S2MM", op->channel);
        break;
    case NOCAP_AIE_TXN_DDR_PATCH:
        snprintf(text, size, "@0x%x, #%" PRIu64 ", +0x%" PRIx64, op->address, op->arg, op->plus);
        break;
    case NOCAP_AIE_TXN_RECORD_TIMER: snprintf(text, size, "#%u", op->value); break;
    case NOCAP_AIE_TXN_MERGE_SYNC: snprintf(text, size, "C[%u]==%u", op->column, op->value); break;
    default: text[0] = '\0'; break;
    }
}

const char *nocap_aie_txn_op_text(const struct nocap_aie_txn_op *op, char *text, size_t size)
{
    char operands[OPERANDS];
    put_operands(op, operands, sizeof operands);
    snprintf(text, size, "%s%s%s", op->mnemonic, operands[0] == '\0' ? "" : " ", operands);
    return text;
}

static void note_address(const struct nocap_aie_txn *txn, const struct nocap_aie_txn_op *op,
                         char *text, size_t size)
{
    struct nocap_aie_txn_at at;
    nocap_aie_txn_locate(txn, op->address, &at);
    const char *direction = at.mm2s ? "MM2S" : "S2MM";
    uint32_t repeats = op->value >> NOCAP_AIE_TASK_REPEAT_SHIFT & NOCAP_AIE_TASK_REPEAT_MASK;
    switch (at.place) {
    case NOCAP_AIE_TXN_QUEUE:
        snprintf(text, size, "queue of TILE_%u_%u %s_%u", at.column, at.row, direction, at.number);
        if (op->opcode == NOCAP_AIE_TXN_WRITE) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, ": descriptor %u, %u times%s",
                     op->value & NOCAP_AIE_TXN_QUEUE_BD, repeats + 1,
                     (op->value & NOCAP_AIE_TASK_TOKEN) != 0 ? ", token" : "");
        }
        break;
    case NOCAP_AIE_TXN_STATUS:
        snprintf(text, size, "status of TILE_%u_%u %s_%u", at.column, at.row, direction, at.number);
        break;
    case NOCAP_AIE_TXN_BD:
        snprintf(text, size, "descriptor %u of TILE_%u_%u", at.number, at.column, at.row);
        break;
    default: snprintf(text, size, "TILE_%u_%u + 0x%x", at.column, at.row, at.offset); break;
    }
}

const char *nocap_aie_txn_op_note(const struct nocap_aie_txn *txn,
                                  const struct nocap_aie_txn_op *op, char *text, size_t size)
{
    switch (op->opcode) {
    case NOCAP_AIE_TXN_WRITE:
    case NOCAP_AIE_TXN_BLOCKWRITE:
    case NOCAP_AIE_TXN_MASKWRITE:
    case NOCAP_AIE_TXN_MASKPOLL:
    case NOCAP_AIE_TXN_MASKPOLL_BUSY:
    case NOCAP_AIE_TXN_DDR_PATCH: note_address(txn, op, text, size); break;
    case NOCAP_AIE_TXN_TCT:
        snprintf(text, size, "a token of each of %d tiles from TILE_%u_%u on, %s_%u",
                 op->rows * op->columns, op->column, op->row, op->mm2s ? "MM2S" : "S2MM",
                 op->channel);
        break;
    default: text[0] = '\0'; break;
    }
    return text;
}

static void put_op(FILE *out, const struct nocap_aie_txn *txn, const struct nocap_aie_txn_op *op)
{
    char operands[OPERANDS], note[TEXT];
    put_operands(op, operands, sizeof operands);
    nocap_aie_txn_op_note(txn, op, note, sizeof note);
    fprintf(out, "%-*s %-32s ; %u at 0x%x%s%s\n", MNEMONIC, op->mnemonic, operands, op->index,
            op->off, note[0] == '\0' ? "" : ": ", note);
    for (uint32_t i = 0; i < op->word_count; i++) {
        char name[MNEMONIC + 1];
        snprintf(name, sizeof name, "%s.%u", op->mnemonic, i);
        fprintf(out, "%-*s 0x%x\n", MNEMONIC, name, nocap_aie_u32(op->words + (size_t)4 * i));
    }
}

/* Why the walk ended early. */
static void put_end(FILE *out, const struct nocap_aie_txn_walker *w, enum nocap_aie_txn_step step)
{
    fprintf(out, "; at 0x%x, operation %u of %u: ", w->next, w->index, w->txn->op_count);
    if (step == NOCAP_AIE_TXN_STEP_UNKNOWN) {
        fprintf(out, "no operation is known by the number 0x%02x; the rest is not decoded\n",
                w->txn->stream->bytes[w->next]);
    } else {
        fprintf(out, "%s; the rest is not decoded\n",
                w->index == w->txn->op_count ? "bytes are left after the last operation"
                                             : "it does not fit into the stream");
    }
}

enum nocap_status nocap_aie_txn_disassemble(FILE *out, const struct nocap_aie_image *image,
                                            bool *complete, struct nocap_error *err)
{
    *complete = true;
    fputs("; Transaction streams of aie2 or aie2p; `nocap aie asm` does not assemble them.\n", out);
    for (size_t i = 0; i < image->stream_count; i++) {
        struct nocap_aie_txn txn;
        struct nocap_aie_txn_walker w;
        enum nocap_aie_txn_step step;
        char chip[32];
        RETURN_IF_FAILED(nocap_aie_txn_open(&txn, &image->streams[i], err));
        fputs("\n; ", out);
        foreign_put(out, image->streams[i].section);
        fprintf(out, ": %s, version %s, %u rows (%u of memory tiles), %u operations, %u bytes\n\n",
                nocap_aie_txn_chip(&txn, chip, sizeof chip), txn.late ? "1.0" : "0.1", txn.rows,
                txn.memory_rows, txn.op_count, txn.size);
        for (unsigned c = 0; c < txn.columns; c++) {
            fprintf(out, "    .attach_to_group %u\n", c);
        }
        nocap_aie_txn_begin(&w, &txn);
        while ((step = nocap_aie_txn_next(&w)) == NOCAP_AIE_TXN_STEP_OP) {
            put_op(out, &txn, &w.op);
        }
        if (step != NOCAP_AIE_TXN_STEP_END) {
            *complete = false;
            put_end(out, &w, step);
        }
    }
    return NOCAP_OK;
}
