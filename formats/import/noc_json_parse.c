/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of the NOC event profiler, object by object: what an object says is gathered in one
 * entry, which is handed out when the object ends. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_stream.h"
#include "formats/import/noc_json.h"

enum { DEPTH_LIST = 1, DEPTH_EVENT = 2 };

/* Where the value of the present key goes. */
enum target { TO_KEPT, TO_NUMBER, TO_TYPE, TO_ZONE, TO_PHASE, TO_PROC, TO_OP, TO_NOC };

struct noc_json_parser {
    struct json_stream stream;
    const char *name;
    noc_json_take *take;
    void *context;
    struct noc_json_entry entry;
    enum target target;
    enum noc_json_number number;
    unsigned depth;
    bool fed, begun, list_over;
    uint64_t taken;
    char why[128];
    enum nocap_status status; /* why the taker ended the parse */
    struct nocap_error *err;
};

static bool stop(struct noc_json_parser *p, enum nocap_status status)
{
    p->status = status;
    return status == NOCAP_OK;
}

static bool not_a_trace(struct noc_json_parser *p, const char *why)
{
    return stop(p, nocap_fail(p->err, NOCAP_E_INPUT,
                              "%s is no NOC event trace: %s, where a list of events belongs",
                              p->name, why));
}

/* ---- what has no place in an event is kept as JSON ---- */

/* As it stands, after a comma if one belongs there. */
static void keep(struct noc_json_parser *p, const char *text, size_t size, bool separate)
{
    struct noc_json_entry *e = &p->entry;
    char last = e->kept_size > 0 ? e->kept[e->kept_size - 1] : '{';
    bool comma = separate && strchr("{[:", last) == NULL;
    e->kept_cut |= size + comma > sizeof e->kept - e->kept_size;
    if (e->kept_cut) {
        return;
    }
    if (comma) {
        e->kept[e->kept_size++] = ',';
    }
    memcpy(e->kept + e->kept_size, text, size);
    e->kept_size += (uint32_t)size;
}

static void keep_value(struct noc_json_parser *p, const struct json_value *value)
{
    size_t size;
    const char *text = json_raw(value, &size);
    if (p->target == TO_KEPT) {
        keep(p, text, size, true);
    }
}

static void keep_key(struct noc_json_parser *p, const struct json_value *key)
{
    keep_value(p, key);
    keep(p, ":", 1, false);
}

/* ---- tokens ---- */

static void begin_entry(struct noc_json_parser *p)
{
    memset(&p->entry, 0, offsetof(struct noc_json_entry, kept));
    p->entry.kept_size = 0;
    p->entry.kept_cut = false;
    p->entry.noc = -1;
}

static bool hand_out(struct noc_json_parser *p)
{
    if (p->entry.kept_cut) {
        p->entry.kept_size = 0;
    }
    p->taken++;
    return stop(p, p->take(p->context, &p->entry, p->err));
}

static void set_number(struct noc_json_parser *p, int64_t v)
{
    p->entry.numbers[p->number] = v;
    p->entry.has |= UINT32_C(1) << p->number;
}

/* A whole number, also one that is written with a fraction of 0. */
static bool whole(const char *text, size_t size, int64_t *v)
{
    char copy[40], *end;
    if (size >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, size);
    copy[size] = 0;
    errno = 0;
    *v = strtoll(copy, &end, 10);
    if (*end == 0) {
        return errno == 0;
    }
    double d = strtod(copy, &end);
    const double exact = 9007199254740992.0; /* 2^53 */
    *v = *end == 0 && d >= -exact && d <= exact ? (int64_t)d : 0;
    return *end == 0 && d == (double)*v;
}

static void take_number(struct noc_json_parser *p, const struct json_value *value)
{
    int64_t v = 0;
    bool is_whole = p->depth == DEPTH_EVENT && whole(value->text, value->size, &v);
    if (p->target == TO_NUMBER && is_whole) {
        set_number(p, v);
    } else if (p->target == TO_NOC && is_whole && (v == 0 || v == 1)) {
        p->entry.noc = (int)v;
    } else {
        keep_value(p, value);
    }
}

static char *word_of(struct noc_json_parser *p)
{
    switch (p->target) {
    case TO_TYPE: return p->entry.type;
    case TO_ZONE: return p->entry.zone;
    case TO_PHASE: return p->entry.zone_phase;
    case TO_PROC: return p->entry.proc;
    case TO_OP: return p->entry.op_name;
    default: return NULL;
    }
}

static bool take_string(struct noc_json_parser *p, const struct json_value *value)
{
    size_t size;
    const char *text = json_stream_plain(&p->stream, value, &size);
    char *word = p->depth == DEPTH_EVENT ? word_of(p) : NULL;
    if (text == NULL) {
        return false;
    }
    if (word != NULL) {
        size_t n = size < NOC_JSON_WORD - 1 ? size : NOC_JSON_WORD - 1;
        memcpy(word, text, n);
        word[n] = 0;
    } else if (p->target == TO_NOC && size > 0 &&
               (text[size - 1] == '0' || text[size - 1] == '1')) {
        p->entry.noc = text[size - 1] - '0';
    } else {
        keep_value(p, value);
    }
    return true;
}

static bool take_value(struct noc_json_parser *p, const struct json_value *value)
{
    if (p->depth < DEPTH_LIST) {
        return not_a_trace(p, "its top level is a single value");
    }
    if (p->depth == DEPTH_LIST) { /* no event */
        begin_entry(p);
        return hand_out(p);
    }
    bool truth = value->type == JSON_TRUE || value->type == JSON_FALSE;
    if (value->type == JSON_STRING) {
        return take_string(p, value);
    }
    if (value->type == JSON_NUMBER) {
        take_number(p, value);
    } else if (truth && p->target == TO_NUMBER && p->depth == DEPTH_EVENT) {
        set_number(p, value->type == JSON_TRUE);
    } else {
        keep_value(p, value);
    }
    return true;
}

static enum target target_of(const char *key, size_t size, enum noc_json_number *number)
{
    static const struct {
        const char *key;
        size_t size;
        enum target target;
        enum noc_json_number number;
    } rows[] = {
#define WORD(key, target) {key, sizeof key - 1, target, 0},
#define NUMBER(NAME, key) {key, sizeof key - 1, TO_NUMBER, NOC_JSON_##NAME},
        WORD("type", TO_TYPE) WORD("proc", TO_PROC) WORD("noc", TO_NOC) WORD("zone", TO_ZONE)
            WORD("zone_phase", TO_PHASE) WORD("op_name", TO_OP)
#include "formats/import/noc_json.def"
#undef WORD
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].size == size && memcmp(rows[i].key, key, size) == 0) {
            *number = rows[i].number;
            return rows[i].target;
        }
    }
    return TO_KEPT;
}

static bool take_key(struct noc_json_parser *p, const struct json_value *value)
{
    size_t size;
    const char *key = json_stream_plain(&p->stream, value, &size);
    bool member = p->depth == DEPTH_EVENT && p->entry.is_object;
    if (key == NULL) {
        return false;
    }
    if (member) {
        p->target = target_of(key, size, &p->number);
        p->entry.kept_cut |= p->target == TO_KEPT && size >= NOC_JSON_WORD;
    }
    if (p->target == TO_KEPT) {
        keep_key(p, value);
    }
    return true;
}

/* An object or a list opens. */
static bool open_value(struct noc_json_parser *p, bool object)
{
    if (p->depth == 0) {
        if (object) {
            return not_a_trace(p, "its top level is an object");
        }
        p->begun = true;
    } else if (p->depth == DEPTH_LIST) {
        begin_entry(p);
        p->entry.is_object = object;
        p->target = TO_NUMBER; /* of a list in the list nothing is kept */
    } else if (p->depth == NOC_JSON_DEPTH) {
        return stop(p, nocap_fail(p->err, NOCAP_E_INPUT, "%s: an event nests deeper than %d levels",
                                  p->name, NOC_JSON_DEPTH));
    } else if (p->depth == DEPTH_EVENT && p->entry.is_object && p->target != TO_KEPT) {
        p->target = TO_KEPT; /* a known key with a value of another shape */
        p->entry.kept_cut = true;
    } else if (p->target == TO_KEPT) {
        keep(p, object ? "{" : "[", 1, true);
    }
    p->depth++;
    return true;
}

static bool close_value(struct noc_json_parser *p, bool object)
{
    p->depth--;
    if (p->depth == 0) {
        p->list_over = true;
    } else if (p->depth == DEPTH_LIST) {
        return hand_out(p);
    } else if (p->target == TO_KEPT) {
        keep(p, object ? "}" : "]", 1, false);
    }
    return true;
}

static bool take_token(void *context, enum json_token token, const struct json_value *value)
{
    switch (token) {
    case JSON_KEY: return take_key(context, value);
    case JSON_VALUE: return take_value(context, value);
    case JSON_OPENS: return open_value(context, value->type == JSON_OBJECT);
    case JSON_CLOSES: return close_value(context, value->type == JSON_OBJECT);
    }
    return false;
}

/* ---- the parse ---- */

enum nocap_status noc_json_parser_new(struct noc_json_parser **parser, const char *name,
                                      noc_json_take *take, void *context, struct nocap_error *err)
{
    struct noc_json_parser *p = calloc(1, sizeof *p);
    RETURN_ERROR_IF(p == NULL, err, NOCAP_E_MEMORY, "out of memory");
    p->name = name;
    p->take = take;
    p->context = context;
    p->stream = json_stream_of(take_token, p);
    *parser = p;
    return NOCAP_OK;
}

void noc_json_parser_free(struct noc_json_parser *p)
{
    if (p != NULL) {
        json_stream_free(&p->stream);
        free(p);
    }
}

uint64_t noc_json_line(const struct noc_json_parser *p)
{
    return p->stream.line;
}

/* The JSON is not whole. Before the first event that means it is no trace. */
static enum nocap_status broken(struct noc_json_parser *p, const char *why)
{
    snprintf(p->why, sizeof p->why, "%s", why);
    if (p->taken == 0) {
        return nocap_fail(p->err, NOCAP_E_INPUT, "%s is no NOC event trace: line %" PRIu64 ": %s",
                          p->name, p->stream.line, p->why);
    }
    return NOCAP_END;
}

static enum nocap_status result(struct noc_json_parser *p, bool fine)
{
    if (fine || p->status != NOCAP_OK) {
        return p->status;
    }
    RETURN_ERROR_IF(p->stream.no_memory, p->err, NOCAP_E_MEMORY, "out of memory");
    return broken(p, p->stream.why);
}

enum nocap_status noc_json_parse(struct noc_json_parser *p, const void *bytes, size_t size,
                                 struct nocap_error *err)
{
    static const char mark[] = "\xEF\xBB\xBF";
    const char *text = bytes;
    p->err = err;
    if (!p->fed && size >= 3 && memcmp(text, mark, 3) == 0) {
        text += 3;
        size -= 3;
    }
    p->fed = true;
    return result(p, json_stream_feed(&p->stream, text, size));
}

enum nocap_status noc_json_parse_end(struct noc_json_parser *p, struct nocap_error *err)
{
    p->err = err;
    bool fine = json_stream_end(&p->stream);
    if (!fine && p->status == NOCAP_OK && !p->list_over) {
        return broken(p, p->begun ? "the list of events breaks off" : "it is empty");
    }
    return result(p, fine);
}

uint64_t noc_json_broken(const struct noc_json_parser *p, const char **why)
{
    *why = p->why;
    return p->stream.line;
}
