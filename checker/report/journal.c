/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/report/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "base/json_node.h"
#include "base/json_text.h"
#include "checker/report/report_read.h"
#include "checker/report/waivers.h"

static const char head_begins[] = "{\"nocap_journal\":1,";

bool nocap_journal_is(const char *path)
{
    char bytes[sizeof head_begins - 1];
    FILE *in = fopen(path, "re");
    bool is = in != NULL && fread(bytes, sizeof bytes, 1, in) == 1 &&
              memcmp(bytes, head_begins, sizeof bytes) == 0;
    if (in != NULL) {
        fclose(in);
    }
    return is;
}

/* ---- reading ---- */

/* A journal that is being read, and its line. */
struct reading {
    const char *path;
    FILE *in;
    char *line;
    size_t room;
    uint64_t number; /* of the line, from 1 */
    uint64_t whole;  /* bytes of whole lines so far */
    struct nocap_error *err;
};

static enum nocap_status refuse(const struct reading *r, const char *why)
{
    return nocap_fail(r->err, NOCAP_E_INPUT,
                      "%s: line %llu: %s: this is no journal of `nocap check`", r->path,
                      (unsigned long long)r->number, why);
}

/* The next whole line as a tree; NULL: there is none. */
static enum nocap_status next_line(struct reading *r, struct json_node **tree)
{
    *tree = NULL;
    errno = 0;
    ssize_t length = getline(&r->line, &r->room, r->in);
    if (length <= 0 || r->line[length - 1] != '\n') {
        RETURN_ERROR_IF(ferror(r->in) || errno == ENOMEM, r->err, NOCAP_E_INPUT,
                        "%s: cannot be read: %s", r->path, strerror(errno));
        return NOCAP_OK;
    }
    r->number++;
    r->whole += (uint64_t)length;
    enum nocap_status status = json_tree(tree, r->line, r->path, r->err);
    return status == NOCAP_E_INPUT ? refuse(r, "it is not JSON") : status;
}

static enum nocap_status read_head(struct reading *r, char **list, uint64_t *traces)
{
    struct json_node *tree;
    RETURN_IF_FAILED(next_line(r, &tree));
    const char *hash = json_member_string(tree, "list");
    bool whole = hash != NULL && json_member_whole(tree, "traces", traces);
    *list = whole ? foreign_copy(hash) : NULL;
    json_tree_free(tree);
    return !whole          ? refuse(r, "it lacks \"list\" or \"traces\"")
           : *list == NULL ? nocap_fail(r->err, NOCAP_E_MEMORY, "out of memory")
                           : NOCAP_OK;
}

static enum nocap_status hand_out(struct reading *r, const struct json_node *tree, uint64_t traces,
                                  nocap_journal_sink *sink, void *context)
{
    struct nocap_journal_entry entry = {
        .path = json_member_string(tree, "path"),
        .digest = json_member_string(tree, "digest"),
        .unreadable = json_member_string(tree, "unreadable"),
        .report = json_member(tree, "report"),
        .waivers = json_member(tree, "waivers"),
    };
    bool whole = entry.path != NULL && entry.digest != NULL &&
                 (entry.unreadable != NULL) != (entry.report != NULL) &&
                 json_member_whole(tree, "bytes", &entry.bytes) &&
                 json_member_whole(tree, "at", &entry.at) && entry.at < traces;
    return whole ? sink(context, &entry, r->err) : refuse(r, "a member is missing or wrong");
}

static enum nocap_status read_lines(struct reading *r, nocap_journal_sink *sink, void *context)
{
    struct json_node *tree;
    char *list;
    uint64_t traces;
    RETURN_IF_FAILED(read_head(r, &list, &traces));
    free(list);
    enum nocap_status status = next_line(r, &tree);
    while (status == NOCAP_OK && tree != NULL) {
        status = hand_out(r, tree, traces, sink, context);
        json_tree_free(tree);
        if (status == NOCAP_OK) {
            status = next_line(r, &tree);
        }
    }
    return status;
}

static enum nocap_status open_file(struct reading *r, const char *path, struct nocap_error *err)
{
    *r = (struct reading){.path = path, .in = fopen(path, "re"), .err = err};
    return r->in == NULL ? nocap_fail(err, NOCAP_E_INPUT, "cannot open the journal %s: %s", path,
                                      strerror(errno))
                         : NOCAP_OK;
}

static void close_file(struct reading *r)
{
    fclose(r->in);
    free(r->line);
}

enum nocap_status nocap_journal_list(const char *path, char **list, uint64_t *traces,
                                     struct nocap_error *err)
{
    struct reading r;
    RETURN_IF_FAILED(open_file(&r, path, err));
    enum nocap_status status = read_head(&r, list, traces);
    close_file(&r);
    return status;
}

enum nocap_status nocap_journal_read(const char *path, uint64_t *whole, nocap_journal_sink *sink,
                                     void *context, struct nocap_error *err)
{
    struct reading r;
    RETURN_IF_FAILED(open_file(&r, path, err));
    enum nocap_status status = read_lines(&r, sink, context);
    if (whole != NULL) {
        *whole = r.whole;
    }
    close_file(&r);
    return status;
}

/* ---- writing ---- */

enum nocap_status nocap_journal_head(FILE *out, const char *list, uint64_t traces,
                                     struct nocap_error *err)
{
    struct nocap_json json;
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, "nocap_journal", 1);
    nocap_json_text(&json, "list", list);
    nocap_json_number(&json, "traces", traces);
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}

enum nocap_status nocap_journal_line(FILE *out, const struct nocap_journal_entry *entry,
                                     const struct nocap_report *report,
                                     const struct nocap_waivers *waivers, struct nocap_error *err)
{
    struct nocap_json json;
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, "at", entry->at);
    nocap_json_text(&json, "path", entry->path);
    nocap_json_number(&json, "bytes", entry->bytes);
    nocap_json_text(&json, "digest", entry->digest);
    if (report == NULL) {
        nocap_json_text(&json, "unreadable", entry->unreadable);
    } else {
        nocap_report_put(&json, "report", report);
    }
    if (waivers != NULL) {
        nocap_waivers_json(&json, waivers);
    }
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}
