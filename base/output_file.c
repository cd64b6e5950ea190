/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary.h"

enum { LINKS_MAX = 40, NAMES_MAX = 100 };
#define DESCRIPTORS "/proc/self/fd" /* only through it a file without a name gets one */

/* The folder of a path: "", "/" or "a/b/"; the rest is the name in it. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (int)(slash - path) + 1 : 0;
}

/* Where a link points to that ends in nothing; NULL: `path` is none. */
static char *follow(const char *path)
{
    char *to = NULL, target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0) {
        return NULL;
    }
    target[n] = '\0';
    int folder = target[0] == '/' ? 0 : folder_length(path);
    return asprintf(&to, "%.*s%s", folder, path, target) < 0 ? NULL : to;
}

/* The path, absolute, so that the program may change its directory; its last name as it is. */
static char *resolve_folder(const char *path)
{
    char *full = NULL;
    int folder = folder_length(path);
    char *given = folder > 0 ? strndup(path, (size_t)folder) : strdup(".");
    char *real = given != NULL ? realpath(given, NULL) : NULL;
    if (real != NULL && path[folder] == '\0') {
        errno = EISDIR;
    } else if (real != NULL &&
               asprintf(&full, "%s/%s", real[1] != '\0' ? real : "", path + folder) < 0) {
        full = NULL;
    }
    free(real);
    free(given);
    return full;
}

/* With links resolved, so that what they point to is replaced, not they. It need not exist. NULL:
 * errno says why. */
static char *resolve(const char *path, unsigned links)
{
    char *full = realpath(path, NULL), *to = full == NULL ? follow(path) : NULL;
    if (to != NULL) {
        full = links < LINKS_MAX ? resolve(to, links + 1) : NULL;
        free(to);
        return full;
    }
    return full != NULL ? full : resolve_folder(path);
}

/* "dir/.name.1234-0", or the next that is free: what try_name makes of it. */
static bool find_name(struct output_file *file, bool try_name(struct output_file *, const char *))
{
    int folder = folder_length(file->path);
    for (unsigned i = 0; i < NAMES_MAX; i++) {
        char *name = NULL;
        if (asprintf(&name, "%.*s.%.200s.%d-%u", folder, file->path, file->path + folder,
                     (int)getpid(), i) < 0) {
            return false;
        }
        temporary_list(name);
        if (try_name(file, name)) {
            file->temporary = name;
            return true;
        }
        int cause = errno;
        temporary_unlist(name);
        free(name);
        errno = cause;
        if (cause != EEXIST) {
            return false;
        }
    }
    return false;
}

static bool create(struct output_file *file, const char *name)
{
    file->fd = open(name, file->access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return file->fd >= 0;
}

static bool link_to(struct output_file *file, const char *name)
{
    char from[sizeof DESCRIPTORS + 16];
    snprintf(from, sizeof from, DESCRIPTORS "/%d", file->fd);
    return linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* A file without a name where the system can give it one later, so that not even a kill leaves
 * something behind. */
static bool create_beside(struct output_file *file)
{
    char *folder = strndup(file->path, (size_t)folder_length(file->path));
    file->fd = folder != NULL && access(DESCRIPTORS, X_OK) == 0
                   ? open(folder, O_TMPFILE | file->access | O_CLOEXEC, 0666)
                   : -1;
    free(folder);
    return file->fd >= 0 || find_name(file, create);
}

enum nocap_status output_file_open(struct output_file *file, const char *name, int access,
                                   struct nocap_error *err)
{
    struct stat st;
    *file = (struct output_file){.fd = -1, .name = name, .access = access};
    bool itself = (access & O_NOFOLLOW) != 0;
    bool exists = (itself ? lstat(name, &st) : stat(name, &st)) == 0;
    file->replaces = exists && st.st_size != 0;
    if (exists && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
        file->fd = open(name, access | O_CLOEXEC);
    } else {
        file->path = itself ? resolve_folder(name) : resolve(name, 0);
        if (file->path != NULL) {
            create_beside(file);
        }
    }
    if (file->fd < 0) {
        nocap_fail(err, NOCAP_E_OUTPUT, "cannot create %s: %s", name, strerror(errno));
        output_file_abandon(file);
        return NOCAP_E_OUTPUT;
    }
    return NOCAP_OK;
}

/* False: the disk does not have it. Where a file system does not report it, it stays unknown. */
static bool synchronise(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

/* Only a file with a name can replace another; and the new one is on the disk before the old one
 * goes. */
static bool settle(struct output_file *file)
{
    return (file->temporary != NULL || find_name(file, link_to)) &&
           (!file->replaces || synchronise(file->fd));
}

static bool rename_it(struct output_file *file)
{
    if (rename(file->temporary, file->path) != 0) {
        return false;
    }
    temporary_unlist(file->temporary);
    free(file->temporary);
    file->temporary = NULL;
    if (!file->replaces) {
        return true;
    }
    char *folder = strndup(file->path, (size_t)folder_length(file->path));
    int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool ok = fd < 0 || synchronise(fd); /* a folder that may be written but not read */
    int cause = errno;
    if (fd >= 0) {
        close(fd);
    }
    free(folder);
    errno = cause;
    return ok;
}

static bool close_it(struct output_file *file)
{
    bool ok = file->fd < 0 || close(file->fd) == 0;
    file->fd = -1;
    return ok;
}

static enum nocap_status end(struct output_file *file, bool ok, struct nocap_error *err)
{
    enum nocap_status status =
        ok ? NOCAP_OK
           : nocap_fail(err, NOCAP_E_OUTPUT, "cannot write %s: %s", file->name, strerror(errno));
    output_file_abandon(file);
    return status;
}

enum nocap_status output_file_place(struct output_file *file, struct nocap_error *err)
{
    bool ok = settle(file) && rename_it(file);
    file->fd = ok ? -1 : file->fd;
    return end(file, ok, err);
}

enum nocap_status output_file_commit(struct output_file *file, struct nocap_error *err)
{
    bool ok =
        file->path != NULL ? settle(file) && close_it(file) && rename_it(file) : close_it(file);
    return end(file, ok, err);
}

void output_file_abandon(struct output_file *file)
{
    close_it(file);
    if (file->temporary != NULL) {
        unlink(file->temporary);
        temporary_unlist(file->temporary);
    }
    free(file->temporary);
    free(file->path);
    file->temporary = file->path = NULL;
}
