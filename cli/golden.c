/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checker/golden/golden.h"
#include "cli/bounded.h"
#include "cli/commands.h"
#include "cli/elf.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/sim.h"
#include "cli/trace_input.h"

struct settings {
    struct cli_sim_settings sim; /* comes first */
    const char *reason, *against;
    bool yes, run, overwrite, dense, trust_paths;
    struct cli_number jobs, mib, seconds;
};

static const struct cli_option options[] = {
    {"reason", "TEXT", "record: why this trace is kept", offsetof(struct settings, reason),
     CLI_TEXT, 0},
    {"jobs", "N", "verify, update: traces in parallel (1)", offsetof(struct settings, jobs),
     CLI_NUMBER, 'j'},
    {"overwrite", NULL, "record: replace the trace that has this name",
     offsetof(struct settings, overwrite), CLI_FLAG, 0},
    {"run", NULL,
     "verify, update: also make traces again, by the device\n"
     "and by commands, as the manifest says; only for one\n"
     "that you trust",
     offsetof(struct settings, run), CLI_FLAG, 0},
    {"against", "DIR",
     "verify: compare with the traces NAME.nocap of DIR,\n"
     "which were made elsewhere",
     offsetof(struct settings, against), CLI_TEXT, 0},
    {"max-mib", "N", "what making one trace may write (256)", offsetof(struct settings, mib),
     CLI_NUMBER, 0},
    {"max-seconds", "N", "how long making one trace may take (600)",
     offsetof(struct settings, seconds), CLI_NUMBER, 0},
    {"yes", NULL,
     "update: apply the changes; without it a terminal is\n"
     "asked, and else only shows",
     offsetof(struct settings, yes), CLI_FLAG, 0},
    CLI_DENSE(struct settings),
    CLI_TRUST_PATHS(struct settings),
};

/* How a trace is made, as the manifest says it. */
static const char by_device[] = "sim ";
static const char by_command[] = "run ";

enum {
    MADE_MAX = 1000,
    JOBS_MAX = 64,
    DEFAULT_MIB = 256,
    MIB_MAX = 1 << 20,
    DEFAULT_SECONDS = 600,
    SECONDS_MAX = 7 * 86400,
};

/* ---- making traces ---- */

static enum nocap_status make_by_device(const char *how, int fd, const struct cli_bounds *bounds,
                                        struct nocap_error *err)
{
    struct nocap_sim_options sim_options;
    struct nocap_trace_totals totals;
    RETURN_IF_FAILED(cli_sim_from_line(how, &sim_options, err));
    const struct cli_sim_bounds within = {how, bounds, cli_deadline(bounds)};
    return cli_sim_write(&sim_options, fd, NULL, &within, &totals, err);
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum nocap_status make_trace(void *context, const char *made, const char *out_path,
                                    struct nocap_error *err)
{
    const struct settings *s = context;
    const struct cli_bounds bounds = {s->mib.value, s->seconds.value};
    bool device = begins_with(made, by_device), command = begins_with(made, by_command);
    if ((!device && !command) || !s->run) {
        return NOCAP_END;
    }
    int fd = open(out_path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
    RETURN_ERROR_IF(fd < 0, err, NOCAP_E_OUTPUT, "cannot open %s: %s", out_path, strerror(errno));
    enum nocap_status status =
        device ? make_by_device(made + sizeof by_device - 1, fd, &bounds, err)
               : cli_command_run(made + sizeof by_command - 1, out_path, fd, &bounds, err);
    if (close(fd) != 0 && status == NOCAP_OK) {
        status = nocap_fail(err, NOCAP_E_OUTPUT, "cannot write %s: %s", out_path, strerror(errno));
    }
    return status;
}

/* ---- recording ---- */

/* Appends a word so that a shell reads it as it stands; false if there is no room. */
static bool append_word(char *line, size_t size, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=+,./:@%{}";
    size_t used = strlen(line);
    if (word[0] != 0 && strspn(word, plain) == strlen(word)) {
        return (size_t)snprintf(line + used, size - used, "%s ", word) < size - used;
    }
    bool room = used + 1 < size;
    line[used++] = '\'';
    for (; *word != 0 && (room = used + 8 < size); word++) {
        if (*word == '\'') {
            memcpy(line + used, "'\\''", 4);
            used += 4;
        } else {
            line[used++] = *word;
        }
    }
    snprintf(line + used, size - used, "' ");
    return room;
}

/* "sim launch-host --tiles 4", "run ./probe {}" or "imported": how the trace comes about. */
static enum nocap_status spell_made(const struct cli_call *call, char *made,
                                    struct nocap_error *err)
{
    static const char too_long[] = "the command is longer than %d characters: put it into a script";
    const struct settings *s = call->settings;
    const struct cli_operands *operands = &call->operands;
    if (s->sim.scenario != NULL) {
        struct nocap_sim_options unused;
        RETURN_IF_FAILED(cli_sim_resolve(&s->sim, &unused, err));
        strcpy(made, by_device);
        return cli_sim_to_line(&s->sim, made + sizeof by_device - 1, MADE_MAX - sizeof by_device,
                               err);
    }
    strcpy(made, operands->count > operands->plain ? by_command : NOCAP_GOLDEN_IMPORTED);
    if (operands->count == operands->plain + 1) { /* one word: a line for the shell as it stands */
        const char *line = operands->items[operands->plain];
        RETURN_ERROR_IF(strlen(made) + strlen(line) >= MADE_MAX, err, NOCAP_E_USAGE, too_long,
                        MADE_MAX);
        strcat(made, line);
        return NOCAP_OK;
    }
    for (size_t i = operands->plain; i < operands->count; i++) {
        RETURN_ERROR_IF(!append_word(made, MADE_MAX, operands->items[i]), err, NOCAP_E_USAGE,
                        too_long, MADE_MAX);
    }
    made[strlen(made) - (operands->count > operands->plain)] = 0; /* the blank at the end */
    return NOCAP_OK;
}

/* Operands: record DIR NAME [TRACE] [-- CMD ...]. */
static int record(const struct cli_call *call, struct settings s,
                  struct nocap_golden_options *golden)
{
    const char **operands = call->operands.items;
    struct nocap_error err = {{0}};
    char made[MADE_MAX];
    bool command = call->operands.count > call->operands.plain;
    bool trace = call->operands.plain == 4;
    if (call->operands.plain >= 3 && s.reason == NULL) {
        return cli_usage(call, "--reason is missing: why is this trace kept?");
    }
    if (call->operands.plain < 3 || call->operands.plain > 4 ||
        trace + command + (s.sim.scenario != NULL) != 1) {
        return cli_usage(call, "nocap golden record DIR NAME --reason TEXT, with one of a TRACE, "
                               "--sim SCENARIO, or -- CMD");
    }
    s.run = true;
    golden->context = &s;
    golden->overwrite = s.overwrite;
    enum nocap_status status = spell_made(call, made, &err);
    if (status == NOCAP_OK) {
        status = nocap_golden_record(operands[1], operands[2], trace ? operands[3] : NULL, made,
                                     s.reason, golden, &err);
    }
    return status == NOCAP_OK ? CLI_EXIT_OK : cli_fail(call, status, &err);
}

/* ---- verifying ---- */

static bool ask(void *context, size_t differences)
{
    char answer[16];
    (void)context;
    fflush(stdout);
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        return false;
    }
    fprintf(stderr, "replace %zu golden trace%s? [y/N] ", differences, differences == 1 ? "" : "s");
    return fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
}

/* What is wrong with the options; the exit status. */
static int check_options(const struct cli_call *call, const struct settings *s)
{
    if (s->jobs.given && (s->jobs.value == 0 || s->jobs.value > JOBS_MAX)) {
        return cli_usage(call, "--jobs takes 1 to %d", JOBS_MAX);
    }
    if (s->mib.value == 0 || s->mib.value > MIB_MAX || s->seconds.value == 0 ||
        s->seconds.value > SECONDS_MAX) {
        return cli_usage(call, "--max-mib takes 1 to %d, --max-seconds 1 to %d", MIB_MAX,
                         SECONDS_MAX);
    }
    if (s->against != NULL && (s->run || strcmp(call->operands.items[0], "verify") != 0)) {
        return cli_usage(call, "--against is for verify without --run");
    }
    return CLI_EXIT_OK;
}

/* Operands: verify DIR, or update DIR. */
static int verify(const struct cli_call *call, const struct settings *s, bool is_update,
                  const struct nocap_golden_options *golden)
{
    const char *action = call->operands.items[0], *dir = call->operands.items[1];
    struct nocap_error err = {{0}};
    size_t differences = 0;
    bool updated = false;
    if (!is_update && strcmp(action, "verify") != 0) {
        return cli_usage(call, "'%.100s' is none of record, verify, update", action);
    }
    if (call->operands.count != 2) {
        return cli_usage(call, "%s takes a directory and nothing more", action);
    }
    enum nocap_status status =
        is_update ? nocap_golden_update(dir, s->yes, golden, &differences, &updated, &err)
                  : nocap_golden_verify(dir, golden, &differences, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    return differences == 0 || updated ? CLI_EXIT_OK : CLI_EXIT_FINDINGS;
}

static int run(const struct cli_call *call)
{
    struct settings s = *(const struct settings *)call->settings;
    struct nocap_golden_options golden = {.size = sizeof golden,
                                          .out = stdout,
                                          .make_trace = make_trace,
                                          .context = &s,
                                          .jobs = (unsigned)s.jobs.value,
                                          .confirm = ask,
                                          .dense = s.dense,
                                          .trust_paths = s.trust_paths,
                                          .against = s.against};
    const char *action = call->operands.items[0];
    s.mib.value = s.mib.given ? s.mib.value : DEFAULT_MIB;
    s.seconds.value = s.seconds.given ? s.seconds.value : DEFAULT_SECONDS;
    int result = check_options(call, &s);
    if (result != CLI_EXIT_OK) {
        return result;
    }
    char *profile; /* the device says its own in the trace */
    result = cli_profile_json(call, s.sim.scenario == NULL ? s.sim.profile : NULL, &profile);
    golden.profile = profile;
    if (result == CLI_EXIT_OK) {
        result = strcmp(action, "record") == 0
                     ? record(call, s, &golden)
                     : verify(call, &s, strcmp(action, "update") == 0, &golden);
    }
    free(profile);
    return result;
}

CLI_COMMAND(command) = {
    .name = "golden",
    .operands = "record DIR NAME [TRACE] [-- CMD ...] | verify DIR | update DIR",
    .summary = "keep golden traces, and compare what the checker and their makers say today",
    .details = "record adds TRACE, one made by --sim, or what CMD makes, under NAME; verify\n"
               "checks every trace of DIR again, with --run makes it again as the manifest\n"
               "says, and compares; with --against it compares with traces that are there, of\n"
               "which only imported ones may be missing; update shows the same and makes it\n"
               "the golden one. CMD is run by a shell and writes the trace, of any form, to\n"
               "its standard output, or to the file that {} stands for; a CMD of one word is a\n"
               "line of the shell as it is. By --profile all traces are judged, whatever\n"
               "their headers say; the header of one that record keeps says it then.",
    .findings = "a trace or its verdict differs from what is recorded",
    .examples = "  nocap golden verify --run --jobs 4 golden\n"
                "  nocap golden verify --against out/traces golden\n"
                "  nocap golden record golden hang-trisc1 --sim launch-host --fault hang-trisc1 "
                "--reason 'a hang'\n"
                "  nocap golden record golden matmul --reason 'the release test' -- ./probe -o {}",
    CLI_OPTIONS(options),
    .more_options = cli_sim_options,
    .more_count = CLI_SIM_OPTIONS,
    .settings_size = sizeof(struct settings),
    .operands_min = 2,
    .operands_max = CLI_MANY,
    .run = run,
};
