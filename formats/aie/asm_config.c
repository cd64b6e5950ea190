/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON file about the kernels of a design: each with its arguments, and instances with text and
 * buffers of their own, which become one ELF file. Source: files of the assembler of 2026. */
#include <stdlib.h>
#include <string.h>

#include "base/json_node.h"
#include "base/list.h"
#include "formats/aie/asm_private.h"
#include "formats/aie/image_private.h"

/* An instance, and where its files are. */
struct instance {
    char *symbol;
    const char *id, *code, *buffers;
};

struct config {
    const struct nocap_aie_asm_options *options;
    struct nocap_error *err;
    const char *path;
    const struct json_node *root;
    struct instance *list; /* by symbol and id */
    size_t count;
    struct aie_kernel *kernels;
    struct aie_program first; /* what it says of chip and partition holds for all */
};

/* NULL if it is no text; `wanted`: then it fails. */
static enum nocap_status text_of(const struct config *c, const struct json_node *object,
                                 const char *name, bool wanted, const char **text)
{
    const struct json_node *value = json_member(object, name);
    *text = json_string(value);
    RETURN_ERROR_IF(*text == NULL && wanted, c->err, NOCAP_E_INPUT,
                    "%s: expected \"%s\", a text, of each kernel, instance and custom section",
                    c->path, name);
    return NOCAP_OK;
}

static enum nocap_status no_memory(const struct config *c)
{
    return nocap_fail(c->err, NOCAP_E_MEMORY, "%s: out of memory", c->path);
}

/* "_Z3DPUPcPc": the name with its length, and the types of its arguments. */
static enum nocap_status mangle(const struct config *c, const struct json_node *kernel,
                                char symbol[])
{
    static const struct {
        const char *type, *code;
    } types[] = {{"char *", "Pc"}, {"void *", "Pv"}, {"scalar", "i"}, {"int *", "Pi"}};
    const struct json_node *arguments = json_member(kernel, "arguments");
    const char *name, *type;
    RETURN_IF_FAILED(text_of(c, kernel, "name", true, &name));
    size_t used = (size_t)snprintf(symbol, AIE_KERNEL_NAME_MAX + 1, "_Z%zu%s", strlen(name), name);
    size_t count = json_length(arguments);
    for (size_t i = 0; i < count && used <= AIE_KERNEL_NAME_MAX; i++) {
        RETURN_IF_FAILED(text_of(c, &arguments->items[i], "type", true, &type));
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
            if (strcmp(type, types[t].type) == 0 && used <= AIE_KERNEL_NAME_MAX) {
                used += (size_t)snprintf(symbol + used, AIE_KERNEL_NAME_MAX + 1 - used, "%s",
                                         types[t].code);
            }
        }
    }
    RETURN_ERROR_IF(used > AIE_KERNEL_NAME_MAX, c->err, NOCAP_E_INPUT,
                    "%s: the name of kernel '%.40s' with its arguments is longer than %d bytes",
                    c->path, name, AIE_KERNEL_NAME_MAX);
    return NOCAP_OK;
}

static enum nocap_status take_instance(struct config *c, const char *symbol,
                                       const struct json_node *object)
{
    struct instance new = {.symbol = NULL};
    RETURN_IF_FAILED(LIST_NEXT(c->list, c->count) == NULL ? no_memory(c) : NOCAP_OK);
    struct instance *list = c->list;
    RETURN_IF_FAILED(text_of(c, object, "id", true, &new.id));
    RETURN_IF_FAILED(text_of(c, object, "ctrl_code_file", true, &new.code));
    RETURN_IF_FAILED(text_of(c, object, "patch_info_file", false, &new.buffers));
    RETURN_ERROR_IF(strlen(new.id) > AIE_KERNEL_NAME_MAX || new.id[0] == 0, c->err, NOCAP_E_INPUT,
                    "%s: '%.40s' is no id of an instance; expected 1 to %d bytes", c->path, new.id,
                    AIE_KERNEL_NAME_MAX);
    new.symbol = strdup(symbol);
    if (new.symbol == NULL) {
        return no_memory(c);
    }
    size_t at = c->count++;
    for (; at > 0; at--) {
        int order = strcmp(list[at - 1].symbol, symbol);
        order = order != 0 ? order : strcmp(list[at - 1].id, new.id);
        if (order <= 0) {
            break;
        }
        list[at] = list[at - 1];
    }
    list[at] = new;
    return NOCAP_OK;
}

static enum nocap_status take_kernels(struct config *c, const struct json_node *root)
{
    const struct json_node *kernels = json_member(root, "xrt-kernels");
    RETURN_ERROR_IF(!json_is(kernels, JSON_LIST), c->err, NOCAP_E_INPUT,
                    "%s: expected \"xrt-kernels\", a list of kernels with their instances",
                    c->path);
    for (size_t k = 0; k < kernels->count; k++) {
        const struct json_node *kernel = &kernels->items[k],
                               *instances = json_member(kernel, "instance");
        char symbol[AIE_KERNEL_NAME_MAX + 1];
        RETURN_IF_FAILED(mangle(c, kernel, symbol));
        size_t count = json_length(instances);
        for (size_t i = 0; i < count; i++) {
            RETURN_IF_FAILED(take_instance(c, symbol, &instances->items[i]));
        }
    }
    RETURN_ERROR_IF(c->count == 0 || c->count > AIE_KERNELS_MAX, c->err, NOCAP_E_INPUT,
                    "%s: %zu instances of kernels; expected 1 to %d", c->path, c->count,
                    AIE_KERNELS_MAX);
    return NOCAP_OK;
}

/* A file beside the JSON file; free(). */
static char *beside(const struct config *c, const char *name)
{
    const char *slash = strrchr(c->path, '/');
    char *path = NULL;
    int length = name[0] == '/' || slash == NULL
                     ? asprintf(&path, "%s", name)
                     : asprintf(&path, "%.*s%s", (int)(slash - c->path) + 1, c->path, name);
    return length < 0 ? NULL : path;
}

static enum nocap_status encode_text(struct config *c, size_t i, const char *path,
                                     const struct nocap_aie_asm_options *options,
                                     struct aie_output *output)
{
    char *text;
    size_t length;
    struct aie_program program = aie_begin_program(options, NOCAP_AIE_N26, c->err);
    RETURN_IF_FAILED(regular_file_load(path, AIE_FILE_MAX, (uint8_t **)&text, &length, c->err));
    program.kernel = (uint32_t)i;
    const struct aie_asm_text source = {
        .text = text, .name = path, .length = length, .files = true};
    enum nocap_status status = aie_encode_program(&program, &source, output);
    bool same = i == 0 || (program.os_abi == c->first.os_abi &&
                           program.partition_columns == c->first.partition_columns);
    if (status == NOCAP_OK && (!same || program.kernel_count != 0)) {
        status = nocap_fail(c->err, NOCAP_E_INPUT,
                            "%s: %s says another .target or .partition than the first instance, or "
                            "names a .kernel",
                            c->path, path);
    }
    if (i == 0) {
        c->first.os_abi = program.os_abi;
        c->first.partition_columns = program.partition_columns;
    }
    free(text);
    aie_program_free(&program);
    return status;
}

static enum nocap_status encode_instance(struct config *c, size_t i, struct aie_output *output)
{
    const struct instance *instance = &c->list[i];
    struct nocap_aie_asm_options options = *c->options;
    char *folder = beside(c, ""), *path = beside(c, instance->code);
    char *buffers = instance->buffers == NULL ? NULL : beside(c, instance->buffers);
    const char **dirs = calloc(options.dir_count + 1, sizeof *dirs);
    enum nocap_status status = NOCAP_OK;
    if (folder == NULL || path == NULL || dirs == NULL ||
        (buffers == NULL && instance->buffers != NULL)) {
        status = no_memory(c);
    } else {
        for (size_t d = 0; d < options.dir_count; d++) {
            dirs[d] = options.dirs[d];
        }
        dirs[options.dir_count++] = folder[0] == 0 ? "." : folder;
        options.dirs = dirs;
        options.buffers = buffers != NULL ? buffers : options.buffers;
        c->kernels[i] =
            (struct aie_kernel){{instance->symbol, (uint32_t)strlen(instance->symbol), 1},
                                {instance->id, (uint32_t)strlen(instance->id), 1}};
        status = encode_text(c, i, path, &options, output);
    }
    free(folder);
    free(path);
    free(buffers);
    free(dirs);
    return status;
}

/* ---- sections of the file that are of no kernel ---- */

struct custom {
    const char *name, *path;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct custom *)a)->name, ((const struct custom *)b)->name);
}

static enum nocap_status add_custom(const struct config *c, const struct custom *custom,
                                    struct aie_output *output)
{
    char *path = beside(c, custom->path);
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum nocap_status status =
        path == NULL ? no_memory(c) : regular_file_load(path, AIE_FILE_MAX, &bytes, &size, c->err);
    if (status == NOCAP_OK) {
        struct aie_section *section = aie_add_custom_section(output, custom->name, size);
        status = section == NULL ? no_memory(c) : NOCAP_OK;
        if (section != NULL) {
            memcpy(section->own, bytes, size);
        }
    }
    free(bytes);
    free(path);
    return status;
}

/* "custom_section": files that become sections, by name. */
static enum nocap_status encode_custom(const struct config *c, struct aie_output *output)
{
    const struct json_node *list = json_member(c->root, "custom_section");
    size_t count = json_length(list);
    struct custom *sections = calloc(count + 1, sizeof *sections);
    enum nocap_status status = sections == NULL ? no_memory(c) : NOCAP_OK;
    for (size_t i = 0; i < count && status == NOCAP_OK; i++) {
        struct custom *s = &sections[i];
        status = text_of(c, &list->items[i], "section_name", true, &s->name);
        status = status == NOCAP_OK ? text_of(c, &list->items[i], "path", true, &s->path) : status;
        if (status == NOCAP_OK && (s->name[0] == 0 || strlen(s->name) > AIE_CUSTOM_NAME_MAX)) {
            status = nocap_fail(c->err, NOCAP_E_INPUT,
                                "%s: '%.40s' is no name of a section; expected 1 to %d bytes",
                                c->path, s->name, AIE_CUSTOM_NAME_MAX);
        }
    }
    if (status == NOCAP_OK) {
        qsort(sections, count, sizeof *sections, by_name);
    }
    for (size_t i = 0; i < count && status == NOCAP_OK; i++) {
        status = i != 0 && by_name(&sections[i - 1], &sections[i]) == 0
                     ? nocap_fail(c->err, NOCAP_E_INPUT, "%s: two custom sections '%s'", c->path,
                                  sections[i].name)
                     : add_custom(c, &sections[i], output);
    }
    free(sections);
    return status;
}

/* ---- all together ---- */

static enum nocap_status assemble_all(struct config *c, uint8_t **elf, size_t *size)
{
    c->kernels = calloc(c->count, sizeof *c->kernels);
    RETURN_IF_FAILED(c->kernels == NULL ? no_memory(c) : NOCAP_OK);
    struct aie_output output = {.kernels = c->kernels, .kernel_count = c->count};
    enum nocap_status status = encode_custom(c, &output);
    for (size_t i = 0; i < c->count && status == NOCAP_OK; i++) {
        status = encode_instance(c, i, &output);
    }
    output.os_abi = c->first.os_abi;
    output.partition_columns = c->first.partition_columns;
    if (status == NOCAP_OK) {
        status = aie_write_elf(&output, NOCAP_AIE_N26, elf, size, c->err);
    }
    aie_output_free(&output);
    return status;
}

enum nocap_status aie_assemble_config(uint8_t **elf, size_t *size, const char *path,
                                      const char *text, const struct nocap_aie_asm_options *options,
                                      struct nocap_error *err)
{
    struct config c = {.options = options, .err = err, .path = path};
    struct json_node *root;
    RETURN_IF_FAILED(json_tree(&root, text, path, err));
    c.root = root;
    enum nocap_status status = take_kernels(&c, root);
    if (status == NOCAP_OK) {
        status = assemble_all(&c, elf, size);
    }
    for (size_t i = 0; i < c.count; i++) {
        free(c.list[i].symbol);
    }
    free(c.list);
    free(c.kernels);
    json_tree_free(root);
    return status;
}
