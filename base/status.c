/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum nocap_status nocap_fail(struct nocap_error *err, enum nocap_status status, const char *format,
                             ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}

enum nocap_status nocap_fail_context(struct nocap_error *err, enum nocap_status status,
                                     const char *format, ...)
{
    if (err != NULL) {
        struct nocap_error cause = *err;
        va_list args;
        va_start(args, format);
        int n = vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        size_t used = n < 0 ? 0 : (size_t)n;
        if (used + 3 < sizeof err->text) {
            snprintf(err->text + used, sizeof err->text - used, ": %.*s",
                     (int)(sizeof err->text - used - 3), cause.text);
        }
    }
    return status;
}
