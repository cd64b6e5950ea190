/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files, and the list of those that have a name, which a signal that
 * ends the program removes. */
#ifndef NOCAP_BASE_TEMPORARY_H
#define NOCAP_BASE_TEMPORARY_H

#include <limits.h>

#include "base/status.h"

/* Makes an empty file NAME-XXXXXX in $TMPDIR (/tmp) and lists it; `path` says which, "" where that
 * fails. */
enum nocap_status temporary_make(char path[PATH_MAX], const char *name, struct nocap_error *err);
/* Removes it; `path` is "" then, and may be before. */
void temporary_remove(char path[PATH_MAX]);
/* Makes a folder `path`, whose last six letters are XXXXXX, and lists it; "" where that fails. What
 * is made in it is to be listed, too: temporary_remove_folder removes that, and the folder. */
enum nocap_status temporary_make_folder(char *path, struct nocap_error *err);
void temporary_remove_folder(const char *path);
/* A file without a name in $TMPDIR (/tmp) that lives as long as the descriptor. -1: errno says
 * why. */
int temporary_nameless(void);

/* Puts a name on the list and takes it off: the file was renamed or removed. */
void temporary_list(const char *path);
void temporary_unlist(const char *path);
/* Removes what is on the list, files and empty folders; a signal handler may call it. */
void temporary_remove_all(void);

#endif
