/* SPDX-License-Identifier: Apache-2.0 */
/* Static use of the coprocessor's rules: the words that a kernel's code pushes, in the order of the
 * code, judged as a stream without issues. */
#ifndef NOCAP_CHECKER_LINT_KERNEL_H
#define NOCAP_CHECKER_LINT_KERNEL_H

#include "checker/core/checker.h"

/* The thread whose core's name stands in the file name ("x_trisc1.elf"); -1: none does. */
int nocap_lint_thread_of(const char *path);
/* Judges the code of a file ("-": standard input). Of the options rules, waivers or accepted,
 * baseline and max_per_rule count; NULL: none. In waivers CORE is that of the thread, an index the
 * address of an instruction. Fails with NOCAP_E_INPUT if the file is no RISC-V ELF, or waivers or
 * baseline cannot be read, with NOCAP_E_USAGE if none of the rules can be judged on code. */
enum nocap_status nocap_lint_kernel(struct nocap_report **report, const char *path, unsigned thread,
                                    const struct nocap_check_options *options,
                                    struct nocap_error *err);

#endif
