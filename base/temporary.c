/* SPDX-License-Identifier: Apache-2.0 */
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Static, since a signal handler has nothing else. What is listed beyond it stays after a signal.
 * Whoever exchanges a name for NULL owns it. A handler takes no lock, but frees no name either:
 * threads that read names keep each other from freeing them. */
enum { LISTED_MAX = 4096 };
static _Atomic(char *) listed[LISTED_MAX];
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
static _Atomic pid_t owner; /* the child of a fork has no say */

void temporary_list(const char *path)
{
    char *copy = strdup(path);
    atomic_store(&owner, getpid());
    for (size_t i = 0; copy != NULL && i < LISTED_MAX; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&listed[i], &none, copy)) {
            return;
        }
    }
    free(copy);
}

/* Takes `path` off the list once, or with `below` each file in that folder, which it removes. */
static void take_off(const char *path, bool below)
{
    size_t length = strlen(path);
    bool taken = false;
    pthread_mutex_lock(&reading);
    for (size_t i = 0; i < LISTED_MAX && (below || !taken); i++) {
        char *name = atomic_load(&listed[i]);
        bool meant = name != NULL && strncmp(name, path, length) == 0 &&
                     name[length] == (below ? '/' : '\0');
        taken = meant && atomic_compare_exchange_strong(&listed[i], &name, NULL);
        if (taken && below) {
            unlink(name);
        }
        if (taken) {
            free(name);
        }
    }
    pthread_mutex_unlock(&reading);
}

void temporary_unlist(const char *path)
{
    take_off(path, false);
}

/* Those that `remove_it` cannot remove stay on the list. */
static void remove_listed(int remove_it(const char *))
{
    for (size_t i = 0; i < LISTED_MAX; i++) {
        char *name = atomic_exchange(&listed[i], NULL);
        if (name != NULL && remove_it(name) != 0) {
            atomic_store(&listed[i], name);
        }
    }
}

/* Folders last, when they are empty. */
void temporary_remove_all(void)
{
    if (atomic_load(&owner) == getpid()) {
        remove_listed(unlink);
        remove_listed(rmdir);
    }
}

static const char *directory(void)
{
    const char *given = getenv("TMPDIR");
    return given == NULL || given[0] == '\0' ? "/tmp" : given;
}

/* None comes between a file and its place on the list. */
static void hold_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

enum nocap_status temporary_make(char path[PATH_MAX], const char *name, struct nocap_error *err)
{
    sigset_t before;
    snprintf(path, PATH_MAX, "%s/%s-XXXXXX", directory(), name);
    hold_signals(&before);
    int fd = mkostemp(path, O_CLOEXEC), cause = errno;
    if (fd >= 0) {
        temporary_list(path);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (fd < 0) {
        nocap_fail(err, NOCAP_E_OUTPUT, "cannot make a temporary file %s: %s", path,
                   strerror(cause));
        path[0] = '\0';
        return NOCAP_E_OUTPUT;
    }
    close(fd);
    return NOCAP_OK;
}

void temporary_remove(char path[PATH_MAX])
{
    if (path[0] != '\0') {
        unlink(path);
        temporary_unlist(path);
        path[0] = '\0';
    }
}

enum nocap_status temporary_make_folder(char *path, struct nocap_error *err)
{
    sigset_t before;
    hold_signals(&before);
    bool made = mkdtemp(path) != NULL;
    int cause = errno;
    if (made) {
        temporary_list(path);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!made) {
        nocap_fail(err, NOCAP_E_OUTPUT, "cannot make the temporary directory %s: %s", path,
                   strerror(cause));
        path[0] = '\0';
        return NOCAP_E_OUTPUT;
    }
    return NOCAP_OK;
}

void temporary_remove_folder(const char *path)
{
    take_off(path, true);
    rmdir(path);
    temporary_unlist(path);
}

int temporary_nameless(void)
{
    int fd = open(directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    char path[PATH_MAX];
    if (fd < 0) {
        snprintf(path, sizeof path, "%s/nocap-XXXXXX", directory());
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0) {
            unlink(path);
        }
    }
    return fd;
}
