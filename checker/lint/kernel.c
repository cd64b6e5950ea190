/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/lint/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "base/list.h"
#include "base/standard_input.h"
#include "checker/core/findings.h"
#include "checker/core/selection.h"
#include "formats/blackhole/tensix_extract.h"
#include "formats/blackhole/tile_map.h"

enum { TILE_X = 1, TILE_Y = 2, NAME_SIZE = 8 };

/* One run: the code becomes events of a capture that sees pushes and register accesses. */
struct run {
    struct nocap_report *report;
    struct nocap_findings findings;
    const struct nocap_elf_image *image;
    struct nocap_engine *engine;
    struct nocap_error *err;
    enum nocap_status status;
    uint32_t *addresses; /* of the instruction after each event */
    size_t events;
};

/* Statements about words and their order; what depends on issues is not in the code. */
static const enum nocap_rule judged[] = {TNX_010, TNX_011, TNX_012, TNX_016, TNX_017,
                                         TNX_018, TNX_019, TNX_020, TNX_030, TNX_031,
                                         TNX_032, TNX_033, TNX_034, TNX_035, TNX_036};

static bool fail(struct run *run, enum nocap_status status)
{
    run->status = status;
    return false;
}

static bool feed(struct run *run, struct nocap_event *event, uint32_t address)
{
    uint32_t *at = LIST_NEXT(run->addresses, run->events);
    if (at == NULL) {
        return fail(run, nocap_fail(run->err, NOCAP_E_MEMORY, "out of memory"));
    }
    event->index = event->t = run->events;
    if (event->kind != NOCAP_EV_DROP) {
        event->at = (struct nocap_xy){TILE_X, TILE_Y};
        event->has |= NOCAP_F_AT | NOCAP_F_BY;
        event->by = (uint8_t)(NOCAP_BY_TRISC0 + run->report->thread);
    }
    *at = address;
    run->events++;
    enum nocap_status status = nocap_engine_feed(run->engine, event, 1, run->err);
    return status == NOCAP_OK || fail(run, status);
}

static bool push(struct run *run, uint32_t address, uint32_t word)
{
    struct nocap_event event = {.kind = NOCAP_EV_TENSIX,
                                .op = NOCAP_OP_PUSH,
                                .thread = (uint8_t)run->report->thread,
                                .value = word,
                                .has = NOCAP_F_THREAD | NOCAP_F_WORD};
    run->report->words++;
    return feed(run, &event, address);
}

/* Words that this place of the code does not tell: what was known before counts no more. */
static bool forget(struct run *run, uint32_t address)
{
    struct nocap_event event = {.kind = NOCAP_EV_DROP, .value = 1, .has = NOCAP_F_DROPPED};
    return feed(run, &event, address);
}

static bool push_unknown(struct run *run, uint32_t address)
{
    run->report->unknown++;
    return forget(run, address);
}

static bool access_register(struct run *run, const struct nocap_extracted *what)
{
    bool store = what->kind == NOCAP_EXTRACTED_STORE;
    struct nocap_event event = {.kind = store ? NOCAP_EV_WRITE : NOCAP_EV_READ,
                                .addr = what->target,
                                .size = 4,
                                .value = what->value,
                                .has = NOCAP_F_ADDR | NOCAP_F_SIZE |
                                       (what->known ? NOCAP_F_VALUE : 0)};
    return feed(run, &event, what->address);
}

static bool visit(void *context, const struct nocap_extracted *what)
{
    struct run *run = context;
    bool fifo = what->target >= NOCAP_BASE_INSTRN_FIFO0 && what->target <= NOCAP_LAST_INSTRN_FIFO0;
    if (what->kind == NOCAP_EXTRACTED_WORD) {
        return push(run, what->address, what->value);
    }
    if (what->kind == NOCAP_EXTRACTED_JUMP) {
        return forget(run, what->address);
    }
    if (what->kind == NOCAP_EXTRACTED_STORE && fifo) {
        return what->known ? push(run, what->address, what->value)
                           : push_unknown(run, what->address);
    }
    return what->target < NOCAP_L1_SIZE || access_register(run, what);
}

/* The instruction after the event. */
static bool locate(void *context, struct nocap_divergence *d, struct nocap_finding *place)
{
    const struct run *run = context;
    uint32_t address = d->index < run->events ? run->addresses[d->index] : 0;
    const char *symbol = nocap_elf_symbol(run->image, address, &place->offset);
    place->place = NOCAP_PLACE_ADDRESS;
    place->address = address;
    place->symbol = symbol == NULL ? NULL : strdup(symbol);
    d->index = address;
    d->has_tile = false; /* the one of the events made here is none of the program's */
    d->related_count = 0;
    return symbol == NULL || place->symbol != NULL;
}

struct code {
    const uint8_t *bytes;
    size_t size;
    uint32_t address;
};

/* The part of a segment that is code: headers and constants lie beside it. */
static struct code code_of(const struct nocap_elf_image *image, const struct nocap_elf_segment *s)
{
    uint64_t base = nocap_elf_text_base(image), size = nocap_elf_text_size(image);
    uint64_t first = s->link_address, end = first + s->file_size;
    if (size != 0) {
        first = base > first ? base : first;
        end = base + size < end ? base + size : end;
    }
    if (!s->text || first >= end) {
        return (struct code){NULL, 0, 0};
    }
    return (struct code){s->bytes + (first - s->link_address), (size_t)(end - first),
                         (uint32_t)first};
}

static enum nocap_status scan(struct run *run)
{
    struct nocap_header header;
    bool observable[NOCAP_RULE_COUNT] = {false};
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        observable[i] = run->report->rules[i].obstacle == NOCAP_OBSERVABLE;
    }
    nocap_header_init(&header);
    header.arch = NOCAP_ARCH_BLACKHOLE;
    header.complete = NOCAP_TRUE;
    header.has_observes = true;
    header.observes = NOCAP_CLASS_TENSIX_PUSH | NOCAP_CLASS_CORE_MMIO | NOCAP_CLASS_CORE_LOAD;
    const struct nocap_engine_options options = {.size = sizeof options,
                                                 .observable = observable,
                                                 .diverged = nocap_findings_add,
                                                 .context = &run->findings};
    run->status = nocap_engine_new(&run->engine, &header, &options, run->err);
    for (size_t i = 0; run->status == NOCAP_OK && i < nocap_elf_segment_count(run->image); i++) {
        const struct nocap_elf_segment *s = nocap_elf_segment(run->image, i);
        struct code code = code_of(run->image, s);
        nocap_tensix_extract(code.bytes, code.size, code.address, visit, run);
    }
    if (run->status == NOCAP_OK) {
        run->status =
            nocap_findings_finish(&run->findings, nocap_engine_exercised(run->engine), run->err);
    }
    nocap_engine_free(run->engine);
    nocap_header_free(&header);
    return run->status;
}

static enum nocap_status open_kernel(struct nocap_elf_image **image, const char *path,
                                     struct nocap_error *err)
{
    uint8_t *bytes;
    size_t size;
    if (!standard_input_is(path)) {
        return nocap_elf_open(image, path, 0, err);
    }
    RETURN_IF_FAILED(standard_input_read(&bytes, &size, err));
    enum nocap_status status =
        nocap_elf_open_memory(image, bytes, size, STANDARD_INPUT_NAME, 0, err);
    free(bytes);
    return status;
}

static enum nocap_status begin_report(struct nocap_report *report, const char *path,
                                      unsigned thread, const char *rules, struct nocap_error *err)
{
    bool any = false;
    report->subject = NOCAP_SUBJECT_KERNEL;
    report->thread = thread;
    report->path = foreign_copy(path);
    RETURN_ERROR_IF(report->path == NULL, err, NOCAP_E_MEMORY, "out of memory");
    RETURN_IF_FAILED(nocap_selection_parse(report->rules, rules, err));
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        report->rules[i].obstacle = NOCAP_NO_CLASS;
    }
    for (size_t i = 0; i < sizeof judged / sizeof judged[0]; i++) {
        report->rules[judged[i]].obstacle = NOCAP_OBSERVABLE;
        any |= nocap_selection_judged(&report->rules[judged[i]]);
    }
    RETURN_ERROR_IF(!any, err, NOCAP_E_USAGE,
                    "none of the rules '%.100s' can be judged on code: TNX-010 to TNX-012, TNX-016 "
                    "to TNX-020 and TNX-030 to TNX-036 can",
                    rules != NULL ? rules : "");
    return NOCAP_OK;
}

static enum nocap_status judge_kernel(struct run *run, const char *path, unsigned thread,
                                      struct nocap_error *err)
{
    struct nocap_elf_image *image = NULL;
    RETURN_IF_FAILED(begin_report(run->report, path, thread, run->findings.options->rules, err));
    RETURN_IF_FAILED(nocap_findings_open(&run->findings, err));
    RETURN_IF_FAILED(open_kernel(&image, path, err));
    run->image = image;
    enum nocap_status status = scan(run);
    nocap_elf_close(image);
    return status;
}

enum nocap_status nocap_lint_kernel(struct nocap_report **report, const char *path, unsigned thread,
                                    const struct nocap_check_options *options,
                                    struct nocap_error *err)
{
    static const struct nocap_check_options none = {.size = sizeof none};
    struct run run = {.report = calloc(1, sizeof *run.report), .err = err};
    *report = NULL;
    RETURN_ERROR_IF(run.report == NULL, err, NOCAP_E_MEMORY, "out of memory");
    run.findings = (struct nocap_findings){.report = run.report,
                                           .options = options != NULL ? options : &none,
                                           .locate = locate,
                                           .locate_context = &run};
    enum nocap_status status = judge_kernel(&run, path, thread, err);
    nocap_findings_close(&run.findings);
    free(run.addresses);
    if (status != NOCAP_OK) {
        nocap_report_free(run.report);
        return status;
    }
    *report = run.report;
    return NOCAP_OK;
}

int nocap_lint_thread_of(const char *path)
{
    const char *base = strrchr(path, '/');
    base = base != NULL ? base + 1 : path;
    for (int thread = 0; thread < NOCAP_TENSIX_THREADS; thread++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "trisc%d", thread);
        if (strstr(base, name) != NULL) {
            return thread;
        }
    }
    return -1;
}
