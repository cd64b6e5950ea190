/* SPDX-License-Identifier: Apache-2.0 */
/* Text that others wrote - of traces, ELF files, manifests, file names - on its
 * way to a terminal, a log or a report. What could command a terminal, end a line, turn the order
 * of what is read, or is no UTF-8 at all, is written as \xNN, byte by byte: control characters (C0,
 * DEL, C1), bidirectional controls, line and paragraph separators. After a backslash its own is
 * left out, so that what is no escape of JSON does not become one. */
#ifndef NOCAP_BASE_FOREIGN_TEXT_H
#define NOCAP_BASE_FOREIGN_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { FOREIGN_GROWTH = 4, FOREIGN_JSON_GROWTH = 6 }; /* characters that a byte becomes at most */

/* Whether all of it may be printed as it stands. */
bool foreign_is_plain(const char *text, size_t size);
/* Writes at most FOREIGN_GROWTH * size characters to `to`, and gives how many. */
size_t foreign_escape(char *to, const char *text, size_t size);
/* A copy, which the caller frees; NULL without memory. */
char *foreign_copy(const char *text);
void foreign_put(FILE *out, const char *text);
/* A line of what the format makes, all of it taken for foreign. */
void foreign_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void foreign_vline(FILE *out, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* JSON text in which such characters, which then are in strings, are written as \u escapes: it
 * means the same. A byte that is no UTF-8 becomes \udcNN, half of a pair. Tab and newline, blanks
 * of JSON, stay, and a carriage return becomes a blank. At most FOREIGN_JSON_GROWTH * size. */
size_t foreign_json_escape(char *to, const char *json, size_t size);
void foreign_json(FILE *out, const char *json, size_t size);

#endif
