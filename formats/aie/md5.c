/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/md5.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 64, LENGTH_AT = 56 };

/* floor(2^32 * |sin(i + 1)|) */
static const uint32_t addends[BLOCK] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
static const uint8_t shifts[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static uint32_t rotate(uint32_t v, unsigned by)
{
    return v << by | v >> (32 - by);
}

static uint32_t word(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* One of the 64 steps: what the round's function gives of b, c and d, and the word of the block
 * that the step takes. */
#define STEP(i, f, at)                                                                             \
    do {                                                                                           \
        uint32_t mixed = (f) + a + addends[i] + words[at];                                         \
        a = d;                                                                                     \
        d = c;                                                                                     \
        c = b;                                                                                     \
        b += rotate(mixed, shifts[(i) / 16][(i) % 4]);                                             \
    } while (0)

static void add_block(struct nocap_md5 *md5, const uint8_t *block)
{
    enum { ROUND = 16 };
    uint32_t a = md5->state[0], b = md5->state[1], c = md5->state[2], d = md5->state[3];
    uint32_t words[ROUND];
    for (unsigned i = 0; i < ROUND; i++) {
        words[i] = word(block + 4 * i);
    }
    for (unsigned i = 0; i < ROUND; i++) {
        STEP(i, d ^ (b & (c ^ d)), i);
    }
    for (unsigned i = ROUND; i < 2 * ROUND; i++) {
        STEP(i, c ^ (d & (b ^ c)), (5 * i + 1) % ROUND);
    }
    for (unsigned i = 2 * ROUND; i < 3 * ROUND; i++) {
        STEP(i, b ^ c ^ d, (3 * i + 5) % ROUND);
    }
    for (unsigned i = 3 * ROUND; i < 4 * ROUND; i++) {
        STEP(i, c ^ (b | ~d), 7 * i % ROUND);
    }
    md5->state[0] += a;
    md5->state[1] += b;
    md5->state[2] += c;
    md5->state[3] += d;
}

void nocap_md5_init(struct nocap_md5 *md5)
{
    *md5 = (struct nocap_md5){.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}};
}

void nocap_md5_update(struct nocap_md5 *md5, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    while (size > 0) {
        size_t used = md5->length % BLOCK, take = BLOCK - used < size ? BLOCK - used : size;
        if (take == BLOCK) {
            add_block(md5, p);
        } else {
            memcpy(md5->block + used, p, take);
        }
        md5->length += take;
        p += take;
        size -= take;
        if (used != 0 && used + take == BLOCK) {
            add_block(md5, md5->block);
        }
    }
}

void nocap_md5_finish(struct nocap_md5 *md5, char text[33])
{
    static const uint8_t padding[BLOCK] = {0x80};
    uint64_t bits = md5->length * 8;
    size_t used = md5->length % BLOCK;
    uint8_t length[8];
    for (unsigned i = 0; i < 8; i++) {
        length[i] = (uint8_t)(bits >> 8 * i);
    }
    nocap_md5_update(md5, padding, (used < LENGTH_AT ? LENGTH_AT : LENGTH_AT + BLOCK) - used);
    nocap_md5_update(md5, length, sizeof length);
    for (unsigned i = 0; i < 16; i++) {
        snprintf(text + 2 * i, 3, "%02x", (unsigned)(md5->state[i / 4] >> 8 * (i % 4) & 0xff));
    }
}
