/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: what is in the golden traces. GOLDEN_DIR is the folder, from the Makefile. */
#ifndef NOCAP_TESTS_GOLDEN_TEXT_H
#define NOCAP_TESTS_GOLDEN_TEXT_H

#include <stdio.h>
#include <stdlib.h>

#include "formats/trace/jsonl.h"
#include "formats/trace/trace.h"

/* The trace as JSON Lines, terminated; NULL if it cannot be read. The caller frees it. */
static inline char *golden_text(const char *path, size_t *size)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    struct nocap_text text = {0};
    const struct nocap_event *events;
    size_t count = 0;
    *size = 0;
    enum nocap_status status = nocap_reader_open(&reader, path, &err);
    if (status != NOCAP_OK) {
        fprintf(stderr, "%s\n", err.text);
        return NULL;
    }
    status = nocap_jsonl_print_header(&text, nocap_reader_header(reader), &err);
    while (status == NOCAP_OK &&
           (status = nocap_reader_next(reader, &events, &count, &err)) == NOCAP_OK) {
        for (size_t i = 0; i < count && status == NOCAP_OK; i++) {
            status = nocap_jsonl_print_event(&text, &events[i], &err);
        }
    }
    nocap_reader_close(reader);
    *size = text.size;
    char *whole = status == NOCAP_END ? realloc(text.data, text.size + 1) : NULL;
    if (whole == NULL) {
        free(text.data);
        return NULL;
    }
    whole[text.size] = '\0';
    return whole;
}

#endif
