/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/views/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "checker/views/view.h"

__extension__ typedef unsigned __int128 wide;

struct view_clock view_clock_of(const struct nocap_header *header)
{
    return (struct view_clock){.cycles = header->time_unit == NOCAP_TIME_CYCLES,
                               .hz = header->clock_hz};
}

uint64_t view_nanoseconds(const struct view_clock *clock, uint64_t t)
{
    if (!clock->cycles || clock->hz == 0) {
        return t;
    }
    return (uint64_t)((wide)t * 1000000000u / clock->hz);
}

static enum nocap_status run(const struct view_ops *ops, void *view, const char *path,
                             const struct nocap_export_options *options,
                             struct nocap_export_result *result, struct nocap_error *err)
{
    const struct nocap_timeline_options part = {
        .has_from = options->has_from,
        .from = options->has_from ? options->from : 0,
        .has_tiles = options->tile_count != 0,
        .tiles = options->tiles,
        .tile_count = options->tile_count,
        .limit = options->all ? 0 : NOCAP_VIEW_SLICES,
    };
    const struct nocap_hang_options check = {.size = sizeof check,
                                             .has_at = options->has_to,
                                             .at = options->to,
                                             .dense = options->dense,
                                             .trust_paths = options->trust_paths,
                                             .profile = options->profile,
                                             .beside = options->beside,
                                             .has_lead = options->has_lead && options->has_from,
                                             .lead_to = part.from,
                                             .lead = options->lead,
                                             .read_once = !ops->reads_again};
    struct nocap_timeline tl;
    struct nocap_hang *hang = NULL;
    nocap_timeline_init(&tl, &part, &ops->items, view);
    enum nocap_status status = nocap_watch(&tl, ops->header, path, &check, &hang, err);
    if (status == NOCAP_OK) {
        const struct view_end end = {
            .path = path, .hang = hang, .options = options, .timeline = &tl};
        result->slices = tl.slices;
        result->left_out = tl.left_out;
        result->full_at = tl.full_at;
        result->begins_at = hang->report->begins_at;
        result->damage = hang->damage;
        status = ops->finish(view, &end, result, err);
        if (tl.options.from > hang->end) {
            snprintf(result->text, sizeof result->text,
                     "the trace ends at time %" PRIu64 ", before --from", hang->end);
            result->empty = result->text;
            result->missing = NULL;
        }
    }
    nocap_hang_free(hang);
    nocap_timeline_free(&tl);
    return status;
}

enum nocap_status nocap_export(FILE *out, const char *path, enum nocap_view which,
                               const struct nocap_export_options *given,
                               struct nocap_export_result *result, struct nocap_error *err)
{
    static const struct view_ops *const views[] = {[NOCAP_VIEW_PERFETTO] = &view_perfetto,
                                                   [NOCAP_VIEW_HTML] = &view_html,
                                                   [NOCAP_VIEW_VCD] = &view_vcd,
                                                   [NOCAP_VIEW_NPEVIZ] = &view_npeviz};
    struct nocap_export_options options = {.size = sizeof options};
    memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    *result = (struct nocap_export_result){0};
    void *view = views[which]->open(out);
    RETURN_ERROR_IF(view == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = run(views[which], view, path, &options, result, err);
    views[which]->close(view);
    return status == NOCAP_OK ? nocap_flush(out, "the picture", err) : status;
}
