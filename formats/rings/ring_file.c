/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/rings/ring_file.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

void *ring_map(int fd, uint64_t ring_bytes, unsigned slot, bool writable)
{
    size_t size = (size_t)ring_bytes;
    int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    off_t offset = (off_t)(RING_FILE_FIRST + slot * ring_bytes);
    uint8_t *base =
        mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED ||
        mmap(base, size, protection, MAP_SHARED | MAP_FIXED, fd, offset) == MAP_FAILED ||
        mmap(base + size, size, protection, MAP_SHARED | MAP_FIXED, fd, offset) == MAP_FAILED) {
        int cause = errno;
        ring_unmap(base != MAP_FAILED ? base : NULL, ring_bytes);
        errno = cause;
        return NULL;
    }
    madvise(base, 2 * size, MADV_RANDOM); /* reading ahead costs the first event milliseconds */
    return base;
}

void ring_unmap(void *base, uint64_t ring_bytes)
{
    if (base != NULL) {
        munmap(base, 2 * (size_t)ring_bytes);
    }
}

bool ring_trace_hash(int trace_fd, uint64_t trace_bytes, uint64_t *hash)
{
    uint8_t last[RING_HASHED];
    size_t size = trace_bytes < sizeof last ? (size_t)trace_bytes : sizeof last;
    if (pread(trace_fd, last, size, (off_t)(trace_bytes - size)) != (ssize_t)size) {
        return false;
    }
    *hash = nocap_fnv1a64(NOCAP_FNV1A64_START, last, size);
    return true;
}
