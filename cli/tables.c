/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/profile_option.h"
#include "cli/tables_print.h"
#include "cli/trace_input.h"

/* ---- the connection ---- */

/* Whether it is the first time that `what` is told of this trace, whichever of its tables is asked.
 */
static bool first_time(struct cli_told *what, const char *path)
{
    for (size_t i = 0; i < what->count; i++) {
        if (strcmp(what->paths[i], path) == 0) {
            return false;
        }
    }
    const char **more = realloc(what->paths, (what->count + 1) * sizeof *more);
    if (more != NULL) { /* else it is reported once more */
        what->paths = more;
        what->paths[what->count++] = path;
    }
    return true;
}

static void damaged(void *context, const char *path, const struct nocap_integrity *integrity)
{
    struct cli_tables *t = context;
    if (first_time(&t->damages, path)) {
        int status = cli_damage(t->call, path, integrity);
        t->damage = status > t->damage ? status : t->damage;
    }
}

static void lost(void *context, const char *path, uint64_t count)
{
    struct cli_tables *t = context;
    if (first_time(&t->losses, path)) {
        cli_message(t->call,
                    "%s: %" PRIu64
                    " event%s lost: launches, prefetch commands and requests may be missing, "
                    "and launches after that have no number",
                    path, count, count == 1 ? " was" : "s were");
    }
}

static int report_error(const struct cli_tables *t, int code)
{
    struct nocap_error err;
    snprintf(err.text, sizeof err.text, "%s",
             code == SQLITE_AUTH ? "nothing is read or written here but the traces: no ATTACH, "
                                   "no VACUUM INTO; the shell of SQLite has them"
                                 : sqlite3_errmsg(t->db));
    return cli_fail(t->call,
                    code == SQLITE_CANTOPEN ? NOCAP_E_INPUT
                    : code == SQLITE_NOMEM  ? NOCAP_E_MEMORY
                                            : NOCAP_E_USAGE,
                    &err);
}

/* Statements leave files alone: ATTACH makes one that is not there, and VACUUM INTO attaches. */
static int authorize(void *context, int action, const char *a, const char *b, const char *database,
                     const char *trigger)
{
    (void)context, (void)a, (void)b, (void)database, (void)trigger;
    return action == SQLITE_ATTACH ? SQLITE_DENY : SQLITE_OK;
}

static int make_tables(struct cli_tables *t, const char *const *paths, size_t count)
{
    sqlite3_str *sql = sqlite3_str_new(t->db);
    sqlite3_str_appendf(sql, "SELECT nocap(");
    for (size_t i = 0; i < count; i++) {
        sqlite3_str_appendf(sql, i == 0 ? "%Q" : ",%Q", paths[i]);
    }
    sqlite3_str_appendf(sql, ")");
    char *text = sqlite3_str_finish(sql);
    int code = text == NULL ? SQLITE_NOMEM : sqlite3_exec(t->db, text, NULL, NULL, NULL);
    sqlite3_free(text);
    return code;
}

int cli_tables_open(struct cli_tables *t, const struct cli_call *call, size_t count,
                    const struct cli_table_settings *settings)
{
    const char *const *paths = call->operands.items;
    *t = (struct cli_tables){.call = call,
                             .options = {.damaged = damaged,
                                         .lost = lost,
                                         .context = t,
                                         .dense = settings->dense,
                                         .trust_paths = settings->trust_paths}};
    int status = cli_stdin_again(call);
    status =
        status == CLI_EXIT_OK ? cli_profile_json(call, settings->profile, &t->profile) : status;
    if (status != CLI_EXIT_OK) {
        return status;
    }
    t->options.profile = t->profile;
    int code = sqlite3_open(":memory:", &t->db);
    if (code == SQLITE_OK) {
        code = nocap_sql_register(t->db, &t->options);
    }
    if (code == SQLITE_OK) {
        code = make_tables(t, paths, count);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_set_authorizer(t->db, authorize, NULL);
    }
    return code == SQLITE_OK ? CLI_EXIT_OK : report_error(t, code);
}

void cli_tables_close(struct cli_tables *t)
{
    sqlite3_close(t->db);
    free(t->damages.paths);
    free(t->losses.paths);
    free(t->profile);
}

/* ---- questions ---- */

static bool bind(sqlite3_stmt *statement, const sqlite3_int64 values[CLI_TABLE_VALUES])
{
    static const char *const names[CLI_TABLE_VALUES] = {":a", ":b", ":c"};
    for (int i = 0; i < CLI_TABLE_VALUES; i++) {
        int at = sqlite3_bind_parameter_index(statement, names[i]);
        if (at != 0 && sqlite3_bind_int64(statement, at, values[i]) != SQLITE_OK) {
            return false;
        }
    }
    return true;
}

/* Prints what one statement gives. */
static int answer(struct cli_tables *t, sqlite3_stmt *statement, enum cli_table_format format,
                  FILE *out)
{
    struct cli_table_printer printer;
    int code = sqlite3_step(statement);
    bool begun = code == SQLITE_ROW || code == SQLITE_DONE; /* else not even a heading */
    bool rows = begun && sqlite3_column_count(statement) > 0;
    bool whole = !rows || cli_table_begin(&printer, statement, format, out);
    while (whole && code == SQLITE_ROW && !ferror(out)) {
        whole = cli_table_row(&printer, statement);
        code = whole ? sqlite3_step(statement) : code;
    }
    if (rows) {
        whole = cli_table_end(&printer) && whole;
    }
    if (ferror(out)) { /* who finishes the output says why, or that its reader has enough */
        return CLI_EXIT_OK;
    }
    if (whole) {
        return code == SQLITE_DONE ? CLI_EXIT_OK : report_error(t, code);
    }
    struct nocap_error err = {"out of memory"};
    return cli_fail(t->call, NOCAP_E_MEMORY, &err);
}

int cli_tables_run(struct cli_tables *t, const char *sql,
                   const sqlite3_int64 values[CLI_TABLE_VALUES], enum cli_table_format format,
                   FILE *out)
{
    int status = CLI_EXIT_OK;
    while (status == CLI_EXIT_OK && !ferror(out) && sql[strspn(sql, " \t\r\n;")] != 0) {
        sqlite3_stmt *statement;
        int code = sqlite3_prepare_v2(t->db, sql, -1, &statement, &sql);
        if (code != SQLITE_OK) {
            return report_error(t, code);
        }
        if (statement == NULL) { /* a comment */
            continue;
        }
        if (values != NULL && !bind(statement, values)) {
            status = report_error(t, SQLITE_NOMEM);
        } else {
            status = answer(t, statement, format, out);
        }
        sqlite3_finalize(statement);
    }
    return status;
}

int cli_rows_open(struct cli_rows *rows, struct cli_tables *t, const char *sql,
                  const sqlite3_int64 values[CLI_TABLE_VALUES])
{
    *rows = (struct cli_rows){t, NULL};
    int code = sqlite3_prepare_v2(t->db, sql, -1, &rows->statement, NULL);
    if (code == SQLITE_OK && values != NULL && !bind(rows->statement, values)) {
        code = SQLITE_NOMEM;
    }
    return code == SQLITE_OK ? CLI_EXIT_OK : report_error(t, code);
}

bool cli_rows_next(struct cli_rows *rows, int *status)
{
    int code = sqlite3_step(rows->statement);
    *status =
        code == SQLITE_ROW || code == SQLITE_DONE ? CLI_EXIT_OK : report_error(rows->tables, code);
    return code == SQLITE_ROW;
}

void cli_rows_close(struct cli_rows *rows)
{
    sqlite3_finalize(rows->statement);
}

bool cli_tables_number(struct cli_tables *t, const char *sql, double *number, int *status)
{
    struct cli_rows rows;
    bool found = false;
    *status = cli_rows_open(&rows, t, sql, NULL);
    if (*status == CLI_EXIT_OK && cli_rows_next(&rows, status)) {
        found = sqlite3_column_type(rows.statement, 0) != SQLITE_NULL;
        *number = sqlite3_column_double(rows.statement, 0);
    }
    cli_rows_close(&rows);
    return found;
}

int cli_tables_need_clock(struct cli_tables *t, const char *table)
{
    char sql[128];
    double without = 0;
    int status;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE duration NOTNULL AND ns ISNULL",
             table);
    cli_tables_number(t, sql, &without, &status);
    return status != CLI_EXIT_OK ? status
           : without != 0
               ? cli_usage(t->call, "a trace does not say its clock: give times in its unit")
               : CLI_EXIT_OK;
}
