/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "base/foreign_text.h"

static void print(void *context, const char *text, size_t length)
{
    foreign_json(context, text, length); /* the stream remembers a failure */
}

enum nocap_status nocap_json_open(struct nocap_json *json, FILE *out, struct nocap_error *err)
{
    yajl_gen generator = yajl_gen_alloc(NULL);
    RETURN_ERROR_IF(generator == NULL, err, NOCAP_E_MEMORY, "out of memory for JSON output");
    yajl_gen_config(generator, yajl_gen_print_callback, print, out);
    *json = (struct nocap_json){.generator = generator, .out = out};
    return NOCAP_OK;
}

enum nocap_status nocap_json_open_indented(struct nocap_json *json, FILE *out,
                                           struct nocap_error *err)
{
    RETURN_IF_FAILED(nocap_json_open(json, out, err));
    yajl_gen_config(json->generator, yajl_gen_beautify, 1);
    yajl_gen_config(json->generator, yajl_gen_indent_string, "  ");
    json->indented = true;
    return NOCAP_OK;
}

enum nocap_status nocap_json_close(struct nocap_json *json, struct nocap_error *err)
{
    yajl_gen_free(json->generator);
    if (!json->indented) { /* what is, has ended its line */
        fputc('\n', json->out);
    }
    return nocap_flush(json->out, "JSON", err);
}

static void put(struct nocap_json *json, const char *text)
{
    yajl_gen_string(json->generator, (const unsigned char *)text, strlen(text));
}

static void put_key(struct nocap_json *json, const char *key)
{
    if (key != NULL) {
        put(json, key);
    }
}

void nocap_json_map(struct nocap_json *json, const char *key)
{
    put_key(json, key);
    yajl_gen_map_open(json->generator);
}

void nocap_json_map_end(struct nocap_json *json)
{
    yajl_gen_map_close(json->generator);
}

void nocap_json_array(struct nocap_json *json, const char *key)
{
    put_key(json, key);
    yajl_gen_array_open(json->generator);
}

void nocap_json_array_end(struct nocap_json *json)
{
    yajl_gen_array_close(json->generator);
}

void nocap_json_text(struct nocap_json *json, const char *key, const char *value)
{
    put_key(json, key);
    put(json, value);
}

void nocap_json_number(struct nocap_json *json, const char *key, uint64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    nocap_json_raw(json, key, digits, (size_t)length);
}

void nocap_json_text_if(struct nocap_json *json, const char *key, bool has, const char *value)
{
    if (has) {
        nocap_json_text(json, key, value);
    }
}

void nocap_json_number_if(struct nocap_json *json, const char *key, bool has, uint64_t value)
{
    if (has) {
        nocap_json_number(json, key, value);
    }
}

void nocap_json_texts(struct nocap_json *json, const char *key, char *const *texts, size_t count)
{
    nocap_json_array(json, key);
    for (size_t i = 0; i < count; i++) {
        nocap_json_text(json, NULL, texts[i]);
    }
    nocap_json_array_end(json);
}

void nocap_json_integer(struct nocap_json *json, const char *key, int64_t value)
{
    put_key(json, key);
    yajl_gen_integer(json->generator, value);
}

void nocap_json_real(struct nocap_json *json, const char *key, double value)
{
    put_key(json, key);
    if (yajl_gen_double(json->generator, value) != yajl_gen_status_ok) {
        yajl_gen_null(json->generator);
    }
}

void nocap_json_bool(struct nocap_json *json, const char *key, bool value)
{
    put_key(json, key);
    yajl_gen_bool(json->generator, value);
}

void nocap_json_null(struct nocap_json *json, const char *key)
{
    put_key(json, key);
    yajl_gen_null(json->generator);
}

void nocap_json_raw(struct nocap_json *json, const char *key, const char *value, size_t size)
{
    put_key(json, key);
    yajl_gen_number(json->generator, value, size); /* which is written as it stands */
}

enum nocap_status nocap_flush(FILE *out, const char *what, struct nocap_error *err)
{
    errno = 0;
    RETURN_ERROR_IF(fflush(out) != 0 || ferror(out), err, NOCAP_E_OUTPUT, "cannot write %s: %s",
                    what, errno == 0 ? "the output failed" : strerror(errno));
    return NOCAP_OK;
}
