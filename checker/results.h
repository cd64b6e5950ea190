/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of several traces as one: for machines of CI, and for people. */
#ifndef NOCAP_CHECKER_RESULTS_H
#define NOCAP_CHECKER_RESULTS_H

#include "checker/checker.h"

/* What came of one trace. Texts are UTF-8. */
struct nocap_result {
    char *path;
    struct nocap_report *report; /* NULL: it could not be read */
    char *error;                 /* why; NULL with a report */
};

struct nocap_results {
    struct nocap_result *list; /* in the order in which the traces were named */
    size_t count;
    enum nocap_severity fail_on; /* least severity that fails */
    bool all;                    /* text lists what follows from findings, too */
    bool strict;                 /* a trace that is cut short fails too */
};

/* Room for `count` results, all without report and error. */
enum nocap_status nocap_results_new(struct nocap_results *results, size_t count,
                                    struct nocap_error *err);
/* Takes the report over; NULL: `error` says why there is none. */
enum nocap_status nocap_results_set(struct nocap_results *results, size_t i, const char *path,
                                    struct nocap_report *report, const char *error,
                                    struct nocap_error *err);
void nocap_results_free(struct nocap_results *results);

struct nocap_sums {
    uint64_t counts[NOCAP_SEVERITY_COUNT];
    uint64_t waived, known;
    uint64_t unreadable, failing, unjudged; /* traces: that cannot be read, that fail, that nobody
                                             * judged */
};
/* Whether the trace fails: by its findings, or if one is strict because it is cut short or was not
 * judged. */
bool nocap_results_fails(const struct nocap_results *results, const struct nocap_report *report);
struct nocap_sums nocap_results_sum(const struct nocap_results *results);

/* "tile 1,2, trisc1 thread 1, event 57": where a finding is, without its trace. */
void nocap_finding_place(char *text, size_t size, const struct nocap_finding *finding);

/* One document each; fail with NOCAP_E_OUTPUT. JSON: of a single trace its report, else
 * {"nocap_reports":1,..}. SARIF is version 2.1.0. A line of a SARIF or GitHub place is that of the
 * event in the trace as JSON Lines. */
enum nocap_status nocap_results_text(FILE *out, const struct nocap_results *results, bool color,
                                     struct nocap_error *err);
enum nocap_status nocap_results_json(FILE *out, const struct nocap_results *results,
                                     struct nocap_error *err);
enum nocap_status nocap_results_sarif(FILE *out, const struct nocap_results *results,
                                      struct nocap_error *err);
enum nocap_status nocap_results_junit(FILE *out, const struct nocap_results *results,
                                      struct nocap_error *err);
enum nocap_status nocap_results_github(FILE *out, const struct nocap_results *results,
                                       struct nocap_error *err);
enum nocap_status nocap_results_markdown(FILE *out, const struct nocap_results *results,
                                         struct nocap_error *err);

#endif
