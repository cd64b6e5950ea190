/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/json_text.h"
#include "checker/report/results.h"

enum {
    TEXT_WIDTH = 88,
    NEEDS_SIZE = 512,
    FOLD_FROM = 4, /* that many like lines of an example are folded to two */
};
#define INDENT "    "

/* "core-store, and host-mmio or noc": what a capture must observe for this rule. */
static void needs_text(char *text, size_t size, const struct nocap_rule_info *rule)
{
    const uint32_t sets[] = {rule->needs, rule->needs_any};
    text[0] = 0;
    for (int s = 0; s < 2; s++) {
        const char *glue = s == 0 ? " and " : " or ";
        bool first = true;
        for (unsigned bit = 0; bit < NOCAP_CLASS_COUNT; bit++) {
            if ((sets[s] >> bit & 1u) != 0) {
                size_t used = strlen(text);
                snprintf(text + used, size - used, "%s%s",
                         !first      ? glue
                         : used != 0 ? ", and "
                                     : "",
                         nocap_class_name((enum nocap_class_bit)bit));
                first = false;
            }
        }
    }
    size_t used = strlen(text);
    if (rule->needs_image) {
        snprintf(text + used, size - used, ", and the firmware ELF");
    }
}

static enum nocap_status print_text(FILE *out, struct nocap_error *err)
{
    unsigned family = nocap_family_count;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        const struct nocap_rule_info *rule = &nocap_rules[i];
        if (rule->family != family) {
            family = rule->family;
            fprintf(out, "%s%s: %s\n", i == 0 ? "" : "\n", nocap_families[family].name,
                    nocap_families[family].title);
        }
        fprintf(out, "  %-8s %-8s %s\n", rule->id, nocap_severity_name(rule->severity),
                rule->sentence);
    }
    return nocap_flush(out, "the rules", err);
}

static enum nocap_status print_json(FILE *out, struct nocap_error *err)
{
    struct nocap_json json;
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, "nocap_rules", 1);
    nocap_json_array(&json, "rules");
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        const struct nocap_rule_info *rule = &nocap_rules[i];
        nocap_json_map(&json, NULL);
        nocap_json_text(&json, "id", rule->id);
        nocap_json_text(&json, "severity", nocap_severity_name(rule->severity));
        nocap_json_text(&json, "sentence", rule->sentence);
        nocap_json_classes(&json, "needs", rule->needs);
        nocap_json_classes(&json, "needs_any", rule->needs_any);
        nocap_json_bool(&json, "needs_elf", rule->needs_image);
        nocap_json_text(&json, "meaning", rule->meaning);
        nocap_json_text(&json, "violates", rule->violates);
        nocap_json_text(&json, "holds", rule->holds);
        nocap_json_text(&json, "source", rule->source);
        nocap_json_map_end(&json);
    }
    nocap_json_array_end(&json);
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}

enum nocap_status nocap_rules_print(FILE *out, enum nocap_rules_format format,
                                    struct nocap_error *err)
{
    return format == NOCAP_RULES_JSON ? print_json(out, err) : print_text(out, err);
}

/* Wraps paragraphs at word boundaries. */
static void print_paragraphs(FILE *out, const char *text)
{
    size_t column = 0;
    while (*text != 0) {
        if (*text == '\n') {
            fputs(column != 0 ? "\n\n" : "", out);
            column = 0;
            text++;
            continue;
        }
        size_t length = strcspn(text, " \n");
        if (column != 0 && column + 1 + length > TEXT_WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        column += (size_t)fprintf(out, "%s%.*s", column == 0 ? "" : " ", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* After the key at `text` if it is one whose values differ from line to line: a time, an address.
 */
static const char *after_varying_key(const char *text, const char *end)
{
    static const char *const keys[] = {"\"t\":", "addr\":\""};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        size_t length = strlen(keys[i]);
        if ((size_t)(end - text) > length && memcmp(text, keys[i], length) == 0) {
            return text + length;
        }
    }
    return NULL;
}

/* Whether two lines of an example differ in times and addresses only: a loop over registers. */
static bool alike(const char *a, size_t a_length, const char *b, size_t b_length)
{
    const char *a_end = a + a_length, *b_end = b + b_length;
    bool addresses = false;
    while (a < a_end && b < b_end && *a == *b) {
        const char *varies = after_varying_key(a, a_end);
        if (varies == NULL || after_varying_key(b, b_end) == NULL) {
            a++;
            b++;
            continue;
        }
        addresses |= *a == 'a';
        b += varies - a;
        a = varies;
        a += strcspn(a, ",}\n");
        b += strcspn(b, ",}\n");
    }
    return addresses && a == a_end && b == b_end;
}

void nocap_example_print(FILE *out, const char *text, const char *indent)
{
    while (*text != 0) {
        size_t length = strcspn(text, "\n");
        fprintf(out, "%s%.*s\n", indent, (int)length, text);
        const char *last = text, *line = text + length + (text[length] == '\n');
        size_t run = 0;
        for (const char *next = line; *next != 0; run++) {
            size_t next_length = strcspn(next, "\n");
            if (!alike(text, length, next, next_length)) {
                break;
            }
            last = next;
            next += next_length + (next[next_length] == '\n');
        }
        text = line;
        if (run >= FOLD_FROM) {
            fprintf(out, "%s... %zu more like it\n", indent, run - 1);
            text = last;
        }
    }
}

enum nocap_status nocap_rule_explain(FILE *out, enum nocap_rule rule, struct nocap_error *err)
{
    const struct nocap_rule_info *info = &nocap_rules[rule];
    char needs[NEEDS_SIZE];
    needs_text(needs, sizeof needs, info);
    fprintf(out, "%s (%s, %s)\n", info->id, nocap_severity_name(info->severity),
            nocap_families[info->family].title);
    print_paragraphs(out, info->sentence);
    fputc('\n', out);
    print_paragraphs(out, info->meaning);
    fprintf(out, "\nfailing example:\n");
    nocap_example_print(out, info->violates, INDENT);
    fprintf(out, "\npassing example:\n");
    nocap_example_print(out, info->holds, INDENT);
    fprintf(out, "\nsource: %s\n", info->source);
    fprintf(out, "needs:  %s\n", needs[0] == 0 ? "nothing, any trace will do" : needs);
    return nocap_flush(out, "the explanation", err);
}
