/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/golden*.c: a change of a directory's files, by one program at a time, that
 * puts all new files in place or none. */
#ifndef NOCAP_CHECKER_GOLDEN_GOLDEN_CHANGE_H
#define NOCAP_CHECKER_GOLDEN_GOLDEN_CHANGE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct golden_file {
    char *path;      /* where it belongs */
    char *temporary; /* beside it; NULL: it has no name yet, or has its own */
    int fd;
    enum golden_place {
        GOLDEN_WAITS,     /* not in place */
        GOLDEN_EXCHANGED, /* in place, the old file is at `temporary` */
        GOLDEN_FIRST,     /* in place, where no file stood */
        GOLDEN_REPLACED,  /* in place, and there is no old file any more */
    } place;
};

struct golden_change {
    const char *dir;
    int dir_fd, lock_fd;
    char *lock_path; /* NULL: the directory itself is locked */
    bool masked; /* signals that would end the program wait, from the first file put in place on */
    sigset_t mask; /* as it was */
    struct golden_file *files;
    size_t count;
};

/* Waits until no other program changes the directory. Fails with NOCAP_E_OUTPUT. End the change
 * whatever comes. */
enum nocap_status golden_change_begin(struct golden_change *change, const char *dir,
                                      struct nocap_error *err);
/* Makes an empty file that will stand at `path`; `*fd` to write to stays the change's. */
enum nocap_status golden_change_add(struct golden_change *change, const char *path, int *fd,
                                    struct nocap_error *err);
/* How many bytes `path` would have. */
uint64_t golden_change_size(const struct golden_change *change, const char *path);
/* Puts what was added in place, on the disk too. On failure what stood there stands there again.
 * Signals wait until the end of the change. */
enum nocap_status golden_change_commit(struct golden_change *change, struct nocap_error *err);
/* Lets others go on; what is not in place is gone. */
void golden_change_end(struct golden_change *change);

#endif
