/* SPDX-License-Identifier: Apache-2.0 */
/* Transaction streams: whatever comes after a header of either version is decoded to its end or to
 * where that is said, as text and JSON, judged, and its operations can be asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checker/aie/lint.h"
#include "checker/aie/listing.h"
#include "formats/aie/asm.h"
#include "formats/aie/txn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(FILE *out, const struct nocap_aie_image *image)
{
    const struct nocap_lint_options options = {.size = sizeof options, .max_per_rule = 2};
    struct nocap_report *report;
    struct nocap_error err = {""};
    bool as_text, as_json;
    if (nocap_aie_disassemble(out, image, NOCAP_AIE_SEED, &as_text, &err) != NOCAP_OK ||
        nocap_aie_listing(out, image, NOCAP_AIE_SEED, "fuzz", &as_json, &err) != NOCAP_OK ||
        nocap_aie_lint_image(&report, image, "fuzz", &options, &err) != NOCAP_OK) {
        abort();
    }
    if (as_text != as_json || as_text != (report->rules[TXN_001].violations == 0)) {
        abort();
    }
    nocap_report_free(report);
}

/* The first byte chooses the version, the second how many operations there are said to be. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > UINT16_MAX) {
        return 0;
    }
    uint32_t total = (uint32_t)size - 2 + NOCAP_AIE_TXN_HEADER;
    uint8_t *stream = calloc(1, total);
    FILE *out = fopen("/dev/null", "w");
    if (stream == NULL || out == NULL) {
        abort();
    }
    const uint8_t head[] = {data[0] & 1, !(data[0] & 1), 4, 6, 2, 1};
    memcpy(stream, head, sizeof head);
    nocap_aie_put_u32(stream + 8, data[1]);
    nocap_aie_put_u32(stream + 12, total);
    memcpy(stream + NOCAP_AIE_TXN_HEADER, data + 2, size - 2);
    struct nocap_aie_image *image;
    if (nocap_aie_image_open_memory(&image, stream, total, "fuzz", NULL) != NOCAP_OK) {
        abort();
    }
    use(out, image);
    nocap_aie_image_close(image);
    fclose(out);
    free(stream);
    return 0;
}
