/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/elf.h"

#include <stdlib.h>
#include <string.h>

#include "formats/firmware_files.h"

/* "brisc=fw/brisc.elf": `name` is the caller's to free, `path` the rest of `text`. Gives the exit
 * status. */
static int split(const struct cli_call *call, const char *text, char **name, const char **path)
{
    const char *sign = strchr(text, '=');
    if (sign == NULL || sign == text || sign[1] == '\0') {
        return cli_usage(call, "--elf takes CORE=FILE, not '%.100s'", text);
    }
    *path = sign + 1;
    *name = strndup(text, (size_t)(sign - text));
    if (*name == NULL) {
        struct nocap_error err = {"out of memory"};
        return cli_fail(call, NOCAP_E_MEMORY, &err);
    }
    return CLI_EXIT_OK;
}

int cli_elf_with(const struct cli_call *call, const struct cli_list *args,
                 int (*run)(const struct cli_call *call, const struct nocap_elf_arg *elf,
                            size_t count))
{
    struct nocap_elf_arg *elf = calloc(args->count + 1, sizeof *elf);
    if (elf == NULL) {
        const struct nocap_error err = {"out of memory"};
        return cli_fail(call, NOCAP_E_MEMORY, &err);
    }
    int result = CLI_EXIT_OK;
    for (size_t i = 0; result == CLI_EXIT_OK && i < args->count; i++) {
        result = split(call, args->items[i], (char **)&elf[i].name, &elf[i].path);
    }
    result = result == CLI_EXIT_OK ? run(call, elf, args->count) : result;
    for (size_t i = 0; i < args->count; i++) {
        free((char *)elf[i].name);
    }
    free(elf);
    return result;
}

int cli_elf_open(const struct cli_call *call, const struct cli_list *args,
                 struct nocap_elf_cores *cores)
{
    struct nocap_error err;
    for (size_t i = 0; i < args->count; i++) {
        char *name;
        const char *path;
        int result = split(call, args->items[i], &name, &path);
        if (result != CLI_EXIT_OK) {
            return result;
        }
        enum nocap_status status = nocap_elf_cores_add(cores, name, path, &err);
        free(name);
        if (status != NOCAP_OK) {
            return cli_fail(call, status, &err);
        }
    }
    return CLI_EXIT_OK;
}

int cli_elf_open_named(const struct cli_call *call, const char *trace, bool trusted,
                       const struct nocap_header *header, struct nocap_elf_cores *cores)
{
    struct nocap_error err = {{0}}, problem;
    struct firmware_files files;
    enum nocap_status status = firmware_files_open(&files, trace, trusted, &err);
    for (size_t i = 0; status == NOCAP_OK && i < header->firmware_count; i++) {
        status = elf_cores_add_named(cores, &files, &header->firmware[i], &err);
    }
    for (size_t i = 0; firmware_files_problem(&files, i, &problem) == NOCAP_OK; i++) {
        if (problem.text[0] != 0) {
            cli_message(call, "%s", problem.text);
        }
    }
    firmware_files_close(&files);
    return status == NOCAP_OK ? CLI_EXIT_OK : cli_fail(call, status, &err);
}

void cli_elf_unopened(const struct cli_call *call, const struct nocap_report *report)
{
    for (size_t i = 0; i < report->unopened_count; i++) {
        cli_message(call, "%s: %s", report->path, report->notes[report->unopened + i]);
    }
}
