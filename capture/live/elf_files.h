/* SPDX-License-Identifier: Apache-2.0 */
/* Private to nocap: the profile of the runtime that a program is about to use, from the ELF files
 * that this runtime keeps: firmware, and the kernels of the command queue. */
#ifndef NOCAP_LIVE_ELF_FILES_H
#define NOCAP_LIVE_ELF_FILES_H

#include "base/status.h"

enum { LIVE_FOLDER_SIZE = 4096 };

/* What the newest files of each kind below `folder` say, as JSON that the caller frees. Fails with
 * NOCAP_E_INPUT where there are none, or none says anything. */
enum nocap_status live_profile_of(char **json, const char *folder, struct nocap_error *err);

/* The same of where runtimes keep them, without being told: `riscv-firmware` here, or beside what
 * `command` names or in a folder above, as blackhole-py has it; else tt-metal's cache, if the
 * environment says that tt-metal is used. NOCAP_END: there is none, and `json` is NULL. Fails where
 * builds in the cache say different things. `folder`: where it was found. */
enum nocap_status live_profile_look(char **json, char folder[LIVE_FOLDER_SIZE],
                                    const char *const *command, struct nocap_error *err);

#endif
