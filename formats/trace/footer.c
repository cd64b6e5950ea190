/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/footer.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/sum.h"
#include "formats/trace/frame.h"

Nocap__Footer *footer_unpack(const struct span *message, bool *no_memory)
{
    struct message_budget budget = {.left = MESSAGE_BUDGET};
    ProtobufCAllocator allocator = message_allocator(&budget);
    Nocap__Footer *footer =
        nocap__footer__unpack(&allocator, (size_t)(message->end - message->at), message->at);
    if (footer != NULL &&
        (footer->n_block_events != footer->blocks || footer->n_block_first_time != footer->blocks ||
         footer->n_block_last_time != footer->blocks)) {
        nocap__footer__free_unpacked(footer, &allocator);
        footer = NULL;
    }
    *no_memory = budget.no_memory;
    return footer;
}

void footer_free(Nocap__Footer *footer)
{
    if (footer != NULL) {
        struct message_budget budget = {0};
        ProtobufCAllocator allocator = message_allocator(&budget);
        nocap__footer__free_unpacked(footer, &allocator);
    }
}

/* Its lists against its sums: asked once a file. */
static const char *contradiction(const Nocap__Footer *f)
{
    uint64_t events = 0;
    for (uint64_t i = 0; i < f->blocks; i++) {
        events = sum_of(events, f->block_events[i]);
        if (f->block_first_time[i] > f->block_last_time[i]) {
            return "a block that ends before it begins";
        }
        if (f->time_ordered && i > 0 && f->block_first_time[i] < f->block_last_time[i - 1]) {
            return "times in order, and a block before the end of another";
        }
    }
    return events != f->events ? "other numbers of events in all and block by block" : NULL;
}

static bool differs(char why[FOOTER_WHY], uint64_t number, const char *what, uint64_t said,
                    uint64_t found)
{
    snprintf(why, FOOTER_WHY,
             "of block %" PRIu64 " the footer says %s %" PRIu64 ", the block %" PRIu64, number,
             what, said, found);
    return false;
}

bool footer_agrees(const Nocap__Footer *f, struct footer_place *place, const struct footer_block *b,
                   char why[FOOTER_WHY])
{
    const char *own = place->block == 0 && place->first == 0 ? contradiction(f) : NULL;
    if (own != NULL || b->number >= f->blocks) {
        snprintf(why, FOOTER_WHY, "the footer says %s", own != NULL ? own : "less blocks");
        return false;
    }
    if (b->number < place->block) {
        *place = (struct footer_place){0};
    }
    while (place->block < b->number) {
        place->first += f->block_events[place->block++];
    }
    if (b->first != place->first) {
        return differs(why, b->number, "first event", place->first, b->first);
    }
    if (b->count != f->block_events[b->number]) {
        return differs(why, b->number, "events", f->block_events[b->number], b->count);
    }
    if (b->times.earliest != f->block_first_time[b->number]) {
        return differs(why, b->number, "earliest time", f->block_first_time[b->number],
                       b->times.earliest);
    }
    if (b->times.latest != f->block_last_time[b->number]) {
        return differs(why, b->number, "latest time", f->block_last_time[b->number],
                       b->times.latest);
    }
    bool back = !b->times.ordered || (b->before != NULL && b->times.first < *b->before);
    if (f->time_ordered && back) {
        snprintf(why, FOOTER_WHY,
                 "the footer says that times are in order, in block %" PRIu64 " they are not",
                 b->number);
        return false;
    }
    return true;
}
