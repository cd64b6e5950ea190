/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: writing and reading the fields of a protobuf message: tag, length,
 * content. */
#ifndef NOCAP_TRACE_WIRE_H
#define NOCAP_TRACE_WIRE_H

#include <protobuf-c/protobuf-c.h>

#include "base/bytes.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2, WIRE_FIXED32 = 5 };

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

/* A field as it is read. */
struct wire_field {
    uint64_t number, v;  /* v: of WIRE_VARINT and WIRE_FIXED64 */
    unsigned type;       /* enum wire_type */
    struct span content; /* of WIRE_LENGTH */
};

/* The next field of a message; false where there is none, or none that is whole. */
static inline bool span_field(struct span *message, struct wire_field *f)
{
    uint64_t tag, size;
    if (!span_varint(message, &tag)) {
        return false;
    }
    *f = (struct wire_field){.number = tag >> 3, .type = tag & 7};
    switch (f->type) {
    case WIRE_VARINT: return span_varint(message, &f->v);
    case WIRE_FIXED64: size = sizeof f->v; break;
    case WIRE_FIXED32: size = sizeof(uint32_t); break;
    case WIRE_LENGTH:
        if (!span_varint(message, &size)) {
            return false;
        }
        break;
    default: return false;
    }
    if (size > (uint64_t)(message->end - message->at)) {
        return false;
    }
    f->content = (struct span){message->at, message->at + size};
    message->at = f->content.end;
    if (f->type == WIRE_FIXED64) {
        memcpy(&f->v, f->content.at, sizeof f->v); /* little-endian, as the machine */
    }
    return true;
}

#endif
