/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bounded.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 16, GRACE_SECONDS = 2, LOOK_MILLISECONDS = 20, RUNNING_MAX = 128 };

static const char trace_word[] = "{}"; /* of a command: the file to write the trace to */

/* ---- bounds ---- */

struct timespec cli_deadline(const struct cli_bounds *bounds)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += (time_t)bounds->seconds;
    return at;
}

int cli_remaining(const struct timespec *deadline)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ms = (int64_t)(deadline->tv_sec - now.tv_sec) * 1000 +
                 (deadline->tv_nsec - now.tv_nsec) / 1000000;
    return ms < 0 ? 0 : ms > INT_MAX ? INT_MAX : (int)ms;
}

enum nocap_status cli_too_long(const char *how, const struct cli_bounds *bounds,
                               struct nocap_error *err)
{
    return nocap_fail(err, NOCAP_E_INPUT,
                      "'%.500s' takes more than %" PRIu64 " s: --max-seconds gives it more", how,
                      bounds->seconds);
}

enum nocap_status cli_too_much(const char *how, const struct cli_bounds *bounds,
                               struct nocap_error *err)
{
    return nocap_fail(err, NOCAP_E_INPUT,
                      "'%.500s' writes more than %" PRIu64
                      " MiB: golden traces are small ones (--max-mib allows more)",
                      how, bounds->mib);
}

/* ---- what runs ---- */

/* Process groups, for a signal that ends the program; 0: a free place. */
static atomic_int running[RUNNING_MAX];

static void set_running(pid_t from, pid_t to)
{
    for (size_t i = 0; i < RUNNING_MAX; i++) {
        int expected = from;
        if (atomic_compare_exchange_strong(&running[i], &expected, to)) {
            return;
        }
    }
}

void cli_command_end_all(void)
{
    for (size_t i = 0; i < RUNNING_MAX; i++) {
        pid_t group = atomic_load(&running[i]);
        if (group > 0) {
            kill(-group, SIGTERM);
        }
    }
}

/* Whether it has ended; it is not reaped, so that its group keeps its number. */
static bool has_ended(pid_t child)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

static bool wait_for_end(pid_t child, const struct timespec *deadline)
{
    for (int ms = 1; !has_ended(child); ms = ms < LOOK_MILLISECONDS ? 2 * ms : ms) {
        if (cli_remaining(deadline) == 0) {
            return false;
        }
        poll(NULL, 0, ms);
    }
    return true;
}

/* Ends what is left of the group, gently first. Gives the wait status of the child. */
static int end_group(pid_t child)
{
    const struct cli_bounds grace = {.seconds = GRACE_SECONDS};
    struct timespec deadline = cli_deadline(&grace);
    int status = 0;
    kill(-child, SIGTERM);
    if (!wait_for_end(child, &deadline)) {
        kill(-child, SIGKILL);
    }
    set_running(child, 0);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/* ---- running ---- */

static enum nocap_status write_all(int fd, const char *data, size_t size, const char *how,
                                   struct nocap_error *err)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        RETURN_ERROR_IF(n < 0, err, NOCAP_E_OUTPUT, "cannot write what '%.500s' made: %s", how,
                        strerror(errno));
        data += n;
        size -= (size_t)n;
    }
    return NOCAP_OK;
}

/* Whether all of the pipe went into the file, within the bounds. */
static enum nocap_status copy_output(int pipe_fd, int fd, const char *how,
                                     const struct cli_bounds *bounds,
                                     const struct timespec *deadline, struct nocap_error *err)
{
    char buffer[COPY_BYTES];
    uint64_t bytes = 0;
    for (;;) {
        struct pollfd p = {.fd = pipe_fd, .events = POLLIN};
        int left = cli_remaining(deadline);
        if (left == 0) {
            return cli_too_long(how, bounds, err);
        }
        ssize_t n = poll(&p, 1, left) > 0 ? read(pipe_fd, buffer, sizeof buffer) : -2;
        if (n == -2 || (n < 0 && errno == EINTR)) {
            continue; /* nothing there, or interrupted: time decides */
        }
        RETURN_ERROR_IF(n < 0, err, NOCAP_E_INPUT, "cannot read what '%.500s' writes: %s", how,
                        strerror(errno));
        if (n == 0) {
            return NOCAP_OK;
        }
        bytes += (uint64_t)n;
        if (bytes > bounds->mib << 20) {
            return cli_too_much(how, bounds, err);
        }
        RETURN_IF_FAILED(write_all(fd, buffer, (size_t)n, how, err));
    }
}

/* A group of its own, so that all of it can be ended; a terminal is none of its business. */
static noreturn void be_command(const char *line, const char *path, int out, uint64_t bytes)
{
    struct rlimit limit;
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (bytes != 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max = bytes;
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (in >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        setenv("NOCAP_TRACE", path, 1) == 0) {
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    }
    _exit(127);
}

/* The line with the variable for {}; the caller frees it. `*file`: there was one. */
static char *shell_line(const char *how, bool *file)
{
    char *line = NULL;
    const char *at = strstr(how, trace_word);
    *file = at != NULL;
    int n = at != NULL ? asprintf(&line, "%.*s\"$NOCAP_TRACE\"%s", (int)(at - how), how,
                                  at + strlen(trace_word))
                       : asprintf(&line, "%s", how);
    return n < 0 ? NULL : line;
}

static enum nocap_status judge_end(const char *how, int status, bool file,
                                   const struct cli_bounds *bounds, struct nocap_error *err)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (file && code == 128 + SIGXFSZ) {
        return cli_too_much(how, bounds, err);
    }
    RETURN_ERROR_IF(code != 0, err, NOCAP_E_INPUT,
                    "'%.500s' ended with status %d: no trace was made", how, code);
    return NOCAP_OK;
}

enum nocap_status cli_command_run(const char *how, const char *path, int fd,
                                  const struct cli_bounds *bounds, struct nocap_error *err)
{
    static const char cannot[] = "cannot run '%.500s': %s";
    const struct timespec deadline = cli_deadline(bounds);
    bool file;
    int ends[2];
    char *line = shell_line(how, &file);
    RETURN_ERROR_IF(line == NULL, err, NOCAP_E_MEMORY, "out of memory");
    if (pipe2(ends, O_CLOEXEC) != 0) {
        free(line);
        return nocap_fail(err, NOCAP_E_MEMORY, cannot, how, strerror(errno));
    }
    pid_t child = fork();
    if (child == 0) {
        be_command(line, path, file ? STDERR_FILENO : ends[1], file ? bounds->mib << 20 : 0);
    }
    int cause = errno;
    free(line);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return nocap_fail(err, NOCAP_E_MEMORY, cannot, how, strerror(cause));
    }
    setpgid(child, child); /* whoever comes first */
    set_running(0, child);
    enum nocap_status result = copy_output(ends[0], fd, how, bounds, &deadline, err);
    close(ends[0]); /* a command that writes on gets SIGPIPE */
    if (result == NOCAP_OK && !wait_for_end(child, &deadline)) {
        result = cli_too_long(how, bounds, err);
    }
    int status = end_group(child);
    return result == NOCAP_OK ? judge_end(how, status, file, bounds, err) : result;
}
