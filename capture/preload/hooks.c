/* SPDX-License-Identifier: Apache-2.0 */
/* The program's calls that make, move or use device memory. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "capture/preload/preload.h"

/* ---- mappings ---- */

static bool is_trapped(const struct region *r)
{
    switch (shim_mode()) {
    case TRAP_FULL: return true;
    case TRAP_REGISTERS: return r->map == NOCAP_MAP_UC;
    default: return false;
    }
}

/* The device to one side, a reservation where the program wants it. MAP_FAILED: it cannot be so. */
static void *map_trapped(void *address, size_t size, int protection, int flags, int fd,
                         off_t offset, struct region *r)
{
    int place = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
    void *alias = next()->mmap(NULL, size, protection, flags & ~place, fd, offset);
    if (alias == MAP_FAILED) {
        return MAP_FAILED;
    }
    void *start = next()->mmap(address, size, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | place, -1, 0);
    if (start != MAP_FAILED) {
        r->start = (uintptr_t)start;
        r->end = r->start + size;
        r->alias = alias;
        if (region_add(r)) {
            return start;
        }
        next()->munmap(start, size);
    }
    next()->munmap(alias, size);
    return MAP_FAILED;
}

/* The program has its mapping, but not through the shim. */
static void report_untrapped(struct chip *chip)
{
    sigset_t before;
    int error = errno;
    chip_enter(chip, &before);
    if ((chip->told & TOLD_REGIONS_FULL) == 0) {
        report_gap(chip);
    }
    chip_report(
        chip, TOLD_REGIONS_FULL,
        "more mappings of devices than can be followed: accesses to further ones are not in "
        "the trace");
    chip_leave(chip, &before);
    errno = error;
}

/* Something else is about to stand there. False: the driver does not let go of what does. */
static bool replaced(uintptr_t start, size_t size)
{
    if (region_overlaps(start, size) && !region_remove(start, (size + 4095) & ~(size_t)4095)) {
        return false;
    }
    device_memory_gone(start, size);
    return true;
}

EXPORT void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    struct region r = {0};
    if ((flags & MAP_FIXED) != 0 && !replaced((uintptr_t)address, size)) {
        return MAP_FAILED;
    }
    bool file = (flags & MAP_ANONYMOUS) == 0 && fd >= 0;
    r.chip = file && shim_mode() != TRAP_OFF ? device_of(fd) : NULL;
    bool trapped = r.chip != NULL && device_place((uint64_t)offset, &r) && is_trapped(&r) &&
                   device_begin(r.chip, fd);
    if (trapped) {
        void *start =
            map_trapped(address, (size + 4095) & ~(size_t)4095, protection, flags, fd, offset, &r);
        if (start != MAP_FAILED) {
            return start;
        }
    }
    void *start = next()->mmap(address, size, protection, flags, fd, offset);
    if (trapped && start != MAP_FAILED) {
        report_untrapped(r.chip);
    }
    if (r.chip != NULL && start != MAP_FAILED && (uint64_t)offset >= KMD_BUFFERS) {
        pin_mapped(r.chip, (uint64_t)offset, (uintptr_t)start);
    }
    return start;
}

EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return mmap(address, size, protection, flags, fd, offset);
}

/* The device's side goes first: the driver frees no window that is mapped. */
EXPORT int munmap(void *address, size_t size)
{
    return replaced((uintptr_t)address, size) ? next()->munmap(address, size) : -1;
}

EXPORT void *shmat(int id, const void *address, int flags)
{
    struct shmid_ds segment;
    if ((flags & SHM_REMAP) != 0 && address != NULL && shmctl(id, IPC_STAT, &segment) == 0 &&
        !replaced((uintptr_t)address, segment.shm_segsz)) {
        return MAP_FAILED;
    }
    return next()->shmat(id, address, flags);
}

EXPORT int mprotect(void *address, size_t size, int protection)
{
    return region_overlaps((uintptr_t)address, size)
               ? 0 /* it stays without access, and the device's side as it was */
               : next()->mprotect(address, size, protection);
}

EXPORT int pkey_mprotect(void *address, size_t size, int protection, int key)
{
    return region_overlaps((uintptr_t)address, size)
               ? 0
               : next()->pkey_mprotect(address, size, protection, key);
}

/* A mapping that moves is the program's own again, untraced. */
EXPORT void *mremap(void *address, size_t size, size_t new_size, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *target = (flags & MREMAP_FIXED) != 0 ? va_arg(list, void *) : NULL;
    va_end(list);
    struct region r;
    for (uintptr_t at = (uintptr_t)address; at < (uintptr_t)address + size; at = r.end) {
        if (!region_find(at, &r)) {
            break;
        }
        if (!give_up(&r, at, "the program moved a mapping of the device")) {
            errno = EFAULT;
            return MAP_FAILED;
        }
    }
    if (target != NULL && !replaced((uintptr_t)target, new_size)) {
        return MAP_FAILED;
    }
    device_memory_gone((uintptr_t)address, size);
    return next()->mremap(address, size, new_size, flags, target);
}

/* ---- control ---- */

static void window_aimed(struct chip *chip, const struct kmd_configure_tlb *c)
{
    struct nocap_capture *capture = atomic_load(&shim_capture);
    if (chip->live.raw || c->id >= NOCAP_TLB_COUNT) {
        return;
    }
    const struct nocap_tlb_window to = {.page = c->addr >> nocap_tlb_shift(c->id),
                                        .x_end = (uint8_t)c->x_end,
                                        .y_end = (uint8_t)c->y_end,
                                        .x_start = (uint8_t)c->x_start,
                                        .y_start = (uint8_t)c->y_start,
                                        .noc = c->noc,
                                        .mcast = c->mcast,
                                        .ordering = c->ordering,
                                        .linked = c->linked,
                                        .static_vc = c->static_vc,
                                        .use_static_vc = c->static_vc != 0};
    live_chip_aim(&chip->live, c->id, &to);
    for (unsigned i = 0; capture != NULL && i < NOCAP_TLB_WORDS; i++) {
        live_record(capture, &chip->live, NOCAP_EV_WRITE, NOCAP_SPACE_BAR0,
                    NOCAP_TLB_REGISTERS + (c->id * NOCAP_TLB_WORDS + i) * 4,
                    &chip->live.words[c->id][i], 4, NOCAP_MAP_UC);
    }
}

static void device_was_reset(struct chip *chip)
{
    sigset_t before;
    chip_enter(chip, &before);
    live_chip_init(&chip->live, chip->live.number,
                   chip->live.raw ? NOCAP_ARCH_WORMHOLE : NOCAP_ARCH_BLACKHOLE, false);
    chip->known = false;
    chip_report(chip, TOLD_ALWAYS,
                "the device was reset: windows are unknown until they are aimed");
    chip_leave(chip, &before);
}

/* From here on the device and others have ways that this trace does not show. */
static void report_untraced(struct chip *chip, unsigned long command, const void *argument)
{
    const struct kmd_export_tlb *export = argument;
    const struct kmd_set_noc_cleanup *c = argument;
    sigset_t before;
    chip_enter(chip, &before);
    switch (command) {
    case KMD_PIN_PAGES:
    case KMD_ALLOCATE_DMA_BUF:
        chip_report(chip, TOLD_PINNED,
                    "the device was given memory of the program: accesses of host and device to it "
                    "are not traced, but for what a doorbell or a prefetch_q entry names");
        break;
    case KMD_MAP_PEER_BAR:
        chip_report(chip, TOLD_ALWAYS,
                    "a BAR was mapped for another device: what goes between them is not traced");
        break;
    case KMD_EXPORT_TLB:
        chip_report(chip, TOLD_ALWAYS,
                    "window %u was exported: accesses of other devices through it are not traced",
                    export->id);
        break;
    case KMD_SET_NOC_CLEANUP:
        if (c->enabled != 0) {
            chip_report(chip, TOLD_ALWAYS,
                        "when the device is closed the driver stores 0x%llx to 0x%llx of core "
                        "%u,%u: that store is not traced",
                        (unsigned long long)c->data, (unsigned long long)c->addr, c->x, c->y);
        } else {
            chip_report(chip, TOLD_ALWAYS, "when the device is closed the driver stores nothing");
        }
        break;
    default: break;
    }
    chip_leave(chip, &before);
}

/* What a call that succeeded tells. */
static void after_ioctl(struct chip *chip, unsigned long command, void *argument)
{
    switch (command) {
    case KMD_PIN_PAGES: {
        const struct kmd_pin_pages *p = argument;
        bool mapped = p->output_size >= KMD_PIN_OUTPUT_NOC &&
                      (p->flags & (KMD_PIN_NOC | KMD_PIN_NOC_TOP_DOWN)) != 0;
        pin_add(chip, &(struct pin){.iova = p->iova,
                                    .address = p->address,
                                    .size = p->size,
                                    .noc = mapped ? p->noc_address : 0});
        break;
    }
    case KMD_UNPIN_PAGES: {
        const struct kmd_unpin_pages *u = argument;
        pin_remove(chip, u->address, u->size);
        break;
    }
    case KMD_ALLOCATE_DMA_BUF: {
        const struct kmd_allocate_dma_buf *b = argument;
        bool mapped = (b->flags & KMD_BUFFER_NOC) != 0;
        pin_add(chip, &(struct pin){.iova = b->iova,
                                    .size = b->out_size,
                                    .noc = mapped ? b->noc_address : 0,
                                    .offset = b->offset});
        break;
    }
    case KMD_RESET_DEVICE: device_was_reset(chip); break;
    default: break;
    }
    report_untraced(chip, command, argument);
}

/* Calls after which something is to be told: the trace begins. */
static bool begins_trace(unsigned long command)
{
    switch (command) {
    case KMD_CONFIGURE_TLB:
    case KMD_PIN_PAGES:
    case KMD_ALLOCATE_DMA_BUF:
    case KMD_MAP_PEER_BAR:
    case KMD_EXPORT_TLB:
    case KMD_SET_NOC_CLEANUP: return true;
    default: return false;
    }
}

EXPORT int ioctl(int fd, unsigned long command, ...)
{
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    struct chip *chip = NULL;
    if (command >= KMD_GET_DEVICE_INFO && command <= KMD_IOCTL_LAST && shim_mode() != TRAP_OFF) {
        chip = device_of(fd);
    }
    if (chip == NULL) {
        return next()->ioctl(fd, command, argument);
    }
    sigset_t before;
    bool aims = command == KMD_CONFIGURE_TLB;
    if (begins_trace(command) && !device_begin(chip, fd)) {
        return next()->ioctl(fd, command, argument);
    }
    if (aims) { /* no access in between finds the window moved and not told */
        chip_enter(chip, &before);
    }
    int result = next()->ioctl(fd, command, argument);
    int error = errno;
    if (aims) {
        if (result == 0) {
            window_aimed(chip, argument);
        }
        chip_leave(chip, &before);
    } else if (result == 0) {
        after_ioctl(chip, command, argument);
    }
    errno = error;
    return result;
}
