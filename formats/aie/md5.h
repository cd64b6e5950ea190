/* SPDX-License-Identifier: Apache-2.0 */
/* MD5, which names control code files. Not for anything that must resist an attacker. Source: RFC
 * 1321. */
#ifndef NOCAP_AIE_MD5_H
#define NOCAP_AIE_MD5_H

#include <stddef.h>
#include <stdint.h>

struct nocap_md5 {
    uint32_t state[4];
    uint64_t length; /* bytes so far */
    uint8_t block[64];
};

void nocap_md5_init(struct nocap_md5 *md5);
void nocap_md5_update(struct nocap_md5 *md5, const void *bytes, size_t size);
/* 32 hexadecimal digits, lower case, terminated. */
void nocap_md5_finish(struct nocap_md5 *md5, char text[33]);

#endif
