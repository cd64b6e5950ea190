/* SPDX-License-Identifier: Apache-2.0 */
/* SARIF 2.1.0: one run, the rules that some result names, a result a finding. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "checker/report/results.h"

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

enum { PLACE_MAX = 256 };

static void put_message(struct nocap_json *json, const char *key, const char *text)
{
    nocap_json_map(json, key);
    nocap_json_text(json, "text", text);
    nocap_json_map_end(json);
}

/* ---- rules ---- */

/* Numbers the rules that occur, in the order of the rule set; -1: does not occur. */
static void number_rules(const struct nocap_results *results, int number[NOCAP_RULE_COUNT])
{
    int next = 0;
    memset(number, 0, NOCAP_RULE_COUNT * sizeof number[0]);
    for (size_t i = 0; i < results->count; i++) {
        const struct nocap_report *report = results->list[i].report;
        for (size_t f = 0; report != NULL && f < report->finding_count; f++) {
            number[report->findings[f].rule] = 1;
        }
    }
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        number[i] = number[i] != 0 ? next++ : -1;
    }
}

/* What the rule means, with an example that violates it and one that does not; `fence` around them.
 */
static void put_help_text(struct nocap_json *json, const char *key, const char *fence,
                          const struct nocap_rule_info *rule)
{
    const struct {
        const char *title, *text;
    } examples[] = {{"Failing", rule->violates}, {"Passing", rule->holds}};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out != NULL) {
        fprintf(out, "%s\n", rule->meaning);
        for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
            fprintf(out, "\n%s example:\n\n%s", examples[i].title, fence);
            nocap_example_print(out, examples[i].text, "");
            fputs(fence, out);
        }
        fprintf(out, "\nSource: %s\n", rule->source);
    }
    bool whole = out != NULL && fclose(out) == 0;
    nocap_json_text(json, key, whole ? text : rule->meaning);
    free(text);
}

static void put_help(struct nocap_json *json, const struct nocap_rule_info *rule)
{
    nocap_json_map(json, "help");
    put_help_text(json, "text", "", rule);
    put_help_text(json, "markdown", "```\n", rule);
    nocap_json_map_end(json);
}

static void put_rule(struct nocap_json *json, const struct nocap_rule_info *rule)
{
    nocap_json_map(json, NULL);
    nocap_json_text(json, "id", rule->id);
    put_message(json, "shortDescription", rule->sentence);
    put_message(json, "fullDescription", rule->meaning);
    put_help(json, rule);
    nocap_json_map(json, "defaultConfiguration");
    nocap_json_text(json, "level", nocap_severity_name(rule->severity));
    nocap_json_map_end(json);
    nocap_json_map_end(json);
}

static void put_tool(struct nocap_json *json, const int number[NOCAP_RULE_COUNT])
{
    nocap_json_map(json, "tool");
    nocap_json_map(json, "driver");
    nocap_json_text(json, "name", "nocap");
    nocap_json_text(json, "version", NOCAP_VERSION);
    nocap_json_array(json, "rules");
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (number[i] >= 0) {
            put_rule(json, &nocap_rules[i]);
        }
    }
    nocap_json_array_end(json);
    nocap_json_map_end(json);
    nocap_json_map_end(json);
}

/* ---- places ---- */

/* A path as a URI reference: everything but letters, digits and what may stand as it is, escaped.
 */
static void put_uri(struct nocap_json *json, const char *path)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    char uri[3 * 4096 + 1];
    size_t used = 0;
    for (; *path != 0 && used + 4 < sizeof uri; path++) {
        bool as_is = strchr(plain, *path) != NULL;
        used += (size_t)snprintf(uri + used, sizeof uri - used, as_is ? "%c" : "%%%02X",
                                 (unsigned char)*path);
    }
    uri[used] = 0;
    nocap_json_text(json, "uri", uri);
}

/* The file at a line, or in it at an address: one of the two, or none. */
static void put_physical(struct nocap_json *json, const char *path, int64_t artifact, uint64_t line,
                         const struct nocap_finding *address)
{
    nocap_json_map(json, "physicalLocation");
    nocap_json_map(json, "artifactLocation");
    put_uri(json, path);
    nocap_json_number_if(json, "index", artifact >= 0, (uint64_t)artifact);
    nocap_json_map_end(json);
    if (line != 0) {
        nocap_json_map(json, "region");
        nocap_json_number(json, "startLine", line);
        nocap_json_map_end(json);
    }
    if (address != NULL) {
        nocap_json_map(json, "address");
        nocap_json_number(json, "absoluteAddress", address->address);
        nocap_json_text(json, "kind", "instruction");
        nocap_json_text_if(json, "name", address->symbol != NULL, address->symbol);
        nocap_json_map_end(json);
    }
    nocap_json_map_end(json);
}

static void put_location(struct nocap_json *json, const char *path, size_t artifact,
                         const struct nocap_finding *finding)
{
    char place[PLACE_MAX];
    bool source = finding->file != NULL;
    nocap_finding_place(place, sizeof place, finding);
    nocap_json_map(json, NULL);
    put_physical(json, nocap_finding_file(finding, path), source ? -1 : (int64_t)artifact,
                 nocap_finding_line(finding),
                 finding->place == NOCAP_PLACE_ADDRESS ? finding : NULL);
    nocap_json_array(json, "logicalLocations");
    nocap_json_map(json, NULL);
    nocap_json_text(json, "fullyQualifiedName", place);
    nocap_json_map_end(json);
    nocap_json_array_end(json);
    nocap_json_map_end(json);
}

static void put_related(struct nocap_json *json, const char *path, size_t artifact,
                        const struct nocap_finding *finding)
{
    nocap_json_array(json, "relatedLocations");
    for (uint32_t i = 0; i < finding->related_count; i++) {
        char text[48];
        snprintf(text, sizeof text, "event %" PRIu64, finding->related[i]);
        nocap_json_map(json, NULL);
        nocap_json_number(json, "id", i);
        put_physical(json, path, (int64_t)artifact, nocap_event_line(finding->related[i]), NULL);
        put_message(json, "message", text);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

/* ---- results ---- */

/* The same for the same fault of the next run: rule and place, without what shifts when other
 * things change. */
static void put_fingerprint(struct nocap_json *json, const struct nocap_finding *finding)
{
    char text[PLACE_MAX];
    const char *id = nocap_rules[finding->rule].id;
    switch (finding->place) {
    case NOCAP_PLACE_EVENT:
        snprintf(text, sizeof text, "%s/%u/%u,%u/%s/%d", id, finding->chip, finding->at.x,
                 finding->at.y, nocap_agent_name(finding->agent), finding->thread);
        break;
    case NOCAP_PLACE_ADDRESS:
        snprintf(text, sizeof text, "%s/%s", id, finding->symbol != NULL ? finding->symbol : "");
        break;
    case NOCAP_PLACE_PAGE:
        snprintf(text, sizeof text, "%s/%s/%s", id, finding->kernel != NULL ? finding->kernel : "",
                 nocap_agent_name(finding->agent));
        break;
    }
    nocap_json_map(json, "partialFingerprints");
    nocap_json_text(json, "nocapPlace/v1", text);
    nocap_json_map_end(json);
}

static void put_result(struct nocap_json *json, const struct nocap_result *result, size_t artifact,
                       const struct nocap_finding *finding, const int number[NOCAP_RULE_COUNT])
{
    nocap_json_map(json, NULL);
    nocap_json_text(json, "ruleId", nocap_rules[finding->rule].id);
    nocap_json_number(json, "ruleIndex", (uint64_t)number[finding->rule]);
    nocap_json_text(json, "level", nocap_severity_name(finding->severity));
    put_message(json, "message", finding->message);
    nocap_json_array(json, "locations");
    put_location(json, result->path, artifact, finding);
    nocap_json_array_end(json);
    put_related(json, result->path, artifact, finding);
    put_fingerprint(json, finding);
    nocap_json_text_if(json, "baselineState", finding->known, "unchanged");
    if (finding->waived) {
        nocap_json_array(json, "suppressions");
        nocap_json_map(json, NULL);
        nocap_json_text(json, "kind", "external");
        nocap_json_text(json, "justification", finding->reason);
        nocap_json_map_end(json);
        nocap_json_array_end(json);
    }
    nocap_json_map(json, "properties");
    if (finding->place == NOCAP_PLACE_EVENT) {
        nocap_json_number(json, "index", finding->index);
        nocap_json_number(json, "t", finding->t);
    }
    nocap_json_text(json, "expected", finding->expected);
    nocap_json_text(json, "observed", finding->observed);
    nocap_json_map_end(json);
    nocap_json_map_end(json);
}

static void put_notification(struct nocap_json *json, const char *id, const char *level,
                             const char *text)
{
    nocap_json_map(json, NULL);
    nocap_json_map(json, "descriptor");
    nocap_json_text(json, "id", id);
    nocap_json_map_end(json);
    nocap_json_text(json, "level", level);
    put_message(json, "message", text);
    nocap_json_map_end(json);
}

/* What could not be read, and what the reader of the report should know. */
static void put_invocation(struct nocap_json *json, const struct nocap_results *results)
{
    nocap_json_array(json, "invocations");
    nocap_json_map(json, NULL);
    nocap_json_bool(json, "executionSuccessful", nocap_results_sum(results).unreadable == 0);
    nocap_json_array(json, "toolExecutionNotifications");
    for (size_t i = 0; i < results->count; i++) {
        const struct nocap_report *report = results->list[i].report;
        if (report == NULL) {
            put_notification(json, "unreadable", "error", results->list[i].error);
        }
        if (report != NULL && nocap_report_outcome(report) == NOCAP_NOT_JUDGED) {
            put_notification(json, nocap_report_unjudged_id(report), "warning",
                             nocap_report_unjudged(report));
        }
        for (size_t n = 0; report != NULL && n < report->note_count; n++) {
            put_notification(json, report->note_ids[n], "note", report->notes[n]);
        }
    }
    nocap_json_array_end(json);
    nocap_json_map_end(json);
    nocap_json_array_end(json);
}

static void put_artifacts(struct nocap_json *json, const struct nocap_results *results)
{
    nocap_json_array(json, "artifacts");
    for (size_t i = 0; i < results->count; i++) {
        nocap_json_map(json, NULL);
        nocap_json_map(json, "location");
        put_uri(json, results->list[i].path);
        nocap_json_map_end(json);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

enum nocap_status nocap_results_sarif(FILE *out, const struct nocap_results *results,
                                      struct nocap_error *err)
{
    struct nocap_json json;
    int number[NOCAP_RULE_COUNT];
    number_rules(results, number);
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_text(&json, "$schema", SCHEMA);
    nocap_json_text(&json, "version", "2.1.0");
    nocap_json_array(&json, "runs");
    nocap_json_map(&json, NULL);
    put_tool(&json, number);
    put_invocation(&json, results);
    put_artifacts(&json, results);
    nocap_json_array(&json, "results");
    for (size_t i = 0; i < results->count; i++) {
        const struct nocap_report *report = results->list[i].report;
        for (size_t f = 0; report != NULL && f < report->finding_count; f++) {
            put_result(&json, &results->list[i], i, &report->findings[f], number);
        }
    }
    nocap_json_array_end(&json);
    nocap_json_map_end(&json);
    nocap_json_array_end(&json);
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}
