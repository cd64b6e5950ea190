/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/lint/kernel.h"
#include "cli/check_jobs.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "formats/blackhole/registers.h"

struct settings {
    unsigned format, fail_on;
    bool strict;
    const char *rules, *waivers, *baseline, *output;
    struct cli_number thread, max_per_rule, jobs;
};

/* In the order of the words of --fail-on. */
static const enum nocap_severity fail_on[] = {NOCAP_WARNING, NOCAP_ERROR, NOCAP_NOTE};

static const struct cli_option options[] = {
    {"thread", "N",
     "the thread that the kernel feeds: 0, 1, 2 (from the\n"
     "file name, ..trisc1..)",
     offsetof(struct settings, thread), CLI_NUMBER, 0},
    CLI_REPORT_FORMAT(struct settings),
    CLI_OUTPUT(struct settings),
    {"fail-on", "warning|error|note", "least severity that makes the exit status 1 (warning)",
     offsetof(struct settings, fail_on), CLI_CHOICE, 0},
    {"strict", NULL,
     "a kernel that is not judged makes the exit status 1\n"
     "too",
     offsetof(struct settings, strict), CLI_FLAG, 0},
    {"rules", "LIST", "only these rules, - excludes: TNX-030,TNX-032",
     offsetof(struct settings, rules), CLI_TEXT, 0},
    CLI_REPORT_OPTIONS(struct settings),
    {"jobs", "N", "kernels judged at the same time (1)", offsetof(struct settings, jobs),
     CLI_NUMBER, 'j'},
};

/* What holds for all kernels. */
struct judging {
    const struct settings *settings;
    struct nocap_check_options check;
};

static enum nocap_status judge(const void *context, struct nocap_report **report, const char *path,
                               struct nocap_error *err)
{
    const struct judging *judging = context;
    const struct cli_number *thread = &judging->settings->thread;
    int named = nocap_lint_thread_of(path);
    unsigned feeds = thread->given ? (unsigned)thread->value : named >= 0 ? (unsigned)named : 0;
    RETURN_IF_FAILED(nocap_lint_kernel(report, path, feeds, &judging->check, err));
    if (!thread->given && named < 0) { /* it is a kernel: only the thread is missing */
        nocap_report_free(*report);
        *report = NULL;
        return nocap_fail(err, NOCAP_E_USAGE,
                          "which thread the kernel feeds is not in its name: --thread 0|1|2");
    }
    return NOCAP_OK;
}

static int judge_all(const struct cli_call *call, const struct cli_accepted *accepted)
{
    const struct settings *s = call->settings;
    const struct judging judging = {.settings = s,
                                    .check = {.size = sizeof judging.check,
                                              .rules = s->rules,
                                              .accepted = accepted->waivers,
                                              .known = accepted->known,
                                              .max_per_rule = (uint32_t)s->max_per_rule.value}};
    struct nocap_error err = {{0}};
    struct nocap_results results = {0};
    struct cli_output output;
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    int worst = cli_judge_all(call, call->operands.items, call->operands.count,
                              s->jobs.given ? s->jobs.value : 1, judge, &judging, &results);
    results.command = "nocap lint";
    results.fail_on = fail_on[s->fail_on];
    results.strict = s->strict;
    return cli_results_finish(call, &output, &results, (enum nocap_format)s->format, accepted,
                              worst);
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    int status;
    if (s->thread.given && s->thread.value >= NOCAP_TENSIX_THREADS) {
        return cli_usage(call, "there are threads 0, 1 and 2");
    }
    if (s->jobs.given && (s->jobs.value == 0 || s->jobs.value > CLI_JOBS_MAX)) {
        return cli_usage(call, "--jobs takes 1 to %d", CLI_JOBS_MAX);
    }
    struct cli_accepted accepted;
    if (!cli_max_per_rule(call, &s->max_per_rule, &status)) {
        return status;
    }
    status = cli_accepted_open(call, s->baseline, s->waivers, &accepted);
    if (status == CLI_EXIT_OK) {
        status = judge_all(call, &accepted);
    }
    cli_accepted_close(&accepted);
    return status;
}

CLI_COMMAND(command) = {
    .name = "lint",
    .operands = "KERNEL.elf...",
    .summary = "judge the Tensix instructions in a kernel's code",
    .details = "Takes the Tensix instructions that a RISC-V kernel pushes, in the order of its\n"
               "code: ttinsn words and stores of constants to the instruction FIFO. Branches\n"
               "are not followed. - is standard input. In waivers CORE is that of the thread,\n"
               "trisc0 to trisc2, an index the address of an instruction.",
    .findings = "findings at or above --fail-on",
    .examples =
        "  nocap lint matmul_trisc1.elf\n"
        "  nocap lint kernel.elf --thread 2 --format json\n"
        "  nocap lint --jobs 4 --format sarif -o lint.sarif --baseline before.json */trisc*.elf",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = CLI_MANY,
    .run = run,
};
