/* SPDX-License-Identifier: Apache-2.0 */
/* Words of assembly text, and lines that are not made of them. */
#include <string.h>

#include "formats/aie/asm_source.h"

bool aie_is_blank(char c)
{
    return (unsigned char)c <= ' ' &&
           (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v');
}

/* The next word of a line: up to a blank or a comma, or quoted; false at the end. */
bool aie_next_word(const char *line, size_t length, size_t *at, struct aie_word *word)
{
    while (*at < length && aie_is_blank(line[*at])) {
        ++*at;
    }
    size_t start = *at;
    if (start < length && line[start] == '"') {
        const char *end = memchr(line + start + 1, '"', length - start - 1);
        *at = end == NULL ? length : (size_t)(end - line) + 1;
    } else {
        while (*at < length && !aie_is_blank(line[*at]) && line[*at] != ',') {
            ++*at;
        }
    }
    *word = (struct aie_word){line + start, (uint32_t)(*at - start), (uint32_t)start + 1};
    return *at > start;
}

/* Length of the line without its comment. */
size_t aie_without_comment(const char *line, size_t length)
{
    bool quoted = false;
    if (memchr(line, ';', length) == NULL && memchr(line, '#', length) == NULL) {
        return length; /* most lines */
    }
    for (size_t i = 0; i < length; i++) {
        quoted ^= line[i] == '"';
        if (!quoted && (line[i] == ';' || line[i] == '#')) {
            return i;
        }
    }
    return length;
}

/* From `at` on, without blanks at both ends. */
struct aie_word aie_trimmed(const char *line, size_t at, size_t end)
{
    while (at < end && aie_is_blank(line[at])) {
        at++;
    }
    while (end > at && aie_is_blank(line[end - 1])) {
        end--;
    }
    return (struct aie_word){line + at, (uint32_t)(end - at), (uint32_t)at + 1};
}

/* One of the three lines after .section annotation. */
enum nocap_status aie_take_annotation(struct aie_source *s, const char *line, size_t length)
{
    static const char *const keys[] = {"id:", "name:", "description:"};
    struct aie_program *program = s->program;
    struct aie_annotation *a = &program->annotations[program->annotation_count - 1];
    struct aie_word *const parts[] = {&a->id, &a->name, &a->description};
    struct aie_word word = aie_trimmed(line, 0, length);
    s->annotation_lines--;
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(keys[i]);
        if (word.length >= n && strncmp(word.text, keys[i], n) == 0) {
            *parts[i] = aie_trimmed(word.text, n, word.length);
            return NOCAP_OK;
        }
    }
    return FAIL(s, &word,
                "'%.*s' says nothing of an annotation; expected id:, name: and description:",
                (int)(word.length < 40 ? word.length : 40), word.text);
}
