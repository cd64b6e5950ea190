/* SPDX-License-Identifier: Apache-2.0 */
/* Private to api: what the parts of the public interface share. A struct of the caller may be
 * shorter than the library's, from an older program, or longer, from a newer one. */
#ifndef NOCAP_API_H
#define NOCAP_API_H

#include <nocap/check.h>
#include <nocap/trace.h>

#include "base/status.h"

struct nocap_elf_arg;
struct nocap_finding;
struct nocap_header;

/* Makes `to`, of `size` bytes, what the caller's struct says; all zero with `from` NULL. Fails with
 * NOCAP_E_USAGE where its size is not set, or where it has what this library does not know. */
enum nocap_status api_take(void *to, size_t size, const void *from, const char *name,
                           struct nocap_error *err);
/* Fills the caller's struct; what the library's does not have becomes zero. NOCAP_E_USAGE: its size
 * is not set. */
enum nocap_status api_give(void *to, const void *from, size_t size);
/* An event of the caller, under the same rules; nothing is copied where it has the library's size.
 */
const struct nocap_event *api_event(struct nocap_event *room, const struct nocap_event *from);

/* The text without the newline at its end, as snprintf would write it. */
int api_line(char *to, size_t size, const char *text, size_t length);

/* The caller's header in full; freed with nocap_header_free. */
enum nocap_status api_header(struct nocap_header *to, const struct nocap_trace_header *from,
                             struct nocap_error *err);

/* "CORE=FILE" taken apart; `args` is freed with api_elf_free, also after a failure. */
enum nocap_status api_elf_split(struct nocap_elf_arg **args, const char *const *texts, size_t count,
                                struct nocap_error *err);
void api_elf_free(struct nocap_elf_arg *args, size_t count);

struct nocap_check_finding api_finding(const struct nocap_finding *finding);

#endif
