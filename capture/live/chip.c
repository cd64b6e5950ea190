/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/live/chip.h"

#include <string.h>

bool live_arch(unsigned vendor, unsigned device, enum nocap_arch *arch)
{
    enum { TENSTORRENT = 0x1E52, WORMHOLE = 0x401E, BLACKHOLE = 0xB140 };
    *arch = device == WORMHOLE ? NOCAP_ARCH_WORMHOLE : NOCAP_ARCH_BLACKHOLE;
    return vendor == TENSTORRENT && (device == WORMHOLE || device == BLACKHOLE);
}

void live_chip_init(struct live_chip *chip, uint16_t number, enum nocap_arch arch, bool at_reset)
{
    memset(chip, 0, sizeof *chip);
    chip->number = number;
    chip->raw = arch != NOCAP_ARCH_BLACKHOLE;
    memset(chip->aimed, at_reset, sizeof chip->aimed);
}

void live_chip_store(struct live_chip *chip, uint64_t offset, const void *data, size_t size)
{
    unsigned window, word;
    const uint8_t *bytes = data;
    if (chip->raw || offset >= NOCAP_TLB_REGISTERS_END || offset + size <= NOCAP_TLB_REGISTERS) {
        return; /* most stores */
    }
    for (size_t i = 0; i < size; i++) {
        if (!nocap_tlb_is_register(offset + i, &window, &word)) {
            continue;
        }
        uint32_t *to = &chip->words[window][word];
        unsigned shift = (unsigned)((offset + i) % sizeof *to) * 8;
        *to = (*to & ~(UINT32_C(0xFF) << shift)) | (uint32_t)bytes[i] << shift;
        nocap_tlb_decode(window, chip->words[window], &chip->window[window]);
        chip->aimed[window] = true;
    }
}

void live_chip_aim(struct live_chip *chip, unsigned window, const struct nocap_tlb_window *to)
{
    if (chip->raw) {
        return;
    }
    nocap_tlb_encode(window, to, chip->words[window]);
    nocap_tlb_decode(window, chip->words[window], &chip->window[window]);
    chip->aimed[window] = true;
}

void live_note_raw(struct nocap_capture *capture, const struct live_chip *chip)
{
    static const char text[] = "a Wormhole: accesses are recorded as those to its BARs, and where "
                               "TLB windows point is not followed";
    const struct nocap_event note = {.kind = NOCAP_EV_NOTE,
                                     .has = NOCAP_F_TEXT,
                                     .chip = chip->number,
                                     .data = (const uint8_t *)text,
                                     .data_size = sizeof text - 1};
    if (capture != NULL && chip->raw) {
        nocap_recorder_event(capture, &note);
    }
}

void live_record_at(struct nocap_capture *capture, struct nocap_place place, enum nocap_kind kind,
                    unsigned by, uint64_t addr, const void *data, size_t size)
{
    bool write = kind == NOCAP_EV_WRITE;
    if (data != NULL && (size == 1 || size == 2 || size == 4 || size == 8)) {
        uint64_t value = 0;
        memcpy(&value, data, size);
        if (write) {
            nocap_capture_write(capture, place, by, addr, (unsigned)size, value);
        } else {
            nocap_capture_read(capture, place, by, addr, (unsigned)size, value);
        }
    } else if (write) {
        nocap_capture_write_data(capture, place, by, addr, data, size);
    } else {
        nocap_capture_read_data(capture, place, by, addr, data, size);
    }
}

static struct nocap_place place_of(const struct live_chip *chip, unsigned window,
                                   enum nocap_map map)
{
    const struct nocap_tlb_window *w = &chip->window[window];
    struct nocap_place place = nocap_at_tile(w->x_end, w->y_end);
    if (w->mcast) {
        place.multicast = true;
        place.at = (struct nocap_xy){w->x_start, w->y_start};
        place.to = (struct nocap_xy){w->x_end, w->y_end};
    }
    place.chip = chip->number;
    place.has_window = w->ordering <= NOCAP_ORDER_POSTED && w->noc <= 1;
    place.noc = w->noc;
    place.order = w->ordering;
    place.map = (uint8_t)map;
    return place;
}

bool live_chip_find(const struct live_chip *chip, enum nocap_space space, uint64_t offset,
                    size_t size, enum nocap_map map, struct nocap_place *place, uint64_t *addr)
{
    unsigned window;
    uint64_t inside;
    if (chip->raw || !nocap_tlb_find(space, offset, &window, &inside) || !chip->aimed[window] ||
        size > (UINT64_C(1) << nocap_tlb_shift(window)) - inside) {
        return false;
    }
    *place = place_of(chip, window, map);
    *addr = nocap_tlb_address(window, &chip->window[window], inside);
    return true;
}

void live_record_store(struct nocap_capture *capture, struct nocap_place place, uint64_t addr,
                       uint64_t value, unsigned size, uint64_t seq)
{
    struct nocap_event e = {.kind = NOCAP_EV_WRITE,
                            .by = NOCAP_BY_HOST,
                            .space = place.space,
                            .chip = place.chip,
                            .at = place.at,
                            .addr = addr,
                            .size = size,
                            .value = value,
                            .seq = seq,
                            .has = NOCAP_F_BY | NOCAP_F_SPACE | NOCAP_F_AT | NOCAP_F_ADDR |
                                   NOCAP_F_SIZE | NOCAP_F_VALUE | NOCAP_F_SEQ};
    if (place.has_window) {
        e.noc = place.noc;
        e.order = place.order;
        e.map = place.map;
        e.has |= NOCAP_F_NOC | NOCAP_F_ORDER | NOCAP_F_MAP;
    }
    nocap_recorder_event(capture, &e);
}

void live_record_by(struct nocap_capture *capture, const struct live_chip *chip,
                    enum nocap_kind kind, unsigned by, enum nocap_space space, uint64_t offset,
                    const void *data, size_t size, enum nocap_map map)
{
    const uint8_t *bytes = data;
    while (size > 0) {
        unsigned window;
        uint64_t inside;
        size_t part = size;
        bool found = !chip->raw && nocap_tlb_find(space, offset, &window, &inside);
        if (found) { /* up to the end of the window */
            uint64_t left = (UINT64_C(1) << nocap_tlb_shift(window)) - inside;
            part = left < size ? (size_t)left : size;
        }
        if (found && chip->aimed[window]) {
            uint64_t addr = nocap_tlb_address(window, &chip->window[window], inside);
            live_record_at(capture, place_of(chip, window, map), kind, by, addr, bytes, part);
        } else {
            struct nocap_place place = nocap_in_space(space);
            place.chip = chip->number;
            live_record_at(capture, place, kind, by, offset, bytes, part);
        }
        offset += part;
        bytes = bytes != NULL ? bytes + part : NULL;
        size -= part;
    }
}

void live_record(struct nocap_capture *capture, const struct live_chip *chip, enum nocap_kind kind,
                 enum nocap_space space, uint64_t offset, const void *data, size_t size,
                 enum nocap_map map)
{
    live_record_by(capture, chip, kind, NOCAP_BY_HOST, space, offset, data, size, map);
}
