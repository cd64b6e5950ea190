/* SPDX-License-Identifier: Apache-2.0 */
/* A program that drives the (fake) device as drivers do, knowing nothing of nocap: tests and the
 * bench run it under the shim. usage: kmd_client MODE [N [STATUS]] */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/kmd_client.h"

int device;
uint8_t *windows[CLIENT_THREADS];
static volatile uint32_t *registers;

void client_aim(unsigned window, unsigned x, unsigned y)
{
    registers[window * 3] = 0;
    registers[window * 3 + 1] = x << 11 | y << 17;
    registers[window * 3 + 2] = 1 << 6; /* strict */
}

static void open_device(void)
{
    const char *map = getenv("CLIENT_MAP");
    bool combined = map != NULL && strcmp(map, "wc") == 0;
    device = open("/dev/tenstorrent/0", O_RDWR | O_CLOEXEC);
    REQUIRE(device >= 0);
    registers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, device, NOCAP_TLB_REGISTERS);
    REQUIRE((void *)registers != MAP_FAILED);
    for (unsigned i = 0; i < CLIENT_THREADS; i++) {
        struct kmd_allocate_tlb tlb = {.size = 2 << 20};
        REQUIRE(ioctl(device, KMD_ALLOCATE_TLB, &tlb) == 0);
        REQUIRE(tlb.id == i);
        windows[i] = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, device,
                          (off_t)(combined ? tlb.offset_wc : tlb.offset_uc));
        REQUIRE(windows[i] != MAP_FAILED);
        client_aim(i, 1 + i, 2);
    }
}

/* ---- every sort of access, its values known ---- */

/* In assembly: a compiler would load only what is looked at. */
static void vectors(uint8_t *at, uint8_t fill)
{
    uint8_t from[32], got[32], ones[32];
    memset(from, fill, sizeof from);
    memset(ones, 1, sizeof ones);
    __asm__ volatile("vmovdqu (%1), %%ymm1\n\t"
                     "vmovdqu %%ymm1, 0x201(%0)\n\t"
                     "vmovdqu 0x201(%0), %%ymm2\n\t"
                     "vmovdqu %%ymm2, (%2)"
                     :
                     : "r"(at), "r"(from), "r"(got)
                     : "memory", "xmm1", "xmm2");
    REQUIRE(memcmp(from, got, sizeof got) == 0);
    memset(from, fill + 1, 16);
    __asm__ volatile("movdqu (%1), %%xmm1\n\t"
                     "movaps %%xmm1, 0x240(%0)\n\t"
                     "vmovdqu (%3), %%ymm3\n\t"
                     "vpaddb 0x220(%0), %%ymm3, %%ymm3\n\t"
                     "vmovdqu %%ymm3, (%2)"
                     :
                     : "r"(at), "r"(from), "r"(got), "r"(ones)
                     : "memory", "xmm1", "xmm3");
    REQUIRE(got[0] == (uint8_t)(fill + 1) && got[1] == 1 && got[31] == 1);
}

/* The registers that came last, and those that a load of half of them clears. */
static void wide_vectors(uint8_t *at, uint8_t fill)
{
    uint8_t from[64], got[64];
    if (!__builtin_cpu_supports("avx512vl")) {
        return;
    }
    memset(from, fill, sizeof from);
    __asm__ volatile("vmovdqu64 (%1), %%zmm17\n\t"
                     "vmovdqu64 %%zmm17, 0x280(%0)\n\t"
                     "vmovdqu8 0x280(%0), %%ymm17\n\t"
                     "vmovdqu64 %%zmm17, (%2)"
                     :
                     : "r"(at), "r"(from), "r"(got)
                     : "memory"); /* the compiler itself does not know this register */
    REQUIRE(got[31] == fill && got[32] == 0 && got[63] == 0);
    __asm__ volatile("vmovdqu64 (%1), %%zmm2\n\t"
                     "vmovups 0x280(%0), %%zmm1\n\t"
                     "movups 0x280(%0), %%xmm2\n\t"
                     "vpaddb %%zmm2, %%zmm1, %%zmm1\n\t"
                     "vmovdqu64 %%zmm1, (%2)"
                     :
                     : "r"(at), "r"(from), "r"(got)
                     : "memory", "xmm1", "xmm2");
    REQUIRE(got[0] == (uint8_t)(2 * fill) && got[63] == (uint8_t)(2 * fill));
}

static void one_round(uint8_t *at, uint32_t i)
{
    volatile uint8_t *b = at;
    uint8_t text[100], back[100];
    *(volatile uint32_t *)(b + 0x100) = i;
    REQUIRE(*(volatile uint32_t *)(b + 0x100) == i);
    *(volatile uint8_t *)(b + 0x104) = (uint8_t)i;
    REQUIRE(*(volatile int8_t *)(b + 0x104) == (int8_t)i);
    *(volatile uint16_t *)(b + 0x106) = (uint16_t)(i * 3);
    REQUIRE(*(volatile uint16_t *)(b + 0x106) == (uint16_t)(i * 3));
    *(volatile uint64_t *)(b + 0x108) = i * UINT64_C(0x100000001);
    REQUIRE(*(volatile uint64_t *)(b + 0x108) == i * UINT64_C(0x100000001));
    __asm__ volatile("movl %1, 0x111(%0)" : : "r"(at), "r"(~i) : "memory"); /* unaligned */
    __asm__ volatile("movl $0x1234567, 0x118(%0)" : : "r"(at) : "memory");
    uint32_t old = 5;
    *(volatile uint32_t *)(b + 0x120) = i;
    __asm__ volatile("lock addl %1, 0x120(%0)" : : "r"(at), "r"(7) : "memory", "cc");
    __asm__ volatile("lock xaddl %0, 0x120(%1)" : "+r"(old) : "r"(at) : "memory", "cc");
    REQUIRE(old == i + 7);
    uint32_t expected = i + 12;
    bool same;
    __asm__ volatile("lock cmpxchgl %3, 0x120(%2)"
                     : "+a"(expected), "=@ccz"(same)
                     : "r"(at), "r"(99)
                     : "memory");
    REQUIRE(same);
    uint64_t self = (uintptr_t)at + 0x120; /* address and operand in one register */
    __asm__ volatile("addq (%0), %0" : "+r"(self) : : "memory", "cc");
    REQUIRE((uint32_t)(self - ((uintptr_t)at + 0x120)) == 99);
    vectors(at, (uint8_t)i);
    wide_vectors(at, (uint8_t)i);
    for (unsigned k = 0; k < sizeof text; k++) {
        text[k] = (uint8_t)(i + k);
    }
    void *to = at + 0x301, *from = text;
    size_t n = sizeof text;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    REQUIRE(n == 0 && to == at + 0x301 + sizeof text);
    to = back, from = at + 0x301, n = sizeof text;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    REQUIRE(memcmp(text, back, sizeof text) == 0);
}

static void *all_sorts(void *argument)
{
    uint8_t *at = argument;
    for (uint32_t i = 0; i < CLIENT_ROUNDS; i++) {
        one_round(at, i);
    }
    return NULL;
}

static uint64_t count;

static void *count_up(void *argument)
{
    volatile uint64_t *at = (void *)((uint8_t *)argument + 0x400);
    for (uint64_t i = 0; i < count; i++) {
        *at = i;
    }
    return NULL;
}

static void run_threads(void *(*body)(void *))
{
    pthread_t threads[CLIENT_THREADS];
    for (unsigned i = 0; i < CLIENT_THREADS; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, body, windows[i]) == 0);
    }
    for (unsigned i = 0; i < CLIENT_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* Windows of a page each, more than many chips have. */
static void many_windows(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        volatile uint32_t *page =
            mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, device, (off_t)KMD_WINDOWS);
        REQUIRE((void *)page != MAP_FAILED);
        page[1] = (uint32_t)i;
        REQUIRE(page[1] == (uint32_t)i);
    }
}

/* ---- figures ---- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void measure(uint64_t n)
{
    volatile uint32_t *at = (void *)(windows[0] + 0x100);
    double start = seconds();
    for (uint64_t i = 0; i < n; i++) {
        *at = (uint32_t)i;
    }
    double move = seconds() - start;
    start = seconds();
    for (uint64_t i = 0; i < n; i++) {
        __asm__ volatile("lock addl $1, (%0)" : : "r"(at) : "memory", "cc");
    }
    double step = seconds() - start;
    printf("%.6f %.6f\n", move / (double)n * 1e6, step / (double)n * 1e6);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    open_device();
    if (strcmp(mode, "threads") == 0) {
        run_threads(all_sorts);
    } else if (strcmp(mode, "count") == 0) {
        run_threads(count_up);
    } else if (strcmp(mode, "measure") == 0) {
        measure(count);
    } else if (strcmp(mode, "many") == 0) {
        many_windows(count);
    } else if (strcmp(mode, "rest") == 0) {
        client_rest();
    } else if (strcmp(mode, "queue") == 0) {
        client_queues((uint32_t)count);
    } else if (strcmp(mode, "reset") == 0) {
        client_reset();
    } else if (strcmp(mode, "masks") == 0) {
        client_masks();
    } else if (strcmp(mode, "untraced") == 0) {
        client_untraced();
    } else {
        fprintf(stderr, "usage: kmd_client MODE [N [STATUS]]\n");
        return 2;
    }
    if (getenv("CLIENT_END") != NULL) { /* "_exit" */
        _exit(0);
    }
    return argc > 3 ? atoi(argv[3]) : 0;
}
