/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of all columns of a kernel together: no more are waited for than tasks send that can have
 * been started by then. */
#include <stdlib.h>
#include <string.h>

#include "checker/aie/lint_private.h"
#include "formats/aie/operands.h"

bool lint_in_main_chain(const struct lint *l, uint32_t group, uint32_t uc, uint32_t index)
{
    const struct nocap_aie_page *page = nocap_aie_image_page(l->image, group, uc, index);
    return page != NULL && l->main[page - l->image->pages];
}

/* Which pages belong to the code that their column begins with. */
bool lint_find_main(struct lint *l)
{
    l->main = calloc(l->image->page_count + 1, sizeof *l->main);
    for (size_t i = 0; i < l->image->page_count && l->main != NULL; i++) {
        const struct nocap_aie_page *page = &l->image->pages[i], *before = page - 1;
        bool follows = i != 0 && before->group == page->group && before->uc == page->uc &&
                       before->index + 1 == page->index && l->main[i - 1];
        l->main[i] =
            page->index == 0 || (follows && nocap_aie_head(before, NOCAP_AIE_HEAD_NEXT) != 0);
    }
    return l->main != NULL;
}

/* By group, queue, column and place. */
static int by_queue(const void *a, const void *b)
{
    const struct lint_record *p = a, *q = b;
    const uint32_t keys[][2] = {
        {p->group, q->group}, {p->a, q->a}, {p->uc, q->uc}, {p->page, q->page}, {p->off, q->off}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

enum { ACTORS = 32, CHANNELS = ACTORS << NOCAP_AIE_TILE_BITS };

/* Tokens waited for on one channel. */
struct channel {
    uint32_t group, from; /* kernel that it is of, plus 1; 0: none yet. Column of the last wait */
    uint32_t page, job;
    uint64_t waited;              /* by all columns */
    uint64_t pages, here, in_job; /* by that column: in earlier pages, in this page, in this job */
    bool reported;
};

struct tokens {
    struct lint *l;
    uint64_t *sums; /* of tokens of the tasks before each one, by_queue */
    bool *awaited;  /* by task: somebody waits for its channel */
    struct channel *channels;
};

/* The first task that does not come before the key. */
static size_t first_task(const struct tokens *t, const struct lint_record *key)
{
    size_t low = 0, high = t->l->tasks.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool below = by_queue(&t->l->tasks.items[middle], key) < 0;
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    return low;
}

/* Tokens of tasks that the wait's own column can only start after it: later in its job, or in a
 * later page. `key` has group and queue of the channel. */
static uint64_t tokens_after(const struct tokens *t, const struct lint_record *wait,
                             struct lint_record key)
{
    key.uc = wait->uc;
    key.page = wait->page;
    key.off = wait->off;
    size_t at = first_task(t, &key);
    key.page++;
    key.off = 0;
    size_t next = first_task(t, &key);
    key.uc++;
    key.page = 0;
    uint64_t after = t->sums[first_task(t, &key)] - t->sums[next];
    for (; at < next; at++) {
        const struct lint_record *task = &t->l->tasks.items[at];
        after += task->job == wait->job ? task->b : 0;
    }
    return after;
}

/* Counts the wait among those of its channel. */
static void count_wait(struct channel *c, const struct lint_record *w)
{
    if (c->group != w->group + 1) {
        *c = (struct channel){.group = w->group + 1, .from = w->uc, .page = w->page, .job = w->job};
    }
    if (c->from != w->uc) {
        c->pages = c->here = c->in_job = 0;
    } else if (c->page != w->page) {
        c->pages += c->here;
        c->here = c->in_job = 0;
    } else if (c->job != w->job) {
        c->in_job = 0;
    }
    c->from = w->uc;
    c->page = w->page;
    c->job = w->job;
    c->waited += w->c;
    c->here += w->c;
    c->in_job += w->c;
}

static void judge_wait(struct tokens *t, const struct lint_record *w)
{
    struct lint *l = t->l;
    struct lint_record key = {.group = w->group};
    if (w->a >> NOCAP_AIE_TILE_BITS != 0 || w->b >= ACTORS ||
        !nocap_aie_task_queue(l->chip, w->a, w->b, &key.a)) {
        return;
    }
    size_t first = first_task(t, &key);
    struct lint_record behind = key;
    behind.a++;
    size_t last = first_task(t, &behind);
    if (first == last) {
        return; /* see judge_orphans */
    }
    struct channel *c = &t->channels[w->a * ACTORS + w->b];
    count_wait(c, w);
    t->awaited[first] = true;
    uint64_t tokens = t->sums[last] - t->sums[first];
    uint64_t after = lint_in_main_chain(l, w->group, w->uc, w->page) ? tokens_after(t, w, key) : 0;
    bool enough = c->waited <= tokens, before = c->pages + c->in_job <= tokens - after;
    l->exercised[AIE_038]++;
    if (!c->reported && !enough) {
        lint_say(l, AIE_038, NOCAP_ERROR, LINT_REMARKED(w),
                 "no more tokens than the tasks of the channel send",
                 "%llu tokens, and tasks for %llu written to 0x%x", (unsigned long long)c->waited,
                 (unsigned long long)tokens, key.a);
    } else if (!c->reported && !before) {
        lint_say(l, AIE_038, NOCAP_ERROR, LINT_REMARKED(w),
                 "no more tokens than tasks send that were started before",
                 "%llu tokens up to here; tasks for %llu of them are started after this wait",
                 (unsigned long long)c->pages + c->in_job, (unsigned long long)after);
    }
    c->reported |= !enough || !before;
}

/* A column that waits for a channel without a task, and starts one that nobody waits for: most
 * likely one of the two names the wrong channel. */
static void judge_orphan(struct tokens *t, const struct lint_record *w,
                         const struct lint_record *task)
{
    struct lint *l = t->l;
    struct channel *c = &t->channels[w->a * ACTORS + w->b];
    char wanted[48], started[48];
    uint32_t tile, actor;
    bool reported = c->group == w->group + 1 && c->reported;
    c->group = w->group + 1;
    c->reported = true;
    if (!reported && nocap_aie_queue_actor(l->chip, task->a, &tile, &actor)) {
        lint_say(
            l, AIE_038, NOCAP_ERROR, LINT_REMARKED(w), "a task for the channel that is waited for",
            "%u tokens of %s, which no task of the file is for; that at page %u offset %u is "
            "for %s, which no agent waits for",
            w->c, nocap_aie_channel_text(l->chip, w->a, w->b, wanted, sizeof wanted), task->page,
            task->off, nocap_aie_channel_text(l->chip, tile, actor, started, sizeof started));
    }
}

/* Of each column the first task with a token for which no column of the kernel waits; `from` is the
 * first task of the kernel, returned that of the next one. */
static size_t find_unawaited(const struct tokens *t, size_t from, const struct lint_record **of)
{
    const struct lint_record *tasks = t->l->tasks.items;
    size_t first = from, i = from;
    memset(of, 0, NOCAP_UCS * sizeof *of);
    for (; i < t->l->tasks.count && tasks[i].group == tasks[from].group; i++) {
        first = tasks[i].a == tasks[first].a ? first : i;
        if (!t->awaited[first] && tasks[i].b != 0 && tasks[i].uc < NOCAP_UCS &&
            of[tasks[i].uc] == NULL) {
            of[tasks[i].uc] = &tasks[i];
        }
    }
    return i;
}

static void judge_orphans(struct tokens *t)
{
    const struct lint *l = t->l;
    const struct lint_record *unawaited[NOCAP_UCS];
    size_t w = 0;
    for (size_t next, from = 0; from < l->tasks.count; from = next) {
        uint32_t group = l->tasks.items[from].group;
        next = find_unawaited(t, from, unawaited);
        for (; w < l->waits.count && l->waits.items[w].group <= group; w++) {
            const struct lint_record *wait = &l->waits.items[w];
            struct lint_record key = {.group = group};
            if (wait->group == group && wait->c != 0 && wait->uc < NOCAP_UCS &&
                unawaited[wait->uc] != NULL && wait->a >> NOCAP_AIE_TILE_BITS == 0 &&
                wait->b < ACTORS && nocap_aie_task_queue(l->chip, wait->a, wait->b, &key.a)) {
                size_t at = first_task(t, &key);
                bool any = at < next && l->tasks.items[at].a == key.a;
                if (!any) {
                    judge_orphan(t, wait, unawaited[wait->uc]);
                }
            }
        }
    }
}

static void judge_all(struct tokens *t)
{
    const struct lint *l = t->l;
    for (size_t i = 0; i < l->tasks.count; i++) {
        t->sums[i + 1] = t->sums[i] + l->tasks.items[i].b;
    }
    for (size_t i = 0; i < l->waits.count; i++) {
        judge_wait(t, &l->waits.items[i]);
    }
    judge_orphans(t);
}

void lint_tokens(struct lint *l)
{
    bool scalars = false;
    for (size_t i = 0; i < l->image->relocation_count; i++) {
        scalars |= l->image->relocations[i].type == NOCAP_AIE_REL_SCALAR_32;
    }
    for (size_t i = 0; i < l->tasks.count; i++) {
        const struct lint_record *r = &l->tasks.items[i];
        l->hidden_tasks |= !lint_in_main_chain(l, r->group, r->uc, r->page);
    }
    if (l->waits.count == 0 || l->tasks.count == 0 || l->hidden_tasks || l->broken_pages ||
        scalars || l->image->pad_size != 0) {
        return;
    }
    qsort(l->tasks.items, l->tasks.count, sizeof l->tasks.items[0], by_queue);
    struct tokens t = {.l = l,
                       .sums = calloc(l->tasks.count + 1, sizeof *t.sums),
                       .awaited = calloc(l->tasks.count, sizeof *t.awaited),
                       .channels = calloc(CHANNELS, sizeof *t.channels)};
    if (t.sums == NULL || t.awaited == NULL || t.channels == NULL) {
        l->out_of_memory = true;
    } else {
        judge_all(&t);
    }
    free(t.sums);
    free(t.awaited);
    free(t.channels);
}
