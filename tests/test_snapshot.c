/* SPDX-License-Identifier: Apache-2.0 */
/* What others saw of a device that stands still, as a trace: dumps of L1, the watcher's log. */
#include "tests/temp_dir.h"

#include <fcntl.h>

#include "checker/hang/hang.h"
#include "formats/import/import.h"

static enum nocap_status import(const char *format, const char *const *inputs, size_t count,
                                struct nocap_import_result *result, struct nocap_error *err)
{
    int fd = open("out.nocap", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    enum nocap_status status =
        nocap_import(nocap_import_format_find(format), inputs, count, fd, NULL, result, err);
    close(fd);
    return status;
}

static struct nocap_hang *hang_of_import(void)
{
    struct nocap_hang *hang;
    struct nocap_error err;
    assert_int_equal(nocap_hang(&hang, "out.nocap", NULL, &err), NOCAP_OK);
    return hang;
}

/* The party of this name; NULL: nobody speaks of it. */
static const struct nocap_hang_party *party(const struct nocap_hang *h, const char *name)
{
    char text[64];
    for (size_t i = 0; i < h->party_count; i++) {
        if (strcmp(nocap_party_name(&h->parties[i].id, text, sizeof text), name) == 0) {
            return &h->parties[i];
        }
    }
    return NULL;
}

static const char *what_of(const struct nocap_hang *h, const char *name)
{
    return h->waits[party(h, name)->wait].what;
}

static void dumps_of_l1(void **state)
{
    (void)state;
    uint8_t l1[0x600] = {0};
    struct nocap_import_result result;
    struct nocap_error err;
    const char *const inputs[] = {"1,2=whole.bin", "1:3,2@0x60=part.bin"};
    l1[0x6A] = 0x80;  /* TRISC1 has GO */
    l1[0x373] = 0x80; /* so has BRISC */
    write_bytes("whole.bin", l1, sizeof l1);
    write_bytes("part.bin", l1 + 0x60, sizeof l1 - 0x60);
    assert_int_equal(import("l1-dump", inputs, 2, &result, &err), NOCAP_OK);
    assert_int_equal(result.events, 2);
    struct nocap_hang *h = hang_of_import();
    assert_int_equal(h->verdict, NOCAP_HANG_INCONCLUSIVE); /* a picture has no time */
    assert_non_null(party(h, "trisc1 1,2"));
    assert_true(party(h, "trisc1 1,2")->root);
    assert_true(party(h, "trisc1 3,2 chip 1")->root);
    assert_false(party(h, "brisc 1,2")->root);
    nocap_hang_free(h);
}

static void refused_dumps(void **state)
{
    (void)state;
    struct nocap_import_result result;
    struct nocap_error err;
    static const struct {
        const char *input, *why;
        enum nocap_status status;
    } cases[] = {
        {"1,2", "x,y=FILE", NOCAP_E_USAGE},
        {"1=whole.bin", "x,y=FILE", NOCAP_E_USAGE},
        {"1,2@=whole.bin", "x,y=FILE", NOCAP_E_USAGE},
        {"1,256=whole.bin", "x,y=FILE", NOCAP_E_USAGE},
        {"1,2@0x180000=whole.bin", "x,y=FILE", NOCAP_E_USAGE},
        {"1,2=missing.bin", "missing.bin", NOCAP_E_INPUT},
        {"1,2=empty.bin", "empty", NOCAP_E_INPUT},
        {"1,2@0x17ffff=whole.bin", "more bytes than L1", NOCAP_E_INPUT},
    };
    write_bytes("whole.bin", "\0\0\0\0", 4);
    write_bytes("empty.bin", "", 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const inputs[] = {cases[i].input};
        assert_int_equal(import("l1-dump", inputs, 1, &result, &err), cases[i].status);
        assert_contains(err.text, cases[i].why);
    }
}

static const char watcher_log[] =
    "At 10.000s starting\n"
    "Device 0 worker core(x= 0,y= 0) phys(x= 1,y= 2):  NRW,   W,   R,   CWFW,   D  rmsg:D1G|BNT "
    "smsg:DDGD k_ids:11|10|0\n"
    "Device 1 worker core(x= 1,y= 0) virtual(x= 2,y= 2): rmsg:D0D|bnt h_id:32463 smsg:DDDD "
    "k_ids:1|2|3\n"
    "Device 0, Core (x=3,y=2):   GW,   W,   W,   W,   W  rmsg:H1D|bnt smsg:DDDD k_ids:0|0|0\n"
    "Core (x=4,y=2):   GW,   W,   W,   W,   W  rmsg:H1I|bnt smsg:DDID k_ids:0|0|0\n"
    "brisc using noc0 tried to access DRAM core\n"
    "k_id[10]: kernels/reader.cpp\n"
    "k_id[11]: kernels/writer of tiles.cpp\n";

static void watcher(void **state)
{
    (void)state;
    const char *const inputs[] = {"watcher.log"};
    struct nocap_import_result result;
    struct nocap_error err;
    write_text("watcher.log", watcher_log);
    assert_int_equal(import("watcher", inputs, 1, &result, &err), NOCAP_OK);
    assert_int_equal(result.malformed, 0);
    struct nocap_hang *h = hang_of_import();
    assert_int_equal(h->verdict, NOCAP_HANG_INCONCLUSIVE);
    assert_int_equal(h->end, 10000000000);
    assert_true(party(h, "trisc1 1,2")->root); /* in its kernel, by smsg */
    assert_true(party(h, "trisc1 4,2")->root); /* not booted */
    assert_null(party(h, "brisc 3,2"));
    assert_null(party(h, "brisc 2,2 chip 1"));
    assert_int_equal(h->verdict, NOCAP_HANG_INCONCLUSIVE);
    assert_string_equal(what_of(h, "brisc 1,2"),
                        "waits for NOC reads (waypoint NRW); kernel kernels/writer of tiles.cpp");
    assert_string_equal(what_of(h, "trisc1 1,2"),
                        "waits for tiles of a circular buffer (waypoint CWFW)");
    assert_true(party(h, "brisc 1,2")->root); /* it does not wait for trisc1, as smsg alone says */
    nocap_hang_free(h);
}

/* What stands alike is reported once, the odd one before the many. */
static void many_cores_of_a_watcher(void **state)
{
    (void)state;
    const char *const inputs[] = {"watcher.log"};
    struct nocap_import_result result;
    struct nocap_error err;
    char log[16384] = "At 10.000s starting\n", *text = NULL;
    size_t used = strlen(log), size;
    for (unsigned y = 2; y < 12; y++) {
        for (unsigned x = 1; x < 8; x++) {
            used += (size_t)snprintf(log + used, sizeof log - used,
                                     "Device 0 worker core(x=0,y=0) virtual(x=%u,y=%u): %s,   W,   "
                                     "W,   W,   W  rmsg:D0G|BNT smsg:DDDD k_ids:4|0|0\n",
                                     x, y, x == 5 && y == 5 ? " NSW" : "CRBW");
        }
    }
    write_text("watcher.log", log);
    assert_int_equal(import("watcher", inputs, 1, &result, &err), NOCAP_OK);
    struct nocap_hang *h = hang_of_import();
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(nocap_hang_text(out, h, false, &err), NOCAP_OK);
    fclose(out);
    const char *many = strstr(text, "brisc 1,2 (+68 identical)"), *odd = strstr(text, "5,5");
    assert_non_null(many);
    assert_contains(odd, "in kernel: waits for a semaphore (waypoint NSW)");
    assert_contains(text, "1 core (5,5): unknown, unknown, sync 00 00 00 00 smsg:DDDD, rd_ptr ?, at NSW W");
    free(text);
    nocap_hang_free(h);
}

static void no_watcher_log(void **state)
{
    (void)state;
    const char *const inputs[] = {"watcher.log"};
    struct nocap_import_result result;
    struct nocap_error err;
    write_text("watcher.log", "nothing of the kind\n");
    assert_int_equal(import("watcher", inputs, 1, &result, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "no line of a watcher's log");
    write_text("watcher.log", "At 1s starting\nCore (x=1,y=2): rmsg:D1?|bnt smsg:DDDD\n");
    assert_int_equal(import("watcher", inputs, 1, &result, &err), NOCAP_OK);
    assert_int_equal(result.malformed, 1);
    assert_int_equal(result.malformed_line, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dumps_of_l1),    cmocka_unit_test(refused_dumps),
        cmocka_unit_test(watcher),        cmocka_unit_test(many_cores_of_a_watcher),
        cmocka_unit_test(no_watcher_log),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
