#include "checker/golden_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checker/checker.h"
#include "checker/digest.h"
#include "checker/golden.h"
#include "formats/import/import.h"

enum { STORE_LEVEL = 19, COPY_BYTES = 1 << 16, TEXT_BYTES = 2048 };

void golden_path(char path[PATH_MAX], const char *dir, const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s.nocap", dir, name);
}

static enum nocap_status copy_events(struct nocap_reader *reader, struct nocap_writer *writer,
                                     struct nocap_error *err)
{
    for (;;) {
        const struct nocap_event *events;
        size_t count;
        enum nocap_status status = nocap_reader_next(reader, &events, &count, err);
        if (status != NOCAP_OK) {
            return status == NOCAP_END ? NOCAP_OK : status;
        }
        for (size_t i = 0; i < count; i++) {
            RETURN_IF_FAILED(nocap_writer_add(writer, &events[i], err));
        }
    }
}

/* The same bytes: a damaged file is kept with its damage. */
static enum nocap_status copy_bytes(const char *from, const char *to, struct nocap_error *err)
{
    static const char cannot[] = "cannot copy %s to %s: %s";
    char buffer[COPY_BYTES];
    enum nocap_status status = NOCAP_OK;
    FILE *in = fopen(from, "re"), *out = fopen(to, "we");
    if (in == NULL || out == NULL) {
        status = nocap_fail(err, NOCAP_E_OUTPUT, cannot, from, to, strerror(errno));
        goto end;
    }
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) != 0;) {
        fwrite(buffer, 1, n, out);
    }
    if (ferror(in) || ferror(out) || fflush(out) != 0) {
        status = nocap_fail(err, NOCAP_E_OUTPUT, cannot, from, to, strerror(errno));
    }
end:
    if (in != NULL) {
        fclose(in);
    }
    if (out != NULL) {
        fclose(out);
    }
    return status;
}

static enum nocap_status encode(const char *from, const char *to, struct nocap_error *err)
{
    static const struct nocap_writer_options options = {.size = sizeof options,
                                                        .level = STORE_LEVEL};
    struct nocap_reader *reader = NULL;
    struct nocap_writer *writer = NULL;
    RETURN_IF_FAILED(nocap_trace_open(&reader, from, NULL, err));
    enum nocap_status status =
        nocap_writer_open(&writer, to, nocap_reader_header(reader), &options, err);
    if (status == NOCAP_OK) {
        status = copy_events(reader, writer, err);
    }
    bool damaged = nocap_reader_integrity(reader)->count != 0;
    nocap_reader_close(reader);
    if (status != NOCAP_OK || damaged) {
        nocap_writer_abandon(writer);
        return status != NOCAP_OK ? status : copy_bytes(from, to, err);
    }
    return nocap_writer_close(writer, NULL, err);
}

static uint64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

static enum nocap_status check_size(const struct golden_manifest *manifest, const char *dir,
                                    const char *name, const char *fresh, struct nocap_error *err)
{
    char path[PATH_MAX];
    uint64_t bytes = size_of(fresh);
    for (size_t i = 0; i < manifest->count; i++) {
        const char *other = manifest->entries[i].text[GOLDEN_NAME];
        golden_path(path, dir, other);
        bytes += strcmp(other, name) == 0 ? 0 : size_of(path);
    }
    RETURN_ERROR_IF(bytes > NOCAP_GOLDEN_BYTES_MAX, err, NOCAP_E_USAGE,
                    "%s would hold %" PRIu64 " bytes of traces with '%s' (%" PRIu64
                    "), more than %d: record a shorter run",
                    dir, bytes, name, size_of(fresh), NOCAP_GOLDEN_BYTES_MAX);
    return NOCAP_OK;
}

enum nocap_status golden_store(const struct golden_manifest *manifest, const char *dir,
                               const char *name, const char *from, struct nocap_error *err)
{
    char path[PATH_MAX], fresh[PATH_MAX];
    golden_path(path, dir, name);
    snprintf(fresh, sizeof fresh, "%s/.%s.new", dir, name);
    enum nocap_status status = encode(from, fresh, err);
    if (status == NOCAP_OK) {
        status = check_size(manifest, dir, name, fresh, err);
    }
    if (status == NOCAP_OK && rename(fresh, path) != 0) {
        status = nocap_fail(err, NOCAP_E_OUTPUT, "cannot write %s: %s", path, strerror(errno));
    }
    if (status != NOCAP_OK) {
        unlink(fresh);
    }
    return status;
}

static enum nocap_status set_text(struct golden_entry *entry, enum golden_key key, const char *text,
                                  struct nocap_error *err)
{
    char *copy = strdup(text);
    RETURN_ERROR_IF(copy == NULL, err, NOCAP_E_MEMORY, "out of memory for the manifest");
    free(entry->text[key]);
    entry->text[key] = copy;
    return NOCAP_OK;
}

static enum nocap_status judge_rules(struct golden_entry *entry, const char *path,
                                     struct nocap_error *err)
{
    struct nocap_report *report;
    char findings[TEXT_BYTES], violated[TEXT_BYTES] = "";
    RETURN_IF_FAILED(nocap_check(&report, path, NULL, err));
    snprintf(findings, sizeof findings, "error %" PRIu64 ", warning %" PRIu64 ", note %" PRIu64,
             report->counts[NOCAP_ERROR], report->counts[NOCAP_WARNING],
             report->counts[NOCAP_NOTE]);
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        size_t used = strlen(violated);
        if (report->rules[i].verdict == NOCAP_VIOLATED) {
            snprintf(violated + used, sizeof violated - used, "%s%s", used == 0 ? "" : " ",
                     nocap_rules[i].id);
        }
    }
    nocap_report_free(report);
    RETURN_IF_FAILED(set_text(entry, GOLDEN_FINDINGS, findings, err));
    return set_text(entry, GOLDEN_VIOLATED, violated[0] == 0 ? "none" : violated, err);
}

static enum nocap_status judge_content(struct golden_entry *entry, const char *path,
                                       struct nocap_error *err)
{
    struct nocap_digest digest;
    char text[TEXT_BYTES];
    size_t used = 0;
    RETURN_IF_FAILED(nocap_digest(&digest, path, err));
    for (unsigned kind = 0; kind < NOCAP_STREAM_OBJECT; kind++) {
        if (digest.kind[kind] != 0) { /* some agent of the kind did something */
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %016" PRIx64 " ",
                                     nocap_stream_kind_name((enum nocap_stream_kind)kind),
                                     digest.kind[kind]);
        }
    }
    snprintf(text + used, sizeof text - used, "total %016" PRIx64, digest.total);
    return set_text(entry, GOLDEN_DIGEST, text, err);
}

enum nocap_status golden_judge(struct golden_entry *entry, const char *path,
                               struct nocap_error *err)
{
    RETURN_IF_FAILED(judge_rules(entry, path, err));
    return judge_content(entry, path, err);
}
