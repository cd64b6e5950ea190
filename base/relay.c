/* SPDX-License-Identifier: Apache-2.0 */
#include "base/relay.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* Who has to wait is woken when half of the batches are there for it: to wake a thread for each
 * batch costs more than a batch. */
struct relay {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t filled, taken;
    relay_take *take;
    void *context;
    unsigned char *batches;
    void *memory; /* in which they are, where a line of the cache begins */
    size_t size, count;
    size_t handed, done; /* so many were handed on, and taken */
    bool hurry;          /* no more will come for now */
    bool closing;
};

static unsigned char *batch_at(const struct relay *r, size_t number)
{
    return r->batches + number % r->count * r->size;
}

/* False: there is none, and none will come. Holds the mutex. */
static bool await_batch(struct relay *r)
{
    if (r->handed == r->done) {
        while (r->handed - r->done <= r->count / 2 && !r->hurry) {
            pthread_cond_wait(&r->filled, &r->mutex);
        }
    }
    return r->handed != r->done;
}

static void *take_all(void *context)
{
    struct relay *r = context;
    pthread_mutex_lock(&r->mutex);
    while (await_batch(r) || !r->closing) {
        if (r->handed == r->done) {
            r->hurry = false;
            pthread_cond_signal(&r->taken);
            continue;
        }
        unsigned char *batch = batch_at(r, r->done);
        pthread_mutex_unlock(&r->mutex);
        r->take(r->context, batch);
        pthread_mutex_lock(&r->mutex);
        r->done++;
        if (r->handed - r->done == r->count / 2) {
            pthread_cond_signal(&r->taken);
        }
    }
    pthread_mutex_unlock(&r->mutex);
    return NULL;
}

struct relay *relay_open(size_t size, size_t count, relay_take *take, void *context)
{
    struct relay *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return NULL;
    }
    *r = (struct relay){.take = take, .context = context, .size = size, .count = count};
    pthread_mutex_init(&r->mutex, NULL);
    pthread_cond_init(&r->filled, NULL);
    pthread_cond_init(&r->taken, NULL);
    r->memory = calloc(1, count * size + CACHE_LINE);
    r->batches = cache_line_in(r->memory);
    if (r->memory != NULL && pthread_create(&r->thread, NULL, take_all, r) == 0) {
        return r;
    }
    free(r->memory);
    free(r);
    return NULL;
}

void *relay_next(struct relay *r)
{
    pthread_mutex_lock(&r->mutex);
    if (r->handed - r->done == r->count) {
        while (r->handed - r->done > r->count / 2) {
            pthread_cond_wait(&r->taken, &r->mutex);
        }
    }
    pthread_mutex_unlock(&r->mutex);
    return batch_at(r, r->handed);
}

void relay_hand_on(struct relay *r)
{
    pthread_mutex_lock(&r->mutex);
    r->handed++;
    if (r->handed - r->done == r->count / 2 + 1) {
        pthread_cond_signal(&r->filled);
    }
    pthread_mutex_unlock(&r->mutex);
}

void relay_settle(struct relay *r)
{
    pthread_mutex_lock(&r->mutex);
    r->hurry = true;
    pthread_cond_signal(&r->filled);
    while (r->hurry) {
        pthread_cond_wait(&r->taken, &r->mutex);
    }
    pthread_mutex_unlock(&r->mutex);
}

void relay_close(struct relay *r)
{
    if (r == NULL) {
        return;
    }
    relay_settle(r);
    pthread_mutex_lock(&r->mutex);
    r->closing = r->hurry = true;
    pthread_cond_signal(&r->filled);
    pthread_mutex_unlock(&r->mutex);
    pthread_join(r->thread, NULL);
    pthread_cond_destroy(&r->filled);
    pthread_cond_destroy(&r->taken);
    pthread_mutex_destroy(&r->mutex);
    free(r->memory);
    free(r);
}
