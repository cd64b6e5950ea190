/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the program that the device reaches: what was pinned, and the driver's buffers. */
#include <errno.h>
#include <sys/mman.h>

#include "capture/preload/preload.h"

/* Whether two ranges have a byte in common. */
static bool meet(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

static void take_out(struct chip *chip, unsigned at)
{
    chip->pin_count--;
    for (unsigned i = at; i < chip->pin_count; i++) {
        chip->pins[i] = chip->pins[i + 1];
    }
}

/* What the driver gives out again was released, by an unpin or by a close. */
void pin_add(struct chip *chip, const struct pin *pin)
{
    sigset_t before;
    chip_enter(chip, &before);
    for (unsigned i = 0; i < chip->pin_count;) {
        if (meet(chip->pins[i].iova, chip->pins[i].size, pin->iova, pin->size)) {
            take_out(chip, i);
        } else {
            i++;
        }
    }
    if (chip->pin_count < PINS_MAX) {
        chip->pins[chip->pin_count++] = *pin;
    } else {
        chip_report(chip, TOLD_PINS_FULL,
                    "more ranges are pinned than can be followed: what the device fetches from "
                    "further ones is recorded without its bytes");
    }
    chip_leave(chip, &before);
}

void pin_remove(struct chip *chip, uint64_t address, uint64_t size)
{
    sigset_t before;
    chip_enter(chip, &before);
    for (unsigned i = 0; i < chip->pin_count; i++) {
        if (chip->pins[i].address == address && chip->pins[i].size == size) {
            take_out(chip, i);
            break;
        }
    }
    chip_leave(chip, &before);
}

void pin_mapped(struct chip *chip, uint64_t offset, uintptr_t address)
{
    sigset_t before;
    chip_enter(chip, &before);
    for (unsigned i = 0; i < chip->pin_count; i++) {
        if (chip->pins[i].offset == offset) {
            chip->pins[i].address = address;
            chip->pins[i].gone = false;
        }
    }
    chip_leave(chip, &before);
}

void pins_gone(struct chip *chip, uintptr_t start, size_t size)
{
    sigset_t before;
    if (chip->pin_count == 0) {
        return; /* most calls that end here have nothing to do with the device */
    }
    chip_enter(chip, &before);
    for (unsigned i = 0; i < chip->pin_count; i++) {
        struct pin *p = &chip->pins[i];
        p->gone |= meet(p->address, p->size, start, size);
    }
    chip_leave(chip, &before);
}

/* Memory may go in ways that no hook sees, and a fault in the shim would end the program. Kernels
 * that do not know the question say EINVAL. */
static bool readable(uint64_t address, uint64_t size)
{
#ifdef MADV_POPULATE_READ
    int error = errno;
    uint64_t start = address & ~UINT64_C(4095);
    bool bad = madvise((void *)(uintptr_t)start, address + size - start, MADV_POPULATE_READ) != 0 &&
               errno != EINVAL;
    errno = error;
    return !bad;
#else
    (void)address;
    (void)size;
    return true;
#endif
}

const uint8_t *pin_bytes(const struct chip *chip, enum pin_space space, uint64_t at, uint64_t size)
{
    for (unsigned i = chip->pin_count; i-- > 0;) {
        const struct pin *p = &chip->pins[i];
        uint64_t first = space == PIN_IOVA ? p->iova : p->noc;
        if (p->address != 0 && !p->gone && (space == PIN_IOVA || p->noc != 0) && at >= first &&
            at - first <= p->size && size <= p->size - (at - first)) {
            uint64_t address = p->address + (at - first);
            return readable(address, size) ? (const uint8_t *)(uintptr_t)address : NULL;
        }
    }
    return NULL;
}
