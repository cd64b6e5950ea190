/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "checker/compare/cut.h"
#include "cli/commands.h"
#include "cli/elf.h"
#include "cli/output.h"
#include "cli/part.h"
#include "cli/profile_option.h"
#include "cli/trace_input.h"

struct settings {
    struct cli_number from, to;
    struct cli_range index;
    struct cli_tile tile;
    const char *filter, *output;
    bool as_it_is;
    struct cli_list elf;
    bool trust_paths, dense;
    const char *profile;
};

static const struct cli_option options[] = {
    {"from", "TIME", "from TIME on", offsetof(struct settings, from), CLI_NUMBER, 0},
    {"to", "TIME", "up to TIME", offsetof(struct settings, to), CLI_NUMBER, 0},
    {"index", "A..B", "only events A to B, counted from 0", offsetof(struct settings, index),
     CLI_RANGE, 0},
    {"tile", "X,Y",
     "only what happens at this core, comes from it or goes\n"
     "to it",
     offsetof(struct settings, tile), CLI_TILE, 0},
    {"filter", "EXPR", "only events that match, as in nocap dump",
     offsetof(struct settings, filter), CLI_TEXT, 'f'},
    {"as-it-is", NULL, "no events before the part, even if findings need them",
     offsetof(struct settings, as_it_is), CLI_FLAG, 0},
    CLI_ELF(struct settings),
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
    CLI_TRUST_PATHS(struct settings),
    CLI_OUTPUT_TRACE(struct settings),
};

struct work {
    const char *path;
    struct nocap_cut_options options;
    struct nocap_cut_result result;
};

static enum nocap_status make(void *context, const char *path, struct nocap_error *err)
{
    struct work *work = context;
    return nocap_cut(work->path, path, &work->options, &work->result, err);
}

static void print_result(const struct cli_call *call, const struct nocap_cut_result *r)
{
    cli_message(call,
                "%" PRIu64 " of %" PRIu64 " events, %" PRIu64
                " of them before the part, and %" PRIu64 " of what memory held; %" PRIu64
                " finding%s",
                r->kept, r->events, r->lead, r->mem, r->findings - r->lost,
                r->findings - r->lost == 1 ? "" : "s");
    if (r->before != 0) {
        cli_message(call, "%" PRIu64 " finding%s of the events before the part %s in it too",
                    r->before, r->before == 1 ? "" : "s", r->before == 1 ? "is" : "are");
    }
    if (r->missing != 0) {
        cli_message(call,
                    "the trace is damaged: %" PRIu64
                    " events of the part are missing, where a drop event is",
                    r->missing);
    }
    if (r->truncated) {
        cli_message(call, "the trace is cut short: what followed its %" PRIu64 " events is unknown",
                    r->events);
    }
    if (r->lost + r->added != 0) {
        cli_message(call,
                    "the part does not check the same: %" PRIu64 " of %" PRIu64
                    " findings are lost, %" PRIu64 " are new",
                    r->lost, r->findings, r->added);
    }
}

static int run_with(const struct cli_call *call, const struct nocap_elf_arg *elf, size_t count)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_filter *filter = NULL;
    if (s->output == NULL) {
        return cli_usage(call, "no output: -o OUT is needed, - is standard output");
    }
    if (!s->from.given && !s->to.given && !s->index.given && !s->tile.given && s->filter == NULL) {
        return cli_usage(call, "no part: give --from, --to, --index, --tile or --filter");
    }
    int result = cli_stdin_again(call);
    if (result != CLI_EXIT_OK) {
        return result;
    }
    enum nocap_status status =
        s->filter != NULL ? nocap_filter_compile(&filter, s->filter, &err) : NOCAP_OK;
    if (status != NOCAP_OK) {
        return cli_fail_lines(call, status, &err);
    }
    struct work work = {.path = call->operands.items[0],
                        .options = {.size = sizeof work.options,
                                    .has_from = s->from.given,
                                    .has_to = s->to.given,
                                    .has_index = s->index.given,
                                    .has_tile = s->tile.given,
                                    .from = s->from.value,
                                    .to = s->to.value,
                                    .first_index = s->index.first,
                                    .last_index = s->index.last,
                                    .tile = s->tile.at,
                                    .filter = filter,
                                    .as_it_is = s->as_it_is,
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
    nocap_filter_free(filter);
    free(profile);
    if (result == CLI_EXIT_OK) {
        struct nocap_xy tile = s->tile.at;
        print_result(call, &work.result);
        result = cli_tell_untouched(call, &work.path, 1, s->dense, &tile, s->tile.given);
    }
    if (result == CLI_EXIT_OK) {
        result = work.result.lost + work.result.added != 0 ? CLI_EXIT_FINDINGS : CLI_EXIT_OK;
    }
    return result;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    return cli_elf_with(call, &s->elf, run_with);
}

CLI_COMMAND(command) = {
    .name = "cut",
    .operands = "TRACE -o OUT",
    .summary = "make a trace of a part of a trace, which checks the same",
    .details = "What memory held where the part begins is kept as mem events. Where findings\n"
               "of the part need more of the past, events before it are kept too. A class of\n"
               "events that a filter leaves out is no longer observed, and its stores become\n"
               "mem events. With the core of a queue's prefetcher or dispatcher stay its\n"
               "commands, and what the host does to either.",
    .findings = "the part does not check the same: it was made all the same",
    .examples = "  nocap cut fault.nocap --from 50000 --to 55000 -o part.nocap\n"
                "  nocap cut run.nocap --tile 1,2 -o tile.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .makes = CLI_MAKES_TRACE,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
