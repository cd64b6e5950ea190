/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/golden/golden.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/foreign_text.h"
#include "base/jobs.h"
#include "base/temporary.h"
#include "checker/golden/golden_compare.h"
#include "checker/golden/golden_store.h"

/* Of traces made again that an update keeps until it is confirmed. */
enum { KEPT_BYTES_MAX = 1 << 30 };

/* ---- looking at a directory ---- */

struct work {
    struct golden_compare *looks;
    size_t count;
    atomic_uint_fast64_t kept; /* bytes */
};

/* A manifest has many entries, and each may make a large trace. */
static void bound_kept(struct work *work, struct golden_compare *look)
{
    struct stat st;
    if (look->status != NOCAP_OK || look->made[0] == 0 || stat(look->made, &st) != 0) {
        return;
    }
    uint64_t size = (uint64_t)st.st_size;
    if (atomic_fetch_add(&work->kept, size) + size > KEPT_BYTES_MAX) {
        temporary_remove(look->made);
        look->status = nocap_fail(&look->err, NOCAP_E_INPUT,
                                  "the new traces, up to %s, are larger than %d MiB together: "
                                  "golden traces are small ones",
                                  look->golden->text[GOLDEN_NAME], KEPT_BYTES_MAX >> 20);
    }
}

static void look_at(void *context, size_t i)
{
    struct work *work = context;
    golden_compare(&work->looks[i]);
    bound_kept(work, &work->looks[i]);
}

/* Whether both say the same, though the checker does not of each. */
static bool verdicts_part(const struct golden_compare *look)
{
    const char *const *stored = (const char *const *)look->stored_today.text;
    const char *const *made = (const char *const *)look->made_today.text;
    return made[GOLDEN_FINDINGS] != NULL &&
           (strcmp(stored[GOLDEN_FINDINGS], made[GOLDEN_FINDINGS]) != 0 ||
            strcmp(stored[GOLDEN_VIOLATED], made[GOLDEN_VIOLATED]) != 0);
}

static const char *why_not_made(const struct golden_compare *look)
{
    return look->not_made ? "it was not made again: --run runs what made it"
           : strcmp(look->golden->text[GOLDEN_MADE], NOCAP_GOLDEN_IMPORTED) != 0
               ? "what made it failed"
               : "it cannot be made again: record it with --overwrite";
}

/* Makes what was seen today the golden trace of `entry`. */
static enum nocap_status adopt(struct golden_compare *look, struct golden_entry *entry,
                               const struct golden_manifest *manifest, struct golden_change *change,
                               struct nocap_error *err)
{
    bool replace = look->content_differs || verdicts_part(look);
    if (replace) {
        RETURN_ERROR_IF(look->made[0] == 0, err, NOCAP_E_INPUT, "%s cannot be replaced, for %s",
                        look->stored, why_not_made(look));
        RETURN_IF_FAILED(golden_store(manifest, change, entry->text[GOLDEN_NAME], look->made,
                                      look->options, err));
    }
    struct golden_entry *today = replace ? &look->made_today : &look->stored_today;
    for (int key = GOLDEN_FINDINGS; key <= GOLDEN_DIGEST; key++) {
        free(entry->text[key]);
        entry->text[key] = today->text[key];
        today->text[key] = NULL;
    }
    return NOCAP_OK;
}

/* Tells what was found, in the order of the manifest; the first failure ends it. */
static enum nocap_status print_all(const struct work *work, FILE *out, size_t *differences,
                                   struct nocap_error *err)
{
    size_t not_made = 0;
    for (size_t i = 0; i < work->count; i++) {
        const struct golden_compare *look = &work->looks[i];
        fputs(look->text != NULL ? look->text : "", out);
        if (look->status != NOCAP_OK) {
            return nocap_fail(err, look->status, "%s", look->err.text);
        }
        *differences += golden_compare_differs(look);
        not_made += look->not_made;
    }
    if (not_made != 0) {
        fprintf(out, "%zu of %zu traces were not made again: --run runs what made them\n", not_made,
                work->count);
    }
    return NOCAP_OK;
}

static int is_trace(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name), end = sizeof GOLDEN_SUFFIX - 1;
    return length > end && strcmp(entry->d_name + length - end, GOLDEN_SUFFIX) == 0;
}

/* Traces that lie there and are in no entry look as if they were verified. */
static void print_unlisted(struct golden_manifest *manifest, const char *dir, FILE *out)
{
    struct dirent **files;
    int count = scandir(dir, &files, is_trace, alphasort);
    for (int i = 0; i < count; i++) {
        char *name = files[i]->d_name;
        name[strlen(name) - (sizeof GOLDEN_SUFFIX - 1)] = '\0';
        if (golden_manifest_find(manifest, name) == NULL) {
            foreign_line(out, "unknown %s (not verified: the manifest does not name it)", name);
        }
        free(files[i]);
    }
    if (count >= 0) {
        free(files);
    }
}

/* All were reported by now; a trace that cannot be read outranks a difference. */
static enum nocap_status fail_if_unreadable(const struct work *work, struct nocap_error *err)
{
    const struct golden_compare *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < work->count; i++) {
        count += work->looks[i].unreadable;
        first = first == NULL && work->looks[i].unreadable ? &work->looks[i] : first;
    }
    RETURN_ERROR_IF(first != NULL, err, NOCAP_E_INPUT,
                    "%zu of %zu golden traces cannot be read, the first is %s", count, work->count,
                    first->stored);
    return NOCAP_OK;
}

/* The entry as it stands now, which another program may have changed since it was looked at. */
static enum nocap_status find_unchanged(struct golden_entry **entry,
                                        struct golden_manifest *manifest,
                                        const struct golden_compare *look, struct nocap_error *err)
{
    *entry = golden_manifest_find(manifest, look->golden->text[GOLDEN_NAME]);
    bool same = *entry != NULL;
    for (int key = 0; same && key < GOLDEN_KEY_COUNT; key++) {
        same = strcmp((*entry)->text[key], look->golden->text[key]) == 0;
    }
    RETURN_ERROR_IF(!same, err, NOCAP_E_OUTPUT,
                    "%s/manifest.txt: '%s' was changed by another program meanwhile: update again",
                    look->dir, look->golden->text[GOLDEN_NAME]);
    return NOCAP_OK;
}

/* What others recorded meanwhile stays. */
static enum nocap_status adopt_all(const struct work *work, const char *dir,
                                   struct nocap_error *err)
{
    struct golden_change change;
    struct golden_manifest manifest = {0};
    enum nocap_status status = golden_change_begin(&change, dir, err);
    if (status == NOCAP_OK) {
        status = golden_manifest_read(&manifest, dir, false, err);
    }
    for (size_t i = 0; i < work->count && status == NOCAP_OK; i++) {
        struct golden_compare *look = &work->looks[i];
        struct golden_entry *entry;
        if (golden_compare_differs(look)) {
            status = find_unchanged(&entry, &manifest, look, err);
            status = status == NOCAP_OK ? adopt(look, entry, &manifest, &change, err) : status;
        }
    }
    if (status == NOCAP_OK) {
        status = golden_manifest_write(&manifest, &change, err);
    }
    if (status == NOCAP_OK) {
        status = golden_change_commit(&change, err);
    }
    golden_change_end(&change);
    golden_manifest_free(&manifest);
    return status;
}

static enum nocap_status look_at_all(const char *dir, bool may_update, bool yes,
                                     const struct nocap_golden_options *options, FILE *out,
                                     size_t *differences, bool *updated, struct nocap_error *err)
{
    struct golden_manifest manifest;
    struct work work = {.count = 0};
    enum nocap_status status = golden_manifest_read(&manifest, dir, false, err);
    if (status == NOCAP_OK && manifest.count == 0) {
        status =
            nocap_fail(err, NOCAP_E_INPUT,
                       "%s/manifest.txt names no trace: add some with nocap golden record", dir);
    }
    if (status == NOCAP_OK) {
        work.looks = calloc(manifest.count + 1, sizeof *work.looks);
        status = work.looks == NULL ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory") : NOCAP_OK;
    }
    if (status == NOCAP_OK) {
        work.count = manifest.count;
        for (size_t i = 0; i < work.count; i++) {
            work.looks[i] = (struct golden_compare){
                .dir = dir, .options = options, .golden = &manifest.entries[i], .keep = may_update};
        }
        jobs_run(work.count, options->jobs, look_at, &work);
        status = print_all(&work, out, differences, err);
        print_unlisted(&manifest, dir, out);
    }
    if (status == NOCAP_OK && !may_update) {
        status = fail_if_unreadable(&work, err);
    }
    if (status == NOCAP_OK && may_update && *differences != 0) {
        *updated =
            yes || (options->confirm != NULL && options->confirm(options->context, *differences));
        status = *updated ? adopt_all(&work, dir, err) : NOCAP_OK;
    }
    for (size_t i = 0; i < work.count; i++) {
        golden_compare_free(&work.looks[i]);
    }
    free(work.looks);
    golden_manifest_free(&manifest);
    return status;
}

/* With all options filled in. */
static struct nocap_golden_options options_of(const struct nocap_golden_options *given)
{
    struct nocap_golden_options options = {.size = sizeof options};
    if (given != NULL) {
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    }
    return options;
}

/* With a stream to print to. */
static enum nocap_status begin(const char *dir, bool may_update, bool yes,
                               const struct nocap_golden_options *given, size_t *differences,
                               bool *updated, struct nocap_error *err)
{
    struct nocap_golden_options options = options_of(given);
    *differences = 0;
    *updated = false;
    FILE *out = options.out != NULL ? options.out : fopen("/dev/null", "we");
    RETURN_ERROR_IF(out == NULL, err, NOCAP_E_OUTPUT, "cannot open /dev/null: %s", strerror(errno));
    enum nocap_status status =
        look_at_all(dir, may_update, yes, &options, out, differences, updated, err);
    if (out != options.out) {
        fclose(out);
    }
    return status;
}

enum nocap_status nocap_golden_update(const char *dir, bool yes,
                                      const struct nocap_golden_options *options,
                                      size_t *differences, bool *updated, struct nocap_error *err)
{
    return begin(dir, true, yes, options, differences, updated, err);
}

enum nocap_status nocap_golden_verify(const char *dir, const struct nocap_golden_options *options,
                                      size_t *differences, struct nocap_error *err)
{
    bool updated;
    return begin(dir, false, false, options, differences, &updated, err);
}

/* ---- recording ---- */

static enum nocap_status new_entry(struct golden_entry *entry, const char *name, const char *made,
                                   const char *reason, const char *path,
                                   const struct nocap_golden_options *options,
                                   struct nocap_error *err)
{
    entry->text[GOLDEN_NAME] = strdup(name);
    entry->text[GOLDEN_MADE] = strdup(made);
    entry->text[GOLDEN_REASON] = strdup(reason);
    RETURN_ERROR_IF(entry->text[GOLDEN_NAME] == NULL || entry->text[GOLDEN_MADE] == NULL ||
                        entry->text[GOLDEN_REASON] == NULL,
                    err, NOCAP_E_MEMORY, "out of memory for the manifest");
    return golden_judge(entry, path, options, err);
}

static enum nocap_status check_texts(const char *name, const char *made, const char *reason,
                                     struct nocap_error *err)
{
    RETURN_ERROR_IF(!golden_name_is_good(name), err, NOCAP_E_USAGE,
                    "'%.40s' is no name of a golden trace: use letters, digits, - and _", name);
    RETURN_ERROR_IF(!golden_text_is_good(made) || !golden_text_is_good(reason), err, NOCAP_E_USAGE,
                    "how '%s' is made, and why it is kept, are one line of text each", name);
    return NOCAP_OK;
}

/* A name is taken by an entry of the manifest, or by a file that the manifest does not know. */
static enum nocap_status check_free(struct golden_manifest *manifest, const char *dir,
                                    const char *name, struct nocap_error *err)
{
    char path[PATH_MAX];
    struct stat st;
    golden_path(path, dir, name);
    RETURN_ERROR_IF(golden_manifest_find(manifest, name) != NULL, err, NOCAP_E_USAGE,
                    "%s has a trace '%s' already: update it, take another name, or --overwrite it",
                    dir, name);
    RETURN_ERROR_IF(lstat(path, &st) == 0, err, NOCAP_E_USAGE,
                    "%s is there already, though the manifest does not name it: take another name, "
                    "or --overwrite it",
                    path);
    return NOCAP_OK;
}

/* A trace on its way into a directory. */
struct recording {
    const char *dir, *name, *path, *made, *reason;
    const struct nocap_golden_options *options;
};

static enum nocap_status add(const struct recording *r, struct golden_manifest *manifest,
                             struct golden_entry *entry, struct golden_change *change,
                             struct nocap_error *err)
{
    RETURN_IF_FAILED(golden_manifest_read(manifest, r->dir, true, err));
    if (r->options->overwrite) {
        golden_manifest_remove(manifest, r->name);
    } else {
        RETURN_IF_FAILED(check_free(manifest, r->dir, r->name, err));
    }
    RETURN_IF_FAILED(golden_store(manifest, change, r->name, r->path, r->options, err));
    RETURN_IF_FAILED(golden_manifest_add(manifest, entry, err));
    RETURN_IF_FAILED(golden_manifest_write(manifest, change, err));
    return golden_change_commit(change, err);
}

/* Stores the trace and adds it to the manifest. */
static enum nocap_status record(const struct recording *r, struct nocap_error *err)
{
    struct golden_manifest manifest = {0};
    struct golden_entry entry = {{0}};
    struct golden_change change;
    enum nocap_status status =
        new_entry(&entry, r->name, r->made, r->reason, r->path, r->options, err);
    if (status == NOCAP_OK) {
        status = golden_change_begin(&change, r->dir, err);
        status = status == NOCAP_OK ? add(r, &manifest, &entry, &change, err) : status;
        golden_change_end(&change);
    }
    golden_entry_free(&entry);
    golden_manifest_free(&manifest);
    return status;
}

enum nocap_status nocap_golden_record(const char *dir, const char *name, const char *trace_path,
                                      const char *made, const char *reason,
                                      const struct nocap_golden_options *given,
                                      struct nocap_error *err)
{
    char path[PATH_MAX] = "";
    const struct nocap_golden_options options = options_of(given);
    RETURN_IF_FAILED(check_texts(name, made, reason, err));
    RETURN_ERROR_IF(mkdir(dir, 0777) != 0 && errno != EEXIST, err, NOCAP_E_OUTPUT,
                    "cannot make the directory %s: %s", dir, strerror(errno));
    enum nocap_status status =
        trace_path != NULL ? NOCAP_OK : golden_make(path, made, &options, err);
    RETURN_ERROR_IF(status == NOCAP_END, err, NOCAP_E_USAGE,
                    "'%s' cannot be made here: give a trace", made);
    if (status == NOCAP_OK) {
        const struct recording r = {.dir = dir,
                                    .name = name,
                                    .path = trace_path != NULL ? trace_path : path,
                                    .made = made,
                                    .reason = reason,
                                    .options = &options};
        status = record(&r, err);
    }
    if (status != NOCAP_OK && err != NULL) {
        golden_rewrite_error(path, made, err);
    }
    temporary_remove(path);
    return status;
}
