/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: where the bytes of a .nocap file come from. A pipe is spooled to an
 * unlinked file first, so that every source can be read at any offset. */
#ifndef NOCAP_TRACE_SOURCE_H
#define NOCAP_TRACE_SOURCE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {
    int fd; /* -1: in memory */
    bool owns_fd;
    const uint8_t *memory;
    uint64_t size; /* bytes */
};

enum nocap_status source_open(struct source *source, const char *path, struct nocap_error *err);
/* The same on a descriptor of a file, which stays the caller's. */
enum nocap_status source_open_fd(struct source *source, int fd, const char *name,
                                 struct nocap_error *err);
void source_close(struct source *source);
/* Looks again how long a file is. */
void source_grow(struct source *source);
/* Up to `size` bytes at `offset`; fewer only at the end of the file (then *failure is 0) or on an
 * error of reading (then it is the errno). */
size_t source_read(const struct source *source, uint64_t offset, void *to, size_t size,
                   int *failure);

#endif
