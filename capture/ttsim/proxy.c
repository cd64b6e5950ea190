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
#include "capture/live/session.h"
#include "capture/live/ttsim.h"
#include "capture/ttsim/sample.h"
#include "formats/trace/note.h"

#define TTSIM_LIBRARY "NOCAP_TTSIM_LIB"
#define EXPORT        __attribute__((visibility("default")))

#define ENTRY(result, name, parameters) EXPORT result libttsim_##name parameters;
TTSIM_ENTRIES(ENTRY)
#undef ENTRY

/* One proxy is one simulator; a second instance in the process has a copy of all this. */
static struct {
    struct ttsim sim;
    ttsim_dma_read *dma_read;
    ttsim_dma_write *dma_write;
    void *attached; /* the driver shim's handle of the simulator */
    struct nocap_capture *capture;
    bool calling; /* the simulator is in a call, which may find a fault and end the process */
    uint64_t time, every; /* every: clocks between two looks into the device; 0: none */
    struct ttsim_board board;
} proxy;

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

/* Where no driver shim attached one. Not by dlopen, before which the shim may stand. */
static void load(void)
{
    if (proxy.sim.init != NULL) {
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
    const char *why = ttsim_resolve(&proxy.sim, handle);
    if (why != NULL) {
        die(path, why);
    }
}

/* The driver shim's: `handle` is the simulator that the program loads as `name`, and goes with this
 * library. False: it cannot be captured, which is reported. */
bool nocap_ttsim_attach(void *handle, const char *name);

EXPORT bool nocap_ttsim_attach(void *handle, const char *name)
{
    const char *why = ttsim_resolve(&proxy.sim, handle);
    if (why != NULL) {
        live_refuse(name, why);
        dlclose(handle);
        return false;
    }
    proxy.attached = handle;
    return true;
}

static void record(enum nocap_kind kind, uint64_t paddr, const void *data, uint32_t size)
{
    unsigned bar;
    struct ttsim_chip *c = ttsim_find(&proxy.board, paddr, &bar);
    if (c == NULL) {
        return;
    }
    uint64_t offset = paddr - c->bar[bar].base;
    if (proxy.capture != NULL) {
        live_record(proxy.capture, &c->live, kind, ttsim_bar_spaces[bar], offset, data, size,
                    NOCAP_MAP_UC);
    }
    if (kind == NOCAP_EV_WRITE) {
        ttsim_stored(c, bar, offset, data, size);
        sample_stored(c, bar, offset, size);
    }
}

/* ---- begin and end ---- */

/* The simulator says what it simulates once it runs. */
static void begin(void)
{
    struct nocap_header header;
    char why[128];
    enum nocap_arch arch;
    proxy.time = 0;
    if (!ttsim_arch(&proxy.sim, &arch, why, sizeof why)) {
        live_refuse("libttsim", why);
        return;
    }
    nocap_header_init(&header);
    header.arch = arch;
    header.complete = NOCAP_TRUE; /* the simulator comes up as after power-on */
    nocap_header_observe(&header, nocap_class_name(NOCAP_CLASS_BIT_HOST_MMIO), NULL);
    proxy.every = arch == NOCAP_ARCH_BLACKHOLE ? sample_every() : 0;
    if (proxy.every != 0) {
        nocap_header_observe(&header, nocap_class_name(NOCAP_CLASS_BIT_SAMPLED), NULL);
    }
    proxy.capture = live_open("simulator proxy", &header, NOCAP_CAPTURE_CLOCK_USER);
    ttsim_find_chips(&proxy.sim, &proxy.board, arch);
    live_note_raw(proxy.capture, &proxy.board.chip[0].live);
    if (proxy.every != 0 && proxy.capture != NULL) {
        sample_begin(proxy.capture, &proxy.sim, &proxy.board,
                     header.protocol != NULL ? header.protocol : nocap_profile_default());
    }
    nocap_header_free(&header);
}

static void end(void)
{
    sample_end();
    if (proxy.capture != NULL && proxy.calling) {
        const struct nocap_event note = nocap_note_ended(0, proxy.time);
        nocap_recorder_event(proxy.capture, &note);
    }
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

/* Around each call that goes on to the simulator. */
static void calling(bool in)
{
    proxy.calling = in;
    if (proxy.capture != NULL) {
        nocap_recorder_calling(proxy.capture, in);
    }
}

static void dma_read(uint64_t paddr, void *data, uint32_t size)
{
    proxy.dma_read(paddr, data, size);
    if (proxy.capture != NULL) {
        live_record_at(proxy.capture, nocap_in_space(NOCAP_SPACE_SYSMEM), NOCAP_EV_READ,
                       NOCAP_BY_DMA, ttsim_device_address(&proxy.board, paddr, size), data, size);
    }
}

static void dma_write(uint64_t paddr, const void *data, uint32_t size)
{
    if (proxy.capture != NULL) {
        live_record_at(proxy.capture, nocap_in_space(NOCAP_SPACE_SYSMEM), NOCAP_EV_WRITE,
                       NOCAP_BY_DMA, ttsim_device_address(&proxy.board, paddr, size), data, size);
    }
    proxy.dma_write(paddr, data, size);
}

EXPORT void libttsim_init(void)
{
    load();
    proxy.sim.init();
    begin();
}

EXPORT void libttsim_exit(void)
{
    load();
    proxy.sim.exit();
    end();
}

EXPORT void libttsim_set_pci_dma_mem_callbacks(ttsim_dma_read *read, ttsim_dma_write *write)
{
    load();
    proxy.dma_read = read;
    proxy.dma_write = write;
    proxy.sim.set_pci_dma_mem_callbacks(read != NULL ? dma_read : NULL,
                                        write != NULL ? dma_write : NULL);
}

EXPORT uint32_t libttsim_pci_config_rd32(uint32_t bdf, uint32_t offset)
{
    load();
    calling(true);
    uint32_t value = proxy.sim.pci_config_rd32(bdf, offset);
    calling(false);
    return value;
}

EXPORT void libttsim_pci_config_wr32(uint32_t bdf, uint32_t offset, uint32_t data)
{
    load();
    calling(true);
    proxy.sim.pci_config_wr32(bdf, offset, data);
    calling(false);
    ttsim_config_stored(&proxy.sim, &proxy.board, bdf, offset);
}

EXPORT void libttsim_pci_mem_rd_bytes(uint64_t paddr, void *data, uint32_t size)
{
    load();
    calling(true);
    proxy.sim.pci_mem_rd_bytes(paddr, data, size);
    calling(false);
    record(NOCAP_EV_READ, paddr, data, size);
}

/* Recorded first: if the simulator ends the process here, this is the access that it does not take.
 */
EXPORT void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *data, uint32_t size)
{
    load();
    record(NOCAP_EV_WRITE, paddr, data, size);
    calling(true);
    proxy.sim.pci_mem_wr_bytes(paddr, data, size);
    calling(false);
}

EXPORT void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t addr, void *data, uint32_t size)
{
    load();
    calling(true);
    proxy.sim.tile_rd_bytes(x, y, addr, data, size);
    calling(false);
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
    calling(true);
    proxy.sim.tile_wr_bytes(x, y, addr, data, size);
    calling(false);
}

static void run(uint32_t clocks)
{
    if (proxy.capture != NULL) {
        proxy.time += clocks;
        nocap_capture_set_time(proxy.capture, proxy.time);
    }
    calling(true);
    proxy.sim.clock(clocks);
    calling(false);
}

EXPORT void libttsim_clock(uint32_t clocks)
{
    load();
    while (proxy.capture != NULL && proxy.every != 0 &&
           clocks >= proxy.every - proxy.time % proxy.every) {
        uint32_t part = (uint32_t)(proxy.every - proxy.time % proxy.every);
        run(part);
        sample_look(proxy.time);
        clocks -= part;
    }
    if (clocks > 0 || proxy.every == 0) {
        run(clocks);
    }
}
