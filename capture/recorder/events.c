/* SPDX-License-Identifier: Apache-2.0 */
/* The typed calls, made of nocap_recorder_event. */
#include <string.h>

#include "capture/recorder/recorder.h"

static void put_place(struct nocap_event *e, const struct nocap_place *p)
{
    e->chip = p->chip;
    e->space = p->space;
    if (p->space != NOCAP_SPACE_TILE) {
        e->has |= NOCAP_F_SPACE;
        return;
    }
    e->has |= NOCAP_F_AT;
    e->at = p->at;
    if (p->multicast) {
        e->has |= NOCAP_F_TO;
        e->to = p->to;
    }
}

/* Bytes that do not fit a quarter of a ring become several events. */
static bool record_parts(struct nocap_capture *c, struct nocap_event *e, const uint8_t *data,
                         size_t size)
{
    bool safe = true;
    e->has |= NOCAP_F_DATA;
    do {
        size_t part = size < c->ring_bytes / 4 ? size : (size_t)(c->ring_bytes / 4);
        part = part < NOCAP_PAYLOAD_MAX ? part : NOCAP_PAYLOAD_MAX;
        e->data_size = (uint32_t)part;
        e->size = (e->has & NOCAP_F_SIZE) != 0 ? part : 0;
        e->data = data;
        safe &= nocap_recorder_event(c, e);
        e->addr += part;
        data += part;
        size -= part;
    } while (size > 0);
    return safe;
}

static bool record_data(struct nocap_capture *c, unsigned kind, const struct nocap_place *p,
                        unsigned by, uint64_t addr, const void *data, size_t size)
{
    struct nocap_event e = {.kind = (uint8_t)kind,
                            .by = (uint8_t)by,
                            .has = NOCAP_F_BY | NOCAP_F_ADDR | NOCAP_F_SIZE,
                            .addr = addr};
    put_place(&e, p);
    if (p->has_window) {
        e.has |= NOCAP_F_NOC | NOCAP_F_ORDER | NOCAP_F_MAP;
        e.noc = p->noc;
        e.order = p->order;
        e.map = p->map;
    }
    if (data == NULL) {
        e.size = size;
        return nocap_recorder_event(c, &e);
    }
    return record_parts(c, &e, data, size);
}

bool nocap_capture_write_data(struct nocap_capture *c, struct nocap_place place, unsigned by,
                              uint64_t addr, const void *data, size_t size)
{
    return record_data(c, NOCAP_EV_WRITE, &place, by, addr, data, size);
}

bool nocap_capture_read_data(struct nocap_capture *c, struct nocap_place place, unsigned by,
                             uint64_t addr, const void *data, size_t size)
{
    return record_data(c, NOCAP_EV_READ, &place, by, addr, data, size);
}

bool nocap_capture_noc(struct nocap_capture *c, enum nocap_op op, struct nocap_xy tile, unsigned by,
                       unsigned noc, unsigned buf, struct nocap_xy target, uint64_t daddr,
                       uint64_t size)
{
    struct nocap_event e = {.kind = NOCAP_EV_NOC,
                            .op = (uint8_t)op,
                            .at = tile,
                            .by = (uint8_t)by,
                            .noc = (uint8_t)noc,
                            .buf = (uint8_t)buf,
                            .size = size};
    e.has = NOCAP_F_AT | NOCAP_F_BY | NOCAP_F_NOC | NOCAP_F_BUF | NOCAP_F_SIZE;
    if (op == NOCAP_OP_READ) {
        e.has |= NOCAP_F_S | NOCAP_F_SADDR;
        e.s = target;
        e.saddr = daddr;
    } else {
        e.has |= NOCAP_F_D | NOCAP_F_DADDR;
        e.d = target;
        e.daddr = daddr;
    }
    return nocap_recorder_event(c, &e);
}

bool nocap_capture_tensix(struct nocap_capture *c, enum nocap_op op, struct nocap_xy tile,
                          unsigned thread, uint32_t word)
{
    struct nocap_event e = {.kind = NOCAP_EV_TENSIX,
                            .op = (uint8_t)op,
                            .at = tile,
                            .thread = (uint8_t)thread,
                            .value = word,
                            .has = NOCAP_F_AT | NOCAP_F_THREAD | NOCAP_F_WORD};
    return nocap_recorder_event(c, &e);
}

bool nocap_capture_kernel(struct nocap_capture *c, enum nocap_op op, struct nocap_xy tile,
                          unsigned by, uint64_t pc)
{
    struct nocap_event e = {.kind = NOCAP_EV_KERNEL,
                            .op = (uint8_t)op,
                            .at = tile,
                            .by = (uint8_t)by,
                            .pc = pc,
                            .has = NOCAP_F_AT | NOCAP_F_BY | NOCAP_F_PC};
    return nocap_recorder_event(c, &e);
}

bool nocap_capture_reset(struct nocap_capture *c, enum nocap_op op, struct nocap_xy tile,
                         unsigned by)
{
    struct nocap_event e = {.kind = NOCAP_EV_RESET,
                            .op = (uint8_t)op,
                            .at = tile,
                            .by = (uint8_t)by,
                            .has = NOCAP_F_AT | NOCAP_F_BY};
    return nocap_recorder_event(c, &e);
}

bool nocap_capture_cq_record(struct nocap_capture *c, uint64_t slot, unsigned entry, uint64_t addr,
                             const void *data, size_t size)
{
    struct nocap_event e = {.kind = NOCAP_EV_CQ,
                            .op = NOCAP_OP_RECORD,
                            .slot_index = slot,
                            .entry = entry,
                            .addr = addr,
                            .data = data,
                            .data_size = (uint32_t)size};
    e.has = NOCAP_F_SLOT | NOCAP_F_ENTRY | NOCAP_F_ADDR | NOCAP_F_DATA;
    return nocap_recorder_event(c, &e);
}

bool nocap_capture_cq(struct nocap_capture *c, enum nocap_op op, uint64_t slot, uint64_t addr,
                      uint64_t size)
{
    struct nocap_event e = {.kind = NOCAP_EV_CQ,
                            .op = (uint8_t)op,
                            .addr = addr,
                            .size = size,
                            .has = NOCAP_F_ADDR | NOCAP_F_SIZE};
    if (op == NOCAP_OP_FETCH || op == NOCAP_OP_LANDED) {
        e.has |= NOCAP_F_SLOT;
        e.slot_index = slot;
    }
    return nocap_recorder_event(c, &e);
}

bool nocap_capture_cert(struct nocap_capture *c, enum nocap_op op, unsigned uc, uint64_t page,
                        uint64_t off, uint64_t job, const void *insn, size_t insn_size)
{
    struct nocap_event e = {.kind = NOCAP_EV_CERT,
                            .op = (uint8_t)op,
                            .uc = (uint8_t)uc,
                            .page = page,
                            .off = off,
                            .job = job,
                            .has = NOCAP_F_UC | NOCAP_F_PAGE | NOCAP_F_OFF | NOCAP_F_JOB};
    if (op == NOCAP_OP_START) {
        e.has |= NOCAP_F_INSN;
        e.data = insn;
        e.data_size = (uint32_t)insn_size;
    }
    return nocap_recorder_event(c, &e);
}

bool nocap_capture_mem(struct nocap_capture *c, struct nocap_place place, uint64_t addr,
                       const void *data, size_t size)
{
    struct nocap_event e = {.kind = NOCAP_EV_MEM, .addr = addr, .has = NOCAP_F_ADDR};
    place.multicast = false;
    put_place(&e, &place);
    return record_parts(c, &e, data, size);
}

bool nocap_capture_note(struct nocap_capture *c, const char *text)
{
    struct nocap_event e = {.kind = NOCAP_EV_NOTE,
                            .data = (const uint8_t *)text,
                            .data_size = (uint32_t)strlen(text),
                            .has = NOCAP_F_TEXT};
    return nocap_recorder_event(c, &e);
}
