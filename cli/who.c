/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/query/who.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/trace_input.h"

struct settings {
    unsigned format; /* 0: text, 1: JSON */
    struct cli_number at, chip, limit;
    bool writes, dense;
    const char *output, *profile;
};

static const struct cli_option options[] = {
    {"at", "TIME", "as if the trace ended after TIME", offsetof(struct settings, at), CLI_NUMBER,
     0},
    {"writes", NULL, "only what may have changed the bytes: no loads",
     offsetof(struct settings, writes), CLI_FLAG, 0},
    {"chip", "N", "only on this chip (all)", offsetof(struct settings, chip), CLI_NUMBER, 0},
    {"limit", "N", "rows shown, the newest (20)", offsetof(struct settings, limit), CLI_NUMBER,
     'n'},
    {"format", "text|json", "form of the output (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
    CLI_OUTPUT(struct settings),
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
};

static int ask(const struct cli_call *call, struct nocap_reader *reader,
               struct nocap_who_options *who)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    bool at_tile = false;
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    if (!who->json) {
        cli_output_fold(&output);
    }
    FILE *stream = cli_output_stream(&output, &err);
    who->color = cli_output_has_color(&output, call);
    status = stream == NULL ? NOCAP_E_OUTPUT : nocap_who(reader, who, stream, &at_tile, &err);
    int result = cli_output_finish(&output, call, status, &err);
    if (result == CLI_EXIT_OK && !at_tile) {
        cli_message(call, "no event touches core %u,%u%s", who->bytes.at.x, who->bytes.at.y,
                    who->has_until ? " up to then" : "");
    }
    return result != CLI_EXIT_OK ? result : cli_trace_damage(call, reader);
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    const char *const *given = call->operands.items;
    struct cli_tile tile;
    struct cli_range bytes;
    struct nocap_who_options who = {.size = sizeof who,
                                    .has_until = s->at.given,
                                    .until = s->at.value,
                                    .has_chip = s->chip.given,
                                    .chip = (uint16_t)s->chip.value,
                                    .writes = s->writes,
                                    .json = s->format == 1,
                                    .path = given[2]};
    if (!cli_parse_tile(given[0], &tile)) {
        return cli_usage(call, "'%.100s' is not a core X,Y", given[0]);
    }
    if (!cli_parse_range(given[1], &bytes)) {
        return cli_usage(call, "'%.100s' is not an address, nor a range ADDR..ADDR", given[1]);
    }
    if (s->chip.given && s->chip.value > UINT16_MAX) {
        return cli_usage(call, "--chip takes a number below 65536");
    }
    if (s->limit.given && (s->limit.value == 0 || s->limit.value > 100000)) {
        return cli_usage(call, "--limit takes a number from 1 to 100000");
    }
    who.bytes = (struct nocap_bytes_at){tile.at, bytes.first, bytes.last};
    who.limit = (uint32_t)s->limit.value;
    struct nocap_reader *reader;
    int result = cli_trace_open(call, given[2], s->dense, &reader, NULL);
    if (result == CLI_EXIT_OK) {
        result = cli_profile_set(call, s->profile, reader);
        result = result == CLI_EXIT_OK ? ask(call, reader, &who) : result;
        nocap_reader_close(reader);
    }
    return result;
}

CLI_COMMAND(command) = {
    .name = "who",
    .operands = "X,Y ADDR[..ADDR] TRACE",
    .summary = "who touched these bytes of a core: stores, multicasts, NOC requests, loads",
    .details = "Newest first. Stores and loads that overlap the bytes count, multicasts whose\n"
               "rectangle covers the core, NOC requests that put bytes there or take them,\n"
               "landings, and what memory held. In [ ] are the bytes as that access left or\n"
               "found them, where the trace has them. Loads of one agent that find the same\n"
               "are one row. In filters of nocap dump the same is touches(X,Y,ADDR..ADDR).",
    .findings = "the trace is damaged; what could be read was asked",
    .examples = "  nocap who 1,2 0x373 run.nocap\n"
                "  nocap who 1,2 0x70..0xcf run.nocap --writes --at 54000",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 3,
    .operands_max = 3,
    .run = run,
};
