/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/profile: the parts of a profile for those who read, print and compare them. */
#ifndef NOCAP_PROFILE_PRIVATE_H
#define NOCAP_PROFILE_PRIVATE_H

#include "formats/profile/profile.h"

/* Highest L1 address, and one more, that a mailbox may reach: after it firmware begins. */
enum { PROFILE_MAILBOX_END = 0x600 };

struct profile_number {
    const char *group, *name; /* "queue", "entry_bytes" */
    bool hex;
    uint8_t width;   /* bytes */
    uint16_t offset; /* in struct nocap_profile */
    uint64_t most;
};
extern const struct profile_number profile_numbers[];
extern const size_t profile_number_count;
/* Of nocap_cq_side, as they are called in JSON. */
extern const char *const profile_sides[NOCAP_CQ_SUB + 1];

uint64_t profile_number_get(const struct nocap_profile *profile, const struct profile_number *n);
void profile_number_set(struct nocap_profile *profile, const struct profile_number *n, uint64_t v);

/* Whether what was put together makes sense; makes the tables that follow from it. */
enum nocap_status profile_complete(struct nocap_profile *profile, struct nocap_error *err);

#endif
