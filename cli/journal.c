/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "checker/report/journal.h"
#include "checker/report/parts.h"
#include "checker/report/waivers.h"
#include "cli/check_jobs.h"

enum { CRASHES_MAX = 2, LOCK_TRIES = 20, LOCK_PAUSE = 100000000 /* ns */ };

/* ---- one trace ---- */

enum nocap_status cli_journal_judge(const void *context, uint64_t at, FILE *out,
                                    struct nocap_error *err)
{
    const struct cli_journal_run *run = context;
    char digest[CLI_DIGEST_TEXT];
    struct nocap_report *report = NULL;
    struct nocap_journal_entry entry = {
        .at = at, .path = run->call->operands.items[at], .digest = digest};
    enum nocap_status status = cli_digest_file(entry.path, digest, &entry.bytes, err);
    if (status == NOCAP_OK || status == NOCAP_E_INPUT) {
        status = cli_check_one(run->options, &report, entry.path, err);
    }
    if (status == NOCAP_OK || status == NOCAP_E_INPUT) {
        entry.unreadable = err->text;
        status = nocap_journal_line(out, &entry, report, run->options->accepted, err);
    }
    nocap_report_free(report);
    return status;
}

/* ---- the file ---- */

/* What is known of a trace of the list. */
struct known {
    bool done; /* the journal has its result, and it is the same file */
    unsigned crashes;
};

struct journal {
    const struct cli_journal_run *run;
    const char *path;
    int fd;
    struct known *known; /* of all operands */
};

static enum nocap_status append(const struct journal *journal, const char *line, size_t size,
                                struct nocap_error *err)
{
    while (size != 0) {
        ssize_t n = write(journal->fd, line, size);
        RETURN_ERROR_IF(n < 0 && errno != EINTR, err, NOCAP_E_OUTPUT, "%s: cannot be written: %s",
                        journal->path, strerror(errno));
        line += n < 0 ? 0 : n;
        size -= n < 0 ? 0 : (size_t)n;
    }
    RETURN_ERROR_IF(fsync(journal->fd) != 0, err, NOCAP_E_OUTPUT, "%s: cannot be written: %s",
                    journal->path, strerror(errno));
    return NOCAP_OK;
}

/* Appends what `print` writes. */
static enum nocap_status append_printed(const struct journal *journal,
                                        const struct nocap_journal_entry *entry,
                                        struct nocap_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    RETURN_ERROR_IF(out == NULL, err, NOCAP_E_MEMORY, "out of memory");
    const struct nocap_shard *shard = &journal->run->spread->shard;
    enum nocap_status status = entry == NULL
                                   ? nocap_journal_head(out, shard->list, shard->traces, err)
                                   : nocap_journal_line(out, entry, NULL, NULL, err);
    if (fclose(out) != 0 && status == NOCAP_OK) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    }
    if (status == NOCAP_OK) {
        status = append(journal, text, size, err);
    }
    free(text);
    return status;
}

/* An earlier result counts if the file is the one that was judged. */
static enum nocap_status recall(void *context, const struct nocap_journal_entry *entry,
                                struct nocap_error *err)
{
    struct journal *journal = context;
    char digest[CLI_DIGEST_TEXT];
    uint64_t bytes;
    (void)cli_digest_file(journal->run->call->operands.items[entry->at], digest, &bytes, err);
    journal->known[entry->at].done = bytes == entry->bytes && strcmp(digest, entry->digest) == 0;
    return NOCAP_OK;
}

/* What stands there is of this list, and ends with a whole line. */
static enum nocap_status go_on(struct journal *journal, struct nocap_error *err)
{
    char *list;
    uint64_t traces, whole = 0;
    RETURN_IF_FAILED(nocap_journal_list(journal->path, &list, &traces, err));
    bool same = strcmp(list, journal->run->spread->list) == 0;
    free(list);
    RETURN_ERROR_IF(!same, err, NOCAP_E_USAGE,
                    "%s: it is the journal of other traces, other options or another version: name "
                    "another file, or remove it",
                    journal->path);
    RETURN_IF_FAILED(nocap_journal_read(journal->path, &whole, recall, journal, err));
    RETURN_ERROR_IF(ftruncate(journal->fd, (off_t)whole) != 0, err, NOCAP_E_OUTPUT,
                    "%s: cannot be written: %s", journal->path, strerror(errno));
    return NOCAP_OK;
}

/* Whether nothing but a part of a first line stands there. */
static bool is_begun(const struct journal *journal)
{
    char bytes[4096];
    ssize_t n = pread(journal->fd, bytes, sizeof bytes, 0);
    return n > 0 && memchr(bytes, '\n', (size_t)n) != NULL;
}

/* The processes of a run that was killed hold the file until they are gone, too. */
static bool lock(int fd)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            return true;
        }
        nanosleep(&pause, NULL);
    }
    return false;
}

static enum nocap_status open_journal(struct journal *journal, struct nocap_error *err)
{
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    RETURN_ERROR_IF(journal->fd < 0, err, NOCAP_E_OUTPUT, "cannot open the journal %s: %s",
                    journal->path, strerror(errno));
    struct stat about;
    RETURN_ERROR_IF(fstat(journal->fd, &about) != 0 || !S_ISREG(about.st_mode), err, NOCAP_E_OUTPUT,
                    "%s: a journal is read again: it must be a regular file", journal->path);
    RETURN_ERROR_IF(!lock(journal->fd), err, NOCAP_E_USAGE, "%s: another run is writing to it",
                    journal->path);
    if (is_begun(journal)) {
        return go_on(journal, err);
    }
    RETURN_ERROR_IF(ftruncate(journal->fd, 0) != 0, err, NOCAP_E_OUTPUT, "%s: %s", journal->path,
                    strerror(errno));
    return append_printed(journal, NULL, err);
}

/* ---- the run ---- */

/* Traces that are to be judged, the largest first. */
struct queue {
    uint64_t *at;
    size_t count, next;
};

static int by_size(const void *a, const void *b, void *context)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    const uint64_t *bytes = context;
    return bytes[x] != bytes[y] ? (bytes[x] > bytes[y] ? -1 : 1) : (x < y ? -1 : 1);
}

static enum nocap_status line_up(const struct journal *journal, struct queue *queue,
                                 struct nocap_error *err)
{
    const struct cli_spread *spread = journal->run->spread;
    /* a trace stands there once more for each crash */
    *queue = (struct queue){.at = calloc(spread->count * CRASHES_MAX + 1, sizeof *queue->at)};
    RETURN_ERROR_IF(queue->at == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < spread->count; i++) {
        if (!journal->known[spread->at[i]].done) {
            queue->at[queue->count++] = spread->at[i];
        }
    }
    qsort_r(queue->at, queue->count, sizeof *queue->at, by_size, spread->bytes);
    return NOCAP_OK;
}

/* Its process crashed: once more, or never again. */
static enum nocap_status note_crash(struct journal *journal, struct queue *queue,
                                    const struct crew_result *result, struct nocap_error *err)
{
    char text[256], digest[CLI_DIGEST_TEXT];
    struct nocap_journal_entry entry = {.at = result->at,
                                        .path = journal->run->call->operands.items[result->at],
                                        .unreadable = text,
                                        .digest = digest};
    if (++journal->known[result->at].crashes < CRASHES_MAX) {
        queue->at[queue->count++] = result->at;
        return NOCAP_OK;
    }
    snprintf(text, sizeof text, "%.200s: crashed the checker (%s)", entry.path,
             strsignal(result->signal));
    (void)cli_digest_file(entry.path, digest, &entry.bytes, err);
    return append_printed(journal, &entry, err);
}

static enum nocap_status keep(struct journal *journal, struct queue *queue,
                              const struct crew_result *result, struct nocap_error *err)
{
    if (result->signal != 0) {
        return note_crash(journal, queue, result, err);
    }
    RETURN_ERROR_IF(result->status != NOCAP_OK, err, result->status, "%s", result->text);
    return append(journal, result->text, result->size, err);
}

static enum nocap_status judge_all(struct journal *journal, struct queue *queue, struct crew *crew,
                                   struct nocap_error *err)
{
    size_t busy = 0;
    while (queue->next < queue->count || busy != 0) {
        struct crew_result result;
        while (busy < crew->size && queue->next < queue->count) {
            RETURN_IF_FAILED(crew->give(crew, queue->at[queue->next++], err));
            busy++;
        }
        RETURN_IF_FAILED(crew->take(crew, &result, err));
        busy--;
        enum nocap_status status = keep(journal, queue, &result, err);
        free(result.text);
        RETURN_IF_FAILED(status);
    }
    return NOCAP_OK;
}

/* What the journal has now, for the whole list or this part of it. */
static enum nocap_status collect(const struct journal *journal, struct nocap_results *results,
                                 struct nocap_error *err)
{
    struct nocap_parts *parts;
    uint64_t missing;
    RETURN_IF_FAILED(nocap_parts_new(&parts, err));
    enum nocap_status status = nocap_parts_read(parts, journal->path, err);
    if (status == NOCAP_OK) {
        status = nocap_parts_results(parts, results, &missing, err);
    }
    nocap_parts_free(parts);
    return status;
}

static enum nocap_status run_all(struct journal *journal, struct crew *crew,
                                 struct nocap_results *results, struct nocap_error *err)
{
    struct queue queue = {NULL, 0, 0};
    enum nocap_status status = open_journal(journal, err);
    if (status == NOCAP_OK) {
        status = line_up(journal, &queue, err);
    }
    if (status == NOCAP_OK) {
        status = judge_all(journal, &queue, crew, err);
    }
    free(queue.at);
    return status == NOCAP_OK ? collect(journal, results, err) : status;
}

int cli_journal_run(const struct cli_journal_run *run, const char *path, struct crew *crew,
                    struct nocap_results *results)
{
    struct nocap_error err;
    struct journal journal = {.run = run, .path = path, .fd = -1};
    journal.known = calloc(run->call->operands.count + 1, sizeof *journal.known);
    enum nocap_status status = journal.known == NULL
                                   ? nocap_fail(&err, NOCAP_E_MEMORY, "out of memory")
                                   : run_all(&journal, crew, results, &err);
    free(journal.known);
    if (journal.fd >= 0) {
        close(journal.fd);
    }
    return status == NOCAP_OK ? CLI_EXIT_OK : cli_fail(run->call, status, &err);
}
