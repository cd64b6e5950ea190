/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the examples of the rules: a file that fails and one that passes for each,
 * GO-001.fail.jsonl and GO-001.pass.jsonl; .asm for control code, .sh for what is no trace but a
 * recipe. */
#include "checker/rules/rules_file.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

static const char *const kinds[] = {".jsonl", ".asm", ".sh"};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

char *rules_whole_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0, room = 0;
    if (file == NULL) {
        rules_fail(path, 0, "%s", strerror(errno));
    }
    do {
        if (size + 1 >= room) {
            room = room == 0 ? 4096 : 2 * room;
            text = rules_allocate(text, room);
        }
        size += fread(text + size, 1, room - size - 1, file);
    } while (!feof(file) && !ferror(file));
    if (ferror(file)) {
        rules_fail(path, 0, "%s", strerror(errno));
    }
    fclose(file);
    text[size] = 0;
    if (strlen(text) != size) {
        rules_fail(path, 0, "no text: it has a zero byte");
    }
    return text;
}

static void take_example(const struct rules_rule *rule, struct rules_example *example,
                         const char *folder, const char *which)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.%s%s", folder, rule->id, which, kinds[kind]);
        FILE *file = fopen(path, "r");
        if (file == NULL) {
            continue;
        }
        fclose(file);
        if (example->name != NULL) {
            rules_fail(path, 0, "%s has another such example, %s", rule->id, example->name);
        }
        example->name = strdup(strrchr(path, '/') + 1);
        example->text = rules_whole_file(path);
        if (*example->text == 0 || example->text[strlen(example->text) - 1] != '\n') {
            rules_fail(path, 0, "empty, or the last line has no end");
        }
    }
    if (example->name == NULL) {
        rules_fail(rule->file, rule->line, "%s has no example %s/%s.%s.jsonl (nor .asm, nor .sh)",
                   rule->id, folder, rule->id, which);
    }
}

/* A file of no rule is one that was renamed, or whose rule went. */
static void check_stray(const struct rules_set *set, const char *folder)
{
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        rules_fail(folder, 0, "%s", strerror(errno));
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const char *name = entry->d_name, *end = strrchr(name, '.');
        bool expected = *name == '.' || (end != NULL && strcmp(end, ".elf") == 0);
        for (unsigned i = 0; i < set->rule_count && !expected; i++) {
            expected = strcmp(set->rules[i].failing.name, name) == 0 ||
                       strcmp(set->rules[i].passing.name, name) == 0;
        }
        if (!expected) {
            rules_fail(folder, 0, "%s is the example of no rule", name);
        }
    }
    closedir(dir);
}

void rules_read_examples(struct rules_set *set, const char *folder)
{
    for (unsigned i = 0; i < set->rule_count; i++) {
        struct rules_rule *rule = &set->rules[i];
        take_example(rule, &rule->failing, folder, "fail");
        take_example(rule, &rule->passing, folder, "pass");
        if (strcmp(strrchr(rule->failing.name, '.'), strrchr(rule->passing.name, '.')) != 0) {
            rules_fail(rule->file, rule->line, "%s has examples of two kinds: %s and %s", rule->id,
                       rule->failing.name, rule->passing.name);
        }
    }
    check_stray(set, folder);
}
