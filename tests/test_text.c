/* SPDX-License-Identifier: Apache-2.0 */
/* Events as text and as comma-separated values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/export/csv.h"
#include "formats/export/text.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const uint8_t payload[40] = {0xde, 0xad};
static const char note[] = "a, \"b\"\n\033[31m";
static const char note_cell[] = "a, \"b\"\\x0a\\x1b[31m";
static const char raw[] = "{\"t\":1,\"ev\":\"new\"}";

/* One line each, after index and time. */
static const struct {
    struct nocap_event event;
    const char *line;
} lines[] = {
    {{.kind = NOCAP_EV_WRITE,
      .by = NOCAP_BY_HOST,
      .at = {1, 2},
      .addr = 0x370,
      .size = 4,
      .value = 0x80000000,
      .has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE},
     "1,2    host     write          go_messages[0] 0x370:4 = 0x80000000 GO"},
    {{.kind = NOCAP_EV_READ,
      .by = NOCAP_BY_HOST,
      .at = {1, 2},
      .addr = 0x373,
      .size = 1,
      .value = 0,
      .n = 5,
      .t2 = 99,
      .has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE | NOCAP_F_N |
             NOCAP_F_T2},
     "1,2    host     read           go_messages[0].signal 0x373:1 = 0x0 DONE n=5 t2=99"},
    {{.kind = NOCAP_EV_WRITE,
      .by = NOCAP_BY_BRISC,
      .at = {1, 2},
      .addr = 0x68,
      .size = 4,
      .value = 0x80400301,
      .has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE},
     "1,2    brisc    write          subordinate_sync 0x68:4 = 0x80400301 "
     "LOAD,INIT_SYNC_REGISTERS,INIT,GO"},
    {{.kind = NOCAP_EV_WRITE,
      .by = NOCAP_BY_BRISC,
      .at = {1, 2},
      .addr = 0x69,
      .size = 1,
      .value = 0x77,
      .has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE},
     "1,2    brisc    write          subordinate_sync.trisc0 0x69:1 = 0x77 0x77"},
    {{.kind = NOCAP_EV_WRITE,
      .by = NOCAP_BY_HOST,
      .at = {1, 2},
      .to = {7, 11},
      .addr = 0xbc,
      .size = 4,
      .value = 0x1f,
      .order = NOCAP_ORDER_STRICT,
      .chip = 3,
      .has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_TO | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE |
             NOCAP_F_ORDER},
     "c3:1,2..7,11 host write        launch[0].enables 0xbc:4 = 0x1f"},
    {{.kind = NOCAP_EV_WRITE,
      .by = NOCAP_BY_DMA,
      .space = NOCAP_SPACE_SYSMEM,
      .addr = 0x80,
      .size = 40,
      .data = payload,
      .data_size = sizeof payload,
      .has = NOCAP_F_BY | NOCAP_F_SPACE | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_DATA},
     "-      dma      write          sysmem 0x80:40 = "
     "dead000000000000000000000000000000000000000000000000000000000000.. (40 bytes)"},
    {{.kind = NOCAP_EV_TENSIX,
      .op = NOCAP_OP_ISSUE,
      .at = {1, 2},
      .thread = 1,
      .value = 0xa4000008,
      .sem = 0x0100,
      .has = NOCAP_F_AT | NOCAP_F_THREAD | NOCAP_F_WORD | NOCAP_F_SEM},
     "1,2    thread1  tensix issue   SEMPOST MATH_PACK 0xa4000008 thread=1 sem=0 1 0 0 0 0 0 0"},
    {{.kind = NOCAP_EV_KERNEL,
      .op = NOCAP_OP_ENTER,
      .by = NOCAP_BY_TRISC1,
      .at = {1, 2},
      .pc = 0x8410,
      .has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_PC},
     "1,2    trisc1   kernel enter   pc=0x8410"},
    {{.kind = NOCAP_EV_CERT,
      .op = NOCAP_OP_BLOCK,
      .uc = 3,
      .why = NOCAP_WHY_DMA,
      .page = 1,
      .off = 16,
      .has = NOCAP_F_UC | NOCAP_F_WHY | NOCAP_F_PAGE | NOCAP_F_OFF},
     "-      uc3      cert block     page=1 off=16 why=dma"},
    {{.kind = NOCAP_EV_NOTE,
      .data = (const uint8_t *)note,
      .data_size = sizeof note - 1,
      .has = NOCAP_F_TEXT},
     "-      -        note           a, \"b\"\\x0a\\x1b[31m"},
    {{.kind = NOCAP_EV_UNKNOWN, .data = (const uint8_t *)raw, .data_size = sizeof raw - 1},
     "-      -        unknown        {\"t\":1,\"ev\":\"new\"}"},
    {{.kind = NOCAP_EV_DROP,
      .value = 12,
      .extra = "\"k\":1",
      .extra_size = 5,
      .has = NOCAP_F_DROPPED},
     "-      -        drop           source 0 count=12 \"k\":1"},
};

static const struct nocap_header blackhole = {.arch = NOCAP_ARCH_BLACKHOLE,
                                              .board = NOCAP_BOARD_P100};

static char *print(const struct nocap_text_style *style, const struct nocap_event *event)
{
    struct nocap_text text = {0};
    struct nocap_error err;
    assert_int_equal(nocap_text_print_event(style, &text, event, &err), NOCAP_OK);
    char *copy = strndup(text.data, text.size);
    free(text.data);
    return copy;
}

static void lines_are_exact(void **state)
{
    (void)state;
    struct nocap_text_style style = nocap_text_style(&blackhole, false);
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct nocap_event event = lines[i].event;
        event.index = i;
        event.t = 100 * i;
        char expected[300];
        snprintf(expected, sizeof expected, "%7zu %11zu  %s\n", i, 100 * i, lines[i].line);
        char *line = print(&style, &event);
        assert_string_equal(line, expected);
        free(line);
    }
}

/* The same go word under another layout, and without a map at all. */
static void names_follow_the_header(void **state)
{
    (void)state;
    char layout[] = "bh-launch112";
    struct nocap_header header = blackhole;
    header.layout = layout;
    struct nocap_text_style style = nocap_text_style(&header, false);
    char *line = print(&style, &lines[0].event);
    assert_null(strstr(line, "go_messages"));
    free(line);

    header.arch = NOCAP_ARCH_WORMHOLE;
    style = nocap_text_style(&header, false);
    line = print(&style, &lines[0].event);
    assert_non_null(strstr(line, "write          0x370:4 = 0x80000000\n"));
    free(line);
}

static void colors_only_add_escapes(void **state)
{
    (void)state;
    struct nocap_text_style plain = nocap_text_style(&blackhole, false);
    struct nocap_text_style colored = nocap_text_style(&blackhole, true);
    for (size_t i = 0; i < COUNT(lines); i++) {
        char *a = print(&plain, &lines[i].event), *b = print(&colored, &lines[i].event);
        size_t to = 0;
        for (size_t from = 0; b[from] != '\0'; from++) {
            if (b[from] == '\033') {
                from += strcspn(b + from, "m");
            } else {
                b[to++] = b[from];
            }
        }
        b[to] = '\0';
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
}

/* Every field of every kind at once, and the largest payload: the room that is made must do. */
static void room_is_enough(void **state)
{
    (void)state;
    enum { LARGE = 100000 };
    uint8_t *data = malloc(LARGE);
    assert_non_null(data);
    memset(data, '\n', LARGE);
    struct nocap_text_style style = nocap_text_style(&blackhole, true);
    struct nocap_text text = {0};
    struct nocap_csv csv;
    struct nocap_error err;
    assert_int_equal(nocap_csv_print_header(&csv, &text, &err), NOCAP_OK);
    for (unsigned kind = 0; kind < NOCAP_EV_COUNT; kind++) {
        struct nocap_event event = {.index = UINT64_MAX,
                                    .t = UINT64_MAX,
                                    .src = UINT32_MAX,
                                    .chip = UINT16_MAX,
                                    .kind = (uint8_t)kind,
                                    .data = data,
                                    .data_size = LARGE,
                                    .extra = (const char *)data,
                                    .extra_size = LARGE};
        memset(event.slot, 0xff, sizeof event.slot);
        event.has = nocap_kind_fields((enum nocap_kind)kind);
        text.size = 0;
        assert_int_equal(nocap_text_print_event(&style, &text, &event, &err), NOCAP_OK);
        assert_true(text.size <= text.capacity);
        text.size = 0;
        assert_int_equal(nocap_csv_print_event(&csv, &text, &event, &err), NOCAP_OK);
        assert_true(text.size <= text.capacity);
    }
    free(text.data);
    free(data);
}

/* Cells of one CSV line, quotes taken away, in place; returns how many. */
static size_t split(char *line, char *cells[], size_t max)
{
    size_t count = 0;
    for (char *p = line; count < max;) {
        char *to = p;
        cells[count++] = p;
        if (*p == '"') {
            for (p++; *p != '\0' && (*p != '"' || p[1] == '"'); p++) {
                p += *p == '"' ? 1 : 0;
                *to++ = *p;
            }
            p++;
        } else {
            p += strcspn(p, ",\n");
            to = p;
        }
        char end = *p++;
        *to = '\0';
        if (end != ',') {
            break;
        }
    }
    return count;
}

static void csv_cells_stand_under_their_names(void **state)
{
    (void)state;
    enum { CELLS_MAX = 100 };
    struct nocap_text text = {0};
    struct nocap_csv csv;
    struct nocap_error err;
    char *names[CELLS_MAX], *cells[CELLS_MAX];
    struct nocap_event event = {.index = 3,
                                .t = 4,
                                .kind = NOCAP_EV_NOC,
                                .op = NOCAP_OP_ATOMIC,
                                .at = {1, 2},
                                .ret = {5, 6},
                                .has = NOCAP_F_AT | NOCAP_F_RET | NOCAP_F_POSTED};
    assert_int_equal(nocap_csv_print_header(&csv, &text, &err), NOCAP_OK);
    char *header = strndup(text.data, text.size);
    size_t count = split(header, names, CELLS_MAX);
    static const struct {
        const char *name, *noc, *kernel, *note;
    } expected[] = {
        {"index", "3", "3", "3"},     {"t", "4", "4", "4"},        {"ev", "noc", "kernel", "note"},
        {"op", "atomic", "exit", ""}, {"x", "1", "1", ""},         {"y", "2", "2", ""},
        {"ret", "5,6", "0x9", ""},    {"posted", "false", "", ""}, {"text", "", "", note_cell},
        {"dx", "", "", ""},
    };
    for (unsigned round = 0; round < 3; round++) {
        if (round == 1) {
            event = (struct nocap_event){.index = 3,
                                         .t = 4,
                                         .kind = NOCAP_EV_KERNEL,
                                         .op = NOCAP_OP_EXIT,
                                         .at = {1, 2},
                                         .value = 9,
                                         .has = NOCAP_F_AT | NOCAP_F_EXIT_RET};
        } else if (round == 2) {
            event = lines[9].event;
            event.index = 3;
            event.t = 4;
        }
        text.size = 0;
        assert_int_equal(nocap_csv_print_event(&csv, &text, &event, &err), NOCAP_OK);
        char *line = strndup(text.data, text.size);
        assert_int_equal(split(line, cells, CELLS_MAX), count);
        unsigned found = 0;
        for (size_t i = 0; i < count; i++) {
            for (size_t k = 0; k < COUNT(expected); k++) {
                if (strcmp(names[i], expected[k].name) == 0) {
                    const char *want = round == 0   ? expected[k].noc
                                       : round == 1 ? expected[k].kernel
                                                    : expected[k].note;
                    assert_string_equal(cells[i], want);
                    found++;
                }
            }
        }
        assert_int_equal(found, COUNT(expected));
        free(line);
    }
    free(header);
    free(text.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_exact),
        cmocka_unit_test(names_follow_the_header),
        cmocka_unit_test(colors_only_add_escapes),
        cmocka_unit_test(room_is_enough),
        cmocka_unit_test(csv_cells_stand_under_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
