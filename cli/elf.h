/* The option --elf CORE=FILE. */
#ifndef NOCAP_CLI_ELF_H
#define NOCAP_CLI_ELF_H

#include "checker/checker.h"
#include "cli/verb.h"
#include "formats/elf_cores.h"

/* "brisc=fw/brisc.elf": `name` is the caller's to free, `path` the rest of `text`. Gives the exit
 * status. */
int cli_elf_split(const struct cli_call *call, const char *text, char **name, const char **path);

/* Calls `run` with the arguments taken apart. Gives the exit status. */
int cli_elf_with(const struct cli_call *call, const struct cli_list *args,
                 int (*run)(const struct cli_call *call, const struct nocap_elf_arg *elf,
                            size_t count));

/* Opens what the arguments name, and for other cores what the header names and can be read. The
 * caller closes the cores, whatever comes. */
int cli_elf_open(const struct cli_call *call, const struct cli_list *args,
                 const struct nocap_header *header, struct nocap_elf_cores *cores);

#endif
