/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the rule set as Markdown. */
#include "checker/rules/rules_file.h"

#include <string.h>

enum { EXAMPLE_LINES = 12 /* longer ones are a link only */ };

/* Text outside of back quotes, where what Markdown would take for its own is escaped. */
static void put_text(FILE *out, const char *text)
{
    bool code = false;
    for (; *text != 0; text++) {
        code ^= *text == '`';
        if (!code && strchr("*<|_[", *text) != NULL) {
            fputc('\\', out);
        }
        fputc(*text, out);
    }
}

static void put_words(FILE *out, const struct rules_words *words, const char *glue)
{
    for (unsigned i = 0; i < words->count; i++) {
        bool elf = strcmp(words->word[i], "elf") == 0;
        fprintf(out, "%s%s", i == 0 ? "" : glue, elf ? "the firmware ELF" : words->word[i]);
    }
}

static void put_follows(FILE *out, const struct rules_rule *rule)
{
    for (unsigned i = 0; i < rule->follows_count; i++) {
        const struct rules_follows *f = &rule->follows[i];
        fprintf(out, "%s%s", i == 0 ? "* follows from: " : ", ", f->first);
        if (strcmp(f->first, f->last) != 0) {
            fprintf(out, " to %s", f->last);
        }
    }
    fputs(rule->follows_count > 0 ? "\n" : "", out);
}

static void put_example(FILE *out, const char *title, const struct rules_example *example)
{
    unsigned lines = 0;
    for (const char *c = example->text; *c != 0; c++) {
        lines += *c == '\n';
    }
    fprintf(out, "\n%s: [%s](../../checker/rules/examples/%s)\n", title, example->name,
            example->name);
    if (lines <= EXAMPLE_LINES) {
        fprintf(out, "\n```\n%s```\n", example->text);
    }
}

static void put_rule(FILE *out, const struct rules_rule *rule)
{
    fprintf(out, "\n## %s\n\n**%s**: ", rule->id, rule->severity);
    put_text(out, rule->sentence);
    fputs(".\n\n", out);
    put_text(out, rule->text);
    fputs("\n\n* needs: ", out);
    put_words(out, &rule->needs, ", ");
    fputs(rule->needs.count > 0 && rule->needs_any.count > 0 ? "; and " : "", out);
    put_words(out, &rule->needs_any, " or ");
    bool nothing = rule->needs.count + rule->needs_any.count == 0;
    fputs(nothing ? "nothing, any trace will do\n" : "\n", out);
    if (rule->archs.count > 0) {
        fputs("* judged on ", out);
        put_words(out, &rule->archs, ", ");
        fputs(" too\n", out);
    }
    put_follows(out, rule);
    fputs("* source: ", out);
    put_text(out, rule->source);
    fputc('\n', out);
    put_example(out, "Failing example", &rule->failing);
    put_example(out, "Passing example", &rule->passing);
}

void rules_write_page(FILE *out, const struct rules_set *set, unsigned family)
{
    const struct rules_family *f = &set->families[family];
    fprintf(out, "<!-- Made from checker/rules/%s.rules by `make docs`. -->\n# %s: %s\n", f->name,
            f->name, f->title);
    for (unsigned i = 0; i < set->rule_count; i++) {
        if (set->rules[i].family == family) {
            put_rule(out, &set->rules[i]);
        }
    }
}

void rules_write_index(FILE *out, const struct rules_set *set)
{
    fputs(
        "<!-- Made from checker/rules/*.rules by `make docs`. -->\n# Rules\n\n"
        "What `nocap check` and `nocap aie lint` judge, one page a family. `nocap explain GO-003` "
        "shows the same in the\nterminal. A failing or passing example is a trace that can be "
        "checked: `nocap check checker/rules/examples/GO-003.fail.jsonl`;\n.asm is control code "
        "for `nocap aie asm`, where lines `#!` say which bytes are changed after assembling.\n"
        "How to add a rule: [checker/rules/README.md](../../checker/rules/README.md).\n",
        out);
    for (unsigned i = 0; i < set->rule_count; i++) {
        const struct rules_rule *rule = &set->rules[i];
        if (i == 0 || rule->family != set->rules[i - 1].family) {
            const struct rules_family *f = &set->families[rule->family];
            fprintf(out, "\n## [%s](%s.md): %s\n\n| id | severity | rule |\n|---|---|---|\n",
                    f->name, f->name, f->title);
        }
        fprintf(out, "| %s | %s | ", rule->id, rule->severity);
        put_text(out, rule->sentence);
        fputs(" |\n", out);
    }
}
