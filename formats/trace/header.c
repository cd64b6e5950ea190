/* SPDX-License-Identifier: Apache-2.0 */
/* The header in memory: names, ownership, scope. */
#include "formats/trace/header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/list.h"
#include "base/nearest.h"
#include "formats/blackhole/tile_map.h"
#include "formats/blackhole/xy.h"
#include "formats/profile/profile.h"

#define X(name, text) text,
static const char *const class_names[] = {NOCAP_CLASSES(X)};
#undef X
static const char *const arch_names[] = {"blackhole", "wormhole", "aie2ps"};
static const char *const board_names[] = {NULL, "p100", "p150"};
static const char *const time_unit_names[] = {"cycles", "ns"};
_Static_assert(sizeof arch_names / sizeof arch_names[0] == NOCAP_ARCH_COUNT, "a name for each");
_Static_assert(sizeof board_names / sizeof board_names[0] == NOCAP_BOARD_COUNT, "a name for each");
_Static_assert(sizeof time_unit_names / sizeof time_unit_names[0] == NOCAP_TIME_UNIT_COUNT,
               "a name for each");
_Static_assert(NOCAP_CLASS_COUNT <= 32, "observes is 32 bits wide");

static const char *name_at(const char *const *names, unsigned count, unsigned i)
{
    return i < count ? names[i] : "?";
}

static int find(const char *const *names, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        if (names[i] != NULL && strcasecmp(names[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

const char *nocap_class_name(enum nocap_class_bit bit)
{
    return name_at(class_names, NOCAP_CLASS_COUNT, (unsigned)bit);
}

const char *nocap_arch_name(enum nocap_arch arch)
{
    return name_at(arch_names, NOCAP_ARCH_COUNT, (unsigned)arch);
}

const char *nocap_board_name(enum nocap_board board)
{
    return name_at(board_names, NOCAP_BOARD_COUNT, (unsigned)board);
}

const char *nocap_time_unit_name(enum nocap_time_unit unit)
{
    return name_at(time_unit_names, NOCAP_TIME_UNIT_COUNT, (unsigned)unit);
}

/* The reverse; -1 if unknown. */
static int class_from_name(const char *name)
{
    return find(class_names, NOCAP_CLASS_COUNT, name);
}

static const char *class_at(unsigned i)
{
    return class_names[i];
}

bool nocap_class_unknown(const char *name, char *text, size_t size)
{
    if (class_from_name(name) >= 0) {
        return false;
    }
    const char *near = nocap_nearest(name, strlen(name), class_at, NOCAP_CLASS_COUNT);
    snprintf(text, size, "'%.60s' is no known class and arms no rule%s%s%s", name,
             near != NULL ? "; is '" : "", near != NULL ? near : "",
             near != NULL ? "' meant?" : "");
    return true;
}

int nocap_arch_from_name(const char *name)
{
    return find(arch_names, NOCAP_ARCH_COUNT, name);
}

int nocap_board_from_name(const char *name)
{
    return find(board_names, NOCAP_BOARD_COUNT, name);
}

int nocap_time_unit_from_name(const char *name)
{
    return find(time_unit_names, NOCAP_TIME_UNIT_COUNT, name);
}

void nocap_header_init(struct nocap_header *header)
{
    *header = (struct nocap_header){0};
}

void nocap_header_free(struct nocap_header *header)
{
    for (size_t i = 0; i < header->observed_count; i++) {
        free(header->observed[i]);
    }
    for (size_t i = 0; i < header->firmware_count; i++) {
        free(header->firmware[i].core);
        free(header->firmware[i].path);
    }
    free(header->observed);
    free(header->layout);
    free(header->profile);
    free(header->protocol);
    free(header->producer);
    free(header->scope);
    free(header->cq.extra);
    free(header->firmware);
    free(header->extra);
    nocap_header_init(header);
}

/* True unless memory ran out; the copy of NULL is NULL. */
static bool copy_text(char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from == NULL || *to != NULL;
}

static bool copy_lists(struct nocap_header *to, const struct nocap_header *from)
{
    if (from->scope_count > 0) {
        to->scope = malloc(from->scope_count * sizeof *to->scope);
        if (to->scope == NULL) {
            return false;
        }
        memcpy(to->scope, from->scope, from->scope_count * sizeof *to->scope);
        to->scope_count = from->scope_count;
    }
    if (from->firmware_count > 0) {
        to->firmware = calloc(from->firmware_count, sizeof *to->firmware);
        if (to->firmware == NULL) {
            return false;
        }
        to->firmware_count = from->firmware_count;
    }
    for (size_t i = 0; i < from->firmware_count; i++) {
        if (!copy_text(&to->firmware[i].core, from->firmware[i].core) ||
            !copy_text(&to->firmware[i].path, from->firmware[i].path)) {
            return false;
        }
    }
    for (size_t i = 0; i < from->observed_count; i++) {
        if (nocap_header_observe(to, from->observed[i], NULL) != NOCAP_OK) {
            return false;
        }
    }
    return true;
}

enum nocap_status nocap_header_copy(struct nocap_header *to, const struct nocap_header *from,
                                    struct nocap_error *err)
{
    *to = *from;
    to->observed = NULL;
    to->observed_count = 0;
    to->scope = NULL;
    to->scope_count = 0;
    to->firmware = NULL;
    to->firmware_count = 0;
    to->profile = NULL;
    to->protocol = NULL;
    bool texts = copy_text(&to->layout, from->layout);
    texts =
        (from->profile == NULL || nocap_header_set_profile(to, from->profile, NULL) == NOCAP_OK) &&
        texts;
    texts = copy_text(&to->producer, from->producer) && texts;
    texts = copy_text(&to->cq.extra, from->cq.extra) && texts;
    texts = copy_text(&to->extra, from->extra) && texts;
    if (!texts || !copy_lists(to, from)) {
        nocap_header_free(to);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory for a copy of the trace header");
    }
    to->observes = from->observes;
    to->has_observes = from->has_observes;
    return NOCAP_OK;
}

enum nocap_status nocap_header_set_profile(struct nocap_header *header, const char *json,
                                           struct nocap_error *err)
{
    struct nocap_error unused = {{0}};
    char *kept = strdup(json);
    struct nocap_profile *protocol = malloc(sizeof *protocol);
    if (kept == NULL || protocol == NULL) {
        free(kept);
        free(protocol);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory for the trace header");
    }
    if (nocap_profile_read(protocol, json, &unused) != NOCAP_OK) {
        free(protocol);
        protocol = NULL;
    }
    free(header->profile);
    free(header->protocol);
    header->profile = kept;
    header->protocol = protocol;
    return NOCAP_OK;
}

enum nocap_status nocap_header_replace_profile(struct nocap_header *header, const char *json,
                                               struct nocap_error *err)
{
    free(header->layout);
    header->layout = NULL;
    return nocap_header_set_profile(header, json, err);
}

enum nocap_status nocap_header_set_layout(struct nocap_header *header, const char *name,
                                          struct nocap_error *err)
{
    char *copy = strdup(name);
    RETURN_ERROR_IF(copy == NULL, err, NOCAP_E_MEMORY, "out of memory for the trace header");
    free(header->layout);
    header->layout = copy;
    return NOCAP_OK;
}

const struct nocap_profile *nocap_header_profile(const struct nocap_header *header,
                                                 struct nocap_error *err)
{
    if (header->profile == NULL) {
        return nocap_profile_default();
    }
    if (header->protocol == NULL) {
        struct nocap_profile unused;
        (void)nocap_profile_read(&unused, header->profile, err);
        (void)nocap_fail_context(err, NOCAP_E_INPUT, "the header's `profile`");
    }
    return header->protocol;
}

/* " bh-launch96 .." */
#define LAYOUT(ID, name, ...) " " name
static const char layout_names[] =
#include "formats/blackhole/layouts.def"
    ;

const struct nocap_mailbox_layout *nocap_header_layout(const struct nocap_header *header,
                                                       struct nocap_error *err)
{
    if (header->layout == NULL && header->profile != NULL) {
        const struct nocap_profile *profile = nocap_header_profile(header, err);
        return profile != NULL ? &profile->mailbox : NULL;
    }
    const struct nocap_mailbox_layout *layout = nocap_layout_find(header->layout);
    if (layout == NULL && header->protocol != NULL &&
        strcmp(header->protocol->mailbox.name, header->layout) == 0) {
        layout = &header->protocol->mailbox;
    }
    if (layout == NULL) {
        (void)nocap_fail(
            err, NOCAP_E_INPUT,
            "the header names a mailbox layout that is not known, '%.40s'; known are%s",
            header->layout, layout_names);
    }
    return layout;
}

enum nocap_status nocap_header_observe(struct nocap_header *header, const char *name,
                                       struct nocap_error *err)
{
    char **next = LIST_NEXT(header->observed, header->observed_count);
    RETURN_ERROR_IF(next == NULL || (*next = strdup(name)) == NULL, err, NOCAP_E_MEMORY,
                    "out of memory for the trace header");
    header->observed_count++;
    header->has_observes = true;
    int bit = class_from_name(name);
    if (bit >= 0) {
        header->observes |= UINT32_C(1) << bit;
    }
    return NOCAP_OK;
}

const char *nocap_header_observed(const struct nocap_header *header, size_t i)
{
    if (i < header->observed_count) {
        return header->observed[i];
    }
    uint32_t unnamed = header->observes & ((UINT32_C(1) << NOCAP_CLASS_COUNT) - 1);
    for (size_t k = 0; k < header->observed_count && unnamed != 0; k++) {
        int bit = class_from_name(header->observed[k]);
        if (bit >= 0) {
            unnamed &= ~(UINT32_C(1) << bit);
        }
    }
    for (size_t skip = i - header->observed_count; skip > 0; skip--) {
        unnamed &= unnamed - 1; /* 0 stays 0 */
    }
    return unnamed != 0 ? class_names[__builtin_ctz(unnamed)] : NULL;
}

bool nocap_header_in_scope(const struct nocap_header *header, struct nocap_xy at)
{
    if (!header->has_scope) {
        return true;
    }
    for (size_t i = 0; i < header->scope_count; i++) {
        if (nocap_xy_equal(header->scope[i], at)) {
            return true;
        }
    }
    return false;
}

uint32_t nocap_event_class(const struct nocap_event *event)
{
    bool l1 = event->space == NOCAP_SPACE_TILE && event->addr < NOCAP_L1_SIZE;
    bool core = event->by >= NOCAP_BY_BRISC && event->by <= NOCAP_BY_TRISC2;
    switch (event->kind) {
    case NOCAP_EV_READ:
    case NOCAP_EV_WRITE:
        return core && event->kind == NOCAP_EV_READ ? NOCAP_CLASS_CORE_LOAD
               : core                      ? (l1 ? NOCAP_CLASS_CORE_STORE : NOCAP_CLASS_CORE_MMIO)
               : event->by >= NOCAP_BY_UC0 ? NOCAP_CLASS_AIE_MMIO
               : event->space == NOCAP_SPACE_SYSMEM ? NOCAP_CLASS_SYSMEM
               : event->by == NOCAP_BY_NOC          ? NOCAP_CLASS_NOC
                                                    : NOCAP_CLASS_HOST_MMIO;
    case NOCAP_EV_NOC: return NOCAP_CLASS_NOC;
    case NOCAP_EV_TENSIX:
        return event->op == NOCAP_OP_PUSH     ? NOCAP_CLASS_TENSIX_PUSH
               : event->op == NOCAP_OP_RETIRE ? NOCAP_CLASS_TENSIX_RETIRE
               : event->op == NOCAP_OP_ISSUE || event->op == NOCAP_OP_STALL
                   ? NOCAP_CLASS_TENSIX_ISSUE
                   : NOCAP_CLASS_TENSIX_UNIT;
    case NOCAP_EV_KERNEL: return NOCAP_CLASS_KERNEL;
    case NOCAP_EV_RESET: return NOCAP_CLASS_RESET;
    case NOCAP_EV_CQ:
        return event->op == NOCAP_OP_RECORD ? NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_CQ : NOCAP_CLASS_CQ;
    case NOCAP_EV_CERT: return NOCAP_CLASS_CERT;
    default: return 0;
    }
}

bool nocap_header_lists(const struct nocap_header *h, const struct nocap_event *event)
{
    const uint32_t class = nocap_event_class(event);
    return !h->has_observes || class == 0 || (class & h->observes) != 0;
}
