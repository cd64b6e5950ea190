/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/: what a program aimed the TLB windows of a device at, and so what its
 * accesses to the device's BARs mean. */
#ifndef NOCAP_LIVE_CHIP_H
#define NOCAP_LIVE_CHIP_H

#include "capture/recorder/capture.h"
#include "formats/blackhole/tlb.h"

struct live_chip {
    uint16_t number; /* the event's `chip` */
    bool raw;        /* its windows are not Blackhole's: accesses to BARs are recorded as such */
    uint32_t words[NOCAP_TLB_COUNT][NOCAP_TLB_WORDS];
    struct nocap_tlb_window window[NOCAP_TLB_COUNT]; /* the same, decoded */
    bool aimed[NOCAP_TLB_COUNT];                     /* its words were seen, or are known to be 0 */
};

/* The architecture of a PCI device; false: none that can be captured. */
bool live_arch(unsigned vendor, unsigned device, enum nocap_arch *arch);
/* `at_reset`: all words are 0; else they are unknown until they are written. */
void live_chip_init(struct live_chip *chip, uint16_t number, enum nocap_arch arch, bool at_reset);
/* In the trace, of a chip that is recorded raw. */
void live_note_raw(struct nocap_capture *capture, const struct live_chip *chip);
/* A store to BAR0: keeps the words that aim windows. */
void live_chip_store(struct live_chip *chip, uint64_t offset, const void *data, size_t size);
void live_chip_aim(struct live_chip *chip, unsigned window, const struct nocap_tlb_window *to);

/* Records an access to byte `offset` of BAR `space`; what goes through a window is recorded as an
 * access to the tile that it is aimed at. `data` NULL: not known. */
void live_record(struct nocap_capture *capture, const struct live_chip *chip, enum nocap_kind kind,
                 enum nocap_space space, uint64_t offset, const void *data, size_t size,
                 enum nocap_map map);

/* The same by another agent than the host. */
void live_record_by(struct nocap_capture *capture, const struct live_chip *chip,
                    enum nocap_kind kind, unsigned by, enum nocap_space space, uint64_t offset,
                    const void *data, size_t size, enum nocap_map map);

/* The tile and address that an access of `size` bytes goes to; false: not through one window that
 * is known. */
bool live_chip_find(const struct live_chip *chip, enum nocap_space space, uint64_t offset,
                    size_t size, enum nocap_map map, struct nocap_place *place, uint64_t *addr);

/* A store of the host that another event restates: both have `seq`. */
void live_record_store(struct nocap_capture *capture, struct nocap_place place, uint64_t addr,
                       uint64_t value, unsigned size, uint64_t seq);

/* Records with a value where the size is 1, 2, 4 or 8 bytes, else with the bytes. */
void live_record_at(struct nocap_capture *capture, struct nocap_place place, enum nocap_kind kind,
                    unsigned by, uint64_t addr, const void *data, size_t size);

#endif
