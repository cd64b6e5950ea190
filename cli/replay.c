/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "checker/query/state.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/replay_into.h"
#include "cli/trace_input.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

struct settings {
    unsigned format; /* enum format */
    struct cli_number until, at;
    struct cli_tile tile;
    const char *output, *profile;
    bool dense;
    struct cli_into_settings into;
};

static const struct cli_option options[] = {
    {"format", "text|json", "form of the output (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
    {"output", "FILE",
     "write to FILE instead of standard output; with\n"
     "--into, record the replay as a trace",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
    {"until", "INDEX", "the state after event INDEX, counted from 0",
     offsetof(struct settings, until), CLI_NUMBER, 0},
    {"at", "TIME", "the state after all events up to TIME", offsetof(struct settings, at),
     CLI_NUMBER, 0},
    {"tile", "X,Y",
     "everything about this core, instead of a line about\n"
     "each",
     offsetof(struct settings, tile), CLI_TILE, 0},
    {"into", "LIB",
     "drive this simulator, of libttsim's interface, with\n"
     "the host's accesses",
     offsetof(struct settings, into.library), CLI_TEXT, 0},
    {"payload", "FILE",
     "with --into: has bytes that the trace has by their\n"
     "hash alone, as firmware; may be given several times",
     offsetof(struct settings, into.payloads), CLI_LIST, 0},
    {"patience", "CLOCKS",
     "with --into: how long a read is repeated until it\n"
     "answers as recorded (1000000)",
     offsetof(struct settings, into.patience), CLI_NUMBER, 0},
    {"perturb", "SEED",
     "with --into: other clocks between accesses, the same\n"
     "for the same seed",
     offsetof(struct settings, into.perturb), CLI_NUMBER, 0},
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
};

/* The exit status that damage leads to. */
struct damage {
    const struct cli_call *call;
    int result;
};

static void take_damage(void *context, const struct nocap_reader *reader)
{
    struct damage *damage = context;
    damage->result = cli_trace_damage(damage->call, reader);
}

static int run_with(const struct cli_call *call, const char *profile)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    struct damage damage = {call, CLI_EXIT_OK};
    const struct nocap_replay_options replay_options = {
        .size = sizeof replay_options,
        .has_until = s->until.given,
        .has_at = s->at.given,
        .has_tile = s->tile.given,
        .dense = s->dense,
        .until = s->until.value,
        .at = s->at.value,
        .tile = s->tile.at,
        .json = s->format == FORMAT_JSON,
        .profile = profile,
    };
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    if (s->format == FORMAT_TEXT) {
        cli_output_fold(&output);
    }
    FILE *stream = cli_output_stream(&output, &err);
    status = stream == NULL ? NOCAP_E_OUTPUT
                            : nocap_replay_print(stream, call->operands.items[0], &replay_options,
                                                 take_damage, &damage, &err);
    int result = cli_output_finish(&output, call, status, &err);
    return result != CLI_EXIT_OK ? result : damage.result;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    char *profile;
    if (s->into.library != NULL) {
        if (s->until.given || s->at.given || s->tile.given) {
            return cli_usage(call,
                             "--into replays the whole trace: not with --until, --at, --tile");
        }
        return cli_replay_into(
            call, &s->into,
            &(struct cli_into_form){s->output, s->profile, s->dense, s->format == FORMAT_JSON});
    }
    if (s->into.payloads.count > 0 || s->into.patience.given || s->into.perturb.given) {
        return cli_usage(call, "--payload, --patience and --perturb belong to --into");
    }
    if (s->until.given && s->at.given) {
        return cli_usage(call, "--until and --at both name the moment; give one of them");
    }
    int result =
        s->output != NULL ? cli_keep_trace(call, s->output, CLI_MAKES_REPORT) : CLI_EXIT_OK;
    if (result != CLI_EXIT_OK) {
        return result;
    }
    result = cli_profile_json(call, s->profile, &profile);
    if (result == CLI_EXIT_OK) {
        result = run_with(call, profile);
    }
    free(profile);
    return result;
}

CLI_COMMAND(command) = {
    .name = "replay",
    .operands = "TRACE",
    .summary = "run the reference model over a trace and show its state; drive a simulator with it",
    .details = "Without --until or --at it is the state at the end of the trace. What the\n"
               "trace does not show is unknown.\n"
               "With --into the recorded accesses of the host drive a simulator, with the\n"
               "recorded clocks between them. Each read must answer as recorded, polls in the\n"
               "end; the first that does not is shown with the state of its core as the model\n"
               "knows it.",
    .findings = "with --into, an answer differs or the simulator ended; the trace is damaged",
    .examples = "  nocap replay run.nocap --until 1200 --tile 1,2\n"
                "  nocap replay run.nocap --at 9000 --format json\n"
                "  nocap replay run.nocap --into libttsim.so -o again.nocap\n"
                "  nocap replay run.nocap --into libttsim.so --perturb 7",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .makes = CLI_MAKES_TRACE, /* with --into */
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
