/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the generator of the rule tables, which runs while nocap is built: the rule set as its
 * family files say it. The form of these files: checker/rules/README.md. */
#ifndef NOCAP_RULES_FILE_H
#define NOCAP_RULES_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { RULES_WORDS = 24, RULES_FOLLOWS = 16 };

/* Words of one line: event classes, architectures. */
struct rules_words {
    unsigned count;
    const char *word[RULES_WORDS];
};

/* A violation of the rule is a consequence where one of the roots `first` to `last` is violated: by
 * the same event, or at the same tile since the first event that it relates to (`span`). */
struct rules_follows {
    const char *first, *last; /* ids */
    bool span;
};

struct rules_example {
    char *name; /* of the file, without its folder */
    char *text;
};

struct rules_rule {
    const char *file; /* where it stands */
    unsigned line;
    char *id; /* "GO-001" */
    unsigned family;
    const char *severity;
    struct rules_words needs, needs_any, archs; /* `needs` may have "elf" */
    struct rules_follows follows[RULES_FOLLOWS];
    unsigned follows_count;
    char *sentence, *source, *text; /* paragraphs of `text` are apart by "\n\n" */
    struct rules_example failing, passing;
};

struct rules_family {
    char *name, *title;
    struct rules_words archs; /* none: "any" */
};

struct rules_set {
    struct rules_family *families;
    unsigned family_count;
    struct rules_rule *rules; /* by family in the order of the files, in a family by number */
    unsigned rule_count;
};

/* Reads family files and their examples, in the folder `examples` beside the first. What is wrong
 * ends the program with status 1 and "FILE:LINE: what". */
void rules_read(struct rules_set *set, unsigned count, char *const files[]);
void rules_read_examples(struct rules_set *set, const char *folder);

_Noreturn void rules_fail(const char *file, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *rules_allocate(void *old, size_t size);
/* The whole of a file, terminated; ends the program if it cannot be read or holds a zero byte. */
char *rules_whole_file(const char *path);

/* C: the enumeration of the rules; the tables behind checker/core/checker.h and
 * checker/core/fold.h. */
void rules_write_ids(FILE *out, const struct rules_set *set);
void rules_write_tables(FILE *out, const struct rules_set *set);
/* Markdown: a page of one family; the list of all. */
void rules_write_page(FILE *out, const struct rules_set *set, unsigned family);
void rules_write_index(FILE *out, const struct rules_set *set);

#endif
