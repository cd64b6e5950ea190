/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/report/lines.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void nocap_text_list(char *text, size_t size, const char *item, size_t i, size_t count,
                     const char *last)
{
    size_t used = strlen(text);
    bool first = i == 0, ends = i + 1 == count;
    snprintf(text + used, size - used, "%s%s%s%s",
             first  ? ""
             : ends ? " "
                    : ", ",
             first || !ends ? "" : last, first || !ends ? "" : " ", item);
}
