#include "formats/rings/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/rings/ring_merge.h"

struct left_behind {
    int rings_fd, trace_fd;
    struct ring_file_head *head; /* mapped */
    uint8_t *trace;              /* mapped, `commit->trace_bytes` of it */
    const struct ring_commit *commit;
    uint64_t last_time; /* of all events so far */
    struct ring_merge merge;
};

static int open_rings(const char *path)
{
    char *name = NULL;
    if (strcmp(path, "-") == 0 || asprintf(&name, "%s" NOCAP_RINGS_SUFFIX, path) < 0) {
        return -1;
    }
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    free(name);
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
        c->broken = c->end - c->at.tail > m->ring_bytes || c->at.tail % sizeof(uint64_t) != 0;
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

static enum nocap_status copy_trace(struct left_behind *l, struct nocap_writer **writer, int out_fd,
                                    struct nocap_error *err)
{
    struct nocap_reader *reader;
    const struct nocap_event *events;
    size_t count;
    RETURN_IF_FAILED(
        nocap_reader_open_memory(&reader, l->trace, (size_t)l->commit->trace_bytes, err));
    enum nocap_status status =
        nocap_writer_open_fd(writer, out_fd, nocap_reader_header(reader), NULL, err);
    if (status == NOCAP_OK) {
        while ((status = nocap_reader_next(reader, &events, &count, err)) == NOCAP_OK) {
            for (size_t i = 0; i < count && status == NOCAP_OK; i++) {
                status = add(l, *writer, &events[i], err);
            }
            if (status != NOCAP_OK) {
                break;
            }
        }
    }
    nocap_reader_close(reader);
    return status == NOCAP_END ? NOCAP_OK : status;
}

static enum nocap_status add_drop(struct left_behind *l, struct nocap_writer *writer, uint32_t src,
                                  uint64_t count, struct nocap_recovered *result,
                                  struct nocap_error *err)
{
    struct nocap_event event;
    if (count == 0) {
        return NOCAP_OK;
    }
    ring_drop_event(&event, l->last_time, src, count);
    result->events++;
    result->dropped += count;
    return add(l, writer, &event, err);
}

static enum nocap_status copy_rings(struct left_behind *l, struct nocap_writer *writer,
                                    struct nocap_recovered *result, struct nocap_error *err)
{
    const struct nocap_event *event;
    while ((event = ring_merge_next(&l->merge, UINT64_MAX)) != NULL) {
        result->events++;
        result->dropped += event->kind == NOCAP_EV_DROP ? event->value : 0;
        RETURN_IF_FAILED(add(l, writer, event, err));
    }
    for (unsigned i = 0; i < l->merge.count; i++) {
        const struct ring_head *head = &l->head->ring[i];
        uint64_t untold = atomic_load(&head->dropped) - l->merge.cursor[i].at.told;
        RETURN_IF_FAILED(add_drop(l, writer, atomic_load(&head->src), untold, result, err));
    }
    uint64_t lost = atomic_load(&l->head->lost) - l->commit->lost_told;
    return add_drop(l, writer, RING_SRC_NONE, lost, result, err);
}

enum nocap_status nocap_rings_recover(const char *path, int out_fd, struct nocap_recovered *result,
                                      struct nocap_error *err)
{
    *result = (struct nocap_recovered){0};
    struct left_behind *l = calloc(1, sizeof *l);
    RETURN_ERROR_IF(l == NULL, err, NOCAP_E_MEMORY, "out of memory");
    l->rings_fd = open_rings(path);
    l->trace_fd = open(path, O_RDONLY | O_CLOEXEC);
    enum nocap_status status = NOCAP_END;
    result->capturing = l->rings_fd >= 0 && is_held(l->rings_fd);
    if (l->rings_fd >= 0 && l->trace_fd >= 0 && !result->capturing && map_files(l)) {
        struct nocap_writer *writer = NULL;
        status = map_rings(l, path, err);
        if (status == NOCAP_OK) {
            status = copy_trace(l, &writer, out_fd, err);
        }
        if (status == NOCAP_OK) {
            status = copy_rings(l, writer, result, err);
        }
        if (status == NOCAP_OK) {
            status = nocap_writer_close(writer, NULL, err);
        } else {
            nocap_writer_abandon(writer);
        }
    }
    close_all(l);
    return status;
}
