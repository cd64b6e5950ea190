/* SPDX-License-Identifier: Apache-2.0 */
/* Waivers: findings that were reviewed and accepted. One a line of a text file:
 *
 *     RULE [X,Y] [CORE] [index A..B] [trace:GLOB] -- REASON [until YYYY-MM-DD]
 *
 * RULE is an id, or a family as "SYN-*". A finding is waived if the tile, the core, the index and
 * the trace match as far as they are given: GLOB is a pattern of the shell for the trace's path,
 * or, without a '/', for its file name. '#' begins a comment line. Past its date a waiver no longer
 * applies. The waivers may serve several checks at the same time. */
#ifndef NOCAP_CHECKER_REPORT_WAIVERS_H
#define NOCAP_CHECKER_REPORT_WAIVERS_H

#include "checker/core/checker.h"

struct nocap_waivers;

/* Reads `path`; `now` is the time that decides about dates (UTC days). Fails with NOCAP_E_INPUT and
 * "file:line: what, what to do". */
enum nocap_status nocap_waivers_open(struct nocap_waivers **waivers, const char *path, int64_t now,
                                     struct nocap_error *err);
void nocap_waivers_close(struct nocap_waivers *waivers); /* NULL is fine */

/* The reason of the first that waives this divergence of the trace, which is then counted as used;
 * NULL if none does. */
const char *nocap_waivers_match(struct nocap_waivers *waivers, const char *trace,
                                const struct nocap_divergence *divergence);
/* A trace was judged by these rules, and what a waiver of them had to waive there was matched. */
void nocap_waivers_judged(struct nocap_waivers *waivers, const char *trace, const bool *judged);

/* What became of one: it waived something, or there is something to say of it - that it expired,
 * "waiver-expired", or waived nothing in any trace although all its rules were judged on one that
 * it is for, "waiver-unused". */
struct nocap_waiver_state {
    unsigned line; /* of its file */
    bool used;
    const char *id, *note; /* a sentence "file:line: .."; NULL: nothing to say */
};

/* The notes of all. */
typedef enum nocap_status nocap_waiver_note(void *context, const char *id, const char *note,
                                            struct nocap_error *err);
enum nocap_status nocap_waivers_notes(const struct nocap_waivers *waivers, nocap_waiver_note *note,
                                      void *context, struct nocap_error *err);
/* An array `waivers` of JSON: the line of each that was used, or line, id and note. */
struct nocap_json;
void nocap_waivers_json(struct nocap_json *json, const struct nocap_waivers *waivers);

#endif
