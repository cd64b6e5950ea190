/* SPDX-License-Identifier: Apache-2.0 */
/* Public numbers are written down in include/nocap/, since they never change; here the compiler
 * sees that they are those of the tables. */
#include "formats/trace/event.h"
#include "formats/trace/header.h"

#define SAME(row, number, name)                                                                    \
    _Static_assert((int)(row) == (int)(number), "include/nocap/ has another number for " name)

#define X(name, text) ROW_EV_##name,
enum { NOCAP_KINDS(X) ROW_EV_COUNT };
#undef X
#define X(name, text) SAME(ROW_EV_##name, NOCAP_EV_##name, text);
NOCAP_KINDS(X)
#undef X
SAME(ROW_EV_COUNT, NOCAP_EV_COUNT, "the last of NOCAP_KINDS");

#define X(name, text) ROW_OP_##name,
enum { NOCAP_OPS(X) ROW_OP_COUNT };
#undef X
#define X(name, text) SAME(ROW_OP_##name, NOCAP_OP_##name, text);
NOCAP_OPS(X)
#undef X
SAME(ROW_OP_COUNT, NOCAP_OP_COUNT, "the last of NOCAP_OPS");

#define X(name, text) ROW_BY_##name,
enum { NOCAP_AGENTS(X) ROW_BY_COUNT };
#undef X
#define X(name, text) SAME(ROW_BY_##name, NOCAP_BY_##name, text);
NOCAP_AGENTS(X)
#undef X
SAME(ROW_BY_COUNT, NOCAP_BY_COUNT, "the last of NOCAP_AGENTS");

#define X(name, text) ROW_SPACE_##name,
enum { NOCAP_SPACES(X) ROW_SPACE_COUNT };
#undef X
#define X(name, text) SAME(ROW_SPACE_##name, NOCAP_SPACE_##name, text);
NOCAP_SPACES(X)
#undef X
SAME(ROW_SPACE_COUNT, NOCAP_SPACE_COUNT, "the last of NOCAP_SPACES");

#define X(name, text) ROW_ORDER_##name,
enum { NOCAP_ORDERS(X) ROW_ORDER_COUNT };
#undef X
#define X(name, text) SAME(ROW_ORDER_##name, NOCAP_ORDER_##name, text);
NOCAP_ORDERS(X)
#undef X
SAME(ROW_ORDER_COUNT, NOCAP_ORDER_COUNT, "the last of NOCAP_ORDERS");

#define X(name, text) ROW_MAP_##name,
enum { NOCAP_MAPS(X) ROW_MAP_COUNT };
#undef X
#define X(name, text) SAME(ROW_MAP_##name, NOCAP_MAP_##name, text);
NOCAP_MAPS(X)
#undef X
SAME(ROW_MAP_COUNT, NOCAP_MAP_COUNT, "the last of NOCAP_MAPS");

#define X(name, text) ROW_PHASE_##name,
enum { NOCAP_PHASES(X) ROW_PHASE_COUNT };
#undef X
#define X(name, text) SAME(ROW_PHASE_##name, NOCAP_PHASE_##name, text);
NOCAP_PHASES(X)
#undef X
SAME(ROW_PHASE_COUNT, NOCAP_PHASE_COUNT, "the last of NOCAP_PHASES");

#define X(name, text) ROW_UNIT_##name,
enum { NOCAP_UNITS(X) ROW_UNIT_COUNT };
#undef X
#define X(name, text) SAME(ROW_UNIT_##name, NOCAP_UNIT_##name, text);
NOCAP_UNITS(X)
#undef X
SAME(ROW_UNIT_COUNT, NOCAP_UNIT_COUNT, "the last of NOCAP_UNITS");

#define X(name, text) ROW_BANK_##name,
enum { NOCAP_BANKS(X) ROW_BANK_COUNT };
#undef X
#define X(name, text) SAME(ROW_BANK_##name, NOCAP_BANK_##name, text);
NOCAP_BANKS(X)
#undef X
SAME(ROW_BANK_COUNT, NOCAP_BANK_COUNT, "the last of NOCAP_BANKS");

#define X(name, text) ROW_SIDE_##name,
enum { NOCAP_SIDES(X) ROW_SIDE_COUNT };
#undef X
#define X(name, text) SAME(ROW_SIDE_##name, NOCAP_SIDE_##name, text);
NOCAP_SIDES(X)
#undef X
SAME(ROW_SIDE_COUNT, NOCAP_SIDE_COUNT, "the last of NOCAP_SIDES");

#define X(name, text) ROW_OWNER_##name,
enum { NOCAP_OWNERS(X) ROW_OWNER_COUNT };
#undef X
#define X(name, text) SAME(ROW_OWNER_##name, NOCAP_OWNER_##name, text);
NOCAP_OWNERS(X)
#undef X
SAME(ROW_OWNER_COUNT, NOCAP_OWNER_COUNT, "the last of NOCAP_OWNERS");

#define X(name, text) ROW_WHY_##name,
enum { NOCAP_WHYS(X) ROW_WHY_COUNT };
#undef X
#define X(name, text) SAME(ROW_WHY_##name, NOCAP_WHY_##name, text);
NOCAP_WHYS(X)
#undef X
SAME(ROW_WHY_COUNT, NOCAP_WHY_COUNT, "the last of NOCAP_WHYS");

#define X(name, text) ROW_CLASS_BIT_##name,
enum { NOCAP_CLASSES(X) ROW_CLASS_BIT_COUNT };
#undef X
#define X(name, text) SAME(ROW_CLASS_BIT_##name, NOCAP_CLASS_BIT_##name, text);
NOCAP_CLASSES(X)
#undef X
SAME(ROW_CLASS_BIT_COUNT, NOCAP_CLASS_COUNT, "the last of NOCAP_CLASSES");

#define FIELD(NAME, key, kinds, type, member, home) ROW_FIELD_##NAME,
enum {
#include "formats/trace/fields.def"
    ROW_FIELD_COUNT
};
#undef FIELD
#define FIELD(NAME, key, kinds, type, member, home)                                                \
    SAME(ROW_FIELD_##NAME, NOCAP_FIELD_##NAME, key);                                               \
    _Static_assert(NOCAP_F_##NAME == UINT64_C(1) << ROW_FIELD_##NAME, "the bit of " key);
#include "formats/trace/fields.def"
#undef FIELD
SAME(ROW_FIELD_COUNT, NOCAP_FIELD_COUNT, "the last field");
