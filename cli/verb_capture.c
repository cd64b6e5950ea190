#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/sim.h"
#include "cli/verb.h"
#include "formats/rings/recover.h"

struct settings {
    struct cli_sim_settings sim; /* comes first */
    const char *output, *recover;
};

static const struct cli_option options[] = {
    {"output", "FILE", "the .nocap file to make; - is standard output",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
    {"recover", "TRACE",
     "write what a killed program's rings hold into its trace, or the whole into -o OUT",
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
    status = cli_sim_write(&sim_options, output.fd, &progress, &totals, &err);
    cli_progress_end(&progress);
    int result = cli_output_finish(&output, call, status, &err);
    if (result == CLI_EXIT_OK) {
        cli_message(call, "%" PRIu64 " events, %" PRIu64 " bytes", totals.events, totals.bytes);
    }
    return result;
}

/* The whole trace takes the place of the one that ends early; the rings go. */
static int recover(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_recovered recovered;
    struct cli_output output;
    char rings[PATH_MAX];
    int n = snprintf(rings, sizeof rings, "%s" NOCAP_RINGS_SUFFIX, s->recover);
    if (n >= (int)sizeof rings || access(rings, F_OK) != 0) {
        cli_message(call, "nothing to recover: there is no %s", rings);
        return CLI_EXIT_INPUT;
    }
    enum nocap_status status =
        cli_output_open(&output, s->output != NULL ? s->output : s->recover, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    status = nocap_rings_recover(s->recover, output.fd, &recovered, &err);
    if (status == NOCAP_END) {
        status = nocap_fail(&err, NOCAP_E_INPUT,
                            recovered.capturing ? "%s is still being captured"
                                                : "the rings do not belong to %s, or are damaged",
                            s->recover);
    }
    int result = cli_output_finish(&output, call, status, &err);
    if (result == CLI_EXIT_OK) {
        cli_message(call, "%" PRIu64 " events were in the rings, %" PRIu64 " dropped",
                    recovered.events, recovered.dropped);
        if (s->output == NULL) {
            unlink(rings);
        }
    }
    return result;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    if (call->operands.count > call->operands.plain) {
        return cli_usage(
            call,
            "this build captures the embedded device only (--sim SCENARIO), not running programs");
    }
    if (call->operands.count > 0) {
        return cli_usage(call, "'%.100s' is no option", call->operands.items[0]);
    }
    if (s->recover != NULL) {
        return recover(call);
    }
    if (s->sim.scenario == NULL) {
        return cli_usage(call, "nothing to capture: --sim SCENARIO -o OUT");
    }
    if (strcmp(s->sim.scenario, "list") == 0) {
        cli_sim_list(stdout);
        return CLI_EXIT_OK;
    }
    if (s->output == NULL) {
        return cli_usage(call, "no output: -o OUT is needed, - is standard output");
    }
    return record(call);
}

CLI_VERB(verb) = {
    .name = "capture",
    .operands = "--sim SCENARIO -o OUT",
    .summary = "record a trace of the embedded device",
    .details = "The embedded device is a board in software whose host boots firmware and launches\n"
               "kernels, or feeds a command queue.",
    .examples = "  nocap capture --sim launch-host --tiles 4 --launches 8 -o run.nocap\n"
                "  nocap capture --sim launch-dev --fault done-early --seed 3 -o fault.nocap\n"
                "  nocap capture --sim fast-dispatch --programs 20 --view host -o queue.nocap",
    CLI_OPTIONS(options),
    .more_options = cli_sim_options,
    .more_count = CLI_SIM_OPTIONS,
    .settings_size = sizeof(struct settings),
    .operands_max = CLI_MANY,
    .run = run,
};
