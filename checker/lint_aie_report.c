/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "checker/json.h"
#include "checker/lint_aie.h"
#include "checker/text.h"

#define COLOR_RESET  "\033[0m"
#define COLOR_WAIVED "\033[2m"
static const char *const severity_color[NOCAP_SEVERITY_COUNT] = {
    [NOCAP_NOTE] = "\033[36m", [NOCAP_WARNING] = "\033[33m", [NOCAP_ERROR] = "\033[1;31m"};

static bool is_aie(int rule)
{
    return nocap_rules[rule].family == nocap_rules[AIE_001].family;
}

/* ---- text ---- */

static void print_place(FILE *out, const char *what, uint32_t value, bool *first)
{
    if (value != NOCAP_LINT_NOWHERE) {
        fprintf(out, "%s%s %u", *first ? "" : ", ", what, value);
        *first = false;
    }
}

static void print_finding(FILE *out, const struct nocap_lint_finding *f, bool color)
{
    bool first = true;
    fprintf(out, "%s%s%s %s: ",
            !color      ? ""
            : f->waived ? COLOR_WAIVED
                        : severity_color[f->severity],
            f->waived ? "waived" : nocap_severity_name(f->severity), color ? COLOR_RESET : "",
            nocap_rules[f->rule].id);
    if (f->kernel != NULL) {
        fprintf(out, "%s, ", f->kernel);
    }
    print_place(out, "uc", f->uc, &first);
    print_place(out, "page", f->page, &first);
    print_place(out, "offset", f->off, &first);
    if (f->file != NULL) {
        fprintf(out, " (%s:%u)", f->file, f->line);
    }
    fprintf(out, "%s%s\n", first ? "" : ": ", f->message);
}

enum nocap_status nocap_lint_report_text(FILE *out, const struct nocap_lint_report *report,
                                         bool color, struct nocap_error *err)
{
    unsigned held = 0;
    fprintf(out, "%s: %zu column%s, %zu page%s", report->path, report->columns,
            report->columns == 1 ? "" : "s", report->pages, report->pages == 1 ? "" : "s");
    for (size_t i = 0; i < report->kernel_count; i++) {
        fprintf(out, "%s%s", i == 0 ? ", of " : ", ", report->kernels[i]);
    }
    fputc('\n', out);
    for (size_t i = 0; i < report->finding_count; i++) {
        print_finding(out, &report->findings[i], color);
    }
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        uint64_t kept = 0, all = report->rules[i].violations;
        for (size_t f = 0; f < report->finding_count && all != 0; f++) {
            kept += report->findings[f].rule == (enum nocap_rule)i;
        }
        if (kept < all) {
            fprintf(out, "... and %" PRIu64 " more of %s\n", all - kept, nocap_rules[i].id);
        }
        held += is_aie(i) && report->rules[i].verdict == NOCAP_HELD;
    }
    for (size_t i = 0; i < report->note_count; i++) {
        fprintf(out, "note: %s\n", report->notes[i]);
    }
    fprintf(out, "verdict: %" PRIu64 " error%s, %" PRIu64 " warning%s", report->counts[NOCAP_ERROR],
            nocap_plural(report->counts[NOCAP_ERROR]), report->counts[NOCAP_WARNING],
            nocap_plural(report->counts[NOCAP_WARNING]));
    if (report->waived != 0) {
        fprintf(out, ", %" PRIu64 " waived", report->waived);
    }
    fprintf(out, "; %u rule%s held\n", held, nocap_plural(held));
    return nocap_flush(out, "the report", err);
}

/* ---- JSON ---- */

static void put_place(struct nocap_json *json, const char *key, uint32_t value)
{
    if (value == NOCAP_LINT_NOWHERE) {
        nocap_json_null(json, key);
    } else {
        nocap_json_number(json, key, value);
    }
}

static void put_finding(struct nocap_json *json, const struct nocap_lint_finding *f)
{
    nocap_json_map(json, NULL);
    nocap_json_text(json, "rule", nocap_rules[f->rule].id);
    nocap_json_text(json, "severity", nocap_severity_name(f->severity));
    if (f->kernel != NULL) {
        nocap_json_text(json, "kernel", f->kernel);
    }
    put_place(json, "uc", f->uc);
    put_place(json, "page", f->page);
    put_place(json, "off", f->off);
    if (f->file != NULL) {
        nocap_json_text(json, "file", f->file);
        nocap_json_number(json, "line", f->line);
    }
    nocap_json_text(json, "message", f->message);
    nocap_json_text(json, "expected", f->expected);
    nocap_json_text(json, "observed", f->observed);
    nocap_json_array(json, "related");
    nocap_json_array_end(json);
    nocap_json_number(json, "count", 1);
    if (f->waived) {
        nocap_json_bool(json, "waived", true);
    }
    nocap_json_map_end(json);
}

static void put_rules(struct nocap_json *json, const struct nocap_lint_report *report)
{
    nocap_json_array(json, "rules");
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (!is_aie(i)) {
            continue;
        }
        nocap_json_map(json, NULL);
        nocap_json_text(json, "id", nocap_rules[i].id);
        nocap_json_text(json, "verdict", nocap_verdict_name(report->rules[i].verdict));
        nocap_json_number(json, "exercised", report->rules[i].exercised);
        nocap_json_number(json, "violations", report->rules[i].violations);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

enum nocap_status nocap_lint_report_json(FILE *out, const struct nocap_lint_report *report,
                                         struct nocap_error *err)
{
    struct nocap_json json;
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, "nocap_report", 1);
    nocap_json_map(&json, "elf");
    nocap_json_text(&json, "path", report->path);
    nocap_json_number(&json, "columns", report->columns);
    nocap_json_number(&json, "pages", report->pages);
    if (report->kernel_count != 0) {
        nocap_json_array(&json, "kernels");
        for (size_t i = 0; i < report->kernel_count; i++) {
            nocap_json_text(&json, NULL, report->kernels[i]);
        }
        nocap_json_array_end(&json);
    }
    nocap_json_map_end(&json);
    nocap_json_map(&json, "summary");
    for (int s = NOCAP_SEVERITY_COUNT - 1; s >= 0; s--) {
        nocap_json_number(&json, nocap_severity_name((enum nocap_severity)s), report->counts[s]);
    }
    nocap_json_number(&json, "waived", report->waived);
    nocap_json_map_end(&json);
    put_rules(&json, report);
    nocap_json_array(&json, "findings");
    for (size_t i = 0; i < report->finding_count; i++) {
        put_finding(&json, &report->findings[i]);
    }
    nocap_json_array_end(&json);
    nocap_json_array(&json, "notes");
    for (size_t i = 0; i < report->note_count; i++) {
        nocap_json_text(&json, NULL, report->notes[i]);
    }
    nocap_json_array_end(&json);
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}
