/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions point to in the page's data: chains of descriptors, tables. */
#include <stdlib.h>
#include <string.h>

#include "checker/aie/lint_private.h"
#include "formats/aie/operands.h"

#define V(op, INSN, name) ((op)->value[NOCAP_AIE_##INSN##_##name])

enum {
    CHAINS_MAX = NOCAP_AIE_PAGE_SIZE / NOCAP_AIE_BD_SIZE,
};

/* A chain that some instruction starts. */
struct chain {
    uint32_t first, count; /* where it begins; descriptors that were read */
    uint32_t by;           /* the first op that starts it */
};

struct range {
    uint64_t from, to;
    uint32_t chain;
    uint32_t source; /* offset in the page */
};

struct data {
    struct lint *l;
    struct chain chains[CHAINS_MAX];
    uint32_t chain_count;
    uint16_t chain_at[CHAINS_MAX];       /* by place / 16: its chain, from 1 */
    uint8_t source[NOCAP_AIE_PAGE_SIZE]; /* what descriptors transfer, and tables */
    struct range ranges[CHAINS_MAX * 2]; /* what descriptors write to */
    uint32_t range_count;
    struct lint_order *order; /* NULL: a single job, or no memory */
};

static bool is_descriptor_ok(struct data *d, uint32_t at, const struct nocap_aie_bd *bd,
                             uint32_t by)
{
    struct lint *l = d->l;
    const char *wrong = bd->stray                     ? "a bit that must be 0 is set"
                        : !bd->local_relative         ? "the local address is not relative"
                        : l->dialect == NOCAP_AIE_N26 ? NULL
                        : bd->external                ? "it is marked as external"
                        : bd->remote >> 32 != 0 ? "the high word of the remote address is not 0"
                                                : NULL;
    return LINT_CHECK(l, AIE_029, wrong == NULL, LINT_HERE(l, l->code->ops[by].off),
                      "a descriptor with the fixed bits as they must be",
                      "descriptor at offset %u: %s", at, wrong == NULL ? "" : wrong);
}

/* Whether the words that a descriptor transfers lie in the page's data. */
static bool is_inside(const struct data *d, uint32_t at, const struct nocap_aie_bd *bd)
{
    const struct lint_code *code = d->l->code;
    uint32_t from = at + bd->local;
    return bd->length != 0 && from % 4 == 0 && from >= code->data &&
           (uint64_t)from + (uint64_t)bd->length * 4 <= code->limit;
}

/* Whether it transfers descriptors of its own chain, from the first one to `end`. */
static bool is_own_chain(const struct chain *chain, uint32_t end, uint32_t at,
                         const struct nocap_aie_bd *bd)
{
    uint32_t from = at + bd->local;
    return from < end && (uint64_t)from + (uint64_t)bd->length * 4 > chain->first;
}

/* The words that a descriptor transfers. */
static bool judge_source(struct data *d, const struct chain *chain, uint32_t at,
                         const struct nocap_aie_bd *bd)
{
    struct lint *l = d->l;
    uint32_t end = chain->first + chain->count * NOCAP_AIE_BD_SIZE;
    const char *wrong = bd->length == 0         ? "transfers nothing"
                        : !is_inside(d, at, bd) ? "transfers what is not in the page's data"
                        : is_own_chain(chain, end, at, bd) ? "transfers its own chain"
                                                           : NULL;
    return LINT_CHECK(l, AIE_030, wrong == NULL, LINT_HERE(l, l->code->ops[chain->by].off),
                      "descriptors with at least one word of the page's data",
                      "descriptor at offset %u %s (%u words from offset %u)", at,
                      wrong == NULL ? "" : wrong, bd->length, at + bd->local);
}

static void judge_descriptor(struct data *d, const struct chain *chain, uint32_t at)
{
    struct lint *l = d->l;
    struct nocap_aie_bd bd;
    nocap_aie_bd_decode(l->code->page->bytes + at, &bd);
    if (!is_descriptor_ok(d, at, &bd, chain->by) ||
        !LINT_CHECK(l, AIE_012, bd.remote % 4 == 0, LINT_HERE(l, l->code->ops[chain->by].off),
                    "an address that is a multiple of 4",
                    "address 0x%llx in the descriptor at offset %u, no multiple of 4",
                    (unsigned long long)bd.remote, at) ||
        !judge_source(d, chain, at, &bd)) {
        return;
    }
    if (d->range_count < sizeof d->ranges / sizeof d->ranges[0]) {
        d->ranges[d->range_count++] = (struct range){bd.remote, bd.remote + (uint64_t)bd.length * 4,
                                                     (uint32_t)(chain - d->chains), at + bd.local};
    }
}

/* Finds the end of a chain: as many descriptors as are there. */
static void measure_chain(struct data *d, struct chain *chain)
{
    struct lint *l = d->l;
    struct nocap_aie_bd bd = {.next = true};
    uint32_t at = chain->first;
    while (bd.next && at + NOCAP_AIE_BD_SIZE <= l->code->limit) {
        nocap_aie_bd_decode(l->code->page->bytes + at, &bd);
        at += NOCAP_AIE_BD_SIZE;
        chain->count++;
        if (bd.next && at < NOCAP_AIE_PAGE_SIZE && d->chain_at[at / NOCAP_AIE_BD_SIZE] != 0) {
            break;
        }
    }
}

/* After the descriptors that can be ones: what is after that is other data. */
static uint32_t end_of_descriptors(const struct data *d, const struct chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        struct nocap_aie_bd bd;
        uint32_t at = chain->first + i * NOCAP_AIE_BD_SIZE;
        nocap_aie_bd_decode(d->l->code->page->bytes + at, &bd);
        if (bd.stray || !bd.local_relative || !is_inside(d, at, &bd)) {
            return at;
        }
    }
    return chain->first + chain->count * NOCAP_AIE_BD_SIZE;
}

/* Marks what the chain transfers, as far as its descriptors can be ones. */
static void mark_sources(struct data *d, const struct chain *chain)
{
    const uint32_t end = end_of_descriptors(d, chain);
    for (uint32_t i = 0; i < chain->count; i++) {
        struct nocap_aie_bd bd;
        uint32_t at = chain->first + i * NOCAP_AIE_BD_SIZE;
        nocap_aie_bd_decode(d->l->code->page->bytes + at, &bd);
        if (bd.stray || !bd.local_relative) {
            break;
        }
        uint32_t own = end > at ? end : at + NOCAP_AIE_BD_SIZE;
        if (is_inside(d, at, &bd) && !is_own_chain(chain, own, at, &bd)) {
            memset(d->source + (at + bd.local), 1, (size_t)bd.length * 4); /* modulo 2^32 */
        }
    }
}

/* A chain ends with a descriptor that says so, before other data and before other chains. What it
 * runs into is cut off. */
static void judge_end(struct data *d, struct chain *chain)
{
    struct lint *l = d->l;
    struct lint_place here = LINT_HERE(l, l->code->ops[chain->by].off);
    struct nocap_aie_bd bd;
    if (chain->count == 0) {
        LINT_CHECK(l, AIE_028, false, here, "a whole descriptor in the page's data",
                   "no room for a descriptor before the end of the data at offset %u",
                   l->code->limit);
        return;
    }
    for (uint32_t i = 1; i < chain->count; i++) {
        uint32_t at = chain->first + i * NOCAP_AIE_BD_SIZE;
        if (memchr(d->source + at, 1, NOCAP_AIE_BD_SIZE) != NULL) {
            LINT_CHECK(l, AIE_028, false, here, "a chain whose last descriptor has next_bd 0",
                       "chain runs on into other data at offset %u", at);
            chain->count = i;
            return;
        }
    }
    uint32_t end = chain->first + chain->count * NOCAP_AIE_BD_SIZE;
    nocap_aie_bd_decode(l->code->page->bytes + end - NOCAP_AIE_BD_SIZE, &bd);
    LINT_CHECK(l, AIE_028, !bd.next, here, "a chain whose last descriptor has next_bd 0",
               "chain continues past its last descriptor, at offset %u", end);
}

/* ---- finding chains and tables ---- */

static void add_chain(struct data *d, uint32_t op)
{
    struct lint *l = d->l;
    uint32_t at;
    if (!lint_chain_of(&l->code->ops[op], &at)) {
        return;
    }
    bool inside = at % NOCAP_AIE_BD_SIZE == 0 && at >= l->code->data && at < l->code->limit;
    if (!LINT_CHECK(l, AIE_027, inside, LINT_HERE(l, l->code->ops[op].off),
                    "a descriptor in the page's data, on a multiple of 16",
                    "descriptor at offset %u, outside the data or no multiple of 16", at) ||
        d->chain_at[at / NOCAP_AIE_BD_SIZE] != 0) {
        return;
    }
    d->chains[d->chain_count] = (struct chain){.first = at, .by = op};
    d->chain_at[at / NOCAP_AIE_BD_SIZE] = (uint16_t)++d->chain_count;
}

static uint32_t table_size(const struct lint_op *op)
{
    return op->info->opcode == NOCAP_AIE_APPLY_OFFSET_57
               ? NOCAP_AIE_TABLE_ENTRY_SIZE * V(op, APPLY_OFFSET_57, num_entries)
           : op->info->opcode == NOCAP_AIE_APPLY_OFFSET_PL ? NOCAP_AIE_PL_ENTRY_SIZE
                                                           : 0;
}

static bool is_patch(const struct lint_op *op)
{
    return op->info->opcode == NOCAP_AIE_APPLY_OFFSET_57 ||
           op->info->opcode == NOCAP_AIE_APPLY_OFFSET_PL;
}

static uint32_t table_at(const struct lint_op *op)
{
    return V(op, APPLY_OFFSET_57, table_ptr) + NOCAP_AIE_HEADER_SIZE;
}

static bool table_inside(const struct lint *l, const struct lint_op *op)
{
    uint32_t at = table_at(op), size = table_size(op);
    return size != 0 && at % 4 == 0 && at >= l->code->data && at + (uint64_t)size <= l->code->limit;
}

static void judge_table(struct data *d, const struct lint_op *op)
{
    struct lint *l = d->l;
    struct lint_place here = LINT_HERE(l, op->off);
    uint32_t word = V(op, APPLY_OFFSET_57, offset), size = table_size(op);
    if (LINT_CHECK(l, AIE_032, table_inside(l, op), here,
                   "entries that lie in the page's data, on a multiple of 4",
                   "table of %u bytes at offset %u, outside the data or no multiple of 4", size,
                   table_at(op))) {
        memset(d->source + table_at(op), 1, size);
    }
    if (op->info->opcode != NOCAP_AIE_APPLY_OFFSET_57) {
        return;
    }
    bool base = word == NOCAP_AIE_BASE_ARG;
    bool host = l->dialect == NOCAP_AIE_N26; /* which has a relocation of every table: AIE-036 */
    LINT_CHECK(l, AIE_035,
               base || (word % 2 == 0 && (host || word / 2 < NOCAP_AIE_ARGS_IN_FIRMWARE)), here,
               "an argument that firmware patches, 0 to 6, or 0xffff", "argument word %u%s", word,
               word % 2 != 0 ? ", which is odd" : ", which the host must patch");
}

/* ---- order ---- */

static bool before(const struct data *d, uint32_t a, uint32_t b)
{
    const struct lint_code *code = d->l->code;
    uint32_t ja = code->job_of[a], jb = code->job_of[b];
    return ja == jb ? a < b : d->order != NULL && lint_order_before(d->order, ja, a, jb, b);
}

/* Which chains transfer a part of the table of op `patch`. */
static void find_transfers(const struct data *d, uint32_t patch, bool *moved)
{
    const struct lint_code *code = d->l->code;
    uint32_t at = table_at(&code->ops[patch]), end = at + table_size(&code->ops[patch]);
    for (uint32_t c = 0; c < d->chain_count; c++) {
        moved[c] = false;
        for (uint32_t i = 0; i < d->chains[c].count && !moved[c]; i++) {
            struct nocap_aie_bd bd;
            uint32_t place = d->chains[c].first + i * NOCAP_AIE_BD_SIZE;
            nocap_aie_bd_decode(code->page->bytes + place, &bd);
            uint32_t from = place + bd.local;
            moved[c] = from < end && (uint64_t)from + (uint64_t)bd.length * 4 > at;
        }
    }
}

/* Place of the chain that an op starts; LINT_NONE: it starts none, or one that is nowhere. */
static uint32_t chain_by(const struct data *d, const struct lint_op *op)
{
    uint32_t first;
    if (!lint_chain_of(op, &first) || first >= NOCAP_AIE_PAGE_SIZE ||
        first % NOCAP_AIE_BD_SIZE != 0) {
        return LINT_NONE;
    }
    uint32_t chain = d->chain_at[first / NOCAP_AIE_BD_SIZE];
    return chain == 0 ? LINT_NONE : chain - 1;
}

/* Each table is patched before it is transferred. `patch`: the first op that patches it. */
static void judge_patch(struct data *d, uint32_t patch)
{
    struct lint *l = d->l;
    const struct lint_code *code = l->code;
    uint32_t table = table_at(&code->ops[patch]);
    bool moved[CHAINS_MAX];
    find_transfers(d, patch, moved);
    for (uint32_t i = 0; i < code->op_count; i++) {
        const struct lint_op *op = &code->ops[i];
        uint32_t chain = chain_by(d, op);
        if (is_patch(op) && table_at(op) == table) {
            LINT_CHECK(l, AIE_034, i == patch, LINT_HERE(l, op->off),
                       "one APPLY_OFFSET for each table",
                       "a second APPLY_OFFSET for the table at offset %u", table);
        } else if (chain != LINT_NONE && moved[chain]) {
            LINT_CHECK(l, AIE_033, before(d, patch, i), LINT_HERE(l, op->off),
                       "the table patched before it is transferred",
                       "table transferred, APPLY_OFFSET at offset %u is not known to come before",
                       code->ops[patch].off);
        }
    }
}

static void judge_patches(struct data *d)
{
    const struct lint_code *code = d->l->code;
    uint8_t seen[NOCAP_AIE_PAGE_SIZE] = {0};
    for (uint32_t i = 0; i < code->op_count; i++) {
        const struct lint_op *op = &code->ops[i];
        if (is_patch(op) && table_inside(d->l, op) && !seen[table_at(op)]) {
            seen[table_at(op)] = 1;
            judge_patch(d, i);
        }
    }
}

/* ---- what is written twice ---- */

static int by_start(const void *a, const void *b)
{
    const struct range *p = a, *q = b;
    return p->from != q->from ? (p->from < q->from ? -1 : 1)
                              : (p->chain > q->chain) - (p->chain < q->chain);
}

/* Whether two ops that start these chains may run at the same time. */
static bool concurrent(const struct data *d, const struct chain *a, const struct chain *b)
{
    const struct lint_code *code = d->l->code;
    return d->order != NULL && code->job_of[a->by] != code->job_of[b->by] &&
           !before(d, a->by, b->by) && !before(d, b->by, a->by);
}

/* Whether two transfers of one chain leave it open what their common place holds: they bring
 * different words, and it is no queue, which takes all of them. */
static bool is_conflict(const struct data *d, const struct range *a, const struct range *b)
{
    const uint8_t *bytes = d->l->code->page->bytes;
    uint64_t to = a->to < b->to ? a->to : b->to, skip = b->from - a->from;
    for (uint64_t i = 0; b->from + i < to; i += 4) {
        uint64_t pa = a->source + skip + i, pb = b->source + i;
        if (pa + 4 > NOCAP_AIE_PAGE_SIZE || pb + 4 > NOCAP_AIE_PAGE_SIZE) {
            return false;
        }
        if (!nocap_aie_is_task_queue(d->l->chip, (uint32_t)(b->from + i)) &&
            memcmp(bytes + pa, bytes + pb, 4) != 0) {
            return true;
        }
    }
    return false;
}

/* Whether an agent may see them in the wrong order. No document says whether descriptors of a chain
 * end in order; the code that assemblers of 2026 put in for saving relies on it. */
static bool is_race(const struct data *d, const struct range *a, const struct range *b)
{
    const struct chain *ca = &d->chains[a->chain], *cb = &d->chains[b->chain];
    bool open = ca == cb ? d->l->dialect != NOCAP_AIE_N26 : concurrent(d, ca, cb);
    return open && is_conflict(d, a, b);
}

static void judge_overlaps(struct data *d)
{
    struct lint *l = d->l;
    qsort(d->ranges, d->range_count, sizeof d->ranges[0], by_start);
    for (uint32_t i = 0; i < d->range_count; i++) {
        for (uint32_t k = i + 1; k < d->range_count && d->ranges[k].from < d->ranges[i].to; k++) {
            if (is_race(d, &d->ranges[i], &d->ranges[k])) {
                const struct chain *a = &d->chains[d->ranges[i].chain];
                const struct chain *b = &d->chains[d->ranges[k].chain];
                lint_say(l, AIE_031, NOCAP_WARNING, LINT_HERE(l, l->code->ops[b->by].off),
                         "transfers to different places, or of the same words",
                         "two transfers to 0x%llx, the other started at offset %u",
                         (unsigned long long)d->ranges[k].from, l->code->ops[a->by].off);
                return;
            }
        }
    }
    l->exercised[AIE_031] += d->range_count > 1;
}

void lint_data(struct lint *l)
{
    const struct lint_code *code = l->code;
    struct data *d = calloc(1, sizeof *d);
    if (d == NULL) {
        l->out_of_memory = true;
        return;
    }
    d->l = l;
    d->order = code->job_count > 1 ? lint_order_new(code) : NULL;
    for (uint32_t i = 0; i < code->op_count; i++) {
        add_chain(d, i);
        if (is_patch(&code->ops[i])) {
            judge_table(d, &code->ops[i]);
        }
    }
    for (uint32_t c = 0; c < d->chain_count; c++) {
        measure_chain(d, &d->chains[c]);
        mark_sources(d, &d->chains[c]);
    }
    for (uint32_t c = 0; c < d->chain_count; c++) {
        judge_end(d, &d->chains[c]);
    }
    for (uint32_t c = 0; c < d->chain_count; c++) {
        for (uint32_t i = 0; i < d->chains[c].count; i++) {
            judge_descriptor(d, &d->chains[c], d->chains[c].first + i * NOCAP_AIE_BD_SIZE);
        }
    }
    judge_patches(d);
    judge_overlaps(d);
    lint_order_free(d->order);
    free(d);
}
