/* SPDX-License-Identifier: Apache-2.0 */
/* What columns do together: remote barriers, tokens. The columns run against each other as far as
 * their barriers let them; since no job has branches, where they stop is where they hang. */
#include <stdio.h>
#include <stdlib.h>

#include "checker/aie/lint_private.h"

struct runner {
    const struct lint_record *job; /* its first op, id, whether deferred */
    size_t last, at;               /* in the list of sync: after the last */
    bool started, waiting;
};

/* The columns of one group. */
struct columns {
    struct lint *l;
    struct runner *runners;
    size_t count;
    size_t end[LINT_COLUMNS_MAX];                            /* of the runners of each column */
    size_t begin[LINT_COLUMNS_MAX], after[LINT_COLUMNS_MAX]; /* those of the page that it is at */
};

static const struct lint_record *op_of(const struct columns *c, const struct runner *r)
{
    return &c->l->sync.items[r->at];
}

static bool is_over(const struct runner *r)
{
    return r->at == r->last;
}

/* The next page of a column begins: jobs that start by themselves do so. */
static void begin_page(struct columns *c, uint32_t uc)
{
    size_t i = c->after[uc];
    c->begin[uc] = i;
    while (i < c->end[uc] && c->runners[i].job->page == c->runners[c->begin[uc]].job->page) {
        c->runners[i].started = c->runners[i].job->b == 0;
        i++;
    }
    c->after[uc] = i;
}

static void launch(struct columns *c, uint32_t uc, uint32_t id)
{
    for (size_t i = c->begin[uc]; i < c->after[uc]; i++) {
        if (c->runners[i].job->a == id) {
            c->runners[i].started = true;
        }
    }
}

/* How many jobs of the column's page are blocked at a local barrier; lets them go if they are
 * enough. */
static bool meet(struct columns *c, uint32_t uc, const struct lint_record *barrier)
{
    for (int pass = 0; pass < 2; pass++) {
        uint32_t arrived = 0;
        for (size_t i = c->begin[uc]; i < c->after[uc]; i++) {
            struct runner *r = &c->runners[i];
            if (r->waiting && op_of(c, r)->a == barrier->a && op_of(c, r)->b == barrier->b) {
                arrived++;
                r->waiting = pass == 0;
                r->at += pass == 1;
            }
        }
        if (arrived < barrier->c) {
            return false;
        }
    }
    return true;
}

/* Runs the jobs of the column's page up to their barriers; whether something moved. */
static bool run_page(struct columns *c, uint32_t uc)
{
    bool moved = false;
    for (size_t i = c->begin[uc]; i < c->after[uc]; i++) {
        struct runner *r = &c->runners[i];
        while (r->started && !r->waiting && !is_over(r)) {
            const struct lint_record *op = op_of(c, r);
            moved = true;
            if (op->a == NOCAP_AIE_LAUNCH_JOB) {
                launch(c, uc, op->b);
                r->at++;
                continue;
            }
            r->waiting = true;
            if (op->a == NOCAP_AIE_LOCAL_BARRIER) {
                meet(c, uc, op);
            }
        }
    }
    return moved;
}

/* The job of the column that is blocked at this remote barrier; NULL: none. */
static struct runner *blocked_at(const struct columns *c, uint32_t uc,
                                 const struct lint_record *barrier)
{
    for (size_t i = c->begin[uc]; i < c->after[uc]; i++) {
        struct runner *r = &c->runners[i];
        const struct lint_record *op = r->waiting ? op_of(c, r) : NULL;
        if (op != NULL && op->a == NOCAP_AIE_REMOTE_BARRIER && op->b == barrier->b &&
            op->c == barrier->c) {
            return r;
        }
    }
    return NULL;
}

static bool barrier_arrive(struct columns *c, const struct lint_record *barrier)
{
    struct runner *all[LINT_COLUMNS_MAX];
    for (uint32_t uc = 0; uc < LINT_COLUMNS_MAX; uc++) {
        all[uc] = (barrier->c & lint_bit(uc)) != 0 ? blocked_at(c, uc, barrier) : NULL;
        if ((barrier->c & lint_bit(uc)) != 0 && all[uc] == NULL) {
            return false;
        }
    }
    for (uint32_t uc = 0; uc < LINT_COLUMNS_MAX; uc++) {
        if (all[uc] != NULL) {
            all[uc]->waiting = false;
            all[uc]->at++;
        }
    }
    return true;
}

/* One step of a column; whether something moved. */
static bool step(struct columns *c, uint32_t uc)
{
    bool moved = run_page(c, uc), over = true;
    for (size_t i = c->begin[uc]; i < c->after[uc]; i++) {
        struct runner *r = &c->runners[i];
        if (r->waiting && op_of(c, r)->a == NOCAP_AIE_REMOTE_BARRIER) {
            moved |= barrier_arrive(c, op_of(c, r));
        }
        over &= is_over(r) || !r->started;
    }
    if (over && c->after[uc] < c->end[uc]) {
        begin_page(c, uc);
        moved = true;
    }
    return moved;
}

/* ---- telling who hangs ---- */

/* The job of a column that is blocked at a remote barrier; NULL: none. */
static const struct runner *blocked_in(const struct columns *c, uint32_t uc)
{
    for (size_t i = c->begin[uc]; i < c->after[uc]; i++) {
        const struct runner *r = &c->runners[i];
        if (r->waiting && op_of(c, r)->a == NOCAP_AIE_REMOTE_BARRIER) {
            return r;
        }
    }
    return NULL;
}

/* Where column `uc` comes to this barrier later; NULL: it does not. */
static const struct lint_record *later(const struct columns *c, uint32_t uc,
                                       const struct lint_record *barrier)
{
    for (size_t i = c->begin[uc]; i < c->end[uc]; i++) {
        const struct runner *r = &c->runners[i];
        for (size_t at = r->at; at < r->last; at++) {
            const struct lint_record *op = &c->l->sync.items[at];
            if (op->a == barrier->a && op->b == barrier->b && op->c == barrier->c) {
                return op;
            }
        }
    }
    return NULL;
}

/* The column that another one, which is blocked at a barrier, waits for: it is blocked elsewhere,
 * and comes there later. LINT_COLUMNS_MAX: none. */
static uint32_t awaited(const struct columns *c, const struct lint_record *mine)
{
    for (uint32_t uc = 0; uc < LINT_COLUMNS_MAX; uc++) {
        const struct runner *r =
            (mine->c & lint_bit(uc)) != 0 && uc != mine->uc ? blocked_in(c, uc) : NULL;
        if (r != NULL && op_of(c, r)->b != mine->b && later(c, uc, mine) != NULL) {
            return uc;
        }
    }
    return LINT_COLUMNS_MAX;
}

/* Who waits for whom from this column on, up to itself; whether that is a circle. */
static bool report_circle(struct columns *c, const struct lint_record *first)
{
    char text[LINT_TEXT_MAX] = "";
    size_t used = 0;
    uint32_t seen = 0;
    const struct lint_record *mine = first, *back = NULL;
    while ((seen & lint_bit(mine->uc)) == 0) {
        uint32_t uc = awaited(c, mine);
        seen |= lint_bit(mine->uc);
        if (uc == LINT_COLUMNS_MAX) {
            return false;
        }
        back = later(c, uc, mine);
        if (used < sizeof text) {
            used += (size_t)snprintf(
                text + used, sizeof text - used,
                "%s $rb%u (page %u, offset %u) and waits for column %u, which comes there at page "
                "%u, offset %u",
                mine == first ? "" : ", but is blocked at", mine->b - 1, mine->page, mine->off, uc,
                back->page, back->off);
        }
        mine = op_of(c, blocked_in(c, uc));
    }
    if (mine != first) {
        return false; /* the circle is reported from a column that is part of it */
    }
    enum nocap_rule rule = back->page != first->page ? AIE_047 : AIE_046;
    lint_say(c->l, rule, nocap_rules[rule].severity, LINT_REMARKED(first),
             "columns that meet at their barriers in the same order", "column %u is blocked at%s",
             first->uc, text);
    return true;
}

static void report_hang(struct columns *c)
{
    const struct runner *first = NULL;
    for (uint32_t uc = 0; uc < LINT_COLUMNS_MAX; uc++) {
        const struct runner *r = blocked_in(c, uc);
        first = first == NULL ? r : first;
        if (r != NULL && report_circle(c, op_of(c, r))) {
            return;
        }
    }
    if (first != NULL) {
        const struct lint_record *op = op_of(c, first);
        lint_say(c->l, AIE_046, NOCAP_ERROR, LINT_REMARKED(op),
                 "columns that meet at their barriers in the same order",
                 "column %u is blocked at $rb%u forever, since others wait for it elsewhere",
                 op->uc, op->b - 1);
    }
}

/* ---- setting up ---- */

/* Jobs of a group, with their part of the list of sync; both lists have the same order. */
static void fill(struct columns *c, uint32_t group)
{
    const struct lint *l = c->l;
    size_t at = 0;
    uint32_t page = LINT_NONE, uc = LINT_NONE;
    bool main = false;
    for (size_t i = 0; i < l->jobs.count; i++) {
        const struct lint_record *job = &l->jobs.items[i];
        if (job->group != group || job->uc >= LINT_COLUMNS_MAX) {
            continue;
        }
        if (job->page != page || job->uc != uc) {
            main = lint_in_main_chain(l, group, job->uc, job->page);
            page = job->page;
            uc = job->uc;
        }
        while (at < l->sync.count &&
               (lint_by_place(&l->sync.items[at], job) < 0 || l->sync.items[at].group != group)) {
            at++;
        }
        size_t last = at;
        while (last < l->sync.count && l->sync.items[last].group == group &&
               l->sync.items[last].uc == uc && l->sync.items[last].page == page &&
               l->sync.items[last].job == job->job) {
            last++;
        }
        if (main) {
            if (c->end[uc] == 0) {
                c->begin[uc] = c->after[uc] = c->count;
            }
            c->runners[c->count++] = (struct runner){.job = job, .last = last, .at = at};
            c->end[uc] = c->count;
        }
    }
}

static void run_group(struct lint *l, uint32_t group)
{
    struct columns c = {.l = l};
    c.runners = calloc(l->jobs.count + 1, sizeof *c.runners);
    if (c.runners == NULL) {
        l->out_of_memory = true;
        return;
    }
    fill(&c, group);
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t uc = 0; uc < LINT_COLUMNS_MAX; uc++) {
            moved |= c.end[uc] != 0 && step(&c, uc);
        }
    }
    l->exercised[AIE_046]++;
    l->exercised[AIE_047]++;
    report_hang(&c);
    free(c.runners);
}

void lint_remote(struct lint *l)
{
    bool remote = false;
    for (size_t i = 0; i < l->sync.count; i++) {
        remote |= lint_is_remote(&l->sync.items[i]);
    }
    if (!remote || l->broken_pages || l->bad_remote || !lint_parties(l) || l->broken_local) {
        return;
    }
    for (size_t i = 0; i < l->image->page_count; i++) {
        if (i == 0 || l->image->pages[i].group != l->image->pages[i - 1].group) {
            run_group(l, l->image->pages[i].group);
        }
    }
}
