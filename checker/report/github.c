/* SPDX-License-Identifier: Apache-2.0 */
/* What GitHub shows: annotations, a line each, and a summary in Markdown. */
#include <inttypes.h>
#include <string.h>

#include "base/json_text.h"
#include "checker/report/results.h"

enum { PLACE_MAX = 256 };

/* ---- annotations ---- */

/* Of a workflow command: `special` are the characters that must be escaped. */
static void put_escaped(FILE *out, const char *text, const char *special)
{
    for (; *text != 0; text++) {
        if (strchr(special, *text) != NULL) {
            fprintf(out, "%%%02X", (unsigned char)*text);
        } else {
            fputc(*text, out);
        }
    }
}
static const char in_property[] = "%\r\n:,";
static const char in_message[] = "%\r\n";

static void put_annotation(FILE *out, const struct nocap_result *result,
                           const struct nocap_finding *finding)
{
    static const char *const commands[NOCAP_SEVERITY_COUNT] = {
        [NOCAP_NOTE] = "notice", [NOCAP_WARNING] = "warning", [NOCAP_ERROR] = "error"};
    char place[PLACE_MAX];
    nocap_finding_where(place, sizeof place, finding);
    fprintf(out, "::%s file=", commands[finding->severity]);
    put_escaped(out, nocap_finding_file(finding, result->path), in_property);
    if (nocap_finding_line(finding) != 0) {
        fprintf(out, ",line=%" PRIu64, nocap_finding_line(finding));
    }
    fprintf(out, ",title=%s::", nocap_rules[finding->rule].id);
    put_escaped(out, place, in_message);
    fputs(": ", out);
    put_escaped(out, finding->message, in_message);
    fputc('\n', out);
}

enum nocap_status nocap_results_github(FILE *out, const struct nocap_results *results,
                                       struct nocap_error *err)
{
    for (size_t i = 0; i < results->count; i++) {
        const struct nocap_result *result = &results->list[i];
        if (result->report == NULL) {
            fputs("::error file=", out);
            put_escaped(out, result->path, in_property);
            fputs(",title=unreadable::", out);
            put_escaped(out, result->error, in_message);
            fputc('\n', out);
        }
        for (size_t f = 0; result->report != NULL && f < result->report->finding_count; f++) {
            const struct nocap_finding *finding = &result->report->findings[f];
            if (!finding->waived && !finding->known) {
                put_annotation(out, result, finding);
            }
        }
    }
    return nocap_flush(out, "the annotations", err);
}

/* ---- Markdown ---- */

/* Text in a cell of a table: nothing in it is markup. */
static void put_cell(FILE *out, const char *text)
{
    for (; *text != 0; text++) {
        if (strchr("\\`*_[]<>|~&", *text) != NULL) {
            fputc('\\', out);
        }
        fputc(*text, out);
    }
}

/* How much was judged: events, words, pages. */
static uint64_t size_of(const struct nocap_report *report)
{
    return report->subject == NOCAP_SUBJECT_TRACE    ? report->events
           : report->subject == NOCAP_SUBJECT_KERNEL ? report->words
                                                     : report->pages;
}

static const char *unit_of(const struct nocap_report *report)
{
    return report == NULL || report->subject == NOCAP_SUBJECT_TRACE ? "events"
           : report->subject == NOCAP_SUBJECT_KERNEL                ? "words"
                                                                    : "pages";
}

static void put_row(FILE *out, const struct nocap_results *results,
                    const struct nocap_result *result)
{
    const struct nocap_report *report = result->report;
    fputs("| ", out);
    put_cell(out, result->path);
    if (report == NULL) {
        fputs(" | cannot be read: ", out);
        put_cell(out, result->error);
        fputs(" | | | | | | |\n", out);
        return;
    }
    enum nocap_outcome outcome = nocap_report_outcome(report);
    fprintf(out,
            " | %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64
            " |\n",
            nocap_results_fails(results, report) ? "**fails**"
            : report->truncated                  ? "passes, cut short"
            : outcome == NOCAP_NOT_JUDGED        ? "not judged"
            : outcome == NOCAP_CLEAN             ? "clean"
                                                 : "passes",
            size_of(report), report->counts[NOCAP_ERROR], report->counts[NOCAP_WARNING],
            report->counts[NOCAP_NOTE], report->waived, report->known);
}

static void put_finding_row(FILE *out, const struct nocap_result *result,
                            const struct nocap_finding *finding)
{
    char place[PLACE_MAX];
    nocap_finding_where(place, sizeof place, finding);
    fprintf(out, "| %s | %s | ", nocap_severity_name(finding->severity),
            nocap_rules[finding->rule].id);
    put_cell(out, result->path);
    fputs(", ", out);
    if (finding->file != NULL) {
        put_cell(out, finding->file);
        fprintf(out, ":%u, ", finding->line);
    }
    put_cell(out, place);
    fputs(" | ", out);
    put_cell(out, finding->message);
    fputs(" |\n", out);
}

enum nocap_status nocap_results_markdown(FILE *out, const struct nocap_results *results,
                                         struct nocap_error *err)
{
    const struct nocap_sums sums = nocap_results_sum(results);
    bool head = false;
    const struct nocap_report *first = results->count > 0 ? results->list[0].report : NULL;
    fprintf(out,
            "### %s: %s\n\n| %s | verdict | %s | errors | warnings | notes | waived | known "
            "|\n|---|---|--:|--:|--:|--:|--:|--:|\n",
            nocap_results_command(results),
            sums.failing + sums.unreadable != 0 ? "fails" : "passes", nocap_results_noun(results),
            unit_of(first));
    for (size_t i = 0; i < results->count; i++) {
        put_row(out, results, &results->list[i]);
    }
    for (size_t i = 0; i < results->count; i++) {
        const struct nocap_report *report = results->list[i].report;
        for (size_t f = 0; report != NULL && f < report->finding_count; f++) {
            if (report->findings[f].waived || report->findings[f].known) {
                continue;
            }
            fputs(head ? "" : "\n| severity | rule | where | what |\n|---|---|---|---|\n", out);
            head = true;
            put_finding_row(out, &results->list[i], &report->findings[f]);
        }
    }
    return nocap_flush(out, "the summary", err);
}
