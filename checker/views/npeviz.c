/* SPDX-License-Identifier: Apache-2.0 */
/* For the viewer of NOC transfers that tt-metal users know: requests with their routes, and how
 * much of each link was in use. The form is version 1.0.0 of tt-npe's timeline; routes are those of
 * dimension-ordered routing. What a link carried is what was observed, spread evenly over the time
 * of each request, and no simulation. */
#include <stdlib.h>

#include "base/list.h"
#include "checker/views/view.h"
#include "formats/blackhole/tile_map.h"
#include "formats/blackhole/xy.h"

/* One request. */
struct transfer {
    uint64_t from, to, bytes; /* to: UINT64_MAX while it is open */
    uint16_t chip;
    uint8_t op, noc;
    bool mcast;
    struct nocap_xy src, dst, dst2;
};

enum link { LINK_EAST, LINK_SOUTH, LINK_NORTH, LINK_WEST, LINK_KINDS };
static const char *const link_names[LINK_KINDS] = {"NOC0_EAST", "NOC0_SOUTH", "NOC1_NORTH",
                                                   "NOC1_WEST"};
enum { LINKS = NOCAP_GRID_WIDTH * NOCAP_GRID_HEIGHT * LINK_KINDS, STEPS = 400, CHIPS = 64 };

struct npeviz {
    FILE *out;
    bool is_wormhole, out_of_memory;
    enum nocap_board board;
    unsigned columns, rows;
    struct transfer *transfers;
    size_t count;
    uint32_t *open; /* by track: number of its transfer + 1 */
    uint32_t tracks;
    uint64_t outside, unended, first, last;
};

/* ---- what is kept ---- */

static void track(void *view, uint32_t number, const struct nocap_track *t)
{
    struct npeviz *v = view;
    (void)t;
    while (v->tracks <= number) {
        if (LIST_NEXT(v->open, v->tracks) == NULL) {
            v->out_of_memory = true;
            return;
        }
        v->tracks++;
    }
}

static bool is_inside(const struct npeviz *v, struct nocap_xy at)
{
    return at.x < v->columns && at.y < v->rows;
}

/* Data goes from `src` to `dst`, so that of a read the initiator is the destination. */
static void add(struct npeviz *v, const struct nocap_event *e, uint64_t t, uint32_t number)
{
    bool reads = e->op == NOCAP_OP_READ, mcast = (e->has & NOCAP_F_D2) != 0;
    struct nocap_xy far = reads ? e->s : e->d;
    if (e->chip >= CHIPS || !is_inside(v, far) || !is_inside(v, e->at) ||
        (mcast && !is_inside(v, e->d2))) {
        v->outside++;
        return;
    }
    struct transfer *transfer = LIST_NEXT(v->transfers, v->count);
    v->out_of_memory |= transfer == NULL;
    if (transfer == NULL) {
        return;
    }
    *transfer = (struct transfer){.from = t,
                                  .to = number != 0 ? UINT64_MAX : t,
                                  .bytes = e->size,
                                  .chip = e->chip,
                                  .op = e->op,
                                  .noc = e->noc,
                                  .mcast = mcast,
                                  .src = reads ? far : e->at,
                                  .dst = reads ? e->at : far,
                                  .dst2 = mcast   ? e->d2
                                          : reads ? e->at
                                                  : far};
    v->count++;
    if (number != 0 && number < v->tracks) {
        v->open[number] = (uint32_t)v->count;
    }
}

static void begin(void *view, uint32_t number, uint64_t t, const struct nocap_mark *mark)
{
    if (mark->request != NULL) {
        add(view, mark->request, t, number);
    }
}

static void end(void *view, uint32_t number, uint64_t t)
{
    struct npeviz *v = view;
    if (number < v->tracks && v->open[number] != 0) {
        v->transfers[v->open[number] - 1].to = t;
        v->open[number] = 0;
    }
}

/* A posted one: nothing tells when it is over. */
static void instant(void *view, uint32_t number, uint64_t t, const struct nocap_mark *mark)
{
    (void)number;
    if (mark->request != NULL) {
        add(view, mark->request, t, 0);
    }
}

static void value(void *view, uint32_t number, uint64_t t, uint64_t v,
                  const struct nocap_mark *mark)
{
    (void)view;
    (void)number;
    (void)t;
    (void)v;
    (void)mark;
}

static int by_start(const void *a, const void *b)
{
    const struct transfer *p = a, *q = b;
    return (p->from > q->from) - (p->from < q->from);
}

/* ---- routes ---- */

/* Which links a request uses, each once. */
struct route {
    uint16_t links[LINKS];
    unsigned count;
    bool used[LINKS];
};

static void use(const struct npeviz *v, struct route *route, unsigned x, unsigned y, enum link kind)
{
    unsigned link = (y * v->columns + x) * LINK_KINDS + kind;
    if (!route->used[link]) {
        route->used[link] = true;
        route->links[route->count++] = (uint16_t)link;
    }
}

/* NOC 0 goes east, then south; NOC 1 north, then west; over the edge to the other side. */
static void go(const struct npeviz *v, struct route *route, unsigned noc, struct nocap_xy from,
               struct nocap_xy to)
{
    unsigned x = from.x, y = from.y;
    for (; noc == 0 && x != to.x; x = (x + 1) % v->columns) {
        use(v, route, x, y, LINK_EAST);
    }
    for (; noc == 0 && y != to.y; y = (y + 1) % v->rows) {
        use(v, route, x, y, LINK_SOUTH);
    }
    for (; noc != 0 && y != to.y; y = (y + v->rows - 1) % v->rows) {
        use(v, route, x, y, LINK_NORTH);
    }
    for (; noc != 0 && x != to.x; x = (x + v->columns - 1) % v->columns) {
        use(v, route, x, y, LINK_WEST);
    }
}

/* A multicast follows the first dimension once, and branches along the second. */
static void find_route(const struct npeviz *v, const struct transfer *t, struct route *route)
{
    *route = (struct route){.count = 0};
    unsigned x0 = t->dst.x < t->dst2.x ? t->dst.x : t->dst2.x, x1 = t->dst.x ^ t->dst2.x ^ x0;
    unsigned y0 = t->dst.y < t->dst2.y ? t->dst.y : t->dst2.y, y1 = t->dst.y ^ t->dst2.y ^ y0;
    if (t->noc == 0) {
        for (unsigned x = x0; x <= x1; x++) {
            go(v, route, 0, t->src, (struct nocap_xy){(uint8_t)x, (uint8_t)y1});
        }
    } else {
        for (unsigned y = y0; y <= y1; y++) {
            go(v, route, 1, t->src, (struct nocap_xy){(uint8_t)x0, (uint8_t)y});
        }
    }
}

/* ---- the file ---- */

/* Coordinates are device, row, column. */
static void put_place(FILE *out, unsigned chip, unsigned x, unsigned y)
{
    fprintf(out, "[%u,%u,%u]", chip, y, x);
}

static void put_destinations(const struct npeviz *v, const struct transfer *t)
{
    unsigned x0 = t->dst.x < t->dst2.x ? t->dst.x : t->dst2.x, x1 = t->dst.x ^ t->dst2.x ^ x0;
    unsigned y0 = t->dst.y < t->dst2.y ? t->dst.y : t->dst2.y, y1 = t->dst.y ^ t->dst2.y ^ y0;
    bool any = false;
    fputs("\"dst\":[", v->out);
    for (unsigned y = y0; y <= y1; y++) {
        for (unsigned x = x0; x <= x1; x++) {
            const struct nocap_xy at = {(uint8_t)x, (uint8_t)y};
            if (t->mcast && !v->is_wormhole && !nocap_is_tensix_tile(v->board, at)) {
                continue;
            }
            fputs(any ? "," : "", v->out);
            put_place(v->out, t->chip, x, y);
            any = true;
        }
    }
    fputs("],", v->out);
}

static void put_links(const struct npeviz *v, const struct transfer *t)
{
    struct route route;
    find_route(v, t, &route);
    fprintf(v->out, "\"links\":[[%u,%u,%u,\"NOC%u_IN\"]", t->chip, t->src.y, t->src.x, t->noc);
    for (unsigned i = 0; i < route.count; i++) {
        unsigned place = route.links[i] / LINK_KINDS;
        fprintf(v->out, ",[%u,%u,%u,\"%s\"]", t->chip, place / v->columns, place % v->columns,
                link_names[route.links[i] % LINK_KINDS]);
    }
    fprintf(v->out, ",[%u,%u,%u,\"NOC%u_OUT\"]]", t->chip, t->dst2.y, t->dst2.x, t->noc);
}

static const char *type_of(const struct transfer *t)
{
    return t->op == NOCAP_OP_READ     ? "READ"
           : t->op == NOCAP_OP_ATOMIC ? "SEMAPHORE_INC"
           : t->mcast                 ? "WRITE_MULTICAST"
                                      : "WRITE_";
}

static void put_times(const struct npeviz *v, const struct transfer *t)
{
    fprintf(v->out, "\"start_cycle\":%llu,\"end_cycle\":%llu,",
            (unsigned long long)(t->from - v->first), (unsigned long long)(t->to - v->first));
}

static void put_transfers(const struct npeviz *v)
{
    fputs("\"noc_transfers\":[", v->out);
    for (size_t i = 0; i < v->count; i++) {
        const struct transfer *t = &v->transfers[i];
        uint64_t time = t->to > t->from ? t->to - t->from : 1;
        fprintf(v->out, "%s\n{\"id\":%zu,\"src\":", i != 0 ? "," : "", i);
        put_place(v->out, t->chip, t->src.x, t->src.y);
        fprintf(v->out, ",\"total_bytes\":%llu,", (unsigned long long)t->bytes);
        put_times(v, t);
        fprintf(v->out, "\"noc_event_type\":\"%s\",\"fabric_event_type\":false,\"zones\":\"\",",
                type_of(t));
        put_destinations(v, t);
        fprintf(v->out, "\"route\":[{\"device_id\":%u,\"src\":", t->chip);
        put_place(v->out, t->chip, t->src.x, t->src.y);
        fputc(',', v->out);
        put_destinations(v, t);
        fprintf(v->out, "\"noc_type\":\"NOC%u\",\"injection_rate\":%.2f,", t->noc,
                (double)t->bytes / (double)time);
        put_times(v, t);
        put_links(v, t);
        fputs("}]}", v->out);
    }
    fputs("],\n\"zones\":[],\n", v->out);
}

/* ---- use over time ---- */

/* Bytes of a step, by chip and link; and who is under way. */
struct step {
    double links[CHIPS][LINKS];
    uint32_t *active;
    size_t active_count;
};

/* The transfer's bytes that fall into from..to, `to` not included. */
static double share(const struct transfer *t, uint64_t from, uint64_t to)
{
    uint64_t begins = t->from > from ? t->from : from, ends = t->to < to ? t->to : to;
    if (t->to == t->from) {
        return (double)t->bytes;
    }
    return (double)t->bytes * (double)(ends - begins) / (double)(t->to - t->from);
}

static void put_active(const struct npeviz *v, struct step *s, uint64_t from, uint64_t to)
{
    struct route route;
    size_t kept = 0;
    fputs("\"active_transfers\":[", v->out);
    for (size_t i = 0; i < s->active_count; i++) {
        const struct transfer *t = &v->transfers[s->active[i]];
        fprintf(v->out, "%s%u", i != 0 ? "," : "", s->active[i]);
        find_route(v, t, &route);
        for (unsigned l = 0; l < route.count; l++) {
            s->links[t->chip][route.links[l]] += share(t, from, to);
        }
        if (t->to >= to) {
            s->active[kept++] = s->active[i];
        }
    }
    s->active_count = kept;
    fputs("],", v->out);
}

/* In percent of what a link can carry. */
static void put_demand(const struct npeviz *v, struct step *s, uint64_t length)
{
    const double bytes_a_cycle = v->is_wormhole ? 30.0 : 60.9;
    double sum = 0;
    bool any = false;
    fputs("\"link_demand\":[", v->out);
    for (unsigned chip = 0; chip < CHIPS; chip++) {
        for (unsigned l = 0; l < v->columns * v->rows * LINK_KINDS; l++) {
            double percent = 100 * s->links[chip][l] / (bytes_a_cycle * (double)length);
            sum += percent;
            if (percent >= 0.001) {
                unsigned place = l / LINK_KINDS;
                fprintf(v->out, "%s[%u,%u,%u,\"%s\",%.3f]", any ? "," : "", chip,
                        place / v->columns, place % v->columns, link_names[l % LINK_KINDS],
                        percent);
                any = true;
            }
            s->links[chip][l] = 0;
        }
    }
    fprintf(v->out, "],\"avg_link_demand\":%.4f,\"avg_link_util\":%.4f}",
            sum / (v->columns * v->rows * LINK_KINDS), sum / (v->columns * v->rows * LINK_KINDS));
}

static void put_steps(const struct npeviz *v, struct step *s, uint64_t length)
{
    size_t next = 0;
    fputs("\"timestep_data\":[", v->out);
    for (uint64_t from = v->first; next < v->count || s->active_count != 0; from += length) {
        while (next < v->count && v->transfers[next].from < from + length) {
            s->active[s->active_count++] = (uint32_t)next++;
        }
        fprintf(v->out, "%s\n{\"start_cycle\":%llu,\"end_cycle\":%llu,",
                from != v->first ? "," : "", (unsigned long long)(from - v->first),
                (unsigned long long)(from + length - v->first));
        put_active(v, s, from, from + length);
        put_demand(v, s, length);
    }
    fputs("]}\n", v->out);
}

static void put_head(const struct npeviz *v, uint64_t length)
{
    bool chips[CHIPS] = {false};
    bool any = false;
    for (size_t i = 0; i < v->count; i++) {
        chips[v->transfers[i].chip] = true;
    }
    fprintf(v->out,
            "{\"common_info\":{\"version\":\"1.0.0\",\"mesh_device\":\"%s\",\"arch\":\"%s\","
            "\"cycles_per_timestep\":%llu,\"congestion_model_name\":\"none\",\"num_rows\":%u,"
            "\"num_cols\":%u},\n\"chips\":{",
            v->is_wormhole                 ? "wormhole_b0"
            : v->board == NOCAP_BOARD_P100 ? "P100"
                                           : "P150",
            v->is_wormhole ? "wormhole_b0" : "blackhole", (unsigned long long)length, v->rows,
            v->columns);
    for (unsigned chip = 0; chip < CHIPS; chip++) {
        if (chips[chip]) {
            fprintf(v->out, "%s\"%u\":[%u,0,0,0]", any ? "," : "", chip, chip);
            any = true;
        }
    }
    fputs(any ? "},\n" : "\"0\":[0,0,0,0]},\n", v->out);
}

/* What is open lasts to the end. */
static void close_open(struct npeviz *v, uint64_t last)
{
    v->first = v->count != 0 ? v->transfers[0].from : 0;
    v->last = v->first;
    for (size_t i = 0; i < v->count; i++) {
        struct transfer *t = &v->transfers[i];
        v->unended += t->to == UINT64_MAX;
        t->to = t->to != UINT64_MAX ? t->to : last > t->from ? last : t->from;
        v->last = t->to > v->last ? t->to : v->last;
    }
}

static void fill_result(const struct npeviz *v, struct nocap_export_result *result)
{
    char *text = result->text;
    size_t room = sizeof result->text;
    int at = 0;
    if (v->outside != 0) {
        at = snprintf(text, room,
                      "%llu transfers are left out: they begin or end beyond the NOC's grid, at "
                      "translated coordinates",
                      (unsigned long long)v->outside);
    }
    if (v->unended != 0) {
        snprintf(text + at, room - (size_t)at,
                 "%sof %llu transfers nothing shows the end: they last as long as the trace",
                 at != 0 ? "; " : "", (unsigned long long)v->unended);
    }
    result->missing = text[0] != '\0' ? text : NULL;
    result->empty = v->count == 0 ? "there is no request of a network interface on the grid" : NULL;
}

static enum nocap_status finish(void *view, const struct view_end *e,
                                struct nocap_export_result *result, struct nocap_error *err)
{
    struct npeviz *v = view;
    RETURN_ERROR_IF(v->out_of_memory, err, NOCAP_E_MEMORY, "out of memory");
    if (v->count != 0) {
        qsort(v->transfers, v->count, sizeof *v->transfers, by_start);
    }
    close_open(v, e->hang->report->t_last);
    uint64_t length = (v->last - v->first) / STEPS + 1;
    struct step *s = calloc(1, sizeof *s);
    uint32_t *active = calloc(v->count + 1, sizeof *active);
    enum nocap_status status = NOCAP_OK;
    if (s == NULL || active == NULL) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    } else {
        s->active = active;
        put_head(v, length);
        put_transfers(v);
        put_steps(v, s, length);
    }
    fill_result(v, result);
    free(active);
    free(s);
    return status;
}

/* ---- the view ---- */

static void header(void *view, const struct nocap_header *h)
{
    struct npeviz *v = view;
    v->is_wormhole = h->arch == NOCAP_ARCH_WORMHOLE;
    v->board = h->board;
    v->columns = v->is_wormhole ? 10 : NOCAP_GRID_WIDTH;
    v->rows = v->is_wormhole ? 12 : NOCAP_GRID_HEIGHT;
}

static void *open_view(FILE *out)
{
    struct npeviz *v = calloc(1, sizeof *v);
    if (v != NULL) {
        v->out = out;
    }
    return v;
}

static void close_view(void *view)
{
    struct npeviz *v = view;
    free(v->transfers);
    free(v->open);
    free(v);
}

const struct view_ops view_npeviz = {
    .items = {.track = track, .begin = begin, .end = end, .instant = instant, .value = value},
    .open = open_view,
    .header = header,
    .finish = finish,
    .close = close_view,
};
