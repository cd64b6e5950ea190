/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as tests: each row is a case with a name of its own, and one that fails does not keep the
 * others from being run. */
#ifndef NOCAP_TESTS_ROWS_H
#define NOCAP_TESTS_ROWS_H

#include <stdio.h>
#include <stdlib.h>

#include "tests/temp_dir.h"

struct rows {
    struct CMUnitTest *list;
    size_t count, capacity;
};

/* A case named `name`, which is copied; `run` finds `row` in *state. */
static inline void rows_add(struct rows *rows, const char *name, CMUnitTestFunction run,
                            const void *row)
{
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity == 0 ? 64 : 2 * rows->capacity;
        rows->list = realloc(rows->list, rows->capacity * sizeof *rows->list);
    }
    if (rows->list == NULL) {
        abort();
    }
    rows->list[rows->count++] = (struct CMUnitTest){
        .name = strdup(name), .test_func = run, .initial_state = (void *)(uintptr_t)row};
}

/* Runs them in a directory of their own; what main is to return. */
static inline int rows_run(struct rows *rows, const char *group)
{
    int failed =
        _cmocka_run_group_tests(group, rows->list, rows->count, temp_dir_enter, temp_dir_leave);
    for (size_t i = 0; i < rows->count; i++) {
        free((char *)(uintptr_t)rows->list[i].name);
    }
    free(rows->list);
    return failed;
}

#endif
