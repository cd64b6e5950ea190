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
    bool files;      /* other files may be read */
    bool data;       /* a label belongs to data, and does not begin a chain */
    uint8_t *states; /* n26: what `data` was before */
    size_t state_count;
    uint32_t annotation_lines;  /* lines of .section annotation that are still to come */
    size_t at_column, at_chain; /* where the chain stands that statements go to ... */
    bool at_known;              /* ... if this is known */
    uint32_t kernel, uc;
    bool grouped; /* the text has said which uC it is for */
    char *path;   /* of the chain */
    enum {
        AIE_FILL_NONE,
        AIE_FILL_PAD,
        AIE_FILL_PAGE,
        AIE_FILL_EXTRA
    } fill; /* what .bytes and .reloc are about */
    uint32_t fill_kernel, fill_uc;
    size_t fill_at; /* the column's buffer, or the raw page */
    uint32_t open;  /* START_JOB that waits for its END_JOB; AIE_NONE */
    uint64_t total; /* bytes read */
};

#define FAIL(s, word, ...) aie_source_error((s)->program, (s)->place, (word), __VA_ARGS__)
#define RETURN_FAIL_IF(condition, s, word, ...)                                                    \
    RETURN_SOURCE_ERROR_IF(condition, (s)->program, (s)->place, (word), __VA_ARGS__)

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
enum nocap_status aie_take_raw(struct aie_source *s, const struct aie_statement *line);
enum nocap_status aie_take_custom(struct aie_source *s, const struct aie_statement *line);
enum nocap_status aie_take_layout(struct aie_source *s, const struct aie_statement *line);
enum nocap_status aie_take_kernel(struct aie_source *s, const struct aie_statement *line);

/* A number of a directive, up to `most`. */
enum nocap_status aie_source_number(struct aie_source *s, const struct aie_word *word,
                                    uint64_t most, const char *what, uint32_t *number);

/* Goes to the data, or to the text; n26 goes back at the end of what is nested. */
enum nocap_status aie_source_enter(struct aie_source *s, bool data);
void aie_source_leave(struct aie_source *s, bool data);
/* n26: an EOF at this line, 0: one that the text does not have. */
enum nocap_status aie_source_eof(struct aie_source *s, uint32_t line);

/* n26 for aie4: the code that PREEMPT saves and restores with, after all other. */
enum nocap_status aie_take_preempt(struct aie_source *s, struct aie_statement *statement);
enum nocap_status aie_add_preempt_code(struct aie_source *s);
enum { AIE_PREEMPT_REGION = 3 << 20 }; /* bytes of a memory tile */
struct aie_preempt_code {
    bool save;         /* or restore */
    uint32_t columns;  /* whose memory tiles it moves */
    uint32_t number;   /* of a column that has code of its own; AIE_NONE: all columns together */
    uint64_t from, to; /* which bytes of the memory tiles, counted from the first one on */
};
/* Its text between two lines of the label; free(), NULL without memory. */
char *aie_preempt_code(const struct aie_preempt_code *code, const char *label);
/* Reads a file that the text names, from the directories for it; free(*bytes). */
enum nocap_status aie_source_file(struct aie_source *s, const struct aie_word *name, char *path,
                                  char **bytes, size_t *length);

/* The column, made when it is met first; NULL without memory. */
struct aie_column *aie_source_column(struct aie_program *program, uint32_t kernel, uint32_t uc);
struct aie_chain *aie_source_chain(struct aie_source *s);
/* The last part of a chain's path. */
enum nocap_status aie_source_add(struct aie_source *s, const struct aie_statement *statement);
/* Fails if a job is open; `before` is what may not stand in it. */
enum nocap_status aie_source_closed(struct aie_source *s, const char *before);
bool aie_is_blank(char c);
/* The next word of a line: up to a blank or a comma, or quoted; false at the end. */
bool aie_next_word(const char *line, size_t length, size_t *at, struct aie_word *word);
/* Length of the line without its comment. */
size_t aie_without_comment(const char *line, size_t length);
/* From `at` on, without blanks at both ends. */
struct aie_word aie_trimmed(const char *line, size_t at, size_t end);
/* One of the three lines after .section annotation. */
enum nocap_status aie_take_annotation(struct aie_source *s, const char *line, size_t length);

/* Reads a file's lines; `shown` is its name in the debug map, NULL: of the first file. Takes
 * `name`, `shown` and `text`, also when it fails. */
enum nocap_status aie_source_lines(struct aie_source *s, char *name, char *shown, char *text,
                                   size_t length);

#endif
