/* SPDX-License-Identifier: Apache-2.0 */
/* Where a finding is, in words, and in which line of which file it is shown. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "checker/report/results.h"

enum { HEADER_LINES = 1, FIRST_LINE = 1 };

/* Appends to `text`, after a comma if something is there. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size,
                                                         const char *format, ...)
{
    va_list args;
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, size - used, "%s", used == 0 ? "" : ", ");
    va_start(args, format);
    vsnprintf(text + used, used < size ? size - used : 0, format, args);
    va_end(args);
}

static void event_place(char *text, size_t size, const struct nocap_finding *finding)
{
    if (finding->chip != 0) {
        append(text, size, "chip %u", finding->chip);
    }
    if (finding->has_tile) {
        append(text, size, "core %u,%u", finding->at.x, finding->at.y);
    }
    if (finding->agent != NOCAP_BY_NONE) {
        char thread[24] = "";
        if (finding->thread >= 0) {
            snprintf(thread, sizeof thread, " thread %d", finding->thread);
        }
        append(text, size, "%s%s", nocap_agent_name(finding->agent), thread);
    }
    append(text, size, "event %" PRIu64, finding->index);
}

static void page_place(char *text, size_t size, const struct nocap_finding *finding)
{
    const struct {
        const char *what;
        uint32_t value;
    } parts[] = {{"uc", finding->uc}, {"page", finding->page}, {"offset", finding->off}};
    if (finding->kernel != NULL) {
        append(text, size, "%s", finding->kernel);
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].value != NOCAP_LINT_NOWHERE) {
            append(text, size, "%s %u", parts[i].what, parts[i].value);
        }
    }
    if (*text == 0) {
        append(text, size, "the file");
    }
}

void nocap_finding_place(char *text, size_t size, const struct nocap_finding *finding)
{
    *text = 0;
    switch (finding->place) {
    case NOCAP_PLACE_EVENT: event_place(text, size, finding); break;
    case NOCAP_PLACE_PAGE: page_place(text, size, finding); break;
    case NOCAP_PLACE_ADDRESS:
        append(text, size, "0x%x", finding->address);
        if (finding->symbol != NULL) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, " (%s+0x%x)", finding->symbol, finding->offset);
        }
        break;
    }
}

void nocap_finding_where(char *text, size_t size, const struct nocap_finding *finding)
{
    nocap_finding_place(text, size, finding);
    if (finding->place == NOCAP_PLACE_EVENT) {
        append(text, size, "t %" PRIu64, finding->t);
    }
}

const char *nocap_finding_file(const struct nocap_finding *finding, const char *path)
{
    return finding->file != NULL ? finding->file : path;
}

uint64_t nocap_event_line(uint64_t index)
{
    return index + HEADER_LINES + FIRST_LINE;
}

uint64_t nocap_finding_line(const struct nocap_finding *finding)
{
    return finding->place == NOCAP_PLACE_EVENT ? nocap_event_line(finding->index) : finding->line;
}

bool nocap_report_lists(const struct nocap_report *report, int rule)
{
    if (report->subject == NOCAP_SUBJECT_TRACE) {
        return true;
    }
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (report->rules[i].obstacle == NOCAP_OBSERVABLE &&
            nocap_rules[i].family == nocap_rules[rule].family) {
            return true;
        }
    }
    return false;
}
