/* SPDX-License-Identifier: Apache-2.0 */
/* Earlier reports in memory: a sorted list a trace, and what of it one check has not seen yet. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "checker/report/baseline_private.h"

enum { READ_BYTES = 256 << 10 };

/* ---- what findings are recognised by ---- */

#define HAS_TILE (UINT64_C(1) << 62)
#define UNLISTED (UINT64_C(1) << 63)
enum { RULE_SHIFT = 48, CHIP_SHIFT = 32, X_SHIFT = 24, Y_SHIFT = 16, AGENT_SHIFT = 8 };
_Static_assert(NOCAP_RULE_COUNT <= 1 << (62 - RULE_SHIFT), "a rule has 14 bits");

uint64_t baseline_what(const struct nocap_divergence *d)
{
    uint64_t tile =
        d->has_tile ? HAS_TILE | (uint64_t)d->at.x << X_SHIFT | (uint64_t)d->at.y << Y_SHIFT : 0;
    return tile | (uint64_t)d->rule << RULE_SHIFT | (uint64_t)d->chip << CHIP_SHIFT |
           (uint64_t)d->agent << AGENT_SHIFT | (uint8_t)d->thread;
}

/* FNV-1a. */
uint32_t baseline_hash(const char *name, size_t length)
{
    uint32_t hash = 0x811c9dc5;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (uint8_t)name[i]) * 0x01000193;
    }
    return hash;
}

/* The name has the bits of the chip and tile of an event. */
uint64_t baseline_what_of_code(enum nocap_rule rule, uint8_t agent, uint32_t name)
{
    return (uint64_t)rule << RULE_SHIFT | (uint64_t)name << Y_SHIFT |
           (uint64_t)agent << AGENT_SHIFT;
}

uint64_t baseline_unlisted(enum nocap_rule rule)
{
    return UNLISTED | (uint64_t)rule << RULE_SHIFT;
}

/* ---- the list ---- */

bool baseline_add(struct nocap_baseline *b, uint64_t what, uint64_t count)
{
    struct baseline_known *known = LIST_NEXT(b->known, b->known_count);
    if (known == NULL) {
        return false;
    }
    *known = (struct baseline_known){what, count};
    b->known_count++;
    return true;
}

static int by_what(const void *a, const void *b)
{
    const struct baseline_known *k = a, *l = b;
    return k->what < l->what ? -1 : k->what > l->what;
}

bool baseline_end(struct nocap_baseline *b, const char *path)
{
    const struct baseline_trace *last = b->trace_count > 0 ? &b->traces[b->trace_count - 1] : NULL;
    size_t first = last != NULL ? last->first + last->count : 0, end = b->known_count;
    struct baseline_trace *trace = LIST_NEXT(b->traces, b->trace_count);
    char *copy = strdup(path);
    if (trace == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    if (end > first) {
        qsort(b->known + first, end - first, sizeof *b->known, by_what);
    }
    b->known_count = first;
    for (size_t i = first; i < end; i++) {
        if (i > first && b->known[i].what == b->known[b->known_count - 1].what) {
            b->known[b->known_count - 1].count += b->known[i].count;
        } else {
            b->known[b->known_count++] = b->known[i];
        }
    }
    *trace = (struct baseline_trace){.path = copy, .first = first, .count = b->known_count - first};
    b->trace_count++;
    return true;
}

/* ---- traces ---- */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The same file name: in the order of the report. */
static int by_name(const void *a, const void *b)
{
    const struct baseline_trace *t = a, *u = b;
    int order = strcmp(name_of(t->path), name_of(u->path));
    return order != 0 ? order : t->first < u->first ? -1 : t->first > u->first;
}

/* The trace of this path, else the first of this file name; NULL: none. */
static const struct baseline_trace *find_trace(const struct nocap_baseline *b, const char *path)
{
    size_t low = 0, high = b->trace_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(name_of(b->traces[middle].path), name_of(path)) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct baseline_trace *first = NULL;
    for (size_t i = low;
         i < b->trace_count && strcmp(name_of(b->traces[i].path), name_of(path)) == 0; i++) {
        if (strcmp(b->traces[i].path, path) == 0) {
            return &b->traces[i];
        }
        first = first != NULL ? first : &b->traces[i];
    }
    return first;
}

/* ---- reading ---- */

static enum nocap_status end(struct baseline_reader *reader, struct nocap_baseline *b,
                             struct nocap_error *err)
{
    RETURN_IF_FAILED(baseline_reader_end(reader, err));
    if (b->trace_count > 1) {
        qsort(b->traces, b->trace_count, sizeof *b->traces, by_name);
    }
    return NOCAP_OK;
}

static enum nocap_status begin(struct baseline_reader **reader, struct nocap_baseline **baseline,
                               struct nocap_error *err)
{
    *baseline = calloc(1, sizeof **baseline);
    RETURN_ERROR_IF(*baseline == NULL, err, NOCAP_E_MEMORY, "out of memory for the baseline");
    return baseline_reader_new(reader, *baseline, err);
}

static enum nocap_status feed_file(struct baseline_reader *reader, FILE *file,
                                   struct nocap_error *err)
{
    char *buffer = malloc(READ_BYTES);
    RETURN_ERROR_IF(buffer == NULL, err, NOCAP_E_MEMORY, "out of memory for the baseline");
    enum nocap_status status = NOCAP_OK;
    size_t size = 0;
    int failed = 0;
    do {
        errno = 0;
        size = fread(buffer, 1, READ_BYTES, file);
        failed = ferror(file) != 0 ? errno : 0;
        status = baseline_reader_feed(reader, buffer, size, err);
    } while (status == NOCAP_OK && size == READ_BYTES && failed == 0);
    free(buffer);
    RETURN_ERROR_IF(failed != 0, err, NOCAP_E_INPUT, "cannot read it: %s", strerror(failed));
    return status;
}

/* Frees the reader, and the baseline if it is not whole. */
static enum nocap_status finish(struct baseline_reader *reader, struct nocap_baseline **baseline,
                                enum nocap_status status, struct nocap_error *err)
{
    if (status == NOCAP_OK) {
        status = end(reader, *baseline, err);
    }
    baseline_reader_free(reader);
    if (status != NOCAP_OK) {
        nocap_baseline_close(*baseline);
        *baseline = NULL;
    }
    return status;
}

enum nocap_status nocap_baseline_parse(struct nocap_baseline **baseline, const char *text,
                                       size_t size, struct nocap_error *err)
{
    struct baseline_reader *reader = NULL;
    enum nocap_status status = begin(&reader, baseline, err);
    if (status == NOCAP_OK) {
        status = baseline_reader_feed(reader, text, size, err);
    }
    return finish(reader, baseline, status, err);
}

enum nocap_status nocap_baseline_open(struct nocap_baseline **baseline, const char *path,
                                      struct nocap_error *err)
{
    struct baseline_reader *reader = NULL;
    FILE *file = fopen(path, "re");
    *baseline = NULL;
    RETURN_ERROR_IF(file == NULL, err, NOCAP_E_INPUT, "cannot open the baseline %s: %s", path,
                    strerror(errno));
    enum nocap_status status = begin(&reader, baseline, err);
    if (status == NOCAP_OK) {
        status = feed_file(reader, file, err);
    }
    status = finish(reader, baseline, status, err);
    fclose(file);
    return status == NOCAP_OK ? status
                              : nocap_fail_context(err, status, "cannot use the baseline %s", path);
}

void nocap_baseline_close(struct nocap_baseline *baseline)
{
    if (baseline != NULL) {
        for (size_t i = 0; i < baseline->trace_count; i++) {
            free(baseline->traces[i].path);
        }
        free(baseline->traces);
        free(baseline->known);
        free(baseline);
    }
}

/* ---- matching ---- */

struct nocap_baseline_use {
    size_t count;
    struct baseline_known left[];
};

enum nocap_status nocap_baseline_use_open(struct nocap_baseline_use **use,
                                          const struct nocap_baseline *baseline,
                                          const char *trace_path, struct nocap_error *err)
{
    const struct baseline_trace *trace = find_trace(baseline, trace_path);
    size_t count = trace != NULL ? trace->count : 0;
    *use = malloc(sizeof **use + count * sizeof(*use)->left[0]);
    RETURN_ERROR_IF(*use == NULL, err, NOCAP_E_MEMORY, "out of memory for the baseline");
    (*use)->count = count;
    if (count > 0) {
        memcpy((*use)->left, baseline->known + trace->first, count * sizeof(*use)->left[0]);
    }
    return NOCAP_OK;
}

void nocap_baseline_use_close(struct nocap_baseline_use *use)
{
    free(use);
}

static bool take(struct nocap_baseline_use *use, uint64_t what)
{
    const struct baseline_known key = {.what = what};
    struct baseline_known *known =
        use->count > 0 ? bsearch(&key, use->left, use->count, sizeof key, by_what) : NULL;
    if (known == NULL || known->count == 0) {
        return false;
    }
    known->count--;
    return true;
}

static uint32_t hash_of(const char *text)
{
    return baseline_hash(text, text == NULL ? 0 : strlen(text));
}

bool nocap_baseline_match(struct nocap_baseline_use *use, const struct nocap_divergence *divergence,
                          const struct nocap_finding *place)
{
    enum nocap_rule rule = divergence->rule;
    uint64_t what = place->place == NOCAP_PLACE_EVENT ? baseline_what(divergence)
                    : place->place == NOCAP_PLACE_ADDRESS
                        ? baseline_what_of_code(rule, NOCAP_BY_NONE, hash_of(place->symbol))
                        : baseline_what_of_code(rule, divergence->agent, hash_of(place->kernel));
    return take(use, what) || take(use, baseline_unlisted(rule));
}
