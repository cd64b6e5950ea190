/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/compare/minimise.h"

#include <limits.h>
#include <string.h>

#include "base/temporary.h"
#include "checker/compare/cut.h"
#include "checker/compare/minimise_private.h"
#include "formats/blackhole/xy.h"

enum { PART_FIRST = 256, PART_STEP = 2, FINDINGS_MAX = 1000 };

/* One run: from the finding of the whole trace to the trace that is left. */
struct run {
    const char *path;
    const struct nocap_minimise_options *options;
    struct nocap_minimise_result *result;
    struct nocap_check_options check; /* of the whole trace and of each part */
    struct minimise_goal goal;
    char part[PATH_MAX];
};

static bool same(const struct nocap_finding *a, const struct nocap_finding *b)
{
    return a->rule == b->rule && a->chip == b->chip && nocap_xy_equal(a->at, b->at) &&
           a->agent == b->agent && a->thread == b->thread;
}

/* ---- the goal ---- */

static enum nocap_status take_goal(struct run *run, const struct nocap_report *report,
                                   struct nocap_error *err)
{
    static const enum nocap_rule of_file[] = {TRC_001, TRC_002, TRC_007};
    const struct nocap_minimise_options *o = run->options;
    const char *id = nocap_rules[o->rule].id;
    size_t i = 0;
    for (size_t k = 0; k < sizeof of_file / sizeof of_file[0]; k++) {
        RETURN_ERROR_IF(o->rule == of_file[k], err, NOCAP_E_USAGE,
                        "%s is about the file, not about its events: nothing to leave out", id);
    }
    while (i < report->finding_count && (report->findings[i].rule != o->rule ||
                                         (o->has_index && report->findings[i].index != o->index))) {
        i++;
    }
    RETURN_ERROR_IF(i == report->finding_count, err, NOCAP_E_USAGE,
                    "%s has no finding of %s%s%s: nocap check shows what it has", run->path, id,
                    o->has_index ? " at this event" : "",
                    report->truncated ? " before the place where it is cut short" : "");
    run->goal.finding = report->findings[i];
    for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
        run->goal.allowed[r] = report->rules[r].violations != 0;
        run->goal.most += report->rules[r].violations;
    }
    return NOCAP_OK;
}

static enum nocap_status find_goal(struct run *run, struct nocap_error *err)
{
    struct nocap_report *report;
    RETURN_ERROR_IF(strcmp(run->path, "-") == 0, err, NOCAP_E_USAGE,
                    "the trace is read several times: name a file");
    RETURN_IF_FAILED(nocap_check(&report, run->path, &run->check, err));
    run->result->before = report->events;
    enum nocap_status status = take_goal(run, report, err);
    nocap_report_free(report);
    return status;
}

/* Whether the trace has the finding, and none of rules that the whole one keeps. */
static enum nocap_status reaches_goal(const struct run *run, const char *path, bool *reached,
                                      uint64_t *events, struct nocap_error *err)
{
    struct nocap_report *report;
    uint64_t count = 0;
    RETURN_IF_FAILED(nocap_check(&report, path, &run->check, err));
    *reached = false;
    *events = report->events;
    for (size_t i = 0; i < report->finding_count; i++) {
        *reached |= same(&report->findings[i], &run->goal.finding);
    }
    for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
        count += report->rules[r].violations;
        *reached &= report->rules[r].violations == 0 || run->goal.allowed[r];
    }
    *reached &= count <= run->goal.most;
    nocap_report_free(report);
    return NOCAP_OK;
}

/* ---- the part before the finding ---- */

static enum nocap_status try_part(struct run *run, uint64_t before, uint64_t after, bool tile,
                                  bool *reached, struct nocap_error *err)
{
    const struct nocap_finding *finding = &run->goal.finding;
    const struct nocap_cut_options options = {
        .size = sizeof options,
        .has_index = true,
        .first_index = before < finding->index ? finding->index - before : 0,
        .last_index = after > UINT64_MAX - finding->index ? UINT64_MAX : finding->index + after,
        .has_tile = tile,
        .tile = finding->at,
        .unchecked = true,
        .dense = run->check.dense,
        .profile = run->check.profile,
    };
    struct nocap_cut_result cut;
    RETURN_IF_FAILED(nocap_cut(run->path, run->part, &options, &cut, err));
    return reaches_goal(run, run->part, reached, &run->result->part, err);
}

/* The shortest part of a row of longer and longer ones; of the tile alone if that is enough. */
static enum nocap_status try_parts(struct run *run, uint64_t after, bool *reached,
                                   struct nocap_error *err)
{
    bool all = false;
    for (uint64_t before = PART_FIRST; !all && !*reached; before *= PART_STEP) {
        all = before >= run->goal.finding.index;
        if (run->goal.finding.has_tile) {
            RETURN_IF_FAILED(try_part(run, all ? UINT64_MAX : before, after, true, reached, err));
        }
        if (!*reached) {
            RETURN_IF_FAILED(try_part(run, all ? UINT64_MAX : before, after, false, reached, err));
        }
    }
    return NOCAP_OK;
}

/* Ends with the finding if that is enough, else with the trace. */
static enum nocap_status find_part(struct run *run, struct nocap_error *err)
{
    bool reached = false;
    RETURN_IF_FAILED(try_parts(run, 0, &reached, err));
    if (!reached) {
        RETURN_IF_FAILED(try_parts(run, UINT64_MAX, &reached, err));
    }
    RETURN_ERROR_IF(!reached, err, NOCAP_E_INTERNAL,
                    "internal error: no part of the trace has the finding, not even all of it");
    return NOCAP_OK;
}

/* ---- what is left ---- */

static enum nocap_status write_set(const struct minimise_set *set, const char *path,
                                   struct nocap_error *err)
{
    struct nocap_writer *writer;
    RETURN_IF_FAILED(nocap_writer_open(&writer, path, &set->header, NULL, err));
    for (size_t i = 0; i < set->count; i++) {
        enum nocap_status status = nocap_writer_add(writer, &set->events[i], err);
        if (status != NOCAP_OK) {
            nocap_writer_abandon(writer);
            return status;
        }
    }
    return nocap_writer_close(writer, NULL, err);
}

static enum nocap_status shrink(struct run *run, const char *out_path, struct nocap_error *err)
{
    struct minimise_set set = {.goal = &run->goal, .check = &run->check, .result = run->result};
    bool reached = false;
    enum nocap_status status = minimise_load(&set, run->part, err);
    if (status == NOCAP_OK) {
        status = minimise_reduce(&set, err);
    }
    if (status == NOCAP_OK) {
        status = write_set(&set, out_path, err);
    }
    minimise_free(&set);
    if (status == NOCAP_OK) {
        status = reaches_goal(run, out_path, &reached, &run->result->after, err);
    }
    RETURN_IF_FAILED(status);
    RETURN_ERROR_IF(!reached, err, NOCAP_E_INTERNAL,
                    "internal error: the finding was lost on the way to the file");
    return NOCAP_OK;
}

enum nocap_status nocap_minimise(const char *path, const char *out_path,
                                 const struct nocap_minimise_options *options,
                                 struct nocap_minimise_result *result, struct nocap_error *err)
{
    struct run run = {.path = path,
                      .options = options,
                      .result = result,
                      .check = {.size = sizeof run.check,
                                .max_per_rule = FINDINGS_MAX,
                                .elf = options->elf,
                                .elf_count = options->elf_count,
                                .trust_paths = options->trust_paths,
                                .dense = options->dense,
                                .profile = options->profile,
                                .firmware_beside = path}};
    *result = (struct nocap_minimise_result){0};
    RETURN_IF_FAILED(find_goal(&run, err));
    RETURN_IF_FAILED(temporary_make(run.part, "nocap-minimise", err));
    enum nocap_status status = find_part(&run, err);
    if (status == NOCAP_OK) {
        status = shrink(&run, out_path, err);
    }
    temporary_remove(run.part);
    return status;
}
