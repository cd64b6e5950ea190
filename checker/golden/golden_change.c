/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/golden/golden_change.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/list.h"

/* ---- the lock ---- */

static bool lock(int fd)
{
    int result;
    do {
        result = flock(fd, LOCK_EX);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

/* The file that is locked where directories cannot be; its owner removes it, so that one that
 * waited may have locked a file that is no longer there. */
static bool lock_file_beside(struct golden_change *change)
{
    struct stat mine, there;
    if (asprintf(&change->lock_path, "%s/.lock", change->dir) < 0) {
        change->lock_path = NULL;
        errno = ENOMEM;
        return false;
    }
    for (;;) {
        int fd =
            open(change->lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
        if (fd < 0 || !lock(fd) || fstat(fd, &mine) != 0) {
            int cause = errno;
            if (fd >= 0) {
                unlink(change->lock_path);
                close(fd);
            }
            free(change->lock_path);
            change->lock_path = NULL;
            errno = cause;
            return false;
        }
        change->lock_fd = fd;
        if (lstat(change->lock_path, &there) == 0 && there.st_ino == mine.st_ino &&
            there.st_dev == mine.st_dev) {
            return true;
        }
        close(fd);
        change->lock_fd = -1;
    }
}

enum nocap_status golden_change_begin(struct golden_change *change, const char *dir,
                                      struct nocap_error *err)
{
    *change = (struct golden_change){.dir = dir, .dir_fd = -1, .lock_fd = -1};
    change->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    RETURN_ERROR_IF(change->dir_fd < 0, err, NOCAP_E_OUTPUT, "cannot open the directory %s: %s",
                    dir, strerror(errno));
    /* Network file systems lock only what is open for writing, which a directory cannot be. */
    RETURN_ERROR_IF(!lock(change->dir_fd) && !lock_file_beside(change), err, NOCAP_E_OUTPUT,
                    "cannot lock the directory %s: %s", dir, strerror(errno));
    return NOCAP_OK;
}

/* ---- new files ---- */

/* A file without a name where the file system can, so that not even a kill leaves it behind. */
static bool create(struct golden_file *file, int dir_fd)
{
    static const char ending[] = ".XXXXXX";
    if (access("/proc/self/fd", X_OK) == 0) { /* it can be named later */
        file->fd = openat(dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
        if (file->fd >= 0) {
            return true;
        }
    }
    size_t size = strlen(file->path) + sizeof ending;
    char *name = malloc(size);
    if (name == NULL) {
        errno = ENOMEM;
        return false;
    }
    snprintf(name, size, "%s%s", file->path, ending);
    file->fd = mkostemp(name, O_CLOEXEC);
    if (file->fd < 0) {
        free(name);
        return false;
    }
    file->temporary = name;
    mode_t mask = umask(0);
    umask(mask);
    fchmod(file->fd, 0666 & ~mask);
    return true;
}

enum nocap_status golden_change_add(struct golden_change *change, const char *path, int *fd,
                                    struct nocap_error *err)
{
    struct golden_file *file = LIST_NEXT(change->files, change->count);
    RETURN_ERROR_IF(file == NULL, err, NOCAP_E_MEMORY, "out of memory");
    *file = (struct golden_file){.path = strdup(path), .fd = -1};
    RETURN_ERROR_IF(file->path == NULL, err, NOCAP_E_MEMORY, "out of memory");
    change->count++;
    RETURN_ERROR_IF(!create(file, change->dir_fd), err, NOCAP_E_OUTPUT, "cannot write %s: %s", path,
                    strerror(errno));
    *fd = file->fd;
    return NOCAP_OK;
}

uint64_t golden_change_size(const struct golden_change *change, const char *path)
{
    struct stat st;
    for (size_t i = 0; i < change->count; i++) {
        if (strcmp(change->files[i].path, path) == 0) {
            return fstat(change->files[i].fd, &st) == 0 ? (uint64_t)st.st_size : 0;
        }
    }
    return stat(path, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

/* ---- putting them in place ---- */

/* Only a file with a name can replace another. A name that is taken, by a link too, is passed over.
 */
static bool name_it(struct golden_file *file)
{
    enum { TRIES = 100 };
    char from[32];
    snprintf(from, sizeof from, "/proc/self/fd/%d", file->fd);
    for (unsigned i = 0; i < TRIES && file->temporary == NULL; i++) {
        char *name;
        if (asprintf(&name, "%s.%d-%u", file->path, (int)getpid(), i) < 0) {
            errno = ENOMEM;
            return false;
        }
        if (linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            file->temporary = name;
            return true;
        }
        free(name);
        if (errno != EEXIST) {
            return false;
        }
    }
    return file->temporary != NULL;
}

/* The old file changes places with the new one, so that it can come back. */
static bool place(struct golden_file *file)
{
    if (fsync(file->fd) != 0 || !name_it(file)) {
        return false;
    }
    if (renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->path, RENAME_EXCHANGE) == 0) {
        file->place = GOLDEN_EXCHANGED;
        return true;
    }
    bool first = errno == ENOENT, cannot_exchange = errno == EINVAL || errno == ENOSYS;
    if ((!first && !cannot_exchange) || rename(file->temporary, file->path) != 0) {
        return false;
    }
    file->place = first ? GOLDEN_FIRST : GOLDEN_REPLACED;
    free(file->temporary);
    file->temporary = NULL;
    return true;
}

static void take_back(struct golden_file *file)
{
    if (file->place == GOLDEN_EXCHANGED) {
        if (rename(file->temporary, file->path) == 0) { /* the new one is gone with it */
            free(file->temporary);
            file->temporary = NULL;
        }
    } else if (file->place == GOLDEN_FIRST) {
        unlink(file->path);
    }
}

/* Nothing shall end the program between two files. */
static void hold_signals(struct golden_change *change)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    change->masked = pthread_sigmask(SIG_BLOCK, &signals, &change->mask) == 0;
}

enum nocap_status golden_change_commit(struct golden_change *change, struct nocap_error *err)
{
    size_t i = 0;
    hold_signals(change);
    while (i < change->count && place(&change->files[i])) {
        i++;
    }
    /* A directory of some file systems cannot be synchronized, which then does so by itself. */
    if (i == change->count && (fsync(change->dir_fd) == 0 || errno == EINVAL)) {
        return NOCAP_OK;
    }
    enum nocap_status status =
        nocap_fail(err, NOCAP_E_OUTPUT, "cannot write %s: %s",
                   i < change->count ? change->files[i].path : change->dir, strerror(errno));
    for (size_t k = change->count; k-- > 0;) {
        take_back(&change->files[k]);
    }
    return status;
}

void golden_change_end(struct golden_change *change)
{
    for (size_t i = 0; i < change->count; i++) {
        struct golden_file *file = &change->files[i];
        if (file->fd >= 0) {
            close(file->fd);
        }
        if (file->temporary != NULL) {
            unlink(file->temporary);
        }
        free(file->temporary);
        free(file->path);
    }
    free(change->files);
    if (change->lock_path != NULL) {
        unlink(change->lock_path);
        free(change->lock_path);
    }
    if (change->lock_fd >= 0) {
        close(change->lock_fd);
    }
    if (change->dir_fd >= 0) {
        close(change->dir_fd);
    }
    bool masked = change->masked;
    sigset_t mask = change->mask;
    *change = (struct golden_change){.dir_fd = -1, .lock_fd = -1};
    if (masked) {
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
    }
}
