/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/import: an input whose first bytes can be looked at before anyone reads it,
 * pipes included. */
#ifndef NOCAP_IMPORT_INPUT_H
#define NOCAP_IMPORT_INPUT_H

#include <stdio.h>

#include "formats/import/import.h"

struct nocap_input;

/* What the first bytes look like, through zstd compression if there is any. */
enum nocap_input_form {
    NOCAP_INPUT_JSON_LINES,
    NOCAP_INPUT_JSON_LIST, /* of objects */
    NOCAP_INPUT_WATCHER,   /* a log of tt-metal's watcher */
    NOCAP_INPUT_PACKED,    /* something else that is compressed, as a .nocap file is */
    NOCAP_INPUT_SHORT,     /* too short to tell */
    NOCAP_INPUT_OTHER,
};

/* Opens `path`, "-" for standard input. `options` may be NULL; its progress is called while the
 * input is read. */
enum nocap_status nocap_input_open(struct nocap_input **input, const char *path,
                                   const struct nocap_import_options *options,
                                   struct nocap_error *err);
void nocap_input_close(struct nocap_input *input);

/* Ends the trace that was imported and tells its sums, or gives it up if `status` is a failure;
 * that one is passed on. */
enum nocap_status nocap_import_end(struct nocap_writer *writer, enum nocap_status status,
                                   struct nocap_import_result *result, struct nocap_error *err);

/* "standard input" or the path. */
const char *nocap_input_name(const struct nocap_input *input);
/* Whether others may open it by its path and find everything there: it is a file. */
bool nocap_input_is_file(const struct nocap_input *input);
/* Whether it is a .nocap file. */
bool nocap_input_is_trace(const struct nocap_input *input);
enum nocap_status nocap_input_form(struct nocap_input *input, enum nocap_input_form *form,
                                   struct nocap_error *err);

/* Refuses what is compressed otherwise: NOCAP_E_INPUT. For text. */
enum nocap_status nocap_input_only_zstd(struct nocap_input *input, struct nocap_error *err);
/* From here on the reads below give what a zstd-compressed input holds; a plain one is left as it
 * is. For formats that do not look for compression themselves. */
enum nocap_status nocap_input_unpack(struct nocap_input *input, struct nocap_error *err);

/* The bytes from the first one on, as they stand. 0 at the end; fails with NOCAP_E_INPUT. */
enum nocap_status nocap_input_read(struct nocap_input *input, void *to, size_t size, size_t *got,
                                   struct nocap_error *err);
/* The same as a stream, to be closed before the input. */
enum nocap_status nocap_input_stream(struct nocap_input *input, FILE **stream,
                                     struct nocap_error *err);
/* NOCAP_E_INPUT: why a read failed; for a stream, while errno still tells. */
enum nocap_status nocap_input_failed(const struct nocap_input *input, struct nocap_error *err);
/* Bytes that were read so far, compressed or not. */
uint64_t nocap_input_bytes(const struct nocap_input *input);

#endif
