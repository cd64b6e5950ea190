/* SPDX-License-Identifier: Apache-2.0 */
/* Begin and end of a capture. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/output_file.h"
#include "capture/recorder/recorder.h"
#include "formats/rings/recover.h"

enum { DEFAULT_RING_BYTES = 8 << 20, DEFAULT_FLUSH_MILLISECONDS = 1000 };

static void unmap(struct nocap_capture *c)
{
    for (unsigned i = 0; i < RING_SLOTS; i++) {
        ring_unmap(c->base[i], c->ring_bytes);
        c->base[i] = NULL;
    }
    if (c->file != NULL) {
        munmap(c->file, sizeof *c->file);
        c->file = NULL;
    }
    if (c->rings_fd >= 0) {
        close(c->rings_fd);
    }
    if (c->trace_fd >= 0) {
        close(c->trace_fd);
    }
    c->rings_fd = c->trace_fd = -1;
}

/* In the child, other threads are gone; so is the writer, whose state may be half changed. */
void capture_leave(struct nocap_capture *c)
{
    atomic_store(&c->stopped, true);
    atomic_store(&c->forked, true);
    unmap(c);
    c->writer = NULL;
    c->merge = NULL;
}

static enum nocap_status open_rings(struct nocap_capture *c, struct nocap_error *err)
{
    char *name = NULL;
    RETURN_ERROR_IF(asprintf(&name, "%s" NOCAP_RINGS_SUFFIX, c->path) < 0, err, NOCAP_E_MEMORY,
                    "out of memory");
    c->rings_fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    off_t size = (off_t)(RING_FILE_FIRST + RING_SLOTS * c->ring_bytes);
    bool ok = c->rings_fd >= 0 && flock(c->rings_fd, LOCK_EX | LOCK_NB) == 0 &&
              ftruncate(c->rings_fd, size) == 0;
    /* written rather than touched: the pages are there, and so is their space on the disk */
    static const uint8_t nothing[RING_FILE_FIRST];
    ok = ok && pwrite(c->rings_fd, nothing, sizeof nothing, 0) == (ssize_t)sizeof nothing;
    int cause = ok ? 0 : errno;
    enum nocap_status status = NOCAP_OK;
    if (cause == 0) {
        void *head =
            mmap(NULL, sizeof *c->file, PROT_READ | PROT_WRITE, MAP_SHARED, c->rings_fd, 0);
        c->file = head != MAP_FAILED ? head : NULL;
        cause = c->file == NULL ? errno : 0;
    }
    if (cause != 0) {
        status = nocap_fail(err, NOCAP_E_OUTPUT, "cannot create %s: %s", name, strerror(cause));
    }
    free(name);
    return status;
}

/* Beside the old trace, which stays until the new one can be read. */
static enum nocap_status open_trace(struct nocap_capture *c, struct output_file *file,
                                    struct nocap_error *err)
{
    char kept[NOCAP_RINGS_PATH];
    RETURN_IF_FAILED(output_file_open(file, c->path, O_RDWR, err));
    RETURN_ERROR_IF(file->path == NULL, err, NOCAP_E_OUTPUT,
                    "cannot capture into %s: it must be a plain file", c->path);
    char *full = strdup(file->path); /* the program may change its directory */
    RETURN_ERROR_IF(full == NULL, err, NOCAP_E_MEMORY, "out of memory");
    free(c->path);
    c->path = full;
    file->name = full;
    c->trace_fd = file->fd;
    RETURN_IF_FAILED(nocap_rings_set_aside(c->path, kept, err));
    return open_rings(c, err);
}

static enum nocap_status start_thread(struct nocap_capture *c, struct nocap_error *err)
{
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    int cause = pthread_create(&c->thread, NULL, capture_writer_main, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    RETURN_ERROR_IF(cause != 0, err, NOCAP_E_MEMORY, "cannot start the writer of %s: %s", c->path,
                    strerror(cause));
    return NOCAP_OK;
}

/* A capture that could not begin leaves no ring file. */
static void remove_rings(const struct nocap_capture *c)
{
    char *name = NULL;
    if (c->rings_fd >= 0 && asprintf(&name, "%s" NOCAP_RINGS_SUFFIX, c->path) >= 0) {
        unlink(name);
        free(name);
    }
}

/* What whoever comes after a kill finds, with a header and no event yet. */
static enum nocap_status begin_rings(struct nocap_capture *c, struct nocap_error *err)
{
    struct ring_file_head *file = c->file;
    struct nocap_trace_totals totals;
    file->ring_bytes = c->ring_bytes;
    c->opened = capture_clock_slow();
    if (c->clock == NOCAP_CAPTURE_CLOCK_USER) {
        file->clock.from_user = 1;
    } else {
        c->tsc = capture_clock_calibrate(&file->clock);
    }
    nocap_writer_totals(c->writer, &totals);
    file->commits[0].trace_bytes = totals.bytes;
    c->safe = (struct nocap_capture_totals){.bytes = totals.bytes};
    RETURN_ERROR_IF(!ring_trace_hash(c->trace_fd, totals.bytes, &file->commits[0].trace_hash), err,
                    NOCAP_E_OUTPUT, "cannot read back %s: %s", c->path, strerror(errno));
    c->merge->clock = file->clock;
    c->merge->ring_bytes = c->ring_bytes;
    return NOCAP_OK;
}

static void stop_thread(struct nocap_capture *c)
{
    atomic_store(&c->stop, true);
    sem_post(&c->wake);
    pthread_join(c->thread, NULL);
}

/* The trace gets its name when all else is there, and then the rings are its own. */
static enum nocap_status start(struct nocap_capture *c, struct output_file *file,
                               struct nocap_error *err)
{
    c->merge = calloc(1, sizeof *c->merge);
    RETURN_ERROR_IF(c->merge == NULL, err, NOCAP_E_MEMORY, "out of memory");
    RETURN_IF_FAILED(open_trace(c, file, err));
    const struct nocap_writer_options options = {.size = sizeof options, .level = c->level};
    RETURN_IF_FAILED(nocap_writer_open_fd(&c->writer, c->trace_fd, &c->header, &options, err));
    RETURN_IF_FAILED(nocap_writer_flush(c->writer, err)); /* the rings are for what comes after */
    RETURN_IF_FAILED(begin_rings(c, err));
    RETURN_IF_FAILED(start_thread(c, err));
    enum nocap_status status = output_file_place(file, err);
    if (status != NOCAP_OK) {
        stop_thread(c);
        return status;
    }
    atomic_store(&c->file->magic, RING_FILE_MAGIC);
    return NOCAP_OK;
}

enum nocap_status capture_start(struct nocap_capture *c, struct nocap_error *err)
{
    struct output_file file = {.fd = -1};
    c->stop = c->hurry = false;
    c->flush_wanted = c->flush_done = c->lost_reported = c->blocks = c->dropped = c->last_time = 0;
    memset(c->committed, 0, sizeof c->committed);
    memset(c->populated, 0, sizeof c->populated);
    c->status = NOCAP_OK;
    c->ring_err.text[0] = '\0';
    sem_init(&c->wake, 0, 0);
    enum nocap_status status = start(c, &file, err);
    if (status != NOCAP_OK) {
        remove_rings(c);
        nocap_writer_abandon(c->writer);
        free(c->merge);
        c->writer = NULL;
        c->merge = NULL;
        c->trace_fd = -1; /* it is the file's */
        unmap(c);
    }
    output_file_abandon(&file);
    return status;
}

static void free_capture(struct nocap_capture *c)
{
    if (c != NULL) {
        nocap_header_free(&c->header);
        free(c->path);
        free(c);
    }
}

static enum nocap_status make(struct nocap_capture *c, const char *path,
                              const struct nocap_header *header,
                              const struct nocap_capture_options *o, struct nocap_error *err)
{
    c->rings_fd = c->trace_fd = -1;
    c->clock = o->clock;
    c->one_source = o->one_source;
    c->policy = o->policy;
    c->fork = o->fork;
    c->level = o->level;
    c->ring_bytes = o->ring_bytes != 0 ? o->ring_bytes : DEFAULT_RING_BYTES;
    c->flush_interval = o->flush_interval != 0 ? o->flush_interval : DEFAULT_FLUSH_MILLISECONDS;
    RETURN_ERROR_IF(c->ring_bytes < RING_BYTES_MIN || c->ring_bytes > RING_BYTES_MAX ||
                        (c->ring_bytes & (c->ring_bytes - 1)) != 0,
                    err, NOCAP_E_USAGE, "a ring of %llu bytes: a power of two from %d to %d",
                    (unsigned long long)c->ring_bytes, RING_BYTES_MIN, RING_BYTES_MAX);
    RETURN_IF_FAILED(nocap_header_copy(&c->header, header, err));
    if (!c->header.has_time_unit) {
        c->header.has_time_unit = true;
        c->header.time_unit =
            c->clock == NOCAP_CAPTURE_CLOCK_USER ? NOCAP_TIME_CYCLES : NOCAP_TIME_NS;
    }
    c->path = strdup(path);
    RETURN_ERROR_IF(c->path == NULL, err, NOCAP_E_MEMORY, "out of memory");
    return NOCAP_OK;
}

enum nocap_status nocap_recorder_open(struct nocap_capture **capture, const char *path,
                                      const struct nocap_header *header,
                                      const struct nocap_capture_options *options,
                                      struct nocap_error *err)
{
    const struct nocap_capture_options none = {0};
    struct nocap_capture *c = calloc(1, sizeof *c);
    RETURN_ERROR_IF(c == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = make(c, path, header, options != NULL ? options : &none, err);
    if (status == NOCAP_OK && capture_new_key(c) != 0) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "too many captures in one process");
    }
    if (status == NOCAP_OK) {
        c->id = capture_new_id();
        status = capture_start(c, err);
        if (status != NOCAP_OK) {
            pthread_key_delete(c->key);
        }
    }
    if (status != NOCAP_OK) {
        free_capture(c);
        return status;
    }
    capture_list(c);
    *capture = c;
    return NOCAP_OK;
}

const char *nocap_capture_path(const struct nocap_capture *c)
{
    return c->path;
}

enum nocap_status nocap_capture_flush(struct nocap_capture *c, struct nocap_error *err)
{
    enum { WAIT_NANOSECONDS = 100000 };
    uint64_t wanted = atomic_fetch_add(&c->flush_wanted, 1) + 1;
    sem_post(&c->wake);
    while (atomic_load(&c->flush_done) < wanted && !atomic_load(&c->stopped)) {
        nanosleep(&(struct timespec){0, WAIT_NANOSECONDS}, NULL);
    }
    RETURN_ERROR_IF(atomic_load(&c->stopped) && !atomic_load(&c->forked), err, NOCAP_E_OUTPUT,
                    "the capture into %s has failed; closing it says why", c->path);
    return NOCAP_OK;
}

/* Ends the trace; where that fails the rings stay, for whoever opens it. */
static enum nocap_status finish(struct nocap_capture *c, struct nocap_capture_totals *totals,
                                struct nocap_error *err)
{
    stop_thread(c);
    uint64_t took = capture_clock_slow() - c->opened;
    enum nocap_status status = capture_finish(c, totals, err);
    totals->seconds = (double)took * 1e-9;
    if (status == NOCAP_OK) {
        remove_rings(c);
    }
    if (status == NOCAP_OK && c->ring_err.text[0] != '\0') {
        status = nocap_fail(err, NOCAP_E_OUTPUT, "%s", c->ring_err.text);
    }
    free(c->merge);
    return status;
}

enum nocap_status nocap_recorder_close(struct nocap_capture *c, struct nocap_capture_totals *totals,
                                       struct nocap_error *err)
{
    struct nocap_capture_totals sums = {0};
    enum nocap_status status = NOCAP_OK;
    if (c->file != NULL) {
        status = finish(c, &sums, err);
        sem_destroy(&c->wake);
    }
    if (totals != NULL) {
        *totals = sums;
    }
    capture_unlist(c);
    pthread_key_delete(c->key);
    unmap(c);
    free_capture(c);
    return status;
}
