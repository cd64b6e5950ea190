/* SPDX-License-Identifier: Apache-2.0 */
/* Other forms of a trace made into .nocap, as `nocap import` does. */
#ifndef NOCAP_IMPORT_H
#define NOCAP_IMPORT_H

#include <nocap/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A form that can be imported. */
struct nocap_import_form {
    size_t size;         /* sizeof(struct nocap_import_form) */
    const char *name;    /* "noc-json" */
    const char *summary; /* one line */
    size_t inputs_max;
    bool takes_arch; /* the form does not say the architecture */
};

struct nocap_import_run_options {
    size_t size;          /* sizeof(struct nocap_import_run_options) */
    enum nocap_arch arch; /* of the machine, for forms that do not say it */
    bool dense;           /* read on where few bytes hold more than 256 events each */
    /* Called now and then while reading; `total` is 0 where the input cannot tell its size. */
    void (*progress)(void *context, uint64_t bytes_read, uint64_t total);
    /* Called at the end with each thing that the form has and a trace has not, and how often it was
     * met: "12 events ..". */
    void (*remark)(void *context, const char *text, uint64_t count);
    void *context;
};

/* What an import did. Sizes in bytes. */
struct nocap_import_sums {
    size_t size; /* sizeof(struct nocap_import_sums) */
    uint64_t events;
    uint64_t bytes_in;       /* as they stood in the inputs, compressed or not */
    uint64_t bytes_out;      /* the .nocap file */
    uint64_t malformed;      /* lines that are no event; kept in the trace as they stood */
    uint64_t malformed_line; /* the first of them, from 1 */
    uint64_t broken_line;    /* in which the input breaks off; 0: it does not */
    bool dense;              /* few bytes hold more than 256 events each: the rest was left out */
};

/* Number `i` from 0; NOCAP_END: there is no such. */
NOCAP_API enum nocap_status nocap_import_form_at(size_t i, struct nocap_import_form *form);
/* Reads `inputs` ("-": standard input; zstd-compressed ones are recognised by content) of the form
 * and writes the trace `output`. `options` and `sums` may be NULL. Fails with NOCAP_E_INPUT if an
 * input is not of this form, and leaves no output then; lines that are no event do not fail. */
NOCAP_API enum nocap_status nocap_import_run(const char *form, const char *const *inputs,
                                             size_t input_count, const char *output,
                                             const struct nocap_import_run_options *options,
                                             struct nocap_import_sums *sums,
                                             struct nocap_error *err);

#ifdef __cplusplus
}
#endif

#endif
