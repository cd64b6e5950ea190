/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/aie/lint.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "base/list.h"
#include "base/singular.h"
#include "checker/aie/lint_private.h"
#include "checker/core/selection.h"
#include "formats/aie/asm.h"

/* ---- findings ---- */

bool lint_judged(const struct lint *l, enum nocap_rule rule)
{
    return nocap_selection_judged(&l->report->rules[rule]);
}

enum nocap_rule lint_first(const struct lint *l, enum nocap_rule a, enum nocap_rule b)
{
    return lint_judged(l, a) ? a : b;
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

/* The lines of a kernel, read when a finding asks for them first: the map of a model takes longer
 * than all else. What cannot be read costs the lines only. */
static const struct nocap_aie_lines *lines_of(struct lint *l, size_t kernel)
{
    struct lint_lines *k = &l->lines[kernel];
    struct nocap_error err = {""};
    if (!k->opened) {
        enum nocap_status status = nocap_aie_lines_open(&k->lines, l->image, kernel, &err);
        k->opened = true;
        if (status == NOCAP_E_INPUT) {
            status = nocap_report_add_note(l->report, "no-source-lines", err.text, &err);
        }
        l->out_of_memory |= status != NOCAP_OK;
    }
    return k->lines;
}

/* Of which kernel the finding is, and where the source has the instruction; the file is borrowed.
 */
static void find_source(struct lint *l, struct nocap_finding *finding, uint32_t group)
{
    size_t kernel = kernel_of(l, group);
    if (l->report->kernel_count != 0 && group != NOCAP_AIE_NO_GROUP) {
        finding->kernel = l->report->kernels[kernel];
    }
    const struct nocap_aie_line *line =
        nocap_aie_lines_find(lines_of(l, kernel), finding->uc, finding->page, finding->off);
    if (line != NULL) {
        finding->line = line->line;
        finding->file = (char *)(uintptr_t)line->file;
    }
}

__attribute__((format(printf, 6, 0))) static void say(struct lint *l, enum nocap_rule rule,
                                                      enum nocap_severity severity,
                                                      struct lint_place place, const char *expected,
                                                      const char *observed, va_list args)
{
    bool column = place.uc != NOCAP_LINT_NOWHERE && place.uc < NOCAP_UCS;
    bool byte = place.page != NOCAP_LINT_NOWHERE && place.off != NOCAP_LINT_NOWHERE;
    char text[LINT_TEXT_MAX];
    vsnprintf(text, sizeof text, observed, args);
    text_singular(text);
    struct nocap_finding finding = {
        .place = NOCAP_PLACE_PAGE, .uc = place.uc, .page = place.page, .off = place.off};
    const struct nocap_divergence divergence = {
        .rule = rule,
        .agent = (uint8_t)(column ? NOCAP_BY_UC0 + place.uc : NOCAP_BY_NONE),
        .thread = -1,
        .index = byte ? (uint64_t)place.page * NOCAP_AIE_PAGE_SIZE + place.off : UINT64_MAX,
        .expected = expected,
        .observed = text};
    find_source(l, &finding, place.group);
    nocap_findings_keep(&l->findings, &divergence, severity, &finding);
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

void lint_record(struct lint *l, struct lint_records *list, const struct lint_record *remark)
{
    struct lint_record *next = LIST_NEXT(list->items, list->count);
    if (next == NULL) {
        l->out_of_memory = true;
        return;
    }
    *next = *remark;
    list->count++;
}

/* ---- the report ---- */

/* Whether a rule can be judged of the image without a run. */
static bool is_static(const struct nocap_aie_image *image, int rule)
{
    enum nocap_rule first = image->stream_count != 0 ? TXN_001 : AIE_001;
    return nocap_rules[rule].family == nocap_rules[first].family &&
           (nocap_rules[rule].needs | nocap_rules[rule].needs_any) == 0;
}

static enum nocap_status begin_report(struct nocap_report *report, const char *path,
                                      const struct nocap_aie_image *image,
                                      const struct nocap_lint_options *options,
                                      struct nocap_error *err)
{
    report->subject = NOCAP_SUBJECT_CONTROL_CODE;
    report->path = foreign_copy(path);
    RETURN_ERROR_IF(report->path == NULL, err, NOCAP_E_MEMORY, "out of memory");
    report->columns = image->column_count;
    report->pages = image->page_count;
    report->streams = image->stream_count;
    report->kernels = calloc(image->kernel_count + 1, sizeof *report->kernels);
    RETURN_ERROR_IF(report->kernels == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < image->kernel_count; i++) {
        report->kernels[report->kernel_count++] = foreign_copy(image->kernels[i].name);
        RETURN_ERROR_IF(report->kernels[i] == NULL, err, NOCAP_E_MEMORY, "out of memory");
    }
    RETURN_IF_FAILED(nocap_selection_parse(report->rules, options->rules, err));
    bool any = false;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        report->rules[i].obstacle = is_static(image, i) ? NOCAP_OBSERVABLE : NOCAP_NO_CLASS;
        any = any || nocap_selection_judged(&report->rules[i]);
    }
    RETURN_ERROR_IF(!any, err, NOCAP_E_USAGE,
                    "none of the rules '%.100s' can be judged without a run: name static ones of "
                    "the family %s",
                    options->rules != NULL ? options->rules : "",
                    image->stream_count != 0 ? "TXN" : "AIE");
    return NOCAP_OK;
}

/* Rules that need a table of the chip, where nothing tells which one it is. */
static enum nocap_status leave_out_chip(struct nocap_report *report, struct nocap_error *err)
{
    static const enum nocap_rule rules[] = {AIE_009, AIE_031, AIE_036, AIE_038, AIE_039, AIE_040};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        report->rules[rules[i]].obstacle = NOCAP_NO_CHIP;
    }
    return nocap_report_add_note(report, "unknown-chip",
                                 "the file does not say its chip, so rules about tiles, channels "
                                 "and tables of addresses are not judged: name it with --chip",
                                 err);
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

static enum nocap_status judge(struct lint *l, struct nocap_error *err)
{
    if (l->image->stream_count != 0) {
        return lint_streams(l, err);
    }
    for (size_t i = 0; i < l->image->page_count; i++) {
        judge_page(l, &l->image->pages[i]);
    }
    lint_envelope(l);
    lint_chains(l);
    lint_remote(l);
    return lint_tokens(l, err);
}

static enum nocap_status judge_image(struct lint *l, const char *path, struct nocap_error *err)
{
    RETURN_ERROR_IF(l->report == NULL || l->code == NULL || l->lines == NULL, err, NOCAP_E_MEMORY,
                    "out of memory");
    RETURN_IF_FAILED(begin_report(l->report, path, l->image, l->options, err));
    if (l->chip == NOCAP_AIE_CHIP_UNKNOWN && l->image->stream_count == 0) {
        RETURN_IF_FAILED(leave_out_chip(l->report, err));
    }
    RETURN_ERROR_IF(!lint_find_main(l), err, NOCAP_E_MEMORY, "out of memory");
    RETURN_IF_FAILED(nocap_findings_open(&l->findings, err));
    RETURN_IF_FAILED(judge(l, err));
    RETURN_ERROR_IF(l->out_of_memory, err, NOCAP_E_MEMORY, "out of memory");
    return nocap_findings_finish(&l->findings, l->exercised, err);
}

enum nocap_status nocap_aie_lint_image(struct nocap_report **report,
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
    l.lines = calloc(image->kernel_count + 1, sizeof *l.lines);
    l.check = (struct nocap_check_options){.size = sizeof l.check,
                                           .waivers = options->waivers,
                                           .known = options->known,
                                           .max_per_rule = options->max_per_rule};
    l.findings = (struct nocap_findings){.report = *report, .options = &l.check};
    enum nocap_status status = judge_image(&l, path, err);
    nocap_findings_close(&l.findings);
    for (size_t i = 0; l.lines != NULL && (i == 0 || i < image->kernel_count); i++) {
        nocap_aie_lines_close(l.lines[i].lines);
    }
    free(l.lines);
    struct lint_records *const lists[] = {&l.sync, &l.jobs, &l.loads, &l.waits, &l.tasks};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        free(lists[i]->items);
    }
    free(l.code);
    free(l.main);
    if (status != NOCAP_OK) {
        nocap_report_free(*report);
        *report = NULL;
    }
    return status;
}

static bool is_source(const char *path)
{
    static const char end[] = ".asm";
    size_t length = strlen(path);
    return length >= sizeof end && strcmp(path + length - (sizeof end - 1), end) == 0;
}

/* What asm makes of a source, with its lines. */
static enum nocap_status open_source(struct nocap_aie_image **image, const char *path,
                                     const struct nocap_lint_options *options,
                                     struct nocap_error *err)
{
    enum nocap_aie_chip chip = NOCAP_AIE_CHIP_UNKNOWN;
    const struct nocap_aie_asm_options asm_options = {.dialect = options->dialect,
                                                      .chip = options->chip,
                                                      .dirs = options->dirs,
                                                      .dir_count = options->dir_count,
                                                      .map = true,
                                                      .made_for = &chip};
    uint8_t *elf;
    size_t size;
    *image = NULL;
    RETURN_IF_FAILED(nocap_aie_assemble(&elf, &size, path, &asm_options, err));
    enum nocap_status status = nocap_aie_image_open_memory(image, elf, size, path, err);
    free(elf);
    if (status == NOCAP_OK) {
        (*image)->chip = chip; /* which few files tell */
    }
    return status;
}

/* The map calls the file that asm was given "default". */
static enum nocap_status name_source(struct nocap_report *report, const char *path,
                                     struct nocap_error *err)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        struct nocap_finding *f = &report->findings[i];
        if (f->file != NULL && strcmp(f->file, "default") == 0) {
            char *file = foreign_copy(path);
            RETURN_ERROR_IF(file == NULL, err, NOCAP_E_MEMORY, "out of memory");
            free(f->file);
            f->file = file;
        }
    }
    return NOCAP_OK;
}

enum nocap_status nocap_aie_lint(struct nocap_report **report, const char *path,
                                 const struct nocap_lint_options *options, struct nocap_error *err)
{
    struct nocap_aie_image *image;
    bool source = is_source(path);
    *report = NULL;
    RETURN_IF_FAILED(source ? open_source(&image, path, options, err)
                            : nocap_aie_image_open_input(&image, path, err));
    enum nocap_status status =
        options->kernel == NULL ? NOCAP_OK : nocap_aie_image_select(image, options->kernel, err);
    if (status == NOCAP_OK) {
        status = nocap_aie_lint_image(report, image, path, options, err);
    }
    nocap_aie_image_close(image);
    if (status == NOCAP_OK && source && (status = name_source(*report, path, err)) != NOCAP_OK) {
        nocap_report_free(*report);
        *report = NULL;
    }
    return status;
}
