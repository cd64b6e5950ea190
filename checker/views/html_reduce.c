/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "checker/views/html_private.h"

/* In a page, so that a typical one stays below 400 kB. */
enum { SLICES_MAX = 16000, POINTS_MAX = 4000, RESOLUTION = 2000 };

static int by_row(const void *a, const void *b)
{
    const struct html_slice *s = a, *r = b;
    if (s->row != r->row) {
        return s->row < r->row ? -1 : 1;
    }
    return (s->from > r->from) - (s->from < r->from);
}

static int by_track(const void *a, const void *b)
{
    const struct html_point *p = a, *q = b;
    if (p->track != q->track) {
        return p->track < q->track ? -1 : 1;
    }
    return (p->t > q->t) - (p->t < q->t);
}

/* Neighbours of a row that are shorter than `least` and that close to each other are one. */
static void merge_slices(struct html *h, uint64_t least)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->slice_count; i++) {
        struct html_slice *s = &h->slices[i];
        struct html_slice *before = kept != 0 ? &h->slices[kept - 1] : NULL;
        bool brief = before != NULL && before->row == s->row && s->to - s->from < least &&
                     s->from - before->to < least &&
                     (before->name == HTML_MANY || before->to - before->from < least);
        if (brief) {
            before->to = s->to > before->to ? s->to : before->to;
            before->name = HTML_MANY;
            before->count += s->count;
        } else {
            h->slices[kept++] = *s;
        }
    }
    h->slice_count = kept;
}

/* Of each span of time the last value. */
static void merge_points(struct html *h, uint64_t least)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->point_count; i++) {
        const struct html_point *p = &h->points[i];
        struct html_point *before = kept != 0 ? &h->points[kept - 1] : NULL;
        if (before != NULL && before->track == p->track && p->t / least == before->t / least) {
            before->value = p->value;
        } else {
            h->points[kept++] = *p;
        }
    }
    h->point_count = kept;
}

void html_reduce(struct html *h)
{
    uint64_t all = h->last - h->first;
    if (h->slice_count != 0) {
        qsort(h->slices, h->slice_count, sizeof *h->slices, by_row);
    }
    if (h->point_count != 0) {
        qsort(h->points, h->point_count, sizeof *h->points, by_track);
    }
    for (uint64_t least = all / RESOLUTION + 1; h->slice_count > SLICES_MAX && least - 1 < all;
         least *= 2) {
        merge_slices(h, least);
    }
    for (uint64_t least = all / RESOLUTION + 1; h->point_count > POINTS_MAX && least - 1 < all;
         least *= 2) {
        merge_points(h, least);
    }
}
