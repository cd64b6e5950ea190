/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/golden*.c: manifest.txt of a directory of golden traces. '#' begins a comment
 * line; a block a trace:
 *
 *     trace    boot
 *     made     sim boot --tiles 2
 *     reason   boot of two tiles
 *     findings error 0, warning 0, note 1
 *     violated GO-014
 *     digest   host 0123456789abcdef core ... total ...
 *
 * `violated` is "none" or rule ids. Every key once, in this order. */
#ifndef NOCAP_CHECKER_GOLDEN_GOLDEN_MANIFEST_H
#define NOCAP_CHECKER_GOLDEN_GOLDEN_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "checker/golden/golden_change.h"

#define NOCAP_GOLDEN_KEYS(X)                                                                       \
    X(NAME, "trace")                                                                               \
    X(MADE, "made")                                                                                \
    X(REASON, "reason") X(FINDINGS, "findings") X(VIOLATED, "violated") X(DIGEST, "digest")
#define X(name, text) GOLDEN_##name,
enum golden_key { NOCAP_GOLDEN_KEYS(X) GOLDEN_KEY_COUNT };
#undef X

struct golden_entry {
    char *text[GOLDEN_KEY_COUNT]; /* by enum golden_key */
};

struct golden_manifest {
    struct golden_entry *entries; /* by name */
    size_t count;
};

const char *golden_key_name(enum golden_key key);
bool golden_name_is_good(const char *name);
/* Whether a text fits a line of the manifest: not empty, one line, not too long. */
bool golden_text_is_good(const char *text);

/* Reads `dir`/manifest.txt; no file is an empty manifest if `may_lack`. Fails with NOCAP_E_INPUT
 * and "file:line: what". Free it whatever comes. */
enum nocap_status golden_manifest_read(struct golden_manifest *manifest, const char *dir,
                                       bool may_lack, struct nocap_error *err);
/* Adds a new file to the change. */
enum nocap_status golden_manifest_write(const struct golden_manifest *manifest,
                                        struct golden_change *change, struct nocap_error *err);
void golden_manifest_free(struct golden_manifest *manifest);

/* The entry of this name; NULL if there is none. */
struct golden_entry *golden_manifest_find(struct golden_manifest *manifest, const char *name);
/* Takes the entry's texts over, whatever comes, and keeps the order by name. */
enum nocap_status golden_manifest_add(struct golden_manifest *manifest, struct golden_entry *entry,
                                      struct nocap_error *err);
/* Takes the entry out, if it is there. */
void golden_manifest_remove(struct golden_manifest *manifest, const char *name);
void golden_entry_free(struct golden_entry *entry);

#endif
