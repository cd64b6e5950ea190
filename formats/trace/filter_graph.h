/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: what a filter expression is compiled to. */
#ifndef NOCAP_TRACE_FILTER_GRAPH_H
#define NOCAP_TRACE_FILTER_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/trace/event.h"

/* Where a test goes on: the number of another test, or one of these. */
enum filter_exit { FILTER_REJECT = 0xFFFE, FILTER_ACCEPT = 0xFFFF };

/* One node of the decision graph: is a number of the event within low..high, are its bytes the
 * `high` ones at texts + low, or does it touch bytes low..high of tile `at`? */
struct filter_test {
    uint64_t has;           /* at least one of these NOCAP_F_* must be there; 0: is always there */
    uint32_t kinds;         /* ... in an event of one of these kinds */
    uint32_t default_kinds; /* kinds in which the field counts as 0 where it is absent */
    uint16_t offset;        /* of the number in struct nocap_event */
    uint8_t width;          /* bytes of the number */
    bool is_bytes, is_touch, negate;
    struct nocap_xy at;
    uint16_t next[2]; /* if false, if true */
    uint64_t low, high;
};

struct nocap_filter {
    struct filter_test *tests;
    uint32_t count;
    uint16_t entry;
    uint8_t *texts;
    uint32_t text_size;
};

#endif
