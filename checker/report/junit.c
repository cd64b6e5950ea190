/* SPDX-License-Identifier: Apache-2.0 */
/* JUnit XML: a suite a trace, a case a rule that was judged on it, and one for whether it could be
 * read at all. */
#include <inttypes.h>

#include "base/json_text.h"
#include "checker/report/results.h"

enum { PLACE_MAX = 256 };

static void put_xml(FILE *out, const char *text)
{
    for (; *text != 0; text++) {
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*text, out); break;
        }
    }
}

static void put_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    put_xml(out, text);
    fputc('"', out);
}

static bool is_case(const struct nocap_rule_report *rule)
{
    return rule->verdict == NOCAP_HELD || rule->verdict == NOCAP_VIOLATED ||
           rule->verdict == NOCAP_WAIVED;
}

static uint64_t fresh(const struct nocap_rule_report *rule)
{
    return rule->violations - rule->waived - rule->known;
}

/* Of the findings that are neither waived nor known: one may be less severe than its rule. */
static enum nocap_severity worst(const struct nocap_report *report, int i)
{
    enum nocap_severity severity = NOCAP_NOTE;
    for (size_t f = 0; f < report->finding_count; f++) {
        const struct nocap_finding *finding = &report->findings[f];
        bool counts = (int)finding->rule == i && !finding->waived && !finding->known;
        severity = counts && finding->severity > severity ? finding->severity : severity;
    }
    return severity;
}

static bool fails(const struct nocap_results *results, const struct nocap_report *report, int i)
{
    return fresh(&report->rules[i]) != 0 && worst(report, i) >= results->fail_on;
}

/* Whether the trace counts as one that cannot be read to its end. */
static bool fails_to_end(const struct nocap_results *results, const struct nocap_result *result)
{
    return results->strict && result->report != NULL && result->report->truncated;
}

static void put_findings(FILE *out, const struct nocap_report *report, int rule)
{
    uint64_t shown = 0;
    for (size_t f = 0; f < report->finding_count; f++) {
        const struct nocap_finding *finding = &report->findings[f];
        char place[PLACE_MAX];
        if ((int)finding->rule != rule) {
            continue;
        }
        nocap_finding_where(place, sizeof place, finding);
        fputs(finding->waived ? "waived: " : "", out);
        put_xml(out, place);
        fputs(finding->known ? ": known: " : ": ", out);
        put_xml(out, finding->message);
        fputc('\n', out);
        shown++;
    }
    if (shown < report->rules[rule].violations) {
        fprintf(out, "... and %" PRIu64 " more\n", report->rules[rule].violations - shown);
    }
}

static void put_case(FILE *out, const struct nocap_results *results,
                     const struct nocap_result *result, int rule)
{
    const struct nocap_report *report = result->report;
    fputs("    <testcase", out);
    put_attribute(out, "classname", result->path);
    fprintf(out, " name=\"%s ", nocap_rules[rule].id);
    put_xml(out, nocap_rules[rule].sentence);
    if (report->rules[rule].violations == 0) {
        fputs("\"/>\n", out);
        return;
    }
    bool failed = fails(results, report, rule);
    fputs("\">\n      ", out);
    fprintf(out,
            failed ? "<failure type=\"%s\" message=\"%" PRIu64 " finding%s\">" : "<system-out>",
            nocap_severity_name(worst(report, rule)), fresh(&report->rules[rule]),
            fresh(&report->rules[rule]) == 1 ? "" : "s");
    put_findings(out, report, rule);
    fputs(failed ? "</failure>\n" : "</system-out>\n", out);
    fputs("    </testcase>\n", out);
}

static bool unjudged(const struct nocap_result *result)
{
    return result->report != NULL && nocap_report_outcome(result->report) == NOCAP_NOT_JUDGED;
}

/* Of a trace that was not judged: skipped, or failed if one is strict. */
static void put_unjudged(FILE *out, const struct nocap_results *results,
                         const struct nocap_result *result)
{
    fputs("    <testcase", out);
    put_attribute(out, "classname", result->path);
    fprintf(out, " name=\"the %s is judged\">\n      <%s", nocap_results_noun(results),
            results->strict ? "failure" : "skipped");
    put_attribute(out, "message", nocap_report_unjudged(result->report));
    fputs("/>\n    </testcase>\n", out);
}

struct tally {
    uint64_t tests, failures, errors, skipped;
};

static struct tally tally_of(const struct nocap_results *results, const struct nocap_result *result)
{
    struct tally tally = {.tests = 1, .errors = result->report == NULL};
    for (int i = 0; result->report != NULL && i < NOCAP_RULE_COUNT; i++) {
        tally.tests += is_case(&result->report->rules[i]);
        tally.failures += fails(results, result->report, i);
    }
    tally.failures += fails_to_end(results, result);
    tally.failures += results->strict && unjudged(result);
    tally.tests += unjudged(result);
    tally.skipped = !results->strict && unjudged(result);
    return tally;
}

static void put_tally(FILE *out, const struct tally *tally)
{
    fprintf(out, " tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"%" PRIu64 "\"",
            tally->tests, tally->failures, tally->errors);
    if (tally->skipped != 0) {
        fprintf(out, " skipped=\"%" PRIu64 "\"", tally->skipped);
    }
    fputs(">\n", out);
}

static void put_suite(FILE *out, const struct nocap_results *results,
                      const struct nocap_result *result)
{
    struct tally tally = tally_of(results, result);
    fputs("  <testsuite", out);
    put_attribute(out, "name", result->path);
    put_tally(out, &tally);
    fputs("    <testcase", out);
    put_attribute(out, "classname", result->path);
    fprintf(out, " name=\"the %s can be read\"", nocap_results_noun(results));
    if (result->report == NULL) {
        fputs(">\n      <error", out);
        put_attribute(out, "message", result->error);
        fputs("/>\n    </testcase>\n", out);
    } else if (fails_to_end(results, result)) {
        fprintf(out,
                ">\n      <failure message=\"cut short after event %" PRIu64
                "\"/>\n    </testcase>\n",
                result->report->cut_after);
    } else {
        fputs("/>\n", out);
    }
    if (unjudged(result)) {
        put_unjudged(out, results, result);
    }
    for (int i = 0; result->report != NULL && i < NOCAP_RULE_COUNT; i++) {
        if (is_case(&result->report->rules[i])) {
            put_case(out, results, result, i);
        }
    }
    fputs("  </testsuite>\n", out);
}

enum nocap_status nocap_results_junit(FILE *out, const struct nocap_results *results,
                                      struct nocap_error *err)
{
    struct tally all = {0};
    for (size_t i = 0; i < results->count; i++) {
        struct tally one = tally_of(results, &results->list[i]);
        all.tests += one.tests;
        all.failures += one.failures;
        all.errors += one.errors;
    }
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"%s\"",
            nocap_results_command(results));
    put_tally(out, &all);
    for (size_t i = 0; i < results->count; i++) {
        put_suite(out, results, &results->list[i]);
    }
    fputs("</testsuites>\n", out);
    return nocap_flush(out, "the report", err);
}
