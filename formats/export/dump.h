/* SPDX-License-Identifier: Apache-2.0 */
/* A trace printed: which events, in which form. */
#ifndef NOCAP_EXPORT_DUMP_H
#define NOCAP_EXPORT_DUMP_H

#include "formats/elf_cores.h"
#include "formats/trace/filter.h"
#include "formats/trace/trace.h"

enum nocap_dump_format { NOCAP_DUMP_TEXT, NOCAP_DUMP_JSONL, NOCAP_DUMP_CSV };

struct nocap_dump_options {
    size_t size; /* sizeof(struct nocap_dump_options) */
    enum nocap_dump_format format;
    bool color;                          /* of text */
    const struct nocap_filter *filter;   /* NULL: all */
    const struct nocap_elf_cores *cores; /* names of pcs in text; NULL: none */
    bool has_time, has_index, has_limit;
    uint64_t from, to;                /* times, both included */
    uint64_t first_index, last_index; /* both included */
    uint64_t limit;                   /* events printed at most */
};

/* Takes the next piece of the output; anything but NOCAP_OK ends the dump with that status. */
typedef enum nocap_status nocap_dump_sink(void *context, const char *text, size_t size,
                                          struct nocap_error *err);

/* Prints from where the reader stands, which is the beginning. What was damaged is in
 * nocap_reader_integrity. */
enum nocap_status nocap_dump(struct nocap_reader *reader, const struct nocap_dump_options *options,
                             nocap_dump_sink *sink, void *context, struct nocap_error *err);

#endif
