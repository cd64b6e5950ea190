/* SPDX-License-Identifier: Apache-2.0 */
/* A trace's host drives a simulator of libttsim's interface: its accesses in their order, with the
 * clocks between them, and what it read compared with what it reads now. */
#ifndef NOCAP_DRIVE_H
#define NOCAP_DRIVE_H

#include "base/status.h"
#include "formats/trace/event.h"

enum {
    NOCAP_DRIVE_PATIENCE = 1000000, /* default of `patience` */
    NOCAP_DRIVE_SHOWN = 16,         /* bytes of a difference that are kept */
};

struct nocap_drive_options {
    size_t size;         /* sizeof(struct nocap_drive_options) */
    const char *library; /* the simulator */
    const char *record;  /* a trace of the run to make; NULL: none */
    /* Files that hold what the trace has by its hash alone: whole files, segments of ELF files. */
    const char *const *payloads;
    size_t payload_count;
    uint64_t patience; /* clocks for which a read is repeated until it answers as recorded */
    bool dense;        /* as of nocap_import_open */
    bool perturb;      /* other clocks between accesses, the same ones for the same seed */
    uint64_t seed;
};

enum nocap_drive_outcome {
    NOCAP_DRIVE_AGREES,
    NOCAP_DRIVE_DIFFERS, /* the answer to `at` */
    NOCAP_DRIVE_DIED,    /* the simulator ended the process at `at` */
    NOCAP_DRIVE_NO_DATA, /* the bytes that `at` stores are neither in the trace nor in a payload */
};

struct nocap_drive_result {
    enum nocap_drive_outcome outcome;
    int wait_status;       /* DIED: as waitpid gave it; 0: the library left while it was unloaded */
    struct nocap_event at; /* the access that was done last; no data */
    uint64_t accesses;     /* of the host, that were done */
    uint64_t stores;       /* of them */
    uint64_t compared;     /* reads whose answer was compared */
    uint64_t polls;        /* reads that a later read of the same place decides */
    uint64_t late;         /* compared ones that agreed after some clocks more than recorded .. */
    uint64_t late_most;    /* .. and how many at most */
    uint64_t passed;       /* perturbed: polls that ended with another value than recorded */
    uint64_t clocks;       /* that the simulator ran */
    uint8_t expected[NOCAP_DRIVE_SHOWN], found[NOCAP_DRIVE_SHOWN]; /* DIFFERS: the first of .. */
    uint32_t shown;   /* .. so many bytes; `expected` only if `expected_known` */
    uint64_t differs; /* offset of the first byte that differs, where it is known; else 0 */
    bool expected_known;
};

/* Replays the host of `trace`, a file, in a child process, since a simulator ends its process where
 * it finds a fault. Fails with NOCAP_E_INPUT if trace, library or payloads cannot be read or do
 * not go together, NOCAP_E_OUTPUT if the recording fails. */
enum nocap_status nocap_drive(const char *trace, const struct nocap_drive_options *options,
                              struct nocap_drive_result *result, struct nocap_error *err);

#endif
