/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in device model: its events against the documented order of boot and launch, read here
 * once more as plain lists, and against what was observed of real firmware in any interleaving. */
#include <stdio.h>

#include "formats/trace/trace.h"
#include "tests/sim_run.h"

struct store {
    uint32_t addr, size, value;
};

static void assert_stores(const struct store *got, size_t count, const struct store *want,
                          size_t wanted)
{
    for (size_t i = 0; i < count && i < wanted; i++) {
        if (memcmp(&got[i], &want[i], sizeof got[i]) != 0) {
            fail_msg("store %zu: %x %u %x, not %x %u %x", i, got[i].addr, got[i].size, got[i].value,
                     want[i].addr, want[i].size, want[i].value);
        }
    }
    assert_int_equal(count, wanted);
}

/* The stores of one core until `end` stores are there. */
static size_t stores_of(const struct nocap_event *events, size_t count, struct nocap_xy xy,
                        unsigned by, struct store *stores, size_t end)
{
    size_t n = 0;
    for (size_t i = 0; i < count && n < end; i++) {
        const struct nocap_event *e = &events[i];
        if (is_store(e, by) && at(e, xy)) {
            stores[n++] = (struct store){(uint32_t)e->addr, (uint32_t)e->size, (uint32_t)e->value};
        }
    }
    return n;
}

#define W(addr, value)                                                                             \
    {                                                                                              \
        (addr), 4, (value)                                                                         \
    }
/* clang-format off */
static const struct store brisc_boot_first[] = {
    W(0x6C, 0),
    W(0xFFB12240, 0), W(0xFFB11024, 0x3F),
    W(0xFFB20100, 1), W(0xFFB20104, 1), W(0xFFB30100, 1), W(0xFFB30104, 1),
    W(0xFFB12238, 0x5440), W(0xFFB12228, 0x5A40), W(0xFFB1222C, 0x6040), W(0xFFB12230, 0x6640),
    W(0xFFB12234, 7), W(0xFFB1223C, 1),
};
static const struct store brisc_boot_second[] = {
    W(0xFFEF02E4, 0x1F),
    W(0xFFE40000, 0x10180000), W(0xFFE40000, 0x8A00300A), W(0xFFE40000, 0x02000000),
    W(0xFFE40000, 0x7100BF80), W(0xFFE40000, 0x910000B0),
    W(0xFFEF000C, 1), W(0xFFEF000C, 3), W(0xFFEF000C, 0x803),
    W(0xFFE40000, 0xA3100008), W(0xFFE40000, 0xA3100010), W(0xFFE40000, 0xA3100200),
    W(0x60, 0), W(0x68, 0x40404040), W(0xFFB121B0, 0),
    {0x373, 1, 0},
};
/* Of NOC 0; those of NOC 1 lie 0x10000 higher. ME: the tile's own coordinates. */
enum { ME = 0x7E57 };
static const struct store noc_init[] = {
    W(0xFFB20004, 0), W(0xFFB20008, ME), W(0xFFB21004, 0), W(0xFFB21008, ME), W(0xFFB2180C, 4),
    W(0xFFB21810, 0), W(0xFFB21814, ME), W(0xFFB2081C, 0x2090), W(0xFFB20810, 0), W(0xFFB20814, ME),
};
/* clang-format on */

static size_t add(struct store *list, size_t n, const struct store *more, size_t count)
{
    memcpy(list + n, more, count * sizeof *more);
    return n + count;
}
#define COUNT(a)           (sizeof(a) / sizeof((a)[0]))
#define ADD(list, n, more) add((list), (n), (more), COUNT(more))

static size_t expected_boot(unsigned by, struct nocap_xy xy, struct store *list)
{
    size_t n = 0;
    uint32_t me = xy.x | (uint32_t)xy.y << 6;
    if (by == NOCAP_BY_BRISC) {
        n = ADD(list, n, brisc_boot_first);
        for (uint32_t block = 0x3240; block < 0x3440; block += 16) {
            const struct store zeros[] = {W(block + 12, 0), W(block + 8, 0), W(block + 4, 0),
                                          W(block, 0)};
            n = ADD(list, n, zeros);
        }
        n = ADD(list, n, brisc_boot_second);
        for (unsigned noc = 0; noc < 2; noc++) {
            for (unsigned i = 0; i < COUNT(noc_init); i++) {
                list[n] = noc_init[i];
                list[n].addr += 0x10000 * noc;
                list[n].value = list[n].value == ME ? me : list[n].value;
                n++;
            }
        }
        list[n++] = (struct store){0x69, 1, 3};
    } else if (by == NOCAP_BY_NCRISC) {
        list[n++] = (struct store){0x68, 1, 0};
    } else {
        for (uint32_t i = 0; i < 64; i++) {
            list[n++] = (struct store)W(0xFFE00000 + 4 * i, 0);
        }
        list[n++] = (struct store)W(0xFFEF02E8, 0);
        list[n++] = (struct store){0x69 + by - NOCAP_BY_TRISC0, 1, 0};
    }
    for (uint32_t i = 0; by == NOCAP_BY_TRISC0 && i < 32; i++) {
        list[n++] = (struct store)W(0xFFB48028 + 0x1000 * i, 0);
        list[n++] = (struct store)W(0xFFB48020 + 0x1000 * i, 0);
    }
    if (by == NOCAP_BY_TRISC0) {
        list[n++] = (struct store){0x69, 1, 0};
    }
    return n;
}

enum { STORES_MAX = 400 };

static void assert_boot(const struct nocap_event *events, size_t count, struct nocap_xy xy)
{
    struct store got[STORES_MAX], want[STORES_MAX];
    for (unsigned by = NOCAP_BY_BRISC; by <= NOCAP_BY_TRISC2; by++) {
        size_t wanted = expected_boot(by, xy, want);
        size_t n = stores_of(events, count, xy, by, got, STORES_MAX);
        assert_stores(got, n, want, wanted);
    }
}

static void boot_stores_come_in_the_documented_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct run run = run_with((struct nocap_sim_options){.seed = seed, .variant = seed});
        for (uint8_t y = 2; y < 6; y++) {
            assert_boot(run.events, run.count, (struct nocap_xy){1, y});
        }
        run_free(&run);
    }
}

/* BRISC's stores of a HOST mode launch with all cores enabled, kernels left out. */
static const struct store launch_all[] = {
    {0x68, 1, 0x01}, W(0xFFEF02E4, 0x1F), {0x69, 1, 0x80}, {0x6A, 1, 0x80},
    {0x6B, 1, 0x80}, {0x68, 1, 0x80},     {0x69, 1, 0x03}, {0x373, 1, 0},
};

static bool is_go(const struct nocap_event *e, struct nocap_xy xy)
{
    return e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_HOST && at(e, xy) && e->addr == 0x370 &&
           e->value == 0x80000000;
}

/* Judges every launch of the tile whose message enables all cores; how many there were. Before the
 * first store BRISC may still have finished what it did when GO came. */
static unsigned assert_launches(const struct nocap_event *events, size_t count, struct nocap_xy xy)
{
    unsigned launches = 0;
    const struct nocap_event *message = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct nocap_event *e = &events[i];
        if (e->kind == NOCAP_EV_WRITE && at(e, xy) && e->addr == 0x70 && e->size == 96) {
            message = e;
        }
        if (!is_go(e, xy) || message == NULL || message->data[0x4C] != 0x1F) {
            continue;
        }
        struct store got[STORES_MAX], plain[STORES_MAX];
        size_t n = stores_of(e, count - i, xy, NOCAP_BY_BRISC, got, STORES_MAX), kept = 0;
        for (size_t k = 0; k < n && kept < COUNT(launch_all); k++) {
            bool kernel = (got[k].addr >= 0x37000 && got[k].addr < 0x180000) ||
                          (got[k].addr >= 0xFFB40000 && got[k].addr < 0xFFB80000);
            bool before = kept == 0 && memcmp(&got[k], &launch_all[0], sizeof got[k]) != 0;
            if (!kernel && !before) {
                plain[kept++] = got[k];
            }
        }
        assert_stores(plain, kept, launch_all, COUNT(launch_all));
        launches++;
    }
    return launches;
}

static void launch_stores_come_in_the_documented_order(void **state)
{
    (void)state;
    unsigned launches = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct run run = run_with((struct nocap_sim_options){
            .scenario = NOCAP_SIM_LAUNCH_HOST, .seed = seed, .variant = seed});
        for (uint8_t y = 2; y < 6; y++) {
            launches += assert_launches(run.events, run.count, (struct nocap_xy){1, y});
        }
        run_free(&run);
    }
    assert_true(launches > 20 * 4 * NOCAP_SIM_LAUNCHES / 2);
}

/* The same lists, held against traces of real firmware: the lists are right, and so is the model.
 */
static struct run read_trace(const char *path)
{
    struct run run = {0};
    struct nocap_error err;
    const struct nocap_event *events;
    size_t count;
    struct nocap_reader *reader;
    assert_int_equal(nocap_reader_open(&reader, path, &err), NOCAP_OK);
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(keep(&run, &events[i], &err), NOCAP_OK);
        }
    }
    nocap_reader_close(reader);
    return run;
}

static void real_firmware_boots_the_same(void **state)
{
    (void)state;
    struct run run = read_trace(GOLDEN_DIR "/firmware-boot-grid.nocap");
    assert_boot(run.events, run.count, (struct nocap_xy){1, 2});
    assert_boot(run.events, run.count, (struct nocap_xy){14, 11});
    run_free(&run);
}

static void real_firmware_launches_the_same(void **state)
{
    (void)state;
    struct run run = read_trace(GOLDEN_DIR "/firmware-noop-x12.nocap");
    assert_int_equal(assert_launches(run.events, run.count, (struct nocap_xy){1, 2}), 12);
    run_free(&run);
}

static void the_same_options_give_the_same_events(void **state)
{
    (void)state;
    for (unsigned scenario = 0; scenario <= NOCAP_SIM_LAUNCH_DEV; scenario++) {
        struct nocap_sim_options options = {.scenario = scenario, .launches = 20, .seed = 7};
        uint64_t hash = hash_with(options);
        assert_int_equal(hash_with(options), hash);
        options.seed = 8;
        assert_int_not_equal(hash_with(options), hash);
        if (scenario != NOCAP_SIM_BOOT) {
            options = (struct nocap_sim_options){.scenario = scenario, .seed = 7};
            options.fault = NOCAP_SIM_FAULT_HANG_SEM;
            assert_int_equal(hash_with(options), hash_with(options));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boot_stores_come_in_the_documented_order),
        cmocka_unit_test(launch_stores_come_in_the_documented_order),
        cmocka_unit_test(real_firmware_boots_the_same),
        cmocka_unit_test(real_firmware_launches_the_same),
        cmocka_unit_test(the_same_options_give_the_same_events),
    };
    return cmocka_run_group_tests_name("built-in device model", tests, NULL, NULL);
}
