/* SPDX-License-Identifier: Apache-2.0 */
/* The driver shim under a program that comes to the device in many ways, with accesses back to
 * back: what it stores arrives, what arrives is in the trace, and neighbours stay neighbours. */
#include "tests/temp_dir.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>

#include "formats/import/import.h"
#include "tests/fakes/kmd.h"
#include "tests/kmd_client.h"

static char build[PATH_MAX];

/* Runs kmd_ways under the shim; what it prints is in client.txt. */
static void run_ways(const char *const *variables, const char *mode, const char *n)
{
    char preload[2 * PATH_MAX + 64], client[PATH_MAX + 32];
    snprintf(preload, sizeof preload, "%s/libnocap-preload.so %s/tests/libfake-kmd.so", build,
             build);
    snprintf(client, sizeof client, "%s/tests/kmd_ways", build);
    pid_t child = fork();
    if (child == 0) {
        for (; *variables != NULL; variables++) {
            putenv((char *)*variables);
        }
        setenv("LD_PRELOAD", preload, 1);
        dup2(open("client.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
        dup2(STDOUT_FILENO, STDERR_FILENO);
        execl(client, client, mode, n, (char *)NULL);
        _exit(127);
    }
    int status;
    size_t size;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0) {
        print_error("status %x: %s\n", (unsigned)status, read_bytes("client.txt", &size));
        fail();
    }
}

typedef void see_fn(void *context, const struct nocap_event *event);

static void each_event(const char *path, see_fn *see, void *context)
{
    struct nocap_reader *reader;
    struct nocap_error err = {{0}};
    const struct nocap_event *events;
    size_t count;
    assert_int_equal(nocap_import_open(&reader, path, false, NULL, &err), NOCAP_OK);
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            assert_null(nocap_event_problem(&events[i]));
            assert_true(events[i].kind != NOCAP_EV_DROP);
            if (events[i].space == NOCAP_SPACE_TILE) {
                see(context, &events[i]);
            }
        }
    }
    nocap_reader_close(reader);
}

static const uint8_t *bytes_of(const struct nocap_event *e)
{
    return (e->has & NOCAP_F_VALUE) != 0 ? (const uint8_t *)&e->value : e->data;
}

/* ---- copies ---- */

enum { ROOM = CLIENT_COPY_MOST + CLIENT_COPY_OFFSETS };
struct copies {
    unsigned size, offset, seen;
    bool stored[ROOM];
    uint8_t memory[ROOM];
};

static void begin_copy(struct copies *c, uint64_t mark)
{
    for (unsigned i = 0; c->size != 0 && i < ROOM; i++) {
        bool inside = i >= c->offset && i < c->offset + c->size;
        assert_int_equal(c->stored[i], inside);
        if (inside) {
            assert_int_equal(c->memory[i], (uint8_t)(c->size * 7 + c->offset * 3 + i - c->offset));
        }
    }
    c->seen += c->size != 0;
    *c = (struct copies){
        .seen = c->seen, .size = (unsigned)mark & 0xFFFF, .offset = (unsigned)mark >> 16};
}

/* A store with a mark begins a copy, one of 0 ends it; what comes after is not looked at. */
static void see_copy(void *context, const struct nocap_event *e)
{
    struct copies *c = context;
    if (e->addr == CLIENT_COPY_MARK) {
        begin_copy(c, e->value);
    } else if (c->size != 0) {
        uint64_t at = e->addr - CLIENT_COPY_FROM;
        assert_int_equal(e->kind, NOCAP_EV_WRITE);
        assert_true(at >= c->offset && at + e->size <= c->offset + c->size && e->size <= 64);
        memcpy(&c->memory[at], bytes_of(e), e->size);
        memset(&c->stored[at], 1, e->size);
    }
}

static void every_byte_of_a_copy_is_seen(void **state)
{
    (void)state;
    const char *const uncached[] = {"NOCAP_CAPTURE=copies.nocap", NULL};
    const char *const combined[] = {"NOCAP_CAPTURE=copies.nocap", "CLIENT_MAP=wc", NULL};
    const char *const *ways[] = {uncached, combined};
    for (unsigned i = 0; i < 2; i++) {
        struct copies copies = {0};
        run_ways(ways[i], "copies", "0");
        each_event("copies.nocap", see_copy, &copies);
        assert_int_equal(copies.seen, CLIENT_COPY_MOST * CLIENT_COPY_OFFSETS);
    }
}

/* ---- all else ---- */

struct widths {
    unsigned stores[65]; /* by width */
};

static void see_width(void *context, const struct nocap_event *e)
{
    struct widths *w = context;
    w->stores[e->kind == NOCAP_EV_WRITE && e->size <= 64 ? e->size : 0]++;
}

static void what_follows_a_store_comes_out_as_ever(void **state)
{
    (void)state;
    const char *const variables[] = {"NOCAP_CAPTURE=stores.nocap", NULL};
    struct widths widths = {{0}};
    run_ways(variables, "stores", "0"); /* which compares */
    each_event("stores.nocap", see_width, &widths);
    assert_true(widths.stores[2] >= 64); /* and what a mask with holes lets through */
    assert_int_equal(widths.stores[8], 64 + 1);
    assert_true(widths.stores[4] > 5000 + 64 * 16 * 3);
    if (__builtin_cpu_supports("avx2")) {
        assert_true(widths.stores[32] >= 2 && widths.stores[16] >= 1);
    }
    if (__builtin_cpu_supports("avx512f")) {
        assert_true(widths.stores[64] >= 2);
    }
}

/* ---- neighbours ---- */

enum { LAUNCHES = 200 };
struct launches {
    unsigned stores;
    uint64_t first, apart[LAUNCHES];
};

static void see_launch(void *context, const struct nocap_event *e)
{
    struct launches *l = context;
    if (e->kind == NOCAP_EV_WRITE && e->addr == FAKE_GO) {
        assert_true(l->stores < 2 * LAUNCHES);
        if (l->stores % 2 == 0) {
            l->first = e->t;
        } else {
            l->apart[l->stores / 2] = e->t - l->first;
        }
        l->stores++;
    }
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* A copy of four bytes stores its word twice. The core answers the first at once, so that it must
 * not see them apart; but for a time where the processor was taken away between the two. */
static void a_word_that_is_stored_twice_is_one_launch(void **state)
{
    (void)state;
    enum { INTERRUPTED = 1, NANOSECONDS = 1000 };
    const char *const variables[] = {"NOCAP_CAPTURE=launches.nocap", "FAKE_BRISC=0", NULL};
    struct launches l = {0};
    size_t size;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        skip();
    }
    run_ways(variables, "launches", "200");
    each_event("launches.nocap", see_launch, &l);
    assert_int_equal(l.stores, 2 * LAUNCHES);
    qsort(l.apart, LAUNCHES, sizeof l.apart[0], by_number);
    print_message("# stores are recorded %u ns apart (median)\n", (unsigned)l.apart[LAUNCHES / 2]);
    assert_true(l.apart[LAUNCHES / 2] < NANOSECONDS);
    char *text = read_bytes("client.txt", &size);
    unsigned long happened = strtoul(text, NULL, 10);
    free(text);
    assert_true(happened >= LAUNCHES && happened <= LAUNCHES + INTERRUPTED);
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    printf("1..1\nok 1 - ways # SKIP a sanitizer's run time must come before the shim\n");
    return 0;
#endif
    const char *given = getenv("BUILD") != NULL ? getenv("BUILD") : "build";
    char *full = realpath(given, NULL);
    snprintf(build, sizeof build, "%s", full);
    free(full);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_of_a_copy_is_seen),
        cmocka_unit_test(what_follows_a_store_comes_out_as_ever),
        cmocka_unit_test(a_word_that_is_stored_twice_is_one_launch),
    };
    return cmocka_run_group_tests_name("preload ways", tests, temp_dir_enter, temp_dir_leave);
}
