/* SPDX-License-Identifier: Apache-2.0 */
/* All that standard input or a pipe holds, for formats that are read as a whole. */
#ifndef NOCAP_BASE_STANDARD_INPUT_H
#define NOCAP_BASE_STANDARD_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define STANDARD_INPUT_NAME "standard input"
enum { STANDARD_INPUT_MAX = 128 << 20 }; /* bytes */

/* "-" as an operand. */
bool standard_input_is(const char *path);
/* What `path` holds, of whatever kind it is, "-" for standard input, and a zero byte after it;
 * free(*bytes). Fails with NOCAP_E_INPUT: it cannot be read, or holds more than `max` bytes. */
enum nocap_status whole_input_read(uint8_t **bytes, size_t *size, const char *path, size_t max,
                                   struct nocap_error *err);
/* The same of standard input. Fails with NOCAP_E_INPUT: it cannot be read, or holds more
 * than STANDARD_INPUT_MAX. */
enum nocap_status standard_input_read(uint8_t **bytes, size_t *size, struct nocap_error *err);

#endif
