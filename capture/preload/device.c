/* SPDX-License-Identifier: Apache-2.0 */
/* Which descriptors are devices, what their mmap offsets mean, and the trace. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/live/session.h"
#include "capture/preload/preload.h"

struct nocap_capture *_Atomic shim_capture;
static struct chip *chips[CHIPS_MAX];
static pthread_mutex_t devices = PTHREAD_MUTEX_INITIALIZER;
static bool tried; /* to open the trace */
static enum nocap_arch traced_arch;

enum trap_mode shim_mode(void)
{
    const char *mode = getenv(LIVE_TRAP);
    if (getenv(LIVE_TRACE) == NULL || (mode != NULL && strcmp(mode, "off") == 0)) {
        return TRAP_OFF;
    }
    return mode != NULL && strcmp(mode, "registers") == 0 ? TRAP_REGISTERS : TRAP_FULL;
}

/* The device's number from the name behind a descriptor, however the program came by it: the node
 * of the driver, or a file in memory that says that it stands for one. -1: it is none. */
static int number_of(int fd)
{
    static const char *const names[] = {"/dev/tenstorrent/", "/memfd:/dev/tenstorrent/"};
    char path[64], target[256], *end;
    struct stat st;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0) {
        return -1;
    }
    target[n] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(target, names[i], length) == 0) {
            long number = strtol(target + length, &end, 10);
            return end != target + length && number >= 0 ? (int)(number % CHIPS_MAX) : -1;
        }
    }
    if (fstat(fd, &st) != 0 || !S_ISCHR(st.st_mode)) {
        return -1;
    }
    snprintf(path, sizeof path, "/sys/dev/char/%u:%u", major(st.st_rdev), minor(st.st_rdev));
    n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    return strstr(target, "/tenstorrent/") != NULL ? (int)(minor(st.st_rdev) % CHIPS_MAX) : -1;
}

struct chip *device_of(int fd)
{
    int number = fd >= 0 ? number_of(fd) : -1;
    if (number < 0) {
        return NULL;
    }
    pthread_mutex_lock(&devices);
    if (chips[number] == NULL) {
        chips[number] = calloc(1, sizeof *chips[number]);
        if (chips[number] != NULL) {
            live_chip_init(&chips[number]->live, (uint16_t)number, NOCAP_ARCH_BLACKHOLE, false);
        }
    }
    struct chip *chip = chips[number];
    pthread_mutex_unlock(&devices);
    return chip;
}

void device_memory_gone(uintptr_t start, size_t size)
{
    if (shim_thread.holds_chip) {
        return; /* the recorder maps for itself */
    }
    for (unsigned i = 0; i < CHIPS_MAX; i++) {
        struct chip *chip = chips[i];
        if (chip == NULL) {
            continue;
        }
        pins_gone(chip, start, size);
    }
}

void chip_lock(struct chip *chip)
{
    enum { SPINS = 64 };
    if (atomic_exchange_explicit(&chip->lock, 1, memory_order_acquire) != 0) {
        atomic_fetch_add_explicit(&chip->waiting, 1, memory_order_relaxed);
        for (unsigned i = 1; atomic_exchange_explicit(&chip->lock, 1, memory_order_acquire) != 0;
             i++) {
            if (i % SPINS == 0) {
                sched_yield();
            }
        }
        atomic_fetch_sub_explicit(&chip->waiting, 1, memory_order_relaxed);
    }
    shim_thread.holds_chip = true;
}

void chip_unlock(struct chip *chip)
{
    shim_thread.holds_chip = false;
    atomic_store_explicit(&chip->lock, 0, memory_order_release);
}

void chip_enter(struct chip *chip, sigset_t *before)
{
    sigset_t most;
    sigfillset(&most);
    signals_keep_deliverable(&most);
    next()->pthread_sigmask(SIG_SETMASK, &most, before);
    chip_lock(chip);
}

void chip_leave(struct chip *chip, const sigset_t *before)
{
    chip_unlock(chip);
    next()->pthread_sigmask(SIG_SETMASK, before, NULL);
}

void chip_report(struct chip *chip, enum told what, const char *format, ...)
{
    char text[256];
    struct nocap_capture *capture = atomic_load(&shim_capture);
    if (capture == NULL || (chip->told & what) != 0) {
        return;
    }
    chip->told |= what;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    struct nocap_event note = {.kind = NOCAP_EV_NOTE,
                               .has = NOCAP_F_TEXT,
                               .chip = chip->live.number,
                               .data = (const uint8_t *)text,
                               .data_size = (uint32_t)strlen(text)};
    nocap_recorder_event(capture, &note);
}

/* ---- the trace ---- */

/* In the trace's header: what this way of capturing cannot see. */
static char *untraced(enum trap_mode mode)
{
    char *text = NULL;
    if (asprintf(&text,
                 "\"untraced\":[%s\"mappings of DMA buffers and pinned memory, but for what a "
                 "doorbell of the DMA engine or a prefetch_q entry names\","
                 "\"command queues that another process set up\","
                 "\"accesses of the device and of processes that are not captured\","
                 "\"other devices that a BAR or a window was exported to\","
                 "\"what the driver itself writes at close\","
                 "\"accesses past the C library's mmap and system calls: static programs, "
                 "io_uring, stdio with a buffer on the device\"]",
                 mode == TRAP_REGISTERS ? "\"windows mapped write-combined\"," : "") < 0) {
        return NULL;
    }
    return text;
}

static void in_child(void)
{
    for (unsigned i = 0; i < CHIPS_MAX; i++) {
        if (chips[i] != NULL) {
            chip_unlock(chips[i]); /* its owner is not here */
            atomic_store(&chips[i]->waiting, 0);
        }
    }
    shim_thread.stepping = false;
}

/* After all that the program does at its exit. */
__attribute__((destructor)) static void finish(void)
{
    struct nocap_capture *capture = atomic_exchange(&shim_capture, NULL);
    live_close(capture);
}

/* Where the windows point already: their registers can be read. */
static void read_windows(struct chip *chip, int fd)
{
    enum { PAGE = 4096 };
    if (chip->live.raw) {
        return;
    }
    void *page = next()->mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd,
                              (off_t)(KMD_BAR0 + NOCAP_TLB_REGISTERS));
    if (page == MAP_FAILED) {
        return;
    }
    uint32_t words[NOCAP_TLB_COUNT * NOCAP_TLB_WORDS];
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        words[i] = ((const volatile uint32_t *)page)[i];
    }
    next()->munmap(page, PAGE);
    live_chip_store(&chip->live, NOCAP_TLB_REGISTERS, words, sizeof words);
}

/* What the driver says of it. */
static enum nocap_arch arch_of(struct chip *chip, int fd, bool *good)
{
    enum nocap_arch arch = NOCAP_ARCH_BLACKHOLE;
    struct kmd_get_device_info info = {.output_size = sizeof info - sizeof info.output_size};
    bool said = next()->ioctl(fd, KMD_GET_DEVICE_INFO, &info) == 0;
    *good = said && live_arch(info.vendor, info.device, &arch);
    if (!*good) {
        char what[64], why[128] = "the driver does not say what device it is: untraced";
        snprintf(what, sizeof what, "/dev/tenstorrent/%u", chip->live.number);
        if (said) {
            snprintf(why, sizeof why, "a device %04x:%04x, which is neither Blackhole nor Wormhole",
                     info.vendor, info.device);
        }
        live_refuse(what, why);
    }
    return arch;
}

static void open_trace(enum nocap_arch arch)
{
    struct nocap_header header;
    enum trap_mode mode = shim_mode();
    tried = true;
    nocap_header_init(&header);
    header.arch = traced_arch = arch;
    header.extra = untraced(mode);
    if (mode == TRAP_FULL) {
        nocap_header_observe(&header, nocap_class_name(NOCAP_CLASS_BIT_HOST_MMIO), NULL);
    }
    if (mode == TRAP_FULL && arch == NOCAP_ARCH_BLACKHOLE) {
        nocap_header_observe(&header, nocap_class_name(NOCAP_CLASS_BIT_CQ_HOST), NULL);
    }
    signals_init();
    pthread_atfork(NULL, NULL, in_child);
    struct nocap_capture *capture = live_open("driver shim", &header, NOCAP_CAPTURE_CLOCK_TSC);
    queue_begin(&header);
    atomic_store(&shim_capture, capture);
    nocap_header_free(&header);
}

/* A trace is of one architecture. */
static void look_at(struct chip *chip, int fd)
{
    bool good;
    enum nocap_arch arch = arch_of(chip, fd, &good);
    if (good && !tried) {
        open_trace(arch);
    }
    chip->kind = good && arch == traced_arch ? KIND_TRACED : KIND_UNTRACED;
    if (chip->kind == KIND_TRACED) {
        live_chip_init(&chip->live, chip->live.number, arch, false);
        live_note_raw(atomic_load(&shim_capture), &chip->live);
    } else if (good) {
        chip_report(chip, TOLD_ALWAYS, "a device of another architecture: nothing of it is traced");
    }
}

bool device_begin(struct chip *chip, int fd)
{
    int error = errno;
    pthread_mutex_lock(&devices);
    if (chip->kind == KIND_UNKNOWN) {
        look_at(chip, fd);
    }
    if (chip->kind == KIND_TRACED && !chip->known) {
        chip->known = true;
        read_windows(chip, fd);
    }
    bool traced = chip->kind == KIND_TRACED;
    pthread_mutex_unlock(&devices);
    errno = error;
    return traced;
}

/* ---- mmap offsets ---- */

bool device_place(uint64_t offset, struct region *region)
{
    uint64_t inside = offset % KMD_STEP;
    region->map = offset / KMD_STEP % 2 == 0 ? NOCAP_MAP_UC : NOCAP_MAP_WC;
    switch (offset / KMD_STEP / 2) {
    case KMD_BAR0 / KMD_STEP / 2: region->space = NOCAP_SPACE_BAR0; break;
    case KMD_BAR2 / KMD_STEP / 2: region->space = NOCAP_SPACE_BAR2; break;
    case KMD_BAR4 / KMD_STEP / 2: region->space = NOCAP_SPACE_BAR4; break;
    case KMD_WINDOWS / KMD_STEP / 2:
        region->space = inside < KMD_WINDOW_4G ? NOCAP_SPACE_BAR0 : NOCAP_SPACE_BAR4;
        inside -= inside < KMD_WINDOW_4G ? 0 : KMD_WINDOW_4G;
        break;
    default: return false;
    }
    region->offset = inside;
    return true;
}
