/* SPDX-License-Identifier: Apache-2.0 */
#include "base/unpack.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PACKED_SIZE = 128 << 10,
    FRAME_START = 5, /* bytes that ZSTD_initDStream asks for */
};

bool unpack_begins(const void *bytes, size_t size)
{
    static const uint32_t skippable_mask = 0xfffffff0u;
    uint32_t magic = 0;
    if (size >= sizeof magic) {
        memcpy(&magic, bytes, sizeof magic);
        magic = le32toh(magic);
    }
    return magic == ZSTD_MAGICNUMBER ||
           (magic & skippable_mask) == (ZSTD_MAGIC_SKIPPABLE_START & skippable_mask);
}

bool unpack_open(struct unpack *u, const void *head, size_t head_size, unpack_source *read,
                 void *context)
{
    *u = (struct unpack){.read = read,
                         .context = context,
                         .zstd = ZSTD_createDStream(),
                         .packed = malloc(PACKED_SIZE),
                         .wanted = FRAME_START,
                         .from = {head, head_size, 0}};
    if (u->zstd == NULL || u->packed == NULL) {
        unpack_close(u);
        return false;
    }
    return true;
}

static ssize_t damaged(struct unpack *u, const char *what)
{
    u->damage = what;
    errno = EBADMSG;
    return -1;
}

ssize_t unpack_read(struct unpack *u, void *to, size_t size)
{
    ZSTD_outBuffer out = {to, size, 0};
    while (out.pos == 0 && size > 0) {
        if (u->from.pos == u->from.size) {
            ssize_t n = u->read(u->context, u->packed, PACKED_SIZE);
            if (n < 0) {
                return n;
            }
            u->from = (ZSTD_inBuffer){u->packed, (size_t)n, 0};
        }
        bool over = u->from.size == 0;
        if (over && !u->in_frame) {
            break;
        }
        size_t left = u->from.size - u->from.pos;
        ZSTD_inBuffer step = u->from;
        step.size = u->from.pos + (left < u->wanted ? left : u->wanted);
        size_t hint = ZSTD_decompressStream(u->zstd, &out, &step);
        if (ZSTD_isError(hint)) {
            return damaged(u, ZSTD_getErrorName(hint));
        }
        u->from.pos = step.pos;
        u->in_frame = hint != 0;
        u->wanted = u->in_frame ? hint : FRAME_START;
        if (over && out.pos == 0 && u->in_frame) {
            u->cut = true;
            return damaged(u, "it is cut short");
        }
    }
    return (ssize_t)out.pos;
}

void unpack_close(struct unpack *u)
{
    ZSTD_freeDStream(u->zstd);
    free(u->packed);
    *u = (struct unpack){.zstd = NULL};
}
