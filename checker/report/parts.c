/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/report/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "base/json_node.h"
#include "base/list.h"
#include "base/regular_file.h"
#include "checker/core/findings.h"
#include "checker/report/journal.h"
#include "checker/report/report_read.h"

enum { REPORT_MAX = 1 << 30 };

/* What became of a waiver in any part. */
struct waiver {
    uint64_t line;
    bool used;
    char *id, *note; /* NULL: nothing to say */
};

/* A list of traces of which shards were made, or a report of its own. */
struct group {
    char *list; /* its hash; NULL: nothing else belongs to it */
    uint64_t base, traces;
    struct waiver *waivers; /* by line */
    size_t waiver_count;
    bool noted; /* a report has their notes */
};

struct part {
    struct nocap_result result;
    uint64_t at;
    size_t order;   /* in which it was taken: the last of a place counts */
    uint64_t *used; /* lines of waivers that it used, of a journal */
    size_t used_count;
};

struct nocap_parts {
    struct part *list;
    size_t count;
    struct group *groups;
    size_t group_count;
    uint64_t base; /* where the next group begins */
};

enum nocap_status nocap_parts_new(struct nocap_parts **parts, struct nocap_error *err)
{
    *parts = calloc(1, sizeof **parts);
    return *parts == NULL ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory") : NOCAP_OK;
}

static void result_free(struct nocap_result *result)
{
    free(result->path);
    free(result->error);
    nocap_report_free(result->report);
    *result = (struct nocap_result){0};
}

void nocap_parts_free(struct nocap_parts *parts)
{
    if (parts == NULL) {
        return;
    }
    for (size_t i = 0; i < parts->count; i++) {
        result_free(&parts->list[i].result);
        free(parts->list[i].used);
    }
    for (size_t i = 0; i < parts->group_count; i++) {
        for (size_t w = 0; w < parts->groups[i].waiver_count; w++) {
            free(parts->groups[i].waivers[w].id);
            free(parts->groups[i].waivers[w].note);
        }
        free(parts->groups[i].waivers);
        free(parts->groups[i].list);
    }
    free(parts->list);
    free(parts->groups);
    free(parts);
}

/* ---- what is taken ---- */

/* What is being read. */
struct intake {
    struct nocap_parts *parts;
    const char *path;
    size_t group;
    struct nocap_error *err;
};

static enum nocap_status out_of_memory(const struct intake *in)
{
    return nocap_fail(in->err, NOCAP_E_MEMORY, "out of memory for the reports");
}

/* The group of a list; `list` NULL: a new one for this file alone. */
static enum nocap_status find_group(struct intake *in, const char *list, uint64_t traces)
{
    struct nocap_parts *parts = in->parts;
    for (size_t i = 0; list != NULL && i < parts->group_count; i++) {
        if (parts->groups[i].list != NULL && strcmp(parts->groups[i].list, list) == 0 &&
            parts->groups[i].traces == traces) {
            in->group = i;
            return NOCAP_OK;
        }
    }
    struct group *next = LIST_NEXT(parts->groups, parts->group_count);
    char *copy = list != NULL ? strdup(list) : NULL;
    if (next == NULL || (list != NULL && copy == NULL)) {
        free(copy);
        return out_of_memory(in);
    }
    in->group = parts->group_count++;
    *next = (struct group){.list = copy, .base = parts->base, .traces = traces};
    parts->base += traces;
    return NOCAP_OK;
}

/* Takes the report over, unless it fails. `path` and `error` are copied. */
static enum nocap_status take(struct intake *in, uint64_t at, const char *path,
                              struct nocap_report *report, const char *error)
{
    struct nocap_parts *parts = in->parts;
    struct part part = {.result = {.path = foreign_copy(path),
                                   .error = report == NULL ? foreign_copy(error) : NULL},
                        .at = parts->groups[in->group].base + at,
                        .order = parts->count};
    if (part.result.path == NULL || (report == NULL && part.result.error == NULL)) {
        result_free(&part.result);
        return out_of_memory(in);
    }
    struct part *next = LIST_NEXT(parts->list, parts->count);
    if (next == NULL) {
        result_free(&part.result);
        return out_of_memory(in);
    }
    part.result.report = report;
    *next = part;
    parts->count++;
    return NOCAP_OK;
}

/* The waiver of a line, made if it is new; NULL without memory. */
static struct waiver *waiver_of(struct group *group, uint64_t line)
{
    size_t at = 0;
    while (at < group->waiver_count && group->waivers[at].line < line) {
        at++;
    }
    if (at == group->waiver_count || group->waivers[at].line != line) {
        if (LIST_NEXT(group->waivers, group->waiver_count) == NULL) {
            return NULL;
        }
        struct waiver *list = group->waivers;
        memmove(&list[at + 1], &list[at], (group->waiver_count - at) * sizeof *list);
        list[at] = (struct waiver){.line = line};
        group->waiver_count++;
    }
    return &group->waivers[at];
}

static bool note_used(struct part *part, struct waiver *waiver)
{
    uint64_t *line = part != NULL ? LIST_NEXT(part->used, part->used_count) : NULL;
    if (part == NULL) {
        waiver->used = true;
    } else if (line != NULL) {
        *line = waiver->line;
        part->used_count++;
    }
    return part == NULL || line != NULL;
}

/* A waiver without a note was used: by this part, of which it is not known yet whether it counts;
 * NULL: by what counts. */
static enum nocap_status take_waivers(struct intake *in, const struct json_node *rows,
                                      struct part *part)
{
    for (size_t i = 0; i < json_length(rows); i++) {
        uint64_t line = 0;
        const struct json_node *row = &rows->items[i];
        const char *id = json_member_string(row, "id"), *note = json_member_string(row, "note");
        bool known = json_member_whole(row, "line", &line);
        struct waiver *waiver = known ? waiver_of(&in->parts->groups[in->group], line) : NULL;
        RETURN_ERROR_IF(!known, in->err, NOCAP_E_INPUT, "%s: a waiver without its line", in->path);
        bool used = id == NULL || note == NULL;
        if (waiver == NULL || (used && !note_used(part, waiver))) {
            return out_of_memory(in);
        }
        if (id != NULL && note != NULL && waiver->note == NULL) {
            waiver->id = foreign_copy(id);
            waiver->note = foreign_copy(note);
        }
    }
    return NOCAP_OK;
}

/* ---- journals ---- */

static enum nocap_status take_entry(void *context, const struct nocap_journal_entry *entry,
                                    struct nocap_error *err)
{
    struct intake *in = context;
    struct nocap_report *report = NULL;
    if (entry->report != NULL) {
        RETURN_IF_FAILED(nocap_report_read(&report, entry->report, in->path, err));
    }
    enum nocap_status status = take(in, entry->at, entry->path, report, entry->unreadable);
    if (status != NOCAP_OK) {
        nocap_report_free(report);
    }
    struct nocap_parts *parts = in->parts;
    return status == NOCAP_OK ? take_waivers(in, entry->waivers, &parts->list[parts->count - 1])
                              : status;
}

static enum nocap_status read_journal(struct intake *in)
{
    char *list = NULL;
    uint64_t traces;
    RETURN_IF_FAILED(nocap_journal_list(in->path, &list, &traces, in->err));
    enum nocap_status status = find_group(in, list, traces);
    free(list);
    return status == NOCAP_OK ? nocap_journal_read(in->path, NULL, take_entry, in, in->err)
                              : status;
}

/* ---- reports ---- */

static enum nocap_status refuse(const struct intake *in, const char *why)
{
    return nocap_fail(
        in->err, NOCAP_E_INPUT,
        "%s: %s: merge takes what `nocap check` wrote with --format json or --journal", in->path,
        why);
}

static enum nocap_status take_report(struct intake *in, uint64_t at, const struct json_node *tree)
{
    struct nocap_report *report;
    RETURN_IF_FAILED(nocap_report_read(&report, tree, in->path, in->err));
    enum nocap_status status = take(in, at, report->path, report, NULL);
    if (status != NOCAP_OK) {
        nocap_report_free(report);
    }
    return status;
}

/* Where result `i` of a document stands in its list. */
static bool place_of(const struct json_node *at, size_t i, uint64_t traces, uint64_t *place)
{
    *place = i;
    return (at == NULL || json_whole(&at->items[i], place)) && *place < traces;
}

/* One result of a document: an unreadable one if its place says so, else the next report. */
static enum nocap_status take_next(struct intake *in, const struct json_node *reports,
                                   const struct json_node *unreadable, size_t next[2],
                                   uint64_t place)
{
    uint64_t at;
    const struct json_node *bad =
        next[1] < json_length(unreadable) ? &unreadable->items[next[1]] : NULL;
    if (bad != NULL && json_member_whole(bad, "at", &at) && at == next[0] + next[1]) {
        const char *path = json_member_string(bad, "path");
        const char *message = json_member_string(bad, "message");
        next[1]++;
        return path == NULL || message == NULL
                   ? refuse(in, "a member of \"unreadable\" is missing or wrong")
                   : take(in, place, path, NULL, message);
    }
    return next[0] == json_length(reports)
               ? refuse(in, "the members of \"unreadable\" have no place")
               : take_report(in, place, &reports->items[next[0]++]);
}

static enum nocap_status read_reports(struct intake *in, const struct json_node *tree)
{
    const struct json_node *reports = json_member(tree, "reports"),
                           *unreadable = json_member(tree, "unreadable");
    const struct json_node *shard = json_member(tree, "shard"), *at = json_member(shard, "at");
    size_t count = json_length(reports) + json_length(unreadable), next[2] = {0};
    uint64_t traces = count, place;
    const char *list = json_member_string(shard, "list");
    if (shard != NULL && (list == NULL || json_length(at) != count ||
                          !json_member_whole(shard, "traces", &traces))) {
        return refuse(in, "members of \"shard\" are missing or wrong");
    }
    RETURN_IF_FAILED(find_group(in, list, traces));
    for (size_t i = 0; i < count; i++) {
        if (!place_of(at, i, traces, &place)) {
            return refuse(in, "a place of \"shard\" is wrong");
        }
        RETURN_IF_FAILED(take_next(in, reports, unreadable, next, place));
    }
    return take_waivers(in, json_member(tree, "waivers"), NULL);
}

static enum nocap_status read_document(struct intake *in, const char *text)
{
    struct json_node *tree;
    enum nocap_status status = json_tree(&tree, text, in->path, in->err);
    if (status != NOCAP_OK) {
        return status == NOCAP_E_INPUT ? refuse(in, "it is not JSON") : status;
    }
    if (json_member(tree, "nocap_reports") != NULL) {
        status = read_reports(in, tree);
    } else if (json_member(tree, "nocap_report") != NULL) {
        status = find_group(in, NULL, 1);
        status = status == NOCAP_OK ? take_report(in, 0, tree) : status;
    } else {
        status = refuse(in, "it is not a report");
    }
    json_tree_free(tree);
    return status;
}

enum nocap_status nocap_parts_read(struct nocap_parts *parts, const char *path,
                                   struct nocap_error *err)
{
    struct intake in = {.parts = parts, .path = path, .err = err};
    struct regular_file file;
    uint8_t *text = NULL;
    if (nocap_journal_is(path)) {
        return read_journal(&in);
    }
    RETURN_IF_FAILED(regular_file_open(&file, path, REPORT_MAX, err));
    enum nocap_status status = regular_file_read(&file, path, &text, err);
    regular_file_close(&file);
    if (status == NOCAP_OK) {
        status = read_document(&in, (const char *)text);
    }
    free(text);
    return status;
}

/* ---- what is handed over ---- */

static int by_place(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->at != y->at ? (x->at < y->at ? -1 : 1) : (x->order < y->order ? -1 : 1);
}

/* As one run does: the first report of a list has what is to be said of its waivers. */
static enum nocap_status note_waivers(struct group *group, struct nocap_report *first,
                                      struct nocap_error *err)
{
    for (size_t i = 0; !group->noted && i < group->waiver_count; i++) {
        const struct waiver *w = &group->waivers[i];
        if (!w->used && w->note != NULL && w->id != NULL) {
            RETURN_IF_FAILED(nocap_report_add_note(first, w->id, w->note, err));
        }
    }
    group->noted = true;
    return NOCAP_OK;
}

/* The group of a place. */
static struct group *group_at(struct nocap_parts *parts, uint64_t at)
{
    size_t i = parts->group_count - 1;
    while (parts->groups[i].base > at) {
        i--;
    }
    return &parts->groups[i];
}

static bool is_last(const struct nocap_parts *parts, size_t i)
{
    return i + 1 == parts->count || parts->list[i + 1].at != parts->list[i].at;
}

static enum nocap_status count_used(struct nocap_parts *parts, struct nocap_error *err)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->list[i];
        for (size_t u = 0; is_last(parts, i) && u < part->used_count; u++) {
            struct waiver *waiver = waiver_of(group_at(parts, part->at), part->used[u]);
            RETURN_ERROR_IF(waiver == NULL, err, NOCAP_E_MEMORY, "out of memory");
            waiver->used = true;
        }
    }
    return NOCAP_OK;
}

enum nocap_status nocap_parts_results(struct nocap_parts *parts, struct nocap_results *results,
                                      uint64_t *missing, struct nocap_error *err)
{
    size_t count = 0;
    if (parts->count != 0) {
        qsort(parts->list, parts->count, sizeof *parts->list, by_place);
    }
    RETURN_IF_FAILED(count_used(parts, err));
    RETURN_IF_FAILED(nocap_results_new(results, parts->count, err));
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->list[i];
        if (!is_last(parts, i)) {
            continue;
        }
        if (part->result.report != NULL) {
            RETURN_IF_FAILED(note_waivers(group_at(parts, part->at), part->result.report, err));
        }
        results->list[count++] = part->result;
        part->result = (struct nocap_result){0};
    }
    results->count = count;
    *missing = parts->base - count;
    return NOCAP_OK;
}
