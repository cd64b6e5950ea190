/* What the client program and the tests that run it agree on. */
#ifndef NOCAP_TESTS_KMD_CLIENT_H
#define NOCAP_TESTS_KMD_CLIENT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/preload/kmd.h"
#include "formats/blackhole/cq_layout.h"
#include "formats/blackhole/tlb.h"

enum {
    CLIENT_THREADS = 4,
    CLIENT_ROUNDS = 200,
    CLIENT_RECORDS = 400, /* more than the issue region holds */
    CLIENT_RECORD_DATA = 200 << 10,
};

#endif
