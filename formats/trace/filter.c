/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/filter.h"

#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/touch.h"
#include "formats/trace/filter_graph.h"

static uint64_t load(const struct nocap_event *event, const struct filter_test *test)
{
    const uint8_t *at = (const uint8_t *)event + test->offset;
    uint16_t v16;
    uint32_t v32;
    uint64_t v64;
    switch (test->width) {
    case sizeof(uint8_t): return *at;
    case sizeof v16: memcpy(&v16, at, sizeof v16); return v16;
    case sizeof v32: memcpy(&v32, at, sizeof v32); return v32;
    default: memcpy(&v64, at, sizeof v64); return v64;
    }
}

static bool holds(const struct nocap_filter *filter, const struct filter_test *test,
                  const struct nocap_event *event)
{
    if (test->is_touch) {
        const struct nocap_bytes_at bytes = {test->at, test->low, test->high};
        return nocap_touch(event, &bytes) != NOCAP_TOUCH_NONE;
    }
    uint32_t kind = UINT32_C(1) << event->kind;
    bool there = (kind & test->kinds) != 0 && (test->has == 0 || (event->has & test->has) != 0);
    if (!there && (kind & test->default_kinds) == 0) {
        return false;
    }
    bool inside;
    if (test->is_bytes) {
        inside =
            event->data_size == test->high &&
            (test->high == 0 || memcmp(event->data, filter->texts + test->low, test->high) == 0);
    } else {
        uint64_t v = load(event, test);
        inside = v >= test->low && v <= test->high;
    }
    return inside != test->negate;
}

bool nocap_filter_match(const struct nocap_filter *filter, const struct nocap_event *event)
{
    unsigned at = filter->entry;
    while (at < FILTER_REJECT) {
        const struct filter_test *test = &filter->tests[at];
        at = test->next[holds(filter, test, event)];
    }
    return at == FILTER_ACCEPT;
}

void nocap_filter_free(struct nocap_filter *filter)
{
    if (filter != NULL) {
        free(filter->tests);
        free(filter->texts);
        free(filter);
    }
}
