/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of one kind at one interface: how many, and the last ones that are not answered. */
#include <string.h>

#include "replay/progress/progress_private.h"

static void remove_request(struct progress_requests *r, uint32_t i)
{
    r->open_count--;
    memmove(r->open + i, r->open + i + 1, (r->open_count - i) * sizeof r->open[0]);
}

void progress_open_request(struct progress_requests *r, const struct nocap_event *e)
{
    bool load = e->op == NOCAP_OP_READ;
    r->issued++;
    if (r->open_count == PROGRESS_OPEN) {
        remove_request(r, 0);
    }
    r->open[r->open_count++] =
        (struct progress_request){.index = e->index,
                                  .id = (e->has & NOCAP_F_ID) != 0 ? e->id : UINT64_MAX,
                                  .has_far = (e->has & (load ? NOCAP_F_S : NOCAP_F_D)) != 0,
                                  .far = load ? e->s : e->d};
}

void progress_close_request(struct progress_requests *r, uint64_t id)
{
    for (uint32_t i = 0; i < r->open_count; i++) {
        if (r->open[i].id == id) {
            remove_request(r, i);
            return;
        }
    }
}

void progress_end_requests(struct progress_requests *r)
{
    r->ended = r->issued;
    r->open_count = 0;
}
