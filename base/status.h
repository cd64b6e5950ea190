/* SPDX-License-Identifier: Apache-2.0 */
/* Every fallible function of nocap returns a status and fills the caller's text: how they do it. */
#ifndef NOCAP_BASE_STATUS_H
#define NOCAP_BASE_STATUS_H

#include <nocap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills `err` (which may be NULL) and returns `status`, so that `return nocap_fail(...)` is the
 * whole error path. */
enum nocap_status nocap_fail(struct nocap_error *err, enum nocap_status status, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

/* Puts a further sentence in front of the error: "cannot read x.nocap: <cause>". Returns `status`.
 */
enum nocap_status nocap_fail_context(struct nocap_error *err, enum nocap_status status,
                                     const char *format, ...) __attribute__((format(printf, 3, 4)));

#define RETURN_IF_FAILED(expression)                                                               \
    do {                                                                                           \
        enum nocap_status status_ = (expression);                                                  \
        if (status_ != NOCAP_OK) {                                                                 \
            return status_;                                                                        \
        }                                                                                          \
    } while (0)

#define RETURN_ERROR_IF(condition, err, status, ...)                                               \
    do {                                                                                           \
        if (__builtin_expect(!!(condition), 0)) {                                                  \
            return nocap_fail((err), (status), __VA_ARGS__);                                       \
        }                                                                                          \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
