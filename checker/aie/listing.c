/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/aie/listing.h"

#include <stdlib.h>

#include "base/foreign_text.h"
#include "base/json_text.h"
#include "formats/aie/page.h"

static void put_operands(struct nocap_json *json, const struct nocap_aie_insn *insn)
{
    nocap_json_array(json, "operands");
    for (unsigned f = 0; f < nocap_aie_field_count(insn->info); f++) {
        char text[16];
        uint32_t value = insn->value[f];
        switch (insn->info->fields[f].kind) {
        case NOCAP_AIE_SIZE: continue;
        case NOCAP_AIE_REG: snprintf(text, sizeof text, "$r%u", value); break;
        case NOCAP_AIE_LB: snprintf(text, sizeof text, "$lb%u", value); break;
        case NOCAP_AIE_RB: snprintf(text, sizeof text, "$rb%d", (int)value - 1); break;
        default: nocap_json_number(json, NULL, value); continue;
        }
        nocap_json_text(json, NULL, text);
    }
    nocap_json_array_end(json);
}

static void put_bytes(struct nocap_json *json, const uint8_t *bytes, uint32_t size)
{
    char text[2 * UINT8_MAX + 1] = "";
    for (uint32_t i = 0; i < size; i++) {
        snprintf(text + (size_t)2 * i, 3, "%02x", bytes[i]);
    }
    nocap_json_text(json, "bytes", text);
}

/* One instruction; without a mnemonic the bytes that are none. */
static void put_insn(struct nocap_json *json, const struct nocap_aie_walker *w, const char *kernel,
                     bool decoded)
{
    uint32_t left = w->end - w->at;
    uint32_t size = decoded ? w->insn.info->size : w->insn.info == NULL ? 1 : left;
    nocap_json_map(json, NULL);
    nocap_json_text_if(json, "kernel", kernel != NULL, kernel);
    nocap_json_number(json, "uc", w->page->uc);
    nocap_json_number(json, "page", w->page->index);
    nocap_json_number(json, "off", w->at);
    nocap_json_number(json, "size", size);
    if (decoded) {
        nocap_json_text(json, "opcode", w->insn.info->mnemonic);
        put_operands(json, &w->insn);
    } else {
        nocap_json_null(json, "opcode");
    }
    put_bytes(json, w->page->bytes + w->at, size);
    nocap_json_map_end(json);
}

/* false: the page has something that is no instruction, or no EOF. */
static bool put_page(struct nocap_json *json, const struct nocap_aie_page *page, const char *kernel,
                     enum nocap_aie_dialect dialect)
{
    struct nocap_aie_walker walker;
    enum nocap_aie_walk step;
    nocap_aie_walk_begin(&walker, page, dialect);
    while ((step = nocap_aie_walk_next(&walker)) == NOCAP_AIE_WALK_INSN) {
        put_insn(json, &walker, kernel, true);
    }
    if (step != NOCAP_AIE_WALK_NO_EOF) {
        put_insn(json, &walker, kernel, step == NOCAP_AIE_WALK_EOF);
    }
    return step == NOCAP_AIE_WALK_EOF;
}

static void put_pages(struct nocap_json *json, const struct nocap_aie_image *image,
                      enum nocap_aie_dialect dialect, bool *complete)
{
    nocap_json_array(json, "insns");
    for (size_t i = 0, k = 0; i < image->page_count; i++) {
        const struct nocap_aie_page *page = &image->pages[i];
        while (k + 1 < image->kernel_count && image->kernels[k].group != page->group) {
            k++; /* both are in the order of groups */
        }
        char *name = image->kernel_count == 0 ? NULL : foreign_copy(image->kernels[k].name);
        *complete &= put_page(json, page, name, dialect);
        free(name);
    }
    nocap_json_array_end(json);
}

enum nocap_status nocap_aie_listing(FILE *out, const struct nocap_aie_image *image,
                                    enum nocap_aie_dialect dialect, const char *path,
                                    bool *complete, struct nocap_error *err)
{
    struct nocap_json json;
    bool streams = image->stream_count != 0;
    char *clean = foreign_copy(path);
    RETURN_ERROR_IF(clean == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = nocap_json_open(&json, out, err);
    if (status != NOCAP_OK) {
        free(clean);
        return status;
    }
    *complete = true;
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, streams ? "nocap_aie_txn" : "nocap_aie", 1);
    nocap_json_text_if(&json, "dialect", !streams, nocap_aie_dialect_name(dialect));
    nocap_json_text(&json, "elf", clean);
    free(clean);
    if (streams) {
        status = nocap_aie_put_streams(&json, image, complete, err);
    } else {
        put_pages(&json, image, dialect, complete);
    }
    nocap_json_map_end(&json);
    enum nocap_status closed = nocap_json_close(&json, status == NOCAP_OK ? err : NULL);
    return status == NOCAP_OK ? closed : status;
}
