/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a text makes the file that it is of: each page is assembled alone, and then the file
 * around them, so that neither the text nor its statements are ever in memory as a whole. */
#include <stdlib.h>
#include <string.h>

#include "formats/aie/disasm_private.h"
#include "formats/aie/image_private.h"

/* ---- two images, page by page ---- */

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

static bool same_image_relocations(const struct nocap_aie_image *a, const struct nocap_aie_image *b)
{
    uint64_t *x = summarise(a), *y = summarise(b);
    bool same = x != NULL && y != NULL && memcmp(x, y, (a->page_count + 1) * sizeof *x) == 0;
    free(x);
    free(y);
    return same;
}

/* Their relocations are of a form that is not read. */
static bool has_odd_relocations(const struct nocap_aie_image *image)
{
    return !image->elf || image->abi_version == ABI_PYTHON;
}

/* Whether they are the same in all that a text shows. */
static bool same_images(const struct nocap_aie_image *a, const struct nocap_aie_image *b)
{
    bool same = same_place(a, b) && same_buffers(a, b) && same_maps(a, b);
    for (size_t i = 0; i < a->page_count && same; i++) {
        same = same_page(&a->pages[i], &b->pages[i]);
    }
    return same && (has_odd_relocations(a) || same_image_relocations(a, b));
}

/* ---- a text and the file that it is of ---- */

enum { PER_BARRIER = UINT8_MAX + 1 };

/* Judges a text that was assembled. */
typedef enum nocap_status verdict(struct aie_printer *p, struct aie_program *program,
                                  struct aie_output *output, bool *same, struct nocap_error *err);

/* Assembles a text; one that is refused is not the same. */
static enum nocap_status assemble(struct aie_printer *p, const char *text, size_t size,
                                  verdict *judge, bool *same, struct nocap_error *err)
{
    /* the text has the map as it stands */
    const struct nocap_aie_asm_options options = {.dialect = p->dialect, .no_map = true};
    struct aie_program program = aie_begin_program(&options, p->dialect, err);
    struct aie_output output = {.of = &program};
    program.known = &p->known;
    *same = false;
    const struct aie_asm_text source = {.text = text, .name = "text", .length = size};
    enum nocap_status status = aie_encode_program(&program, &source, &output);
    p->extent.statements += program.statement_count;
    p->extent.bytes += size;
    if (status == NOCAP_OK) {
        status = judge(p, &program, &output, same, err);
    }
    aie_output_free(&output);
    aie_program_free(&program);
    return status == NOCAP_E_INPUT ? NOCAP_OK : status;
}

/* Assembles what `put` writes. */
static enum nocap_status try_text(struct aie_printer *p,
                                  enum nocap_status (*put)(struct aie_printer *,
                                                           struct nocap_error *),
                                  verdict *judge, bool *same, struct nocap_error *err)
{
    FILE *out = p->text->out;
    char *text = NULL;
    size_t size = 0;
    p->text->out = open_memstream(&text, &size);
    enum nocap_status status = p->text->out == NULL ? NOCAP_E_MEMORY : put(p, err);
    bool failed = p->text->out == NULL;
    if (!failed) {
        aie_text_flush(p->text);
        failed = ferror(p->text->out) != 0;
        failed |= fclose(p->text->out) != 0;
    }
    p->text->out = out;
    if (failed) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    }
    if (status == NOCAP_OK) {
        status = assemble(p, text, size, judge, same, err);
    }
    free(text);
    return status;
}

/* ---- a page ---- */

static bool same_relocations(const struct aie_known *known, const struct aie_output *output)
{
    const uint32_t *list;
    size_t count = aie_known_relocations(known, known->page, &list);
    bool same = count == output->symbol_count;
    for (size_t i = 0; i < count && same; i++) {
        const struct nocap_aie_relocation *r = &known->image->relocations[list[i]];
        const struct aie_symbol *s = &output->symbols[i];
        same = r->type == s->type && r->page_offset == s->offset + NOCAP_AIE_HEADER_SIZE &&
               r->addend == s->addend && r->symbol != NULL && strcmp(r->symbol, s->name) == 0;
    }
    return same;
}

static enum nocap_status judge_page(struct aie_printer *p, struct aie_program *program,
                                    struct aie_output *output, bool *same, struct nocap_error *err)
{
    const struct nocap_aie_page *page = p->known.page;
    size_t parts = program->layout == AIE_LAYOUT_PAGES ? 1u + page->has_data : 1, at = 0;
    (void)err;
    *same = page->has_text && output->section_count == parts &&
            page->section_size == NOCAP_AIE_PAGE_SIZE &&
            (page->text_size == 0 || page->text_size == output->sections[0].size) &&
            (has_odd_relocations(p->image) || same_relocations(&p->known, output));
    for (size_t i = 0; i < output->section_count && *same; i++) {
        const struct aie_section *section = &output->sections[i];
        *same = section->size <= NOCAP_AIE_PAGE_SIZE - at &&
                memcmp(section->bytes, page->bytes + at, section->size) == 0;
        at += section->size;
    }
    *same &= at == NOCAP_AIE_PAGE_SIZE;
    return NOCAP_OK;
}

static enum nocap_status put_known_page(struct aie_printer *p, struct nocap_error *err)
{
    aie_put_page_head(p, p->known.page);
    return aie_put_page(p, p->known.page, err);
}

/* A page that no instructions make comes as its bytes; but not if that does not help either. */
static enum nocap_status verify_page(struct aie_printer *p, bool *same, struct nocap_error *err)
{
    bool *raw = &p->raw[p->known.page - p->image->pages];
    struct aie_extent before = p->extent;
    RETURN_IF_FAILED(try_text(p, put_known_page, judge_page, same, err));
    if (!*same && !*raw) {
        p->extent = before;
        *raw = true;
        RETURN_IF_FAILED(try_text(p, put_known_page, judge_page, same, err));
        *raw = *same;
    }
    return NOCAP_OK;
}

/* Whether a page of instructions uses a local barrier that another one of its chain uses, which the
 * early assemblers refuse; `users`: page that uses each, from 1. */
static bool shares_barrier(const struct aie_printer *p, size_t i, uint32_t *users)
{
    struct nocap_aie_walker walker;
    bool shared = false;
    if (aie_begins_chain(p->image, &p->image->pages[i])) {
        memset(users, 0, PER_BARRIER * sizeof *users);
    }
    nocap_aie_walk_begin(&walker, &p->image->pages[i], p->dialect);
    while (!p->raw[i] && !shared && nocap_aie_walk_next(&walker) == NOCAP_AIE_WALK_INSN) {
        if (walker.insn.info->opcode == NOCAP_AIE_LOCAL_BARRIER) {
            uint32_t *user = &users[walker.insn.value[0] % PER_BARRIER];
            shared = *user != 0 && *user != i + 1;
            *user = shared ? *user : (uint32_t)i + 1;
        }
    }
    return shared;
}

/* ---- the file around the pages ---- */

static enum nocap_status judge_rest(struct aie_printer *p, struct aie_program *program,
                                    struct aie_output *output, bool *same, struct nocap_error *err)
{
    const struct nocap_aie_image_memory *memory = p->image->memory;
    struct nocap_aie_image *image = NULL;
    uint8_t *bytes;
    size_t size;
    if (p->dialect == NOCAP_AIE_N26 && p->image->elf && !p->image->part) {
        return aie_elf_is(output, p->dialect, memory->file, memory->size, same, err);
    }
    RETURN_IF_FAILED(aie_make_file(program, output, &bytes, &size));
    enum nocap_status status = nocap_aie_image_open_memory(&image, bytes, size, "text", err);
    free(bytes);
    *same = status == NOCAP_OK && same_images(p->image, image);
    nocap_aie_image_close(image);
    return status;
}

/* About as much text as the lines of debug maps are. */
static size_t map_bytes(const struct nocap_aie_image *image)
{
    enum { BYTES = 16, LINE = 50 };
    size_t size = image->map_size;
    for (size_t i = 0; i < image->kernel_count; i++) {
        size += image->kernels[i].map_size;
    }
    return size / BYTES * LINE;
}

enum nocap_status aie_verify(struct aie_printer *p, bool *same, struct nocap_error *err)
{
    uint32_t users[PER_BARRIER] = {0};
    *same = true;
    for (size_t i = 0; i < p->image->page_count; i++) {
        bool one = false;
        p->known.page = &p->image->pages[i];
        RETURN_IF_FAILED(verify_page(p, &one, err));
        if (p->dialect != NOCAP_AIE_SEED && shares_barrier(p, i, users)) {
            p->raw[i] = true;
            RETURN_IF_FAILED(verify_page(p, &one, err));
        }
        *same &= one;
    }
    p->known.page = NULL;
    p->around = true;
    if (*same) {
        RETURN_IF_FAILED(try_text(p, aie_put_file, judge_rest, same, err));
    }
    p->around = false;
    *same &= p->extent.statements <= AIE_STATEMENTS_MAX &&
             p->extent.bytes + map_bytes(p->image) <= AIE_FILE_MAX;
    return NOCAP_OK;
}
