/* SPDX-License-Identifier: Apache-2.0 */
/* A profile from the debug information of firmware and kernel ELF files: offsets of structures,
 * enumerators, constants. What no file says stays as the nearest shipped profile has it: the one
 * that they contradict in the fewest values. */
#ifndef NOCAP_PROFILE_ELF_H
#define NOCAP_PROFILE_ELF_H

#include "formats/profile/profile.h"

enum { NOCAP_PROFILE_ELFS = 64 };        /* files at a time */
enum { NOCAP_PROFILE_VALUES_MAX = 512 }; /* values of a profile */

struct nocap_profile_origins {
    const char *base;                       /* name of the nearest shipped profile */
    size_t contradicted;                    /* values of it that the files contradict */
    size_t said;                            /* values that the files say */
    uint8_t file[NOCAP_PROFILE_VALUES_MAX]; /* by number of the value: which file says it, from 1
                                               on; 0: the base */
};

/* Fails with NOCAP_E_INPUT if a file cannot be read, or none says anything of a profile. Without a
 * contradiction `profile` is the base itself. */
enum nocap_status nocap_profile_from_elf(struct nocap_profile *profile,
                                         struct nocap_profile_origins *origins,
                                         const char *const *paths, size_t count,
                                         struct nocap_error *err);
/* The same of one file in memory. */
enum nocap_status nocap_profile_from_elf_memory(struct nocap_profile *profile,
                                                struct nocap_profile_origins *origins,
                                                const void *bytes, size_t size, const char *name,
                                                struct nocap_error *err);

#endif
