/* SPDX-License-Identifier: Apache-2.0 */
/* Who takes part in remote barriers: masks and jobs. */
#include <stdio.h>
#include <stdlib.h>

#include "checker/aie/lint_private.h"

int lint_order(const uint32_t (*keys)[2], size_t count)
{
    size_t i = 0;
    while (i + 1 < count && keys[i][0] == keys[i][1]) {
        i++;
    }
    return (keys[i][0] > keys[i][1]) - (keys[i][0] < keys[i][1]);
}

/* By barrier, mask, column, then place. */
static int by_barrier(const void *a, const void *b)
{
    const struct lint_record *p = a, *q = b;
    const uint32_t keys[][2] = {{p->group, q->group}, {p->b, q->b},       {p->c, q->c},
                                {p->uc, q->uc},       {p->page, q->page}, {p->off, q->off}};
    return lint_order(keys, sizeof keys / sizeof keys[0]);
}

/* The first of all uses whose mask cannot be; NULL: none. */
static const struct lint_record *impossible_mask(const struct lint_record *uses, size_t count,
                                                 uint32_t present)
{
    for (size_t i = 0; i < count; i++) {
        if ((uses[i].c & lint_bit(uses[i].uc)) == 0 || (uses[i].c & ~present) != 0) {
            return &uses[i];
        }
    }
    return NULL;
}

/* Whether all columns of the mask take part in this run of uses with one mask, equally often. */
static bool is_complete(const struct lint_record *uses, size_t count)
{
    size_t times[LINT_COLUMNS_MAX] = {0};
    for (size_t i = 0; i < count; i++) {
        times[uses[i].uc]++;
    }
    for (uint32_t uc = 0; uc < LINT_COLUMNS_MAX; uc++) {
        if ((uses[0].c & lint_bit(uc)) != 0 && times[uc] != times[uses[0].uc]) {
            return false;
        }
    }
    return true;
}

/* A use that does not fit the others: its mask is not the set of columns that use the barrier, or
 * else the first of those that are not complete; NULL: all fit. */
static const struct lint_record *odd_use(const struct lint_record *uses, size_t count)
{
    const struct lint_record *incomplete = NULL;
    uint32_t users = 0;
    for (size_t i = 0; i < count; i++) {
        users |= lint_bit(uses[i].uc);
    }
    for (size_t i = 0; i < count;) {
        size_t run = 1;
        while (i + run < count && uses[i + run].c == uses[i].c) {
            run++;
        }
        if (incomplete == NULL && !is_complete(&uses[i], run)) {
            incomplete = &uses[i];
        }
        i += run;
    }
    for (size_t i = 0; i < count && incomplete != NULL; i++) {
        if (uses[i].c != users) {
            return &uses[i];
        }
    }
    return incomplete;
}

int lint_by_place(const void *a, const void *b)
{
    const struct lint_record *p = a, *q = b;
    const uint32_t keys[][2] = {{p->uc, q->uc}, {p->page, q->page}, {p->off, q->off}};
    return lint_order(keys, sizeof keys / sizeof keys[0]);
}

static bool judge_users(struct lint *l, struct lint_record *uses, size_t count)
{
    bool hold = true;
    qsort(uses, count, sizeof *uses, lint_by_place);
    for (size_t i = 1; i < count; i++) {
        bool second = uses[i].uc == uses[i - 1].uc && uses[i].page == uses[i - 1].page &&
                      uses[i].job != uses[i - 1].job;
        if (second && hold) {
            lint_say(l, AIE_045, NOCAP_ERROR, LINT_REMARKED(&uses[i]), "one job of the column",
                     "a second job uses $rb%u, besides that at offset %u", uses[i].b - 1,
                     uses[i - 1].off);
            hold = false;
        }
    }
    l->exercised[AIE_045]++;
    return hold;
}

/* What is wrong about a use. */
static void describe(char *text, size_t size, const struct lint_record *use,
                     const struct lint_record *uses, size_t count, uint32_t present)
{
    uint32_t times[LINT_COLUMNS_MAX] = {0};
    for (size_t i = 0; i < count; i++) {
        times[uses[i].uc] += uses[i].c == use->c;
    }
    if ((use->c & lint_bit(use->uc)) == 0) {
        snprintf(text, size, "which leaves this column out");
        return;
    }
    for (uint32_t uc = 0; uc < LINT_COLUMNS_MAX; uc++) {
        if ((use->c & ~present & lint_bit(uc)) != 0) {
            snprintf(text, size, "and column %u has no code", uc);
            return;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (uses[i].uc != use->uc && uses[i].c != use->c) {
            snprintf(text, size, "but 0x%x in column %u (page %u, offset %u)", uses[i].c,
                     uses[i].uc, uses[i].page, uses[i].off);
            return;
        }
    }
    for (uint32_t uc = 0; uc < LINT_COLUMNS_MAX; uc++) {
        if ((use->c & lint_bit(uc)) != 0 && times[uc] != times[use->uc]) {
            snprintf(text, size, "to which it comes %u times, and column %u %u times",
                     times[use->uc], uc, times[uc]);
            return;
        }
    }
    snprintf(text, size, "which itself has another mask there");
}

/* All uses of one barrier. */
static bool judge_barrier(struct lint *l, struct lint_record *uses, size_t count, uint32_t present)
{
    const struct lint_record *wrong = impossible_mask(uses, count, present);
    if (wrong == NULL) {
        wrong = odd_use(uses, count);
    }
    if (wrong != NULL) {
        const struct lint_record at = *wrong;
        char what[128];
        describe(what, sizeof what, &at, uses, count, present);
        if (!judge_users(l, uses, count)) {
            return false;
        }
        return LINT_CHECK(l, AIE_044, false, LINT_REMARKED(&at),
                          "the mask of the columns that use it, this one among them, equally "
                          "often",
                          "$rb%u with mask 0x%x in column %u, %s", at.b - 1, at.c, at.uc, what);
    }
    l->exercised[AIE_044]++;
    return judge_users(l, uses, count);
}

static uint32_t columns_of(const struct lint *l, uint32_t group)
{
    uint32_t present = 0;
    for (size_t i = 0; i < l->image->page_count; i++) {
        const struct nocap_aie_page *page = &l->image->pages[i];
        present |= page->group == group && page->uc < LINT_COLUMNS_MAX ? lint_bit(page->uc) : 0;
    }
    return present;
}

bool lint_parties(struct lint *l)
{
    struct lint_record *uses = malloc((l->sync.count + 1) * sizeof *uses);
    size_t count = 0;
    bool hold = true;
    if (uses == NULL) {
        l->out_of_memory = true;
        return false;
    }
    for (size_t i = 0; i < l->sync.count; i++) {
        if (lint_is_remote(&l->sync.items[i])) {
            uses[count++] = l->sync.items[i];
        }
    }
    qsort(uses, count, sizeof *uses, by_barrier);
    for (size_t i = 0; i < count;) {
        size_t run = 1;
        while (i + run < count && uses[i + run].b == uses[i].b &&
               uses[i + run].group == uses[i].group) {
            run++;
        }
        hold &= judge_barrier(l, &uses[i], run, columns_of(l, uses[i].group));
        i += run;
    }
    free(uses);
    return hold;
}
