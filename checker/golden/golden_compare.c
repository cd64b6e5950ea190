/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/golden/golden_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/foreign_text.h"
#include "base/temporary.h"
#include "checker/compare/diff.h"
#include "checker/golden/golden_store.h"

enum { DIFFERENCES_SHOWN = 4, CONTEXT_SHOWN = 2 };

enum nocap_status golden_make(char path[PATH_MAX], const char *made,
                              const struct nocap_golden_options *options, struct nocap_error *err)
{
    path[0] = 0;
    if (options->make_trace == NULL) {
        return NOCAP_END;
    }
    RETURN_IF_FAILED(temporary_make(path, "nocap-golden", err));
    enum nocap_status status = options->make_trace(options->context, made, path, err);
    if (status != NOCAP_OK) {
        temporary_remove(path);
    }
    return status;
}

void golden_rewrite_error(const char *path, const char *made, struct nocap_error *err)
{
    struct nocap_error named;
    char *at = path[0] != 0 ? strstr(err->text, path) : NULL;
    if (at != NULL) {
        snprintf(named.text, sizeof named.text, "%.*swhat '%.500s' made%s", (int)(at - err->text),
                 err->text, made, at + strlen(path));
        *err = named;
    }
}

static const char *name_of(const struct golden_compare *look)
{
    return look->golden->text[GOLDEN_NAME];
}

/* Removes the trace that was made; one that was there already stays. */
static void discard(struct golden_compare *look)
{
    if (look->options->against == NULL) {
        temporary_remove(look->made);
    }
    look->made[0] = 0;
}

/* Shows which texts, FINDINGS to `last`, are not those of the manifest. */
static void compare_texts(struct golden_compare *look, FILE *out, const struct golden_entry *today,
                          const char *which, enum golden_key last)
{
    for (int key = GOLDEN_FINDINGS; key <= (int)last; key++) {
        const char *before = look->golden->text[key], *after = today->text[key];
        if (strcmp(before, after) != 0) {
            foreign_line(out, "%s: %s of the %s trace differs", name_of(look),
                         golden_key_name((enum golden_key)key), which);
            foreign_line(out, "  - %s", before);
            foreign_line(out, "  + %s", after);
            look->verdict_differs = true;
        }
    }
}

static enum nocap_status compare_content(struct golden_compare *look, FILE *out)
{
    const struct nocap_diff_options options = {.size = sizeof options,
                                               .dense = look->options->dense,
                                               .profile = look->options->profile,
                                               .context = CONTEXT_SHOWN,
                                               .max = DIFFERENCES_SHOWN};
    struct nocap_diff *diff;
    RETURN_IF_FAILED(nocap_diff(&diff, look->stored, look->made, &options, &look->err));
    enum nocap_status status = NOCAP_OK;
    if (diff->count != 0) {
        foreign_line(out, "%s: A is the stored trace, B the new one", name_of(look));
        status = nocap_diff_text(out, diff, false, 0, &look->err);
    }
    look->content_differs = diff->count != 0;
    nocap_diff_free(diff);
    return status;
}

/* What blocks, or never ends, is no trace of a directory. */
static enum nocap_status judge_file(struct golden_compare *look)
{
    struct stat st;
    RETURN_ERROR_IF(stat(look->stored, &st) == 0 && !S_ISREG(st.st_mode), &look->err, NOCAP_E_INPUT,
                    "cannot read %s: it is no regular file", look->stored);
    return golden_judge(&look->stored_today, look->stored, look->options, &look->err);
}

/* A trace that cannot be read any more differs, whatever the reason. */
static enum nocap_status judge_stored(struct golden_compare *look, FILE *out)
{
    enum nocap_status status = judge_file(look);
    if (status == NOCAP_E_INPUT) {
        foreign_line(out, "%s: %s", name_of(look), look->err.text);
        look->content_differs = look->unreadable = true;
        return NOCAP_OK;
    }
    if (status == NOCAP_OK) {
        compare_texts(look, out, &look->stored_today, "stored", GOLDEN_DIGEST);
    }
    return status;
}

static bool is_imported(const struct golden_compare *look)
{
    return strcmp(look->golden->text[GOLDEN_MADE], NOCAP_GOLDEN_IMPORTED) == 0;
}

/* The trace that today's run made: by the manifest, or already there. */
static enum nocap_status obtain(struct golden_compare *look)
{
    struct stat st;
    if (look->options->against == NULL) {
        return golden_make(look->made, look->golden->text[GOLDEN_MADE], look->options, &look->err);
    }
    RETURN_ERROR_IF((size_t)snprintf(look->made, sizeof look->made, "%s/%s" GOLDEN_SUFFIX,
                                     look->options->against, name_of(look)) >= sizeof look->made,
                    &look->err, NOCAP_E_INPUT, "the path of the folder is too long");
    bool there = stat(look->made, &st) == 0;
    if (!there && errno == ENOENT && is_imported(look)) { /* no command makes it */
        look->made[0] = 0;
        return NOCAP_END;
    }
    RETURN_ERROR_IF(!there, &look->err, NOCAP_E_INPUT, "cannot read %s: %s", look->made,
                    strerror(errno));
    RETURN_ERROR_IF(!S_ISREG(st.st_mode), &look->err, NOCAP_E_INPUT,
                    "cannot read %s: it is no regular file", look->made);
    return NOCAP_OK;
}

/* The digest of a run is its own: polls differ. What it says is compared instead. */
static enum nocap_status judge_made(struct golden_compare *look, FILE *out)
{
    bool readable = !look->content_differs, any = look->verdict_differs;
    enum nocap_status status = obtain(look);
    if (status == NOCAP_END) {
        look->not_made = !is_imported(look);
        return NOCAP_OK;
    }
    if (status == NOCAP_OK) {
        status = golden_judge(&look->made_today, look->made, look->options, &look->err);
        if (look->options->against == NULL) {
            golden_rewrite_error(look->made, look->golden->text[GOLDEN_MADE], &look->err);
        }
    }
    if (status == NOCAP_E_INPUT) { /* a command failed: the others are still looked at */
        foreign_line(out, "%s: %s", name_of(look), look->err.text);
        discard(look);
        look->content_differs = true;
        return NOCAP_OK;
    }
    if (status == NOCAP_OK && readable) {
        status = compare_content(look, out);
    }
    if (status != NOCAP_OK) {
        return look->options->against != NULL
                   ? nocap_fail_context(&look->err, status, "%s", name_of(look))
                   : nocap_fail_context(&look->err, status, "%s: cannot make '%s' again",
                                        name_of(look), look->golden->text[GOLDEN_MADE]);
    }
    if (!any) {
        compare_texts(look, out, &look->made_today, "new", GOLDEN_VIOLATED);
    }
    return NOCAP_OK;
}

void golden_compare(struct golden_compare *look)
{
    FILE *out = open_memstream(&look->text, &look->text_size);
    if (out == NULL) {
        look->status = nocap_fail(&look->err, NOCAP_E_MEMORY, "out of memory");
        return;
    }
    golden_path(look->stored, look->dir, name_of(look));
    look->status = judge_stored(look, out);
    if (look->status == NOCAP_OK) {
        look->status = judge_made(look, out);
    }
    if (look->status == NOCAP_OK) {
        foreign_line(out, "%s %s%s", golden_compare_differs(look) ? "DIFFERS" : "ok     ",
                     name_of(look), look->not_made ? " (stored trace only)" : "");
    }
    if (!look->keep || !golden_compare_differs(look)) {
        discard(look);
    }
    bool written = !ferror(out);
    written = fclose(out) == 0 && written;
    if (!written && look->status == NOCAP_OK) {
        look->status = nocap_fail(&look->err, NOCAP_E_MEMORY, "out of memory");
    }
}

void golden_compare_free(struct golden_compare *look)
{
    discard(look);
    golden_entry_free(&look->stored_today);
    golden_entry_free(&look->made_today);
    free(look->text);
}
