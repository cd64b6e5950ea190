/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats: the members of the initialiser of the command set of cq_commands.def, which
 * stands in a set of its own and in the default profile. */
#define COMMAND(SIDE, NAME, id, header) .forms[NOCAP_CQ_##SIDE][id] = {(header), (id), {
#define FIELD(member, offset, width)    {NOCAP_CQ_MEMBER_##member, offset, width},
#define END_COMMAND                                                                                \
    }                                                                                              \
    }                                                                                              \
    ,
#define UNHANDLED(SIDE, NAME)        .unhandled[NOCAP_CQ_##SIDE][NOCAP_CQ_##SIDE##_##NAME] = true,
#define FLAG(SIDE, NAME, BIT, value) .flags[NOCAP_CQ_FLAG_##SIDE##_##NAME##_##BIT] = (value),
#include "formats/blackhole/cq_commands.def"
/* Sub-commands have no byte 0. */
#define INDEX_PREFETCH(id) .ids[NOCAP_CQ_PREFETCH][id] = (id) + 1,
#define INDEX_DISPATCH(id) .ids[NOCAP_CQ_DISPATCH][id] = (id) + 1,
#define INDEX_SUB(id)
#define COMMAND(SIDE, NAME, id, header) INDEX_##SIDE(id)
#include "formats/blackhole/cq_commands.def"
