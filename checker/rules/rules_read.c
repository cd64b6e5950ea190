/* SPDX-License-Identifier: Apache-2.0 */
/* Reads family files. A line is empty, a comment ("# ..."), the head of a rule ("[GO-001]"), a key
 * with its value ("key: value"), or goes on with the value before it (four blanks). */
#include "checker/rules/rules_file.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/header.h"

enum { TEXT_MIN = 120 };

static const char *const severities[] = {"error", "warning", "note", NULL};
static const char *const archs[] = {"blackhole", "wormhole", "aie2ps", NULL};
_Static_assert(sizeof archs / sizeof archs[0] == NOCAP_ARCH_COUNT + 1, "every architecture");
#define X(name, text) text,
static const char *const classes[] = {NOCAP_CLASSES(X) "elf", NULL};
#undef X
_Static_assert(sizeof classes / sizeof classes[0] <= RULES_WORDS + 1, "a line may have all");

enum key {
    KEY_FAMILY,
    KEY_TITLE,
    KEY_ARCHS,
    KEY_SEVERITY,
    KEY_NEEDS,
    KEY_NEEDS_ANY,
    KEY_FOLLOWS_EVENT,
    KEY_FOLLOWS_SPAN,
    KEY_SENTENCE,
    KEY_SOURCE,
    KEY_TEXT,
    KEY_COUNT
};

static const struct {
    const char *name;
    bool of_family, of_rule, required;
} keys[KEY_COUNT] = {
    [KEY_FAMILY] = {"family", true, false, true},
    [KEY_TITLE] = {"title", true, false, true},
    [KEY_ARCHS] = {"archs", true, true, false},
    [KEY_SEVERITY] = {"severity", false, true, true},
    [KEY_NEEDS] = {"needs", false, true, false},
    [KEY_NEEDS_ANY] = {"needs-any", false, true, false},
    [KEY_FOLLOWS_EVENT] = {"follows-event", false, true, false},
    [KEY_FOLLOWS_SPAN] = {"follows-span", false, true, false},
    [KEY_SENTENCE] = {"sentence", false, true, true},
    [KEY_SOURCE] = {"source", false, true, true},
    [KEY_TEXT] = {"text", false, true, true},
};

/* The file that is read, and the block - head of the family, or a rule - that its line is of. */
struct place {
    struct rules_set *set;
    const char *file;
    unsigned line;
    bool in_rule;
    unsigned block_line;
    char *value[KEY_COUNT]; /* NULL: not said */
    unsigned value_line[KEY_COUNT];
    enum key key;   /* what the next line may go on with; KEY_COUNT: nothing */
    bool paragraph; /* an empty line stood before this one */
};

_Noreturn void rules_fail(const char *file, unsigned line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, line != 0 ? "%s:%u: " : "%s: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

void *rules_allocate(void *old, size_t size)
{
    void *p = realloc(old, size);
    if (p == NULL) {
        rules_fail("make_rules", 0, "out of memory");
    }
    return p;
}

/* NULL without that rule. */
static const struct rules_rule *rules_find(const struct rules_set *set, const char *id)
{
    for (unsigned i = 0; i < set->rule_count; i++) {
        if (strcmp(set->rules[i].id, id) == 0) {
            return &set->rules[i];
        }
    }
    return NULL;
}

/* ---- values ---- */

static const char *one_of(const struct place *p, enum key key, const char *const *list,
                          const char *word)
{
    for (unsigned i = 0; list[i] != NULL; i++) {
        if (strcmp(list[i], word) == 0) {
            return list[i];
        }
    }
    char known[512] = "";
    for (unsigned i = 0; list[i] != NULL; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", list[i]);
    }
    rules_fail(p->file, p->value_line[key], "unknown %s '%s'; known: %s", keys[key].name, word,
               known);
}

static struct rules_words words_of(const struct place *p, enum key key, const char *const *list)
{
    struct rules_words words = {0};
    if (p->value[key] == NULL) {
        return words;
    }
    char *rest = p->value[key];
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        const char *known = one_of(p, key, list, word);
        for (unsigned i = 0; i < words.count; i++) {
            if (words.word[i] == known) {
                rules_fail(p->file, p->value_line[key], "%s: '%s' is there twice", keys[key].name,
                           known);
            }
        }
        words.word[words.count++] = known; /* no more than the list has, since none twice */
    }
    return words;
}

/* "MAP-* GO-015 CQ-033..CQ-037"; whether these rules exist shows when all files are read. */
static void take_follows(const struct place *p, struct rules_rule *rule, enum key key)
{
    char *rest = p->value[key];
    if (rest == NULL) {
        return;
    }
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        if (rule->follows_count == RULES_FOLLOWS) {
            rules_fail(p->file, p->value_line[key], "more than %d roots", RULES_FOLLOWS);
        }
        char *range = strstr(word, "..");
        struct rules_follows *f = &rule->follows[rule->follows_count++];
        f->span = key == KEY_FOLLOWS_SPAN;
        f->first = word;
        f->last = range != NULL ? range + 2 : word;
        if (range != NULL) {
            *range = 0;
        }
    }
}

/* Makes ids of "MAP-*", and looks whether all are there. */
static void resolve_follows(const struct rules_set *set, struct rules_rule *rule)
{
    for (unsigned i = 0; i < rule->follows_count; i++) {
        struct rules_follows *f = &rule->follows[i];
        size_t length = strlen(f->first);
        bool all = length > 2 && strcmp(f->first + length - 2, "-*") == 0;
        const char *first = all ? NULL : f->first, *last = all ? NULL : f->last;
        for (unsigned k = 0; all && k < set->rule_count; k++) {
            if (strncmp(set->rules[k].id, f->first, length - 1) == 0) {
                first = first == NULL ? set->rules[k].id : first;
                last = set->rules[k].id;
            }
        }
        const struct rules_rule *from = first == NULL ? NULL : rules_find(set, first);
        const struct rules_rule *to = last == NULL ? NULL : rules_find(set, last);
        if (from == NULL || to == NULL || to < from) {
            rules_fail(rule->file, rule->line, "%s follows from '%s', which is no rule or range",
                       rule->id, from == NULL ? f->first : f->last);
        }
        f->first = first;
        f->last = last;
    }
}

/* ---- blocks ---- */

static void family_ends(struct place *p)
{
    struct rules_set *set = p->set;
    set->families = rules_allocate(set->families, (set->family_count + 1) * sizeof *set->families);
    bool any = p->value[KEY_ARCHS] != NULL && strcmp(p->value[KEY_ARCHS], "any") == 0;
    if (p->value[KEY_ARCHS] == NULL) {
        rules_fail(p->file, p->block_line, "the family lacks 'archs: any', or a list of them");
    }
    for (const char *c = p->value[KEY_FAMILY]; *c != 0; c++) {
        if (!isupper((unsigned char)*c)) {
            rules_fail(p->file, p->value_line[KEY_FAMILY], "a family has a name of capitals");
        }
    }
    set->families[set->family_count++] = (struct rules_family){
        .name = p->value[KEY_FAMILY],
        .title = p->value[KEY_TITLE],
        .archs = any ? (struct rules_words){0} : words_of(p, KEY_ARCHS, archs),
    };
}

static void check_prose(const struct place *p, const char *id)
{
    const char *sentence = p->value[KEY_SENTENCE], *text = p->value[KEY_TEXT];
    if (strstr(sentence, " must ") == NULL && strstr(sentence, " may ") == NULL &&
        strstr(sentence, " should ") == NULL) {
        rules_fail(p->file, p->value_line[KEY_SENTENCE],
                   "the sentence of %s says nothing that must, may or should be", id);
    }
    if (sentence[strlen(sentence) - 1] == '.') {
        rules_fail(p->file, p->value_line[KEY_SENTENCE],
                   "the sentence of %s ends with a full stop; messages continue after it", id);
    }
    if (strlen(text) < TEXT_MIN || text[strlen(text) - 1] != '.') {
        rules_fail(p->file, p->value_line[KEY_TEXT],
                   "the text of %s has under %d letters, or no full stop at its end", id, TEXT_MIN);
    }
}

static void rule_ends(struct place *p, char *id)
{
    struct rules_set *set = p->set;
    struct rules_rule rule = {.file = p->file,
                              .line = p->block_line,
                              .id = id,
                              .family = set->family_count - 1,
                              .sentence = p->value[KEY_SENTENCE],
                              .source = p->value[KEY_SOURCE],
                              .text = p->value[KEY_TEXT]};
    check_prose(p, id);
    rule.severity = one_of(p, KEY_SEVERITY, severities, p->value[KEY_SEVERITY]);
    rule.needs = words_of(p, KEY_NEEDS, classes);
    rule.needs_any = words_of(p, KEY_NEEDS_ANY, classes);
    rule.archs = words_of(p, KEY_ARCHS, archs);
    for (unsigned i = 0; i < rule.needs_any.count; i++) {
        if (strcmp(rule.needs_any.word[i], "elf") == 0) {
            rules_fail(p->file, p->value_line[KEY_NEEDS_ANY], "'elf' belongs to needs");
        }
    }
    take_follows(p, &rule, KEY_FOLLOWS_EVENT);
    take_follows(p, &rule, KEY_FOLLOWS_SPAN);
    set->rules = rules_allocate(set->rules, (set->rule_count + 1) * sizeof *set->rules);
    set->rules[set->rule_count++] = rule;
}

static void block_ends(struct place *p, char *id)
{
    for (unsigned key = 0; key < KEY_COUNT; key++) {
        bool here = p->in_rule ? keys[key].of_rule : keys[key].of_family;
        if (here && keys[key].required && (p->value[key] == NULL || *p->value[key] == 0)) {
            rules_fail(p->file, p->block_line, "%s lacks '%s:'", p->in_rule ? id : "the family",
                       keys[key].name);
        }
    }
    if (p->in_rule) {
        rule_ends(p, id);
    } else {
        family_ends(p);
    }
    memset(p->value, 0, sizeof p->value);
}

/* ---- lines ---- */

/* The id of a head, which must be the next one of the family: letters only split a number. */
static char *read_head(const struct place *p, char *line)
{
    const struct rules_set *set = p->set;
    const char *family = set->families[set->family_count - 1].name;
    size_t length = strlen(family), end = strlen(line) - 1;
    char *id = line + 1, *number = id + length + 1;
    bool shaped = line[end] == ']' && strncmp(id, family, length) == 0 && id[length] == '-' &&
                  strspn(number, "0123456789") == 3 &&
                  (number[3] == ']' || (islower((unsigned char)number[3]) && number[4] == ']')) &&
                  strchr(line, ']') == line + end;
    if (!shaped) {
        rules_fail(p->file, p->line, "'%s' is not the head of a rule: wanted [%s-NNN]", line,
                   family);
    }
    line[end] = 0;
    const struct rules_rule *last = set->rule_count > 0 ? &set->rules[set->rule_count - 1] : NULL;
    if (last != NULL && last->family == set->family_count - 1 && strcmp(last->id, id) >= 0) {
        rules_fail(p->file, p->line, "%s after %s: numbers rise, each once", id, last->id);
    }
    return strdup(id);
}

static void read_key(struct place *p, char *line)
{
    size_t length = strcspn(line, ":");
    for (unsigned key = 0; key < KEY_COUNT; key++) {
        if (line[length] != ':' || strlen(keys[key].name) != length ||
            strncmp(keys[key].name, line, length) != 0) {
            continue;
        }
        if (!(p->in_rule ? keys[key].of_rule : keys[key].of_family)) {
            rules_fail(p->file, p->line, "'%s' does not belong to %s", keys[key].name,
                       p->in_rule ? "a rule" : "the head of a family");
        }
        if (p->value[key] != NULL) {
            rules_fail(p->file, p->line, "'%s' is there twice, first in line %u", keys[key].name,
                       p->value_line[key]);
        }
        p->value[key] = strdup(line + length + 1 + strspn(line + length + 1, " "));
        p->value_line[key] = p->line;
        p->key = (enum key)key;
        return;
    }
    rules_fail(p->file, p->line,
               "'%.40s' is no key: family, title, archs; of a rule: severity, needs, needs-any, "
               "archs, follows-event, follows-span, sentence, source, text",
               line);
}

static void read_more(struct place *p, const char *line)
{
    if (p->key == KEY_COUNT || (p->paragraph && p->key != KEY_TEXT)) {
        rules_fail(p->file, p->line, "an indented line that continues nothing");
    }
    char *old = p->value[p->key];
    const char *more = line + strspn(line, " ");
    const char *glue = *old == 0 ? "" : p->paragraph ? "\n\n" : " ";
    size_t size = strlen(old) + strlen(glue) + strlen(more) + 1;
    char *joined = rules_allocate(NULL, size);
    snprintf(joined, size, "%s%s%s", old, glue, more);
    free(old);
    p->value[p->key] = joined;
}

static void read_family(struct rules_set *set, const char *path)
{
    char *text = rules_whole_file(path), *rest = text, *id = NULL;
    struct place p = {.set = set, .file = path, .line = 1, .block_line = 1, .key = KEY_COUNT};
    for (char *line; (line = strsep(&rest, "\n")) != NULL; p.line++) {
        size_t length = strlen(line);
        if (length > 0 && (line[length - 1] == ' ' || strpbrk(line, "\t\r") != NULL)) {
            rules_fail(path, p.line, "a tab, a carriage return, or a blank at the end of the line");
        }
        if (*line == '#') {
            continue;
        }
        if (*line == '[') {
            block_ends(&p, id);
            id = read_head(&p, line);
            p.in_rule = true;
            p.block_line = p.line;
            p.key = KEY_COUNT;
        } else if (*line == ' ') {
            read_more(&p, line);
        } else if (*line != 0) {
            read_key(&p, line);
        }
        p.paragraph = *line == 0;
    }
    block_ends(&p, id);
    if (id == NULL) {
        rules_fail(path, p.line, "a family without rules");
    }
    free(text);
}

void rules_read(struct rules_set *set, unsigned count, char *const files[])
{
    *set = (struct rules_set){0};
    for (unsigned i = 0; i < count; i++) {
        read_family(set, files[i]);
    }
    for (unsigned i = 0; i < set->rule_count; i++) {
        resolve_follows(set, &set->rules[i]);
    }
}
