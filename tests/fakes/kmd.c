/* SPDX-License-Identifier: Apache-2.0 */
/* A driver and a device in memory, preloaded behind the shim: /dev/tenstorrent/0 opens, ioctls
 * answer, BARs and windows are plain memory. With FAKE_BRISC=NS a thread plays a core behind the
 * first window: for each GO that it sees it counts one launch up and says DONE after so many
 * nanoseconds. The device is the device that FAKE_DEVICE_ID says (hex, B140; `none`: the driver
 * does not say), what is pinned lies at FAKE_NOC (hex) there. Windows do not move: what the shim
 * says of them comes from the shim alone. A part of one is not unmapped or moved. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "capture/preload/kmd.h"
#include "tests/fakes/kmd.h"

static const char device[] = "/dev/tenstorrent/0";
static int backing = -1; /* bytes of the device at the offsets of the uncached mappings */
static unsigned windows;
static struct {
    char *at; /* NULL: free */
    size_t size;
} mapped[1 << 14]; /* windows, which the driver keeps whole */
static unsigned mapped_most, mapped_windows;

static void *play_brisc(void *memory)
{
    volatile uint8_t *tile = memory;
    uint64_t kernel = strtoull(getenv("FAKE_BRISC"), NULL, 10);
    struct timespec now, end;
    for (;;) {
        if (tile[FAKE_GO + 3] != 0x80) {
            continue;
        }
        ++*(volatile uint32_t *)(tile + FAKE_LAUNCHES);
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_nsec += (long)kernel;
        do {
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while ((now.tv_sec - end.tv_sec) * 1000000000 + now.tv_nsec - end.tv_nsec < 0);
        tile[FAKE_GO + 3] = 0;
    }
    return NULL;
}

static void start_brisc(void)
{
    void *(*real)(void *, size_t, int, int, int, off_t);
    *(void **)&real = dlsym(RTLD_NEXT, "mmap");
    void *tile = real(NULL, 1 << 21, PROT_READ | PROT_WRITE, MAP_SHARED, backing, KMD_BAR0);
    pthread_t thread;
    if (tile == MAP_FAILED || pthread_create(&thread, NULL, play_brisc, tile) != 0) {
        abort();
    }
    pthread_detach(thread);
}

static int open_device(void)
{
    if (backing < 0) {
        backing = memfd_create("fake device", MFD_CLOEXEC);
        if (backing < 0 || ftruncate(backing, (off_t)KMD_BUFFERS + (8 << 20)) != 0) {
            return -1;
        }
        if (getenv("FAKE_BRISC") != NULL) {
            start_brisc();
        }
    }
    return memfd_create(device, MFD_CLOEXEC);
}

static bool is_device(int fd)
{
    char path[64], target[128];
    const char want[] = "/memfd:/dev/tenstorrent/0";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, target, sizeof target);
    return n >= (ssize_t)sizeof want - 1 && memcmp(target, want, sizeof want - 1) == 0;
}

static int open_next(const char *path, int flags, unsigned mode)
{
    int (*real)(const char *, int, ...) =
        __extension__(int (*)(const char *, int, ...)) dlsym(RTLD_NEXT, "open");
    return strcmp(path, device) == 0 ? open_device() : real(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, unsigned) : 0;
    va_end(list);
    return open_next(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, unsigned) : 0;
    va_end(list);
    return open_next(path, flags, mode);
}

int ioctl(int fd, unsigned long command, ...);
int ioctl(int fd, unsigned long command, ...)
{
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (!is_device(fd)) {
        int (*real)(int, unsigned long, ...) =
            __extension__(int (*)(int, unsigned long, ...)) dlsym(RTLD_NEXT, "ioctl");
        return real(fd, command, argument);
    }
    switch (command) {
    case KMD_GET_DEVICE_INFO: {
        struct kmd_get_device_info *info = argument;
        const char *id = getenv("FAKE_DEVICE_ID");
        if (id != NULL && strcmp(id, "none") == 0) {
            errno = EINVAL;
            return -1;
        }
        info->vendor = 0x1E52;
        info->device = (uint16_t)(id != NULL ? strtoul(id, NULL, 16) : 0xB140);
        return 0;
    }
    case KMD_ALLOCATE_TLB: {
        struct kmd_allocate_tlb *a = argument;
        a->id = windows++;
        a->offset_uc = KMD_WINDOWS + ((uint64_t)a->id << 21);
        a->offset_wc = a->offset_uc + KMD_STEP;
        return 0;
    }
    case KMD_FREE_TLB: errno = EBUSY; return mapped_windows != 0 ? -1 : 0;
    case KMD_PIN_PAGES: {
        struct kmd_pin_pages *p = argument;
        p->iova = 0x7000000000;
        if (p->output_size >= KMD_PIN_OUTPUT_NOC) {
            const char *noc = getenv("FAKE_NOC");
            p->noc_address =
                UINT64_C(1) << 60 | (noc != NULL ? strtoull(noc, NULL, 16) : 0x40000000);
        }
        return 0;
    }
    case KMD_CONFIGURE_TLB:
    case KMD_MAP_PEER_BAR:
    case KMD_SET_NOC_CLEANUP:
    case KMD_EXPORT_TLB:
    case KMD_UNPIN_PAGES: return 0;
    case KMD_RESET_DEVICE: return ftruncate(backing, 0); /* what is mapped is gone: SIGBUS */
    default: errno = EINVAL; return -1;
    }
}

static void put_window(void *start, size_t size)
{
    unsigned i = 0;
    while (mapped[i].at != NULL) {
        i++;
    }
    mapped[i].at = start;
    mapped[i].size = size;
    mapped_most = i < mapped_most ? mapped_most : i + 1;
    mapped_windows++;
}

/* Those in the range go; false: only a part of one is there. */
static bool take_windows(char *start, size_t size)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < mapped_most; i++) {
            char *at = mapped[i].at;
            size_t length = mapped[i].size;
            if (at == NULL || at + length <= start || at >= start + size) {
                continue;
            }
            if (at < start || at + length > start + size) {
                errno = EINVAL;
                return false;
            }
            if (pass == 1) {
                mapped[i].at = NULL;
                mapped_windows--;
            }
        }
    }
    return true;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t) =
        __extension__(void *(*)(void *, size_t, int, int, int, off_t)) dlsym(RTLD_NEXT, "mmap");
    if (fd < 0 || !is_device(fd)) {
        return real(address, size, protection, flags, fd, offset);
    }
    uint64_t at = (uint64_t)offset;
    if (at < KMD_BUFFERS && at / KMD_STEP % 2 == 1) {
        at -= KMD_STEP;
    }
    bool window = at >= KMD_WINDOWS && at < KMD_WINDOWS + KMD_STEP;
    if (window) {
        at = at - KMD_WINDOWS + KMD_BAR0; /* the first windows */
    }
    void *start = real(address, size, protection, flags, backing, (off_t)at);
    if (window && start != MAP_FAILED) {
        put_window(start, size);
    }
    return start;
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return mmap(address, size, protection, flags, fd, offset);
}

int munmap(void *address, size_t size)
{
    int (*real)(void *, size_t) = __extension__(int (*)(void *, size_t)) dlsym(RTLD_NEXT, "munmap");
    return take_windows(address, size) ? real(address, size) : -1;
}

void *mremap(void *address, size_t size, size_t new_size, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *target = (flags & MREMAP_FIXED) != 0 ? va_arg(list, void *) : NULL;
    va_end(list);
    void *(*real)(void *, size_t, size_t, int, ...) =
        __extension__(void *(*)(void *, size_t, size_t, int, ...)) dlsym(RTLD_NEXT, "mremap");
    unsigned before = mapped_windows;
    if (!take_windows(address, size)) {
        return MAP_FAILED;
    }
    void *start = real(address, size, new_size, flags, target);
    if (start != MAP_FAILED && mapped_windows != before) {
        put_window(start, new_size);
    }
    return start;
}
