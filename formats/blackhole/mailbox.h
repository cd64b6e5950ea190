/* SPDX-License-Identifier: Apache-2.0 */
/* The mailbox in a Tensix tile's L1: sync word, ring of launch messages, go words. Where the fields
 * lie depends on the firmware build; the header of a trace names the layout. Addresses are L1
 * addresses, sizes bytes, all numbers little-endian. Source: layouts.def; firmware upload and boot
 * document; observed firmware behaviour. */
#ifndef NOCAP_BLACKHOLE_MAILBOX_H
#define NOCAP_BLACKHOLE_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/blackhole/cores.h"

/* The same in all layouts, or in those that firmware has. */
enum nocap_mailbox {
    NOCAP_MAILBOX_BASE = 0x60,
    NOCAP_NCRISC_HALT_RESUME = 0x60, /* u32 */
    NOCAP_NCRISC_HALT_STACK = 0x64,  /* u32 */
    NOCAP_SYNC =
        0x68, /* subordinate sync word: one byte a subordinate, see nocap_core_info.sync_byte */
    NOCAP_SYNC_BYTES = 4,
    NOCAP_RD_PTR = 0x6C,       /* u32, slot of the launch ring that BRISC reads next */
    NOCAP_LAUNCH_RING = 0x70,  /* of the layouts in the table; a profile may have another */
    NOCAP_MAILBOX_END = 0x600, /* of the widest one */
    NOCAP_LAUNCH_SLOTS = 8,
    NOCAP_GO_WORDS = 9,
    NOCAP_GO_WORD_SIZE = 4,
    NOCAP_GO_SIGNAL_BYTE = 3, /* of a go word */
};

#define L1_AREA(NAME, offset, size, name)                                                          \
    NOCAP_L1_##NAME = (offset), NOCAP_L1_##NAME##_SIZE = (size),
enum nocap_l1_area {
#include "formats/blackhole/layouts.def"
};

#define KERNEL_CONFIG(base) base,
static const uint32_t nocap_kernel_config_bases[] __attribute__((unused)) = {
#include "formats/blackhole/layouts.def"
};

/* Between the kernel config area and the bank-to-NOC table, in every firmware seen. */
enum { NOCAP_BANK_TABLE_FROM_KERNEL_CONFIG = 0x9000 };

/* Signal of a go word. */
enum nocap_go {
    NOCAP_GO_DONE = 0x00,
    NOCAP_GO_INIT = 0x40,
    NOCAP_GO_GO = 0x80,
    NOCAP_GO_RESET_READ_PTR = 0xC0,
    NOCAP_GO_RESET_READ_PTR_FROM_HOST = 0xE0, /* obeyed at every poll, never acknowledged */
    NOCAP_GO_REPLAY_TRACE = 0xF0,             /* as RESET_READ_PTR */
};

/* A byte of the subordinate sync word, and the words that firmware uses whole. */
enum nocap_sync {
    NOCAP_SYNC_DONE = 0x00,
    NOCAP_SYNC_LOAD = 0x01,              /* to NCRISC: set up circular buffers */
    NOCAP_SYNC_WAITING_FOR_RESET = 0x02, /* in some builds only */
    NOCAP_SYNC_INIT_REGISTERS = 0x03,    /* to TRISC0: zero the tile counters */
    NOCAP_SYNC_INIT = 0x40,
    NOCAP_SYNC_GO = 0x80,
};
#define NOCAP_SYNC_ALL_DONE UINT32_C(0)
#define NOCAP_SYNC_ALL_INIT UINT32_C(0x40404040)
#define NOCAP_SYNC_ALL_GO   UINT32_C(0x80808080)
#define NOCAP_SYNC_REGISTER_INIT                                                                   \
    UINT32_C(0x00000300) /* only TRISC0 at work, on the tile counters */

/* Fields of a launch message. Bit p of `enables` is processor p (enum nocap_processor); firmware
 * starts all three TRISCs by the bit of TRISC0 and ignores those of the other two. */
enum {
    NOCAP_ENABLES_ALL = (1 << NOCAP_PROCESSOR_COUNT) - 1,
    NOCAP_PRELOAD_FLAG = 0x80,
    NOCAP_MODE_DEV = 0,
    NOCAP_MODE_HOST = 1,
    NOCAP_KERNEL_ALIGN = 4, /* of where a kernel begins: instructions have 4 bytes */
    NOCAP_NOC_MODE_DEDICATED = 0,
    NOCAP_NOC_MODE_DYNAMIC = 1,
    NOCAP_LAUNCH_SIZE_MAX = 160,
};

/* A launch message, as wide as the widest layout; what a layout lacks is 0. [0] of a core type list
 * is Tensix. */
#define LAUNCH_SCALAR(type, member, A, B1, B2, C, D, E, F)          type member;
#define LAUNCH_ARRAY(type, member, elements, A, B1, B2, C, D, E, F) type member[elements];
struct nocap_launch {
#include "formats/blackhole/layouts.def"
};

#define LAUNCH_SCALAR(type, member, A, B1, B2, C, D, E, F)          NOCAP_LAUNCH_##member,
#define LAUNCH_ARRAY(type, member, elements, A, B1, B2, C, D, E, F) NOCAP_LAUNCH_##member,
enum nocap_launch_field {
#include "formats/blackhole/layouts.def"
    NOCAP_LAUNCH_FIELDS
};

/* The name of a field, "enables"; NULL past the last. And how many elements struct nocap_launch has
 * of it, of how many bytes. */
const char *nocap_launch_field_name(unsigned field);
unsigned nocap_launch_field_elements(unsigned field);
unsigned nocap_launch_field_width(unsigned field);

struct nocap_launch_place {
    uint8_t offset; /* from the start of the message */
    uint8_t width;  /* of one element */
    uint8_t count;  /* elements; 0: this layout has no such field */
    uint8_t stride; /* from one element to the next */
};

enum { NOCAP_LAYOUT_NAME_SIZE = 32 };
struct nocap_mailbox_layout {
    char name[NOCAP_LAYOUT_NAME_SIZE]; /* as in a trace's header: "bh-launch96" */
    uint32_t launch_size;              /* of one slot */
    uint32_t core_types;
    uint32_t launch_slots;
    uint32_t go_words;
    uint32_t sync; /* L1 addresses from here on */
    uint32_t rd_ptr;
    uint32_t launch_base;
    uint32_t go_messages;
    uint32_t timestamp;        /* u64 */
    uint32_t go_message_index; /* u32 */
    uint32_t zeros;            /* 512 zero bytes; 0: unknown */
    struct nocap_launch_place fields[NOCAP_LAUNCH_FIELDS];
};

#define LAYOUT(ID, name, launch_size, core_types, go_messages, timestamp, go_message_index, zeros) \
    NOCAP_LAYOUT_##ID,
enum nocap_layout {
#include "formats/blackhole/layouts.def"
    NOCAP_LAYOUT_COUNT
};
extern const struct nocap_mailbox_layout nocap_layouts[NOCAP_LAYOUT_COUNT];

/* Of the core's byte in the sync word; it has one. */
static inline uint32_t nocap_sync_address(const struct nocap_mailbox_layout *layout,
                                          const struct nocap_core_info *core)
{
    return layout->sync + (uint8_t)core->sync_byte;
}

/* By the header's name; NULL name: the default, bh-launch96. NULL: no such layout. */
const struct nocap_mailbox_layout *nocap_layout_find(const char *name);
/* The layout whose go word 0 (or the signal byte of it) a host or dispatcher addressed; NULL: none.
 * Two layouts share 0x3F0: nocap_layout_refine tells them apart by a launch message. */
const struct nocap_mailbox_layout *nocap_layout_from_go_address(uint64_t address);
/* Given a layout and the bytes of a launch message, the layout of the same size in which it makes
 * sense: 1 to 0x1F at the place of `enables`. `layout` itself if that says nothing. */
const struct nocap_mailbox_layout *nocap_layout_refine(const struct nocap_mailbox_layout *layout,
                                                       const uint8_t *message, size_t size);

static inline uint32_t nocap_launch_slot(const struct nocap_mailbox_layout *layout, unsigned slot)
{
    return layout->launch_base + (uint32_t)slot * layout->launch_size;
}
static inline uint32_t nocap_go_word_address(const struct nocap_mailbox_layout *layout, unsigned i)
{
    return layout->go_messages + (uint32_t)i * NOCAP_GO_WORD_SIZE;
}

/* A go word. Its bytes in this order, lowest address first. */
struct nocap_go_word {
    uint8_t offset; /* dispatch message offset: which stream of the dispatch tile to notify */
    uint8_t master_x, master_y; /* dispatch tile */
    uint8_t signal;             /* enum nocap_go */
};
static inline struct nocap_go_word nocap_go_decode(uint32_t word)
{
    return (struct nocap_go_word){(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                                  (uint8_t)(word >> 24)};
}
static inline uint32_t nocap_go_encode(struct nocap_go_word go)
{
    return (uint32_t)go.offset | (uint32_t)go.master_x << 8 | (uint32_t)go.master_y << 16 |
           (uint32_t)go.signal << 24;
}

/* "GO", "DONE", "RESET_READ_PTR" ..; NULL for a value that has no name. */
const char *nocap_go_name(unsigned signal);
/* "DONE", "LOAD", "INIT" ..; NULL for a value that has no name. */
const char *nocap_sync_name(unsigned value);

/* `bytes` holds layout->launch_size bytes. */
void nocap_launch_decode(const struct nocap_mailbox_layout *layout, const uint8_t *bytes,
                         struct nocap_launch *launch);
/* Bytes of no field become 0. */
void nocap_launch_encode(const struct nocap_mailbox_layout *layout,
                         const struct nocap_launch *launch, uint8_t *bytes);
/* One element of a field; 0 if the layout lacks it. */
uint64_t nocap_launch_get(const struct nocap_mailbox_layout *layout, const uint8_t *bytes,
                          enum nocap_launch_field field, unsigned element);
/* Where the kernel of a processor begins in L1. */
static inline uint32_t nocap_kernel_entry(const struct nocap_launch *launch,
                                          enum nocap_processor processor)
{
    return launch->kernel_config_base[0] + launch->kernel_text_offset[processor];
}

/* Whether the launch starts a processor: firmware starts all three TRISCs by the bit of TRISC0. */
static inline bool nocap_launch_starts(const struct nocap_launch *launch, unsigned processor)
{
    unsigned bit = processor > NOCAP_PROCESSOR_TRISC0 ? NOCAP_PROCESSOR_TRISC0 : processor;
    return (launch->enables >> bit & 1) != 0;
}

/* Where the jump in the word at NOCAP_L1_BOOT_JAL leads: BRISC begins there. False: it is none. */
static inline bool nocap_boot_jump(uint32_t word, uint32_t *target)
{
    enum { JAL_X0 = 0x6F };
    *target = (word >> 31 != 0 ? 0xFFF00000u : 0) | (word >> 12 & 0xFF) << 12 |
              (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1;
    return (word & 0xFFF) == JAL_X0;
}

/* What lies at an L1 address. */
enum nocap_mailbox_area {
    NOCAP_AREA_NONE, /* outside of what the layout describes */
    NOCAP_AREA_NCRISC_HALT,
    NOCAP_AREA_SYNC,
    NOCAP_AREA_RD_PTR,
    NOCAP_AREA_LAUNCH, /* index: slot */
    NOCAP_AREA_GO,     /* index: go word */
    NOCAP_AREA_TIMESTAMP,
    NOCAP_AREA_GO_INDEX,
};
struct nocap_mailbox_place {
    uint8_t area; /* enum nocap_mailbox_area */
    uint8_t index;
    uint16_t offset; /* bytes from the start of the area, or of its element `index` */
};
struct nocap_mailbox_place nocap_mailbox_locate(const struct nocap_mailbox_layout *layout,
                                                uint64_t addr);

/* "launch[0].enables", "go_messages[0].signal", "subordinate_sync.trisc1", "go_message_index";
 * "launch[2].enables+1" inside a field. `width` bytes are accessed, 0 if unknown: an access that
 * covers all of a slot, a go word or the sync word is named after the whole. Returns `buffer`,
 * always terminated; empty if the layout describes nothing there. */
const char *nocap_mailbox_field_name(const struct nocap_mailbox_layout *layout, uint64_t addr,
                                     uint64_t width, char *buffer, size_t size);

#endif
