/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/coverage.h"

#include <inttypes.h>

#include "base/json_text.h"
#include "checker/core/selection.h"
#include "checker/report/lines.h"

/* What no trace is of the architecture for has none of them. */
enum standing { EXERCISED, NEVER, BLIND, STANDINGS, FOREIGN = STANDINGS };

static const char *const standing_names[STANDINGS] = {
    [EXERCISED] = "exercised", [NEVER] = "never exercised", [BLIND] = "not observable"};

void nocap_coverage_of(const struct nocap_results *results, struct nocap_rule_coverage *rules)
{
    for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
        rules[r] = (struct nocap_rule_coverage){.required = rules[r].required};
    }
    for (size_t i = 0; i < results->count; i++) {
        const struct nocap_report *report = results->list[i].report;
        for (int r = 0; report != NULL && r < NOCAP_RULE_COUNT; r++) {
            const struct nocap_rule_report *rule = &report->rules[r];
            bool judged = rule->exercised != 0 || rule->violations != 0;
            rules[r].exercised += judged;
            bool foreign = rule->obstacle == NOCAP_OTHER_ARCH;
            bool blind = rule->verdict == NOCAP_NOT_OBSERVABLE;
            rules[r].blind += !judged && !foreign && blind;
            rules[r].idle += !judged && !foreign && !blind;
            rules[r].violated += rule->violations != 0;
            rules[r].times += rule->exercised;
        }
    }
}

static enum standing standing_of(const struct nocap_rule_coverage *rule)
{
    return rule->exercised != 0 ? EXERCISED
           : rule->idle != 0    ? NEVER
           : rule->blind != 0   ? BLIND
                                : FOREIGN;
}

enum nocap_status nocap_coverage_require(struct nocap_rule_coverage *rules, const char *list,
                                         struct nocap_error *err)
{
    struct nocap_rule_report selected[NOCAP_RULE_COUNT];
    if (list == NULL) {
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(nocap_selection_parse(selected, list, err));
    for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
        rules[r].required = selected[r].selected;
    }
    return NOCAP_OK;
}

static bool is_missing(const struct nocap_rule_coverage *rule)
{
    return rule->required && rule->exercised == 0;
}

size_t nocap_coverage_missing(const struct nocap_rule_coverage *rules, char *text, size_t size)
{
    size_t count = 0, n = 0;
    text[0] = 0;
    for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
        count += is_missing(&rules[r]);
    }
    for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
        if (is_missing(&rules[r])) {
            nocap_text_list(text, size, nocap_rules[r].id, n++, count, "and");
        }
    }
    return count;
}

struct tally {
    unsigned rules, count[STANDINGS];
};

static struct tally tally_of(const struct nocap_rule_coverage *rules, int family)
{
    struct tally tally = {0};
    for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
        if (family < 0 || nocap_rules[r].family == (unsigned)family) {
            enum standing standing = standing_of(&rules[r]);
            if (standing != FOREIGN) {
                tally.rules++;
                tally.count[standing]++;
            }
        }
    }
    return tally;
}

struct nocap_coverage_sum nocap_coverage_sum(const struct nocap_rule_coverage *rules)
{
    const struct tally all = tally_of(rules, -1);
    return (struct nocap_coverage_sum){all.rules - all.count[BLIND], all.count[EXERCISED]};
}

static size_t traces_of(const struct nocap_results *results)
{
    return results->count - (size_t)nocap_results_sum(results).unreadable;
}

static size_t truncated_of(const struct nocap_results *results)
{
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        count += results->list[i].report != NULL && results->list[i].report->truncated;
    }
    return count;
}

static void print_cut(FILE *out, const struct nocap_results *results)
{
    if (truncated_of(results) > 0) {
        fprintf(out, ", %zu of them cut short: only what is there counts", truncated_of(results));
    }
}

/* ---- text ---- */

static void print_tally(FILE *out, bool markdown, const char *name, const struct tally *tally)
{
    fprintf(out, markdown ? "| %s | %u | %u | %u | %u |\n" : "%-7s %5u %10u %16u %15u\n", name,
            tally->rules, tally->count[EXERCISED], tally->count[NEVER], tally->count[BLIND]);
}

static void print_text(FILE *out, const struct nocap_results *results,
                       const struct nocap_rule_coverage *rules)
{
    size_t traces = traces_of(results);
    struct tally all = tally_of(rules, -1);
    fprintf(out, "%zu trace%s", traces, traces == 1 ? "" : "s");
    print_cut(out, results);
    fputs("\n\n", out);
    fprintf(out, "%-7s %5s %10s %16s %15s\n", "family", "rules", standing_names[EXERCISED],
            standing_names[NEVER], standing_names[BLIND]);
    for (unsigned family = 0; family < nocap_family_count; family++) {
        struct tally tally = tally_of(rules, (int)family);
        if (tally.rules != 0) {
            print_tally(out, false, nocap_families[family].name, &tally);
        }
    }
    print_tally(out, false, "all", &all);
    for (int s = EXERCISED; s < STANDINGS; s++) {
        fprintf(out, "\n%s:\n", standing_names[s]);
        for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
            if (standing_of(&rules[r]) != (enum standing)s) {
                continue;
            }
            fprintf(out, "  %-8s", nocap_rules[r].id);
            if (s == EXERCISED) {
                fprintf(out, " %6" PRIu64 " trace%s %12" PRIu64 " times", rules[r].exercised,
                        rules[r].exercised == 1 ? " " : "s", rules[r].times);
                fprintf(out, rules[r].violated != 0 ? ", violated in %" PRIu64 "\n" : "\n",
                        rules[r].violated);
            } else {
                fprintf(out, " %s\n", nocap_rules[r].sentence);
            }
        }
    }
}

/* ---- Markdown ---- */

static void print_markdown(FILE *out, const struct nocap_results *results,
                           const struct nocap_rule_coverage *rules)
{
    size_t traces = traces_of(results);
    struct tally all = tally_of(rules, -1);
    fprintf(out, "### nocap coverage: %u of %u rules, %zu trace%s", all.count[EXERCISED], all.rules,
            traces, traces == 1 ? "" : "s");
    print_cut(out, results);
    fputs("\n\n", out);
    fprintf(out, "| family | rules | %s | %s | %s |\n|---|--:|--:|--:|--:|\n",
            standing_names[EXERCISED], standing_names[NEVER], standing_names[BLIND]);
    for (unsigned family = 0; family < nocap_family_count; family++) {
        struct tally tally = tally_of(rules, (int)family);
        if (tally.rules != 0) {
            print_tally(out, true, nocap_families[family].name, &tally);
        }
    }
    for (int s = NEVER; s < STANDINGS; s++) {
        const char *glue = "";
        fprintf(out, "\n**%s**: ", standing_names[s]);
        for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
            if (standing_of(&rules[r]) == (enum standing)s) {
                fprintf(out, "%s%s", glue, nocap_rules[r].id);
                glue = ", ";
            }
        }
        fputs(*glue == 0 ? "none\n" : "\n", out);
    }
}

/* ---- JSON ---- */

static enum nocap_status print_json(FILE *out, const struct nocap_results *results,
                                    const struct nocap_rule_coverage *rules,
                                    struct nocap_error *err)
{
    static const char *const keys[STANDINGS] = {
        [EXERCISED] = "exercised", [NEVER] = "not-exercised", [BLIND] = "not-observable"};
    struct nocap_json json;
    struct tally all = tally_of(rules, -1);
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, "nocap_coverage", 1);
    nocap_json_number(&json, "traces", traces_of(results));
    nocap_json_number(&json, "truncated", truncated_of(results));
    nocap_json_map(&json, "summary");
    nocap_json_number(&json, "rules", all.rules);
    for (int s = EXERCISED; s < STANDINGS; s++) {
        nocap_json_number(&json, keys[s], all.count[s]);
    }
    nocap_json_map_end(&json);
    nocap_json_array(&json, "rules");
    for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
        if (standing_of(&rules[r]) == FOREIGN) {
            continue;
        }
        nocap_json_map(&json, NULL);
        nocap_json_text(&json, "id", nocap_rules[r].id);
        nocap_json_text(&json, "coverage", keys[standing_of(&rules[r])]);
        nocap_json_number(&json, "exercised_in", rules[r].exercised);
        nocap_json_number(&json, "not_exercised_in", rules[r].idle);
        nocap_json_number(&json, "not_observable_in", rules[r].blind);
        nocap_json_number(&json, "violated_in", rules[r].violated);
        nocap_json_number(&json, "times", rules[r].times);
        if (rules[r].required) {
            nocap_json_bool(&json, "required", true);
        }
        nocap_json_map_end(&json);
    }
    nocap_json_array_end(&json);
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}

enum nocap_status nocap_coverage_print(FILE *out, const struct nocap_results *results,
                                       const struct nocap_rule_coverage *rules,
                                       enum nocap_coverage_format format, struct nocap_error *err)
{
    switch (format) {
    case NOCAP_COVERAGE_JSON: return print_json(out, results, rules, err);
    case NOCAP_COVERAGE_MARKDOWN: print_markdown(out, results, rules); break;
    default: print_text(out, results, rules); break;
    }
    return nocap_flush(out, "the coverage", err);
}
