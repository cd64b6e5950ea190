/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/color.h"
#include "base/json_text.h"
#include "checker/core/checker.h"
#include "checker/core/selection.h"
#include "checker/report/lines.h"
#include "checker/report/results.h"
#include "formats/blackhole/tile_map.h"

enum {
    IDS_SHOWN = 8, /* rules that are named where the same thing holds for many */
    STANDINGS = 3,
    PLACE_MAX = 256,
    COLUMN_MIN = 6, /* digits of a count and what stands before it */
};

static const char *const severity_color[NOCAP_SEVERITY_COUNT] = {
    [NOCAP_NOTE] = COLOR_CYAN, [NOCAP_WARNING] = COLOR_YELLOW, [NOCAP_ERROR] = COLOR_ALARM};

struct printer {
    FILE *out;
    const struct nocap_report *report;
    bool color;
    unsigned detail; /* enum nocap_text_detail */
};

static void print_trace(const struct printer *p)
{
    const struct nocap_report *report = p->report;
    bool line = (p->detail & NOCAP_TEXT_LINE) != 0; /* whose verdict says that it is cut short */
    fprintf(p->out, "%s, %" PRIu64 " event%s", nocap_arch_name(report->arch), report->events,
            nocap_plural(report->events));
    if (report->events != 0 && !line) {
        char beside[NOCAP_BESIDE_TEXT];
        fprintf(p->out, ", t %" PRIu64 "..%" PRIu64 " %s%s", report->t_first, report->t_last,
                nocap_time_unit_name(report->time_unit),
                nocap_time_beside(beside, report, report->t_last - report->t_first));
    }
    if (report->dropped != 0) {
        fprintf(p->out, ", %" PRIu64 " dropped", report->dropped);
    }
    fputs(report->truncated && !line ? ", cut short" : "", p->out);
}

static void print_kernel(const struct printer *p)
{
    const struct nocap_report *report = p->report;
    fprintf(p->out, "thread %u, %zu word%s", report->thread, report->words,
            nocap_plural(report->words));
    if (report->unknown > 0) {
        fprintf(p->out, ", %zu more that the code leaves unknown", report->unknown);
    }
}

static void print_control_code(const struct printer *p)
{
    const struct nocap_report *report = p->report;
    if (report->streams != 0) {
        fprintf(p->out, "%zu transaction stream%s", report->streams, nocap_plural(report->streams));
    } else {
        fprintf(p->out, "%zu column%s, %zu page%s", report->columns, nocap_plural(report->columns),
                report->pages, nocap_plural(report->pages));
    }
    for (size_t i = 0; i < report->kernel_count; i++) {
        fprintf(p->out, "%s%s", i == 0 ? ", of " : ", ", report->kernels[i]);
    }
}

/* What was judged, without the end of the line. */
static void print_head(const struct printer *p)
{
    fprintf(p->out, "%s: ", p->report->path);
    switch (p->report->subject) {
    case NOCAP_SUBJECT_TRACE: print_trace(p); break;
    case NOCAP_SUBJECT_KERNEL: print_kernel(p); break;
    case NOCAP_SUBJECT_CONTROL_CODE: print_control_code(p); break;
    }
}

static void print_event(FILE *out, const struct nocap_report *report,
                        const struct nocap_finding *finding)
{
    fprintf(out, "%" PRIu64 ", t %" PRIu64, finding->index, finding->t);
    if (finding->chip != 0) {
        fprintf(out, ", chip %u", finding->chip);
    }
    if (finding->has_tile) {
        char core[NOCAP_CORE_TEXT];
        fprintf(out, ", %s", nocap_core_text(report->board, finding->at, core));
        if (finding->count > 1) {
            fprintf(out, " and %" PRIu64 " more", finding->count - 1);
        }
    }
    if (finding->agent != NOCAP_BY_NONE) {
        fprintf(out, ", %s", nocap_agent_name(finding->agent));
    }
    if (finding->thread >= 0) {
        fprintf(out, " thread %d", finding->thread);
    }
}

static void print_place(FILE *out, const struct nocap_report *report,
                        const struct nocap_finding *finding)
{
    char place[PLACE_MAX];
    if (finding->place == NOCAP_PLACE_EVENT) {
        print_event(out, report, finding);
        return;
    }
    nocap_finding_place(place, sizeof place, finding);
    fputs(place, out);
    if (finding->file != NULL) {
        fprintf(out, " (%s:%u)", finding->file, finding->line);
    }
}

/* The place, what is known of it, and what must hold, unless `before` has said so. `what`: what was
 * violated, after the place. */
static void print_at(FILE *out, const struct nocap_report *report,
                     const struct nocap_finding *finding, const struct nocap_finding *before,
                     const char *what)
{
    fputs("at ", out);
    print_place(out, report, finding);
    if (finding->follows != UINT64_MAX) {
        fprintf(out, ", follows from %" PRIu64, finding->follows);
    }
    for (uint32_t i = 0; i < finding->related_count; i++) {
        fprintf(out, "%s%" PRIu64, i == 0 ? " (see " : ", ", finding->related[i]);
    }
    fputs(finding->related_count != 0 ? ")" : "", out);
    if (finding->written != NULL) {
        fprintf(out, " [%s]", finding->written);
    }
    if (what != NULL) {
        fprintf(out, ": %s", what);
    }
    if (before == NULL || strcmp(before->expected, finding->expected) != 0) {
        fprintf(out, "; expected %s", finding->expected);
    }
}

void nocap_finding_text(FILE *out, const struct nocap_report *report,
                        const struct nocap_finding *finding)
{
    print_at(out, report, finding, NULL, finding->observed);
}

static void print_consequence(const struct printer *p, const struct nocap_finding *f)
{
    fprintf(p->out, "    follows: %s at %" PRIu64 ": %s; expected %s\n", nocap_rules[f->rule].id,
            f->index, f->observed, f->expected);
}

/* `before`: the finding of this rule above it, NULL where its headline stands. */
static void print_finding(const struct printer *p, const struct nocap_finding *finding,
                          const struct nocap_finding *before)
{
    bool all = (p->detail & NOCAP_TEXT_ALL) != 0;
    fputs("  ", p->out);
    print_at(p->out, p->report, finding, before, before == NULL ? NULL : finding->observed);
    if (finding->reason != NULL) {
        fprintf(p->out, " -- %s", finding->reason);
    }
    if (finding->consequences != 0) {
        fprintf(p->out, " +%" PRIu64 " consequence%s", finding->consequences,
                nocap_plural(finding->consequences));
    }
    fputc('\n', p->out);
    for (size_t i = 0; all && i < p->report->consequence_count; i++) {
        const struct nocap_finding *f = &p->report->consequences[i];
        if (f->fault == finding->fault) {
            print_consequence(p, f);
        }
    }
}

/* What a finding is to the reader: new, waived or known. */
static unsigned standing(const struct nocap_finding *finding)
{
    return finding->waived ? 1 : finding->known ? 2 : 0;
}

/* All kept findings of the rule of findings[first] that stand as that one: its headline says what
 * was violated. */
static void print_group(const struct printer *p, size_t first)
{
    const struct nocap_report *report = p->report;
    const struct nocap_finding *head = &report->findings[first];
    const struct nocap_rule_report *rule = &report->rules[head->rule];
    const struct nocap_finding *before = NULL;
    const uint64_t counts[STANDINGS] = {rule->violations - rule->waived - rule->known, rule->waived,
                                        rule->known};
    uint64_t count = counts[standing(head)], shown = 0;
    color_put(p->out, p->color, standing(head) != 0 ? COLOR_DIM : severity_color[head->severity],
              head->waived  ? "waived"
              : head->known ? "known"
                            : nocap_severity_name(head->severity));
    fprintf(p->out, " %s: %s", nocap_rules[head->rule].id, head->observed);
    fprintf(p->out, count > 1 ? " (%" PRIu64 " times)\n" : "\n", count);
    for (size_t i = first; i < report->finding_count; i++) {
        const struct nocap_finding *finding = &report->findings[i];
        if (finding->rule == head->rule && standing(finding) == standing(head)) {
            print_finding(p, finding, before);
            before = finding;
            shown++;
        }
    }
    if (shown < count) {
        fprintf(p->out, "  ... and %" PRIu64 " more\n", count - shown);
    }
}

/* Groups by rule, in the order of their first finding: what went wrong first stands first. */
static void print_findings(const struct printer *p)
{
    bool printed[NOCAP_RULE_COUNT][STANDINGS] = {{false}};
    for (size_t i = 0; i < p->report->finding_count; i++) {
        const struct nocap_finding *finding = &p->report->findings[i];
        bool *done = &printed[finding->rule][standing(finding)];
        if (!*done) {
            print_group(p, i);
            *done = true;
        }
    }
    for (size_t i = 0; nocap_report_only_follows(p->report) && i < p->report->consequence_count;
         i++) {
        print_consequence(p, &p->report->consequences[i]);
    }
}

/* Whether the rule can apply to what was judged: it was asked for, and a trace's architecture has
 * it, or the rule is judged on code. */
static bool applies(const struct nocap_report *report, unsigned rule)
{
    const struct nocap_rule_report *r = &report->rules[rule];
    return r->selected &&
           (report->subject == NOCAP_SUBJECT_TRACE ? r->obstacle != NOCAP_OTHER_ARCH
                                                   : r->obstacle == NOCAP_OBSERVABLE);
}

static const char *heading(unsigned verdict)
{
    return verdict == NOCAP_HELD ? "passed" : nocap_verdict_name((enum nocap_verdict)verdict);
}

static int column_width(unsigned verdict)
{
    size_t width = strlen(heading(verdict));
    return width < COLUMN_MIN ? COLUMN_MIN : (int)width;
}

/* A row for each family of which a rule can apply. */
static void print_families(const struct printer *p)
{
    fprintf(p->out, "\n%-7s", "rules");
    for (unsigned v = 0; v < NOCAP_VERDICT_COUNT; v++) {
        fprintf(p->out, "  %*s", column_width(v), heading(v));
    }
    fputc('\n', p->out);
    for (unsigned family = 0; family < nocap_family_count; family++) {
        unsigned counts[NOCAP_VERDICT_COUNT] = {0}, all = 0;
        for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
            if (nocap_rules[i].family == family && applies(p->report, i)) {
                counts[p->report->rules[i].verdict]++;
                all++;
            }
        }
        if (all == 0) {
            continue;
        }
        fprintf(p->out, "%-7s", nocap_families[family].name);
        for (unsigned v = 0; v < NOCAP_VERDICT_COUNT; v++) {
            fprintf(p->out, "  %*u", column_width(v), counts[v]);
        }
        fputc('\n', p->out);
    }
}

static bool same_obstacle(const struct nocap_rule_report *a, const struct nocap_rule_report *b)
{
    return a->verdict == NOCAP_NOT_OBSERVABLE && b->verdict == NOCAP_NOT_OBSERVABLE &&
           a->obstacle == b->obstacle && a->missing == b->missing &&
           a->missing_any == b->missing_any;
}

/* One line for each reason why rules that can apply were not judged. */
static void print_obstacles(const struct printer *p)
{
    const struct nocap_rule_report *rules = p->report->rules;
    bool printed[NOCAP_RULE_COUNT] = {false};
    for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (rules[i].verdict != NOCAP_NOT_OBSERVABLE || printed[i] || !applies(p->report, i)) {
            continue;
        }
        char why[512];
        unsigned count = 0;
        nocap_selection_why(why, sizeof why, &rules[i], p->report->arch);
        fprintf(p->out, "not observable, %s:", why);
        for (unsigned j = i; j < NOCAP_RULE_COUNT; j++) {
            if (same_obstacle(&rules[i], &rules[j])) {
                printed[j] = true;
                if (count++ < IDS_SHOWN) {
                    fprintf(p->out, " %s", nocap_rules[j].id);
                }
            }
        }
        if (count > IDS_SHOWN) {
            fprintf(p->out, " and %u more", count - IDS_SHOWN);
        }
        fputc('\n', p->out);
    }
}

/* The trace ends early, and nothing else is found in it. */
static bool nothing_but_cut(const struct nocap_report *report)
{
    const struct nocap_rule_report *cut = &report->rules[TRC_001];
    uint64_t others = 0;
    for (unsigned s = 0; s < NOCAP_SEVERITY_COUNT; s++) {
        others += report->counts[s];
    }
    return (report->truncated || report->ended) &&
           others == cut->violations - cut->waived - cut->known;
}

/* "1 error, 0 warnings, 2 notes" */
static void print_counts(char *text, size_t size, const struct nocap_report *report)
{
    const uint64_t *n = report->counts;
    snprintf(text, size, "%" PRIu64 " error%s, %" PRIu64 " warning%s, %" PRIu64 " note%s",
             n[NOCAP_ERROR], nocap_plural(n[NOCAP_ERROR]), n[NOCAP_WARNING],
             nocap_plural(n[NOCAP_WARNING]), n[NOCAP_NOTE], nocap_plural(n[NOCAP_NOTE]));
}

/* "; passed 91 of 178 rules": of those that could be judged here */
static void print_passed(const struct printer *p)
{
    unsigned passed = 0, all = 0;
    for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
        passed += p->report->rules[i].verdict == NOCAP_HELD;
        all += applies(p->report, i) && p->report->rules[i].verdict != NOCAP_NOT_OBSERVABLE;
    }
    fprintf(p->out, "; passed %u of %u rule%s\n", passed, all, nocap_plural(all));
}

static void print_verdict(const struct printer *p)
{
    char cut[64] = "", counts[96] = "";
    const struct nocap_report *report = p->report;
    enum nocap_outcome outcome = nocap_report_outcome(report);
    const char *color = outcome == NOCAP_NOT_JUDGED ? severity_color[NOCAP_WARNING] : COLOR_GREEN;
    char text[240] = "clean";
    for (unsigned s = 0; s < NOCAP_SEVERITY_COUNT; s++) {
        color = report->counts[s] != 0 ? severity_color[s] : color;
    }
    if (report->truncated) {
        snprintf(cut, sizeof cut, "cut short after event %" PRIu64, report->cut_after);
    } else if (report->ended) {
        snprintf(cut, sizeof cut, "the process ended inside a call of the simulator");
    }
    if (nocap_report_fails(report, NOCAP_NOTE)) {
        print_counts(counts, sizeof counts, report);
    }
    const char *comma = cut[0] != '\0' ? ", " : "";
    if (outcome == NOCAP_NOT_JUDGED) {
        snprintf(text, sizeof text, "not judged: %s%s%s%s%s", nocap_report_unjudged(report),
                 counts[0] != 0 ? "; " : "", counts, comma, cut);
    } else if (nocap_report_only_follows(report)) {
        snprintf(text, sizeof text, "only what follows from findings that were left out%s%s", comma,
                 cut);
    } else if (nothing_but_cut(report)) {
        snprintf(text, sizeof text, "clean as far as it goes: %s", cut);
    } else if (outcome == NOCAP_FINDINGS) {
        snprintf(text, sizeof text, "%s%s%s", counts, comma, cut);
    }
    color_put(p->out, p->color, color, text);
    if (report->waived != 0) {
        fprintf(p->out, ", %" PRIu64 " waived", report->waived);
    }
    if (report->known != 0) {
        fprintf(p->out, ", %" PRIu64 " known", report->known);
    }
    print_passed(p);
}

static void print_notes(const struct printer *p, const char *indent)
{
    for (size_t i = 0; i < p->report->note_count; i++) {
        fprintf(p->out, "%sNOTE: %s\n", indent, p->report->notes[i]);
    }
}

bool nocap_report_is_line(const struct nocap_report *report)
{
    return report->finding_count == 0 && nocap_report_outcome(report) != NOCAP_FINDINGS;
}

enum nocap_status nocap_report_text(FILE *out, const struct nocap_report *report, bool color,
                                    unsigned detail, struct nocap_error *err)
{
    bool line = (detail & NOCAP_TEXT_LINE) != 0 && nocap_report_is_line(report);
    const struct printer p = {.out = out,
                              .report = report,
                              .color = color,
                              .detail = line ? detail : detail & ~(unsigned)NOCAP_TEXT_LINE};
    print_head(&p);
    if (line) {
        fputs(": ", out);
        print_verdict(&p);
        print_notes(&p, "  ");
        return nocap_flush(out, "the report", err);
    }
    fputc('\n', out);
    print_findings(&p);
    if ((detail & NOCAP_TEXT_TABLE) != 0 && report->subject == NOCAP_SUBJECT_TRACE) {
        print_families(&p);
        print_obstacles(&p);
    }
    print_notes(&p, "");
    fputs("verdict: ", out);
    print_verdict(&p);
    return nocap_flush(out, "the report", err);
}
