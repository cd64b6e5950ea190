/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/address_name.h"

#include <inttypes.h>
#include <stdio.h>

#include "formats/blackhole/registers.h"
#include "formats/blackhole/tlb.h"

struct area {
    uint64_t first, last;
    const char *name;
    enum nocap_space space;
};

#define L1_AREA(NAME, offset, size, name) {(offset), (offset) + (size)-1, (name), NOCAP_SPACE_TILE},
static const struct area l1_areas[] = {
#include "formats/blackhole/layouts.def"
};
#define BAR_AREA(space, first, last, name) {(first), (last), (name), NOCAP_SPACE_##space},
static const struct area bar_areas[] = {
#include "formats/blackhole/bars.def"
};
#define COUNT(areas) (sizeof(areas) / sizeof((areas)[0]))

static const struct area *find_area(const struct area *areas, size_t count, enum nocap_space space,
                                    uint64_t addr)
{
    for (size_t i = 0; i < count; i++) {
        if (areas[i].space == space && addr >= areas[i].first && addr <= areas[i].last) {
            return &areas[i];
        }
    }
    return NULL;
}

/* "NAME", or "NAME+0x10" */
static void name_offset(const char *name, uint64_t offset, char *buffer, size_t size)
{
    if (offset == 0) {
        snprintf(buffer, size, "%s", name);
    } else {
        snprintf(buffer, size, "%s+0x%" PRIx64, name, offset);
    }
}

static void name_l1(const struct nocap_address *address, char *buffer, size_t size)
{
    const struct nocap_mailbox_layout *fallback = nocap_layout_find(NULL);
    const struct nocap_mailbox_layout *layout = address->layout ? address->layout : fallback;
    nocap_mailbox_field_name(layout, address->addr, address->width, buffer, size);
    if (buffer[0] != '\0') {
        return;
    }
    const struct area *area = find_area(l1_areas, COUNT(l1_areas), NOCAP_SPACE_TILE, address->addr);
    /* what lies after the mailbox moves with its size, which is known for one layout */
    if (area && (area->first <= NOCAP_L1_MAILBOX || layout->zeros == fallback->zeros)) {
        name_offset(area->name, address->addr - area->first, buffer, size);
    } else {
        snprintf(buffer, size, "L1+0x%" PRIx64, address->addr);
    }
}

static void name_tile(const struct nocap_address *address, char *buffer, size_t size)
{
    enum nocap_tile_kind kind = nocap_tile_kind(address->board, address->at);
    if (kind != NOCAP_TILE_TENSIX) {
        snprintf(buffer, size, "%s+0x%" PRIx64, nocap_tile_kind_name(kind), address->addr);
        return;
    }
    const struct nocap_region_info *info = nocap_tile_region(address->addr);
    if (info->region == NOCAP_REGION_L1) {
        name_l1(address, buffer, size);
    } else if (info->kind == NOCAP_KIND_REGISTERS) {
        nocap_register_name(address->addr, address->by, buffer, size);
    } else if (info->kind == NOCAP_KIND_GAP) {
        snprintf(buffer, size, "gap");
    } else {
        snprintf(buffer, size, "%s+0x%" PRIx64, info->name, address->addr - info->first);
    }
}

static void name_bar(const struct nocap_address *address, char *buffer, size_t size)
{
    unsigned window, word;
    uint64_t offset;
    if (nocap_tlb_find(address->space, address->addr, &window, &offset)) {
        snprintf(buffer, size, "TLB[%u]+0x%" PRIx64, window, offset);
        return;
    }
    if (address->space == NOCAP_SPACE_BAR0) {
        if (nocap_tlb_is_register(address->addr, &window, &word)) {
            snprintf(buffer, size, "TLB[%u].word%u", window, word);
            return;
        }
        if (nocap_tlb_is_strided(address->addr, &window)) {
            snprintf(buffer, size, "TLB[%u].strided", window);
            return;
        }
    }
    const struct area *area = find_area(bar_areas, COUNT(bar_areas), address->space, address->addr);
    if (area) {
        name_offset(area->name, address->addr - area->first, buffer, size);
    } else {
        snprintf(buffer, size, "%s+0x%" PRIx64, nocap_space_name(address->space), address->addr);
    }
}

const char *nocap_address_name(const struct nocap_address *address, char *buffer, size_t size)
{
    switch (address->space) {
    case NOCAP_SPACE_TILE: name_tile(address, buffer, size); break;
    case NOCAP_SPACE_BAR0:
    case NOCAP_SPACE_BAR2:
    case NOCAP_SPACE_BAR4: name_bar(address, buffer, size); break;
    default:
        snprintf(buffer, size, "%s+0x%" PRIx64, nocap_space_name(address->space), address->addr);
        break;
    }
    return buffer;
}
