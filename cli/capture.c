/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/live.h"
#include "cli/output.h"
#include "cli/sim.h"

struct settings {
    struct cli_sim_settings sim; /* comes first */
    struct cli_live_settings live;
    const char *output, *recover;
};

static const struct cli_option options[] = {
    CLI_OUTPUT_TRACE(struct settings),
    {"trap", "full|registers|off",
     "traced accesses to hardware: all, not those to\n"
     "write-combined windows, none",
     offsetof(struct settings, live.trap), CLI_CHOICE, 0},
    {"ttsim", "LIB",
     "the simulator's library, in TT_METAL_SIMULATOR and\n"
     "TT_UMD_SIMULATOR",
     offsetof(struct settings, live.ttsim), CLI_TEXT, 0},
    {"sample", "CLOCKS",
     "poll a simulated device every CLOCKS clocks,\n"
     "record what changed in it",
     offsetof(struct settings, live.sample), CLI_NUMBER, 0},
    {"elf-dir", "DIR",
     "whose runtime it is: the newest firmware and queue\n"
     "kernels below DIR say it",
     offsetof(struct settings, live.elf_dir), CLI_TEXT, 0},
    {"drop", NULL,
     "drop events rather than let the program wait; they\n"
     "are counted",
     offsetof(struct settings, live.drop), CLI_FLAG, 0},
    {"follow", NULL, "check while capturing, report findings as they come",
     offsetof(struct settings, live.follow), CLI_FLAG, 0},
    {"recover", "TRACE",
     "write what a killed program's rings hold into its\n"
     "trace, or the whole into -o OUT",
     offsetof(struct settings, recover), CLI_TEXT, 0},
};

static int record(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_sim_options sim_options;
    struct nocap_trace_totals totals = {0};
    struct cli_output output;
    struct cli_progress progress;
    enum nocap_status status = cli_sim_resolve(&s->sim, &sim_options, &err);
    if (status == NOCAP_OK) {
        status = cli_output_open(&output, s->output, &err);
    }
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    cli_progress_start(&progress, "capture", "events");
    status = cli_sim_write(&sim_options, output.fd, &progress, NULL, &totals, &err);
    cli_progress_end(&progress);
    int result = cli_output_finish(&output, call, status, &err);
    if (result == CLI_EXIT_OK) {
        cli_message(call, "%" PRIu64 " events, %" PRIu64 " bytes", totals.events, totals.bytes);
    }
    return result;
}

static bool has_live_options(const struct cli_live_settings *live)
{
    return live->trap != 0 || live->drop || live->follow || live->sample.given ||
           live->ttsim != NULL;
}

static bool has_sim_options(const struct cli_sim_settings *sim)
{
    return sim->scenario != NULL || sim->fault != NULL || sim->board != 0 || sim->tiles.given ||
           sim->launches.given || sim->seed.given || sim->variant.given || sim->programs.given ||
           sim->workers.given || sim->queues.given || sim->apart || sim->view != 0;
}

static int run_command(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    if (has_sim_options(&s->sim) || s->recover != NULL) {
        return cli_usage(call, "a command is captured without --sim, what belongs to it, and "
                               "--recover");
    }
    if (s->output == NULL || strcmp(s->output, "-") == 0) {
        return cli_usage(call, "no output: -o OUT is needed, a file");
    }
    if (s->live.sample.given && (s->live.sample.value == 0 || s->live.sample.value > UINT32_MAX)) {
        return cli_usage(call, "--sample takes a number of clocks from 1 on");
    }
    const char **command = calloc(call->operands.count + 1, sizeof *command);
    if (command == NULL) {
        struct nocap_error err = {"out of memory"};
        return cli_fail(call, NOCAP_E_MEMORY, &err);
    }
    memcpy(command, call->operands.items, call->operands.count * sizeof *command);
    struct cli_live_profile profile;
    int result = cli_live_profile(call, &s->live, s->sim.profile, command, &profile);
    if (result == CLI_EXIT_OK) {
        result = cli_live_run(call, &s->live, &profile, s->output, command);
    }
    free(profile.json);
    free(command);
    return result;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    if (call->operands.plain > 0) {
        return cli_usage(call, "'%.100s' is not an option; a command follows --",
                         call->operands.items[0]);
    }
    if (call->operands.count > 0) {
        return run_command(call);
    }
    if (has_live_options(&s->live)) {
        return cli_usage(call, "--trap, --ttsim, --sample, --drop and --follow are for a command: "
                               "-o OUT -- CMD");
    }
    if (s->live.elf_dir != NULL) {
        return cli_usage(call, "--elf-dir is for a command");
    }
    if (s->recover != NULL) {
        return cli_recover(call, s->recover, s->output);
    }
    if (s->sim.scenario == NULL) {
        return cli_usage(call, "nothing to capture: -o OUT -- CMD, or --sim SCENARIO -o OUT");
    }
    if (strcmp(s->sim.scenario, "list") == 0) {
        cli_print_folded(cli_sim_list, NULL);
        return CLI_EXIT_OK;
    }
    if (s->output == NULL) {
        return cli_usage(call, "no output: -o OUT is needed, - is standard output");
    }
    return record(call);
}

CLI_COMMAND(command) = {
    .name = "capture",
    .operands = "-o OUT -- CMD ... | --sim SCENARIO -o OUT",
    .summary = "record a trace of a running program, or of the built-in device model",
    .details = "CMD runs with what it needs to be traced: the driver shim for programs that\n"
               "open /dev/tenstorrent, the simulator proxy before libttsim where CMD loads it.\n"
               "nocap ends as CMD does, with 4 instead of 0 if something could not be written.\n"
               "A trace of the name OUT stays until CMD captures something.\n"
               "The built-in device model is a board in software whose host boots firmware and\n"
               "launches kernels, or feeds a command queue.",
    .findings = "as CMD; with --follow, an error was found; with --recover, rings are damaged",
    .examples = "  nocap capture -o run.nocap -- ./driver --test\n"
                "  nocap capture --sim launch-host --tiles 4 --launches 8 -o run.nocap\n"
                "  nocap capture --sim launch-dev --fault done-early --seed 3 -o fault.nocap\n"
                "  nocap capture --sim fast-dispatch --programs 20 --view host -o queue.nocap",
    CLI_OPTIONS(options),
    .more_options = cli_sim_options,
    .more_count = CLI_SIM_OPTIONS,
    .settings_size = sizeof(struct settings),
    .makes = CLI_MAKES_TRACE,
    .operands_max = CLI_MANY,
    .run = run,
};
