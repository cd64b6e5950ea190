/* One faulting instruction: its access is done on the device's own mapping. Plain moves are done
 * here; what else an instruction may do with memory is left to the processor, which runs it on a
 * copy of the bytes, followed by a breakpoint. */
#include <Zydis/Zydis.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/preload/preload.h"

enum { CACHE = 256, PAGE = 4096, CODE_BYTES = PAGE, BOUNCE_BYTES = 16 * PAGE, CHUNK = 8 * PAGE };

/* A plain move, as far as it can be told from the bytes alone. */
struct form {
    uintptr_t rip;
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    uint8_t length;
    uint8_t kind;          /* enum form_kind */
    uint8_t size;          /* of the access */
    uint8_t reg, reg_size; /* GPR: 0..15 in the order of the encoding; vector: 0..31 */
    bool high;             /* AH .. BH */
    bool sign, clear;
    uint64_t value;
    bool segment;
    uint8_t base, index, scale; /* NONE: not used; RIP: of the next instruction */
    int64_t displacement;
};
enum form_kind {
    FORM_SLOW,
    FORM_LOAD,
    FORM_STORE,
    FORM_STORE_VALUE,
    FORM_LOAD_VECTOR,
    FORM_STORE_VECTOR,
};
enum { NONE = 0xFF, RIP = 0xFE };

_Thread_local struct thread shim_thread __attribute__((tls_model("initial-exec")));
static _Thread_local struct form cache[CACHE] __attribute__((tls_model("initial-exec")));

/* ---- registers ---- */

static const uint8_t greg_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                    REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                    REG_R12, REG_R13, REG_R14, REG_R15};

static uint8_t number_of(ZydisRegister reg)
{
    if (reg == ZYDIS_REGISTER_NONE) {
        return NONE;
    }
    if (reg == ZYDIS_REGISTER_RIP) {
        return RIP;
    }
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return (uint8_t)ZydisRegisterGetId(whole);
}

static uint64_t get_register(const ucontext_t *uc, const struct form *f)
{
    uint64_t v = (uint64_t)uc->uc_mcontext.gregs[greg_of[f->reg]];
    return f->high ? v >> 8 : v;
}

static void set_register(ucontext_t *uc, const struct form *f, uint64_t v)
{
    greg_t *to = &uc->uc_mcontext.gregs[greg_of[f->reg]];
    unsigned shift = f->high ? 8 : 0;
    if (f->reg_size >= 4) { /* a 32-bit result clears the upper half */
        *to = (greg_t)(f->reg_size == 4 ? (uint32_t)v : v);
    } else {
        uint64_t mask = (f->reg_size == 1 ? UINT64_C(0xFF) : UINT64_C(0xFFFF)) << shift;
        *to = (greg_t)(((uint64_t)*to & ~mask) | (v << shift & mask));
    }
}

/* ---- decoding ---- */

static bool decode(uintptr_t rip, ZydisDecodedInstruction *insn, ZydisDecodedOperand *operands)
{
    static const size_t longest = ZYDIS_MAX_INSTRUCTION_LENGTH;
    size_t left = PAGE - rip % PAGE;
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    /* the next page is looked at only if the instruction goes on there */
    return (left < longest && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (const void *)rip, left,
                                                                  insn, operands))) ||
           ZYAN_SUCCESS(
               ZydisDecoderDecodeFull(&decoder, (const void *)rip, longest, insn, operands));
}

static void put_address(struct form *f, const ZydisDecodedOperand *memory)
{
    f->segment =
        memory->mem.segment == ZYDIS_REGISTER_FS || memory->mem.segment == ZYDIS_REGISTER_GS;
    f->base = number_of(memory->mem.base);
    f->index = number_of(memory->mem.index);
    f->scale = memory->mem.scale;
    f->displacement = memory->mem.disp.has_displacement ? memory->mem.disp.value : 0;
}

static bool is_vector_move(ZydisMnemonic m)
{
    switch (m) {
    case ZYDIS_MNEMONIC_MOVDQA:
    case ZYDIS_MNEMONIC_MOVDQU:
    case ZYDIS_MNEMONIC_MOVAPS:
    case ZYDIS_MNEMONIC_MOVUPS:
    case ZYDIS_MNEMONIC_MOVAPD:
    case ZYDIS_MNEMONIC_MOVUPD:
    case ZYDIS_MNEMONIC_MOVNTDQ:
    case ZYDIS_MNEMONIC_MOVNTPS:
    case ZYDIS_MNEMONIC_MOVNTPD:
    case ZYDIS_MNEMONIC_MOVNTDQA:
    case ZYDIS_MNEMONIC_LDDQU:
    case ZYDIS_MNEMONIC_VMOVDQA:
    case ZYDIS_MNEMONIC_VMOVDQU:
    case ZYDIS_MNEMONIC_VMOVAPS:
    case ZYDIS_MNEMONIC_VMOVUPS:
    case ZYDIS_MNEMONIC_VMOVAPD:
    case ZYDIS_MNEMONIC_VMOVUPD:
    case ZYDIS_MNEMONIC_VMOVNTDQ:
    case ZYDIS_MNEMONIC_VMOVNTPS:
    case ZYDIS_MNEMONIC_VMOVNTPD:
    case ZYDIS_MNEMONIC_VMOVNTDQA:
    case ZYDIS_MNEMONIC_VLDDQU:
    case ZYDIS_MNEMONIC_VMOVDQU8:
    case ZYDIS_MNEMONIC_VMOVDQU16:
    case ZYDIS_MNEMONIC_VMOVDQU32:
    case ZYDIS_MNEMONIC_VMOVDQU64:
    case ZYDIS_MNEMONIC_VMOVDQA32:
    case ZYDIS_MNEMONIC_VMOVDQA64: return true;
    default: return false;
    }
}

static void classify(struct form *f, const ZydisDecodedInstruction *insn,
                     const ZydisDecodedOperand *o)
{
    unsigned m = 0;
    f->kind = FORM_SLOW;
    while (m < insn->operand_count_visible && o[m].type != ZYDIS_OPERAND_TYPE_MEMORY) {
        m++;
    }
    if (m == insn->operand_count_visible || insn->operand_count_visible < 2 ||
        insn->address_width != 64 || o[m].mem.type != ZYDIS_MEMOP_TYPE_MEM) {
        return;
    }
    bool load = m != 0;
    const ZydisDecodedOperand *other = &o[load ? 0 : insn->operand_count_visible - 1];
    ZydisRegisterClass class = other->type == ZYDIS_OPERAND_TYPE_REGISTER
                                   ? ZydisRegisterGetClass(other->reg.value)
                                   : ZYDIS_REGCLASS_INVALID;
    bool gpr = class == ZYDIS_REGCLASS_GPR8 || class == ZYDIS_REGCLASS_GPR16 ||
               class == ZYDIS_REGCLASS_GPR32 || class == ZYDIS_REGCLASS_GPR64;
    bool scalar = insn->mnemonic == ZYDIS_MNEMONIC_MOV || insn->mnemonic == ZYDIS_MNEMONIC_MOVNTI;
    f->sign = insn->mnemonic == ZYDIS_MNEMONIC_MOVSX || insn->mnemonic == ZYDIS_MNEMONIC_MOVSXD;
    f->size = (uint8_t)(o[m].size / 8);
    put_address(f, &o[m]);
    if (gpr && (scalar || (load && (f->sign || insn->mnemonic == ZYDIS_MNEMONIC_MOVZX)))) {
        f->kind = load ? FORM_LOAD : FORM_STORE;
        f->high = other->reg.value >= ZYDIS_REGISTER_AH && other->reg.value <= ZYDIS_REGISTER_BH;
        f->reg = number_of(other->reg.value);
        f->reg_size = (uint8_t)(other->size / 8);
    } else if (insn->mnemonic == ZYDIS_MNEMONIC_MOV &&
               other->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        f->kind = FORM_STORE_VALUE;
        f->value = other->imm.value.u;
    } else if (is_vector_move(insn->mnemonic) && f->size >= 16 &&
               (class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM ||
                class == ZYDIS_REGCLASS_ZMM) &&
               (insn->avx.mask.mode == ZYDIS_MASK_MODE_INVALID ||
                insn->avx.mask.mode == ZYDIS_MASK_MODE_DISABLED)) {
        f->kind = load ? FORM_LOAD_VECTOR : FORM_STORE_VECTOR;
        f->reg = (uint8_t)ZydisRegisterGetId(other->reg.value);
        f->clear = insn->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    }
}

/* The form of the instruction at `rip`; NULL: it does not decode. */
static const struct form *form_at(uintptr_t rip)
{
    struct form *f = &cache[(rip ^ rip >> 8) % CACHE];
    if (f->rip == rip && f->length != 0 && memcmp(f->bytes, (const void *)rip, f->length) == 0) {
        return f;
    }
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    f->length = 0;
    if (!decode(rip, &insn, operands)) {
        return NULL;
    }
    *f = (struct form){.rip = rip, .length = insn.length};
    memcpy(f->bytes, (const void *)rip, insn.length);
    classify(f, &insn, operands);
    return f;
}

static uintptr_t effective_address(const ucontext_t *uc, const struct form *f)
{
    const greg_t *gregs = uc->uc_mcontext.gregs;
    uint64_t address = (uint64_t)f->displacement;
    if (f->base == RIP) {
        address += (uint64_t)gregs[REG_RIP] + f->length;
    } else if (f->base != NONE) {
        address += (uint64_t)gregs[greg_of[f->base]];
    }
    if (f->index != NONE) {
        address += (uint64_t)gregs[greg_of[f->index]] * f->scale;
    }
    return address;
}

static bool inside(const struct region *r, uintptr_t address, size_t size)
{
    return address >= r->start && address < r->end && size <= r->end - address;
}

/* ---- plain moves ---- */

static enum outcome emulate_move(ucontext_t *uc, const struct form *f, const struct region *r)
{
    uint8_t bytes[64];
    uint64_t value;
    uintptr_t address = effective_address(uc, f);
    if (f->segment || !inside(r, address, f->size)) {
        return OUTCOME_UNKNOWN;
    }
    switch (f->kind) {
    case FORM_STORE:
    case FORM_STORE_VALUE:
        value = f->kind == FORM_STORE ? get_register(uc, f) : f->value;
        access_store(r, address, &value, f->size, f->size);
        break;
    case FORM_LOAD:
        value = 0;
        access_load(r, address, &value, f->size, f->size);
        if (f->sign) {
            unsigned shift = 64u - f->size * 8u;
            value = (uint64_t)((int64_t)(value << shift) >> shift);
        }
        set_register(uc, f, value);
        break;
    case FORM_STORE_VECTOR:
        if (!vector_get(uc, f->reg, bytes, f->size)) {
            return OUTCOME_UNKNOWN;
        }
        access_store(r, address, bytes, f->size, f->size);
        break;
    default:
        access_load(r, address, bytes, f->size, f->size);
        vector_set(uc, f->reg, bytes, f->size, f->clear);
        break;
    }
    uc->uc_mcontext.gregs[REG_RIP] += f->length;
    return OUTCOME_DONE;
}

/* ---- strings ---- */

/* Accesses of a string instruction: of its element to memory that is not cached; a write-combined
 * window takes as much at once as lies aligned. */
static unsigned string_width(const struct region *r, uintptr_t address, size_t size,
                             unsigned element)
{
    unsigned width = element;
    while (r->map == NOCAP_MAP_WC && width < 8 && (address | size) % (width * 2) == 0) {
        width *= 2;
    }
    return width;
}

static bool get_pages(struct thread *t);

static size_t up_to(const struct region *r, uintptr_t address, size_t size)
{
    return size < r->end - address ? size : r->end - address;
}

/* movs, stos, lods, with or without a count. Goes as far as one of the two is the device. */
static enum outcome emulate_string(ucontext_t *uc, const ZydisDecodedInstruction *insn,
                                   const ZydisDecodedOperand *o, struct chip *chip)
{
    struct thread *t = &shim_thread;
    greg_t *g = uc->uc_mcontext.gregs;
    bool lods = false, stos = false;
    unsigned size = 0;
    for (unsigned i = 0; i < insn->operand_count; i++) {
        if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
            bool to = (o[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
            size = o[i].size / 8;
            stos |= to;
            lods |= !to;
            if (o[i].mem.segment == ZYDIS_REGISTER_FS || o[i].mem.segment == ZYDIS_REGISTER_GS) {
                return OUTCOME_UNKNOWN;
            }
        }
    }
    bool movs = lods && stos, rep = (insn->attributes & ZYDIS_ATTRIB_HAS_REP) != 0;
    bool down = (g[REG_EFL] & 0x400) != 0;
    if (size == 0 || insn->address_width != 64 || !get_pages(t)) {
        return OUTCOME_UNKNOWN;
    }
    uint64_t left = rep ? (uint64_t)g[REG_RCX] : 1;
    while (left > 0) {
        uintptr_t from = (uintptr_t)g[REG_RSI], to = (uintptr_t)g[REG_RDI];
        struct region source, target;
        bool from_device = lods && region_find(from, &source);
        bool to_device = stos && region_find(to, &target);
        if ((!from_device && !to_device) || (from_device && source.chip != chip) ||
            (to_device && target.chip != chip)) {
            return OUTCOME_DONE; /* the processor goes on from here */
        }
        size_t n = down || (lods && !movs) ? size : left < CHUNK / size ? left * size : CHUNK;
        n = from_device ? up_to(&source, from, n) : n;
        n = to_device ? up_to(&target, to, n) : n;
        n -= n % size;
        if (n == 0) {
            return OUTCOME_UNKNOWN;
        }
        if (from_device) {
            access_load(&source, from, t->bounce, n, string_width(&source, from, n, size));
        } else if (lods) {
            memcpy(t->bounce, (const void *)from, n);
        } else {
            for (size_t i = 0; i < n; i += size) {
                memcpy(t->bounce + i, &g[REG_RAX], size);
            }
        }
        if (to_device) {
            access_store(&target, to, t->bounce, n, string_width(&target, to, n, size));
        } else if (stos) {
            memcpy((void *)to, t->bounce, n);
        } else {
            const struct form rax = {.reg = 0, .reg_size = (uint8_t)size};
            uint64_t v = 0;
            memcpy(&v, t->bounce, size);
            set_register(uc, &rax, v);
        }
        int64_t step = down ? -(int64_t)n : (int64_t)n;
        g[REG_RSI] += lods ? step : 0;
        g[REG_RDI] += stos ? step : 0;
        left -= n / size;
        if (rep) {
            g[REG_RCX] = (greg_t)left;
        }
    }
    g[REG_RIP] += insn->length;
    return OUTCOME_DONE;
}

/* ---- everything else ---- */

static bool get_pages(struct thread *t)
{
    if (t->code == NULL) {
        void *p = next()->mmap(NULL, CODE_BYTES + BOUNCE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) {
            return false;
        }
        t->code = p;
        t->bounce = t->code + CODE_BYTES;
    }
    return true;
}

/* A register that the instruction does not name. */
static ZydisRegister spare_register(const ZydisDecodedInstruction *insn,
                                    const ZydisDecodedOperand *o)
{
    static const ZydisRegister candidates[] = {ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDI,
                                               ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RCX,
                                               ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RAX};
    uint32_t used = 0;
    for (unsigned i = 0; i < insn->operand_count; i++) {
        if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
            ZydisRegister whole =
                ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, o[i].reg.value);
            if (ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64) {
                used |= UINT32_C(1) << ZydisRegisterGetId(whole);
            }
        }
    }
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        if ((used >> ZydisRegisterGetId(candidates[i]) & 1) == 0) {
            return candidates[i];
        }
    }
    return ZYDIS_REGISTER_NONE;
}

/* The one memory operand, if the instruction can run elsewhere. */
static const ZydisDecodedOperand *movable(const ZydisDecodedInstruction *insn,
                                          const ZydisDecodedOperand *o)
{
    const ZydisDecodedOperand *memory = NULL;
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_STRINGOP: return NULL;
    default: break;
    }
    for (unsigned i = 0; i < insn->operand_count_visible; i++) {
        if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
            memory = memory == NULL && o[i].mem.type == ZYDIS_MEMOP_TYPE_MEM ? &o[i] : NULL;
        }
    }
    bool partly = insn->avx.mask.mode != ZYDIS_MASK_MODE_INVALID &&
                  insn->avx.mask.mode != ZYDIS_MASK_MODE_DISABLED;
    return memory == NULL || memory->size == 0 || memory->size / 8 > PAGE || partly ? NULL : memory;
}

/* In one piece where the processor has registers for it. */
static unsigned widest(unsigned size)
{
    unsigned width = size & -size;
    if (size == 16 || size == 32 || (size == 64 && __builtin_cpu_supports("avx512f"))) {
        return size;
    }
    return width < 8 ? width : 8;
}

static enum outcome run_elsewhere(ucontext_t *uc, const struct form *f,
                                  const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *o,
                                  const struct region *r)
{
    struct thread *t = &shim_thread;
    const ZydisDecodedOperand *memory = movable(insn, o);
    ZydisRegister spare = spare_register(insn, o);
    ZydisEncoderRequest request;
    if (memory == NULL || spare == ZYDIS_REGISTER_NONE || !get_pages(t)) {
        return OUTCOME_UNKNOWN;
    }
    struct form at = *f;
    put_address(&at, memory);
    uintptr_t address = effective_address(uc, &at);
    unsigned size = memory->size / 8;
    if (at.segment || !inside(r, address, size) ||
        !ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(
            insn, o, insn->operand_count_visible, &request))) {
        return OUTCOME_UNKNOWN;
    }
    ZydisEncoderOperand *to = &request.operands[memory - o];
    to->mem.base = spare;
    to->mem.index = ZYDIS_REGISTER_NONE;
    to->mem.scale = 0;
    to->mem.displacement = 0;
    request.prefixes &= ~(ZydisInstructionAttributes)ZYDIS_ATTRIB_HAS_SEGMENT;
    ZyanUSize length = ZYDIS_MAX_INSTRUCTION_LENGTH;
    if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, t->code, &length))) {
        return OUTCOME_UNKNOWN;
    }
    t->code[length] = 0xCC;
    uint8_t *copy = t->bounce + PAGE + address % PAGE; /* aligned as the original */
    t->step.region = *r;
    t->step.address = address;
    t->step.size = size;
    t->step.reads = (memory->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    t->step.writes = (memory->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (t->step.reads) {
        access_load(r, address, copy, size, widest(size));
    }
    greg_t *g = uc->uc_mcontext.gregs;
    t->step.scratch = greg_of[ZydisRegisterGetId(spare)];
    t->step.saved = g[t->step.scratch];
    t->step.rip = (uintptr_t)g[REG_RIP];
    t->step.next = t->step.rip + insn->length;
    t->step.code_end = (uintptr_t)t->code + length + 1;
    t->step.mask = uc->uc_sigmask;
    g[t->step.scratch] = (greg_t)copy;
    g[REG_RIP] = (greg_t)t->code;
    sigfillset(&uc->uc_sigmask);
    sigdelset(&uc->uc_sigmask, SIGTRAP);
    sigdelset(&uc->uc_sigmask, SIGSEGV);
    sigdelset(&uc->uc_sigmask, SIGBUS);
    t->stepping = true;
    return OUTCOME_STEP;
}

static void back(ucontext_t *uc, uintptr_t rip)
{
    struct thread *t = &shim_thread;
    uc->uc_mcontext.gregs[t->step.scratch] = t->step.saved;
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)rip;
    uc->uc_sigmask = t->step.mask;
    t->stepping = false;
}

void emulate_finish(ucontext_t *uc)
{
    struct thread *t = &shim_thread;
    if (t->step.writes) {
        access_store(&t->step.region, t->step.address, t->bounce + PAGE + t->step.address % PAGE,
                     t->step.size, widest(t->step.size));
    }
    back(uc, t->step.next);
}

void emulate_abandon(ucontext_t *uc)
{
    back(uc, shim_thread.step.rip);
}

enum outcome emulate(ucontext_t *uc, const struct region *region, uintptr_t address)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uintptr_t rip = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
    const struct form *f = form_at(rip);
    if (f == NULL || rip == address) {
        return OUTCOME_UNKNOWN; /* no code, or code on the device */
    }
    if (f->kind != FORM_SLOW) {
        return emulate_move(uc, f, region);
    }
    if (!decode(rip, &insn, operands)) {
        return OUTCOME_UNKNOWN;
    }
    if (insn.meta.category == ZYDIS_CATEGORY_STRINGOP) {
        switch (insn.mnemonic) {
        case ZYDIS_MNEMONIC_MOVSB:
        case ZYDIS_MNEMONIC_MOVSW:
        case ZYDIS_MNEMONIC_MOVSD:
        case ZYDIS_MNEMONIC_MOVSQ:
        case ZYDIS_MNEMONIC_STOSB:
        case ZYDIS_MNEMONIC_STOSW:
        case ZYDIS_MNEMONIC_STOSD:
        case ZYDIS_MNEMONIC_STOSQ:
        case ZYDIS_MNEMONIC_LODSB:
        case ZYDIS_MNEMONIC_LODSW:
        case ZYDIS_MNEMONIC_LODSD:
        case ZYDIS_MNEMONIC_LODSQ: return emulate_string(uc, &insn, operands, region->chip);
        default: return OUTCOME_UNKNOWN;
        }
    }
    return run_elsewhere(uc, f, &insn, operands, region);
}
