/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/rings/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sum.h"
#include "formats/rings/ring_merge.h"
#include "formats/trace/note.h"

struct left_behind {
    int rings_fd, trace_fd;
    struct ring_file_head *head; /* mapped */
    uint8_t *trace;              /* mapped, `commit->trace_bytes` of it */
    const struct ring_commit *commit;
    uint64_t last_time;        /* of all events so far */
    bool reported[RING_SLOTS]; /* the ring is broken, and the trace says so */
    struct ring_merge merge;
};

/* A FIFO under the name must not be waited for. -1: errno says why. */
static int open_regular(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

static int open_rings(const char *path)
{
    char *name = NULL;
    errno = ENOENT;
    if (strcmp(path, "-") == 0 || asprintf(&name, "%s" NOCAP_RINGS_SUFFIX, path) < 0) {
        return -1;
    }
    int fd = open_regular(name), cause = errno;
    free(name);
    errno = cause;
    return fd;
}

/* The program that captures holds the lock as long as it lives. */
static bool is_held(int fd)
{
    return flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool nocap_rings_capturing(const char *path)
{
    int fd = open_rings(path);
    bool held = fd >= 0 && is_held(fd);
    if (fd >= 0) {
        close(fd);
    }
    return held;
}

uint64_t nocap_rings_committed(const char *path)
{
    struct ring_file_head *head = NULL;
    struct stat st;
    uint64_t bytes = 0;
    int fd = open_rings(path);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= RING_FILE_FIRST) {
        void *map = mmap(NULL, sizeof *head, PROT_READ, MAP_SHARED, fd, 0);
        head = map != MAP_FAILED ? map : NULL;
    }
    if (head != NULL) {
        if (atomic_load(&head->magic) == RING_FILE_MAGIC) {
            bytes = head->commits[atomic_load(&head->commit) % 2].trace_bytes;
        }
        munmap(head, sizeof *head);
    }
    if (fd >= 0) {
        close(fd);
    }
    return bytes;
}

static void close_all(struct left_behind *l)
{
    for (unsigned i = 0; i < l->merge.count; i++) {
        ring_unmap((void *)l->merge.cursor[i].base, l->merge.ring_bytes);
    }
    if (l->head != NULL) {
        if (l->trace != NULL) {
            munmap(l->trace, (size_t)l->commit->trace_bytes);
        }
        munmap(l->head, sizeof *l->head);
    }
    if (l->trace_fd >= 0) {
        close(l->trace_fd);
    }
    if (l->rings_fd >= 0) {
        close(l->rings_fd);
    }
    free(l);
}

/* Maps the head of the ring file and the trace that belongs to it; false: they do not belong. */
static bool map_files(struct left_behind *l)
{
    struct stat st;
    if (fstat(l->rings_fd, &st) != 0 || st.st_size < RING_FILE_FIRST) {
        return false;
    }
    void *head = mmap(NULL, sizeof *l->head, PROT_READ, MAP_SHARED, l->rings_fd, 0);
    l->head = head != MAP_FAILED ? head : NULL;
    if (l->head == NULL || atomic_load(&l->head->magic) != RING_FILE_MAGIC) {
        return false;
    }
    uint64_t bytes = l->head->ring_bytes;
    unsigned used = atomic_load(&l->head->slots_used), commit = atomic_load(&l->head->commit);
    if (bytes < RING_BYTES_MIN || bytes > RING_BYTES_MAX || (bytes & (bytes - 1)) != 0 ||
        used > RING_SLOTS || commit > 1 ||
        (uint64_t)st.st_size < RING_FILE_FIRST + RING_SLOTS * bytes) {
        return false;
    }
    l->commit = &l->head->commits[commit];
    uint64_t hash, trace_bytes = l->commit->trace_bytes;
    if (fstat(l->trace_fd, &st) != 0 || trace_bytes == 0 || trace_bytes > (uint64_t)st.st_size ||
        !ring_trace_hash(l->trace_fd, trace_bytes, &hash) || hash != l->commit->trace_hash) {
        return false;
    }
    void *trace = mmap(NULL, (size_t)trace_bytes, PROT_READ, MAP_PRIVATE, l->trace_fd, 0);
    l->trace = trace != MAP_FAILED ? trace : NULL;
    return l->trace != NULL;
}

static enum nocap_status map_rings(struct left_behind *l, const char *path, struct nocap_error *err)
{
    struct ring_merge *m = &l->merge;
    m->clock = l->head->clock;
    m->ring_bytes = l->head->ring_bytes;
    unsigned used = atomic_load(&l->head->slots_used);
    for (unsigned i = 0; i < used; i++) {
        struct ring_cursor *c = &m->cursor[m->count++];
        c->at = l->commit->ring[i];
        c->end = atomic_load(&l->head->ring[i].head);
        if (c->end - c->at.tail > m->ring_bytes || c->at.tail % sizeof(uint64_t) != 0) {
            ring_merge_break(m, c);
        }
        c->base = ring_map(l->rings_fd, m->ring_bytes, i, false);
        RETURN_ERROR_IF(c->base == NULL, err, NOCAP_E_MEMORY, "cannot map the rings of %s: %s",
                        path, strerror(errno));
    }
    return NOCAP_OK;
}

static enum nocap_status add(struct left_behind *l, struct nocap_writer *writer,
                             const struct nocap_event *event, struct nocap_error *err)
{
    l->last_time = event->t > l->last_time ? event->t : l->last_time;
    return nocap_writer_add(writer, event, err);
}

static enum nocap_status add_drop(struct left_behind *l, struct nocap_writer *writer, uint32_t src,
                                  uint64_t count, struct nocap_error *err)
{
    struct nocap_event event;
    if (count == 0) {
        return NOCAP_OK;
    }
    ring_drop_event(&event, l->last_time, src, count);
    return add(l, writer, &event, err);
}

/* Where the trace is damaged a drop tells how many events are missing. */
static enum nocap_status copy_events(struct left_behind *l, struct nocap_writer *writer,
                                     struct nocap_reader *reader, struct nocap_error *err)
{
    const struct nocap_event *events;
    size_t count;
    uint64_t expected = 0;
    enum nocap_status status;
    while ((status = nocap_reader_next(reader, &events, &count, err)) == NOCAP_OK) {
        RETURN_IF_FAILED(add_drop(l, writer, RING_SRC_NONE, events[0].index - expected, err));
        for (size_t i = 0; i < count; i++) {
            RETURN_IF_FAILED(add(l, writer, &events[i], err));
        }
        expected = events[count - 1].index + 1;
    }
    return status == NOCAP_END ? NOCAP_OK : status;
}

static enum nocap_status copy_trace(struct left_behind *l, struct nocap_writer **writer, int out_fd,
                                    struct nocap_recovered *result, struct nocap_error *err)
{
    struct nocap_reader *reader;
    RETURN_IF_FAILED(
        nocap_reader_open_memory(&reader, l->trace, (size_t)l->commit->trace_bytes, err));
    enum nocap_status status =
        nocap_writer_open_fd(writer, out_fd, nocap_reader_header(reader), NULL, err);
    if (status == NOCAP_OK) {
        status = copy_events(l, *writer, reader, err);
        result->incomplete = nocap_reader_integrity(reader)->count > 1; /* it has no footer */
    }
    nocap_reader_close(reader);
    return status;
}

/* Of a ring that cannot be read on: a note why, and a drop, after which nothing is sure. */
static enum nocap_status report_broken(struct left_behind *l, struct nocap_writer *writer,
                                       unsigned i, struct nocap_recovered *result,
                                       struct nocap_error *err)
{
    const struct ring_cursor *c = &l->merge.cursor[i];
    uint64_t records = ring_merge_left(&l->merge, c), bytes = c->end - c->at.tail;
    bytes = bytes < l->merge.ring_bytes ? bytes : l->merge.ring_bytes;
    uint32_t src = atomic_load(&l->head->ring[i].src);
    char text[160];
    snprintf(text, sizeof text,
             "a record in the ring of source %u is invalid: it and what follows, %" PRIu64
             " bytes, are left out",
             src, bytes);
    const struct nocap_event note = {.kind = NOCAP_EV_NOTE,
                                     .has = NOCAP_F_TEXT,
                                     .src = src,
                                     .t = l->last_time,
                                     .data = (const uint8_t *)text,
                                     .data_size = (uint32_t)strlen(text)};
    l->reported[i] = true;
    result->broken++;
    result->unread += bytes;
    result->dropped += records;
    result->incomplete = true;
    RETURN_IF_FAILED(add(l, writer, &note, err));
    return add_drop(l, writer, src, records, err);
}

static enum nocap_status report_all_broken(struct left_behind *l, struct nocap_writer *writer,
                                           struct nocap_recovered *result, struct nocap_error *err)
{
    for (unsigned i = 0; i < l->merge.count; i++) {
        if (l->merge.cursor[i].broken && !l->reported[i]) {
            RETURN_IF_FAILED(report_broken(l, writer, i, result, err));
        }
    }
    return NOCAP_OK;
}

/* The events of all rings; one that no trace may hold is a bad record too. */
static enum nocap_status copy_rings(struct left_behind *l, struct nocap_writer *writer,
                                    struct nocap_recovered *result, struct nocap_error *err)
{
    struct ring_merge *m = &l->merge;
    for (;;) {
        const struct nocap_event *event = ring_merge_next(m, UINT64_MAX);
        if (m->broken != result->broken) {
            RETURN_IF_FAILED(report_all_broken(l, writer, result, err));
        }
        if (event == NULL) {
            return NOCAP_OK;
        }
        enum nocap_status status = add(l, writer, event, err);
        if (status == NOCAP_E_USAGE) {
            ring_merge_give_back(m);
            ring_merge_break(m, m->taken);
            RETURN_IF_FAILED(report_all_broken(l, writer, result, err));
            continue;
        }
        RETURN_IF_FAILED(status);
        result->events++;
        bool drop = event->kind == NOCAP_EV_DROP && nocap_event_problem(event) == NULL;
        result->dropped = sum_of(result->dropped, drop ? event->value : 0);
    }
}

/* What found its ring full, or none, and was not counted in the rings. */
static enum nocap_status add_untold(struct left_behind *l, struct nocap_writer *writer,
                                    struct nocap_recovered *result, struct nocap_error *err)
{
    for (unsigned i = 0; i <= l->merge.count; i++) {
        bool last = i == l->merge.count;
        const struct ring_head *head = &l->head->ring[i];
        uint64_t all = last ? atomic_load(&l->head->lost) : atomic_load(&head->dropped);
        uint64_t reported = last ? l->commit->lost_reported : l->merge.cursor[i].at.reported;
        uint64_t unreported = all > reported ? all - reported : 0;
        result->events += unreported != 0;
        result->dropped += unreported;
        RETURN_IF_FAILED(
            add_drop(l, writer, last ? RING_SRC_NONE : atomic_load(&head->src), unreported, err));
    }
    return NOCAP_OK;
}

/* The process did not come back from a call. */
static enum nocap_status add_ended(struct left_behind *l, struct nocap_writer *writer,
                                   struct nocap_recovered *result, struct nocap_error *err)
{
    if (atomic_load(&l->head->ring[0].calling) == 0) {
        return NOCAP_OK;
    }
    const struct nocap_event note =
        nocap_note_ended(atomic_load(&l->head->ring[0].src), l->last_time);
    result->events++;
    return add(l, writer, &note, err);
}

static enum nocap_status write_all(struct left_behind *l, const char *path, int out_fd,
                                   struct nocap_recovered *result, struct nocap_error *err)
{
    struct nocap_writer *writer = NULL;
    enum nocap_status status = map_rings(l, path, err);
    if (status == NOCAP_OK) {
        status = copy_trace(l, &writer, out_fd, result, err);
    }
    if (status == NOCAP_OK) {
        status = copy_rings(l, writer, result, err);
    }
    if (status == NOCAP_OK) {
        status = add_untold(l, writer, result, err);
    }
    if (status == NOCAP_OK) {
        status = add_ended(l, writer, result, err);
    }
    if (status == NOCAP_OK && !result->incomplete) {
        return nocap_writer_close(writer, NULL, err);
    }
    if (status == NOCAP_OK) {
        status = nocap_writer_flush(writer, err);
    }
    nocap_writer_abandon(writer);
    return status;
}

enum nocap_status nocap_rings_recover(const char *path, int out_fd, struct nocap_recovered *result,
                                      struct nocap_error *err)
{
    *result = (struct nocap_recovered){0};
    struct left_behind *l = calloc(1, sizeof *l);
    RETURN_ERROR_IF(l == NULL, err, NOCAP_E_MEMORY, "out of memory");
    l->rings_fd = open_rings(path);
    enum nocap_status status = NOCAP_END;
    if (l->rings_fd < 0 && errno != ENOENT) {
        status = nocap_fail(err, NOCAP_E_INPUT, "cannot open %s" NOCAP_RINGS_SUFFIX ": %s", path,
                            errno == EINVAL ? "it is no regular file" : strerror(errno));
    }
    l->trace_fd = open_regular(path);
    result->capturing = l->rings_fd >= 0 && is_held(l->rings_fd);
    if (l->rings_fd >= 0 && l->trace_fd >= 0 && !result->capturing) {
        result->foreign = !map_files(l);
        status = result->foreign ? NOCAP_END : write_all(l, path, out_fd, result, err);
    }
    close_all(l);
    return status;
}

void nocap_rings_describe(const struct nocap_recovered *r, const char *path, char *text,
                          size_t size)
{
    text[0] = '\0';
    if (r->capturing) {
        snprintf(text, size, "%s: still being captured; this is what is in the file so far", path);
    } else if (r->why[0] != '\0') {
        snprintf(text, size, "%s: its capture was broken off, and its rings cannot be read: %s",
                 path, r->why);
    } else if (r->foreign) {
        snprintf(text, size, "%s" NOCAP_RINGS_SUFFIX " is not of this trace, or damaged: not read",
                 path);
    } else if (r->broken != 0) {
        snprintf(text, size,
                 "%s: its capture was broken off; its rings held %" PRIu64
                 " events up to an invalid record: %" PRIu64
                 " bytes of %u ring%s are left out",
                 path, r->events, r->unread, r->broken, r->broken == 1 ? "" : "s");
    } else if (r->events != 0) {
        snprintf(text, size,
                 "%s: its capture was broken off; its rings held the last %" PRIu64
                 " events (nocap capture --recover %s writes them into the trace)",
                 path, r->events, path);
    }
}
