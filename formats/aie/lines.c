/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/list.h"
#include "formats/aie/image_private.h"
#include "formats/aie/lines_dwarf.h"

struct nocap_aie_lines {
    char **files; /* names that are not the image's */
    size_t file_count;
    struct nocap_aie_line *list;
    size_t count;
};

/* ---- the debug map ---- */

/* Numbers of the map are strings; false if this is none. */
static bool number(const struct json_value *value, uint64_t most, uint64_t *to)
{
    enum { BASE = 10 };
    *to = 0;
    if ((value->type != JSON_STRING && value->type != JSON_NUMBER) || value->size == 0) {
        return false;
    }
    for (size_t i = 0; i < value->size; i++) {
        char c = value->text[i];
        if (c < '0' || c > '9' || *to > (most - (uint64_t)(c - '0')) / BASE) {
            return false;
        }
        *to = *to * BASE + (uint64_t)(c - '0');
    }
    return true;
}

/* The name of a file, mostly that of the line before; NULL: no memory. */
static const char *file_named(struct nocap_aie_lines *lines, const struct json_value *value)
{
    const char *last = lines->file_count == 0 ? NULL : lines->files[lines->file_count - 1];
    if (value->type != JSON_STRING || value->size == 0) {
        return "";
    }
    if (last != NULL && !value->escaped && strlen(last) == value->size &&
        memcmp(last, value->text, value->size) == 0) {
        return last;
    }
    char *name = malloc(value->size + 1), **next = LIST_NEXT(lines->files, lines->file_count);
    if (name == NULL || next == NULL) {
        free(name);
        return NULL;
    }
    name[json_unescape(value, name)] = 0;
    *next = name;
    lines->file_count++;
    return name;
}

/* One entry of the map; one that names no line is passed over. False: no memory. */
static bool take(struct nocap_aie_lines *lines, const struct json_value *entry)
{
    static const char *const names[] = {"column", "page_offset", "line"};
    static const uint64_t most[] = {UINT32_MAX, UINT64_MAX, UINT32_MAX};
    struct json_value file = {.type = JSON_NULL};
    struct json_member member;
    struct json_cursor cursor;
    uint64_t values[3] = {0};
    unsigned found = 0;
    enum json_step step =
        entry->type == JSON_OBJECT ? json_open(&cursor, entry->text, entry->size, '{') : JSON_DONE;
    while (step == JSON_ITEM && (step = json_next_member(&cursor, &member)) == JSON_ITEM) {
        for (unsigned i = 0; i < 3; i++) {
            if (member.key.size == strlen(names[i]) &&
                memcmp(member.key.text, names[i], member.key.size) == 0 &&
                number(&member.value, most[i], &values[i])) {
                found |= 1u << i;
            }
        }
        if (member.key.size == 4 && memcmp(member.key.text, "file", 4) == 0) {
            file = member.value;
        }
    }
    if (found != 7) {
        return true;
    }
    const char *name = file_named(lines, &file);
    struct nocap_aie_line *next = name == NULL ? NULL : LIST_NEXT(lines->list, lines->count);
    if (next == NULL) {
        return false;
    }
    *next = (struct nocap_aie_line){
        .uc = (uint32_t)values[0], .at = values[1], .line = (uint32_t)values[2], .file = name};
    lines->count++;
    return true;
}

static enum nocap_status open_map(struct nocap_aie_lines *lines, const uint8_t *map, size_t size,
                                  struct nocap_error *err)
{
    static const char none[] = "section .dump is no debug map: source lines are not known";
    const char *text = (const char *)map;
    struct json_cursor cursor, entries;
    struct json_member member;
    struct json_value entry;
    bool any = false;
    enum json_step step = json_open(&cursor, text, strnlen(text, size), '{');
    while (step == JSON_ITEM && (step = json_next_member(&cursor, &member)) == JSON_ITEM) {
        if (member.key.size != 5 || memcmp(member.key.text, "debug", 5) != 0 ||
            member.value.type != JSON_LIST) {
            continue;
        }
        any = true;
        enum json_step item = json_open(&entries, member.value.text, member.value.size, '[');
        while (item == JSON_ITEM && (item = json_next_item(&entries, &entry)) == JSON_ITEM) {
            RETURN_ERROR_IF(!take(lines, &entry), err, NOCAP_E_MEMORY, "out of memory");
        }
    }
    RETURN_ERROR_IF(step == JSON_BAD || !any, err, NOCAP_E_INPUT, "%s", none);
    return NOCAP_OK;
}

/* ---- all together ---- */

static int by_place(const void *a, const void *b)
{
    const struct nocap_aie_line *p = a, *q = b;
    return p->uc != q->uc ? (p->uc < q->uc ? -1 : 1) : (p->at > q->at) - (p->at < q->at);
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
            size += debug->size[s] < AIE_FILE_MAX ? debug->size[s] : AIE_FILE_MAX;
        }
        status = size >= AIE_FILE_MAX
                     ? nocap_fail(err, NOCAP_E_INPUT,
                                  "sections .debug_* are longer than %d bytes: source lines are "
                                  "not known",
                                  AIE_FILE_MAX)
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
        for (size_t i = 0; i < lines->file_count; i++) {
            free(lines->files[i]);
        }
        free(lines->files);
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
