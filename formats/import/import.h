/* SPDX-License-Identifier: Apache-2.0 */
/* Other forms of a trace made into .nocap, and one call that opens a trace whatever its form. Which
 * formats there are is a table; `nocap import list` prints it. */
#ifndef NOCAP_IMPORT_IMPORT_H
#define NOCAP_IMPORT_IMPORT_H

#include "base/status.h"
#include "formats/rings/recover.h"
#include "formats/trace/trace.h"

/* Something that a format has and a trace has not, and how often it was met: "12 events ..." */
struct nocap_import_remark {
    const char *text; /* static */
    uint64_t count;
};
enum { NOCAP_IMPORT_REMARKS = 16 };

/* What an import did. Sizes in bytes. */
struct nocap_import_result {
    uint64_t events;
    uint64_t bytes_in;       /* as they stood in the input, compressed or not */
    bool dense;              /* more events than nocap_dense allows: the rest was left out */
    uint64_t bytes_out;      /* the .nocap file; 0 where the output cannot tell its size */
    uint64_t malformed;      /* lines that are no event; kept in the trace as they stood */
    uint64_t malformed_line; /* the first of them, from 1 */
    char malformed_why[160];
    uint64_t broken_line; /* in which the input breaks off, and what stands before it was taken: the
                             trace says so too; 0: it does not */
    char broken_why[160];
    struct nocap_import_remark remarks[NOCAP_IMPORT_REMARKS];
    size_t remark_count;
    struct nocap_recovered recovered; /* by nocap_import_open: what a capture left behind */
};

/* Called now and then while reading; `total` is 0 where the input cannot tell its size. */
typedef void nocap_import_progress(void *context, uint64_t bytes_read, uint64_t total);

struct nocap_import_options {
    size_t size;                     /* sizeof(struct nocap_import_options) */
    nocap_import_progress *progress; /* may be NULL */
    void *context;
    enum nocap_arch arch; /* of the machine, for formats that do not say it */
    bool dense;           /* what is beyond nocap_dense is read, too */
};

struct nocap_import_format {
    const char *name;
    const char *summary; /* one line */
    size_t inputs_max;
    bool takes_arch; /* the format does not say the architecture */
    enum nocap_status (*run)(const char *const *inputs, size_t input_count, int out_fd,
                             const struct nocap_import_options *options,
                             struct nocap_import_result *result, struct nocap_error *err);
};
extern const struct nocap_import_format nocap_import_formats[];
extern const size_t nocap_import_format_count;

/* NULL if there is no such format. */
const struct nocap_import_format *nocap_import_format_find(const char *name);

/* Reads `inputs` ("-": standard input; zstd-compressed ones are recognised by content) and writes a
 * .nocap file to the open descriptor `out_fd`. Lines that are no event do not fail the import, see
 * `result`. Fails with NOCAP_E_INPUT if an input is not of this format. `options` may be NULL. */
enum nocap_status nocap_import(const struct nocap_import_format *format, const char *const *inputs,
                               size_t input_count, int out_fd,
                               const struct nocap_import_options *options,
                               struct nocap_import_result *result, struct nocap_error *err);

/* Opens a trace for reading: a .nocap file, or JSON Lines (plain or compressed), which is imported
 * on the way into a temporary file that has no name. "-" is standard input; pipes are fine. What is
 * beyond nocap_dense is left out, and damage, unless `dense`.
 * What a killed capture left in its rings (formats/rings/recover.h) is read as the trace's end.
 * `imported` may be NULL; its `bytes_in` is not 0 exactly if the trace was imported. */
enum nocap_status nocap_import_open(struct nocap_reader **reader, const char *path, bool dense,
                                    struct nocap_import_result *imported, struct nocap_error *err);

/* Whether the file is a trace as far as its beginning tells: nothing is imported. */
enum nocap_status nocap_import_probe(const char *path, struct nocap_error *err);

#endif
