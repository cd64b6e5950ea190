/* SPDX-License-Identifier: Apache-2.0 */
/* `nocap export`: a trace for other viewers. */
#ifndef NOCAP_CHECKER_VIEWS_VIEWS_H
#define NOCAP_CHECKER_VIEWS_VIEWS_H

#include <stdio.h>

#include "checker/hang/hang.h"

enum nocap_view { NOCAP_VIEW_PERFETTO, NOCAP_VIEW_HTML, NOCAP_VIEW_VCD, NOCAP_VIEW_NPEVIZ };

enum { NOCAP_VIEW_SLICES = 2000000 }; /* in a picture, unless more are asked for */

struct nocap_export_options {
    size_t size; /* sizeof(struct nocap_export_options) */
    bool has_from, has_to, all, has_lead;
    uint64_t from, to;            /* times, both included; the models see what is before .. */
    uint64_t lead;                /* .. or, has_lead, so many events before `from` */
    const struct nocap_xy *tiles; /* of worker cores only these; none: all */
    size_t tile_count;
    bool dense, trust_paths; /* as of nocap_check_options */
    const char *profile;     /* as of nocap_check_options */
    bool beside;             /* the same, as far as the picture's start */
};

struct nocap_export_result {
    uint64_t slices, left_out; /* left_out: those after `full_at`, where the picture ends */
    uint64_t full_at;
    uint64_t begins_at;  /* index of the first event that the models saw */
    const char *empty;   /* why nothing of the trace is in the picture; NULL: something is */
    const char *missing; /* what the view has no place for, or the trace does not show; NULL */
    char text[256];      /* that it may be in */
    struct nocap_integrity damage;
};

/* Fails with NOCAP_E_INPUT if the trace cannot be read at all, NOCAP_E_OUTPUT if `out` cannot be
 * written. */
enum nocap_status nocap_export(FILE *out, const char *path, enum nocap_view view,
                               const struct nocap_export_options *options,
                               struct nocap_export_result *result, struct nocap_error *err);

#endif
