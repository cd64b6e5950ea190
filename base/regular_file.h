/* SPDX-License-Identifier: Apache-2.0 */
/* Regular files that are read as a whole. A FIFO, a device or a folder is reported by
 * its kind and never waited for. */
#ifndef NOCAP_BASE_REGULAR_FILE_H
#define NOCAP_BASE_REGULAR_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct regular_file {
    int fd;
    size_t size;            /* bytes */
    uint64_t device, inode; /* two names with the same are one file */
};

/* Opens a file of at most `max` bytes; close it with regular_file_close. Fails with NOCAP_E_INPUT.
 */
enum nocap_status regular_file_open(struct regular_file *file, const char *path, size_t max,
                                    struct nocap_error *err);
/* The same for an untrusted name: it is resolved from `folder` ("": the current one)
 * on, and may not lead out of it, neither by itself nor through symbolic links. Fails with
 * NOCAP_E_USAGE if it does, without looking whether something is there. */
enum nocap_status regular_file_open_below(struct regular_file *file, const char *folder,
                                          const char *name, size_t max, struct nocap_error *err);
/* All of it, and a zero byte after it; free(*bytes). `name` is for messages. */
enum nocap_status regular_file_read(const struct regular_file *file, const char *name,
                                    uint8_t **bytes, struct nocap_error *err);
void regular_file_close(struct regular_file *file);
/* All three: what `path` holds, in `size` bytes. */
enum nocap_status regular_file_load(const char *path, size_t max, uint8_t **bytes, size_t *size,
                                    struct nocap_error *err);

#endif
