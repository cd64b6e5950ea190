/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/standard_input.h"
#include "formats/aie/image_private.h"
#include "formats/aie/txn.h"

/* ---- pages ---- */

struct nocap_aie_page *aie_image_add_page(struct nocap_aie_image *image, const uint8_t *bytes)
{
    struct nocap_aie_image_memory *memory = image->memory;
    struct nocap_aie_page *page = NULL;
    if (image->page_count < AIE_PAGES_MAX &&
        (bytes != NULL ||
         list_next(&memory->content, memory->content_count, NOCAP_AIE_PAGE_SIZE) != NULL)) {
        page = LIST_NEXT(image->pages, image->page_count);
    }
    if (page != NULL) {
        page->bytes = bytes;
        page->place = (uint32_t)memory->content_count;
        memory->content_count += bytes == NULL;
        image->page_count++;
    }
    return page;
}

uint8_t *aie_image_content(const struct nocap_aie_image *image, const struct nocap_aie_page *page)
{
    return image->memory->content + (size_t)page->place * NOCAP_AIE_PAGE_SIZE;
}

static int by_place(const void *a, const void *b)
{
    const struct nocap_aie_page *p = a, *q = b;
    const uint32_t keys[][2] = {{p->group, q->group}, {p->uc, q->uc}, {p->index, q->index}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static bool same_column(const struct nocap_aie_page *a, const struct nocap_aie_page *b)
{
    return a->group == b->group && a->uc == b->uc;
}

/* Sorts, and sets what is known once all pages are found. */
static void finish_pages(struct nocap_aie_image *image)
{
    if (image->page_count > 1) {
        qsort(image->pages, image->page_count, sizeof image->pages[0], by_place);
    }
    for (size_t i = 0; i < image->page_count; i++) {
        struct nocap_aie_page *page = &image->pages[i];
        page->bytes = page->bytes != NULL ? page->bytes : aie_image_content(image, page);
        image->column_count += i == 0 || !same_column(page, page - 1);
    }
}

const struct nocap_aie_page *nocap_aie_image_page(const struct nocap_aie_image *image,
                                                  uint32_t group, uint32_t uc, uint32_t index)
{
    const struct nocap_aie_page key = {.group = group, .uc = uc, .index = index};
    return image->page_count == 0
               ? NULL
               : bsearch(&key, image->pages, image->page_count, sizeof image->pages[0], by_place);
}

/* One more than the last section with text that a symbol can be in. */
static uint32_t sections_of(const struct nocap_aie_image *image)
{
    uint32_t sections = 0;
    for (size_t i = 0; i < image->page_count; i++) {
        const struct nocap_aie_page *page = &image->pages[i];
        const uint32_t section = page->text_section_index;
        if (page->has_text && section >= sections && section <= UINT16_MAX) {
            sections = section + 1;
        }
    }
    return sections;
}

/* The relocations get their page late, since pages move when they are sorted. */
static enum nocap_status finish_relocations(struct nocap_aie_image *image, struct nocap_error *err)
{
    const uint32_t sections = sections_of(image);
    /* page of each section, from 1; 0: none */
    uint32_t *first = calloc((size_t)sections + 1, sizeof *first);
    RETURN_ERROR_IF(first == NULL, err, NOCAP_E_MEMORY, "%s: out of memory", image->memory->name);
    for (size_t i = image->page_count; i-- > 0;) {
        if (image->pages[i].text_section_index < sections && image->pages[i].has_text) {
            first[image->pages[i].text_section_index] = (uint32_t)i + 1;
        }
    }
    for (size_t r = 0; r < image->relocation_count; r++) {
        struct nocap_aie_relocation *relocation = &image->relocations[r];
        uint64_t at = (uint64_t)relocation->offset + NOCAP_AIE_HEADER_SIZE;
        uint64_t skip = image->merged ? at / NOCAP_AIE_PAGE_SIZE : 0;
        uint32_t page = relocation->section_index < sections ? first[relocation->section_index] : 0;
        if (page != 0 && skip <= image->page_count - page &&
            same_column(&image->pages[page - 1], &image->pages[page - 1 + skip])) {
            relocation->page = &image->pages[page - 1 + skip];
        }
        relocation->page_offset = (uint32_t)(at - skip * NOCAP_AIE_PAGE_SIZE);
    }
    free(first);
    return NOCAP_OK;
}

bool aie_image_add_stream(struct nocap_aie_image *image, const struct nocap_aie_stream *stream)
{
    struct nocap_aie_stream *next = LIST_NEXT(image->streams, image->stream_count);
    if (next == NULL) {
        return false;
    }
    *next = *stream;
    image->stream_count++;
    return true;
}

/* ---- opening ---- */

/* The pages of one column, one after the other. */
static enum nocap_status read_bare(struct nocap_aie_image *image, struct nocap_error *err)
{
    const struct nocap_aie_image_memory *memory = image->memory;
    if (nocap_aie_is_txn(memory->file, memory->size)) {
        const struct nocap_aie_stream stream = {"the stream", NOCAP_AIE_NO_GROUP, memory->file,
                                                memory->size};
        RETURN_ERROR_IF(!aie_image_add_stream(image, &stream), err, NOCAP_E_MEMORY,
                        "%s: out of memory", memory->name);
        return NOCAP_OK;
    }
    RETURN_ERROR_IF(memory->size == 0 || memory->size % NOCAP_AIE_PAGE_SIZE != 0 ||
                        nocap_aie_u16(memory->file) != NOCAP_AIE_SIGNATURE,
                    err, NOCAP_E_INPUT,
                    "%s: neither an ELF file nor the image of a column (pages of %d bytes that "
                    "begin with ff ff) nor a transaction stream of aie2 or aie2p; give the output "
                    "of an AIE control code assembler",
                    memory->name, NOCAP_AIE_PAGE_SIZE);
    for (size_t at = 0; at < memory->size; at += NOCAP_AIE_PAGE_SIZE) {
        struct nocap_aie_page *page = aie_image_add_page(image, memory->file + at);
        RETURN_ERROR_IF(page == NULL, err, NOCAP_E_MEMORY,
                        "%s: more than %d pages, or out of memory", memory->name, AIE_PAGES_MAX);
        page->index = (uint32_t)(at / NOCAP_AIE_PAGE_SIZE);
        page->section_size = NOCAP_AIE_PAGE_SIZE;
        page->has_text = page->has_data = true;
        page->section = "the image";
    }
    return NOCAP_OK;
}

static enum nocap_status read_image(struct nocap_aie_image *image, struct nocap_error *err)
{
    image->elf =
        image->memory->size >= SELFMAG && memcmp(image->memory->file, ELFMAG, SELFMAG) == 0;
    RETURN_IF_FAILED(image->elf ? aie_image_read_elf(image, err) : read_bare(image, err));
    bool streams = image->elf && image->os_abi == NOCAP_AIE_OSABI_STREAMS;
    RETURN_ERROR_IF(streams && image->stream_count == 0, err, NOCAP_E_INPUT,
                    "%s: an ELF file for aie2 or aie2p (OS ABI 0x45) without control code "
                    "(.ctrltext)",
                    image->memory->name);
    finish_pages(image);
    RETURN_IF_FAILED(finish_relocations(image, err));
    aie_image_identify(image);
    return NOCAP_OK;
}

/* Takes `bytes`, also when it fails. */
static enum nocap_status open_bytes(struct nocap_aie_image **result, uint8_t *bytes, size_t size,
                                    const char *name, struct nocap_error *err)
{
    struct nocap_aie_image *image = calloc(1, sizeof *image);
    struct nocap_aie_image_memory *memory = calloc(1, sizeof *memory);
    *result = NULL;
    if (image == NULL || memory == NULL || bytes == NULL || (memory->name = strdup(name)) == NULL) {
        free(image);
        free(memory);
        free(bytes);
        return nocap_fail(err, NOCAP_E_MEMORY, "%s: out of memory", name);
    }
    memory->file = bytes;
    memory->size = size;
    image->memory = memory;
    enum nocap_status status = read_image(image, err);
    if (status != NOCAP_OK) {
        nocap_aie_image_close(image);
        return status;
    }
    *result = image;
    return NOCAP_OK;
}

enum nocap_status nocap_aie_image_open_memory(struct nocap_aie_image **image, const void *bytes,
                                              size_t size, const char *name,
                                              struct nocap_error *err)
{
    uint8_t *copy = malloc(size + 1);
    if (copy != NULL && size != 0) {
        memcpy(copy, bytes, size);
    }
    return open_bytes(image, copy, size, name, err);
}

enum nocap_status aie_image_read(struct nocap_aie_image **image, const struct regular_file *file,
                                 const char *name, struct nocap_error *err)
{
    uint8_t *bytes;
    *image = NULL;
    RETURN_IF_FAILED(regular_file_read(file, name, &bytes, err));
    return open_bytes(image, bytes, file->size, name, err);
}

static enum nocap_status open_path(struct nocap_aie_image **image, const char *path,
                                   struct nocap_error *err)
{
    struct regular_file file;
    *image = NULL;
    RETURN_IF_FAILED(regular_file_open(&file, path, AIE_FILE_MAX, err));
    enum nocap_status status = aie_image_read(image, &file, path, err);
    regular_file_close(&file);
    return status;
}

struct nocap_aie_image *aie_image_share(struct nocap_aie_image *image)
{
    image->memory->others++;
    return image;
}

const char *nocap_aie_path_kernel(const char *path)
{
    char file[4096];
    const char *colon = access(path, F_OK) == 0 ? NULL : strchr(path, ':');
    while (colon != NULL) {
        snprintf(file, sizeof file, "%.*s", (int)(colon - path), path);
        if (colon[1] != 0 && access(file, F_OK) == 0) {
            break;
        }
        colon = strchr(colon + 1, ':');
    }
    return colon;
}

enum nocap_status nocap_aie_image_open(struct nocap_aie_image **image, const char *path,
                                       struct nocap_error *err)
{
    const char *colon = nocap_aie_path_kernel(path);
    if (colon == NULL) {
        return open_path(image, path, err);
    }
    char *file = strndup(path, (size_t)(colon - path));
    *image = NULL;
    RETURN_ERROR_IF(file == NULL, err, NOCAP_E_MEMORY, "%s: out of memory", path);
    enum nocap_status status = open_path(image, file, err);
    free(file);
    if (status == NOCAP_OK &&
        (status = nocap_aie_image_select(*image, colon + 1, err)) != NOCAP_OK) {
        nocap_aie_image_close(*image);
        *image = NULL;
    }
    return status;
}

enum nocap_status nocap_aie_image_open_input(struct nocap_aie_image **image, const char *path,
                                             struct nocap_error *err)
{
    uint8_t *bytes;
    size_t size;
    *image = NULL;
    if (!standard_input_is(path)) {
        return nocap_aie_image_open(image, path, err);
    }
    RETURN_IF_FAILED(standard_input_read(&bytes, &size, err));
    return open_bytes(image, bytes, size, STANDARD_INPUT_NAME, err);
}

void nocap_aie_image_close(struct nocap_aie_image *image)
{
    if (image == NULL) {
        return;
    }
    if (image->memory->others > 0) {
        image->memory->others--;
        return;
    }
    elf_end(image->memory->elf);
    free(image->memory->file);
    free(image->memory->content);
    free(image->memory->name);
    free(image->memory);
    free(image->pages);
    for (size_t i = 0; i < image->kernel_count; i++) {
        free(image->kernels[i].name);
    }
    free(image->kernels);
    free(image->streams);
    free(image->relocations);
    free(image->buffers);
    free(image->debugs);
    free(image);
}
