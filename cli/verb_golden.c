#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "checker/golden.h"
#include "cli/output.h"
#include "cli/sim.h"
#include "cli/verb.h"

struct settings {
    struct cli_sim_settings sim; /* comes first */
    const char *reason;
    bool yes;
};

static const struct cli_option options[] = {
    {"reason", "TEXT", "record: why this trace is kept", offsetof(struct settings, reason),
     CLI_TEXT, 0},
    {"yes", NULL, "update: make it so; without it only shows what would change",
     offsetof(struct settings, yes), CLI_FLAG, 0},
};

static enum nocap_status make_trace(void *context, const char *how, const char *out_path,
                                    struct nocap_error *err)
{
    (void)context;
    struct nocap_sim_options sim_options;
    struct nocap_trace_totals totals;
    RETURN_IF_FAILED(cli_sim_from_line(how, &sim_options, err));
    int fd = open(out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    RETURN_ERROR_IF(fd < 0, err, NOCAP_E_OUTPUT, "cannot create %s: %s", out_path, strerror(errno));
    enum nocap_status status = cli_sim_write(&sim_options, fd, NULL, &totals, err);
    if (close(fd) != 0 && status == NOCAP_OK) {
        status = nocap_fail(err, NOCAP_E_OUTPUT, "cannot write %s: %s", out_path, strerror(errno));
    }
    return status;
}

enum { MADE_MAX = 300 };

/* "sim launch-host --tiles 4" or "imported": how the trace comes about. */
static enum nocap_status spell_made(const struct settings *s, char *made, struct nocap_error *err)
{
    static const char prefix[] = "sim ";
    if (s->sim.scenario == NULL) {
        strcpy(made, "imported");
        return NOCAP_OK;
    }
    struct nocap_sim_options unused;
    RETURN_IF_FAILED(cli_sim_resolve(&s->sim, &unused, err));
    strcpy(made, prefix);
    return cli_sim_to_line(&s->sim, made + sizeof prefix - 1, MADE_MAX - sizeof prefix, err);
}

/* Operands: record DIR NAME [TRACE]. */
static int record(const struct cli_call *call, const struct nocap_golden_options *golden)
{
    const struct settings *s = call->settings;
    const char **operands = call->operands.items;
    struct nocap_error err = {{0}};
    char made[MADE_MAX];
    size_t wanted = s->sim.scenario != NULL ? 3 : 4;
    if (call->operands.count != wanted || s->reason == NULL) {
        return cli_usage(
            call, "nocap golden record DIR NAME --reason TEXT, with a TRACE or --sim SCENARIO");
    }
    enum nocap_status status = spell_made(s, made, &err);
    if (status == NOCAP_OK) {
        status = nocap_golden_record(operands[1], operands[2], operands[3], made, s->reason, golden,
                                     &err);
    }
    return status == NOCAP_OK ? CLI_EXIT_OK : cli_fail(call, status, &err);
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    const struct nocap_golden_options golden = {
        .size = sizeof golden, .out = stdout, .make_trace = make_trace};
    const char *action = call->operands.items[0], *dir = call->operands.items[1];
    size_t differences = 0;
    enum nocap_status status;
    if (strcmp(action, "record") == 0) {
        return record(call, &golden);
    }
    bool is_update = strcmp(action, "update") == 0;
    if (!is_update && strcmp(action, "verify") != 0) {
        return cli_usage(call, "'%.100s' is none of record, verify, update", action);
    }
    if (call->operands.count != 2) {
        return cli_usage(call, "%s takes a directory and nothing more", action);
    }
    status = is_update ? nocap_golden_update(dir, s->yes, &golden, &differences, &err)
                       : nocap_golden_verify(dir, &golden, &differences, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    return differences == 0 || (is_update && s->yes) ? CLI_EXIT_OK : CLI_EXIT_FINDINGS;
}

CLI_VERB(verb) = {
    .name = "golden",
    .operands = "record DIR NAME [TRACE] | verify DIR | update DIR",
    .summary = "keep golden traces, and compare what the checker and the device make of them today",
    .details = "record adds TRACE, or one made by --sim, under NAME; verify checks every trace of "
               "DIR again and makes\n"
               "those of the embedded device again; update shows what would change, and with --yes "
               "makes it so.",
    .findings = "a trace or its verdict differs from what is recorded",
    .examples = "  nocap golden verify golden\n"
                "  nocap golden record golden hang-trisc1 --sim launch-host --fault hang-trisc1 "
                "--reason 'a hang'",
    CLI_OPTIONS(options),
    .more_options = cli_sim_options,
    .more_count = CLI_SIM_OPTIONS,
    .settings_size = sizeof(struct settings),
    .operands_min = 2,
    .operands_max = 4,
    .run = run,
};
