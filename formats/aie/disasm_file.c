/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a whole file. What asm would not make of it comes as its bytes instead. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/aie/disasm_private.h"
#include "formats/aie/image_private.h"
#include "formats/aie/txn.h"

enum {
    WORD = 4,
    LINE_BYTES = 16,
};

/* Sorts the relocations by page. */
static bool index_relocations(struct aie_printer *p)
{
    const struct nocap_aie_image *image = p->image;
    uint32_t *list = p->relocations = calloc(image->relocation_count + 1, sizeof *list);
    uint32_t *first = p->first_relocation = calloc(image->page_count + 3, sizeof *first);
    p->raw = calloc(image->page_count + 1, sizeof *p->raw);
    if (list == NULL || first == NULL || p->raw == NULL) {
        return false;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < image->relocation_count; i++) {
            const struct nocap_aie_page *page = image->relocations[i].page;
            size_t at = page == NULL ? image->page_count : (size_t)(page - image->pages);
            if (pass == 0) {
                first[at + 2]++;
            } else {
                list[first[at + 1]++] = (uint32_t)i;
            }
        }
        for (size_t i = 2; i < image->page_count + 3 && pass == 0; i++) {
            first[i] += first[i - 1];
        }
    }
    p->known = (struct aie_known){image, list, first, NULL};
    return true;
}

/* ---- what stands as it is ---- */

void aie_put_line(const struct aie_printer *p, uint32_t at, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * UINT8_MAX] = "";
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 0xF];
    }
    aie_put(p->text, ".bytes ");
    aie_put_hex(p->text, at, 4);
    aie_put(p->text, ", ");
    aie_put_bytes_of(p->text, text, 2 * count);
}

void aie_put_bytes(const struct aie_printer *p, const uint8_t *bytes, size_t from, size_t size)
{
    for (size_t at = from; at < size;) {
        size_t next = (at / LINE_BYTES + 1) * LINE_BYTES;
        size_t end = next < size ? next : size;
        bool zero = true;
        for (size_t i = at; i < end && zero; i++) {
            zero = bytes[i] == 0;
        }
        if (!zero || (end == size && size % WORD != 0)) {
            aie_put_line(p, (uint32_t)at, bytes + at, end - at);
            aie_put(p->text, "\n");
        }
        at = end;
    }
}

/* Whether a name of at most `most` bytes can stand in the text. */
static bool aie_is_symbol(const char *name, size_t most)
{
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) ||
           (name[length] != 0 && strchr("_-.", name[length]) != NULL)) {
        length++;
    }
    return name[length] == 0 && length != 0 && length <= most;
}

void aie_put_relocation(const struct aie_printer *p, const struct nocap_aie_relocation *r,
                        uint32_t offset)
{
    if (r->symbol != NULL && aie_is_symbol(r->symbol, AIE_SYMBOL_SIZE - 1)) {
        fprintf(aie_text_stream(p->text), ".reloc 0x%" PRIx32 ", %" PRIu32 ", 0x%" PRIx32 ", %s\n",
                offset, r->type, r->addend, r->symbol);
    }
}

/* ---- what is no page ---- */

/* .raw, without the number of the kernel. */
static void put_section_name(const struct aie_printer *p, const char *section, uint32_t group)
{
    char suffix[16];
    size_t length = strlen(section);
    int n = snprintf(suffix, sizeof suffix, ".%" PRIu32, group);
    if (group != NOCAP_AIE_NO_GROUP && p->image->kernel_count != 0 && length > (size_t)n &&
        strcmp(section + length - (size_t)n, suffix) == 0) {
        length -= (size_t)n;
    }
    fprintf(aie_text_stream(p->text), ".raw %.*s\n", (int)length, section);
}

/* The debug map of a kernel; none of n26 is one of no bytes, since asm makes one else. */
static void put_map(struct aie_printer *p, size_t kernel)
{
    const struct nocap_aie_image *image = p->image;
    bool named = kernel < image->kernel_count;
    const uint8_t *map = named ? image->kernels[kernel].map : image->map;
    size_t size = named ? image->kernels[kernel].map_size : image->map_size;
    if (p->image->elf && (p->dialect == NOCAP_AIE_N26 || size != 0)) {
        fputs(".raw .dump\n", aie_text_stream(p->text));
        aie_put_bytes(p, map, 0, p->around ? 0 : size);
    }
}

/* The pages of a kernel, and after what people read its map. */
static enum nocap_status put_kernel(struct aie_printer *p, size_t kernel, uint32_t group,
                                    struct nocap_error *err)
{
    if (p->notes) {
        nocap_aie_lines_close(p->lines);
        (void)nocap_aie_lines_open(&p->lines, p->image, kernel, NULL); /* else without lines */
    }
    RETURN_IF_FAILED(aie_put_pages(p, group, err));
    put_map(p, kernel);
    return NOCAP_OK;
}

static void put_buffer(const struct aie_printer *p, size_t number)
{
    const struct nocap_aie_image *image = p->image;
    const struct nocap_aie_buffer *b = &image->buffers[number];
    unsigned uc;
    int end = 0;
    bool shown = p->dialect == NOCAP_AIE_N26;
    if (b->custom && shown) {
        fprintf(aie_text_stream(p->text), ".custom %s\n",
                aie_is_symbol(b->section, AIE_CUSTOM_NAME_MAX) ? b->section : "unnamed");
    } else if (!b->custom && sscanf(b->section, ".pad.%9u%n", &uc, &end) == 1 &&
               (b->section[end] == 0 || b->section[end] == '.')) {
        fprintf(aie_text_stream(p->text), ".attach_to_group %u\n.setpad buffer_%zu, %zu\n", uc,
                number, b->size / WORD);
    } else if (shown) {
        put_section_name(p, b->section, b->group);
    } else {
        fprintf(aie_text_stream(p->text), "; %zu bytes of %s that this text does not show\n",
                b->size, b->custom ? "a custom section" : "control packets");
        return;
    }
    aie_put_bytes(p, b->bytes, 0, b->size);
    for (size_t i = p->first_relocation[image->page_count]; i < image->relocation_count; i++) {
        const struct nocap_aie_relocation *r = &image->relocations[p->relocations[i]];
        if (r->section == b->section) {
            aie_put_relocation(p, r, r->offset);
        }
    }
}

static void put_buffers(const struct aie_printer *p, uint32_t group)
{
    for (size_t i = 0; i < p->image->buffer_count; i++) {
        if (p->image->buffers[i].group == group) {
            put_buffer(p, i);
        }
    }
}

/* What the whole file is. */
static void put_head(const struct aie_printer *p)
{
    const struct nocap_aie_image *image = p->image;
    const char *target =
        image->elf ? nocap_aie_target_of(image->os_abi, &(enum nocap_aie_chip){0}) : NULL;
    if (p->dialect != NOCAP_AIE_SEED) { /* which asm takes it for */
        fprintf(aie_text_stream(p->text), ".dialect %s\n", nocap_aie_dialect_name(p->dialect));
    }
    if (p->dialect == NOCAP_AIE_N26 && p->chip != NOCAP_AIE_CHIP_UNKNOWN) {
        fprintf(aie_text_stream(p->text), ".target %s\n",
                target != NULL ? target : nocap_aie_chip_info(p->chip)->name);
    }
    if (image->has_partition && image->partition != 0) {
        fprintf(aie_text_stream(p->text), ".partition %" PRIu32 "column\n", image->partition);
    }
    if (!image->elf || image->merged) {
        fprintf(aie_text_stream(p->text), ".layout %s\n", image->elf ? "merged" : "image");
    }
}

/* Arguments that are control packets give their relocations another symbol. */
static void put_packet_names(const struct aie_printer *p, uint32_t group)
{
    for (size_t i = 0; i < p->image->buffer_count && p->dialect == NOCAP_AIE_N26; i++) {
        const struct nocap_aie_buffer *b = &p->image->buffers[i];
        if (b->group == group && strncmp(b->section, ".ctrlpkt", strlen(".ctrlpkt")) == 0) {
            put_section_name(p, b->section, b->group);
        }
    }
}

void aie_put_page_head(struct aie_printer *p, const struct nocap_aie_page *page)
{
    const struct nocap_aie_image *image = p->image;
    put_head(p);
    if (image->kernel_count == 0 || image->kernels[0].group == page->group) {
        put_packet_names(p, NOCAP_AIE_NO_GROUP);
    }
    put_packet_names(p, page->group);
}

enum nocap_status aie_put_file(struct aie_printer *p, struct nocap_error *err)
{
    const struct nocap_aie_image *image = p->image;
    put_head(p);
    put_buffers(p, NOCAP_AIE_NO_GROUP);
    if (image->kernel_count == 0) {
        return put_kernel(p, 0, 0, err);
    }
    for (size_t i = 0; i < image->kernel_count; i++) {
        const struct nocap_aie_kernel *kernel = &image->kernels[i];
        if (kernel->symbol != NULL && aie_is_symbol(kernel->symbol, AIE_KERNEL_NAME_MAX) &&
            aie_is_symbol(kernel->instance, AIE_KERNEL_NAME_MAX)) {
            fprintf(aie_text_stream(p->text), "%s.kernel %s, %s\n", i == 0 ? "" : "\n",
                    kernel->symbol, kernel->instance);
        } else {
            fprintf(aie_text_stream(p->text), "; group %" PRIu32 ", a kernel without a name\n",
                    kernel->group);
        }
        put_buffers(p, kernel->group);
        RETURN_IF_FAILED(put_kernel(p, i, kernel->group, err));
    }
    return NOCAP_OK;
}

static enum nocap_status disassemble(FILE *out, const struct nocap_aie_image *image,
                                     enum nocap_aie_dialect dialect, bool notes, bool *complete,
                                     struct nocap_error *err)
{
    if (image->stream_count != 0) {
        return nocap_aie_txn_disassemble(out, image, complete, err);
    }
    struct aie_text text = {.out = out};
    struct aie_printer p = {
        .text = &text, .image = image, .dialect = dialect, .chip = image->chip, .complete = true};
    bool same = false;
    enum nocap_status status = index_relocations(&p)
                                   ? aie_verify(&p, &same, err)
                                   : nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    if (status == NOCAP_OK) {
        if (!same) {
            aie_put(&text, "; asm does not make the same file of this text\n");
        }
        *complete = p.complete && same;
        p.notes = notes; /* comments change nothing of what it makes */
        status = aie_put_file(&p, err);
        aie_text_flush(&text);
    }
    nocap_aie_lines_close(p.lines);
    free(p.relocations);
    free(p.first_relocation);
    free(p.raw);
    RETURN_IF_FAILED(status);
    RETURN_ERROR_IF(ferror(out), err, NOCAP_E_OUTPUT, "cannot write the text");
    return NOCAP_OK;
}

enum nocap_status nocap_aie_disassemble(FILE *out, const struct nocap_aie_image *image,
                                        enum nocap_aie_dialect dialect, bool *complete,
                                        struct nocap_error *err)
{
    return disassemble(out, image, dialect, false, complete, err);
}

enum nocap_status nocap_aie_disassemble_with_notes(FILE *out, const struct nocap_aie_image *image,
                                                   enum nocap_aie_dialect dialect, bool *complete,
                                                   struct nocap_error *err)
{
    return disassemble(out, image, dialect, true, complete, err);
}
