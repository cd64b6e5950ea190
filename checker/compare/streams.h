/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: a trace taken apart into streams, the events of one agent in its own order.
 * Which agents interleave how is free; where several agents write one word of a tile's mailbox, the
 * order of those writes is a stream of its own, an object. */
#ifndef NOCAP_CHECKER_COMPARE_STREAMS_H
#define NOCAP_CHECKER_COMPARE_STREAMS_H

#include "base/map.h"
#include "base/status.h"
#include "formats/blackhole/mailbox.h"
#include "formats/trace/event.h"

/* The kinds of agents whose streams share a digest, and objects. */
#define NOCAP_STREAM_KINDS(X)                                                                      \
    X(HOST, "host")                                                                                \
    X(CORE, "core")                                                                                \
    X(NOC, "noc")                                                                                  \
    X(TENSIX, "tensix")                                                                            \
    X(CQ, "cq")                                                                                    \
    X(CERT, "cert")                                                                                \
    X(OTHER, "other")                                                                              \
    X(OBJECT, "object")
#define X(name, text) NOCAP_STREAM_##name,
enum nocap_stream_kind { NOCAP_STREAM_KINDS(X) NOCAP_STREAM_KIND_COUNT };
#undef X

/* Kind, chip, tile and agent in the first word, what is special to the kind in the second. */
struct nocap_stream_key {
    uint64_t word[2];
};

const char *nocap_stream_kind_name(enum nocap_stream_kind kind);
struct nocap_stream_key nocap_stream_key(const struct nocap_event *event);
enum nocap_stream_kind nocap_stream_key_kind(const struct nocap_stream_key *key);
/* "core 1,2 brisc", "host, src 0", "core 1,2 go_messages[0]". */
void nocap_stream_key_name(char *text, size_t size, const struct nocap_stream_key *key,
                           const struct nocap_mailbox_layout *layout);

/* The objects that a write changes. Give them one after the other: `*next` begins as 0; false when
 * there are no more. */
bool nocap_stream_object(const struct nocap_event *event, const struct nocap_mailbox_layout *layout,
                         unsigned *next, struct nocap_stream_key *key);

/* Keys to numbers from 0 on, in the order in which they came. */
enum { NOCAP_STREAMS_MAX = 1 << 18 };
struct nocap_stream_table {
    MAP(struct nocap_stream_key);
};
/* Fails with NOCAP_E_MEMORY beyond NOCAP_STREAMS_MAX. */
enum nocap_status nocap_stream_find(struct nocap_stream_table *table,
                                    const struct nocap_stream_key *key, size_t *number,
                                    struct nocap_error *err);

#endif
