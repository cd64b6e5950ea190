#include "checker/golden.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checker/golden_store.h"
#include "checker/streams.h"

enum { AGENTS_SHOWN = 4 };

static const char sim[] = "sim ";

/* One trace of the directory, looked at today. */
struct look {
    const char *dir;
    const struct nocap_golden_options *options;
    FILE *out;
    const struct golden_entry *golden;
    struct golden_entry today; /* what the checker says of it; of the trace made again, if it was */
    char stored[PATH_MAX];
    char made[PATH_MAX];  /* the trace made again, "" if it was not */
    bool verdict_differs; /* manifest and today's texts */
    bool content_differs; /* stored and made */
};

static const char *how_made(const struct golden_entry *entry)
{
    const char *made = entry->text[GOLDEN_MADE];
    return strncmp(made, sim, sizeof sim - 1) == 0 ? made + sizeof sim - 1 : NULL;
}

/* Makes a trace into a temporary file, whose path is left in `path`; "" if none was made. */
static enum nocap_status make_again(char path[PATH_MAX], const char *how,
                                    const struct nocap_golden_options *options,
                                    struct nocap_error *err)
{
    const char *directory = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/nocap-golden-XXXXXX",
             directory == NULL || directory[0] == 0 ? "/tmp" : directory);
    int fd = mkstemp(path);
    if (fd < 0) {
        nocap_fail(err, NOCAP_E_OUTPUT, "cannot make a temporary file %s: %s", path,
                   strerror(errno));
        path[0] = 0;
        return NOCAP_E_OUTPUT;
    }
    close(fd);
    return options->make_trace(options->context, how, path, err);
}

static void remove_made(char path[PATH_MAX])
{
    if (path[0] != 0) {
        unlink(path);
    }
}

static const char *name_of(const struct look *look)
{
    return look->golden->text[GOLDEN_NAME];
}

/* Shows which of the texts of today are not those of the manifest. */
static void compare_texts(struct look *look, const char *which)
{
    static const enum golden_key keys[] = {GOLDEN_FINDINGS, GOLDEN_VIOLATED, GOLDEN_DIGEST};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *before = look->golden->text[keys[i]], *after = look->today.text[keys[i]];
        if (strcmp(before, after) != 0) {
            const char *key = golden_key_name(keys[i]);
            fprintf(look->out, "%s: %s of the %s trace differs\n  - %s\n  + %s\n", name_of(look),
                    key, which, before, after);
            look->verdict_differs = true;
        }
    }
}

static enum nocap_status compare_content(struct look *look, struct nocap_error *err)
{
    struct nocap_streams *before = NULL, *after = NULL;
    size_t differences = 0;
    enum nocap_status status = nocap_streams_open(&before, look->stored, err);
    if (status == NOCAP_OK) {
        status = nocap_streams_open(&after, look->made, err);
    }
    if (status == NOCAP_OK) {
        status = nocap_streams_compare(before, after, look->out, AGENTS_SHOWN, &differences, err);
    }
    look->content_differs = differences != 0;
    nocap_streams_close(before);
    nocap_streams_close(after);
    return status;
}

/* A trace that cannot be read any more differs, whatever the reason. */
static enum nocap_status judge_stored(struct look *look, struct nocap_error *err)
{
    enum nocap_status status = golden_judge(&look->today, look->stored, err);
    if (status == NOCAP_E_INPUT) {
        fprintf(look->out, "%s: %s\n", name_of(look), err->text);
        look->content_differs = true;
        return NOCAP_OK;
    }
    if (status == NOCAP_OK) {
        compare_texts(look, "stored");
    }
    return status;
}

static enum nocap_status look_again(struct look *look, struct nocap_error *err)
{
    bool readable = !look->content_differs;
    RETURN_IF_FAILED(make_again(look->made, how_made(look->golden), look->options, err));
    RETURN_IF_FAILED(golden_judge(&look->today, look->made, err));
    if (readable) {
        RETURN_IF_FAILED(compare_content(look, err));
    }
    if (!look->verdict_differs) {
        compare_texts(look, "new");
    }
    return NOCAP_OK;
}

static enum nocap_status look_at(struct look *look, struct nocap_error *err)
{
    golden_path(look->stored, look->dir, name_of(look));
    RETURN_IF_FAILED(judge_stored(look, err));
    if (how_made(look->golden) != NULL && look->options->make_trace != NULL) {
        enum nocap_status status = look_again(look, err);
        if (status != NOCAP_OK) {
            return nocap_fail_context(err, status, "%s: cannot make '%s' again", name_of(look),
                                      look->golden->text[GOLDEN_MADE]);
        }
    }
    bool differs = look->verdict_differs || look->content_differs;
    fprintf(look->out, "%s %s\n", differs ? "DIFFERS" : "ok     ", name_of(look));
    return NOCAP_OK;
}

/* Makes what was seen today the golden trace. */
static enum nocap_status adopt(struct look *look, struct golden_manifest *manifest,
                               struct golden_entry *entry, struct nocap_error *err)
{
    if (look->content_differs) {
        RETURN_ERROR_IF(look->made[0] == 0, err, NOCAP_E_INPUT,
                        "%s cannot be read and cannot be made again: remove it from the manifest "
                        "and record it anew",
                        look->stored);
        RETURN_IF_FAILED(
            golden_store(manifest, look->dir, entry->text[GOLDEN_NAME], look->made, err));
    }
    for (int key = GOLDEN_FINDINGS; key <= GOLDEN_DIGEST; key++) {
        free(entry->text[key]);
        entry->text[key] = look->today.text[key];
        look->today.text[key] = NULL;
    }
    return NOCAP_OK;
}

/* Looks at all traces of the directory; `yes` adopts what differs. */
static enum nocap_status look_at_all(const char *dir, bool yes,
                                     const struct nocap_golden_options *options, FILE *out,
                                     size_t *differences, struct nocap_error *err)
{
    struct golden_manifest manifest;
    *differences = 0;
    enum nocap_status status = golden_manifest_read(&manifest, dir, false, err);
    for (size_t i = 0; status == NOCAP_OK && i < manifest.count; i++) {
        struct golden_entry *entry = &manifest.entries[i];
        struct look look = {.dir = dir, .options = options, .out = out, .golden = entry};
        status = look_at(&look, err);
        if (status == NOCAP_OK && (look.verdict_differs || look.content_differs)) {
            ++*differences;
            status = yes ? adopt(&look, &manifest, entry, err) : NOCAP_OK;
        }
        remove_made(look.made);
        golden_entry_free(&look.today);
    }
    if (status == NOCAP_OK && yes && *differences != 0) {
        status = golden_manifest_write(&manifest, dir, err);
    }
    golden_manifest_free(&manifest);
    return status;
}

/* Options with every member, and a stream to print to. */
static enum nocap_status begin(struct nocap_golden_options *options, FILE **out,
                               const struct nocap_golden_options *given, struct nocap_error *err)
{
    *options = (struct nocap_golden_options){.size = sizeof *options};
    if (given != NULL) {
        memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
    }
    *out = options->out != NULL ? options->out : fopen("/dev/null", "we");
    RETURN_ERROR_IF(*out == NULL, err, NOCAP_E_OUTPUT, "cannot open /dev/null: %s",
                    strerror(errno));
    return NOCAP_OK;
}

enum nocap_status nocap_golden_update(const char *dir, bool yes,
                                      const struct nocap_golden_options *options,
                                      size_t *differences, struct nocap_error *err)
{
    struct nocap_golden_options all;
    struct nocap_error cause;
    FILE *out;
    RETURN_IF_FAILED(begin(&all, &out, options, err));
    enum nocap_status status = look_at_all(dir, yes, &all, out, differences, &cause);
    if (status != NOCAP_OK) {
        nocap_fail(err, status, "%s", cause.text);
    }
    if (out != all.out) {
        fclose(out);
    }
    return status;
}

enum nocap_status nocap_golden_verify(const char *dir, const struct nocap_golden_options *options,
                                      size_t *differences, struct nocap_error *err)
{
    return nocap_golden_update(dir, false, options, differences, err);
}

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
    bool make = strncmp(made, sim, sizeof sim - 1) == 0;
    RETURN_IF_FAILED(check_texts(name, made, reason, err));
    RETURN_ERROR_IF(make && (options == NULL || options->make_trace == NULL), err, NOCAP_E_USAGE,
                    "'%s' cannot be made here: give a trace", made);
    RETURN_ERROR_IF(!make && trace_path == NULL, err, NOCAP_E_USAGE, "'%s' needs a trace", name);
    RETURN_ERROR_IF(mkdir(dir, 0777) != 0 && errno != EEXIST, err, NOCAP_E_OUTPUT,
                    "cannot make the directory %s: %s", dir, strerror(errno));
    enum nocap_status status =
        make ? make_again(path, made + sizeof sim - 1, options, err) : NOCAP_OK;
    if (status == NOCAP_OK) {
        status = record(dir, name, make ? path : trace_path, made, reason, err);
    }
    remove_made(path);
    return status;
}
