#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path with links resolved, so that what they point to is replaced, not they. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    return real != NULL ? real : strdup(path);
}

/* "dir/.name.XXXXXX" */
static char *temporary_beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t dir = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char *name = NULL;
    return asprintf(&name, "%.*s.%s.XXXXXX", (int)dir, path, path + dir) < 0 ? NULL : name;
}

/* A file without a name where the file system can, so that not even a kill leaves something behind.
 */
static int create_beside(const char *path, char **temporary)
{
    *temporary = NULL;
    char *name = temporary_beside(path);
    if (name == NULL) {
        errno = ENOMEM;
        return -1;
    }
    const char *slash = strrchr(path, '/');
    char *dir = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    int fd = dir == NULL ? -1 : open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free(dir);
    if (fd >= 0) {
        free(name);
        return fd;
    }
    fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0) {
        free(name);
        return -1;
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    *temporary = name;
    return fd;
}

enum nocap_status cli_output_open(struct cli_output *output, const char *path,
                                  struct nocap_error *err)
{
    *output = (struct cli_output){.fd = STDOUT_FILENO, .name = "standard output"};
    if (path == NULL || strcmp(path, "-") == 0) {
        int flags = fcntl(output->fd, F_GETFL);
        RETURN_ERROR_IF(flags < 0 || (flags & O_ACCMODE) == O_RDONLY, err, NOCAP_E_OUTPUT,
                        "cannot write standard output: it is closed");
        return NOCAP_OK;
    }
    struct stat st;
    output->name = path;
    output->owns_fd = true;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        output->fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        output->path = resolve(path);
        output->fd = output->path != NULL ? create_beside(output->path, &output->temporary) : -1;
    }
    if (output->fd < 0) {
        nocap_fail(err, NOCAP_E_OUTPUT, "cannot create %s: %s", path, strerror(errno));
        free(output->path);
        output->path = NULL;
        return NOCAP_E_OUTPUT;
    }
    return NOCAP_OK;
}

FILE *cli_output_stream(struct cli_output *output)
{
    if (output->stream == NULL) {
        int fd = dup(output->fd);
        output->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    }
    return output->stream;
}

enum nocap_status cli_output_write(struct cli_output *output, const void *data, size_t size,
                                   struct nocap_error *err)
{
    const char *p = data;
    while (size > 0) {
        ssize_t n = write(output->fd, p, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EPIPE) {
            return NOCAP_END;
        }
        RETURN_ERROR_IF(n < 0, err, NOCAP_E_OUTPUT, "cannot write %s: %s", output->name,
                        strerror(errno));
        p += n;
        size -= (size_t)n;
    }
    return NOCAP_OK;
}

/* Whether the other end of the pipe is closed. */
static bool reader_gone(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return poll(&p, 1, 0) == 1 && (p.revents & POLLERR) != 0;
}

/* Gives the nameless file a temporary name, since only a file with a name can replace another. */
static bool name_it(struct cli_output *output)
{
    enum { TRIES = 100 };
    if (output->temporary != NULL) {
        return true;
    }
    char from[32];
    snprintf(from, sizeof from, "/proc/self/fd/%d", output->fd);
    for (unsigned i = 0; i < TRIES; i++) {
        char *name = NULL;
        if (asprintf(&name, "%s.%d-%u", output->path, (int)getpid(), i) < 0) {
            return false;
        }
        if (linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            output->temporary = name;
            return true;
        }
        free(name);
        if (errno != EEXIST) {
            return false;
        }
    }
    return false;
}

static bool put_in_place(struct cli_output *output)
{
    if (!name_it(output) || rename(output->temporary, output->path) != 0) {
        return false;
    }
    free(output->temporary);
    output->temporary = NULL;
    return true;
}

/* Closes and frees everything; what has only a temporary name goes. */
static bool close_output(struct cli_output *output)
{
    bool ok = !output->owns_fd || output->fd < 0 || close(output->fd) == 0;
    int cause = errno;
    if (output->temporary != NULL) {
        unlink(output->temporary);
        free(output->temporary);
    }
    free(output->path);
    *output = (struct cli_output){.fd = -1, .name = output->name};
    errno = cause;
    return ok;
}

/* Ends the stream; false if something written to it did not arrive. */
static bool close_stream(struct cli_output *output)
{
    FILE *stream = output->stream;
    output->stream = NULL;
    bool failed = stream != NULL && ferror(stream);
    bool closed = stream == NULL || fclose(stream) == 0;
    return (closed && !failed) || reader_gone(output->fd);
}

static enum nocap_status commit(struct cli_output *output, struct nocap_error *err)
{
    bool ok = close_stream(output) && (output->path == NULL || put_in_place(output));
    int cause = errno;
    bool closed = close_output(output);
    RETURN_ERROR_IF(!ok || !closed, err, NOCAP_E_OUTPUT, "cannot write %s: %s", output->name,
                    strerror(ok ? errno : cause));
    return NOCAP_OK;
}

int cli_output_finish(struct cli_output *output, const struct cli_call *call,
                      enum nocap_status status, struct nocap_error *err)
{
    bool gone = status == NOCAP_E_OUTPUT && output->path == NULL && reader_gone(output->fd);
    if (status == NOCAP_OK || status == NOCAP_END || gone) {
        status = commit(output, err);
    } else {
        if (output->stream != NULL) {
            fclose(output->stream);
        }
        close_output(output);
    }
    return status == NOCAP_OK ? CLI_EXIT_OK : cli_fail(call, status, err);
}

bool cli_output_has_color(const struct cli_output *output, const struct cli_call *call)
{
    const char *no_color = getenv("NO_COLOR");
    switch (call->color) {
    case CLI_COLOR_ALWAYS: return true;
    case CLI_COLOR_NEVER: return false;
    default: return isatty(output->fd) && (no_color == NULL || no_color[0] == '\0');
    }
}
