/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/hang/hang.h"

#include <nocap/hang.h>

#include "api/api.h"

enum nocap_status nocap_hang_run(struct nocap_hang **hang, const char *path,
                                 const struct nocap_hang_run_options *options,
                                 struct nocap_error *err)
{
    struct nocap_hang_run_options o;
    struct nocap_elf_arg *elf = NULL;
    RETURN_IF_FAILED(api_take(&o, sizeof o, options, "nocap_hang_run_options", err));
    enum nocap_status status = api_elf_split(&elf, o.elf, o.elf_count, err);
    if (status == NOCAP_OK) {
        const struct nocap_hang_options inside = {.size = sizeof inside,
                                                  .has_at = o.has_at,
                                                  .at = o.at,
                                                  .elf = elf,
                                                  .elf_count = o.elf_count,
                                                  .events = o.events,
                                                  .dense = o.dense,
                                                  .trust_paths = o.trust_paths};
        status = nocap_hang(hang, path, &inside, err);
    }
    api_elf_free(elf, o.elf_count);
    return status;
}

enum nocap_status nocap_hang_totals(const struct nocap_hang *h, struct nocap_hang_sums *sums)
{
    const struct nocap_hang_sums s = {.size = sizeof s,
                                      .outcome = (enum nocap_hang_outcome)h->verdict,
                                      .why = h->why,
                                      .wedged = h->wedged,
                                      .end = h->end,
                                      .quiet = h->quiet,
                                      .expected = h->expected,
                                      .waits = h->wait_count,
                                      .chain = h->chain_count,
                                      .causes = h->cause_count,
                                      .events = h->event_count};
    return api_give(sums, &s, sizeof s);
}

enum nocap_status nocap_hang_wait_at(const struct nocap_hang *h, size_t i,
                                     struct nocap_hang_wait_info *wait)
{
    if (i >= h->wait_count) {
        return NOCAP_END;
    }
    const struct nocap_hang_wait *w = &h->waits[i];
    struct nocap_hang_wait_info out = {.size = sizeof out,
                                       .what = w->what,
                                       .release = w->release,
                                       .root = h->parties[w->who].root,
                                       .since = w->wait.since,
                                       .index = w->wait.index,
                                       .have = w->wait.counted ? w->wait.have : 0,
                                       .need = w->wait.counted ? w->wait.need : 0};
    nocap_party_name(&w->wait.who, out.who, sizeof out.who);
    if (w->by != SIZE_MAX) {
        nocap_party_name(&w->wait.by, out.by, sizeof out.by);
    }
    return api_give(wait, &out, sizeof out);
}

enum nocap_status nocap_hang_chain_at(const struct nocap_hang *h, size_t i,
                                      struct nocap_hang_wait_info *wait)
{
    return i < h->chain_count ? nocap_hang_wait_at(h, h->chain[i], wait) : NOCAP_END;
}

enum nocap_status nocap_hang_cause_at(const struct nocap_hang *h, size_t i,
                                      struct nocap_check_finding *finding)
{
    if (i >= h->cause_count) {
        return NOCAP_END;
    }
    const struct nocap_check_finding one = api_finding(h->causes[i]);
    return api_give(finding, &one, sizeof one);
}

const char *nocap_hang_event_at(const struct nocap_hang *h, size_t i)
{
    return i < h->event_count ? h->events[i] : NULL;
}

enum nocap_status nocap_hang_print(FILE *out, const struct nocap_hang *h,
                                   enum nocap_hang_format format, struct nocap_error *err)
{
    switch (format) {
    case NOCAP_HANG_TEXT: return nocap_hang_text(out, h, false, err);
    case NOCAP_HANG_JSON: return nocap_hang_json(out, h, err);
    case NOCAP_HANG_DOT: return nocap_hang_dot(out, h, err);
    }
    return nocap_fail(err, NOCAP_E_USAGE, "there is no format %d of a hang", (int)format);
}
