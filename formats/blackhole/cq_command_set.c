/* SPDX-License-Identifier: Apache-2.0 */
/* Command sets: that of blackhole-py as it stands in cq_commands.def, and what follows from a set.
 */
#include <stdio.h>
#include <string.h>

#include "formats/blackhole/cq_commands.h"

/* Commands without fields have empty braces, an extension before C23. */
__extension__ const struct nocap_command_set nocap_command_set_default = {
#include "formats/blackhole/cq_default_set.h"
};

#define COMMAND(SIDE, NAME, id, header) [NOCAP_CQ_##SIDE][id] = #NAME,
#define ELSEWHERE(SIDE, NAME, id)       [NOCAP_CQ_##SIDE][id] = #NAME,
static const char *const names[NOCAP_CQ_SUB + 1][NOCAP_CQ_IDS] = {
#include "formats/blackhole/cq_commands.def"
};

#define MEMBER(member) #member,
static const char *const member_names[NOCAP_CQ_MEMBERS] = {
#include "formats/blackhole/cq_commands.def"
};

#define FLAG(SIDE, NAME, BIT, value) {NOCAP_CQ_##SIDE, NOCAP_CQ_##SIDE##_##NAME, #BIT, (value)},
#define FLAG_ELSEWHERE(SIDE, NAME, BIT, value)                                                     \
    {NOCAP_CQ_##SIDE, NOCAP_CQ_##SIDE##_##NAME, #BIT, (value)},
const struct nocap_cq_flag_info nocap_cq_flags[NOCAP_CQ_FLAGS] = {
#include "formats/blackhole/cq_commands.def"
};

const char *nocap_cq_name(enum nocap_cq_side side, unsigned id)
{
    return (unsigned)side <= NOCAP_CQ_SUB && id < NOCAP_CQ_IDS ? names[side][id] : NULL;
}

int nocap_cq_from_name(enum nocap_cq_side side, const char *name)
{
    for (unsigned id = 0; id < NOCAP_CQ_IDS; id++) {
        if (names[side][id] != NULL && strcmp(names[side][id], name) == 0) {
            return (int)id;
        }
    }
    return -1;
}

const char *nocap_cq_member_name(unsigned member)
{
    return member < NOCAP_CQ_MEMBERS ? member_names[member] : NULL;
}

int nocap_cq_member_from_name(const char *name)
{
    for (unsigned i = 0; i < NOCAP_CQ_MEMBERS; i++) {
        if (strcmp(member_names[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

uint64_t nocap_cq_known_flags(const struct nocap_command_set *set, unsigned side, unsigned id)
{
    uint64_t known = 0;
    for (unsigned i = 0; i < NOCAP_CQ_FLAGS; i++) {
        const struct nocap_cq_flag_info *f = &nocap_cq_flags[i];
        known |= f->side == side && f->id == id && set->flags[i] != 0 ? f->value : 0;
    }
    return known;
}

/* ---- what follows from a set ---- */

static bool index_form(struct nocap_command_set *set, unsigned side, unsigned id, char *why,
                       size_t size)
{
    const struct nocap_cq_form *form = &set->forms[side][id];
    for (unsigned i = 0; i < NOCAP_CQ_FORM_FIELDS && form->fields[i].width != 0; i++) {
        const struct nocap_cq_field *f = &form->fields[i];
        if (f->width > 8 || f->offset + f->width > form->header) {
            snprintf(why, size, "%s of %s lies outside of its header of %u bytes",
                     member_names[f->member], names[side][id], form->header);
            return false;
        }
    }
    if (side == NOCAP_CQ_SUB) {
        return true;
    }
    uint8_t *place = &set->ids[side][form->wire];
    if (*place != 0) {
        snprintf(why, size, "%s and %s both have the id %u", names[side][*place - 1],
                 names[side][id], form->wire);
        return false;
    }
    *place = (uint8_t)(id + 1);
    return true;
}

static bool index_flag(struct nocap_command_set *set, unsigned flag, char *why, size_t size)
{
    const struct nocap_cq_flag_info *f = &nocap_cq_flags[flag];
    uint8_t bit = set->flags[flag];
    for (unsigned i = 0; i < flag; i++) {
        if (nocap_cq_flags[i].side == f->side && nocap_cq_flags[i].id == f->id &&
            (set->flags[i] & bit) != 0) {
            snprintf(why, size, "%s and %s of %s share a bit", nocap_cq_flags[i].name, f->name,
                     names[f->side][f->id]);
            return false;
        }
    }
    if (bit != 0 && bit != f->value) {
        set->other_flags[f->side][f->id] = set->adapts = true;
    }
    return true;
}

static bool has_member(const struct nocap_command_set *set, unsigned side, unsigned id,
                       unsigned member)
{
    const struct nocap_cq_field *f = set->forms[side][id].fields;
    for (unsigned i = 0; i < NOCAP_CQ_FORM_FIELDS && f[i].width != 0; i++) {
        if (f[i].member == member) {
            return true;
        }
    }
    return false;
}

bool nocap_command_set_index(struct nocap_command_set *set, char *why, size_t size)
{
    memset(set->ids, 0, sizeof set->ids);
    memset(set->other_flags, 0, sizeof set->other_flags);
    for (unsigned side = 0; side <= NOCAP_CQ_SUB; side++) {
        for (unsigned id = 0; id < NOCAP_CQ_IDS; id++) {
            if (set->forms[side][id].header != 0 && !index_form(set, side, id, why, size)) {
                return false;
            }
        }
    }
    set->multicasts_by_count = has_member(set, NOCAP_CQ_DISPATCH, NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL,
                                          NOCAP_CQ_MEMBER_num_mcast_txns);
    set->whole_length =
        has_member(set, NOCAP_CQ_SUB, NOCAP_CQ_SUB_PACKED_LARGE, NOCAP_CQ_MEMBER_length);
    set->adapts = set->whole_length;
    for (unsigned flag = 0; flag < NOCAP_CQ_FLAGS; flag++) {
        if (!index_flag(set, flag, why, size)) {
            return false;
        }
    }
    return true;
}
