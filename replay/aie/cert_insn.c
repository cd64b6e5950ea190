/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine does with each instruction. Registers: 8 of each job, 16 that the jobs of a uC
 * share; what they hold at first is not known. Accesses to the array: each belongs to an
 * instruction under way or to a chain of descriptors, and has the address and the value that follow
 * from it. Source: control code instruction set, operations. */
#include <string.h>

#include "replay/aie/cert_private.h"

#define WHY(name)      (1u << NOCAP_WHY_##name)
#define AT(INSN, name) (NOCAP_AIE_##INSN##_##name + 1)

/* Of instructions that do not wait and are not named here the instruction set does not say whether
 * they give up the uC. */
static const struct cert_insn insns[NOCAP_AIE_OPCODES] = {
    [NOCAP_AIE_UC_DMA_WRITE_DES] = {.why = WHY(QUEUE), .writes = AT(UC_DMA_WRITE_DES, wait_handle)},
    [NOCAP_AIE_UC_DMA_WRITE_DES_SYNC] = {.why = WHY(QUEUE) | WHY(DMA)},
    [NOCAP_AIE_WAIT_UC_DMA] = {.why = WHY(DMA), .reads = AT(WAIT_UC_DMA, wait_handle)},
    [NOCAP_AIE_WAIT_TCTS] = {.why = WHY(TCT)},
    [NOCAP_AIE_LOCAL_BARRIER] = {.why = WHY(LOCAL)},
    [NOCAP_AIE_REMOTE_BARRIER] = {.why = WHY(REMOTE)},
    [NOCAP_AIE_POLL_32] = {.why = WHY(POLL)},
    [NOCAP_AIE_MASK_POLL_32] = {.why = WHY(POLL)},
    [NOCAP_AIE_REL_ACQ_SYNC] = {.why = WHY(POLL), .opaque = true},
    [NOCAP_AIE_UC_DMA_MASK_POLL_EXT] = {.why = WHY(POLL), .opaque = true},
    [NOCAP_AIE_LOAD_CORES] = {.opaque = true, .calls = true},
    [NOCAP_AIE_LOAD_CORES_CP] = {.opaque = true, .calls = true},
    [NOCAP_AIE_LOAD_PDI] = {.opaque = true, .calls = true},
    [NOCAP_AIE_LOAD_LAST_PDI] = {.opaque = true, .calls = true},
    [NOCAP_AIE_PREEMPT] = {.opaque = true, .calls = true},
    [NOCAP_AIE_WRITE_32] = {.keeps_uc = true,
                            .stores = true,
                            .addr = AT(WRITE_32, address),
                            .value = AT(WRITE_32, value)},
    [NOCAP_AIE_WRITE_32_D] = {.keeps_uc = true,
                              .stores = true,
                              .addr = AT(WRITE_32_D, address),
                              .value = AT(WRITE_32_D, value),
                              .flags = true},
    [NOCAP_AIE_MASK_WRITE_32] = {.keeps_uc = true,
                                 .loads = true,
                                 .stores = true,
                                 .addr = AT(MASK_WRITE_32, address)},
    [NOCAP_AIE_READ_32] = {.keeps_uc = true,
                           .loads = true,
                           .addr = AT(READ_32, address),
                           .writes = AT(READ_32, value)},
    [NOCAP_AIE_SAVE_REGISTER] = {.loads = true, .addr = AT(SAVE_REGISTER, address)},
    [NOCAP_AIE_READ_32_D] = {.keeps_uc = true,
                             .loads = true,
                             .reads = AT(READ_32_D, address),
                             .writes = AT(READ_32_D, value)},
    [NOCAP_AIE_ADD] = {.keeps_uc = true, .writes = AT(ADD, dest)},
    [NOCAP_AIE_MOV] = {.keeps_uc = true, .writes = AT(MOV, dest)},
    [NOCAP_AIE_LAUNCH_JOB] = {.keeps_uc = true},
    [NOCAP_AIE_SLEEP] = {.keeps_uc = true},
};

const struct cert_insn *cert_insn(const struct cert_step *step)
{
    static const struct cert_insn unknown = {.opaque = true};
    return step->info == NULL ? &unknown : &insns[step->info->opcode];
}

/* ---- registers ---- */

struct value *cert_register(struct cert_uc *uc, struct cert_job *job, uint32_t number)
{
    return number < NOCAP_AIE_GLOBAL_FIRST ? &job->reg[number]
           : number < NOCAP_AIE_REGISTERS  ? &uc->reg[number - NOCAP_AIE_GLOBAL_FIRST]
                                           : NULL;
}

void cert_registers_forget(struct cert_uc *uc, struct cert_job *job)
{
    memset(job->reg, 0, sizeof job->reg);
    memset(uc->reg, 0, sizeof uc->reg);
    cert_writers_forget(uc);
}

/* ---- who wrote what ---- */

void cert_writers_forget(struct cert_uc *uc)
{
    memset(uc->writers, 0, sizeof uc->writers);
}

/* What another job of the page wrote must have come before by more than the way that the scheduler
 * took: since then this job was launched, or ended a wait for something. Which one it was is not
 * asked, so that whoever had any reason to go on is not reported. */
static void judge_read(struct model *m, const struct cert_at *at, uint32_t number)
{
    if (number < NOCAP_AIE_GLOBAL_FIRST || number >= NOCAP_AIE_REGISTERS) {
        return;
    }
    struct cert_writer *w = &at->uc->writers[number - NOCAP_AIE_GLOBAL_FIRST];
    bool ordered = at->job->ordered > w->at.index;
    if (!w->known || !at->page->whole || w->page != at->page->index || w->job == at->job->id) {
        return;
    }
    CERT_EXPECT_AFTER(m, at->uc, AIE_026, either(at->job->step.since, w->since), ordered,
                      RELATED(w->at.index),
                      "a barrier, a launch or another wait between the two jobs",
                      CERT_PLACE " reads $g%u, which job %u wrote; only the scheduler put it first",
                      CERT_AT(at), number - NOCAP_AIE_GLOBAL_FIRST, w->job);
    w->since = ordered ? w->since : m->fault;
}

/* ---- values ---- */

/* What the instruction has made of the register that it writes. */
static struct value result_of(struct cert_uc *uc, const struct cert_step *step,
                              const struct value *old)
{
    const struct cert_chain *chain = cert_chain(uc, step->chain);
    switch (step->info->opcode) {
    case NOCAP_AIE_MOV: return (struct value){.known = true, .v = CERT_V(step, MOV, value)};
    case NOCAP_AIE_ADD:
        return (struct value){old->known, old->since, old->v + CERT_V(step, ADD, value)};
    case NOCAP_AIE_UC_DMA_WRITE_DES:
        return chain == NULL ? (struct value){0}
                             : (struct value){.known = chain->has_handle, .v = chain->handle};
    default: return step->result;
    }
}

static void take_registers(struct model *m, const struct cert_at *at)
{
    const struct cert_step *step = &at->job->step;
    uint8_t writes = cert_insn(step)->writes;
    uint32_t number = writes == 0 ? NOCAP_AIE_REGISTERS : step->value[writes - 1];
    struct value *reg = cert_register(at->uc, at->job, number);
    if (step->info == NULL) { /* whatever it was may have written any of them */
        cert_registers_forget(at->uc, at->job);
    } else if (reg != NULL) {
        *reg = result_of(at->uc, step, reg);
        reg->since = either(step->since, reg->since);
    }
    if (reg != NULL && number >= NOCAP_AIE_GLOBAL_FIRST) {
        at->uc->writers[number - NOCAP_AIE_GLOBAL_FIRST] = (struct cert_writer){
            .known = true, .page = at->page->index, .job = at->job->id, .at = cert_now(m, at->uc)};
    }
}

/* ---- what an instruction must access ---- */

/* The operand `field`: a constant, or what a register holds. */
static struct value operand(struct cert_uc *uc, struct cert_job *job, uint8_t field, bool held)
{
    uint32_t v = job->step.value[field - 1];
    const struct value *reg = held ? cert_register(uc, job, v) : NULL;
    return reg != NULL ? *reg : (struct value){.known = !held, .v = v};
}

/* Whether the operand that this flag speaks of is a register. */
static bool by_register(const struct cert_step *step, uint32_t constant)
{
    return cert_insn(step)->flags && (CERT_V(step, WRITE_32_D, flags) & constant) == 0;
}

static void expect_accesses(struct cert_uc *uc, struct cert_job *job)
{
    struct cert_step *step = &job->step;
    const struct cert_insn *insn = cert_insn(step);
    struct value addr = {0}, value = {0};
    if (insn->addr != 0) {
        addr = operand(uc, job, insn->addr, by_register(step, NOCAP_AIE_ADDRESS_IS_CONST));
    } else if (insn->loads) {
        addr = operand(uc, job, insn->reads, true);
    }
    if (insn->value != 0) {
        value = operand(uc, job, insn->value, by_register(step, NOCAP_AIE_VALUE_IS_CONST));
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

void cert_insn_start(struct model *m, const struct cert_at *at)
{
    const struct cert_step *step = &at->job->step;
    const struct cert_insn *insn = cert_insn(step);
    expect_accesses(at->uc, at->job);
    if (insn->reads != 0) {
        judge_read(m, at, step->value[insn->reads - 1]);
    }
    if (by_register(step, NOCAP_AIE_ADDRESS_IS_CONST)) {
        judge_read(m, at, step->value[insn->addr - 1]);
    }
    if (by_register(step, NOCAP_AIE_VALUE_IS_CONST)) {
        judge_read(m, at, step->value[insn->value - 1]);
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
    if (cert_holder(at) && at->job->step.active && accept(&at->job->step, a)) {
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
        struct cert_at at = {.uc = cert_of(m)->ucs[i]};
        if (at.uc == NULL || at.uc == by || !cert_holder(&at) ||
            !cert_is(&at.job->step, NOCAP_AIE_MASK_WRITE_32)) {
            continue;
        }
        struct cert_step *step = &at.job->step;
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
                CERT_PLACE " puts back what another column changed", CERT_AT(at));
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
                          CERT_PLACE ": %s of %u bytes at 0x%llx, not %s of 4 at 0x%x", CERT_AT(at),
                          a->store ? "write" : "read", (unsigned)a->size,
                          (unsigned long long)a->addr, x->store ? "write" : "read", x->addr.v);
    } else {
        (void)word_of(a, &value);
        CERT_EXPECT_AFTER(m, at->uc, AIE_067, either(step->since, x->since), false,
                          RELATED(step->at.index),
                          "the value that follows from operands and registers",
                          CERT_PLACE ": 0x%x written to 0x%x, not 0x%x", CERT_AT(at), value,
                          (unsigned)a->addr, x->value);
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
    /* an instruction that was not shown may make several, a transfer goes on */
    bool same = uc->unattributed.v == uc->steps || a->size != 4;
    fault_id since = either(same ? uc->unattributed.since : FAULT_NONE, its);
    since = either(since, place_fits(&uc->missed, a) ? uc->missed.since : FAULT_NONE);
    for (const struct cert_chain *c = NULL; a->store && (c = cert_chain_open(uc, c)) != NULL;) {
        unknown |= !c->known;
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
        uc->missed = late->step.expect[late->step.seen];
        uc->missed.since = m->fault;
    }
    late->step.active = false;
}

void cert_insn_end(struct model *m, const struct cert_at *at)
{
    const struct cert_step *step = &at->job->step;
    cert_late_report(m, at->uc);
    if (step->seen < step->expected) {
        at->uc->late = (struct cert_late){
            .step = *step, .page = at->page->index, .job = at->job->id, .at = cert_now(m, at->uc)};
    }
    take_registers(m, at);
}
