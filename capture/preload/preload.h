/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/preload: libnocap-preload.so, which traces a program's plain loads and stores
 * to the device.
 *
 * Where the program maps a BAR or a TLB window it gets a reservation without access; the device is
 * mapped elsewhere (the alias). An access faults; the handler decodes the instruction, does its
 * access on the alias once, in the same width, records it, and lets the program go on after it.
 * The protection never changes, so other threads cannot slip through. */
#ifndef NOCAP_PRELOAD_PRELOAD_H
#define NOCAP_PRELOAD_PRELOAD_H

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "capture/live/chip.h"
#include "capture/preload/kmd.h"
#include "capture/recorder/capture.h"

#define EXPORT    __attribute__((visibility("default")))
#define LIVE_TRAP "NOCAP_CAPTURE_TRAP" /* full, registers, off */

enum trap_mode { TRAP_FULL, TRAP_REGISTERS, TRAP_OFF };

enum {
    PINS_MAX = 256,
    CHIPS_MAX = 32,
    REGIONS_MAX = 8192, /* all windows of so many chips, and more */
    QUEUES_MAX = 8,     /* of a chip, with what looks like one; tt-metal has two */
};

/* Memory of the program that the device reaches at `iova`. */
struct pin {
    uint64_t iova, address, size; /* `address` 0: the program does not see it */
    bool gone;                    /* the program gave up what it had there */
    uint64_t noc;                 /* the same in the device's address space; 0: it has none there */
    uint64_t offset; /* of a buffer of the driver, for mmap; 0: the program's own memory */
};

/* A command queue, from when the host tells a prefetcher where its slots end and where in host
 * memory the records begin. */
struct queue {
    struct nocap_xy at;                  /* the prefetcher's tile */
    uint32_t pointer, end;               /* where it is told the end of the slots; L1 */
    uint32_t slots;                      /* the first of them; 0: the first record says it */
    const struct nocap_profile *profile; /* whose records they are; NULL: the first one says it */
    uint32_t candidates;                 /* profiles that it may be, by number */
    bool exact;                          /* the set-up is that of a candidate to the word */
    bool lost;                           /* records are not where they were expected */
    bool told;                           /* there was a record; slot and entry are its */
    uint32_t start;                      /* the device's address of the first record */
    uint32_t next;                       /* from there to the record to come */
    uint32_t slot, entry;
};

/* What the trace tells of a chip: each time, or once. */
enum told {
    TOLD_ALWAYS = 0,
    TOLD_PINNED = 1,
    TOLD_PINS_FULL = 2,
    TOLD_OTHER_QUEUE = 4,
    TOLD_REGIONS_FULL = 8,
};

struct chip {
    struct live_chip live;
    struct queue queues[QUEUES_MAX];
    unsigned queue_count;
    uint64_t queue_seq; /* ties records to the stores that announce them */
    struct {
        struct nocap_xy at;
        uint32_t addr, value;
    } queue_end;              /* what may be the first word of a set-up */
    _Atomic uint32_t lock;    /* around: what a window means, the access, its record */
    _Atomic uint32_t waiting; /* threads that want it */
    uint8_t dma[KMD_DMA_END];
    bool known; /* its windows were read */
    enum { KIND_UNKNOWN, KIND_TRACED, KIND_UNTRACED } kind;
    uint32_t told; /* bits of enum told */
    struct pin pins[PINS_MAX];
    unsigned pin_count;
};

/* A range of the program's addresses that stands for device memory. */
struct region {
    uintptr_t start, end;
    uint8_t *alias; /* the device's byte for `start` */
    struct chip *chip;
    uint64_t offset; /* in `space` */
    uint8_t space;   /* BAR0, BAR2 or BAR4 */
    uint8_t map;     /* enum nocap_map */
};

/* ---- regions.c ---- */

/* The region of an address; false: it is the program's own. Any context. */
bool region_find(uintptr_t address, struct region *region);
bool region_overlaps(uintptr_t start, size_t size);
/* The first region that ends after `address`, if there is one; what the table is then. */
bool region_next(uintptr_t address, struct region *region, uint32_t *version);
uint32_t region_version(void);
bool region_add(const struct region *region);
/* Forgets a range, and unmaps its alias. False: as the driver wants it that cannot be, see errno.
 */
bool region_remove(uintptr_t start, size_t size);
/* Gives up on a region: from now on the program has the device itself there. False: it cannot be
 * put there. */
bool region_release(uintptr_t address);

/* ---- device.c ---- */

extern struct nocap_capture *_Atomic shim_capture; /* NULL: nothing is recorded */
enum trap_mode shim_mode(void);
/* The chip behind a descriptor, NULL: it is no device. */
struct chip *device_of(int fd);
/* Begins the trace with the first device that is mapped. False: a device of this kind goes
 * untraced, which is reported. */
bool device_begin(struct chip *chip, int fd);
/* What an mmap offset means; false: a buffer, or nothing known. */
bool device_place(uint64_t offset, struct region *region);
/* The program gives up its own view of memory that the device may still reach. */
void device_memory_gone(uintptr_t start, size_t size);
/* In the handlers of faults, which nothing interrupts. */
void chip_lock(struct chip *chip);
void chip_unlock(struct chip *chip);
/* In the program's calls: a handler of the program would wait for its own thread. */
void chip_enter(struct chip *chip, sigset_t *before);
void chip_leave(struct chip *chip, const sigset_t *before);
/* A note in the trace, of the chip: what is not traced from here on. What is reported
 * once needs the chip locked. */
__attribute__((format(printf, 3, 4))) void chip_report(struct chip *chip, enum told what,
                                                       const char *format, ...);

/* ---- pins.c ---- */

void pin_add(struct chip *chip, const struct pin *pin);
void pin_remove(struct chip *chip, uint64_t address, uint64_t size);
/* The buffer of the driver at `offset` became memory of the program. */
void pin_mapped(struct chip *chip, uint64_t offset, uintptr_t address);
void pins_gone(struct chip *chip, uintptr_t start, size_t size);
/* The program's bytes for what the device knows as `at`; NULL: not known. With the chip locked. */
enum pin_space { PIN_IOVA, PIN_NOC };
const uint8_t *pin_bytes(const struct chip *chip, enum pin_space space, uint64_t at, uint64_t size);

/* ---- access.c: with the chip locked ---- */

/* Loads from and stores to the device at `address`, in the range of `region`, in accesses of
 * `width` bytes (1, 2, 4, 8, 16, 32, 64), and records them as one event. */
void access_load(const struct region *region, uintptr_t address, void *to, size_t size,
                 unsigned width);
void access_store(const struct region *region, uintptr_t address, const void *from, size_t size,
                  unsigned width);

/* Two stores that nothing comes between, in the same range. */
struct word {
    uintptr_t address;
    uint64_t value;
    unsigned size; /* bytes, up to 8 */
};
void access_store_two(const struct region *region, const struct word words[2]);

/* The record of an access that was done, or is to be, and what a store changes. */
void access_record(const struct region *region, enum nocap_kind kind, uintptr_t address,
                   const void *data, size_t size);
void access_keep(const struct region *region, uintptr_t address, const void *from, size_t size);
/* One instruction on each side, of a width as above. */
void access_copy(void *to, const void *from, unsigned width);

/* ---- queue.c: with the chip locked, but for the first ---- */

/* Whose queues are looked for: what the header says, else all that are known. */
void queue_begin(const struct nocap_header *header);
/* A store to a tile: keeps where command queues are, and records the record that it announces,
 * and then itself. False: it is nothing of this, and is still to be recorded. */
bool queue_store(struct nocap_capture *capture, struct chip *chip, struct nocap_place place,
                 uint64_t addr, const void *from, size_t size);

/* ---- vectors.c: registers in the frame of a signal ---- */

void vectors_init(void);
/* Mask register k0 .. k7. */
bool vector_mask(const ucontext_t *uc, unsigned reg, uint64_t *mask);
/* As vzeroupper does. */
void vectors_clear_upper(ucontext_t *uc);
/* False: the frame does not hold the register. `clear`: what is above `size` becomes 0. */
bool vector_get(const ucontext_t *uc, unsigned reg, void *to, unsigned size);
bool vector_set(ucontext_t *uc, unsigned reg, const void *from, unsigned size, bool clear);

/* ---- emulate.c ---- */

enum outcome {
    OUTCOME_DONE,    /* the context is past the instruction */
    OUTCOME_STEP,    /* it runs the instruction elsewhere, and ends in a breakpoint */
    OUTCOME_UNKNOWN, /* it is no instruction that can be traced */
};

struct thread {
    bool stepping, holds_chip;
    struct {
        struct region region;
        uintptr_t address;
        unsigned size;
        bool writes, reads;
        unsigned scratch; /* gregs index */
        greg_t saved;
        uintptr_t next, code_end;
        uintptr_t rip;
        sigset_t mask;
    } step;
    uint8_t *code, *bounce; /* pages of its own, NULL: none yet */
    uint32_t pages;         /* how many times they were made */
    volatile sig_atomic_t in_access;
    volatile sig_atomic_t goes_on;
    struct chip *volatile goes_on_in; /* locked meanwhile */
    sigjmp_buf stop;                  /* a fault while it goes on lands here */
    sigjmp_buf fault;                 /* a bus error during an access lands here */
};
extern _Thread_local struct thread shim_thread;

/* Does the access at `address` that faulted, and those that follow. `version`: what the table of
 * regions was. Called with the chip locked, which it is not after, but for OUTCOME_STEP: there it
 * stays so until emulate_finish. */
enum outcome emulate(ucontext_t *uc, const struct region *region, uint32_t version,
                     uintptr_t address);
/* Goes on with (in_access) or after the access of the instruction at `rip`, as long as what follows
 * touches the device or is cheap to do: so accesses that are neighbours stay so. The first one goes
 * the way of those that follow: by then all that they need is in the processor's caches. The chip
 * is locked before and is not after. */
enum outcome go_on(ucontext_t *uc, uintptr_t rip, const struct region *region, uint32_t version);
/* A fault meanwhile, which the program is to meet itself: does not return. Else there was none. */
void go_on_faulted(void);
/* Before the first access. */
void out_of_line_init(void);
/* After the breakpoint. */
void emulate_finish(ucontext_t *uc);
/* The instruction that runs elsewhere faulted itself: back to where it stands in the program. */
void emulate_abandon(ucontext_t *uc);

/* ---- signals.c ---- */

void signals_init(void);
/* Events of the chip are missing from here on. */
void report_gap(const struct chip *chip);
/* The program goes on without the trace in the mapping at `address`; a note that begins with `why`
 * and a drop say so. False: it cannot. */
bool give_up(const struct region *region, uintptr_t address, const char *why);

/* Takes the shim's signals out of a set of those to block. */
void signals_keep_deliverable(sigset_t *set);
/* As the C library does for calls built with _FORTIFY_SOURCE. */
static inline void check_room(size_t size, size_t room)
{
    if (size > room) {
        abort();
    }
}

/* ---- next.c: what the program would have called without the shim ---- */

#define NEXT_CALLS(NEXT)                                                                           \
    NEXT(void *, mmap, (void *, size_t, int, int, int, off_t))                                     \
    NEXT(int, munmap, (void *, size_t))                                                            \
    NEXT(int, mprotect, (void *, size_t, int))                                                     \
    NEXT(int, pkey_mprotect, (void *, size_t, int, int))                                           \
    NEXT(void *, mremap, (void *, size_t, size_t, int, ...))                                       \
    NEXT(int, sigaltstack, (const stack_t *, stack_t *))                                           \
    NEXT(int, ioctl, (int, unsigned long, ...))                                                    \
    NEXT(int, sigaction, (int, const struct sigaction *, struct sigaction *))                      \
    NEXT(int, sigprocmask, (int, const sigset_t *, sigset_t *))                                    \
    NEXT(int, pthread_sigmask, (int, const sigset_t *, sigset_t *))                                \
    NEXT(int, sigsuspend, (const sigset_t *))                                                      \
    NEXT(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))         \
    NEXT(int, pselect,                                                                             \
         (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *))           \
    NEXT(int, epoll_pwait, (int, struct epoll_event *, int, int, const sigset_t *))                \
    NEXT(int, epoll_pwait2,                                                                        \
         (int, struct epoll_event *, int, const struct timespec *, const sigset_t *))              \
    NEXT(void *, shmat, (int, const void *, int))                                                  \
    NEXT(ssize_t, read, (int, void *, size_t))                                                     \
    NEXT(ssize_t, write, (int, const void *, size_t))                                              \
    NEXT(ssize_t, pread, (int, void *, size_t, off_t))                                             \
    NEXT(ssize_t, pwrite, (int, const void *, size_t, off_t))                                      \
    NEXT(ssize_t, recv, (int, void *, size_t, int))                                                \
    NEXT(ssize_t, send, (int, const void *, size_t, int))                                          \
    NEXT(ssize_t, recvfrom, (int, void *, size_t, int, struct sockaddr *, socklen_t *))            \
    NEXT(ssize_t, sendto, (int, const void *, size_t, int, const struct sockaddr *, socklen_t))    \
    NEXT(ssize_t, readv, (int, const struct iovec *, int))                                         \
    NEXT(ssize_t, writev, (int, const struct iovec *, int))                                        \
    NEXT(ssize_t, preadv, (int, const struct iovec *, int, off_t))                                 \
    NEXT(ssize_t, pwritev, (int, const struct iovec *, int, off_t))                                \
    NEXT(ssize_t, recvmsg, (int, struct msghdr *, int))                                            \
    NEXT(ssize_t, sendmsg, (int, const struct msghdr *, int))

struct next {
#define NEXT(result, name, parameters) result(*name) parameters;
    NEXT_CALLS(NEXT)
#undef NEXT
};
const struct next *next(void);

#endif
