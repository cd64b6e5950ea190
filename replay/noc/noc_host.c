/* SPDX-License-Identifier: Apache-2.0 */
/* What the host may do to the device's doors: outbound windows and DMA of the PCIe endpoint, the
 * BARs, multicast windows, routers. Rules NOC-006, NOC-009 to NOC-013. */
#include "replay/noc/noc_private.h"

#include <stdlib.h>

#include "formats/blackhole/endpoint.h"
#include "formats/blackhole/other_tiles.h"

static bool word_of(const struct nocap_event *e, uint32_t *v)
{
    return e->size == 4 && nocap_event_word(e, v);
}

/* ---- outbound windows ---- */

struct window {
    uint64_t base, limit;
};

static bool iatu_word(const struct noc_endpoint *p, unsigned region, unsigned offset, uint32_t *v)
{
    *v = p->iatu[region][offset / 4];
    return (p->iatu_known[region] >> offset / 4 & 1) != 0;
}

/* False unless the region is known to be on, and where. */
static bool iatu_window(const struct noc_endpoint *p, unsigned region, struct window *w)
{
    uint32_t control = 0, base_low = 0, base_high = 0, limit_low = 0, limit_high = 0;
    bool known = iatu_word(p, region, NOCAP_IATU_CTRL2, &control) &&
                 iatu_word(p, region, NOCAP_IATU_BASE_LO, &base_low) &&
                 iatu_word(p, region, NOCAP_IATU_BASE_HI, &base_high) &&
                 iatu_word(p, region, NOCAP_IATU_LIMIT_LO, &limit_low) &&
                 iatu_word(p, region, NOCAP_IATU_LIMIT_HI, &limit_high);
    *w = (struct window){(uint64_t)base_high << 32 | base_low,
                         (uint64_t)limit_high << 32 | limit_low};
    return known && (control & NOCAP_IATU_ENABLE) != 0;
}

static void judge_iatu(struct model *m, const struct noc_endpoint *p, unsigned region)
{
    struct window w, other;
    if (!iatu_window(p, region, &w)) {
        return;
    }
    bool order = w.base <= w.limit;
    bool inside = w.limit >> NOCAP_IATU_ADDRESS_BITS == 0;
    unsigned overlaps = NOC_IATU_REGIONS;
    for (unsigned i = 0; i < NOC_IATU_REGIONS; i++) {
        if (i != region && iatu_window(p, i, &other) && w.base <= other.limit &&
            other.base <= w.limit) {
            overlaps = i;
        }
    }
    CHECK(m, NULL, NOC_010, order && inside && overlaps == NOC_IATU_REGIONS, NO_REFS,
          "an outbound region that ends after its base, within 2^58, apart from the others",
          "outbound region %u set to 0x%llx..0x%llx, %s", region, (unsigned long long)w.base,
          (unsigned long long)w.limit,
          order && inside ? "which overlaps another region"
                          : "which ends before its base or beyond 2^58");
}

/* `v`: NULL: it was not captured. */
static void endpoint_word(struct noc_endpoint *p, uint64_t addr, const uint32_t *v)
{
    uint64_t region = (addr - NOCAP_IATU_FIRST) / NOCAP_IATU_STRIDE;
    uint64_t word = (addr - NOCAP_IATU_FIRST) % NOCAP_IATU_STRIDE / 4;
    if (addr >= NOCAP_IATU_FIRST && word < NOC_IATU_WORDS) {
        uint16_t bit = (uint16_t)(1u << word);
        p->iatu[region][word] = v != NULL ? *v : 0;
        p->iatu_known[region] =
            (uint16_t)(v != NULL ? p->iatu_known[region] | bit : p->iatu_known[region] & ~bit);
    } else if (addr == NOCAP_DMA_SIZE) {
        p->dma_size = v != NULL ? *v : 0;
        p->dma_size_known = v != NULL;
    } else if (addr == NOCAP_DMA_DEVICE_ADDRESS) {
        p->dma_address = v != NULL ? *v : 0;
        p->dma_address_known = v != NULL;
    }
}

static void judge_dma(struct model *m, const struct noc_endpoint *p)
{
    bool address = !p->dma_address_known || p->dma_address % 4 == 0;
    CHECK(m, NULL, NOC_012, p->dma_size != 0 && p->dma_size % 4 == 0 && address, NO_REFS,
          "a DMA of a multiple of 4 bytes, not 0, at a multiple of 4",
          address ? "DMA of %u bytes at 0x%x, must be a multiple of 4 and not 0"
                  : "DMA of %u bytes at 0x%x, not at a multiple of 4",
          p->dma_size, p->dma_address);
}

static struct noc_endpoint *endpoint_of(struct model *m, uint16_t chip)
{
    struct noc_endpoint **p = &noc_state(m)->endpoints[chip % NOC_ENDPOINTS];
    if (*p == NULL) {
        *p = calloc(1, sizeof **p);
        m->out_of_memory |= *p == NULL;
    }
    if (*p != NULL && (*p)->chip != chip) {
        **p = (struct noc_endpoint){.chip = chip};
    }
    return *p;
}

/* A store may be of several registers: what it starts is judged by all of them. */
static void endpoint_store(struct model *m, const struct nocap_event *e)
{
    const uint64_t end = NOCAP_IATU_FIRST + NOC_IATU_REGIONS * NOCAP_IATU_STRIDE;
    struct noc_endpoint *p = endpoint_of(m, e->chip);
    if (p == NULL || e->addr >= end || e->size == 0) {
        return;
    }
    const struct access a = access_of_event(e, e->addr, e->size);
    uint64_t last = e->addr + (e->size < end - e->addr ? e->size : end - e->addr) - 1;
    for (uint64_t at = e->addr / 4 * 4; at <= last; at += 4) {
        uint32_t v;
        endpoint_word(p, at, access_word(&a, at, &v) ? &v : NULL);
    }
    for (unsigned region = 0; region < NOC_IATU_REGIONS; region++) {
        if (touches(&a, NOCAP_IATU_FIRST + region * NOCAP_IATU_STRIDE + NOCAP_IATU_CTRL2, 4)) {
            judge_iatu(m, p, region);
        }
    }
    uint32_t doorbell;
    if (access_word(&a, NOCAP_DMA_DOORBELL, &doorbell) && (doorbell & 1) != 0 &&
        p->dma_size_known) {
        judge_dma(m, p);
    }
}

/* ---- BARs, multicast windows, registers of other tiles ---- */

static void judge_bar(struct model *m, const struct nocap_event *e)
{
    uint64_t size = e->space == NOCAP_SPACE_BAR0   ? NOCAP_BAR0_SIZE
                    : e->space == NOCAP_SPACE_BAR2 ? NOCAP_BAR2_SIZE
                                                   : NOCAP_BAR4_SIZE;
    CHECK(m, NULL, NOC_013, e->addr < size && e->size <= size - e->addr, NO_REFS,
          "an access inside the BAR", "access of %llu bytes at 0x%llx beyond the end of %s",
          (unsigned long long)e->size, (unsigned long long)e->addr, nocap_space_name(e->space));
}

static void judge_multicast(struct model *m, const struct nocap_event *e)
{
    bool order = e->at.x <= e->to.x && e->at.y <= e->to.y;
    bool workers = model_is_tensix(m, e->at) && model_is_tensix(m, e->to);
    bool read = e->kind == NOCAP_EV_READ;
    /* hosts read a multicast window to drain it: one tile answers, and while all are held in reset
     * which, matters to none */
    const struct tile *tile = read ? tile_find(m, e->chip, e->at) : NULL;
    m->harmless =
        order && workers && tile != NULL && tile->launch.running[NOCAP_PROCESSOR_BRISC] == NO;
    CHECK(m, NULL, NOC_011, order && workers && !read, NO_REFS,
          "a host multicast that writes, from corner to corner inside the worker grid",
          "host multicast %s of %u,%u-%u,%u%s", read ? "read" : "write", e->at.x, e->at.y, e->to.x,
          e->to.y, read ? "" : ", not from corner to corner inside the worker grid");
    m->harmless = false;
}

static void judge_ethernet(struct model *m, const struct nocap_event *e)
{
    if (model_tile_kind(m, e->at) != NOCAP_TILE_ETHERNET ||
        nocap_niu_place(NOCAP_TILE_ETHERNET, e->addr) != NOCAP_PLACE_MMIO) {
        return;
    }
    bool word = e->size == 4 && e->addr % 4 == 0;
    CHECK(m, NULL, NOC_009, word, NO_REFS, "4 bytes at a multiple of 4",
          "access of %llu bytes at 0x%llx of Ethernet core %u,%u, not 4 bytes at a multiple of 4",
          (unsigned long long)e->size, (unsigned long long)e->addr, e->at.x, e->at.y);
    uint32_t v;
    bool store = e->kind == NOCAP_EV_WRITE && word_of(e, &v);
    if (word) {
        noc_ethernet_access(m, NULL, e->chip, e->at, e->addr, store ? &v : NULL);
    }
}

static bool is_arc(const struct model *m, const struct nocap_event *e)
{
    return (e->has & NOCAP_F_TO) == 0 && model_tile_kind(m, e->at) == NOCAP_TILE_ARC;
}

void noc_host_access(struct model *m, const struct nocap_event *e)
{
    switch (e->space) {
    case NOCAP_SPACE_TILE:
        if ((e->has & NOCAP_F_TO) != 0) {
            judge_multicast(m, e);
        }
        judge_ethernet(m, e);
        if (is_arc(m, e)) {
            noc_arc_access(m, e, e->addr);
        }
        break;
    case NOCAP_SPACE_BAR0:
        if (e->addr >= NOCAP_ARC_BAR0_FIRST && e->addr < NOCAP_BAR0_SIZE) {
            noc_arc_access(m, e, e->addr - NOCAP_ARC_BAR0_FIRST + NOCAP_ARC_REGISTERS);
        } /* fall through */
    case NOCAP_SPACE_BAR4: judge_bar(m, e); break;
    case NOCAP_SPACE_BAR2:
        judge_bar(m, e);
        if (e->kind == NOCAP_EV_WRITE) {
            endpoint_store(m, e);
        }
        break;
    default: break;
    }
}

/* ---- routers ---- */

/* NOC 1 counts columns and rows from the other end; which of the two its registers use is not
 * said, so either passes there. */
static uint32_t mirrored(uint64_t mask, unsigned bits)
{
    uint32_t other = 0;
    for (unsigned i = 0; i < bits; i++) {
        other |= (uint32_t)(mask >> i & 1) << (bits - 1 - i);
    }
    return other;
}

void noc_register_store(struct model *m, const struct tile *tile, const struct access *a)
{
    for (unsigned noc = 0; noc < NOC_NOCS; noc++) {
        uint32_t v;
        bool columns = a->addr == nocap_niu_address(noc, NOCAP_NIU_ROUTER_CFG_1);
        bool rows = a->addr == nocap_niu_address(noc, NOCAP_NIU_ROUTER_CFG_3);
        if ((!columns && !rows) || !access_word(a, a->addr, &v)) {
            continue;
        }
        uint32_t mask = (uint32_t)(columns ? NOCAP_NIU_FIXED_COLUMNS : NOCAP_NIU_FIXED_ROWS);
        uint32_t other = mirrored(mask, columns ? NOCAP_GRID_WIDTH : NOCAP_GRID_HEIGHT);
        bool right = (v & mask) == mask || (noc == 1 && (v & other) == other);
        CHECK(m, tile, NOC_006, right, NO_REFS,
              columns ? "columns 0, 8 and 9 left out of broadcasts"
                      : "rows 0 and 1 left out of broadcasts",
              columns ? "0x%x stored to ROUTER_CFG_1, which does not leave out columns 0, 8 and 9"
                      : "0x%x stored to ROUTER_CFG_3, which does not leave out rows 0 and 1",
              v);
        store_strays(m); /* it may have been to go to another */
    }
}
