/* SPDX-License-Identifier: Apache-2.0 */
/* Where an address of a Tensix tile lies, and which kind of tile a coordinate is. Addresses are
 * those of the tile's own address space, in bytes. Source: tile_map.def, tile_grid.def. */
#ifndef NOCAP_BLACKHOLE_TILE_MAP_H
#define NOCAP_BLACKHOLE_TILE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/blackhole/xy.h"
#include "formats/trace/header.h"

#define REGION(NAME, first, last, kind, load, store, sentence) NOCAP_REGION_##NAME,
#define GAP(first, last)
enum nocap_region {
#include "formats/blackhole/tile_map.def"
    NOCAP_REGION_GAP, /* all gaps */
    NOCAP_REGION_COUNT
};
#undef REGION

/* NOCAP_BASE_NIU0 .. : first byte of each region; NOCAP_LAST_NIU0 ..: last byte. Addresses are over
 * INT_MAX, which an enum of C11 has as an extension. */
#define REGION(NAME, first, last, kind, load, store, sentence)                                     \
    NOCAP_BASE_##NAME = (first), NOCAP_LAST_##NAME = (last),
__extension__ enum nocap_region_bound {
#include "formats/blackhole/tile_map.def"
};
#undef REGION
#undef GAP

enum nocap_region_kind {
    NOCAP_KIND_MEMORY,    /* any width */
    NOCAP_KIND_REGISTERS, /* words of 4 bytes, with side effects */
    NOCAP_KIND_RESERVED,  /* named, but nothing there */
    NOCAP_KIND_GAP,
};

enum {
    NOCAP_L1_SIZE = NOCAP_LAST_L1 + 1,
    NOCAP_LDM_STRIDE = 0x2000, /* between the slow paths of two cores */
    NOCAP_GPR_THREAD_SIZE =
        0x100, /* 64 registers; a TRISC sees its own in the first of the three */
    NOCAP_TENSIX_THREADS = 3,
};

/* Bit of `agent` in a set of agents. */
#define NOCAP_MAY(AGENT) (1u << NOCAP_BY_##AGENT)

struct nocap_region_info {
    uint64_t first, last; /* bytes */
    const char *name;     /* "L1", "LDM_TRISC0"; "GAP" */
    const char *sentence; /* what it is */
    uint16_t load, store; /* sets of agents that may, see tile_map.def */
    uint8_t region;       /* enum nocap_region */
    uint8_t kind;         /* enum nocap_region_kind */
};

/* The rows of tile_map.def, gaps among them; they cover all addresses. */
extern const struct nocap_region_info nocap_regions[];
extern const unsigned nocap_region_rows;

/* The search behind nocap_tile_region for what is not L1. */
const struct nocap_region_info *nocap_tile_region_above_l1(uint64_t addr);

/* The row that holds `addr`; never NULL: a gap is a row too. */
static inline const struct nocap_region_info *nocap_tile_region(uint64_t addr)
{
    return addr < NOCAP_L1_SIZE ? &nocap_regions[NOCAP_REGION_L1]
                                : nocap_tile_region_above_l1(addr);
}

enum nocap_tile_kind {
    NOCAP_TILE_NONE, /* outside the grid */
    NOCAP_TILE_TENSIX,
    NOCAP_TILE_DRAM,
    NOCAP_TILE_ETHERNET,
    NOCAP_TILE_PCIE,
    NOCAP_TILE_ARC,
    NOCAP_TILE_OTHER, /* routers, security, CPU clusters, harvested columns */
    NOCAP_TILE_KINDS
};

/* Board UNKNOWN: the full grid, as on P150. */
enum nocap_tile_kind nocap_tile_kind(enum nocap_board board, struct nocap_xy at);
const char *nocap_tile_kind_name(enum nocap_tile_kind kind); /* "Tensix", "DRAM", ... */
bool nocap_is_tensix_tile(enum nocap_board board, struct nocap_xy at);
/* Logical coordinates count the columns and rows of Tensix tiles without gaps, from 0. False: the
 * full grid has no such tile. */
bool nocap_tile_of_logical(struct nocap_xy logical, struct nocap_xy *tile);
/* The other way round, of the board's Tensix tiles as translation numbers them: harvested columns
 * come last there, so they change nothing. False: it is none, or the board is not known. */
bool nocap_logical_of_tile(enum nocap_board board, struct nocap_xy tile, struct nocap_xy *logical);
/* "core(x=0,y=1) virtual(x=1,y=3)", as the runtime's own tools name a worker core; "core 8,3" where
 * logical coordinates are not known. */
enum { NOCAP_CORE_TEXT = 48 };
const char *nocap_core_text(enum nocap_board board, struct nocap_xy at,
                            char text[static NOCAP_CORE_TEXT]);
/* A DRAM channel stands at three coordinates, each with network interfaces of its own: the first of
 * them, and which one this is, 0..2. Of a coordinate of DRAM. */
struct nocap_dram_port {
    struct nocap_xy channel;
    unsigned number;
};
struct nocap_dram_port nocap_dram_port(struct nocap_xy at);
/* Whether it may be a translated coordinate: those of DRAM, Ethernet and PCIe tiles lie beyond the
 * grid. */
bool nocap_is_translated(struct nocap_xy at);

#endif
