/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/foreign_text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "formats/profile/profile_elf.h"

struct settings {
    const char *output;
};

static const struct cli_option options[] = {
    {"output", "FILE",
     "show, from-elf: write the profile to FILE instead of\n"
     "standard output",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
};

static void list(FILE *out)
{
    struct nocap_profile p;
    for (size_t i = 0; nocap_profile_name(i) != NULL; i++) {
        if (nocap_profile_find(&p, nocap_profile_name(i), NULL) == NOCAP_OK) {
            fprintf(out, "%s%s\n", p.name, i == 0 ? ", the default" : "");
            fprintf(out, "  mailbox %s, go messages at 0x%x; prefetch_q entries of %u bits; %s\n",
                    p.mailbox.name, p.mailbox.go_messages, 8 * p.queue.entry_bytes, p.source);
        }
    }
}

/* Gives how many values differ. */
static size_t diff(FILE *out, const struct nocap_profile *a, const struct nocap_profile *b)
{
    struct nocap_profile_value va, vb;
    size_t count = 0;
    for (size_t i = 0; nocap_profile_value(a, i, &va) && nocap_profile_value(b, i, &vb); i++) {
        if (strcmp(va.value, vb.value) != 0) {
            fprintf(out, "%s\n", va.path);
            foreign_line(out, "  %-18s %s", a->name, va.value);
            foreign_line(out, "  %-18s %s", b->name, vb.value);
            count++;
        }
    }
    return count;
}

/* Who says each value, a line each; a line for all that none of the files says. */
static void print_origins(FILE *out, const struct nocap_profile *p,
                          const struct nocap_profile_origins *origins, const char *const *paths)
{
    struct nocap_profile_value v;
    size_t others = 0;
    for (size_t i = 0; nocap_profile_value(p, i, &v); i++) {
        if (origins->file[i] == 0) {
            others++;
        } else {
            foreign_line(out, "%-42s %s  <- %s", v.path, v.value, paths[origins->file[i] - 1]);
        }
    }
    fprintf(out, "%zu other values   <- %s, the nearest profile (%zu of its values differ)\n",
            others, origins->base, origins->contradicted);
}

static enum nocap_status from_elf(const struct cli_call *call, FILE *out, struct nocap_error *err)
{
    const struct settings *s = call->settings;
    struct nocap_profile p;
    struct nocap_profile_origins origins;
    RETURN_IF_FAILED(nocap_profile_from_elf(&p, &origins, call->operands.items + 1,
                                            call->operands.count - 1, err));
    RETURN_IF_FAILED(nocap_profile_print(out, &p, err));
    print_origins(s->output != NULL && strcmp(s->output, "-") != 0 ? stdout : stderr, &p, &origins,
                  call->operands.items + 1);
    return NOCAP_OK;
}

static enum nocap_status act(const struct cli_call *call, FILE *out, size_t *differences,
                             struct nocap_error *err)
{
    const char *const *operand = call->operands.items;
    struct nocap_profile a, b;
    if (strcmp(operand[0], "list") == 0) {
        list(out);
        return NOCAP_OK;
    }
    if (strcmp(operand[0], "from-elf") == 0) {
        return from_elf(call, out, err);
    }
    RETURN_IF_FAILED(nocap_profile_load(&a, operand[1], err));
    if (strcmp(operand[0], "show") == 0) {
        return nocap_profile_print(out, &a, err);
    }
    RETURN_IF_FAILED(nocap_profile_load(&b, operand[2], err));
    *differences = diff(out, &a, &b);
    return NOCAP_OK;
}

/* NULL: the operands are as the action wants them. */
static const char *operands_problem(const struct cli_operands *operands)
{
    static const struct {
        const char *action, *problem;
        size_t least, most;
    } actions[] = {
        {"list", "list takes nothing more", 1, 1},
        {"show", "show takes the name of a profile, or a file", 2, 2},
        {"diff", "diff takes two names of profiles, or files", 3, 3},
        {"from-elf", "from-elf takes ELF files", 2, NOCAP_PROFILE_ELFS + 1},
    };
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(operands->items[0], actions[i].action) == 0) {
            bool right = operands->count >= actions[i].least && operands->count <= actions[i].most;
            return right ? NULL : actions[i].problem;
        }
    }
    return "the first word is none of list, show, diff, from-elf";
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    size_t differences = 0;
    const char *problem = operands_problem(&call->operands);
    if (problem != NULL) {
        return cli_usage(call, "%s", problem);
    }
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    if (strcmp(call->operands.items[0], "list") == 0 ||
        strcmp(call->operands.items[0], "diff") == 0) {
        cli_output_fold(&output);
    }
    FILE *stream = cli_output_stream(&output, &err);
    status = stream == NULL ? NOCAP_E_OUTPUT : act(call, stream, &differences, &err);
    int result = cli_output_finish(&output, call, status, &err);
    return result == CLI_EXIT_OK && differences != 0 ? CLI_EXIT_FINDINGS : result;
}

CLI_COMMAND(command) = {
    .name = "profile",
    .operands = "list | show P | diff P P | from-elf ELF...",
    .summary = "protocol profiles: what differs between runtimes, as data",
    .details = "P is the name of a shipped profile, or a JSON file. from-elf makes a profile\n"
               "of the debug information of firmware and kernels, and says where each value\n"
               "comes from; what no file says is as in the shipped profile that they\n"
               "contradict least.",
    .findings = "diff: the profiles differ",
    .examples = "  nocap profile diff blackhole-py tt-metal-2026-03\n"
                "  nocap profile from-elf brisc.elf cq_prefetch.elf -o mine.json",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = CLI_MANY,
    .run = run,
};
