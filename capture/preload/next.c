/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>

#include "capture/preload/preload.h"

static struct next calls;
static _Atomic bool ready;

/* Two threads that come here at the same time write the same. */
const struct next *next(void)
{
    if (!atomic_load_explicit(&ready, memory_order_acquire)) {
#define NEXT(result, name, parameters)                                                             \
    calls.name = __extension__(result(*) parameters) dlsym(RTLD_NEXT, #name);
        NEXT_CALLS(NEXT)
#undef NEXT
        atomic_store_explicit(&ready, true, memory_order_release);
    }
    return &calls;
}
