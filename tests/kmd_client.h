/* SPDX-License-Identifier: Apache-2.0 */
/* What the client program and the tests that run it agree on. */
#ifndef NOCAP_TESTS_KMD_CLIENT_H
#define NOCAP_TESTS_KMD_CLIENT_H

#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/preload/kmd.h"
#include "formats/blackhole/cq_layout.h"
#include "formats/blackhole/tlb.h"

enum {
    CLIENT_THREADS = 4,
    CLIENT_ROUNDS = 200,
    CLIENT_RECORDS = 400, /* more than the issue region holds */
    CLIENT_RECORD_DATA = 200 << 10,
    CLIENT_QUEUE_X = 14, /* tile of the first prefetcher; others lie two rows further each */
    CLIENT_QUEUE_Y = 2,
    CLIENT_COPY_MOST = 300,   /* bytes of a copy in kmd_ways */
    CLIENT_COPY_FROM = 0x800, /* it goes to here and CLIENT_COPY_OFFSETS - 1 bytes after */
    CLIENT_COPY_OFFSETS = 9,
    CLIENT_COPY_MARK = 0x7F8, /* a store here begins it: offset << 16 | size */
};

/* ---- between the files of the client ---- */

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno));   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

extern int device;
extern uint8_t *windows[CLIENT_THREADS]; /* of 2 MiB each, aimed at 1,2 to 4,2 */
void client_aim(unsigned window, unsigned x, unsigned y);

/* kmd_client_rest.c: what a driver does besides accesses, what its program does with signals, and
 * ways to the device that are not traced. */
void client_rest(void);
void client_reset(void);
void client_masks(void);
void client_untraced(void);
/* kmd_client_queue.c: hosts of command queues. The entry of one record, counted from 1 on, is one
 * too large if `wrong` is its number. */
void client_queues(uint32_t wrong);

#endif
