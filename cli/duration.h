/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as operands: "2500" in the unit of the trace, or with ns, us, ms, s. */
#ifndef NOCAP_CLI_DURATION_H
#define NOCAP_CLI_DURATION_H

#include <stdbool.h>
#include <stdint.h>

struct cli_duration {
    double value; /* in nanoseconds, or in the unit of the trace */
    bool ns;
};

/* False: the text is none. */
bool cli_parse_duration(const char *text, struct cli_duration *duration);

#endif
