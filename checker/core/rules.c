/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <strings.h>

#include "checker/core/checker.h"

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
    for (int i = 0; i < (int)nocap_family_count; i++) {
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

const char *nocap_obstacle_name(enum nocap_obstacle obstacle)
{
    static const char *const names[NOCAP_OBSTACLE_COUNT] = {
        [NOCAP_OBSERVABLE] = "none",       [NOCAP_NO_OBSERVES] = "no-observes",
        [NOCAP_OTHER_ARCH] = "other-arch", [NOCAP_NO_CLASS] = "no-class",
        [NOCAP_NO_IMAGE] = "no-elf",       [NOCAP_NO_PROFILE] = "no-profile",
        [NOCAP_NO_CHIP] = "no-chip"};
    return (unsigned)obstacle < NOCAP_OBSTACLE_COUNT ? names[obstacle] : "?";
}
