/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_text.h"
#include "checker/core/checker.h"
#include "checker/report/results.h"
#include "checker/report/waivers.h"

static void put_count(struct nocap_json *json, const char *key, uint64_t count)
{
    nocap_json_number_if(json, key, count != 0, count);
}

static void put_trace(struct nocap_json *json, const struct nocap_report *report)
{
    nocap_json_map(json, "trace");
    nocap_json_text(json, "path", report->path);
    nocap_json_number(json, "events", report->events);
    put_count(json, "begins_at", report->begins_at);
    nocap_json_text(json, "arch", nocap_arch_name(report->arch));
    nocap_json_text_if(json, "board", report->board != NOCAP_BOARD_UNKNOWN,
                       nocap_board_name(report->board));
    nocap_json_number(json, "t_first", report->t_first);
    nocap_json_number(json, "t_last", report->t_last);
    nocap_json_text(json, "time_unit", nocap_time_unit_name(report->time_unit));
    put_count(json, "clock_hz", report->clock_hz);
    nocap_json_bool(json, "truncated", report->truncated);
    nocap_json_number_if(json, "cut_after", report->truncated, report->cut_after);
    nocap_json_number(json, "dropped", report->dropped);
    nocap_json_map_end(json);
}

/* The keys at the top are those of a kernel's document since before there was one form for all. */
static void put_kernel(struct nocap_json *json, const struct nocap_report *report)
{
    nocap_json_number(json, "nocap_lint", 1);
    nocap_json_text(json, "path", report->path);
    nocap_json_number(json, "thread", report->thread);
    nocap_json_number(json, "words", report->words);
    nocap_json_number(json, "unknown", report->unknown);
    nocap_json_map(json, "elf");
    nocap_json_text(json, "path", report->path);
    nocap_json_map_end(json);
}

static void put_control_code(struct nocap_json *json, const struct nocap_report *report)
{
    nocap_json_map(json, "elf");
    nocap_json_text(json, "path", report->path);
    nocap_json_number(json, "columns", report->columns);
    nocap_json_number(json, "pages", report->pages);
    nocap_json_number_if(json, "streams", report->streams != 0, report->streams);
    if (report->kernel_count != 0) {
        nocap_json_texts(json, "kernels", report->kernels, report->kernel_count);
    }
    nocap_json_map_end(json);
}

static void put_subject(struct nocap_json *json, const struct nocap_report *report)
{
    switch (report->subject) {
    case NOCAP_SUBJECT_TRACE: put_trace(json, report); break;
    case NOCAP_SUBJECT_KERNEL: put_kernel(json, report); break;
    case NOCAP_SUBJECT_CONTROL_CODE: put_control_code(json, report); break;
    }
}

static void put_summary(struct nocap_json *json, const struct nocap_report *report)
{
    nocap_json_map(json, "summary");
    enum nocap_outcome outcome = nocap_report_outcome(report);
    nocap_json_text(json, "verdict", nocap_outcome_name(outcome));
    nocap_json_text_if(json, "reason", outcome == NOCAP_NOT_JUDGED,
                       nocap_report_unjudged_id(report));
    for (int s = NOCAP_SEVERITY_COUNT - 1; s >= 0; s--) {
        nocap_json_number(json, nocap_severity_name((enum nocap_severity)s), report->counts[s]);
    }
    nocap_json_number(json, "waived", report->waived);
    nocap_json_number(json, "known", report->known);
    nocap_json_map_end(json);
}

void nocap_json_classes(struct nocap_json *json, const char *key, uint32_t classes)
{
    nocap_json_array(json, key);
    for (unsigned bit = 0; bit < NOCAP_CLASS_COUNT; bit++) {
        if ((classes >> bit & 1u) != 0) {
            nocap_json_text(json, NULL, nocap_class_name((enum nocap_class_bit)bit));
        }
    }
    nocap_json_array_end(json);
}

static void put_missing(struct nocap_json *json, const char *key, uint32_t classes)
{
    if (classes != 0) {
        nocap_json_classes(json, key, classes);
    }
}
/* What is there in few rules. */
static void put_rule_rest(struct nocap_json *json, const struct nocap_rule_report *rule)
{
    put_count(json, "waived", rule->waived);
    put_count(json, "known", rule->known);
    if (!rule->selected) {
        nocap_json_bool(json, "selected", false);
    }
    if (rule->obstacle != NOCAP_OBSERVABLE) {
        nocap_json_text(json, "obstacle", nocap_obstacle_name(rule->obstacle));
        put_missing(json, "missing", rule->missing);
        put_missing(json, "missing_any", rule->missing_any);
    }
}

static void put_rule(struct nocap_json *json, const struct nocap_report *report, int i)
{
    nocap_json_map(json, NULL);
    nocap_json_text(json, "id", nocap_rules[i].id);
    nocap_json_text(json, "verdict", nocap_verdict_name(report->rules[i].verdict));
    nocap_json_number(json, "exercised", report->rules[i].exercised);
    nocap_json_number(json, "violations", report->rules[i].violations);
    put_rule_rest(json, &report->rules[i]);
    nocap_json_map_end(json);
}

static void put_rules(struct nocap_json *json, const struct nocap_report *report)
{
    nocap_json_array(json, "rules");
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (!nocap_report_lists(report, i)) {
            continue;
        }
        put_rule(json, report, i);
    }
    nocap_json_array_end(json);
}

static void put_event(struct nocap_json *json, const struct nocap_finding *finding)
{
    nocap_json_number(json, "index", finding->index);
    nocap_json_number(json, "t", finding->t);
    nocap_json_number(json, "chip", finding->chip);
    if (finding->has_tile) {
        nocap_json_number(json, "x", finding->at.x);
        nocap_json_number(json, "y", finding->at.y);
    }
    nocap_json_text_if(json, "agent", finding->agent != NOCAP_BY_NONE,
                       nocap_agent_name(finding->agent));
    nocap_json_number_if(json, "thread", finding->thread >= 0, (uint64_t)finding->thread);
}

static void put_address(struct nocap_json *json, const struct nocap_finding *finding)
{
    nocap_json_number(json, "address", finding->address);
    nocap_json_text(json, "symbol", finding->symbol != NULL ? finding->symbol : "");
    nocap_json_number(json, "offset", finding->offset);
}

static void put_page(struct nocap_json *json, const struct nocap_finding *finding)
{
    const struct {
        const char *key;
        uint32_t value;
    } parts[] = {{"uc", finding->uc}, {"page", finding->page}, {"off", finding->off}};
    nocap_json_text_if(json, "kernel", finding->kernel != NULL, finding->kernel);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].value == NOCAP_LINT_NOWHERE) {
            nocap_json_null(json, parts[i].key);
        } else {
            nocap_json_number(json, parts[i].key, parts[i].value);
        }
    }
    if (finding->file != NULL) {
        nocap_json_text(json, "file", finding->file);
        nocap_json_number(json, "line", finding->line);
    }
}

static void put_place(struct nocap_json *json, const struct nocap_finding *finding)
{
    switch (finding->place) {
    case NOCAP_PLACE_EVENT: put_event(json, finding); break;
    case NOCAP_PLACE_ADDRESS: put_address(json, finding); break;
    case NOCAP_PLACE_PAGE: put_page(json, finding); break;
    }
}

void nocap_finding_json(struct nocap_json *json, const struct nocap_finding *finding)
{
    nocap_json_text(json, "rule", nocap_rules[finding->rule].id);
    nocap_json_text(json, "severity", nocap_severity_name(finding->severity));
    put_place(json, finding);
    nocap_json_text(json, "message", finding->message);
    nocap_json_text(json, "expected", finding->expected);
    nocap_json_text(json, "observed", finding->observed);
    nocap_json_text_if(json, "written", finding->written != NULL, finding->written);
    nocap_json_array(json, "related");
    for (uint32_t i = 0; i < finding->related_count; i++) {
        nocap_json_number(json, NULL, finding->related[i]);
    }
    nocap_json_array_end(json);
    nocap_json_number(json, "count", finding->count);
    if (finding->waived) {
        nocap_json_bool(json, "waived", true);
        nocap_json_text(json, "reason", finding->reason != NULL ? finding->reason : "");
    }
    if (finding->known) {
        nocap_json_bool(json, "known", true);
    }
    nocap_json_number_if(json, "follows", finding->follows != UINT64_MAX, finding->follows);
}

/* `fault` says which consequences belong to which finding; one whose finding is lost follows null.
 * `counts`: a finding, though it follows from a less severe one. */
static void put_finding(struct nocap_json *json, const struct nocap_finding *finding,
                        bool consequence, bool has_fault)
{
    nocap_json_map(json, NULL);
    nocap_finding_json(json, finding);
    if (consequence && finding->follows == UINT64_MAX) {
        nocap_json_null(json, "follows");
    }
    if (!consequence && finding->follows != UINT64_MAX) {
        nocap_json_bool(json, "counts", true);
    }
    put_count(json, "consequences", finding->consequences);
    nocap_json_number_if(json, "fault", has_fault, finding->fault);
    nocap_json_map_end(json);
}

/* Findings and what follows from them, by index. */
static void put_findings(struct nocap_json *json, const struct nocap_report *report)
{
    size_t f = 0, c = 0;
    nocap_json_array(json, "findings");
    while (f < report->finding_count || c < report->consequence_count) {
        bool finding = c == report->consequence_count ||
                       (f < report->finding_count &&
                        report->findings[f].index <= report->consequences[c].index);
        put_finding(json, finding ? &report->findings[f++] : &report->consequences[c++], !finding,
                    report->consequence_count != 0);
    }
    nocap_json_array_end(json);
}

void nocap_report_put(struct nocap_json *json, const char *key, const struct nocap_report *report)
{
    nocap_json_map(json, key);
    nocap_json_number(json, "nocap_report", 1);
    put_subject(json, report);
    put_summary(json, report);
    put_rules(json, report);
    put_findings(json, report);
    nocap_json_texts(json, "notes", report->notes, report->note_count);
    nocap_json_texts(json, "note_ids", report->note_ids, report->note_count);
    nocap_json_map_end(json);
}

enum nocap_status nocap_report_json(FILE *out, const struct nocap_report *report,
                                    struct nocap_error *err)
{
    struct nocap_json json;
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_report_put(&json, NULL, report);
    return nocap_json_close(&json, err);
}

static void put_sums(struct nocap_json *json, const struct nocap_results *results)
{
    struct nocap_sums sums = nocap_results_sum(results);
    nocap_json_map(json, "summary");
    nocap_json_number(json, "traces", results->count);
    nocap_json_number(json, "unreadable", sums.unreadable);
    nocap_json_number(json, "not-judged", sums.unjudged);
    for (int s = NOCAP_SEVERITY_COUNT - 1; s >= 0; s--) {
        nocap_json_number(json, nocap_severity_name((enum nocap_severity)s), sums.counts[s]);
    }
    nocap_json_number(json, "waived", sums.waived);
    nocap_json_number(json, "known", sums.known);
    nocap_json_map_end(json);
}

/* Where in the list of all shards the results stand. */
static void put_shard(struct nocap_json *json, const struct nocap_results *results)
{
    const struct nocap_shard *shard = results->shard;
    nocap_json_map(json, "shard");
    nocap_json_number(json, "part", shard->part);
    nocap_json_number(json, "of", shard->of);
    nocap_json_text(json, "list", shard->list);
    nocap_json_number(json, "traces", shard->traces);
    nocap_json_array(json, "at");
    for (size_t i = 0; i < results->count; i++) {
        nocap_json_number(json, NULL, shard->at[i]);
    }
    nocap_json_array_end(json);
    nocap_json_map_end(json);
}

/* `at`: which of all results it is, from 0; the reports are the others. */
static void put_unreadable(struct nocap_json *json, const struct nocap_result *result, size_t at)
{
    nocap_json_map(json, NULL);
    nocap_json_text(json, "path", result->path);
    nocap_json_text(json, "message", result->error);
    nocap_json_number(json, "at", at);
    nocap_json_map_end(json);
}

static void put_results(struct nocap_json *json, const struct nocap_results *results)
{
    nocap_json_map(json, NULL);
    nocap_json_number(json, "nocap_reports", 1);
    if (results->shard != NULL) {
        put_shard(json, results);
    }
    if (results->waivers != NULL) {
        nocap_waivers_json(json, results->waivers);
    }
    put_sums(json, results);
    nocap_json_array(json, "reports");
    for (size_t i = 0; i < results->count; i++) {
        if (results->list[i].report != NULL) {
            nocap_report_put(json, NULL, results->list[i].report);
        }
    }
    nocap_json_array_end(json);
    nocap_json_array(json, "unreadable");
    for (size_t i = 0; i < results->count; i++) {
        if (results->list[i].report == NULL) {
            put_unreadable(json, &results->list[i], i);
        }
    }
    nocap_json_array_end(json);
    nocap_json_map_end(json);
}

enum nocap_status nocap_results_json(FILE *out, const struct nocap_results *results,
                                     struct nocap_error *err)
{
    struct nocap_json json;
    if (results->count == 1 && results->list[0].report != NULL && results->shard == NULL) {
        return nocap_report_json(out, results->list[0].report, err);
    }
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    put_results(&json, results);
    return nocap_json_close(&json, err);
}

/* ---- a baseline ---- */

static void put_known(struct nocap_json *json, const struct nocap_report *report)
{
    nocap_json_map(json, NULL);
    nocap_json_number(json, "nocap_report", 1);
    put_subject(json, report);
    nocap_json_array(json, "rules");
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (report->rules[i].violations != 0) {
            put_rule(json, report, i);
        }
    }
    nocap_json_array_end(json);
    nocap_json_array(json, "findings");
    for (size_t i = 0; i < report->finding_count; i++) {
        put_finding(json, &report->findings[i], false, false);
    }
    nocap_json_array_end(json);
    nocap_json_map_end(json);
}

enum nocap_status nocap_results_baseline(FILE *out, const struct nocap_results *results,
                                         struct nocap_error *err)
{
    struct nocap_json json;
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, "nocap_reports", 1);
    nocap_json_array(&json, "reports");
    for (size_t i = 0; i < results->count; i++) {
        const struct nocap_report *report = results->list[i].report;
        if (report != NULL && report->finding_count != 0) {
            put_known(&json, report);
        }
    }
    nocap_json_array_end(&json);
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}
