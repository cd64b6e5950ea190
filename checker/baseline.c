#include "checker/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json_tree.h"

enum { REPORT_BYTES_MAX = 64 << 20, WHY_MAX = 256 };

struct known {
    enum nocap_rule rule;
    uint16_t chip;
    struct nocap_xy at;
    uint8_t agent;
    int8_t thread;
    bool has_tile;
    bool seen;
};

struct nocap_baseline {
    struct known *list;
    size_t count;
    uint64_t unlisted[NOCAP_RULE_COUNT]; /* counted by the report, but not described */
};

static yajl_val member(yajl_val object, const char *key, yajl_type type)
{
    const char *path[] = {key, NULL};
    return yajl_tree_get(object, path, type);
}

static const char *text_of(yajl_val object, const char *key)
{
    yajl_val value = member(object, key, yajl_t_string);
    return value != NULL ? YAJL_GET_STRING(value) : "";
}

/* A member that is a whole number of this range, else `otherwise`. */
static int64_t number_of(yajl_val object, const char *key, int64_t most, int64_t otherwise)
{
    yajl_val value = member(object, key, yajl_t_number);
    bool good = value != NULL && YAJL_IS_INTEGER(value) && YAJL_GET_INTEGER(value) >= 0 &&
                YAJL_GET_INTEGER(value) <= most;
    return good ? YAJL_GET_INTEGER(value) : otherwise;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* ---- the report ---- */

static enum nocap_status read_whole(const char *path, char **text, struct nocap_error *err)
{
    FILE *file = fopen(path, "re");
    size_t size = 0;
    RETURN_ERROR_IF(file == NULL, err, NOCAP_E_INPUT, "cannot open the baseline %s: %s", path,
                    strerror(errno));
    *text = malloc(REPORT_BYTES_MAX + 1);
    if (*text != NULL) {
        size = fread(*text, 1, REPORT_BYTES_MAX + 1, file);
    }
    int failed = ferror(file) != 0 ? errno : 0;
    fclose(file);
    RETURN_ERROR_IF(*text == NULL, err, NOCAP_E_MEMORY, "out of memory for the baseline");
    RETURN_ERROR_IF(failed != 0, err, NOCAP_E_INPUT, "cannot read the baseline %s: %s", path,
                    strerror(failed));
    RETURN_ERROR_IF(size > REPORT_BYTES_MAX, err, NOCAP_E_INPUT,
                    "the baseline %s is larger than %d bytes", path, REPORT_BYTES_MAX);
    (*text)[size] = 0;
    return NOCAP_OK;
}

static void add_finding(struct nocap_baseline *baseline, yajl_val finding)
{
    int rule = nocap_rule_from_id(text_of(finding, "rule"));
    int64_t x = number_of(finding, "x", UINT8_MAX, -1), y = number_of(finding, "y", UINT8_MAX, -1);
    const char *agent = text_of(finding, "agent");
    int by = nocap_agent_from_name(agent, (unsigned)strlen(agent));
    if (rule < 0 || member(finding, "waived", yajl_t_true) != NULL) {
        return; /* a rule of another version; what was waived is the waivers' matter */
    }
    baseline->list[baseline->count++] = (struct known){
        .rule = (enum nocap_rule)rule,
        .chip = (uint16_t)number_of(finding, "chip", UINT16_MAX, 0),
        .at = {(uint8_t)(x < 0 ? 0 : x), (uint8_t)(y < 0 ? 0 : y)},
        .agent = by < 0 ? NOCAP_BY_NONE : (uint8_t)by,
        .thread = (int8_t)number_of(finding, "thread", INT8_MAX, -1),
        .has_tile = x >= 0 && y >= 0,
    };
    baseline->unlisted[rule] -= baseline->unlisted[rule] > 0;
}

static void add_rules(struct nocap_baseline *baseline, yajl_val rules)
{
    for (size_t i = 0; i < YAJL_GET_ARRAY(rules)->len; i++) {
        yajl_val row = YAJL_GET_ARRAY(rules)->values[i];
        int rule = nocap_rule_from_id(text_of(row, "id"));
        if (rule >= 0) {
            baseline->unlisted[rule] = (uint64_t)number_of(row, "violations", INT64_MAX, 0);
        }
    }
}

static enum nocap_status add_report(struct nocap_baseline *baseline, yajl_val report,
                                    struct nocap_error *err)
{
    yajl_val rules = member(report, "rules", yajl_t_array);
    yajl_val findings = member(report, "findings", yajl_t_array);
    RETURN_ERROR_IF(rules == NULL || findings == NULL, err, NOCAP_E_INPUT,
                    "a report lacks its rules or findings");
    size_t more = YAJL_GET_ARRAY(findings)->len;
    struct known *list = realloc(baseline->list, (baseline->count + more + 1) * sizeof *list);
    RETURN_ERROR_IF(list == NULL, err, NOCAP_E_MEMORY, "out of memory for the baseline");
    baseline->list = list;
    add_rules(baseline, rules);
    for (size_t i = 0; i < more; i++) {
        add_finding(baseline, YAJL_GET_ARRAY(findings)->values[i]);
    }
    return NOCAP_OK;
}

static bool is_of(yajl_val report, const char *trace_path)
{
    yajl_val trace = member(report, "trace", yajl_t_object);
    return trace != NULL && strcmp(name_of(text_of(trace, "path")), name_of(trace_path)) == 0;
}

static enum nocap_status add_all(struct nocap_baseline *baseline, yajl_val root,
                                 const char *trace_path, struct nocap_error *err)
{
    yajl_val reports = member(root, "reports", yajl_t_array);
    if (number_of(root, "nocap_report", 1, 0) == 1) {
        return is_of(root, trace_path) ? add_report(baseline, root, err) : NOCAP_OK;
    }
    RETURN_ERROR_IF(number_of(root, "nocap_reports", 1, 0) != 1 || reports == NULL, err,
                    NOCAP_E_INPUT, "it is no report: make one with nocap check --format json");
    for (size_t i = 0; i < YAJL_GET_ARRAY(reports)->len; i++) {
        yajl_val report = YAJL_GET_ARRAY(reports)->values[i];
        if (is_of(report, trace_path)) {
            return add_report(baseline, report, err);
        }
    }
    return NOCAP_OK;
}

enum nocap_status nocap_baseline_parse(struct nocap_baseline **baseline, const char *text,
                                       const char *trace_path, struct nocap_error *err)
{
    char why[WHY_MAX];
    struct nocap_baseline *b = calloc(1, sizeof *b);
    yajl_val root = b != NULL ? nocap_json_tree(text, why, sizeof why) : NULL;
    enum nocap_status status = b == NULL      ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory")
                               : root == NULL ? nocap_fail(err, NOCAP_E_INPUT, "it is no JSON")
                                              : add_all(b, root, trace_path, err);
    yajl_tree_free(root);
    if (status != NOCAP_OK) {
        nocap_baseline_close(b);
        b = NULL;
    }
    *baseline = b;
    return status;
}

enum nocap_status nocap_baseline_open(struct nocap_baseline **baseline, const char *path,
                                      const char *trace_path, struct nocap_error *err)
{
    char *text = NULL;
    *baseline = NULL;
    enum nocap_status status = read_whole(path, &text, err);
    if (status == NOCAP_OK) {
        status = nocap_baseline_parse(baseline, text, trace_path, err);
        if (status != NOCAP_OK) {
            nocap_fail_context(err, status, "cannot use the baseline %s", path);
        }
    }
    free(text);
    return status;
}

void nocap_baseline_close(struct nocap_baseline *baseline)
{
    if (baseline != NULL) {
        free(baseline->list);
        free(baseline);
    }
}

/* ---- matching ---- */

static bool same_place(const struct known *known, const struct nocap_divergence *d)
{
    bool tile = known->has_tile == d->has_tile &&
                (!d->has_tile || (known->at.x == d->at.x && known->at.y == d->at.y));
    return tile && known->chip == d->chip && known->agent == d->agent && known->thread == d->thread;
}

bool nocap_baseline_match(struct nocap_baseline *baseline,
                          const struct nocap_divergence *divergence)
{
    for (size_t i = 0; i < baseline->count; i++) {
        struct known *known = &baseline->list[i];
        if (!known->seen && known->rule == divergence->rule && same_place(known, divergence)) {
            known->seen = true;
            return true;
        }
    }
    if (baseline->unlisted[divergence->rule] > 0) {
        baseline->unlisted[divergence->rule]--;
        return true;
    }
    return false;
}
