/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: how much they do of what they do with many seeds. */
#ifndef NOCAP_TESTS_EFFORT_H
#define NOCAP_TESTS_EFFORT_H

#include <stdlib.h>

#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* Half of `tests` is enough for `make test`, and the sanitizers look for other things and are ten
 * times as slow. NOCAP_LONG_SEEDS asks for as many as it says (`make long-seeds`: 50), at least for
 * `tests`. */
static inline unsigned effort(unsigned tests, unsigned sanitized)
{
    const char *text = getenv("NOCAP_LONG_SEEDS");
    const unsigned asked = text != NULL ? (unsigned)strtoul(text, NULL, 10) : 0;
    const unsigned least = SANITIZED ? sanitized : text != NULL ? tests : (tests + 1) / 2;
    return asked > least ? asked : least;
}

#endif
