/* SPDX-License-Identifier: Apache-2.0 */
/* libnocap-ttsim.so: stands in for libttsim, forwards every call to the library that the driver
 * shim attached or NOCAP_TTSIM_LIB names, and records what the host does: accesses to the BARs with
 * TLB windows resolved, DMA of the device. The time is the simulator's clock. A simulator's calls
 * come one at a time; it ends the process by _Exit where it finds a fault, and the rings keep what
 * was recorded until then. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/foreign_text.h"
#include "capture/live/chip.h"
#include "capture/live/session.h"

#define TTSIM_LIBRARY "NOCAP_TTSIM_LIB"
#define EXPORT        __attribute__((visibility("default")))

typedef void dma_read_fn(uint64_t paddr, void *data, uint32_t size);
typedef void dma_write_fn(uint64_t paddr, const void *data, uint32_t size);

/* ENTRY(result, name, parameters, arguments): the whole interface of libttsim. */
#define ENTRIES(ENTRY)                                                                             \
    ENTRY(void, init, (void))                                                                      \
    ENTRY(void, exit, (void))                                                                      \
    ENTRY(void, set_pci_dma_mem_callbacks, (dma_read_fn * read, dma_write_fn * write))             \
    ENTRY(uint32_t, pci_config_rd32, (uint32_t bdf, uint32_t offset))                              \
    ENTRY(void, pci_config_wr32, (uint32_t bdf, uint32_t offset, uint32_t data))                   \
    ENTRY(void, pci_mem_rd_bytes, (uint64_t paddr, void *data, uint32_t size))                     \
    ENTRY(void, pci_mem_wr_bytes, (uint64_t paddr, const void *data, uint32_t size))               \
    ENTRY(void, tile_rd_bytes, (uint32_t x, uint32_t y, uint64_t addr, void *data, uint32_t size)) \
    ENTRY(void, tile_wr_bytes,                                                                     \
          (uint32_t x, uint32_t y, uint64_t addr, const void *data, uint32_t size))                \
    ENTRY(void, clock, (uint32_t clocks))

#define ENTRY(result, name, parameters) EXPORT result libttsim_##name parameters;
ENTRIES(ENTRY)
#undef ENTRY

enum { CHIPS_MAX = 32, BARS = 3, IATU_REGIONS = 16 };

struct bar {
    uint64_t base, size; /* size 0: not there */
};

/* An outbound region: what the device calls `base` is `target` in the host's memory. */
struct region {
    uint64_t base, target, size;
    bool enabled;
};

struct chip {
    struct live_chip live;
    struct bar bar[BARS]; /* BAR 0, 2, 4 */
    uint32_t iatu[IATU_REGIONS][9];
};

/* One proxy is one simulator; a second instance in the process has a copy of all this. */
static struct {
#define ENTRY(result, name, parameters) result(*name) parameters;
    ENTRIES(ENTRY)
#undef ENTRY
    dma_read_fn *dma_read;
    dma_write_fn *dma_write;
    void *attached; /* the driver shim's handle of the simulator */
    struct nocap_capture *capture;
    uint64_t time;
    unsigned chips;
    struct chip chip[CHIPS_MAX];
} proxy;

static const enum nocap_space bar_spaces[BARS] = {NOCAP_SPACE_BAR0, NOCAP_SPACE_BAR2,
                                                  NOCAP_SPACE_BAR4};

/* ---- the real library ---- */

static void die(const char *what, const char *why)
{
    foreign_line(stderr, "nocap: %s: %s", what, why);
    _Exit(1);
}

/* A second simulator of the process needs variables of its own: a copy of the library that the
 * loader does not know. */
static void *load_copy(const char *path)
{
    char name[32];
    struct stat st;
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("libttsim", MFD_CLOEXEC);
    if (from < 0 || to < 0 || fstat(from, &st) != 0) {
        die(path, strerror(errno));
    }
    for (off_t done = 0; done < st.st_size;) {
        if (sendfile(to, from, &done, (size_t)(st.st_size - done)) <= 0) {
            die(path, strerror(errno));
        }
    }
    close(from);
    snprintf(name, sizeof name, "/proc/self/fd/%d", to);
    /* Left open: under a number that is used again the loader would find this copy. */
    return dlmopen(LM_ID_BASE, name, RTLD_LAZY | RTLD_LOCAL);
}

/* Takes the entry points; gives what is wrong with the library, NULL is nothing. */
static const char *resolve(void *handle)
{
    if (dlsym(handle, "libttsim_create_device_by_id") != NULL) {
        return "a build for several devices, whose interface this proxy does not have";
    }
#define ENTRY(result, name, parameters)                                                            \
    proxy.name = __extension__(result(*) parameters) dlsym(handle, "libttsim_" #name);
    ENTRIES(ENTRY)
#undef ENTRY
    return proxy.init == NULL || proxy.clock == NULL || proxy.pci_mem_rd_bytes == NULL ||
                   proxy.pci_mem_wr_bytes == NULL || proxy.pci_config_rd32 == NULL
               ? "is no simulator library: libttsim's entry points are not there"
               : NULL;
}

/* Where no driver shim attached one. Not by dlopen, before which the shim may stand. */
static void load(void)
{
    if (proxy.init != NULL) {
        return;
    }
    const char *path = getenv(TTSIM_LIBRARY);
    if (path == NULL || path[0] == '\0') {
        die("libnocap-ttsim.so", TTSIM_LIBRARY " has to name the simulator's library");
    }
    void *loaded = dlmopen(LM_ID_BASE, path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    void *handle =
        loaded != NULL ? load_copy(path) : dlmopen(LM_ID_BASE, path, RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
        die("cannot load the simulator", dlerror());
    }
    const char *why = resolve(handle);
    if (why != NULL) {
        die(path, why);
    }
}

/* The driver shim's: `handle` is the simulator that the program loads as `name`, and goes with this
 * library. False: it cannot be captured, which is told. */
bool nocap_ttsim_attach(void *handle, const char *name);

EXPORT bool nocap_ttsim_attach(void *handle, const char *name)
{
    const char *why = resolve(handle);
    if (why != NULL) {
        live_refuse(name, why);
        dlclose(handle);
        return false;
    }
    proxy.attached = handle;
    return true;
}

/* ---- addresses ---- */

static uint64_t read_bar(uint32_t bdf, unsigned bar)
{
    uint32_t low = proxy.pci_config_rd32(bdf, 0x10 + bar * 8);
    uint64_t high = proxy.pci_config_rd32(bdf, 0x14 + bar * 8);
    return high << 32 | (low & ~UINT32_C(0xF));
}

static void find_chips(enum nocap_arch arch)
{
    static const uint64_t sizes[BARS] = {UINT64_C(512) << 20, UINT64_C(1) << 20,
                                         UINT64_C(32) << 30};
    for (proxy.chips = 0; proxy.chips < CHIPS_MAX; proxy.chips++) {
        uint32_t bdf = proxy.chips << 3;
        struct chip *c = &proxy.chip[proxy.chips];
        if (proxy.chips > 0 && proxy.pci_config_rd32(bdf, 0) == UINT32_MAX) {
            return;
        }
        live_chip_init(&c->live, (uint16_t)proxy.chips, arch, true);
        memset(c->iatu, 0, sizeof c->iatu);
        for (unsigned i = 0; i < BARS; i++) {
            c->bar[i] = (struct bar){read_bar(bdf, i), sizes[i]};
        }
    }
}

/* The chip and BAR of a host address; NULL: of none. */
static struct chip *find(uint64_t paddr, unsigned *bar)
{
    for (unsigned i = 0; i < proxy.chips; i++) {
        for (*bar = 0; *bar < BARS; ++*bar) {
            const struct bar *b = &proxy.chip[i].bar[*bar];
            if (b->base != 0 && paddr - b->base < b->size) {
                return &proxy.chip[i];
            }
        }
    }
    return NULL;
}

/* Words of an outbound region of the address translation: BAR 2, 0x200 bytes apart. */
enum { IATU_FIRST = 0x1000, IATU_STRIDE = 0x200 };
enum iatu_word {
    IATU_CTRL2 = 1,
    IATU_BASE = 2,
    IATU_LIMIT = 4,
    IATU_TARGET = 5,
    IATU_LIMIT_HI = 8
};

static void keep_iatu(struct chip *c, uint64_t offset, const void *data, uint32_t size)
{
    uint64_t at = offset - IATU_FIRST;
    uint64_t region = at / IATU_STRIDE, word = at % IATU_STRIDE / 4;
    if (offset >= IATU_FIRST && region < IATU_REGIONS && word < 9 && size == 4) {
        memcpy(&c->iatu[region][word], data, 4);
    }
}

/* The device's name for byte `paddr` of the host's memory: without translation the same. */
static uint64_t device_address(uint64_t paddr, uint32_t size)
{
    for (unsigned i = 0; i < proxy.chips; i++) {
        for (unsigned r = 0; r < IATU_REGIONS; r++) {
            const uint32_t *w = proxy.chip[i].iatu[r];
            uint64_t base = (uint64_t)w[IATU_BASE + 1] << 32 | w[IATU_BASE];
            uint64_t limit = (uint64_t)w[IATU_LIMIT_HI] << 32 | w[IATU_LIMIT];
            uint64_t target = (uint64_t)w[IATU_TARGET + 1] << 32 | w[IATU_TARGET];
            if (w[IATU_CTRL2] >> 31 != 0 && paddr >= target &&
                paddr - target + size <= limit - base + 1) {
                return base + (paddr - target);
            }
        }
    }
    return paddr;
}

static void record(enum nocap_kind kind, uint64_t paddr, const void *data, uint32_t size)
{
    unsigned bar;
    struct chip *c = find(paddr, &bar);
    if (c == NULL) {
        return;
    }
    uint64_t offset = paddr - c->bar[bar].base;
    if (proxy.capture != NULL) {
        live_record(proxy.capture, &c->live, kind, bar_spaces[bar], offset, data, size,
                    NOCAP_MAP_UC);
    }
    if (kind == NOCAP_EV_WRITE && bar == 0) {
        live_chip_store(&c->live, offset, data, size);
    } else if (kind == NOCAP_EV_WRITE && bar == 1 && !c->live.raw) {
        keep_iatu(c, offset, data, size);
    }
}

/* ---- begin and end ---- */

/* The simulator says what it simulates once it runs. */
static void begin(void)
{
    struct nocap_header header;
    char why[128];
    uint32_t id = proxy.pci_config_rd32(0, 0);
    enum nocap_arch arch;
    proxy.time = 0;
    if (!live_arch(id & 0xFFFF, id >> 16, &arch)) {
        snprintf(why, sizeof why,
                 "a simulator of device %04x:%04x, which is neither Blackhole nor Wormhole",
                 id & 0xFFFF, id >> 16);
        live_refuse("libttsim", why);
        return;
    }
    nocap_header_init(&header);
    header.arch = arch;
    header.complete = NOCAP_TRUE; /* the simulator comes up as after power-on */
    nocap_header_observe(&header, nocap_class_name(NOCAP_CLASS_BIT_HOST_MMIO), NULL);
    proxy.capture = live_open("simulator proxy", &header, NOCAP_CAPTURE_CLOCK_USER);
    nocap_header_free(&header);
    find_chips(arch);
    live_note_raw(proxy.capture, &proxy.chip[0].live);
}

static void end(void)
{
    live_close(proxy.capture);
    proxy.capture = NULL;
}

/* Also of the host's probe, which loads and unloads the library without a call. */
__attribute__((destructor)) static void unloaded(void)
{
    end();
    if (proxy.attached != NULL) {
        dlclose(proxy.attached);
    }
}

/* ---- the interface ---- */

static void dma_read(uint64_t paddr, void *data, uint32_t size)
{
    proxy.dma_read(paddr, data, size);
    if (proxy.capture != NULL) {
        live_record_at(proxy.capture, nocap_in_space(NOCAP_SPACE_SYSMEM), NOCAP_EV_READ,
                       NOCAP_BY_DMA, device_address(paddr, size), data, size);
    }
}

static void dma_write(uint64_t paddr, const void *data, uint32_t size)
{
    if (proxy.capture != NULL) {
        live_record_at(proxy.capture, nocap_in_space(NOCAP_SPACE_SYSMEM), NOCAP_EV_WRITE,
                       NOCAP_BY_DMA, device_address(paddr, size), data, size);
    }
    proxy.dma_write(paddr, data, size);
}

EXPORT void libttsim_init(void)
{
    load();
    proxy.init();
    begin();
}

EXPORT void libttsim_exit(void)
{
    load();
    proxy.exit();
    end();
}

EXPORT void libttsim_set_pci_dma_mem_callbacks(dma_read_fn *read, dma_write_fn *write)
{
    load();
    proxy.dma_read = read;
    proxy.dma_write = write;
    proxy.set_pci_dma_mem_callbacks(read != NULL ? dma_read : NULL,
                                    write != NULL ? dma_write : NULL);
}

EXPORT uint32_t libttsim_pci_config_rd32(uint32_t bdf, uint32_t offset)
{
    load();
    return proxy.pci_config_rd32(bdf, offset);
}

EXPORT void libttsim_pci_config_wr32(uint32_t bdf, uint32_t offset, uint32_t data)
{
    load();
    proxy.pci_config_wr32(bdf, offset, data);
    unsigned chip = bdf >> 3, bar = (offset - 0x10) / 8;
    if (chip < proxy.chips && offset >= 0x10 && bar < BARS) { /* it may lie elsewhere now */
        proxy.chip[chip].bar[bar].base = read_bar(bdf, bar);
    }
}

EXPORT void libttsim_pci_mem_rd_bytes(uint64_t paddr, void *data, uint32_t size)
{
    load();
    proxy.pci_mem_rd_bytes(paddr, data, size);
    record(NOCAP_EV_READ, paddr, data, size);
}

/* Recorded first: if the simulator ends the process here, this is the access that it does not take.
 */
EXPORT void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *data, uint32_t size)
{
    load();
    record(NOCAP_EV_WRITE, paddr, data, size);
    proxy.pci_mem_wr_bytes(paddr, data, size);
}

EXPORT void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t addr, void *data, uint32_t size)
{
    load();
    proxy.tile_rd_bytes(x, y, addr, data, size);
    if (proxy.capture != NULL) {
        live_record_at(proxy.capture, nocap_at_tile((uint8_t)x, (uint8_t)y), NOCAP_EV_READ,
                       NOCAP_BY_HOST, addr, data, size);
    }
}

EXPORT void libttsim_tile_wr_bytes(uint32_t x, uint32_t y, uint64_t addr, const void *data,
                                   uint32_t size)
{
    load();
    if (proxy.capture != NULL) {
        live_record_at(proxy.capture, nocap_at_tile((uint8_t)x, (uint8_t)y), NOCAP_EV_WRITE,
                       NOCAP_BY_HOST, addr, data, size);
    }
    proxy.tile_wr_bytes(x, y, addr, data, size);
}

EXPORT void libttsim_clock(uint32_t clocks)
{
    load();
    if (proxy.capture != NULL) {
        proxy.time += clocks;
        nocap_capture_set_time(proxy.capture, proxy.time);
    }
    proxy.clock(clocks);
}
