/* Jobs of AIE control code that wait: for each other at barriers, or for what comes from outside.
 */
#include <stdlib.h>

#include "replay/cert_private.h"
#include "replay/waits_private.h"

enum { WAITS_MAX = 1024 };

static struct nocap_party job_of(unsigned uc, int32_t job)
{
    return (struct nocap_party){.agent = (uint8_t)(NOCAP_BY_UC0 + uc), .job = job};
}

static const char *release_of(uint8_t why)
{
    static const char *const texts[NOCAP_WHY_COUNT] = {
        [NOCAP_WHY_DMA] = "the end of the transfer",
        [NOCAP_WHY_TCT] = "the missing tokens",
        [NOCAP_WHY_LOCAL] = "the jobs that did not come; nocap aie lint counts them (AIE-041)",
        [NOCAP_WHY_POLL] = "the value",
        [NOCAP_WHY_REMOTE] = "the columns that did not come",
        [NOCAP_WHY_QUEUE] = "the end of a queued transfer"};
    return texts[why];
}

/* Who would have to come: a job that waits itself if there is one, since it is the reason. */
static struct nocap_party missing_of(const struct nocap_cert_wait *wait,
                                     const struct nocap_cert_wait *all, size_t count)
{
    for (uint32_t i = 0; i < wait->missing_count; i++) {
        const struct nocap_cert_party *p = &wait->missing[i];
        for (size_t w = 0; w < count; w++) {
            if (all[w].uc == p->uc && (!p->has_job || all[w].job == p->job)) {
                return job_of(p->uc, (int32_t)all[w].job);
            }
        }
    }
    if (wait->missing_count == 0) {
        return (struct nocap_party){.agent = NOCAP_BY_NONE, .job = -1};
    }
    const struct nocap_cert_party *p = &wait->missing[0];
    return job_of(p->uc, p->has_job ? (int32_t)p->job : -1);
}

static void tell(const struct telling *t, const struct nocap_cert_wait *waits, size_t count,
                 bool hung)
{
    for (size_t i = 0; i < count; i++) {
        const struct nocap_cert_wait *w = &waits[i];
        struct nocap_wait wait =
            wait_begin(t, NOCAP_BY_UC0 + w->uc, (struct moment){.index = w->since, .t = w->t});
        wait.who.job = (int32_t)w->job;
        wait.by = missing_of(w, waits, count);
        wait.what = w->what;
        wait.state = "blocked";
        wait.release = release_of(w->why);
        wait.certain = hung;
        wait.has_place = true;
        wait.page = w->page;
        wait.off = w->off;
        wait_tell(t, &wait);
    }
}

/* Those who are waited for and do not wait: their code goes another way, or is over. */
static void tell_absent(const struct telling *t, const struct nocap_cert_wait *waits, size_t count,
                        bool hung)
{
    for (size_t i = 0; i < count; i++) {
        struct nocap_party by = missing_of(&waits[i], waits, count);
        bool waits_too = by.agent == NOCAP_BY_NONE;
        for (size_t w = 0; w < count; w++) {
            waits_too |= job_of(waits[w].uc, (int32_t)waits[w].job).agent == by.agent &&
                         (int32_t)waits[w].job == by.job;
        }
        if (!waits_too) {
            struct nocap_wait wait =
                wait_begin(t, by.agent, (struct moment){.index = waits[i].since, .t = waits[i].t});
            wait.who.job = by.job;
            wait.what = waits[i].why == NOCAP_WHY_LOCAL
                            ? "it does not come to the barrier, and waits for nothing: nocap aie "
                              "lint judges barriers (AIE-041)"
                            : "it does not come to the barrier, and waits for nothing";
            wait.state = "elsewhere";
            wait.certain = hung;
            wait_tell(t, &wait);
            return;
        }
    }
}

void waits_cert(const struct telling *t)
{
    const size_t most = WAITS_MAX;
    struct nocap_cert_wait *waits = calloc(most, sizeof *waits);
    if (waits == NULL) {
        t->m->out_of_memory = true;
        return;
    }
    size_t count = cert_waits(t->m, waits, most);
    bool hung = cert_hung(t->m);
    count = count < most ? count : most;
    tell(t, waits, count, hung);
    tell_absent(t, waits, count, hung);
    free(waits);
}
