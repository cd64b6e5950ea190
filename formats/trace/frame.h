/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: the frames of a .nocap file and the seek table after them, which is
 * that of zstd's seekable format: any reader of that format can address the frames. */
#ifndef NOCAP_TRACE_FRAME_H
#define NOCAP_TRACE_FRAME_H

#include <protobuf-c/protobuf-c.h>

#include "base/bytes.h"
#include "base/status.h"
#include "formats/trace/header.h"

#define ZSTD_SEEKABLE_MAGIC 0x8F92EAB1u
#define ZSTD_SKIPPABLE_SEEK 0x184D2A5Eu
#define ZSTD_FRAME_MAGIC    0xFD2FB528u

enum frame_layout {
    SKIPPABLE_HEADER_SIZE = 8, /* magic, size */
    SEEK_ENTRY_SIZE = 8,       /* compressed size, decompressed size */
    SEEK_FOOTER_SIZE = 9,      /* number of frames, descriptor, magic */
    SEEK_FRAMES_MAX = 1 << 26,
};

/* Of the file, not of the event model (NOCAP_VERSION_FORMAT): 2 has guessed values, 3 shapes by
 * place. */
enum trace_version { TRACE_VERSION_OLDEST = 1, TRACE_VERSION = 3 };

/* Field numbers of message Trace. */
enum trace_field { TRACE_HEADER = 1, TRACE_BLOCK = 2, TRACE_FOOTER = 3 };

static inline void put_u32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
}

static inline uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The header as message Header. `pack` appends; `unpack` fails with NOCAP_E_INPUT. */
enum nocap_status header_pack(struct bytes *out, const struct nocap_header *header,
                              struct nocap_error *err);
enum nocap_status header_unpack(struct nocap_header *header, const uint8_t *message, size_t size,
                                struct nocap_error *err);

/* An allocator for protobuf-c that refuses what goes over a budget: a message may claim more than
 * memory holds. */
enum { MESSAGE_BUDGET = 24 << 20 };
struct message_budget {
    size_t left; /* bytes */
    bool no_memory;
};
ProtobufCAllocator message_allocator(struct message_budget *budget);

#endif
