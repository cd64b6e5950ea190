/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the rule set as C. */
#include "checker/rules/rules_file.h"

#include <ctype.h>
#include <string.h>

/* GO-001 as GO_001, core-store as CORE_STORE. */
static void put_name(FILE *out, const char *text, bool capitals)
{
    for (; *text != 0; text++) {
        fputc(*text == '-' ? '_' : capitals ? toupper((unsigned char)*text) : *text, out);
    }
}

/* A literal, broken at each end of a line. */
static void put_string(FILE *out, const char *text)
{
    fputs("\n        \"", out);
    for (; *text != 0; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\n') {
            fputs(text[1] != 0 ? "\\n\"\n        \"" : "\\n", out);
        } else if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c < 0x20 || c >= 0x7f || c == '?') {
            fprintf(out, "\\%03o", c);
        } else {
            fputc(c, out);
        }
    }
    fputc('"', out);
}

/* PREFIX_A | PREFIX_B, "elf" apart; 0 for none. */
static void put_bits(FILE *out, const struct rules_words *words, const char *prefix)
{
    bool first = true;
    for (unsigned i = 0; i < words->count; i++) {
        if (strcmp(words->word[i], "elf") != 0) {
            fprintf(out, "%s%s", first ? "" : " | ", prefix);
            put_name(out, words->word[i], true);
            first = false;
        }
    }
    fputs(first ? "0" : "", out);
}

static bool needs_elf(const struct rules_rule *rule)
{
    for (unsigned i = 0; i < rule->needs.count; i++) {
        if (strcmp(rule->needs.word[i], "elf") == 0) {
            return true;
        }
    }
    return false;
}

void rules_write_ids(FILE *out, const struct rules_set *set)
{
    fputs("/* SPDX-License-Identifier: Apache-2.0 */\n"
          "/* The rules by name, made from the family files in checker/rules. */\n"
          "#ifndef NOCAP_REPLAY_RULE_IDS_H\n#define NOCAP_REPLAY_RULE_IDS_H\n\n"
          "enum nocap_rule {\n",
          out);
    for (unsigned i = 0; i < set->rule_count; i++) {
        fputs("    ", out);
        put_name(out, set->rules[i].id, false);
        fputs(",\n", out);
    }
    fputs("    NOCAP_RULE_COUNT\n};\n\n#endif\n", out);
}

static void put_rule(FILE *out, const struct rules_rule *rule)
{
    fputs("    [", out);
    put_name(out, rule->id, false);
    fprintf(out, "] = {\n    .id = \"%s\", .family = %u, .severity = NOCAP_", rule->id,
            rule->family);
    put_name(out, rule->severity, true);
    fputs(",\n    .needs = ", out);
    put_bits(out, &rule->needs, "NOCAP_CLASS_");
    fputs(",\n    .needs_any = ", out);
    put_bits(out, &rule->needs_any, "NOCAP_CLASS_");
    fprintf(out, ",\n    .needs_image = %d,\n    .archs = ", needs_elf(rule));
    put_bits(out, &rule->archs, "1u << NOCAP_ARCH_");
    const struct {
        const char *member, *text;
    } texts[] = {{"sentence", rule->sentence},
                 {"source", rule->source},
                 {"meaning", rule->text},
                 {"violates", rule->failing.text},
                 {"holds", rule->passing.text}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fprintf(out, ",\n    .%s =", texts[i].member);
        put_string(out, texts[i].text);
    }
    fputs("},\n", out);
}

static void put_follows(FILE *out, const struct rules_rule *rule)
{
    for (unsigned i = 0; i < rule->follows_count; i++) {
        const char *const ids[] = {rule->id, rule->follows[i].first, rule->follows[i].last};
        fputs("    {", out);
        for (unsigned k = 0; k < 3; k++) {
            put_name(out, ids[k], false);
            fputs(", ", out);
        }
        fprintf(out, "%s},\n", rule->follows[i].span ? "true" : "false");
    }
}

void rules_write_tables(FILE *out, const struct rules_set *set)
{
    fputs("/* SPDX-License-Identifier: Apache-2.0 */\n"
          "/* The rule set, made from the family files in checker/rules. */\n"
          "#include \"checker/core/checker.h\"\n#include \"checker/core/fold.h\"\n\n"
          "const struct nocap_family_info nocap_families[] = {\n",
          out);
    for (unsigned i = 0; i < set->family_count; i++) {
        const struct rules_family *family = &set->families[i];
        fprintf(out, "    {\"%s\", \"%s\", ", family->name, family->title);
        if (family->archs.count == 0) {
            fputs("(1u << NOCAP_ARCH_COUNT) - 1", out);
        } else {
            put_bits(out, &family->archs, "1u << NOCAP_ARCH_");
        }
        fputs("},\n", out);
    }
    fprintf(out, "};\nconst unsigned nocap_family_count = %u;\n\n", set->family_count);
    fputs("const struct nocap_rule_info nocap_rules[NOCAP_RULE_COUNT] = {\n", out);
    for (unsigned i = 0; i < set->rule_count; i++) {
        put_rule(out, &set->rules[i]);
    }
    fputs("};\n\nconst struct nocap_follows nocap_follows[] = {\n", out);
    unsigned count = 0;
    for (unsigned i = 0; i < set->rule_count; i++) {
        put_follows(out, &set->rules[i]);
        count += set->rules[i].follows_count;
    }
    fprintf(out, "};\nconst unsigned nocap_follows_count = %u;\n", count);
}
