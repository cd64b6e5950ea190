/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a file, and the choice of one. Source: AIE control code fact sheet, section 3.1;
 * names as XRT takes them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "formats/aie/image_private.h"

struct nocap_aie_kernel *aie_image_kernel(struct nocap_aie_image *image, uint32_t group)
{
    for (size_t i = 0; i < image->kernel_count; i++) {
        if (image->kernels[i].group == group) {
            return &image->kernels[i];
        }
    }
    struct nocap_aie_kernel *next = image->kernel_count >= AIE_KERNELS_MAX
                                        ? NULL
                                        : LIST_NEXT(image->kernels, image->kernel_count);
    if (next != NULL) {
        next->group = group;
        image->kernel_count++;
    }
    return next;
}

static int by_group(const void *a, const void *b)
{
    const struct nocap_aie_kernel *p = a, *q = b;
    return (p->group > q->group) - (p->group < q->group);
}

enum nocap_status aie_image_finish_kernels(struct nocap_aie_image *image, struct nocap_error *err)
{
    if (image->kernel_count > 1) {
        qsort(image->kernels, image->kernel_count, sizeof image->kernels[0], by_group);
    }
    for (size_t i = 0; i < image->kernel_count; i++) {
        struct nocap_aie_kernel *kernel = &image->kernels[i];
        RETURN_ERROR_IF(kernel->name == NULL &&
                            asprintf(&kernel->name, "%" PRIu32, kernel->group) < 0,
                        err, NOCAP_E_MEMORY, "%s: out of memory", image->memory->name);
    }
    return NOCAP_OK;
}

/* ---- the choice ---- */

/* "DPU:first, DPU:second, ..": as many as there is room for. */
static void list_names(const struct nocap_aie_image *image, char *text, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < image->kernel_count && at < size; i++) {
        at += (size_t)snprintf(text + at, size - at, "%s%s", i == 0 ? "" : ", ",
                               image->kernels[i].name);
    }
    for (char *c = text; *c != 0; c++) {
        *c = (unsigned char)*c < ' ' ? '?' : *c;
    }
    if (at >= size) {
        memcpy(text + size - 4, "...", 4);
    }
}

/* A kernel that is named without its instance must have only one. */
static const struct nocap_aie_kernel *find_kernel(const struct nocap_aie_image *image,
                                                  const char *name)
{
    const struct nocap_aie_kernel *found = NULL;
    size_t length = strlen(name), count = 0;
    for (size_t i = 0; i < image->kernel_count; i++) {
        const struct nocap_aie_kernel *kernel = &image->kernels[i];
        if (strcmp(kernel->name, name) == 0) {
            return kernel;
        }
        if (strncmp(kernel->name, name, length) == 0 && kernel->name[length] == ':') {
            found = kernel;
            count++;
        }
    }
    return count == 1 ? found : NULL;
}

static void keep_pages(struct nocap_aie_image *image, uint32_t group)
{
    size_t first = 0, count = 0;
    while (first < image->page_count && image->pages[first].group != group) {
        first++;
    }
    while (first + count < image->page_count && image->pages[first + count].group == group) {
        image->pages[first + count++].group = 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < image->relocation_count; i++) {
        struct nocap_aie_relocation r = image->relocations[i];
        size_t at = r.page == NULL ? first : (size_t)(r.page - image->pages);
        bool of_all = r.page == NULL && (r.group == group || r.group == NOCAP_AIE_NO_GROUP);
        if (r.page == NULL ? of_all : at >= first && at < first + count) {
            r.page = r.page == NULL ? NULL : image->pages + (at - first);
            image->relocations[kept++] = r;
        }
    }
    image->relocation_count = kept;
    if (count != 0) { /* a kernel may have no page */
        memmove(image->pages, image->pages + first, count * sizeof *image->pages);
    }
    image->page_count = count;
    image->column_count = 0;
    for (size_t i = 0; i < count; i++) {
        image->column_count += i == 0 || image->pages[i].uc != image->pages[i - 1].uc;
    }
}

static void keep_buffers(struct nocap_aie_image *image, uint32_t group)
{
    size_t kept = 0;
    image->pad_size = 0;
    for (size_t i = 0; i < image->buffer_count; i++) {
        if (image->buffers[i].group == group || image->buffers[i].group == NOCAP_AIE_NO_GROUP) {
            image->pad_size += image->buffers[i].custom ? 0 : image->buffers[i].size;
            image->buffers[kept++] = image->buffers[i];
        }
    }
    image->buffer_count = kept;
}

static void keep_streams(struct nocap_aie_image *image, uint32_t group)
{
    size_t kept = 0;
    for (size_t i = 0; i < image->stream_count; i++) {
        if (image->streams[i].group == group || image->streams[i].group == NOCAP_AIE_NO_GROUP) {
            image->streams[kept++] = image->streams[i];
        }
    }
    image->stream_count = kept;
}

static void keep_kernel(struct nocap_aie_image *image, size_t at)
{
    struct nocap_aie_kernel kernel = image->kernels[at];
    for (size_t i = 0; i < image->kernel_count; i++) {
        if (i != at) {
            free(image->kernels[i].name);
        }
    }
    keep_pages(image, kernel.group);
    keep_buffers(image, kernel.group);
    keep_streams(image, kernel.group);
    kernel.group = 0;
    image->kernels[0] = kernel;
    image->kernel_count = 1;
}

enum nocap_status nocap_aie_image_select(struct nocap_aie_image *image, const char *name,
                                         struct nocap_error *err)
{
    char names[256] = "";
    const char *file = image->memory->name;
    list_names(image, names, sizeof names);
    if (name == NULL) {
        RETURN_ERROR_IF(image->kernel_count > 1, err, NOCAP_E_INPUT,
                        "%.150s holds %zu kernels: %s; say which one, as in %.150s:%.60s", file,
                        image->kernel_count, names, file, image->kernels[0].name);
        if (image->kernel_count == 1) {
            keep_kernel(image, 0);
        }
        return NOCAP_OK;
    }
    RETURN_ERROR_IF(image->kernel_count == 0, err, NOCAP_E_INPUT,
                    "%.150s names no kernels; leave out '%.60s'", file, name);
    const struct nocap_aie_kernel *kernel = find_kernel(image, name);
    RETURN_ERROR_IF(kernel == NULL, err, NOCAP_E_INPUT,
                    "%.150s has no kernel '%.60s', or several instances of it; expected one of: %s",
                    file, name, names);
    image->part = image->kernel_count > 1;
    keep_kernel(image, (size_t)(kernel - image->kernels));
    return NOCAP_OK;
}
