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
    case CLI_TILE: wanted = cli_parse_tile(text, member) ? NULL : "a core X,Y"; break;
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

/* What an argument that begins with a dash says. */
struct written {
    bool is_long;
    const char *name;     /* or letter */
    size_t length;        /* of the name */
    const char *attached; /* the value in the same argument; NULL: none */
};

static struct written take_apart(const char *argument)
{
    bool is_long = argument[1] == '-';
    const char *name = argument + (is_long ? 2 : 1);
    size_t length = is_long ? strcspn(name, "=") : 1;
    const char *rest = name + length;
    return (struct written){is_long, name, length, *rest == '\0' ? NULL : rest + (is_long ? 1 : 0)};
}

/* The first of this name; `*table` is where it stands. */
static const struct cli_option *find(const struct cli_options *tables, size_t table_count,
                                     const struct written *w, const struct cli_options **table)
{
    for (size_t t = 0; t < table_count; t++) {
        for (size_t i = 0; i < tables[t].count; i++) {
            const struct cli_option *o = &tables[t].table[i];
            bool match = w->is_long ? strlen(o->name) == w->length &&
                                          memcmp(o->name, w->name, w->length) == 0
                                    : o->letter == w->name[0];
            if (match) {
                *table = &tables[t];
                return o;
            }
        }
    }
    return NULL;
}

static bool is_option(const char *argument)
{
    return argument[0] == '-' && argument[1] != '\0';
}

const char *cli_options_first_operand(const struct cli_options *tables, size_t table_count,
                                      int argc, char **argv)
{
    int i = 0;
    for (; i < argc && is_option(argv[i]) && strcmp(argv[i], "--") != 0; i++) {
        const struct cli_options *table;
        struct written w = take_apart(argv[i]);
        const struct cli_option *o = find(tables, table_count, &w, &table);
        i += o != NULL && o->type != CLI_FLAG && w.attached == NULL;
    }
    i += i < argc && strcmp(argv[i], "--") == 0;
    return i < argc ? argv[i] : NULL;
}

/* One argument that begins with a dash; `next` is the one after it or NULL. Sets *used_next if
 * that was the value. */
static enum nocap_status parse_option(const struct parser *p, const char *argument,
                                      const char *next, bool *used_next)
{
    const struct cli_options *table;
    struct written w = take_apart(argument);
    const struct cli_option *o = find(p->tables, p->table_count, &w, &table);
    RETURN_ERROR_IF(o == NULL, p->err, NOCAP_E_USAGE, "there is no option '%.*s'",
                    (int)(w.length < 100 ? w.length : 100) + (w.is_long ? 2 : 1), argument);
    RETURN_ERROR_IF(table->not_for != NULL, p->err, NOCAP_E_USAGE, "--%s is not for %s", o->name,
                    table->not_for);
    if (o->type == CLI_FLAG) {
        RETURN_ERROR_IF(w.attached != NULL, p->err, NOCAP_E_USAGE, "--%s takes no value", o->name);
        return set_value(p, o, table->settings, "");
    }
    *used_next = w.attached == NULL;
    const char *text = w.attached != NULL ? w.attached : next;
    RETURN_ERROR_IF(text == NULL, p->err, NOCAP_E_USAGE, "--%s needs a value: --%s %s", o->name,
                    o->name, o->value);
    return set_value(p, o, table->settings, text);
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
        } else if (!only_operands && is_option(argv[i])) {
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
                *list = (struct cli_list){NULL, 0}; /* an option of several tables */
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
