/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/checker.h"
#include "cli/commands.h"
#include "cli/output.h"

static int run(const struct cli_call *call)
{
    struct nocap_error err = {{0}};
    struct cli_output output;
    const char *id = call->operands.items[0];
    int rule = nocap_rule_from_id(id);
    if (rule < 0) {
        return cli_usage(call, "there is no rule '%.100s'; nocap rules lists them", id);
    }
    enum nocap_status status = cli_output_open(&output, NULL, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    cli_output_fold(&output);
    FILE *stream = cli_output_stream(&output, &err);
    status =
        stream == NULL ? NOCAP_E_OUTPUT : nocap_rule_explain(stream, (enum nocap_rule)rule, &err);
    return cli_output_finish(&output, call, status, &err);
}

CLI_COMMAND(command) = {
    .name = "explain",
    .operands = "RULE",
    .summary = "explain a rule: meaning, a failing and a passing example, source",
    .examples = "  nocap explain GO-003\n"
                "  nocap explain syn-004",
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
