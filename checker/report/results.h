/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of several traces, kernels or files of control code as one: for machines of CI, and
 * for people. Every command that has findings prints them through here. */
#ifndef NOCAP_CHECKER_RESULTS_H
#define NOCAP_CHECKER_RESULTS_H

#include "checker/core/checker.h"

/* Which traces of a list a run has, and where its results belong. */
struct nocap_shard {
    const char *list;   /* what the traces are and how they are judged, a hash */
    uint64_t part, of;  /* 1..of */
    uint64_t traces;    /* in the whole list */
    const uint64_t *at; /* of each of its results */
};

/* What came of one trace. Texts are UTF-8. */
struct nocap_result {
    char *path;
    struct nocap_report *report; /* NULL: it could not be read */
    char *error;                 /* why; NULL with a report */
};

struct nocap_results {
    struct nocap_result *list; /* in the order in which the traces were named */
    size_t count;
    const char *command;             /* whose results; NULL: "nocap check" */
    enum nocap_severity fail_on;     /* least severity that fails */
    bool all;                        /* text lists what follows from findings, too */
    bool verbose;                    /* text has the verdicts by family, and no trace is one line */
    bool strict;                     /* a trace that is cut short fails too */
    const struct nocap_shard *shard; /* JSON says where they belong; NULL: these are all */
    const struct nocap_waivers *waivers; /* of a shard: JSON says what became of them; NULL: none */
};

/* Room for `count` results, all without report and error. */
enum nocap_status nocap_results_new(struct nocap_results *results, size_t count,
                                    struct nocap_error *err);
/* Takes the report over; NULL: `error` says why there is none. */
enum nocap_status nocap_results_set(struct nocap_results *results, size_t i, const char *path,
                                    struct nocap_report *report, const char *error,
                                    struct nocap_error *err);
void nocap_results_free(struct nocap_results *results);
/* Puts what there is to say of waivers, for all these traces, into the first report. */
enum nocap_status nocap_results_note_waivers(struct nocap_results *results,
                                             const struct nocap_waivers *waivers,
                                             struct nocap_error *err);

struct nocap_sums {
    uint64_t counts[NOCAP_SEVERITY_COUNT];
    uint64_t waived, known;
    uint64_t unreadable, failing, unjudged; /* traces: that cannot be read, that fail, that were not
                                             * judged */
};
/* Whether the trace fails: by its findings, or if one is strict because it is cut short or was not
 * judged. */
bool nocap_results_fails(const struct nocap_results *results, const struct nocap_report *report);
struct nocap_sums nocap_results_sum(const struct nocap_results *results);

/* Where a finding is, without its file: "core 1,2, trisc1 thread 1, event 57", "0x6e10
 * (pack+0x10)", "uc 0, page 1, offset 24". _where has the time of an event, too. */
void nocap_finding_place(char *text, size_t size, const struct nocap_finding *finding);
void nocap_finding_where(char *text, size_t size, const struct nocap_finding *finding);
/* The same in a line of text, with what was violated and what must hold. */
void nocap_finding_text(FILE *out, const struct nocap_report *report,
                        const struct nocap_finding *finding);
/* The file and line in which it is shown, of a file that was judged: the source where it is known,
 * the event of a trace as JSON Lines; 0: no line. */
const char *nocap_finding_file(const struct nocap_finding *finding, const char *path);
uint64_t nocap_finding_line(const struct nocap_finding *finding);
uint64_t nocap_event_line(uint64_t index);
/* Whether a report has a verdict on the rule: of a file, on the families that are judged on it. */
bool nocap_report_lists(const struct nocap_report *report, int rule);
struct nocap_json;
/* An object of JSON, without its braces: what `check --format json` says of each finding. */
void nocap_finding_json(struct nocap_json *json, const struct nocap_finding *finding);
/* Event classes, NOCAP_CLASS_*, as an array of their names. */
void nocap_json_classes(struct nocap_json *json, const char *key, uint32_t classes);
/* A report as a member, or without a key at the top or in an array. */
void nocap_report_put(struct nocap_json *json, const char *key, const struct nocap_report *report);
/* What was judged: "trace" or "file". */
const char *nocap_results_noun(const struct nocap_results *results);
const char *nocap_results_command(const struct nocap_results *results);

enum nocap_format {
    NOCAP_FORMAT_TEXT,
    NOCAP_FORMAT_JSON,
    NOCAP_FORMAT_SARIF,
    NOCAP_FORMAT_JUNIT,
    NOCAP_FORMAT_GITHUB,
    NOCAP_FORMAT_MARKDOWN,
    NOCAP_FORMAT_BASELINE,
};
/* One document in that form; `color` is for text. Fails with NOCAP_E_OUTPUT. */
enum nocap_status nocap_results_print(FILE *out, const struct nocap_results *results,
                                      enum nocap_format format, bool color,
                                      struct nocap_error *err);

/* One document each; fail with NOCAP_E_OUTPUT. JSON: of a single trace its report, else
 * {"nocap_reports":1,..}. SARIF is version 2.1.0. */
enum nocap_status nocap_results_text(FILE *out, const struct nocap_results *results, bool color,
                                     struct nocap_error *err);
enum nocap_status nocap_results_json(FILE *out, const struct nocap_results *results,
                                     struct nocap_error *err);
/* What a baseline needs of the JSON, and no more. */
enum nocap_status nocap_results_baseline(FILE *out, const struct nocap_results *results,
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
