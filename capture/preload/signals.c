/* SPDX-License-Identifier: Apache-2.0 */
/* The faults of accesses, and what a program sees of the signals that the shim needs for itself. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/preload/preload.h"

/* What the program wants done at SIGSEGV, SIGTRAP, SIGBUS. */
static const int ours[] = {SIGSEGV, SIGTRAP, SIGBUS};
enum { OURS = sizeof ours / sizeof ours[0] };
static struct sigaction wanted[OURS];
static _Atomic bool active;

static int index_of(int number)
{
    for (int i = 0; i < OURS; i++) {
        if (ours[i] == number) {
            return i;
        }
    }
    return -1;
}

void signals_keep_deliverable(sigset_t *set)
{
    if (shim_mode() == TRAP_OFF) {
        return;
    }
    for (int i = 0; i < OURS; i++) {
        sigdelset(set, ours[i]);
    }
}

/* The signal is the program's own affair. */
static void pass_on(int number, siginfo_t *info, ucontext_t *uc)
{
    struct sigaction action = wanted[index_of(number)];
    bool handled = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    if (action.sa_handler == SIG_IGN && info->si_code <= 0) {
        return; /* it was sent by a process */
    }
    if (!handled) { /* as without the shim: happens once more, and ends the process */
        struct sigaction none = {.sa_handler = SIG_DFL};
        next()->sigaction(number, &none, NULL);
        if (info->si_code <= 0 || number == SIGTRAP) {
            raise(number);
        }
        return;
    }
    if ((action.sa_flags & (int)SA_RESETHAND) != 0) {
        wanted[index_of(number)].sa_handler = SIG_DFL;
    }
    sigset_t mask = uc->uc_sigmask;
    sigorset(&mask, &mask, &action.sa_mask);
    if ((action.sa_flags & SA_NODEFER) == 0) {
        sigaddset(&mask, number);
    }
    next()->pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if ((action.sa_flags & SA_SIGINFO) != 0) {
        action.sa_sigaction(number, info, uc);
    } else {
        action.sa_handler(number);
    }
}

/* What a model knew of the device is forgotten with the drop. */
void report_gap(const struct chip *chip)
{
    struct nocap_capture *capture = atomic_load(&shim_capture);
    const struct nocap_event drop = {
        .kind = NOCAP_EV_DROP, .has = NOCAP_F_DROPPED, .chip = chip->live.number, .value = 1};
    if (capture != NULL) {
        nocap_recorder_event(capture, &drop);
    }
}

bool give_up(const struct region *r, uintptr_t address, const char *why)
{
    if (!region_release(address)) {
        return false;
    }
    chip_report(r->chip, TOLD_ALWAYS,
                "%s: from here on accesses to this mapping are not in the trace", why);
    report_gap(r->chip);
    return true;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    struct thread *t = &shim_thread;
    ucontext_t *uc = context;
    struct region region;
    uint32_t version;
    int error = errno;
    go_on_faulted();
    if (t->stepping) { /* the instruction faulted in another of its operands */
        struct chip *chip = t->step.region.chip;
        emulate_abandon(uc);
        chip_unlock(chip);
    } else if (number == SIGSEGV && info->si_code > 0 &&
               region_next((uintptr_t)info->si_addr, &region, &version) &&
               region.start <= (uintptr_t)info->si_addr) {
        chip_lock(region.chip);
        if (sigsetjmp(t->fault, 0) != 0) { /* the device itself is gone */
            t->in_access = 0;
            t->goes_on = 0;
            chip_unlock(region.chip);
            info->si_signo = SIGBUS;
            pass_on(SIGBUS, info, uc);
            return;
        }
        if (emulate(uc, &region, version, (uintptr_t)info->si_addr) == OUTCOME_UNKNOWN &&
            !give_up(&region, (uintptr_t)info->si_addr, "an instruction that cannot be traced")) {
            pass_on(number, info, uc);
        }
        errno = error;
        return;
    }
    errno = error;
    pass_on(number, info, uc);
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    if (shim_thread.in_access) {
        siglongjmp(shim_thread.fault, 1);
    }
    on_fault(number, info, context);
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    struct thread *t = &shim_thread;
    ucontext_t *uc = context;
    if (!t->stepping || (uintptr_t)uc->uc_mcontext.gregs[REG_RIP] != t->step.code_end) {
        pass_on(number, info, uc);
        return;
    }
    int error = errno;
    struct chip *chip = t->step.region.chip;
    if (sigsetjmp(t->fault, 0) != 0) {
        t->in_access = 0;
        emulate_abandon(uc);
        chip_unlock(chip);
        info->si_signo = SIGBUS;
        pass_on(SIGBUS, info, uc);
        return;
    }
    t->in_access = 1;
    emulate_finish(uc);
    t->in_access = 0;
    chip_unlock(chip);
    errno = error;
}

static void install(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    if (number != SIGBUS) { /* of an access in the handler */
        sigdelset(&action.sa_mask, SIGBUS);
    }
    if (number == SIGSEGV) { /* the same, of memory of the program */
        sigdelset(&action.sa_mask, SIGSEGV);
        action.sa_flags |= SA_NODEFER;
    }
    next()->sigaction(number, &action, &wanted[index_of(number)]);
}

void signals_init(void)
{
    if (!atomic_exchange(&active, true)) {
        sigset_t set;
        vectors_init();
        out_of_line_init();
        install(SIGSEGV, on_fault);
        install(SIGTRAP, on_trap);
        install(SIGBUS, on_bus_error);
        sigemptyset(&set);
        for (int i = 0; i < OURS; i++) {
            sigaddset(&set, ours[i]);
        }
        next()->pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    }
}

/* ---- the program's calls ---- */

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    int i = atomic_load(&active) ? index_of(number) : -1;
    if (i >= 0) {
        struct sigaction before = wanted[i];
        if (action != NULL) {
            wanted[i] = *action;
        }
        if (old != NULL) {
            *old = before;
        }
        return 0;
    }
    if (action == NULL) {
        return next()->sigaction(number, action, old);
    }
    struct sigaction changed = *action;
    signals_keep_deliverable(&changed.sa_mask);
    return next()->sigaction(number, &changed, old);
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* `signal` of a program that was built for strict C. */
sighandler_t __sysv_signal(int, sighandler_t);

EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    struct sigaction old;
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* ---- the stack of handlers ---- */

/* Room for a frame with all vector registers, and for what the handler does. */
enum { STACK_BYTES = 64 << 10 };

static _Thread_local struct {
    stack_t wanted;
    void *own;
} stacks __attribute__((tls_model("initial-exec")));

/* A small stack of the program is replaced by a larger one. */
EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
    stack_t now, larger;
    bool small = stack != NULL && (stack->ss_flags & SS_DISABLE) == 0 &&
                 stack->ss_size >= (size_t)MINSIGSTKSZ && stack->ss_size < STACK_BYTES;
    if (small && shim_mode() != TRAP_OFF && stacks.own == NULL) {
        void *p = next()->mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        stacks.own = p != MAP_FAILED ? p : NULL;
    }
    if (small && stacks.own != NULL) {
        larger =
            (stack_t){.ss_sp = stacks.own, .ss_flags = stack->ss_flags, .ss_size = STACK_BYTES};
    }
    const stack_t *given = small && stacks.own != NULL ? &larger : stack;
    int result = next()->sigaltstack(given, &now);
    if (result == 0 && now.ss_sp == stacks.own && stacks.own != NULL) {
        now.ss_sp = stacks.wanted.ss_sp;
        now.ss_size = stacks.wanted.ss_size;
    }
    if (result == 0 && old != NULL) {
        *old = now;
    }
    if (result == 0 && stack != NULL) {
        stacks.wanted = *stack;
    }
    return result;
}
