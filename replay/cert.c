/* AIE control code: what comes in, by kind. The rest stands in cert_*.c, one subject a file.
 * Source: control code instruction set; AIE control code fact sheet, section 5, rules R62 to R66.
 */
#include <stdlib.h>

#include "replay/cert_private.h"
#include "replay/engine_private.h"

struct moment cert_now(const struct model *m, const struct cert_uc *uc)
{
    return (struct moment){
        .index = m->event->index, .t = m->event->t, .agent = (uint8_t)(NOCAP_BY_UC0 + uc->index)};
}

bool cert_init(struct model *m, const struct nocap_aie_image *const *code)
{
    if (m->header->arch != NOCAP_ARCH_AIE2PS) {
        return true;
    }
    m->cert = calloc(1, sizeof *m->cert);
    if (m->cert != NULL) {
        m->cert->code = code;
    }
    return m->cert != NULL;
}

static void free_ucs(struct cert *c)
{
    for (unsigned i = 0; i < CERT_UCS; i++) {
        struct cert_uc *uc = c->ucs[i];
        for (unsigned p = 0; uc != NULL && p < CERT_PAGES; p++) {
            cert_page_leave(&uc->pages[p]);
        }
        for (uint32_t p = 0; uc != NULL && p < uc->patched_count; p++) {
            free(uc->patched[p]);
        }
        if (uc != NULL) {
            free(uc->patched);
        }
        free(uc);
        c->ucs[i] = NULL;
    }
}

void cert_free(struct model *m)
{
    if (m->cert != NULL) {
        free_ucs(m->cert);
        free(m->cert);
    }
}

void cert_forget(struct model *m)
{
    if (m->cert != NULL) {
        free_ucs(m->cert);
        m->cert->lost = true;
    }
}

static struct cert_uc *get_uc(struct model *m, unsigned index)
{
    struct cert *c = m->cert;
    if (index >= CERT_UCS) {
        return NULL;
    }
    if (c->ucs[index] == NULL) {
        struct cert_uc *uc = c->ucs[index] = calloc(1, sizeof *uc);
        if (uc == NULL) {
            m->out_of_memory = true;
            return NULL;
        }
        uc->index = (uint8_t)index;
        c->uc_end = index >= c->uc_end ? index + 1 : c->uc_end;
        uc->fresh = uc->handle_known = m->header->complete == NOCAP_TRUE && !c->lost;
        uc->session = 1;
    }
    return c->ucs[index];
}

/* Something happened that shows that the columns are alive. */
static void note_activity(struct model *m, const struct nocap_event *e)
{
    struct cert *c = m->cert;
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
    switch (e->op) {
    case NOCAP_OP_START: cert_step_start(m, uc, e); break;
    case NOCAP_OP_END: cert_step_end(m, uc, e); break;
    case NOCAP_OP_BLOCK: cert_step_block(m, uc, e); break;
    case NOCAP_OP_UNBLOCK: cert_step_unblock(m, uc, e); break;
    case NOCAP_OP_JOB_END: cert_job_end(m, uc, e); break;
    case NOCAP_OP_PAGE_LOAD: cert_page_load(m, uc, e); break;
    case NOCAP_OP_EOF: cert_page_eof(m, uc, e); break;
    case NOCAP_OP_TCT: cert_token(uc, e); break;
    case NOCAP_OP_DMA_DONE: cert_dma_done(m, uc, e); break;
    default: break;
    }
    note_activity(m, e);
}

/* An access by a uC; cert_access.c judges it. */
static void access_event(struct model *m, const struct nocap_event *e)
{
    struct cert_uc *uc = e->by >= NOCAP_BY_UC0 ? get_uc(m, e->by - NOCAP_BY_UC0) : NULL;
    if (uc == NULL || e->space != NOCAP_SPACE_AIE) {
        return;
    }
    bool waits = e->kind == NOCAP_EV_READ && uc->polling != 0; /* a poll may go on for ever */
    if (e->kind == NOCAP_EV_WRITE) {
        cert_tasks_note(m->cert, e);
    }
    cert_access(m, uc, e);
    if (!waits) {
        note_activity(m, e);
    }
}

void cert_event(struct model *m, const struct nocap_event *e)
{
    struct cert *c = m->cert;
    bool own = e->kind == NOCAP_EV_CERT || e->space == NOCAP_SPACE_AIE;
    if (own && !c->any) {
        c->any = true;
        c->chip = e->chip;
    }
    if (e->chip != c->chip) {
        return;
    }
    if (e->kind == NOCAP_EV_CERT) {
        control_event(m, e);
    } else if (e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ) {
        access_event(m, e);
    }
}

void cert_finish(struct model *m, bool cut)
{
    struct cert *c = m->cert;
    struct nocap_cert_wait wait;
    for (unsigned i = 0; c != NULL && !cut && i < CERT_UCS; i++) {
        if (c->ucs[i] != NULL) {
            cert_owed_tell(m, c->ucs[i]);
        }
    }
    if (c == NULL || cut || !c->active) {
        return;
    }
    if (!cert_hung(m)) {
        HOLDS(m, AIE_066);
        return;
    }
    size_t count = cert_waits(m, &wait, 1);
    struct moment at = {
        .index = c->activity_index, .t = c->activity, .agent = (uint8_t)(NOCAP_BY_UC0 + wait.uc)};
    EXPECT_AT(m, NULL, AIE_066, false, at, RELATED(wait.since), "that some job can go on",
              "jobs that wait for ever: %zu; uc%u job %u at page %u offset %u: %s", count, wait.uc,
              wait.job, wait.page, wait.off, wait.what);
}

size_t nocap_engine_cert_waits(const struct nocap_engine *engine, struct nocap_cert_wait *list,
                               size_t capacity)
{
    return engine->model.cert == NULL ? 0 : cert_waits(&engine->model, list, capacity);
}

bool nocap_engine_cert_hung(const struct nocap_engine *engine)
{
    return engine->model.cert != NULL && cert_hung(&engine->model);
}
