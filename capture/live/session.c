#include "capture/live/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/rings/recover.h"

enum { NAMES_MAX = 1000 };
/* A simulator is one thread, and slow: pages that are used again cost less than new ones. */
enum { SIMULATOR_RING_BYTES = 1 << 20 };

/* Makes the file, so that nobody else takes the name; false: it is taken. */
static bool take_name(const char *path, bool keep)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (keep ? O_EXCL : 0), 0666);
    bool taken = fd < 0 && errno == EEXIST;
    if (fd >= 0) {
        close(fd);
    }
    return !taken && !nocap_rings_capturing(path);
}

/* The trace itself, or STEM.<pid>.nocap, STEM.<pid>-2.nocap ..; NULL: no memory. */
static char *choose_name(const char *trace)
{
    static const char suffix[] = ".nocap";
    size_t stem = strlen(trace);
    if (stem > strlen(suffix) && strcmp(trace + stem - strlen(suffix), suffix) == 0) {
        stem -= strlen(suffix);
    }
    if (take_name(trace, getenv(LIVE_KEEP) != NULL)) {
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
        if (take_name(path, true)) {
            return path;
        }
        free(path);
    }
    return NULL;
}

struct nocap_capture *live_open(const char *who, struct nocap_header *header,
                                enum nocap_capture_clock clock)
{
    const char *trace = getenv(LIVE_TRACE), *policy = getenv(LIVE_POLICY);
    struct nocap_capture *capture = NULL;
    struct nocap_error err = {"out of memory"};
    if (trace == NULL || trace[0] == '\0') {
        return NULL;
    }
    char *path = choose_name(trace);
    const struct nocap_capture_options options = {
        .size = sizeof options,
        .clock = clock,
        .ring_bytes = clock == NOCAP_CAPTURE_CLOCK_USER ? SIMULATOR_RING_BYTES : 0,
        .fork = NOCAP_CAPTURE_FORK_FOLLOW,
        .policy = policy != NULL && strcmp(policy, "drop") == 0 ? NOCAP_CAPTURE_DROP
                                                                : NOCAP_CAPTURE_BLOCK};
    free(header->producer);
    if (asprintf(&header->producer, "nocap %s in %s", who, program_invocation_short_name) < 0) {
        header->producer = NULL;
    }
    if (path == NULL || nocap_capture_open(&capture, path, header, &options, &err) != NOCAP_OK) {
        fprintf(stderr, "nocap: nothing is captured: %s\n", err.text);
        capture = NULL;
    }
    free(path);
    return capture;
}

void live_close(struct nocap_capture *capture)
{
    struct nocap_capture_totals totals;
    struct nocap_error err = {{0}};
    if (capture == NULL) {
        return;
    }
    char *path = strdup(nocap_capture_path(capture));
    if (nocap_capture_close(capture, &totals, &err) != NOCAP_OK) {
        fprintf(stderr, "nocap: the trace is not whole: %s\n", err.text);
    }
    const char *sums = getenv(LIVE_SUMS);
    FILE *file = sums != NULL ? fopen(sums, "ae") : NULL;
    if (file != NULL && path != NULL) {
        fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %.3f %s\n", totals.events, totals.bytes,
                totals.dropped, totals.seconds, path);
    }
    if (file != NULL) {
        fclose(file);
    }
    free(path);
}
