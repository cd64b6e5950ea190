/* SPDX-License-Identifier: Apache-2.0 */
/* A disk without room after FAKE_DISK_BYTES of traces that a process writes, and without room for
 * rings if there is FAKE_DISK_RINGS=0. Files below FAKE_DISK_FULL get no byte. And with
 * FAKE_NO_PROC a system without /proc. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint64_t written;

/* Whether the file of a descriptor is one below `folder`. */
static int is_below(int fd, const char *folder)
{
    char link[32], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = syscall(SYS_readlink, link, path, sizeof path - 1);
    return n > 0 && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_plain(int fd)
{
    struct stat st;
    return fd > STDERR_FILENO && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           !is_below(fd, "/memfd:");
}

static int is_on_full_disk(int fd)
{
    const char *folder = getenv("FAKE_DISK_FULL");
    return folder != NULL && is_below(fd, folder);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    if (is_on_full_disk(fd)) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, data, size, offset);
}

ssize_t write(int fd, const void *data, size_t size)
{
    const char *room = getenv("FAKE_DISK_BYTES");
    if (is_on_full_disk(fd) ||
        (room != NULL && is_plain(fd) &&
         atomic_fetch_add(&written, size) + size > strtoull(room, NULL, 10))) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_write, fd, data, size);
}

int posix_fallocate(int fd, off_t offset, off_t size)
{
    return getenv("FAKE_DISK_RINGS") != NULL || is_on_full_disk(fd) ? ENOSPC
           : syscall(SYS_fallocate, fd, 0, offset, size) == 0       ? 0
                                                                    : errno;
}

static int is_hidden(const char *path)
{
    errno = ENOENT;
    return getenv("FAKE_NO_PROC") != NULL && strncmp(path, "/proc", 5) == 0;
}

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, int) : 0;
    va_end(list);
    return is_hidden(path) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int access(const char *path, int mode)
{
    return is_hidden(path) ? -1 : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

ssize_t readlink(const char *restrict path, char *restrict to, size_t size)
{
    return is_hidden(path) ? -1 : syscall(SYS_readlinkat, AT_FDCWD, path, to, size);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    return is_hidden(from) ? -1 : (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
}
