/* SPDX-License-Identifier: Apache-2.0 */
/* Lines from a file, plain or compressed with zstd, in bounded memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/unpack.h"
#include "formats/trace/jsonl_private.h"

enum {
    BUFFER_START = 256 << 10,
    /* A line, its end, and enough after it to make steps worth while. */
    BUFFER_MAX = JSONL_LINE_MAX + BUFFER_START,
};

static const char byte_order_mark[] = "\xef\xbb\xbf";

struct jsonl_lines {
    FILE *file;
    char *name;
    char *buffer;
    size_t capacity;
    size_t start, end;    /* of what was read and not yet handed out */
    uint64_t number;      /* of line ends passed */
    bool at_eof;          /* the buffer holds all that is left */
    bool skipping;        /* what comes up to the next line end belongs to a line that was cut */
    struct unpack packed; /* not open: plain */
    char magic[UNPACK_MAGIC];
};

/* Fewer bytes than asked for only at the end of the file. */
static ssize_t read_file(void *lines, void *to, size_t size)
{
    FILE *file = ((struct jsonl_lines *)lines)->file;
    errno = 0;
    size_t got = fread(to, 1, size, file);
    return got < size && ferror(file) ? -1 : (ssize_t)got;
}

static enum nocap_status read_on(struct jsonl_lines *lines, char *to, size_t size, size_t *got,
                                 struct nocap_error *err)
{
    struct unpack *packed = &lines->packed;
    bool plain = packed->zstd == NULL;
    ssize_t n = plain ? read_file(lines, to, size) : unpack_read(packed, to, size);
    RETURN_ERROR_IF(n < 0 && packed->damage == NULL, err, NOCAP_E_INPUT,
                    "%s: cannot read on near line %llu: %s", lines->name,
                    (unsigned long long)lines->number, strerror(errno));
    *got = n > 0 ? (size_t)n : 0;
    lines->at_eof = *got < (plain ? size : 1);
    return NOCAP_OK;
}

/* Reads more after `end`; there must be room. */
static enum nocap_status fill(struct jsonl_lines *lines, struct nocap_error *err)
{
    size_t room = lines->capacity - lines->end, got = 0;
    RETURN_IF_FAILED(read_on(lines, lines->buffer + lines->end, room, &got, err));
    lines->end += got;
    return NOCAP_OK;
}

/* Makes room after `end` by moving what is there to the front, then by growing. */
static enum nocap_status make_room(struct jsonl_lines *lines, struct nocap_error *err)
{
    if (lines->start > 0) {
        memmove(lines->buffer, lines->buffer + lines->start, lines->end - lines->start);
        lines->end -= lines->start;
        lines->start = 0;
    }
    if (lines->end == lines->capacity) {
        size_t capacity = 2 * lines->capacity < BUFFER_MAX ? 2 * lines->capacity : BUFFER_MAX;
        char *grown = realloc(lines->buffer, capacity);
        RETURN_ERROR_IF(grown == NULL, err, NOCAP_E_MEMORY, "%s: out of memory for line %llu",
                        lines->name, (unsigned long long)lines->number + 1);
        lines->buffer = grown;
        lines->capacity = capacity;
    }
    return NOCAP_OK;
}

/* The first bytes tell whether the file is compressed. */
static enum nocap_status begin(struct jsonl_lines *lines, struct nocap_error *err)
{
    size_t got;
    RETURN_IF_FAILED(read_on(lines, lines->magic, sizeof lines->magic, &got, err));
    if (unpack_begins(lines->magic, got)) {
        RETURN_ERROR_IF(!unpack_open(&lines->packed, lines->magic, got, read_file, lines), err,
                        NOCAP_E_MEMORY, "%s: out of memory", lines->name);
    } else {
        memcpy(lines->buffer, lines->magic, got);
        lines->end = got;
    }
    while (!lines->at_eof && lines->end < sizeof byte_order_mark - 1) {
        RETURN_IF_FAILED(fill(lines, err));
    }
    if (lines->end >= sizeof byte_order_mark - 1 &&
        memcmp(lines->buffer, byte_order_mark, sizeof byte_order_mark - 1) == 0) {
        lines->start = sizeof byte_order_mark - 1;
    }
    return NOCAP_OK;
}

enum nocap_status jsonl_lines_open(struct jsonl_lines **lines, FILE *file, const char *name,
                                   struct nocap_error *err)
{
    struct jsonl_lines *l = calloc(1, sizeof *l);
    if (l != NULL) {
        l->file = file;
        l->name = strdup(name);
        l->capacity = BUFFER_START;
        l->buffer = malloc(l->capacity);
    }
    enum nocap_status status;
    if (l == NULL || l->name == NULL || l->buffer == NULL) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "%s: out of memory", name);
    } else {
        status = begin(l, err);
    }
    if (status != NOCAP_OK) {
        jsonl_lines_close(l);
        l = NULL;
    }
    *lines = l;
    return status;
}

void jsonl_lines_close(struct jsonl_lines *lines)
{
    if (lines != NULL) {
        unpack_close(&lines->packed);
        free(lines->buffer);
        free(lines->name);
        free(lines);
    }
}

bool jsonl_lines_cut(const struct jsonl_lines *lines)
{
    return lines->packed.cut;
}

const char *jsonl_lines_damage(const struct jsonl_lines *lines)
{
    return lines->packed.cut ? NULL : lines->packed.damage;
}

enum nocap_status jsonl_lines_whole(const struct jsonl_lines *lines, struct nocap_error *err)
{
    const char *damage = jsonl_lines_damage(lines);
    RETURN_ERROR_IF(damage != NULL, err, NOCAP_E_INPUT,
                    "%s: the zstd data near line %llu is damaged: %s", lines->name,
                    (unsigned long long)lines->number, damage);
    return NOCAP_OK;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Steps over white space and empty lines; NOCAP_END if nothing else is left. */
static enum nocap_status skip_blank(struct jsonl_lines *lines, struct nocap_error *err)
{
    for (;;) {
        while (lines->start < lines->end) {
            char c = lines->buffer[lines->start];
            if (c == '\n') {
                lines->number++;
            } else if (!is_space(c)) {
                return NOCAP_OK;
            }
            lines->start++;
        }
        if (lines->at_eof) {
            return NOCAP_END;
        }
        lines->start = lines->end = 0;
        RETURN_IF_FAILED(fill(lines, err));
    }
}

/* Steps over the rest of a line that was cut: it may be long, even without an end. */
static enum nocap_status skip_rest(struct jsonl_lines *lines, struct nocap_error *err)
{
    while (lines->skipping) {
        const char *from = lines->buffer + lines->start;
        const char *newline = memchr(from, '\n', lines->end - lines->start);
        lines->start = newline != NULL ? (size_t)(newline - lines->buffer) + 1 : lines->end;
        lines->skipping = newline == NULL && !lines->at_eof;
        if (lines->skipping) {
            lines->start = lines->end = 0;
            RETURN_IF_FAILED(fill(lines, err));
        }
    }
    return NOCAP_OK;
}

/* The line at `start` is too long: its beginning is handed out, the rest of it is for skip_rest. */
static void cut_line(struct jsonl_lines *lines, struct jsonl_line *line)
{
    line->text = lines->buffer + lines->start;
    line->size = JSONL_TEXT_KEPT;
    line->too_long = true;
    lines->start = lines->end;
    lines->skipping = !lines->at_eof;
}

enum nocap_status jsonl_lines_next(struct jsonl_lines *lines, struct jsonl_line *line,
                                   struct nocap_error *err)
{
    RETURN_IF_FAILED(skip_rest(lines, err));
    RETURN_IF_FAILED(skip_blank(lines, err));
    line->number = ++lines->number;
    line->too_long = false;
    const char *newline = NULL;
    size_t searched = 0;
    for (;;) {
        size_t size = lines->end - lines->start;
        newline = memchr(lines->buffer + lines->start + searched, '\n', size - searched);
        searched = size;
        if (newline != NULL || lines->at_eof || size > JSONL_LINE_MAX) {
            break;
        }
        RETURN_IF_FAILED(make_room(lines, err));
        RETURN_IF_FAILED(fill(lines, err));
    }
    line->last = newline == NULL && lines->at_eof;
    line->text = lines->buffer + lines->start;
    line->size = newline != NULL ? (size_t)(newline - line->text) : searched;
    if (line->size > JSONL_LINE_MAX && newline == NULL) {
        cut_line(lines, line);
    } else {
        lines->start += line->size + (newline != NULL);
        if (line->size > JSONL_LINE_MAX) {
            line->size = JSONL_TEXT_KEPT;
            line->too_long = true;
        }
    }
    while (is_space(line->text[line->size - 1])) {
        line->size--; /* the first character is none */
    }
    return NOCAP_OK;
}
