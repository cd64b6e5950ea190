/* SPDX-License-Identifier: Apache-2.0 */
/* The static rules of AIE control code: what can be said without running it. Jobs have no branches,
 * so that what is said of order and deadlock is exact. Source: AIE control code fact sheet, section
 * 5, kinds S, M and E. */
#ifndef NOCAP_CHECKER_AIE_LINT_H
#define NOCAP_CHECKER_AIE_LINT_H

#include "checker/core/checker.h"
#include "formats/aie/image.h"

struct nocap_lint_options {
    size_t size;                    /* sizeof(struct nocap_lint_options) */
    enum nocap_aie_dialect dialect; /* NOCAP_AIE_DIALECT_OF_FILE: what the image tells */
    const char *rules;              /* as of nocap_check_options; NULL: all */
    uint32_t max_per_rule;          /* findings kept a rule, 0: 20; all are counted */
    /* File of waivers, see waivers.h; NULL: none. CORE is uc<n>, an index is a byte of the column's
     * image: 8192 * page + offset. */
    const char *waivers;
    const struct nocap_baseline *known; /* findings that do not count again; NULL: none */
    const char *kernel;       /* judges this one alone: see nocap_aie_image_select; NULL: all */
    enum nocap_aie_chip chip; /* NOCAP_AIE_CHIP_UNKNOWN: what the image tells */
    const char *const *dirs;  /* where what a source includes is looked for, after its own folder */
    size_t dir_count;
};

/* A path that ends in ".asm" is a source, which is assembled; places are lines of it. Fails with
 * NOCAP_E_INPUT if the file holds no control code or the waivers cannot be read,
 * NOCAP_E_USAGE for a wrong list of rules. */
enum nocap_status nocap_aie_lint(struct nocap_report **report, const char *path,
                                 const struct nocap_lint_options *options, struct nocap_error *err);
/* The same of an image that is open; `path` is for the report. */
enum nocap_status nocap_aie_lint_image(struct nocap_report **report,
                                       const struct nocap_aie_image *image, const char *path,
                                       const struct nocap_lint_options *options,
                                       struct nocap_error *err);

#endif
