/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/compare/diff.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/trace_input.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

struct settings {
    unsigned format; /* enum format */
    bool time, dense;
    struct cli_number context, max;
    const char *output;
};

static const struct cli_option options[] = {
    {"format", "text|json", "form of the output (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
    CLI_OUTPUT(struct settings),
    {"time", NULL, "times and numbers of polls count too", offsetof(struct settings, time),
     CLI_FLAG, 0},
    {"context", "N", "equal steps shown around a difference (3)",
     offsetof(struct settings, context), CLI_NUMBER, 'U'},
    {"max", "N", "differences shown (20); all are counted", offsetof(struct settings, max),
     CLI_NUMBER, 'n'},
    CLI_DENSE(struct settings),
};

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    struct nocap_diff *diff;
    if (s->context.given && s->context.value > NOCAP_DIFF_CONTEXT_MAX) {
        return cli_usage(call, "--context takes 0 to %d", NOCAP_DIFF_CONTEXT_MAX);
    }
    if (s->max.given && (s->max.value == 0 || s->max.value > UINT32_MAX)) {
        return cli_usage(call, "--max takes a number from 1 on");
    }
    const struct nocap_diff_options diff_options = {
        .size = sizeof diff_options,
        .with_time = s->time,
        .dense = s->dense,
        .context = s->context.given ? (uint32_t)s->context.value : 3,
        .max = (uint32_t)s->max.value,
    };
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    status =
        nocap_diff(&diff, call->operands.items[0], call->operands.items[1], &diff_options, &err);
    bool differs = status == NOCAP_OK && diff->count != 0;
    if (status == NOCAP_OK) {
        FILE *stream = cli_output_stream(&output, &err);
        status = stream == NULL ? NOCAP_E_OUTPUT
                 : s->format == FORMAT_JSON
                     ? nocap_diff_json(stream, diff, &err)
                     : nocap_diff_text(stream, diff, cli_output_has_color(&output, call), &err);
    }
    nocap_diff_free(diff);
    int result = cli_output_finish(&output, call, status, &err);
    return result == CLI_EXIT_OK && differs ? CLI_EXIT_FINDINGS : result;
}

CLI_COMMAND(command) = {
    .name = "diff",
    .operands = "A B",
    .summary = "compare what two traces say, apart from when",
    .details =
        "Each agent's events are compared in their order, and the order of the writes to each word "
        "of a\ntile's mailbox that several agents share. Times, polls, stalls and the interleaving "
        "of agents do\nnot count. What differs first stands first.",
    .findings = "the traces differ",
    .examples = "  nocap diff good.nocap bad.nocap\n"
                "  nocap diff --format json --max 1 good.nocap bad.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 2,
    .operands_max = 2,
    .run = run,
};
