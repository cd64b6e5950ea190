/* SPDX-License-Identifier: Apache-2.0 */
/* Transaction streams: what tasks, tokens and descriptors of a stream say of each other, as far as
 * it shows them. Operations run one after the other; tasks run beside them. */
#include <stdlib.h>
#include <string.h>

#include "checker/aie/lint_private.h"
#include "formats/aie/operands.h"
#include "formats/aie/txn.h"

enum {
    COLUMNS = NOCAP_AIE_COLUMN_MAX + 1,
    ROWS = NOCAP_AIE_ROW_MAX + 1,
    CHANNELS = 8,
    DESCRIPTORS = 64,
    NOTE = 160,
    OPERATION = 240,
};

/* A channel of a tile in one direction. */
struct channel {
    uint64_t tokens; /* that its tasks send at most */
    uint32_t tasks;  /* that send a token at all */
    uint32_t waits;
    uint32_t last;                /* offset of the last such task */
    bool unknown, reported, seen; /* a task was started that is not known; it was polled */
};

/* A descriptor, and the task that used it last. */
struct use {
    uint32_t by, epoch; /* number of the operation, from 1, 0: none; waits before it */
    bool written;       /* since then */
    uint32_t patched;   /* offset of the patch since then; 0: none */
    uint32_t loads;     /* loads of a PDI before the next line was known */
    uint8_t next;       /* the descriptor that it goes on with, and 1; 0: none, or not known */
};

struct state {
    struct lint *l;
    const char *where; /* of several streams which one: begins what was observed */
    struct nocap_aie_txn txn;
    const struct nocap_aie_txn_op *op;
    struct channel *channels;
    struct use *uses;
    uint32_t epoch; /* waits and polls so far */
    uint32_t loads; /* of PDIs, which may write all descriptors */
    bool hidden;    /* tasks of memory and core tiles may be started in ways that are not seen */
    bool merged;    /* tokens are waited for by column */
    bool unmatched; /* a wait has no task: that of another channel is what it was meant for */
};

static struct channel *channel_of(const struct state *s, uint32_t column, uint32_t row, bool mm2s,
                                  uint32_t number)
{
    return &s->channels[((column * ROWS + row) * 2 + mm2s) * CHANNELS + number];
}

static struct use *use_of(const struct state *s, const struct nocap_aie_txn_at *at)
{
    return &s->uses[((uint32_t)at->column * ROWS + at->row) * DESCRIPTORS + at->number];
}

static struct lint_place here(const struct state *s, uint32_t off)
{
    return (struct lint_place){s->txn.stream->group, NOCAP_LINT_NOWHERE, NOCAP_LINT_NOWHERE, off};
}

/* "operation 12, XAIE_IO_WRITE @0x1d204, 0x0" */
static const char *name(const struct state *s, char *text)
{
    char op[NOTE];
    snprintf(text, OPERATION, "%soperation %u, %s", s->where, s->op->index,
             nocap_aie_txn_op_text(s->op, op, sizeof op));
    return text;
}

/* ---- tasks and descriptors ---- */

/* Sets who used it last; NULL: it is written anew. */
static void set_use(struct use *use, const struct state *s)
{
    *use = (struct use){.by = s == NULL ? 0 : s->op->index + 1,
                        .epoch = s == NULL ? 0 : s->epoch,
                        .loads = use->loads,
                        .next = use->next};
}

/* A task uses its descriptor and those that it goes on with, which may be a circle. */
static void use_chain(const struct state *s, struct nocap_aie_txn_at at)
{
    for (uint32_t i = 0; i < DESCRIPTORS; i++) {
        struct use *use = use_of(s, &at);
        set_use(use, s);
        if (use->next == 0 || use->loads != s->loads) {
            break;
        }
        at.number = (uint8_t)(use->next - 1);
    }
}

static void start_task(struct state *s, const struct nocap_aie_txn_at *at, uint32_t value)
{
    struct channel *c = channel_of(s, at->column, at->row, at->mm2s, at->number);
    struct nocap_aie_txn_at descriptor = {
        .column = at->column, .row = at->row, .number = value & NOCAP_AIE_TXN_QUEUE_BD};
    if ((value & NOCAP_AIE_TASK_TOKEN) != 0) {
        c->tokens += (value >> NOCAP_AIE_TASK_REPEAT_SHIFT & NOCAP_AIE_TASK_REPEAT_MASK) + 1;
        c->tasks++;
        c->last = s->op->off;
    }
    use_chain(s, descriptor);
}

static bool may_run(const struct state *s, const struct use *use)
{
    return use->by != 0 && use->epoch == s->epoch;
}

/* `value` NULL: it is not known. */
static void write_descriptor(struct state *s, const struct nocap_aie_txn_at *at,
                             const uint32_t *value)
{
    struct use *use = use_of(s, at);
    char text[OPERATION];
    if (!LINT_CHECK(s->l, TXN_004, !may_run(s, use), here(s, s->op->off),
                    "a wait or a poll after the task that uses the descriptor",
                    "%s writes descriptor %u of TILE_%u_%u, which the task of operation %u uses",
                    name(s, text), at->number, at->column, at->row, use->by - 1)) {
        set_use(use, NULL);
    }
    uint8_t next;
    if (nocap_aie_txn_link(&s->txn, at, value == NULL ? 0 : *value, &next)) {
        use->next = next;
        use->loads = s->loads;
    }
    use->written = true;
}

static void patch_descriptor(struct state *s)
{
    struct nocap_aie_txn_at at;
    char text[OPERATION];
    nocap_aie_txn_locate(&s->txn, s->op->address, &at);
    if (at.place != NOCAP_AIE_TXN_BD) {
        return;
    }
    struct use *use = use_of(s, &at);
    if (!LINT_CHECK(s->l, TXN_005, !may_run(s, use), here(s, s->op->off),
                    "the patch before the task that uses the descriptor",
                    "%s patches descriptor %u of TILE_%u_%u after operation %u started its task",
                    name(s, text), at.number, at.column, at.row, use->by - 1)) {
        set_use(use, NULL);
    } else if (use->by != 0 && !use->written) {
        use->patched = s->op->off;
    }
}

/* A word that is written; known: it is `value`. */
static void write_word(struct state *s, uint32_t address, uint32_t value, bool known)
{
    struct nocap_aie_txn_at at;
    nocap_aie_txn_locate(&s->txn, address, &at);
    if (at.place == NOCAP_AIE_TXN_QUEUE && known) {
        start_task(s, &at, value);
    } else if (at.place == NOCAP_AIE_TXN_QUEUE) {
        channel_of(s, at.column, at.row, at.mm2s, at.number)->unknown = true;
    } else if (at.place == NOCAP_AIE_TXN_BD) {
        write_descriptor(s, &at, known ? &value : NULL);
    }
}

/* ---- waits ---- */

static void wait_channel(struct state *s, uint32_t column, uint32_t row)
{
    const struct nocap_aie_txn_op *op = s->op;
    char text[OPERATION];
    if (column >= COLUMNS || row >= ROWS || op->channel >= CHANNELS) {
        return;
    }
    struct channel *c = channel_of(s, column, row, op->mm2s, op->channel);
    c->waits++;
    if (c->reported || c->unknown || s->l->image->pad_size != 0 || (s->hidden && row != 0)) {
        return;
    }
    c->reported = !LINT_CHECK(s->l, TXN_002, c->waits <= c->tokens, here(s, op->off),
                              "a task that was started before and sends the token",
                              "%s waits for token %u of TILE_%u_%u %s_%u, and tasks for %llu were "
                              "started",
                              name(s, text), c->waits, column, row, op->mm2s ? "MM2S" : "S2MM",
                              op->channel, (unsigned long long)c->tokens);
    s->unmatched |= c->reported;
}

static void wait_tokens(struct state *s)
{
    const struct nocap_aie_txn_op *op = s->op;
    s->epoch++;
    for (uint32_t c = 0; c < op->columns; c++) {
        for (uint32_t r = 0; r < op->rows; r++) {
            wait_channel(s, op->column + c, op->row + r);
        }
    }
}

static void poll(struct state *s)
{
    struct nocap_aie_txn_at at;
    char text[OPERATION];
    s->epoch++;
    LINT_CHECK(s->l, TXN_006,
               s->op->opcode != NOCAP_AIE_TXN_MASKPOLL || (s->op->value & ~s->op->mask) == 0,
               here(s, s->op->off), "a value under its mask",
               "%s polls for a value outside its mask", name(s, text));
    nocap_aie_txn_locate(&s->txn, s->op->address, &at);
    if (at.place == NOCAP_AIE_TXN_STATUS) {
        channel_of(s, at.column, at.row, at.mm2s, at.number)->seen = true;
    }
}

/* ---- the stream ---- */

static void take(struct state *s)
{
    const struct nocap_aie_txn_op *op = s->op;
    switch (op->opcode) {
    case NOCAP_AIE_TXN_WRITE: write_word(s, op->address, op->value, true); break;
    case NOCAP_AIE_TXN_UPDATE_REG:
    case NOCAP_AIE_TXN_MASKWRITE: write_word(s, op->address, 0, false); break;
    case NOCAP_AIE_TXN_BLOCKWRITE:
        for (uint32_t i = 0; i < op->word_count; i++) {
            write_word(s, op->address + 4 * i, nocap_aie_u32(op->words + (size_t)4 * i), true);
        }
        break;
    case NOCAP_AIE_TXN_DDR_PATCH: patch_descriptor(s); break;
    case NOCAP_AIE_TXN_TCT: wait_tokens(s); break;
    case NOCAP_AIE_TXN_MASKPOLL:
    case NOCAP_AIE_TXN_MASKPOLL_BUSY: poll(s); break;
    case NOCAP_AIE_TXN_MERGE_SYNC:
        s->merged = true;
        s->epoch++;
        break;
    case NOCAP_AIE_TXN_LOADPDI:
    case NOCAP_AIE_TXN_LOAD_PM_START:
        s->hidden = true;
        s->loads++;
        s->epoch++;
        break;
    case NOCAP_AIE_TXN_PREEMPT: s->epoch++; break;
    default: break;
    }
}

static void judge_end(struct state *s)
{
    for (uint32_t i = 0; i < COLUMNS * ROWS * 2 * CHANNELS && !s->merged && !s->unmatched; i++) {
        const struct channel *c = &s->channels[i];
        uint32_t tile = i / (2 * CHANNELS);
        if (c->tasks != 0 && !c->seen) {
            LINT_CHECK(s->l, TXN_003, c->waits >= c->tasks, here(s, c->last),
                       "a wait for each task that sends a token",
                       "%s%u tasks of TILE_%u_%u %s_%u, and waits for %u of them", s->where,
                       c->tasks, tile / ROWS, tile % ROWS, i / CHANNELS % 2 != 0 ? "MM2S" : "S2MM",
                       i % CHANNELS, c->waits);
        }
    }
    for (uint32_t i = 0; i < COLUMNS * ROWS * DESCRIPTORS; i++) {
        const struct use *use = &s->uses[i];
        uint32_t tile = i / DESCRIPTORS;
        if (use->patched != 0) {
            lint_say(s->l, TXN_005, NOCAP_ERROR, here(s, use->patched),
                     "the patch before the task that uses the descriptor",
                     "%sdescriptor %u of TILE_%u_%u is patched after its last use, by operation %u",
                     s->where, i % DESCRIPTORS, tile / ROWS, tile % ROWS, use->by - 1);
        }
    }
}

static void judge_stream(struct state *s)
{
    struct nocap_aie_txn_walker w;
    enum nocap_aie_txn_step step;
    s->op = &w.op;
    nocap_aie_txn_begin(&w, &s->txn);
    while ((step = nocap_aie_txn_next(&w)) == NOCAP_AIE_TXN_STEP_OP) {
        take(s);
    }
    LINT_CHECK(s->l, TXN_001, step == NOCAP_AIE_TXN_STEP_END, here(s, w.next),
               "operations up to the end of the stream", "%s%s at operation %u of %u", s->where,
               step == NOCAP_AIE_TXN_STEP_UNKNOWN
                   ? "an unknown opcode"
                   : "an operation that does not fit, or bytes after the last one,",
               w.index, s->txn.op_count);
    if (step == NOCAP_AIE_TXN_STEP_END) {
        judge_end(s);
    }
}

static const char *name_stream(const struct lint *l, const struct nocap_aie_stream *stream)
{
    static const char *const names[] = {".preempt_save", ".preempt_restore"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strncmp(stream->section, names[i], strlen(names[i])) == 0) {
            return i == 0 ? "in .preempt_save, " : "in .preempt_restore, ";
        }
    }
    return l->image->stream_count > 1 ? "in .ctrltext, " : "";
}

enum nocap_status lint_streams(struct lint *l, struct nocap_error *err)
{
    for (size_t i = 0; i < l->image->stream_count; i++) {
        struct state s = {.l = l, .where = name_stream(l, &l->image->streams[i])};
        RETURN_IF_FAILED(nocap_aie_txn_open(&s.txn, &l->image->streams[i], err));
        s.channels = calloc(COLUMNS * ROWS * 2 * CHANNELS, sizeof *s.channels);
        s.uses = calloc(COLUMNS * ROWS * DESCRIPTORS, sizeof *s.uses);
        bool memory = s.channels != NULL && s.uses != NULL;
        if (memory) {
            judge_stream(&s);
        }
        free(s.channels);
        free(s.uses);
        RETURN_ERROR_IF(!memory, err, NOCAP_E_MEMORY, "out of memory");
    }
    return NOCAP_OK;
}
