/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary.h"

static const char cannot_keep[] =
    "cannot keep %s in a temporary file: %s; TMPDIR may name a folder with more room";

/* Copies what a pipe gives into an unlinked temporary file. */
static enum nocap_status spool(struct source *source, int from, const char *path,
                               struct nocap_error *err)
{
    source->fd = temporary_nameless();
    source->owns_fd = true;
    RETURN_ERROR_IF(source->fd < 0, err, NOCAP_E_OUTPUT, cannot_keep, path, strerror(errno));
    char buffer[1 << 16];
    ssize_t n;
    while ((n = read(from, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno == EINTR) {
            continue;
        }
        RETURN_ERROR_IF(n < 0, err, NOCAP_E_INPUT, "cannot read %s: %s", path, strerror(errno));
        for (ssize_t done = 0, w; done < n; done += w) {
            w = write(source->fd, buffer + done, (size_t)(n - done));
            RETURN_ERROR_IF(w < 0, err, NOCAP_E_OUTPUT, cannot_keep, path, strerror(errno));
        }
        source->size += (uint64_t)n;
    }
    return NOCAP_OK;
}

enum nocap_status source_open(struct source *source, const char *path, struct nocap_error *err)
{
    *source = (struct source){.fd = -1};
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    RETURN_ERROR_IF(fd < 0, err, NOCAP_E_INPUT, "cannot read %s: %s", path, strerror(errno));
    const char *name = is_stdin ? "standard input" : path;
    struct stat st;
    enum nocap_status status = NOCAP_OK;
    if (fstat(fd, &st) != 0) {
        status = nocap_fail(err, NOCAP_E_INPUT, "cannot read %s: %s", name, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        status = nocap_fail(err, NOCAP_E_INPUT,
                            "cannot read %s: it is a directory; name a trace in it", name);
    } else if (S_ISREG(st.st_mode)) {
        source->fd = fd;
        source->owns_fd = !is_stdin;
        source->size = (uint64_t)st.st_size;
        return NOCAP_OK;
    } else {
        status = spool(source, fd, name, err);
    }
    if (status != NOCAP_OK) {
        source_close(source);
    }
    if (!is_stdin) {
        close(fd);
    }
    return status;
}

enum nocap_status source_open_fd(struct source *source, int fd, const char *name,
                                 struct nocap_error *err)
{
    struct stat st;
    *source = (struct source){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0), .owns_fd = true};
    if (source->fd < 0 || fstat(fd, &st) != 0) {
        nocap_fail(err, NOCAP_E_INPUT, "cannot read %s: %s", name, strerror(errno));
        source_close(source);
        return NOCAP_E_INPUT;
    }
    source->size = (uint64_t)st.st_size;
    return NOCAP_OK;
}

void source_close(struct source *source)
{
    if (source->owns_fd && source->fd >= 0) {
        close(source->fd);
    }
    source->fd = -1;
}

void source_grow(struct source *source)
{
    struct stat st;
    if (source->fd >= 0 && fstat(source->fd, &st) == 0) {
        source->size = (uint64_t)st.st_size;
    }
}

size_t source_read(const struct source *source, uint64_t offset, void *to, size_t size,
                   int *failure)
{
    *failure = 0;
    if (offset >= source->size) {
        return 0;
    }
    if (size > source->size - offset) {
        size = (size_t)(source->size - offset);
    }
    if (source->fd < 0) {
        memcpy(to, source->memory + offset, size);
        return size;
    }
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(source->fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) { /* an error, or the file became shorter meanwhile */
            *failure = n < 0 ? errno : 0;
            break;
        }
        done += (size_t)n;
    }
    return done;
}
