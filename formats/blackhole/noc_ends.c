/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/noc_ends.h"

#include "formats/blackhole/niu.h"

bool nocap_noc_own_end(const struct nocap_event *e, struct nocap_xy *at)
{
    switch (e->op) {
    case NOCAP_OP_READ: *at = e->d; return (e->has & NOCAP_F_D) != 0;
    case NOCAP_OP_WRITE: *at = e->s; return (e->has & NOCAP_F_S) != 0;
    case NOCAP_OP_ATOMIC: *at = e->ret; return (e->has & NOCAP_F_RET) != 0 && !e->posted;
    default: return false;
    }
}

int nocap_noc_channel(const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_CTRL) != 0 && (e->ctrl & NOCAP_CTRL_VC_STATIC) != 0) {
        return (int)nocap_niu_vc((uint32_t)e->ctrl);
    }
    return (e->has & NOCAP_F_VC) != 0 ? e->vc : NOCAP_NOC_ANY_CHANNEL;
}

static bool is_raw(const struct nocap_event *e)
{
    struct nocap_xy own;
    return e->noc == 1 && nocap_noc_own_end(e, &own) && !nocap_xy_equal(own, e->at) &&
           nocap_xy_equal(nocap_noc1_raw(own), e->at);
}

static void put_in_order(uint8_t *low, uint8_t *high)
{
    if (*low > *high) {
        uint8_t higher = *low;
        *low = *high;
        *high = higher;
    }
}

struct nocap_noc_ends nocap_noc_ends(const struct nocap_event *e)
{
    bool raw = is_raw(e), rectangle = (e->has & NOCAP_F_D2) != 0;
    struct nocap_xy other = rectangle ? e->d2 : e->d;
    struct nocap_noc_ends ends = {
        .from_known = (e->has & NOCAP_F_S) != 0,
        .to_known = (e->has & NOCAP_F_D) != 0 && (!e->mcast || rectangle),
        .raw = raw,
        .from = raw ? nocap_noc1_raw(e->s) : e->s,
        .to = raw ? nocap_noc1_raw(e->d) : e->d,
        .to_other = raw ? nocap_noc1_raw(other) : other,
    };
    if ((e->has & NOCAP_F_NOC) == 0 || e->noc != 0) { /* NOC 1 begins at the other corner */
        put_in_order(&ends.to.x, &ends.to_other.x);
        put_in_order(&ends.to.y, &ends.to_other.y);
    }
    return ends;
}
