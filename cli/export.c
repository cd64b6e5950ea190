/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "checker/views/views.h"
#include "cli/check_jobs.h"
#include "cli/commands.h"
#include "cli/elf.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/trace_input.h"

enum { TILES_MAX = 256 };

struct settings {
    struct cli_list to, tiles;
    struct cli_number from, lead;
    const char *output, *profile;
    bool all, dense, trust_paths;
};

static const struct cli_option options[] = {
    {"to", "perfetto|html|vcd|npeviz",
     "the form of the picture; and given again with a TIME:\n"
     "the picture ends there, as if the trace did",
     offsetof(struct settings, to), CLI_LIST, 0},
    {"output", "FILE", "the file to make; - is standard output", offsetof(struct settings, output),
     CLI_TEXT, 'o'},
    {"from", "TIME",
     "the picture begins at TIME; what is open then is in\n"
     "it",
     offsetof(struct settings, from), CLI_NUMBER, 0},
    {"lead", "N",
     "the models begin N events before --from, not with the\n"
     "trace: takes no longer however long the trace is, and\n"
     "what was set before is unknown",
     offsetof(struct settings, lead), CLI_NUMBER, 0},
    {"tile", "X,Y",
     "of worker cores only this one; may be given several\n"
     "times",
     offsetof(struct settings, tiles), CLI_LIST, 0},
    {"all", NULL, "more than two million slices, if there are", offsetof(struct settings, all),
     CLI_FLAG, 0},
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
    CLI_TRUST_PATHS(struct settings),
};

/* --to names the view and the end. */
static int parse_to(const struct cli_call *call, const struct settings *s, int *view,
                    struct nocap_export_options *export)
{
    static const char *const names[] = {[NOCAP_VIEW_PERFETTO] = "perfetto",
                                        [NOCAP_VIEW_HTML] = "html",
                                        [NOCAP_VIEW_VCD] = "vcd",
                                        [NOCAP_VIEW_NPEVIZ] = "npeviz"};
    struct cli_range time;
    *view = -1;
    for (size_t i = 0; i < s->to.count; i++) {
        int named = -1;
        for (int n = 0; n < (int)(sizeof names / sizeof names[0]); n++) {
            named = strcmp(names[n], s->to.items[i]) == 0 ? n : named;
        }
        if (named >= 0) {
            *view = named;
        } else if (strstr(s->to.items[i], "..") == NULL && cli_parse_range(s->to.items[i], &time)) {
            export->has_to = true;
            export->to = time.first;
        } else {
            return cli_usage(call,
                             "--to takes perfetto, html, vcd or npeviz, or a time, not '%.100s'",
                             s->to.items[i]);
        }
    }
    return *view >= 0 ? CLI_EXIT_OK
                      : cli_usage(call, "--to must name the view: perfetto, html, vcd or npeviz");
}

static void print_result(const struct cli_call *call, const struct nocap_export_result *r)
{
    if (r->left_out != 0) {
        cli_message(call,
                    "the picture ends at time %" PRIu64 ", after %" PRIu64 " slices; %" PRIu64
                    " later slices are left out: --from, --to and --tile choose others, --all "
                    "has all",
                    r->full_at, r->slices, r->left_out);
    }
    if (r->begins_at != 0) {
        cli_message(call,
                    "the models began at event %" PRIu64 ": what was set before and not since is "
                    "unknown, and earlier findings are left out",
                    r->begins_at);
    }
    if (r->missing != NULL) {
        cli_message(call, "%s", r->missing);
    }
    if (r->empty != NULL) {
        cli_message(call, "the picture is empty: %s", r->empty);
    }
}

static int make(const struct cli_call *call, enum nocap_view view, struct nocap_xy *tiles,
                const struct nocap_export_options *export)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_export_result result;
    struct cli_output output;
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    FILE *stream = cli_output_stream(&output, &err);
    status = stream == NULL
                 ? NOCAP_E_OUTPUT
                 : nocap_export(stream, call->operands.items[0], view, export, &result, &err);
    int code = cli_output_finish(&output, call, status, &err);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    print_result(call, &result);
    code = cli_tell_untouched(call, call->operands.items, 1, s->dense, tiles, s->tiles.count);
    code = code != CLI_EXIT_OK ? code : cli_damage(call, NULL, &result.damage);
    return code == CLI_EXIT_OK && result.empty != NULL ? CLI_EXIT_FINDINGS : code;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct nocap_xy tiles[TILES_MAX];
    struct nocap_export_options export = {.size = sizeof export,
                                          .has_from = s->from.given,
                                          .from = s->from.value,
                                          .has_lead = s->lead.given,
                                          .lead = s->lead.value,
                                          .all = s->all,
                                          .dense = s->dense,
                                          .trust_paths = s->trust_paths,
                                          .tiles = tiles,
                                          .tile_count = s->tiles.count,
                                          .beside = cli_cores() > 1};
    int view;
    int code = parse_to(call, s, &view, &export);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    if (export.has_from && export.has_to && export.from > export.to) {
        return cli_usage(call, "--from is after --to");
    }
    if (export.has_lead && !export.has_from) {
        return cli_usage(call, "--lead is about what is before --from");
    }
    if (s->tiles.count > TILES_MAX) {
        return cli_usage(call, "--tile can be given %d times", TILES_MAX);
    }
    for (size_t i = 0; i < s->tiles.count; i++) {
        struct cli_tile tile;
        if (!cli_parse_tile(s->tiles.items[i], &tile)) {
            return cli_usage(call, "--tile takes X,Y, not '%.100s'", s->tiles.items[i]);
        }
        tiles[i] = tile.at;
    }
    char *profile;
    code = cli_profile_json(call, s->profile, &profile);
    if (code == CLI_EXIT_OK) {
        export.profile = profile;
        code = make(call, (enum nocap_view)view, tiles, &export);
    }
    free(profile);
    return code;
}

CLI_COMMAND(command) = {
    .name = "export",
    .operands = "TRACE",
    .summary = "a trace for other viewers: Perfetto, a page for browsers, waveforms, NOC transfers",
    .details = "perfetto: for ui.perfetto.dev; worker cores, the command queue and AIE columns\n"
               "  with what they do and wait for, findings, and who waits at the end.\n"
               "html: one page that needs no network: verdict, findings, waits, board,\n"
               "  timeline.\n"
               "vcd: go messages, sync words, pointers, credits and semaphores, for viewers of\n"
               "  waveforms.\n"
               "npeviz: requests of the network interfaces, for the viewer of tt-npe's\n"
               "  timelines.\n"
               "\n"
               "The models see the whole trace up to --to; --from and --tile choose what is\n"
               "shown. Of a long trace --lead lets them begin shortly before --from. A picture\n"
               "has at most two million slices; what that leaves out is said.",
    .findings = "the picture is empty, or the trace damaged: what could be read was exported",
    .examples = "  nocap export run.nocap --to perfetto -o run.pftrace\n"
                "  nocap export run.nocap --to html --from 54000 --to 60000 --tile 1,2 -o run.html",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
