/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/views: what a view is. */
#ifndef NOCAP_CHECKER_VIEWS_VIEW_H
#define NOCAP_CHECKER_VIEWS_VIEW_H

#include "checker/views/timeline.h"
#include "checker/views/views.h"

/* What there is when all events were taken. */
struct view_end {
    const char *path;
    const struct nocap_hang *hang;
    const struct nocap_export_options *options;
    const struct nocap_timeline *timeline;
};

struct view_ops {
    struct nocap_view_ops items;
    /* NULL without memory. */
    void *(*open)(FILE *out);
    nocap_watch_header *header;
    bool reads_again; /* it shows what `hang` looks up in a second reading */
    /* After the last item. Fails with NOCAP_E_OUTPUT or NOCAP_E_MEMORY. */
    enum nocap_status (*finish)(void *view, const struct view_end *end,
                                struct nocap_export_result *result, struct nocap_error *err);
    void (*close)(void *view);
};
extern const struct view_ops view_perfetto, view_html, view_vcd, view_npeviz;

/* Nanoseconds of a time in the header's unit; cycles of an unknown clock count as nanoseconds. */
struct view_clock {
    bool cycles;
    uint64_t hz; /* 0: unknown */
};
struct view_clock view_clock_of(const struct nocap_header *header);
uint64_t view_nanoseconds(const struct view_clock *clock, uint64_t t);

/* Names, each once. */
struct view_names {
    char **texts;
    uint32_t *slots;
    uint32_t count;
};
bool view_names_init(struct view_names *names); /* false without memory */
void view_names_free(struct view_names *names);
/* Its number, from 1, and whether it is new, unless NULL; 0: there are too many, or it is too
 * long. */
uint32_t view_name(struct view_names *names, const char *name, bool *is_new);

#endif
