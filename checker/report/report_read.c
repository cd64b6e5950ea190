/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/report/report_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "checker/core/findings.h"

/* yajl's own numbers end at 2^63. */
static bool number_of(yajl_val v, uint64_t *value)
{
    char *end;
    if (v == NULL || !YAJL_IS_NUMBER(v) || YAJL_GET_NUMBER(v)[0] == '-') {
        return false;
    }
    errno = 0;
    *value = strtoull(YAJL_GET_NUMBER(v), &end, 10);
    return errno == 0 && *end == 0;
}

bool nocap_member_number(yajl_val object, const char *key, uint64_t *value)
{
    return number_of(nocap_json_member(object, key), value);
}

const char *nocap_member_text(yajl_val object, const char *key)
{
    yajl_val v = nocap_json_member(object, key);
    return YAJL_IS_STRING(v) ? YAJL_GET_STRING(v) : NULL;
}

/* 0 if there is none. */
static uint64_t count_of(yajl_val object, const char *key)
{
    uint64_t value;
    return nocap_member_number(object, key, &value) ? value : 0;
}

static bool is_true(yajl_val object, const char *key)
{
    yajl_val v = nocap_json_member(object, key);
    return YAJL_IS_TRUE(v);
}

size_t nocap_length(yajl_val v)
{
    return YAJL_IS_ARRAY(v) ? YAJL_GET_ARRAY(v)->len : 0;
}

yajl_val nocap_element(yajl_val array, size_t i)
{
    return YAJL_GET_ARRAY(array)->values[i];
}

bool nocap_element_number(yajl_val array, size_t i, uint64_t *value)
{
    return number_of(nocap_element(array, i), value);
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

static bool read_trace(struct nocap_report *report, yajl_val trace)
{
    const char *path = nocap_member_text(trace, "path"), *arch = nocap_member_text(trace, "arch"),
               *unit = nocap_member_text(trace, "time_unit");
    int arch_id = arch != NULL ? nocap_arch_from_name(arch) : -1;
    int unit_id = unit != NULL ? nocap_time_unit_from_name(unit) : -1;
    const char *board = nocap_member_text(trace, "board");
    int board_id = board != NULL ? nocap_board_from_name(board) : NOCAP_BOARD_UNKNOWN;
    report->path = path != NULL ? foreign_copy(path) : NULL;
    report->board = board_id > 0 ? (enum nocap_board)board_id : NOCAP_BOARD_UNKNOWN;
    report->arch = (enum nocap_arch)arch_id;
    report->time_unit = (enum nocap_time_unit)unit_id;
    report->clock_hz = count_of(trace, "clock_hz");
    report->truncated = is_true(trace, "truncated");
    report->cut_after = count_of(trace, "cut_after");
    return report->path != NULL && arch_id >= 0 && unit_id >= 0 &&
           nocap_member_number(trace, "events", &report->events) &&
           nocap_member_number(trace, "t_first", &report->t_first) &&
           nocap_member_number(trace, "t_last", &report->t_last) &&
           nocap_member_number(trace, "dropped", &report->dropped);
}

static bool read_summary(struct nocap_report *report, yajl_val summary)
{
    bool whole = true;
    for (unsigned s = 0; s < NOCAP_SEVERITY_COUNT; s++) {
        whole &= nocap_member_number(summary, severity(s), &report->counts[s]);
    }
    const char *reason = nocap_member_text(summary, "reason");
    report->untouched = reason != NULL && strcmp(reason, "tile-not-touched") == 0;
    return whole && nocap_member_number(summary, "waived", &report->waived) &&
           nocap_member_number(summary, "known", &report->known);
}

static uint32_t classes_of(yajl_val array)
{
    uint32_t classes = 0;
    for (size_t i = 0; i < nocap_length(array); i++) {
        yajl_val v = nocap_element(array, i);
        int bit =
            name_of(YAJL_IS_STRING(v) ? YAJL_GET_STRING(v) : NULL, NOCAP_CLASS_COUNT, class_name);
        classes |= bit >= 0 ? 1u << bit : 0;
    }
    return classes;
}

static bool read_rule(struct nocap_rule_report rules[NOCAP_RULE_COUNT], yajl_val row)
{
    const char *id = nocap_member_text(row, "id"), *why = nocap_member_text(row, "obstacle");
    int rule = id != NULL ? nocap_rule_from_id(id) : -1;
    int given = name_of(nocap_member_text(row, "verdict"), NOCAP_VERDICT_COUNT, verdict);
    int in_the_way = why != NULL ? name_of(why, NOCAP_OBSTACLE_COUNT, obstacle) : 0;
    yajl_val selected = nocap_json_member(row, "selected");
    if (rule < 0 || given < 0 || in_the_way < 0) {
        return false;
    }
    rules[rule] = (struct nocap_rule_report){
        .verdict = (enum nocap_verdict)given,
        .obstacle = (enum nocap_obstacle)in_the_way,
        .missing = classes_of(nocap_json_member(row, "missing")),
        .missing_any = classes_of(nocap_json_member(row, "missing_any")),
        .selected = selected == NULL || !YAJL_IS_FALSE(selected),
        .waived = count_of(row, "waived"),
        .known = count_of(row, "known"),
    };
    return nocap_member_number(row, "exercised", &rules[rule].exercised) &&
           nocap_member_number(row, "violations", &rules[rule].violations);
}

/* Every rule of this version stands there, once. */
static bool read_rules(struct nocap_report *report, yajl_val rules)
{
    bool whole = nocap_length(rules) == NOCAP_RULE_COUNT;
    for (size_t i = 0; whole && i < NOCAP_RULE_COUNT; i++) {
        const char *id = nocap_member_text(nocap_element(rules, i), "id");
        whole = id != NULL && nocap_rule_from_id(id) == (int)i &&
                read_rule(report->rules, nocap_element(rules, i));
    }
    return whole;
}

/* A copy of a text that must be there. */
static bool copy(char **copy, yajl_val object, const char *key)
{
    const char *text = nocap_member_text(object, key);
    *copy = text != NULL ? foreign_copy(text) : NULL;
    return *copy != NULL;
}

static bool read_place(struct nocap_finding *finding, yajl_val v)
{
    uint64_t chip, x = 0, y = 0, thread = 0;
    const char *agent = nocap_member_text(v, "agent");
    int by = agent != NULL ? nocap_agent_from_name(agent, (unsigned)strlen(agent)) : NOCAP_BY_NONE;
    bool has_thread = nocap_member_number(v, "thread", &thread);
    finding->has_tile =
        nocap_member_number(v, "x", &x) && nocap_member_number(v, "y", &y) && x <= 255 && y <= 255;
    finding->at = (struct nocap_xy){.x = (uint8_t)x, .y = (uint8_t)y};
    finding->agent = (uint8_t)by;
    finding->thread = has_thread ? (int8_t)thread : -1;
    if (by < 0 || thread > 127 || !nocap_member_number(v, "chip", &chip) || chip > UINT16_MAX) {
        return false;
    }
    finding->chip = (uint16_t)chip;
    return nocap_member_number(v, "index", &finding->index) &&
           nocap_member_number(v, "t", &finding->t);
}

static bool read_related(struct nocap_finding *finding, yajl_val related)
{
    finding->related_count = (uint32_t)nocap_length(related);
    if (nocap_length(related) > NOCAP_RELATED_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < finding->related_count; i++) {
        if (!nocap_element_number(related, i, &finding->related[i])) {
            return false;
        }
    }
    return true;
}

static bool read_finding(struct nocap_finding *finding, yajl_val v)
{
    const char *id = nocap_member_text(v, "rule");
    int rule = id != NULL ? nocap_rule_from_id(id) : -1;
    int found = name_of(nocap_member_text(v, "severity"), NOCAP_SEVERITY_COUNT, severity);
    *finding = (struct nocap_finding){
        .rule = (enum nocap_rule)rule,
        .severity = (enum nocap_severity)found,
        .place = NOCAP_PLACE_EVENT,
        .waived = is_true(v, "waived"),
        .known = is_true(v, "known"),
        .fault = (uint32_t)count_of(v, "fault"),
        .consequences = count_of(v, "consequences"),
    };
    if (!nocap_member_number(v, "follows", &finding->follows)) {
        finding->follows = UINT64_MAX;
    }
    bool whole = rule >= 0 && found >= 0;
    whole &= copy(&finding->message, v, "message");
    whole &= copy(&finding->expected, v, "expected");
    whole &= copy(&finding->observed, v, "observed");
    whole &= nocap_json_member(v, "written") == NULL || copy(&finding->written, v, "written");
    whole &= !finding->waived || copy(&finding->reason, v, "reason");
    return whole && read_place(finding, v) &&
           read_related(finding, nocap_json_member(v, "related")) &&
           nocap_member_number(v, "count", &finding->count);
}

/* What follows from something has a member that says so. */
static bool read_findings(struct nocap_report *report, yajl_val findings)
{
    size_t count = nocap_length(findings);
    report->findings = calloc(count + 1, sizeof *report->findings);
    report->consequences = calloc(count + 1, sizeof *report->consequences);
    bool whole = report->findings != NULL && report->consequences != NULL;
    for (size_t i = 0; whole && i < count; i++) {
        yajl_val v = nocap_element(findings, i);
        whole = read_finding(nocap_json_member(v, "follows") == NULL
                                 ? &report->findings[report->finding_count++]
                                 : &report->consequences[report->consequence_count++],
                             v);
    }
    return whole;
}

static bool read_notes(struct nocap_report *report, yajl_val notes, yajl_val ids)
{
    struct nocap_error err;
    bool whole = nocap_length(notes) == nocap_length(ids);
    for (size_t i = 0; whole && i < nocap_length(notes); i++) {
        yajl_val note = nocap_element(notes, i), id = nocap_element(ids, i);
        const char *name = YAJL_GET_STRING(id);
        whole = YAJL_IS_STRING(note) && name != NULL &&
                nocap_report_add_note(report, name, YAJL_GET_STRING(note), &err) == NOCAP_OK;
        report->ended |= name != NULL && strcmp(name, "process-ended") == 0;
    }
    return whole;
}

static enum nocap_status read_all(struct nocap_report *report, yajl_val tree,
                                  const struct source *source)
{
    return nocap_json_member(tree, "trace") == NULL ? refuse(source, "it has no member \"trace\"")
           : !read_trace(report, nocap_json_member(tree, "trace"))
               ? refuse(source, "members of \"trace\" are missing or wrong")
           : !read_summary(report, nocap_json_member(tree, "summary"))
               ? refuse(source, "members of \"summary\" are missing or wrong")
           : !read_rules(report, nocap_json_member(tree, "rules"))
               ? refuse(source, "the rules are not those of this version")
           : !read_findings(report, nocap_json_member(tree, "findings"))
               ? refuse(source, "a finding is not whole")
           : !read_notes(report, nocap_json_member(tree, "notes"),
                         nocap_json_member(tree, "note_ids"))
               ? refuse(source, "the notes are not whole")
               : NOCAP_OK;
}

enum nocap_status nocap_report_read(struct nocap_report **report, yajl_val tree, const char *source,
                                    struct nocap_error *err)
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
