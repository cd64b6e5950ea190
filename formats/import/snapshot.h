/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/import: what others saw of a device that stands still. */
#ifndef NOCAP_IMPORT_SNAPSHOT_H
#define NOCAP_IMPORT_SNAPSHOT_H

#include "formats/import/import.h"

enum { L1_DUMP_INPUTS_MAX = 256 };

/* Bytes of L1, "x,y=FILE" or "x,y@0xADDR=FILE", "chip:x,y.." on other chips: `mem` events. Several
 * of one tile must not hold the same addresses. */
enum nocap_status l1_dump_import(const char *const *inputs, size_t input_count, int out_fd,
                                 const struct nocap_import_options *options,
                                 struct nocap_import_result *result, struct nocap_error *err);
/* The log of tt-metal's watcher: sync words and go words as `mem` events, waypoints and sentences
 * as notes of their tile. */
enum nocap_status watcher_import(const char *const *inputs, size_t input_count, int out_fd,
                                 const struct nocap_import_options *options,
                                 struct nocap_import_result *result, struct nocap_error *err);

/* The writer of a trace that observes nothing but what it is shown. */
enum nocap_status snapshot_writer(struct nocap_writer **writer, int out_fd,
                                  enum nocap_time_unit unit, const char *producer,
                                  struct nocap_error *err);
/* `mem`: from `t` on the bytes are known to stand there. */
enum nocap_status snapshot_memory(struct nocap_writer *writer, uint64_t t, uint16_t chip,
                                  struct nocap_xy at, uint64_t addr, const void *bytes, size_t size,
                                  struct nocap_error *err);

#endif
