/* SPDX-License-Identifier: Apache-2.0 */
/* The program's system calls with a buffer on the device, for which the kernel would say EFAULT:
 * they get memory in its place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "capture/preload/preload.h"

enum direction { INTO_DEVICE, FROM_DEVICE };

/* In words where they lie so. False: the device is gone. */
static bool move(enum direction direction, const struct region *r, uintptr_t device,
                 uint8_t *memory, size_t size)
{
    struct thread *t = &shim_thread;
    unsigned width = (device | size) % 8 == 0 ? 8 : (device | size) % 4 == 0 ? 4 : 1;
    sigset_t before;
    chip_enter(r->chip, &before);
    bool there = sigsetjmp(t->fault, 1) == 0; /* with the mask, which a handler has changed */
    t->in_access = there;
    if (there && direction == INTO_DEVICE) {
        access_store(r, device, memory, size, width);
    } else if (there) {
        access_load(r, device, memory, size, width);
    }
    t->in_access = 0;
    chip_leave(r->chip, &before);
    return there;
}

/* Copies between the program's memory and the device. */
static bool copy(enum direction direction, uintptr_t device, uint8_t *memory, size_t size)
{
    struct region r;
    while (size > 0) {
        if (!region_find(device, &r)) {
            return false;
        }
        size_t part = size < r.end - device ? size : r.end - device;
        if (!move(direction, &r, device, memory, part)) {
            return false;
        }
        device += part;
        memory += part;
        size -= part;
    }
    return true;
}

/* The buffers of a call with those on the device replaced. */
struct buffers {
    const struct iovec *given;
    struct iovec *used; /* NULL: those given do */
    size_t count;
};

static bool on_device(const struct iovec *v)
{
    return region_overlaps((uintptr_t)v->iov_base, v->iov_len);
}

static void put_away(struct buffers *b)
{
    for (size_t i = 0; b->used != NULL && i < b->count; i++) {
        if (b->used[i].iov_base != b->given[i].iov_base) {
            free(b->used[i].iov_base);
        }
    }
    free(b->used);
}

/* False: errno says why. */
static bool take(struct buffers *b, enum direction direction, const struct iovec *v, size_t count)
{
    bool any = false;
    *b = (struct buffers){.given = v, .count = count};
    for (size_t i = 0; i < count; i++) {
        any |= on_device(&v[i]);
    }
    if (!any) {
        return true;
    }
    b->used = malloc(count * sizeof *b->used);
    if (b->used == NULL) {
        errno = ENOMEM;
        return false;
    }
    memcpy(b->used, v, count * sizeof *v);
    for (size_t i = 0; i < count; i++) {
        if (!on_device(&v[i])) {
            continue;
        }
        void *memory = malloc(v[i].iov_len);
        bool good =
            memory != NULL && (direction == INTO_DEVICE ||
                               copy(direction, (uintptr_t)v[i].iov_base, memory, v[i].iov_len));
        if (!good) {
            free(memory);
            put_away(b);
            errno = memory == NULL ? ENOMEM : EFAULT;
            return false;
        }
        b->used[i].iov_base = memory;
    }
    return true;
}

static const struct iovec *used(const struct buffers *b)
{
    return b->used != NULL ? b->used : b->given;
}

/* What the call gave: `n`, and errno. */
static ssize_t give(struct buffers *b, enum direction direction, ssize_t n)
{
    int error = errno;
    size_t left = n > 0 ? (size_t)n : 0;
    for (size_t i = 0; b->used != NULL && direction == INTO_DEVICE && left > 0; i++) {
        size_t part = left < b->given[i].iov_len ? left : b->given[i].iov_len;
        if (b->used[i].iov_base != b->given[i].iov_base &&
            !copy(direction, (uintptr_t)b->given[i].iov_base, b->used[i].iov_base, part)) {
            n = -1;
            error = EFAULT;
            break;
        }
        left -= part;
    }
    put_away(b);
    errno = error;
    return n;
}

/* The call with `v` and `n`: the buffers that it may use. */
#define WITH_BUFFERS(direction, list, list_count, call)                                            \
    do {                                                                                           \
        struct buffers b;                                                                          \
        if (!take(&b, direction, list, list_count)) {                                              \
            return -1;                                                                             \
        }                                                                                          \
        const struct iovec *v = used(&b);                                                          \
        return give(&b, direction, call);                                                          \
    } while (0)

#define WITH_BUFFER(direction, buffer, size, call)                                                 \
    do {                                                                                           \
        const struct iovec one = {(void *)(uintptr_t)(buffer), size};                              \
        WITH_BUFFERS(direction, &one, 1, call);                                                    \
    } while (0)

EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
    WITH_BUFFER(INTO_DEVICE, buffer, size, next()->read(fd, v->iov_base, size));
}

EXPORT ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    WITH_BUFFER(INTO_DEVICE, buffer, size, next()->pread(fd, v->iov_base, size, offset));
}

EXPORT ssize_t pread64(int fd, void *buffer, size_t size, off_t offset)
{
    return pread(fd, buffer, size, offset);
}

EXPORT ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    WITH_BUFFER(INTO_DEVICE, buffer, size, next()->recv(fd, v->iov_base, size, flags));
}

/* Addresses of sockets are a transparent union in the headers, which is an extension. */
__extension__ EXPORT ssize_t recvfrom(int fd, void *restrict buffer, size_t size, int flags,
                                      struct sockaddr *restrict from, socklen_t *restrict length)
{
    WITH_BUFFER(INTO_DEVICE, buffer, size,
                next()->recvfrom(fd, v->iov_base, size, flags, from, length));
}

EXPORT ssize_t write(int fd, const void *buffer, size_t size)
{
    WITH_BUFFER(FROM_DEVICE, buffer, size, next()->write(fd, v->iov_base, size));
}

EXPORT ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
    WITH_BUFFER(FROM_DEVICE, buffer, size, next()->pwrite(fd, v->iov_base, size, offset));
}

EXPORT ssize_t pwrite64(int fd, const void *buffer, size_t size, off_t offset)
{
    return pwrite(fd, buffer, size, offset);
}

EXPORT ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
    WITH_BUFFER(FROM_DEVICE, buffer, size, next()->send(fd, v->iov_base, size, flags));
}

__extension__ EXPORT ssize_t sendto(int fd, const void *buffer, size_t size, int flags,
                                    const struct sockaddr *to, socklen_t length)
{
    WITH_BUFFER(FROM_DEVICE, buffer, size,
                next()->sendto(fd, v->iov_base, size, flags, to, length));
}

/* ---- several buffers; a count that makes no sense is for the kernel to refuse ---- */

static size_t count_of(int count)
{
    return count > 0 && count <= UIO_MAXIOV ? (size_t)count : 0;
}

EXPORT ssize_t readv(int fd, const struct iovec *list, int count)
{
    WITH_BUFFERS(INTO_DEVICE, list, count_of(count), next()->readv(fd, v, count));
}

EXPORT ssize_t preadv(int fd, const struct iovec *list, int count, off_t offset)
{
    WITH_BUFFERS(INTO_DEVICE, list, count_of(count), next()->preadv(fd, v, count, offset));
}

EXPORT ssize_t preadv64(int fd, const struct iovec *list, int count, off_t offset)
{
    return preadv(fd, list, count, offset);
}

EXPORT ssize_t writev(int fd, const struct iovec *list, int count)
{
    WITH_BUFFERS(FROM_DEVICE, list, count_of(count), next()->writev(fd, v, count));
}

EXPORT ssize_t pwritev(int fd, const struct iovec *list, int count, off_t offset)
{
    WITH_BUFFERS(FROM_DEVICE, list, count_of(count), next()->pwritev(fd, v, count, offset));
}

EXPORT ssize_t pwritev64(int fd, const struct iovec *list, int count, off_t offset)
{
    return pwritev(fd, list, count, offset);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    struct buffers b;
    if (!take(&b, INTO_DEVICE, message->msg_iov, message->msg_iovlen)) {
        return -1;
    }
    struct iovec *before = message->msg_iov;
    message->msg_iov = b.used != NULL ? b.used : before;
    ssize_t n = next()->recvmsg(fd, message, flags);
    message->msg_iov = before;
    return give(&b, INTO_DEVICE, n);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct buffers b;
    if (!take(&b, FROM_DEVICE, message->msg_iov, message->msg_iovlen)) {
        return -1;
    }
    struct msghdr changed = *message;
    changed.msg_iov = b.used != NULL ? b.used : message->msg_iov;
    return give(&b, FROM_DEVICE, next()->sendmsg(fd, &changed, flags));
}

/* ---- as programs built with _FORTIFY_SOURCE call them ---- */

ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);

EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
    check_room(size, room);
    return read(fd, buffer, size);
}

EXPORT ssize_t __pread_chk(int fd, void *buffer, size_t size, off_t offset, size_t room)
{
    check_room(size, room);
    return pread(fd, buffer, size, offset);
}

EXPORT ssize_t __pread64_chk(int fd, void *buffer, size_t size, off_t offset, size_t room)
{
    check_room(size, room);
    return pread(fd, buffer, size, offset);
}

EXPORT ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags)
{
    check_room(size, room);
    return recv(fd, buffer, size, flags);
}

EXPORT ssize_t __recvfrom_chk(int fd, void *buffer, size_t size, size_t room, int flags,
                              struct sockaddr *from, socklen_t *length)
{
    check_room(size, room);
    return recvfrom(fd, buffer, size, flags, from, length);
}
