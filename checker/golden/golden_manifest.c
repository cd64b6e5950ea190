/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/golden/golden_manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/list.h"

enum { LINE_MAX_BYTES = 4096, NAME_MAX_BYTES = 64, KEY_WIDTH = 8, ENTRIES_MAX = 1024 };

static const char head[] = "# Golden traces; `nocap golden verify` checks them, `nocap golden "
                           "update` rewrites this file.\n";

const char *golden_key_name(enum golden_key key)
{
#define X(name, text) text,
    static const char *const names[] = {NOCAP_GOLDEN_KEYS(X)};
#undef X
    return names[key];
}

bool golden_name_is_good(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t length = strlen(name);
    return length > 0 && length < NAME_MAX_BYTES && strspn(name, allowed) == length;
}

bool golden_text_is_good(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length + KEY_WIDTH + 3 < LINE_MAX_BYTES &&
           strcspn(text, "\r\n") == length && text[0] != ' ' && text[length - 1] != ' ';
}

void golden_entry_free(struct golden_entry *entry)
{
    for (int key = 0; key < GOLDEN_KEY_COUNT; key++) {
        free(entry->text[key]);
        entry->text[key] = NULL;
    }
}

void golden_manifest_free(struct golden_manifest *manifest)
{
    for (size_t i = 0; i < manifest->count; i++) {
        golden_entry_free(&manifest->entries[i]);
    }
    free(manifest->entries);
    *manifest = (struct golden_manifest){0};
}

struct golden_entry *golden_manifest_find(struct golden_manifest *manifest, const char *name)
{
    for (size_t i = 0; i < manifest->count; i++) {
        if (strcmp(manifest->entries[i].text[GOLDEN_NAME], name) == 0) {
            return &manifest->entries[i];
        }
    }
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    const struct golden_entry *e = a, *f = b;
    return strcmp(e->text[GOLDEN_NAME], f->text[GOLDEN_NAME]);
}

enum nocap_status golden_manifest_add(struct golden_manifest *manifest, struct golden_entry *entry,
                                      struct nocap_error *err)
{
    struct golden_entry *next = LIST_NEXT(manifest->entries, manifest->count);
    if (next == NULL) {
        golden_entry_free(entry);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory for the manifest");
    }
    *next = *entry;
    *entry = (struct golden_entry){{0}};
    qsort(manifest->entries, ++manifest->count, sizeof *next, by_name);
    return NOCAP_OK;
}

void golden_manifest_remove(struct golden_manifest *manifest, const char *name)
{
    struct golden_entry *entry = golden_manifest_find(manifest, name);
    if (entry != NULL) {
        golden_entry_free(entry);
        manifest->count--;
        memmove(entry, entry + 1,
                (size_t)(manifest->entries + manifest->count - entry) * sizeof *entry);
    }
}

/* The key that begins the line, -1 if none; `*value` is what follows it. */
static int split(char *line, char **value)
{
    size_t length = strcspn(line, " ");
    *value = line + length;
    *value += strspn(*value, " ");
    for (int key = 0; key < GOLDEN_KEY_COUNT; key++) {
        const char *name = golden_key_name((enum golden_key)key);
        if (strlen(name) == length && memcmp(name, line, length) == 0) {
            return key;
        }
    }
    return -1;
}

/* Where the parser is: the block that is being filled, and the key that must come next. */
struct parser {
    struct golden_manifest *manifest;
    struct golden_entry entry;
    int next; /* enum golden_key */
};

static enum nocap_status take_line(struct parser *parser, char *line, struct nocap_error *err)
{
    char *value;
    if (line[0] == '#' || line[strspn(line, " \t")] == 0) {
        return NOCAP_OK;
    }
    int key = split(line, &value);
    RETURN_ERROR_IF(key != parser->next, err, NOCAP_E_INPUT, "expected '%s', found '%.40s'",
                    golden_key_name((enum golden_key)parser->next), line);
    RETURN_ERROR_IF(!golden_text_is_good(value), err, NOCAP_E_INPUT, "'%s' says nothing",
                    golden_key_name((enum golden_key)key));
    RETURN_ERROR_IF(key == GOLDEN_NAME && (!golden_name_is_good(value) ||
                                           golden_manifest_find(parser->manifest, value) != NULL),
                    err, NOCAP_E_INPUT,
                    "'%.40s' is no name of a trace (letters, digits, - and _), or is there "
                    "twice",
                    value);
    RETURN_ERROR_IF(parser->manifest->count == ENTRIES_MAX, err, NOCAP_E_INPUT,
                    "more than %d traces", ENTRIES_MAX);
    parser->entry.text[key] = strdup(value);
    RETURN_ERROR_IF(parser->entry.text[key] == NULL, err, NOCAP_E_MEMORY,
                    "out of memory for the manifest");
    parser->next = (key + 1) % GOLDEN_KEY_COUNT;
    return parser->next == 0 ? golden_manifest_add(parser->manifest, &parser->entry, err)
                             : NOCAP_OK;
}

static enum nocap_status read_lines(struct parser *parser, FILE *file, const char *path,
                                    struct nocap_error *err)
{
    char line[LINE_MAX_BYTES];
    unsigned number = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        size_t length = strlen(line);
        number++;
        RETURN_ERROR_IF(length + 1 == sizeof line && line[length - 1] != '\n', err, NOCAP_E_INPUT,
                        "%s:%u: the line is longer than %d bytes", path, number,
                        LINE_MAX_BYTES - 2);
        while (length > 0 && strchr("\r\n ", line[length - 1]) != NULL) {
            line[--length] = 0;
        }
        enum nocap_status status = take_line(parser, line, err);
        if (status != NOCAP_OK) {
            return nocap_fail_context(err, status, "%s:%u", path, number);
        }
    }
    RETURN_ERROR_IF(ferror(file), err, NOCAP_E_INPUT, "cannot read %s: %s", path, strerror(errno));
    RETURN_ERROR_IF(parser->next != 0, err, NOCAP_E_INPUT, "%s:%u: the last trace lacks '%s'", path,
                    number, golden_key_name((enum golden_key)parser->next));
    return NOCAP_OK;
}

static void manifest_path(char path[PATH_MAX], const char *dir)
{
    snprintf(path, PATH_MAX, "%s/manifest.txt", dir);
}

enum nocap_status golden_manifest_read(struct golden_manifest *manifest, const char *dir,
                                       bool may_lack, struct nocap_error *err)
{
    char path[PATH_MAX];
    struct stat st;
    struct parser parser = {.manifest = manifest};
    *manifest = (struct golden_manifest){0};
    manifest_path(path, dir);
    /* A FIFO shall not block, and what a link leads to is not for a message that quotes it. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT && may_lack) {
        return NOCAP_OK;
    }
    bool regular = fd < 0 ? errno != ELOOP : fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    FILE *file = fd >= 0 && regular ? fdopen(fd, "r") : NULL;
    if (file == NULL) {
        nocap_fail(err, NOCAP_E_INPUT, "cannot open %s: %s", path,
                   !regular ? "it is no regular file" : strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return NOCAP_E_INPUT;
    }
    enum nocap_status status = read_lines(&parser, file, path, err);
    golden_entry_free(&parser.entry);
    fclose(file);
    return status;
}

enum nocap_status golden_manifest_write(const struct golden_manifest *manifest,
                                        struct golden_change *change, struct nocap_error *err)
{
    char path[PATH_MAX];
    int fd;
    manifest_path(path, change->dir);
    RETURN_IF_FAILED(golden_change_add(change, path, &fd, err));
    int own = dup(fd);
    FILE *file = own >= 0 ? fdopen(own, "w") : NULL;
    if (file == NULL) {
        nocap_fail(err, NOCAP_E_OUTPUT, "cannot write %s: %s", path, strerror(errno));
        if (own >= 0) {
            close(own);
        }
        return NOCAP_E_OUTPUT;
    }
    fputs(head, file);
    for (size_t i = 0; i < manifest->count; i++) {
        fputc('\n', file);
        for (int key = 0; key < GOLDEN_KEY_COUNT; key++) {
            fprintf(file, "%-*s %s\n", KEY_WIDTH, golden_key_name((enum golden_key)key),
                    manifest->entries[i].text[key]);
        }
    }
    bool written = !ferror(file);
    written = fclose(file) == 0 && written;
    RETURN_ERROR_IF(!written, err, NOCAP_E_OUTPUT, "cannot write %s: %s", path, strerror(errno));
    return NOCAP_OK;
}
