/* SPDX-License-Identifier: Apache-2.0 */
/* A host of the (fake) simulator, knowing nothing of nocap: tests run it under capture.
 * usage: sim_client LIB WAY
 *   once     loads LIB by its name
 *   probe    loads and unloads it, then a copy in memory, as drivers do for each device
 *   two      two copies, used in turn
 *   again    loads it twice: one simulator
 *   missing  LIB is not there; the loader says so
 *   threads  once, with calls from two threads in turn
 *   launch   ten launches of the fake's kernel, with memory that the device fetches
 *   queue    a pointer of a command queue with addresses of its own */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/blackhole/tlb.h"
#include "tests/fakes/ttsim.h"

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct sim {
    void *handle;
    void (*init)(void);
    void (*exit)(void);
    void (*write)(uint64_t paddr, const void *data, uint32_t size);
    void (*read)(uint64_t paddr, void *data, uint32_t size);
    void (*clock)(uint32_t clocks);
    void (*set_dma)(void (*read)(uint64_t, void *, uint32_t),
                    void (*write)(uint64_t, const void *, uint32_t));
};

static void resolve(struct sim *s)
{
    if (s->handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    *(void **)&s->init = dlsym(s->handle, "libttsim_init");
    *(void **)&s->exit = dlsym(s->handle, "libttsim_exit");
    *(void **)&s->write = dlsym(s->handle, "libttsim_pci_mem_wr_bytes");
    *(void **)&s->read = dlsym(s->handle, "libttsim_pci_mem_rd_bytes");
    *(void **)&s->clock = dlsym(s->handle, "libttsim_clock");
    *(void **)&s->set_dma = dlsym(s->handle, "libttsim_set_pci_dma_mem_callbacks");
    REQUIRE(s->init != NULL && s->exit != NULL && s->write != NULL && s->read != NULL &&
            s->clock != NULL);
}

static void *load_copy(const char *path)
{
    char name[32];
    struct stat st;
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("a copy", MFD_CLOEXEC);
    REQUIRE(from >= 0 && to >= 0 && fstat(from, &st) == 0);
    for (off_t done = 0; done < st.st_size;) {
        REQUIRE(sendfile(to, from, &done, (size_t)(st.st_size - done)) > 0);
    }
    close(from);
    snprintf(name, sizeof name, "/proc/self/fd/%d", to);
    return dlopen(name, RTLD_LAZY);
}

static void store(const struct sim *s, uint64_t offset, uint32_t value)
{
    s->write(FAKE_BAR0 + offset, &value, sizeof value);
}

static uint32_t load(const struct sim *s, uint64_t offset)
{
    uint32_t value;
    s->read(FAKE_BAR0 + offset, &value, sizeof value);
    return value;
}

static void begin(const struct sim *s)
{
    const struct nocap_tlb_window tile = {.x_end = 1, .y_end = 2};
    uint32_t words[NOCAP_TLB_WORDS];
    s->init();
    nocap_tlb_encode(0, &tile, words);
    for (unsigned i = 0; i < NOCAP_TLB_WORDS; i++) {
        store(s, NOCAP_TLB_REGISTERS + i * 4, words[i]);
    }
}

/* Three words of a window, a store and what comes back. */
static void use(const struct sim *s, uint32_t value)
{
    begin(s);
    store(s, 0x100, value);
    s->clock(10);
    REQUIRE(load(s, 0x100) == value);
    s->exit();
}

/* ---- threads in turn ---- */

enum { TURNS = 2000 };
static struct sim shared;
static pthread_barrier_t barrier;

static void *take_turns(void *odd)
{
    for (uint32_t i = 0; i < TURNS; i++) {
        if (i % 2 == (odd != NULL)) {
            store(&shared, 0x100, i);
            REQUIRE(load(&shared, 0x100) == i);
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[2];
    begin(&shared);
    pthread_barrier_init(&barrier, NULL, 2);
    for (unsigned i = 0; i < 2; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, take_turns, i == 0 ? NULL : &shared) == 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    shared.exit();
}

/* ---- launches ---- */

static uint8_t host_memory[4096]; /* from host address 0x1000 */

static void fetch(uint64_t paddr, void *data, uint32_t size)
{
    memcpy(data, host_memory + (paddr - 0x1000), size);
}

static void land(uint64_t paddr, const void *data, uint32_t size)
{
    memcpy(host_memory + (paddr - 0x1000), data, size);
    host_memory[paddr - 0x1000] ^= 0xFF; /* the host has something else there when it is fetched */
}

/* What is polled, what is read once, a poll that is hit at once, a clock of its own. */
static void launch(const struct sim *s)
{
    s->set_dma(fetch, land);
    begin(s);
    for (uint32_t i = 1; i <= 10; i++) {
        store(s, FAKE_INPUT, i * 7);
        store(s, FAKE_GO, (uint32_t)FAKE_SIGNAL_GO << 24);
        while (load(s, FAKE_GO) != 0) {
            s->clock(100);
        }
        REQUIRE(load(s, FAKE_RESULT) == i * 21);
    }
    store(s, 0, 0x04030201);
    store(s, FAKE_DMA, 0x1000);
    s->clock(1);
    REQUIRE(load(s, 64) == 0x040302FE);
    s->exit();
}

/* What a host tells a prefetcher whose pointers lie at 0xA00. */
static void set_up_queue(const struct sim *s)
{
    begin(s);
    store(s, 0xA00, 0xA80);
    s->clock(10);
    s->exit();
}

int main(int argc, char **argv)
{
    const char *library = argc > 1 ? argv[1] : "", *way = argc > 2 ? argv[2] : "";
    struct sim s[2] = {{0}, {0}};
    if (strcmp(way, "once") == 0) {
        s[0].handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
        REQUIRE(s[0].handle == NULL || dlerror() == NULL);
        resolve(&s[0]);
        use(&s[0], 7);
    } else if (strcmp(way, "probe") == 0) {
        void *probe = dlopen(library, RTLD_LAZY);
        REQUIRE(probe != NULL && dlsym(probe, "libttsim_create_device_by_id") == NULL);
        dlclose(probe);
        s[0].handle = load_copy(library);
        resolve(&s[0]);
        use(&s[0], 7);
    } else if (strcmp(way, "two") == 0) {
        for (unsigned i = 0; i < 2; i++) {
            s[i].handle = load_copy(library);
            resolve(&s[i]);
            begin(&s[i]);
        }
        store(&s[0], 0x100, 5);
        REQUIRE(load(&s[1], 0x100) == 0 && load(&s[0], 0x100) == 5);
        s[0].exit();
        s[1].exit();
    } else if (strcmp(way, "again") == 0) {
        s[0].handle = dlopen(library, RTLD_LAZY);
        s[1].handle = dlopen(library, RTLD_LAZY);
        resolve(&s[0]);
        REQUIRE(s[0].handle == s[1].handle);
        REQUIRE(dlopen(library, RTLD_LAZY | RTLD_NOLOAD) == s[0].handle);
        use(&s[0], 7);
    } else if (strcmp(way, "missing") == 0) {
        REQUIRE(dlopen(library, RTLD_LAZY) == NULL && strstr(dlerror(), library) != NULL);
    } else if (strcmp(way, "threads") == 0) {
        shared.handle = dlopen(library, RTLD_LAZY);
        resolve(&shared);
        run_threads();
    } else if (strcmp(way, "launch") == 0) {
        s[0].handle = dlopen(library, RTLD_LAZY);
        resolve(&s[0]);
        launch(&s[0]);
    } else if (strcmp(way, "queue") == 0) {
        s[0].handle = dlopen(library, RTLD_LAZY);
        resolve(&s[0]);
        set_up_queue(&s[0]);
    } else {
        fprintf(stderr,
                "usage: sim_client LIB once|probe|two|again|missing|threads|launch|queue\n");
        return 2;
    }
    return 0;
}
