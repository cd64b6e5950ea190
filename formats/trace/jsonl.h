/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Lines: the header object, then one event a line. Contract: docs/events.md. Both ways without
 * loss: unknown keys are carried through in `extra`, an unknown `ev` is an UNKNOWN event, a line
 * that is no event is a MALFORMED one; both hold the line's text and are printed again as they
 * stood. */
#ifndef NOCAP_TRACE_JSONL_H
#define NOCAP_TRACE_JSONL_H

#include <stdio.h>

#include "formats/trace/event.h"
#include "formats/trace/header.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nocap_jsonl_reader;

/* Reads `file` (plain, or zstd-compressed: recognised by content), which stays the caller's; `name`
 * is for messages. Fails with NOCAP_E_INPUT if the first line is no header of version 1. Lines may
 * be 20 MiB long at most. */
enum nocap_status nocap_jsonl_open(struct nocap_jsonl_reader **reader, FILE *file, const char *name,
                                   struct nocap_error *err);
void nocap_jsonl_close(struct nocap_jsonl_reader *reader);
const struct nocap_header *nocap_jsonl_header(const struct nocap_jsonl_reader *reader);
/* The next event, valid until the next call; NOCAP_END at the end. Empty lines are skipped. */
enum nocap_status nocap_jsonl_next(struct nocap_jsonl_reader *reader, struct nocap_event *event,
                                   struct nocap_error *err);
/* The line, from 1, in which the text breaks off: the last one is no whole object, or compressed
 * data is cut short or, after the first event, damaged. It is left out. 0: the text is whole; known
 * after NOCAP_END. */
uint64_t nocap_jsonl_cut(const struct nocap_jsonl_reader *reader);
/* Why it breaks off, if compressed data is damaged there; NULL: it does not, or it just ends. */
const char *nocap_jsonl_damage(const struct nocap_jsonl_reader *reader);
/* Number of events so far that are MALFORMED or that nocap_header_event_problem rejects, with the
 * line number and the reason of the first, which are left alone if there is none. `line` and `why`
 * may be NULL; the text lives as long as the reader. */
uint64_t nocap_jsonl_malformed(const struct nocap_jsonl_reader *reader, uint64_t *line,
                               const char **why);

/* Why the text of a MALFORMED event is no event, terminated, at most `room` characters. */
void nocap_jsonl_explain(const char *text, size_t size, char *why, size_t room);

/* One line each, with its newline, into a buffer that grows: text/size/capacity, freed by the
 * caller. */
struct nocap_text {
    char *data;
    size_t size, capacity;
};
/* Makes room for `more` characters. */
enum nocap_status nocap_text_reserve(struct nocap_text *out, size_t more, struct nocap_error *err);
enum nocap_status nocap_jsonl_print_header(struct nocap_text *out,
                                           const struct nocap_header *header,
                                           struct nocap_error *err);
enum nocap_status nocap_jsonl_print_event(struct nocap_text *out, const struct nocap_event *event,
                                          struct nocap_error *err);

/* Calls `use` with the event of one line, which is well formed and whose keys are all known; else
 * NOCAP_E_INPUT, and `err` says why. */
typedef void nocap_jsonl_use_fn(void *context, const struct nocap_event *event);
enum nocap_status nocap_jsonl_parse_line(const char *text, size_t size, nocap_jsonl_use_fn *use,
                                         void *context, struct nocap_error *err);

#ifdef __cplusplus
}
#endif

#endif
