/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/drive: what has to be known of a whole trace before its host is replayed, the
 * files that have bytes which it has not, and the host's memory as the device sees it. */
#ifndef NOCAP_DRIVE_PLAN_H
#define NOCAP_DRIVE_PLAN_H

#include "base/status.h"
#include "formats/trace/trace.h"

/* plan.c: a host polls where its next read of a place comes before any store of it, and where it
 * reads once what it polled elsewhere. */
struct drive_poll {
    uint64_t index, last; /* of the read, and of the one that ends the polling: the same, perhaps */
    uint64_t answer;      /* drive_answer of the read, of the one before if it is the last .. */
    uint64_t end;         /* .. and of the last; 0: not known */
    uint64_t word;        /* the address, whatever the tile */
    bool single;          /* one read: its `answer` is that of the poll before at this address */
};

struct drive_plan {
    struct drive_poll *polls; /* by index */
    size_t count, next;       /* next: for drive_plan_poll */
    unsigned window;          /* a TLB window that the trace leaves alone */
};

/* Reads all of `reader`. Free it whatever comes. */
enum nocap_status drive_plan_make(struct drive_plan *plan, struct nocap_reader *reader,
                                  struct nocap_error *err);
void drive_plan_free(struct drive_plan *plan);
/* The read `index` if it polls, else NULL. Indexes grow. */
const struct drive_poll *drive_plan_poll(struct drive_plan *plan, uint64_t index);
/* A number for the bytes that a read gave. */
uint64_t drive_answer(const void *bytes, size_t size);

/* payload.c */
struct drive_payload;
struct drive_payloads {
    struct drive_payload *items;
    size_t count;
};

enum nocap_status drive_payloads_read(struct drive_payloads *payloads, const char *const *paths,
                                      size_t count, struct nocap_error *err);
void drive_payloads_free(struct drive_payloads *payloads);
/* Copies the bytes of an access to `to`: those of the trace, or of its hash a whole file, a segment
 * as it is in memory, or zeros. False: they are nowhere. */
bool drive_bytes(const struct drive_payloads *payloads, const struct nocap_event *e, uint8_t *to);

/* host_memory.c: what was never stored is 0. One in a process, since a simulator's callbacks have
 * no context. Fails with NOCAP_E_MEMORY. */
enum nocap_status drive_memory_store(uint64_t addr, const void *data, size_t size,
                                     struct nocap_error *err);
void drive_memory_load(uint64_t addr, void *data, size_t size);
/* The device read this, as recorded: what it fetches there next, and in that size, is the same,
 * whatever it stored before. */
enum nocap_status drive_memory_expect(uint64_t addr, const void *data, size_t size,
                                      struct nocap_error *err);
void drive_memory_fetch(uint64_t addr, void *data, size_t size);

#endif
