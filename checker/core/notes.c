/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/notes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "checker/core/findings.h"
#include "checker/core/selection.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/xy.h"
#include "formats/profile/profile.h"
#include "replay/core/state.h"
#include "replay/core/waits.h"

static void count_wait(void *context, const struct nocap_wait *wait)
{
    (void)wait;
    ++*(size_t *)context;
}

enum nocap_status nocap_note_layout(struct nocap_report *report, const struct nocap_engine *engine,
                                    const struct nocap_header *header, struct nocap_error *err)
{
    uint32_t go = nocap_engine_other_go_words(engine);
    const struct nocap_mailbox_layout *layout = nocap_header_layout(header, NULL);
    if (go == 0 || layout == NULL) {
        return NOCAP_OK;
    }
    char note[240], layouts[96] = "";
    for (unsigned i = 0, used = 0; i < (unsigned)NOCAP_LAYOUT_COUNT; i++) {
        if (nocap_layouts[i].go_messages == go && used < sizeof layouts) {
            used += (unsigned)snprintf(layouts + used, sizeof layouts - used, "%s%s",
                                       used > 0 ? " or " : "", nocap_layouts[i].name);
        }
    }
    snprintf(note, sizeof note,
             "go messages are written to 0x%x, as in %s, and none as in %.40s%s: findings about "
             "launches mean little until `layout` in the header is right",
             (unsigned)go, layouts, layout->name,
             header->layout == NULL && header->profile == NULL ? ", the default" : "");
    return nocap_report_add_note(report, "other-layout", note, err);
}

enum nocap_status nocap_note_queue(struct nocap_report *report, const struct nocap_engine *engine,
                                   const struct nocap_header *header, struct nocap_error *err)
{
    const struct nocap_profile *profile = nocap_header_profile(header, NULL);
    if (!nocap_engine_other_queue(engine) || profile == NULL) {
        return NOCAP_OK;
    }
    char note[320];
    snprintf(note, sizeof note,
             "commands of a queue that was not set up as in profile %.64s%s: they are not "
             "judged; the trace's notes say where the queue lies, and `--profile` takes a profile "
             "with its addresses",
             profile->name, header->profile == NULL ? ", the default" : "");
    nocap_selection_unexplained(report->rules, false);
    return nocap_report_add_note(report, "other-queue", note, err);
}

enum nocap_status nocap_note_queue_gaps(struct nocap_report *report,
                                        const struct nocap_engine *engine, struct nocap_error *err)
{
    static const struct {
        const char *id, *text;
    } notes[NOCAP_QUEUE_GAPS] = {
        [NOCAP_QUEUE_NOT_FOLLOWED] =
            {"queue-not-followed",
             "the host of the command queue has its second dispatcher wait on its own: what "
             "prefetcher and dispatcher make of its commands, and the order of launches, is not "
             "judged"},
        [NOCAP_QUEUE_MULTICASTS] =
            {"queue-multicasts", "go messages are multicast, and the trace does not show which "
                                 "worker cores read them (go_message_index): which workers answer, "
                                 "and how many, is not judged"},
        [NOCAP_QUEUE_NOT_SHOWN] = {"queue-not-shown",
                                   "EXEC_BUF executes commands that lie in DRAM, which the trace "
                                   "does not show: they are not judged"},
    };
    uint64_t index;
    for (unsigned i = 0; i < NOCAP_QUEUE_GAPS && report->rules[CQ_001].selected; i++) {
        char note[320];
        if (nocap_engine_queue_gap(engine, (enum nocap_queue_gap)i, &index)) {
            snprintf(note, sizeof note, "%s, from #%llu on", notes[i].text,
                     (unsigned long long)index);
            RETURN_IF_FAILED(nocap_report_add_note(report, notes[i].id, note, err));
        }
    }
    return NOCAP_OK;
}

enum nocap_status nocap_note_tile(struct nocap_report *report, const struct nocap_engine *engine,
                                  struct nocap_xy tile, struct nocap_error *err)
{
    if (report->arch != NOCAP_ARCH_BLACKHOLE) {
        return NOCAP_OK;
    }
    size_t count;
    struct nocap_tile_place *places = nocap_engine_tiles(engine, &count);
    RETURN_ERROR_IF(places == NULL, err, NOCAP_E_MEMORY, "out of memory");
    report->untouched = true;
    for (size_t i = 0; i < count; i++) {
        report->untouched &= !nocap_xy_equal(places[i].at, tile);
    }
    free(places);
    return NOCAP_OK;
}

enum nocap_status nocap_note_begins_at(struct nocap_report *report, struct nocap_error *err)
{
    char note[160];
    snprintf(note, sizeof note,
             "judged from event %" PRIu64 " on, as if the capture had begun there: what was set "
             "before and not since is unknown",
             report->begins_at);
    return nocap_report_add_note(report, "begins-at", note, err);
}

enum nocap_status nocap_note_process_ended(struct nocap_report *report, struct nocap_error *err)
{
    return !report->ended
               ? NOCAP_OK
               : nocap_report_add_note(report, "process-ended",
                                       "the process ended inside a call of the simulator, which "
                                       "the last events led to: what it printed says why",
                                       err);
}

enum nocap_status nocap_note_waits(struct nocap_report *report, struct nocap_engine *engine,
                                   struct nocap_error *err)
{
    size_t waits = 0;
    nocap_engine_waits(engine, count_wait, &waits);
    if (waits == 0) {
        return NOCAP_OK;
    }
    char note[120];
    snprintf(note, sizeof note,
             "%zu %s when the trace ends: `nocap hang` says who, for what and on whom", waits,
             waits == 1 ? "party waits" : "parties wait");
    return nocap_report_add_note(report, "parties-wait", note, err);
}
