/* SPDX-License-Identifier: Apache-2.0 */
/* AIE control code that hung and was not traced. Of some jobs it is known where they stand. All
 * others are run as far as they could possibly get; what still cannot pass a barrier waits for
 * those whose place is known (postmortem_text.c). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "checker/aie/lint.h"
#include "checker/aie/postmortem.h"
#include "checker/core/findings.h"

enum { TEXT = 400 };

/* ---- what else is known ---- */

/* Takes the sentence, which may be NULL for want of memory. */
static enum nocap_status add_note(struct blocked *s, const char *id, char *note)
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
#include "formats/aie/postmortem.def"
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
static enum nocap_status note_counters(struct blocked *s, uint32_t uc)
{
    const struct nocap_aie_column_postmortem *r = &s->postmortem->columns[uc];
    static const char *const names[NOCAP_AIE_COUNTERS] = {
#define COUNTER(ID, name) [NOCAP_AIE_C_##ID] = name,
#include "formats/aie/postmortem.def"
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
                     ? asprintf(&note, "uc%u: jobs not over: %u; %s", uc, left, text)
                     : asprintf(&note, "uc%u: %s", uc, text);
    return add_note(s, "firmware-counters", length < 0 ? NULL : note);
}

static bool same_digits(const char *a, const char *b)
{
    while (*a != 0 || *b != 0) {
        a += *a == '-';
        b += *b == '-';
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) {
            return false;
        }
        a += *a != 0;
        b += *b != 0;
    }
    return true;
}

/* The runtime says of which file it tells. */
static enum nocap_status note_uid(struct blocked *s)
{
    char *note = NULL;
    if (s->postmortem->uid[0] == 0 || !s->image->has_uid ||
        same_digits(s->postmortem->uid, s->image->uid)) {
        return NOCAP_OK;
    }
    int length = asprintf(&note, "the run was of the file with UUID %.60s; this one has %s",
                          s->postmortem->uid, s->image->uid);
    return add_note(s, "other-file", length < 0 ? NULL : note);
}

static enum nocap_status add_notes(struct blocked *s)
{
    RETURN_IF_FAILED(note_uid(s));
    const struct {
        uint32_t ucs;
        const char *id, *text;
    } passed[] = {
        {s->passed, "no-code", "the file has no code for them"},
        {s->idle, "idle", "they were idle"},
        {s->misfits, "misfit", "the file has no such place; is it the file that ran?"},
    };
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++) {
        char *note = NULL;
        if (passed[i].ucs != 0) {
            int length =
                asprintf(&note, "what is reported of the uCs of mask 0x%x is passed over: %s",
                         passed[i].ucs, passed[i].text);
            RETURN_IF_FAILED(add_note(s, passed[i].id, length < 0 ? NULL : note));
        }
    }
    for (uint32_t uc = 0; uc < NOCAP_AIE_POSTMORTEM_COLUMNS; uc++) {
        const struct nocap_aie_column_postmortem *r = &s->postmortem->columns[uc];
        const struct blocked_column *c = uc < STUCK_COLUMNS ? &s->columns[uc] : NULL;
        char *note = NULL;
        if (r->has_state) {
            int length = asprintf(&note, "uc%u: state of the firmware 0x%x, %s", uc, r->state,
                                  state_meaning(r->state));
            RETURN_IF_FAILED(add_note(s, "firmware-state", length < 0 ? NULL : note));
        }
        if (c != NULL && c->page != NULL && r->has_off && !r->has_jobs) {
            int length = asprintf(&note,
                                  "uc%u: only what ran last is known, at page %u offset %u; of its "
                                  "other jobs those are listed that cannot be over",
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
    bool stream = nocap_rules[f->rule].family == nocap_rules[TXN_001].family;
    uint32_t uc = stream ? 0 : f->uc;
    if (uc == NOCAP_LINT_NOWHERE || uc >= STUCK_COLUMNS) {
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
                                 .agent = (uint8_t)(NOCAP_BY_UC0 + uc),
                                 .thread = -1,
                                 .message = strdup(f->message),
                                 .expected = strdup(f->expected)};
    int length = stream ? asprintf(&observed, "%s", f->observed)
                        : asprintf(&observed, "uc%u page %u offset %u: %s", f->uc, f->page, f->off,
                                   f->observed);
    to->observed = length < 0 ? NULL : observed;
    report->finding_count++;
    return to->message != NULL && to->expected != NULL && to->observed != NULL;
}

/* What the static rules about waiting say of the file. */
static enum nocap_status judge_file(struct blocked *s, const char *path)
{
    struct nocap_report *report = s->waits.hang->report;
    struct nocap_report *lint;
    const struct nocap_lint_options options = {
        .size = sizeof options,
        .dialect = NOCAP_AIE_DIALECT_OF_FILE,
        .rules =
            s->image->stream_count != 0
                ? "TXN-002,TXN-006"
                : "AIE-019,AIE-020,AIE-021,AIE-037,AIE-038,AIE-041,AIE-042,AIE-043,AIE-044,AIE-045,"
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

/* Where the jobs of roots stand in the code and, if the file knows it, in its source. */
static enum nocap_status name_places(const struct blocked *s)
{
    const struct nocap_aie_image *image = s->image;
    struct nocap_aie_lines *lines;
    struct nocap_error ignored; /* without lines: aie lint says why */
    if (nocap_aie_lines_open(&lines, image, 0, &ignored) != NOCAP_OK) {
        lines = NULL;
    }
    bool memory = true;
    for (size_t i = 0; i < s->waits.hang->party_count && memory; i++) {
        struct nocap_hang_party *p = &s->waits.hang->parties[i];
        const struct nocap_wait *w =
            p->wait == SIZE_MAX ? NULL : &s->waits.hang->waits[p->wait].wait;
        if (p->root && w != NULL && w->has_place) {
            uint32_t uc = p->id.agent - NOCAP_BY_UC0;
            p->source = blocked_place(&s->columns[uc], lines, (uint32_t)w->off);
            memory = p->source != NULL;
        }
    }
    nocap_aie_lines_close(lines);
    RETURN_ERROR_IF(!memory, s->err, NOCAP_E_MEMORY, "out of memory");
    return NOCAP_OK;
}

/* Whoever stands somewhere for certain hangs, whatever is known of whom he waits for. */
static void judge(struct nocap_hang *h)
{
    nocap_hang_judge(h, NULL, &(struct nocap_progress){.index = UINT64_MAX});
    for (size_t i = 0; i < h->wait_count; i++) {
        const struct nocap_hang_wait *w = &h->waits[i];
        if (w->wait.certain && w->by != SIZE_MAX && h->parties[w->by].root) {
            h->parties[w->by].verdict = h->verdict = NOCAP_HANG_HUNG;
        }
    }
    h->why = h->verdict == NOCAP_HANG_HUNG   ? "these jobs wait, and what could end that is named"
             : h->verdict == NOCAP_HANG_NONE ? "the uCs were idle when this was recorded"
                                             : "it is not known which job waits: what ran last "
                                               "does not";
}

static enum nocap_status report_pages(struct blocked *s)
{
    bool any = false, beyond = false;
    for (uint32_t uc = 0; uc < NOCAP_AIE_POSTMORTEM_COLUMNS; uc++) {
        if (uc < STUCK_COLUMNS) {
            RETURN_IF_FAILED(blocked_open(s, uc));
            any |= s->columns[uc].page != NULL;
        } else {
            beyond |= s->postmortem->columns[uc].has_page;
        }
    }
    any |= s->idle != 0;
    if (!any && s->misfits != 0) {
        return NOCAP_E_INPUT; /* as was said of the last of them */
    }
    RETURN_ERROR_IF(
        !any && (s->passed != 0 || beyond), s->err, NOCAP_E_INPUT,
        "the file has no code of any uC that is reported (mask 0x%x%s); if numbers count from the "
        "first column of the device, take those before the partition off with --first-column",
        s->passed, beyond ? ", and others from 32 on" : "");
    RETURN_ERROR_IF(
        !any, s->err, NOCAP_E_INPUT,
        "nothing says in which page a column stood; name it with --stuck UC:PAGE:OFFSET");
    blocked_run(s);
    blocked_report(s);
    return NOCAP_OK;
}

static enum nocap_status answer(struct blocked *s, const char *path)
{
    bool streams = s->image->stream_count != 0;
    RETURN_IF_FAILED(streams ? blocked_report_stream(s) : report_pages(s));
    RETURN_IF_FAILED(nocap_hang_link(&s->waits, s->err));
    judge(s->waits.hang);
    if (!streams) {
        RETURN_IF_FAILED(name_places(s));
    }
    RETURN_IF_FAILED(judge_file(s, path));
    RETURN_IF_FAILED(nocap_hang_causes(s->waits.hang, s->err));
    return add_notes(s);
}

static enum nocap_status analyse(struct nocap_hang *h, const char *path,
                                 const struct nocap_aie_postmortem *postmortem,
                                 const struct nocap_aie_image *image, struct nocap_error *err)
{
    struct blocked s = {.image = image, .postmortem = postmortem, .waits = {.hang = h}, .err = err};
    s.columns = calloc(STUCK_COLUMNS, sizeof *s.columns);
    h->offline = true;
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

enum nocap_status nocap_hang_postmortem(struct nocap_hang **hang, const char *path,
                                        const char *kernel,
                                        const struct nocap_aie_postmortem *postmortem,
                                        struct nocap_error *err)
{
    struct nocap_aie_image *image;
    *hang = NULL;
    RETURN_IF_FAILED(nocap_aie_image_open(&image, path, err));
    struct nocap_hang *h = calloc(1, sizeof *h);
    bool told = kernel == NULL && postmortem->kernel[0] != 0 && image->kernel_count != 0;
    enum nocap_status status =
        nocap_aie_image_select(image, told ? postmortem->kernel : kernel, err);
    if (status == NOCAP_OK) {
        status = h == NULL ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory")
                           : analyse(h, path, postmortem, image, err);
    }
    nocap_aie_image_close(image);
    if (status != NOCAP_OK) {
        nocap_hang_free(h);
        h = NULL;
    }
    *hang = h;
    return status;
}
