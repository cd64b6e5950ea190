/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/ttsim/sample.h"

#include <stdlib.h>
#include <string.h>

#include "capture/live/session.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/registers.h"
#include "formats/blackhole/xy.h"
#include "formats/profile/profile.h"

enum {
    WINDOW = NOCAP_TLB_2M_COUNT - 1,
    QUEUE_BYTES_MAX = 0x2000,
    SEMAPHORE_BYTES_MAX = 0x100,
    COUNTERS = 6,
    REGISTERS = 2 * COUNTERS + 2 * NOCAP_CB_COUNT, /* that are looked at where a tile works */
};

/* The words of a tile as the look before found them. */
struct look {
    bool queue; /* the host stored to the pointers of a command queue */
    uint8_t mailbox[NOCAP_MAILBOX_END - NOCAP_MAILBOX_BASE];
    uint8_t pointers[QUEUE_BYTES_MAX], semaphores[SEMAPHORE_BYTES_MAX];
    uint32_t registers[REGISTERS];
};

static struct {
    struct nocap_capture *capture;
    const struct ttsim *sim;
    struct ttsim_board *board;
    struct look *looks[TTSIM_CHIPS_MAX][NOCAP_GRID_WIDTH][NOCAP_GRID_HEIGHT];
    uint64_t t, before;
    uint32_t go_messages, pointers, pointers_size, semaphores, semaphores_size; /* L1 */
    uint32_t words[NOCAP_TLB_WORDS]; /* of the window, now */
    uint32_t registers[REGISTERS];   /* addresses, rising */
} s;

/* ---- what is looked at ---- */

uint64_t sample_every(void)
{
    const char *text = getenv(LIVE_SAMPLE);
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

static void list_registers(void)
{
    static const unsigned counters[COUNTERS] = {
        NOCAP_COUNTER_MST_ATOMIC_RESP_RECEIVED,  NOCAP_COUNTER_MST_WR_ACK_RECEIVED,
        NOCAP_COUNTER_MST_RD_RESP_RECEIVED,      NOCAP_COUNTER_MST_POSTED_ATOMIC_SENT,
        NOCAP_COUNTER_MST_NONPOSTED_WR_REQ_SENT, NOCAP_COUNTER_MST_POSTED_WR_REQ_SENT,
    };
    unsigned n = 0;
    for (unsigned noc = 0; noc < 2; noc++) {
        for (unsigned i = 0; i < COUNTERS; i++) {
            s.registers[n++] = nocap_niu_counter_address(noc, counters[i]);
        }
    }
    for (unsigned i = 0; i < NOCAP_CB_COUNT; i++) {
        s.registers[n++] = nocap_stream_address(NOCAP_CB_STREAM + i, NOCAP_STREAM_TILES_ACKED);
        s.registers[n++] = nocap_stream_address(NOCAP_CB_STREAM + i, NOCAP_STREAM_TILES_RECEIVED);
    }
}

static uint32_t at_most(uint32_t size, uint32_t most)
{
    return size < most ? size : most;
}

void sample_begin(struct nocap_capture *capture, const struct ttsim *sim, struct ttsim_board *board,
                  const struct nocap_profile *profile)
{
    const struct nocap_queue *q = &profile->queue;
    memset(&s, 0, sizeof s);
    s.capture = capture;
    s.sim = sim;
    s.board = board;
    s.go_messages = profile->mailbox.go_messages;
    s.pointers = q->rd_ptr_echo;
    s.pointers_size =
        at_most(q->queue + q->queue_slots * q->entry_bytes - q->rd_ptr_echo, QUEUE_BYTES_MAX);
    s.semaphores = q->kernel_config + q->semaphores;
    s.semaphores_size = at_most(4 * q->semaphore_stride, SEMAPHORE_BYTES_MAX);
    list_registers();
}

void sample_end(void)
{
    for (unsigned chip = 0; chip < TTSIM_CHIPS_MAX; chip++) {
        for (unsigned x = 0; x < NOCAP_GRID_WIDTH; x++) {
            for (unsigned y = 0; y < NOCAP_GRID_HEIGHT; y++) {
                free(s.looks[chip][x][y]);
            }
        }
    }
    memset(&s, 0, sizeof s);
}

static bool overlaps(uint64_t addr, uint64_t size, uint64_t first, uint64_t count)
{
    return addr < first + count && first < addr + size;
}

void sample_stored(const struct ttsim_chip *chip, unsigned bar, uint64_t offset, uint32_t size)
{
    struct nocap_place place;
    uint64_t addr;
    if (s.capture == NULL || bar == 1 ||
        !live_chip_find(&chip->live, ttsim_bar_spaces[bar], offset, size, NOCAP_MAP_UC, &place,
                        &addr)) {
        return;
    }
    bool queue = overlaps(addr, size, s.pointers, s.pointers_size);
    if (!queue &&
        !overlaps(addr, size, NOCAP_MAILBOX_BASE, NOCAP_MAILBOX_END - NOCAP_MAILBOX_BASE)) {
        return;
    }
    struct nocap_xy to = place.multicast ? place.to : place.at;
    for (struct nocap_tiles t = nocap_tiles(place.at, to); !t.over; nocap_next_tile(&t)) {
        if (!nocap_is_tensix_tile(NOCAP_BOARD_P150, t.at)) {
            continue;
        }
        struct look **look = &s.looks[chip->live.number][t.at.x][t.at.y];
        *look = *look != NULL ? *look : calloc(1, sizeof **look); /* without memory: no looks */
        if (*look != NULL) {
            (*look)->queue |= queue;
        }
    }
}

/* ---- a look ---- */

static void set_words(const struct ttsim_chip *chip, const uint32_t words[NOCAP_TLB_WORDS])
{
    for (unsigned i = 0; i < NOCAP_TLB_WORDS; i++) {
        if (s.words[i] != words[i]) {
            s.words[i] = words[i];
            s.sim->pci_mem_wr_bytes(chip->bar[0].base + NOCAP_TLB_REGISTERS +
                                        (WINDOW * NOCAP_TLB_WORDS + i) * 4,
                                    &words[i], 4);
        }
    }
}

static void read_tile(const struct ttsim_chip *chip, struct nocap_xy at, uint32_t addr, void *to,
                      uint32_t size)
{
    const struct nocap_tlb_window window = {.page = addr >> NOCAP_TLB_2M_SHIFT,
                                            .x_end = at.x,
                                            .y_end = at.y,
                                            .ordering = NOCAP_ORDER_STRICT};
    uint32_t words[NOCAP_TLB_WORDS];
    nocap_tlb_encode(WINDOW, &window, words);
    set_words(chip, words);
    s.sim->pci_mem_rd_bytes(chip->bar[0].base + ((uint64_t)WINDOW << NOCAP_TLB_2M_SHIFT) +
                                addr % (1u << NOCAP_TLB_2M_SHIFT),
                            to, size);
}

static void record(const struct ttsim_chip *chip, struct nocap_xy at, uint32_t addr,
                   const void *data, uint32_t size)
{
    struct nocap_event e = nocap_event_of(NOCAP_EV_MEM);
    e.t = s.t;
    e.since = s.before;
    e.chip = chip->live.number;
    e.at = at;
    e.addr = addr;
    e.data = data;
    e.data_size = size;
    e.has = NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_DATA | NOCAP_F_SINCE;
    nocap_recorder_event(s.capture, &e);
}

/* Records each word of L1 that changed; true: there was one. */
static bool look_at_memory(const struct ttsim_chip *chip, struct nocap_xy at, uint32_t addr,
                           uint8_t *seen, uint32_t size)
{
    uint8_t now[QUEUE_BYTES_MAX];
    read_tile(chip, at, addr, now, size);
    if (memcmp(seen, now, size) == 0) {
        return false;
    }
    for (uint32_t i = 0; i < size; i += 4) {
        uint32_t part = at_most(size - i, 4);
        if (memcmp(seen + i, now + i, part) != 0) {
            memcpy(seen + i, now + i, part);
            record(chip, at, addr + i, now + i, part);
        }
    }
    return true;
}

static bool goes(const struct look *look, uint32_t go_messages)
{
    uint32_t signal = go_messages + NOCAP_GO_SIGNAL_BYTE - NOCAP_MAILBOX_BASE;
    return signal < sizeof look->mailbox && look->mailbox[signal] == NOCAP_GO_GO;
}

/* Whether a launch runs: the go words of all layouts lie in the mailbox at the same alignment. */
static bool works(const struct look *look, bool changed)
{
    bool go = goes(look, s.go_messages);
    for (unsigned i = 0; i < NOCAP_LAYOUT_COUNT; i++) {
        go |= goes(look, nocap_layouts[i].go_messages);
    }
    return go || changed;
}

static void look_at(const struct ttsim_chip *chip, struct nocap_xy at, struct look *look)
{
    bool changed =
        look_at_memory(chip, at, NOCAP_MAILBOX_BASE, look->mailbox, sizeof look->mailbox);
    if (look->queue) {
        look_at_memory(chip, at, s.semaphores, look->semaphores, s.semaphores_size);
        look_at_memory(chip, at, s.pointers, look->pointers, s.pointers_size);
    }
    for (unsigned i = 0; i < REGISTERS && works(look, changed); i++) {
        uint32_t now;
        read_tile(chip, at, s.registers[i], &now, sizeof now);
        if (now != look->registers[i]) {
            look->registers[i] = now;
            record(chip, at, s.registers[i], &now, sizeof now);
        }
    }
}

void sample_look(uint64_t t)
{
    s.t = t;
    for (unsigned i = 0; s.capture != NULL && i < s.board->chips; i++) {
        const struct ttsim_chip *chip = &s.board->chip[i];
        const uint32_t *own = chip->live.words[WINDOW];
        memcpy(s.words, own, sizeof s.words);
        for (unsigned x = 0; x < NOCAP_GRID_WIDTH; x++) {
            for (unsigned y = 0; y < NOCAP_GRID_HEIGHT; y++) {
                struct look *look = s.looks[i][x][y];
                if (look != NULL) {
                    look_at(chip, (struct nocap_xy){(uint8_t)x, (uint8_t)y}, look);
                }
            }
        }
        set_words(chip, own);
    }
    s.before = t;
}
