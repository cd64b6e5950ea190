/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator proxy before a fake simulator: what the host does is recorded, and nothing changes.
 */
#include "tests/temp_dir.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "formats/blackhole/tlb.h"
#include "formats/import/import.h"
#include "tests/fakes/ttsim.h"

struct sim {
    void *handle;
    void (*init)(void);
    void (*exit)(void);
    void (*set_pci_dma_mem_callbacks)(void (*read)(uint64_t, void *, uint32_t),
                                      void (*write)(uint64_t, const void *, uint32_t));
    uint32_t (*pci_config_rd32)(uint32_t bdf, uint32_t offset);
    void (*pci_mem_rd_bytes)(uint64_t paddr, void *data, uint32_t size);
    void (*pci_mem_wr_bytes)(uint64_t paddr, const void *data, uint32_t size);
    void (*tile_rd_bytes)(uint32_t x, uint32_t y, uint64_t addr, void *data, uint32_t size);
    void (*tile_wr_bytes)(uint32_t x, uint32_t y, uint64_t addr, const void *data, uint32_t size);
    void (*clock)(uint32_t clocks);
};

static char proxy_path[512], fake_path[512];
static uint8_t host[4096]; /* what the device reaches by DMA, from host address 0x1000 */

static void host_read(uint64_t paddr, void *data, uint32_t size)
{
    assert_true(paddr >= 0x1000 && paddr - 0x1000 + size <= sizeof host);
    memcpy(data, host + (paddr - 0x1000), size);
}

static void host_write(uint64_t paddr, const void *data, uint32_t size)
{
    assert_true(paddr >= 0x1000 && paddr - 0x1000 + size <= sizeof host);
    memcpy(host + (paddr - 0x1000), data, size);
}

static struct sim open_sim(const char *path)
{
    struct sim s = {.handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL)};
    if (s.handle == NULL) {
        print_error("%s\n", dlerror());
        fail();
    }
#define RESOLVE(name)                                                                              \
    *(void **)&s.name = dlsym(s.handle, "libttsim_" #name), assert_non_null(s.name)
    RESOLVE(init);
    RESOLVE(exit);
    RESOLVE(set_pci_dma_mem_callbacks);
    RESOLVE(pci_config_rd32);
    RESOLVE(pci_mem_rd_bytes);
    RESOLVE(pci_mem_wr_bytes);
    RESOLVE(tile_rd_bytes);
    RESOLVE(tile_wr_bytes);
    RESOLVE(clock);
#undef RESOLVE
    return s;
}

static void aim(const struct sim *s, unsigned window, const struct nocap_tlb_window *to)
{
    uint32_t words[NOCAP_TLB_WORDS];
    nocap_tlb_encode(window, to, words);
    for (unsigned i = 0; i < NOCAP_TLB_WORDS; i++) {
        s->pci_mem_wr_bytes(FAKE_BAR0 + NOCAP_TLB_REGISTERS + window * 12 + i * 4, &words[i], 4);
    }
}

static void begin(const struct sim *s)
{
    memset(host, 0, sizeof host);
    s->set_pci_dma_mem_callbacks(host_read, host_write);
    s->init();
    assert_int_equal(s->pci_config_rd32(0, 0), 0xB1401E52);
    assert_int_equal(s->pci_config_rd32(0, 0x14), FAKE_BAR0 >> 32);
    assert_int_equal(s->pci_config_rd32(8, 0), UINT32_MAX);
}

static const uint8_t image[5000] = {1, 2, 3, 4, 5};

/* One program of a host: windows, all sizes, a multicast, DMA, raw registers. */
static void run_host(const struct sim *s)
{
    const struct nocap_tlb_window tile = {.x_end = 1, .y_end = 2, .ordering = NOCAP_ORDER_STRICT};
    const struct nocap_tlb_window many = {
        .x_start = 3, .y_start = 4, .x_end = 5, .y_end = 6, .mcast = 1, .noc = 0};
    uint64_t value = UINT64_C(0x1122334455667788), got = 0;
    uint32_t to = 0x1000;
    aim(s, 0, &tile);
    for (uint32_t size = 1; size <= 8; size *= 2) {
        s->pci_mem_wr_bytes(FAKE_BAR0 + 0x100 + size, &value, size);
        s->pci_mem_rd_bytes(FAKE_BAR0 + 0x100 + size, &got, size);
        assert_memory_equal(&got, &value, size);
    }
    s->clock(10);
    aim(s, 5, &many);
    s->pci_mem_wr_bytes(FAKE_BAR0 + (5u << NOCAP_TLB_2M_SHIFT) + 0x40, image, sizeof image);
    s->pci_mem_wr_bytes(FAKE_BAR0, "abcdef", 3);
    s->pci_mem_wr_bytes(FAKE_BAR0 + FAKE_DMA, &to, 4);
    s->clock(5);
    s->tile_wr_bytes(7, 7, 0x20, "tile", 4);
    s->tile_rd_bytes(7, 7, 0x20, &got, 4);
    to = 0x28;
    s->pci_mem_wr_bytes(FAKE_BAR2 + 0x188, &to, 4);
    s->pci_mem_rd_bytes(FAKE_BAR2 + 0x188, &got, 4);
}

static uint64_t memory_hash(const struct sim *s)
{
    static uint8_t tile[FAKE_TILE_BYTES];
    uint64_t hash = NOCAP_FNV1A64_START;
    for (uint32_t x = 0; x < FAKE_WIDTH; x++) {
        for (uint32_t y = 0; y < FAKE_HEIGHT; y++) {
            s->tile_rd_bytes(x, y, 0, tile, sizeof tile);
            hash = nocap_fnv1a64(hash, tile, sizeof tile);
        }
    }
    return hash;
}

/* Events of a trace, at most `max`; the payload's first bytes are copied. */
struct seen {
    struct nocap_event event;
    uint8_t data[16];
};

static size_t read_events(const char *path, struct seen *seen, size_t max,
                          struct nocap_import_result *result)
{
    struct nocap_reader *reader;
    struct nocap_error err = {{0}};
    const struct nocap_event *events;
    size_t count, total = 0;
    if (nocap_import_open(&reader, path, false, result, &err) != NOCAP_OK) {
        print_error("%s\n", err.text);
        fail();
    }
    const struct nocap_header *header = nocap_reader_header(reader);
    assert_int_equal(header->time_unit, NOCAP_TIME_CYCLES);
    assert_int_equal(header->observes, NOCAP_CLASS_HOST_MMIO);
    assert_int_equal(header->complete, NOCAP_TRUE);
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++, total++) {
            assert_null(nocap_event_problem(&events[i]));
            if (total < max) {
                seen[total].event = events[i];
                uint32_t size = events[i].data_size < 16 ? events[i].data_size : 16;
                if (size != 0) {
                    memcpy(seen[total].data, events[i].data, size);
                }
            }
        }
    }
    assert_int_equal(nocap_reader_integrity(reader)->count, 0);
    nocap_reader_close(reader);
    return total;
}

static void a_host_is_recorded_and_not_disturbed(void **state)
{
    (void)state;
    struct sim bare = open_sim(fake_path);
    begin(&bare);
    run_host(&bare);
    uint64_t hash = memory_hash(&bare);
    bare.exit();
    dlclose(bare.handle);
    setenv("NOCAP_CAPTURE", "host.nocap", 1);
    struct sim s = open_sim(proxy_path);
    begin(&s);
    run_host(&s);
    s.clock(1);
    assert_true(memory_hash(&s) == hash);
    s.exit();
    dlclose(s.handle);

    static struct seen e[40];
    struct nocap_import_result result;
    size_t count = read_events("host.nocap", e, 40, &result);
    assert_int_equal(count, 3 + 8 + 3 + 3 + 2 + 2 + 2 + FAKE_WIDTH * FAKE_HEIGHT);
    assert_true(e[0].event.space == NOCAP_SPACE_BAR0 && e[0].event.addr == NOCAP_TLB_REGISTERS);
    for (unsigned i = 0; i < 8; i++) {
        const struct nocap_event *a = &e[3 + i].event;
        unsigned size = 1u << i / 2;
        assert_int_equal(a->kind, i % 2 == 0 ? NOCAP_EV_WRITE : NOCAP_EV_READ);
        assert_true(a->at.x == 1 && a->at.y == 2 && a->addr == 0x100 + size && a->size == size);
        assert_true(a->order == NOCAP_ORDER_STRICT && a->t == 0 && a->by == NOCAP_BY_HOST);
        assert_true(a->value == (UINT64_C(0x1122334455667788) & (UINT64_MAX >> (64 - size * 8))));
    }
    const struct nocap_event *many = &e[14].event;
    assert_true(many->at.x == 3 && many->at.y == 4 && many->to.x == 5 && many->to.y == 6 &&
                many->addr == 0x40 && many->data_size == sizeof image && many->t == 10);
    assert_memory_equal(e[15].data, "abc", 3);
    assert_true(e[17].event.by == NOCAP_BY_DMA && e[17].event.kind == NOCAP_EV_WRITE &&
                e[17].event.space == NOCAP_SPACE_SYSMEM && e[17].event.addr == 0x1000 &&
                e[17].event.t == 15);
    assert_memory_equal(e[17].data, "abc", 3);
    assert_int_equal(e[18].event.kind, NOCAP_EV_READ);
    assert_true(e[19].event.at.x == 7 && e[19].event.addr == 0x20);
    assert_true(e[21].event.space == NOCAP_SPACE_BAR2 && e[21].event.value == 0x28);
}

static void a_probe_makes_no_trace(void **state)
{
    (void)state;
    setenv("NOCAP_CAPTURE", "probe.nocap", 1);
    void *handle = dlopen(proxy_path, RTLD_LAZY);
    assert_non_null(handle);
    assert_null(dlsym(handle, "libttsim_create_device_by_id"));
    dlclose(handle);
    assert_int_equal(access("probe.nocap", F_OK), -1);
}

static void the_address_translation_is_followed(void **state)
{
    (void)state;
    enum { REGION = 0x1000 + 2 * 0x200 };
    static const struct {
        uint32_t offset, value;
    } words[] = {{0x08, 0x40000000}, {0x0C, 0}, {0x10, 0x40000FFF}, {0x14, 0x1000},
                 {0x18, 0},          {0x20, 0}, {0x04, 0x80000000}};
    setenv("NOCAP_CAPTURE", "iatu.nocap", 1);
    struct sim s = open_sim(proxy_path);
    begin(&s);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        s.pci_mem_wr_bytes(FAKE_BAR2 + REGION + words[i].offset, &words[i].value, 4);
    }
    const struct nocap_tlb_window tile = {.x_end = 1, .y_end = 2};
    uint32_t to = 0x1100;
    aim(&s, 0, &tile);
    s.pci_mem_wr_bytes(FAKE_BAR0 + FAKE_DMA, &to, 4);
    s.clock(1);
    s.exit();
    dlclose(s.handle);
    static struct seen e[16];
    struct nocap_import_result result;
    assert_int_equal(read_events("iatu.nocap", e, 16, &result), 7 + 3 + 1 + 2);
    assert_int_equal(e[11].event.addr, 0x40000100);
}

static void nothing_is_lost_when_the_simulator_ends_the_process(void **state)
{
    (void)state;
    enum { WRITES = 1000 };
    setenv("NOCAP_CAPTURE", "fatal.nocap", 1);
    pid_t child = fork();
    if (child == 0) {
        struct sim s = open_sim(proxy_path);
        const struct nocap_tlb_window tile = {.x_end = 1, .y_end = 2};
        begin(&s);
        aim(&s, 0, &tile);
        for (uint32_t i = 0; i < WRITES; i++) {
            s.pci_mem_wr_bytes(FAKE_BAR0 + 0x100, &i, 4);
        }
        s.pci_mem_wr_bytes(FAKE_BAR0 + FAKE_FATAL, "bang", 4);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), FAKE_FATAL_STATUS);
    static struct seen e[WRITES + 5];
    struct nocap_import_result result;
    assert_int_equal(read_events("fatal.nocap", e, WRITES + 5, &result), WRITES + 5);
    assert_true(result.recovered.events > 0);
    assert_int_equal(e[WRITES + 3].event.addr, FAKE_FATAL);
    assert_int_equal(e[WRITES + 4].event.kind, NOCAP_EV_NOTE);
}

/* What ends the process by exit is told by the capture itself, as it is closed. */
static void a_simulator_that_exits_is_told(void **state)
{
    (void)state;
    setenv("NOCAP_CAPTURE", "exits.nocap", 1);
    pid_t child = fork();
    if (child == 0) {
        struct sim s = open_sim(proxy_path);
        begin(&s);
        s.pci_mem_wr_bytes(FAKE_BAR0 + FAKE_EXIT, "bang", 4);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), FAKE_FATAL_STATUS);
    struct seen e[8];
    struct nocap_import_result result;
    size_t count = read_events("exits.nocap", e, 8, &result);
    assert_int_equal(result.recovered.events, 0);
    assert_true(count >= 2);
    assert_int_equal(e[count - 2].event.addr, FAKE_EXIT);
    assert_int_equal(e[count - 1].event.kind, NOCAP_EV_NOTE);
}

/* As a driver does for each of several devices: a copy of the library of its own. */
static struct sim open_copy(const char *path)
{
    char name[32];
    struct stat st;
    int from = open(path, O_RDONLY), to = memfd_create("copy", 0);
    assert_true(from >= 0 && to >= 0 && fstat(from, &st) == 0);
    for (off_t done = 0; done < st.st_size;) {
        assert_true(sendfile(to, from, &done, (size_t)(st.st_size - done)) > 0);
    }
    close(from);
    snprintf(name, sizeof name, "/proc/self/fd/%d", to);
    return open_sim(name);
}

static void two_instances_are_apart(void **state)
{
    (void)state;
    setenv("NOCAP_CAPTURE", "two.nocap", 1);
    struct sim s[2] = {open_copy(proxy_path), open_copy(proxy_path)};
    uint32_t got = 1;
    for (unsigned i = 0; i < 2; i++) {
        begin(&s[i]);
    }
    s[0].tile_wr_bytes(1, 2, 0x10, "\x2A\0\0\0", 4);
    s[1].tile_rd_bytes(1, 2, 0x10, &got, 4);
    assert_int_equal(got, 0);
    s[1].tile_rd_bytes(1, 2, 0x14, &got, 4);
    for (unsigned i = 0; i < 2; i++) {
        s[i].exit();
    }
    char second[64];
    struct seen e[2];
    struct nocap_import_result result;
    snprintf(second, sizeof second, "two.%d.nocap", (int)getpid());
    assert_int_equal(read_events("two.nocap", e, 2, &result), 1);
    assert_int_equal(read_events(second, e, 2, &result), 2);
}

static void a_library_that_is_not_there_is_told(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            if (i == 0) {
                unsetenv("NOCAP_TTSIM_LIB");
            } else {
                setenv("NOCAP_TTSIM_LIB", "/no/such/library.so", 1);
            }
            dup2(open("stderr.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
            struct sim s = open_sim(proxy_path);
            s.init();
            _exit(0);
        }
        int status;
        size_t size;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(WEXITSTATUS(status), 1);
        char *text = read_bytes("stderr.txt", &size);
        assert_contains(text, i == 0 ? "NOCAP_TTSIM_LIB" : "/no/such/library.so");
        free(text);
    }
}

int main(void)
{
    const char *build = getenv("BUILD") != NULL ? getenv("BUILD") : "build";
    char *full = realpath(build, NULL);
    snprintf(proxy_path, sizeof proxy_path, "%s/libnocap-ttsim.so", full);
    snprintf(fake_path, sizeof fake_path, "%s/tests/libfake-ttsim.so", full);
    free(full);
    setenv("NOCAP_TTSIM_LIB", fake_path, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_is_recorded_and_not_disturbed),
        cmocka_unit_test(a_probe_makes_no_trace),
        cmocka_unit_test(the_address_translation_is_followed),
        cmocka_unit_test(nothing_is_lost_when_the_simulator_ends_the_process),
        cmocka_unit_test(a_simulator_that_exits_is_told),
        cmocka_unit_test(two_instances_are_apart),
        cmocka_unit_test(a_library_that_is_not_there_is_told),
    };
    return cmocka_run_group_tests_name("ttsim", tests, temp_dir_enter, temp_dir_leave);
}
