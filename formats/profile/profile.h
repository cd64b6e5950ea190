/* SPDX-License-Identifier: Apache-2.0 */
/* A profile: the protocol of one runtime as data - mailbox, command queue, commands. Addresses are
 * L1 addresses unless numbers.def says otherwise, sizes bytes. docs/profiles.md says where the
 * shipped ones come from and how to add one. Source: numbers.def, layouts.def, cq_commands.def, the
 * JSON files beside this one. */
#ifndef NOCAP_PROFILE_H
#define NOCAP_PROFILE_H

#include "formats/blackhole/cq_commands.h"
#include "formats/blackhole/mailbox.h"
#include <stdio.h>

#include "base/status.h"

#define QUEUE(type, member, form, value, text) type member; /* text */
struct nocap_queue {
#include "formats/profile/numbers.def"
};

enum { NOCAP_PROFILE_NAME_SIZE = 64, NOCAP_PROFILE_SOURCE_SIZE = 1024 };
/* Holds no pointers. */
struct nocap_profile {
    char name[NOCAP_PROFILE_NAME_SIZE];
    char source[NOCAP_PROFILE_SOURCE_SIZE]; /* where it was read, and what was inferred */
    struct nocap_mailbox_layout mailbox;
    struct nocap_queue queue;
    struct nocap_command_set commands;
};

/* blackhole-py. */
const struct nocap_profile *nocap_profile_default(void);
/* Names of those that nocap ships, the default first; NULL past the last. */
const char *nocap_profile_name(size_t i);
/* That of the newest one. */
const char *nocap_profile_newest(void);

/* A shipped profile by name; on failure the error names those that there are. */
enum nocap_status nocap_profile_find(struct nocap_profile *profile, const char *name,
                                     struct nocap_error *err);
/* JSON: the name of a shipped profile, or an object as nocap_profile_print writes it. What an
 * object leaves out is as in the profile that its `base` names, the default if it names none. */
enum nocap_status nocap_profile_read(struct nocap_profile *profile, const char *json,
                                     struct nocap_error *err);
/* For --profile: the name of a shipped profile, or of a JSON file. */
enum nocap_status nocap_profile_load(struct nocap_profile *profile, const char *name_or_file,
                                     struct nocap_error *err);

/* The same queue where its host has made `queues` of them: they share host memory, and each has
 * three quarters of its part for records. False: this host does not. Source: tt-metal's
 * SystemMemoryCQInterface. */
bool nocap_queue_split(struct nocap_queue *queue, uint32_t queues);

/* JSON that nocap_profile_read makes the same profile of, indented. */
enum nocap_status nocap_profile_print(FILE *out, const struct nocap_profile *profile,
                                      struct nocap_error *err);
/* The same as a text that the caller frees; in one line. */
enum nocap_status nocap_profile_text(char **text, const struct nocap_profile *profile,
                                     struct nocap_error *err);

/* The values of a profile one by one, in a fixed order. */
enum { NOCAP_PROFILE_PATH_SIZE = 96, NOCAP_PROFILE_VALUE_SIZE = 256 };
struct nocap_profile_value {
    char path[NOCAP_PROFILE_PATH_SIZE];   /* "queue.entry_bytes", "dispatch.WAIT" */
    char value[NOCAP_PROFILE_VALUE_SIZE]; /* "2", "id 7, 16 bytes: flags 1:1, stream 2:2"; "none" */
};
/* False past the last. */
bool nocap_profile_value(const struct nocap_profile *profile, size_t i,
                         struct nocap_profile_value *value);

/* Where the rules about launches can judge this mailbox: NULL. Else why not. */
const char *nocap_profile_mailbox_problem(const struct nocap_mailbox_layout *layout);

#endif
