/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/live/elf_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/profile/profile_elf.h"

enum {
    DEPTH_MAX = 8,
    ENTRIES_MAX = 1 << 18, /* of all folders: a cache keeps each kernel that was ever built */
    ABOVE_MAX = 3,         /* folders above what a command names */
};

/* Files by what they are; of each the newest counts. */
enum kind { KIND_FIRMWARE, KIND_PREFETCH, KIND_DISPATCH, KIND_SUBORDINATE, KINDS };

struct search {
    char path[KINDS][LIVE_FOLDER_SIZE]; /* "": none yet */
    struct timespec made[KINDS];
    unsigned entries;
};

/* A kernel is known by its folder, or by its own name. */
static enum kind kind_of(const char *path)
{
    static const char *const names[KINDS] = {"brisc.elf", "/cq_prefetch", "/cq_dispatch",
                                             "/cq_dispatch_subordinate"};
    const char *name = strrchr(path, '/') + 1;
    size_t length = strlen(name);
    if (length < 4 || strcmp(name + length - 4, ".elf") != 0) {
        return KINDS;
    }
    for (unsigned i = KINDS; i-- > KIND_PREFETCH;) {
        if (strstr(path, names[i]) != NULL) {
            return (enum kind)i;
        }
    }
    return strcmp(name, names[KIND_FIRMWARE]) == 0 && strstr(path, "/kernels/") == NULL
               ? KIND_FIRMWARE
               : KINDS;
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* `path` has room for LIVE_FOLDER_SIZE; `root`: bytes of it that are the folder of the search. */
static void search_folder(struct search *s, char *path, size_t root, unsigned depth)
{
    size_t length = strlen(path);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir != NULL && s->entries < ENTRIES_MAX && (e = readdir(dir)) != NULL;) {
        struct stat st;
        s->entries++;
        if (e->d_name[0] == '.' || length + strlen(e->d_name) + 2 > LIVE_FOLDER_SIZE) {
            continue;
        }
        snprintf(path + length, LIVE_FOLDER_SIZE - length, "/%s", e->d_name);
        enum kind kind = kind_of(path + root);
        if (lstat(path, &st) != 0) {
            path[length] = '\0'; /* it is gone again */
        } else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
            search_folder(s, path, root, depth + 1);
        } else if (S_ISREG(st.st_mode) && kind != KINDS &&
                   (s->path[kind][0] == '\0' || is_newer(&st.st_mtim, &s->made[kind]))) {
            strcpy(s->path[kind], path);
            s->made[kind] = st.st_mtim;
        }
        path[length] = '\0';
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

static enum nocap_status make_profile(char **json, const struct search *s, const char *folder,
                                      struct nocap_error *err)
{
    const char *paths[KINDS];
    size_t count = 0;
    struct nocap_profile profile;
    struct nocap_profile_origins origins;
    for (unsigned i = 0; i < KINDS; i++) {
        if (s->path[i][0] != '\0') {
            paths[count++] = s->path[i];
        }
    }
    RETURN_ERROR_IF(s->entries == ENTRIES_MAX, err, NOCAP_E_INPUT,
                    "more than %d files below %s: name the folder of one build", ENTRIES_MAX - 1,
                    folder);
    RETURN_ERROR_IF(count == 0, err, NOCAP_E_INPUT,
                    "there is no brisc.elf and no kernel cq_prefetch or cq_dispatch below %s",
                    folder);
    RETURN_IF_FAILED(nocap_profile_from_elf(&profile, &origins, paths, count, err));
    return nocap_profile_text(json, &profile, err);
}

enum nocap_status live_profile_of(char **json, const char *folder, struct nocap_error *err)
{
    char path[LIVE_FOLDER_SIZE];
    struct stat st;
    *json = NULL;
    RETURN_ERROR_IF(stat(folder, &st) != 0, err, NOCAP_E_INPUT, "cannot read %s: %s", folder,
                    strerror(errno));
    RETURN_ERROR_IF(!S_ISDIR(st.st_mode), err, NOCAP_E_INPUT, "%s is no folder", folder);
    RETURN_ERROR_IF(strlen(folder) >= sizeof path, err, NOCAP_E_INPUT,
                    "the name of the folder %.100s.. is too long", folder);
    struct search *s = calloc(1, sizeof *s);
    RETURN_ERROR_IF(s == NULL, err, NOCAP_E_MEMORY, "out of memory");
    strcpy(path, folder);
    search_folder(s, path, strlen(path), 0);
    enum nocap_status status = make_profile(json, s, folder, err);
    free(s);
    return status;
}

/* ---- without being told ---- */

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Beside the file, or in a folder above. */
static bool firmware_beside(char folder[LIVE_FOLDER_SIZE], const char *file)
{
    char *at = realpath(file, NULL);
    bool found = false;
    for (unsigned i = 0; i <= ABOVE_MAX && at != NULL && !found; i++) {
        char *slash = strrchr(at, '/');
        if (slash == NULL) {
            break;
        }
        *slash = '\0';
        found = snprintf(folder, LIVE_FOLDER_SIZE, "%s/riscv-firmware", at) < LIVE_FOLDER_SIZE &&
                is_folder(folder);
    }
    free(at);
    return found;
}

static bool find_firmware(char folder[LIVE_FOLDER_SIZE], const char *const *command)
{
    strcpy(folder, "riscv-firmware");
    bool found = is_folder(folder);
    for (; *command != NULL && !found; command++) {
        found = strchr(*command, '/') != NULL || strchr(*command, '.') != NULL
                    ? firmware_beside(folder, *command)
                    : false;
    }
    return found;
}

/* TT_METAL_CACHE, else where tt-metal has it where that is not set. */
static bool find_cache(char folder[LIVE_FOLDER_SIZE])
{
    const char *cache = getenv("TT_METAL_CACHE"), *home = getenv("HOME");
    bool used = getenv("TT_METAL_HOME") != NULL || getenv("TT_METAL_RUNTIME_ROOT") != NULL;
    if (cache == NULL && (!used || home == NULL)) {
        return false;
    }
    int n = cache != NULL ? snprintf(folder, LIVE_FOLDER_SIZE, "%s/tt-metal-cache", cache)
                          : snprintf(folder, LIVE_FOLDER_SIZE, "%s/.cache/tt-metal-cache", home);
    return n < LIVE_FOLDER_SIZE && is_folder(folder);
}

/* Each build has a folder of its own in the cache, and which one will run is unknown: they must
 * say the same. */
static enum nocap_status profile_of_cache(char **json, const char *cache, struct nocap_error *err)
{
    enum nocap_status status = NOCAP_END;
    DIR *dir = opendir(cache);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        char path[LIVE_FOLDER_SIZE + sizeof e->d_name], *other = NULL;
        snprintf(path, sizeof path, "%s/%s", cache, e->d_name);
        if (e->d_name[0] == '.' || !is_folder(path) ||
            live_profile_of(&other, path, NULL) != NOCAP_OK) {
            continue;
        }
        if (*json == NULL) {
            *json = other;
            status = NOCAP_OK;
            continue;
        }
        bool same = strcmp(*json, other) == 0;
        free(other);
        if (!same) {
            status = nocap_fail(err, NOCAP_E_INPUT,
                                "builds below %s have different profiles: name the one that runs "
                                "with --elf-dir",
                                cache);
            free(*json);
            *json = NULL;
            break;
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return status;
}

enum nocap_status live_profile_look(char **json, char folder[LIVE_FOLDER_SIZE],
                                    const char *const *command, struct nocap_error *err)
{
    *json = NULL;
    if (find_firmware(folder, command)) {
        return live_profile_of(json, folder, err);
    }
    return find_cache(folder) ? profile_of_cache(json, folder, err) : NOCAP_END;
}
