/* SPDX-License-Identifier: Apache-2.0 */
/* A disk without room behind FAKE_DISK_BYTES of traces that a process writes, and without room for
 * rings if there is FAKE_DISK_RINGS=0. And with FAKE_NO_PROC a system without /proc. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint64_t written;

static int is_plain(int fd)
{
    struct stat st;
    return fd > STDERR_FILENO && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

ssize_t write(int fd, const void *data, size_t size)
{
    const char *room = getenv("FAKE_DISK_BYTES");
    if (room != NULL && is_plain(fd) && (written += size) > strtoull(room, NULL, 10)) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_write, fd, data, size);
}

int posix_fallocate(int fd, off_t offset, off_t size)
{
    return getenv("FAKE_DISK_RINGS") != NULL                  ? ENOSPC
           : syscall(SYS_fallocate, fd, 0, offset, size) == 0 ? 0
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
