/* SPDX-License-Identifier: Apache-2.0 */
/* For fuzz targets: a file of frames from the contents of the frames, so that the fuzzer gets past
 * compression and checksums. */
#ifndef NOCAP_TESTS_FUZZ_FRAMES_H
#define NOCAP_TESTS_FUZZ_FRAMES_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

/* Each frame is two bytes of length and so many of content; gives the size of the file. What does
 * not fit is left out. */
static inline size_t frames_compress(uint8_t *file, size_t capacity, const uint8_t *data,
                                     size_t size)
{
    size_t used = 0;
    while (size >= 2) {
        size_t n = (size_t)data[0] | (size_t)data[1] << 8;
        data += 2;
        size -= 2;
        n = n < size ? n : size;
        if (used + ZSTD_compressBound(n) > capacity) {
            break;
        }
        used += ZSTD_compress(file + used, capacity - used, data, n, 1);
        data += n;
        size -= n;
    }
    return used;
}

#endif
