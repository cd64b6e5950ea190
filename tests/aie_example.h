/* SPDX-License-Identifier: Apache-2.0 */
/* Examples of control code: assembly text whose lines "#!" say how the file is judged, and what is
 * changed in it after assembling. */
#ifndef NOCAP_TESTS_AIE_EXAMPLE_H
#define NOCAP_TESTS_AIE_EXAMPLE_H

#include "tests/temp_dir.h"

#include "checker/aie/lint.h"
#include "formats/aie/asm.h"

struct aie_example {
    enum nocap_aie_dialect dialect;
    char rules[32]; /* "": all */
    unsigned findings;
};

static struct aie_example aie_example_settings(const char *text)
{
    struct aie_example e = {.dialect = NOCAP_AIE_SEED, .findings = 1};
    e.dialect = strstr(text, "#! dialect f25")   ? NOCAP_AIE_F25
                : strstr(text, "#! dialect n26") ? NOCAP_AIE_N26
                                                 : NOCAP_AIE_SEED;
    const char *rules = strstr(text, "#! rules "), *findings = strstr(text, "#! findings ");
    if (rules != NULL) {
        sscanf(rules, "#! rules %31s", e.rules);
    }
    if (findings != NULL) {
        sscanf(findings, "#! findings %u", &e.findings);
    }
    return e;
}

/* What is changed in the file before it is opened, and in the pages after. */
static void aie_example_patch(const char *text, uint8_t *elf, struct nocap_aie_image *image)
{
    for (const char *line = text; line != NULL && *line != 0; line = strchr(line, '\n')) {
        unsigned uc, page, offset, byte;
        line += *line == '\n';
        if (elf != NULL && sscanf(line, "#! elf %u: %2x", &offset, &byte) == 2) {
            elf[offset] = (uint8_t)byte;
        }
        if (image == NULL) {
            continue;
        }
        if (sscanf(line, "#! uc %u page %u offset %u: %2x", &uc, &page, &offset, &byte) == 4) {
            const struct nocap_aie_page *p = nocap_aie_image_page(image, 0, uc, page);
            assert_non_null(p);
            ((uint8_t *)(uintptr_t)p->bytes)[offset] = (uint8_t)byte;
        }
        if (sscanf(line, "#! relocation %u at %u", &page, &offset) == 2) {
            assert_true(page < image->relocation_count);
            image->relocations[page].page_offset = offset;
        }
        if (strncmp(line, "#! uid", 6) == 0) {
            image->uid[0] = image->uid[0] == '0' ? '1' : '0';
        }
    }
}

/* Assembles, changes and judges an example. */
static struct nocap_report *aie_example_judge(const char *name, const char *text)
{
    struct aie_example e = aie_example_settings(text);
    enum nocap_aie_chip chip;
    const struct nocap_aie_asm_options options = {.dialect = e.dialect, .made_for = &chip};
    const struct nocap_lint_options lint = {
        .size = sizeof lint, .dialect = e.dialect, .rules = e.rules[0] == 0 ? NULL : e.rules};
    struct nocap_report *report;
    struct nocap_aie_image *image;
    struct nocap_error err = {""};
    uint8_t *elf;
    size_t size;
    if (nocap_aie_assemble_text(&elf, &size, text, strlen(text), name, &options, &err) !=
        NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    aie_example_patch(text, elf, NULL);
    if (nocap_aie_image_open_memory(&image, elf, size, name, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    image->chip = chip; /* which a file of n26 need not tell */
    aie_example_patch(text, NULL, image);
    if (nocap_aie_lint_image(&report, image, name, &lint, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    nocap_aie_image_close(image);
    free(elf);
    return report;
}

static inline void aie_example_show_and_fail(const struct nocap_report *report, const char *what)
{
    (void)nocap_report_text(stderr, report, false, false, NULL);
    fail_msg("%s", what);
}

/* The only finding of a program. */
static inline struct nocap_report *aie_example_only(const char *text, enum nocap_rule rule,
                                                    uint32_t off)
{
    struct nocap_report *report = aie_example_judge("program", text);
    if (report->finding_count != 1 || report->findings[0].rule != rule ||
        report->findings[0].off != off) {
        aie_example_show_and_fail(report, "expected one finding");
    }
    return report;
}

#endif
