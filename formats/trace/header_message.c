/* SPDX-License-Identifier: Apache-2.0 */
/* The header to and from message Header of the .nocap file. */
#include "formats/trace/frame.h"

#include "formats/trace/nocap.pb-c.h"
#include <stdlib.h>

static void *budget_alloc(void *context, size_t size)
{
    struct message_budget *budget = context;
    if (size > budget->left) {
        return NULL;
    }
    budget->left -= size;
    void *room = malloc(size);
    budget->no_memory |= room == NULL;
    return room;
}

static void budget_free(void *context, void *p)
{
    (void)context;
    free(p);
}

ProtobufCAllocator message_allocator(struct message_budget *budget)
{
    return (ProtobufCAllocator){budget_alloc, budget_free, budget};
}

/* The lists of a message under construction. */
struct lists {
    char **observes;
    Nocap__Xy *scope_items;
    Nocap__Xy **scope;
    Nocap__Firmware *firmware_items;
    Nocap__Firmware **firmware;
};

static void lists_free(struct lists *lists)
{
    free(lists->observes);
    free(lists->scope_items);
    free(lists->scope);
    free(lists->firmware_items);
    free(lists->firmware);
}

static bool fill_lists(Nocap__Header *m, struct lists *lists, const struct nocap_header *h)
{
    while (nocap_header_observed(h, m->n_observes) != NULL) {
        m->n_observes++;
    }
    m->n_scope = h->scope_count;
    m->n_firmware = h->firmware_count;
    lists->observes = calloc(m->n_observes + 1, sizeof *lists->observes);
    lists->scope_items = calloc(m->n_scope + 1, sizeof *lists->scope_items);
    lists->scope = calloc(m->n_scope + 1, sizeof *lists->scope);
    lists->firmware_items = calloc(m->n_firmware + 1, sizeof *lists->firmware_items);
    lists->firmware = calloc(m->n_firmware + 1, sizeof *lists->firmware);
    if (lists->observes == NULL || lists->scope_items == NULL || lists->scope == NULL ||
        lists->firmware_items == NULL || lists->firmware == NULL) {
        return false;
    }
    for (size_t i = 0; i < m->n_observes; i++) {
        lists->observes[i] = (char *)(uintptr_t)nocap_header_observed(h, i);
    }
    for (size_t i = 0; i < m->n_scope; i++) {
        nocap__xy__init(lists->scope[i] = &lists->scope_items[i]);
        lists->scope[i]->x = h->scope[i].x;
        lists->scope[i]->y = h->scope[i].y;
    }
    for (size_t i = 0; i < m->n_firmware; i++) {
        nocap__firmware__init(lists->firmware[i] = &lists->firmware_items[i]);
        lists->firmware[i]->core = h->firmware[i].core;
        lists->firmware[i]->path = h->firmware[i].path;
    }
    m->observes = lists->observes;
    m->scope = lists->scope;
    m->firmware = lists->firmware;
    return true;
}

static bool pack(struct bytes *out, const Nocap__Header *m)
{
    if (!bytes_reserve(out, nocap__header__get_packed_size(m))) {
        return false;
    }
    out->size += nocap__header__pack(m, out->data + out->size);
    return true;
}

enum nocap_status header_pack(struct bytes *out, const struct nocap_header *h,
                              struct nocap_error *err)
{
    Nocap__Xy prefetch = NOCAP__XY__INIT, dispatch = NOCAP__XY__INIT;
    Nocap__CommandQueue cq = NOCAP__COMMAND_QUEUE__INIT;
    Nocap__Header m = NOCAP__HEADER__INIT;
    m.version = TRACE_VERSION;
    m.arch = (char *)(uintptr_t)nocap_arch_name(h->arch);
    m.board = (char *)(uintptr_t)nocap_board_name(h->board);
    m.layout = h->layout;
    m.profile = h->profile;
    m.time_unit = h->has_time_unit ? (char *)(uintptr_t)nocap_time_unit_name(h->time_unit) : NULL;
    m.has_clock_hz = (m.clock_hz = h->clock_hz) != 0;
    m.producer = h->producer;
    m.has_has_observes = m.has_observes = h->has_observes;
    m.has_has_scope = m.has_scope = h->has_scope;
    m.has_has_firmware = m.has_firmware = h->has_firmware;
    m.has_complete = h->complete != NOCAP_ABSENT;
    m.complete = h->complete == NOCAP_TRUE;
    m.has_cycle_accurate = h->cycle_accurate != NOCAP_ABSENT;
    m.cycle_accurate = h->cycle_accurate == NOCAP_TRUE;
    m.has_open_end = h->open_end != NOCAP_ABSENT;
    m.open_end = h->open_end == NOCAP_TRUE;
    m.extra = h->extra;
    if (h->cq.present) {
        prefetch.x = h->cq.prefetch.x;
        prefetch.y = h->cq.prefetch.y;
        dispatch.x = h->cq.dispatch.x;
        dispatch.y = h->cq.dispatch.y;
        cq.prefetch = h->cq.has_prefetch ? &prefetch : NULL;
        cq.dispatch = h->cq.has_dispatch ? &dispatch : NULL;
        cq.has_sysmem = h->cq.has_sysmem;
        cq.sysmem = h->cq.sysmem;
        cq.has_kernel_config = h->cq.has_kernel_config;
        cq.kernel_config = h->cq.kernel_config;
        cq.extra = h->cq.extra;
        m.cq = &cq;
    }
    struct lists lists = {0};
    bool ok = fill_lists(&m, &lists, h) && pack(out, &m);
    lists_free(&lists);
    RETURN_ERROR_IF(!ok, err, NOCAP_E_MEMORY, "out of memory while writing the header");
    return NOCAP_OK;
}

/* NULL stays NULL; *ok becomes false without memory. */
static char *copy(const char *text, bool *ok)
{
    char *result = text != NULL ? strdup(text) : NULL;
    *ok = *ok && (text == NULL || result != NULL);
    return result;
}

static enum nocap_status take_names(struct nocap_header *h, const Nocap__Header *m,
                                    struct nocap_error *err)
{
    RETURN_ERROR_IF(
        m->version < TRACE_VERSION_OLDEST || m->version > TRACE_VERSION, err, NOCAP_E_INPUT,
        "the trace has version %u, this nocap reads versions %d to %d; use a newer nocap",
        m->version, TRACE_VERSION_OLDEST, TRACE_VERSION);
    int arch = nocap_arch_from_name(m->arch);
    int board = m->board == NULL ? NOCAP_BOARD_UNKNOWN : nocap_board_from_name(m->board);
    int unit = m->time_unit == NULL ? NOCAP_TIME_CYCLES : nocap_time_unit_from_name(m->time_unit);
    RETURN_ERROR_IF(arch < 0, err, NOCAP_E_INPUT,
                    "the header names an unknown architecture, '%.40s'", m->arch);
    RETURN_ERROR_IF(board < 0, err, NOCAP_E_INPUT, "the header names an unknown board, '%.40s'",
                    m->board);
    RETURN_ERROR_IF(unit < 0, err, NOCAP_E_INPUT, "the header names an unknown time unit, '%.40s'",
                    m->time_unit);
    h->arch = (enum nocap_arch)arch;
    h->board = (enum nocap_board)board;
    h->time_unit = (enum nocap_time_unit)unit;
    h->has_time_unit = m->time_unit != NULL;
    return NOCAP_OK;
}

static bool take_xy(struct nocap_xy *xy, const Nocap__Xy *m)
{
    *xy = (struct nocap_xy){(uint8_t)m->x, (uint8_t)m->y};
    return m->x <= UINT8_MAX && m->y <= UINT8_MAX;
}

static bool take_cq(struct nocap_cq_place *cq, const Nocap__CommandQueue *m)
{
    bool ok = true;
    cq->present = true;
    cq->has_prefetch = m->prefetch != NULL;
    cq->has_dispatch = m->dispatch != NULL;
    ok &= m->prefetch == NULL || take_xy(&cq->prefetch, m->prefetch);
    ok &= m->dispatch == NULL || take_xy(&cq->dispatch, m->dispatch);
    cq->has_sysmem = m->has_sysmem;
    cq->sysmem = m->sysmem;
    cq->has_kernel_config = m->has_kernel_config;
    cq->kernel_config = m->kernel_config;
    cq->extra = copy(m->extra, &ok);
    return ok;
}

static bool take_lists(struct nocap_header *h, const Nocap__Header *m)
{
    bool ok = true;
    for (size_t i = 0; ok && i < m->n_observes; i++) {
        ok = nocap_header_observe(h, m->observes[i], NULL) == NOCAP_OK;
    }
    h->scope = calloc(m->n_scope + 1, sizeof *h->scope);
    h->firmware = calloc(m->n_firmware + 1, sizeof *h->firmware);
    if (!ok || h->scope == NULL || h->firmware == NULL) {
        return false;
    }
    for (size_t i = 0; ok && i < m->n_scope; i++) {
        ok = take_xy(&h->scope[h->scope_count++], m->scope[i]);
    }
    for (size_t i = 0; ok && i < m->n_firmware; i++) {
        struct nocap_firmware *f = &h->firmware[h->firmware_count++];
        f->core = copy(m->firmware[i]->core, &ok);
        f->path = copy(m->firmware[i]->path, &ok);
    }
    return ok;
}

enum nocap_status header_unpack(struct nocap_header *h, const uint8_t *message, size_t size,
                                struct nocap_error *err)
{
    struct message_budget budget = {.left = MESSAGE_BUDGET};
    ProtobufCAllocator allocator = message_allocator(&budget);
    Nocap__Header *m = nocap__header__unpack(&allocator, size, message);
    RETURN_ERROR_IF(budget.no_memory, err, NOCAP_E_MEMORY, "out of memory for the trace header");
    RETURN_ERROR_IF(m == NULL, err, NOCAP_E_INPUT, "the header does not decode");
    enum nocap_status status = take_names(h, m, err);
    if (status == NOCAP_OK) {
        bool ok = true;
        h->clock_hz = m->clock_hz;
        h->layout = copy(m->layout, &ok);
        h->producer = copy(m->producer, &ok);
        h->extra = copy(m->extra, &ok);
        h->has_observes = m->has_observes;
        h->has_scope = m->has_scope;
        h->has_firmware = m->has_firmware;
        h->complete = !m->has_complete ? NOCAP_ABSENT : m->complete ? NOCAP_TRUE : NOCAP_FALSE;
        h->open_end = !m->has_open_end ? NOCAP_ABSENT : m->open_end ? NOCAP_TRUE : NOCAP_FALSE;
        h->cycle_accurate = !m->has_cycle_accurate ? NOCAP_ABSENT
                            : m->cycle_accurate    ? NOCAP_TRUE
                                                   : NOCAP_FALSE;
        ok =
            ok && (m->profile == NULL || nocap_header_set_profile(h, m->profile, NULL) == NOCAP_OK);
        ok = ok && take_lists(h, m) && (m->cq == NULL || take_cq(&h->cq, m->cq));
        if (!ok) {
            status = nocap_fail(err, NOCAP_E_INPUT, "the header holds a value out of range");
        }
    }
    nocap__header__free_unpacked(m, &allocator);
    return status;
}
