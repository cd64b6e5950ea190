/* SPDX-License-Identifier: Apache-2.0 */
/* Golden traces: a directory of small traces with a manifest that says how each was made, why it is
 * kept, and what the checker must say about it. The manifest is text, so that a review shows what
 * changes; layout: golden_manifest.h.
 *
 * A trace that can be made again is made again on verification and compared with the stored one by
 * what it says (diff.h), not byte by byte. */
#ifndef NOCAP_CHECKER_GOLDEN_GOLDEN_H
#define NOCAP_CHECKER_GOLDEN_GOLDEN_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"

enum { NOCAP_GOLDEN_BYTES_MAX = 2 << 20 }; /* of all traces of a directory together */
#define NOCAP_GOLDEN_IMPORTED "imported"   /* how a trace was made that cannot be made again */

/* Makes a trace as `made` of the manifest says, of any form, and writes it to `out_path`.
 * NOCAP_END: it cannot be made here, which is no failure. May be called by several threads at once.
 */
typedef enum nocap_status nocap_make_trace(void *context, const char *made, const char *out_path,
                                           struct nocap_error *err);
/* Whether `differences` traces shall be replaced, after they were shown. */
typedef bool nocap_golden_confirm(void *context, size_t differences);

struct nocap_golden_options {
    size_t size;                   /* sizeof(struct nocap_golden_options) */
    FILE *out;                     /* where to tell what is found; NULL: nowhere */
    nocap_make_trace *make_trace;  /* NULL: traces are not made again */
    void *context;                 /* of make_trace and confirm */
    unsigned jobs;                 /* traces in parallel, 0: 1 */
    nocap_golden_confirm *confirm; /* of an update; NULL: no */
    bool overwrite;                /* record: instead of a trace that is there */
    bool dense, trust_paths;       /* as of nocap_check_options */
    const char *profile; /* the same, of all traces; record: the header of the stored one says it */
    const char *against; /* verify: the folder of traces NAME.nocap that stand for those made again;
                            NULL: make_trace makes them */
};

/* Adds a trace under `name` (letters, digits, '-', '_'): a copy of `trace_path`, or, if that is
 * NULL, made by `made`. The directory is made if it is not there. Fails with NOCAP_E_USAGE if the
 * name is taken in the manifest, or by a file, and not to be overwritten, if a text has line
 * breaks, or the directory would exceed its bound.
 *
 * Several programs may record into a directory, and update it, at the same time: one after the
 * other changes the files, all of its files or none. */
enum nocap_status nocap_golden_record(const char *dir, const char *name, const char *trace_path,
                                      const char *made, const char *reason,
                                      const struct nocap_golden_options *options,
                                      struct nocap_error *err);

/* Checks every trace again and compares verdict, digest and, where it can be made again, content.
 * One line a trace, before it what differs. `differences` is the number of traces that differ.
 * Fails with NOCAP_E_INPUT if the directory cannot be read or names no trace, and, after all were
 * told, if a stored trace cannot be read. */
enum nocap_status nocap_golden_verify(const char *dir, const struct nocap_golden_options *options,
                                      size_t *differences, struct nocap_error *err);

/* Shows the same, and with `yes`, or if `confirm` agrees, makes today's result the golden one:
 * `*updated`. Fails with NOCAP_E_OUTPUT if another program changed one of these traces meanwhile.
 */
enum nocap_status nocap_golden_update(const char *dir, bool yes,
                                      const struct nocap_golden_options *options,
                                      size_t *differences, bool *updated, struct nocap_error *err);

#endif
