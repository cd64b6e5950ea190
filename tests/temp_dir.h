/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of a test's own, in which it works and which is removed afterwards. */
#ifndef NOCAP_TESTS_TEMP_DIR_H
#define NOCAP_TESTS_TEMP_DIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <ftw.h>

static char temp_dir_path[64];

/* cmocka group set-up: makes the directory and changes into it. */
static int temp_dir_enter(void **state)
{
    (void)state;
    snprintf(temp_dir_path, sizeof temp_dir_path, "/tmp/nocap-test-XXXXXX");
    return mkdtemp(temp_dir_path) == NULL || chdir(temp_dir_path) != 0;
}

static int temp_dir_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* cmocka group tear-down. */
static int temp_dir_leave(void **state)
{
    (void)state;
    return chdir("/") != 0 || nftw(temp_dir_path, temp_dir_remove, 8, FTW_DEPTH | FTW_PHYS) != 0;
}

__attribute__((unused)) static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

__attribute__((unused)) static void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

/* The whole file, terminated; the caller frees it. */
__attribute__((unused)) static char *read_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

__attribute__((unused)) static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        print_error("'%s' is not in:\n%s\n", part, text);
        fail();
    }
}

#endif
