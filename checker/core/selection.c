/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/selection.h"

#include <string.h>

#include "checker/report/lines.h"

/* Sets every rule that one item of the list names; false if it names none. */
static bool mark(struct nocap_rule_report rules[NOCAP_RULE_COUNT], const char *item, size_t length,
                 bool selected)
{
    int rule = nocap_rule_from_text(item, length);
    if (rule >= 0) {
        rules[rule].selected = selected;
        return true;
    }
    if (length > 2 && memcmp(item + length - 2, "-*", 2) == 0) {
        length -= 2;
    }
    int family = nocap_family_from_text(item, length);
    for (int i = 0; family >= 0 && i < NOCAP_RULE_COUNT; i++) {
        if (nocap_rules[i].family == (unsigned)family) {
            rules[i].selected = selected;
        }
    }
    return family >= 0;
}

/* One pass over the list: the includes, or the excludes. */
static enum nocap_status mark_all(struct nocap_rule_report rules[NOCAP_RULE_COUNT],
                                  const char *list, bool selected, size_t *marked,
                                  struct nocap_error *err)
{
    for (const char *item = list; *item != 0;) {
        size_t length = strcspn(item, ",");
        bool exclude = item[0] == '-';
        if (exclude != selected) {
            RETURN_ERROR_IF(
                !mark(rules, item + exclude, length - exclude, selected), err, NOCAP_E_USAGE,
                "'%.*s' in the list of rules is no rule and no family: `nocap rules` lists them",
                length > 40 ? 40 : (int)length, item);
            ++*marked;
        }
        item += length;
        item += *item == ',';
    }
    return NOCAP_OK;
}

enum nocap_status nocap_selection_parse(struct nocap_rule_report rules[NOCAP_RULE_COUNT],
                                        const char *list, struct nocap_error *err)
{
    size_t includes = 0, excludes = 0;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        rules[i].selected = false;
    }
    if (list != NULL) {
        RETURN_IF_FAILED(mark_all(rules, list, true, &includes, err));
    }
    for (int i = 0; includes == 0 && i < NOCAP_RULE_COUNT; i++) {
        rules[i].selected = true;
    }
    if (list != NULL) {
        RETURN_IF_FAILED(mark_all(rules, list, false, &excludes, err));
        RETURN_ERROR_IF(includes + excludes == 0, err, NOCAP_E_USAGE,
                        "the list of rules is empty: name families or rules, as SYN,GO-003");
    }
    return NOCAP_OK;
}

static void observe(struct nocap_rule_report *report, const struct nocap_rule_info *rule,
                    const struct nocap_header *header, bool image)
{
    uint32_t wanted = rule->needs | rule->needs_any;
    report->obstacle = NOCAP_OBSERVABLE;
    report->missing = report->missing_any = 0;
    if (((nocap_families[rule->family].archs | rule->archs) >> header->arch & 1u) == 0) {
        report->obstacle = NOCAP_OTHER_ARCH;
        return;
    }
    if (wanted != 0 && !header->has_observes) {
        report->obstacle = NOCAP_NO_OBSERVES;
        return;
    }
    report->missing = rule->needs & ~header->observes;
    if (rule->needs_any != 0 && (rule->needs_any & header->observes) == 0) {
        report->missing_any = rule->needs_any;
    }
    if ((report->missing | report->missing_any) != 0) {
        report->obstacle = NOCAP_NO_CLASS;
    } else if (rule->needs_image && !image) {
        report->obstacle = NOCAP_NO_IMAGE;
    }
}

void nocap_selection_observe(struct nocap_rule_report rules[NOCAP_RULE_COUNT],
                             const struct nocap_header *header, bool image)
{
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        observe(&rules[i], &nocap_rules[i], header, image);
    }
}

static bool is_one_of(unsigned family, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(nocap_families[family].name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

void nocap_selection_unexplained(struct nocap_rule_report rules[NOCAP_RULE_COUNT], bool mailbox)
{
    static const char *const families[] = {"CQ", "RST", "SYN", "GO"}; /* the queue's first */
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        bool meant = is_one_of(nocap_rules[i].family, families, mailbox ? 4 : 1) ||
                     (mailbox && i == NOC_032); /* requests that hit a mailbox */
        if (rules[i].obstacle == NOCAP_OBSERVABLE && meant) {
            rules[i].obstacle = NOCAP_NO_PROFILE;
        }
    }
}

static void list_classes(char *text, size_t size, uint32_t classes, const char *last)
{
    size_t count = (size_t)__builtin_popcount(classes), n = 0;
    for (unsigned bit = 0; bit < NOCAP_CLASS_COUNT; bit++) {
        if ((classes >> bit & 1u) != 0) {
            nocap_text_list(text, size, nocap_class_name((enum nocap_class_bit)bit), n++, count,
                            last);
        }
    }
}

static void append(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

void nocap_selection_why(char *text, size_t size, const struct nocap_rule_report *rule,
                         enum nocap_arch arch)
{
    text[0] = 0;
    switch (rule->obstacle) {
    case NOCAP_NO_OBSERVES: append(text, size, "the header does not say what was observed"); break;
    case NOCAP_OTHER_ARCH: snprintf(text, size, "not a rule of %s", nocap_arch_name(arch)); break;
    case NOCAP_NO_CLASS:
        append(text, size, "the trace does not observe ");
        list_classes(text, size, rule->missing, "and");
        append(text, size, rule->missing != 0 && rule->missing_any != 0 ? ", nor " : "");
        list_classes(text, size, rule->missing_any, "or");
        break;
    case NOCAP_NO_PROFILE: append(text, size, "no profile explains what was seen"); break;
    case NOCAP_NO_IMAGE: append(text, size, "no firmware ELF was given"); break;
    case NOCAP_NO_CHIP: append(text, size, "the file does not say its chip"); break;
    case NOCAP_OBSERVABLE:
    case NOCAP_OBSTACLE_COUNT: break;
    }
}
