/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_BYTES_MAX = 4096, RACES_MAX = 16 };

/* Opening a FIFO without a writer must not wait. */
static const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

/* Takes the descriptor, whatever comes; below 0 it was not opened, and errno says why. */
static enum nocap_status take(struct regular_file *file, int fd, const char *name, size_t max,
                              struct nocap_error *err)
{
    struct stat about;
    *file = (struct regular_file){.fd = -1};
    RETURN_ERROR_IF(fd < 0, err, NOCAP_E_INPUT, "cannot open %s: %s", name, strerror(errno));
    bool known = fstat(fd, &about) == 0, folder = known && S_ISDIR(about.st_mode);
    if (!known || !S_ISREG(about.st_mode) || (uint64_t)about.st_size > max) {
        close(fd);
        return folder ? nocap_fail(err, NOCAP_E_INPUT, "%s: a directory, not a regular file", name)
                      : nocap_fail(err, NOCAP_E_INPUT,
                                   "%s: not a regular file of at most %zu bytes", name, max);
    }
    *file = (struct regular_file){.fd = fd,
                                  .size = (size_t)about.st_size,
                                  .device = (uint64_t)about.st_dev,
                                  .inode = (uint64_t)about.st_ino};
    return NOCAP_OK;
}

enum nocap_status regular_file_open(struct regular_file *file, const char *path, size_t max,
                                    struct nocap_error *err)
{
    return take(file, open(path, flags), path, max, err);
}

/* ---- below a folder ---- */

/* Where the kernel cannot resolve below a folder: part by part, and no link is followed. EXDEV: the
 * name leads out. */
static int walk(int folder, const char *name)
{
    char part[NAME_BYTES_MAX];
    int at = folder;
    errno = EXDEV;
    while (name[0] != '/') {
        size_t length = strcspn(name, "/"), whole = length + strspn(name + length, "/");
        bool last = name[whole] == 0;
        bool out = length >= sizeof part || (length == 2 && memcmp(name, "..", 2) == 0);
        int fd = -1;
        if (!out) {
            snprintf(part, sizeof part, "%.*s", (int)length, name);
            fd = openat(at, part, (last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC) | O_NOFOLLOW);
        }
        int why = out || (fd < 0 && errno == ELOOP) ? EXDEV : errno;
        if (at != folder) {
            close(at);
        }
        errno = why;
        if (fd < 0 || last) {
            return fd;
        }
        at = fd;
        name += whole;
    }
    return -1;
}

static int open_below(int folder, const char *name)
{
    const struct open_how how = {.flags = (uint64_t)flags,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd;
    unsigned races = 0;
    do { /* EAGAIN: something was renamed meanwhile */
        fd = syscall(SYS_openat2, folder, name, &how, sizeof how);
    } while (fd < 0 && errno == EAGAIN && ++races < RACES_MAX);
    return fd < 0 && (errno == ENOSYS || errno == EPERM) ? walk(folder, name) : (int)fd;
}

enum nocap_status regular_file_open_below(struct regular_file *file, const char *folder,
                                          const char *name, size_t max, struct nocap_error *err)
{
    *file = (struct regular_file){.fd = -1};
    int base = open(folder[0] == 0 ? "." : folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    RETURN_ERROR_IF(base < 0, err, NOCAP_E_INPUT, "cannot open the folder %s: %s", folder,
                    strerror(errno));
    int fd = open_below(base, name), why = errno;
    close(base);
    errno = why;
    RETURN_ERROR_IF(fd < 0 && why == EXDEV, err, NOCAP_E_USAGE, "%s leads out of its folder", name);
    return take(file, fd, name, max, err);
}

/* ---- reading ---- */

enum nocap_status regular_file_read(const struct regular_file *file, const char *name,
                                    uint8_t **bytes, struct nocap_error *err)
{
    uint8_t *to = malloc(file->size + 1);
    RETURN_ERROR_IF(to == NULL, err, NOCAP_E_MEMORY, "%s: out of memory", name);
    ssize_t n = 1;
    size_t have = 0;
    while (have < file->size && (n > 0 || (n < 0 && errno == EINTR))) {
        n = read(file->fd, to + have, file->size - have);
        have += n > 0 ? (size_t)n : 0;
    }
    if (have < file->size) {
        free(to);
        return nocap_fail(err, NOCAP_E_INPUT, "cannot read %s: %s", name,
                          n < 0 ? strerror(errno) : "it became shorter meanwhile; try again");
    }
    to[have] = 0;
    *bytes = to;
    return NOCAP_OK;
}

void regular_file_close(struct regular_file *file)
{
    if (file->fd >= 0) {
        close(file->fd);
        file->fd = -1;
    }
}

enum nocap_status regular_file_load(const char *path, size_t max, uint8_t **bytes, size_t *size,
                                    struct nocap_error *err)
{
    struct regular_file file;
    RETURN_IF_FAILED(regular_file_open(&file, path, max, err));
    enum nocap_status status = regular_file_read(&file, path, bytes, err);
    *size = file.size;
    regular_file_close(&file);
    return status;
}
