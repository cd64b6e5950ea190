/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/export/queue_text.h"

#include <stdio.h>
#include <string.h>

#include "formats/blackhole/cq_commands.h"
#include "formats/export/append.h"
#include "formats/profile/profile.h"

struct nocap_text_queue nocap_text_queue(const struct nocap_header *h)
{
    const uint32_t classes = NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_SYSMEM;
    const struct nocap_profile *profile = nocap_header_profile(h, NULL);
    struct nocap_text_queue queue = {.profile = profile};
    if (h->arch != NOCAP_ARCH_BLACKHOLE || profile == NULL) {
        return queue;
    }
    const struct nocap_queue *n = &profile->queue;
    uint32_t x = h->board == NOCAP_BOARD_P150 ? n->p150_x : n->p100_x;
    bool chosen = h->board != NOCAP_BOARD_UNKNOWN && x != 0 && (h->observes & classes) != 0;
    queue.prefetch =
        h->cq.has_prefetch ? h->cq.prefetch : (struct nocap_xy){(uint8_t)x, (uint8_t)n->prefetch_y};
    queue.dispatch =
        h->cq.has_dispatch ? h->cq.dispatch : (struct nocap_xy){(uint8_t)x, (uint8_t)n->dispatch_y};
    queue.kernel_config = h->cq.has_kernel_config ? h->cq.kernel_config : n->kernel_config;
    queue.present = chosen || (h->cq.has_prefetch && h->cq.has_dispatch);
    return queue;
}

/* ---- places ---- */

enum side { SIDE_PREFETCH = 1, SIDE_DISPATCH = 2, SIDE_HOST = 4 };

struct area {
    unsigned sides;
    uint64_t base, size;
    uint64_t item; /* bytes of one; 0: no numbers */
    const char *name;
};
enum { AREAS = 11 };

static void list_areas(const struct nocap_text_queue *q, struct area areas[AREAS])
{
    const struct nocap_queue *n = &q->profile->queue;
    const unsigned both = SIDE_PREFETCH | SIDE_DISPATCH;
    const struct area all[AREAS] = {
        {SIDE_PREFETCH, n->rd_ptr_echo, 4, 0, "prefetch_q_rd_ptr"},
        {SIDE_PREFETCH, n->pcie_ptr_echo, 4, 0, "prefetch_q_pcie_rd_ptr"},
        {SIDE_PREFETCH, n->queue, (uint64_t)n->queue_slots * n->entry_bytes, n->entry_bytes,
         "prefetch_q"},
        {SIDE_PREFETCH, n->cmddat, n->cmddat_size, 0, "cmddat_q"},
        {SIDE_DISPATCH, n->completion_wr, 4, 0, "completion_q_wr_ptr"},
        {SIDE_DISPATCH, n->completion_rd, 4, 0, "completion_q_rd_ptr"},
        {SIDE_DISPATCH, n->buffer, (uint64_t)n->buffer_pages * n->page, n->page, "dispatch_cb"},
        {both, q->kernel_config + n->semaphores, (uint64_t)2 * n->semaphore_stride,
         n->semaphore_stride, "sem"},
        {SIDE_HOST, n->issue, n->issue_size, 0, "issue_q"},
        {SIDE_HOST, n->completion, n->completion_size, 0, "completion_q"},
        {SIDE_HOST, n->timestamps, (uint64_t)n->timestamp_slots * n->timestamp_stride,
         n->timestamp_stride, "timestamp"},
    };
    memcpy(areas, all, sizeof all);
}

static unsigned side_of(const struct nocap_text_queue *q, const struct nocap_event *e,
                        struct nocap_xy at)
{
    if (e->kind != NOCAP_EV_NOC && e->space != NOCAP_SPACE_TILE) {
        return e->space == NOCAP_SPACE_SYSMEM ? SIDE_HOST : 0;
    }
    return (at.x == q->prefetch.x && at.y == q->prefetch.y   ? SIDE_PREFETCH
            : at.x == q->dispatch.x && at.y == q->dispatch.y ? SIDE_DISPATCH
                                                             : 0);
}

static bool find_area(const struct nocap_text_queue *q, const struct nocap_event *e,
                      struct nocap_xy at, uint64_t addr, struct area *found)
{
    struct area areas[AREAS];
    unsigned side = q->present ? side_of(q, e, at) : 0;
    if (side == 0) {
        return false;
    }
    list_areas(q, areas);
    for (unsigned i = 0; i < AREAS; i++) {
        if ((areas[i].sides & side) != 0 && addr >= areas[i].base &&
            addr - areas[i].base < areas[i].size) {
            *found = areas[i];
            return true;
        }
    }
    return false;
}

const char *nocap_queue_name(const struct nocap_text_queue *q, const struct nocap_event *e,
                             struct nocap_xy at, uint64_t addr, char name[NOCAP_QUEUE_NAME_MAX])
{
    struct area area;
    if (!find_area(q, e, at, addr, &area)) {
        return NULL;
    }
    uint64_t offset = addr - area.base;
    int length = area.item != 0 ? snprintf(name, NOCAP_QUEUE_NAME_MAX, "%s[%llu]", area.name,
                                           (unsigned long long)(offset / area.item))
                                : snprintf(name, NOCAP_QUEUE_NAME_MAX, "%s", area.name);
    offset = area.item != 0 ? offset % area.item : offset;
    if (offset != 0) {
        snprintf(name + length, NOCAP_QUEUE_NAME_MAX - (size_t)length, "+0x%llx",
                 (unsigned long long)offset);
    }
    return name;
}

/* ---- what they hold ---- */

static void append_arrow(struct nocap_text *out, const char *text)
{
    nocap_append_string(out, " -> ");
    nocap_append_string(out, text);
}

void nocap_queue_note(const struct nocap_text_style *style, const struct nocap_event *e)
{
    struct nocap_text_queue_record *last = style->queue.last;
    struct nocap_cq_record record;
    struct area area;
    if (e->kind == NOCAP_EV_DROP) {
        last->bytes = 0;
    }
    if (e->kind != NOCAP_EV_WRITE || e->by != NOCAP_BY_HOST || e->space != NOCAP_SPACE_SYSMEM ||
        !find_area(&style->queue, e, e->at, e->addr, &area) ||
        area.base != style->queue.profile->queue.issue) {
        return;
    }
    bool whole = e->data_size != 0 &&
                 nocap_cq_decode_record_by(style->commands, e->data, e->data_size, &record);
    last->bytes = whole ? record.consumed : 0;
    if (whole) {
        nocap_cq_text(style->commands, NOCAP_CQ_PREFETCH, e->data, e->data_size, last->text,
                      sizeof last->text);
    }
}

/* The slot says how long the record is that was stored last; where it is another, nothing is said.
 */
static void append_entry(const struct nocap_text_style *style, struct nocap_text *out,
                         const struct nocap_event *e)
{
    const struct nocap_queue *n = &style->queue.profile->queue;
    const struct nocap_text_queue_record *last = style->queue.last;
    uint64_t bytes = (e->value & ~(uint64_t)n->entry_stall) * n->entry_unit;
    if (e->by == NOCAP_BY_HOST && last != NULL && last->bytes != 0 && bytes == last->bytes) {
        append_arrow(out, last->text);
    }
}

void nocap_append_queue(const struct nocap_text_style *style, struct nocap_text *out,
                        const struct nocap_event *e)
{
    struct area area;
    struct nocap_cq_record record;
    char text[NOCAP_CQ_TEXT_MAX];
    bool request = e->kind == NOCAP_EV_NOC;
    struct nocap_xy at = request ? e->d : e->at;
    uint64_t addr = request ? e->daddr : e->addr;
    if (style->commands == NULL || (request && e->op != NOCAP_OP_WRITE) ||
        !find_area(&style->queue, e, at, addr, &area)) {
        return;
    }
    const struct nocap_queue *n = &style->queue.profile->queue;
    bool starts = e->data_size >= NOCAP_CQ_HEADER && (addr - area.base) % NOCAP_CQ_HEADER == 0;
    if (area.base == n->queue && e->kind == NOCAP_EV_WRITE && (e->has & NOCAP_F_VALUE) != 0) {
        append_entry(style, out, e);
    } else if (area.sides == SIDE_HOST && area.base == n->issue && e->kind == NOCAP_EV_WRITE &&
               starts &&
               nocap_cq_decode_record_by(style->commands, e->data, e->data_size, &record)) {
        append_arrow(out, nocap_cq_text(style->commands, NOCAP_CQ_PREFETCH, e->data, e->data_size,
                                        text, sizeof text));
    } else if (area.sides == SIDE_DISPATCH && area.base == n->buffer && starts &&
               (addr - area.base) % n->page == 0) {
        append_arrow(out, nocap_cq_text(style->commands, NOCAP_CQ_DISPATCH, e->data, e->data_size,
                                        text, sizeof text));
    }
}
