/* SPDX-License-Identifier: Apache-2.0 */
/* A file that appears under its name only when it is whole. It is written beside
 * that name; what had the name before stays until then, and forever where nothing comes of it. */
#ifndef NOCAP_BASE_OUTPUT_FILE_H
#define NOCAP_BASE_OUTPUT_FILE_H

#include <stdbool.h>

#include "base/status.h"

struct output_file {
    int fd;           /* to write to; -1: not open */
    const char *name; /* as the caller gave it, for messages */
    char *path;       /* absolute, links resolved; NULL: a device or pipe, written directly */
    char *temporary;  /* NULL: the new file has no name yet */
    int access;       /* as it was opened */
    bool replaces;    /* there is something under the name that would be lost */
};

/* `access`: O_WRONLY or O_RDWR; with O_NOFOLLOW a link is replaced, and not what it points to.
 * `name` must stay. Fails with NOCAP_E_OUTPUT. */
enum nocap_status output_file_open(struct output_file *file, const char *name, int access,
                                   struct nocap_error *err);
/* Gives the file its name and goes on: the descriptor is the caller's from now on, and what follows
 * is written under the name. Where it fails nothing has changed. */
enum nocap_status output_file_place(struct output_file *file, struct nocap_error *err);
/* Closes the file and gives it its name; where that fails nothing of it stays. */
enum nocap_status output_file_commit(struct output_file *file, struct nocap_error *err);
/* Closes it, and nothing of it stays. Also after the others, and on a zeroed one with fd -1. */
void output_file_abandon(struct output_file *file);

#endif
