/* SPDX-License-Identifier: Apache-2.0 */
/* The client program under the driver shim, before the fake driver. */
#ifndef NOCAP_TESTS_SHIM_RUN_H
#define NOCAP_TESTS_SHIM_RUN_H

#include "tests/temp_dir.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "formats/import/import.h"
#include "tests/effort.h"

static char build[PATH_MAX]; /* where it is, and by what name: see enter */

/* Runs the client under the shim with up to three variables "NAME=value"; gives its status. */
static int run_client(const char *const *variables, const char *mode, const char *n,
                      const char *result)
{
    char preload[2 * PATH_MAX + 64], client[PATH_MAX + 32];
    snprintf(preload, sizeof preload, "%s/libnocap-preload.so %s/tests/libfake-kmd.so", build,
             build);
    snprintf(client, sizeof client, "%s/tests/kmd_client", build);
    pid_t child = fork();
    if (child == 0) {
        for (; *variables != NULL; variables++) {
            putenv((char *)*variables);
        }
        setenv("LD_PRELOAD", preload, 1);
        dup2(open("client.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
        dup2(STDOUT_FILENO, STDERR_FILENO);
        execl(client, client, mode, n, result, (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void run_well(const char *const *variables, const char *mode, const char *n)
{
    int status = run_client(variables, mode, n, "0");
    if (status != 0) {
        size_t size;
        print_error("status %x: %s\n", (unsigned)status, read_bytes("client.txt", &size));
        fail();
    }
}

static struct nocap_reader *open_trace(const char *path)
{
    struct nocap_reader *reader;
    struct nocap_error err = {{0}};
    if (nocap_import_open(&reader, path, false, NULL, &err) != NOCAP_OK) {
        print_error("%s\n", err.text);
        fail();
    }
    return reader;
}

static void find_build(void)
{
    const char *given = getenv("BUILD") != NULL ? getenv("BUILD") : "build";
    char *full = realpath(given, NULL);
    snprintf(build, sizeof build, "%s", full);
    free(full);
}

/* The dynamic linker takes the path apart at blanks: in the test's folder it has none. */
static int enter(void **state)
{
    if (temp_dir_enter(state) != 0 || symlink(build, "built") != 0) {
        return 1;
    }
    snprintf(build, sizeof build, "%s/built", temp_dir_path);
    return 0;
}

#endif
