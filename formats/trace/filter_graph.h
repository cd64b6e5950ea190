/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: what a filter expression is compiled to. */
#ifndef NOCAP_TRACE_FILTER_GRAPH_H
#define NOCAP_TRACE_FILTER_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

/* Where a test goes on: the number of another test, or one of these. */
enum filter_exit { FILTER_REJECT = 0xFFFE, FILTER_ACCEPT = 0xFFFF };

/* One node of the decision graph: is a number of the event within low..high, or are its bytes the
 * `high` ones at texts + low? */
struct filter_test {
    uint64_t has;           /* at least one of these NOCAP_F_* must be there; 0: is always there */
    uint32_t kinds;         /* ... in an event of one of these kinds */
    uint32_t default_kinds; /* kinds in which the field counts as 0 where it is absent */
    uint16_t offset;        /* of the number in struct nocap_event */
    uint8_t width;          /* bytes of the number */
    bool is_bytes, negate;
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
