/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: reports of several traces as one, and their JSON. */
#ifndef NOCAP_TESTS_RESULTS_H
#define NOCAP_TESTS_RESULTS_H

#include "tests/temp_dir.h"

#include <yajl/yajl_tree.h>

#include "checker/report/results.h"

#define HEADER "{\"nocap\":1,\"arch\":\"blackhole\",\"observes\":[\"host-mmio\",\"core-store\"]}\n"
#define IDLE   "{\"t\":0,\"ev\":\"mem\",\"x\":1,\"y\":2,\"addr\":\"0x68\",\"data\":\"00000000\"}\n"
#define WRITE(t, y, by, addr, value)                                                               \
    "{\"t\":" #t ",\"ev\":\"write\",\"by\":\"" #by "\",\"x\":1,\"y\":" #y ",\"addr\":\"" #addr     \
    "\",\"size\":4,\"value\":\"" #value "\"}\n"

static struct nocap_results results;

static inline void begin(size_t count)
{
    nocap_results_free(&results);
    assert_int_equal(nocap_results_new(&results, count, NULL), NOCAP_OK);
}

static inline void add(size_t i, const char *path, const struct nocap_check_options *options)
{
    struct nocap_error err = {{0}};
    struct nocap_report *report;
    nocap_check(&report, path, options, &err);
    assert_int_equal(nocap_results_set(&results, i, path, report, err.text, NULL), NOCAP_OK);
}

/* A clean trace, one with two errors of a rule of which one is waived, one that cannot be read. */
static inline void three_traces(void)
{
    static const struct nocap_check_options waived = {.size = sizeof waived,
                                                      .waivers = "waivers.txt"};
    write_text("clean.jsonl", HEADER IDLE WRITE(1, 2, host, 0x37000, 0x1));
    write_text("bad <&>\".jsonl",
               HEADER WRITE(1, 2, host, 0xffb90000, 0x1) WRITE(2, 3, host, 0xffb90000, 0x1));
    write_text("waivers.txt", "MAP-001 1,3 -- a \"known\" | gap <here>  until 2999-12-31\n");
    begin(3);
    add(0, "clean.jsonl", NULL);
    add(1, "bad <&>\".jsonl", &waived);
    add(2, "missing, 100%", NULL);
}

typedef enum nocap_status print(FILE *out, const struct nocap_results *r, struct nocap_error *err);

static inline char *printed(print *how)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(how(out, &results, NULL), NOCAP_OK);
    fclose(out);
    return text;
}

static inline enum nocap_status as_text(FILE *out, const struct nocap_results *r,
                                        struct nocap_error *err)
{
    return nocap_results_text(out, r, false, err);
}

static inline yajl_val at(yajl_val root, const char *key)
{
    const char *path[] = {key, NULL};
    yajl_val value = yajl_tree_get(root, path, yajl_t_any);
    if (value == NULL) {
        fail_msg("'%s' is missing", key);
    }
    return value;
}

static inline yajl_val item(yajl_val array, size_t i)
{
    assert_true(YAJL_IS_ARRAY(array));
    assert_true(i < YAJL_GET_ARRAY(array)->len);
    return YAJL_GET_ARRAY(array)->values[i];
}

static inline size_t length(yajl_val array)
{
    assert_true(YAJL_IS_ARRAY(array));
    return YAJL_GET_ARRAY(array)->len;
}

static inline const char *text_at(yajl_val root, const char *key)
{
    assert_true(YAJL_IS_STRING(at(root, key)));
    return YAJL_GET_STRING(at(root, key));
}

static inline long long number_at(yajl_val root, const char *key)
{
    assert_true(YAJL_IS_INTEGER(at(root, key)));
    return YAJL_GET_INTEGER(at(root, key));
}

static inline yajl_val parse(char *text)
{
    char why[256];
    yajl_val root = yajl_tree_parse(text, why, sizeof why);
    if (root == NULL) {
        fail_msg("%s in %s", why, text);
    }
    free(text);
    return root;
}

#endif
