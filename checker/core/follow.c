/* SPDX-License-Identifier: Apache-2.0 */
/* A check of a trace while it grows. */
#include <stdlib.h>
#include <string.h>

#include "checker/core/check_private.h"
#include "checker/core/feed.h"
#include "formats/import/import.h"

struct nocap_follow {
    struct check check;
    struct nocap_reader *first; /* whose header the engine uses, when there is another */
    struct nocap_merge *merge;
    char *path;
    uint64_t read;   /* events */
    uint64_t latest; /* time of the events read */
};

static enum nocap_status read_more(struct nocap_follow *f, struct nocap_error *err)
{
    const struct nocap_event *events;
    size_t count;
    enum nocap_status status;
    while ((status = nocap_reader_next(f->check.reader, &events, &count, err)) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            f->latest = events[i].t > f->latest ? events[i].t : f->latest;
        }
        f->read += count;
        RETURN_IF_FAILED(nocap_merge_feed(f->merge, events, count, err));
    }
    return status == NOCAP_END ? NOCAP_OK : status;
}

enum nocap_status nocap_follow_open(struct nocap_follow **follow, const char *path,
                                    const struct nocap_check_options *options,
                                    struct nocap_error *err)
{
    struct nocap_follow *f = calloc(1, sizeof *f);
    RETURN_ERROR_IF(f == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = check_init(&f->check, options, err);
    f->check.grows = true;
    f->path = strdup(path);
    if (status == NOCAP_OK) {
        status = check_begin(&f->check, path, err);
    }
    if (status == NOCAP_OK) {
        status = nocap_merge_new(&f->merge, check_take, &f->check, err);
    }
    if (status != NOCAP_OK || f->path == NULL) {
        nocap_follow_close(f, NULL, err);
        return status != NOCAP_OK ? status : nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    }
    *follow = f;
    return NOCAP_OK;
}

enum nocap_status nocap_follow_poll(struct nocap_follow *f, uint64_t bytes, struct nocap_error *err)
{
    uint64_t settled = f->latest;
    nocap_reader_limit(f->check.reader, bytes);
    RETURN_IF_FAILED(read_more(f, err));
    RETURN_IF_FAILED(nocap_merge_commit(f->merge, settled, err));
    nocap_findings_commit(&f->check.findings);
    return NOCAP_OK;
}

struct nocap_engine *nocap_follow_engine(struct nocap_follow *f, uint64_t *events, uint64_t *t)
{
    *events = f->read;
    *t = f->latest;
    return f->check.engine;
}

const struct nocap_integrity *nocap_follow_integrity(const struct nocap_follow *f)
{
    return nocap_reader_integrity(f->check.reader);
}

/* The file may be another than the one that grew, with the same events up to here. */
static enum nocap_status read_rest(struct nocap_follow *f, struct nocap_error *err)
{
    f->first = f->check.reader;
    f->check.reader = NULL;
    RETURN_IF_FAILED(
        nocap_import_open(&f->check.reader, f->path, f->check.options.dense, NULL, err));
    RETURN_IF_FAILED(nocap_reader_seek_index(f->check.reader, f->read, err));
    RETURN_IF_FAILED(read_more(f, err));
    RETURN_IF_FAILED(nocap_merge_finish(f->merge, err));
    return check_judge_end(&f->check, err);
}

enum nocap_status nocap_follow_close(struct nocap_follow *f, struct nocap_report **report,
                                     struct nocap_error *err)
{
    enum nocap_status status = report != NULL ? read_rest(f, err) : NOCAP_END;
    nocap_merge_free(f->merge);
    check_end(&f->check, status == NOCAP_OK, report);
    nocap_reader_close(f->first);
    free(f->path);
    free(f);
    return status;
}
