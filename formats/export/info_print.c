/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/foreign_text.h"
#include "base/json_text.h"
#include "formats/export/info.h"
#include "formats/trace/jsonl.h"

static const char *damage_name(enum nocap_damage_kind kind)
{
    switch (kind) {
    case NOCAP_DAMAGE_CUT: return "cut short";
    case NOCAP_DAMAGE_BLOCK: return "damaged block";
    case NOCAP_DAMAGE_COUNTS: return "counts disagree";
    }
    return "?";
}

static unsigned source_count(const struct nocap_info *info)
{
    unsigned n = 0;
    for (size_t i = 0; i < sizeof info->sources / sizeof info->sources[0]; i++) {
        n += (unsigned)__builtin_popcountll(info->sources[i]);
    }
    return n;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0.0 : (double)part / (double)whole;
}

/* ---- text ---- */

static void print_safe(FILE *out, const char *before, const char *text)
{
    fputs(before, out);
    foreign_put(out, text);
}

static void print_header(FILE *out, const struct nocap_header *h)
{
    const char *board = nocap_board_name(h->board);
    fprintf(out, "machine    %s%s%s", nocap_arch_name(h->arch), board != NULL ? " " : "",
            board != NULL ? board : "");
    if (h->layout != NULL || h->arch == NOCAP_ARCH_BLACKHOLE) {
        print_safe(out, ", layout ", h->layout != NULL ? h->layout : "bh-launch96 (not given)");
    }
    print_safe(out, "\nproducer   ", h->producer != NULL ? h->producer : "(not given)");
    fprintf(out, "\ncapture    %s, %s\n",
            h->complete == NOCAP_TRUE ? "complete from power-on" : "attached mid-run",
            h->cycle_accurate == NOCAP_TRUE ? "cycle-accurate" : "not cycle-accurate");
    fputs("observes  ", out);
    for (size_t i = 0; nocap_header_observed(h, i) != NULL; i++) {
        print_safe(out, " ", nocap_header_observed(h, i));
    }
    fputs(h->has_observes ? "\n" : " (not given)\n", out);
    fputs("scope     ", out);
    if (!h->has_scope) {
        fputs(" all cores", out);
    }
    for (size_t i = 0; i < h->scope_count && i < NOCAP_INFO_TILES_SHOWN; i++) {
        fprintf(out, " %u,%u", h->scope[i].x, h->scope[i].y);
    }
    if (h->scope_count > NOCAP_INFO_TILES_SHOWN) {
        fprintf(out, " .. (%zu cores)", h->scope_count);
    }
    fputc('\n', out);
    for (size_t i = 0; i < h->firmware_count; i++) {
        print_safe(out, "firmware   ", h->firmware[i].core);
        print_safe(out, ": ", h->firmware[i].path);
        fputc('\n', out);
    }
}

static void print_integrity(FILE *out, const struct nocap_reader *reader)
{
    const struct nocap_integrity *integrity = nocap_reader_integrity(reader);
    if (integrity->count == 0) {
        fputs("integrity  whole\n", out);
        return;
    }
    fprintf(out, "integrity  damaged, %zu place%s\n", integrity->count,
            integrity->count == 1 ? "" : "s");
    for (size_t i = 0; i < integrity->count && i < NOCAP_DAMAGE_KEPT; i++) {
        const struct nocap_damage *d = &integrity->damage[i];
        foreign_line(out, "  %s at event %" PRIu64 ", byte %" PRIu64 ": %s", damage_name(d->kind),
                     d->index, d->offset, d->text);
    }
    if (integrity->count > NOCAP_DAMAGE_KEPT) {
        fprintf(out, "  and %zu more\n", integrity->count - NOCAP_DAMAGE_KEPT);
    }
}

static void print_count(FILE *out, const char *name, uint64_t count, uint64_t events)
{
    if (count != 0) {
        fprintf(out, "  %-12s %12" PRIu64 "  %5.1f %%\n", name, count,
                100.0 * share(count, events));
    }
}

static void print_tiles(FILE *out, const struct nocap_info *info)
{
    size_t shown =
        info->tile_count < NOCAP_INFO_TILES_SHOWN ? info->tile_count : NOCAP_INFO_TILES_SHOWN;
    fprintf(out, "cores      %zu%s\n", info->tile_count,
            shown < info->tile_count ? ", the busiest:" : "");
    for (size_t i = 0; i < shown; i++) {
        const struct nocap_info_tile *tile = &info->tiles[i];
        char name[32];
        snprintf(name, sizeof name, tile->chip != 0 ? "%u,%u chip %u" : "%u,%u", tile->at.x,
                 tile->at.y, tile->chip);
        print_count(out, name, tile->count, info->events);
    }
    print_count(out, "further ones", info->other_tiles, info->events);
    print_count(out, "no core", info->without_tile, info->events);
}

static void print_size(FILE *out, const struct nocap_info *info, const struct nocap_info_file *file,
                       const struct nocap_reader *reader)
{
    struct nocap_trace_totals totals;
    if (file->bytes != 0) {
        fprintf(out, "size       %" PRIu64 " bytes", file->bytes);
        if (info->events != 0) {
            fprintf(out, ", %.2f an event", share(file->bytes, info->events));
        }
        fputs(file->imported ? ", JSON Lines\n" : "\n", out);
    }
    if (!file->imported && nocap_reader_totals(reader, &totals)) {
        fprintf(out, "blocks     %" PRIu64 "\n", totals.blocks);
    }
}

void nocap_info_print_text(FILE *out, const struct nocap_info *info,
                           const struct nocap_info_file *file, const struct nocap_reader *reader,
                           struct nocap_noc_stats *noc)
{
    const struct nocap_header *header = nocap_reader_header(reader);
    foreign_line(out, "trace      %s", file->path);
    print_header(out, header);
    if (file->profile != NULL) {
        foreign_line(out, "profile    %s, mailbox %s: %s", file->profile, file->mailbox, file->why);
    }
    fprintf(out, "events     %" PRIu64 " of %u source%s\n", info->events, source_count(info),
            source_count(info) == 1 ? "" : "s");
    if (info->events != 0) {
        fprintf(out, "time       %" PRIu64 " .. %" PRIu64 " %s, %s\n", info->t_first, info->t_last,
                nocap_time_unit_name(header->time_unit),
                nocap_reader_time_ordered(reader) ? "in order" : "not in order");
    }
    print_size(out, info, file, reader);
    print_integrity(out, reader);
    if (info->dropped != 0) {
        fprintf(out, "lost       %" PRIu64 " events, as the capture says\n", info->dropped);
    }
    fputs("kinds\n", out);
    for (unsigned i = 0; i < NOCAP_EV_COUNT; i++) {
        print_count(out, nocap_kind_name(i), info->kinds[i], info->events);
    }
    fputs("agents\n", out);
    for (unsigned i = 1; i <= UINT8_MAX; i++) {
        print_count(out, nocap_agent_name(i), info->agents[i], info->events);
    }
    print_tiles(out, info);
    if (noc != NULL) {
        nocap_noc_stats_print(out, noc);
    }
}

/* ---- JSON ---- */

static void put_counts(struct nocap_json *json, const char *key, const uint64_t *counts, unsigned n,
                       const char *(*name)(unsigned))
{
    nocap_json_map(json, key);
    for (unsigned i = 0; i < n; i++) {
        nocap_json_number_if(json, name(i), counts[i] != 0, counts[i]);
    }
    nocap_json_map_end(json);
}

static void put_tiles(struct nocap_json *json, const struct nocap_info *info)
{
    nocap_json_array(json, "tiles");
    for (size_t i = 0; i < info->tile_count && i < NOCAP_INFO_TILES_SHOWN; i++) {
        nocap_json_map(json, NULL);
        nocap_json_number(json, "chip", info->tiles[i].chip);
        nocap_json_number(json, "x", info->tiles[i].at.x);
        nocap_json_number(json, "y", info->tiles[i].at.y);
        nocap_json_number(json, "events", info->tiles[i].count);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
    nocap_json_number(json, "tile_count", info->tile_count);
}

static void put_integrity(struct nocap_json *json, const struct nocap_integrity *integrity)
{
    nocap_json_number(json, "damages", integrity->count);
    nocap_json_array(json, "damage");
    for (size_t i = 0; i < integrity->count && i < NOCAP_DAMAGE_KEPT; i++) {
        const struct nocap_damage *d = &integrity->damage[i];
        nocap_json_map(json, NULL);
        nocap_json_text(json, "kind", damage_name(d->kind));
        nocap_json_number(json, "index", d->index);
        nocap_json_number(json, "offset", d->offset);
        nocap_json_text(json, "text", d->text);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

/* Leaves the object open. */
static void put_info(struct nocap_json *json, const struct nocap_info *info,
                     const struct nocap_info_file *file, const struct nocap_reader *reader,
                     const struct nocap_text *header)
{
    struct nocap_trace_totals totals;
    nocap_json_map(json, NULL);
    nocap_json_number(json, "nocap_info", 1);
    nocap_json_text(json, "path", file->path);
    nocap_json_raw(json, "header", header->data, header->size - 1); /* without its newline */
    if (file->profile != NULL) {
        nocap_json_map(json, "profile");
        nocap_json_text(json, "name", file->profile);
        nocap_json_text(json, "mailbox", file->mailbox);
        nocap_json_text(json, "why", file->why);
        nocap_json_map_end(json);
    }
    nocap_json_number(json, "events", info->events);
    nocap_json_number(json, "sources", source_count(info));
    if (info->events != 0) {
        nocap_json_number(json, "t_first", info->t_first);
        nocap_json_number(json, "t_last", info->t_last);
    }
    nocap_json_bool(json, "time_ordered", nocap_reader_time_ordered(reader));
    nocap_json_number_if(json, "bytes", file->bytes != 0, file->bytes);
    if (!file->imported && nocap_reader_totals(reader, &totals)) {
        nocap_json_number(json, "blocks", totals.blocks);
    }
    put_integrity(json, nocap_reader_integrity(reader));
    nocap_json_number(json, "dropped", info->dropped);
    nocap_json_number(json, "multicasts", info->multicasts);
    put_counts(json, "kinds", info->kinds, NOCAP_EV_COUNT, nocap_kind_name);
    put_counts(json, "agents", info->agents, UINT8_MAX + 1, nocap_agent_name);
    put_tiles(json, info);
}

enum nocap_status nocap_info_print_json(FILE *out, const struct nocap_info *info,
                                        const struct nocap_info_file *file,
                                        const struct nocap_reader *reader,
                                        struct nocap_noc_stats *noc, struct nocap_error *err)
{
    struct nocap_text header = {0};
    struct nocap_json json;
    enum nocap_status status = nocap_jsonl_print_header(&header, nocap_reader_header(reader), err);
    if (status == NOCAP_OK) {
        status = nocap_json_open(&json, out, err);
    }
    if (status == NOCAP_OK) {
        put_info(&json, info, file, reader, &header);
        if (noc != NULL) {
            nocap_noc_stats_json(&json, "noc", noc);
        }
        nocap_json_map_end(&json);
        status = nocap_json_close(&json, err);
    }
    free(header.data);
    return status;
}
