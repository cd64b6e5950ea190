/* SPDX-License-Identifier: Apache-2.0 */
/* The driver shim under a client program and a driver in memory: every access is seen once, in
 * order, with its value, and the program notices nothing. */
#include "tests/temp_dir.h"

#include "tests/kmd_client.h"
#include "tests/shim_run.h"

struct access {
    uint8_t kind;
    uint64_t addr, size;
    uint8_t bytes[128];
};

static void add(struct access *list, unsigned *n, unsigned kind, uint64_t addr, const void *bytes,
                size_t size)
{
    struct access *a = &list[(*n)++];
    *a = (struct access){.kind = (uint8_t)kind, .addr = addr, .size = size};
    memcpy(a->bytes, bytes, size);
}

/* What one round of the client does, access for access. */
static unsigned expected_round(uint32_t i, struct access *list)
{
    enum { W = NOCAP_EV_WRITE, R = NOCAP_EV_READ };
    unsigned n = 0;
    uint8_t byte = (uint8_t)i, fill[64], sum[32] = {(uint8_t)i}, next[16], text[100];
    uint16_t half = (uint16_t)(i * 3);
    uint64_t wide = i * UINT64_C(0x100000001), ninety_nine = 99;
    uint32_t inverse = ~i, constant = 0x1234567, plus7 = i + 7, plus12 = i + 12;
    memset(fill, byte, sizeof fill);
    memset(next, byte + 1, sizeof next);
    for (unsigned k = 0; k < sizeof text; k++) {
        text[k] = (uint8_t)(i + k);
    }
    add(list, &n, W, 0x100, &i, 4);
    add(list, &n, R, 0x100, &i, 4);
    add(list, &n, W, 0x104, &byte, 1);
    add(list, &n, R, 0x104, &byte, 1);
    add(list, &n, W, 0x106, &half, 2);
    add(list, &n, R, 0x106, &half, 2);
    add(list, &n, W, 0x108, &wide, 8);
    add(list, &n, R, 0x108, &wide, 8);
    add(list, &n, W, 0x111, &inverse, 4);
    add(list, &n, W, 0x118, &constant, 4);
    add(list, &n, W, 0x120, &i, 4);
    add(list, &n, R, 0x120, &i, 4);
    add(list, &n, W, 0x120, &plus7, 4);
    add(list, &n, R, 0x120, &plus7, 4);
    add(list, &n, W, 0x120, &plus12, 4);
    add(list, &n, R, 0x120, &plus12, 4);
    add(list, &n, W, 0x120, &ninety_nine, 4);
    add(list, &n, R, 0x120, &ninety_nine, 8);
    add(list, &n, W, 0x201, fill, 32);
    add(list, &n, R, 0x201, fill, 32);
    add(list, &n, W, 0x240, next, 16);
    add(list, &n, R, 0x220, sum, 32);
    if (__builtin_cpu_supports("avx512vl")) {
        add(list, &n, W, 0x280, fill, 64);
        add(list, &n, R, 0x280, fill, 32);
        add(list, &n, R, 0x280, fill, 64);
        add(list, &n, R, 0x280, fill, 16);
    }
    add(list, &n, W, 0x301, text, sizeof text);
    add(list, &n, R, 0x301, text, sizeof text);
    return n;
}

static void every_sort_of_access_is_seen_once(void **state)
{
    (void)state;
    const char *const variables[] = {"NOCAP_CAPTURE=sorts.nocap", NULL};
    run_well(variables, "threads", "0");
    struct nocap_reader *reader = open_trace("sorts.nocap");
    struct nocap_error err;
    const struct nocap_event *events;
    size_t count;
    struct access list[32];
    unsigned at[CLIENT_THREADS] = {0}, rounds[CLIENT_THREADS] = {0}, per_round = 0;
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            const struct nocap_event *e = &events[i];
            assert_null(nocap_event_problem(e));
            if (e->space == NOCAP_SPACE_BAR0) {
                continue;
            }
            unsigned thread = e->at.x - 1u;
            assert_true(thread < CLIENT_THREADS && e->at.y == 2);
            per_round = expected_round(rounds[thread], list);
            const struct access *want = &list[at[thread]];
            const uint8_t *bytes =
                (e->has & NOCAP_F_VALUE) != 0 ? (const uint8_t *)&e->value : e->data;
            if (e->kind != want->kind || e->addr != want->addr || e->size != want->size ||
                memcmp(bytes, want->bytes, want->size) != 0) {
                print_error("round %u, access %u: kind %u, 0x%lx, %lu bytes\n", rounds[thread],
                            at[thread], e->kind, (unsigned long)e->addr, (unsigned long)e->size);
                fail();
            }
            assert_true(e->order == NOCAP_ORDER_STRICT && e->map == NOCAP_MAP_UC);
            if (++at[thread] == per_round) {
                at[thread] = 0;
                rounds[thread]++;
            }
        }
    }
    for (unsigned i = 0; i < CLIENT_THREADS; i++) {
        assert_int_equal(rounds[i], CLIENT_ROUNDS);
        assert_int_equal(at[i], 0);
    }
    nocap_reader_close(reader);
}

/* Threads of four count up, each in a tile of its own. */
static void count_of_all(const char *n, uint64_t each)
{
    const char *const variables[] = {"NOCAP_CAPTURE=count.nocap", NULL};
    run_well(variables, "count", n);
    struct nocap_reader *reader = open_trace("count.nocap");
    struct nocap_error err;
    const struct nocap_event *events;
    size_t count;
    uint64_t next[CLIENT_THREADS] = {0};
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            if (events[i].space == NOCAP_SPACE_TILE) {
                assert_true(events[i].value == next[events[i].at.x - 1]);
                next[events[i].at.x - 1]++;
            }
        }
    }
    for (unsigned i = 0; i < CLIENT_THREADS; i++) {
        assert_int_equal(next[i], each);
    }
    nocap_reader_close(reader);
}

static void four_threads_lose_nothing(void **state)
{
    (void)state;
    const char *n = getenv("NOCAP_SHIM_ACCESSES"); /* of each thread: 2500000 for 10 million */
    n = n != NULL ? n : "20000";
    count_of_all(n, strtoull(n, NULL, 10));
}

static const struct nocap_event *find(const struct nocap_event *events, size_t count, unsigned kind,
                                      uint64_t addr)
{
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind == kind && events[i].addr == addr) {
            return &events[i];
        }
    }
    print_error("no event of kind %u at 0x%lx\n", kind, (unsigned long)addr);
    fail();
    return NULL;
}

static void what_a_driver_does_besides(void **state)
{
    (void)state;
    const char *const variables[] = {"NOCAP_CAPTURE=rest.nocap", NULL};
    run_well(variables, "rest", "0");
    struct nocap_reader *reader = open_trace("rest.nocap");
    const struct nocap_header *header = nocap_reader_header(reader);
    assert_int_equal(header->observes, NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_CQ_HOST);
    assert_contains(header->extra, "untraced");
    assert_contains(header->producer, "kmd_client");
    struct nocap_error err;
    const struct nocap_event *e;
    size_t count;
    assert_int_equal(nocap_reader_next(reader, &e, &count, &err), NOCAP_OK);
    assert_int_equal(find(e, count, NOCAP_EV_WRITE, 0x500)->value, 1);
    assert_int_equal(find(e, count, NOCAP_EV_WRITE, 0x510)->size, 8);
    assert_memory_equal(&find(e, count, NOCAP_EV_READ, 0x510)->value, "abcdefgh", 8);
    assert_memory_equal(&find(e, count, NOCAP_EV_WRITE, 0x560)->value, "efghijkl", 8);
    assert_memory_equal(&find(e, count, NOCAP_EV_READ, 0x560)->value, "efghijkl", 8);
    assert_memory_equal(&find(e, count, NOCAP_EV_WRITE, 0x568)->value, "efghijkl", 8);
    assert_int_equal(find(e, count, NOCAP_EV_WRITE, 0x580)->value, 7);
    assert_int_equal(find(e, count, NOCAP_EV_WRITE, 0xFFA00590)->value, 8);
    const struct nocap_event *aimed = find(e, count, NOCAP_EV_WRITE, 0xFFA00520);
    assert_true(aimed->at.x == 7 && aimed->at.y == 8 && aimed->order == NOCAP_ORDER_POSTED);
    const struct nocap_event *dma = find(e, count, NOCAP_EV_WRITE, 0x600);
    assert_true(dma->by == NOCAP_BY_DMA && dma->size == 32 && dma->at.x == 1);
    assert_memory_equal(dma->data, "sent by the DMA engine", 22);
    assert_int_equal(find(e, count, NOCAP_EV_READ, 0x530)->value, 3);
    assert_int_equal(find(e, count, NOCAP_EV_WRITE, 0x540)->value, 5);
    assert_int_equal(find(e, count, NOCAP_EV_WRITE, 0x1000)->value, 4);
    assert_int_equal(find(e, count, NOCAP_EV_WRITE, 0x2000)->value, 10);
    assert_int_equal(find(e, count, NOCAP_EV_WRITE, 0x4000)->value, 11);
    unsigned notes = 0;
    for (size_t i = 0; i < count; i++) {
        notes += e[i].kind == NOCAP_EV_NOTE;
        assert_true(e[i].addr != 0x540 || e[i].value == 5); /* what followed was not traced */
        assert_true(e[i].addr != 0xFFA00590 || e[i].value == 8);
    }
    assert_int_equal(notes, 3); /* memory that was pinned, the two mappings that were given up */
    nocap_reader_close(reader);
    FILE *list = popen("ls rest.*.nocap", "r"); /* of the child */
    char name[64];
    assert_non_null(fgets(name, sizeof name, list));
    pclose(list);
    name[strcspn(name, "\n")] = '\0';
    reader = open_trace(name);
    assert_int_equal(nocap_reader_next(reader, &e, &count, &err), NOCAP_OK);
    assert_true(count == 1 && e[0].addr == 0x530 && e[0].at.x == 2);
    nocap_reader_close(reader);
}

static void a_reset_is_the_programs_bus_error(void **state)
{
    (void)state;
    const char *const variables[] = {"NOCAP_CAPTURE=reset.nocap", NULL};
    run_well(variables, "reset", "0");
    struct nocap_reader *reader = open_trace("reset.nocap");
    struct nocap_error err;
    const struct nocap_event *e;
    size_t count;
    assert_int_equal(nocap_reader_next(reader, &e, &count, &err), NOCAP_OK);
    assert_int_equal(count, 3 * CLIENT_THREADS + 1 + 3);
    const struct nocap_event *note = &e[3 * CLIENT_THREADS];
    assert_int_equal(note->kind, NOCAP_EV_NOTE);
    assert_int_equal(note[1].space, NOCAP_SPACE_BAR0); /* nobody knows where windows point */
    nocap_reader_close(reader);
}

/* The sum of the host's stores to `addr`. */
static uint64_t stores_to(const struct nocap_event *e, size_t count, uint64_t addr)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += e[i].kind == NOCAP_EV_WRITE && e[i].addr == addr ? e[i].value : 0;
    }
    return sum;
}

static void a_mask_of_a_call_does_not_stop_the_shim(void **state)
{
    (void)state;
    const char *const variables[] = {"NOCAP_CAPTURE=masks.nocap", NULL};
    run_well(variables, "masks", "0");
    struct nocap_reader *reader = open_trace("masks.nocap");
    struct nocap_error err;
    const struct nocap_event *e;
    size_t count;
    uint64_t calls = 0, copies = 0, last = 0;
    while (nocap_reader_next(reader, &e, &count, &err) == NOCAP_OK) {
        calls += stores_to(e, count, 0x5A0);
        copies += stores_to(e, count, 0x5A8);
        last += stores_to(e, count, 0x5B0);
    }
    assert_int_equal(calls, 6);
    assert_true(copies > 0);
    assert_int_equal(last, 2);
    nocap_reader_close(reader);
}

static unsigned notes_with(const struct nocap_event *e, size_t count, const char *text)
{
    unsigned n = 0;
    for (size_t i = 0; i < count; i++) {
        n += e[i].kind == NOCAP_EV_NOTE &&
             memmem(e[i].data, e[i].data_size, text, strlen(text)) != NULL;
    }
    return n;
}

static void what_is_not_traced_is_told(void **state)
{
    (void)state;
    const char *const variables[] = {"NOCAP_CAPTURE=untraced.nocap", NULL};
    run_well(variables, "untraced", "0");
    struct nocap_reader *reader = open_trace("untraced.nocap");
    struct nocap_error err;
    const struct nocap_event *e;
    size_t count;
    assert_int_equal(nocap_reader_next(reader, &e, &count, &err), NOCAP_OK);
    assert_int_equal(notes_with(e, count, "stores 0x55 to 0x1000 of core 3,4"), 1);
    assert_int_equal(notes_with(e, count, "the driver stores nothing"), 1);
    assert_int_equal(notes_with(e, count, "window 2 was exported"), 1);
    assert_int_equal(notes_with(e, count, "a BAR was mapped for another device"), 1);
    assert_int_equal(notes_with(e, count, "a prefetch_q lie, in core 3,2"), 1);
    assert_int_equal(notes_with(e, count, "memory of the program"), 1);
    assert_int_equal(stores_to(e, count, 0x5C0), 0); /* plain memory by then */
    const struct nocap_event *dma = find(e, count, NOCAP_EV_WRITE, 0x700);
    assert_true(dma->by == NOCAP_BY_DMA && dma->size == 64 && dma->data_size == 0);
    nocap_reader_close(reader);
}

/* Stores and loads of a client with `n` windows that the trace has, and its notes. */
static uint64_t accesses_of(const char *n, unsigned *notes)
{
    const char *const variables[] = {"NOCAP_CAPTURE=many.nocap", NULL};
    run_well(variables, "many", n);
    struct nocap_reader *reader = open_trace("many.nocap");
    struct nocap_error err;
    const struct nocap_event *e;
    size_t count;
    uint64_t accesses = 0;
    *notes = 0;
    while (nocap_reader_next(reader, &e, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            accesses += e[i].space == NOCAP_SPACE_TILE && e[i].addr == 4;
            *notes += e[i].kind == NOCAP_EV_DROP;
        }
        *notes += notes_with(e, count, "more mappings of devices than can be followed");
    }
    nocap_reader_close(reader);
    return accesses;
}

static void windows_of_many_chips_are_followed(void **state)
{
    (void)state;
    unsigned notes;
    assert_int_equal(accesses_of("1280", &notes), 2 * 1280);
    assert_int_equal(notes, 0);
    uint64_t most = 8191 - CLIENT_THREADS - 1; /* windows and registers of the client */
    assert_int_equal(accesses_of("8500", &notes), 2 * most);
    assert_int_equal(notes, 2);
}

static void modes_trap_less(void **state)
{
    (void)state;
    const char *const off[] = {"NOCAP_CAPTURE=off.nocap", "NOCAP_CAPTURE_TRAP=off", NULL};
    run_well(off, "count", "100");
    assert_int_equal(access("off.nocap", F_OK), -1);
    const char *const registers[] = {"NOCAP_CAPTURE=registers.nocap",
                                     "NOCAP_CAPTURE_TRAP=registers", "CLIENT_MAP=wc", NULL};
    run_well(registers, "count", "100");
    struct nocap_reader *reader = open_trace("registers.nocap");
    struct nocap_error err;
    const struct nocap_event *e;
    size_t count;
    assert_int_equal(nocap_reader_header(reader)->observes, 0);
    assert_contains(nocap_reader_header(reader)->extra, "write-combined");
    assert_int_equal(nocap_reader_next(reader, &e, &count, &err), NOCAP_OK);
    assert_int_equal(count, 3 * CLIENT_THREADS); /* the windows' words alone */
    nocap_reader_close(reader);
}

int main(void)
{
    if (SANITIZED) {
        printf("1..1\nok 1 # SKIP preload: a sanitizer's run time must come before the shim, which "
               "must come "
               "before all\n");
        return 0;
    }
    find_build();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sort_of_access_is_seen_once),
        cmocka_unit_test(four_threads_lose_nothing),
        cmocka_unit_test(what_a_driver_does_besides),
        cmocka_unit_test(a_reset_is_the_programs_bus_error),
        cmocka_unit_test(a_mask_of_a_call_does_not_stop_the_shim),
        cmocka_unit_test(what_is_not_traced_is_told),
        cmocka_unit_test(windows_of_many_chips_are_followed),
        cmocka_unit_test(modes_trap_less),
    };
    return cmocka_run_group_tests_name("preload", tests, enter, temp_dir_leave);
}
