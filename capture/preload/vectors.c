/* SPDX-License-Identifier: Apache-2.0 */
/* Vector registers in the frame of a signal: the legacy area, then the components of XSAVE in their
 * standard form, where CPUID leaf 0xD says. */
#include <cpuid.h>
#include <string.h>

#include "capture/preload/preload.h"

enum component { YMM_HIGH = 2, MASKS = 5, ZMM_HIGH = 6, ZMM_UPPER = 7, COMPONENTS };
enum {
    LEGACY_XMM = 160,
    SOFTWARE_BYTES = 464, /* magic, then size, then features */
    SOFTWARE_MAGIC = 0x46505853,
    XSAVE_HEADER = 512,
};

static struct {
    unsigned offset, size;
} component[COMPONENTS];

void vectors_init(void)
{
    for (unsigned i = YMM_HIGH; i < COMPONENTS; i++) {
        unsigned a, b, c, d;
        if (__get_cpuid_count(0xD, i, &a, &b, &c, &d) != 0) {
            component[i].size = a;
            component[i].offset = b;
        }
    }
}

/* The bytes `from` .. of a component for one register; NULL: the frame does not have it. A
 * component in its initial state is all 0: it is made so where it is to be changed. */
static uint8_t *part(const ucontext_t *uc, enum component c, unsigned at, bool change, bool *zero)
{
    uint8_t *frame = (uint8_t *)uc->uc_mcontext.fpregs;
    uint32_t magic;
    uint64_t features, present;
    *zero = false;
    memcpy(&magic, frame + SOFTWARE_BYTES, sizeof magic);
    memcpy(&features, frame + SOFTWARE_BYTES + 8, sizeof features);
    if (magic != SOFTWARE_MAGIC || (features >> c & 1) == 0 || component[c].size == 0) {
        return NULL;
    }
    memcpy(&present, frame + XSAVE_HEADER, sizeof present);
    uint8_t *area = frame + component[c].offset;
    if ((present >> c & 1) == 0) {
        *zero = true;
        if (change) {
            memset(area, 0, component[c].size);
            present |= UINT64_C(1) << c;
            memcpy(frame + XSAVE_HEADER, &present, sizeof present);
        }
    }
    return area + at;
}

void vectors_clear_upper(ucontext_t *uc)
{
    uint8_t *frame = (uint8_t *)uc->uc_mcontext.fpregs;
    uint32_t magic;
    uint64_t present;
    memcpy(&magic, frame + SOFTWARE_BYTES, sizeof magic);
    if (magic == SOFTWARE_MAGIC) { /* what is not present is 0 */
        memcpy(&present, frame + XSAVE_HEADER, sizeof present);
        present &= ~(UINT64_C(1) << YMM_HIGH | UINT64_C(1) << ZMM_HIGH);
        memcpy(frame + XSAVE_HEADER, &present, sizeof present);
    }
}

bool vector_mask(const ucontext_t *uc, unsigned reg, uint64_t *mask)
{
    bool zero;
    const uint8_t *from = part(uc, MASKS, reg * sizeof *mask, false, &zero);
    *mask = 0;
    if (from != NULL && !zero) {
        memcpy(mask, from, sizeof *mask);
    }
    return from != NULL;
}

/* Register bytes lie in up to three pieces. */
struct piece {
    enum component c;        /* 0: the legacy area */
    unsigned at, first, end; /* bytes `first` .. `end` of the register */
};

static unsigned pieces_of(unsigned reg, struct piece pieces[3])
{
    if (reg >= 16) {
        pieces[0] = (struct piece){ZMM_UPPER, (reg - 16) * 64, 0, 64};
        return 1;
    }
    pieces[0] = (struct piece){0, LEGACY_XMM + reg * 16, 0, 16};
    pieces[1] = (struct piece){YMM_HIGH, reg * 16, 16, 32};
    pieces[2] = (struct piece){ZMM_HIGH, reg * 32, 32, 64};
    return 3;
}

bool vector_get(const ucontext_t *uc, unsigned reg, void *to, unsigned size)
{
    struct piece pieces[3];
    unsigned n = pieces_of(reg, pieces);
    for (unsigned i = 0; i < n && pieces[i].first < size; i++) {
        const struct piece *p = &pieces[i];
        bool zero = false;
        const uint8_t *from = p->c == 0 ? (const uint8_t *)uc->uc_mcontext.fpregs + p->at
                                        : part(uc, p->c, p->at, false, &zero);
        unsigned end = p->end < size ? p->end : size;
        if (from == NULL) {
            return false;
        }
        if (zero) {
            memset((uint8_t *)to + p->first, 0, end - p->first);
        } else {
            memcpy((uint8_t *)to + p->first, from, end - p->first);
        }
    }
    return true;
}

bool vector_set(ucontext_t *uc, unsigned reg, const void *from, unsigned size, bool clear)
{
    struct piece pieces[3];
    unsigned n = pieces_of(reg, pieces);
    for (unsigned i = 0; i < n; i++) {
        const struct piece *p = &pieces[i];
        bool zero, touched = p->first < size;
        if (!touched && !clear) {
            break;
        }
        uint8_t *to = p->c == 0 ? (uint8_t *)uc->uc_mcontext.fpregs + p->at
                                : part(uc, p->c, p->at, touched, &zero);
        if (to == NULL) {
            return !touched; /* no such half to be cleared */
        }
        unsigned end = p->end < size ? p->end : size;
        if (touched) {
            memcpy(to, (const uint8_t *)from + p->first, end - p->first);
        }
        if (clear && end < p->end) {
            unsigned start = touched ? end : p->first;
            memset(to + (start - p->first), 0, p->end - start);
        }
    }
    return true;
}
