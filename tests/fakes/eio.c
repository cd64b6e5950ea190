/* SPDX-License-Identifier: Apache-2.0 */
/* A disk with a bad place: read(2) and pread(2) of the bytes FAKE_EIO_AT, "FROM" or "FROM-TO", of
 * the file FAKE_EIO_FILE fail with EIO. The name is as the kernel has it: absolute, links resolved.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many of the `size` bytes at `offset` can be read; 0 with `size` not 0: none. */
static size_t readable(int fd, off_t offset, size_t size)
{
    char link[32], path[PATH_MAX];
    const char *file = getenv("FAKE_EIO_FILE"), *at = getenv("FAKE_EIO_AT");
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = before;
    if (file == NULL || at == NULL || length < 0) {
        return size;
    }
    path[length] = 0;
    char *rest;
    off_t from = (off_t)strtoll(at, &rest, 10);
    off_t to = *rest == '-' ? (off_t)strtoll(rest + 1, NULL, 10) : LLONG_MAX;
    if (strcmp(path, file) != 0 || offset > to || offset + (off_t)size <= from) {
        return size;
    }
    return offset < from ? (size_t)(from - offset) : 0;
}

static ssize_t read_at(const char *name, int fd, void *to, size_t size, off_t offset)
{
    ssize_t (*next)(int, void *, size_t, off_t);
    *(void **)&next = dlsym(RTLD_NEXT, name);
    size_t most = readable(fd, offset, size);
    if (most == 0 && size != 0) {
        errno = EIO;
        return -1;
    }
    return next(fd, to, most, offset);
}

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
    return read_at("pread", fd, to, size, offset);
}

ssize_t pread64(int fd, void *to, size_t size, off_t offset)
{
    return read_at("pread64", fd, to, size, offset);
}

ssize_t read(int fd, void *to, size_t size)
{
    ssize_t (*next)(int, void *, size_t);
    *(void **)&next = dlsym(RTLD_NEXT, "read");
    int before = errno;
    off_t offset = lseek(fd, 0, SEEK_CUR);
    errno = before;
    size_t most = offset < 0 ? size : readable(fd, offset, size);
    if (most == 0 && size != 0) {
        errno = EIO;
        return -1;
    }
    return next(fd, to, most);
}
