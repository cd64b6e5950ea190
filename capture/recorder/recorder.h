/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/recorder: a capture in memory, and what a thread has of it. */
#ifndef NOCAP_CAPTURE_RECORDER_H
#define NOCAP_CAPTURE_RECORDER_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "capture/recorder/capture.h"
#include "formats/rings/ring_merge.h"
#include "formats/trace/trace.h"

/* A thread's side of its ring. */
enum { THREAD_RING_ALIGNMENT = 128 }; /* no line of the cache is shared with another thread */
struct thread_ring {                  /* of all threads, with one_source */
    uint64_t capture_id;              /* as it was at the claim */
    uint8_t *base;                    /* mapped twice */
    uint64_t mask;                    /* ring_bytes - 1 */
    uint64_t head;                    /* as in shared->head */
    uint64_t stop;                    /* a record that would end after this takes the slow way */
    struct ring_head *shared;
    uint64_t announced; /* drops that a record tells of */
    uint64_t reading;   /* of the counter, with NOCAP_CAPTURE_CLOCK_TSC_COARSE */
    uint32_t shares;    /* how many more events may have it */
    uint32_t src;
    volatile sig_atomic_t busy; /* in a call: a signal handler must not start another */
};

enum {
    RING_PARTS = 64, /* the first pages of a ring are made in these steps */
    THREAD_RING_BYTES = (sizeof(struct thread_ring) + THREAD_RING_ALIGNMENT - 1) /
                        THREAD_RING_ALIGNMENT * THREAD_RING_ALIGNMENT
};

struct nocap_capture {
    uint64_t id; /* no two captures of a process have the same, nor have a parent and a child */
    bool tsc, one_source;
    enum nocap_capture_clock clock;
    enum nocap_capture_policy policy;
    enum nocap_capture_fork fork;
    uint64_t ring_bytes;
    uint32_t flush_interval;
    int level;
    uint64_t opened; /* nanoseconds */
    _Atomic uint64_t user_time;
    _Atomic bool stopped; /* forked, or the writer failed: nothing is recorded any more */
    _Atomic bool forked;  /* this process is a child that did not begin its own trace yet */
    char *path;
    struct nocap_header header;

    struct ring_file_head *file; /* mapped shared */
    int rings_fd, trace_fd;
    pthread_key_t key;                     /* the thread's ring */
    struct thread_ring *owner[RING_SLOTS]; /* NULL: free */
    uint8_t *base[RING_SLOTS];             /* set once, before slots_used grows */
    uint32_t threads;                      /* that ever recorded: the next one's src */
    _Atomic bool several;                  /* a second thread records, or did */
    _Atomic uint64_t released;             /* rings that were released: another may have them */
    struct nocap_capture *next;            /* list of all */

    /* the writer thread */
    pthread_t thread;
    sem_t wake;
    _Atomic bool stop, hurry; /* hurry: a thread waits for room */
    _Atomic uint64_t flush_wanted, flush_done;
    struct nocap_writer *writer;
    struct ring_merge *merge;
    uint64_t committed[RING_SLOTS]; /* tails */
    uint64_t populated[RING_SLOTS]; /* bytes of each ring whose pages were made */
    uint64_t lost_reported, blocks, dropped, last_time;
    struct nocap_capture_totals safe; /* what the file holds for sure; no `seconds` */
    enum nocap_status status;         /* of the writer */
    struct nocap_error err, ring_err; /* ring_err: why a thread got no ring */
};

/* clock.c: fills start and mult, which takes some milliseconds once in a process; true: raw times
 * are of the time stamp counter. */
bool capture_clock_calibrate(struct ring_clock *clock);
/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t capture_clock_slow(void);

/* `wait`: not before the loads in front of it are done. */
static inline uint64_t capture_raw_time(bool tsc, bool wait)
{
#if defined(__x86_64__)
    if (!tsc) {
        return capture_clock_slow();
    }
    if (wait) {
        _mm_lfence();
    }
    return __rdtsc();
#else
    (void)tsc;
    (void)wait;
    return capture_clock_slow();
#endif
}

/* claim.c: the calling thread's ring; NULL: the event is refused, and counted. */
struct thread_ring *capture_claim(struct nocap_capture *capture);
/* Puts the capture on the list of all and takes it off; forgets the rings of all threads. */
void capture_list(struct nocap_capture *capture);
void capture_unlist(struct nocap_capture *capture);
uint64_t capture_new_id(void);
/* As pthread_key_create: the thread's ring is released when the thread ends. */
int capture_new_key(struct nocap_capture *capture);

/* record.c: the calling thread ends, what it remembers of its ring is no longer true. */
void capture_forget(void);

/* recorder.c: begins files, mappings and writer thread. */
enum nocap_status capture_start(struct nocap_capture *capture, struct nocap_error *err);
/* What a child of fork does with what it inherits. */
void capture_leave(struct nocap_capture *capture);

/* drain.c: makes pages of a ring, up to byte `to` of it. */
void capture_populate(struct nocap_capture *capture, unsigned slot, uint64_t to);
void *capture_writer_main(void *capture);
/* Everything that is left, and the end of the file. The totals are true also where that fails: they
 * count what the file holds and what stays in the rings. */
enum nocap_status capture_finish(struct nocap_capture *capture, struct nocap_capture_totals *totals,
                                 struct nocap_error *err);

#endif
