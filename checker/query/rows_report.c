/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as `check` reports them, waits as `hang` does. */
#include "checker/core/checker.h"
#include "checker/hang/hang.h"
#include "checker/query/rows_replay.h"

/* ---- findings ---- */

#define FINDING(COLUMN)                                                                            \
    COLUMN(RULE, "rule", TEXT)                                                                     \
    COLUMN(SEVERITY, "severity", TEXT)                                                             \
    COLUMN(IDX, "idx", NUMBER)                                                                     \
    COLUMN(T, "t", NUMBER)                                                                         \
    COLUMN(CHIP, "chip", NUMBER)                                                                   \
    COLUMN(X, "x", NUMBER)                                                                         \
    COLUMN(Y, "y", NUMBER)                                                                         \
    COLUMN(TILE, "tile", TEXT)                                                                     \
    COLUMN(BY, "agent", TEXT)                                                                      \
    COLUMN(THREAD, "thread", NUMBER)                                                               \
    COLUMN(COUNT, "count", NUMBER)                                                                 \
    COLUMN(CONSEQUENCES, "consequences", NUMBER)                                                   \
    COLUMN(EXPECTED, "expected", TEXT)                                                             \
    COLUMN(OBSERVED, "observed", TEXT)
ROWS_COLUMNS(FINDING, FINDING_COLUMNS, finding_columns);

static bool add_finding(struct nocap_rows *rows, const struct nocap_finding *f)
{
    int64_t *row = nocap_rows_add(rows);
    if (row == NULL) {
        return false;
    }
    row[RULE] = nocap_cell_static(nocap_rules[f->rule].id);
    row[SEVERITY] = nocap_cell_static(nocap_severity_name(f->severity));
    row[IDX] = (int64_t)f->index;
    row[T] = (int64_t)f->t;
    row[CHIP] = f->chip;
    if (f->has_tile) {
        row[X] = f->at.x;
        row[Y] = f->at.y;
        row[TILE] = rows_tile(rows, f->at);
    }
    if (f->agent != NOCAP_BY_NONE) {
        row[BY] = nocap_cell_static(nocap_agent_name(f->agent));
    }
    row[THREAD] = f->thread < 0 ? NOCAP_CELL_NONE : f->thread;
    row[COUNT] = (int64_t)f->count;
    row[CONSEQUENCES] = (int64_t)f->consequences;
    row[EXPECTED] = nocap_rows_text(rows, f->expected);
    row[OBSERVED] = nocap_rows_text(rows, f->observed);
    return true;
}

static enum nocap_status fill_findings(struct nocap_rows *rows, const char *path,
                                       const struct nocap_row_options *options,
                                       struct nocap_error *err)
{
    const struct nocap_check_options check = {.size = sizeof check,
                                              .max_per_rule = NOCAP_ROWS_MAX,
                                              .dense = options->dense,
                                              .trust_paths = options->trust_paths,
                                              .profile = options->profile};
    struct nocap_report *report = NULL;
    enum nocap_status status = nocap_check(&report, path, &check, err);
    for (size_t i = 0; status == NOCAP_OK && i < report->finding_count; i++) {
        status = add_finding(rows, &report->findings[i]) ? NOCAP_OK : nocap_rows_full(rows, err);
    }
    nocap_report_free(report);
    return status;
}

const struct nocap_row_table nocap_finding_table = {.name = "findings",
                                                    .columns = finding_columns,
                                                    .column_count = FINDING_COLUMNS,
                                                    .fill = fill_findings};

/* ---- waits ---- */

#define WAIT(COLUMN)                                                                               \
    COLUMN(WHO, "who", TEXT)                                                                       \
    COLUMN(FOR, "waits_for", TEXT)                                                                 \
    COLUMN(ON, "waits_on", TEXT)                                                                   \
    COLUMN(SINCE, "since", NUMBER)                                                                 \
    COLUMN(SINCE_IDX, "idx", NUMBER)                                                               \
    COLUMN(RELEASE, "release", TEXT)                                                               \
    COLUMN(ROOT, "root", NUMBER)                                                                   \
    COLUMN(HUNG, "hung", NUMBER)                                                                   \
    COLUMN(VERDICT, "verdict", TEXT)
ROWS_COLUMNS(WAIT, WAIT_COLUMNS, wait_columns);

static bool add_wait(struct nocap_rows *rows, const struct nocap_hang *hang,
                     const struct nocap_hang_wait *w)
{
    char name[64];
    int64_t *row = nocap_rows_add(rows);
    if (row == NULL) {
        return false;
    }
    row[WHO] = nocap_rows_text(rows, nocap_party_name(&w->wait.who, name, sizeof name));
    row[FOR] = nocap_rows_text(rows, w->what);
    if (w->by != SIZE_MAX) {
        row[ON] = nocap_rows_text(rows, nocap_party_name(&w->wait.by, name, sizeof name));
    }
    row[SINCE] = w->wait.index != UINT64_MAX ? nocap_cell_number(w->wait.since) : NOCAP_CELL_NONE;
    row[SINCE_IDX] = nocap_cell_number(w->wait.index);
    row[RELEASE] = nocap_rows_text(rows, w->release);
    row[ROOT] = hang->parties[w->who].root;
    row[HUNG] = hang->verdict == NOCAP_HANG_HUNG;
    row[VERDICT] = nocap_cell_static(nocap_hang_verdict_name(hang->verdict));
    return true;
}

static enum nocap_status fill_waits(struct nocap_rows *rows, const char *path,
                                    const struct nocap_row_options *options,
                                    struct nocap_error *err)
{
    const struct nocap_hang_options ask = {.size = sizeof ask,
                                           .dense = options->dense,
                                           .trust_paths = options->trust_paths,
                                           .profile = options->profile,
                                           .read_once = true};
    struct nocap_hang *hang = NULL;
    enum nocap_status status = nocap_hang(&hang, path, &ask, err);
    if (status == NOCAP_OK) {
        nocap_rows_damage(options, path, &hang->damage);
    }
    for (size_t i = 0; status == NOCAP_OK && i < hang->wait_count; i++) {
        status = add_wait(rows, hang, &hang->waits[i]) ? NOCAP_OK : nocap_rows_full(rows, err);
    }
    nocap_hang_free(hang);
    return status;
}

const struct nocap_row_table nocap_wait_table = {
    .name = "waits", .columns = wait_columns, .column_count = WAIT_COLUMNS, .fill = fill_waits};
