/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/duration.h"

#include <stdlib.h>
#include <string.h>

bool cli_parse_duration(const char *text, struct cli_duration *duration)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    if (*text < '0' || *text > '9' || text[strspn(text, "0123456789.")] == 'e') {
        return false;
    }
    double value = strtod(text, &end);
    *duration = (struct cli_duration){value, *end != 0};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].name) == 0) {
            duration->value *= units[i].ns;
            return true;
        }
    }
    return *end == 0;
}
