/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <strings.h>

#include "checker/checker.h"
#include "checker/example.h"

enum {
    A_BLACKHOLE = 1u << NOCAP_ARCH_BLACKHOLE,
    A_WORMHOLE = 1u << NOCAP_ARCH_WORMHOLE,
    A_AIE2PS = 1u << NOCAP_ARCH_AIE2PS,
    A_ANY = (1u << NOCAP_ARCH_COUNT) - 1
};

/* Families by their place in rules.def. */
#define RULE(family, ...)
#define FAMILY(name, archs, title) FAMILY_##name,
enum family {
#include "checker/rules.def"
    FAMILY_COUNT
};
#undef FAMILY
#undef RULE

const struct nocap_family_info nocap_families[] = {
#define RULE(family, ...)
#define FAMILY(name, archs_, title_) {#name, title_, archs_},
#include "checker/rules.def"
#undef FAMILY
#undef RULE
};
const unsigned nocap_family_count = FAMILY_COUNT;

#define EXPLAIN(family, number, ...) +1
_Static_assert((0
#include "checker/explain.def"
                ) == NOCAP_RULE_COUNT,
               "explain.def has a row for every rule of rules.def");
#undef EXPLAIN

const struct nocap_rule_info nocap_rules[NOCAP_RULE_COUNT] = {
#define FAMILY(name, archs, title)
#define RULE(family_, number, severity_, needs_, needs_any_, image, sentence_, source_)            \
    [family_##_##number].id = #family_ "-" #number,                                                \
    [family_##_##number].family = FAMILY_##family_,                                                \
    [family_##_##number].severity = NOCAP_##severity_, [family_##_##number].needs = needs_,        \
    [family_##_##number].needs_any = needs_any_, [family_##_##number].needs_image = image,         \
    [family_##_##number].sentence = sentence_, [family_##_##number].source = source_,
#define ALSO(family_, number, archs_) [family_##_##number].archs = archs_,
#include "checker/rules.def"
#undef RULE
#undef FAMILY
#define EXPLAIN(family_, number, meaning_, violates_, holds_)                                      \
    [family_##_##number].meaning = meaning_, [family_##_##number].violates = violates_,            \
    [family_##_##number].holds = holds_,
#include "checker/explain.def"
#undef EXPLAIN
};

int nocap_rule_from_text(const char *text, size_t length)
{
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (strlen(nocap_rules[i].id) == length &&
            strncasecmp(nocap_rules[i].id, text, length) == 0) {
            return i;
        }
    }
    return -1;
}

int nocap_rule_from_id(const char *id)
{
    return nocap_rule_from_text(id, strlen(id));
}

int nocap_family_from_text(const char *text, size_t length)
{
    for (int i = 0; i < FAMILY_COUNT; i++) {
        if (strlen(nocap_families[i].name) == length &&
            strncasecmp(nocap_families[i].name, text, length) == 0) {
            return i;
        }
    }
    return -1;
}

const char *nocap_severity_name(enum nocap_severity severity)
{
    static const char *const names[NOCAP_SEVERITY_COUNT] = {
        [NOCAP_NOTE] = "note", [NOCAP_WARNING] = "warning", [NOCAP_ERROR] = "error"};
    return (unsigned)severity < NOCAP_SEVERITY_COUNT ? names[severity] : "?";
}

const char *nocap_verdict_name(enum nocap_verdict verdict)
{
    static const char *const names[NOCAP_VERDICT_COUNT] = {[NOCAP_HELD] = "held",
                                                           [NOCAP_VIOLATED] = "violated",
                                                           [NOCAP_NOT_EXERCISED] = "not-exercised",
                                                           [NOCAP_NOT_OBSERVABLE] =
                                                               "not-observable",
                                                           [NOCAP_WAIVED] = "waived"};
    return (unsigned)verdict < NOCAP_VERDICT_COUNT ? names[verdict] : "?";
}
