/* SPDX-License-Identifier: Apache-2.0 */
/* What zstd-compressed bytes hold, while they are read: frames one after the other, in bounded
 * memory. */
#ifndef NOCAP_BASE_UNPACK_H
#define NOCAP_BASE_UNPACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <zstd.h>

enum { UNPACK_MAGIC = 4 }; /* bytes that tell */

/* Up to `size` bytes, 0 at the end, -1 with errno. */
typedef ssize_t unpack_source(void *context, void *to, size_t size);

struct unpack {
    unpack_source *read;
    void *context;
    ZSTD_DStream *zstd; /* NULL: not open */
    uint8_t *packed;
    ZSTD_inBuffer from;
    size_t wanted;      /* bytes that zstd takes next: what is damaged costs one block */
    bool in_frame;      /* compressed data must go on */
    bool cut;           /* and does not */
    const char *damage; /* why unpack_read failed; NULL: the source did */
};

/* Whether that is the beginning of compressed data. */
bool unpack_begins(const void *bytes, size_t size);
/* Of `head`, which must stay, and of what is read after it. False: no memory. */
bool unpack_open(struct unpack *u, const void *head, size_t head_size, unpack_source *read,
                 void *context);
/* At least one byte, 0 at the end, -1 as `damage` or errno says. */
ssize_t unpack_read(struct unpack *u, void *to, size_t size);
void unpack_close(struct unpack *u);

#endif
