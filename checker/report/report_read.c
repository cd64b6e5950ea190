/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/report/report_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "checker/core/findings.h"

/* 0 if there is none. */
static uint64_t count_of(const struct json_node *object, const char *key)
{
    uint64_t value;
    return json_member_whole(object, key, &value) ? value : 0;
}

static bool is_true(const struct json_node *object, const char *key)
{
    return json_is(json_member(object, key), JSON_TRUE);
}

/* Which of `count` names the text is; -1: none, or no text. */
static int name_of(const char *text, unsigned count, const char *name(unsigned i))
{
    for (unsigned i = 0; text != NULL && i < count; i++) {
        if (strcmp(text, name(i)) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static const char *severity(unsigned i)
{
    return nocap_severity_name((enum nocap_severity)i);
}

static const char *verdict(unsigned i)
{
    return nocap_verdict_name((enum nocap_verdict)i);
}

static const char *obstacle(unsigned i)
{
    return nocap_obstacle_name((enum nocap_obstacle)i);
}

static const char *class_name(unsigned i)
{
    return nocap_class_name((enum nocap_class_bit)i);
}

struct source {
    const char *name;
    struct nocap_error *err;
};

static enum nocap_status refuse(const struct source *source, const char *what)
{
    return nocap_fail(source->err, NOCAP_E_INPUT,
                      "%s: %s: this is not a whole report that `nocap check --format json` of this "
                      "version wrote of a trace",
                      source->name, what);
}

static bool read_trace(struct nocap_report *report, const struct json_node *trace)
{
    const char *path = json_member_string(trace, "path"), *arch = json_member_string(trace, "arch"),
               *unit = json_member_string(trace, "time_unit");
    int arch_id = arch != NULL ? nocap_arch_from_name(arch) : -1;
    int unit_id = unit != NULL ? nocap_time_unit_from_name(unit) : -1;
    const char *board = json_member_string(trace, "board");
    int board_id = board != NULL ? nocap_board_from_name(board) : NOCAP_BOARD_UNKNOWN;
    report->path = path != NULL ? foreign_copy(path) : NULL;
    report->board = board_id > 0 ? (enum nocap_board)board_id : NOCAP_BOARD_UNKNOWN;
    report->arch = (enum nocap_arch)arch_id;
    report->time_unit = (enum nocap_time_unit)unit_id;
    report->clock_hz = count_of(trace, "clock_hz");
    report->begins_at = count_of(trace, "begins_at");
    report->truncated = is_true(trace, "truncated");
    report->cut_after = count_of(trace, "cut_after");
    return report->path != NULL && arch_id >= 0 && unit_id >= 0 &&
           json_member_whole(trace, "events", &report->events) &&
           json_member_whole(trace, "t_first", &report->t_first) &&
           json_member_whole(trace, "t_last", &report->t_last) &&
           json_member_whole(trace, "dropped", &report->dropped);
}

static bool read_summary(struct nocap_report *report, const struct json_node *summary)
{
    bool whole = true;
    for (unsigned s = 0; s < NOCAP_SEVERITY_COUNT; s++) {
        whole &= json_member_whole(summary, severity(s), &report->counts[s]);
    }
    const char *reason = json_member_string(summary, "reason");
    report->untouched = reason != NULL && strcmp(reason, "tile-not-touched") == 0;
    report->outside = reason != NULL && strcmp(reason, "time-not-reached") == 0;
    return whole && json_member_whole(summary, "waived", &report->waived) &&
           json_member_whole(summary, "known", &report->known);
}

static uint32_t classes_of(const struct json_node *array)
{
    uint32_t classes = 0;
    for (size_t i = 0; i < json_length(array); i++) {
        const struct json_node *v = &array->items[i];
        int bit = name_of(json_string(v), NOCAP_CLASS_COUNT, class_name);
        classes |= bit >= 0 ? 1u << bit : 0;
    }
    return classes;
}

static bool read_rule(struct nocap_rule_report rules[NOCAP_RULE_COUNT], const struct json_node *row)
{
    const char *id = json_member_string(row, "id"), *why = json_member_string(row, "obstacle");
    int rule = id != NULL ? nocap_rule_from_id(id) : -1;
    int given = name_of(json_member_string(row, "verdict"), NOCAP_VERDICT_COUNT, verdict);
    int in_the_way = why != NULL ? name_of(why, NOCAP_OBSTACLE_COUNT, obstacle) : 0;
    const struct json_node *selected = json_member(row, "selected");
    if (rule < 0 || given < 0 || in_the_way < 0) {
        return false;
    }
    rules[rule] = (struct nocap_rule_report){
        .verdict = (enum nocap_verdict)given,
        .obstacle = (enum nocap_obstacle)in_the_way,
        .missing = classes_of(json_member(row, "missing")),
        .missing_any = classes_of(json_member(row, "missing_any")),
        .selected = !json_is(selected, JSON_FALSE),
        .waived = count_of(row, "waived"),
        .known = count_of(row, "known"),
    };
    return json_member_whole(row, "exercised", &rules[rule].exercised) &&
           json_member_whole(row, "violations", &rules[rule].violations);
}

/* Every rule of this version stands there, once. */
static bool read_rules(struct nocap_report *report, const struct json_node *rules)
{
    bool whole = json_length(rules) == NOCAP_RULE_COUNT;
    for (size_t i = 0; whole && i < NOCAP_RULE_COUNT; i++) {
        const char *id = json_member_string(&rules->items[i], "id");
        whole = id != NULL && nocap_rule_from_id(id) == (int)i &&
                read_rule(report->rules, &rules->items[i]);
    }
    return whole;
}

/* A copy of a text that must be there. */
static bool copy(char **copy, const struct json_node *object, const char *key)
{
    const char *text = json_member_string(object, key);
    *copy = text != NULL ? foreign_copy(text) : NULL;
    return *copy != NULL;
}

static bool read_place(struct nocap_finding *finding, const struct json_node *v)
{
    uint64_t chip, x = 0, y = 0, thread = 0;
    const char *agent = json_member_string(v, "agent");
    int by = agent != NULL ? nocap_agent_from_name(agent, (unsigned)strlen(agent)) : NOCAP_BY_NONE;
    bool has_thread = json_member_whole(v, "thread", &thread);
    finding->has_tile =
        json_member_whole(v, "x", &x) && json_member_whole(v, "y", &y) && x <= 255 && y <= 255;
    finding->at = (struct nocap_xy){.x = (uint8_t)x, .y = (uint8_t)y};
    finding->agent = (uint8_t)by;
    finding->thread = has_thread ? (int8_t)thread : -1;
    if (by < 0 || thread > 127 || !json_member_whole(v, "chip", &chip) || chip > UINT16_MAX) {
        return false;
    }
    finding->chip = (uint16_t)chip;
    return json_member_whole(v, "index", &finding->index) && json_member_whole(v, "t", &finding->t);
}

static bool read_related(struct nocap_finding *finding, const struct json_node *related)
{
    finding->related_count = (uint32_t)json_length(related);
    if (json_length(related) > NOCAP_RELATED_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < finding->related_count; i++) {
        if (!json_whole(&related->items[i], &finding->related[i])) {
            return false;
        }
    }
    return true;
}

static bool read_finding(struct nocap_finding *finding, const struct json_node *v)
{
    const char *id = json_member_string(v, "rule");
    int rule = id != NULL ? nocap_rule_from_id(id) : -1;
    int found = name_of(json_member_string(v, "severity"), NOCAP_SEVERITY_COUNT, severity);
    *finding = (struct nocap_finding){
        .rule = (enum nocap_rule)rule,
        .severity = (enum nocap_severity)found,
        .place = NOCAP_PLACE_EVENT,
        .waived = is_true(v, "waived"),
        .known = is_true(v, "known"),
        .fault = (uint32_t)count_of(v, "fault"),
        .consequences = count_of(v, "consequences"),
    };
    if (!json_member_whole(v, "follows", &finding->follows)) {
        finding->follows = UINT64_MAX;
    }
    bool whole = rule >= 0 && found >= 0;
    whole &= copy(&finding->message, v, "message");
    whole &= copy(&finding->expected, v, "expected");
    whole &= copy(&finding->observed, v, "observed");
    whole &= json_member(v, "written") == NULL || copy(&finding->written, v, "written");
    whole &= !finding->waived || copy(&finding->reason, v, "reason");
    return whole && read_place(finding, v) && read_related(finding, json_member(v, "related")) &&
           json_member_whole(v, "count", &finding->count);
}

/* What follows from something has a member that says so, and another if it counts all the same. */
static bool read_findings(struct nocap_report *report, const struct json_node *findings)
{
    size_t count = json_length(findings);
    report->findings = calloc(count + 1, sizeof *report->findings);
    report->consequences = calloc(count + 1, sizeof *report->consequences);
    bool whole = report->findings != NULL && report->consequences != NULL;
    for (size_t i = 0; whole && i < count; i++) {
        const struct json_node *v = &findings->items[i];
        whole = read_finding(json_member(v, "follows") == NULL || is_true(v, "counts")
                                 ? &report->findings[report->finding_count++]
                                 : &report->consequences[report->consequence_count++],
                             v);
    }
    return whole;
}

static bool read_notes(struct nocap_report *report, const struct json_node *notes,
                       const struct json_node *ids)
{
    struct nocap_error err;
    bool whole = json_length(notes) == json_length(ids);
    for (size_t i = 0; whole && i < json_length(notes); i++) {
        const struct json_node *note = &notes->items[i];
        const char *name = json_string(&ids->items[i]);
        whole = json_is(note, JSON_STRING) && name != NULL &&
                nocap_report_add_note(report, name, json_string(note), &err) == NOCAP_OK;
        report->ended |= name != NULL && strcmp(name, "process-ended") == 0;
    }
    return whole;
}

static enum nocap_status read_all(struct nocap_report *report, const struct json_node *tree,
                                  const struct source *source)
{
    return json_member(tree, "trace") == NULL ? refuse(source, "it has no member \"trace\"")
           : !read_trace(report, json_member(tree, "trace"))
               ? refuse(source, "members of \"trace\" are missing or wrong")
           : !read_summary(report, json_member(tree, "summary"))
               ? refuse(source, "members of \"summary\" are missing or wrong")
           : !read_rules(report, json_member(tree, "rules"))
               ? refuse(source, "the rules are not those of this version")
           : !read_findings(report, json_member(tree, "findings"))
               ? refuse(source, "a finding is not whole")
           : !read_notes(report, json_member(tree, "notes"), json_member(tree, "note_ids"))
               ? refuse(source, "the notes are not whole")
               : NOCAP_OK;
}

enum nocap_status nocap_report_read(struct nocap_report **report, const struct json_node *tree,
                                    const char *source, struct nocap_error *err)
{
    *report = calloc(1, sizeof **report);
    RETURN_ERROR_IF(*report == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = read_all(*report, tree, &(struct source){source, err});
    if (status != NOCAP_OK) {
        nocap_report_free(*report);
        *report = NULL;
    }
    return status;
}
