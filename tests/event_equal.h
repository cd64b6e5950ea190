/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two events are the same in every field, `index` and all that they point to included. */
#ifndef NOCAP_TESTS_EVENT_EQUAL_H
#define NOCAP_TESTS_EVENT_EQUAL_H

#include <stddef.h>
#include <string.h>

#include "formats/trace/event.h"

static inline bool events_equal(const struct nocap_event *a, const struct nocap_event *b)
{
    size_t small = offsetof(struct nocap_event, src);
    size_t end = offsetof(struct nocap_event, ret) + sizeof a->ret;
    return a->index == b->index && a->t == b->t && a->has == b->has &&
           memcmp(a->slot, b->slot, sizeof a->slot) == 0 && a->data_size == b->data_size &&
           a->extra_size == b->extra_size &&
           memcmp((const char *)a + small, (const char *)b + small, end - small) == 0 &&
           (a->data_size == 0 || memcmp(a->data, b->data, a->data_size) == 0) &&
           (a->extra_size == 0 || memcmp(a->extra, b->extra, a->extra_size) == 0);
}

#endif
