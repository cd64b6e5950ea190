/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of any length, from untrusted bytes, token by token as it comes. No recursion;
 * in memory is only a token of which the rest is still to come. */
#ifndef NOCAP_BASE_JSON_STREAM_H
#define NOCAP_BASE_JSON_STREAM_H

#include "base/json_scan.h"

enum { JSON_TOKEN_MAX = 1 << 20 }; /* bytes of one that comes in pieces */

enum json_token { JSON_KEY, JSON_VALUE, JSON_OPENS, JSON_CLOSES };

/* Takes a key, a value that is no list or object, or a bracket, whose type says of what. False ends
 * the stream. */
typedef bool json_take(void *context, enum json_token token, const struct json_value *value);

struct json_stream {
    json_take *take;
    void *context;
    uint64_t line;     /* where it stands, from 1 */
    const char *why;   /* it is no JSON; static */
    bool no_memory;    /* or there is none */
    uint64_t objects;  /* what it is in, a bit a level, the innermost lowest: set for an object */
    unsigned depth;    /* levels */
    unsigned expected; /* enum expected */
    char *held;        /* the beginning of a token */
    size_t held_size, held_room;
    char *plain; /* what a string means that has escapes */
    size_t plain_room;
};

static inline struct json_stream json_stream_of(json_take *take, void *context)
{
    return (struct json_stream){.take = take, .context = context, .line = 1};
}

/* The next bytes. False: they are no JSON, or the taker has ended the stream. */
bool json_stream_feed(struct json_stream *s, const char *text, size_t size);
/* Nothing follows; false where a value is missing. */
bool json_stream_end(struct json_stream *s);
void json_stream_free(struct json_stream *s);

/* What a string means; valid until it is asked for the next. NULL: no memory. */
const char *json_stream_plain(struct json_stream *s, const struct json_value *value, size_t *size);

#endif
