/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "cli/commands.h"
#include "cli/elf.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/trace_input.h"
#include "formats/export/dump.h"

struct settings {
    unsigned format; /* enum nocap_dump_format */
    const char *filter, *output, *profile;
    struct cli_number from, to, limit;
    struct cli_range index;
    struct cli_list elf;
    bool dense, trust_paths;
};

static const struct cli_option options[] = {
    {"format", "text|jsonl|csv", "form of the output (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
    {"filter", "EXPR", "only events that match, see below", offsetof(struct settings, filter),
     CLI_TEXT, 'f'},
    {"from", "TIME", "only events at or after TIME", offsetof(struct settings, from), CLI_NUMBER,
     0},
    {"to", "TIME", "only events at or before TIME", offsetof(struct settings, to), CLI_NUMBER, 0},
    {"index", "A..B", "only events A to B, counted from 0", offsetof(struct settings, index),
     CLI_RANGE, 0},
    {"limit", "N", "at most N events", offsetof(struct settings, limit), CLI_NUMBER, 'n'},
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
    {"elf", "CORE=FILE",
     "text: name the pcs of a RISC by this file's symbols;\n"
     "for each RISC",
     offsetof(struct settings, elf), CLI_LIST, 0},
    CLI_TRUST_PATHS(struct settings),
    CLI_OUTPUT(struct settings),
};

static enum nocap_status sink(void *context, const char *text, size_t size, struct nocap_error *err)
{
    return cli_output_write(context, text, size, err);
}

static int dump(const struct cli_call *call, struct nocap_reader *reader,
                const struct nocap_filter *filter, const struct nocap_elf_cores *cores)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    struct nocap_dump_options dump_options = {
        .size = sizeof dump_options,
        .format = (enum nocap_dump_format)s->format,
        .color = cli_output_has_color(&output, call),
        .filter = filter,
        .cores = cores,
        .has_time = s->from.given || s->to.given,
        .from = s->from.value,
        .to = s->to.given ? s->to.value : UINT64_MAX,
        .has_index = s->index.given,
        .first_index = s->index.first,
        .last_index = s->index.last,
        .has_limit = s->limit.given,
        .limit = s->limit.value,
    };
    if (s->format == NOCAP_DUMP_TEXT) {
        cli_output_fold(&output);
    }
    status = nocap_dump(reader, &dump_options, sink, &output, &err);
    return cli_output_finish(&output, call, status, &err);
}

/* An answer is empty where the trace does not go that far. */
static void tell_end(const struct cli_call *call, const struct nocap_reader *reader)
{
    const struct settings *s = call->settings;
    struct nocap_trace_totals totals;
    if (!nocap_reader_totals(reader, &totals)) {
        return;
    }
    if (s->index.given && s->index.first >= totals.events) {
        cli_message(call, "there is no event %" PRIu64 ": the trace has %" PRIu64, s->index.first,
                    totals.events);
    } else if (totals.events != 0 && s->from.given && s->from.value > totals.t_last) {
        cli_message(call, "there is no event at or after time %" PRIu64 ": the last is at %" PRIu64,
                    s->from.value, totals.t_last);
    }
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_filter *filter = NULL;
    if (s->from.given && s->to.given && s->from.value > s->to.value) {
        return cli_usage(call, "--from is after --to");
    }
    if (s->filter != NULL) {
        enum nocap_status status = nocap_filter_compile(&filter, s->filter, &err);
        if (status != NOCAP_OK) {
            return cli_fail_lines(call, status, &err);
        }
    }
    struct nocap_reader *reader;
    int result = cli_trace_open(call, call->operands.items[0], s->dense, &reader, NULL);
    if (result == CLI_EXIT_OK) {
        struct nocap_elf_cores cores = {{NULL}};
        result = cli_profile_set(call, s->profile, reader);
        result = result == CLI_EXIT_OK ? cli_elf_open(call, &s->elf, &cores) : result;
        if (result == CLI_EXIT_OK && s->format == NOCAP_DUMP_TEXT) {
            result = cli_elf_open_named(call, call->operands.items[0], s->trust_paths,
                                        nocap_reader_header(reader), &cores);
        }
        result = result == CLI_EXIT_OK ? dump(call, reader, filter, &cores) : result;
        nocap_elf_cores_close(&cores);
        if (result == CLI_EXIT_OK) {
            tell_end(call, reader);
            result = cli_trace_damage(call, reader);
        }
        nocap_reader_close(reader);
    }
    nocap_filter_free(filter);
    return result;
}

CLI_COMMAND(command) = {
    .name = "dump",
    .operands = "TRACE",
    .summary = "print the events of a trace",
    .details = "TRACE is a .nocap file or JSON Lines, plain or zstd-compressed; - is standard\n"
               "input.\n"
               "\n"
               "A filter compares fields of events: EXPR is made of\n"
               "  FIELD == VALUE, also != < <= > >=     FIELD in A..B     FIELD in {A, B, C..D}\n"
               "  FIELD (the event has it)              && || ! ( )\n"
               "  touches(X,Y,ADDR..ADDR): it stores, loads, lands or aims a request there;\n"
               "    see nocap who\n"
               "FIELD is index, t, src, chip, ev, op, tile, or any key of JSON Lines; VALUE is\n"
               "a number, a name, a core X,Y, the hex digits of data, or a \"text\". A field\n"
               "that the event lacks matches nothing, not even !=.",
    .findings = "the trace is damaged; what could be read was printed",
    .examples = "  nocap dump boot.nocap --filter 'tile==1,2 && by==brisc && addr in 0x68..0x6b'\n"
                "  nocap dump boot.nocap --format jsonl --from 7500 --limit 100",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .makes = CLI_MAKES_JSONL,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
