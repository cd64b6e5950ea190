/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON file about external buffers: which argument holds control packets, and where those name
 * other buffers. Two compilers write it in two forms. Source: AIE control code fact sheet, sections
 * 2 (offset of APPLY_OFFSET_57) and 3.5. */
#include <stdlib.h>
#include <string.h>

#include "base/json_node.h"
#include "base/list.h"
#include "base/standard_input.h"
#include "formats/aie/asm_source.h"
#include "formats/aie/image_private.h"

enum {
    PACKET_HEADER = 8,    /* offsets count from its end, relocations from its start; n26: by chip */
    DEFAULT_ARGUMENT = 4, /* of the form without a name for it */
};

struct reader {
    struct aie_program *program;
    const char *path;
};

static bool is_later(const struct reader *r)
{
    return r->program->dialect == NOCAP_AIE_N26;
}

/* A number of 32 bits; a missing one is `otherwise`, unless that is AIE_NONE. */
static enum nocap_status number(const struct reader *r, const struct json_node *object,
                                const char *name, uint32_t otherwise, uint32_t *value)
{
    const struct json_node *v = json_member(object, name);
    *value = otherwise;
    if (v == NULL && otherwise != AIE_NONE) {
        return NOCAP_OK;
    }
    uint64_t given;
    RETURN_ERROR_IF(!json_whole(v, &given) || given >= AIE_NONE, r->program->err, NOCAP_E_INPUT,
                    "%s: expected \"%s\", a number of 32 bits", r->path, name);
    *value = (uint32_t)given;
    return NOCAP_OK;
}

static enum nocap_status add_patch(const struct reader *r, uint32_t argument, uint32_t packet,
                                   uint32_t offset, uint32_t addend, uint32_t type)
{
    struct aie_program *program = r->program;
    uint32_t header =
        is_later(r) ? nocap_aie_chip_info(program->chip)->packet_header : (uint32_t)PACKET_HEADER;
    RETURN_ERROR_IF(offset < header, program->err, NOCAP_E_INPUT,
                    "%s: offset %u lies in the header of the first packet", r->path, offset);
    struct aie_packet_patch *patch = LIST_NEXT(program->patches, program->patch_count);
    RETURN_NO_MEMORY_IF(patch == NULL, program);
    program->patch_count++;
    *patch = (struct aie_packet_patch){
        .packet = packet, .offset = offset - header, .addend = addend, .type = type};
    snprintf(patch->name, sizeof patch->name, "%u", argument);
    return NOCAP_OK;
}

/* The places of one buffer, or of one part of it. */
static enum nocap_status take_places(const struct reader *r, uint32_t argument,
                                     const struct json_node *object)
{
    const struct json_node *places = json_member(object, "control_packet_patch_locations");
    uint32_t addend, offset;
    RETURN_IF_FAILED(number(r, object, "offset_in_bytes", 0, &addend));
    for (size_t i = 0; json_is(places, JSON_LIST) && i < places->count; i++) {
        const struct json_node *place = &places->items[i];
        uint32_t packet = AIE_NONE, type = NOCAP_AIE_REL_CONTROL_PACKET_48;
        RETURN_IF_FAILED(number(r, place, "offset", AIE_NONE, &offset));
        if (is_later(r)) {
            RETURN_IF_FAILED(number(r, place, "xrt_id", AIE_NONE, &packet));
            RETURN_ERROR_IF(!aie_has_packets(r->program, r->program->kernel, packet),
                            r->program->err, NOCAP_E_INPUT,
                            "%s: a buffer is named in control packets of argument %u; expected "
                            "one that is a \"ctrl_pkt_buffer\"",
                            r->path, packet);
            type = nocap_aie_chip_info(r->program->chip)->packets;
        }
        RETURN_IF_FAILED(add_patch(r, argument, packet, offset, addend, type));
    }
    return NOCAP_OK;
}

bool aie_has_packets(const struct aie_program *program, uint32_t kernel, uint32_t argument)
{
    for (size_t i = 0; i < program->extra_count; i++) {
        if (program->extras[i].argument == argument && program->extras[i].kernel == kernel) {
            return true;
        }
    }
    return false;
}

/* n26: control packets stand in a section of their own. */
static enum nocap_status take_content(const struct reader *r, uint32_t argument,
                                      const struct json_node *path)
{
    struct aie_program *program = r->program;
    struct aie_source s = {.program = program, .files = true, .place = {.line = 1}};
    const char *name = json_string(path);
    RETURN_ERROR_IF(name == NULL, program->err, NOCAP_E_INPUT,
                    "%s: expected \"path\", the file with the control packets of argument %u",
                    r->path, argument);
    const struct aie_word word = {name, (uint32_t)strlen(name), 1};
    char file[PATH_TEXT_MAX], *bytes, *section = NULL;
    size_t size;
    RETURN_IF_FAILED(aie_source_file(&s, &word, file, &bytes, &size));
    struct aie_extra *extra = LIST_NEXT(program->extras, program->extra_count);
    if (extra == NULL || asprintf(&section, ".ctrlpkt-%u", argument) < 0) {
        free(bytes);
        return aie_no_memory(program);
    }
    program->extra_count++;
    *extra = (struct aie_extra){
        .kernel = program->kernel,
        .uc = AIE_NONE,
        .argument = argument,
        .section = {.name = section, .content = (uint8_t *)bytes, .size = (uint32_t)size}};
    return NOCAP_OK;
}

static enum nocap_status take_buffer(const struct reader *r, const struct json_node *buffer,
                                     bool first)
{
    uint32_t argument;
    RETURN_IF_FAILED(number(r, buffer, "xrt_id", AIE_NONE, &argument));
    const struct json_node *packets = json_member(buffer, "ctrl_pkt_buffer"),
                           *parts = json_member(buffer, "coalesed_buffers");
    uint64_t flag;
    if (json_is(packets, JSON_TRUE) || (json_whole(packets, &flag) && flag != 0)) {
        if (is_later(r)) {
            return first ? take_content(r, argument, json_member(buffer, "path")) : NOCAP_OK;
        }
        r->program->packet_argument = argument;
    }
    if (first && is_later(r)) {
        return NOCAP_OK; /* once all packets are known */
    }
    if (parts == NULL) {
        return take_places(r, argument, buffer);
    }
    bool nested = json_is(parts, JSON_LIST) || json_is(parts, JSON_OBJECT);
    for (size_t i = 0; nested && i < parts->count; i++) {
        RETURN_IF_FAILED(take_places(r, argument, &parts->items[i]));
    }
    return NOCAP_OK;
}

static enum nocap_status take_packets(const struct reader *r, const struct json_node *root,
                                      const struct json_node *list)
{
    uint32_t argument, offset, addend;
    RETURN_IF_FAILED(
        number(r, root, "ctrl_pkt_xrt_arg_idx", DEFAULT_ARGUMENT, &r->program->packet_argument));
    for (size_t i = 0; json_is(list, JSON_LIST) && i < list->count; i++) {
        const struct json_node *patch = &list->items[i];
        RETURN_IF_FAILED(number(r, patch, "offset", AIE_NONE, &offset));
        RETURN_IF_FAILED(number(r, patch, "xrt_arg_id", AIE_NONE, &argument));
        RETURN_IF_FAILED(number(r, patch, "bo_offset", AIE_NONE, &addend));
        RETURN_IF_FAILED(
            add_patch(r, argument, AIE_NONE, offset, addend, NOCAP_AIE_REL_CONTROL_PACKET_57));
    }
    return NOCAP_OK;
}

static enum nocap_status take_root(const struct reader *r, const struct json_node *root)
{
    const struct json_node *buffers = json_member(root, "external_buffers");
    const struct json_node *packets = json_member(root, "ctrl_pkt_patch_info");
    RETURN_ERROR_IF(buffers == NULL && packets == NULL, r->program->err, NOCAP_E_INPUT,
                    "%s: expected \"external_buffers\" or \"ctrl_pkt_patch_info\"", r->path);
    if (buffers == NULL && is_later(r)) {
        return NOCAP_OK; /* which that assembler makes nothing of */
    }
    if (buffers == NULL) {
        return take_packets(r, root, packets);
    }
    for (int first = is_later(r); first >= 0; first--) {
        for (size_t i = 0; json_is(buffers, JSON_OBJECT) && i < buffers->count; i++) {
            RETURN_IF_FAILED(take_buffer(r, &buffers->items[i], first));
        }
    }
    return NOCAP_OK;
}

enum nocap_status aie_read_buffers(struct aie_program *program, const char *path)
{
    const struct reader r = {program, path};
    uint8_t *text;
    size_t length;
    RETURN_IF_FAILED(whole_input_read(&text, &length, path, AIE_FILE_MAX, program->err));
    struct json_node *root;
    enum nocap_status status = json_tree(&root, (const char *)text, path, program->err);
    free(text);
    RETURN_IF_FAILED(status);
    status = take_root(&r, root);
    json_tree_free(root);
    return status;
}
