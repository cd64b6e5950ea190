/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "capture/aie/run.h"
#include "checker/aie/lint.h"
#include "checker/aie/listing.h"
#include "cli/check_jobs.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "formats/aie/asm.h"

enum { ANSWERS_SHOWN = 100, MAP_YES = 1, MAP_NO = 2 /* words of --map */ };

struct settings {
    unsigned dialect, chip, format, fail_on, map;
    const char *output, *rules, *buffers, *waivers, *baseline, *kernel;
    struct cli_list dirs;
    struct cli_number max_per_rule, seed;
    struct cli_list words;
    bool plain, silent, silent_polls, silent_tokens, preempt;
};

/* In the order of the words of the options. */
static const enum nocap_aie_dialect dialects[] = {NOCAP_AIE_DIALECT_OF_FILE, NOCAP_AIE_SEED,
                                                  NOCAP_AIE_F25, NOCAP_AIE_M25, NOCAP_AIE_N26};
static const enum nocap_aie_chip chips[] = {NOCAP_AIE_CHIP_UNKNOWN, NOCAP_AIE2PS, NOCAP_AIE4};

static const struct cli_option options[] = {
    {"dialect", "auto|seed|f25|m25|n26",
     "which instructions and rules apply (auto: as the\n"
     "file says)",
     offsetof(struct settings, dialect), CLI_CHOICE, 0},
    {"chip", "auto|aie2ps|aie4",
     "whose tiles and channels they are (auto: as the file\n"
     "says)",
     offsetof(struct settings, chip), CLI_CHOICE, 0},
    {"output", "FILE",
     "write to FILE instead of standard output; asm and run\n"
     "need it",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
};

/* asm takes files that a source includes, and so does lint of a source. */
#define LIBPATH                                                                                    \
    {                                                                                              \
        "libpath", "DIR",                                                                          \
            "where included files are looked for; may be given\n"                                  \
            "several times",                                                                       \
            offsetof(struct settings, dirs), CLI_LIST, 'L'                                         \
    }

/* disasm, lint and run take one kernel of several. */
#define KERNEL                                                                                     \
    {                                                                                              \
        "kernel", "NAME", "one kernel of several: KERNEL, KERNEL:INSTANCE",                        \
            offsetof(struct settings, kernel), CLI_TEXT, 0                                         \
    }

static const struct cli_option of_asm[] = {
    LIBPATH,
    {"buffers", "FILE",
     "JSON of the compiler about external buffers and\n"
     "control packets",
     offsetof(struct settings, buffers), CLI_TEXT, 0},
    {"map", "auto|yes|no",
     "section .dump, from which findings and disasm have\n"
     "lines (auto: in files of n26)",
     offsetof(struct settings, map), CLI_CHOICE, 0},
};

static const struct cli_option of_disasm[] = {
    {"format", "text|json", "form of the output (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
    {"plain", NULL, "without comments", offsetof(struct settings, plain), CLI_FLAG, 0},
    KERNEL,
};

static const struct cli_option of_lint[] = {
    CLI_REPORT_FORMAT(struct settings),
    LIBPATH,
    KERNEL,
    {"fail-on", "error|warning|note", "least severity that makes the exit status 1 (error)",
     offsetof(struct settings, fail_on), CLI_CHOICE, 0},
    {"rules", "LIST", "only these rules, - excludes: AIE-041,AIE-043",
     offsetof(struct settings, rules), CLI_TEXT, 0},
    CLI_REPORT_OPTIONS(struct settings),
};

static const struct cli_option of_run[] = {
    KERNEL,
    {"seed", "S",
     "of the order in which jobs and accesses run (0); equal\n"
     "seeds give equal traces",
     offsetof(struct settings, seed), CLI_NUMBER, 0},
    {"set", "ADDR=VALUE",
     "a word of the array before the run; may be given\n"
     "several times",
     offsetof(struct settings, words), CLI_LIST, 0},
    {"silent", NULL,
     "polls and waits end only by what the control code\n"
     "does",
     offsetof(struct settings, silent), CLI_FLAG, 0},
    {"silent-polls", NULL, "the same of polls alone", offsetof(struct settings, silent_polls),
     CLI_FLAG, 0},
    {"silent-tokens", NULL, "the same of waits for tokens alone",
     offsetof(struct settings, silent_tokens), CLI_FLAG, 0},
    {"preempt", NULL, "every PREEMPT saves and restores", offsetof(struct settings, preempt),
     CLI_FLAG, 0},
};

/* ---- asm ---- */

static int assemble(const struct cli_call *call)
{
    const char *path = call->operands.items[1];
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    uint8_t *elf = NULL;
    size_t size = 0;
    const struct nocap_aie_asm_options asm_options = {.dialect = dialects[s->dialect],
                                                      .chip = chips[s->chip],
                                                      .dirs = s->dirs.items,
                                                      .dir_count = s->dirs.count,
                                                      .map = s->map == MAP_YES,
                                                      .no_map = s->map == MAP_NO,
                                                      .buffers = s->buffers};
    if (s->output == NULL) {
        return cli_usage(call, "asm writes an ELF file: name it with -o FILE");
    }
    enum nocap_status status = nocap_aie_assemble(&elf, &size, path, &asm_options, &err);
    if (status == NOCAP_OK) {
        status = cli_output_open(&output, s->output, &err);
    }
    if (status != NOCAP_OK) {
        free(elf);
        return cli_fail(call, status, &err);
    }
    status = cli_output_write(&output, elf, size, &err);
    free(elf);
    return cli_output_finish(&output, call, status, &err);
}

/* The image of one kernel, or of all. */
static enum nocap_status open_kernel(const struct settings *s, const char *path, bool all,
                                     struct nocap_aie_image **image, struct nocap_error *err)
{
    RETURN_IF_FAILED(nocap_aie_image_open_input(image, path, err));
    enum nocap_status status = all ? NOCAP_OK : nocap_aie_image_select(*image, s->kernel, err);
    if (status != NOCAP_OK) {
        nocap_aie_image_close(*image);
        *image = NULL;
        return status;
    }
    if (dialects[s->dialect] != NOCAP_AIE_DIALECT_OF_FILE) {
        (*image)->dialect = dialects[s->dialect];
    }
    if (chips[s->chip] != NOCAP_AIE_CHIP_UNKNOWN) {
        (*image)->chip = chips[s->chip];
    }
    return NOCAP_OK;
}

/* ---- disasm ---- */

static enum nocap_status disassemble_to(const struct settings *s, FILE *stream,
                                        const struct nocap_aie_image *image, const char *path,
                                        bool *complete, struct nocap_error *err)
{
    if (stream == NULL) {
        return NOCAP_E_OUTPUT;
    }
    return s->format == NOCAP_FORMAT_JSON
               ? nocap_aie_listing(stream, image, image->dialect, path, complete, err)
           : s->plain
               ? nocap_aie_disassemble(stream, image, image->dialect, complete, err)
               : nocap_aie_disassemble_with_notes(stream, image, image->dialect, complete, err);
}

static int disassemble(const struct cli_call *call)
{
    const char *path = call->operands.items[1];
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_aie_image *image;
    struct cli_output output;
    bool complete = true;
    enum nocap_status status = open_kernel(s, path, s->kernel == NULL, &image, &err);
    if (status == NOCAP_OK) {
        status = cli_output_open(&output, s->output, &err);
    }
    if (status != NOCAP_OK) {
        nocap_aie_image_close(image);
        return cli_fail(call, status, &err);
    }
    status = disassemble_to(s, cli_output_stream(&output, &err), image, path, &complete, &err);
    nocap_aie_image_close(image);
    int result = cli_output_finish(&output, call, status, &err);
    return result == CLI_EXIT_OK && !complete ? CLI_EXIT_FINDINGS : result;
}

/* ---- lint ---- */

static enum nocap_status judge(const void *lint_options, struct nocap_report **report,
                               const char *path, struct nocap_error *err)
{
    return nocap_aie_lint(report, path, lint_options, err);
}

static int lint_with(const struct cli_call *call, const struct cli_accepted *accepted)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_results results = {0};
    struct cli_output output;
    const struct nocap_lint_options lint_options = {.size = sizeof lint_options,
                                                    .dialect = dialects[s->dialect],
                                                    .rules = s->rules,
                                                    .waivers = s->waivers,
                                                    .known = accepted->known,
                                                    .kernel = s->kernel,
                                                    .chip = chips[s->chip],
                                                    .dirs = s->dirs.items,
                                                    .dir_count = s->dirs.count,
                                                    .max_per_rule =
                                                        (uint32_t)s->max_per_rule.value};
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    int worst = cli_judge_all(call, &call->operands.items[1], 1, 1, judge, &lint_options, &results);
    results.command = "nocap aie lint";
    results.fail_on = cli_fail_on[s->fail_on];
    return cli_results_finish(call, &output, &results, (enum nocap_format)s->format, accepted,
                              worst);
}

static int lint(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    int status;
    struct cli_accepted accepted;
    if (!cli_max_per_rule(call, &s->max_per_rule, &status)) {
        return status;
    }
    status = cli_accepted_open(call, s->baseline, NULL, &accepted);
    if (status == CLI_EXIT_OK) {
        status = lint_with(call, &accepted);
    }
    cli_accepted_close(&accepted);
    return status;
}

/* ---- run ---- */

static bool parse_word(const char *text, struct nocap_aie_word *word)
{
    char *end;
    errno = 0;
    unsigned long long address = strtoull(text, &end, 0);
    if (end == text || *end != '=' || address > UINT32_MAX) {
        return false;
    }
    const char *rest = end + 1;
    unsigned long long value = strtoull(rest, &end, 0);
    *word = (struct nocap_aie_word){(uint32_t)address, (uint32_t)value};
    return end != rest && *end == 0 && value <= UINT32_MAX && errno == 0;
}

/* The ELF file as the trace names it: from the trace's folder on if it lies there or below. Freed
 * by the caller; NULL without memory. */
static char *name_elf(const char *elf, const char *trace)
{
    const char *slash = strrchr(trace, '/');
    char *start = slash == NULL ? strdup(".") : strndup(trace, (size_t)(slash - trace) + 1);
    char *folder = start == NULL ? NULL : realpath(start, NULL), *file = realpath(elf, NULL);
    size_t length = folder == NULL ? 0 : strlen(folder);
    bool below =
        length > 1 && file != NULL && strncmp(file, folder, length) == 0 && file[length] == '/';
    if (below) {
        memmove(file, file + length + 1, strlen(file + length));
    }
    free(start);
    free(folder);
    return file;
}

/* With the kernel that was chosen after a colon, if one was. */
static char *name_kernel(const char *path, const struct settings *s)
{
    const char *colon = nocap_aie_path_kernel(path);
    const char *kernel = colon != NULL ? colon + 1 : s->kernel;
    char *file = colon != NULL ? strndup(path, (size_t)(colon - path)) : strdup(path);
    char *elf = file == NULL ? NULL : name_elf(file, s->output), *name = NULL;
    free(file);
    if (elf == NULL || kernel == NULL) {
        return elf;
    }
    if (asprintf(&name, "%s:%s", elf, kernel) < 0) {
        name = NULL;
    }
    free(elf);
    return name;
}

static enum nocap_status take(void *writer, const struct nocap_event *event,
                              struct nocap_error *err)
{
    return nocap_writer_add(writer, event, err);
}

static enum nocap_status record(const struct nocap_aie_image *image,
                                const struct nocap_aie_run_options *run_options, const char *elf,
                                int fd, struct nocap_aie_run_result *result,
                                struct nocap_error *err)
{
    struct nocap_header header;
    struct nocap_writer *writer;
    RETURN_IF_FAILED(nocap_aie_run_header(run_options, elf, &header, err));
    enum nocap_status status = nocap_writer_open_fd(&writer, fd, &header, NULL, err);
    if (status == NOCAP_OK) {
        status = nocap_aie_run(image, run_options, take, writer, result, err);
        if (status == NOCAP_OK) {
            status = nocap_writer_close(writer, NULL, err);
        } else {
            nocap_writer_abandon(writer);
        }
    }
    nocap_header_free(&header);
    return status;
}

static enum nocap_status run_to(const struct settings *s,
                                const struct nocap_aie_run_options *run_options, const char *path,
                                int fd, struct nocap_aie_run_result *result,
                                struct nocap_error *err)
{
    struct nocap_aie_image *image;
    RETURN_IF_FAILED(open_kernel(s, path, false, &image, err));
    struct nocap_aie_run_options own = *run_options;
    own.dialect = image->dialect;
    bool named = strcmp(path, "-") != 0;
    char *elf = named ? name_kernel(path, s) : NULL;
    enum nocap_status status = named && elf == NULL
                                   ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory")
                                   : record(image, &own, elf, fd, result, err);
    free(elf);
    nocap_aie_image_close(image);
    return status;
}

/* Waits that the array ended, by place; the first ones. */
struct answers {
    struct nocap_aie_answer items[ANSWERS_SHOWN];
    uint32_t times[ANSWERS_SHOWN];
    size_t count; /* of places, one after the other */
    struct nocap_aie_answer last;
};

static void keep_answer(void *context, const struct nocap_aie_answer *answer)
{
    struct answers *a = context;
    bool again = a->count != 0 && a->last.uc == answer->uc && a->last.page == answer->page &&
                 a->last.off == answer->off;
    a->count += !again;
    a->last = *answer;
    if (a->count <= ANSWERS_SHOWN) {
        a->items[a->count - 1] = *answer;
        a->times[a->count - 1]++;
    }
}

static void report_answers(const struct cli_call *call, const struct answers *a)
{
    for (size_t i = 0; i < a->count && i < ANSWERS_SHOWN; i++) {
        const struct nocap_aie_answer *at = &a->items[i];
        cli_message(call, "  uc%u page %u offset 0x%x: %s, %u times", at->uc, at->page, at->off,
                    at->insn->mnemonic, a->times[i]);
    }
    if (a->count > ANSWERS_SHOWN) {
        cli_message(call, "  and at %zu more places", a->count - ANSWERS_SHOWN);
    }
}

static void report_run(const struct cli_call *call, const struct nocap_aie_run_result *result,
                       const struct answers *answers)
{
    cli_message(call, "%" PRIu64 " events%s", result->events,
                result->cut ? "; stopped there, the run was not over" : "");
    if (result->answers != 0) {
        cli_message(
            call,
            "waits that the array ended, which answers when nothing else can happen: %" PRIu64
            "; --silent, --silent-polls and --silent-tokens leave them",
            result->answers);
        report_answers(call, answers);
    }
    if (result->stuck != 0) {
        cli_message(call, "jobs blocked indefinitely: %u; see nocap hang", result->stuck);
    }
}

static int execute(const struct cli_call *call)
{
    const char *path = call->operands.items[1];
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    struct nocap_aie_run_result result = {.events = 0};
    struct answers answers = {.count = 0};
    if (s->output == NULL) {
        return cli_usage(call, "run records a trace: name it with -o FILE");
    }
    struct nocap_aie_word *words = calloc(s->words.count + 1, sizeof *words);
    for (size_t i = 0; words != NULL && i < s->words.count; i++) {
        if (!parse_word(s->words.items[i], &words[i])) {
            free(words);
            return cli_usage(call, "--set takes ADDR=VALUE, both of 32 bits, not '%.60s'",
                             s->words.items[i]);
        }
    }
    const struct nocap_aie_run_options run_options = {.size = sizeof run_options,
                                                      .seed = s->seed.value,
                                                      .silent_polls = s->silent || s->silent_polls,
                                                      .silent_tokens =
                                                          s->silent || s->silent_tokens,
                                                      .answered = keep_answer,
                                                      .answered_context = &answers,
                                                      .preempt = s->preempt,
                                                      .words = words,
                                                      .word_count = s->words.count};
    enum nocap_status status = words == NULL ? nocap_fail(&err, NOCAP_E_MEMORY, "out of memory")
                                             : cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        free(words);
        return cli_fail(call, status, &err);
    }
    status = run_to(s, &run_options, path, output.fd, &result, &err);
    free(words);
    int exit_status = cli_output_finish(&output, call, status, &err);
    if (exit_status == CLI_EXIT_OK) {
        report_run(call, &result, &answers);
    }
    return exit_status == CLI_EXIT_OK && result.stuck != 0 ? CLI_EXIT_FINDINGS : exit_status;
}

static const struct cli_part parts[] = {
    {"asm", of_asm, sizeof of_asm / sizeof of_asm[0], assemble},
    {"disasm", of_disasm, sizeof of_disasm / sizeof of_disasm[0], disassemble},
    {"lint", of_lint, sizeof of_lint / sizeof of_lint[0], lint},
    {"run", of_run, sizeof of_run / sizeof of_run[0], execute},
};

CLI_COMMAND(command) = {
    .name = "aie",
    .operands = "asm FILE -o ELF | disasm ELF | lint ELF|FILE.asm | run ELF -o TRACE",
    .summary = "assemble, disassemble, lint and run AIE control code",
    .details = "asm makes an ELF file of assembly text; disasm makes text of which asm makes\n"
               "the same file; lint judges the static rules of the family AIE; run executes\n"
               "the code in software and records a trace for check. ELF may also be the bare\n"
               "image of a column, pages of 8192 bytes; disasm and lint (family TXN) also take\n"
               "the transaction streams of aie2 and aie2p. FILE and ELF may be -, standard\n"
               "input; a trace of run then names no ELF file, which check takes with --elf\n"
               "uc=ELF. Of a file with several kernels disasm and lint take all, run the one\n"
               "of --kernel; ELF:KERNEL:INSTANCE is one too, as in --elf uc=ELF:KERNEL.",
    .findings = "lint: findings at or above --fail-on; disasm: something is no instruction, or not "
                "in the text;\n     run: jobs wait forever",
    .examples = "  nocap aie asm control.asm -L lib -o control.elf\n"
                "  nocap aie lint --format json control.elf\n"
                "  nocap aie run control.elf -o control.nocap && nocap check control.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .makes = CLI_MAKES_TRACE,
    .operands_min = 2,
    .operands_max = 2,
    CLI_PARTS(parts),
};
