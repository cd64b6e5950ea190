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
    return lint_order(keys, sizeof keys / sizeof keys[0]);
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

/* Who waits for the tokens of a channel. */
struct awaited {
    uint64_t tokens;
    bool by[NOCAP_UCS];
};

struct tokens {
    struct lint *l;
    uint64_t *sums;          /* of tokens of the tasks before each one, by_queue */
    struct awaited *awaited; /* by first task of a channel */
    struct channel *channels;
    bool *left_out; /* by wait: no task is seen for it */
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
    struct lint_record next = key;
    next.a++;
    size_t last = first_task(t, &next);
    if (first == last) {
        return; /* see judge_orphans */
    }
    struct channel *c = &t->channels[w->a * ACTORS + w->b];
    count_wait(c, w);
    t->left_out[w - l->waits.items] = false;
    t->awaited[first].tokens += w->c;
    if (w->uc < NOCAP_UCS) {
        t->awaited[first].by[w->uc] = true;
    }
    uint64_t tokens = t->sums[last] - t->sums[first];
    uint64_t after = lint_in_main_chain(l, w->group, w->uc, w->page) ? tokens_after(t, w, key) : 0;
    bool enough = c->waited <= tokens, before = c->pages + c->in_job <= tokens - after;
    l->exercised[AIE_038]++;
    if (!c->reported && !enough) {
        lint_say(l, AIE_038, NOCAP_ERROR, LINT_REMARKED(w),
                 "no more tokens than the tasks of the channel send",
                 "wait for %llu tokens, tasks for %llu written to 0x%x",
                 (unsigned long long)c->waited, (unsigned long long)tokens, key.a);
    } else if (!c->reported && !before) {
        lint_say(
            l, AIE_038, NOCAP_ERROR, LINT_REMARKED(w),
            "no more tokens than tasks send that were started before",
            "wait for %llu tokens up to here; tasks for %llu of them are started after this wait",
            (unsigned long long)c->pages + c->in_job, (unsigned long long)after);
    }
    c->reported |= !enough || !before;
}

/* A column that waits for a channel without a task, and starts one whose tokens are left over, for
 * it does not wait for them: most likely one of the two names the wrong channel. */
static void judge_orphan(struct tokens *t, const struct lint_record *w,
                         const struct lint_record *task)
{
    struct lint *l = t->l;
    struct channel *c = &t->channels[w->a * ACTORS + w->b];
    char wanted[48], started[48];
    uint32_t tile, actor;
    struct lint_record channel = {.group = task->group, .a = task->a};
    bool reported = c->group == w->group + 1 && c->reported;
    c->group = w->group + 1;
    c->reported = true;
    if (!reported && nocap_aie_queue_actor(l->chip, task->a, &tile, &actor)) {
        lint_say(
            l, AIE_038, NOCAP_ERROR, LINT_REMARKED(w), "a task for the channel that is waited for",
            "wait for %u tokens of %s, which no task of the file is for; the task at page %u "
            "offset %u is "
            "for %s, which %s waits for",
            w->c, nocap_aie_channel_text(l->chip, w->a, w->b, wanted, sizeof wanted), task->page,
            task->off, nocap_aie_channel_text(l->chip, tile, actor, started, sizeof started),
            t->awaited[first_task(t, &channel)].tokens == 0 ? "no agent" : "no job of this column");
    }
    t->left_out[w - l->waits.items] = false;
}

/* The tasks of a column for one channel from `i` on; `first` is the first one of the channel. */
static size_t tasks_after(const struct lint_records *tasks, size_t i, size_t first)
{
    uint32_t uc = tasks->items[i].uc;
    while (i < tasks->count && tasks->items[i].group == tasks->items[first].group &&
           tasks->items[i].a == tasks->items[first].a && tasks->items[i].uc == uc) {
        i++;
    }
    return i;
}

/* Of each column the first task whose tokens the column does not wait for, and no column takes;
 * `from` is the first task of the kernel, returned that of the next one. */
static size_t find_unawaited(const struct tokens *t, size_t from, const struct lint_record **of)
{
    const struct lint_records *tasks = &t->l->tasks;
    const struct lint_record *items = tasks->items;
    size_t i = from;
    memset(of, 0, NOCAP_UCS * sizeof *of);
    while (i < tasks->count && items[i].group == items[from].group) {
        struct lint_record other = {.group = items[i].group, .a = items[i].a + 1};
        size_t first = i, last = first_task(t, &other);
        const struct awaited *awaited = &t->awaited[first];
        for (size_t next; i < last; i = next) {
            uint32_t uc = items[i].uc;
            next = tasks_after(tasks, i, first);
            uint64_t own = t->sums[next] - t->sums[i];
            bool over = t->sums[last] - t->sums[first] >= awaited->tokens + own;
            if (own != 0 && over && uc < NOCAP_UCS && !awaited->by[uc] && of[uc] == NULL) {
                of[uc] = &items[i];
            }
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

/* Says which waits were not judged, and why. */
static enum nocap_status tell_left_out(const struct lint *l, const bool *left_out, const char *why,
                                       struct nocap_error *err)
{
    const struct lint_record *first = NULL;
    char note[320], channel[48];
    size_t count = 0;
    for (size_t i = 0; i < l->waits.count; i++) {
        const struct lint_record *w = &l->waits.items[i];
        if (w->c != 0 && (left_out == NULL || left_out[i])) {
            first = first == NULL ? w : first;
            count++;
        }
    }
    if (count == 0 || l->chip == NOCAP_AIE_CHIP_UNKNOWN || !lint_judged(l, AIE_038)) {
        return NOCAP_OK;
    }
    snprintf(note, sizeof note,
             "whether tokens come is not judged for %zu WAIT_TCTS, the first at uc %u, page %u, "
             "offset %u for %s: %s",
             count, first->uc, first->page, first->off,
             nocap_aie_channel_text(l->chip, first->a, first->b, channel, sizeof channel), why);
    return nocap_report_add_note(l->report, "unseen-tasks", note, err);
}

static enum nocap_status judge_tokens(struct lint *l, struct nocap_error *err)
{
    enum nocap_status status = NOCAP_OK;
    if (l->tasks.count != 0) {
        qsort(l->tasks.items, l->tasks.count, sizeof l->tasks.items[0], by_queue);
    }
    struct tokens t = {.l = l,
                       .sums = calloc(l->tasks.count + 1, sizeof *t.sums),
                       .awaited = calloc(l->tasks.count + 1, sizeof *t.awaited),
                       .channels = calloc(CHANNELS, sizeof *t.channels),
                       .left_out = malloc(l->waits.count * sizeof *t.left_out)};
    if (t.sums == NULL || t.awaited == NULL || t.channels == NULL || t.left_out == NULL) {
        l->out_of_memory = true;
    } else {
        memset(t.left_out, true, l->waits.count * sizeof *t.left_out);
        judge_all(&t);
        status = tell_left_out(l, t.left_out, "this file starts no task for it", err);
    }
    free(t.sums);
    free(t.awaited);
    free(t.channels);
    free(t.left_out);
    return status;
}

enum nocap_status lint_tokens(struct lint *l, struct nocap_error *err)
{
    bool hidden = l->hidden_tasks || l->image->pad_size != 0;
    for (size_t i = 0; i < l->image->relocation_count; i++) {
        hidden |= l->image->relocations[i].type == NOCAP_AIE_REL_SCALAR_32;
    }
    for (size_t i = 0; i < l->tasks.count; i++) {
        const struct lint_record *r = &l->tasks.items[i];
        hidden |= !lint_in_main_chain(l, r->group, r->uc, r->page);
    }
    if (l->waits.count == 0 || l->broken_pages) {
        return NOCAP_OK;
    }
    return hidden ? tell_left_out(l, NULL,
                                  "tasks may be started by what the file does not show, such as "
                                  "control packets, patched words and code of PREEMPT or LOAD_PDI",
                                  err)
                  : judge_tokens(l, err);
}
