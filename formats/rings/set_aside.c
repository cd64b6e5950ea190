/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/rings/recover.h"

enum { NAMES_MAX = 10000 };

static bool is_free(const char *path, char rings[NOCAP_RINGS_PATH])
{
    bool fits = snprintf(rings, NOCAP_RINGS_PATH, "%s" NOCAP_RINGS_SUFFIX, path) < NOCAP_RINGS_PATH;
    return fits && access(path, F_OK) != 0 && access(rings, F_OK) != 0;
}

/* STEM.killed.nocap, STEM.killed-2.nocap ..: the first that is free, with its rings. */
static bool find_name(const char *path, char name[NOCAP_RINGS_PATH], char rings[NOCAP_RINGS_PATH])
{
    static const char suffix[] = ".nocap";
    size_t stem = strlen(path);
    bool ends = stem > strlen(suffix) && strcmp(path + stem - strlen(suffix), suffix) == 0;
    stem -= ends ? strlen(suffix) : 0;
    for (unsigned i = 1; i < NAMES_MAX; i++) {
        char number[16] = "";
        if (i > 1) {
            snprintf(number, sizeof number, "-%u", i);
        }
        snprintf(name, NOCAP_RINGS_PATH, "%.*s.killed%s%s", (int)stem, path, number, suffix);
        if (is_free(name, rings)) {
            return true;
        }
    }
    errno = EEXIST;
    return false;
}

/* The trace keeps its old name too, until a new one takes it, where the file system has links. */
static bool move_trace(const char *path, const char *to)
{
    return linkat(AT_FDCWD, path, AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0 || errno == ENOENT ||
           rename(path, to) == 0;
}

enum nocap_status nocap_rings_set_aside(const char *path, char kept[NOCAP_RINGS_PATH],
                                        struct nocap_error *err)
{
    char rings[NOCAP_RINGS_PATH], to[NOCAP_RINGS_PATH];
    kept[0] = '\0';
    RETURN_ERROR_IF(nocap_rings_capturing(path), err, NOCAP_E_OUTPUT,
                    "cannot write %s: another program is capturing into it", path);
    snprintf(rings, sizeof rings, "%s" NOCAP_RINGS_SUFFIX, path);
    if (access(rings, F_OK) != 0) {
        return NOCAP_OK;
    }
    if (!find_name(path, kept, to) || !move_trace(path, kept) || rename(rings, to) != 0) {
        nocap_fail(
            err, NOCAP_E_OUTPUT,
            "cannot write %s: it is of a capture that was killed, and cannot be moved out of "
            "the way: %s; nocap capture --recover %s makes it whole",
            path, strerror(errno), path);
        kept[0] = '\0';
        return NOCAP_E_OUTPUT;
    }
    return NOCAP_OK;
}
