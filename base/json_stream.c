/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_stream.h"

#include <stdlib.h>
#include <string.h>

/* What may come next; a stream begins with a value. */
enum expected { A_VALUE, AN_ITEM_OR_END, A_KEY, A_KEY_OR_END, A_COLON, A_COMMA_OR_END, NOTHING };

enum step { GOES_ON, BREAKS_OFF, FAILS };

static enum step fail(struct json_stream *s, const char *why)
{
    s->why = why;
    return FAILS;
}

/* Room for `size` bytes at `*text`. */
static bool reserve(struct json_stream *s, char **text, size_t *room, size_t size)
{
    if (size > *room) {
        char *grown = realloc(*text, 2 * size);
        s->no_memory = grown == NULL;
        if (grown == NULL) {
            s->why = "out of memory";
            return false;
        }
        *text = grown;
        *room = 2 * size;
    }
    return true;
}

static enum step hand_out(struct json_stream *s, enum json_token token,
                          const struct json_value *value)
{
    return s->take(s->context, token, value) ? GOES_ON : FAILS;
}

static enum step open_bracket(struct json_stream *s, struct json_cursor *c)
{
    const struct json_value value = {.type = *c->at == '{' ? JSON_OBJECT : JSON_LIST};
    if (s->depth == JSON_DEPTH_MAX) {
        return fail(s, "lists and objects are nested too deep");
    }
    s->depth++;
    s->objects = s->objects << 1 | (value.type == JSON_OBJECT);
    s->expected = value.type == JSON_OBJECT ? A_KEY_OR_END : AN_ITEM_OR_END;
    c->at++;
    return hand_out(s, JSON_OPENS, &value);
}

static void value_ends(struct json_stream *s)
{
    s->expected = s->depth > 0 ? A_COMMA_OR_END : NOTHING;
}

static enum step close_bracket(struct json_stream *s, struct json_cursor *c)
{
    const struct json_value value = {.type = s->objects & 1 ? JSON_OBJECT : JSON_LIST};
    s->depth--;
    s->objects >>= 1;
    c->at++;
    value_ends(s);
    return hand_out(s, JSON_CLOSES, &value);
}

static enum step scalar(struct json_stream *s, struct json_cursor *c)
{
    struct json_value value;
    bool key = s->expected == A_KEY || s->expected == A_KEY_OR_END;
    const char *from = c->at;
    if (key && *from != '"') {
        return fail(s, "a key is no string");
    }
    enum json_step step = json_scan_scalar(c, &value);
    if (step == JSON_DONE) {
        c->at = from;
        return BREAKS_OFF;
    }
    if (step == JSON_BAD) {
        return fail(s, c->why);
    }
    if (key) {
        s->expected = A_COLON;
    } else {
        value_ends(s);
    }
    return hand_out(s, key ? JSON_KEY : JSON_VALUE, &value);
}

static enum step comma(struct json_stream *s, struct json_cursor *c)
{
    if (*c->at != ',') {
        return fail(s, "no comma between two values");
    }
    c->at++;
    s->expected = s->objects & 1 ? A_KEY : A_VALUE;
    return GOES_ON;
}

static enum step colon(struct json_stream *s, struct json_cursor *c)
{
    if (*c->at != ':') {
        return fail(s, "no colon after a key");
    }
    c->at++;
    s->expected = A_VALUE;
    return GOES_ON;
}

static enum step next(struct json_stream *s, struct json_cursor *c)
{
    char closing = s->objects & 1 ? '}' : ']';
    bool may_end = s->expected == AN_ITEM_OR_END || s->expected == A_KEY_OR_END ||
                   s->expected == A_COMMA_OR_END;
    if (may_end && *c->at == closing) {
        return close_bracket(s, c);
    }
    switch (s->expected) {
    case A_COMMA_OR_END: return comma(s, c);
    case A_COLON: return colon(s, c);
    case NOTHING: return fail(s, "something follows the value");
    case A_VALUE:
    case AN_ITEM_OR_END: return *c->at == '{' || *c->at == '[' ? open_bracket(s, c) : scalar(s, c);
    default: return scalar(s, c);
    }
}

static void skip_space(struct json_stream *s, struct json_cursor *c)
{
    for (; c->at < c->end; c->at++) {
        if (*c->at == '\n') {
            s->line++;
        } else if (*c->at != ' ' && *c->at != '\t' && *c->at != '\r') {
            return;
        }
    }
}

/* Tokens as far as they are whole; `*done`: bytes of them. */
static bool run(struct json_stream *s, const char *text, size_t size, size_t *done)
{
    struct json_cursor c = {.at = text, .end = text + size};
    enum step step = GOES_ON;
    skip_space(s, &c);
    while (step == GOES_ON && c.at < c.end) {
        step = next(s, &c);
        skip_space(s, &c);
    }
    *done = (size_t)(c.at - text);
    return step != FAILS;
}

static bool hold(struct json_stream *s, const char *text, size_t size)
{
    if (size > JSON_TOKEN_MAX - s->held_size) {
        s->why = "a value is longer than 1 MiB";
        return false;
    }
    if (size == 0 || !reserve(s, &s->held, &s->held_room, s->held_size + size)) {
        return size == 0;
    }
    memcpy(s->held + s->held_size, text, size);
    s->held_size += size;
    return true;
}

bool json_stream_feed(struct json_stream *s, const char *text, size_t size)
{
    size_t done;
    while (s->held_size > 0 && size > 0) {
        /* its rest, in a piece that doubles what there is, so that little is looked at twice */
        size_t piece = s->held_size < size ? s->held_size : size, before = s->held_size;
        if (!hold(s, text, piece) || !run(s, s->held, s->held_size, &done)) {
            return false;
        }
        if (done > 0) { /* what follows the token stands in the text too */
            piece = done - before;
            s->held_size = 0;
        }
        text += piece;
        size -= piece;
    }
    if (size == 0) {
        return true;
    }
    return run(s, text, size, &done) && hold(s, text + done, size - done);
}

bool json_stream_end(struct json_stream *s)
{
    size_t done = 0;
    /* what may end a number is no part of any other token */
    if (s->held_size > 0 && (!hold(s, " ", 1) || !run(s, s->held, s->held_size, &done))) {
        return false;
    }
    bool whole = s->expected == NOTHING && done == s->held_size;
    s->why = whole ? NULL : "the text ends early";
    return whole;
}

void json_stream_free(struct json_stream *s)
{
    free(s->held);
    free(s->plain);
    s->held = s->plain = NULL;
}

const char *json_stream_plain(struct json_stream *s, const struct json_value *value, size_t *size)
{
    if (!value->escaped) {
        *size = value->size;
        return value->text;
    }
    if (!reserve(s, &s->plain, &s->plain_room, value->size)) {
        return NULL;
    }
    *size = json_unescape(value, s->plain);
    return s->plain;
}
