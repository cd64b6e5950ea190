/* SPDX-License-Identifier: Apache-2.0 */
/* Runs with one change or two (tests/changes.txt): what is found is what was found when a row was
 * written. One change adds one finding, or none where the protocol permits what it makes; two add
 * at most two. NOCAP_CHANGES=print prints the rows with what is found now. */
#include "tests/changed.h"
#include "tests/rows.h"

#include "checker/core/checker.h"

enum { ROWS = 10000, TWO = 2 };

static struct row {
    size_t base;
    const char *text; /* "CHANGE[; CHANGE] = FINDING.." */
} all[ROWS];
static size_t row_count;

static const char *bases[ROWS];
static size_t base_count;

/* The run of a base; the one before it is closed. */
static const struct base *base_at(size_t number)
{
    static struct base base;
    static size_t open = SIZE_MAX;
    if (number != open) {
        base_close(&base);
        base = (struct base){0};
        if (number < base_count) {
            base = base_of(bases[number]);
            base_open(&base);
        }
        open = number;
    }
    return &base;
}

/* "RULE@EVENT .." of findings that follow from no other, notes aside. */
static void found_text(char text[1024], const struct nocap_report *report)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < report->finding_count; i++) {
        const struct nocap_finding *f = &report->findings[i];
        if (f->follows == UINT64_MAX && f->severity != NOCAP_NOTE && length < 1000) {
            length += (size_t)snprintf(text + length, 1024 - length, " %s@%llu",
                                       nocap_rules[f->rule].id, (unsigned long long)f->index);
        }
    }
}

static struct nocap_report *check_changes(const struct row *row, const char **after)
{
    static uint8_t bytes[TWO][1 << 16];
    const struct base *base = base_at(row->base);
    struct run runs[TWO + 1] = {base->run};
    const char *text = row->text;
    unsigned changes = 0;
    for (; *text != '='; changes++) {
        struct change c = {0};
        assert_in_range(changes, 0, TWO - 1);
        text = change_read(text, &c);
        runs[changes + 1] = change_one(&runs[changes], &c, bytes[changes]);
        assert_int_not_equal(runs[changes + 1].count, 0);
        text += strspn(text, " ;");
    }
    struct run_trace t = base_trace(base, "changed.nocap");
    for (size_t i = 0; i < runs[changes].count; i++) {
        run_trace_add(&t, &runs[changes].events[i]);
    }
    for (unsigned i = 1; i <= changes; i++) {
        free(runs[i].events);
    }
    *after = text + 1;
    return run_trace_check(&t);
}

static void is_found_as_before(void **state)
{
    const struct row *row = *state;
    const char *expected;
    char found[1024];
    struct nocap_report *report = check_changes(row, &expected);
    found_text(found, report);
    if (strcmp(found, expected) != 0) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
    }
    nocap_report_free(report);
    if (strcmp(found, expected) != 0) {
        fail_msg("%s: %.*s=%s, not%s", bases[row->base], (int)strcspn(row->text, "="), row->text,
                 expected, found);
    }
}

static struct row all[ROWS];
static size_t row_count;

/* Lines "run: BASE" and the rows of it; # begins a comment. */
static void read_rows(char *text)
{
    for (char *rest, *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "run: ", 5) == 0 && base_count < ROWS) {
            bases[base_count++] = line + 5;
        } else if (line[0] != '#' && row_count < ROWS && strchr(line, '=') != NULL &&
                   base_count > 0) {
            all[row_count++] = (struct row){base_count - 1, line};
        } else if (line[0] != '#') {
            fprintf(stderr, "tests/changes.txt: what is %s\n", line);
            exit(1);
        }
    }
}

static void print_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        const char *before;
        char found[1024];
        if (i == 0 || all[i].base != all[i - 1].base) {
            printf("run: %s\n", bases[all[i].base]);
        }
        struct nocap_report *report = check_changes(&all[i], &before);
        found_text(found, report);
        nocap_report_free(report);
        printf("%.*s=%s\n", (int)strcspn(all[i].text, "="), all[i].text, found);
    }
}

int main(void)
{
    size_t size;
    struct rows rows = {0};
    char *text = read_bytes("tests/changes.txt", &size); /* to be run from the root of the tree */
    const char *asked = getenv("NOCAP_CHANGES");
    bool print = asked != NULL && strcmp(asked, "print") == 0;
    read_rows(text);
    for (size_t i = 0; i < row_count && !print; i++) {
        char name[300];
        snprintf(name, sizeof name, "%s: %s", bases[all[i].base], all[i].text);
        rows_add(&rows, name, is_found_as_before, &all[i]);
    }
    if (print) {
        rows_add(&rows, "print", print_rows, NULL);
    }
    int failed = rows_run(&rows, "changes");
    (void)base_at(base_count);
    free(text);
    return failed;
}
