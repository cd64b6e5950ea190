#include "checker/golden.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checker/golden_look.h"
#include "checker/golden_store.h"

enum { JOBS_MAX = 64 };

/* ---- looking at a directory ---- */

struct work {
    struct golden_look *looks;
    size_t count;
    atomic_size_t next;
};

static void *work_on(void *context)
{
    struct work *work = context;
    size_t i;
    while ((i = atomic_fetch_add(&work->next, 1)) < work->count) {
        golden_look(&work->looks[i]);
    }
    return NULL;
}

/* Threads that cannot be started are not needed: the others do their share. */
static void look_in_parallel(struct work *work, unsigned jobs)
{
    pthread_t ids[JOBS_MAX];
    size_t started = 0;
    while (started + 1 < jobs && started < JOBS_MAX && started + 1 < work->count &&
           pthread_create(&ids[started], NULL, work_on, work) == 0) {
        started++;
    }
    work_on(work);
    for (size_t i = 0; i < started; i++) {
        pthread_join(ids[i], NULL);
    }
}

/* Whether both say the same, though the checker does not of each. */
static bool verdicts_part(const struct golden_look *look)
{
    const char *const *stored = (const char *const *)look->stored_today.text;
    const char *const *made = (const char *const *)look->made_today.text;
    return made[GOLDEN_FINDINGS] != NULL &&
           (strcmp(stored[GOLDEN_FINDINGS], made[GOLDEN_FINDINGS]) != 0 ||
            strcmp(stored[GOLDEN_VIOLATED], made[GOLDEN_VIOLATED]) != 0);
}

/* Makes what was seen today the golden trace. */
static enum nocap_status adopt(struct golden_look *look, const struct golden_manifest *manifest,
                               struct nocap_error *err)
{
    struct golden_entry *entry = look->golden;
    bool replace = look->content_differs || verdicts_part(look);
    if (replace) {
        RETURN_ERROR_IF(
            look->made[0] == 0, err, NOCAP_E_INPUT,
            "%s cannot be replaced, for it cannot be made again: remove it from the manifest "
            "and record it anew",
            look->stored);
        RETURN_IF_FAILED(
            golden_store(manifest, look->dir, entry->text[GOLDEN_NAME], look->made, err));
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
static enum nocap_status tell(const struct work *work, FILE *out, size_t *differences,
                              struct nocap_error *err)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct golden_look *look = &work->looks[i];
        fputs(look->told != NULL ? look->told : "", out);
        if (look->status != NOCAP_OK) {
            return nocap_fail(err, look->status, "%s", look->err.text);
        }
        *differences += golden_look_differs(look);
    }
    return NOCAP_OK;
}

/* All were told by now; a trace that cannot be read is more than a difference. */
static enum nocap_status fail_if_unreadable(const struct work *work, struct nocap_error *err)
{
    const struct golden_look *first = NULL;
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

static enum nocap_status adopt_all(const struct work *work, const char *dir,
                                   const struct golden_manifest *manifest, struct nocap_error *err)
{
    for (size_t i = 0; i < work->count; i++) {
        if (golden_look_differs(&work->looks[i])) {
            RETURN_IF_FAILED(adopt(&work->looks[i], manifest, err));
        }
    }
    return golden_manifest_write(manifest, dir, err);
}

static enum nocap_status look_at_all(const char *dir, bool may_update, bool yes,
                                     const struct nocap_golden_options *options, FILE *out,
                                     size_t *differences, bool *updated, struct nocap_error *err)
{
    struct golden_manifest manifest;
    struct work work = {.next = 0};
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
            work.looks[i] = (struct golden_look){
                .dir = dir, .options = options, .golden = &manifest.entries[i]};
        }
        look_in_parallel(&work, options->jobs);
        status = tell(&work, out, differences, err);
    }
    if (status == NOCAP_OK && !may_update) {
        status = fail_if_unreadable(&work, err);
    }
    if (status == NOCAP_OK && may_update && *differences != 0) {
        *updated =
            yes || (options->confirm != NULL && options->confirm(options->context, *differences));
        status = *updated ? adopt_all(&work, dir, &manifest, err) : NOCAP_OK;
    }
    for (size_t i = 0; i < work.count; i++) {
        golden_look_free(&work.looks[i]);
    }
    free(work.looks);
    golden_manifest_free(&manifest);
    return status;
}

/* With all options filled in, and a stream to print to. */
static enum nocap_status begin(const char *dir, bool may_update, bool yes,
                               const struct nocap_golden_options *given, size_t *differences,
                               bool *updated, struct nocap_error *err)
{
    struct nocap_golden_options options = {.size = sizeof options};
    if (given != NULL) {
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    }
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
                                   const char *reason, const char *path, struct nocap_error *err)
{
    entry->text[GOLDEN_NAME] = strdup(name);
    entry->text[GOLDEN_MADE] = strdup(made);
    entry->text[GOLDEN_REASON] = strdup(reason);
    RETURN_ERROR_IF(entry->text[GOLDEN_NAME] == NULL || entry->text[GOLDEN_MADE] == NULL ||
                        entry->text[GOLDEN_REASON] == NULL,
                    err, NOCAP_E_MEMORY, "out of memory for the manifest");
    return golden_judge(entry, path, err);
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

/* Stores the trace at `path` and adds it to the manifest. */
static enum nocap_status record(const char *dir, const char *name, const char *path,
                                const char *made, const char *reason, struct nocap_error *err)
{
    struct golden_manifest manifest;
    struct golden_entry entry = {{0}};
    enum nocap_status status = golden_manifest_read(&manifest, dir, true, err);
    if (status == NOCAP_OK && golden_manifest_find(&manifest, name) != NULL) {
        status =
            nocap_fail(err, NOCAP_E_USAGE,
                       "%s has a trace '%s' already: update it, or take another name", dir, name);
    }
    if (status == NOCAP_OK) {
        status = new_entry(&entry, name, made, reason, path, err);
    }
    if (status == NOCAP_OK) {
        status = golden_store(&manifest, dir, name, path, err);
    }
    if (status == NOCAP_OK) {
        status = golden_manifest_add(&manifest, &entry, err);
    }
    if (status == NOCAP_OK) {
        status = golden_manifest_write(&manifest, dir, err);
    }
    golden_entry_free(&entry);
    golden_manifest_free(&manifest);
    return status;
}

enum nocap_status nocap_golden_record(const char *dir, const char *name, const char *trace_path,
                                      const char *made, const char *reason,
                                      const struct nocap_golden_options *options,
                                      struct nocap_error *err)
{
    char path[PATH_MAX] = "";
    const struct nocap_golden_options none = {.size = sizeof none};
    RETURN_IF_FAILED(check_texts(name, made, reason, err));
    RETURN_ERROR_IF(mkdir(dir, 0777) != 0 && errno != EEXIST, err, NOCAP_E_OUTPUT,
                    "cannot make the directory %s: %s", dir, strerror(errno));
    enum nocap_status status =
        trace_path != NULL ? NOCAP_OK
                           : golden_make(path, made, options != NULL ? options : &none, err);
    RETURN_ERROR_IF(status == NOCAP_END, err, NOCAP_E_USAGE,
                    "'%s' cannot be made here: give a trace", made);
    if (status == NOCAP_OK) {
        status = record(dir, name, trace_path != NULL ? trace_path : path, made, reason, err);
    }
    if (status != NOCAP_OK && err != NULL) {
        golden_name_maker(path, made, err);
    }
    golden_unmake(path);
    return status;
}
