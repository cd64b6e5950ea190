/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/findings.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/foreign_text.h"
#include "base/list.h"
#include "checker/core/selection.h"
#include "formats/blackhole/xy.h"

static void finding_free(struct nocap_finding *finding)
{
    free(finding->message);
    free(finding->expected);
    free(finding->observed);
    free(finding->reason);
    free(finding->written);
    free(finding->symbol);
    free(finding->file);
}

void nocap_report_free(struct nocap_report *report)
{
    if (report == NULL) {
        return;
    }
    for (size_t i = 0; i < report->finding_count; i++) {
        finding_free(&report->findings[i]);
    }
    for (size_t i = 0; i < report->consequence_count; i++) {
        finding_free(&report->consequences[i]);
    }
    free(report->consequences);
    for (size_t i = 0; i < report->note_count; i++) {
        free(report->notes[i]);
        free(report->note_ids[i]);
    }
    for (size_t i = 0; i < report->kernel_count; i++) {
        free(report->kernels[i]);
    }
    free(report->kernels);
    free(report->findings);
    free(report->notes);
    free(report->note_ids);
    free(report->path);
    free(report);
}

bool nocap_report_fails(const struct nocap_report *report, enum nocap_severity severity)
{
    for (unsigned s = (unsigned)severity; s < NOCAP_SEVERITY_COUNT; s++) {
        if (report->counts[s] != 0) {
            return true;
        }
    }
    return false;
}

enum nocap_status nocap_report_add_note(void *context, const char *id, const char *note,
                                        struct nocap_error *err)
{
    struct nocap_report *report = context;
    size_t count = report->note_count;
    char **next = LIST_NEXT(report->notes, count), **next_id = LIST_NEXT(report->note_ids, count);
    char *text = foreign_copy(note), *name = strdup(id);
    if (text == NULL || name == NULL || next == NULL || next_id == NULL) {
        free(text);
        free(name);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory for the report's notes");
    }
    *next = text;
    *next_id = name;
    report->note_count++;
    return NOCAP_OK;
}

enum nocap_status nocap_findings_open(struct nocap_findings *findings, struct nocap_error *err)
{
    const struct nocap_check_options *options = findings->options;
    const struct nocap_baseline *known = options->known;
    findings->waivers = options->accepted;
    if (findings->waivers == NULL && options->waivers != NULL) {
        RETURN_IF_FAILED(
            nocap_waivers_open(&findings->own_waivers, options->waivers, (int64_t)time(NULL), err));
        findings->waivers = findings->own_waivers;
    }
    if (known == NULL && options->baseline != NULL) {
        RETURN_IF_FAILED(nocap_baseline_open(&findings->own_baseline, options->baseline, err));
        known = findings->own_baseline;
    }
    return known == NULL
               ? NOCAP_OK
               : nocap_baseline_use_open(&findings->baseline, known, findings->report->path, err);
}

void nocap_findings_close(struct nocap_findings *findings)
{
    nocap_fold_free(findings->fold);
    nocap_waivers_close(findings->own_waivers);
    nocap_baseline_use_close(findings->baseline);
    nocap_baseline_close(findings->own_baseline);
}

/* Whether the options ask for a finding at this time and place. */
static bool wanted(const struct nocap_check_options *options, const struct nocap_divergence *d)
{
    bool late = !options->has_from || d->t >= options->from;
    bool early = !options->has_to || d->t <= options->to;
    bool there = !options->has_tile || !d->has_tile || nocap_xy_equal(d->at, options->tile);
    return late && early && there;
}

static char *message_of(const struct nocap_divergence *d)
{
    char *message = NULL;
    int length = asprintf(&message, "%s; expected %s", d->observed, d->expected);
    return length < 0 ? NULL : message;
}

static bool copy(char **to, const char *text)
{
    *to = text == NULL ? NULL : foreign_copy(text);
    return text == NULL || *to != NULL;
}

/* Copies the divergence into `finding`, with the members of `place` that say where in a file it is;
 * false if out of memory. */
static bool finding_fill(struct nocap_finding *finding, const struct nocap_divergence *d,
                         const struct nocap_finding *place, const char *reason, bool known)
{
    char *message = message_of(d);
    uint32_t related = d->related_count < NOCAP_RELATED_MAX ? d->related_count : NOCAP_RELATED_MAX;
    *finding = (struct nocap_finding){
        .rule = d->rule,
        .severity = place->severity,
        .place = place->place,
        .waived = reason != NULL,
        .known = known,
        .has_tile = d->has_tile,
        .index = d->index,
        .t = d->t,
        .count = 1,
        .chip = d->chip,
        .at = d->at,
        .agent = d->agent,
        .thread = d->thread,
        .seen = d->seen,
        .at_end = d->present == UINT64_MAX,
        .related_count = related,
        .fault = d->fault,
        .follows = place->follows,
        .address = place->address,
        .offset = place->offset,
        .uc = place->uc,
        .page = place->page,
        .off = place->off,
        .kernel = place->kernel,
        .line = place->line,
    };
    memcpy(finding->related, d->related, related * sizeof d->related[0]);
    bool whole = message != NULL && copy(&finding->message, message) &&
                 copy(&finding->expected, d->expected) && copy(&finding->observed, d->observed) &&
                 copy(&finding->reason, reason) && copy(&finding->symbol, place->symbol) &&
                 copy(&finding->file, place->file);
    free(message);
    if (!whole) {
        finding_free(finding);
    }
    return whole;
}

/* The finding that says the same of another tile: a multicast is one act. */
static struct nocap_finding *find_same(const struct nocap_findings *findings,
                                       const struct nocap_divergence *d, bool waived)
{
    size_t last = findings->last[d->rule];
    if (last == 0) {
        return NULL;
    }
    struct nocap_finding *f = &findings->report->findings[last - 1];
    bool elsewhere = f->chip != d->chip || !nocap_xy_equal(f->at, d->at);
    bool same = elsewhere && f->index == d->index && f->agent == d->agent &&
                f->thread == d->thread && f->waived == waived &&
                strcmp(f->expected, d->expected) == 0 && strcmp(f->observed, d->observed) == 0;
    return same ? f : NULL;
}

static bool may_keep(const struct nocap_findings *findings, uint32_t *kept)
{
    uint32_t most = findings->options->max_per_rule;
    if (*kept >= (most == 0 ? NOCAP_MAX_PER_RULE_DEFAULT : most)) {
        return false;
    }
    ++*kept;
    return true;
}

/* What follows from a fault: kept beside the findings, and counted at the one that it follows from,
 * if that is kept. */
static void add_consequence(struct nocap_findings *findings, const struct nocap_divergence *d,
                            const struct nocap_finding *place)
{
    struct nocap_report *report = findings->report;
    report->rules[d->rule].consequences++;
    for (size_t i = report->finding_count; i > 0; i--) {
        if (report->findings[i - 1].fault == d->fault) {
            report->findings[i - 1].consequences++;
            break;
        }
    }
    if (!may_keep(findings, &findings->kept[d->rule][3])) {
        return;
    }
    struct nocap_finding *f = LIST_NEXT(report->consequences, report->consequence_count);
    if (f == NULL || !finding_fill(f, d, place, NULL, false)) {
        findings->status = NOCAP_E_MEMORY;
        return;
    }
    report->consequence_count++;
}

/* Counts a finding as new, waived or known; false if as many of these are kept as may be. */
static bool count(struct nocap_findings *findings, enum nocap_rule rule,
                  enum nocap_severity severity, bool waived, bool known)
{
    struct nocap_report *report = findings->report;
    struct nocap_rule_report *r = &report->rules[rule];
    r->violations++;
    r->waived += waived;
    r->known += known;
    report->waived += waived;
    report->known += known;
    report->counts[severity] += !waived && !known;
    return may_keep(findings, &findings->kept[rule][waived ? 1 : known ? 2 : 0]);
}

static void add_finding(struct nocap_findings *findings, const struct nocap_divergence *d,
                        const struct nocap_finding *place)
{
    struct nocap_report *report = findings->report;
    const char *reason =
        findings->waivers != NULL ? nocap_waivers_match(findings->waivers, report->path, d) : NULL;
    struct nocap_finding *same =
        place->place == NOCAP_PLACE_EVENT ? find_same(findings, d, reason != NULL) : NULL;
    if (same != NULL) {
        same->count++;
        return;
    }
    bool known = reason == NULL && findings->baseline != NULL &&
                 nocap_baseline_match(findings->baseline, d, place);
    if (!count(findings, d->rule, place->severity, reason != NULL, known)) {
        return;
    }
    struct nocap_finding *f = LIST_NEXT(report->findings, report->finding_count);
    if (f == NULL || !finding_fill(f, d, place, reason, known)) {
        findings->status = NOCAP_E_MEMORY;
        return;
    }
    findings->last[d->rule] = ++report->finding_count;
    if (findings->options->reported != NULL) {
        findings->options->reported(findings->options->reported_context, f);
    }
}

/* Takes what the fold hands on. */
static void take(void *context, const struct nocap_divergence *divergence, uint64_t from)
{
    struct nocap_findings *findings = context;
    struct nocap_divergence d = *divergence;
    struct nocap_finding place = {.severity = nocap_severity_of(&d), .follows = from};
    if (!nocap_selection_judged(&findings->report->rules[d.rule]) ||
        !wanted(findings->options, &d)) {
        return;
    }
    if (findings->locate != NULL && !findings->locate(findings->locate_context, &d, &place)) {
        findings->status = NOCAP_E_MEMORY;
    } else if (d.follows) {
        add_consequence(findings, &d, &place);
    } else {
        add_finding(findings, &d, &place);
    }
    free(place.symbol);
    free(place.file);
}

void nocap_findings_keep(struct nocap_findings *findings, const struct nocap_divergence *divergence,
                         enum nocap_severity severity, const struct nocap_finding *place)
{
    struct nocap_finding at = *place;
    at.severity = severity;
    at.follows = UINT64_MAX;
    if (nocap_selection_judged(&findings->report->rules[divergence->rule])) {
        add_finding(findings, divergence, &at);
    }
}

void nocap_findings_add(void *context, const struct nocap_divergence *divergence)
{
    struct nocap_findings *findings = context;
    if (findings->fold == NULL) {
        findings->fold = nocap_fold_new(take, findings);
    }
    if (findings->fold == NULL) {
        findings->status = NOCAP_E_MEMORY;
        return;
    }
    nocap_fold_add(findings->fold, divergence);
}

void nocap_findings_commit(struct nocap_findings *findings)
{
    if (findings->fold != NULL) {
        nocap_fold_flush(findings->fold);
    }
}

/* By index - of control code: by kernel, column, page and offset -, then rule, then place and core:
 * the order does not depend on the sort. */
static int by_index(const void *a, const void *b)
{
    const struct nocap_finding *f = a, *g = b;
    int kernels = strcmp(f->kernel == NULL ? "" : f->kernel, g->kernel == NULL ? "" : g->kernel);
    if (kernels != 0) {
        return kernels;
    }
    bool page = f->place == NOCAP_PLACE_PAGE;
    const uint64_t keys[][2] = {
        {f->uc, g->uc},
        {f->page, g->page},
        {page ? f->off : f->index, page ? g->off : g->index},
        {f->rule, g->rule},
        {f->chip, g->chip},
        {f->at.x, g->at.x},
        {f->at.y, g->at.y},
        {f->agent, g->agent},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return strcmp(f->message, g->message);
}

static enum nocap_verdict verdict_of(const struct nocap_rule_report *rule)
{
    if (!rule->selected) {
        return NOCAP_NOT_EXERCISED;
    }
    if (rule->obstacle != NOCAP_OBSERVABLE) {
        return NOCAP_NOT_OBSERVABLE;
    }
    if (rule->violations != 0) {
        return rule->waived == rule->violations ? NOCAP_WAIVED : NOCAP_VIOLATED;
    }
    if (rule->consequences != 0) {
        return NOCAP_VIOLATED;
    }
    return rule->exercised != 0 ? NOCAP_HELD : NOCAP_NOT_EXERCISED;
}

/* Of waivers for several traces the notes are made when all are judged. */
static enum nocap_status note_waivers(const struct nocap_findings *findings,
                                      struct nocap_error *err)
{
    const struct nocap_check_options *options = findings->options;
    bool judged[NOCAP_RULE_COUNT], part = options->has_from || options->has_to || options->has_tile;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        judged[i] = !part && nocap_selection_judged(&findings->report->rules[i]);
    }
    if (findings->waivers != NULL) {
        nocap_waivers_judged(findings->waivers, findings->report->path, judged);
    }
    return findings->own_waivers == NULL
               ? NOCAP_OK
               : nocap_waivers_notes(findings->own_waivers, nocap_report_add_note, findings->report,
                                     err);
}

enum nocap_status nocap_findings_finish(struct nocap_findings *findings, const uint64_t *exercised,
                                        struct nocap_error *err)
{
    struct nocap_report *report = findings->report;
    nocap_findings_commit(findings);
    nocap_fold_free(findings->fold);
    findings->fold = NULL;
    RETURN_ERROR_IF(findings->status != NOCAP_OK, err, findings->status,
                    "out of memory for findings: ask for fewer with --max-per-rule");
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        struct nocap_rule_report *rule = &report->rules[i];
        rule->exercised = nocap_selection_judged(rule) ? exercised[i] : 0;
        rule->verdict = verdict_of(rule);
    }
    if (report->finding_count > 1) {
        qsort(report->findings, report->finding_count, sizeof report->findings[0], by_index);
    }
    if (report->consequence_count > 1) {
        qsort(report->consequences, report->consequence_count, sizeof report->consequences[0],
              by_index);
    }
    return note_waivers(findings, err);
}
