/* SPDX-License-Identifier: Apache-2.0 */
/* JSON to a stream. One object or array at the top, then nocap_json_close. */
#ifndef NOCAP_BASE_JSON_TEXT_H
#define NOCAP_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

struct nocap_json {
    void *generator;
    FILE *out;
    bool indented;
};

enum nocap_status nocap_json_open(struct nocap_json *json, FILE *out, struct nocap_error *err);
/* The same in lines that are indented by what they stand in. */
enum nocap_status nocap_json_open_indented(struct nocap_json *json, FILE *out,
                                           struct nocap_error *err);
/* Ends the line and flushes; fails with NOCAP_E_OUTPUT if anything could not be written. */
enum nocap_status nocap_json_close(struct nocap_json *json, struct nocap_error *err);

/* `key` is NULL inside an array. Texts are UTF-8. */
void nocap_json_map(struct nocap_json *json, const char *key);
void nocap_json_map_end(struct nocap_json *json);
void nocap_json_array(struct nocap_json *json, const char *key);
void nocap_json_array_end(struct nocap_json *json);
void nocap_json_text(struct nocap_json *json, const char *key, const char *value);
void nocap_json_number(struct nocap_json *json, const char *key, uint64_t value);
/* Members that are left out unless `has`. */
void nocap_json_text_if(struct nocap_json *json, const char *key, bool has, const char *value);
void nocap_json_number_if(struct nocap_json *json, const char *key, bool has, uint64_t value);
/* An array of texts. */
void nocap_json_texts(struct nocap_json *json, const char *key, char *const *texts, size_t count);
void nocap_json_integer(struct nocap_json *json, const char *key, int64_t value);
/* Null where it is no number. */
void nocap_json_real(struct nocap_json *json, const char *key, double value);
void nocap_json_bool(struct nocap_json *json, const char *key, bool value);
void nocap_json_null(struct nocap_json *json, const char *key);
/* A value that is JSON already. */
void nocap_json_raw(struct nocap_json *json, const char *key, const char *value, size_t size);

/* Flushes `out`; fails with NOCAP_E_OUTPUT and says that `what` could not be written. */
enum nocap_status nocap_flush(FILE *out, const char *what, struct nocap_error *err);

#endif
