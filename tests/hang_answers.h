/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: what a hang report answers. */
#ifndef NOCAP_TESTS_HANG_ANSWERS_H
#define NOCAP_TESTS_HANG_ANSWERS_H

#include "tests/temp_dir.h"

#include "checker/hang/hang.h"

static inline struct nocap_hang *hang_of(const char *path)
{
    struct nocap_hang *hang;
    struct nocap_error err;
    if (nocap_hang(&hang, path, NULL, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return hang;
}

/* The party of this name among the roots; NULL: it is none. */
static inline const struct nocap_hang_party *root_named(const struct nocap_hang *h, unsigned agent,
                                                        struct nocap_xy at)
{
    for (size_t i = 0; i < h->party_count; i++) {
        const struct nocap_hang_party *p = &h->parties[i];
        if (p->root && p->id.agent == agent && p->id.at.x == at.x && p->id.at.y == at.y) {
            return p;
        }
    }
    return NULL;
}

/* Roots of a tile. */
static inline size_t root_count(const struct nocap_hang *h, struct nocap_xy at)
{
    size_t n = 0;
    for (size_t i = 0; i < h->party_count; i++) {
        const struct nocap_hang_party *p = &h->parties[i];
        n += p->root && p->id.at.x == at.x && p->id.at.y == at.y;
    }
    return n;
}

static inline bool cites(const struct nocap_hang *h, int rule)
{
    for (size_t i = 0; i < h->cause_count; i++) {
        if ((int)h->causes[i]->rule == rule) {
            return true;
        }
    }
    return rule < 0;
}

static inline void print(const struct nocap_hang *h)
{
    struct nocap_error err;
    (void)nocap_hang_text(stderr, h, false, &err);
}

static inline char *printed(enum nocap_status (*form)(FILE *, const struct nocap_hang *,
                                                      struct nocap_error *),
                            const struct nocap_hang *h)
{
    char *text = NULL;
    size_t size = 0;
    struct nocap_error err;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(form(out, h, &err), NOCAP_OK);
    fclose(out);
    return text;
}

#endif
