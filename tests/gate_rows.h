/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a trace of the coprocessor, and what is found in it. */
#ifndef NOCAP_TESTS_GATE_ROWS_H
#define NOCAP_TESTS_GATE_ROWS_H

#include "tests/rows.h"

#include "checker/core/checker.h"
#include "tests/example.h"

#define TRACE(classes, complete)                                                                   \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"observes\":[" classes "],\"complete\":" complete "}\n"
#define ALL                                                                                        \
    "\"tensix-push\",\"tensix-issue\",\"tensix-unit\",\"core-mmio\",\"core-load\",\"core-store\""
#define COMPLETE TRACE(ALL, "true")
#define ATTACHED TRACE(ALL, "false")
/* a word 0x5120000n of thread 0 */
#define P(n)                   PUSH(10, 0, 0x5120000##n)
#define I(n)                   ISSUE(11, 0, 0x5120000##n)
#define PUSHED                 P(1) P(2) P(3) P(4) P(5) P(6) P(7) P(8) P(9) P(a)
#define MOP_STORE(t, i, value) STORE(t, trisc0, 0xffb800##i, 4, value)
#define MOP_CONFIG                                                                                 \
    MOP_STORE(1, 00, 0x2)                                                                          \
    MOP_STORE(1, 04, 0x2)                                                                          \
    MOP_STORE(1, 08, 0x5e200400)                                                                   \
    MOP_STORE(1, 0c, 0x2000000)                                                                    \
    MOP_STORE(1, 10, 0x2000000)                                                                    \
    MOP_STORE(1, 14, 0x51200003)                                                                   \
    MOP_STORE(1, 18, 0x2000000) MOP_STORE(1, 1c, 0x51200005) MOP_STORE(1, 20, 0x51200006)
/* an issue that states the semaphores */
#define ISSUE_SEM(t, n, word, sem) TENSIX(t, issue, n, word, ",\"sem\":" sem)
#define BRISC_PUSH(t, n, word)     TENSIX(t, push, n, word, ",\"by\":\"brisc\"")
#define DROP(t)                    "{\"t\":" #t ",\"ev\":\"drop\",\"count\":3}\n"
#define NOTE(t)                    "{\"t\":" #t ",\"ev\":\"note\",\"text\":\"end\"}\n"

/* Findings but notes as "TNX-001@6 TNX-013@8", in order. */
static inline const char *findings_of(const char *path)
{
    static char text[512];
    struct nocap_error err = {{0}};
    struct nocap_report *report = NULL;
    const struct nocap_check_options options = {.size = sizeof options, .rules = "TNX"};
    if (nocap_check(&report, path, &options, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < report->finding_count && used < sizeof text - 32; i++) {
        const struct nocap_finding *f = &report->findings[i];
        if (f->severity > NOCAP_NOTE) {
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%s@%llu", used > 0 ? " " : "",
                                 nocap_rules[f->rule].id, (unsigned long long)f->index);
        }
    }
    nocap_report_free(report);
    return text;
}

/* One trace, and what is found in it. */
struct row {
    const char *trace, *expected;
};

static struct rows rows;

static inline void findings_are_as_expected(void **state)
{
    const struct row *row = *state;
    write_text("trace.jsonl", row->trace);
    assert_string_equal(findings_of("trace.jsonl"), row->expected);
}

static inline void row_at(const char *table, int line, const char *trace, const char *expected)
{
    static struct row kept[256];
    static size_t count;
    char name[160];
    if (count == sizeof kept / sizeof kept[0]) {
        abort();
    }
    kept[count] = (struct row){trace, expected};
    snprintf(name, sizeof name, "%s, line %d: %s", table, line,
             expected[0] != 0 ? expected : "nothing");
    rows_add(&rows, name, findings_are_as_expected, &kept[count++]);
}
#define expect_findings(...) row_at(__func__, __LINE__, __VA_ARGS__)

#endif
