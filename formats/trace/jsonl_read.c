/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON Lines reader: header, then events. */
#include <stdlib.h>

#include "formats/trace/jsonl_private.h"

struct jsonl_problem {
    uint64_t line;
    char why[160];
};

struct nocap_jsonl_reader {
    struct jsonl_lines *lines;
    struct jsonl_parser *parser;
    struct nocap_header header;
    uint64_t index; /* of the next event */
    uint64_t line;  /* of the last one */
    uint64_t cut;   /* the line in which the text breaks off, 0: none */
    uint64_t malformed;
    struct jsonl_problem first;
};

/* Nothing can be judged where data is damaged before the first event. */
static enum nocap_status check_damage(const struct nocap_jsonl_reader *reader,
                                      struct nocap_error *err)
{
    return reader->index == 0 ? jsonl_lines_whole(reader->lines, err) : NOCAP_OK;
}

/* The first line must be the header. */
static enum nocap_status read_header(struct nocap_jsonl_reader *reader, const char *name,
                                     struct nocap_error *err)
{
    static const char expected[] = "expected an object like {\"nocap\":1,\"arch\":\"blackhole\","
                                   "\"observes\":[\"host-mmio\"]}";
    struct jsonl_line line;
    enum nocap_status status = jsonl_lines_next(reader->lines, &line, err);
    if (status == NOCAP_END || (status == NOCAP_OK && line.last)) {
        RETURN_IF_FAILED(check_damage(reader, err));
    }
    if (status == NOCAP_END) {
        return nocap_fail(err, NOCAP_E_INPUT, "%s: no trace: it is %s, %s", name,
                          jsonl_lines_cut(reader->lines) ? "cut short before its header" : "empty",
                          expected);
    }
    RETURN_IF_FAILED(status);
    reader->line = line.number;
    unsigned long long number = (unsigned long long)line.number;
    RETURN_ERROR_IF(line.size > JSONL_HEADER_MAX || line.too_long, err, NOCAP_E_INPUT,
                    "%s: line %llu is no trace header: it is longer than 1 MiB, %s", name, number,
                    expected);
    struct nocap_error cause = {0};
    status = jsonl_parse_header(&reader->header, line.text, line.size, &cause);
    if (status == NOCAP_E_INPUT) {
        return nocap_fail(err, status, "%s: line %llu is no trace header: %s; %s", name, number,
                          cause.text, expected);
    }
    return status == NOCAP_OK ? status : nocap_fail(err, status, "%s: %s", name, cause.text);
}
_Static_assert(JSONL_HEADER_MAX == 1 << 20, "as the message says");

enum nocap_status nocap_jsonl_open(struct nocap_jsonl_reader **reader, FILE *file, const char *name,
                                   struct nocap_error *err)
{
    enum nocap_status status;
    struct nocap_jsonl_reader *r = calloc(1, sizeof *r);
    if (r == NULL) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "%s: out of memory", name);
        goto out;
    }
    status = jsonl_lines_open(&r->lines, file, name, err);
    if (status == NOCAP_OK) {
        status = jsonl_parser_new(&r->parser, err);
    }
    if (status == NOCAP_OK) {
        status = read_header(r, name, err);
    }
out:
    if (status != NOCAP_OK) {
        nocap_jsonl_close(r);
        r = NULL;
    }
    *reader = r;
    return status;
}

void nocap_jsonl_close(struct nocap_jsonl_reader *reader)
{
    if (reader != NULL) {
        nocap_header_free(&reader->header);
        jsonl_parser_free(reader->parser);
        jsonl_lines_close(reader->lines);
        free(reader);
    }
}

const struct nocap_header *nocap_jsonl_header(const struct nocap_jsonl_reader *reader)
{
    return &reader->header;
}

/* Whether the text begins an object and ends within it. */
static bool breaks_off(const struct jsonl_line *line)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < line->size; i++) {
        char c = line->text[i];
        if (quoted && c == '\\') {
            i++;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == '{' || c == '[')) {
            depth++;
        } else if (!quoted && depth > 0 && (c == '}' || c == ']')) {
            depth--;
        }
    }
    return line->text[0] == '{' && (quoted || depth > 0);
}

enum nocap_status nocap_jsonl_next(struct nocap_jsonl_reader *reader, struct nocap_event *event,
                                   struct nocap_error *err)
{
    struct jsonl_line line = {.number = reader->line};
    enum nocap_status status =
        reader->cut == 0 ? jsonl_lines_next(reader->lines, &line, err) : NOCAP_END;
    if (status == NOCAP_END && reader->cut == 0 &&
        (jsonl_lines_cut(reader->lines) || jsonl_lines_damage(reader->lines) != NULL)) {
        reader->cut = line.number + 1;
    }
    if (status == NOCAP_OK && line.last && !line.too_long && breaks_off(&line)) {
        reader->cut = line.number;
        status = NOCAP_END;
    }
    if (status == NOCAP_END) {
        RETURN_IF_FAILED(check_damage(reader, err));
    }
    RETURN_IF_FAILED(status);
    reader->line = line.number;
    RETURN_IF_FAILED(jsonl_parse_event(reader->parser, &line, event, err));
    event->index = reader->index++;
    const char *problem = nocap_header_event_problem(&reader->header, event);
    if (problem != NULL) {
        if (event->kind == NOCAP_EV_MALFORMED) {
            problem = jsonl_parser_why(reader->parser);
        }
        if (reader->malformed++ == 0) {
            reader->first.line = line.number;
            snprintf(reader->first.why, sizeof reader->first.why, "%s", problem);
        }
    }
    return NOCAP_OK;
}

uint64_t nocap_jsonl_cut(const struct nocap_jsonl_reader *reader)
{
    return reader->cut;
}

const char *nocap_jsonl_damage(const struct nocap_jsonl_reader *reader)
{
    return jsonl_lines_damage(reader->lines);
}

uint64_t nocap_jsonl_malformed(const struct nocap_jsonl_reader *reader, uint64_t *line,
                               const char **why)
{
    if (reader->malformed > 0 && line != NULL) {
        *line = reader->first.line;
    }
    if (reader->malformed > 0 && why != NULL) {
        *why = reader->first.why;
    }
    return reader->malformed;
}

void nocap_jsonl_explain(const char *text, size_t size, char *why, size_t room)
{
    struct jsonl_parser *parser;
    struct nocap_event event = {.kind = NOCAP_EV_MALFORMED};
    const struct jsonl_line line = {.text = size == 0 ? "" : text, .size = size};
    bool parsed = jsonl_parser_new(&parser, NULL) == NOCAP_OK &&
                  jsonl_parse_event(parser, &line, &event, NULL) == NOCAP_OK;
    bool malformed = parsed && event.kind == NOCAP_EV_MALFORMED;
    snprintf(why, room, "%s", malformed ? jsonl_parser_why(parser) : "it cannot be read");
    jsonl_parser_free(parser);
}

static enum nocap_status parse_line(struct jsonl_parser *parser, const struct jsonl_line *line,
                                    nocap_jsonl_use_fn *use, void *context, struct nocap_error *err)
{
    struct nocap_event event;
    RETURN_IF_FAILED(jsonl_parse_event(parser, line, &event, err));
    RETURN_ERROR_IF(event.kind == NOCAP_EV_MALFORMED, err, NOCAP_E_INPUT, "%s",
                    jsonl_parser_why(parser));
    RETURN_ERROR_IF(event.kind == NOCAP_EV_UNKNOWN, err, NOCAP_E_INPUT,
                    "there is no such kind of event");
    RETURN_ERROR_IF(event.extra_size != 0, err, NOCAP_E_INPUT, "the event has no such key: %.*s",
                    (int)(event.extra_size < 100 ? event.extra_size : 100), event.extra);
    const char *why = nocap_event_problem(&event);
    RETURN_ERROR_IF(why != NULL, err, NOCAP_E_INPUT, "%s", why);
    use(context, &event);
    return NOCAP_OK;
}

enum nocap_status nocap_jsonl_parse_line(const char *text, size_t size, nocap_jsonl_use_fn *use,
                                         void *context, struct nocap_error *err)
{
    struct jsonl_parser *parser;
    const struct jsonl_line line = {.text = text, .size = size};
    RETURN_IF_FAILED(jsonl_parser_new(&parser, err));
    enum nocap_status status = parse_line(parser, &line, use, context, err);
    jsonl_parser_free(parser);
    return status;
}
