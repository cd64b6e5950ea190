/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_tree.h"
#include "formats/aie/lines_dwarf.h"

enum { MAP_MAX = 64 << 20 }; /* bytes of the section */

struct nocap_aie_lines {
    yajl_val tree; /* names of files point into it, or into the image */
    struct nocap_aie_line *list;
    size_t count;
};

/* Numbers of the map are strings; false if it has none of that name. */
static bool number(yajl_val entry, const char *name, uint64_t most, uint64_t *value)
{
    yajl_val v = nocap_json_member(entry, name);
    const char *text = YAJL_IS_NUMBER(v) ? YAJL_GET_NUMBER(v) : YAJL_GET_STRING(v);
    char *end;
    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return false;
    }
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == 0 && *value <= most;
}

static bool take(yajl_val entry, struct nocap_aie_line *line)
{
    uint64_t uc, at, at_line;
    if (!number(entry, "column", UINT32_MAX, &uc) ||
        !number(entry, "page_offset", UINT64_MAX, &at) ||
        !number(entry, "line", UINT32_MAX, &at_line)) {
        return false;
    }
    const char *file = YAJL_GET_STRING(nocap_json_member(entry, "file"));
    *line = (struct nocap_aie_line){
        .uc = (uint32_t)uc, .at = at, .line = (uint32_t)at_line, .file = file == NULL ? "" : file};
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct nocap_aie_line *p = a, *q = b;
    return p->uc != q->uc ? (p->uc < q->uc ? -1 : 1) : (p->at > q->at) - (p->at < q->at);
}

static enum nocap_status read_map(struct nocap_aie_lines *lines, struct nocap_error *err)
{
    yajl_val list = nocap_json_member(lines->tree, "debug");
    RETURN_ERROR_IF(!YAJL_IS_ARRAY(list), err, NOCAP_E_INPUT,
                    "section .dump is no debug map: source lines are not known");
    lines->list = calloc(YAJL_GET_ARRAY(list)->len + 1, sizeof *lines->list);
    RETURN_ERROR_IF(lines->list == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < YAJL_GET_ARRAY(list)->len; i++) {
        lines->count += take(YAJL_GET_ARRAY(list)->values[i], &lines->list[lines->count]);
    }
    return NOCAP_OK;
}

static enum nocap_status open_map(struct nocap_aie_lines *lines, const uint8_t *map, size_t size,
                                  struct nocap_error *err)
{
    char why[128] = "";
    RETURN_ERROR_IF(size > MAP_MAX, err, NOCAP_E_INPUT,
                    "section .dump is longer than %d bytes: source lines are not known", MAP_MAX);
    char *text = strndup((const char *)map, strnlen((const char *)map, size));
    RETURN_ERROR_IF(text == NULL, err, NOCAP_E_MEMORY, "out of memory");
    lines->tree = nocap_json_tree(text, why, sizeof why);
    free(text);
    return read_map(lines, err);
}

/* The DWARF that is of the kernel; of a file with one kernel, or none, the first. */
static enum nocap_status open_dwarf(struct nocap_aie_lines *lines,
                                    const struct nocap_aie_image *image,
                                    const struct nocap_aie_kernel *kernel, struct nocap_error *err)
{
    char *name = NULL;
    bool several = image->debug_count > 1 || image->kernel_count > 1 || image->part;
    bool named = kernel != NULL && kernel->symbol != NULL && several;
    enum nocap_status status = NOCAP_OK;
    bool found = false;
    RETURN_ERROR_IF(named && asprintf(&name, "%s:%s", kernel->symbol, kernel->instance) < 0, err,
                    NOCAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < image->debug_count && !found && status == NOCAP_OK; i++) {
        const struct nocap_aie_debug *debug = &image->debugs[i];
        size_t size = 0;
        for (int s = 0; s < NOCAP_AIE_DEBUG_SECTIONS; s++) {
            size += debug->size[s] < MAP_MAX ? debug->size[s] : MAP_MAX;
        }
        status = size >= MAP_MAX
                     ? nocap_fail(err, NOCAP_E_INPUT,
                                  "sections .debug_* are longer than %d bytes: source lines are "
                                  "not known",
                                  MAP_MAX)
                     : aie_dwarf_lines(debug, name, &found, &lines->list, &lines->count, err);
    }
    free(name);
    return status;
}

enum nocap_status nocap_aie_lines_open(struct nocap_aie_lines **lines,
                                       const struct nocap_aie_image *image, size_t kernel,
                                       struct nocap_error *err)
{
    const struct nocap_aie_kernel *k =
        kernel < image->kernel_count ? &image->kernels[kernel] : NULL;
    bool own = k != NULL && k->map != NULL;
    const uint8_t *map = own ? k->map : image->map;
    *lines = NULL;
    if (map == NULL && image->debug_count == 0) {
        return NOCAP_OK;
    }
    struct nocap_aie_lines *l = calloc(1, sizeof *l);
    RETURN_ERROR_IF(l == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = map != NULL
                                   ? open_map(l, map, own ? k->map_size : image->map_size, err)
                                   : open_dwarf(l, image, k, err);
    if (status != NOCAP_OK) {
        nocap_aie_lines_close(l);
        return status;
    }
    if (l->count != 0) {
        qsort(l->list, l->count, sizeof l->list[0], by_place);
    }
    *lines = l;
    return NOCAP_OK;
}

void nocap_aie_lines_close(struct nocap_aie_lines *lines)
{
    if (lines != NULL) {
        yajl_tree_free(lines->tree);
        free(lines->list);
        free(lines);
    }
}

const struct nocap_aie_line *nocap_aie_lines_find(const struct nocap_aie_lines *lines, uint32_t uc,
                                                  uint32_t page, uint32_t off)
{
    const struct nocap_aie_line key = {.uc = uc, .at = (uint64_t)page * NOCAP_AIE_PAGE_SIZE + off};
    return lines == NULL || lines->count == 0
               ? NULL
               : bsearch(&key, lines->list, lines->count, sizeof key, by_place);
}
