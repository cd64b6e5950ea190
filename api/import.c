/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <nocap/import.h>

#include "api/api.h"
#include "base/output_file.h"
#include "formats/import/import.h"

enum nocap_status nocap_import_form_at(size_t i, struct nocap_import_form *form)
{
    if (i >= nocap_import_format_count) {
        return NOCAP_END;
    }
    const struct nocap_import_format *f = &nocap_import_formats[i];
    const struct nocap_import_form out = {.size = sizeof out,
                                          .name = f->name,
                                          .summary = f->summary,
                                          .inputs_max = f->inputs_max,
                                          .takes_arch = f->takes_arch};
    return api_give(form, &out, sizeof out);
}

/* Where the output is standard output there is no file to put in its place. */
static enum nocap_status import_into(const struct nocap_import_format *format,
                                     const char *const *inputs, size_t input_count,
                                     const char *output, const struct nocap_import_options *options,
                                     struct nocap_import_result *result, struct nocap_error *err)
{
    struct output_file file = {.fd = -1};
    RETURN_IF_FAILED(output_file_open(&file, output, O_WRONLY, err));
    enum nocap_status status =
        nocap_import(format, inputs, input_count, file.fd, options, result, err);
    if (status == NOCAP_OK) {
        status = output_file_commit(&file, err);
    }
    output_file_abandon(&file);
    return status;
}

static enum nocap_status report_sums(const struct nocap_import_run_options *o,
                                     const struct nocap_import_result *r,
                                     struct nocap_import_sums *sums, struct nocap_error *err)
{
    for (size_t i = 0; o->remark != NULL && i < r->remark_count; i++) {
        o->remark(o->context, r->remarks[i].text, r->remarks[i].count);
    }
    const struct nocap_import_sums s = {.size = sizeof s,
                                        .events = r->events,
                                        .bytes_in = r->bytes_in,
                                        .bytes_out = r->bytes_out,
                                        .malformed = r->malformed,
                                        .malformed_line = r->malformed_line,
                                        .broken_line = r->broken_line,
                                        .dense = r->dense};
    RETURN_ERROR_IF(sums != NULL && api_give(sums, &s, sizeof s) != NOCAP_OK, err, NOCAP_E_USAGE,
                    "struct nocap_import_sums does not say its size");
    return NOCAP_OK;
}

enum nocap_status nocap_import_run(const char *form, const char *const *inputs, size_t input_count,
                                   const char *output,
                                   const struct nocap_import_run_options *options,
                                   struct nocap_import_sums *sums, struct nocap_error *err)
{
    struct nocap_import_run_options o;
    struct nocap_import_result result = {0};
    RETURN_IF_FAILED(api_take(&o, sizeof o, options, "nocap_import_run_options", err));
    const struct nocap_import_format *format = nocap_import_format_find(form);
    RETURN_ERROR_IF(format == NULL, err, NOCAP_E_USAGE, "there is no form '%.40s' to import", form);
    const struct nocap_import_options inside = {.size = sizeof inside,
                                                .progress = o.progress,
                                                .context = o.context,
                                                .arch = o.arch,
                                                .dense = o.dense};
    RETURN_IF_FAILED(import_into(format, inputs, input_count, output, &inside, &result, err));
    return report_sums(&o, &result, sums, err);
}
