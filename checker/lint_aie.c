/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/lint_aie.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "checker/findings.h"
#include "checker/lint_aie_private.h"
#include "checker/selection.h"
#include "formats/foreign_text.h"

/* ---- findings ---- */

bool lint_judged(const struct lint *l, enum nocap_rule rule)
{
    return nocap_selection_judged(&l->report->rules[rule]);
}

enum nocap_rule lint_first(const struct lint *l, enum nocap_rule a, enum nocap_rule b)
{
    return lint_judged(l, a) ? a : b;
}

static bool make_room(struct nocap_lint_report *report)
{
    if (report->finding_count < report->finding_capacity) {
        return true;
    }
    size_t capacity = report->finding_capacity == 0 ? 16 : report->finding_capacity * 2;
    struct nocap_lint_finding *list = realloc(report->findings, capacity * sizeof *list);
    if (list == NULL) {
        return false;
    }
    report->findings = list;
    report->finding_capacity = capacity;
    return true;
}

static void finding_free(struct nocap_lint_finding *finding)
{
    free(finding->message);
    free(finding->expected);
    free(finding->observed);
    free(finding->file);
}

static bool finding_fill(struct nocap_lint_finding *finding, const char *expected,
                         const char *observed)
{
    char *message = NULL;
    if (asprintf(&message, "%s: expected %s, observed %s", nocap_rules[finding->rule].sentence,
                 expected, observed) < 0) {
        return false;
    }
    finding->message = foreign_copy(message);
    finding->expected = foreign_copy(expected);
    finding->observed = foreign_copy(observed);
    free(message);
    if (finding->message == NULL || finding->expected == NULL || finding->observed == NULL) {
        finding_free(finding);
        return false;
    }
    return true;
}

/* Place of the kernel of a group; the first if there are none. */
static size_t kernel_of(const struct lint *l, uint32_t group)
{
    size_t at = 0;
    while (at < l->image->kernel_count && l->image->kernels[at].group != group) {
        at++;
    }
    return at < l->image->kernel_count ? at : 0;
}

/* Of which kernel the finding is, and where the source has the instruction; false: no memory. */
static bool find_source(const struct lint *l, struct nocap_lint_finding *finding, uint32_t group)
{
    size_t kernel = kernel_of(l, group);
    if (l->report->kernel_count != 0 && group != NOCAP_AIE_NO_GROUP) {
        finding->kernel = l->report->kernels[kernel];
    }
    const struct nocap_aie_line *line =
        nocap_aie_lines_find(l->lines[kernel], finding->uc, finding->page, finding->off);
    if (line != NULL) {
        finding->line = line->line;
        finding->file = foreign_copy(line->file);
    }
    return line == NULL || finding->file != NULL;
}

static bool is_waived(const struct lint *l, enum nocap_rule rule, struct lint_place place)
{
    bool column = place.uc != NOCAP_LINT_NOWHERE && place.uc < NOCAP_UCS;
    bool byte = place.page != NOCAP_LINT_NOWHERE && place.off != NOCAP_LINT_NOWHERE;
    const struct nocap_divergence divergence = {
        .rule = rule,
        .agent = (uint8_t)(column ? NOCAP_BY_UC0 + place.uc : NOCAP_BY_NONE),
        .index = byte ? (uint64_t)place.page * NOCAP_AIE_PAGE_SIZE + place.off : UINT64_MAX};
    return l->waivers != NULL && nocap_waivers_match(l->waivers, &divergence);
}

__attribute__((format(printf, 6, 0))) static void say(struct lint *l, enum nocap_rule rule,
                                                      enum nocap_severity severity,
                                                      struct lint_place place, const char *expected,
                                                      const char *observed, va_list args)
{
    struct nocap_lint_report *report = l->report;
    uint32_t most = l->options->max_per_rule;
    char text[LINT_TEXT_MAX];
    if (!lint_judged(l, rule)) {
        return;
    }
    bool waived = is_waived(l, rule, place);
    report->rules[rule].violations++;
    report->rules[rule].waived += waived;
    report->waived += waived;
    report->counts[severity] += !waived;
    if (l->kept[rule][waived] >= (most == 0 ? NOCAP_MAX_PER_RULE_DEFAULT : most)) {
        return;
    }
    vsnprintf(text, sizeof text, observed, args);
    struct nocap_lint_finding finding = {.rule = rule,
                                         .severity = severity,
                                         .waived = waived,
                                         .uc = place.uc,
                                         .page = place.page,
                                         .off = place.off};
    if (!make_room(report) || !finding_fill(&finding, expected, text)) {
        l->out_of_memory = true;
        return;
    }
    l->out_of_memory |= !find_source(l, &finding, place.group);
    report->findings[report->finding_count++] = finding;
    l->kept[rule][waived]++;
}

void lint_say(struct lint *l, enum nocap_rule rule, enum nocap_severity severity,
              struct lint_place place, const char *expected, const char *observed, ...)
{
    va_list args;
    va_start(args, observed);
    say(l, rule, severity, place, expected, observed, args);
    va_end(args);
}

bool lint_expect(struct lint *l, enum nocap_rule rule, enum nocap_severity severity, bool condition,
                 struct lint_place place, const char *expected, const char *observed, ...)
{
    l->exercised[rule]++;
    if (!condition) {
        va_list args;
        va_start(args, observed);
        say(l, rule, severity, place, expected, observed, args);
        va_end(args);
    }
    return condition;
}

void lint_remark(struct lint *l, struct lint_remarks *list, const struct lint_remark *remark)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        struct lint_remark *items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL) {
            l->out_of_memory = true;
            return;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = *remark;
}

/* ---- the report ---- */

static bool is_static(int rule)
{
    return nocap_rules[rule].family == nocap_rules[AIE_001].family &&
           (nocap_rules[rule].needs | nocap_rules[rule].needs_any) == 0;
}

static enum nocap_status begin_report(struct nocap_lint_report *report, const char *path,
                                      const struct nocap_aie_image *image,
                                      const struct nocap_lint_options *options,
                                      struct nocap_error *err)
{
    report->path = foreign_copy(path);
    RETURN_ERROR_IF(report->path == NULL, err, NOCAP_E_MEMORY, "out of memory");
    report->columns = image->column_count;
    report->pages = image->page_count;
    report->kernels = calloc(image->kernel_count + 1, sizeof *report->kernels);
    RETURN_ERROR_IF(report->kernels == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < image->kernel_count; i++) {
        report->kernels[report->kernel_count++] = foreign_copy(image->kernels[i].name);
        RETURN_ERROR_IF(report->kernels[i] == NULL, err, NOCAP_E_MEMORY, "out of memory");
    }
    RETURN_IF_FAILED(nocap_selection_parse(report->rules, options->rules, err));
    bool any = false;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        report->rules[i].obstacle = is_static(i) ? NOCAP_OBSERVABLE : NOCAP_NO_CLASS;
        any = any || nocap_selection_judged(&report->rules[i]);
    }
    RETURN_ERROR_IF(!any, err, NOCAP_E_USAGE,
                    "none of the rules '%.100s' can be judged without a run: name static ones of "
                    "the family AIE",
                    options->rules != NULL ? options->rules : "");
    return NOCAP_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct nocap_lint_finding *f = a, *g = b;
    int kernels = strcmp(f->kernel == NULL ? "" : f->kernel, g->kernel == NULL ? "" : g->kernel);
    if (kernels != 0) {
        return kernels;
    }
    const uint32_t keys[][2] = {
        {f->uc, g->uc}, {f->page, g->page}, {f->off, g->off}, {f->rule, g->rule}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return strcmp(f->message, g->message);
}

static void finish_report(const struct lint *l)
{
    struct nocap_lint_report *report = l->report;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        struct nocap_rule_report *rule = &report->rules[i];
        rule->exercised = lint_judged(l, (enum nocap_rule)i) ? l->exercised[i] : 0;
        rule->verdict = !rule->selected                      ? NOCAP_NOT_EXERCISED
                        : rule->obstacle != NOCAP_OBSERVABLE ? NOCAP_NOT_OBSERVABLE
                        : rule->violations > rule->waived    ? NOCAP_VIOLATED
                        : rule->violations != 0              ? NOCAP_WAIVED
                        : rule->exercised != 0               ? NOCAP_HELD
                                                             : NOCAP_NOT_EXERCISED;
    }
    if (report->finding_count > 1) {
        qsort(report->findings, report->finding_count, sizeof report->findings[0], by_place);
    }
}

void nocap_lint_report_free(struct nocap_lint_report *report)
{
    if (report == NULL) {
        return;
    }
    for (size_t i = 0; i < report->finding_count; i++) {
        finding_free(&report->findings[i]);
    }
    for (size_t i = 0; i < report->note_count; i++) {
        free(report->notes[i]);
    }
    for (size_t i = 0; i < report->kernel_count; i++) {
        free(report->kernels[i]);
    }
    free(report->kernels);
    free(report->notes);
    free(report->findings);
    free(report->path);
    free(report);
}

bool nocap_lint_report_fails(const struct nocap_lint_report *report, enum nocap_severity severity)
{
    for (unsigned s = (unsigned)severity; s < NOCAP_SEVERITY_COUNT; s++) {
        if (report->counts[s] != 0) {
            return true;
        }
    }
    return false;
}

/* ---- notes: waivers, source lines ---- */

static enum nocap_status add_note(void *context, const char *note, struct nocap_error *err)
{
    struct nocap_lint_report *report = context;
    char **notes = realloc(report->notes, (report->note_count + 1) * sizeof *notes);
    RETURN_ERROR_IF(notes == NULL, err, NOCAP_E_MEMORY, "out of memory");
    report->notes = notes;
    notes[report->note_count] = foreign_copy(note);
    RETURN_ERROR_IF(notes[report->note_count] == NULL, err, NOCAP_E_MEMORY, "out of memory");
    report->note_count++;
    return NOCAP_OK;
}

/* A debug map that cannot be read costs the lines only. */
static enum nocap_status open_lines(struct lint *l, struct nocap_error *err)
{
    const struct nocap_aie_image *image = l->image;
    l->lines = calloc(image->kernel_count + 1, sizeof(struct nocap_aie_lines *));
    RETURN_ERROR_IF(l->lines == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i == 0 || i < image->kernel_count; i++) {
        bool own = i < image->kernel_count && image->kernels[i].map != NULL;
        enum nocap_status status =
            nocap_aie_lines_open(&l->lines[i], own ? image->kernels[i].map : image->map,
                                 own ? image->kernels[i].map_size : image->map_size, err);
        if (status == NOCAP_E_INPUT) {
            status = add_note(l->report, err->text, err);
        }
        RETURN_IF_FAILED(status);
    }
    return NOCAP_OK;
}

static enum nocap_status note_waivers(const struct lint *l, struct nocap_error *err)
{
    bool judged[NOCAP_RULE_COUNT];
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        judged[i] = lint_judged(l, (enum nocap_rule)i);
    }
    return l->waivers == NULL ? NOCAP_OK
                              : nocap_waivers_notes(l->waivers, judged, add_note, l->report, err);
}

/* ---- judging ---- */

static void judge_page(struct lint *l, const struct nocap_aie_page *page)
{
    lint_decode(l, page);
    lint_header(l);
    if (l->code->broken) { /* what its instructions say may be no instructions at all */
        l->broken_pages = true;
        return;
    }
    lint_ops(l);
    lint_jobs(l);
    lint_data(l);
    lint_local(l);
}

static void judge(struct lint *l)
{
    for (size_t i = 0; i < l->image->page_count; i++) {
        judge_page(l, &l->image->pages[i]);
    }
    lint_envelope(l);
    lint_chains(l);
    lint_remote(l);
    lint_tokens(l);
}

enum nocap_status nocap_aie_lint_image(struct nocap_lint_report **report,
                                       const struct nocap_aie_image *image, const char *path,
                                       const struct nocap_lint_options *options,
                                       struct nocap_error *err)
{
    struct lint l = {.image = image, .options = options};
    l.dialect = options->dialect == NOCAP_AIE_DIALECT_OF_FILE ? image->dialect : options->dialect;
    l.chip = options->chip == NOCAP_AIE_CHIP_UNKNOWN ? image->chip : options->chip;
    l.shim = l.chip == NOCAP_AIE_CHIP_UNKNOWN ? 0 : nocap_aie_chip_info(l.chip)->shim;
    *report = calloc(1, sizeof **report);
    l.report = *report;
    l.code = calloc(1, sizeof *l.code);
    enum nocap_status status = *report == NULL || l.code == NULL
                                   ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory")
                                   : begin_report(*report, path, image, options, err);
    if (status == NOCAP_OK) {
        status = open_lines(&l, err);
    }
    if (status == NOCAP_OK && options->waivers != NULL) {
        status = nocap_waivers_open(&l.waivers, options->waivers, (int64_t)time(NULL), err);
    }
    if (status == NOCAP_OK) {
        judge(&l);
        finish_report(&l);
        status = l.out_of_memory ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory")
                                 : note_waivers(&l, err);
    }
    nocap_waivers_close(l.waivers);
    for (size_t i = 0; l.lines != NULL && (i == 0 || i < image->kernel_count); i++) {
        nocap_aie_lines_close(l.lines[i]);
    }
    free(l.lines);
    struct lint_remarks *const lists[] = {&l.sync, &l.jobs, &l.loads, &l.waits, &l.tasks};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        free(lists[i]->items);
    }
    free(l.code);
    if (status != NOCAP_OK) {
        nocap_lint_report_free(*report);
        *report = NULL;
    }
    return status;
}

enum nocap_status nocap_aie_lint(struct nocap_lint_report **report, const char *path,
                                 const struct nocap_lint_options *options, struct nocap_error *err)
{
    struct nocap_aie_image *image;
    *report = NULL;
    RETURN_IF_FAILED(nocap_aie_image_open_input(&image, path, err));
    enum nocap_status status =
        options->kernel == NULL ? NOCAP_OK : nocap_aie_image_select(image, options->kernel, err);
    if (status == NOCAP_OK) {
        status = nocap_aie_lint_image(report, image, path, options, err);
    }
    nocap_aie_image_close(image);
    return status;
}
