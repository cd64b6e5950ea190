/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: writing the fields of a protobuf message: tag, length, content. */
#ifndef NOCAP_TRACE_WIRE_H
#define NOCAP_TRACE_WIRE_H

#include <protobuf-c/protobuf-c.h>

#include "formats/trace/bytes.h"

enum wire_type { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

static inline bool put_varint(struct bytes *out, unsigned field, uint64_t v)
{
    if (!bytes_reserve(out, 2 * VARINT_MAX)) {
        return false;
    }
    bytes_varint(out, field << 3 | WIRE_VARINT);
    bytes_varint(out, v);
    return true;
}

static inline bool put_bytes(struct bytes *out, unsigned field, const struct bytes *content)
{
    if (!bytes_reserve(out, 2 * VARINT_MAX + content->size)) {
        return false;
    }
    bytes_varint(out, field << 3 | WIRE_LENGTH);
    bytes_varint(out, content->size);
    return bytes_append(out, content->data, content->size);
}

/* A column of nothing but zeros is left out. */
static inline bool put_column(struct bytes *out, unsigned field, const struct bytes *column)
{
    const uint8_t *v = column->data;
    size_t n = column->size;
    bool zeros = n == 0 || (v[0] == 0 && memcmp(v, v + 1, n - 1) == 0);
    return zeros || put_bytes(out, field, column);
}

static inline bool put_message(struct bytes *out, unsigned field, const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    if (!bytes_reserve(out, 2 * VARINT_MAX + size)) {
        return false;
    }
    bytes_varint(out, field << 3 | WIRE_LENGTH);
    bytes_varint(out, size);
    out->size += protobuf_c_message_pack(message, out->data + out->size);
    return true;
}

#endif
