/* SPDX-License-Identifier: Apache-2.0 */
/* Events as text for people, one line each: index, time, tile, who, what, where in the words of the
 * field, value. */
#ifndef NOCAP_EXPORT_TEXT_H
#define NOCAP_EXPORT_TEXT_H

#include "formats/elf_cores.h"
#include "formats/trace/jsonl.h"

struct nocap_command_set;
struct nocap_mailbox_layout;

struct nocap_profile;

/* The record that was stored last, for the slot that makes it visible. */
enum { NOCAP_TEXT_RECORD = 512 };
struct nocap_text_queue_record {
    uint64_t bytes; /* 0: none */
    char text[NOCAP_TEXT_RECORD];
};
/* The command queue, where the trace is about one. */
struct nocap_text_queue {
    bool present;
    const struct nocap_profile *profile;
    struct nocap_xy prefetch, dispatch;
    uint64_t kernel_config;
    struct nocap_text_queue_record *last; /* NULL: events are not printed one after the other */
};

struct nocap_text_style {
    bool color;
    bool is_blackhole;
    bool has_names; /* addresses have names: the trace is of an architecture whose map is known */
    enum nocap_board board;
    const struct nocap_mailbox_layout *layout;
    const struct nocap_command_set *commands; /* of records; NULL: the default */
    const struct nocap_elf_cores *cores;      /* the ELF files that name pcs; NULL: none */
    struct nocap_text_queue queue;
};

/* As the header tells; where its layout is not known, addresses have no names. */
struct nocap_text_style nocap_text_style(const struct nocap_header *header, bool color);
enum nocap_status nocap_text_print_event(const struct nocap_text_style *style,
                                         struct nocap_text *out, const struct nocap_event *event,
                                         struct nocap_error *err);

#endif
