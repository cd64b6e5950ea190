/* Private to checker/golden*.c: the files of a directory of golden traces. */
#ifndef NOCAP_CHECKER_GOLDEN_STORE_H
#define NOCAP_CHECKER_GOLDEN_STORE_H

#include <limits.h>

#include "checker/golden_manifest.h"

/* `dir`/`name`.nocap. */
void golden_path(char path[PATH_MAX], const char *dir, const char *name);

/* Puts the trace at `from` into the directory under `name`, compressed as small as it gets, instead
 * of what is there. Fails with NOCAP_E_USAGE, and changes nothing, if the directory's traces
 * would exceed NOCAP_GOLDEN_BYTES_MAX together. */
enum nocap_status golden_store(const struct golden_manifest *manifest, const char *dir,
                               const char *name, const char *from, struct nocap_error *err);

/* Sets the texts FINDINGS, VIOLATED and DIGEST of `entry` to what the checker says today. */
enum nocap_status golden_judge(struct golden_entry *entry, const char *path,
                               struct nocap_error *err);

#endif
