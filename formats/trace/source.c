#include "formats/trace/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies what a pipe gives into an unlinked temporary file. */
static enum nocap_status spool(struct source *source, int from, const char *path,
                               struct nocap_error *err)
{
    FILE *file = tmpfile();
    RETURN_ERROR_IF(file == NULL, err, NOCAP_E_OUTPUT, "cannot make a temporary file for %s: %s",
                    path, strerror(errno));
    char buffer[1 << 16];
    ssize_t n;
    while ((n = read(from, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 || fwrite(buffer, 1, (size_t)n, file) != (size_t)n) {
            nocap_fail(err, NOCAP_E_INPUT, "cannot read %s: %s", path, strerror(errno));
            fclose(file);
            return NOCAP_E_INPUT;
        }
        source->size += (uint64_t)n;
    }
    source->fd = fflush(file) == 0 ? dup(fileno(file)) : -1;
    source->owns_fd = true;
    fclose(file);
    RETURN_ERROR_IF(source->fd < 0, err, NOCAP_E_OUTPUT, "cannot keep %s in a temporary file: %s",
                    path, strerror(errno));
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
    if (!is_stdin) {
        close(fd);
    }
    return status;
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
                   bool *failed)
{
    *failed = false;
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
            *failed = n < 0;
            break;
        }
        done += (size_t)n;
    }
    return done;
}
