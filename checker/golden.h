/* Golden traces: a directory of small traces with a manifest that says how each was made, why it is
 * kept, and what the checker must say about it. The manifest is text, so that a review shows what
 * changes; layout: golden_manifest.h.
 *
 * A trace whose `made` begins with "sim " is also made again on verification and compared with the
 * stored one by what it says (streams.h), not byte by byte. */
#ifndef NOCAP_CHECKER_GOLDEN_H
#define NOCAP_CHECKER_GOLDEN_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/status.h"

enum { NOCAP_GOLDEN_BYTES_MAX = 2 << 20 }; /* of all traces of a directory together */

/* Makes a trace as `how` says (what follows "sim " in the manifest) and writes it to `out_path`. */
typedef enum nocap_status nocap_make_trace(void *context, const char *how, const char *out_path,
                                           struct nocap_error *err);

struct nocap_golden_options {
    size_t size;                  /* sizeof(struct nocap_golden_options) */
    FILE *out;                    /* where to tell what is found; NULL: nowhere */
    nocap_make_trace *make_trace; /* NULL: traces are not made again */
    void *context;                /* of make_trace */
};

/* Adds a trace under `name` (letters, digits, '-', '_'). Made by `made` if that begins with "sim ",
 * else a copy of `trace_path`. The directory is made if it is not there. Fails with NOCAP_E_USAGE
 * if the name is taken, a text has line breaks, or the directory would exceed its bound. */
enum nocap_status nocap_golden_record(const char *dir, const char *name, const char *trace_path,
                                      const char *made, const char *reason,
                                      const struct nocap_golden_options *options,
                                      struct nocap_error *err);

/* Checks every trace again and compares verdict, digest and, where it can be made again, content.
 * `differences` is the number of traces that differ. Fails if the directory cannot be read. */
enum nocap_status nocap_golden_verify(const char *dir, const struct nocap_golden_options *options,
                                      size_t *differences, struct nocap_error *err);

/* Shows what would change if today's result became the golden one; with `yes` makes it so.
 * `differences` is the number of traces that would change, or did. */
enum nocap_status nocap_golden_update(const char *dir, bool yes,
                                      const struct nocap_golden_options *options,
                                      size_t *differences, struct nocap_error *err);

#endif
