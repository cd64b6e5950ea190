#include <stdlib.h>
#include <string.h>

#include "checker/aie_listing.h"
#include "checker/lint_aie.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "formats/aie/asm.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

struct settings {
    unsigned dialect, format, fail_on;
    const char *output, *rules, *buffers;
    struct cli_list dirs;
    struct cli_number max_per_rule;
};

/* In the order of the words of the options. */
static const enum nocap_aie_dialect dialects[] = {NOCAP_AIE_SEED, NOCAP_AIE_F25, NOCAP_AIE_N26};
static const enum nocap_severity fail_on[] = {NOCAP_ERROR, NOCAP_WARNING, NOCAP_NOTE};

static const struct cli_option options[] = {
    {"dialect", "seed|f25|n26", "which instructions and rules hold (seed)",
     offsetof(struct settings, dialect), CLI_CHOICE, 0},
    {"output", "FILE", "write to FILE instead of standard output; asm needs it",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
    {"format", "text|json", "disasm, lint: form of the output (text)",
     offsetof(struct settings, format), CLI_CHOICE, 0},
    {"libpath", "DIR", "asm: where included files are looked for; may be given several times",
     offsetof(struct settings, dirs), CLI_LIST, 'L'},
    {"buffers", "FILE", "asm: JSON of the compiler about external buffers and control packets",
     offsetof(struct settings, buffers), CLI_TEXT, 0},
    {"fail-on", "error|warning|note", "lint: least severity that makes the exit status 1 (error)",
     offsetof(struct settings, fail_on), CLI_CHOICE, 0},
    {"rules", "LIST", "lint: only these rules, - excludes: AIE-041,AIE-043",
     offsetof(struct settings, rules), CLI_TEXT, 0},
    {"max-per-rule", "N", "lint: findings shown of each rule (20); all are counted",
     offsetof(struct settings, max_per_rule), CLI_NUMBER, 0},
};

/* ---- asm ---- */

static int assemble(const struct cli_call *call, const char *path)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    uint8_t *elf = NULL;
    size_t size = 0;
    const struct nocap_aie_asm_options asm_options = {.dialect = dialects[s->dialect],
                                                      .dirs = s->dirs.items,
                                                      .dir_count = s->dirs.count,
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

/* ---- disasm ---- */

static enum nocap_status disassemble_to(const struct settings *s, FILE *stream,
                                        const struct nocap_aie_image *image, const char *path,
                                        bool *complete, struct nocap_error *err)
{
    RETURN_ERROR_IF(stream == NULL, err, NOCAP_E_MEMORY, "out of memory");
    return s->format == FORMAT_JSON
               ? nocap_aie_listing(stream, image, dialects[s->dialect], path, complete, err)
               : nocap_aie_disassemble(stream, image, dialects[s->dialect], complete, err);
}

static int disassemble(const struct cli_call *call, const char *path)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_aie_image *image;
    struct cli_output output;
    bool complete = true;
    enum nocap_status status = nocap_aie_image_open(&image, path, &err);
    if (status == NOCAP_OK) {
        status = cli_output_open(&output, s->output, &err);
    }
    if (status != NOCAP_OK) {
        nocap_aie_image_close(image);
        return cli_fail(call, status, &err);
    }
    status = disassemble_to(s, cli_output_stream(&output), image, path, &complete, &err);
    nocap_aie_image_close(image);
    int result = cli_output_finish(&output, call, status, &err);
    return result == CLI_EXIT_OK && !complete ? CLI_EXIT_FINDINGS : result;
}

/* ---- lint ---- */

static int lint(const struct cli_call *call, const char *path)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_lint_report *report = NULL;
    struct cli_output output;
    const struct nocap_lint_options lint_options = {.size = sizeof lint_options,
                                                    .dialect = dialects[s->dialect],
                                                    .rules = s->rules,
                                                    .max_per_rule =
                                                        (uint32_t)s->max_per_rule.value};
    if (s->max_per_rule.given &&
        (s->max_per_rule.value == 0 || s->max_per_rule.value > UINT32_MAX)) {
        return cli_usage(call, "--max-per-rule takes a number from 1 on");
    }
    enum nocap_status status = nocap_aie_lint(&report, path, &lint_options, &err);
    if (status == NOCAP_OK) {
        status = cli_output_open(&output, s->output, &err);
    }
    if (status != NOCAP_OK) {
        nocap_lint_report_free(report);
        return cli_fail(call, status, &err);
    }
    FILE *stream = cli_output_stream(&output);
    bool color = cli_output_has_color(&output, call);
    status = stream == NULL             ? nocap_fail(&err, NOCAP_E_MEMORY, "out of memory")
             : s->format == FORMAT_JSON ? nocap_lint_report_json(stream, report, &err)
                                        : nocap_lint_report_text(stream, report, color, &err);
    int result = cli_output_finish(&output, call, status, &err);
    bool fails = nocap_lint_report_fails(report, fail_on[s->fail_on]);
    nocap_lint_report_free(report);
    return result == CLI_EXIT_OK && fails ? CLI_EXIT_FINDINGS : result;
}

static const struct action {
    const char *name;
    int (*run)(const struct cli_call *, const char *path);
} actions[] = {
    {"asm", assemble},
    {"disasm", disassemble},
    {"lint", lint},
};

static int run(const struct cli_call *call)
{
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(actions[i].name, call->operands.items[0]) == 0) {
            return actions[i].run(call, call->operands.items[1]);
        }
    }
    return cli_usage(call, "'%.100s' is none of asm, disasm, lint", call->operands.items[0]);
}

CLI_VERB(verb) = {
    .name = "aie",
    .operands = "asm FILE -o ELF | disasm ELF | lint ELF",
    .summary = "assemble, disassemble and lint AIE control code",
    .details = "asm makes an ELF file of assembly text; disasm makes text that assembles to the "
               "same pages; lint judges\n"
               "the static rules of the family AIE. ELF may also be the bare image of a column, "
               "pages of 8192 bytes.",
    .findings = "lint: findings at or above the severity of --fail-on; disasm: something is no "
                "instruction",
    .examples = "  nocap aie asm control.asm -L lib -o control.elf\n"
                "  nocap aie lint --format json control.elf",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 2,
    .operands_max = 2,
    .run = run,
};
