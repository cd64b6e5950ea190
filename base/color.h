/* SPDX-License-Identifier: Apache-2.0 */
/* Colours of text on a terminal: whether they are wanted is the caller's to say. */
#ifndef NOCAP_BASE_COLOR_H
#define NOCAP_BASE_COLOR_H

#include <stdbool.h>
#include <stdio.h>

#define COLOR_OFF    "\033[0m"
#define COLOR_BOLD   "\033[1m"
#define COLOR_DIM    "\033[2m"
#define COLOR_RED    "\033[31m"
#define COLOR_GREEN  "\033[32m"
#define COLOR_YELLOW "\033[33m"
#define COLOR_CYAN   "\033[36m"
#define COLOR_ALARM  "\033[1;31m"

static inline void color_put(FILE *out, bool wanted, const char *color, const char *text)
{
    fprintf(out, "%s%s%s", wanted ? color : "", text, wanted ? COLOR_OFF : "");
}

#endif
