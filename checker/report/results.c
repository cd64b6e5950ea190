/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/report/results.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/foreign_text.h"
#include "base/json_text.h"
#include "checker/core/findings.h"
#include "checker/report/lines.h"

enum nocap_status nocap_results_new(struct nocap_results *results, size_t count,
                                    struct nocap_error *err)
{
    *results = (struct nocap_results){.list = calloc(count + 1, sizeof *results->list),
                                      .fail_on = NOCAP_ERROR};
    RETURN_ERROR_IF(results->list == NULL, err, NOCAP_E_MEMORY, "out of memory");
    results->count = count;
    return NOCAP_OK;
}

enum nocap_status nocap_results_set(struct nocap_results *results, size_t i, const char *path,
                                    struct nocap_report *report, const char *error,
                                    struct nocap_error *err)
{
    results->list[i] = (struct nocap_result){
        .path = foreign_copy(path),
        .report = report,
        .error = report == NULL ? foreign_copy(error) : NULL,
    };
    RETURN_ERROR_IF(results->list[i].path == NULL ||
                        (report == NULL && results->list[i].error == NULL),
                    err, NOCAP_E_MEMORY, "out of memory");
    return NOCAP_OK;
}

void nocap_results_free(struct nocap_results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        free(results->list[i].path);
        free(results->list[i].error);
        nocap_report_free(results->list[i].report);
    }
    free(results->list);
    *results = (struct nocap_results){0};
}

enum nocap_status nocap_results_note_waivers(struct nocap_results *results,
                                             const struct nocap_waivers *waivers,
                                             struct nocap_error *err)
{
    for (size_t i = 0; i < results->count; i++) {
        if (results->list[i].report != NULL) {
            return nocap_waivers_notes(waivers, nocap_report_add_note, results->list[i].report,
                                       err);
        }
    }
    return NOCAP_OK;
}

bool nocap_results_fails(const struct nocap_results *results, const struct nocap_report *report)
{
    return nocap_report_fails(report, results->fail_on) ||
           (results->strict &&
            (report->truncated || nocap_report_outcome(report) == NOCAP_NOT_JUDGED));
}

struct nocap_sums nocap_results_sum(const struct nocap_results *results)
{
    struct nocap_sums sums = {.waived = 0};
    for (size_t i = 0; i < results->count; i++) {
        const struct nocap_report *report = results->list[i].report;
        if (report == NULL) {
            sums.unreadable++;
            continue;
        }
        for (int s = 0; s < NOCAP_SEVERITY_COUNT; s++) {
            sums.counts[s] += report->counts[s];
        }
        sums.waived += report->waived;
        sums.known += report->known;
        sums.unjudged += nocap_report_outcome(report) == NOCAP_NOT_JUDGED;
        sums.failing += nocap_results_fails(results, report);
    }
    return sums;
}

const char *nocap_results_noun(const struct nocap_results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        if (results->list[i].report != NULL) {
            return results->list[i].report->subject == NOCAP_SUBJECT_TRACE ? "trace" : "file";
        }
    }
    return results->command == NULL ? "trace" : "file";
}

const char *nocap_results_command(const struct nocap_results *results)
{
    return results->command != NULL ? results->command : "nocap check";
}

/* The reports in their order: those without findings a line each, the others with a blank line
 * around them. */
static enum nocap_status print_reports(FILE *out, const struct nocap_results *results, bool color,
                                       struct nocap_error *err)
{
    bool several = results->count > 1, parted = true;
    unsigned detail = (results->all ? NOCAP_TEXT_ALL : 0u) | (results->verbose ? NOCAP_TEXT_TABLE
                                                              : several        ? NOCAP_TEXT_LINE
                                                                               : 0u);
    for (size_t i = 0; i < results->count; i++) {
        const struct nocap_report *report = results->list[i].report;
        if (report == NULL) {
            continue;
        }
        bool line = (detail & NOCAP_TEXT_LINE) != 0 && nocap_report_is_line(report);
        fputs(line || parted ? "" : "\n", out);
        RETURN_IF_FAILED(nocap_report_text(out, report, color, detail, err));
        parted = several && !line;
        fputs(parted ? "\n" : "", out);
    }
    return NOCAP_OK;
}

enum nocap_status nocap_results_text(FILE *out, const struct nocap_results *results, bool color,
                                     struct nocap_error *err)
{
    const struct nocap_sums sums = nocap_results_sum(results);
    RETURN_IF_FAILED(print_reports(out, results, color, err));
    if (results->count > 1) {
        fprintf(out,
                "%zu %ss: %" PRIu64 " fail, %" PRIu64 " cannot be read; %" PRIu64
                " error%s, %" PRIu64 " warning%s, %" PRIu64 " note%s, %" PRIu64 " waived, %" PRIu64
                " known",
                results->count, nocap_results_noun(results), sums.failing, sums.unreadable,
                sums.counts[NOCAP_ERROR], nocap_plural(sums.counts[NOCAP_ERROR]),
                sums.counts[NOCAP_WARNING], nocap_plural(sums.counts[NOCAP_WARNING]),
                sums.counts[NOCAP_NOTE], nocap_plural(sums.counts[NOCAP_NOTE]), sums.waived,
                sums.known);
        if (sums.unjudged != 0) {
            fprintf(out, "; %" PRIu64 " not judged", sums.unjudged);
        }
        fputc('\n', out);
    }
    return nocap_flush(out, "the report", err);
}

enum nocap_status nocap_results_print(FILE *out, const struct nocap_results *results,
                                      enum nocap_format format, bool color, struct nocap_error *err)
{
    switch (format) {
    case NOCAP_FORMAT_JSON: return nocap_results_json(out, results, err);
    case NOCAP_FORMAT_SARIF: return nocap_results_sarif(out, results, err);
    case NOCAP_FORMAT_JUNIT: return nocap_results_junit(out, results, err);
    case NOCAP_FORMAT_GITHUB: return nocap_results_github(out, results, err);
    case NOCAP_FORMAT_BASELINE: return nocap_results_baseline(out, results, err);
    case NOCAP_FORMAT_MARKDOWN: return nocap_results_markdown(out, results, err);
    default: return nocap_results_text(out, results, color, err);
    }
}
