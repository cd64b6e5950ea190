/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: assembly text that is being read. */
#ifndef NOCAP_AIE_ASM_SOURCE_H
#define NOCAP_AIE_ASM_SOURCE_H

#include "formats/aie/asm_private.h"

enum { PATH_TEXT_MAX = 4096 };

/* Where the source stands. */
struct aie_source {
    struct aie_program *program;
    struct aie_place place;
    unsigned depth;
    bool files; /* other files may be read */
    bool data;  /* a label belongs to data, and does not begin a chain */
    uint32_t kernel, uc;
    char *path;                                               /* of the chain */
    enum { AIE_FILL_NONE, AIE_FILL_PAD, AIE_FILL_PAGE } fill; /* what .bytes and .reloc are about */
    uint32_t fill_kernel, fill_uc;
    size_t fill_at; /* the column's buffer, or the raw page */
    uint32_t open;  /* START_JOB that waits for its END_JOB; AIE_NONE */
    uint64_t total; /* bytes read */
};

#define FAIL(s, word, ...) aie_source_error((s)->program, (s)->place, (word), __VA_ARGS__)

struct aie_directive {
    const char *name;
    uint32_t least, most; /* operands */
    uint32_t dialects;
    enum nocap_status (*take)(struct aie_source *, const struct aie_statement *);
};
/* NULL: the dialect has none of that name. */
const struct aie_directive *aie_directive_of(enum nocap_aie_dialect dialect,
                                             const struct aie_word *name);

/* .bytes, .page, .reloc, .layout, .kernel: text that gives parts of the file as they stand. */
enum nocap_status aie_take_bytes(struct aie_source *s, const struct aie_statement *line);
enum nocap_status aie_take_page(struct aie_source *s, const struct aie_statement *line);
enum nocap_status aie_take_reloc(struct aie_source *s, const struct aie_statement *line);
enum nocap_status aie_take_layout(struct aie_source *s, const struct aie_statement *line);
enum nocap_status aie_take_kernel(struct aie_source *s, const struct aie_statement *line);

/* A number of a directive, up to `most`. */
enum nocap_status aie_source_number(struct aie_source *s, const struct aie_word *word,
                                    uint64_t most, const char *what, uint32_t *number);

/* The column, made when it is met first; NULL without memory. */
struct aie_column *aie_source_column(struct aie_program *program, uint32_t kernel, uint32_t uc);
struct aie_chain *aie_source_chain(struct aie_source *s);
/* The last part of a chain's path. */
const char *aie_last_name(const char *path);
enum nocap_status aie_source_add(struct aie_source *s, const struct aie_statement *statement);
/* Fails if a job is open; `before` is what may not stand in it. */
enum nocap_status aie_source_closed(struct aie_source *s, const char *before);
/* Reads a file's lines. Takes `name` and `text`, also when it fails. */
enum nocap_status aie_source_lines(struct aie_source *s, char *name, char *text, size_t length);

#endif
