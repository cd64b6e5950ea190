/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "checker/compare/diff.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/trace_input.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

struct settings {
    unsigned format; /* enum format */
    bool time, dense;
    struct cli_number context, max;
    struct cli_list part[2]; /* of A, of B */
    const char *output, *profile;
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
    {"a", "tile=X,Y|launch=N",
     "only this core of A, this launch of each core; may be\n"
     "repeated",
     offsetof(struct settings, part[0]), CLI_LIST, 0},
    {"b", "tile=X,Y|launch=N", "the same of B, which is compared with it",
     offsetof(struct settings, part[1]), CLI_LIST, 0},
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
};

/* One of --a or --b; false: it is none. */
static bool parse_part(const char *text, struct nocap_diff_part *part)
{
    struct cli_tile tile;
    struct cli_range launch;
    if (strncmp(text, "tile=", 5) == 0 && !part->has_tile && cli_parse_tile(text + 5, &tile)) {
        part->has_tile = true;
        part->tile = tile.at;
        return true;
    }
    if (strncmp(text, "launch=", 7) == 0 && !part->has_launch &&
        cli_parse_range(text + 7, &launch) && launch.first == launch.last && launch.first > 0) {
        part->has_launch = true;
        part->launch = launch.first;
        return true;
    }
    return false;
}

/* What is compared with what; the exit status. */
static int parse_parts(const struct cli_call *call, struct nocap_diff_part part[2])
{
    const struct settings *s = call->settings;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < s->part[side].count; i++) {
            if (!parse_part(s->part[side].items[i], &part[side])) {
                return cli_usage(call, "--%c takes tile=X,Y and launch=N, from 1, each once",
                                 "ab"[side]);
            }
        }
    }
    if (part[0].has_tile != part[1].has_tile || part[0].has_launch != part[1].has_launch) {
        return cli_usage(call, "a core is compared with a core, a launch with a launch: give --a "
                               "and --b alike");
    }
    if (call->operands.count == 1 && !part[0].has_tile && !part[0].has_launch) {
        return cli_usage(call, "with what? name two traces, or parts of one: --a tile=1,2 --b "
                               "tile=1,3");
    }
    return CLI_EXIT_OK;
}

/* Compares and prints; the exit status. */
static int compare(const struct cli_call *call, const struct nocap_diff_options *diff_options)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    struct nocap_diff *diff;
    const char *a = call->operands.items[0], *b = call->operands.items[call->operands.count - 1];
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    status = nocap_diff(&diff, a, b, diff_options, &err);
    bool differs = status == NOCAP_OK && diff->count != 0;
    if (status == NOCAP_OK) {
        unsigned width = s->format == FORMAT_TEXT ? cli_output_fold(&output) : 0;
        FILE *stream = cli_output_stream(&output, &err);
        status =
            stream == NULL ? NOCAP_E_OUTPUT
            : s->format == FORMAT_JSON
                ? nocap_diff_json(stream, diff, &err)
                : nocap_diff_text(stream, diff, cli_output_has_color(&output, call), width, &err);
    }
    nocap_diff_free(diff);
    int result = cli_output_finish(&output, call, status, &err);
    return result == CLI_EXIT_OK && differs ? CLI_EXIT_FINDINGS : result;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    if (s->context.given && s->context.value > NOCAP_DIFF_CONTEXT_MAX) {
        return cli_usage(call, "--context takes 0 to %d", NOCAP_DIFF_CONTEXT_MAX);
    }
    if (s->max.given && (s->max.value == 0 || s->max.value > UINT32_MAX)) {
        return cli_usage(call, "--max takes a number from 1 on");
    }
    struct nocap_diff_options diff_options = {
        .size = sizeof diff_options,
        .with_time = s->time,
        .dense = s->dense,
        .context = s->context.given ? (uint32_t)s->context.value : 3,
        .max = (uint32_t)s->max.value,
    };
    char *profile;
    int result = parse_parts(call, diff_options.part);
    if (result != CLI_EXIT_OK) {
        return result;
    }
    result = cli_stdin_again(call);
    if (result != CLI_EXIT_OK) {
        return result;
    }
    result = cli_profile_json(call, s->profile, &profile);
    diff_options.profile = profile;
    result = result == CLI_EXIT_OK ? compare(call, &diff_options) : result;
    free(profile);
    return result;
}

CLI_COMMAND(command) = {
    .name = "diff",
    .operands = "A [B]",
    .summary = "compare what two traces say, apart from when",
    .details = "Each agent's events are compared in their order, and the order of the writes\n"
               "to each word of a mailbox that several agents share. Times, polls, stalls and\n"
               "the interleaving of agents do not count. What differs first is listed first.\n"
               "Parts of one trace are compared by --a and --b: core with core, launch with\n"
               "launch (nocap launches lists them), from GO to DONE.",
    .findings = "the traces differ",
    .examples = "  nocap diff good.nocap bad.nocap\n"
                "  nocap diff run.nocap --a tile=1,2 --a launch=4 --b tile=1,2 --b launch=5",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = 2,
    .run = run,
};
