/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/export/noc_stats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/map.h"
#include "base/sum.h"

enum { TILES_MAX = 1 << 20 };

/* Tiles in the order in which they were met; after sort_tiles by falling count. */
struct tiles {
    MAP(uint64_t); /* chip and coordinate of each */
    struct nocap_noc_tile *list;
};

struct nocap_noc_stats {
    struct nocap_noc_count all, multicasts, nowhere;
    struct nocap_noc_count kinds[NOCAP_NOC_UNKNOWN + 1][NOCAP_NOC_TYPES];
    uint64_t sizes[NOCAP_NOC_SIZES], unsized;
    uint64_t posted;
    struct tiles initiators, targets;
};

struct nocap_noc_stats *nocap_noc_stats_new(void)
{
    return calloc(1, sizeof(struct nocap_noc_stats));
}

void nocap_noc_stats_free(struct nocap_noc_stats *s)
{
    if (s != NULL) {
        MAP_FREE(&s->initiators);
        MAP_FREE(&s->targets);
        free(s->initiators.list);
        free(s->targets.list);
        free(s);
    }
}

/* NULL without memory. */
static struct nocap_noc_tile *tile_of(struct tiles *tiles, uint16_t chip, struct nocap_xy at)
{
    uint64_t key = (uint64_t)chip << 16 | (uint64_t)at.x << 8 | at.y;
    size_t known = tiles->count;
    const uint64_t *row = MAP_GET(tiles, &key, TILES_MAX);
    if (row == NULL || (tiles->count > known && LIST_NEXT(tiles->list, known) == NULL)) {
        return NULL;
    }
    struct nocap_noc_tile *tile = &tiles->list[row - tiles->rows];
    tile->chip = chip;
    tile->at = at;
    return tile;
}

static void count(struct nocap_noc_count *c, const struct nocap_event *e)
{
    c->requests++;
    c->bytes = sum_of(c->bytes, (e->has & NOCAP_F_SIZE) != 0 ? e->size : 0);
}

/* Which counter waits for it: reads, writes, atomics. */
static unsigned kind_of(unsigned op)
{
    return op == NOCAP_OP_READ ? 0 : op == NOCAP_OP_ATOMIC ? 2 : 1;
}

static void count_size(struct nocap_noc_stats *s, const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_SIZE) == 0) {
        s->unsized++;
        return;
    }
    unsigned bits = 64 - (unsigned)__builtin_clzll(e->size | 1);
    s->sizes[bits < NOCAP_NOC_SIZES ? bits : NOCAP_NOC_SIZES - 1]++;
}

static bool names_network(const struct nocap_event *e)
{
    return (e->has & NOCAP_F_NOC) != 0 && e->noc < NOCAP_NOC_UNKNOWN;
}

static bool add_request(struct nocap_noc_stats *s, const struct nocap_event *e)
{
    bool known = names_network(e);
    bool read = e->op == NOCAP_OP_READ;
    bool target = (e->has & (read ? NOCAP_F_S : NOCAP_F_D)) != 0;
    struct nocap_noc_tile *from = tile_of(&s->initiators, e->chip, e->at);
    struct nocap_noc_tile *to =
        target && !e->mcast ? tile_of(&s->targets, e->chip, read ? e->s : e->d) : NULL;
    if (from == NULL || (target && !e->mcast && to == NULL)) {
        return false;
    }
    count(&s->all, e);
    count(&s->kinds[known ? e->noc : NOCAP_NOC_UNKNOWN][e->op - NOCAP_OP_READ], e);
    count(&from->count, e);
    count_size(s, e);
    if (e->mcast) {
        count(&s->multicasts, e);
    } else {
        count(to != NULL ? &to->count : &s->nowhere, e);
    }
    s->posted += e->posted;
    if (known && (!e->posted || read)) {
        struct nocap_noc_open *open = &from->open[e->noc][kind_of(e->op)];
        open->now++;
        open->most = open->now > open->most ? open->now : open->most;
    }
    return true;
}

static bool add_end(struct nocap_noc_stats *s, const struct nocap_event *e)
{
    struct nocap_noc_tile *from = tile_of(&s->initiators, e->chip, e->at);
    if (from == NULL) {
        return false;
    }
    if (e->phase == NOCAP_PHASE_DONE && names_network(e)) {
        struct nocap_noc_open *open = &from->open[e->noc][kind_of(e->op)];
        open->now = (e->has & NOCAP_F_ID) != 0 ? open->now - (open->now > 0) : 0;
        open->ends = true;
    }
    return true;
}

bool nocap_noc_stats_add(struct nocap_noc_stats *s, const struct nocap_event *e)
{
    bool request = e->op >= NOCAP_OP_READ && e->op <= NOCAP_OP_ATOMIC;
    if (e->kind != NOCAP_EV_NOC || !request || (e->has & NOCAP_F_AT) == 0) {
        return true;
    }
    return e->phase == NOCAP_PHASE_ISSUE ? add_request(s, e) : add_end(s, e);
}

/* ---- printing ---- */

static int by_falling_count(const void *a, const void *b)
{
    const struct nocap_noc_tile *left = a, *right = b;
    if (left->count.requests != right->count.requests) {
        return left->count.requests < right->count.requests ? 1 : -1;
    }
    int chip = (int)left->chip - (int)right->chip;
    int x = (int)left->at.x - (int)right->at.x;
    return chip != 0 ? chip : x != 0 ? x : (int)left->at.y - (int)right->at.y;
}

/* Nothing is looked up any more. */
static void sort_tiles(struct tiles *tiles)
{
    if (tiles->count > 1) {
        qsort(tiles->list, tiles->count, sizeof *tiles->list, by_falling_count);
    }
}

/* The most that were under way at once, of those whose ends show; 0: none does. */
static uint64_t most_of(const struct nocap_noc_tile *t)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < 6; i++) {
        const struct nocap_noc_open *open = &t->open[i / 3][i % 3];
        most = open->ends && open->most > most ? open->most : most;
    }
    return most;
}

static const char *const networks[] = {"NOC 0", "NOC 1", "not given"};

static void print_row(FILE *out, const char *name, const struct nocap_noc_count *c)
{
    if (c->requests != 0) {
        fprintf(out, "  %-22s %12" PRIu64 " %16" PRIu64 " bytes\n", name, c->requests, c->bytes);
    }
}

static void print_tiles(FILE *out, const char *title, struct tiles *tiles, bool open)
{
    sort_tiles(tiles);
    bool all = tiles->count <= NOCAP_NOC_TILES_SHOWN;
    fprintf(out, "%s %zu%s\n", title, tiles->count, all ? "" : ", the busiest:");
    for (size_t i = 0; i < tiles->count && i < NOCAP_NOC_TILES_SHOWN; i++) {
        const struct nocap_noc_tile *t = &tiles->list[i];
        char name[40];
        snprintf(name, sizeof name, t->chip != 0 ? "%u,%u chip %u" : "%u,%u", t->at.x, t->at.y,
                 t->chip);
        fprintf(out, "  %-22s %12" PRIu64 " %16" PRIu64 " bytes", name, t->count.requests,
                t->count.bytes);
        if (open && most_of(t) != 0) {
            fprintf(out, ", at most %" PRIu64 " under way", most_of(t));
        }
        fputc('\n', out);
    }
}

static void print_sizes(FILE *out, const struct nocap_noc_stats *s)
{
    fputs("sizes\n", out);
    for (unsigned i = 0; i < NOCAP_NOC_SIZES; i++) {
        if (s->sizes[i] != 0) {
            char name[40];
            uint64_t low = i == 0 ? 0 : UINT64_C(1) << (i - 1);
            snprintf(name, sizeof name,
                     i == NOCAP_NOC_SIZES - 1 ? "%" PRIu64 " and more" : "%" PRIu64 " .. %" PRIu64,
                     low, (UINT64_C(1) << i) - 1);
            fprintf(out, "  %-22s %12" PRIu64 "  %5.1f %%\n", name, s->sizes[i],
                    100.0 * (double)s->sizes[i] / (double)s->all.requests);
        }
    }
    if (s->unsized != 0) {
        fprintf(out, "  %-22s %12" PRIu64 "\n", "not given", s->unsized);
    }
}

void nocap_noc_stats_print(FILE *out, struct nocap_noc_stats *s)
{
    fprintf(out, "requests of the NOC: %" PRIu64 ", %" PRIu64 " bytes, %" PRIu64 " posted\n",
            s->all.requests, s->all.bytes, s->posted);
    if (s->all.requests == 0) {
        return;
    }
    fputs("networks and types\n", out);
    for (unsigned noc = 0; noc <= NOCAP_NOC_UNKNOWN; noc++) {
        for (unsigned type = 0; type < NOCAP_NOC_TYPES; type++) {
            char name[40];
            snprintf(name, sizeof name, "%s %s", networks[noc],
                     nocap_op_name(NOCAP_OP_READ + type));
            print_row(out, name, &s->kinds[noc][type]);
        }
    }
    print_sizes(out, s);
    print_tiles(out, "initiators", &s->initiators, true);
    print_tiles(out, "targets", &s->targets, false);
    print_row(out, "many (multicast)", &s->multicasts);
    print_row(out, "not given", &s->nowhere);
}

static void put_count(struct nocap_json *json, const struct nocap_noc_count *c)
{
    nocap_json_number(json, "requests", c->requests);
    nocap_json_number(json, "bytes", c->bytes);
}

static void put_tiles(struct nocap_json *json, const char *key, struct tiles *tiles, bool open)
{
    sort_tiles(tiles);
    nocap_json_array(json, key);
    for (size_t i = 0; i < tiles->count; i++) {
        const struct nocap_noc_tile *t = &tiles->list[i];
        nocap_json_map(json, NULL);
        nocap_json_number(json, "chip", t->chip);
        nocap_json_number(json, "x", t->at.x);
        nocap_json_number(json, "y", t->at.y);
        put_count(json, &t->count);
        nocap_json_number_if(json, "most_under_way", open && most_of(t) != 0, most_of(t));
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

static void put_types(struct nocap_json *json, const struct nocap_noc_stats *s)
{
    nocap_json_array(json, "types");
    for (unsigned noc = 0; noc <= NOCAP_NOC_UNKNOWN; noc++) {
        for (unsigned type = 0; type < NOCAP_NOC_TYPES; type++) {
            if (s->kinds[noc][type].requests == 0) {
                continue;
            }
            nocap_json_map(json, NULL);
            nocap_json_number_if(json, "noc", noc != NOCAP_NOC_UNKNOWN, noc);
            nocap_json_text(json, "op", nocap_op_name(NOCAP_OP_READ + type));
            put_count(json, &s->kinds[noc][type]);
            nocap_json_map_end(json);
        }
    }
    nocap_json_array_end(json);
}

void nocap_noc_stats_json(struct nocap_json *json, const char *key, struct nocap_noc_stats *s)
{
    nocap_json_map(json, key);
    put_count(json, &s->all);
    nocap_json_number(json, "posted", s->posted);
    put_types(json, s);
    nocap_json_array(json, "sizes");
    for (unsigned i = 0; i < NOCAP_NOC_SIZES; i++) {
        if (s->sizes[i] != 0) {
            nocap_json_map(json, NULL);
            nocap_json_number(json, "from", i == 0 ? 0 : UINT64_C(1) << (i - 1));
            nocap_json_number(json, "requests", s->sizes[i]);
            nocap_json_map_end(json);
        }
    }
    nocap_json_array_end(json);
    nocap_json_number(json, "unsized", s->unsized);
    nocap_json_map(json, "multicasts");
    put_count(json, &s->multicasts);
    nocap_json_map_end(json);
    nocap_json_map(json, "without_target");
    put_count(json, &s->nowhere);
    nocap_json_map_end(json);
    put_tiles(json, "initiators", &s->initiators, true);
    put_tiles(json, "targets", &s->targets, false);
    nocap_json_map_end(json);
}
