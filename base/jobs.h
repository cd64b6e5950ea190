/* SPDX-License-Identifier: Apache-2.0 */
/* Work on several threads. */
#ifndef NOCAP_BASE_JOBS_H
#define NOCAP_BASE_JOBS_H

#include <stddef.h>

enum { JOBS_MAX = 256 }; /* threads */

typedef void jobs_work(void *context, size_t i);

/* Calls work(context, i) once for each i below `count`, on up to `threads` threads, of which this
 * is one. Threads that cannot be started are not needed: the others do their share. */
void jobs_run(size_t count, size_t threads, jobs_work *work, void *context);

#endif
