/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to the array: each belongs to an instruction under way or to a chain of descriptors, and
 * has the address and the value that follow from it. */
#include "replay/aie/cert_private.h"

/* ---- what an instruction must access ---- */

/* The operand `field`: a constant, or what a register holds. */
static struct value operand(struct cert_uc *uc, struct cert_job *job, uint8_t field, bool constant)
{
    uint32_t v = job->step.value[field - 1];
    const struct value *reg = constant ? NULL : cert_register(uc, job, v);
    return reg != NULL ? *reg : (struct value){.known = constant, .v = v};
}

void cert_expect_accesses(const struct cert_at *at)
{
    struct cert_step *step = &at->job->step;
    const struct cert_insn *insn = cert_insn(step);
    uint32_t constant = insn->flags ? CERT_V(step, WRITE_32_D, flags) : UINT32_MAX;
    struct value addr, value = {0};
    if (!insn->loads && !insn->stores) {
        return;
    }
    addr = insn->addr == 0
               ? operand(at->uc, at->job, insn->reads, false)
               : operand(at->uc, at->job, insn->addr, (constant & NOCAP_AIE_ADDRESS_IS_CONST) != 0);
    if (insn->value != 0) {
        value = operand(at->uc, at->job, insn->value, (constant & NOCAP_AIE_VALUE_IS_CONST) != 0);
    }
    if (insn->loads) {
        step->expect[step->expected++] = (struct cert_expect){.addr = addr};
    }
    if (insn->stores) { /* what MASK_WRITE_32 stores is known when its load was seen */
        step->expect[step->expected++] = (struct cert_expect){.store = true,
                                                              .addr = addr,
                                                              .value = value.v,
                                                              .known = value.known ? UINT32_MAX : 0,
                                                              .since = value.since};
    }
}

bool cert_is_poll(const struct cert_step *step)
{
    return cert_is(step, NOCAP_AIE_POLL_32) || cert_is(step, NOCAP_AIE_MASK_POLL_32);
}

uint32_t cert_poll_value(const struct cert_step *step, uint32_t *mask)
{
    bool masked = cert_is(step, NOCAP_AIE_MASK_POLL_32);
    *mask = masked ? CERT_V(step, MASK_POLL_32, mask) : UINT32_MAX;
    return masked ? CERT_V(step, MASK_POLL_32, value) : CERT_V(step, POLL_32, value);
}

/* ---- an access as it was ---- */

static bool word_of(const struct access *a, uint32_t *value)
{
    return access_word(a, a->addr, value);
}

static bool place_fits(const struct cert_expect *x, const struct access *a)
{
    return x->store == a->store && a->size == 4 && (!x->addr.known || x->addr.v == a->addr);
}

static bool fits(const struct cert_expect *x, const struct access *a)
{
    uint32_t value;
    return place_fits(x, a) && (!word_of(a, &value) || ((x->value ^ value) & x->known) == 0);
}

/* A value that has bits outside the mask: whether they are written is not said. */
static void expect_masked(struct cert_step *step)
{
    uint32_t mask = CERT_V(step, MASK_WRITE_32, mask), value = CERT_V(step, MASK_WRITE_32, value);
    step->expect[1].value = (step->result.v & ~mask) | (value & mask);
    step->expect[1].known = (step->result.known ? UINT32_MAX : mask) & ~(value & ~mask);
}

static void take(struct cert_step *step, const struct access *a)
{
    step->seen++;
    if (!a->store) {
        step->result = (struct value){0};
        step->result.known = word_of(a, &step->result.v);
    }
    if (cert_is(step, NOCAP_AIE_MASK_WRITE_32) && step->seen == 1) {
        expect_masked(step);
    }
}

/* ---- whose access it is ---- */

typedef bool accepts(const struct cert_step *step, const struct access *a);

/* The job that has the uC, then the others. */
static bool find(struct cert_at *at, const struct access *a, accepts *accept)
{
    at->page = cert_page_find(at->uc, at->uc->holder_page);
    at->job = at->page == NULL ? NULL : cert_job_find(at->page, at->uc->holder_job);
    if (at->job != NULL && at->job->step.active && accept(&at->job->step, a)) {
        return true;
    }
    *at = (struct cert_at){.uc = at->uc};
    while (cert_next_job(at)) {
        if (at->job->step.active && accept(&at->job->step, a)) {
            return true;
        }
    }
    return false;
}

static bool takes(const struct cert_step *step, const struct access *a)
{
    return step->seen < step->expected && fits(&step->expect[step->seen], a);
}

/* A write may be a transfer's where it expects a read; reads are those of instructions alone. */
static bool takes_wrongly(const struct cert_step *step, const struct access *a)
{
    return step->seen < step->expected && (step->expect[step->seen].store || !a->store);
}

static bool polls(const struct cert_step *step, const struct access *a)
{
    return cert_is_poll(step) && a->size == 4 && CERT_V(step, POLL_32, address) == a->addr;
}

/* What it accesses is not known, or only since a fault, so that the access may be its own. */
static bool may_access(const struct cert_step *step, const struct access *a)
{
    (void)a;
    return cert_insn(step)->opaque || step->since != FAULT_NONE;
}

static void poll(struct cert_step *step, const struct access *a)
{
    uint32_t mask, value = cert_poll_value(step, &mask), read;
    step->polled = true;
    step->matched = !word_of(a, &read) || (read & mask) == value;
}

/* ---- MASK_WRITE_32 of two columns at one address ---- */

/* Another column writes between the read and the write of a MASK_WRITE_32, and changes a bit that
 * the write will put back. */
static void note_race(struct model *m, const struct cert_uc *by, const struct access *a)
{
    uint32_t value;
    for (unsigned i = 0; i < cert_of(m)->uc_end && word_of(a, &value); i++) {
        struct cert_uc *uc = cert_of(m)->ucs[i];
        struct cert_page *page =
            uc == NULL || uc == by ? NULL : cert_page_find(uc, uc->holder_page);
        struct cert_job *job = page == NULL ? NULL : cert_job_find(page, uc->holder_job);
        if (job == NULL || !cert_is(&job->step, NOCAP_AIE_MASK_WRITE_32)) {
            continue;
        }
        struct cert_step *step = &job->step;
        uint32_t outside = ~CERT_V(step, MASK_WRITE_32, mask);
        if (step->expect[1].addr.v == a->addr && step->result.known &&
            ((value ^ step->result.v) & outside) != 0) {
            step->raced = cert_now(m, by);
        }
    }
}

/* ---- accesses ---- */

static void accept_access(struct model *m, const struct cert_at *at, const struct access *a)
{
    struct cert_step *step = &at->job->step;
    bool masked = cert_is(step, NOCAP_AIE_MASK_WRITE_32) && a->store;
    MARK_EXERCISED(m, AIE_067);
    CERT_EXPECT(m, at->uc, AIE_064, !masked || step->raced.index == NO_INDEX,
                RELATED(step->raced.index),
                "no other agent to write the address between the read and the write",
                CERT_PLACE " puts back what another column changed", CERT_AT(at, &at->job->step));
    take(step, a);
}

static void judge_wrong(struct model *m, const struct cert_at *at, const struct access *a)
{
    struct cert_step *step = &at->job->step;
    const struct cert_expect *x = &step->expect[step->seen];
    uint32_t value = 0;
    if (!place_fits(x, a)) {
        CERT_EXPECT_AFTER(m, at->uc, AIE_067, either(step->since, x->addr.since), false,
                          RELATED(step->at.index), "the accesses of the instruction",
                          CERT_PLACE ": %s of %u bytes at 0x%llx, not %s of 4 at 0x%x",
                          CERT_AT(at, &at->job->step), a->store ? "write" : "read",
                          (unsigned)a->size, (unsigned long long)a->addr,
                          x->store ? "write" : "read", x->addr.v);
    } else {
        (void)word_of(a, &value);
        CERT_EXPECT_AFTER(m, at->uc, AIE_067, either(step->since, x->since), false,
                          RELATED(step->at.index),
                          "the value that follows from operands and registers",
                          CERT_PLACE ": 0x%x written to 0x%x, not 0x%x",
                          CERT_AT(at, &at->job->step), value, (unsigned)a->addr, x->value);
    }
    take(step, a);
    step->since = either(step->since, m->fault);
}

/* The access that it has not made, and what that is known since. */
static const struct cert_expect *late_access(const struct cert_late *late, fault_id *since)
{
    const struct cert_expect *x = &late->step.expect[late->step.seen];
    *since = either(late->step.since, x->addr.since);
    return x;
}

static bool take_late(struct model *m, struct cert_uc *uc, const struct access *a)
{
    struct cert_late *late = &uc->late;
    fault_id since;
    if (!late->step.active || !fits(late_access(late, &since), a)) {
        return false;
    }
    late->step.active = false;
    CERT_EXPECT_AFTER(m, uc, AIE_064, since, false, RELATED(late->at.index),
                      "an access to be complete before its instruction ends",
                      CERT_PLACE " ended before its access to 0x%x", CERT_LATE_AT(late),
                      (unsigned)a->addr);
    return true;
}

/* An access that an instruction has still to make, or a poll. */
static bool awaits(const struct cert_step *step, const struct access *a)
{
    return step->seen < step->expected || (cert_is_poll(step) && !a->store);
}

/* No instruction under way makes this access. */
static void judge_unattributed(struct model *m, struct cert_uc *uc, const struct access *a)
{
    struct cert_at at = {.uc = uc};
    fault_id its = find(&at, a, may_access) ? at.job->step.since : FAULT_NONE;
    bool unknown = !uc->fresh || (at.job != NULL && its == FAULT_NONE);
    fault_id since = either(uc->unattributed.since, its);
    for (const struct cert_chain *c = NULL; a->store && (c = cert_chain_open(uc, c)) != NULL;) {
        unknown |= !c->known;
        since = either(since, c->since);
    }
    if (!unknown) {
        CERT_EXPECT_AFTER(
            m, uc, AIE_067, since, false, NO_REFS, "an instruction or a transfer under way",
            "%s of %llu bytes at 0x%llx that none of them makes", a->store ? "write" : "read",
            (unsigned long long)a->size, (unsigned long long)a->addr);
        if (since == FAULT_NONE) {
            resync(&uc->unattributed, uc->steps, m->fault);
        }
        at = (struct cert_at){.uc = uc};
        if (find(&at, a, awaits)) { /* perhaps instead of that one */
            at.job->step.since = either(at.job->step.since, m->fault);
        }
    }
    if (a->store) {
        cert_dma_disturb(uc, unknown ? FAULT_UNREPORTED : m->fault);
    }
}

bool cert_access(struct model *m, struct cert_uc *uc, const struct access *a)
{
    struct cert_at at = {.uc = uc};
    if (a->store) {
        note_race(m, uc, a);
    }
    if (find(&at, a, takes)) {
        accept_access(m, &at, a);
    } else if (!a->store && find(&at, a, polls)) {
        MARK_EXERCISED(m, AIE_067);
        poll(&at.job->step, a);
        return false;
    } else if (a->store && cert_dma_write(m, uc, a, false)) {
        MARK_EXERCISED(m, AIE_067);
    } else if (take_late(m, uc, a)) {
        return true;
    } else if (find(&at, a, takes_wrongly)) {
        judge_wrong(m, &at, a);
    } else if (!(a->store && cert_dma_write(m, uc, a, true))) {
        judge_unattributed(m, uc, a);
    }
    return true;
}

/* ---- accesses that did not come ---- */

void cert_late_report(struct model *m, struct cert_uc *uc)
{
    struct cert_late *late = &uc->late;
    if (late->step.active) {
        fault_id since;
        bool store = late_access(late, &since)->store;
        FOLLOWING(m, since,
                  CHECK_AT(m, NULL, AIE_067, false, late->at, NO_REFS,
                           "the accesses of the instruction", CERT_PLACE " ended without its %s",
                           CERT_LATE_AT(late), store ? "write" : "read"));
    }
    late->step.active = false;
}

void cert_late_add(struct model *m, const struct cert_at *at)
{
    if (at->job->step.seen < at->job->step.expected) {
        at->uc->late =
            (struct cert_late){.step = at->job->step, .page = at->page->index, .job = at->job->id};
        at->uc->late.at = cert_now(m, at->uc);
    }
}
