/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which drivers and interpreters come to a device's memory, one after the other,
 * knowing nothing of nocap: what arrived is compared here, what was seen by the test that runs
 * this. usage: kmd_ways copies|stores|launches N|speed N */
#include <fcntl.h>
#include <immintrin.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/fakes/kmd.h"
#include "tests/kmd_client.h"

int device;
uint8_t *windows[CLIENT_THREADS];
static volatile uint32_t *registers;

static void open_window(void)
{
    const char *map = getenv("CLIENT_MAP");
    struct kmd_allocate_tlb tlb = {.size = 2 << 20};
    device = open("/dev/tenstorrent/0", O_RDWR | O_CLOEXEC);
    REQUIRE(device >= 0 && ioctl(device, KMD_ALLOCATE_TLB, &tlb) == 0);
    registers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, device, NOCAP_TLB_REGISTERS);
    windows[0] =
        mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, device,
             (off_t)(map != NULL && strcmp(map, "wc") == 0 ? tlb.offset_wc : tlb.offset_uc));
    REQUIRE((void *)registers != MAP_FAILED && windows[0] != MAP_FAILED);
    registers[0] = 0;
    registers[1] = 1 << 11 | 2 << 17;
    registers[2] = 1 << 6; /* strict */
}

/* By pointers, or the compiler would have its own way for small sizes. */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
static void *(*volatile fill)(void *, int, size_t) = memset;

/* ---- the C library's copies, of each size and to each offset ---- */

static void copies(void)
{
    static uint8_t from[CLIENT_COPY_MOST], back[CLIENT_COPY_MOST + 2 * CLIENT_COPY_OFFSETS];
    for (unsigned size = 1; size <= CLIENT_COPY_MOST; size++) {
        for (unsigned offset = 0; offset < CLIENT_COPY_OFFSETS; offset++) {
            uint8_t *to = windows[0] + CLIENT_COPY_FROM + offset;
            for (unsigned i = 0; i < size; i++) {
                from[i] = (uint8_t)(size * 7 + offset * 3 + i);
            }
            *(volatile uint32_t *)(windows[0] + CLIENT_COPY_MARK) = offset << 16 | size;
            copy(to, from, size);
            *(volatile uint32_t *)(windows[0] + CLIENT_COPY_MARK) = 0;
            copy(back, to, size);
            REQUIRE(memcmp(from, back, size) == 0);
        }
        fill(windows[0] + CLIENT_COPY_FROM, (int)size, size);
        copy(back, windows[0] + CLIENT_COPY_FROM, size + 1);
        REQUIRE(back[0] == (uint8_t)size && back[size - 1] == (uint8_t)size);
    }
}

/* ---- stores of a kind, and what follows them ---- */

#define STORE_CHECKS(type, at, value)                                                              \
    do {                                                                                           \
        *(volatile type *)(at) = (type)(value);                                                    \
        REQUIRE(*(volatile type *)(at) == (type)(value));                                          \
    } while (0)

__attribute__((target("avx512f"))) static void wide(uint8_t *at)
{
    uint8_t from[64], back[64];
    memset(from, 0xA5, sizeof from);
    _mm512_storeu_si512(at + 1, _mm512_loadu_si512(from));
    _mm512_storeu_si512(back, _mm512_loadu_si512(at + 1));
    REQUIRE(memcmp(from, back, sizeof from) == 0);
    _mm512_stream_si512((void *)(at + 128), _mm512_loadu_si512(from));
    _mm_sfence();
    REQUIRE(at[128] == 0xA5 && at[191] == 0xA5);
}

/* Under a mask with holes, of bytes and of words, and loads that merge and that clear. */
__attribute__((target("avx512bw,avx512vl"))) static void masked(uint8_t *at)
{
    uint8_t from[64], back[64];
    memset(at, 0x11, 64);
    memset(from, 0x22, sizeof from);
    _mm512_mask_storeu_epi8(at, 0xF00000000000000B, _mm512_loadu_si512(from));
    REQUIRE(at[0] == 0x22 && at[1] == 0x22 && at[2] == 0x11 && at[3] == 0x22 && at[4] == 0x11);
    REQUIRE(at[59] == 0x11 && at[60] == 0x22 && at[63] == 0x22);
    _mm256_mask_storeu_epi32(at, 0x04, _mm256_loadu_si256((void *)from));
    REQUIRE(at[7] == 0x11 && at[8] == 0x22 && at[11] == 0x22 && at[12] == 0x11);
    memset(from, 0x33, sizeof from);
    _mm512_storeu_si512(back, _mm512_mask_loadu_epi8(_mm512_loadu_si512(from), 0x7, at));
    REQUIRE(back[0] == 0x22 && back[2] == 0x11 && back[3] == 0x33 && back[63] == 0x33);
    _mm512_storeu_si512(back, _mm512_maskz_loadu_epi16(0x3, at));
    REQUIRE(back[0] == 0x22 && back[3] == 0x22 && back[4] == 0 && back[63] == 0);
}

__attribute__((target("avx2"))) static void halves(uint8_t *at)
{
    uint8_t from[32], back[32];
    memset(from, 0x3C, sizeof from);
    _mm256_storeu_si256((void *)(at + 3), _mm256_loadu_si256((void *)from));
    _mm256_stream_si256((void *)(at + 64), _mm256_loadu_si256((void *)from));
    _mm_stream_si128((void *)(at + 96), _mm_loadu_si128((void *)from));
    _mm_stream_si32((void *)(at + 112), 0x01020304);
    _mm_stream_si64((void *)(at + 120), 0x0102030405060708);
    _mm_sfence();
    _mm256_storeu_si256((void *)back, _mm256_loadu_si256((void *)(at + 3)));
    REQUIRE(memcmp(from, back, sizeof from) == 0);
    _mm256_storeu_si256((void *)back, _mm256_stream_load_si256((void *)(at + 64)));
    REQUIRE(memcmp(from, back, sizeof from) == 0 && at[112] == 4 && at[120] == 8);
}

/* Arithmetic, flags and jumps between accesses have to come out as they do elsewhere. */
static uint64_t __attribute__((noinline))
mix(volatile uint32_t *at, const uint32_t *memory, unsigned n)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < n; i++) {
        uint32_t v = memory[i];
        at[i % 16] = v;
        sum += v > 1000 ? v ^ 0x55 : (uint64_t)v << 3;
        sum = (sum << 7 | sum >> 57) - (uint64_t)(int8_t)v;
        sum += at[i % 16] == v;
        sum += (int32_t)v < (int32_t)sum ? 3 : 5;
        sum *= 0x9E3779B97F4A7C15;
        sum -= v >= (uint32_t)sum;
        sum += (uint64_t)__builtin_popcount(v) + (uint16_t)(v >> 3) / 7;
    }
    return sum;
}

static void arithmetic(uint8_t *at)
{
    enum { N = 5000 };
    static uint32_t values[N];
    uint32_t plain[16];
    uint32_t seed = 1;
    for (unsigned i = 0; i < N; i++) {
        seed = seed * 1664525 + 1013904223;
        values[i] = i % 3 == 0 ? seed >> 20 : seed;
    }
    REQUIRE(mix((volatile uint32_t *)(void *)at, values, N) == mix(plain, values, N));
}

/* Each condition, with the flags that arithmetic between two stores made. */
#define JUMP(name, a, b)                                                                           \
    __asm__ volatile("movl $1, (%1)\n\t"                                                           \
                     "cmpl %3, %2\n\t"                                                             \
                     "movl $2, 4(%1)\n\t"                                                          \
                     "j" name " 1f\n\t"                                                            \
                     "movl $0, %0\n\t"                                                             \
                     "jmp 2f\n"                                                                    \
                     "1:\tmovl $1, %0\n"                                                           \
                     "2:\tmovl $5, 8(%1)"                                                          \
                     : "=&r"(after_store)                                                          \
                     : "r"(at), "r"(a), "r"(b)                                                     \
                     : "memory", "cc");                                                            \
    __asm__("cmpl %2, %1\n\tset" name " %b0\n\tmovzbl %b0, %0"                                     \
            : "=&q"(alone)                                                                         \
            : "r"(a), "r"(b)                                                                       \
            : "cc");                                                                               \
    REQUIRE(alone == after_store)

static void jumps(uint8_t *at)
{
    static const int32_t values[] = {0, 1, -1, 2, INT32_MAX, INT32_MIN, 0x1234, -77};
    enum { N = sizeof values / sizeof values[0] };
    int alone, after_store;
    for (unsigned i = 0; i < N * N; i++) {
        int32_t a = values[i / N], b = values[i % N];
        JUMP("o", a, b);
        JUMP("no", a, b);
        JUMP("b", a, b);
        JUMP("ae", a, b);
        JUMP("e", a, b);
        JUMP("ne", a, b);
        JUMP("be", a, b);
        JUMP("a", a, b);
        JUMP("s", a, b);
        JUMP("ns", a, b);
        JUMP("p", a, b);
        JUMP("np", a, b);
        JUMP("l", a, b);
        JUMP("ge", a, b);
        JUMP("le", a, b);
        JUMP("g", a, b);
    }
}

/* Deep calls right after a store: their words go where a handler could stand. */
static uint32_t __attribute__((noinline)) deep(volatile uint32_t *at, unsigned n)
{
    volatile uint8_t room[200];
    room[n % sizeof room] = (uint8_t)n;
    *at = n;
    return n == 0 ? 0 : deep(at, n - 1) + room[n % sizeof room];
}

/* The program's own fault after a store is the program's, at its place. */
static sigjmp_buf jump;
static volatile uintptr_t faulted;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    faulted = (uintptr_t)info->si_addr;
    siglongjmp(jump, 1);
}

static void faults(uint8_t *at)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    uint8_t *guarded = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0 && guarded != MAP_FAILED);
    REQUIRE(mprotect(guarded + 4096, 4096, PROT_NONE) == 0);
    for (unsigned i = 0; i < 3; i++) { /* a lock that stayed taken would stop the second */
        faulted = 0;
        if (sigsetjmp(jump, 1) == 0) {
            copy(at + 4, guarded + 4096 - 60 * i, 200);
        }
        REQUIRE(faulted >= (uintptr_t)guarded + 4096 && faulted < (uintptr_t)guarded + 8192);
    }
    signal(SIGSEGV, SIG_DFL);
}

static void stores(void)
{
    uint8_t *at = windows[0];
    for (unsigned i = 0; i < 64; i++) {
        STORE_CHECKS(uint8_t, at + i, i + 1);
        STORE_CHECKS(uint16_t, at + i, 0x101 * i);
        STORE_CHECKS(uint32_t, at + i, 0x1010101 * i);
        STORE_CHECKS(uint64_t, at + i, 0x101010101010101 * i);
    }
    void *to = at + 0x201;
    size_t n = 77;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0x77) : "memory");
    REQUIRE(at[0x201] == 0x77 && at[0x201 + 76] == 0x77);
    if (__builtin_cpu_supports("avx2")) {
        halves(at + 0x300);
    }
    if (__builtin_cpu_supports("avx512f")) {
        wide(at + 0x400);
    }
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        masked(at + 0x500);
    }
    arithmetic(at + 0x600);
    jumps(at + 0x600);
    REQUIRE(deep((volatile uint32_t *)(void *)(at + 0x600), 500) != 0);
    faults(at + 0x700);
}

/* ---- launches ---- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* As an interpreter stores a word: a copy of four bytes, which has the word twice. */
static void launches(unsigned n)
{
    const uint32_t go = UINT32_C(0x80000000);
    volatile uint8_t *signal_byte = windows[0] + FAKE_GO + 3;
    for (unsigned i = 0; i < n; i++) {
        copy(windows[0] + FAKE_GO, &go, sizeof go);
        while (*signal_byte != 0) {
        }
        for (double end = seconds() + 20e-6; seconds() < end;) {
        } /* a second launch would be seen, too */
        while (*signal_byte != 0) {
        }
    }
    printf("%u\n", *(volatile uint32_t *)(windows[0] + FAKE_LAUNCHES));
}

/* ---- figures ---- */

/* Nanoseconds a byte of copies that the C library does with vectors, and of words one by one. */
static void speed(unsigned n)
{
    enum { SIZE = 1500 };
    static uint8_t from[SIZE];
    volatile uint32_t *word = (void *)windows[0];
    double start = seconds();
    for (unsigned i = 0; i < n; i++) {
        copy(windows[0] + 0x1000, from, SIZE);
    }
    double copied = seconds() - start;
    start = seconds();
    for (unsigned i = 0; i < n * 64; i++) {
        word[i % 64] = i;
    }
    double stored = seconds() - start;
    printf("%.3f %.3f\n", copied / n / SIZE * 1e9, stored / n / 64 * 1e9);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    open_window();
    if (strcmp(mode, "copies") == 0) {
        copies();
    } else if (strcmp(mode, "stores") == 0) {
        stores();
    } else if (strcmp(mode, "launches") == 0) {
        launches(n);
    } else if (strcmp(mode, "speed") == 0) {
        speed(n);
    } else {
        fprintf(stderr, "usage: kmd_ways copies|stores|launches N|speed N\n");
        return 2;
    }
    return 0;
}
