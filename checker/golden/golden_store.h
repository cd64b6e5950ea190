/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/golden*.c: the files of a directory of golden traces. */
#ifndef NOCAP_CHECKER_GOLDEN_GOLDEN_STORE_H
#define NOCAP_CHECKER_GOLDEN_GOLDEN_STORE_H

#include <limits.h>

#include "checker/golden/golden.h"
#include "checker/golden/golden_change.h"
#include "checker/golden/golden_manifest.h"

#define GOLDEN_SUFFIX ".nocap"
/* `dir`/`name`.nocap. */
void golden_path(char path[PATH_MAX], const char *dir, const char *name);

/* Adds the trace at `from`, compressed as small as it gets, to the change as `name`; `dense` as of
 * nocap_import_open. Fails with
 * NOCAP_E_USAGE if the directory's traces would exceed NOCAP_GOLDEN_BYTES_MAX together. */
enum nocap_status golden_store(const struct golden_manifest *manifest, struct golden_change *change,
                               const char *name, const char *from,
                               const struct nocap_golden_options *golden, struct nocap_error *err);

/* Sets the texts FINDINGS, VIOLATED and DIGEST of `entry` to what the checker says today. */
enum nocap_status golden_judge(struct golden_entry *entry, const char *path,
                               const struct nocap_golden_options *options, struct nocap_error *err);

#endif
