/* SPDX-License-Identifier: Apache-2.0 */
/* One page: where its instructions and jobs are, its header, and what each instruction says. */
#include <string.h>

#include "checker/aie/lint_private.h"
#include "formats/aie/operands.h"

#define V(op, INSN, name) ((op)->value[NOCAP_AIE_##INSN##_##name])

/* ---- instructions and jobs ---- */

static void walk(struct lint *l)
{
    struct lint_code *code = l->code;
    struct nocap_aie_walker walker;
    nocap_aie_walk_begin(&walker, code->page, l->dialect);
    do {
        code->end = nocap_aie_walk_next(&walker);
        if (code->end == NOCAP_AIE_WALK_INSN || code->end == NOCAP_AIE_WALK_EOF) {
            struct lint_op *op = &code->ops[code->op_count++];
            op->info = walker.insn.info;
            memcpy(op->value, walker.insn.value, sizeof op->value);
            op->off = walker.at;
            op->stray = walker.insn.stray;
        }
    } while (code->end == NOCAP_AIE_WALK_INSN && code->op_count < LINT_OPS_MAX);
    code->end_off = walker.at;
    code->data =
        code->end == NOCAP_AIE_WALK_EOF ? nocap_aie_data_begin(code->page, walker.at) : walker.end;
}

/* The jobs, one after the other, then EOF. One finding a page: what follows is no surprise. */
static bool find_jobs(struct lint *l)
{
    struct lint_code *code = l->code;
    uint32_t open = LINT_NONE; /* START_JOB */
    for (uint32_t i = 0; i < code->op_count; i++) {
        const struct lint_op *op = &code->ops[i];
        uint8_t opcode = op->info->opcode;
        bool start = nocap_aie_starts_job(opcode), end = opcode == NOCAP_AIE_EOF;
        code->job_of[i] = (uint16_t)code->job_count;
        enum nocap_rule rule = lint_first(l, AIE_014, AIE_015);
        if (start || end ? open != LINT_NONE : open == LINT_NONE) {
            lint_say(l, rule, NOCAP_ERROR, LINT_HERE(l, op->off),
                     open == LINT_NONE ? "START_JOB or EOF" : "END_JOB before it", "%s %s",
                     op->info->mnemonic, open == LINT_NONE ? "outside a job" : "inside a job");
            l->exercised[AIE_014]++;
            l->exercised[AIE_015] += rule == AIE_015;
            return false;
        }
        if (start) {
            open = i;
            l->exercised[AIE_015]++;
        } else if (opcode == NOCAP_AIE_END_JOB) {
            struct lint_job *job = &code->jobs[code->job_count++];
            *job = (struct lint_job){.first = open, .last = i};
            job->id = V(&code->ops[open], START_JOB, job_id);
            job->deferred = code->ops[open].info->opcode == NOCAP_AIE_START_JOB_DEFERRED;
            open = LINT_NONE;
        }
    }
    l->exercised[AIE_014]++;
    return true;
}

static void judge_sizes(struct lint *l)
{
    struct lint_code *code = l->code;
    for (uint32_t j = 0; j < code->job_count; j++) {
        const struct lint_job *job = &code->jobs[j];
        const struct lint_op *start = &code->ops[job->first], *end = &code->ops[job->last];
        uint32_t size = end->off + end->info->size - start->off;
        uint32_t said = V(start, START_JOB, size);
        char expected[48];
        snprintf(expected, sizeof expected, "%u bytes to the end of END_JOB", size);
        code->broken |= !LINT_CHECK(l, AIE_016, said == size, LINT_HERE(l, start->off), expected,
                                    "job size %u, END_JOB ends after %u bytes", said, size);
        for (uint32_t k = 0; k < j; k++) {
            if (code->jobs[k].id == job->id) {
                lint_say(l, AIE_018, NOCAP_ERROR, LINT_HERE(l, start->off),
                         "a number that no other job of the page has",
                         "job %u a second time, first at offset %u", job->id,
                         code->ops[code->jobs[k].first].off);
                code->bad_launch = true;
                break;
            }
        }
        l->exercised[AIE_018]++;
    }
}

/* What stands between EOF and the data. */
static void judge_filler(struct lint *l)
{
    struct lint_code *code = l->code;
    const struct nocap_aie_page *page = code->page;
    uint32_t at = code->end_off + NOCAP_AIE_EOF_SIZE, end = page->text_size;
    if (end == 0) { /* the layout does not tell: filler or zeros up to the next 16 bytes */
        end = code->data < NOCAP_AIE_PAGE_SIZE ? code->data : NOCAP_AIE_PAGE_SIZE;
    }
    bool merged = page->text_size == 0, fits = end < at + NOCAP_AIE_DATA_ALIGN;
    while (fits && at < end &&
           (page->bytes[at] == NOCAP_AIE_FILLER || (merged && page->bytes[at] == 0))) {
        at++;
    }
    code->broken |= !LINT_CHECK(
        l, AIE_017, at >= end, LINT_HERE(l, at), "only filler 0xa5 up to the data after EOF",
        "byte 0x%02x between EOF and the data", page->bytes[at < NOCAP_AIE_PAGE_SIZE ? at : 0]);
}

void lint_decode(struct lint *l, const struct nocap_aie_page *page)
{
    struct lint_code *code = l->code;
    code->page = page;
    code->op_count = code->job_count = 0;
    code->broken = code->bad_length = code->bad_barrier = code->bad_launch = false;
    walk(l);
    l->exercised[AIE_001] += code->op_count;
    l->exercised[AIE_007] += code->op_count;
    if (code->end == NOCAP_AIE_WALK_NO_OPCODE) {
        char note[96];
        nocap_aie_opcode_note(page->bytes[code->end_off], note, sizeof note);
        lint_say(l, AIE_001, NOCAP_ERROR, LINT_HERE(l, code->end_off), "an opcode of the dialect",
                 "unknown opcode 0x%02x%s", page->bytes[code->end_off], note);
        code->broken = true;
        return;
    }
    if (code->end == NOCAP_AIE_WALK_CUT) {
        lint_say(l, AIE_007, NOCAP_ERROR, LINT_HERE(l, code->end_off),
                 "the whole instruction inside the text", "the text ends inside an instruction");
        code->broken = true;
        return;
    }
    code->broken = !find_jobs(l);
    if (code->broken) {
        return;
    }
    if (code->end != NOCAP_AIE_WALK_EOF) {
        LINT_CHECK(l, AIE_017, false, LINT_HERE(l, code->end_off), "EOF after the last END_JOB",
                   "the text ends without EOF");
        code->broken = true;
        return;
    }
    judge_filler(l);
    judge_sizes(l);
}

/* ---- the header ---- */

static bool is_zero(const uint8_t *bytes, uint32_t from, uint32_t to)
{
    while (from < to && bytes[from] == 0) {
        from++;
    }
    return from >= to;
}

static void judge_length(struct lint *l)
{
    struct lint_code *code = l->code;
    const struct nocap_aie_page *page = code->page;
    uint32_t length = nocap_aie_head(page, NOCAP_AIE_HEAD_LENGTH);
    uint32_t least = code->end_off + (code->end == NOCAP_AIE_WALK_EOF ? NOCAP_AIE_EOF_SIZE : 0);
    uint32_t rest = length < NOCAP_AIE_PAGE_SIZE ? length : NOCAP_AIE_PAGE_SIZE;
    bool whole = least == code->end_off || is_zero(page->bytes, rest, NOCAP_AIE_PAGE_SIZE);
    bool fits = length >= least && length % 4 == 0 && length <= NOCAP_AIE_PAGE_SIZE && whole;
    code->bad_length =
        !LINT_CHECK(l, AIE_049, fits, LINT_HERE(l, NOCAP_AIE_HEAD_LENGTH),
                    "a multiple of 4 up to 8192 that covers text and data", "page length %u%s",
                    length, length >= least && !whole ? ", and data after that" : "");
    code->limit = code->bad_length ? NOCAP_AIE_PAGE_SIZE : length;
}

void lint_header(struct lint *l)
{
    const struct nocap_aie_page *page = l->code->page;
    static const uint32_t zeros[] = {NOCAP_AIE_HEAD_ZERO1, NOCAP_AIE_HEAD_ZERO2};
    uint32_t signature = nocap_aie_head(page, NOCAP_AIE_HEAD_SIGNATURE);
    uint32_t index = nocap_aie_head(page, NOCAP_AIE_HEAD_PAGE);
    char expected[32];
    LINT_CHECK(l, AIE_048, signature == NOCAP_AIE_SIGNATURE, LINT_HERE(l, NOCAP_AIE_HEAD_SIGNATURE),
               "the signature 0xffff", "signature 0x%04x, not 0xffff", signature);
    snprintf(expected, sizeof expected, "page %u", page->index);
    LINT_CHECK(l, AIE_048, index == page->index, LINT_HERE(l, NOCAP_AIE_HEAD_PAGE), expected,
               "page number %u in the header of page %u", index, page->index);
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
        uint32_t word = nocap_aie_head(page, zeros[i]);
        LINT_CHECK(l, AIE_048, word == 0, LINT_HERE(l, zeros[i]), "zero",
                   "0x%04x in a field of the header that must be 0", word);
    }
    judge_length(l);
}

/* ---- each instruction ---- */

/* In f25 LOAD_PDI is 6 bytes long, and END_JOB and EOF after it cannot be aligned. */
static bool judge_alignment(struct lint *l, const struct lint_op *op)
{
    uint8_t opcode = op->info->opcode;
    bool exempt =
        l->dialect == NOCAP_AIE_F25 && (opcode == NOCAP_AIE_END_JOB || opcode == NOCAP_AIE_EOF);
    if (!LINT_CHECK(l, AIE_003, op->off % 4 == 0 || exempt, LINT_HERE(l, op->off),
                    "a multiple of 4", "%s at offset %u, no multiple of 4", op->info->mnemonic,
                    op->off) &&
        lint_judged(l, AIE_003)) {
        return false; /* its operands follow from that */
    }
    for (unsigned f = 0; f < nocap_aie_field_count(op->info); f++) {
        const struct nocap_aie_field *field = &op->info->fields[f];
        if (!LINT_CHECK(l, AIE_004, (op->off + field->offset) % (field->bits / 8u) == 0,
                        LINT_HERE(l, op->off), "operands on multiples of their size",
                        "operand %s at offset %u, no multiple of its size", field->name,
                        op->off + field->offset)) {
            return false;
        }
    }
    return true;
}

static void judge_numbers(struct lint *l, const struct lint_op *op)
{
    for (unsigned f = 0; f < nocap_aie_field_count(op->info); f++) {
        uint32_t v = op->value[f], count = nocap_aie_remote_barriers(l->dialect);
        char expected[48];
        switch (op->info->fields[f].kind) {
        case NOCAP_AIE_REG:
            LINT_CHECK(l, AIE_005, v < NOCAP_AIE_REGISTERS, LINT_HERE(l, op->off),
                       "a register, 0 to 23", "register %u, there are 0 to 23", v);
            break;
        case NOCAP_AIE_LB:
            l->code->bad_barrier |=
                !LINT_CHECK(l, AIE_006, v < NOCAP_AIE_LOCAL_BARRIERS, LINT_HERE(l, op->off),
                            "a local barrier, 0 to 15", "local barrier %u, there are 0 to 15", v);
            break;
        case NOCAP_AIE_RB:
            snprintf(expected, sizeof expected, "a remote barrier, 1 to %u", count);
            l->bad_remote |=
                !LINT_CHECK(l, AIE_006, v >= 1 && v <= count, LINT_HERE(l, op->off), expected,
                            "remote barrier %u, there are 1 to %u", v, count);
            break;
        default: break;
        }
    }
}

static void judge_flags(struct lint *l, const struct lint_op *op)
{
    const uint32_t known = NOCAP_AIE_ADDRESS_IS_CONST | NOCAP_AIE_VALUE_IS_CONST;
    uint32_t flags = V(op, WRITE_32_D, flags);
    uint32_t address = V(op, WRITE_32_D, address), value = V(op, WRITE_32_D, value);
    struct lint_place here = LINT_HERE(l, op->off);
    l->exercised[AIE_008]++;
    if ((flags & ~known) != 0) {
        lint_say(l, AIE_008, NOCAP_WARNING, here, "flag bits 0 and 1 only", "unknown flags 0x%02x",
                 flags);
    } else if ((flags & NOCAP_AIE_ADDRESS_IS_CONST) == 0 && address >= NOCAP_AIE_REGISTERS) {
        lint_say(l, AIE_008, NOCAP_WARNING, here, "a register, 0 to 23, with the address",
                 "address in register 0x%x, there are 0 to 23", address);
    } else if ((flags & NOCAP_AIE_VALUE_IS_CONST) == 0 && value >= NOCAP_AIE_REGISTERS) {
        lint_say(l, AIE_008, NOCAP_WARNING, here, "a register, 0 to 23, with the value",
                 "value in register 0x%x, there are 0 to 23", value);
    }
}

static void judge_tokens(struct lint *l, const struct lint_op *op)
{
    uint32_t tile = V(op, WAIT_TCTS, tile_id), actor = V(op, WAIT_TCTS, actor_id);
    uint32_t tokens = V(op, WAIT_TCTS, target_tcts), column = nocap_aie_tile_column(tile);
    struct lint_place here = LINT_HERE(l, op->off);
    char name[32], expected[48];
    bool cores = l->dialect == NOCAP_AIE_N26; /* send tokens, and so do their DMAs */
    if (!LINT_CHECK(l, AIE_009, tile >> NOCAP_AIE_TILE_BITS == 0, here, "a tile of 12 bits",
                    "tile 0x%04x, which has more than 12 bits", tile)) {
        return;
    }
    const struct nocap_aie_chip_info *chip = nocap_aie_chip_info(l->chip);
    if (chip == NULL) { /* actors and columns are numbered by the chip */
        return;
    }
    bool shim_or_mem = nocap_aie_tile_row(tile) <= chip->memory_row_last;
    l->exercised[AIE_039]++;
    if (!shim_or_mem && !cores) {
        lint_say(l, AIE_039, NOCAP_WARNING, here, "a shim or memory tile",
                 "wait for tokens of TILE_%u_%u, no shim or memory tile", column,
                 nocap_aie_tile_row(tile));
    } else if (LINT_CHECK(l, AIE_009,
                          nocap_aie_actor_name(l->chip, tile, actor, l->dialect, name, sizeof name),
                          here, "an actor that this kind of tile has",
                          "actor %u, which TILE_%u_%u does not have", actor, column,
                          nocap_aie_tile_row(tile)) &&
               tokens == 0) {
        lint_say(l, AIE_039, NOCAP_WARNING, here, "at least one token to wait for",
                 "wait for no token");
    }
    snprintf(expected, sizeof expected, "a tile of column %u", here.uc / chip->ucs);
    LINT_CHECK(l, AIE_040, column == here.uc / chip->ucs, here, expected,
               "wait for tokens of TILE_%u_%u, not of column %u", column, nocap_aie_tile_row(tile),
               here.uc / chip->ucs);
}

static void judge_masks(struct lint *l, const struct lint_op *op)
{
    bool poll = op->info->opcode != NOCAP_AIE_MASK_WRITE_32;
    uint32_t mask = V(op, MASK_WRITE_32, mask), value = V(op, MASK_WRITE_32, value);
    if (op->info->opcode == NOCAP_AIE_UC_DMA_MASK_POLL_EXT) {
        mask = V(op, UC_DMA_MASK_POLL_EXT, mask);
        value = V(op, UC_DMA_MASK_POLL_EXT, value);
    }
    bool never = poll && (value & ~mask) != 0;
    LINT_EXPECT_AS(
        l, AIE_013, never ? NOCAP_ERROR : NOCAP_WARNING, mask != 0 && (value & ~mask) == 0,
        LINT_HERE(l, op->off), "a mask that is not 0 and covers the value",
        mask == 0 ? "empty mask 0x%x with value 0x%x%s" : "mask 0x%x does not cover value 0x%x%s",
        mask, value, never ? ", which no word ever has" : "");
}

static void judge_address(struct lint *l, const struct lint_op *op)
{
    for (unsigned f = 0; f < nocap_aie_field_count(op->info); f++) {
        bool is_register = op->info->opcode == NOCAP_AIE_WRITE_32_D &&
                           (V(op, WRITE_32_D, flags) & NOCAP_AIE_ADDRESS_IS_CONST) == 0;
        if (op->info->fields[f].kind == NOCAP_AIE_ADDR && !is_register) {
            LINT_CHECK(l, AIE_012, op->value[f] % 4 == 0, LINT_HERE(l, op->off),
                       "an address that is a multiple of 4", "address 0x%x, no multiple of 4",
                       op->value[f]);
        }
    }
}

void lint_ops(struct lint *l)
{
    bool aligned = true;
    for (uint32_t i = 0; i < l->code->op_count; i++) {
        const struct lint_op *op = &l->code->ops[i];
        struct lint_place here = LINT_HERE(l, op->off);
        LINT_CHECK(l, AIE_002, !op->stray, here, "padding that is zero",
                   "padding of %s that is not zero", op->info->mnemonic);
        aligned = aligned && judge_alignment(l, op);
        judge_numbers(l, op);
        judge_address(l, op);
        switch (op->info->opcode) {
        case NOCAP_AIE_WRITE_32_D: judge_flags(l, op); break;
        case NOCAP_AIE_WAIT_TCTS: judge_tokens(l, op); break;
        case NOCAP_AIE_MASK_WRITE_32:
        case NOCAP_AIE_MASK_POLL_32:
        case NOCAP_AIE_UC_DMA_MASK_POLL_EXT: judge_masks(l, op); break;
        case NOCAP_AIE_TRACE:
            LINT_CHECK(l, AIE_010, false, here, "no TRACE in the code itself",
                       "TRACE %u in the code itself", V(op, TRACE, info));
            break;
        case NOCAP_AIE_SLEEP:
            LINT_CHECK(l, AIE_011, false, here, "no SLEEP outside tests",
                       "SLEEP %u in the code itself", V(op, SLEEP, target));
            break;
        default: l->exercised[AIE_010]++; l->exercised[AIE_011]++;
        }
    }
}
