/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/drive/drive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/drive/run.h"
#include "formats/import/import.h"

/* In the child: what the simulator prints is no result of nocap. */
static void run_in_child(const char *trace, struct drive_plan *plan,
                         const struct drive_payloads *payloads,
                         const struct nocap_drive_options *options, struct drive_shared *shared)
{
    struct nocap_reader *reader;
    dup2(STDERR_FILENO, STDOUT_FILENO);
    shared->status = nocap_import_open(&reader, trace, options->dense, NULL, &shared->err);
    if (shared->status == NOCAP_OK) {
        drive_run(reader, plan, payloads, options, shared);
        nocap_reader_close(reader);
    }
    shared->finished = true;
    drive_end();
    _exit(0);
}

static enum nocap_status drive(const char *trace, struct drive_plan *plan,
                               const struct drive_payloads *payloads,
                               const struct nocap_drive_options *options,
                               struct nocap_drive_result *result, struct nocap_error *err)
{
    struct drive_shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    RETURN_ERROR_IF(shared == MAP_FAILED, err, NOCAP_E_MEMORY, "out of memory");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run_in_child(trace, plan, payloads, options, shared);
    }
    int wait_status = 0;
    while (child > 0 && waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
    }
    enum nocap_status status = shared->status;
    *result = shared->result;
    if (child < 0) {
        status = nocap_fail(err, NOCAP_E_INTERNAL, "cannot start a process for the simulator: %s",
                            strerror(errno));
    } else if (!shared->finished) {
        result->outcome = NOCAP_DRIVE_DIED;
        result->wait_status = wait_status;
        status = NOCAP_OK;
    } else if (status != NOCAP_OK && err != NULL) {
        *err = shared->err;
    }
    munmap(shared, sizeof *shared);
    return status;
}

enum nocap_status nocap_drive(const char *trace, const struct nocap_drive_options *options,
                              struct nocap_drive_result *result, struct nocap_error *err)
{
    struct nocap_reader *reader;
    struct drive_plan plan = {0};
    struct drive_payloads payloads = {0};
    memset(result, 0, sizeof *result);
    RETURN_IF_FAILED(nocap_import_open(&reader, trace, options->dense, NULL, err));
    enum nocap_status status = drive_plan_make(&plan, reader, err);
    nocap_reader_close(reader);
    if (status == NOCAP_OK) {
        status = drive_payloads_read(&payloads, options->payloads, options->payload_count, err);
    }
    if (status == NOCAP_OK) {
        status = drive(trace, &plan, &payloads, options, result, err);
    }
    drive_payloads_free(&payloads);
    drive_plan_free(&plan);
    return status;
}
