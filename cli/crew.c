/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/crew.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a child ---- */

/* In the child: what it wrote stands in `fd`, the status is its exit status. */
noreturn static void judge_and_exit(int fd, crew_judge *judge, const void *context, uint64_t at)
{
    struct nocap_error err = {{0}};
    FILE *out = fdopen(fd, "w");
    enum nocap_status status = out == NULL ? nocap_fail(&err, NOCAP_E_MEMORY, "out of memory")
                                           : judge(context, at, out, &err);
    if (out != NULL && status != NOCAP_OK) {
        rewind(out);
        status = ftruncate(fd, 0) == 0 && fputs(err.text, out) >= 0 ? status : NOCAP_E_OUTPUT;
    }
    if (out != NULL && fflush(out) != 0) {
        status = NOCAP_E_OUTPUT;
    }
    _exit((int)status);
}

enum nocap_status crew_child_start(struct crew_child *child, crew_judge *judge, const void *context,
                                   uint64_t at, struct nocap_error *err)
{
    int parent = getpid(), fd = memfd_create("nocap-result", MFD_CLOEXEC);
    RETURN_ERROR_IF(fd < 0, err, NOCAP_E_MEMORY, "no memory for a result: %s", strerror(errno));
    fflush(NULL);
    int pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(NOCAP_E_OUTPUT); /* it is gone already */
        }
        judge_and_exit(fd, judge, context, at);
    }
    if (pid < 0) {
        close(fd);
        return nocap_fail(err, NOCAP_E_MEMORY, "cannot start a process: %s", strerror(errno));
    }
    *child = (struct crew_child){.pid = pid, .fd = fd, .at = at};
    return NOCAP_OK;
}

static enum nocap_status read_result(int fd, struct crew_result *result, struct nocap_error *err)
{
    off_t size = lseek(fd, 0, SEEK_END);
    result->size = size < 0 ? 0 : (size_t)size;
    result->text = malloc(result->size + 1);
    RETURN_ERROR_IF(result->text == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (size_t got = 0; got < result->size;) {
        ssize_t n = pread(fd, result->text + got, result->size - got, (off_t)got);
        if (n <= 0) {
            return nocap_fail(err, NOCAP_E_MEMORY, "a result cannot be read back: %s",
                              strerror(errno));
        }
        got += (size_t)n;
    }
    result->text[result->size] = 0;
    return NOCAP_OK;
}

enum nocap_status crew_child_end(struct crew_child *child, int status, struct crew_result *result,
                                 struct nocap_error *err)
{
    *result = (struct crew_result){
        .at = child->at,
        .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        .status = WIFEXITED(status) ? (enum nocap_status)WEXITSTATUS(status) : NOCAP_OK,
    };
    enum nocap_status read = read_result(child->fd, result, err);
    if (read != NOCAP_OK) {
        free(result->text);
        result->text = NULL;
    }
    close(child->fd);
    *child = (struct crew_child){.pid = 0};
    return read;
}

/* ---- several ---- */

static enum nocap_status give(struct crew *crew, uint64_t at, struct nocap_error *err)
{
    struct crew_local *local = (struct crew_local *)(void *)crew;
    size_t i = 0;
    while (local->children[i].pid != 0) {
        i++;
    }
    return crew_child_start(&local->children[i], local->judge, local->context, at, err);
}

static enum nocap_status take(struct crew *crew, struct crew_result *result,
                              struct nocap_error *err)
{
    struct crew_local *local = (struct crew_local *)(void *)crew;
    for (;;) {
        int status, pid = wait(&status);
        if (pid < 0 && errno != EINTR) {
            return nocap_fail(err, NOCAP_E_MEMORY, "a process was lost: %s", strerror(errno));
        }
        for (size_t i = 0; pid > 0 && i < crew->size; i++) {
            if (local->children[i].pid == pid) {
                return crew_child_end(&local->children[i], status, result, err);
            }
        }
    }
}

enum nocap_status crew_local_open(struct crew_local *local, size_t size, crew_judge *judge,
                                  const void *context, struct nocap_error *err)
{
    *local = (struct crew_local){
        .crew = {.size = size, .give = give, .take = take},
        .judge = judge,
        .context = context,
        .children = calloc(size, sizeof *local->children),
    };
    return local->children == NULL ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory") : NOCAP_OK;
}

void crew_local_close(struct crew_local *local)
{
    for (size_t i = 0; local->children != NULL && i < local->crew.size; i++) {
        struct crew_child *child = &local->children[i];
        if (child->pid != 0) {
            kill(child->pid, SIGKILL);
            while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
            }
            close(child->fd);
        }
    }
    free(local->children);
    local->children = NULL;
}
