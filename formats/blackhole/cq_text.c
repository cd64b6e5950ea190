/* SPDX-License-Identifier: Apache-2.0 */
/* Records and commands of the command queue for people: what is written where, what is waited for.
 */
#include "formats/blackhole/cq_commands.h"

#include <stdarg.h>
#include <stdio.h>

#include "formats/blackhole/cq_layout.h"

struct text {
    char *buffer;
    size_t at, room;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->buffer + t->at, t->room - t->at, format, args);
    va_end(args);
    t->at += n > 0 ? (size_t)n : 0;
    t->at = t->at < t->room ? t->at : t->room - 1;
}

static void add_fields(struct text *t, const struct nocap_cq_command *c)
{
    t->at += nocap_cq_fields_text(c, t->buffer + t->at, t->room - t->at);
}

/* A tile, or the rectangle of a multicast. */
static void add_place(struct text *t, uint64_t noc_xy, bool mcast)
{
    struct nocap_cq_rect r = nocap_cq_rect_decode((uint32_t)noc_xy);
    if ((noc_xy & NOCAP_CQ_PCIE_XY_FLAG) != 0) {
        add(t, " of the host");
    } else if (mcast) {
        add(t, " of %u,%u..%u,%u", r.low.x, r.low.y, r.high.x, r.high.y);
    } else {
        add(t, " of %u,%u", r.low.x, r.low.y);
    }
}

static void add_address(struct text *t, uint64_t addr, uint64_t write_offset_index)
{
    add(t, " -> 0x%llx", (unsigned long long)addr);
    if (write_offset_index != 0) {
        add(t, "+offset[%llu]", (unsigned long long)write_offset_index);
    }
}

static void add_packed(struct text *t, const struct nocap_cq_command *c, const uint8_t *bytes,
                       size_t size)
{
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    add(t, "WRITE_PACKED %llux%lluB", (unsigned long long)c->count, (unsigned long long)c->size);
    add(t, "%s", (c->flags & NOCAP_CQ_PACKED_FLAG_NO_STRIDE) != 0 ? " shared" : "");
    add_address(t, c->addr, c->write_offset_index);
    if (nocap_cq_subs(c, &subs) && nocap_cq_sub(&subs, 0, bytes, size, &sub)) {
        add_place(t, sub.noc_xy, subs.id == NOCAP_CQ_SUB_PACKED_MCAST);
        add(t, "%s", subs.count > 1 ? " .." : "");
    }
}

static void add_large(struct text *t, const struct nocap_cq_command *c, const uint8_t *bytes,
                      size_t size)
{
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    add(t, "WRITE_PACKED_LARGE %llu", (unsigned long long)c->count);
    if (nocap_cq_subs(c, &subs) && nocap_cq_sub(&subs, 0, bytes, size, &sub)) {
        add(t, "x%lluB", (unsigned long long)sub.length_minus1 + 1);
        add_address(t, sub.addr, c->write_offset_index);
        add_place(t, sub.noc_xy, true);
        add(t, "%s", subs.count > 1 ? " .." : "");
    }
}

static void add_large_unicast(struct text *t, const struct nocap_cq_command *c,
                              const uint8_t *bytes, size_t size)
{
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    add(t, "WRITE_PACKED_LARGE_UNICAST %llu", (unsigned long long)c->count);
    if (nocap_cq_subs(c, &subs) && nocap_cq_sub(&subs, 0, bytes, size, &sub)) {
        add(t, "x%lluB", (unsigned long long)sub.length);
        if (sub.addr == NOCAP_CQ_DISCARD) {
            add(t, " discarded");
        } else {
            add_address(t, sub.addr, c->write_offset_index);
            add_place(t, sub.noc_xy, false);
        }
        add(t, "%s", subs.count > 1 ? " .." : "");
    }
}

static void add_linear(struct text *t, const struct nocap_cq_command *c)
{
    add(t, "%s %lluB", nocap_cq_name(NOCAP_CQ_DISPATCH, c->id), (unsigned long long)c->length);
    add_address(t, c->addr, c->write_offset_index);
    add_place(t, c->noc_xy, c->num_mcast_dests != 0);
}

static void add_wait(struct text *t, const struct nocap_cq_command *c)
{
    const char *comma = "";
    add(t, "WAIT ");
    if ((c->flags & NOCAP_CQ_WAIT_BARRIER) != 0) {
        add(t, "barrier");
        comma = ", ";
    }
    if ((c->flags & NOCAP_CQ_WAIT_MEMORY) != 0) {
        add(t, "%s0x%llx >= %llu", comma, (unsigned long long)c->addr,
            (unsigned long long)c->count);
        comma = ", ";
    }
    if ((c->flags & NOCAP_CQ_WAIT_STREAM) != 0) {
        add(t, "%sstream %llu >= %llu", comma, (unsigned long long)c->stream,
            (unsigned long long)c->count);
        comma = ", ";
    }
    if ((c->flags & NOCAP_CQ_WAIT_CLEAR_STREAM) != 0) {
        add(t, "%sclear stream %llu", comma, (unsigned long long)c->stream);
        comma = ", ";
    }
    if ((c->flags & NOCAP_CQ_WAIT_NOTIFY_PREFETCH) != 0) {
        add(t, "%snotify prefetch", comma);
        comma = ", ";
    }
    if ((c->flags & NOCAP_CQ_DISPATCH_WAIT_CLEAR_MEMORY) != 0) {
        add(t, "%sclear 0x%llx", comma, (unsigned long long)c->addr);
        comma = ", ";
    }
    uint64_t named = NOCAP_CQ_WAIT_ALL | NOCAP_CQ_DISPATCH_WAIT_CLEAR_MEMORY;
    if ((c->flags & ~named) != 0 || c->flags == 0) {
        add(t, "%sflags 0x%llx", comma, (unsigned long long)c->flags);
    }
}

static void add_go(struct text *t, const struct nocap_cq_command *c)
{
    add(t, "SEND_GO_SIGNAL 0x%llx to %llu", (unsigned long long)c->go_signal,
        (unsigned long long)c->num_unicast_txns);
    if (c->noc_data_start_index != 0) {
        add(t, " from %llu on", (unsigned long long)c->noc_data_start_index);
    }
    if (nocap_cq_multicast_words(c) != 0) {
        add(t, ", %u multicast%s", nocap_cq_multicasts(c), nocap_cq_multicasts(c) > 1 ? "s" : "");
    } else if (nocap_cq_multicasts(c) != 0) {
        add(t, ", multicast offset %llu", (unsigned long long)c->multicast_go_offset);
    }
    add(t, ", stream %llu >= %llu", (unsigned long long)c->wait_stream,
        (unsigned long long)c->wait_count);
}

static void add_list(struct text *t, const struct nocap_cq_command *c, const uint8_t *bytes,
                     size_t size)
{
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    add(t, "SET_GO_SIGNAL_NOC_DATA %llu", (unsigned long long)c->num_words);
    if (nocap_cq_subs(c, &subs) && nocap_cq_sub(&subs, 0, bytes, size, &sub)) {
        add_place(t, sub.noc_xy, nocap_cq_is_rect(sub.noc_xy));
        add(t, "%s", subs.count > 1 ? " .." : "");
    }
}

static void add_event(struct text *t, const struct nocap_cq_command *c, const uint8_t *bytes,
                      size_t size)
{
    if (c->is_event == 0) {
        add(t, "WRITE_LINEAR_H_HOST %lluB", (unsigned long long)c->length);
        return;
    }
    add(t, "WRITE_LINEAR_H_HOST event");
    if (size >= NOCAP_CQ_HEADER + 4) {
        const uint8_t *id = bytes + NOCAP_CQ_HEADER;
        add(t, " 0x%x",
            (uint32_t)id[0] | (uint32_t)id[1] << 8 | (uint32_t)id[2] << 16 | (uint32_t)id[3] << 24);
    }
}

static void add_dispatch(struct text *t, const struct nocap_cq_command *c, const uint8_t *bytes,
                         size_t size)
{
    switch (c->id) {
    case NOCAP_CQ_DISPATCH_WRITE_LINEAR:
    case NOCAP_CQ_DISPATCH_WRITE_LINEAR_H: add_linear(t, c); break;
    case NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST: add_event(t, c, bytes, size); break;
    case NOCAP_CQ_DISPATCH_WRITE_PACKED: add_packed(t, c, bytes, size); break;
    case NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE: add_large(t, c, bytes, size); break;
    case NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE_UNICAST: add_large_unicast(t, c, bytes, size); break;
    case NOCAP_CQ_DISPATCH_WAIT: add_wait(t, c); break;
    case NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL: add_go(t, c); break;
    case NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA: add_list(t, c, bytes, size); break;
    case NOCAP_CQ_DISPATCH_TIMESTAMP:
        add(t, "TIMESTAMP -> 0x%llx", (unsigned long long)c->addr);
        add_place(t, c->noc_xy, false);
        break;
    default: add_fields(t, c); break;
    }
}

static void add_record(struct text *t, const struct nocap_cq_record *r)
{
    const struct nocap_cq_command *p = &r->prefetch;
    uint64_t stride = nocap_cq_align(p->length + NOCAP_CQ_HEADER, NOCAP_CQ_RECORD_ALIGN);
    bool plain =
        p->id == NOCAP_CQ_PREFETCH_RELAY_INLINE && p->stride == stride && p->dispatcher_type == 0;
    if (plain && r->has_dispatch) {
        add(t, "%s", nocap_cq_name(NOCAP_CQ_PREFETCH, p->id));
    } else {
        add_fields(t, p);
    }
    if (r->has_dispatch) {
        add(t, "[");
        add_dispatch(t, &r->dispatch, r->inner, r->inner_size);
        add(t, "]");
    }
}

char *nocap_cq_text(const struct nocap_command_set *set, enum nocap_cq_side side,
                    const uint8_t *bytes, size_t size, char *buffer, size_t room)
{
    struct text t = {.buffer = buffer, .room = room};
    struct nocap_cq_record r;
    struct nocap_cq_command c;
    buffer[0] = '\0';
    if (side == NOCAP_CQ_DISPATCH) {
        if (nocap_cq_decode_by(set, side, bytes, size, &c)) {
            add_dispatch(&t, &c, bytes, size);
        }
    } else if (nocap_cq_decode_record_by(set, bytes, size, &r)) {
        add_record(&t, &r);
    }
    return buffer;
}
