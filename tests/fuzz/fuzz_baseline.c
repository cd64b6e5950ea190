/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of before: any text is read as one, and what it knows is asked for. */
#include <stdint.h>
#include <stdlib.h>

#include "checker/report/baseline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nocap_baseline *baseline = NULL;
    struct nocap_error err = {{0}};
    struct nocap_baseline_use *use = NULL;
    enum nocap_status status = nocap_baseline_parse(&baseline, (const char *)data, size, &err);
    if (status == NOCAP_OK &&
        nocap_baseline_use_open(&use, baseline, "run.nocap", NULL) == NOCAP_OK) {
        for (unsigned rule = 0; rule < NOCAP_RULE_COUNT; rule++) {
            const struct nocap_divergence divergence = {
                .rule = (enum nocap_rule)rule, .has_tile = true, .at = {1, 2}, .thread = -1};
            static const struct nocap_finding places[] = {
                {.place = NOCAP_PLACE_EVENT},
                {.place = NOCAP_PLACE_ADDRESS, .symbol = (char *)(uintptr_t) "pack_tile"},
                {.place = NOCAP_PLACE_PAGE, .uc = 0},
            };
            for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
                nocap_baseline_match(use, &divergence, &places[i]);
            }
        }
        nocap_baseline_use_close(use);
        nocap_baseline_close(baseline);
    } else if (baseline != NULL || err.text[0] == '\0') {
        abort(); /* a refusal without a reason */
    }
    return 0;
}
