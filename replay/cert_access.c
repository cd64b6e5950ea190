/* Accesses to the array: each belongs to an instruction under way or to a chain of descriptors, and
 * has the address and the value that follow from it. */
#include "replay/cert_private.h"

/* ---- what an instruction must access ---- */

static void expect(struct cert_step *step, bool store, bool addr_known, uint32_t addr,
                   uint32_t value, uint32_t known)
{
    step->expect[step->expected++] = (struct cert_expect){
        .store = store, .addr_known = addr_known, .addr = addr, .value = value, .known = known};
}

/* WRITE_32_D: address and value are constants, or in registers. */
static void expect_dynamic(const struct cert_uc *uc, struct cert_job *job)
{
    struct cert_step *step = &job->step;
    uint32_t flags = CERT_V(step, WRITE_32_D, flags);
    uint32_t addr = CERT_V(step, WRITE_32_D, address), value = CERT_V(step, WRITE_32_D, value);
    bool addr_known =
        (flags & NOCAP_AIE_ADDRESS_IS_CONST) != 0 || cert_register(uc, job, addr, &addr);
    bool value_known =
        (flags & NOCAP_AIE_VALUE_IS_CONST) != 0 || cert_register(uc, job, value, &value);
    expect(step, true, addr_known, addr, value, value_known ? UINT32_MAX : 0);
}

void cert_expect_accesses(const struct cert_uc *uc, struct cert_job *job)
{
    struct cert_step *step = &job->step;
    uint32_t addr = 0;
    switch (step->info->opcode) {
    case NOCAP_AIE_WRITE_32:
        expect(step, true, true, CERT_V(step, WRITE_32, address), CERT_V(step, WRITE_32, value),
               UINT32_MAX);
        break;
    case NOCAP_AIE_WRITE_32_D: expect_dynamic(uc, job); break;
    case NOCAP_AIE_MASK_WRITE_32:
        addr = CERT_V(step, MASK_WRITE_32, address);
        expect(step, false, true, addr, 0, 0);
        expect(step, true, true, addr, 0, 0); /* known when the first one was seen */
        break;
    case NOCAP_AIE_READ_32: expect(step, false, true, CERT_V(step, READ_32, address), 0, 0); break;
    case NOCAP_AIE_READ_32_D: {
        bool known = cert_register(uc, job, CERT_V(step, READ_32_D, address), &addr);
        expect(step, false, known, addr, 0, 0);
        break;
    }
    case NOCAP_AIE_SAVE_REGISTER:
        expect(step, false, true, CERT_V(step, SAVE_REGISTER, address), 0, 0);
        break;
    default: break;
    }
}

bool cert_is_poll(const struct cert_step *step)
{
    return cert_is(step, NOCAP_AIE_POLL_32) || cert_is(step, NOCAP_AIE_MASK_POLL_32);
}

/* ---- an access as it was ---- */

struct word {
    bool store, known;
    uint64_t addr, size;
    uint32_t value;
};

static struct word word_of(const struct nocap_event *e)
{
    struct word w = {.store = e->kind == NOCAP_EV_WRITE, .addr = e->addr, .size = e->size};
    if ((e->has & NOCAP_F_VALUE) != 0) {
        w.known = true;
        w.value = (uint32_t)e->value;
    } else if ((e->has & NOCAP_F_DATA) != 0 && e->data_size >= 4) {
        w.known = true;
        w.value = nocap_aie_u32(e->data);
    }
    return w;
}

static bool place_fits(const struct cert_expect *x, const struct word *w)
{
    return x->store == w->store && w->size == 4 && (!x->addr_known || x->addr == w->addr);
}

static bool fits(const struct cert_expect *x, const struct word *w)
{
    return place_fits(x, w) && (!w->known || ((x->value ^ w->value) & x->known) == 0);
}

/* A value that has bits outside the mask: whether they are written is not said. */
static void expect_masked(struct cert_step *step, const struct word *w)
{
    uint32_t mask = CERT_V(step, MASK_WRITE_32, mask), value = CERT_V(step, MASK_WRITE_32, value);
    step->expect[1].value = (w->value & ~mask) | (value & mask);
    step->expect[1].known = (w->known ? UINT32_MAX : mask) & ~(value & ~mask);
}

static void take(struct cert_step *step, const struct word *w)
{
    step->seen++;
    if (!w->store) {
        step->result = w->value;
        step->result_known = w->known;
    }
    if (cert_is(step, NOCAP_AIE_MASK_WRITE_32) && step->seen == 1) {
        expect_masked(step, w);
    }
}

/* ---- whose access it is ---- */

typedef bool accepts(struct cert_uc *uc, struct cert_job *job, const struct word *w);

/* The job that has the uC, then the others. */
static struct cert_job *find(struct cert_uc *uc, const struct word *w, accepts *accept,
                             struct cert_page **at)
{
    *at = cert_page_find(uc, uc->holder_page);
    struct cert_job *job = *at == NULL ? NULL : cert_job_find(*at, uc->holder_job);
    if (job != NULL && job->step.active && accept(uc, job, w)) {
        return job;
    }
    for (unsigned p = 0; p < CERT_PAGES; p++) {
        *at = &uc->pages[p];
        for (uint32_t i = 0; i < (*at)->job_count; i++) {
            job = &(*at)->jobs[i];
            if (job->step.active && accept(uc, job, w)) {
                return job;
            }
        }
    }
    return NULL;
}

static bool takes(struct cert_uc *uc, struct cert_job *job, const struct word *w)
{
    const struct cert_step *step = &job->step;
    (void)uc;
    return step->seen < step->expected && fits(&step->expect[step->seen], w);
}

static bool takes_wrongly(struct cert_uc *uc, struct cert_job *job, const struct word *w)
{
    const struct cert_step *step = &job->step;
    (void)uc;
    return step->seen < step->expected &&
           (step->doubtful || step->expect[step->seen].store == w->store);
}

static bool polls(struct cert_uc *uc, struct cert_job *job, const struct word *w)
{
    const struct cert_step *step = &job->step;
    (void)uc;
    return cert_is_poll(step) && !w->store && w->size == 4 &&
           (step->doubtful || CERT_V(step, POLL_32, address) == w->addr);
}

/* What it accesses is not known, so that the access may be its own. */
static bool may_access(struct cert_uc *uc, struct cert_job *job, const struct word *w)
{
    const struct cert_step *step = &job->step;
    (void)uc;
    (void)w;
    return step->info == NULL || step->doubtful || cert_is(step, NOCAP_AIE_REL_ACQ_SYNC) ||
           cert_is(step, NOCAP_AIE_UC_DMA_MASK_POLL_EXT) || cert_is(step, NOCAP_AIE_LOAD_CORES) ||
           cert_is(step, NOCAP_AIE_LOAD_PDI) || cert_is(step, NOCAP_AIE_LOAD_LAST_PDI) ||
           cert_is(step, NOCAP_AIE_PREEMPT) || cert_is(step, NOCAP_AIE_LOAD_CORES_CP);
}

static void poll(const struct model *m, struct cert_step *step, const struct word *w)
{
    bool masked = cert_is(step, NOCAP_AIE_MASK_POLL_32);
    uint32_t mask = masked ? CERT_V(step, MASK_POLL_32, mask) : UINT32_MAX;
    uint32_t value = masked ? CERT_V(step, MASK_POLL_32, value) : CERT_V(step, POLL_32, value);
    step->polled = true;
    step->matched = step->doubtful || !w->known || (w->value & mask) == value;
    step->last_poll = m->event->index;
}

/* ---- MASK_WRITE_32 of two columns at one address ---- */

/* Another column writes between the read and the write of a MASK_WRITE_32, and changes a bit that
 * the write will put back. */
static void note_race(struct model *m, const struct cert_uc *by, const struct word *w)
{
    for (unsigned i = 0; i < m->cert->uc_end; i++) {
        struct cert_uc *uc = m->cert->ucs[i];
        struct cert_page *page =
            uc == NULL || uc == by ? NULL : cert_page_find(uc, uc->holder_page);
        struct cert_job *job = page == NULL ? NULL : cert_job_find(page, uc->holder_job);
        if (job == NULL || !cert_is(&job->step, NOCAP_AIE_MASK_WRITE_32) || job->step.seen != 1) {
            continue;
        }
        struct cert_step *step = &job->step;
        uint32_t outside = ~CERT_V(step, MASK_WRITE_32, mask);
        if (step->expect[1].addr == w->addr && w->known && step->result_known &&
            ((w->value ^ step->result) & outside) != 0) {
            step->raced = cert_now(m, by);
        }
    }
}

/* ---- judging ---- */

static void accept_access(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                          struct cert_job *job, const struct word *w)
{
    struct cert_step *step = &job->step;
    HOLDS(m, AIE_067);
    if (cert_is(step, NOCAP_AIE_MASK_WRITE_32) && w->store) {
        CERT_EXPECT(m, uc, AIE_064, step->raced.index == NO_INDEX, RELATED(step->raced.index),
                    "nobody else to write the address between the read and the write",
                    CERT_PLACE " puts back what another column changed", CERT_AT(page, job));
    } else {
        HOLDS(m, AIE_064);
    }
    take(step, w);
}

static void tell_wrong(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                       struct cert_job *job, const struct word *w)
{
    struct cert_step *step = &job->step;
    const struct cert_expect *x = &step->expect[step->seen];
    const char *verb = w->store ? "write" : "read";
    if (step->doubtful) {
        take(step, w);
        return;
    }
    if (!place_fits(x, w)) {
        CERT_EXPECT(m, uc, AIE_067, false, RELATED(step->at.index),
                    "the accesses of the "
                    "instruction",
                    CERT_PLACE ": %s of %u bytes at 0x%llx, not of 4 at 0x%x", CERT_AT(page, job),
                    verb, (unsigned)w->size, (unsigned long long)w->addr, x->addr);
    } else {
        CERT_EXPECT(m, uc, AIE_067, false, RELATED(step->at.index),
                    "the value that follows from operands and registers",
                    CERT_PLACE ": 0x%x written to 0x%x, not 0x%x", CERT_AT(page, job), w->value,
                    (unsigned)w->addr, x->value);
    }
    take(step, w);
}

static bool take_late(struct model *m, struct cert_uc *uc, const struct word *w)
{
    struct cert_owed *owed = &uc->owed;
    if (!owed->active || !fits(&owed->expect, w)) {
        return false;
    }
    owed->active = false;
    CERT_EXPECT(m, uc, AIE_064, false, RELATED(owed->at.index),
                "an access to be complete before its instruction ends",
                "job %u at page %u offset %u (%s) ended before its access to 0x%x", owed->job,
                owed->page, owed->off, owed->mnemonic, (unsigned)w->addr);
    return true;
}

/* Nobody under way makes this access. */
static void tell_stray(struct model *m, struct cert_uc *uc, const struct word *w)
{
    struct cert_page *page;
    bool unknown = !uc->fresh || uc->strays || find(uc, w, may_access, &page) != NULL;
    for (uint64_t n = uc->chain_count; w->store && n > 0 && n + CERT_CHAINS > uc->chain_count;
         n--) {
        const struct cert_chain *chain = cert_chain(uc, n);
        unknown |= !chain->done && !chain->known;
    }
    if (!unknown) {
        uc->strays = true; /* more of it is no news */
        CERT_EXPECT(m, uc, AIE_067, false, NOTHING, "an instruction or a transfer under way",
                    "%s of %llu bytes at 0x%llx that none of them makes",
                    w->store ? "write" : "read", (unsigned long long)w->size,
                    (unsigned long long)w->addr);
    }
    if (w->store) {
        cert_dma_doubt(uc);
    }
}

void cert_access(struct model *m, struct cert_uc *uc, const struct nocap_event *e)
{
    struct word w = word_of(e);
    struct cert_page *page;
    struct cert_job *job;
    if (w.store) {
        note_race(m, uc, &w);
    }
    if ((job = find(uc, &w, takes, &page)) != NULL) {
        accept_access(m, uc, page, job, &w);
    } else if (uc->polling != 0 && (job = find(uc, &w, polls, &page)) != NULL) {
        HOLDS(m, AIE_067);
        poll(m, &job->step, &w);
    } else if (w.store && cert_dma_write(m, uc, e, false)) {
        HOLDS(m, AIE_067);
    } else if (take_late(m, uc, &w)) {
        return;
    } else if ((job = find(uc, &w, takes_wrongly, &page)) != NULL) {
        tell_wrong(m, uc, page, job, &w);
    } else if (!(w.store && cert_dma_write(m, uc, e, true))) {
        tell_stray(m, uc, &w);
    }
}

/* ---- accesses that did not come ---- */

void cert_owed_tell(struct model *m, struct cert_uc *uc)
{
    struct cert_owed *owed = &uc->owed;
    if (owed->active) {
        owed->active = false;
        EXPECT_AT(m, NULL, AIE_067, false, owed->at, NOTHING, "the accesses of the instruction",
                  "job %u at page %u offset %u (%s) ended without its %s", owed->job, owed->page,
                  owed->off, owed->mnemonic, owed->expect.store ? "write" : "read");
    }
}

void cert_owe(struct model *m, struct cert_uc *uc, const struct cert_page *page,
              const struct cert_job *job)
{
    const struct cert_step *step = &job->step;
    if (step->seen < step->expected && !step->doubtful && step->info != NULL) {
        uc->owed = (struct cert_owed){.active = true,
                                      .expect = step->expect[step->seen],
                                      .at = cert_now(m, uc),
                                      .page = page->index,
                                      .off = step->off,
                                      .job = job->id,
                                      .mnemonic = step->info->mnemonic};
    }
}
