/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files of control code: whatever the bytes are, opening fails with a message, or the image can
 * be disassembled, judged in every dialect, and reported in every form. */
#include <stdio.h>
#include <stdlib.h>

#include "checker/aie/lint.h"
#include "checker/report/results.h"
#include "formats/aie/asm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(FILE *out, struct nocap_report *report)
{
    struct nocap_result result = {.path = report->path, .report = report};
    const struct nocap_results results = {.list = &result, .count = 1};
    for (int format = NOCAP_FORMAT_TEXT; format <= NOCAP_FORMAT_MARKDOWN; format++) {
        (void)nocap_results_print(out, &results, (enum nocap_format)format, true, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nocap_aie_image *image;
    struct nocap_error err = {""};
    if (nocap_aie_image_open_memory(&image, data, size, "fuzz", &err) != NOCAP_OK) {
        if (image != NULL || err.text[0] == '\0') {
            abort();
        }
        return 0;
    }
    FILE *out = fopen("/dev/null", "w");
    for (int d = 0; d < NOCAP_AIE_DIALECT_COUNT && out != NULL; d++) {
        const struct nocap_lint_options options = {
            .size = sizeof options, .dialect = (enum nocap_aie_dialect)d, .max_per_rule = 2};
        struct nocap_report *report;
        bool complete;
        (void)nocap_aie_disassemble(out, image, (enum nocap_aie_dialect)d, &complete, NULL);
        if (nocap_aie_lint_image(&report, image, "fuzz", &options, &err) == NOCAP_OK) {
            print(out, report);
        }
        nocap_report_free(report);
    }
    if (nocap_aie_image_select(image, NULL, &err) != NOCAP_OK && image->kernel_count != 0) {
        char name[64];
        bool complete;
        snprintf(name, sizeof name, "%s", image->kernels[0].name);
        if (nocap_aie_image_select(image, name, &err) == NOCAP_OK && out != NULL) {
            (void)nocap_aie_disassemble(out, image, NOCAP_AIE_SEED, &complete, NULL);
        }
    }
    if (out != NULL) {
        fclose(out);
    }
    nocap_aie_image_close(image);
    return 0;
}
