/* SPDX-License-Identifier: Apache-2.0 */
/* make_rules ids|tables|index|FAMILY OUT FILE.rules... : writes one file that is made from the rule
 * set: the enumeration of the rules, the tables of the checker, or a page of the documents. OUT is
 * left alone if it says the same already, so that nothing is built again for it. */
#include "checker/rules/rules_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void write_what(FILE *out, const struct rules_set *set, const char *what)
{
    if (strcmp(what, "ids") == 0) {
        rules_write_ids(out, set);
    } else if (strcmp(what, "tables") == 0) {
        rules_write_tables(out, set);
    } else if (strcmp(what, "index") == 0) {
        rules_write_index(out, set);
    } else {
        unsigned family = 0;
        while (family < set->family_count && strcmp(set->families[family].name, what) != 0) {
            family++;
        }
        if (family == set->family_count) {
            rules_fail("make_rules", 0, "'%s' is neither a family nor ids, tables, index", what);
        }
        rules_write_page(out, set, family);
    }
}

static bool says_already(const char *path, const char *text)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    fclose(file);
    char *old = rules_whole_file(path);
    bool same = strcmp(old, text) == 0;
    free(old);
    return same;
}

int main(int argc, char **argv)
{
    struct rules_set set;
    char folder[4096], *text = NULL;
    size_t size = 0;
    if (argc < 4) {
        fputs("usage: make_rules ids|tables|index|FAMILY OUT FILE.rules...\n", stderr);
        return 2;
    }
    rules_read(&set, (unsigned)argc - 3, argv + 3);
    const char *slash = strrchr(argv[3], '/');
    snprintf(folder, sizeof folder, "%.*sexamples", slash == NULL ? 0 : (int)(slash - argv[3]) + 1,
             argv[3]);
    rules_read_examples(&set, folder);
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        rules_fail("make_rules", 0, "out of memory");
    }
    write_what(out, &set, argv[1]);
    if (fclose(out) != 0) {
        rules_fail("make_rules", 0, "out of memory");
    }
    if (!says_already(argv[2], text)) {
        out = fopen(argv[2], "w");
        if (out == NULL || fputs(text, out) == EOF || fclose(out) != 0) {
            rules_fail(argv[2], 0, "%s", strerror(errno));
        }
    }
    free(text);
    return 0;
}
