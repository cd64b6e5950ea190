/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: a value of the protocol and how well it is known: not at all; since it was
 * observed in order; or only since a fault, so that what is judged by it follows from that fault.
 */
#ifndef NOCAP_REPLAY_VALUE_H
#define NOCAP_REPLAY_VALUE_H

#include "replay/core/model.h"

struct value {
    bool known;
    fault_id since; /* FAULT_NONE: no fault; FAULT_UNREPORTED: nothing is judged by it */
    uint32_t v;
};

static inline void value_forget(struct value *value)
{
    *value = (struct value){0};
}

static inline void value_set(struct value *value, uint32_t v)
{
    *value = (struct value){.known = true, .v = v};
}

/* The one way on after a fault: what was observed is taken. `since`: model.fault of the CHECK
 * that judged it; FAULT_NONE: it was right, and whatever the value was known since, it is known
 * now. */
static inline void resync(struct value *value, uint32_t observed, fault_id since)
{
    *value = (struct value){.known = true, .since = since, .v = observed};
}

/* What is known since an CHECK that judged `right`. */
static inline fault_id fault_of(const struct model *m, bool right)
{
    return right ? FAULT_NONE : m->fault;
}

/* Whether `observed` is what the value must be; what is not known is right. */
static inline bool value_allows(const struct value *value, uint32_t observed)
{
    return !value->known || value->v == observed;
}

#endif
