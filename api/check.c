/* SPDX-License-Identifier: Apache-2.0 */
#include <nocap/check.h>
#include <stdlib.h>

#include "api/api.h"
#include "checker/core/checker.h"
#include "checker/report/results.h"

struct nocap_check {
    struct nocap_report *report;
};

struct nocap_check_finding api_finding(const struct nocap_finding *f)
{
    return (struct nocap_check_finding){
        .size = sizeof(struct nocap_check_finding),
        .rule = nocap_rules[f->rule].id,
        .severity = (enum nocap_check_severity)f->severity,
        .message = f->message,
        .expected = f->expected,
        .observed = f->observed,
        .index = f->index,
        .t = f->t,
        .tiles = f->count,
        .chip = f->chip,
        .has_tile = f->has_tile,
        .at = f->at,
        .agent = f->agent,
        .thread = f->thread,
        .known = f->known,
        .waived = f->waived ? f->reason : NULL,
        .related = f->related,
        .related_count = f->related_count,
        .consequences = f->consequences,
        .follows = f->follows,
    };
}

static void pass_on(void *context, const struct nocap_finding *finding)
{
    const struct nocap_check_run_options *options = context;
    const struct nocap_check_finding one = api_finding(finding);
    options->found(options->context, &one);
}

static enum nocap_status run(struct nocap_report **report, const char *path,
                             struct nocap_check_run_options *o, struct nocap_error *err)
{
    struct nocap_elf_arg *elf = NULL;
    enum nocap_status status = api_elf_split(&elf, o->elf, o->elf_count, err);
    if (status == NOCAP_OK) {
        const struct nocap_check_options options = {
            .size = sizeof options,
            .rules = o->rules,
            .waivers = o->waivers,
            .baseline = o->baseline,
            .max_per_rule = o->max_per_rule,
            .has_from = o->has_from,
            .has_to = o->has_to,
            .has_tile = o->has_tile,
            .from = o->from,
            .to = o->to,
            .tile = o->tile,
            .elf = elf,
            .elf_count = o->elf_count,
            .reported = o->found != NULL ? pass_on : NULL,
            .reported_context = o,
            .trust_paths = o->trust_paths,
            .dense = o->dense,
        };
        status = nocap_check(report, path, &options, err);
    }
    api_elf_free(elf, o->elf_count);
    return status;
}

enum nocap_status nocap_check_run(struct nocap_check **check, const char *path,
                                  const struct nocap_check_run_options *options,
                                  struct nocap_error *err)
{
    struct nocap_check_run_options o;
    RETURN_IF_FAILED(api_take(&o, sizeof o, options, "nocap_check_run_options", err));
    struct nocap_check *c = calloc(1, sizeof *c);
    RETURN_ERROR_IF(c == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = run(&c->report, path, &o, err);
    if (status != NOCAP_OK) {
        free(c);
        return status;
    }
    *check = c;
    return NOCAP_OK;
}

void nocap_check_free(struct nocap_check *c)
{
    if (c != NULL) {
        nocap_report_free(c->report);
        free(c);
    }
}

enum nocap_status nocap_check_totals(const struct nocap_check *c, struct nocap_check_sums *sums)
{
    const struct nocap_report *r = c->report;
    enum nocap_outcome outcome = nocap_report_outcome(r);
    const struct nocap_check_sums s = {
        .size = sizeof s,
        .outcome = (enum nocap_check_outcome)outcome,
        .unjudged = outcome == NOCAP_NOT_JUDGED ? nocap_report_unjudged(r) : NULL,
        .truncated = r->truncated,
        .events = r->events,
        .t_first = r->t_first,
        .t_last = r->t_last,
        .dropped = r->dropped,
        .errors = r->counts[NOCAP_ERROR],
        .warnings = r->counts[NOCAP_WARNING],
        .notes = r->counts[NOCAP_NOTE],
        .waived = r->waived,
        .known = r->known,
        .findings = r->finding_count,
        .consequences = r->consequence_count,
    };
    return api_give(sums, &s, sizeof s);
}

static enum nocap_status give(const struct nocap_finding *list, size_t count, size_t i,
                              struct nocap_check_finding *finding)
{
    if (i >= count) {
        return NOCAP_END;
    }
    const struct nocap_check_finding one = api_finding(&list[i]);
    return api_give(finding, &one, sizeof one);
}

enum nocap_status nocap_check_finding_at(const struct nocap_check *c, size_t i,
                                         struct nocap_check_finding *finding)
{
    return give(c->report->findings, c->report->finding_count, i, finding);
}

enum nocap_status nocap_check_consequence_at(const struct nocap_check *c, size_t i,
                                             struct nocap_check_finding *finding)
{
    return give(c->report->consequences, c->report->consequence_count, i, finding);
}

const char *nocap_check_note_at(const struct nocap_check *c, size_t i)
{
    return i < c->report->note_count ? c->report->notes[i] : NULL;
}

bool nocap_check_fails(const struct nocap_check *c, enum nocap_check_severity severity)
{
    return nocap_report_fails(c->report, (enum nocap_severity)severity);
}

static enum nocap_status print(FILE *out, const struct nocap_results *results,
                               enum nocap_check_format format, struct nocap_error *err)
{
    switch (format) {
    case NOCAP_CHECK_TEXT: return nocap_results_text(out, results, false, err);
    case NOCAP_CHECK_JSON: return nocap_results_json(out, results, err);
    case NOCAP_CHECK_SARIF: return nocap_results_sarif(out, results, err);
    case NOCAP_CHECK_JUNIT: return nocap_results_junit(out, results, err);
    case NOCAP_CHECK_GITHUB: return nocap_results_github(out, results, err);
    case NOCAP_CHECK_MARKDOWN: return nocap_results_markdown(out, results, err);
    }
    return nocap_fail(err, NOCAP_E_USAGE, "there is no format %d of a check", (int)format);
}

enum nocap_status nocap_check_print(FILE *out, const struct nocap_check *const *checks,
                                    size_t count, enum nocap_check_format format,
                                    enum nocap_check_severity fail_on, struct nocap_error *err)
{
    struct nocap_results results = {.count = count, .fail_on = (enum nocap_severity)fail_on};
    results.list = calloc(count + 1, sizeof *results.list);
    RETURN_ERROR_IF(results.list == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) { /* reports and paths stay the checks' */
        results.list[i].path = checks[i]->report->path;
        results.list[i].report = checks[i]->report;
    }
    enum nocap_status status = print(out, &results, format, err);
    free(results.list);
    return status;
}

enum nocap_status nocap_check_result_of(const struct nocap_check *c, size_t rule,
                                        struct nocap_check_rule_result *result)
{
    if (rule >= NOCAP_RULE_COUNT) {
        return NOCAP_END;
    }
    const struct nocap_rule_report *r = &c->report->rules[rule];
    const struct nocap_check_rule_result out = {.size = sizeof out,
                                                .verdict = (enum nocap_check_verdict)r->verdict,
                                                .selected = r->selected,
                                                .exercised = r->exercised,
                                                .violations = r->violations,
                                                .waived = r->waived,
                                                .known = r->known};
    return api_give(result, &out, sizeof out);
}

enum nocap_status nocap_check_rule_at(size_t i, struct nocap_check_rule *rule)
{
    if (i >= NOCAP_RULE_COUNT) {
        return NOCAP_END;
    }
    const struct nocap_rule_info *r = &nocap_rules[i];
    const struct nocap_check_rule out = {.size = sizeof out,
                                         .id = r->id,
                                         .family = nocap_families[r->family].name,
                                         .severity = (enum nocap_check_severity)r->severity,
                                         .needs = r->needs,
                                         .needs_any = r->needs_any,
                                         .needs_image = r->needs_image,
                                         .sentence = r->sentence,
                                         .meaning = r->meaning,
                                         .source = r->source};
    return api_give(rule, &out, sizeof out);
}

int nocap_check_rule_find(const char *id)
{
    return nocap_rule_from_id(id);
}
