/* SPDX-License-Identifier: Apache-2.0 */
/* Status codes and error text: every fallible function of nocap returns a status and fills the
 * caller's text. */
#ifndef NOCAP_STATUS_H
#define NOCAP_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

enum nocap_status {
    NOCAP_OK = 0,
    NOCAP_END,      /* no more events: not an error */
    NOCAP_E_USAGE,  /* the caller asked for something that makes no sense */
    NOCAP_E_INPUT,  /* an input cannot be read at all: missing, not a trace, wrong version, corrupt
                     */
    NOCAP_E_OUTPUT, /* an output cannot be written */
    NOCAP_E_MEMORY, /* out of memory, or over the stated bound */
    NOCAP_E_INTERNAL, /* a defect of nocap itself */
};

/* One sentence: what, where, what to do. Always terminated. */
struct nocap_error {
    char text[1024];
};

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
