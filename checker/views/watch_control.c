/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "checker/views/watch.h"
#include "formats/aie/isa.h"

static struct watch_column *column_of(struct watch *w, const struct nocap_event *e)
{
    struct watch_column **c = e->uc < WATCH_COLUMNS ? &w->columns[e->uc] : NULL;
    if (c != NULL && *c == NULL && (*c = calloc(1, sizeof **c)) == NULL) {
        w->out_of_memory = true;
    }
    if (c == NULL || *c == NULL) {
        return NULL;
    }
    struct nocap_track made = {.kind = NOCAP_TRACK_GROUP, .chip = e->chip};
    snprintf(made.name, sizeof made.name, "column uc%u", e->uc);
    watch_track(w, &(*c)->group, &made);
    return *c;
}

static uint32_t job_track(struct watch *w, struct watch_column *c, const struct nocap_event *e)
{
    struct nocap_track made = {
        .kind = NOCAP_TRACK_SLICES, .role = NOCAP_ROLE_KERNEL, .parent = c->group};
    bool of_job = (e->has & NOCAP_F_JOB) != 0 && e->job < WATCH_JOBS;
    if (of_job) {
        snprintf(made.name, sizeof made.name, "job %u", (unsigned)e->job);
    } else {
        snprintf(made.name, sizeof made.name, "pages");
    }
    return watch_track(w, of_job ? &c->jobs[e->job] : &c->pages, &made);
}

/* Dialects differ in few opcodes; of those the latest that has it names it. */
static const char *mnemonic(const struct nocap_event *e)
{
    const struct nocap_aie_insn_info *info = NULL;
    for (unsigned d = NOCAP_AIE_DIALECT_COUNT; d-- > 0 && info == NULL && e->data_size != 0;) {
        info = nocap_aie_insn_info((enum nocap_aie_dialect)d, e->data[0]);
    }
    return info != NULL ? info->mnemonic : "instruction";
}

static void begin(struct watch *w, uint32_t track, const struct nocap_event *e, const char *name)
{
    struct nocap_mark mark = watch_mark(name, e);
    if ((e->has & NOCAP_F_PAGE) != 0) {
        watch_add(&mark, "page", e->page);
        watch_add(&mark, "off", e->off);
    }
    nocap_timeline_begin(w->tl, track, e->t, &mark);
}

/* A job is a straight line: the next instruction shows the end of the one before. */
static void end_all(struct watch *w, uint32_t track, uint64_t t)
{
    while (nocap_timeline_is_open(w->tl, track)) {
        nocap_timeline_end(w->tl, track, t);
    }
}

void watch_control(struct watch *w, const struct nocap_event *e)
{
    struct watch_column *c = column_of(w, e);
    uint32_t track = c != NULL ? job_track(w, c, e) : 0;
    char name[32];
    if (track == 0) {
        return;
    }
    switch (e->op) {
    case NOCAP_OP_START:
        end_all(w, track, e->t);
        begin(w, track, e, mnemonic(e));
        break;
    case NOCAP_OP_BLOCK:
        snprintf(name, sizeof name, "blocked: %s", nocap_field_value_name(NOCAP_FIELD_WHY, e->why));
        begin(w, track, e, name);
        break;
    case NOCAP_OP_END:
    case NOCAP_OP_UNBLOCK: nocap_timeline_end(w->tl, track, e->t); break;
    case NOCAP_OP_JOB_END: end_all(w, track, e->t); break;
    default: {
        struct nocap_mark mark = watch_mark(nocap_op_name(e->op), e);
        nocap_timeline_instant(w->tl, track, e->t, &mark);
        break;
    }
    }
}
