/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/profile: what debug information says of a profile. */
#ifndef NOCAP_PROFILE_ELF_FACTS_H
#define NOCAP_PROFILE_ELF_FACTS_H

#include "formats/elf_image_private.h"
#include "formats/profile/profile_private.h"

/* A number that a file says: `file` counts them from 1 on; 0: none says it. */
struct fact {
    uint64_t value;
    uint8_t file;
};

/* Of a structure whose members are fields. */
struct form_fact {
    uint8_t file, bytes;
    struct nocap_cq_field fields[NOCAP_CQ_FORM_FIELDS];
};

struct elf_facts {
    uint8_t file; /* being read */
    uint8_t launch_file;
    uint32_t launch_size;
    struct nocap_launch_place fields[NOCAP_LAUNCH_FIELDS];
    uint8_t mailbox_file;
    uint32_t sync, rd_ptr, launch, go_messages, timestamp, go_message_index; /* from its base */
    uint32_t launch_slots, go_words;
    struct fact mailbox_base;
    uint8_t ids_file[NOCAP_CQ_DISPATCH + 1]; /* the enumeration of this side was there */
    struct fact ids[NOCAP_CQ_DISPATCH + 1][NOCAP_CQ_IDS];
    struct form_fact forms[NOCAP_CQ_SUB + 1][NOCAP_CQ_IDS];
    struct fact flags[NOCAP_CQ_FLAGS];
    struct fact constants[sizeof(struct nocap_queue) / sizeof(uint32_t)]; /* by offset / 4 */
    struct fact entry_bytes, queue_size, log_page;
};

/* Adds what the file says; facts->file counts up. */
enum nocap_status elf_facts_add(struct elf_facts *facts, struct nocap_elf_image *image,
                                const char *name, struct nocap_error *err);

#endif
