/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two images are the same, page by page. */
#include <stdlib.h>
#include <string.h>

#include "formats/aie/disasm_private.h"

enum { ABI_PYTHON = 0x01 }; /* its relocations have another form, and are not read */

static bool same_place(const struct nocap_aie_image *a, const struct nocap_aie_image *b)
{
    bool same =
        a->page_count == b->page_count && a->repeated == 0 && a->kernel_count == b->kernel_count;
    for (size_t i = 0; i < a->kernel_count && same; i++) {
        same = strcmp(a->kernels[i].name, b->kernels[i].name) == 0;
    }
    for (size_t i = 0; i < a->page_count && same; i++) {
        same = a->pages[i].group == b->pages[i].group && a->pages[i].uc == b->pages[i].uc &&
               a->pages[i].index == b->pages[i].index;
    }
    return same;
}

static bool same_page(const struct nocap_aie_page *a, const struct nocap_aie_page *b)
{
    return a->text_size == b->text_size && a->section_size == b->section_size &&
           a->has_text == b->has_text && a->has_data == b->has_data &&
           memcmp(a->bytes, b->bytes, NOCAP_AIE_PAGE_SIZE) == 0;
}

/* From 1 on; 0: no buffers of a column. */
static unsigned column_of(const struct nocap_aie_buffer *buffer)
{
    unsigned uc;
    return sscanf(buffer->section, ".pad.%9u", &uc) == 1 ? uc + 1 : 0;
}

static bool same_buffers(const struct nocap_aie_image *a, const struct nocap_aie_image *b)
{
    bool same = a->buffer_count == b->buffer_count;
    for (size_t i = 0; i < a->buffer_count && same; i++) {
        const struct nocap_aie_buffer *p = &a->buffers[i], *q = &b->buffers[i];
        same = p->group == q->group && column_of(p) == column_of(q) && p->size == q->size &&
               (p->size == 0 || memcmp(p->bytes, q->bytes, p->size) == 0);
    }
    return same;
}

static bool same_map(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    return a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

static bool same_maps(const struct nocap_aie_image *a, const struct nocap_aie_image *b)
{
    bool same = same_map(a->map, a->map_size, b->map, b->map_size);
    for (size_t i = 0; i < a->kernel_count && same; i++) {
        const struct nocap_aie_kernel *p = &a->kernels[i], *q = &b->kernels[i];
        same = same_map(p->map, p->map_size, q->map, q->map_size);
    }
    return same;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

/* One number for the relocations of each page, and at the end for all others. */
static uint64_t *summarise(const struct nocap_aie_image *image)
{
    uint64_t *sums = calloc(image->page_count + 1, sizeof *sums);
    for (size_t i = 0; sums != NULL && i < image->relocation_count; i++) {
        const struct nocap_aie_relocation *r = &image->relocations[i];
        uint64_t hash = mix(mix(mix(1, r->type), r->offset), r->addend);
        for (const char *c = r->symbol; c != NULL && *c != 0; c++) {
            hash = mix(hash, (unsigned char)*c);
        }
        uint64_t *sum =
            &sums[r->page == NULL ? image->page_count : (size_t)(r->page - image->pages)];
        *sum = mix(mix(*sum, hash), hash >> 32);
    }
    return sums;
}

static bool same_relocations(const struct nocap_aie_image *a, const struct nocap_aie_image *b)
{
    uint64_t *x = summarise(a), *y = summarise(b);
    bool same = x != NULL && y != NULL && memcmp(x, y, (a->page_count + 1) * sizeof *x) == 0;
    free(x);
    free(y);
    return same;
}

bool aie_has_odd_relocations(const struct nocap_aie_image *image)
{
    return !image->elf || image->abi_version == ABI_PYTHON;
}

bool aie_compare_images(const struct nocap_aie_image *a, const struct nocap_aie_image *b)
{
    bool same = same_place(a, b) && same_buffers(a, b) && same_maps(a, b);
    for (size_t i = 0; i < a->page_count && same; i++) {
        same = same_page(&a->pages[i], &b->pages[i]);
    }
    return same && (aie_has_odd_relocations(a) || same_relocations(a, b));
}
