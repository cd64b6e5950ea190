/* SPDX-License-Identifier: Apache-2.0 */
/* How pages follow each other, and where they go to: PREEMPT, LOAD_PDI, LOAD_CORES. */
#include <stdlib.h>

#include "checker/aie/lint_private.h"

enum {
    ID_RESERVED = -1,
    BRANCHES_MAX = 2,
    LOADS_MAX = 32640, /* as many as pages: each load has one of its own */
};

static bool same_column(const struct nocap_aie_page *a, const struct nocap_aie_page *b)
{
    return a->group == b->group && a->uc == b->uc;
}

static uint32_t page_length(const struct nocap_aie_page *page)
{
    return nocap_aie_head(page, NOCAP_AIE_HEAD_LENGTH);
}

static uint32_t next_length(const struct nocap_aie_page *page)
{
    return nocap_aie_head(page, NOCAP_AIE_HEAD_NEXT);
}

/* What the chains of one column look like. */
struct column {
    const struct nocap_aie_page *pages;
    uint32_t count;  /* pages */
    uint32_t *chain; /* by page: which one it belongs to */
    bool *target;    /* pages that some instruction goes to */
    bool bad_chain;  /* where chains begin is not certain */
    bool *restore;   /* pages of restore code */
};

static bool begins_chain(const struct column *c, uint32_t page)
{
    return page == 0 || next_length(&c->pages[page - 1]) == 0;
}

static struct lint_place place_of(const struct nocap_aie_page *page, uint32_t off)
{
    return LINT_AT(page, off);
}

/* ---- what instructions say ---- */

static bool is_load(uint8_t opcode)
{
    return opcode == NOCAP_AIE_LOAD_PDI || opcode == NOCAP_AIE_LOAD_CORES ||
           opcode == NOCAP_AIE_PREEMPT;
}

/* The numbers of the pages that an instruction goes to. */
static unsigned branches_of(const struct nocap_aie_insn *insn, uint32_t pages[BRANCHES_MAX])
{
    unsigned count = 0;
    for (unsigned f = 0; f < nocap_aie_field_count(insn->info); f++) {
        if (insn->info->fields[f].kind == NOCAP_AIE_PAGE && count < BRANCHES_MAX) {
            pages[count++] = insn->value[f];
        }
    }
    return count;
}

static void mark_restore(struct column *c, uint32_t page)
{
    for (; page < c->count && !c->restore[page]; page++) {
        c->restore[page] = true;
        if (next_length(&c->pages[page]) == 0) {
            break;
        }
    }
}

/* Remembers what the column's code goes to, and its loads. */
static void gather(struct lint *l, struct column *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        struct nocap_aie_walker w;
        nocap_aie_walk_begin(&w, &c->pages[i], l->dialect);
        while (nocap_aie_walk_next(&w) == NOCAP_AIE_WALK_INSN) {
            uint32_t to[BRANCHES_MAX] = {0};
            unsigned count = branches_of(&w.insn, to);
            for (unsigned b = 0; b < count; b++) {
                if (to[b] < c->count) {
                    c->target[to[b]] = true;
                }
            }
            if (w.insn.info->opcode == NOCAP_AIE_PREEMPT) {
                mark_restore(c, to[1]);
            }
            if (is_load(w.insn.info->opcode) && l->loads.count < LOADS_MAX) {
                const struct lint_record r = {.group = c->pages[i].group,
                                              .uc = c->pages[i].uc,
                                              .page = i,
                                              .off = w.at,
                                              .a = w.insn.info->opcode,
                                              .b = w.insn.value[0],
                                              .c = to[0]};
                lint_record(l, &l->loads, &r);
            }
        }
    }
}

/* ---- 050, 051 ---- */

/* What the header says of its own page may be so: else that is AIE-049. */
static bool is_possible(const struct nocap_aie_page *page)
{
    uint32_t at = page_length(page);
    if (at % 4 != 0 || at > NOCAP_AIE_PAGE_SIZE || at <= NOCAP_AIE_HEADER_SIZE) {
        return false;
    }
    while (at < NOCAP_AIE_PAGE_SIZE && page->bytes[at] == 0) {
        at++;
    }
    return at == NOCAP_AIE_PAGE_SIZE;
}

/* `last`: judges the pages that say that they are the last ones, else the others. */
static void judge_next(struct lint *l, struct column *c, uint32_t i, bool last)
{
    const struct nocap_aie_page *page = &c->pages[i], *next = i + 1 < c->count ? page + 1 : NULL;
    struct lint_place here = place_of(page, NOCAP_AIE_HEAD_NEXT);
    uint32_t said = next_length(page);
    char expected[64];
    bool holds;
    if ((said == 0 && next != NULL) != last) {
        return;
    }
    if (next == NULL) {
        snprintf(expected, sizeof expected, "0, since no page follows");
        holds = said == 0;
    } else if (said == 0) {
        snprintf(expected, sizeof expected, "%u, since nothing else leads to page %u",
                 page_length(next), next->index);
        holds = c->target[i + 1];
    } else {
        snprintf(expected, sizeof expected, "%u, the length of page %u", page_length(next),
                 next->index);
        holds = said == page_length(next) || !is_possible(next);
    }
    if (!LINT_CHECK(l, AIE_050, holds, here, expected,
                    "length of the next page %u in the header, not %s", said, expected)) {
        c->bad_chain = true;
    }
}

static bool judge_target(struct lint *l, const struct column *c, struct lint_place here,
                         uint32_t to)
{
    bool holds = to < c->count && begins_chain(c, to) && c->chain[to] != c->chain[here.page];
    return LINT_CHECK(l, AIE_051, holds, here, "the first page of other code of this column",
                      "load of page %u%s", to,
                      to >= c->count         ? ", which this column does not have"
                      : !begins_chain(c, to) ? ", which another page runs into"
                                             : ", which this code begins with");
}

/* ---- 052, 053, 055, 057, 058 ---- */

/* What a page holds besides a load. */
struct shape {
    uint32_t jobs, loads, ops_with_load; /* ops of the job that loads, START_JOB and END_JOB not */
    uint32_t crowded;                    /* jobs with a load and something else */
    uint32_t before, after; /* local barriers of jobs before the first load, and after it; bits */
    struct lint_place load; /* of the first */
    uint8_t opcode;
    uint32_t to[BRANCHES_MAX];
    unsigned branches;
    bool bad_target;
};

static void look_at_page(struct lint *l, const struct column *c, uint32_t i, struct shape *shape)
{
    struct nocap_aie_walker w;
    uint32_t ops = 0;
    uint32_t barriers = 0;
    bool loads = false;
    *shape = (struct shape){0};
    nocap_aie_walk_begin(&w, &c->pages[i], l->dialect);
    while (nocap_aie_walk_next(&w) == NOCAP_AIE_WALK_INSN) {
        uint8_t opcode = w.insn.info->opcode;
        if (nocap_aie_starts_job(opcode)) {
            shape->jobs++;
            ops = 0;
            barriers = 0;
            loads = false;
        } else if (opcode == NOCAP_AIE_END_JOB) {
            shape->ops_with_load = loads ? ops : shape->ops_with_load;
            shape->crowded += loads && ops != 1;
            *(shape->loads == 0 ? &shape->before : &shape->after) |= barriers;
        } else {
            ops++;
        }
        if (opcode == NOCAP_AIE_LOCAL_BARRIER) {
            uint32_t id = w.insn.value[NOCAP_AIE_LOCAL_BARRIER_local_barrier_id];
            barriers |= id < NOCAP_AIE_LOCAL_BARRIERS ? UINT32_C(1) << id : 0;
        }
        if (opcode == NOCAP_AIE_LOAD_LAST_PDI) {
            LINT_CHECK(l, AIE_057, c->restore[i], place_of(&c->pages[i], w.at),
                       "LOAD_LAST_PDI in restore code only",
                       "LOAD_LAST_PDI in page %u, to which no PREEMPT goes", i);
        }
        if (is_load(opcode)) {
            loads = true;
            if (shape->loads++ == 0) {
                shape->load = place_of(&c->pages[i], w.at);
                shape->opcode = opcode;
                shape->branches = branches_of(&w.insn, shape->to);
            }
        }
    }
}

static void judge_shape(struct lint *l, const struct shape *shape)
{
    bool seed = l->dialect == NOCAP_AIE_SEED;
    bool later = l->dialect == NOCAP_AIE_N26; /* several may share a page there */
    bool job = later ? shape->crowded == 0 : shape->loads == 1 && shape->ops_with_load == 1;
    if (!nocap_aie_is_early(l->dialect)) { /* which does not say so yet */
        LINT_CHECK(l, AIE_052, job && (shape->jobs == 1 || !seed), shape->load,
                   seed ? "a job, and a page, with nothing else" : "a job with nothing else",
                   "load with %u other instructions in its job, %u other jobs in its page",
                   shape->ops_with_load - (shape->ops_with_load != 0), shape->jobs - 1);
    }
    if (l->dialect == NOCAP_AIE_N26 && shape->opcode == NOCAP_AIE_PREEMPT) {
        uint32_t both = shape->before & shape->after;
        LINT_CHECK(l, AIE_058, both == 0, shape->load, "jobs before it that meet none after it",
                   "jobs before and after PREEMPT meet at $lb%d",
                   both == 0 ? 0 : __builtin_ctz(both));
    }
}

static void judge_lengths(struct lint *l, const struct column *c, uint32_t i,
                          const struct shape *shape)
{
    static const uint32_t words[BRANCHES_MAX] = {NOCAP_AIE_HEAD_BRANCH, NOCAP_AIE_HEAD_RESTORE};
    if (l->dialect == NOCAP_AIE_N26 || shape->loads > 1 || shape->bad_target) {
        return;
    }
    for (unsigned b = 0; b < BRANCHES_MAX; b++) {
        uint32_t want = b < shape->branches ? page_length(&c->pages[shape->to[b]]) : 0;
        uint32_t said = nocap_aie_head(&c->pages[i], words[b]);
        char expected[64];
        if (b == 1 && shape->branches == 2 && shape->to[0] == shape->to[1]) {
            want = said == 0 ? 0 : want; /* the same code twice is reported once */
        }
        snprintf(expected, sizeof expected,
                 b < shape->branches ? "%u, the length of page %u" : "%u", want, shape->to[b]);
        LINT_CHECK(l, AIE_053, said == want, place_of(&c->pages[i], words[b]), expected,
                   "length of a loaded page %u in the header, not %s", said, expected);
    }
}

static void judge_column(struct lint *l, struct column *c)
{
    bool lengths = true, targets = true;
    gather(l, c);
    for (uint32_t i = 0; i < c->count; i++) {
        judge_next(l, c, i, false);
        lengths &=
            page_length(&c->pages[i]) % 4 == 0 && page_length(&c->pages[i]) <= NOCAP_AIE_PAGE_SIZE;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        struct shape shape;
        look_at_page(l, c, i, &shape);
        for (unsigned b = 0; b < shape.branches && !c->bad_chain; b++) {
            shape.bad_target |= !judge_target(l, c, shape.load, shape.to[b]);
        }
        for (unsigned b = 0; b < shape.branches; b++) {
            shape.bad_target |= shape.to[b] >= c->count;
        }
        targets &= !shape.bad_target;
        if (shape.loads != 0) {
            judge_shape(l, &shape);
        }
        if (lengths && !c->bad_chain) {
            judge_lengths(l, c, i, &shape);
        }
    }
    for (uint32_t i = 0; i < c->count && targets; i++) {
        judge_next(l, c, i, true); /* what nothing leads to may be what a wrong operand meant */
    }
}

/* ---- 054, 055, 056: what all columns load ---- */

static void judge_ids(struct lint *l)
{
    const struct lint_records *loads = &l->loads;
    for (size_t i = 0; i < loads->count; i++) {
        const struct lint_record *r = &loads->items[i];
        struct lint_place here = LINT_REMARKED(r);
        /* what loads something with a number of its own */
        if (r->a != NOCAP_AIE_LOAD_PDI && r->a != NOCAP_AIE_LOAD_CORES) {
            continue;
        }
        LINT_CHECK(l, AIE_055, r->b != (uint32_t)ID_RESERVED, here, "an id below 0xffffffff",
                   "reserved id 0x%x", r->b);
        for (size_t k = 0; k < i; k++) {
            const struct lint_record *q = &loads->items[k];
            bool same = q->uc == r->uc && q->group == r->group && q->a == r->a;
            if (same && (q->b == r->b) != (q->c == r->c)) {
                lint_say(l, AIE_056, NOCAP_WARNING, here, "one id for each piece of code",
                         "id %u for page %u, and at page %u, offset %u id %u for page %u", r->b,
                         r->c, q->page, q->off, q->b, q->c);
                break;
            }
        }
        l->exercised[AIE_056]++;
    }
}

/* The n-th load of this kind in a column; NULL: there are fewer. */
static const struct lint_record *nth_load(const struct lint *l, uint32_t group, uint32_t uc,
                                          uint32_t opcode, uint32_t n)
{
    for (size_t i = 0; i < l->loads.count; i++) {
        const struct lint_record *r = &l->loads.items[i];
        if (r->group == group && r->uc == uc && r->a == opcode && n-- == 0) {
            return r;
        }
    }
    return NULL;
}

/* Compares the loads of one kind of two columns; false if they differ. */
static bool judge_pair(struct lint *l, const struct nocap_aie_page *a,
                       const struct nocap_aie_page *b, uint32_t opcode, bool ids)
{
    for (uint32_t n = 0;; n++) {
        const struct lint_record *p = nth_load(l, a->group, a->uc, opcode, n);
        const struct lint_record *q = nth_load(l, b->group, b->uc, opcode, n);
        if (p == NULL && q == NULL) {
            return true;
        }
        if (p == NULL || q == NULL || (ids && p->b != q->b)) {
            const struct lint_record *at = q != NULL ? q : p;
            const char *name = nocap_aie_insn_info(l->dialect, (uint8_t)opcode)->mnemonic;
            lint_say(l, AIE_054, NOCAP_ERROR, LINT_REMARKED(at), "the same on all columns",
                     "%s number %u differs between columns %u and %u", name, n, a->uc, b->uc);
            return false;
        }
    }
}

static void judge_columns(struct lint *l)
{
    const struct nocap_aie_image *image = l->image;
    bool hold = true, pdi = false;
    for (size_t i = 1; i < image->page_count; i++) {
        const struct nocap_aie_page *page = &image->pages[i];
        if (same_column(page, page - 1) || page->group != page[-1].group) {
            continue;
        }
        l->exercised[AIE_054]++;
        hold = hold && judge_pair(l, page - 1, page, NOCAP_AIE_PREEMPT, true);
        if (l->dialect == NOCAP_AIE_N26) {
            hold = hold && judge_pair(l, page - 1, page, NOCAP_AIE_LOAD_PDI, false) &&
                   judge_pair(l, page - 1, page, NOCAP_AIE_LOAD_CORES, false);
        }
    }
    for (size_t i = 0; i < l->loads.count; i++) {
        pdi |= l->loads.items[i].a == NOCAP_AIE_LOAD_PDI;
    }
    uint32_t n = 0;
    for (size_t i = 0; i < l->loads.count && hold; i++) {
        const struct lint_record *r = &l->loads.items[i];
        bool first = i == 0 || r->uc != r[-1].uc || r->group != r[-1].group;
        n = first ? 0 : n;
        if (r->a != NOCAP_AIE_PREEMPT || l->dialect == NOCAP_AIE_N26) {
            continue;
        }
        struct lint_place here = LINT_REMARKED(r);
        hold = LINT_CHECK(l, AIE_055, pdi, here, "a LOAD_PDI somewhere in the file",
                          "PREEMPT in a file without LOAD_PDI") &&
               LINT_CHECK(l, AIE_055, r->b == n, here, "ids that count up from 0",
                          "id %u at the %u%s PREEMPT of the column", r->b, n + 1,
                          n == 0   ? "st"
                          : n == 1 ? "nd"
                          : n == 2 ? "rd"
                                   : "th");
        n++;
    }
}

/* ---- all columns ---- */

static void judge_density(struct lint *l, const struct column *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->pages[i].index != i) {
            lint_say(l, AIE_048, NOCAP_ERROR,
                     (struct lint_place){c->pages[i].group, c->pages[i].uc, i, NOCAP_LINT_NOWHERE},
                     "pages numbered from 0 without a gap", "no page %u", i);
            return;
        }
    }
}

void lint_chains(struct lint *l)
{
    const struct nocap_aie_image *image = l->image;
    for (size_t first = 0; first < image->page_count;) {
        struct column c = {.pages = &image->pages[first]};
        while (first + c.count < image->page_count && same_column(&c.pages[c.count], &c.pages[0])) {
            c.count++;
        }
        first += c.count;
        c.target = calloc((size_t)c.count * 2, sizeof *c.target);
        c.chain = calloc(c.count, sizeof *c.chain);
        if (c.target == NULL || c.chain == NULL) {
            free(c.target);
            free(c.chain);
            l->out_of_memory = true;
            return;
        }
        c.restore = c.target + c.count;
        for (uint32_t i = 1; i < c.count; i++) {
            c.chain[i] = c.chain[i - 1] + begins_chain(&c, i);
        }
        bool dense = c.pages[c.count - 1].index == c.count - 1;
        judge_density(l, &c);
        if (dense && !l->broken_pages) {
            judge_column(l, &c);
        }
        free(c.target);
        free(c.chain);
    }
    if (!l->broken_pages) {
        judge_ids(l);
        judge_columns(l);
    }
}
