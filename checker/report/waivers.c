/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/report/waivers.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json_text.h"
#include "base/list.h"

enum {
    LINE_MAX_BYTES = 1024,
    WAIVERS_MAX = 4096,
    WORD_MAX = 64,
    SECONDS_A_DAY = 86400,
    NOTE_MAX = 512,
};

struct waiver {
    int rule, family; /* one of them is -1 */
    bool has_tile, has_index, expired;
    struct nocap_xy at;
    uint8_t agent; /* NONE: any */
    uint64_t first, last;
    unsigned line;
    atomic_bool used, judged;
    char what[WORD_MAX];  /* the rule as it was written */
    char until[WORD_MAX]; /* "" if forever */
    char *reason, *trace; /* trace: a pattern; NULL: any */
};

struct nocap_waivers {
    char *path;
    struct waiver *list;
    size_t count;
};

/* Where the parser is: the rest of the line, and what to call it. */
struct line {
    char *text;
    const char *path;
    unsigned number;
};

#define FAIL_IF(condition, line, err, ...)                                                         \
    do {                                                                                           \
        if (condition) {                                                                           \
            nocap_fail((err), NOCAP_E_INPUT, __VA_ARGS__);                                         \
            return nocap_fail_context((err), NOCAP_E_INPUT, "%s:%u", (line)->path,                 \
                                      (line)->number);                                             \
        }                                                                                          \
    } while (0)

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word of the line, terminated in place; NULL at its end. */
static char *next_word(struct line *line)
{
    while (is_space(*line->text)) {
        line->text++;
    }
    if (*line->text == 0) {
        return NULL;
    }
    char *word = line->text;
    while (*line->text != 0 && !is_space(*line->text)) {
        line->text++;
    }
    if (*line->text != 0) {
        *line->text++ = 0;
    }
    return word;
}

/* A decimal number; *end is after it. */
static bool number(const char *text, const char **end, uint64_t most, uint64_t *value)
{
    char *rest;
    errno = 0;
    if (*text < '0' || *text > '9') {
        return false;
    }
    unsigned long long v = strtoull(text, &rest, 10);
    *end = rest;
    *value = v;
    return errno == 0 && v <= most;
}

/* Two decimal numbers with `glue` between, and nothing else. */
static bool pair(const char *text, const char *glue, uint64_t most, uint64_t *a, uint64_t *b)
{
    const char *end;
    return number(text, &end, most, a) && strncmp(end, glue, strlen(glue)) == 0 &&
           number(end + strlen(glue), &end, most, b) && *end == 0;
}

static enum nocap_status parse_rule(const char *word, struct waiver *waiver,
                                    const struct line *line, struct nocap_error *err)
{
    size_t length = strlen(word);
    FAIL_IF(length >= WORD_MAX, line, err, "'%.40s...' is no rule: see `nocap rules`", word);
    memcpy(waiver->what, word, length + 1);
    waiver->rule = nocap_rule_from_text(word, length);
    waiver->family = -1;
    if (length > 2 && strcmp(word + length - 2, "-*") == 0) {
        waiver->family = nocap_family_from_text(word, length - 2);
    }
    FAIL_IF(waiver->rule < 0 && waiver->family < 0, line, err,
            "'%s' is no rule: write an id or a family as SYN-*, see `nocap rules`", word);
    return NOCAP_OK;
}

static const char trace_prefix[] = "trace:";

static enum nocap_status parse_trace(struct waiver *waiver, const char *glob,
                                     const struct line *line, struct nocap_error *err)
{
    FAIL_IF(*glob == 0, line, err, "after 'trace:' must be a pattern of names: trace:boot-*.nocap");
    FAIL_IF(waiver->trace != NULL, line, err, "a waiver has one trace: with one pattern");
    waiver->trace = strdup(glob);
    RETURN_ERROR_IF(waiver->trace == NULL, err, NOCAP_E_MEMORY, "out of memory for waivers");
    return NOCAP_OK;
}

/* Tile, core, index range and trace, up to the "--". */
static enum nocap_status parse_place(struct waiver *waiver, struct line *line,
                                     struct nocap_error *err)
{
    for (char *word; (word = next_word(line)) != NULL;) {
        uint64_t a, b;
        int agent = nocap_agent_from_name(word, (unsigned)strlen(word));
        if (strcmp(word, "--") == 0) {
            return NOCAP_OK;
        }
        if (strncmp(word, trace_prefix, sizeof trace_prefix - 1) == 0) {
            RETURN_IF_FAILED(parse_trace(waiver, word + sizeof trace_prefix - 1, line, err));
            continue;
        }
        if (strcmp(word, "index") == 0) {
            word = next_word(line);
            FAIL_IF(word == NULL || !pair(word, "..", UINT64_MAX, &waiver->first, &waiver->last) ||
                        waiver->first > waiver->last,
                    line, err, "after 'index' must be a range A..B of event indexes");
            waiver->has_index = true;
        } else if (pair(word, ",", UINT8_MAX, &a, &b)) {
            waiver->has_tile = true;
            waiver->at = (struct nocap_xy){(uint8_t)a, (uint8_t)b};
        } else {
            FAIL_IF(agent <= NOCAP_BY_NONE, line, err,
                    "'%.40s' is no core X,Y, no RISC, no 'index A..B' and no trace:GLOB", word);
            waiver->agent = (uint8_t)agent;
        }
    }
    FAIL_IF(true, line, err, "the reason is missing: end the line with -- and why");
}

/* Days since 1970 of a date of the Gregorian calendar; -1 if there is no such day. */
static int64_t day_of(const char *date)
{
    struct tm tm = {0};
    const char *end = strptime(date, "%Y-%m-%d", &tm);
    if (strlen(date) != 10 || end == NULL || *end != 0) {
        return -1;
    }
    struct tm same = tm;
    int64_t seconds = timegm(&same);
    return same.tm_mday == tm.tm_mday && seconds >= 0 ? seconds / SECONDS_A_DAY : -1;
}

static void trim_right(char *text)
{
    for (size_t length = strlen(text); length > 0 && is_space(text[length - 1]);) {
        text[--length] = 0;
    }
}

/* The rest of the line: a reason, and perhaps "until DATE" at its end. */
static enum nocap_status parse_reason(struct waiver *waiver, struct line *line, int64_t now,
                                      struct nocap_error *err)
{
    char *last = NULL, *before = NULL, *word, reason[LINE_MAX_BYTES];
    size_t words = 0;
    const char *start = line->text;
    snprintf(reason, sizeof reason, "%s", start + strspn(start, " \t"));
    while ((word = next_word(line)) != NULL) {
        before = last;
        last = word;
        words++;
    }
    if (before != NULL && strcmp(before, "until") == 0) {
        int64_t day = day_of(last);
        FAIL_IF(day < 0, line, err, "'%.40s' is no date: write until YYYY-MM-DD", last);
        memcpy(waiver->until, last, strlen(last) + 1);
        waiver->expired = now / SECONDS_A_DAY > day;
        words -= 2;
        reason[(size_t)(before - start) - strspn(start, " \t")] = 0;
    }
    FAIL_IF(words == 0, line, err, "the reason is missing: say after -- why this is accepted");
    trim_right(reason);
    waiver->reason = strdup(reason);
    RETURN_ERROR_IF(waiver->reason == NULL, err, NOCAP_E_MEMORY, "out of memory for waivers");
    return NOCAP_OK;
}

static enum nocap_status add_line(struct nocap_waivers *waivers, struct line *line, int64_t now,
                                  struct nocap_error *err)
{
    char *word = next_word(line);
    if (word == NULL || word[0] == '#') {
        return NOCAP_OK;
    }
    FAIL_IF(waivers->count == WAIVERS_MAX, line, err, "more than %d waivers: waive families",
            WAIVERS_MAX);
    struct waiver *waiver = LIST_NEXT(waivers->list, waivers->count);
    RETURN_ERROR_IF(waiver == NULL, err, NOCAP_E_MEMORY, "out of memory for waivers");
    waivers->count++;
    waiver->line = line->number;
    RETURN_IF_FAILED(parse_rule(word, waiver, line, err));
    RETURN_IF_FAILED(parse_place(waiver, line, err));
    return parse_reason(waiver, line, now, err);
}

static enum nocap_status read_lines(struct nocap_waivers *waivers, FILE *file, int64_t now,
                                    struct nocap_error *err)
{
    char buffer[LINE_MAX_BYTES];
    struct line line = {.path = waivers->path};
    while (fgets(buffer, sizeof buffer, file) != NULL) {
        size_t length = strlen(buffer);
        line.text = buffer;
        line.number++;
        bool whole = length > 0 && buffer[length - 1] == '\n';
        FAIL_IF(!whole && !feof(file), &line, err,
                "the line is longer than %d bytes, or holds a zero byte: waivers are short text",
                LINE_MAX_BYTES - 2);
        while (length > 0 && (buffer[length - 1] == '\n' || buffer[length - 1] == '\r')) {
            buffer[--length] = 0;
        }
        RETURN_IF_FAILED(add_line(waivers, &line, now, err));
    }
    RETURN_ERROR_IF(ferror(file), err, NOCAP_E_INPUT, "cannot read the waivers %s: %s",
                    waivers->path, strerror(errno));
    return NOCAP_OK;
}

enum nocap_status nocap_waivers_open(struct nocap_waivers **waivers, const char *path, int64_t now,
                                     struct nocap_error *err)
{
    *waivers = NULL;
    enum nocap_status status = NOCAP_OK;
    struct nocap_waivers *w = calloc(1, sizeof *w);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        status =
            nocap_fail(err, NOCAP_E_INPUT, "cannot open the waivers %s: %s", path, strerror(errno));
        goto end;
    }
    if (w == NULL || (w->path = strdup(path)) == NULL) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "out of memory for waivers");
        goto end;
    }
    status = read_lines(w, file, now, err);
end:
    if (file != NULL) {
        fclose(file);
    }
    if (status != NOCAP_OK) {
        nocap_waivers_close(w);
        w = NULL;
    }
    *waivers = w;
    return status;
}

void nocap_waivers_close(struct nocap_waivers *waivers)
{
    if (waivers != NULL) {
        for (size_t i = 0; i < waivers->count; i++) {
            free(waivers->list[i].reason);
            free(waivers->list[i].trace);
        }
        free(waivers->list);
        free(waivers->path);
        free(waivers);
    }
}

static bool covers(const struct waiver *waiver, enum nocap_rule rule)
{
    return waiver->rule >= 0 ? waiver->rule == (int)rule
                             : waiver->family == (int)nocap_rules[rule].family;
}

static bool is_for(const struct waiver *waiver, const char *trace)
{
    const char *name = strrchr(trace, '/');
    if (waiver->trace == NULL) {
        return true;
    }
    name = name == NULL || strchr(waiver->trace, '/') != NULL ? trace : name + 1;
    return fnmatch(waiver->trace, name, 0) == 0;
}

const char *nocap_waivers_match(struct nocap_waivers *waivers, const char *trace,
                                const struct nocap_divergence *divergence)
{
    for (size_t i = 0; i < waivers->count; i++) {
        struct waiver *w = &waivers->list[i];
        bool here = !w->has_tile || (divergence->has_tile && divergence->at.x == w->at.x &&
                                     divergence->at.y == w->at.y);
        bool by = w->agent == NOCAP_BY_NONE || w->agent == divergence->agent;
        bool then =
            !w->has_index || (divergence->index >= w->first && divergence->index <= w->last);
        if (!w->expired && covers(w, divergence->rule) && here && by && then && is_for(w, trace)) {
            w->used = true;
            return w->reason;
        }
    }
    return NULL;
}

static bool all_judged(const struct waiver *waiver, const bool *judged)
{
    for (unsigned rule = 0; rule < NOCAP_RULE_COUNT; rule++) {
        if (covers(waiver, (enum nocap_rule)rule) && !judged[rule]) {
            return false;
        }
    }
    return true;
}

void nocap_waivers_judged(struct nocap_waivers *waivers, const char *trace, const bool *judged)
{
    for (size_t i = 0; i < waivers->count; i++) {
        if (is_for(&waivers->list[i], trace) && all_judged(&waivers->list[i], judged)) {
            waivers->list[i].judged = true;
        }
    }
}

/* Number `i`, whose note stands in `text`; false: there are no more. */
static bool waiver_state(const struct nocap_waivers *waivers, size_t i, char *text, size_t size,
                         struct nocap_waiver_state *state)
{
    if (i >= waivers->count) {
        return false;
    }
    const struct waiver *w = &waivers->list[i];
    *state = (struct nocap_waiver_state){.line = w->line, .used = w->used};
    if (w->expired) {
        snprintf(text, size,
                 "%.300s:%u: the waiver of %s ended on %s and no longer applies: fix the cause or "
                 "renew it",
                 waivers->path, w->line, w->what, w->until);
        state->id = "waiver-expired";
        state->note = text;
    } else if (!w->used && w->judged) {
        snprintf(text, size, "%.300s:%u: the waiver of %s waived nothing: remove it", waivers->path,
                 w->line, w->what);
        state->id = "waiver-unused";
        state->note = text;
    }
    return true;
}

enum nocap_status nocap_waivers_notes(const struct nocap_waivers *waivers, nocap_waiver_note *note,
                                      void *context, struct nocap_error *err)
{
    struct nocap_waiver_state state;
    char text[NOTE_MAX];
    for (size_t i = 0; waiver_state(waivers, i, text, sizeof text, &state); i++) {
        if (state.note != NULL) {
            RETURN_IF_FAILED(note(context, state.id, state.note, err));
        }
    }
    return NOCAP_OK;
}

void nocap_waivers_json(struct nocap_json *json, const struct nocap_waivers *waivers)
{
    struct nocap_waiver_state state;
    char text[NOTE_MAX];
    nocap_json_array(json, "waivers");
    for (size_t i = 0; waiver_state(waivers, i, text, sizeof text, &state); i++) {
        if (!state.used && state.note == NULL) {
            continue;
        }
        nocap_json_map(json, NULL);
        nocap_json_number(json, "line", state.line);
        if (state.note != NULL) {
            nocap_json_text(json, "id", state.id);
            nocap_json_text(json, "note", state.note);
        }
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}
