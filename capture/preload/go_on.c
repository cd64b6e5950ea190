/* SPDX-License-Identifier: Apache-2.0 */
/* After an access the instructions that follow are done in the same handler, as long as they come
 * to another access soon: a fault takes microseconds, and what the program does back to back would
 * reach the device so far apart. */
#include <string.h>

#include "capture/preload/instruction.h"

/* In a fault: signals wait meanwhile. */
enum { INSTRUCTIONS_MOST = 4096 };
/* Room for one instruction and a return. */
enum { NATIVE_BYTES = ZYDIS_MAX_INSTRUCTION_LENGTH + 1, RETURN = 0xC3 };
_Static_assert(NATIVE_BYTES *FORMS <= CODE_BYTES - NATIVE_CODE, "they fit");
enum { RED_ZONE = 128, NESTED = 64 << 10, FRAME_MOST = 16 << 10 };

/* The handler's own part of a stack. */
struct own {
    uintptr_t from, to;
};

/* What is known of the table of regions. */
struct view {
    uint32_t version;
    struct region region; /* found last; end 0: none */
    struct {
        uintptr_t from, to; /* nothing there is a device's */
    } hole[2];
    unsigned next;
};

enum step { STEP_STOP, STEP_DONE, STEP_ACCESS };

/* void native(greg_t *gregs, const void *code): runs `code`, which ends in a return, with the
 * registers and the flags of results of `gregs`. Offsets are those of gregs: R8 to R15 first, then
 * RDI RSI RBP RBX RDX RAX RCX, RSP, RIP, EFL. */
void native(greg_t *gregs, const void *code) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".hidden native\n"
        ".globl native\n"
        ".type native, @function\n"
        "native:\n"
        "    push %rbx\n"
        "    push %rbp\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    push %rdi\n"
        "    push %rsi\n"
        "    mov 136(%rdi), %rax\n"
        "    and $0x8d5, %eax\n"
        "    or $2, %eax\n"
        "    push %rax\n"
        "    popfq\n"
        "    mov (%rdi), %r8\n"
        "    mov 8(%rdi), %r9\n"
        "    mov 16(%rdi), %r10\n"
        "    mov 24(%rdi), %r11\n"
        "    mov 32(%rdi), %r12\n"
        "    mov 40(%rdi), %r13\n"
        "    mov 48(%rdi), %r14\n"
        "    mov 56(%rdi), %r15\n"
        "    mov 72(%rdi), %rsi\n"
        "    mov 80(%rdi), %rbp\n"
        "    mov 88(%rdi), %rbx\n"
        "    mov 96(%rdi), %rdx\n"
        "    mov 104(%rdi), %rax\n"
        "    mov 112(%rdi), %rcx\n"
        "    mov 64(%rdi), %rdi\n"
        "    call *(%rsp)\n"
        "    push %rdi\n"
        "    mov 16(%rsp), %rdi\n"
        "    mov %r8, (%rdi)\n"
        "    mov %r9, 8(%rdi)\n"
        "    mov %r10, 16(%rdi)\n"
        "    mov %r11, 24(%rdi)\n"
        "    mov %r12, 32(%rdi)\n"
        "    mov %r13, 40(%rdi)\n"
        "    mov %r14, 48(%rdi)\n"
        "    mov %r15, 56(%rdi)\n"
        "    mov %rsi, 72(%rdi)\n"
        "    mov %rbp, 80(%rdi)\n"
        "    mov %rbx, 88(%rdi)\n"
        "    mov %rdx, 96(%rdi)\n"
        "    mov %rax, 104(%rdi)\n"
        "    mov %rcx, 112(%rdi)\n"
        "    pushfq\n"
        "    pop %rax\n"
        "    pop %rcx\n"
        "    mov %rcx, 64(%rdi)\n"
        "    mov 136(%rdi), %rcx\n"
        "    and $0x8d5, %eax\n"
        "    and $~0x8d5, %rcx\n"
        "    or %rax, %rcx\n"
        "    mov %rcx, 136(%rdi)\n"
        "    pop %rsi\n"
        "    pop %rdi\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbp\n"
        "    pop %rbx\n"
        "    ret\n"
        ".size native, . - native\n");
_Static_assert(REG_R8 == 0 && REG_R15 == 7 && REG_RDI == 8 && REG_RSI == 9 && REG_RBP == 10 &&
                   REG_RBX == 11 && REG_RDX == 12 && REG_RAX == 13 && REG_RCX == 14 &&
                   REG_RSP == 15 && REG_EFL == 17,
               "as native has them");

/* ---- memory ---- */

enum where { WHERE_DEVICE, WHERE_PROGRAM, WHERE_BOTH };

static enum where look(struct view *v, uintptr_t address, size_t size)
{
    if (v->version != region_version()) {
        *v = (struct view){.version = region_version()};
    }
    if (inside(&v->region, address, size)) {
        return WHERE_DEVICE;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (address >= v->hole[i].from && address + size <= v->hole[i].to) {
            return WHERE_PROGRAM;
        }
    }
    struct region r;
    uint32_t version;
    bool any = region_next(address, &r, &version);
    if (any && r.start <= address) {
        v->version = version;
        v->region = r;
        return inside(&r, address, size) ? WHERE_DEVICE : WHERE_BOTH;
    }
    v->next ^= 1;
    v->hole[v->next].from = address;
    v->hole[v->next].to = any ? r.start : UINTPTR_MAX;
    return address + size <= v->hole[v->next].to ? WHERE_PROGRAM : WHERE_BOTH;
}

/* Whether the program may have its access there: not where this handler runs. */
static bool is_free(const struct own *own, uintptr_t address, size_t size)
{
    return address + size <= own->from || address >= own->to;
}

static struct own own_stack(const ucontext_t *uc)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t frame = (uintptr_t)uc->uc_mcontext.fpregs;
    uintptr_t top = (uintptr_t)uc->uc_mcontext.gregs[REG_RSP] - RED_ZONE;
    bool same = top > frame && top - frame < FRAME_MOST; /* the stack that was interrupted */
    return (struct own){here - NESTED, same ? top : frame + FRAME_MOST};
}

/* ---- one instruction ---- */

static void give_back(struct thread *t)
{
    struct chip *chip = t->goes_on_in;
    t->goes_on_in = NULL;
    if (chip != NULL) {
        chip_unlock(chip);
    }
}

/* A chip stays locked between accesses unless a thread waits: taking a lock waits for the store
 * that came before. */
static void take(struct thread *t, struct chip *chip)
{
    if (t->goes_on_in != chip || atomic_load_explicit(&chip->waiting, memory_order_relaxed) != 0) {
        give_back(t);
        chip_lock(chip);
        t->goes_on_in = chip;
    }
}

static enum step move(ucontext_t *uc, const struct form *f, struct view *v, const struct own *own)
{
    struct thread *t = &shim_thread;
    uintptr_t address = form_address(uc, f);
    enum where where = f->segment || f->mask != 0 ? WHERE_BOTH : look(v, address, f->size);
    if (where == WHERE_PROGRAM && is_free(own, address, f->size)) {
        return emulate_move(uc, f, NULL) == OUTCOME_DONE ? STEP_DONE : STEP_STOP;
    }
    if (where != WHERE_DEVICE) {
        return STEP_STOP;
    }
    take(t, v->region.chip);
    if (emulate_two_stores(uc, f, address, &v->region)) {
        return STEP_ACCESS;
    }
    enum outcome outcome = emulate_move(uc, f, &v->region);
    return outcome == OUTCOME_DONE ? STEP_ACCESS : STEP_STOP;
}

/* A copy of it in the thread's pages; NULL: there is no memory. */
static const uint8_t *native_code(struct form *f)
{
    struct thread *t = &shim_thread;
    if (!thread_pages(t)) {
        return NULL;
    }
    uint8_t *code = t->code + NATIVE_CODE + f->place * NATIVE_BYTES;
    if (f->pages != t->pages) {
        memcpy(code, f->bytes, f->length);
        code[f->length] = RETURN;
        f->pages = t->pages;
    }
    return code;
}

static enum step run_native(ucontext_t *uc, struct form *f, struct view *v, const struct own *own)
{
    greg_t *g = uc->uc_mcontext.gregs;
    if (f->then == FORM_THEN_NATIVE_MEMORY) {
        uintptr_t address = form_address(uc, f);
        if (look(v, address, f->size) != WHERE_PROGRAM || !is_free(own, address, f->size)) {
            return STEP_STOP;
        }
    }
    const uint8_t *code = native_code(f);
    if (code == NULL) {
        return STEP_STOP;
    }
    native(g, code);
    g[REG_RIP] += f->length;
    return STEP_DONE;
}

static bool is_taken(uint64_t flags, unsigned condition)
{
    bool carry = (flags & 1) != 0, parity = (flags & 4) != 0, zero = (flags & 0x40) != 0;
    bool sign = (flags & 0x80) != 0, overflow = (flags & 0x800) != 0, is;
    switch (condition >> 1) {
    case 0: is = overflow; break;
    case 1: is = carry; break;
    case 2: is = zero; break;
    case 3: is = carry || zero; break;
    case 4: is = sign; break;
    case 5: is = parity; break;
    case 6: is = sign != overflow; break;
    default: is = zero || sign != overflow; break;
    }
    return is != ((condition & 1) != 0);
}

/* push, pop, call and return: with a word of the program's stack. */
static enum step stack_word(ucontext_t *uc, const struct form *f, struct view *v,
                            const struct own *own)
{
    greg_t *g = uc->uc_mcontext.gregs;
    bool stores = f->then == FORM_THEN_PUSH || f->then == FORM_THEN_CALL;
    uintptr_t top = (uintptr_t)g[REG_RSP] - (stores ? sizeof(greg_t) : 0);
    greg_t next = g[REG_RIP] + f->length, word;
    if (look(v, top, sizeof word) != WHERE_PROGRAM || !is_free(own, top, sizeof word)) {
        return STEP_STOP;
    }
    if (stores) {
        word = f->then == FORM_THEN_CALL ? next : g[greg_of[f->reg]];
        access_copy((void *)top, &word, sizeof word);
        g[REG_RSP] = (greg_t)top;
        g[REG_RIP] = f->then == FORM_THEN_CALL ? next + (greg_t)f->value : next;
    } else {
        access_copy(&word, (const void *)top, sizeof word);
        g[REG_RSP] += (greg_t)sizeof word;
        g[REG_RIP] = f->then == FORM_THEN_RETURN ? word : next;
        if (f->then == FORM_THEN_POP) {
            g[greg_of[f->reg]] = word;
        }
    }
    return STEP_DONE;
}

static enum step one(ucontext_t *uc, struct form *f, struct view *v, const struct own *own)
{
    greg_t *g = uc->uc_mcontext.gregs;
    switch ((enum form_then)f->then) {
    case FORM_THEN_MOVE: return move(uc, f, v, own);
    case FORM_THEN_NATIVE:
    case FORM_THEN_NATIVE_MEMORY: return run_native(uc, f, v, own);
    case FORM_THEN_CALL:
    case FORM_THEN_RETURN:
    case FORM_THEN_PUSH:
    case FORM_THEN_POP: return stack_word(uc, f, v, own);
    case FORM_THEN_JUMP_IF:
        g[REG_RIP] += is_taken((uint64_t)g[REG_EFL], f->condition) ? (greg_t)f->value : 0;
        break;
    case FORM_THEN_JUMP: g[REG_RIP] += (greg_t)f->value; break;
    case FORM_THEN_FENCE: __asm__ volatile("mfence" : : : "memory"); break;
    case FORM_THEN_CLEAR_UPPER: vectors_clear_upper(uc); break;
    case FORM_THEN_NOTHING: break;
    default: return STEP_STOP;
    }
    g[REG_RIP] += f->length;
    return STEP_DONE;
}

/* ---- the access that faulted, and all that follow ---- */

/* After an access that nothing followed less is tried the next time. */
static enum outcome follow(ucontext_t *uc, uintptr_t rip, const struct region *region,
                           uint32_t version)
{
    struct own own = own_stack(uc);
    struct view view = {.version = version, .region = *region};
    struct form *from = form_at(rip); /* of the last access */
    enum outcome outcome = shim_thread.in_access ? OUTCOME_UNKNOWN : OUTCOME_DONE;
    unsigned idle = 0;
    for (unsigned i = 0; i < INSTRUCTIONS_MOST && from != NULL && idle < from->reach; i++) {
        struct form *f = form_at((uintptr_t)uc->uc_mcontext.gregs[REG_RIP]);
        enum step step = f != NULL ? one(uc, f, &view, &own) : STEP_STOP;
        if (step == STEP_STOP) {
            break;
        }
        idle++;
        if (step == STEP_ACCESS) {
            shim_thread.in_access = 0;
            from->reach = i != 0 ? REACH_MOST : from->reach;
            from = f;
            idle = 0;
            outcome = OUTCOME_DONE;
        }
    }
    if (from != NULL) {
        from->reach = from->reach / 2 > REACH_LEAST ? from->reach / 2 : REACH_LEAST;
    }
    return outcome;
}

void go_on_faulted(void)
{
    if (shim_thread.goes_on) {
        siglongjmp(shim_thread.stop, 1);
    }
}

enum outcome go_on(ucontext_t *uc, uintptr_t rip, const struct region *region, uint32_t version)
{
    struct thread *t = &shim_thread;
    t->goes_on_in = region->chip;
    volatile enum outcome outcome = OUTCOME_DONE;
    if (sigsetjmp(t->stop, 0) == 0) { /* else the instruction is still to be done */
        t->goes_on = 1;
        outcome = follow(uc, rip, region, version);
    }
    t->goes_on = 0;
    give_back(t);
    return outcome;
}
