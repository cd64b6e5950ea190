/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: where something that would be judged is let pass. EXCUSED(NAME, condition) is
 * the condition; each NAME has a row in excuses.def and a trace in tests/data/excuses that needs
 * it. A build with NOCAP_EXCUSES can switch one off (environment NOCAP_EXCUSE_OFF), by which
 * tests/excuses proves that. */
#ifndef NOCAP_REPLAY_EXCUSE_H
#define NOCAP_REPLAY_EXCUSE_H

#include <stdbool.h>

#ifdef NOCAP_EXCUSES
#define EXCUSE(NAME, why) EXCUSE_##NAME,
enum excuse {
#include "replay/core/excuses.def"
    EXCUSES
};
#undef EXCUSE
bool excuse_is_off(enum excuse excuse);
#define EXCUSED(NAME, condition) (!excuse_is_off(EXCUSE_##NAME) && (condition))
#else
#define EXCUSED(NAME, condition) (condition)
#endif

#endif
