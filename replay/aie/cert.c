/* SPDX-License-Identifier: Apache-2.0 */
/* AIE control code: what comes in, by kind. The rest is in cert_*.c, one subject a file.
 * Source: control code instruction set; AIE control code fact sheet, section 5, rules R62 to R66.
 */
#include <stdlib.h>

#include "replay/aie/aie.h"
#include "replay/aie/cert_private.h"

struct event_ref cert_now(const struct model *m, const struct cert_uc *uc)
{
    return (struct event_ref){
        .index = m->event->index, .t = m->event->t, .agent = (uint8_t)(NOCAP_BY_UC0 + uc->index)};
}

/* The array that the files are made for; without files what the document describes. */
static enum nocap_aie_chip find_array(const struct nocap_aie_image *const *code)
{
    enum nocap_aie_chip chip = code == NULL ? NOCAP_AIE2PS : NOCAP_AIE_CHIP_UNKNOWN;
    for (unsigned i = 0; code != NULL && i < NOCAP_UCS && chip == NOCAP_AIE_CHIP_UNKNOWN; i++) {
        chip = code[i] == NULL ? chip : code[i]->chip;
    }
    return chip;
}

static bool init(struct model *m, const struct nocap_engine_options *options)
{
    if (m->header->arch != NOCAP_ARCH_AIE2PS) {
        return true;
    }
    m->state[MODEL_AIE] = calloc(1, sizeof *cert_of(m));
    if (cert_of(m) != NULL) {
        cert_of(m)->code = options->control_code;
        cert_of(m)->array = find_array(options->control_code);
    }
    return cert_of(m) != NULL;
}

static void free_ucs(struct cert *c)
{
    for (unsigned i = 0; i < c->uc_end; i++) {
        struct cert_uc *uc = c->ucs[i];
        for (unsigned p = 0; uc != NULL && p < CERT_PAGES; p++) {
            cert_page_leave(&uc->pages[p]);
        }
        for (uint32_t p = 0; uc != NULL && p < uc->patched_count; p++) {
            free(uc->patched[p]);
        }
        free(uc != NULL ? uc->patched : NULL);
        free(uc);
        c->ucs[i] = NULL;
    }
}

static void release(struct model *m)
{
    if (cert_of(m) != NULL) {
        free_ucs(cert_of(m));
        free(cert_of(m));
    }
}

static void forget(struct model *m)
{
    if (cert_of(m) != NULL) {
        free_ucs(cert_of(m));
    }
}

static struct cert_uc *get_uc(struct model *m, unsigned index)
{
    struct cert *c = cert_of(m);
    if (c->ucs[index] == NULL) {
        struct cert_uc *uc = c->ucs[index] = calloc(1, sizeof *uc);
        if (uc == NULL) {
            m->out_of_memory = true;
            return NULL;
        }
        uc->index = (uint8_t)index;
        c->uc_end = index >= c->uc_end ? index + 1 : c->uc_end;
        uc->fresh = uc->next_handle.known = m->header->complete == NOCAP_TRUE && !m->dropped;
        uc->session = 1;
    }
    return c->ucs[index];
}

/* Something happened that shows that the columns are alive. */
static void note_activity(struct model *m, const struct nocap_event *e)
{
    struct cert *c = cert_of(m);
    if (c->active && e->t > c->activity && e->t - c->activity > c->longest) {
        c->longest = e->t - c->activity;
    }
    c->active = true;
    c->activity = e->t;
    c->activity_index = e->index;
}

static void control_event(struct model *m, const struct nocap_event *e)
{
    struct cert_uc *uc = get_uc(m, e->uc);
    if (uc == NULL) {
        return;
    }
    uc->at_work = e->op != NOCAP_OP_EOF;
    switch (e->op) {
    case NOCAP_OP_START: cert_step_start(m, uc, e); break;
    case NOCAP_OP_END:
    case NOCAP_OP_BLOCK:
    case NOCAP_OP_UNBLOCK: cert_step_event(m, uc, e); break;
    case NOCAP_OP_JOB_END: cert_job_end(m, uc, e); break;
    case NOCAP_OP_PAGE_LOAD: cert_page_load(m, uc, e); break;
    case NOCAP_OP_EOF: cert_page_eof(m, uc, e); break;
    case NOCAP_OP_TCT: cert_token(uc, e); break;
    case NOCAP_OP_DMA_DONE: cert_dma_done(m, uc, e); break;
    default: break;
    }
    note_activity(m, e);
}

/* An access by a uC; cert_insn.c judges it. */
static void access_event(struct model *m, const struct nocap_event *e, const struct access *a)
{
    struct cert_uc *uc = e->by >= NOCAP_BY_UC0 ? get_uc(m, e->by - NOCAP_BY_UC0) : NULL;
    if (uc == NULL || e->space != NOCAP_SPACE_AIE) {
        return;
    }
    if (a->store) {
        cert_tasks_note(cert_of(m), a);
    }
    if (cert_access(m, uc, a)) {
        note_activity(m, e);
    }
}

static void check(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    struct cert *c = cert_of(m);
    bool control = o->kind == OBS_CONTROL;
    if (!c->any && (control || e->space == NOCAP_SPACE_AIE)) {
        c->any = true;
        c->chip = e->chip;
    }
    if (e->chip != c->chip) {
        return;
    }
    if (control) {
        control_event(m, e);
    } else {
        access_event(m, e, &o->access);
    }
}

static void finish(struct model *m, bool cut)
{
    struct cert *c = cert_of(m);
    for (unsigned i = 0; c != NULL && !cut && i < c->uc_end; i++) {
        if (c->ucs[i] != NULL) {
            cert_late_report(m, c->ucs[i]);
        }
    }
    if (c != NULL && !cut && c->active) {
        cert_judge_end(m);
    }
}

static uint32_t wants(const struct model *m)
{
    return cert_of(m) != NULL ? OBS(ELSEWHERE) | OBS(CONTROL) : 0;
}

const struct model_ops aie_model = {
    .name = "aie",
    .id = MODEL_AIE,
    .first_rule = AIE_001,
    .last_rule = AIE_070,
    .wants = wants,
    .init = init,
    .free = release,
    .check = check,
    .forget = forget,
    .finish = finish,
    .waits = cert_report_waits,
};
