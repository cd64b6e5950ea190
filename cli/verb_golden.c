#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checker/golden.h"
#include "cli/output.h"
#include "cli/sim.h"
#include "cli/verb.h"

struct settings {
    struct cli_sim_settings sim; /* comes first */
    const char *reason;
    bool yes, run;
    struct cli_number jobs;
};

static const struct cli_option options[] = {
    {"reason", "TEXT", "record: why this trace is kept", offsetof(struct settings, reason),
     CLI_TEXT, 0},
    {"jobs", "N", "verify, update: traces looked at at the same time (1)",
     offsetof(struct settings, jobs), CLI_NUMBER, 'j'},
    {"run", NULL, "verify, update: also run again the commands that made traces",
     offsetof(struct settings, run), CLI_FLAG, 0},
    {"yes", NULL, "update: make it so; without it a terminal is asked, and else only shows",
     offsetof(struct settings, yes), CLI_FLAG, 0},
};

/* How a trace is made, as the manifest says it. */
static const char by_device[] = "sim ";
static const char by_command[] = "run ";
static const char trace_word[] = "{}"; /* of a command: the file to write the trace to */

enum {
    MADE_MAX = 1000,
    JOBS_MAX = 64,
    UNFINISHED_MAX = 1024,
    COPY_BYTES = 1 << 16,
    COMMAND_BYTES_MAX = 256 << 20, /* of what a command writes, in any form */
};

/* ---- commands ---- */

/* Files being made, which a signal that ends the program removes. */
static char *unfinished[UNFINISHED_MAX];
static atomic_size_t unfinished_count;

static void remove_unfinished(int number)
{
    size_t count = atomic_load(&unfinished_count);
    for (size_t i = 0; i < count && i < UNFINISHED_MAX; i++) {
        if (unfinished[i] != NULL) {
            unlink(unfinished[i]);
        }
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void remember_unfinished(const char *path)
{
    char *copy = strdup(path);
    size_t i = atomic_fetch_add(&unfinished_count, 1);
    if (i < UNFINISHED_MAX) {
        unfinished[i] = copy;
    } else {
        free(copy);
    }
}

/* Whether all of the pipe went into the file, which has a bound. */
static enum nocap_status copy_output(int pipe_fd, int fd, const char *how, struct nocap_error *err)
{
    char buffer[COPY_BYTES];
    uint64_t bytes = 0;
    for (;;) {
        ssize_t n = read(pipe_fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        RETURN_ERROR_IF(n < 0, err, NOCAP_E_INPUT, "cannot read what '%s' writes: %s", how,
                        strerror(errno));
        if (n == 0) {
            return NOCAP_OK;
        }
        bytes += (uint64_t)n;
        RETURN_ERROR_IF(bytes > COMMAND_BYTES_MAX, err, NOCAP_E_INPUT,
                        "'%s' writes more than %d MiB: golden traces are small ones", how,
                        COMMAND_BYTES_MAX >> 20);
        for (ssize_t done = 0, w; done < n; done += w) {
            w = write(fd, buffer + done, (size_t)(n - done));
            RETURN_ERROR_IF(w <= 0, err, NOCAP_E_OUTPUT, "cannot write what '%s' made: %s", how,
                            strerror(errno));
        }
    }
}

static noreturn void be_command(const char *line, const char *path, int out)
{
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (setenv("NOCAP_TRACE", path, 1) == 0 && dup2(out, STDOUT_FILENO) >= 0) {
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    }
    _exit(127);
}

/* A shell runs the line: its standard output is the trace, unless the line has a {}, which stands
 * for $NOCAP_TRACE, the file. */
static enum nocap_status make_by_command(const char *how, const char *path, int fd,
                                         struct nocap_error *err)
{
    static const char variable[] = "\"$NOCAP_TRACE\"";
    char line[MADE_MAX + sizeof variable];
    int ends[2];
    const char *at = strstr(how, trace_word);
    snprintf(line, sizeof line, "%.*s%s%s", at != NULL ? (int)(at - how) : (int)strlen(how), how,
             at != NULL ? variable : "", at != NULL ? at + sizeof trace_word - 1 : "");
    RETURN_ERROR_IF(pipe2(ends, O_CLOEXEC) != 0, err, NOCAP_E_MEMORY, "cannot run '%s': %s", how,
                    strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        be_command(line, path, at != NULL ? STDERR_FILENO : ends[1]);
    }
    close(ends[1]);
    enum nocap_status result =
        child < 0 ? nocap_fail(err, NOCAP_E_MEMORY, "cannot run '%s': %s", how, strerror(errno))
                  : copy_output(ends[0], fd, how, err);
    close(ends[0]); /* a command that writes on gets SIGPIPE */
    if (child < 0) {
        return result;
    }
    if (result != NOCAP_OK) {
        kill(child, SIGTERM);
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    RETURN_IF_FAILED(result);
    RETURN_ERROR_IF(!WIFEXITED(status) || WEXITSTATUS(status) != 0, err, NOCAP_E_INPUT,
                    "'%s' ended with status %d: no trace was made", how,
                    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return NOCAP_OK;
}

/* ---- making traces ---- */

static enum nocap_status make_by_device(const char *how, int fd, struct nocap_error *err)
{
    struct nocap_sim_options sim_options;
    struct nocap_trace_totals totals;
    RETURN_IF_FAILED(cli_sim_from_line(how, &sim_options, err));
    return cli_sim_write(&sim_options, fd, NULL, &totals, err);
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum nocap_status make_trace(void *context, const char *made, const char *out_path,
                                    struct nocap_error *err)
{
    const struct settings *s = context;
    bool device = begins_with(made, by_device), command = begins_with(made, by_command);
    if (!device && !(command && s->run)) {
        return NOCAP_END;
    }
    remember_unfinished(out_path);
    int fd = open(out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    RETURN_ERROR_IF(fd < 0, err, NOCAP_E_OUTPUT, "cannot create %s: %s", out_path, strerror(errno));
    enum nocap_status status =
        device ? make_by_device(made + sizeof by_device - 1, fd, err)
               : make_by_command(made + sizeof by_command - 1, out_path, fd, err);
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
static int record(const struct cli_call *call, struct nocap_golden_options *golden)
{
    struct settings s = *(const struct settings *)call->settings;
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

static int run(const struct cli_call *call)
{
    struct settings s = *(const struct settings *)call->settings;
    struct nocap_error err = {{0}};
    struct nocap_golden_options golden = {.size = sizeof golden,
                                          .out = stdout,
                                          .make_trace = make_trace,
                                          .context = &s,
                                          .jobs = (unsigned)s.jobs.value,
                                          .confirm = ask};
    const char *action = call->operands.items[0], *dir = call->operands.items[1];
    size_t differences = 0;
    bool updated = false;
    enum nocap_status status;
    if (s.jobs.given && (s.jobs.value == 0 || s.jobs.value > JOBS_MAX)) {
        return cli_usage(call, "--jobs takes 1 to %d", JOBS_MAX);
    }
    signal(SIGINT, remove_unfinished);
    signal(SIGTERM, remove_unfinished);
    signal(SIGHUP, remove_unfinished);
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
    status = is_update ? nocap_golden_update(dir, s.yes, &golden, &differences, &updated, &err)
                       : nocap_golden_verify(dir, &golden, &differences, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    return differences == 0 || updated ? CLI_EXIT_OK : CLI_EXIT_FINDINGS;
}

CLI_VERB(verb) = {
    .name = "golden",
    .operands = "record DIR NAME [TRACE] [-- CMD ...] | verify DIR | update DIR",
    .summary = "keep golden traces, and compare what the checker and their makers say today",
    .details =
        "record adds TRACE, one made by --sim, or what CMD makes, under NAME; verify checks every\n"
        "trace of DIR again, makes those of the embedded device again, and compares; update shows\n"
        "the same and makes it the golden one. CMD is run by a shell and writes the trace, of any\n"
        "form, to its standard output, or to the file that {} stands for; a CMD of one word is a "
        "line\n"
        "of the shell as it stands.",
    .findings = "a trace or its verdict differs from what is recorded",
    .examples = "  nocap golden verify --jobs 4 golden\n"
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
