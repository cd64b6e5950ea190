/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/fold.h"

enum nocap_status cli_output_open(struct cli_output *output, const char *path,
                                  struct nocap_error *err)
{
    *output =
        (struct cli_output){.fd = STDOUT_FILENO, .file = {.fd = -1}, .name = "standard output"};
    if (path == NULL || strcmp(path, "-") == 0) {
        int flags = fcntl(output->fd, F_GETFL);
        RETURN_ERROR_IF(flags < 0 || (flags & O_ACCMODE) == O_RDONLY, err, NOCAP_E_OUTPUT,
                        "cannot write standard output: it is closed");
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(output_file_open(&output->file, path, O_WRONLY, err));
    output->fd = output->file.fd;
    output->name = path;
    return NOCAP_OK;
}

unsigned cli_output_fold(struct cli_output *output)
{
    unsigned width = output->file.fd < 0 ? cli_terminal_width(output->fd) : 0;
    output->fold = width == 0 ? NULL : calloc(1, sizeof *output->fold);
    if (output->fold != NULL) { /* else the terminal breaks them */
        output->fold->fd = output->fd;
        output->fold->width = width;
    }
    return width;
}

static ssize_t write_folded(void *fold, const char *text, size_t size)
{
    return cli_fold_write(fold, text, size) ? (ssize_t)size : 0;
}

static FILE *folded_stream(struct cli_fold *fold)
{
    return fopencookie(fold, "w", (cookie_io_functions_t){.write = write_folded});
}

void cli_print_folded(void (*print)(FILE *out, const void *what), const void *what)
{
    struct cli_output output = {.fd = STDOUT_FILENO, .file = {.fd = -1}};
    cli_output_fold(&output);
    FILE *folded = output.fold != NULL ? folded_stream(output.fold) : NULL;
    print(folded != NULL ? folded : stdout, what);
    if (folded != NULL) {
        fclose(folded);
        cli_fold_flush(output.fold);
    }
    free(output.fold);
}

FILE *cli_output_stream(struct cli_output *output, struct nocap_error *err)
{
    if (output->stream == NULL && output->fold != NULL) {
        output->stream = folded_stream(output->fold);
    }
    if (output->stream == NULL) {
        int fd = dup(output->fd);
        output->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
        if (output->stream == NULL) {
            nocap_fail(err, NOCAP_E_OUTPUT, "cannot write %s: %s", output->name, strerror(errno));
            if (fd >= 0) {
                close(fd);
            }
        }
    }
    return output->stream;
}

enum nocap_status cli_output_write(struct cli_output *output, const void *data, size_t size,
                                   struct nocap_error *err)
{
    const char *p = data;
    if (output->fold != NULL) {
        bool written = cli_fold_write(output->fold, data, size);
        RETURN_ERROR_IF(!written, err, NOCAP_E_OUTPUT, "cannot write %s: %s", output->name,
                        strerror(errno));
        return NOCAP_OK;
    }
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

/* Ends the stream; false if something written to it did not arrive. */
static bool close_stream(struct cli_output *output)
{
    FILE *stream = output->stream;
    output->stream = NULL;
    bool failed = stream != NULL && ferror(stream);
    bool closed = stream == NULL || fclose(stream) == 0;
    if (output->fold != NULL) {
        closed = cli_fold_flush(output->fold) && closed;
        free(output->fold);
        output->fold = NULL;
    }
    return (closed && !failed) || reader_gone(output->fd);
}

static enum nocap_status commit(struct cli_output *output, struct nocap_error *err)
{
    if (!close_stream(output)) {
        int cause = errno;
        output_file_abandon(&output->file);
        return nocap_fail(err, NOCAP_E_OUTPUT, "cannot write %s: %s", output->name,
                          strerror(cause));
    }
    return output_file_commit(&output->file, err);
}

void cli_output_abandon(struct cli_output *output)
{
    if (output->stream != NULL) {
        fclose(output->stream);
        output->stream = NULL;
    }
    free(output->fold);
    output->fold = NULL;
    output_file_abandon(&output->file);
}

int cli_output_finish(struct cli_output *output, const struct cli_call *call,
                      enum nocap_status status, struct nocap_error *err)
{
    bool direct = output->file.path == NULL;
    bool gone = status == NOCAP_E_OUTPUT && direct && reader_gone(output->fd);
    if (status == NOCAP_OK || status == NOCAP_END || gone) {
        status = commit(output, err);
    } else {
        cli_output_abandon(output);
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
