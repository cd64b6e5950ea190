/* SPDX-License-Identifier: Apache-2.0 */
/* What `check --format json` wrote, read piece by piece: of a report of any size only what its
 * findings are recognised by is kept. */
#include <stdlib.h>
#include <string.h>

#include "base/json_stream.h"
#include "checker/report/baseline_private.h"

/* Where in the document a value stands. */
enum place { NOWHERE, DOCUMENT, REPORTS, REPORT, TRACE, RULES, RULE, FINDINGS, FINDING };

#define KEYS(X)                                                                                    \
    X(NOCAP_REPORT, "nocap_report")                                                                \
    X(NOCAP_REPORTS, "nocap_reports")                                                              \
    X(REPORTS, "reports")                                                                          \
    X(TRACE, "trace")                                                                              \
    X(ELF, "elf")                                                                                  \
    X(PATH, "path")                                                                                \
    X(RULES, "rules")                                                                              \
    X(ID, "id")                                                                                    \
    X(VIOLATIONS, "violations")                                                                    \
    X(FINDINGS, "findings")                                                                        \
    X(RULE, "rule")                                                                                \
    X(CHIP, "chip")                                                                                \
    X(X, "x")                                                                                      \
    X(Y, "y")                                                                                      \
    X(AGENT, "agent")                                                                              \
    X(THREAD, "thread")                                                                            \
    X(ADDRESS, "address")                                                                          \
    X(SYMBOL, "symbol")                                                                            \
    X(UC, "uc")                                                                                    \
    X(KERNEL, "kernel")                                                                            \
    X(WAIVED, "waived")                                                                            \
    X(FOLLOWS, "follows")                                                                          \
    X(COUNTS, "counts")
#define X(name, text) KEY_##name,
enum key { KEYS(X) KEY_COUNT };
#undef X

/* One finding, or one row of the rules. */
struct row {
    int rule; /* -1: none, or one of another version */
    int64_t x, y, chip, thread, violations;
    uint8_t agent;
    bool waived, follows, counts;
    bool code;     /* it points at code */
    uint32_t name; /* hash of its symbol or kernel */
};

struct baseline_reader {
    struct nocap_baseline *baseline;
    struct json_stream stream;
    enum place place[JSON_DEPTH_MAX];
    size_t depth;
    unsigned key; /* enum key of the value that comes next */
    bool is_report, is_reports, has_reports;
    /* of the report that is being read */
    char *path;
    bool has_rules, has_findings;
    uint64_t violations[NOCAP_RULE_COUNT], listed[NOCAP_RULE_COUNT];
    struct row row;
    const char *why; /* the document is refused; NULL: not */
    bool no_memory;
};

static bool refuse(struct baseline_reader *r, const char *why)
{
    r->why = why;
    return false;
}

static bool no_memory(struct baseline_reader *r)
{
    r->no_memory = true;
    return false;
}

static enum place place(const struct baseline_reader *r)
{
    return r->depth > 0 ? r->place[r->depth - 1] : NOWHERE;
}

/* ---- what a report says ---- */

static void begin_report(struct baseline_reader *r)
{
    free(r->path);
    r->path = NULL;
    r->has_rules = r->has_findings = false;
    memset(r->violations, 0, sizeof r->violations);
    memset(r->listed, 0, sizeof r->listed);
}

static bool end_rule(struct baseline_reader *r)
{
    if (r->row.rule >= 0) {
        r->violations[r->row.rule] = (uint64_t)r->row.violations;
    }
    return true;
}

static bool end_finding(struct baseline_reader *r)
{
    const struct row *row = &r->row;
    if (row->rule < 0 || (row->follows && !row->counts)) { /* a consequence is no finding */
        return true;
    }
    r->listed[row->rule]++;
    if (row->waived) {
        return true; /* the waivers' matter */
    }
    if (row->code) {
        uint64_t what = baseline_what_of_code((enum nocap_rule)row->rule, row->agent, row->name);
        return baseline_add(r->baseline, what, 1) || no_memory(r);
    }
    const struct nocap_divergence divergence = {
        .rule = (enum nocap_rule)row->rule,
        .chip = (uint16_t)row->chip,
        .has_tile = row->x >= 0 && row->y >= 0,
        .at = {(uint8_t)(row->x < 0 ? 0 : row->x), (uint8_t)(row->y < 0 ? 0 : row->y)},
        .agent = row->agent,
        .thread = (int8_t)row->thread,
    };
    return baseline_add(r->baseline, baseline_what(&divergence), 1) || no_memory(r);
}

static bool end_report(struct baseline_reader *r)
{
    if (!r->has_rules || !r->has_findings) {
        return refuse(r, "a report lacks its rules or findings");
    }
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (r->violations[i] > r->listed[i] &&
            !baseline_add(r->baseline, baseline_unlisted((enum nocap_rule)i),
                          r->violations[i] - r->listed[i])) {
            return no_memory(r);
        }
    }
    return baseline_end(r->baseline, r->path != NULL ? r->path : "") || no_memory(r);
}

/* ---- tokens ---- */

/* What a bracket here opens. */
static enum place place_inside(const struct baseline_reader *r, bool map)
{
    switch (place(r)) {
    case REPORTS: return map ? REPORT : NOWHERE;
    case RULES: return map ? RULE : NOWHERE;
    case FINDINGS: return map ? FINDING : NOWHERE;
    case DOCUMENT:
    case REPORT:
        return map                   ? (r->key == KEY_TRACE || r->key == KEY_ELF ? TRACE : NOWHERE)
               : r->key == KEY_RULES ? RULES
               : r->key == KEY_FINDINGS                        ? FINDINGS
               : r->key == KEY_REPORTS && place(r) == DOCUMENT ? REPORTS
                                                               : NOWHERE;
    default: return r->depth == 0 && map ? DOCUMENT : NOWHERE;
    }
}

static bool open_bracket(struct baseline_reader *r, bool map)
{
    enum place inside = place_inside(r, map);
    r->place[r->depth++] = inside;
    r->key = KEY_COUNT;
    switch (inside) {
    case REPORT: begin_report(r); break;
    case REPORTS: r->has_reports = true; break;
    case RULES: r->has_rules = true; break;
    case FINDINGS: r->has_findings = true; break;
    case RULE:
    case FINDING:
        r->row = (struct row){.rule = -1,
                              .x = -1,
                              .y = -1,
                              .thread = -1,
                              .agent = NOCAP_BY_NONE,
                              .name = baseline_hash("", 0)};
        break;
    default: break;
    }
    return true;
}

static bool close_bracket(struct baseline_reader *r)
{
    enum place closed = place(r);
    r->depth--;
    r->key = KEY_COUNT;
    switch (closed) {
    case RULE: return end_rule(r);
    case FINDING: return end_finding(r);
    case REPORT: return end_report(r);
    case DOCUMENT: return !r->is_report || end_report(r);
    default: return true;
    }
}

static void take_key(struct baseline_reader *r, const char *text, size_t size)
{
#define X(name, text) text,
    static const char *const keys[] = {KEYS(X)};
#undef X
    r->key = 0;
    while (r->key < KEY_COUNT &&
           (strlen(keys[r->key]) != size || memcmp(keys[r->key], text, size) != 0)) {
        r->key++;
    }
}

static bool take_text(struct baseline_reader *r, const char *text, size_t size)
{
    bool row = place(r) == RULE || place(r) == FINDING;
    if (place(r) == TRACE && r->key == KEY_PATH) {
        free(r->path);
        r->path = strndup(text, size);
        return r->path != NULL || no_memory(r);
    }
    if (row && r->key == (place(r) == RULE ? KEY_ID : KEY_RULE)) {
        r->row.rule = nocap_rule_from_text(text, size);
    } else if (row && r->key == KEY_AGENT) {
        int agent = nocap_agent_from_name(text, (unsigned)size);
        r->row.agent = agent < 0 ? NOCAP_BY_NONE : (uint8_t)agent;
    } else if (row && (r->key == KEY_SYMBOL || r->key == KEY_KERNEL)) {
        r->row.name = baseline_hash(text, size);
    }
    return true;
}

/* A whole number from 0 to `most`, else `otherwise`. */
static int64_t number_of(const char *text, size_t size, int64_t most, int64_t otherwise)
{
    int64_t number = 0;
    for (size_t i = 0; i < size; i++) {
        int digit = text[i] - '0';
        if (digit < 0 || digit > 9 || digit > most || number > (most - digit) / 10) {
            return otherwise;
        }
        number = number * 10 + digit;
    }
    return number;
}

/* -1: none, or not one alone. */
static void take_column(struct row *row, int64_t uc)
{
    row->code = true;
    row->agent = (uint8_t)(uc >= 0 ? NOCAP_BY_UC0 + uc : NOCAP_BY_NONE);
}

static void take_number(struct baseline_reader *r, const char *text, size_t size)
{
    struct row *row = &r->row;
    if (place(r) == DOCUMENT) {
        r->is_report |= r->key == KEY_NOCAP_REPORT && number_of(text, size, 1, 0) == 1;
        r->is_reports |= r->key == KEY_NOCAP_REPORTS && number_of(text, size, 1, 0) == 1;
    } else if (place(r) == RULE || place(r) == FINDING) {
        switch (r->key) {
        case KEY_VIOLATIONS: row->violations = number_of(text, size, INT64_MAX, 0); break;
        case KEY_FOLLOWS: row->follows = true; break;
        case KEY_CHIP: row->chip = number_of(text, size, UINT16_MAX, 0); break;
        case KEY_X: row->x = number_of(text, size, UINT8_MAX, -1); break;
        case KEY_Y: row->y = number_of(text, size, UINT8_MAX, -1); break;
        case KEY_ADDRESS: row->code = true; break;
        case KEY_UC: take_column(row, number_of(text, size, NOCAP_UCS - 1, -1)); break;
        case KEY_THREAD: row->thread = number_of(text, size, INT8_MAX, -1); break;
        default: break;
        }
    }
}

static bool take_value(struct baseline_reader *r, const struct json_value *value)
{
    const char *text;
    size_t size;
    switch (value->type) {
    case JSON_STRING:
        text = json_stream_plain(&r->stream, value, &size);
        return text != NULL ? take_text(r, text, size) : no_memory(r);
    case JSON_NUMBER: take_number(r, value->text, value->size); return true;
    case JSON_NULL:
        if (place(r) == FINDING && r->key == KEY_UC) {
            take_column(&r->row, -1);
        }
        return true;
    default:
        if (place(r) == FINDING && r->key == KEY_WAIVED) {
            r->row.waived = value->type == JSON_TRUE;
        } else if (place(r) == FINDING && r->key == KEY_COUNTS) {
            r->row.counts = value->type == JSON_TRUE;
        }
        return true;
    }
}

static bool take(void *context, enum json_token token, const struct json_value *value)
{
    struct baseline_reader *r = context;
    const char *key;
    size_t size;
    switch (token) {
    case JSON_KEY:
        key = json_stream_plain(&r->stream, value, &size);
        if (key != NULL) {
            take_key(r, key, size);
        }
        return key != NULL;
    case JSON_VALUE: return take_value(r, value);
    case JSON_OPENS: return open_bracket(r, value->type == JSON_OBJECT);
    case JSON_CLOSES: return close_bracket(r);
    }
    return false;
}

/* ---- the parser ---- */

enum nocap_status baseline_reader_new(struct baseline_reader **reader,
                                      struct nocap_baseline *baseline, struct nocap_error *err)
{
    struct baseline_reader *r = calloc(1, sizeof *r);
    *reader = r;
    RETURN_ERROR_IF(r == NULL, err, NOCAP_E_MEMORY, "out of memory for the baseline");
    r->baseline = baseline;
    r->stream = json_stream_of(take, r);
    return NOCAP_OK;
}

static enum nocap_status check(const struct baseline_reader *r, bool whole, struct nocap_error *err)
{
    RETURN_ERROR_IF(r->no_memory || r->stream.no_memory, err, NOCAP_E_MEMORY,
                    "out of memory for the baseline");
    RETURN_ERROR_IF(r->why != NULL, err, NOCAP_E_INPUT, "%s", r->why);
    RETURN_ERROR_IF(!whole, err, NOCAP_E_INPUT, "it is no JSON");
    return NOCAP_OK;
}

enum nocap_status baseline_reader_feed(struct baseline_reader *r, const char *text, size_t size,
                                       struct nocap_error *err)
{
    return check(r, json_stream_feed(&r->stream, text, size), err);
}

enum nocap_status baseline_reader_end(struct baseline_reader *r, struct nocap_error *err)
{
    RETURN_IF_FAILED(check(r, json_stream_end(&r->stream), err));
    RETURN_ERROR_IF(!r->is_report && !(r->is_reports && r->has_reports), err, NOCAP_E_INPUT,
                    "it is no report: make one with nocap check --format json");
    return NOCAP_OK;
}

void baseline_reader_free(struct baseline_reader *r)
{
    if (r != NULL) {
        json_stream_free(&r->stream);
        free(r->path);
        free(r);
    }
}
