/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the core that the fake driver plays (kmd.c): offsets in the first window. */
#ifndef NOCAP_TESTS_FAKE_KMD_H
#define NOCAP_TESTS_FAKE_KMD_H

enum { FAKE_GO = 0x370, FAKE_LAUNCHES = 0x1000 };

#endif
