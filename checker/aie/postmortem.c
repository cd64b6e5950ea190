/* SPDX-License-Identifier: Apache-2.0 */
/* AIE control code that hung and was not traced. Of some jobs it is known where they stand. All
 * others are run as far as they could possibly get; what still cannot pass a barrier waits for
 * those whose place is known. */
#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "checker/aie/lint.h"
#include "checker/aie/postmortem.h"
#include "checker/core/findings.h"

enum { TEXT = 400 };

/* ---- who waits for what ---- */

static struct nocap_party party(uint32_t uc, int32_t job)
{
    return (struct nocap_party){.agent = (uint8_t)(NOCAP_BY_UC0 + uc), .job = job};
}

/* The last instruction before the job's `times`-th use of the barrier that something outside of the
 * jobs must end; NULL: none. */
static const struct stuck_op *outside_before(const struct stuck_column *c,
                                             const struct stuck_job *job, uint32_t barrier,
                                             uint32_t times)
{
    const struct stuck_op *last = NULL;
    for (uint32_t i = job->first; i < job->end && times != 0; i++) {
        const struct stuck_op *op = &c->ops[i];
        bool inside =
            op->info->opcode == NOCAP_AIE_LOCAL_BARRIER || op->info->opcode == NOCAP_AIE_YIELD;
        last = op->info->blocks && !inside ? op : last;
        times -= op->info->opcode == NOCAP_AIE_LOCAL_BARRIER &&
                 V(op, LOCAL_BARRIER, local_barrier_id) == barrier;
    }
    return last;
}

/* Who has not come to the barrier at which the job stands: those that cannot have, or else, if one
 * of the others must be missing, those that something may hold before it. */
static void tell_local(const struct stuck_column *c, const struct stuck_job *job,
                       struct nocap_wait *wait, char *text)
{
    const struct stuck_op *op = &c->ops[job->at];
    uint32_t id = V(op, LOCAL_BARRIER, local_barrier_id),
             wanted = V(op, LOCAL_BARRIER, num_participants);
    uint32_t times = stuck_came(c, job, NOCAP_AIE_LOCAL_BARRIER, id), here = stuck_locals(c, job);
    int used =
        snprintf(text, TEXT, "local barrier %u: %u of %u jobs can have arrived", id, here, wanted);
    bool first = true;
    for (uint32_t j = 0; j < c->job_count && used < TEXT; j++) {
        const struct stuck_job *other = &c->jobs[j];
        bool late = stuck_came(c, other, NOCAP_AIE_LOCAL_BARRIER, id) < times;
        const struct stuck_op *outside = outside_before(c, other, id, times);
        bool may_be =
            here >= wanted && !other->fixed && !stuck_is_over(c, other) && outside != NULL;
        if (stuck_uses(c, other, NOCAP_AIE_LOCAL_BARRIER, id) < times || !(late || may_be)) {
            continue;
        }
        used += snprintf(text + used, (size_t)(TEXT - used), "%s %u",
                         !first ? ","
                         : late ? ", missing job"
                                : "; one that may stand earlier is job",
                         other->id);
        if (used < TEXT && !late) {
            used += snprintf(text + used, (size_t)(TEXT - used), " (%s at offset %u)",
                             outside->info->mnemonic, outside->off);
        } else if (used < TEXT && !other->started) {
            used += snprintf(text + used, (size_t)(TEXT - used), " (not launched)");
        }
        wait->by = first ? party(c->page->uc, (int32_t)other->id) : wait->by;
        first = false;
    }
    if (first && used < TEXT) {
        snprintf(text + used, (size_t)(TEXT - used),
                 here >= wanted ? "; nothing holds them: what was seen does not fit the file"
                                : ", and no other job comes");
    }
    wait->release = "the missing participants";
}

/* The job of a column that stands before its next use of a remote barrier. */
static int32_t job_before(const struct stuck_column *c, uint32_t id)
{
    for (uint32_t j = 0; j < c->job_count; j++) {
        const struct stuck_job *job = &c->jobs[j];
        if (job->at < job->end && stuck_uses(c, job, NOCAP_AIE_REMOTE_BARRIER, id) >
                                      stuck_came(c, job, NOCAP_AIE_REMOTE_BARRIER, id)) {
            return (int32_t)job->id;
        }
    }
    return -1;
}

static void tell_remote(const struct stuck *s, const struct stuck_column *c,
                        const struct stuck_op *op, struct nocap_wait *wait, char *text)
{
    uint32_t id = V(op, REMOTE_BARRIER, remote_barrier_id), unknown = 0;
    uint32_t mask = V(op, REMOTE_BARRIER, party_mask), missing = stuck_remotes_missing(s, c, op);
    for (uint32_t uc = 0; uc < STUCK_COLUMNS; uc++) {
        bool known = c->main && s->columns[uc].page != NULL && s->columns[uc].main;
        unknown |= known ? 0 : mask & 1u << uc;
    }
    int used = snprintf(text, TEXT, "remote barrier %u, mask 0x%x: ", id - 1, mask);
    if (missing != 0) {
        uint32_t first = (uint32_t)__builtin_ctz(missing);
        used +=
            snprintf(text + used, (size_t)(TEXT - used), "columns of mask 0x%x cannot have come%s",
                     missing, unknown != 0 ? ", " : "");
        wait->by = party(first, job_before(&s->columns[first], id));
    }
    if (unknown != 0) {
        snprintf(text + used, (size_t)(TEXT - used), "where those of mask 0x%x stand is not known",
                 unknown);
    } else if (missing == 0) {
        snprintf(text + used, (size_t)(TEXT - used), "all columns have come");
    }
    wait->release = "the columns that did not come";
}

static void tell_poll(const struct stuck *s, const struct stuck_op *op, struct nocap_wait *wait,
                      char *text)
{
    uint32_t mask = stuck_poll_mask(op), value = stuck_poll_value(op),
             addr = V(op, POLL_32, address);
    bool never = (value & ~mask) != 0;
    int used = snprintf(text, TEXT, "0x%x under mask 0x%x to become 0x%x%s", addr, mask, value,
                        never ? ", unsatisfiable" : "");
    for (size_t i = 0; i < s->remains->register_count; i++) {
        if (s->remains->registers[i].addr == addr) {
            snprintf(text + used, (size_t)(TEXT - used), "; it was 0x%x in the end",
                     s->remains->registers[i].value);
        }
    }
    wait->release = never ? NULL : "the value";
}

static void tell_tokens(const struct stuck_column *c, const struct stuck_op *op,
                        struct nocap_wait *wait, char *text)
{
    const uint32_t both = 1u << NOCAP_AIE_C_TCT_REQUESTED | 1u << NOCAP_AIE_C_TCT_RECEIVED;
    int used =
        snprintf(text, TEXT, "%u tokens of tile 0x%x actor %u", V(op, WAIT_TCTS, target_tcts),
                 V(op, WAIT_TCTS, tile_id), V(op, WAIT_TCTS, actor_id));
    if ((c->remains->counted & both) == both) {
        snprintf(text + used, (size_t)(TEXT - used),
                 "; of all channels the uC has asked for %u and got %u",
                 c->remains->counters[NOCAP_AIE_C_TCT_REQUESTED],
                 c->remains->counters[NOCAP_AIE_C_TCT_RECEIVED]);
    }
    wait->release = "the missing tokens";
}

static void tell_job(struct stuck *s, const struct stuck_column *c, const struct stuck_job *job)
{
    char text[TEXT] = "";
    bool over = job->at == job->end;
    const struct stuck_op *op = &c->ops[over ? job->first : job->at];
    struct nocap_wait wait = {.who = party(c->page->uc, (int32_t)job->id),
                              .by = {.agent = NOCAP_BY_NONE, .job = -1},
                              .state = job->fixed ? "blocked" : "cannot pass",
                              .since = UINT64_MAX,
                              .index = UINT64_MAX,
                              .thread = -1,
                              .certain = !over && op->info->blocks,
                              .has_place = !over,
                              .page = c->page->index,
                              .off = op->off,
                              .progress = {.index = UINT64_MAX}};
    switch (over ? NOCAP_AIE_NOP : op->info->opcode) {
    case NOCAP_AIE_LOCAL_BARRIER: tell_local(c, job, &wait, text); break;
    case NOCAP_AIE_REMOTE_BARRIER: tell_remote(s, c, op, &wait, text); break;
    case NOCAP_AIE_POLL_32:
    case NOCAP_AIE_MASK_POLL_32: tell_poll(s, op, &wait, text); break;
    case NOCAP_AIE_WAIT_TCTS: tell_tokens(c, op, &wait, text); break;
    case NOCAP_AIE_WAIT_UC_DMA:
    case NOCAP_AIE_UC_DMA_WRITE_DES_SYNC:
        snprintf(text, TEXT, "%s: the end of a transfer", op->info->mnemonic);
        wait.release = "the end of the transfer";
        break;
    default:
        snprintf(text, TEXT, over ? "not finished; position unknown" : "%s to end",
                 op->info->mnemonic);
        wait.state = "not over";
        break;
    }
    wait.what = text;
    nocap_hang_take(&s->waits, &wait);
}

static void tell(struct stuck *s)
{
    for (uint32_t uc = 0; uc < STUCK_COLUMNS; uc++) {
        const struct stuck_column *c = &s->columns[uc];
        for (uint32_t j = 0; j < c->job_count; j++) {
            const struct stuck_job *job = &c->jobs[j];
            bool stands = job->started && job->at < job->end;
            if (stands || job->left) {
                tell_job(s, c, job);
            }
        }
    }
}

/* ---- what else is known ---- */

/* Takes the sentence, which may be NULL for want of memory. */
static enum nocap_status add_note(struct stuck *s, const char *id, char *note)
{
    enum nocap_status status = note == NULL
                                   ? nocap_fail(s->err, NOCAP_E_MEMORY, "out of memory")
                                   : nocap_report_add_note(s->waits.hang->report, id, note, s->err);
    free(note);
    return status;
}

static const char *state_meaning(uint32_t state)
{
    static const struct {
        uint32_t state;
        const char *meaning;
    } states[] = {
#define STATE(value, meaning) {value, meaning},
#include "formats/aie/remains.def"
    };
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (states[i].state == state) {
            return states[i].meaning;
        }
    }
    return "not known";
}

/* Jobs that are not over by the counters of the firmware, and how often which kind of instruction
 * blocked. */
static enum nocap_status note_counters(struct stuck *s, uint32_t uc)
{
    const struct nocap_aie_column_remains *r = &s->remains->columns[uc];
    static const char *const names[NOCAP_AIE_COUNTERS] = {
#define COUNTER(ID, name) [NOCAP_AIE_C_##ID] = name,
#include "formats/aie/remains.def"
    };
    char text[TEXT] = "";
    size_t used = 0;
    for (unsigned i = 0; i < NOCAP_AIE_COUNTERS && used < sizeof text; i++) {
        if ((r->counted >> i & 1u) != 0) {
            int more = snprintf(text + used, sizeof text - used, "%s%s %u", used == 0 ? "" : ", ",
                                names[i], r->counters[i]);
            used += more > 0 ? (size_t)more : 0;
        }
    }
    uint32_t left = r->counters[NOCAP_AIE_C_JOB_LAUNCHED] - r->counters[NOCAP_AIE_C_JOB_FINISHED];
    const uint32_t both = 1u << NOCAP_AIE_C_JOB_LAUNCHED | 1u << NOCAP_AIE_C_JOB_FINISHED;
    char *note = NULL;
    if (used == 0) {
        return NOCAP_OK;
    }
    int length = (r->counted & both) == both
                     ? asprintf(&note, "uc%u: %u jobs are not over; %s", uc, left, text)
                     : asprintf(&note, "uc%u: %s", uc, text);
    return add_note(s, "firmware-counters", length < 0 ? NULL : note);
}

static enum nocap_status add_notes(struct stuck *s)
{
    if (s->passed != 0) {
        char *note = NULL;
        int length = asprintf(&note,
                              "the file has no code for the uCs of mask 0x%x: what is told "
                              "of them is passed over",
                              s->passed);
        RETURN_IF_FAILED(add_note(s, "no-code", length < 0 ? NULL : note));
    }
    for (uint32_t uc = 0; uc < NOCAP_AIE_REMAINS_COLUMNS; uc++) {
        const struct nocap_aie_column_remains *r = &s->remains->columns[uc];
        const struct stuck_column *c = uc < STUCK_COLUMNS ? &s->columns[uc] : NULL;
        char *note = NULL;
        if (r->has_state) {
            int length = asprintf(&note, "uc%u: state of the firmware 0x%x, %s", uc, r->state,
                                  state_meaning(r->state));
            RETURN_IF_FAILED(add_note(s, "firmware-state", length < 0 ? NULL : note));
        }
        if (c != NULL && c->page != NULL && r->has_off && !r->has_jobs) {
            int length = asprintf(&note,
                                  "uc%u: only what ran last is known, at page %u offset %u; of its "
                                  "other jobs those are told that cannot be over",
                                  uc, r->page, r->off);
            RETURN_IF_FAILED(add_note(s, "last-job-only", length < 0 ? NULL : note));
        }
        RETURN_IF_FAILED(note_counters(s, uc));
    }
    return NOCAP_OK;
}

/* A finding of the static rules, as a likely cause. */
static bool take_finding(struct nocap_report *report, const struct nocap_finding *f)
{
    struct nocap_finding *to = &report->findings[report->finding_count];
    char *observed = NULL;
    if (f->uc == NOCAP_LINT_NOWHERE || f->uc >= STUCK_COLUMNS) {
        return true;
    }
    *to = (struct nocap_finding){.rule = f->rule,
                                 .severity = f->severity,
                                 .place = NOCAP_PLACE_PAGE,
                                 .uc = f->uc,
                                 .page = f->page,
                                 .off = f->off,
                                 .count = 1,
                                 .follows = UINT64_MAX,
                                 .index = UINT64_MAX,
                                 .agent = (uint8_t)(NOCAP_BY_UC0 + f->uc),
                                 .thread = -1,
                                 .message = strdup(f->message),
                                 .expected = strdup(f->expected)};
    int length =
        asprintf(&observed, "uc%u page %u offset %u: %s", f->uc, f->page, f->off, f->observed);
    to->observed = length < 0 ? NULL : observed;
    report->finding_count++;
    return to->message != NULL && to->expected != NULL && to->observed != NULL;
}

/* What the static rules about waiting say of the file. */
static enum nocap_status judge_file(struct stuck *s, const char *path)
{
    struct nocap_report *report = s->waits.hang->report;
    struct nocap_report *lint;
    const struct nocap_lint_options options = {
        .size = sizeof options,
        .dialect = NOCAP_AIE_DIALECT_OF_FILE,
        .rules = "AIE-019,AIE-020,AIE-021,AIE-037,AIE-038,AIE-041,AIE-042,AIE-043,AIE-044,AIE-045,"
                 "AIE-046,AIE-047"};
    RETURN_IF_FAILED(nocap_aie_lint_image(&lint, s->image, path, &options, s->err));
    report->findings = calloc(lint->finding_count + 1, sizeof *report->findings);
    bool memory = report->findings != NULL;
    for (size_t i = 0; memory && i < lint->finding_count; i++) {
        memory = take_finding(report, &lint->findings[i]);
    }
    nocap_report_free(lint);
    RETURN_ERROR_IF(!memory, s->err, NOCAP_E_MEMORY, "out of memory");
    return NOCAP_OK;
}

/* ---- all together ---- */

static enum nocap_status answer(struct stuck *s, const char *path)
{
    struct nocap_hang *h = s->waits.hang;
    bool any = false;
    for (uint32_t uc = 0; uc < NOCAP_AIE_REMAINS_COLUMNS; uc++) {
        if (uc < STUCK_COLUMNS) {
            RETURN_IF_FAILED(stuck_open(s, uc));
        }
        any |=
            s->remains->columns[uc].has_page && (uc >= STUCK_COLUMNS || (s->passed >> uc & 1) == 0);
    }
    RETURN_ERROR_IF(
        !any && s->passed != 0, s->err, NOCAP_E_INPUT,
        "the file has no code of any uC that is told of (mask 0x%x); if numbers count from the "
        "first column of the device, take those before the partition off with --first-column",
        s->passed);
    RETURN_ERROR_IF(
        !any, s->err, NOCAP_E_INPUT,
        "nothing says in which page a column stood; name it with --stuck UC:PAGE:OFFSET");
    stuck_run(s);
    tell(s);
    RETURN_IF_FAILED(nocap_hang_link(&s->waits, s->err));
    nocap_hang_judge(h, NULL, &(struct nocap_progress){.index = UINT64_MAX});
    h->why = h->verdict == NOCAP_HANG_HUNG   ? "these jobs wait, and what could end that is named"
             : h->verdict == NOCAP_HANG_NONE ? "no job is known that waits: what ran last does not"
                                             : h->why;
    RETURN_IF_FAILED(judge_file(s, path));
    RETURN_IF_FAILED(nocap_hang_causes(h, s->err));
    return add_notes(s);
}

static enum nocap_status analyse(struct nocap_hang *h, const char *path,
                                 const struct nocap_aie_remains *remains,
                                 const struct nocap_aie_image *image, struct nocap_error *err)
{
    struct stuck s = {.image = image, .remains = remains, .waits = {.hang = h}, .err = err};
    s.columns = calloc(STUCK_COLUMNS, sizeof *s.columns);
    h->remains = true;
    h->report = calloc(1, sizeof *h->report);
    bool memory = s.columns != NULL && h->report != NULL;
    if (memory) {
        h->report->path = foreign_copy(path);
        memory = h->report->path != NULL;
    }
    enum nocap_status status =
        memory ? answer(&s, path) : nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    for (uint32_t uc = 0; s.columns != NULL && uc < STUCK_COLUMNS; uc++) {
        free(s.columns[uc].jobs);
    }
    free(s.columns);
    return status;
}

enum nocap_status nocap_hang_remains(struct nocap_hang **hang, const char *path, const char *kernel,
                                     const struct nocap_aie_remains *remains,
                                     struct nocap_error *err)
{
    struct nocap_aie_image *image;
    *hang = NULL;
    RETURN_IF_FAILED(nocap_aie_image_open(&image, path, err));
    struct nocap_hang *h = calloc(1, sizeof *h);
    enum nocap_status status = nocap_aie_image_select(image, kernel, err);
    if (status == NOCAP_OK) {
        status = h == NULL ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory")
                           : analyse(h, path, remains, image, err);
    }
    nocap_aie_image_close(image);
    if (status != NOCAP_OK) {
        nocap_hang_free(h);
        h = NULL;
    }
    *hang = h;
    return status;
}
