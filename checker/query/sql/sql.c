/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/query/sql/sql_private.h"

#include <stdlib.h>
#include <string.h>

int sql_declare(sqlite3 *db, sqlite3_str *sql)
{
    sqlite3_str_appendf(sql, ")");
    char *text = sqlite3_str_finish(sql);
    int code = text == NULL ? SQLITE_NOMEM : sqlite3_declare_vtab(db, text);
    sqlite3_free(text);
    return code;
}

/* ---- arguments ---- */

/* A path as SQL quotes it, or as it stands; NULL without memory. */
static char *unquote(const char *text)
{
    size_t length = strlen(text);
    char quote = text[0];
    char *path = malloc(length + 1), *to = path;
    if (path == NULL) {
        return NULL;
    }
    if (length < 2 || (quote != '\'' && quote != '"') || text[length - 1] != quote) {
        return memcpy(path, text, length + 1);
    }
    for (size_t i = 1; i + 1 < length; i++) {
        *to++ = text[i];
        i += text[i] == quote && text[i + 1] == quote;
    }
    *to = 0;
    return path;
}

int sql_traces_set(struct sql_traces *traces, int argc, const char *const *argv, char **error)
{
    enum { FIRST = 3 }; /* after module, database and table */
    *traces = (struct sql_traces){NULL, 0};
    if (argc <= FIRST) {
        *error = sqlite3_mprintf("which traces? USING %s('run.nocap', ..)", argv[0]);
        return SQLITE_ERROR;
    }
    traces->paths = calloc((size_t)(argc - FIRST), sizeof traces->paths[0]);
    for (int i = FIRST; traces->paths != NULL && i < argc; i++) {
        traces->paths[traces->count] = unquote(argv[i]);
        if (traces->paths[traces->count++] == NULL) {
            sql_traces_free(traces);
        }
    }
    return traces->paths == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

void sql_traces_free(struct sql_traces *traces)
{
    for (int i = 0; i < traces->count; i++) {
        free(traces->paths[i]);
    }
    free(traces->paths);
    *traces = (struct sql_traces){NULL, 0};
}

int sql_fail(sqlite3_vtab *table, enum nocap_status status, const struct nocap_error *err)
{
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", err->text);
    return status == NOCAP_E_MEMORY  ? SQLITE_NOMEM
           : status == NOCAP_E_INPUT ? SQLITE_CANTOPEN
                                     : SQLITE_ERROR;
}

/* ---- registering ---- */

enum { EVENTS, COUNTS, FIRST_ROWS, TABLES = FIRST_ROWS + NOCAP_ROW_TABLES };

static const char *table_name(int i)
{
    return i == EVENTS ? "events" : i == COUNTS ? "counts" : nocap_row_tables[i - FIRST_ROWS]->name;
}

/* nocap('a.nocap', ..): a temporary table of each module, in the place of one that is there. */
static void attach(sqlite3_context *context, int count, sqlite3_value **values)
{
    sqlite3 *db = sqlite3_context_db_handle(context);
    if (count == 0) {
        sqlite3_result_error(context, "which traces? nocap('run.nocap', ..)", -1);
        return;
    }
    for (int i = 0; i < TABLES; i++) {
        sqlite3_str *sql = sqlite3_str_new(db);
        sqlite3_str_appendf(
            sql, "DROP TABLE IF EXISTS temp.%s; CREATE VIRTUAL TABLE temp.%s USING nocap_%s(",
            table_name(i), table_name(i), table_name(i));
        for (int v = 0; v < count; v++) {
            sqlite3_str_appendf(sql, "%s%Q", v == 0 ? "" : ", ", sqlite3_value_text(values[v]));
        }
        sqlite3_str_appendf(sql, ")");
        char *text = sqlite3_str_finish(sql), *error = NULL;
        int code = text == NULL ? SQLITE_NOMEM : sqlite3_exec(db, text, NULL, NULL, &error);
        sqlite3_free(text);
        if (code != SQLITE_OK) {
            sqlite3_result_error(context, error != NULL ? error : sqlite3_errstr(code), -1);
            sqlite3_free(error);
            return;
        }
    }
    sqlite3_result_int(context, count);
}

static int register_module(sqlite3 *db, int i, const struct nocap_row_options *options)
{
    struct sql_source *source = malloc(sizeof *source);
    char *name = sqlite3_mprintf("nocap_%s", table_name(i));
    if (source == NULL || name == NULL) {
        free(source);
        sqlite3_free(name);
        return SQLITE_NOMEM;
    }
    *source = (struct sql_source){.rows = i < FIRST_ROWS ? NULL : nocap_row_tables[i - FIRST_ROWS],
                                  .counts = i == COUNTS,
                                  .options = options};
    int code = sqlite3_create_module_v2(
        db, name, i < FIRST_ROWS ? &sql_events_module : &sql_rows_module, source, free);
    sqlite3_free(name);
    return code;
}

int nocap_sql_register(sqlite3 *db, const struct nocap_row_options *options)
{
    int code = sqlite3_create_function(db, "nocap", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
                                       attach, NULL, NULL);
    for (int i = 0; i < TABLES && code == SQLITE_OK; i++) {
        code = register_module(db, i, options);
    }
    return code;
}

#ifdef NOCAP_SQL_EXTENSION
SQLITE_EXTENSION_INIT1

/* What .load and load_extension() look for. */
__attribute__((visibility("default"))) int sqlite3_extension_init(sqlite3 *db, char **error,
                                                                  const sqlite3_api_routines *api);

int sqlite3_extension_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
    static const struct nocap_row_options plain;
    SQLITE_EXTENSION_INIT2(api);
    (void)error;
    return nocap_sql_register(db, &plain);
}
#endif
