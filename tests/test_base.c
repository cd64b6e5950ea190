/* SPDX-License-Identifier: Apache-2.0 */
/* Lists, maps, threads, compressed bytes and counts in sentences: what all else is made with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants these first */
#include <cmocka.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/jobs.h"
#include "base/list.h"
#include "base/map.h"
#include "base/singular.h"
#include "base/unpack.h"

enum { MANY = 5000 };

static void a_list_keeps_its_items_and_gives_zeros(void **state)
{
    (void)state;
    struct item {
        uint64_t a;
        uint8_t b[5];
    } *list = NULL;
    static const struct item zeros;
    size_t count = 0;
    for (; count < MANY; count++) {
        struct item *next = LIST_NEXT(list, count);
        assert_ptr_equal(next, list + count);
        assert_memory_equal(next, &zeros, sizeof zeros);
        memset(next, 0xff, sizeof *next);
        next->a = count;
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(list[i].a, i);
    }
    /* One that became shorter goes on where it ends. */
    for (count = 3; count < 40; count++) {
        assert_memory_equal(LIST_NEXT(list, count), &zeros, sizeof zeros);
        list[count].a = count;
    }
    assert_int_equal(list[2].a, 2);
    assert_int_equal(list[39].a, 39);
    free(list);
}

static void a_list_that_begins_again_keeps_its_room(void **state)
{
    (void)state;
    uint64_t *list = NULL;
    uint32_t most = 0;
    for (uint32_t round = 0; round < 3; round++) {
        const uint64_t *before = list;
        for (uint32_t count = 0; count < MANY - round; count++) {
            uint64_t *next = LIST_AGAIN(list, count, most);
            assert_non_null(next);
            assert_int_equal(*next, 0);
            *next = count + 1;
        }
        assert_true(round == 0 || list == before);
        assert_int_equal(most, MANY);
    }
    assert_int_equal(list[MANY - 1], MANY); /* of the first round */
    free(list);
}

static void a_list_that_cannot_grow_stays(void **state)
{
    (void)state;
    char *list = malloc(1), *before = list;
    assert_null(list_next(&list, SIZE_MAX / 4 + 1, 16)); /* more than there are addresses */
    assert_ptr_equal(list, before);
    free(list);
}

struct wide {
    uint64_t word[2];
};

struct row {
    struct wide key;
    unsigned value;
};

static void a_map_finds_by_all_of_the_key(void **state)
{
    (void)state;
    struct {
        MAP(struct row);
    } map = {0};
    struct wide key = {{0, 0}};
    assert_null(MAP_FIND(&map, &key));
    for (unsigned i = 0; i < MANY; i++) {
        key = (struct wide){{i % 7, i / 7 * UINT64_C(0x100000000)}};
        struct row *row = MAP_GET(&map, &key, MANY);
        assert_non_null(row);
        assert_int_equal(row->value, 0);
        row->value = i + 1;
        assert_ptr_equal(MAP_GET(&map, &key, MANY), row);
    }
    assert_int_equal(map.count, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(map.rows[i].value, i + 1); /* in the order in which they came */
        assert_ptr_equal(MAP_FIND(&map, &map.rows[i].key), &map.rows[i]);
    }
    key = (struct wide){{7, 0}};
    assert_null(MAP_FIND(&map, &key));
    assert_null(MAP_GET(&map, &key, MANY)); /* it is full */
    assert_int_equal(map.count, MANY);
    assert_non_null(MAP_GET(&map, &map.rows[MANY - 1].key, MANY));
    MAP_FREE(&map);
    assert_null(MAP_FIND(&map, &key));
    assert_int_equal(map.count, 0);
}

static void a_buffer_widens(void **state)
{
    (void)state;
    struct bytes b = {0};
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(bytes_append(&b, &i, sizeof i));
    }
    assert_int_equal(b.size, MANY * sizeof(unsigned));
    for (unsigned i = 0; i < MANY; i++) {
        assert_memory_equal(b.data + i * sizeof i, &i, sizeof i);
    }
    free(b.data);
}

struct counted {
    atomic_uint times[MANY];
};

static void count_one(void *context, size_t i)
{
    atomic_fetch_add(&((struct counted *)context)->times[i], 1);
}

static void each_job_is_done_once(void **state)
{
    (void)state;
    static struct counted counted;
    static const size_t threads[] = {0, 1, 2, 7, JOBS_MAX, SIZE_MAX};
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        memset(&counted, 0, sizeof counted);
        jobs_run(MANY, threads[t], count_one, &counted);
        for (size_t i = 0; i < MANY; i++) {
            assert_int_equal(atomic_load(&counted.times[i]), 1);
        }
    }
    memset(&counted, 0, sizeof counted);
    jobs_run(0, 4, count_one, &counted);
    assert_int_equal(atomic_load(&counted.times[0]), 0);
}

/* ---- compressed bytes ---- */

struct source {
    const uint8_t *at;
    size_t left, step;
    int failure; /* errno at its end; 0: none */
};

static ssize_t take(void *context, void *to, size_t size)
{
    struct source *s = context;
    size_t n = size < s->step ? size : s->step;
    n = n < s->left ? n : s->left;
    if (n == 0 && s->failure != 0) {
        errno = s->failure;
        return -1;
    }
    memcpy(to, s->at, n);
    s->at += n;
    s->left -= n;
    return (ssize_t)n;
}

struct packed {
    char plain[2 * MANY];
    uint8_t bytes[4 * MANY];
    size_t size;
};

/* Two frames. */
static void pack(struct packed *p)
{
    for (size_t i = 0; i < sizeof p->plain; i++) {
        p->plain[i] = (char)(i * i % 251);
    }
    p->size = ZSTD_compress(p->bytes, sizeof p->bytes, p->plain, MANY, 1);
    assert_false(ZSTD_isError(p->size));
    size_t second = ZSTD_compress(p->bytes + p->size, sizeof p->bytes - p->size, p->plain + MANY,
                                  sizeof p->plain - MANY, 1);
    assert_false(ZSTD_isError(second));
    p->size += second;
}

/* Reads all of the first `size` bytes, of which `head` are given at once; how many came out. */
static size_t unpack_all(struct packed *p, size_t size, size_t head, struct source *source,
                         struct unpack *u, char *to)
{
    source->at = p->bytes + head;
    source->left = size - head;
    assert_true(unpack_open(u, p->bytes, head, take, source));
    size_t got = 0;
    ssize_t n;
    while ((n = unpack_read(u, to + got, 777)) > 0) {
        got += (size_t)n;
        assert_true(got <= sizeof p->plain);
    }
    return n < 0 ? SIZE_MAX : got;
}

static void compressed_bytes_come_out_whole(void **state)
{
    (void)state;
    static struct packed p;
    static char to[sizeof p.plain + 777];
    struct unpack u;
    pack(&p);
    assert_true(unpack_begins(p.bytes, UNPACK_MAGIC));
    assert_false(unpack_begins(p.bytes, UNPACK_MAGIC - 1));
    assert_true(unpack_begins("\x5a\x2a\x4d\x18", UNPACK_MAGIC)); /* a frame to be skipped */
    assert_false(unpack_begins("{\"no", UNPACK_MAGIC));
    for (size_t step = 1; step < 5000; step = step * 3 + 1) {
        struct source source = {.step = step};
        memset(to, 0, sizeof to);
        size_t head = step % 2 == 0 ? 0 : UNPACK_MAGIC;
        assert_int_equal(unpack_all(&p, p.size, head, &source, &u, to), sizeof p.plain);
        assert_memory_equal(to, p.plain, sizeof p.plain);
        unpack_close(&u);
    }
}

static void compressed_bytes_say_what_is_wrong(void **state)
{
    (void)state;
    static struct packed p;
    static char to[sizeof p.plain + 777];
    struct unpack u;
    struct source source = {.step = 100};
    pack(&p);
    assert_int_equal(unpack_all(&p, p.size - 1, 0, &source, &u, to), SIZE_MAX);
    assert_true(u.cut);
    assert_non_null(u.damage);
    unpack_close(&u);
    source.failure = EIO;
    assert_int_equal(unpack_all(&p, p.size - 1, 0, &source, &u, to), SIZE_MAX);
    assert_int_equal(errno, EIO);
    assert_null(u.damage);
    unpack_close(&u);
    source.failure = 0;
    p.bytes[UNPACK_MAGIC] ^= 0x08; /* a bit that is reserved */
    assert_int_equal(unpack_all(&p, p.size, 0, &source, &u, to), SIZE_MAX);
    assert_false(u.cut);
    assert_non_null(u.damage);
    unpack_close(&u);
}

static void one_of_a_kind_is_no_plural(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"1 pages made ready", "1 page made ready"},
        {"31 pages of 1 bytes (1 words), 1 notifies", "31 pages of 1 byte (1 word), 1 notify"},
        {"launch 1 of 11 launches, 0x1 bytes, mode 1 pagesize",
         "launch 1 of 11 launches, 0x1 bytes, mode 1 pagesize"},
        {"1 pages were left, of 1 pages that are free", "1 page was left, of 1 page that is free"},
        {"1 go messages have come, 1 of 2 pages that were ready",
         "1 go message has come, 1 of 2 pages that were ready"},
        {"1 ", "1 "},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[80];
        strcpy(text, texts[i][0]);
        text_singular(text);
        assert_string_equal(text, texts[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_keeps_its_items_and_gives_zeros),
        cmocka_unit_test(a_list_that_begins_again_keeps_its_room),
        cmocka_unit_test(a_list_that_cannot_grow_stays),
        cmocka_unit_test(a_map_finds_by_all_of_the_key),
        cmocka_unit_test(a_buffer_widens),
        cmocka_unit_test(each_job_is_done_once),
        cmocka_unit_test(compressed_bytes_come_out_whole),
        cmocka_unit_test(compressed_bytes_say_what_is_wrong),
        cmocka_unit_test(one_of_a_kind_is_no_plural),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
