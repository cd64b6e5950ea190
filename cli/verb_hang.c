#include <stdlib.h>
#include <string.h>

#include "checker/hang.h"
#include "cli/elf.h"
#include "cli/output.h"
#include "cli/verb.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_DOT };

struct settings {
    unsigned format; /* enum format */
    struct cli_number at, events;
    struct cli_list elf;
    const char *output;
};

static const struct cli_option options[] = {
    {"format", "text|json|dot", "form of the answer (text); dot is for Graphviz",
     offsetof(struct settings, format), CLI_CHOICE, 0},
    {"output", "FILE", "write to FILE instead of standard output",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
    {"at", "TIME", "as if the trace ended behind TIME", offsetof(struct settings, at), CLI_NUMBER,
     0},
    {"events", "N", "how many of the last events about the root (10)",
     offsetof(struct settings, events), CLI_NUMBER, 0},
    {"elf", "CORE=FILE", "the firmware or kernel of a core: where in the source it was last",
     offsetof(struct settings, elf), CLI_LIST, 0},
};

static enum nocap_status print(const struct cli_call *call, struct cli_output *output,
                               const struct nocap_hang *hang, struct nocap_error *err)
{
    const struct settings *s = call->settings;
    FILE *stream = cli_output_stream(output);
    RETURN_ERROR_IF(stream == NULL, err, NOCAP_E_MEMORY, "out of memory");
    switch (s->format) {
    case FORMAT_JSON: return nocap_hang_json(stream, hang, err);
    case FORMAT_DOT: return nocap_hang_dot(stream, hang, err);
    default: return nocap_hang_text(stream, hang, cli_output_has_color(output, call), err);
    }
}

static int answer(const struct cli_call *call, const struct nocap_hang_options *hang_options)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    struct nocap_hang *hang = NULL;
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    status = nocap_hang(&hang, call->operands.items[0], hang_options, &err);
    bool hung = status == NOCAP_OK && hang->verdict == NOCAP_HANG_HUNG;
    if (status == NOCAP_OK) {
        status = print(call, &output, hang, &err);
    }
    nocap_hang_free(hang);
    int result = cli_output_finish(&output, call, status, &err);
    return result != CLI_EXIT_OK ? result : hung ? CLI_EXIT_FINDINGS : CLI_EXIT_OK;
}

/* With room for the ELF arguments, which may be NULL for want of memory. */
static int run_with(const struct cli_call *call, struct nocap_elf_arg *elf)
{
    const struct settings *s = call->settings;
    struct nocap_hang_options hang_options = {
        .size = sizeof hang_options,
        .has_at = s->at.given,
        .at = s->at.value,
        .elf = elf,
        .events = (uint32_t)s->events.value,
    };
    if (elf == NULL) {
        const struct nocap_error err = {"out of memory"};
        return cli_fail(call, NOCAP_E_MEMORY, &err);
    }
    int result = CLI_EXIT_OK;
    while (result == CLI_EXIT_OK && hang_options.elf_count < s->elf.count) {
        size_t i = hang_options.elf_count++;
        result = cli_elf_split(call, s->elf.items[i], (char **)&elf[i].name, &elf[i].path);
    }
    return result == CLI_EXIT_OK ? answer(call, &hang_options) : result;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    if (s->events.given && (s->events.value == 0 || s->events.value > 1000)) {
        return cli_usage(call, "--events takes 1 to 1000");
    }
    struct nocap_elf_arg *elf = calloc(s->elf.count + 1, sizeof *elf);
    int result = run_with(call, elf);
    for (size_t i = 0; elf != NULL && i < s->elf.count; i++) {
        free((char *)elf[i].name);
    }
    free(elf);
    return result;
}

CLI_VERB(verb) = {
    .name = "hang",
    .operands = "TRACE",
    .summary = "post-mortem: who waits for whom when a trace ends, the root, the evidence",
    .details =
        "Says who waits for what and since when, who should have acted, and which findings "
        "of `nocap check`\ncame before. A hang is claimed only where nothing moved for longer "
        "than it ever took.",
    .findings = "a hang",
    .examples = "  nocap hang run.nocap\n"
                "  nocap hang run.nocap --format dot | dot -Tsvg -o hang.svg",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
