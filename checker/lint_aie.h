/* SPDX-License-Identifier: Apache-2.0 */
/* The static rules of AIE control code: what can be said without running it. Jobs have no branches,
 * so that what is said of order and deadlock is exact. Source: AIE control code fact sheet, section
 * 5, kinds S, M and E. */
#ifndef NOCAP_CHECKER_LINT_AIE_H
#define NOCAP_CHECKER_LINT_AIE_H

#include "checker/checker.h"
#include "formats/aie/image.h"

struct nocap_lint_options {
    size_t size;                    /* sizeof(struct nocap_lint_options) */
    enum nocap_aie_dialect dialect; /* NOCAP_AIE_DIALECT_OF_FILE: what the image tells */
    const char *rules;              /* as of nocap_check_options; NULL: all */
    uint32_t max_per_rule;          /* findings kept a rule, 0: 20; all are counted */
    /* File of waivers, see waivers.h; NULL: none. CORE is uc<n>, an index is a byte of the column's
     * image: 8192 * page + offset. */
    const char *waivers;
    const char *kernel;       /* judges this one alone: see nocap_aie_image_select; NULL: all */
    enum nocap_aie_chip chip; /* NOCAP_AIE_CHIP_UNKNOWN: what the image tells */
};

#define NOCAP_LINT_NOWHERE UINT32_MAX

struct nocap_lint_finding {
    enum nocap_rule rule;
    enum nocap_severity severity;
    bool waived;
    uint32_t uc, page, off; /* off from the page's start; NOCAP_LINT_NOWHERE: does not apply */
    char *message, *expected, *observed;
    const char *kernel; /* one of the report's; NULL: the file names none, or it does not apply */
    char *file;         /* of the source, NULL: not known */
    uint32_t line;
};

struct nocap_lint_report {
    char *path;
    size_t columns, pages;
    char **kernels; /* those of the file; all of them are judged */
    size_t kernel_count;
    uint64_t counts[NOCAP_SEVERITY_COUNT]; /* findings by severity, without the waived */
    uint64_t waived;
    struct nocap_rule_report rules[NOCAP_RULE_COUNT]; /* those of the family AIE count */
    struct nocap_lint_finding *findings;              /* by kernel, uc, page, off, rule */
    size_t finding_count, finding_capacity;
    char **notes; /* about waivers and source lines: one sentence each */
    size_t note_count;
};

/* Fails with NOCAP_E_INPUT if the file holds no control code or the waivers cannot be read,
 * NOCAP_E_USAGE for a wrong list of rules. */
enum nocap_status nocap_aie_lint(struct nocap_lint_report **report, const char *path,
                                 const struct nocap_lint_options *options, struct nocap_error *err);
/* The same of an image that is open; `path` is for the report. */
enum nocap_status nocap_aie_lint_image(struct nocap_lint_report **report,
                                       const struct nocap_aie_image *image, const char *path,
                                       const struct nocap_lint_options *options,
                                       struct nocap_error *err);
void nocap_lint_report_free(struct nocap_lint_report *report); /* NULL is fine */
bool nocap_lint_report_fails(const struct nocap_lint_report *report, enum nocap_severity severity);
enum nocap_status nocap_lint_report_text(FILE *out, const struct nocap_lint_report *report,
                                         bool color, struct nocap_error *err);
enum nocap_status nocap_lint_report_json(FILE *out, const struct nocap_lint_report *report,
                                         struct nocap_error *err);

#endif
