/* SPDX-License-Identifier: Apache-2.0 */
/* Which ring is whose: a thread's first event, its end, and fork. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/recorder/recorder.h"
#include "formats/rings/recover.h"

/* All captures of the process, and every change of who owns a ring. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nocap_capture *all;
static uint64_t last_id;
static pthread_once_t at_fork = PTHREAD_ONCE_INIT;

/* A signal handler that records must not find its own thread at work here. */
static void enter(sigset_t *before)
{
    sigset_t every;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, before);
    pthread_mutex_lock(&lock);
}

static void leave(const sigset_t *before)
{
    pthread_mutex_unlock(&lock);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    for (struct nocap_capture *c = all; c != NULL; c = c->next) {
        c->id = ++last_id; /* no thread's ring fits any more */
        pthread_setspecific(c->key, NULL);
        for (unsigned i = 0; i < RING_SLOTS; i++) {
            free(c->owner[i]);
            c->owner[i] = NULL;
        }
        capture_leave(c);
    }
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

uint64_t capture_new_id(void)
{
    sigset_t before;
    enter(&before);
    uint64_t id = ++last_id;
    leave(&before);
    return id;
}

void capture_list(struct nocap_capture *c)
{
    sigset_t before;
    pthread_once(&at_fork, watch_forks);
    enter(&before);
    c->next = all;
    all = c;
    leave(&before);
}

void capture_unlist(struct nocap_capture *c)
{
    sigset_t before;
    enter(&before);
    struct nocap_capture **at = &all;
    while (*at != c && *at != NULL) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = c->next;
    }
    for (unsigned i = 0; i < RING_SLOTS; i++) {
        free(c->owner[i]);
        c->owner[i] = NULL;
    }
    leave(&before);
}

/* The thread of a ring ends: the next thread may have it, unless drops are yet to be told of. */
static void release(void *ring)
{
    struct thread_ring *r = ring;
    sigset_t before;
    enter(&before);
    capture_forget();
    for (struct nocap_capture *c = all; c != NULL; c = c->next) {
        for (unsigned i = 0; i < RING_SLOTS; i++) {
            if (c->owner[i] == r && atomic_load(&r->shared->dropped) == r->announced) {
                c->owner[i] = NULL;
                atomic_fetch_add(&c->released, 1);
                free(r);
                leave(&before);
                return;
            }
        }
    }
    leave(&before);
}

int capture_new_key(struct nocap_capture *c)
{
    return pthread_key_create(&c->key, release);
}

enum { FIRST_PAGES = 2 /* of a ring; the writer makes the others */ };

/* Space on the disk first: a page of the mapping without would be a SIGBUS later. */
static bool map_ring(struct nocap_capture *c, unsigned slot)
{
    if (c->base[slot] != NULL) {
        return true;
    }
    off_t offset = (off_t)(RING_FILE_FIRST + slot * c->ring_bytes);
    int cause = posix_fallocate(c->rings_fd, offset, (off_t)c->ring_bytes);
    uint8_t *base = cause == 0 ? ring_map(c->rings_fd, c->ring_bytes, slot, true) : NULL;
    if (base == NULL) {
        nocap_fail(&c->ring_err, NOCAP_E_OUTPUT, "no room for the ring of a thread in %s%s: %s",
                   c->path, NOCAP_RINGS_SUFFIX, strerror(cause != 0 ? cause : errno));
        return false;
    }
    c->base[slot] = base;
    capture_populate(c, slot, FIRST_PAGES * RING_PAGE);
    if (slot >= atomic_load(&c->file->slots_used)) {
        atomic_store(&c->file->slots_used, slot + 1);
    }
    return true;
}

/* Fills `*r` for the calling thread; false: all rings are taken, or there is no memory. */
static bool claim(struct nocap_capture *c, struct thread_ring *r)
{
    unsigned slot = 0;
    while (slot < RING_SLOTS && c->owner[slot] != NULL) {
        slot++;
    }
    if (slot == RING_SLOTS || !map_ring(c, slot)) {
        return false;
    }
    struct ring_head *shared = &c->file->ring[slot];
    *r = (struct thread_ring){.capture_id = c->id,
                              .base = c->base[slot],
                              .mask = c->ring_bytes - 1,
                              .head = atomic_load(&shared->head),
                              .shared = shared,
                              .announced = atomic_load(&shared->dropped),
                              .src = c->threads++};
    atomic_store(&shared->src, r->src);
    atomic_store(&c->several, r->src != 0);
    c->owner[slot] = r;
    if (!c->one_source) { /* else it stays when a thread ends */
        pthread_setspecific(c->key, r);
    }
    return true;
}

/* A child's first event, where it is to have a trace of its own. */
static void follow(struct nocap_capture *c)
{
    char *path = NULL;
    size_t stem = strlen(c->path);
    static const char suffix[] = ".nocap";
    if (stem > strlen(suffix) && strcmp(c->path + stem - strlen(suffix), suffix) == 0) {
        stem -= strlen(suffix);
    }
    if (asprintf(&path, "%.*s.%d%s", (int)stem, c->path, (int)getpid(), suffix) >= 0) {
        free(c->path);
        c->path = path;
        c->threads = 0;
        c->header.complete = NOCAP_FALSE; /* it begins in the middle */
        atomic_store(&c->stopped, capture_start(c, NULL) != NOCAP_OK);
    }
    atomic_store(&c->forked, false);
}

struct thread_ring *capture_claim(struct nocap_capture *c)
{
    struct thread_ring *r = pthread_getspecific(c->key);
    if (r != NULL && r->capture_id == c->id) {
        return r;
    }
    sigset_t before;
    enter(&before);
    if (atomic_load(&c->forked) && c->fork == NOCAP_CAPTURE_FORK_FOLLOW) {
        follow(c);
    }
    r = c->one_source ? c->owner[0] : NULL;
    if (r == NULL && !atomic_load(&c->stopped)) {
        r = aligned_alloc(THREAD_RING_ALIGNMENT, THREAD_RING_BYTES);
        if (r != NULL && !claim(c, r)) {
            free(r);
            r = NULL;
        }
    }
    if (r == NULL && c->file != NULL) {
        atomic_fetch_add(&c->file->lost, 1);
    }
    leave(&before);
    return r;
}
