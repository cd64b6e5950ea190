/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "checker/compare/minimise.h"
#include "checker/core/checker.h"
#include "cli/commands.h"
#include "cli/elf.h"
#include "cli/output.h"
#include "cli/part.h"
#include "cli/profile_option.h"
#include "cli/trace_input.h"

struct settings {
    const char *rule, *output;
    struct cli_number index;
    struct cli_list elf;
    bool trust_paths, dense;
    const char *profile;
};

static const struct cli_option options[] = {
    {"rule", "ID", "the rule whose finding stays", offsetof(struct settings, rule), CLI_TEXT, 0},
    {"index", "N", "its finding at event N, instead of the first", offsetof(struct settings, index),
     CLI_NUMBER, 0},
    CLI_ELF(struct settings),
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
    CLI_TRUST_PATHS(struct settings),
    CLI_OUTPUT_TRACE(struct settings),
};

struct work {
    const char *path;
    struct nocap_minimise_options options;
    struct nocap_minimise_result result;
};

static enum nocap_status make(void *context, const char *path, struct nocap_error *err)
{
    struct work *work = context;
    return nocap_minimise(work->path, path, &work->options, &work->result, err);
}

static int run_with(const struct cli_call *call, const struct nocap_elf_arg *elf, size_t count)
{
    const struct settings *s = call->settings;
    int rule = s->rule != NULL ? nocap_rule_from_id(s->rule) : -1;
    if (s->output == NULL) {
        return cli_usage(call, "no output: -o OUT is needed, - is standard output");
    }
    if (rule < 0) {
        return cli_usage(call, "--rule takes the id of a rule that nocap check finds violated");
    }
    int result = cli_stdin_again(call);
    if (result != CLI_EXIT_OK) {
        return result;
    }
    struct work work = {.path = call->operands.items[0],
                        .options = {.size = sizeof work.options,
                                    .rule = (enum nocap_rule)rule,
                                    .has_index = s->index.given,
                                    .index = s->index.value,
                                    .elf = elf,
                                    .elf_count = count,
                                    .trust_paths = s->trust_paths,
                                    .dense = s->dense}};
    char *profile;
    result = cli_profile_json(call, s->profile, &profile);
    work.options.profile = profile;
    if (result == CLI_EXIT_OK) {
        result = cli_part(call, s->output, make, &work);
    }
    free(profile);
    if (result == CLI_EXIT_OK) {
        cli_message(call,
                    "%" PRIu64 " events have the same finding as %" PRIu64 "; %" PRIu64 " trials%s",
                    work.result.after, work.result.before, work.result.trials,
                    work.result.stopped ? ", stopped early; the result may not be minimal" : "");
    }
    return result;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    return cli_elf_with(call, &s->elf, run_with);
}

CLI_COMMAND(command) = {
    .name = "minimise",
    .operands = "TRACE --rule ID -o OUT",
    .summary = "make the smallest trace that still has a finding",
    .details = "Leaves out what is not needed: the past and other cores, then whole launches,\n"
               "objects, agents and single events. Nothing else is found in what is left.",
    .examples = "  nocap minimise run.nocap --rule GO-004 -o small.nocap\n"
                "  nocap minimise run.nocap --rule SYN-003 --index 71361 -o small.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .makes = CLI_MAKES_TRACE,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
