/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/live/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/foreign_text.h"
#include "formats/rings/recover.h"

enum { NAMES_MAX = 1000 };
/* A simulator's calls come one at a time, and it is slow: pages that are used again cost less than
 * new ones. */
enum { SIMULATOR_RING_BYTES = 1 << 20 };

/* Makes the file, so that no other process takes the name. */
static bool make(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

/* Whether the trace itself is for this capture: of all that one command starts, for the first. */
static bool takes_first(const char *trace)
{
    const char *claim = getenv(LIVE_CLAIM);
    return claim != NULL ? make(claim) : !nocap_rings_capturing(trace);
}

/* The trace itself, or STEM.<pid>.nocap, STEM.<pid>-2.nocap .., which is `made`; NULL: no memory,
 * or no room. */
static char *choose_name(const char *trace, bool *made)
{
    static const char suffix[] = ".nocap";
    size_t stem = strlen(trace);
    if (stem > strlen(suffix) && strcmp(trace + stem - strlen(suffix), suffix) == 0) {
        stem -= strlen(suffix);
    }
    *made = false;
    if (takes_first(trace)) {
        return strdup(trace);
    }
    for (unsigned i = 1; i < NAMES_MAX; i++) {
        char *path, number[16] = "";
        if (i > 1) {
            snprintf(number, sizeof number, "-%u", i);
        }
        if (asprintf(&path, "%.*s.%d%s%s", (int)stem, trace, (int)getpid(), number, suffix) < 0) {
            return NULL;
        }
        if (make(path)) {
            *made = true;
            return path;
        }
        free(path);
    }
    return NULL;
}

/* What a killed capture left is not replaced. */
static enum nocap_status open_capture(struct nocap_capture **capture, const char *path,
                                      const struct nocap_header *header,
                                      const struct nocap_capture_options *options,
                                      struct nocap_error *err)
{
    char kept[NOCAP_RINGS_PATH];
    RETURN_IF_FAILED(nocap_rings_set_aside(path, kept, err));
    if (kept[0] != '\0') {
        fprintf(stderr, "nocap: %s was of a capture that was killed; it is kept as %s\n", path,
                kept);
    }
    return nocap_recorder_open(capture, path, header, options, err);
}

/* After what stands there, where the file has room already: the disk may be full. */
static bool append(const char *path, const char *text)
{
    char old[512];
    ssize_t n = 0;
    off_t end = 0;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    bool locked = fd >= 0 && flock(fd, LOCK_EX) == 0;
    while (locked && (n = pread(fd, old, sizeof old, end)) > 0) {
        size_t used = strnlen(old, (size_t)n);
        end += (off_t)used;
        if (used < (size_t)n) {
            break;
        }
    }
    bool ok = locked && n >= 0 && pwrite(fd, text, strlen(text), end) == (ssize_t)strlen(text);
    if (fd >= 0) {
        close(fd);
    }
    return ok;
}

/* For `nocap capture`, and where that does not hear of it, for whoever reads the program's standard
 * error. `why`: what failed, NULL is nothing. */
static void tell(const struct nocap_capture_totals *t, const char *path, const char *why)
{
    char *text = NULL;
    const char *sums = getenv(LIVE_SUMS);
    if (asprintf(&text, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %.3f %s\n%s\n", t->events, t->bytes,
                 t->dropped, t->seconds, path, why != NULL ? why : "") < 0) {
        text = NULL;
    }
    bool told = sums != NULL && text != NULL && append(sums, text);
    if (why != NULL && !told) {
        fprintf(stderr,
                "nocap: %s: %s; %" PRIu64 " events are there and in its rings, %" PRIu64
                " are lost\n",
                path, why, t->events, t->dropped);
    }
    free(text);
}

struct nocap_capture *live_open(const char *who, struct nocap_header *header,
                                enum nocap_capture_clock clock)
{
    const char *trace = getenv(LIVE_TRACE), *policy = getenv(LIVE_POLICY);
    const char *profile = getenv(LIVE_PROFILE);
    struct nocap_capture *capture = NULL;
    struct nocap_error err = {"out of memory"};
    if (trace == NULL || trace[0] == '\0') {
        return NULL;
    }
    bool made;
    char *path = choose_name(trace, &made);
    const struct nocap_capture_options options = {
        .size = sizeof options,
        .clock = clock,
        .one_source = clock == NOCAP_CAPTURE_CLOCK_USER,
        .ring_bytes = clock == NOCAP_CAPTURE_CLOCK_USER ? SIMULATOR_RING_BYTES : 0,
        .fork = NOCAP_CAPTURE_FORK_FOLLOW,
        .policy = policy != NULL && strcmp(policy, "drop") == 0 ? NOCAP_CAPTURE_DROP
                                                                : NOCAP_CAPTURE_BLOCK};
    free(header->producer);
    if (asprintf(&header->producer, "nocap %s in %s", who, program_invocation_short_name) < 0) {
        header->producer = NULL;
    }
    if (profile != NULL && header->arch == NOCAP_ARCH_BLACKHOLE) {
        (void)nocap_header_set_profile(header, profile, NULL);
    }
    if (path == NULL || open_capture(&capture, path, header, &options, &err) != NOCAP_OK) {
        const struct nocap_capture_totals none = {0};
        foreign_line(stderr, "nocap: nothing is captured: %s", err.text);
        tell(&none, path != NULL ? path : trace, err.text);
        capture = NULL;
        if (path != NULL && made) {
            unlink(path);
        }
    }
    free(path);
    return capture;
}

void live_refuse(const char *what, const char *why)
{
    const struct nocap_capture_totals none = {0};
    tell(&none, what, why);
}

void live_close(struct nocap_capture *capture)
{
    struct nocap_capture_totals totals;
    struct nocap_error err = {{0}};
    if (capture == NULL) {
        return;
    }
    char *path = strdup(nocap_capture_path(capture));
    bool whole = nocap_recorder_close(capture, &totals, &err) == NOCAP_OK;
    tell(&totals, path != NULL ? path : "a trace", whole ? NULL : err.text);
    free(path);
}
