/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/read_ahead.h"

#include <pthread.h>
#include <stdlib.h>

/* A thread is woken when there is work for a while, not for each batch. */
enum { WAKE_READER = READ_AHEAD_BATCHES / 2, WAKE_USER = READ_AHEAD_BATCHES / 4 };

struct slot {
    struct read_ahead_batch batch;
    uint64_t frame; /* that its events point into */
    struct nocap_event room[READER_BATCH];
};

struct read_ahead {
    read_ahead_fill *fill;
    void *context;
    pthread_t thread;
    /* The thread's own. */
    uint64_t frame; /* number of the one that is read */
    struct bytes frames[READ_AHEAD_FRAMES];
    struct nocap_error err; /* of the last batch */
    /* Of both. */
    pthread_mutex_t lock;
    pthread_cond_t reader, user;
    uint64_t filled, released; /* batches so far */
    bool reader_waits, user_waits, stopping;
    bool handed_out; /* the user has the batch `released` */
    struct slot slots[READ_AHEAD_BATCHES];
};

static struct slot *slot_of(struct read_ahead *a, uint64_t batch)
{
    return &a->slots[batch % READ_AHEAD_BATCHES];
}

static void wake_user(struct read_ahead *a, uint64_t enough)
{
    if (a->user_waits && a->filled - a->released >= enough) {
        pthread_cond_signal(&a->user);
    }
}

/* The thread waits for a batch to be released; the lock is held. */
static void wait_for_user(struct read_ahead *a)
{
    wake_user(a, 1);
    a->reader_waits = true;
    pthread_cond_wait(&a->reader, &a->lock);
    a->reader_waits = false;
}

/* A batch in the ring points into the frame that had the place of this one. */
static bool frame_is_used(struct read_ahead *a)
{
    return a->released != a->filled &&
           slot_of(a, a->released)->frame + READ_AHEAD_FRAMES <= a->frame;
}

void read_ahead_turn_frame(struct read_ahead *a, struct bytes *content)
{
    a->frames[a->frame++ % READ_AHEAD_FRAMES] = *content;
    pthread_mutex_lock(&a->lock);
    while (frame_is_used(a) && !a->stopping) {
        wait_for_user(a);
    }
    pthread_mutex_unlock(&a->lock);
    struct bytes *next = &a->frames[a->frame % READ_AHEAD_FRAMES];
    *content = *next;
    *next = (struct bytes){0};
}

/* False: nobody wants a further batch. */
static bool wait_for_room(struct read_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    while (a->filled - a->released == READ_AHEAD_BATCHES && !a->stopping) {
        wait_for_user(a);
    }
    bool wanted = !a->stopping;
    pthread_mutex_unlock(&a->lock);
    return wanted;
}

static void *read_on(void *context)
{
    struct read_ahead *a = context;
    bool last = false;
    while (!last && wait_for_room(a)) {
        struct slot *slot = slot_of(a, a->filled); /* this thread alone changes it */
        a->fill(a->context, slot->room, &slot->batch, &a->err);
        slot->frame = a->frame;
        last = slot->batch.status != NOCAP_OK;
        pthread_mutex_lock(&a->lock);
        a->filled++;
        wake_user(a, last ? 1 : WAKE_USER);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

static void release(struct read_ahead *a)
{
    for (unsigned i = 0; i < READ_AHEAD_FRAMES; i++) {
        free(a->frames[i].data);
    }
    pthread_cond_destroy(&a->user);
    pthread_cond_destroy(&a->reader);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

void read_ahead_start(struct read_ahead **ahead, read_ahead_fill *fill, void *context)
{
    struct read_ahead *a = *ahead = malloc(sizeof *a);
    if (a == NULL) {
        return;
    }
    memset(a, 0, offsetof(struct read_ahead, slots));
    a->fill = fill;
    a->context = context;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->reader, NULL);
    pthread_cond_init(&a->user, NULL);
    if (pthread_create(&a->thread, NULL, read_on, a) != 0) {
        *ahead = NULL;
        release(a);
    }
}

struct read_ahead_batch read_ahead_next(struct read_ahead *a, struct nocap_error *err)
{
    pthread_mutex_lock(&a->lock);
    a->released += a->handed_out;
    if (a->reader_waits && a->filled - a->released <= WAKE_READER) {
        pthread_cond_signal(&a->reader);
    }
    while (a->filled == a->released) {
        a->user_waits = true;
        pthread_cond_wait(&a->user, &a->lock);
        a->user_waits = false;
    }
    a->handed_out = true;
    struct read_ahead_batch batch = slot_of(a, a->released)->batch;
    pthread_mutex_unlock(&a->lock);
    if (batch.status != NOCAP_OK && batch.status != NOCAP_END && err != NULL) {
        *err = a->err;
    }
    return batch;
}

void read_ahead_stop(struct read_ahead *a)
{
    if (a == NULL) {
        return;
    }
    pthread_mutex_lock(&a->lock);
    a->stopping = true;
    pthread_cond_signal(&a->reader);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    release(a);
}
