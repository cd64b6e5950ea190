/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/checker.h"
#include "cli/commands.h"
#include "cli/output.h"

struct settings {
    unsigned format; /* enum nocap_rules_format */
};

static const struct cli_option options[] = {
    {"format", "text|json", "form of the output (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
};

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    enum nocap_status status = cli_output_open(&output, NULL, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    if (s->format == NOCAP_RULES_TEXT) {
        cli_output_fold(&output);
    }
    FILE *stream = cli_output_stream(&output, &err);
    status = stream == NULL ? NOCAP_E_OUTPUT
                            : nocap_rules_print(stream, (enum nocap_rules_format)s->format, &err);
    return cli_output_finish(&output, call, status, &err);
}

CLI_COMMAND(command) = {
    .name = "rules",
    .operands = "",
    .summary = "list the rules",
    .examples = "  nocap rules\n"
                "  nocap rules --format json | jq '.rules[].id'",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .run = run,
};
