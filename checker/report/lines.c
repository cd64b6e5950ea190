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

const char *nocap_time_beside(char text[NOCAP_BESIDE_TEXT], const struct nocap_report *report,
                              uint64_t duration)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)duration * 1e9 / (double)(report->clock_hz | (report->clock_hz == 0));
    size_t unit = 0;
    text[0] = 0;
    if (report->clock_hz == 0 || report->time_unit != NOCAP_TIME_CYCLES) {
        return text;
    }
    for (; value >= 10000 && unit + 1 < sizeof units / sizeof units[0]; unit++) {
        value /= 1000;
    }
    snprintf(text, NOCAP_BESIDE_TEXT, " (%.4g %s)", value, units[unit]);
    return text;
}
