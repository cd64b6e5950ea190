/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/baseline*.c: what an earlier report knows, by trace. */
#ifndef NOCAP_CHECKER_REPORT_BASELINE_PRIVATE_H
#define NOCAP_CHECKER_REPORT_BASELINE_PRIVATE_H

#include "checker/report/baseline.h"

/* So many findings that are the same; `what` is all that they are recognised by. */
struct baseline_known {
    uint64_t what;
    uint64_t count;
};

struct baseline_trace {
    char *path;
    size_t first, count; /* its part of `known`, in the order of `what`, each once */
};

struct nocap_baseline {
    struct baseline_known *known;
    size_t known_count;
    struct baseline_trace *traces; /* once it is read: in the order of their file names */
    size_t trace_count;
};

uint64_t baseline_what(const struct nocap_divergence *divergence);
/* Of code: `name` is the hash of a symbol or kernel, `agent` a column. */
uint64_t baseline_what_of_code(enum nocap_rule rule, uint8_t agent, uint32_t name);
uint32_t baseline_hash(const char *name, size_t length);
/* Of the rule, wherever it is: counted by the report, but not listed. */
uint64_t baseline_unlisted(enum nocap_rule rule);

/* What is added up to the next baseline_end belongs to the trace that that names. False if out of
 * memory. */
bool baseline_add(struct nocap_baseline *baseline, uint64_t what, uint64_t count);
bool baseline_end(struct nocap_baseline *baseline, const char *path);

/* Adds what a piece of JSON after the other says. */
struct baseline_reader;
enum nocap_status baseline_reader_new(struct baseline_reader **reader,
                                      struct nocap_baseline *baseline, struct nocap_error *err);
enum nocap_status baseline_reader_feed(struct baseline_reader *reader, const char *text,
                                       size_t size, struct nocap_error *err);
/* The text is over: fails with NOCAP_E_INPUT if it was no report. */
enum nocap_status baseline_reader_end(struct baseline_reader *reader, struct nocap_error *err);
void baseline_reader_free(struct baseline_reader *reader);

#endif
