/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/lint_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "checker/json.h"
#include "checker/text.h"
#include "formats/blackhole/tensix_extract.h"
#include "formats/blackhole/tensix_isa.h"
#include "formats/blackhole/tile_map.h"
#include "formats/foreign_text.h"
#include "formats/standard_input.h"

enum { TILE_X = 1, TILE_Y = 2, NAME_SIZE = 8 };

/* One run: the code becomes events of a capture that sees pushes and register accesses. */
struct run {
    struct nocap_lint *lint;
    const struct nocap_elf_image *image;
    struct nocap_engine *engine;
    struct nocap_error *err;
    enum nocap_status status;
    uint32_t *addresses; /* of the instruction behind each event */
    size_t events, room;
    size_t finding_room;
};

/* Statements about words and their order; what depends on issues is not in the code. */
static const enum nocap_rule judged[] = {TNX_010, TNX_011, TNX_012, TNX_016, TNX_017,
                                         TNX_018, TNX_020, TNX_030, TNX_031, TNX_032,
                                         TNX_033, TNX_034, TNX_035, TNX_036};

static bool fail(struct run *run, enum nocap_status status)
{
    run->status = status;
    return false;
}

static bool feed(struct run *run, struct nocap_event *event, uint32_t address)
{
    if (run->events == run->room) {
        size_t room = run->room == 0 ? 1024 : 2 * run->room;
        uint32_t *grown = realloc(run->addresses, room * sizeof *grown);
        if (grown == NULL) {
            return fail(run, nocap_fail(run->err, NOCAP_E_MEMORY, "out of memory"));
        }
        run->addresses = grown;
        run->room = room;
    }
    event->index = event->t = run->events;
    if (event->kind != NOCAP_EV_DROP) {
        event->at = (struct nocap_xy){TILE_X, TILE_Y};
        event->has |= NOCAP_F_AT | NOCAP_F_BY;
        event->by = (uint8_t)(NOCAP_BY_TRISC0 + run->lint->thread);
    }
    run->addresses[run->events++] = address;
    enum nocap_status status = nocap_engine_feed(run->engine, event, 1, run->err);
    return status == NOCAP_OK || fail(run, status);
}

static bool push(struct run *run, uint32_t address, uint32_t word)
{
    struct nocap_event event = {.kind = NOCAP_EV_TENSIX,
                                .op = NOCAP_OP_PUSH,
                                .thread = (uint8_t)run->lint->thread,
                                .value = word,
                                .has = NOCAP_F_THREAD | NOCAP_F_WORD};
    run->lint->words++;
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
    run->lint->unknown++;
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

static void diverged(void *context, const struct nocap_divergence *d)
{
    struct run *run = context;
    struct nocap_lint *lint = run->lint;
    if (lint->count == run->finding_room) {
        size_t room = run->finding_room == 0 ? 16 : 2 * run->finding_room;
        struct nocap_lint_finding *grown = realloc(lint->findings, room * sizeof *grown);
        if (grown == NULL) {
            fail(run, nocap_fail(run->err, NOCAP_E_MEMORY, "out of memory"));
            return;
        }
        lint->findings = grown;
        run->finding_room = room;
    }
    struct nocap_lint_finding *f = &lint->findings[lint->count++];
    *f = (struct nocap_lint_finding){.rule = d->rule};
    f->address = d->index < run->events ? run->addresses[d->index] : 0;
    const char *symbol = nocap_elf_symbol(run->image, f->address, &f->offset);
    char *clean = symbol != NULL ? foreign_copy(symbol) : NULL;
    snprintf(f->symbol, sizeof f->symbol, "%s", clean != NULL ? clean : "");
    free(clean);
    snprintf(f->expected, sizeof f->expected, "%s", d->expected);
    snprintf(f->observed, sizeof f->observed, "%s", d->observed);
    lint->counts[nocap_rules[d->rule].severity]++;
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
    nocap_header_init(&header);
    header.arch = NOCAP_ARCH_BLACKHOLE;
    header.complete = NOCAP_TRUE;
    header.has_observes = true;
    header.observes = NOCAP_CLASS_TENSIX_PUSH | NOCAP_CLASS_CORE_MMIO | NOCAP_CLASS_CORE_LOAD;
    for (size_t i = 0; i < sizeof judged / sizeof judged[0]; i++) {
        observable[judged[i]] = true;
    }
    const struct nocap_engine_options options = {
        .size = sizeof options, .observable = observable, .diverged = diverged, .context = run};
    run->status = nocap_engine_new(&run->engine, &header, &options, run->err);
    for (size_t i = 0; run->status == NOCAP_OK && i < nocap_elf_segment_count(run->image); i++) {
        const struct nocap_elf_segment *s = nocap_elf_segment(run->image, i);
        struct code code = code_of(run->image, s);
        nocap_tensix_extract(code.bytes, code.size, code.address, visit, run);
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

enum nocap_status nocap_lint_kernel(struct nocap_lint **out, const char *path, unsigned thread,
                                    struct nocap_error *err)
{
    struct nocap_elf_image *image = NULL;
    struct nocap_lint *lint = calloc(1, sizeof *lint);
    RETURN_ERROR_IF(lint == NULL, err, NOCAP_E_MEMORY, "out of memory");
    lint->thread = thread;
    lint->path = foreign_copy(path);
    struct run run = {.lint = lint, .err = err};
    run.status = lint->path == NULL ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory")
                                    : open_kernel(&image, path, err);
    run.image = image;
    if (run.status == NOCAP_OK) {
        scan(&run);
    }
    nocap_elf_close(image);
    free(run.addresses);
    if (run.status != NOCAP_OK) {
        nocap_lint_free(lint);
        return run.status;
    }
    *out = lint;
    return NOCAP_OK;
}

void nocap_lint_free(struct nocap_lint *lint)
{
    if (lint != NULL) {
        free(lint->findings);
        free(lint->path);
        free(lint);
    }
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

/* ---- output ---- */

enum nocap_status nocap_lint_text(FILE *out, const struct nocap_lint *lint, struct nocap_error *err)
{
    fprintf(out, "%s: thread %u, %zu words", lint->path, lint->thread, lint->words);
    fprintf(out, lint->unknown > 0 ? ", %zu more that the code does not tell\n" : "\n",
            lint->unknown);
    for (size_t i = 0; i < lint->count; i++) {
        const struct nocap_lint_finding *f = &lint->findings[i];
        fprintf(out, "%s %s at 0x%x", nocap_rules[f->rule].id,
                nocap_severity_name(nocap_rules[f->rule].severity), f->address);
        if (f->symbol[0] != '\0') {
            fprintf(out, " (%s+0x%x)", f->symbol, f->offset);
        }
        fprintf(out, ": expected %s, found %s\n", f->expected, f->observed);
    }
    fprintf(out, "%llu error%s, %llu warning%s, %llu note%s\n",
            (unsigned long long)lint->counts[NOCAP_ERROR], nocap_plural(lint->counts[NOCAP_ERROR]),
            (unsigned long long)lint->counts[NOCAP_WARNING],
            nocap_plural(lint->counts[NOCAP_WARNING]), (unsigned long long)lint->counts[NOCAP_NOTE],
            nocap_plural(lint->counts[NOCAP_NOTE]));
    return nocap_flush(out, "the findings", err);
}

enum nocap_status nocap_lint_json(FILE *out, const struct nocap_lint *lint, struct nocap_error *err)
{
    struct nocap_json json;
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, "nocap_lint", 1);
    nocap_json_text(&json, "path", lint->path);
    nocap_json_number(&json, "thread", lint->thread);
    nocap_json_number(&json, "words", lint->words);
    nocap_json_number(&json, "unknown", lint->unknown);
    nocap_json_array(&json, "findings");
    for (size_t i = 0; i < lint->count; i++) {
        const struct nocap_lint_finding *f = &lint->findings[i];
        nocap_json_map(&json, NULL);
        nocap_json_text(&json, "rule", nocap_rules[f->rule].id);
        nocap_json_text(&json, "severity", nocap_severity_name(nocap_rules[f->rule].severity));
        nocap_json_number(&json, "address", f->address);
        nocap_json_text(&json, "symbol", f->symbol);
        nocap_json_number(&json, "offset", f->offset);
        nocap_json_text(&json, "expected", f->expected);
        nocap_json_text(&json, "observed", f->observed);
        nocap_json_map_end(&json);
    }
    nocap_json_array_end(&json);
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}
