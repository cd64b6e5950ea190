/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/lint_kernel.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "formats/blackhole/registers.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

struct settings {
    unsigned format, fail_on;
    struct cli_number thread;
    const char *output;
};

/* In the order of the words of --fail-on. */
static const enum nocap_severity fail_on[] = {NOCAP_WARNING, NOCAP_ERROR, NOCAP_NOTE};

static const struct cli_option options[] = {
    {"thread", "N", "the thread that the kernel feeds: 0, 1, 2 (from the file name, ..trisc1..)",
     offsetof(struct settings, thread), CLI_NUMBER, 0},
    {"format", "text|json", "form of the findings (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
    {"fail-on", "warning|error|note", "least severity that makes the exit status 1 (warning)",
     offsetof(struct settings, fail_on), CLI_CHOICE, 0},
    {"output", "FILE", "write to FILE instead of standard output",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
};

static enum nocap_status print(struct cli_output *output, const struct settings *settings,
                               const struct nocap_lint *lint, struct nocap_error *err)
{
    FILE *stream = cli_output_stream(output, err);
    if (stream == NULL) {
        return NOCAP_E_OUTPUT;
    }
    return settings->format == FORMAT_JSON ? nocap_lint_json(stream, lint, err)
                                           : nocap_lint_text(stream, lint, err);
}

static int run(const struct cli_call *call)
{
    const struct settings *settings = call->settings;
    const char *path = call->operands.items[0];
    struct nocap_error err = {{0}};
    struct nocap_lint *lint = NULL;
    struct cli_output output;
    int named = nocap_lint_thread_of(path);
    bool told = settings->thread.given || named >= 0;
    uint64_t thread = settings->thread.given ? settings->thread.value
                      : named >= 0           ? (uint64_t)named
                                             : 0;
    if (thread >= NOCAP_TENSIX_THREADS) {
        return cli_usage(call, "there are threads 0, 1 and 2");
    }
    enum nocap_status status = nocap_lint_kernel(&lint, path, (unsigned)thread, &err);
    if (status == NOCAP_OK && !told) { /* it is a kernel: only the thread is missing */
        status = nocap_fail(&err, NOCAP_E_USAGE,
                            "which thread the kernel feeds is not in its name: --thread 0|1|2");
    }
    if (status == NOCAP_OK) {
        status = cli_output_open(&output, settings->output, &err);
    }
    if (status != NOCAP_OK) {
        nocap_lint_free(lint);
        return cli_fail(call, status, &err);
    }
    bool fails = false;
    for (int s = (int)fail_on[settings->fail_on]; s < NOCAP_SEVERITY_COUNT; s++) {
        fails = fails || lint->counts[s] > 0;
    }
    int result = cli_output_finish(&output, call, print(&output, settings, lint, &err), &err);
    nocap_lint_free(lint);
    return result == CLI_EXIT_OK && fails ? CLI_EXIT_FINDINGS : result;
}

CLI_VERB(verb) = {
    .name = "lint",
    .operands = "KERNEL.elf",
    .summary = "judge the coprocessor words in a kernel's code",
    .details =
        "Takes the words that a RISC-V kernel pushes, in the order of its code: ttinsn words "
        "and stores of\nconstants to the instruction FIFO. Branches are not followed. - "
        "is\nstandard "
        "input.",
    .findings = "findings at or above --fail-on",
    .examples = "  nocap lint matmul_trisc1.elf\n"
                "  nocap lint kernel.elf --thread 2 --format json",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
