/* SPDX-License-Identifier: Apache-2.0 */
/* The header as a line of JSON Lines. */
#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "formats/trace/jsonl_digits.h"
#include "formats/trace/jsonl_private.h"

/* The line being written. A failure sticks: what follows it does nothing. */
struct printer {
    struct nocap_text *out;
    struct nocap_error *err;
    enum nocap_status status;
};

static void put(struct printer *p, const char *text)
{
    size_t size = strlen(text);
    if (p->status == NOCAP_OK) {
        p->status = nocap_text_reserve(p->out, size, p->err);
    }
    if (p->status == NOCAP_OK) {
        memcpy(p->out->data + p->out->size, text, size);
        p->out->size += size;
    }
}

static void put_string(struct printer *p, const char *text)
{
    size_t size = strlen(text);
    if (p->status == NOCAP_OK) {
        p->status = nocap_text_reserve(p->out, JSONL_STRING_GROWTH * size + 2, p->err);
    }
    if (p->status == NOCAP_OK) {
        char *end = jsonl_put_string(p->out->data + p->out->size, text, size);
        p->out->size = (size_t)(end - p->out->data);
    }
}

static void put_decimal(struct printer *p, uint64_t v)
{
    char text[24];
    *jsonl_put_decimal(text, v) = '\0';
    put(p, text);
}

static void put_hex(struct printer *p, uint64_t v)
{
    char text[24];
    *jsonl_put_hex(text, v) = '\0';
    put_string(p, text);
}

static void put_xy(struct printer *p, struct nocap_xy xy)
{
    put(p, "[");
    put_decimal(p, xy.x);
    put(p, ",");
    put_decimal(p, xy.y);
    put(p, "]");
}

static void put_key(struct printer *p, enum jsonl_header_key key)
{
    put(p, key == 0 ? "{" : ",");
    put_string(p, jsonl_header_keys[key]);
    put(p, ":");
}

/* If there is a text. */
static void put_text_key(struct printer *p, enum jsonl_header_key key, const char *text)
{
    if (text != NULL) {
        put_key(p, key);
        put_string(p, text);
    }
}

static void put_tristate(struct printer *p, enum jsonl_header_key key, enum nocap_tristate tristate)
{
    if (tristate != NOCAP_ABSENT) {
        put_key(p, key);
        put(p, tristate == NOCAP_TRUE ? "true" : "false");
    }
}

static void put_members(struct printer *p, const char *members)
{
    size_t size = strlen(members);
    if (p->status == NOCAP_OK) {
        p->status = nocap_text_reserve(p->out, FOREIGN_JSON_GROWTH * size, p->err);
    }
    if (p->status == NOCAP_OK) {
        p->out->size += foreign_json_escape(p->out->data + p->out->size, members, size);
    }
}

/* Unknown keys, if there are any. */
static void put_extra(struct printer *p, const char *comma, const char *extra)
{
    if (extra == NULL || extra[0] == '\0') {
        return;
    }
    put(p, comma);
    if (jsonl_members_are_sound(extra, strlen(extra))) {
        put_members(p, extra);
    } else {
        put(p, "\"extra\":");
        put_string(p, extra);
    }
}

/* A name or an object; what a damaged file holds there may be neither. */
static void put_profile(struct printer *p, const char *json)
{
    size_t size = strlen(json);
    char *member = malloc(size + sizeof "\"profile\":");
    if (member == NULL) {
        p->status = nocap_fail(p->err, NOCAP_E_MEMORY, "out of memory for the trace header");
        return;
    }
    int length = sprintf(member, "\"profile\":%s", json);
    put(p, ",");
    if (jsonl_members_are_sound(member, (size_t)length)) {
        put_members(p, member);
    } else {
        put(p, "\"profile\":");
        put_string(p, json);
    }
    free(member);
}

static void put_lists(struct printer *p, const struct nocap_header *header)
{
    const char *name;
    if (header->has_observes) {
        put_key(p, JSONL_H_OBSERVES);
        put(p, "[");
        for (size_t i = 0; (name = nocap_header_observed(header, i)) != NULL; i++) {
            put(p, i > 0 ? "," : "");
            put_string(p, name);
        }
        put(p, "]");
    }
    if (header->has_scope) {
        put_key(p, JSONL_H_SCOPE);
        put(p, "[");
        for (size_t i = 0; i < header->scope_count; i++) {
            put(p, i > 0 ? "," : "");
            put_xy(p, header->scope[i]);
        }
        put(p, "]");
    }
}

static void put_cq_value(struct printer *p, const struct nocap_cq_place *cq, enum jsonl_cq_key key)
{
    switch (key) {
    case JSONL_CQ_PREFETCH: put_xy(p, cq->prefetch); break;
    case JSONL_CQ_DISPATCH: put_xy(p, cq->dispatch); break;
    case JSONL_CQ_SYSMEM: put_hex(p, cq->sysmem); break;
    case JSONL_CQ_KERNEL_CONFIG: put_hex(p, cq->kernel_config); break;
    case JSONL_CQ_COUNT: break;
    }
}

static void put_cq(struct printer *p, const struct nocap_cq_place *cq)
{
    const bool has[JSONL_CQ_COUNT] = {
        [JSONL_CQ_PREFETCH] = cq->has_prefetch,
        [JSONL_CQ_DISPATCH] = cq->has_dispatch,
        [JSONL_CQ_SYSMEM] = cq->has_sysmem,
        [JSONL_CQ_KERNEL_CONFIG] = cq->has_kernel_config,
    };
    const char *comma = "";
    put_key(p, JSONL_H_CQ);
    put(p, "{");
    for (unsigned key = 0; key < JSONL_CQ_COUNT; key++) {
        if (has[key]) {
            put(p, comma);
            put_string(p, jsonl_cq_keys[key]);
            put(p, ":");
            put_cq_value(p, cq, (enum jsonl_cq_key)key);
            comma = ",";
        }
    }
    put_extra(p, comma, cq->extra);
    put(p, "}");
}

static void put_firmware(struct printer *p, const struct nocap_header *header)
{
    put_key(p, JSONL_H_FIRMWARE);
    put(p, "{");
    for (size_t i = 0; i < header->firmware_count; i++) {
        put(p, i > 0 ? "," : "");
        put_string(p, header->firmware[i].core);
        put(p, ":");
        put_string(p, header->firmware[i].path);
    }
    put(p, "}");
}

enum nocap_status nocap_jsonl_print_header(struct nocap_text *out,
                                           const struct nocap_header *header,
                                           struct nocap_error *err)
{
    struct printer printer = {.out = out, .err = err, .status = NOCAP_OK};
    struct printer *p = &printer;
    put_key(p, JSONL_H_NOCAP);
    put_decimal(p, NOCAP_VERSION_FORMAT);
    put_text_key(p, JSONL_H_ARCH, nocap_arch_name(header->arch));
    put_text_key(p, JSONL_H_BOARD, nocap_board_name(header->board));
    put_text_key(p, JSONL_H_LAYOUT, header->layout);
    if (header->profile != NULL) {
        put_profile(p, header->profile);
    }
    if (header->has_time_unit) {
        put_text_key(p, JSONL_H_TIME_UNIT, nocap_time_unit_name(header->time_unit));
    }
    if (header->clock_hz != 0) {
        put_key(p, JSONL_H_CLOCK_HZ);
        put_decimal(p, header->clock_hz);
    }
    put_text_key(p, JSONL_H_PRODUCER, header->producer);
    put_lists(p, header);
    put_tristate(p, JSONL_H_COMPLETE, header->complete);
    put_tristate(p, JSONL_H_CYCLE_ACCURATE, header->cycle_accurate);
    put_tristate(p, JSONL_H_OPEN_END, header->open_end);
    if (header->cq.present) {
        put_cq(p, &header->cq);
    }
    if (header->has_firmware || header->firmware_count > 0) {
        put_firmware(p, header);
    }
    put_extra(p, ",", header->extra);
    put(p, "}\n");
    return p->status;
}
