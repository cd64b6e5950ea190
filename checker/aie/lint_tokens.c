/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of all columns together: no more are waited for than tasks send. */
#include <stdlib.h>

#include "checker/aie/lint_private.h"
#include "formats/aie/operands.h"

bool lint_in_main_chain(const struct lint *l, uint32_t group, uint32_t uc, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        const struct nocap_aie_page *page = nocap_aie_image_page(l->image, group, uc, i);
        if (page == NULL || nocap_aie_head(page, NOCAP_AIE_HEAD_NEXT) == 0) {
            return false;
        }
    }
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct lint_remark *p = a, *q = b;
    return (p->a > q->a) - (p->a < q->a);
}

/* The tokens that the tasks of a queue may send; false: no task is seen, so that whoever starts
 * them is not in this file. */
static bool count_tokens(const struct lint *l, uint32_t queue, uint64_t *tokens)
{
    size_t low = 0, high = l->tasks.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool below = l->tasks.items[middle].a < queue;
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    size_t first = low;
    for (*tokens = 0; low < l->tasks.count && l->tasks.items[low].a == queue; low++) {
        *tokens += l->tasks.items[low].b;
    }
    return low > first;
}

/* Tokens waited for on one channel so far, and those that tasks may send. */
struct channel {
    uint64_t waited, tokens;
    bool known, skip; /* skip: no task is seen, or it is told already */
};

void lint_tokens(struct lint *l)
{
    enum { CHANNELS = 1 << (NOCAP_AIE_TILE_BITS + 4), ACTORS = 16 };
    bool scalars = false;
    for (size_t i = 0; i < l->image->relocation_count; i++) {
        scalars |= l->image->relocations[i].type == NOCAP_AIE_REL_SCALAR_32;
    }
    for (size_t i = 0; i < l->tasks.count; i++) {
        const struct lint_remark *r = &l->tasks.items[i];
        l->hidden_tasks |= !lint_in_main_chain(l, r->group, r->uc, r->page);
    }
    if (l->waits.count == 0 || l->hidden_tasks || l->broken_pages || scalars ||
        l->image->pad_size != 0) {
        return;
    }
    struct channel *channels = calloc(CHANNELS, sizeof *channels);
    if (channels == NULL) {
        l->out_of_memory = true;
        return;
    }
    if (l->tasks.count > 1) {
        qsort(l->tasks.items, l->tasks.count, sizeof l->tasks.items[0], by_address);
    }
    for (size_t i = 0; i < l->waits.count; i++) {
        const struct lint_remark *r = &l->waits.items[i];
        uint32_t queue;
        if (r->a >> NOCAP_AIE_TILE_BITS != 0 || r->b >= ACTORS ||
            !nocap_aie_task_queue(l->chip, r->a, r->b, &queue)) {
            continue;
        }
        struct channel *c = &channels[r->a * ACTORS + r->b];
        if (!c->known) {
            c->known = true;
            c->skip = !count_tokens(l, queue, &c->tokens);
        }
        c->waited += r->c;
        c->skip = c->skip ||
                  !LINT_EXPECT(l, AIE_038, c->waited <= c->tokens, LINT_REMARKED(r),
                               "no more tokens than the tasks of the channel send",
                               "%llu tokens, and tasks for %llu written to 0x%x",
                               (unsigned long long)c->waited, (unsigned long long)c->tokens, queue);
    }
    free(channels);
}
