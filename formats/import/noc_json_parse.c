/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of the NOC event profiler, object by object. yajl calls back as it reads; what an object
 * says is gathered in one entry, which is handed out when the object ends. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>

#include "formats/import/noc_json.h"

enum { DEPTH_LIST = 1, DEPTH_EVENT = 2 };

/* Where the value of the present key goes. */
enum target { TO_KEPT, TO_NUMBER, TO_TYPE, TO_ZONE, TO_PHASE, TO_PROC, TO_OP, TO_NOC };

struct noc_json_parser {
    yajl_handle yajl;
    yajl_gen kept; /* an open object while `keeping` */
    const char *name;
    noc_json_take *take;
    void *context;
    struct noc_json_entry entry;
    enum target target;
    enum noc_json_number number;
    unsigned depth;
    bool keeping, begun, list_over;
    uint64_t taken, calls;
    uint64_t quiet; /* bytes since yajl called back last */
    uint64_t line;
    const char *bytes; /* that are being parsed */
    size_t size;
    char why[128];
    enum nocap_status status; /* why a callback stopped the parse */
    struct nocap_error *err;
};

static int stop(struct noc_json_parser *p, enum nocap_status status)
{
    p->status = status;
    return 0;
}

static int not_a_trace(struct noc_json_parser *p, const char *why)
{
    return stop(p, nocap_fail(p->err, NOCAP_E_INPUT,
                              "%s is no NOC event trace: %s, where a list of events belongs",
                              p->name, why));
}

/* ---- what has no place in an event is kept as JSON ---- */

static void keep_key(struct noc_json_parser *p, const unsigned char *key, size_t size)
{
    if (!p->keeping) {
        yajl_gen_reset(p->kept, NULL);
        yajl_gen_clear(p->kept);
        yajl_gen_map_open(p->kept);
        p->keeping = true;
    }
    yajl_gen_string(p->kept, key, size);
}

/* Room for one more value; false: the object is too long to be kept. */
static bool keeps(struct noc_json_parser *p)
{
    const unsigned char *text;
    size_t size;
    if (p->entry.kept_cut || p->target != TO_KEPT ||
        yajl_gen_get_buf(p->kept, &text, &size) != yajl_gen_status_ok) {
        return false;
    }
    p->entry.kept_cut = size > NOC_JSON_KEPT;
    return !p->entry.kept_cut;
}

static void take_kept(struct noc_json_parser *p)
{
    const unsigned char *text;
    size_t size;
    if (!p->keeping || p->entry.kept_cut || yajl_gen_map_close(p->kept) != yajl_gen_status_ok ||
        yajl_gen_get_buf(p->kept, &text, &size) != yajl_gen_status_ok) {
        return;
    }
    if (size - 2 > sizeof p->entry.kept) {
        p->entry.kept_cut = true;
        return;
    }
    memcpy(p->entry.kept, text + 1, size - 2); /* without the braces */
    p->entry.kept_size = (uint32_t)(size - 2);
}

/* ---- callbacks ---- */

/* A value that is no event stands in the list. */
static int odd_element(struct noc_json_parser *p)
{
    memset(&p->entry, 0, offsetof(struct noc_json_entry, kept));
    p->entry.kept_size = 0;
    p->entry.kept_cut = false;
    p->entry.noc = -1;
    p->taken++;
    enum nocap_status status = p->take(p->context, &p->entry, p->err);
    return status == NOCAP_OK ? 1 : stop(p, status);
}

/* What every value has to pass; true: the callback's own work follows. */
static bool value(struct noc_json_parser *p, int *go_on)
{
    p->calls++;
    *go_on = 1;
    if (p->depth < DEPTH_LIST) {
        *go_on = not_a_trace(p, "its top level is a single value");
        return false;
    }
    if (p->depth == DEPTH_LIST) {
        *go_on = odd_element(p);
        return false;
    }
    return true;
}

static int on_null(void *context)
{
    struct noc_json_parser *p = context;
    int go_on;
    if (value(p, &go_on) && keeps(p)) {
        yajl_gen_null(p->kept);
    }
    return go_on;
}

static void set_number(struct noc_json_parser *p, int64_t v)
{
    p->entry.numbers[p->number] = v;
    p->entry.has |= UINT32_C(1) << p->number;
}

static int on_boolean(void *context, int v)
{
    struct noc_json_parser *p = context;
    int go_on;
    if (value(p, &go_on)) {
        if (p->target == TO_NUMBER && p->depth == DEPTH_EVENT) {
            set_number(p, v);
        } else if (keeps(p)) {
            yajl_gen_bool(p->kept, v);
        }
    }
    return go_on;
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

static int on_number(void *context, const char *text, size_t size)
{
    struct noc_json_parser *p = context;
    int go_on;
    int64_t v;
    if (!value(p, &go_on)) {
        return go_on;
    }
    bool is_whole = p->depth == DEPTH_EVENT && whole(text, size, &v);
    if (p->target == TO_NUMBER && is_whole) {
        set_number(p, v);
    } else if (p->target == TO_NOC && is_whole && (v == 0 || v == 1)) {
        p->entry.noc = (int)v;
    } else if (keeps(p)) {
        yajl_gen_number(p->kept, text, size);
    }
    return go_on;
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

static int on_string(void *context, const unsigned char *text, size_t size)
{
    struct noc_json_parser *p = context;
    int go_on;
    if (!value(p, &go_on)) {
        return go_on;
    }
    char *word = p->depth == DEPTH_EVENT ? word_of(p) : NULL;
    if (word != NULL) {
        size_t n = size < NOC_JSON_WORD - 1 ? size : NOC_JSON_WORD - 1;
        memcpy(word, text, n);
        word[n] = 0;
    } else if (p->target == TO_NOC && size > 0 &&
               (text[size - 1] == '0' || text[size - 1] == '1')) {
        p->entry.noc = text[size - 1] - '0';
    } else if (keeps(p)) {
        yajl_gen_string(p->kept, text, size);
    }
    return go_on;
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

static int on_key(void *context, const unsigned char *key, size_t size)
{
    struct noc_json_parser *p = context;
    p->calls++;
    if (p->depth == DEPTH_EVENT && p->entry.is_object) {
        p->target = target_of((const char *)key, size, &p->number);
        if (p->target == TO_KEPT && !p->entry.kept_cut && size < NOC_JSON_WORD) {
            keep_key(p, key, size);
        } else if (p->target == TO_KEPT) {
            p->entry.kept_cut = true;
        }
    } else if (keeps(p)) {
        yajl_gen_string(p->kept, key, size);
    }
    return 1;
}

/* An object or a list opens. */
static int open_value(struct noc_json_parser *p, bool object)
{
    p->calls++;
    if (p->depth == 0) {
        if (object) {
            return not_a_trace(p, "its top level is an object");
        }
        p->begun = true;
    } else if (p->depth == DEPTH_LIST) {
        memset(&p->entry, 0, offsetof(struct noc_json_entry, kept));
        p->entry.kept_size = 0;
        p->entry.kept_cut = false;
        p->entry.noc = -1;
        p->entry.is_object = object;
        p->keeping = false;
        p->target = TO_NUMBER; /* of a list in the list nothing is kept */
    } else if (p->depth == NOC_JSON_DEPTH) {
        return stop(p, nocap_fail(p->err, NOCAP_E_INPUT, "%s: an event nests deeper than %d levels",
                                  p->name, NOC_JSON_DEPTH));
    } else if (p->depth == DEPTH_EVENT && p->entry.is_object && p->target != TO_KEPT) {
        p->target = TO_KEPT; /* a known key with a value of another shape */
        p->entry.kept_cut = true;
    } else if (keeps(p)) {
        (void)(object ? yajl_gen_map_open(p->kept) : yajl_gen_array_open(p->kept));
    }
    p->depth++;
    return 1;
}

static int close_value(struct noc_json_parser *p, bool object)
{
    p->calls++;
    p->depth--;
    if (p->depth == 0) {
        p->list_over = true;
    } else if (p->depth == DEPTH_LIST) {
        take_kept(p);
        p->taken++;
        enum nocap_status status = p->take(p->context, &p->entry, p->err);
        return status == NOCAP_OK ? 1 : stop(p, status);
    } else if (keeps(p)) {
        (void)(object ? yajl_gen_map_close(p->kept) : yajl_gen_array_close(p->kept));
    }
    return 1;
}

static int on_start_map(void *p)
{
    return open_value(p, true);
}

static int on_end_map(void *p)
{
    return close_value(p, true);
}

static int on_start_array(void *p)
{
    return open_value(p, false);
}

static int on_end_array(void *p)
{
    return close_value(p, false);
}

/* ---- the parse ---- */

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

enum nocap_status noc_json_parser_new(struct noc_json_parser **parser, const char *name,
                                      noc_json_take *take, void *context, struct nocap_error *err)
{
    struct noc_json_parser *p = calloc(1, sizeof *p);
    RETURN_ERROR_IF(p == NULL, err, NOCAP_E_MEMORY, "out of memory");
    p->name = name;
    p->take = take;
    p->context = context;
    p->line = 1;
    p->yajl = yajl_alloc(&callbacks, NULL, p);
    p->kept = yajl_gen_alloc(NULL);
    if (p->yajl == NULL || p->kept == NULL) {
        noc_json_parser_free(p);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    }
    yajl_config(p->yajl, yajl_dont_validate_strings, 0);
    *parser = p;
    return NOCAP_OK;
}

void noc_json_parser_free(struct noc_json_parser *p)
{
    if (p == NULL) {
        return;
    }
    if (p->yajl != NULL) {
        yajl_free(p->yajl);
    }
    if (p->kept != NULL) {
        yajl_gen_free(p->kept);
    }
    free(p);
}

static uint64_t count_lines(const char *bytes, size_t size)
{
    uint64_t count = 0;
    for (const char *at = bytes; (at = memchr(at, '\n', (size_t)(bytes + size - at))) != NULL;
         at++) {
        count++;
    }
    return count;
}

uint64_t noc_json_line(const struct noc_json_parser *p)
{
    size_t done = yajl_get_bytes_consumed(p->yajl);
    return p->line + count_lines(p->bytes, done < p->size ? done : p->size);
}

/* The JSON is not whole. Before the first event that means it is no trace. */
static enum nocap_status broken(struct noc_json_parser *p, const char *why)
{
    snprintf(p->why, sizeof p->why, "%.*s", (int)strcspn(why, "\n"), why);
    if (p->taken == 0) {
        return nocap_fail(p->err, NOCAP_E_INPUT, "%s is no NOC event trace: line %" PRIu64 ": %s",
                          p->name, p->line, p->why);
    }
    return NOCAP_END;
}

static enum nocap_status result(struct noc_json_parser *p, yajl_status status)
{
    if (status == yajl_status_ok) {
        return NOCAP_OK;
    }
    if (status == yajl_status_client_canceled) {
        return p->status;
    }
    unsigned char *text = yajl_get_error(p->yajl, 0, NULL, 0);
    enum nocap_status end =
        broken(p, text != NULL ? (const char *)text : "it does not follow the rules of JSON");
    yajl_free_error(p->yajl, text);
    return end;
}

enum nocap_status noc_json_parse(struct noc_json_parser *p, const void *bytes, size_t size,
                                 struct nocap_error *err)
{
    static const char mark[] = "\xEF\xBB\xBF";
    uint64_t calls = p->calls;
    p->err = err;
    if (!p->begun && p->quiet == 0 && size >= 3 && memcmp(bytes, mark, 3) == 0) {
        bytes = (const char *)bytes + 3;
        size -= 3;
    }
    p->bytes = bytes;
    p->size = size;
    yajl_status status = yajl_parse(p->yajl, bytes, size);
    size_t consumed = yajl_get_bytes_consumed(p->yajl);
    p->line += count_lines(bytes, consumed < size ? consumed : size);
    p->size = 0;
    RETURN_IF_FAILED(result(p, status));
    p->quiet = p->calls == calls ? p->quiet + size : 0;
    return p->quiet > NOC_JSON_VALUE_MAX ? broken(p, "a value is longer than 1 MiB") : NOCAP_OK;
}

enum nocap_status noc_json_parse_end(struct noc_json_parser *p, struct nocap_error *err)
{
    p->err = err;
    yajl_status status = yajl_complete_parse(p->yajl);
    if (status == yajl_status_ok && !p->list_over) {
        return broken(p, p->begun ? "the list of events does not end" : "it is empty");
    }
    if (status == yajl_status_error && !p->list_over) {
        return broken(p, p->begun ? "the list of events breaks off" : "it is empty");
    }
    return result(p, status);
}

uint64_t noc_json_broken(const struct noc_json_parser *p, const char **why)
{
    *why = p->why;
    return p->line;
}
