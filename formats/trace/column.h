/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: entries of a packed column, many at a time. */
#ifndef NOCAP_TRACE_COLUMN_H
#define NOCAP_TRACE_COLUMN_H

#include "base/bytes.h"

/* The next eight entries, if each is of one byte. */
static inline bool column_take_eight(const uint8_t *at, uint64_t *to)
{
    uint64_t eight;
    memcpy(&eight, at, sizeof eight);
    if ((eight & UINT64_C(0x8080808080808080)) != 0) {
        return false;
    }
    to[0] = at[0];
    to[1] = at[1];
    to[2] = at[2];
    to[3] = at[3];
    to[4] = at[4];
    to[5] = at[5];
    to[6] = at[6];
    to[7] = at[7];
    return true;
}

/* Up to `count` next entries of a column; one that is absent is all zeros. How many decoded. */
static inline size_t column_take(struct span *column, uint64_t *to, size_t count)
{
    enum { EIGHT = 8 };
    struct span rest = *column;
    size_t i = 0;
    if (rest.at == NULL && count > 0) {
        memset(to, 0, count * sizeof *to);
        return count;
    }
    while (i < count) {
        size_t bytes = (size_t)(rest.end - rest.at), most = count - i < bytes ? count - i : bytes;
        for (size_t n = most / EIGHT; n > 0 && column_take_eight(rest.at, to + i); n--) {
            i += EIGHT;
            rest.at += EIGHT;
        }
        size_t end = count - i < EIGHT ? count : i + EIGHT;
        while (i < end && span_varint(&rest, &to[i])) {
            i++;
        }
        if (i < end) {
            break;
        }
    }
    *column = rest;
    return i;
}

#endif
