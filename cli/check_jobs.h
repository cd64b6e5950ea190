/* SPDX-License-Identifier: Apache-2.0 */
/* Several traces or files judged at the same time, for commands that take many, and what all
 * commands with findings do with the results. */
#ifndef NOCAP_CLI_CHECK_JOBS_H
#define NOCAP_CLI_CHECK_JOBS_H

#include "base/jobs.h"
#include "checker/report/results.h"
#include "cli/commands.h"

/* Rows of the options of a command that reports findings. */
#define CLI_REPORT_FORMAT(type)                                                                    \
    {                                                                                              \
        "format", "text|json|sarif|junit|github|markdown|baseline", "form of the report (text)",   \
            offsetof(type, format), CLI_CHOICE, 0                                                  \
    }
#define CLI_REPORT_FAILS(type)                                                                     \
    {"fail-on",                                                                                    \
     "error|warning|note",                                                                         \
     "least severity that makes the exit status 1 (error)",                                        \
     offsetof(type, fail_on),                                                                      \
     CLI_CHOICE,                                                                                   \
     0},                                                                                           \
    {                                                                                              \
        "strict", NULL,                                                                            \
            "a trace that is cut short or not judged makes the\n"                                  \
            "exit status 1 too",                                                                   \
            offsetof(type, strict), CLI_FLAG, 0                                                    \
    }
#define CLI_REPORT_SHOWN(type)                                                                     \
    {"all", NULL, "list what follows from a finding, too", offsetof(type, all), CLI_FLAG, 0},      \
    {                                                                                              \
        "verbose", NULL,                                                                           \
            "text has the verdicts by family, and why rules could\n"                               \
            "not be judged",                                                                       \
            offsetof(type, verbose), CLI_FLAG, 'v'                                                 \
    }
#define CLI_REPORT_OPTIONS(type)                                                                   \
    {"waivers", "FILE", "findings that are known and accepted", offsetof(type, waivers),           \
     CLI_TEXT,  0},                                                                                \
        {"baseline",                                                                               \
         "REPORT",                                                                                 \
         "only what this report (--format baseline) does not\n"                                    \
         "have yet fails",                                                                         \
         offsetof(type, baseline),                                                                 \
         CLI_TEXT,                                                                                 \
         0},                                                                                       \
    {                                                                                              \
        "max-per-rule", "N", "findings shown of each rule (20); all are counted",                  \
            offsetof(type, max_per_rule), CLI_NUMBER, 0                                            \
    }

enum { CLI_JOBS_MAX = JOBS_MAX };

/* In the order of the words of --fail-on, the first of which is "error". */
extern const enum nocap_severity cli_fail_on[];

/* That this process may use, as far as there can be jobs. */
size_t cli_cores(void);
/* Whether a trace has so much in it that a second thread is worth its start. */
bool cli_is_large(const char *path);

/* Judges one file. Called from several threads at the same time. */
typedef enum nocap_status cli_judge(const void *context, struct nocap_report **report,
                                    const char *path, struct nocap_error *err);
/* Judges the files, `jobs` at a time; tells on stderr what cannot be read. The results are in the
 * order of the paths, whatever comes; free them. Gives the exit status of the worst failure,
 * CLI_EXIT_OK if all could be read. */
int cli_judge_all(const struct cli_call *call, const char *const *paths, size_t count, size_t jobs,
                  cli_judge *judge, const void *context, struct nocap_results *results);
/* Judges one trace, a cli_judge whose context is struct nocap_check_options. */
enum nocap_status cli_check_one(const void *options, struct nocap_report **report, const char *path,
                                struct nocap_error *err);
/* The same for traces. */
int cli_check_all(const struct cli_call *call, const char *const *paths, size_t count,
                  const struct nocap_check_options *options, size_t jobs,
                  struct nocap_results *results);
/* Tells on stderr which of the results could not be read; the exit status. */
int cli_report_unreadable(const struct cli_call *call, const struct nocap_results *results);
/* Whether there is anything to report: a trace was read, and nothing worse than an input failed. */
bool cli_check_any(const struct nocap_results *results, int worst);

/* The files of --baseline and --waivers, read once for all that is judged; NULL: none. */
struct cli_accepted {
    struct nocap_baseline *known;
    struct nocap_waivers *waivers;
};
/* Opens what is named, tells what cannot be read; the exit status. Close it whatever came. */
int cli_accepted_open(const struct cli_call *call, const char *baseline, const char *waivers,
                      struct cli_accepted *accepted);
void cli_accepted_close(struct cli_accepted *accepted);

/* Prints the results, if there are any, with what there is to say of the waivers, and frees them;
 * the exit status, `worst` or its own. */
struct cli_output;
int cli_results_finish(const struct cli_call *call, struct cli_output *output,
                       struct nocap_results *results, enum nocap_format format,
                       const struct cli_accepted *accepted, int worst);
/* Whether --max-per-rule makes sense; else it is reported as a usage error in *status. */
bool cli_max_per_rule(const struct cli_call *call, const struct cli_number *most, int *status);

#endif
