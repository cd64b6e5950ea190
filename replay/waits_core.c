/* What a core looks at again and again tells what it waits for. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/blackhole/registers.h"
#include "replay/noc.h"
#include "replay/waits_private.h"

static bool is_end(const struct noc_request *r)
{
    return r->done || (r->op != NOCAP_OP_READ && r->op != NOCAP_OP_ATOMIC && r->sent);
}

/* A barrier: the requests of the interface that nothing has shown to end. */
static void tell_barrier(const struct telling *t, struct nocap_wait *w, unsigned noc,
                         const char *name, const struct look *l)
{
    const struct noc_interface *n = t->tile->noc != NULL ? &t->tile->noc->noc[noc] : NULL;
    char what[WAIT_TEXT];
    uint32_t open = 0;
    const struct noc_request *first = NULL;
    for (uint32_t i = 0; n != NULL && i < n->count; i++) {
        const struct noc_request *r = &n->open[(n->first + i) % NOC_OPEN];
        if (!is_end(r)) {
            first = first == NULL ? r : first;
            open++;
        }
    }
    if (open > 0) {
        snprintf(what, sizeof what,
                 "%" PRIu32 " request%s without an end on NOC %u, the first a %s at index %" PRIu64
                 "; %s stays 0x%" PRIx64,
                 open, open > 1 ? "s" : "", noc, nocap_op_name(first->op), first->index, name,
                 l->value);
    } else {
        snprintf(what, sizeof what,
                 "%s stays 0x%" PRIx64 ", and no request is known to be under way: more responses "
                 "are waited for than were asked for",
                 name, l->value);
    }
    w->what = what;
    w->state = "in a NOC barrier";
    w->release = "the responses that are missing";
    wait_tell(t, w);
}

bool waits_core_looks(const struct telling *t, unsigned processor, const char *state)
{
    const struct look *l = pace_looks_at(&t->tile->pace.agents[PACE_CORE0 + processor]);
    unsigned agent = nocap_cores[processor].agent;
    struct nocap_register_place place;
    char name[64], what[WAIT_TEXT];
    bool mailbox = l != NULL && l->addr < SHADOW_SIZE;
    if (l == NULL || mailbox) { /* the mailbox is told by its own model */
        return false;
    }
    struct nocap_wait w = wait_begin(t, agent, l->since);
    w.addr = l->addr;
    w.size = 4;
    if (nocap_register_find(l->addr, agent, &place)) {
        nocap_register_name(l->addr, agent, name, sizeof name);
        if (place.family == NOCAP_FAMILY_NIU_COUNTER) {
            tell_barrier(t, &w, place.noc, name, l);
            return true;
        }
    } else {
        snprintf(name, sizeof name, "L1 0x%" PRIx64, l->addr);
    }
    snprintf(what, sizeof what, "%s: polls %s, which stays 0x%" PRIx64 " (%" PRIu64 " times)",
             state, name, l->value, l->count);
    w.what = what;
    w.state = "polling";
    w.release = "another value there";
    wait_tell(t, &w);
    return true;
}
