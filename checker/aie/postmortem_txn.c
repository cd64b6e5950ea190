/* SPDX-License-Identifier: Apache-2.0 */
/* Where the firmware was in a transaction stream: the number of the operation that it ran last. */
#include <string.h>

#include "checker/aie/postmortem.h"
#include "formats/aie/txn.h"

enum { TEXT = 640, OPERATION = 200, NOTE = 160 };

static bool waits(const struct nocap_aie_txn_op *op)
{
    return op->opcode == NOCAP_AIE_TXN_TCT || op->opcode == NOCAP_AIE_TXN_MASKPOLL ||
           op->opcode == NOCAP_AIE_TXN_MASKPOLL_BUSY || op->opcode == NOCAP_AIE_TXN_MERGE_SYNC;
}

/* The stream that runs first: the others save and restore. */
static const struct nocap_aie_stream *main_stream(const struct nocap_aie_image *image)
{
    size_t i = 0;
    while (i + 1 < image->stream_count &&
           strncmp(image->streams[i].section, ".preempt", strlen(".preempt")) == 0) {
        i++;
    }
    return &image->streams[i];
}

static void describe(const struct nocap_aie_txn *txn, const struct nocap_aie_txn_op *op, char *text,
                     size_t size)
{
    char operation[OPERATION], note[NOTE];
    nocap_aie_txn_op_text(op, operation, sizeof operation);
    nocap_aie_txn_op_note(txn, op, note, sizeof note);
    snprintf(text, size, "operation %u at 0x%x, %s%s%s%s", op->index, op->off, operation,
             note[0] == 0 ? "" : " (", note, note[0] == 0 ? "" : ")");
}

enum nocap_status blocked_report_stream(struct blocked *s)
{
    const struct nocap_aie_postmortem *r = s->postmortem;
    struct nocap_aie_txn txn;
    struct nocap_aie_txn_walker w;
    char text[TEXT];
    RETURN_ERROR_IF(!r->has_operation, s->err, NOCAP_E_INPUT,
                    "nothing says where the firmware was in the transaction stream; give the "
                    "message of the runtime, which has txn_op_idx, or the table of xrt-smi");
    RETURN_ERROR_IF(r->operation == UINT32_MAX, s->err, NOCAP_E_INPUT,
                    "txn_op_idx is 0x%x: the firmware ran no transaction stream, or did not say "
                    "which operation it was at",
                    r->operation);
    RETURN_IF_FAILED(nocap_aie_txn_open(&txn, main_stream(s->image), s->err));
    nocap_aie_txn_begin(&w, &txn);
    enum nocap_aie_txn_step step = nocap_aie_txn_next(&w);
    while (step == NOCAP_AIE_TXN_STEP_OP && w.op.index != r->operation) {
        step = nocap_aie_txn_next(&w);
    }
    RETURN_ERROR_IF(step != NOCAP_AIE_TXN_STEP_OP, s->err, NOCAP_E_INPUT,
                    "the stream has no operation %u, it has %u: is this the file that ran?",
                    r->operation, txn.op_count);
    struct nocap_wait wait = {.who = {.agent = NOCAP_BY_UC0, .job = -1},
                              .by = {.agent = NOCAP_BY_NONE, .job = -1},
                              .state = waits(&w.op) ? "blocked" : "not over",
                              .since = UINT64_MAX,
                              .index = UINT64_MAX,
                              .thread = -1,
                              .certain = waits(&w.op),
                              .has_place = true,
                              .off = w.op.off,
                              .progress = {.index = UINT64_MAX},
                              .what = text};
    describe(&txn, &w.op, text, sizeof text);
    if (!waits(&w.op) && nocap_aie_txn_next(&w) == NOCAP_AIE_TXN_STEP_OP) {
        size_t used = strlen(text);
        used += (size_t)snprintf(text + used, sizeof text - used, ", or the next one: ");
        describe(&txn, &w.op, text + used, sizeof text - used);
    }
    nocap_hang_take(&s->waits, &wait);
    return NOCAP_OK;
}
