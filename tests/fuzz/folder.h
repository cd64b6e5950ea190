/* SPDX-License-Identifier: Apache-2.0 */
/* For fuzz targets: a folder for files that must have names. It is made once, and goes when the
 * program ends. */
#ifndef NOCAP_TESTS_FUZZ_FOLDER_H
#define NOCAP_TESTS_FUZZ_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[1024]; /* its path; "": there is none yet */

static inline void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static inline int folder_remove_one(const char *path, const struct stat *st, int type,
                                    struct FTW *ftw)
{
    (void)st, (void)type;
    return ftw->level == 0 ? 0 : remove(path);
}

static inline void folder_empty(void)
{
    (void)nftw(folder, folder_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void folder_remove(void)
{
    folder_empty();
    rmdir(folder);
}

static inline void folder_make(void)
{
    const char *temporary = getenv("TMPDIR");
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "%.1000s/nocap-fuzz-XXXXXX",
                 temporary != NULL && temporary[0] == '/' ? temporary : "/tmp");
        require(mkdtemp(folder) != NULL);
        atexit(folder_remove);
    }
}

static inline void folder_put(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

#endif
