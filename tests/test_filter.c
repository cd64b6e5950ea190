/* SPDX-License-Identifier: Apache-2.0 */
/* Filter expressions of `nocap dump --filter`. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/trace/filter.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const uint8_t bytes[] = {0x00, 0xff, 0x10};
static const char note[] = "say \"hi\"";

/* What the expressions of `cases` are tried on. */
static const struct nocap_event events[] = {
    {.index = 0,
     .t = 100,
     .kind = NOCAP_EV_WRITE,
     .by = NOCAP_BY_BRISC,
     .at = {1, 2},
     .addr = 0x68,
     .size = 1,
     .value = 0x80,
     .has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE},
    {.index = 1,
     .t = 200,
     .kind = NOCAP_EV_READ,
     .by = NOCAP_BY_HOST,
     .space = NOCAP_SPACE_BAR0,
     .addr = 0x1fc00000,
     .size = 3,
     .data = bytes,
     .data_size = 3,
     .chip = 1,
     .has = NOCAP_F_BY | NOCAP_F_SPACE | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_DATA},
    {.index = 2,
     .t = 300,
     .kind = NOCAP_EV_NOC,
     .op = NOCAP_OP_INLINE,
     .at = {1, 2},
     .noc = 1,
     .posted = 1,
     .d = {3, 4},
     .ret = {5, 6},
     .src = 7,
     .has = NOCAP_F_AT | NOCAP_F_NOC | NOCAP_F_POSTED | NOCAP_F_D | NOCAP_F_RET},
    {.index = 3,
     .t = 400,
     .kind = NOCAP_EV_TENSIX,
     .op = NOCAP_OP_ISSUE,
     .at = {2, 2},
     .thread = 2,
     .value = 0xa4000008,
     .sem = UINT64_C(0x0700000000000100),
     .has = NOCAP_F_AT | NOCAP_F_THREAD | NOCAP_F_WORD | NOCAP_F_SEM},
    {.index = 4,
     .t = UINT64_MAX,
     .kind = NOCAP_EV_CERT,
     .op = NOCAP_OP_JOB_END,
     .uc = 1,
     .tile = 5,
     .has = NOCAP_F_UC | NOCAP_F_TILE},
    {.index = 5,
     .t = 500,
     .kind = NOCAP_EV_KERNEL,
     .op = NOCAP_OP_EXIT,
     .by = NOCAP_BY_UC0 + 12,
     .value = 9,
     .at = {0, 0},
     .has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_EXIT_RET},
    {.index = 6,
     .t = 600,
     .kind = NOCAP_EV_NOTE,
     .data = (const uint8_t *)note,
     .data_size = sizeof note - 1,
     .has = NOCAP_F_TEXT},
    {.index = 7,
     .t = 700,
     .kind = NOCAP_EV_NOC,
     .op = NOCAP_OP_READ,
     .at = {1, 3},
     .phase = NOCAP_PHASE_DONE,
     .posted = 0,
     .has = NOCAP_F_AT | NOCAP_F_PHASE | NOCAP_F_POSTED},
};

/* `matches` lists the events, by index. */
static const struct {
    const char *expression, *matches;
} cases[] = {
    {"tile==1,2", "02"},
    {"tile == 1 , 2 && by==brisc && addr in 0x68..0x6b", "0"},
    {"tile!=1,2", "357"},
    {"!(tile==1,2)", "134567"},
    {"tile in 1,2..2,2", "023"},
    {"tile in {1,2, 1,3}", "027"},
    {"tile==5", "4"},
    {"tile", "023457"},
    {"x==1", "027"},
    {"y>2", "7"},
    {"dx<=3 && dy==4", "2"},
    {"ret==9", "5"},
    {"ret==5,6", "2"},
    {"ret", "25"},
    {"ev==write", "0"},
    {"ev in {write, read}", "01"},
    {"ev!=noc", "013456"},
    {"op==inline", "2"},
    {"op!=inline", "3457"},
    {"op==job-end", "4"},
    {"by==uc12", "5"},
    {"by!=host", "05"},
    {"space==tile", "0"},
    {"space", "1"},
    {"space!=tile", "1"},
    {"phase==issue", "2"},
    {"phase==done", "7"},
    {"posted", "2"},
    {"!posted", "0134567"},
    {"posted==false", "7"},
    {"t<200", "0"},
    {"t<=200", "01"},
    {"t>600", "47"},
    {"t>=18446744073709551615", "4"},
    {"t>18446744073709551615", ""},
    {"t<0", ""},
    {"t>=0", "01234567"},
    {"t in 150..350", "12"},
    {"t in {100, 300..400}", "023"},
    {"index in 2..3", "23"},
    {"src==7", "2"},
    {"chip==1", "1"},
    {"chip!=1", "0234567"},
    {"value==0x80", "0"},
    {"value==128", "0"},
    {"value!=0", "0"},
    {"word==0xA4000008", "3"},
    {"data==00fF10", "1"},
    {"data!=00", "1"},
    {"data", "1"},
    {"text==\"say \\\"hi\\\"\"", "6"},
    {"text==\"say\"", ""},
    {"text in {\"a\", \"say \\\"hi\\\"\"}", "6"},
    {"sem[1]==1", "3"},
    {"sem[7]==7 && sem[0]==0", "3"},
    {"sem[2]>0", ""},
    {"sem", "3"},
    {"noc==1", "2"},
    {"noc==0", ""},
    {"thread==2||thread==1", "3"},
    {"t==100 || t==200 && by==host || ev==note", "016"},
    {"(t==100 || t==200) && by==host", "1"},
    {"! ! t==100", "0"},
    {"!t==100&&!t==200", "234567"},
};

static struct nocap_filter *compile(const char *expression)
{
    struct nocap_filter *filter = NULL;
    struct nocap_error err = {{0}};
    if (nocap_filter_compile(&filter, expression, &err) != NOCAP_OK) {
        fail_msg("%s: %s", expression, err.text);
    }
    return filter;
}

static void filters_match(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct nocap_filter *filter = compile(cases[i].expression);
        char matches[COUNT(events) + 1] = "";
        for (size_t k = 0; k < COUNT(events); k++) {
            if (nocap_filter_match(filter, &events[k])) {
                matches[strlen(matches)] = (char)('0' + k);
            }
        }
        if (strcmp(matches, cases[i].matches) != 0) {
            fail_msg("%s: matches [%s], expected [%s]", cases[i].expression, matches,
                     cases[i].matches);
        }
        nocap_filter_free(filter);
    }
}

/* Each row of the table can be asked for under each of its keys, and is absent where its bit is. */
static void every_field_is_there(void **state)
{
    (void)state;
    for (unsigned field = 0; field < NOCAP_FIELD_COUNT; field++) {
        char keys[32];
        snprintf(keys, sizeof keys, "%s", nocap_fields[field].key);
        for (char *key = strtok(keys, ","); key != NULL; key = strtok(NULL, ",")) {
            struct nocap_filter *filter = compile(key);
            unsigned kind = (unsigned)__builtin_ctz(nocap_fields[field].kinds);
            struct nocap_event event = {.kind = (uint8_t)kind, .has = UINT64_C(1) << field};
            nocap_event_set_number(&event, (enum nocap_field)field, 1);
            assert_true(nocap_filter_match(filter, &event));
            event.has = 0;
            assert_false(nocap_filter_match(filter, &event));
            nocap_filter_free(filter);
        }
    }
}

static void numbers_of_fields_compare(void **state)
{
    (void)state;
    for (unsigned field = 0; field < NOCAP_FIELD_COUNT; field++) {
        unsigned type = nocap_fields[field].type;
        if (type != NOCAP_T_DEC && type != NOCAP_T_HEX) {
            continue;
        }
        unsigned bits = 8u * nocap_fields[field].width;
        uint64_t v = UINT64_C(0xfedcba9876543210) >> (64 - bits);
        struct nocap_event event = {.kind = (uint8_t)__builtin_ctz(nocap_fields[field].kinds),
                                    .has = UINT64_C(1) << field};
        nocap_event_set_number(&event, (enum nocap_field)field, v);
        const char *key = nocap_fields[field].key;
        char expressions[3][100];
        snprintf(expressions[0], sizeof expressions[0], "%s==0x%" PRIx64, key, v);
        snprintf(expressions[1], sizeof expressions[1], "%s in 0x%" PRIx64 "..0x%" PRIx64, key, v,
                 v);
        snprintf(expressions[2], sizeof expressions[2], "%s<0x%" PRIx64, key, v);
        for (size_t i = 0; i < COUNT(expressions); i++) {
            struct nocap_filter *filter = compile(expressions[i]);
            assert_int_equal(nocap_filter_match(filter, &event), i < 2);
            nocap_filter_free(filter);
        }
    }
}

/* ---- random expressions against their value, computed while they are written ---- */

struct text {
    char data[1 << 16];
    size_t size;
};

static uint32_t random_below(uint32_t *seed, uint32_t bound)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*seed * bound >> 32);
}

static void put(struct text *out, const char *text)
{
    size_t length = strlen(text);
    memcpy(out->data + out->size, text, length + 1);
    out->size += length;
}

static bool grow(struct text *out, uint32_t *seed, unsigned depth)
{
    unsigned choice = depth == 0 ? 0 : random_below(seed, 4);
    if (choice == 0) {
        bool yes = random_below(seed, 2) != 0;
        put(out, yes ? "t==42" : "t!=42");
        return yes;
    }
    if (choice == 1) {
        put(out, "!(");
        bool v = grow(out, seed, depth - 1);
        put(out, ")");
        return !v;
    }
    put(out, "(");
    bool left = grow(out, seed, depth - 1);
    put(out, choice == 2 ? " && " : " || ");
    bool right = grow(out, seed, depth - 1);
    put(out, ")");
    return choice == 2 ? left && right : left || right;
}

static void random_expressions_have_their_value(void **state)
{
    (void)state;
    const struct nocap_event event = {.t = 42};
    uint32_t seed = 1;
    unsigned trues = 0;
    struct text *text = malloc(sizeof *text);
    assert_non_null(text);
    for (unsigned i = 0; i < 2000; i++) {
        text->size = 0;
        bool expected = grow(text, &seed, 7);
        struct nocap_filter *filter = compile(text->data);
        if (nocap_filter_match(filter, &event) != expected) {
            fail_msg("wrong value of %s", text->data);
        }
        trues += expected;
        nocap_filter_free(filter);
    }
    free(text);
    assert_in_range(trues, 200, 1800);
}

/* ---- errors ---- */

static const struct {
    const char *expression;
    unsigned column;
    const char *says;
} errors[] = {
    {"", 1, "missing"},
    {"bye==brisc", 1, "no field is called 'bye': fields are the keys of JSON Lines, such as ev"},
    {"kernel", 1, "no field is called 'kernel': ev==kernel?"},
    {"t>3 && stall", 8, "no field is called 'stall': op==stall?"},
    {"brisc && t>3", 1, "no field is called 'brisc': by==brisc?"},
    {"t==1 && bye==brisc", 9, "'bye'"},
    {"by==brsc", 5, "one of host brisc ncrisc"},
    {"ev==writ", 5, "one of write read noc"},
    {"op==go", 5, "one of read write"},
    {"t=5", 2, "=="},
    {"t==5 & x==1", 6, "&&"},
    {"t==5 | x==1", 6, "||"},
    {"t==", 4, "missing"},
    {"t==5 x==1", 6, "&& or ||"},
    {"t==0x", 4, "number"},
    {"t==12z", 4, "number"},
    {"t==-1", 4, "number"},
    {"t==18446744073709551616", 4, "64 bits"},
    {"(t==5", 6, "( of column 1"},
    {"t==5)", 5, "end"},
    {"by<brisc", 3, "no order"},
    {"tile<1,2", 5, "no order"},
    {"by in brisc..trisc2", 12, "no ranges"},
    {"t in 5..4", 6, "empty"},
    {"tile in 2,2..1,9", 9, "empty"},
    {"t in {1,2", 10, "}"},
    {"dx==1,2", 6, "&& or ||"},
    {"from==5", 8, "x,y"},
    {"data==abc", 7, "even number"},
    {"data==0x00", 7, "even number"},
    {"text==abc", 7, "double quotes"},
    {"text==\"abc", 7, "closing quote"},
    {"sem[8]==1", 5, "sem[7]"},
    {"t[1]==1", 2, "sem"},
    {"t==5 # x", 6, "'#'"},
    {"t==5 \x01", 6, "0x01"},
    {"hash==12", 7, "fnv1a64"},
    {"posted==yes", 9, "true or false"},
};

static void errors_name_the_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(errors); i++) {
        struct nocap_filter *filter = NULL;
        struct nocap_error err = {{0}};
        enum nocap_status status = nocap_filter_compile(&filter, errors[i].expression, &err);
        char place[32];
        snprintf(place, sizeof place, "column %u:", errors[i].column);
        if (status != NOCAP_E_USAGE || strstr(err.text, place) == NULL ||
            strstr(err.text, errors[i].says) == NULL) {
            fail_msg("[%s]: status %d, [%s], expected %s .. %s", errors[i].expression, (int)status,
                     err.text, place, errors[i].says);
        }
        assert_null(filter);
    }
}

/* The mark under a long expression still stands below the place. */
static void errors_mark_the_place(void **state)
{
    (void)state;
    char expression[400] = "";
    for (unsigned i = 0; i < 20; i++) {
        strcat(expression, "t==1 || ");
    }
    strcat(expression, "bye==2 || t==3");
    struct nocap_filter *filter = NULL;
    struct nocap_error err = {{0}};
    assert_int_equal(nocap_filter_compile(&filter, expression, &err), NOCAP_E_USAGE);
    const char *excerpt = strchr(err.text, '\n');
    assert_non_null(excerpt);
    const char *mark = strchr(excerpt + 1, '\n');
    assert_non_null(mark);
    ptrdiff_t column = strchr(mark + 1, '^') - (mark + 1);
    assert_memory_equal(excerpt + 1 + column, "bye", 3);
}

static void sizes_are_bounded(void **state)
{
    (void)state;
    enum { DEEP = 10000 };
    char *expression = malloc(8 * DEEP + 8);
    assert_non_null(expression);
    struct nocap_error err = {{0}};
    struct nocap_filter *filter = NULL;

    memset(expression, '(', DEEP);
    strcpy(expression + DEEP, "t==1");
    assert_int_equal(nocap_filter_compile(&filter, expression, &err), NOCAP_E_USAGE);
    assert_non_null(strstr(err.text, "deep"));

    memset(expression, '!', DEEP);
    assert_int_equal(nocap_filter_compile(&filter, expression, &err), NOCAP_E_USAGE);
    assert_non_null(strstr(err.text, "deep"));

    for (size_t i = 0; i < DEEP; i++) {
        memcpy(expression + 8 * i, "t==1 || ", 8);
    }
    strcpy(expression + 8 * DEEP, "t==1");
    assert_int_equal(nocap_filter_compile(&filter, expression, &err), NOCAP_E_USAGE);
    assert_non_null(strstr(err.text, "at most"));
    free(expression);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_match),
        cmocka_unit_test(every_field_is_there),
        cmocka_unit_test(numbers_of_fields_compare),
        cmocka_unit_test(random_expressions_have_their_value),
        cmocka_unit_test(errors_name_the_column),
        cmocka_unit_test(errors_mark_the_place),
        cmocka_unit_test(sizes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
