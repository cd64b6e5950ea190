/* SPDX-License-Identifier: Apache-2.0 */
/* Static use of the coprocessor's rules: the words that a kernel's code pushes, in the order of the
 * code, judged as a stream without issues. */
#ifndef NOCAP_CHECKER_LINT_KERNEL_H
#define NOCAP_CHECKER_LINT_KERNEL_H

#include <stdio.h>

#include "checker/checker.h"

struct nocap_lint_finding {
    enum nocap_rule rule;
    uint32_t address; /* of the instruction that pushes the word */
    uint32_t offset;  /* from `symbol` */
    char symbol[96];  /* empty: none */
    char expected[160], observed[160];
};

struct nocap_lint {
    char *path;
    unsigned thread;
    size_t words, unknown; /* words found; pushes of a value that the code alone does not tell */
    struct nocap_lint_finding *findings; /* in the order of the code */
    size_t count;
    uint64_t counts[NOCAP_SEVERITY_COUNT];
};

/* The thread whose core's name stands in the file name ("x_trisc1.elf"); -1: none does. */
int nocap_lint_thread_of(const char *path);
/* Fails with NOCAP_E_INPUT if the file is no RISC-V ELF. */
enum nocap_status nocap_lint_kernel(struct nocap_lint **lint, const char *path, unsigned thread,
                                    struct nocap_error *err);
void nocap_lint_free(struct nocap_lint *lint);
enum nocap_status nocap_lint_text(FILE *out, const struct nocap_lint *lint,
                                  struct nocap_error *err);
enum nocap_status nocap_lint_json(FILE *out, const struct nocap_lint *lint,
                                  struct nocap_error *err);

#endif
