/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: strings that people read. */
#ifndef NOCAP_CHECKER_REPORT_LINES_H
#define NOCAP_CHECKER_REPORT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "checker/core/checker.h"

/* "a, b and c": appends the `i`-th of `count` items to `text`, cut at `size`; `last` is the word
 * before the last one. */
void nocap_text_list(char *text, size_t size, const char *item, size_t i, size_t count,
                     const char *last);

/* The ending of a word of which there are `count`: "" or "s". */
static inline const char *nocap_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}
/* " (997 us)" for so many cycles; empty where the report says no clock. */
enum { NOCAP_BESIDE_TEXT = 32 };
const char *nocap_time_beside(char text[NOCAP_BESIDE_TEXT], const struct nocap_report *report,
                              uint64_t duration);

#endif
