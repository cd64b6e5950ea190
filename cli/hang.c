/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checker/hang/hang.h"
#include "cli/check_jobs.h"
#include "cli/commands.h"
#include "cli/elf.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/trace_input.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_DOT };

struct settings {
    unsigned format; /* enum format */
    struct cli_number at, events;
    struct cli_list elf, stuck, logs;
    struct cli_number first_column;
    const char *output, *kernel, *profile;
    bool dense, trust_paths;
};

static const struct cli_option options[] = {
    {"format", "text|json|dot", "form of the answer (text); dot is for Graphviz",
     offsetof(struct settings, format), CLI_CHOICE, 0},
    CLI_OUTPUT(struct settings),
    {"at", "TIME", "as if the trace ended after TIME", offsetof(struct settings, at), CLI_NUMBER,
     0},
    {"events", "N", "how many of the last events about the root (10)",
     offsetof(struct settings, events), CLI_NUMBER, 0},
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
    {"elf", "CORE=FILE",
     "the firmware or kernel of a RISC: where in the source\n"
     "it was last",
     offsetof(struct settings, elf), CLI_LIST, 0},
    CLI_TRUST_PATHS(struct settings),
    {"stuck", "UC:PAGE:OFFSET",
     "AIE without a trace: what a uC ran last, as XRT or\n"
     "the driver says",
     offsetof(struct settings, stuck), CLI_LIST, 0},
    {"log", "[UC=]FILE",
     "AIE without a trace: uc_log (text, .bin), message of\n"
     "XRT, xrt-smi table, kernel log",
     offsetof(struct settings, logs), CLI_LIST, 0},
    {"kernel", "NAME",
     "AIE without a trace: the kernel that ran, of an ELF\n"
     "file with several",
     offsetof(struct settings, kernel), CLI_TEXT, 0},
    {"first-column", "N",
     "of the partition: taken off --stuck and uc_idx, which\n"
     "count from the device's (0)",
     offsetof(struct settings, first_column), CLI_NUMBER, 0},
};

static enum nocap_status print(const struct cli_call *call, struct cli_output *output,
                               const struct nocap_hang *hang, struct nocap_error *err)
{
    const struct settings *s = call->settings;
    if (s->format == FORMAT_TEXT) {
        cli_output_fold(output);
    }
    FILE *stream = cli_output_stream(output, err);
    if (stream == NULL) {
        return NOCAP_E_OUTPUT;
    }
    switch (s->format) {
    case FORMAT_JSON: return nocap_hang_json(stream, hang, err);
    case FORMAT_DOT: return nocap_hang_dot(stream, hang, err);
    default: return nocap_hang_text(stream, hang, cli_output_has_color(output, call), err);
    }
}

/* Takes the hang, which is NULL if `status` says so. */
static int answer(const struct cli_call *call, struct nocap_hang *hang, enum nocap_status status,
                  struct nocap_error *err)
{
    const struct settings *s = call->settings;
    struct cli_output output;
    if (status == NOCAP_OK) {
        status = cli_output_open(&output, s->output, err);
    }
    if (status != NOCAP_OK) {
        nocap_hang_free(hang);
        return cli_fail(call, status, err);
    }
    status = print(call, &output, hang, err);
    bool stuck = hang->verdict == NOCAP_HANG_HUNG || hang->verdict == NOCAP_HANG_INCONCLUSIVE;
    nocap_hang_free(hang);
    int result = cli_output_finish(&output, call, status, err);
    return result != CLI_EXIT_OK ? result : stuck ? CLI_EXIT_FINDINGS : CLI_EXIT_OK;
}

static int answer_trace(const struct cli_call *call, const struct nocap_hang_options *hang_options)
{
    struct nocap_error err = {{0}};
    struct nocap_hang *hang = NULL;
    enum nocap_status status = nocap_hang(&hang, call->operands.items[0], hang_options, &err);
    if (status == NOCAP_OK) {
        cli_elf_unopened(call, hang->report);
    }
    return answer(call, hang, status, &err);
}

/* ---- without a trace ---- */

/* "2=uc_log_2.txt", or a file that says itself of which column it tells. */
static enum nocap_status read_log(struct nocap_aie_postmortem *postmortem, const char *text,
                                  struct nocap_error *err)
{
    char *end;
    unsigned long column = strtoul(text, &end, 10);
    bool named = end != text && *end == '=' && column < NOCAP_AIE_POSTMORTEM_COLUMNS;
    const char *path = named ? end + 1 : text;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    RETURN_ERROR_IF(file == NULL, err, NOCAP_E_INPUT, "cannot open %s: %s", path, strerror(errno));
    enum nocap_status status =
        nocap_aie_postmortem_read(postmortem, file, path, named ? (uint32_t)column : 0, err);
    if (file != stdin) {
        fclose(file);
    }
    return status;
}

static enum nocap_status gather(const struct settings *s, struct nocap_aie_postmortem *postmortem,
                                struct nocap_error *err)
{
    postmortem->first_column = (uint32_t)s->first_column.value;
    for (size_t i = 0; i < s->logs.count; i++) {
        RETURN_IF_FAILED(read_log(postmortem, s->logs.items[i], err));
    }
    for (size_t i = 0; i < s->stuck.count; i++) { /* what is typed counts more */
        RETURN_IF_FAILED(nocap_aie_postmortem_add(postmortem, s->stuck.items[i], err));
    }
    return NOCAP_OK;
}

static int answer_remains(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_hang *hang = NULL;
    struct nocap_aie_postmortem *postmortem = calloc(1, sizeof *postmortem);
    enum nocap_status status = postmortem == NULL
                                   ? nocap_fail(&err, NOCAP_E_MEMORY, "out of memory")
                                   : gather(s, postmortem, &err);
    if (status == NOCAP_OK) {
        status = nocap_hang_postmortem(&hang, call->operands.items[0], s->kernel, postmortem, &err);
    }
    if (postmortem != NULL) {
        nocap_aie_postmortem_clear(postmortem);
    }
    free(postmortem);
    return answer(call, hang, status, &err);
}

/* ---- from a trace ---- */

static int run_with(const struct cli_call *call, const struct nocap_elf_arg *elf, size_t count)
{
    const struct settings *s = call->settings;
    char *profile;
    int result = cli_profile_json(call, s->profile, &profile);
    const struct nocap_hang_options hang_options = {
        .size = sizeof hang_options,
        .profile = profile,
        .has_at = s->at.given,
        .at = s->at.value,
        .elf = elf,
        .elf_count = count,
        .events = (uint32_t)s->events.value,
        .dense = s->dense,
        .trust_paths = s->trust_paths,
        .beside = cli_cores() > 1 && cli_is_large(call->operands.items[0]),
    };
    if (result == CLI_EXIT_OK) {
        result = answer_trace(call, &hang_options);
    }
    free(profile);
    return result;
}

/* A pipe is left alone: who writes to it would see it closed. */
static bool is_elf(const char *path)
{
    char begin[SELFMAG];
    struct stat about;
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "re") : NULL;
    if (file == NULL) {
        return false;
    }
    bool elf = fread(begin, sizeof begin, 1, file) == 1 && memcmp(begin, ELFMAG, SELFMAG) == 0;
    fclose(file);
    return elf;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    if (s->events.given && (s->events.value == 0 || s->events.value > 1000)) {
        return cli_usage(call, "--events takes 1 to 1000");
    }
    if (s->stuck.count + s->logs.count != 0) {
        if (s->at.given || s->events.given || s->elf.count != 0) {
            return cli_usage(call, "--stuck and --log go without a trace, and without --at, "
                                   "--events and --elf: the operand is the ELF file");
        }
        if (s->first_column.value >= NOCAP_AIE_POSTMORTEM_COLUMNS) {
            return cli_usage(call, "--first-column takes 0 to 127");
        }
        return answer_remains(call);
    }
    if (s->kernel != NULL) {
        return cli_usage(call, "--kernel goes with --stuck and --log; for a trace, name the kernel "
                               "with --elf uc=ELF:KERNEL");
    }
    if (is_elf(call->operands.items[0])) {
        return cli_usage(call,
                         "%.200s is an ELF file: say where its code was, with --log FILE "
                         "or --stuck UC:PAGE:OFFSET",
                         call->operands.items[0]);
    }
    return cli_elf_with(call, &s->elf, run_with);
}

CLI_COMMAND(command) = {
    .name = "hang",
    .operands = "TRACE | ELF --stuck UC:PAGE:OFFSET | ELF --log [UC=]FILE",
    .summary = "post-mortem: who waits for whom when a trace ends, the root, the evidence",
    .details = "Says who waits for what and since when, who should have acted, and which\n"
               "findings of `nocap check` came before. A hang is claimed only where nothing\n"
               "moved for longer than it ever took. Of AIE control code that was not traced,\n"
               "it works from the ELF file and where the uCs were: what XRT, the driver or the\n"
               "log of the firmware say. OFFSET counts from the page's start.",
    .findings = "a hang, or too little observed to tell",
    .examples = "  nocap hang run.nocap\n"
                "  nocap hang run.nocap --format dot | dot -Tsvg -o hang.svg\n"
                "  nocap hang control.elf --stuck 0:3:0x2c --log 1=uc_log_1.txt",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
