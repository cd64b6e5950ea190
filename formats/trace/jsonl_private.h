/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the JSON Lines reader and printer: lines from a file, an event from a line, a header
 * from a line. */
#ifndef NOCAP_TRACE_JSONL_PRIVATE_H
#define NOCAP_TRACE_JSONL_PRIVATE_H

#include <stdio.h>

#include "formats/trace/event.h"
#include "formats/trace/header.h"
#include "formats/trace/jsonl.h"

enum jsonl_limit {
    JSONL_LINE_MAX = 20 << 20,  /* bytes of a line */
    JSONL_HEADER_MAX = 1 << 20, /* bytes of the header line */
    JSONL_TEXT_KEPT = 64 << 10, /* bytes kept of a line that is too long to be kept whole */
};

/* Keys of the header, of its `cq` object, and those that every event has and fields.def has not. */
#define JSONL_HEADER_KEYS(X)                                                                       \
    X(NOCAP, "nocap")                                                                              \
    X(ARCH, "arch")                                                                                \
    X(BOARD, "board")                                                                              \
    X(LAYOUT, "layout")                                                                            \
    X(PROFILE, "profile")                                                                          \
    X(TIME_UNIT, "time_unit")                                                                      \
    X(CLOCK_HZ, "clock_hz")                                                                        \
    X(PRODUCER, "producer")                                                                        \
    X(OBSERVES, "observes")                                                                        \
    X(SCOPE, "scope")                                                                              \
    X(COMPLETE, "complete")                                                                        \
    X(CYCLE_ACCURATE, "cycle_accurate")                                                            \
    X(OPEN_END, "open_end")                                                                        \
    X(CQ, "cq")                                                                                    \
    X(FIRMWARE, "firmware")
#define JSONL_CQ_KEYS(X)                                                                           \
    X(PREFETCH, "prefetch")                                                                        \
    X(DISPATCH, "dispatch")                                                                        \
    X(SYSMEM, "sysmem")                                                                            \
    X(KERNEL_CONFIG, "kernel_config")
#define X(name, text) JSONL_H_##name,
enum jsonl_header_key { JSONL_HEADER_KEYS(X) JSONL_H_COUNT };
#undef X
#define X(name, text) JSONL_CQ_##name,
enum jsonl_cq_key { JSONL_CQ_KEYS(X) JSONL_CQ_COUNT };
#undef X
extern const char *const jsonl_header_keys[JSONL_H_COUNT];
extern const char *const jsonl_cq_keys[JSONL_CQ_COUNT];
#define JSONL_KEY_T    "t"
#define JSONL_KEY_EV   "ev"
#define JSONL_KEY_OP   "op"
#define JSONL_KEY_SRC  "src"
#define JSONL_KEY_CHIP "chip"

/* Lines without line ends and without the white space around them, empty ones left out. */
struct jsonl_lines;

struct jsonl_line {
    const char *text; /* not terminated; until the next call */
    size_t size;
    uint64_t number; /* from 1 */
    bool too_long; /* over JSONL_LINE_MAX: `text` is its beginning, JSONL_TEXT_KEPT bytes at most */
    bool last;     /* nothing follows, not even a line end */
};

enum nocap_status jsonl_lines_open(struct jsonl_lines **lines, FILE *file, const char *name,
                                   struct nocap_error *err);
void jsonl_lines_close(struct jsonl_lines *lines);
/* NOCAP_END after the last line. */
enum nocap_status jsonl_lines_next(struct jsonl_lines *lines, struct jsonl_line *line,
                                   struct nocap_error *err);

/* After the last line: whether compressed data is cut short there. */
bool jsonl_lines_cut(const struct jsonl_lines *lines);
/* And whether it is damaged, and how; NULL: it is not. */
const char *jsonl_lines_damage(const struct jsonl_lines *lines);
/* Fails if it is. */
enum nocap_status jsonl_lines_whole(const struct jsonl_lines *lines, struct nocap_error *err);

/* The header object of a trace. Fails with NOCAP_E_INPUT, saying what is wrong with it; the caller
 * says where. `header` need not be initialised; on failure it is empty. */
enum nocap_status jsonl_parse_header(struct nocap_header *header, const char *text, size_t size,
                                     struct nocap_error *err);

/* Holds what an event's pointers point to. */
struct jsonl_parser;

enum nocap_status jsonl_parser_new(struct jsonl_parser **parser, struct nocap_error *err);
void jsonl_parser_free(struct jsonl_parser *parser);
/* Makes an event of a line, for better or worse: all but `index` is set. The only failure is
 * NOCAP_E_MEMORY. The event is valid until the next call and as long as `line`. */
enum nocap_status jsonl_parse_event(struct jsonl_parser *parser, const struct jsonl_line *line,
                                    struct nocap_event *event, struct nocap_error *err);
/* Why the last event came out MALFORMED. */
const char *jsonl_parser_why(const struct jsonl_parser *parser);

/* Whether unknown keys, which may come from a damaged file, are JSON members and stay in one line.
 */
bool jsonl_members_are_sound(const char *members, size_t size);
/* Writes a JSON string with its quotes; at most JSONL_STRING_GROWTH * size + 2 bytes. Returns the
 * end. */
#define JSONL_STRING_GROWTH 6
char *jsonl_put_string(char *to, const char *text, size_t size);

#endif
