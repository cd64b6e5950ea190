/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/golden/golden_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checker/core/checker.h"
#include "checker/golden/digest.h"
#include "checker/golden/golden.h"
#include "formats/import/import.h"

enum { STORE_LEVEL = 19, COPY_BYTES = 1 << 16, TEXT_BYTES = 2048 };

void golden_path(char path[PATH_MAX], const char *dir, const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s" GOLDEN_SUFFIX, dir, name);
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

static enum nocap_status write_all(int fd, const char *data, size_t size, const char *to,
                                   struct nocap_error *err)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        RETURN_ERROR_IF(n < 0, err, NOCAP_E_OUTPUT, "cannot write %s: %s", to, strerror(errno));
        data += n;
        size -= (size_t)n;
    }
    return NOCAP_OK;
}

/* The same bytes, instead of what is in the file: a damaged trace is kept with its damage. */
static enum nocap_status copy_bytes(const char *from, int fd, const char *to,
                                    struct nocap_error *err)
{
    char buffer[COPY_BYTES];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    RETURN_ERROR_IF(in < 0, err, NOCAP_E_INPUT, "cannot open %s: %s", from, strerror(errno));
    enum nocap_status status = NOCAP_OK;
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0) {
        status = nocap_fail(err, NOCAP_E_OUTPUT, "cannot write %s: %s", to, strerror(errno));
    }
    while (status == NOCAP_OK) {
        ssize_t n = read(in, buffer, sizeof buffer);
        if (n == 0) {
            break;
        }
        if (n > 0) {
            status = write_all(fd, buffer, (size_t)n, to, err);
        } else if (errno != EINTR) {
            status = nocap_fail(err, NOCAP_E_INPUT, "cannot read %s: %s", from, strerror(errno));
        }
    }
    close(in);
    return status;
}

static enum nocap_status encode(const char *from, const struct nocap_golden_options *golden, int fd,
                                const char *to, struct nocap_error *err)
{
    static const struct nocap_writer_options options = {.size = sizeof options,
                                                        .level = STORE_LEVEL};
    struct nocap_reader *reader = NULL;
    struct nocap_writer *writer = NULL;
    RETURN_IF_FAILED(nocap_import_open(&reader, from, golden->dense, NULL, err));
    enum nocap_status status = NOCAP_OK;
    if (golden->profile != NULL) {
        status =
            nocap_header_replace_profile(nocap_reader_own_header(reader), golden->profile, err);
    }
    if (status == NOCAP_OK) {
        status = nocap_writer_open_fd(&writer, fd, nocap_reader_header(reader), &options, err);
    }
    if (status == NOCAP_OK) {
        status = copy_events(reader, writer, err);
    }
    bool damaged = nocap_reader_integrity(reader)->count != 0;
    nocap_reader_close(reader);
    if (status == NOCAP_OK && !damaged) {
        status = nocap_writer_close(writer, NULL, err);
    } else {
        nocap_writer_abandon(writer);
    }
    if (status == NOCAP_E_OUTPUT) {
        return nocap_fail_context(err, status, "cannot write %s", to);
    }
    return status == NOCAP_OK && damaged ? copy_bytes(from, fd, to, err) : status;
}

static enum nocap_status check_size(const struct golden_manifest *manifest,
                                    const struct golden_change *change, const char *name,
                                    struct nocap_error *err)
{
    char path[PATH_MAX];
    golden_path(path, change->dir, name);
    uint64_t own = golden_change_size(change, path), bytes = own;
    for (size_t i = 0; i < manifest->count; i++) {
        const char *other = manifest->entries[i].text[GOLDEN_NAME];
        golden_path(path, change->dir, other);
        bytes += strcmp(other, name) == 0 ? 0 : golden_change_size(change, path);
    }
    RETURN_ERROR_IF(bytes > NOCAP_GOLDEN_BYTES_MAX, err, NOCAP_E_USAGE,
                    "%s would hold %" PRIu64 " bytes of traces with '%s' (%" PRIu64
                    "), more than %d: record a shorter run",
                    change->dir, bytes, name, own, NOCAP_GOLDEN_BYTES_MAX);
    return NOCAP_OK;
}

enum nocap_status golden_store(const struct golden_manifest *manifest, struct golden_change *change,
                               const char *name, const char *from,
                               const struct nocap_golden_options *golden, struct nocap_error *err)
{
    char path[PATH_MAX];
    int fd;
    golden_path(path, change->dir, name);
    RETURN_IF_FAILED(golden_change_add(change, path, &fd, err));
    RETURN_IF_FAILED(encode(from, golden, fd, path, err));
    return check_size(manifest, change, name, err);
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
                                     const struct nocap_golden_options *golden,
                                     struct nocap_error *err)
{
    const struct nocap_check_options options = {.size = sizeof options,
                                                .dense = golden->dense,
                                                .trust_paths = golden->trust_paths,
                                                .profile = golden->profile};
    struct nocap_report *report;
    char findings[TEXT_BYTES], violated[TEXT_BYTES] = "";
    RETURN_IF_FAILED(nocap_check(&report, path, &options, err));
    snprintf(findings, sizeof findings, "error %" PRIu64 ", warning %" PRIu64 ", note %" PRIu64,
             report->counts[NOCAP_ERROR], report->counts[NOCAP_WARNING],
             report->counts[NOCAP_NOTE]);
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        size_t used = strlen(violated);
        if (report->rules[i].violations > report->rules[i].waived) { /* no mere consequence */
            snprintf(violated + used, sizeof violated - used, "%s%s", used == 0 ? "" : " ",
                     nocap_rules[i].id);
        }
    }
    nocap_report_free(report);
    RETURN_IF_FAILED(set_text(entry, GOLDEN_FINDINGS, findings, err));
    return set_text(entry, GOLDEN_VIOLATED, violated[0] == 0 ? "none" : violated, err);
}

static enum nocap_status judge_content(struct golden_entry *entry, const char *path,
                                       const struct nocap_golden_options *golden,
                                       struct nocap_error *err)
{
    struct nocap_digest digest;
    char text[TEXT_BYTES];
    size_t used = 0;
    RETURN_IF_FAILED(nocap_digest(&digest, path, golden->dense, golden->profile, err));
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
                               const struct nocap_golden_options *options, struct nocap_error *err)
{
    RETURN_IF_FAILED(judge_rules(entry, path, options, err));
    return judge_content(entry, path, options, err);
}
