/* SPDX-License-Identifier: Apache-2.0 */
/* The rest of the client: what a driver and its program do besides loads and stores. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kmd_client.h"

ssize_t __read_chk(int, void *, size_t, size_t);
sighandler_t __sysv_signal(int, sighandler_t);

static sigjmp_buf jump;
static volatile uintptr_t faulted;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    faulted = (uintptr_t)info->si_addr;
    siglongjmp(jump, 1);
}

/* The program's own faults are its own, masked or not. */
static void own_signals(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, old;
    REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0);
    REQUIRE(sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_sigaction == on_fault);
    volatile int *guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sigsetjmp(jump, 1) == 0) {
        *guarded = 1;
    }
    REQUIRE(faulted == (uintptr_t)guarded);
    sigset_t every;
    sigfillset(&every);
    REQUIRE(sigprocmask(SIG_SETMASK, &every, NULL) == 0);
    *(volatile uint32_t *)(windows[0] + 0x500) = 1; /* with all signals blocked */
    sigemptyset(&every);
    sigprocmask(SIG_SETMASK, &every, NULL);
}

static void system_calls(void)
{
    int pipes[2];
    char back[8] = "";
    REQUIRE(pipe(pipes) == 0);
    REQUIRE(write(pipes[1], "abcdefgh", 8) == 8);
    REQUIRE(read(pipes[0], windows[0] + 0x510, 8) == 8);
    REQUIRE(write(pipes[1], windows[0] + 0x510, 8) == 8);
    REQUIRE(read(pipes[0], back, 8) == 8 && memcmp(back, "abcdefgh", 8) == 0);
}

/* Buffers of which some are on the device. */
static void system_calls_with_lists(void)
{
    int pipes[2], sockets[2];
    char text[] = "abcdefghijklmnop", back[17] = "", first[4];
    uint8_t *at = windows[0] + 0x560;
    struct iovec in[] = {{first, 4}, {at, 8}, {first, 4}};
    struct iovec out[] = {{text, 4}, {at, 8}, {text + 12, 4}};
    REQUIRE(pipe(pipes) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    REQUIRE(write(pipes[1], text, 16) == 16);
    REQUIRE(readv(pipes[0], in, 3) == 16 && memcmp(first, "mnop", 4) == 0);
    REQUIRE(writev(pipes[1], out, 3) == 16);
    REQUIRE(read(pipes[0], back, 16) == 16 && strcmp(back, text) == 0);
    struct msghdr message = {.msg_iov = out, .msg_iovlen = 3};
    REQUIRE(sendmsg(sockets[0], &message, 0) == 16);
    message.msg_iov = in;
    REQUIRE(recvmsg(sockets[1], &message, 0) == 16 && message.msg_iov == in);
    REQUIRE(sendto(sockets[0], at, 8, 0, NULL, 0) == 8);
    REQUIRE(__read_chk(sockets[1], at + 8, 8, 8) == 8);
}

/* A stack for handlers that is small for them. */
static void small_stack(void)
{
    static char stack[16 << 10];
    stack_t wanted = {.ss_sp = stack, .ss_size = sizeof stack}, got;
    REQUIRE(sigaltstack(&wanted, NULL) == 0);
    *(volatile uint32_t *)(windows[0] + 0x580) = 7;
    REQUIRE(sigaltstack(NULL, &got) == 0);
    REQUIRE(got.ss_sp == stack && got.ss_size == sizeof stack);
    wanted.ss_flags = SS_DISABLE;
    REQUIRE(sigaltstack(&wanted, NULL) == 0);
}

/* A mapping that moves works on, untraced. */
static void move(void)
{
    void *target = mmap(NULL, 2 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *(volatile uint32_t *)(windows[3] + 0x590) = 8;
    uint8_t *moved = mremap(windows[3], 2 << 20, 2 << 20, MREMAP_MAYMOVE | MREMAP_FIXED, target);
    REQUIRE(moved == target && *(volatile uint32_t *)(moved + 0x590) == 8);
    *(volatile uint32_t *)(moved + 0x590) = 9;
    windows[3] = moved;
}

static void aim_by_ioctl(void)
{
    struct kmd_configure_tlb c = {
        .id = 3, .addr = 0xFFA00000, .x_end = 7, .y_end = 8, .ordering = 2};
    REQUIRE(ioctl(device, KMD_CONFIGURE_TLB, &c) == 0);
    *(volatile uint32_t *)(windows[3] + 0x520) = 2;
}

static void dma(void)
{
    static char data[64] = "sent by the DMA engine";
    volatile uint32_t *bar2 =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, device, (off_t)KMD_BAR2);
    struct kmd_pin_pages pin = {.output_size = 8, .address = (uintptr_t)data, .size = sizeof data};
    REQUIRE((void *)bar2 != MAP_FAILED && ioctl(device, KMD_PIN_PAGES, &pin) == 0);
    bar2[KMD_DMA_SOURCE / 4] = (uint32_t)pin.iova;
    bar2[KMD_DMA_SOURCE / 4 + 1] = (uint32_t)(pin.iova >> 32);
    bar2[KMD_DMA_TARGET / 4] = 0x600; /* window 0 */
    bar2[KMD_DMA_SIZE / 4] = 32;
    bar2[KMD_DMA_DOORBELL / 4] = 1;
}

static void fork_and_access(void)
{
    pid_t child = fork();
    if (child == 0) {
        *(volatile uint32_t *)(windows[1] + 0x530) = 3;
        exit(0);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    REQUIRE(*(volatile uint32_t *)(windows[1] + 0x530) == 3);
}

/* Code that cannot be traced goes on, untraced. */
static void odd_code(void)
{
    uint8_t *at = windows[2] + 0x540;
    *(volatile uint32_t *)at = 5;
    void *from = at, *to = at + 0x10;
    __asm__ volatile("cmpsb" : "+S"(from), "+D"(to) : : "memory", "cc");
    *(volatile uint32_t *)at = 6;
    REQUIRE(*(volatile uint32_t *)at == 6);
}

/* The driver keeps a window whole, and does not free it while it is mapped; of a BAR any page goes. */
static void unmap(void)
{
    enum { PLAIN = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED };
    uint32_t id = 0;
    REQUIRE(munmap(windows[0], 4096) == -1 && errno == EINVAL);
    REQUIRE(munmap(windows[0] + 4096, 2 << 20) == -1 && errno == EINVAL);
    REQUIRE(mmap(windows[0], 4096, PROT_READ, PLAIN, -1, 0) == MAP_FAILED && errno == EINVAL);
    *(volatile uint32_t *)(windows[0] + 0x1000) = 4;
    REQUIRE(ioctl(device, KMD_FREE_TLB, &id) == -1 && errno == EBUSY);
    for (unsigned i = 0; i < CLIENT_THREADS; i++) {
        REQUIRE(munmap(windows[i], 2 << 20) == 0);
    }
    REQUIRE(ioctl(device, KMD_FREE_TLB, &id) == 0);
    uint8_t *bar = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0x2000);
    REQUIRE(bar != MAP_FAILED && munmap(bar + 4096, 4096) == 0);
    *(volatile uint32_t *)bar = 10;
    *(volatile uint32_t *)(bar + 0x2000) = 11;
    REQUIRE(munmap(bar, 3 * 4096) == 0);
}

/* The device goes away under a mapping: the program gets the signal, at its own address. */
void client_reset(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    uint32_t flags[4] = {16, 4};
    REQUIRE(sigaction(SIGBUS, &action, NULL) == 0);
    REQUIRE(ioctl(device, KMD_RESET_DEVICE, flags) == 0);
    for (unsigned i = 0; i < 2; i++) { /* a lock that stayed taken would stop the second */
        faulted = 0;
        if (sigsetjmp(jump, 1) == 0) {
            *(volatile uint32_t *)(windows[1] + 0x550) = 1;
        }
        REQUIRE(faulted == (uintptr_t)windows[1] + 0x550);
    }
    int pipes[2];
    REQUIRE(pipe(pipes) == 0 && write(pipes[1], "abcd", 4) == 4);
    REQUIRE(read(pipes[0], windows[1] + 0x550, 4) == -1 && errno == EFAULT);
    REQUIRE(write(pipes[1], windows[1] + 0x550, 4) == -1 && errno == EFAULT);
}

static void *add_one(void *at)
{
    __asm__ volatile("lock addl $1, (%0)" : : "r"(at) : "memory", "cc");
    return NULL;
}

/* What the shim has for a thread goes with it. */
static void threads_that_end(void)
{
    enum { ROUNDS = 50, MOST = 256 << 10 };
    char line[256];
    unsigned long writable_code = 0, start, end;
    for (unsigned i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, add_one, windows[0] + 0x5D0) == 0);
        pthread_join(thread, NULL);
    }
    FILE *maps = fopen("/proc/self/maps", "r");
    REQUIRE(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, " rwxp ") != NULL && sscanf(line, "%lx-%lx", &start, &end) == 2) {
            writable_code += end - start;
        }
    }
    fclose(maps);
    REQUIRE(writable_code <= MOST);
}

void client_rest(void)
{
    threads_that_end();
    own_signals();
    system_calls();
    system_calls_with_lists();
    small_stack();
    aim_by_ioctl();
    dma();
    fork_and_access();
    odd_code();
    move();
    unmap();
}

/* ---- signals ---- */

static sigset_t all_but_user;

static void store_from_handler(int number)
{
    *(volatile uint32_t *)(windows[0] + (number == SIGALRM ? 0x5A8 : 0x5A0)) = 1;
}

/* The handler runs while a call has all other signals blocked. */
static void interrupted(int result)
{
    REQUIRE(result == -1 && errno == EINTR);
    raise(SIGUSR1); /* for the next call */
}

static void calls_with_masks(void)
{
    const struct timespec soon = {5, 0};
    struct epoll_event event;
    sigset_t user;
    int epoll = epoll_create1(0);
    signal(SIGUSR1, store_from_handler);
    sigemptyset(&user);
    sigaddset(&user, SIGUSR1);
    sigfillset(&all_but_user);
    sigdelset(&all_but_user, SIGUSR1);
    REQUIRE(sigprocmask(SIG_BLOCK, &user, NULL) == 0);
    raise(SIGUSR1);
    interrupted(ppoll(NULL, 0, &soon, &all_but_user));
    interrupted(pselect(0, NULL, NULL, NULL, &soon, &all_but_user));
    interrupted(epoll_pwait(epoll, &event, 1, 5000, &all_but_user));
    interrupted(epoll_pwait2(epoll, &event, 1, &soon, &all_but_user));
    interrupted(sigsuspend(&all_but_user));
    REQUIRE(sigprocmask(SIG_UNBLOCK, &user, NULL) == 0); /* the sixth */
}

/* Handlers that come while a system call's buffer is copied, which has the device for itself. */
static void interrupted_copies(void)
{
    enum { COPIES = 300, BYTES = 256 << 10 };
    static uint8_t zero[BYTES];
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    int from = memfd_create("zeros", MFD_CLOEXEC);
    struct sigaction action = {.sa_handler = store_from_handler, .sa_flags = SA_RESTART};
    REQUIRE(write(from, zero, sizeof zero) == sizeof zero);
    REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
    REQUIRE(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (unsigned i = 0; i < COPIES; i++) {
        REQUIRE(pread(from, windows[2] + 0x1000, BYTES, 0) == BYTES);
    }
    REQUIRE(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

void client_masks(void)
{
    calls_with_masks();
    interrupted_copies();
    signal(SIGTRAP, SIG_IGN);
    raise(SIGTRAP);
    REQUIRE(__sysv_signal(SIGSEGV, store_from_handler) ==
            SIG_DFL); /* the program's, if it faults */
    *(volatile uint32_t *)(windows[0] + 0x5B0) = 2;
    REQUIRE(__sysv_signal(SIGSEGV, SIG_DFL) == store_from_handler);
}

/* ---- what is not traced ---- */

static void memory_over_a_window(void)
{
    int id = shmget(IPC_PRIVATE, 2 << 20, IPC_CREAT | 0600);
    REQUIRE(id >= 0 && shmat(id, windows[1], SHM_REMAP) == windows[1]);
    shmctl(id, IPC_RMID, NULL);
    *(volatile uint32_t *)(windows[1] + 0x5C0) = 3;
    REQUIRE(*(volatile uint32_t *)(windows[1] + 0x5C0) == 3);
}

/* Pinned memory that went without a call that the shim sees. */
static void dma_of_nothing(void)
{
    volatile uint32_t *bar2 =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, device, (off_t)KMD_BAR2);
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct kmd_pin_pages pin = {.output_size = 8, .address = (uintptr_t)memory, .size = 4096};
    REQUIRE((void *)bar2 != MAP_FAILED && ioctl(device, KMD_PIN_PAGES, &pin) == 0);
    REQUIRE(syscall(SYS_munmap, memory, 4096) == 0);
    bar2[KMD_DMA_SOURCE / 4] = (uint32_t)pin.iova;
    bar2[KMD_DMA_SOURCE / 4 + 1] = (uint32_t)(pin.iova >> 32);
    bar2[KMD_DMA_TARGET / 4] = 0x700;
    bar2[KMD_DMA_SIZE / 4] = 64;
    bar2[KMD_DMA_DOORBELL / 4] = 1;
}

void client_untraced(void)
{
    struct kmd_set_noc_cleanup cleanup = {
        .size = sizeof cleanup, .enabled = 1, .x = 3, .y = 4, .addr = 0x1000, .data = 0x55};
    struct kmd_export_tlb window = {.size = sizeof window, .id = 2};
    uint32_t peer[16] = {0};
    REQUIRE(ioctl(device, KMD_SET_NOC_CLEANUP, &cleanup) == 0);
    cleanup.enabled = 0;
    REQUIRE(ioctl(device, KMD_SET_NOC_CLEANUP, &cleanup) == 0);
    REQUIRE(ioctl(device, KMD_EXPORT_TLB, &window) == 0);
    REQUIRE(ioctl(device, KMD_MAP_PEER_BAR, peer) == 0);
    *(volatile uint16_t *)(windows[2] + NOCAP_CQ_QUEUE) = 9;
    *(volatile uint16_t *)(windows[2] + NOCAP_CQ_QUEUE + 2) = 9;
    memory_over_a_window();
    dma_of_nothing();
}
