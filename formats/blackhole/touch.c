/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/touch.h"

#include "formats/blackhole/noc_ends.h"

/* Whether `size` bytes from `addr` on overlap. */
static bool overlaps(const struct nocap_bytes_at *b, uint64_t addr, uint64_t size)
{
    uint64_t more = size > 0 ? size - 1 : 0;
    uint64_t last = addr > UINT64_MAX - more ? UINT64_MAX : addr + more;
    return addr <= b->last && last >= b->first;
}

static enum nocap_touch of_request(const struct nocap_event *e, const struct nocap_bytes_at *b)
{
    uint64_t size = (e->has & NOCAP_F_SIZE) != 0 ? e->size : e->op >= NOCAP_OP_INLINE ? 4 : 1;
    bool to = (e->has & NOCAP_F_DADDR) != 0 && overlaps(b, e->daddr, size);
    bool from = (e->has & NOCAP_F_SADDR) != 0 && overlaps(b, e->saddr, size);
    bool back = (e->has & NOCAP_F_RADDR) != 0 && overlaps(b, e->raddr, 4);
    if ((!to && !from && !back) || e->phase != NOCAP_PHASE_ISSUE) {
        return NOCAP_TOUCH_NONE;
    }
    const struct nocap_noc_ends ends = nocap_noc_ends(e);
    if (to && ends.to_known && nocap_in_rectangle(ends.to, ends.to_other, b->at)) {
        return NOCAP_TOUCH_REQUEST;
    }
    if (back && (e->has & NOCAP_F_RET) != 0 && nocap_xy_equal(e->ret, b->at)) {
        return NOCAP_TOUCH_ANSWER;
    }
    return from && ends.from_known && nocap_xy_equal(ends.from, b->at) ? NOCAP_TOUCH_SOURCE
                                                                       : NOCAP_TOUCH_NONE;
}

enum nocap_touch nocap_touch(const struct nocap_event *e, const struct nocap_bytes_at *b)
{
    switch (e->kind) {
    case NOCAP_EV_NOC: return of_request(e, b);
    case NOCAP_EV_WRITE:
    case NOCAP_EV_READ:
    case NOCAP_EV_MEM: break;
    default: return NOCAP_TOUCH_NONE;
    }
    uint64_t size = e->kind == NOCAP_EV_MEM ? e->data_size : e->size;
    if (e->space != NOCAP_SPACE_TILE || (e->has & NOCAP_F_AT) == 0 || !overlaps(b, e->addr, size) ||
        !nocap_goes_to(e, b->at)) {
        return NOCAP_TOUCH_NONE;
    }
    return e->kind == NOCAP_EV_MEM      ? NOCAP_TOUCH_HELD
           : e->kind == NOCAP_EV_READ   ? NOCAP_TOUCH_LOAD
           : (e->has & NOCAP_F_TO) != 0 ? NOCAP_TOUCH_MULTICAST
                                        : NOCAP_TOUCH_STORE;
}

const char *nocap_touch_name(enum nocap_touch touch)
{
    static const char *const names[] = {
        [NOCAP_TOUCH_NONE] = "",
        [NOCAP_TOUCH_STORE] = "store",
        [NOCAP_TOUCH_MULTICAST] = "multicast",
        [NOCAP_TOUCH_REQUEST] = "NOC request to",
        [NOCAP_TOUCH_ANSWER] = "NOC answer to",
        [NOCAP_TOUCH_HELD] = "held",
        [NOCAP_TOUCH_LOAD] = "load",
        [NOCAP_TOUCH_SOURCE] = "NOC request from",
    };
    return names[touch];
}

uint64_t nocap_touch_start(const struct nocap_event *e, enum nocap_touch touch)
{
    return e->kind != NOCAP_EV_NOC       ? e->addr
           : touch == NOCAP_TOUCH_SOURCE ? e->saddr
           : touch == NOCAP_TOUCH_ANSWER ? e->raddr
                                         : e->daddr;
}

bool nocap_touch_byte(const struct nocap_event *e, enum nocap_touch touch, uint64_t addr,
                      uint8_t *byte)
{
    uint64_t start = nocap_touch_start(e, touch), at = addr - start;
    bool computed = e->kind == NOCAP_EV_NOC && e->op == NOCAP_OP_ATOMIC;
    bool data = (e->has & (NOCAP_F_DATA | NOCAP_F_HEAD)) != 0;
    bool value = (e->has & NOCAP_F_VALUE) != 0 && at < sizeof e->value &&
                 ((e->has & NOCAP_F_SIZE) == 0 || at < e->size);
    if (touch == NOCAP_TOUCH_SOURCE || computed || addr < start ||
        (data ? at >= e->data_size : !value)) {
        return false;
    }
    *byte = (uint8_t)(data ? e->data[at] : e->value >> 8 * at);
    return true;
}
