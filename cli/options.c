/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static bool parse_number(const char *text, const char *end, uint64_t *v)
{
    unsigned base = 10;
    if (end - text > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        base = 16;
        text += 2;
    }
    *v = 0;
    for (const char *p = text; p < end; p++) {
        char c = (char)(*p | 0x20);
        unsigned digit = *p >= '0' && *p <= '9' ? (unsigned)(*p - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                                : base;
        uint64_t scaled;
        if (digit >= base || __builtin_mul_overflow(*v, base, &scaled) ||
            __builtin_add_overflow(scaled, digit, v)) {
            return false;
        }
    }
    return text < end;
}

static const char *end_of(const char *text)
{
    return text + strlen(text);
}

bool cli_parse_range(const char *text, struct cli_range *range)
{
    const char *dots = strstr(text, "..");
    range->given = true;
    if (dots == NULL) {
        bool ok = parse_number(text, end_of(text), &range->first);
        range->last = range->first;
        return ok;
    }
    return parse_number(text, dots, &range->first) &&
           parse_number(dots + 2, end_of(text), &range->last) && range->first <= range->last;
}

bool cli_parse_tile(const char *text, struct cli_tile *tile)
{
    const char *comma = strchr(text, ',');
    uint64_t x, y;
    if (comma == NULL || !parse_number(text, comma, &x) ||
        !parse_number(comma + 1, end_of(text), &y) || x > UINT8_MAX || y > UINT8_MAX) {
        return false;
    }
    *tile = (struct cli_tile){true, {(uint8_t)x, (uint8_t)y}};
    return true;
}

static bool parse_choice(const char *words, const char *text, unsigned *choice)
{
    size_t length = strlen(text);
    for (unsigned i = 0;; i++) {
        size_t n = strcspn(words, "|");
        if (n == length && memcmp(words, text, n) == 0) {
            *choice = i;
            return true;
        }
        if (words[n] == '\0') {
            return false;
        }
        words += n + 1;
    }
}

/* "text, jsonl or csv" */
static void spell_choices(const char *words, char *to, size_t size)
{
    size_t used = 0;
    for (const char *p = words; used < size && *p != '\0';) {
        size_t n = strcspn(p, "|");
        const char *next = p[n] == '\0' ? p + n : p + n + 1;
        bool is_last = *next == '\0';
        bool before_last = !is_last && strchr(next, '|') == NULL;
        used += (size_t)snprintf(to + used, size - used, "%.*s%s", (int)n, p,
                                 is_last       ? ""
                                 : before_last ? " or "
                                               : ", ");
        p = next;
    }
}

/* ---- parsing ---- */

struct parser {
    const struct cli_options *tables;
    size_t table_count;
    size_t argc;
    struct nocap_error *err;
};

static enum nocap_status set_value(const struct parser *p, const struct cli_option *o,
                                   void *settings, const char *text)
{
    void *member = (char *)settings + o->offset;
    const char *wanted = NULL;
    char choices[200];
    switch (o->type) {
    case CLI_FLAG: *(bool *)member = true; break;
    case CLI_TEXT: *(const char **)member = text; break;
    case CLI_NUMBER: {
        struct cli_number *number = member;
        number->given = true;
        wanted = parse_number(text, end_of(text), &number->value) ? NULL : "a number";
        break;
    }
    case CLI_RANGE:
        wanted = cli_parse_range(text, member) ? NULL : "a range A..B with A <= B";
        break;
    case CLI_TILE: wanted = cli_parse_tile(text, member) ? NULL : "a tile X,Y"; break;
    case CLI_CHOICE:
        if (!parse_choice(o->value, text, member)) {
            spell_choices(o->value, choices, sizeof choices);
            wanted = choices;
        }
        break;
    case CLI_LIST: {
        struct cli_list *list = member;
        if (list->items == NULL) {
            list->items = calloc(p->argc, sizeof *list->items);
            RETURN_ERROR_IF(list->items == NULL, p->err, NOCAP_E_MEMORY, "out of memory");
        }
        list->items[list->count++] = text;
        break;
    }
    }
    RETURN_ERROR_IF(wanted != NULL, p->err, NOCAP_E_USAGE, "--%s takes %s, not '%.100s'", o->name,
                    wanted, text);
    return NOCAP_OK;
}

/* By long name of `length` bytes, or by letter where `name` is NULL. */
static const struct cli_option *find(const struct parser *p, const char *name, size_t length,
                                     char letter, void **settings)
{
    for (size_t t = 0; t < p->table_count; t++) {
        for (size_t i = 0; i < p->tables[t].count; i++) {
            const struct cli_option *o = &p->tables[t].table[i];
            bool match = name == NULL
                             ? o->letter == letter
                             : strlen(o->name) == length && memcmp(o->name, name, length) == 0;
            if (match) {
                *settings = p->tables[t].settings;
                return o;
            }
        }
    }
    return NULL;
}

/* One argument that begins with a dash; `next` is the one behind it or NULL. Sets *used_next if
 * that was the value. */
static enum nocap_status parse_option(const struct parser *p, const char *argument,
                                      const char *next, bool *used_next)
{
    bool is_long = argument[1] == '-';
    const char *name = is_long ? argument + 2 : argument + 1;
    size_t length = is_long ? strcspn(name, "=") : 1;
    void *settings;
    const struct cli_option *o = find(p, is_long ? name : NULL, length, name[0], &settings);
    RETURN_ERROR_IF(o == NULL, p->err, NOCAP_E_USAGE, "there is no option '%.*s'",
                    (int)(length < 100 ? length : 100) + (is_long ? 2 : 1), argument);
    const char *attached = name[length] == '\0' ? NULL : name + length + (is_long ? 1 : 0);
    if (o->type == CLI_FLAG) {
        RETURN_ERROR_IF(attached != NULL, p->err, NOCAP_E_USAGE, "--%s takes no value", o->name);
        return set_value(p, o, settings, "");
    }
    *used_next = attached == NULL;
    const char *text = attached != NULL ? attached : next;
    RETURN_ERROR_IF(text == NULL, p->err, NOCAP_E_USAGE, "--%s needs a value: --%s %s", o->name,
                    o->name, o->value);
    return set_value(p, o, settings, text);
}

enum nocap_status cli_options_parse(const struct cli_options *tables, size_t table_count, int argc,
                                    char **argv, struct cli_operands *operands,
                                    struct nocap_error *err)
{
    struct parser p = {tables, table_count, (size_t)argc, err};
    *operands = (struct cli_operands){.items = calloc((size_t)argc + 1, sizeof *operands->items)};
    RETURN_ERROR_IF(operands->items == NULL, err, NOCAP_E_MEMORY, "out of memory");
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        if (!only_operands && strcmp(argv[i], "--") == 0) {
            only_operands = true;
            operands->plain = operands->count;
        } else if (!only_operands && argv[i][0] == '-' && argv[i][1] != '\0') {
            bool used_next = false;
            RETURN_IF_FAILED(parse_option(&p, argv[i], argv[i + 1], &used_next));
            i += used_next ? 1 : 0;
        } else {
            operands->items[operands->count++] = argv[i];
        }
    }
    operands->plain = only_operands ? operands->plain : operands->count;
    return NOCAP_OK;
}

void cli_options_free(const struct cli_options *tables, size_t table_count,
                      struct cli_operands *operands)
{
    for (size_t t = 0; t < table_count; t++) {
        for (size_t i = 0; i < tables[t].count; i++) {
            if (tables[t].table[i].type == CLI_LIST) {
                struct cli_list *list =
                    (void *)((char *)tables[t].settings + tables[t].table[i].offset);
                free(list->items);
            }
        }
    }
    free(operands->items);
}

/* ---- help ---- */

static void print_option(FILE *out, const struct cli_option *o)
{
    enum { COLUMN = 26 };
    char left[80];
    char letter[8] = "    ";
    if (o->letter != 0) {
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    }
    int n = snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name,
                     o->value != NULL ? " " : "", o->value != NULL ? o->value : "");
    fprintf(out, "%-*s", COLUMN, left);
    if (n >= COLUMN) {
        fprintf(out, "\n%*s", COLUMN, "");
    }
    for (const char *line = o->help; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "%*s%.*s\n", line == o->help ? 0 : COLUMN, "", (int)length, line);
        line += length + (line[length] == '\n' ? 1 : 0);
    }
}

void cli_options_print(FILE *out, const struct cli_options *tables, size_t table_count)
{
    for (size_t t = 0; t < table_count; t++) {
        for (size_t i = 0; i < tables[t].count; i++) {
            print_option(out, &tables[t].table[i]);
        }
    }
}
