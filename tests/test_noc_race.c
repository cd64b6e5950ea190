/* SPDX-License-Identifier: Apache-2.0 */
/* Races of NOC requests on whole traces: the barrier and order faults that hang real programs, each
 * rebuilt as a small trace, and beside it the same trace repaired, on which nothing may be said. */
#include "tests/temp_dir.h"

#include "checker/core/checker.h"
#include "formats/import/import.h"
#include "replay/core/engine_private.h"
#include "replay/noc/noc_private.h"
#include "replay/race/race_private.h"

#define HEAD                                                                                       \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p150\",\"observes\":[\"host-mmio\","          \
    "\"core-store\",\"core-load\",\"core-mmio\",\"noc\",\"noc-barrier\",\"kernel\"]}\n"
#define HEAD_WORMHOLE                                                                              \
    "{\"nocap\":1,\"arch\":\"wormhole\",\"observes\":[\"noc\",\"noc-barrier\",\"kernel\"]}\n"
#define REQUEST(t, xy, by, noc, op, rest)                                                          \
    "{\"t\":" #t ",\"ev\":\"noc\"," xy ",\"by\":\"" by "\",\"noc\":" #noc ",\"op\":\"" op          \
    "\"," rest "}\n"
#define ENDS(t, xy, by, noc, op, phase) REQUEST(t, xy, by, noc, op, "\"phase\":\"" phase "\"")
#define LOADS(t, xy, by, addr, value)                                                              \
    "{\"t\":" #t ",\"ev\":\"read\",\"by\":\"" by "\"," xy ",\"addr\":\"" addr                      \
    "\",\"size\":4,\"value\":\"" value "\"}\n"
#define STORES(t, xy, by, addr, value)                                                             \
    "{\"t\":" #t ",\"ev\":\"write\",\"by\":\"" by "\"," xy ",\"addr\":\"" addr                     \
    "\",\"size\":4,\"value\":\"" value "\"}\n"
#define LEAVES(t, xy, by)                                                                          \
    "{\"t\":" #t ",\"ev\":\"kernel\",\"op\":\"exit\"," xy ",\"by\":\"" by "\",\"pc\":\"0x8000\"}"  \
    "\n"
#define NOTES(t, xy, text) "{\"t\":" #t ",\"ev\":\"note\"," xy ",\"text\":\"" text "\"}\n"

#define A_ "\"x\":1,\"y\":2"
#define B_ "\"x\":3,\"y\":4"
#define C_ "\"x\":5,\"y\":6"
#define DATA_TO_B                                                                                  \
    "\"sx\":1,\"sy\":2,\"saddr\":\"0x40000\",\"dx\":3,\"dy\":4,\"daddr\":\"0x38000\",\"size\":64"
#define FLAG_OF_B  "\"dx\":3,\"dy\":4,\"daddr\":\"0x37000\",\"size\":4,\"value\":\"0x1\""
#define BEGUN_OF_B "\"dx\":3,\"dy\":4,\"daddr\":\"0x37100\",\"size\":4,\"value\":\"0x1\",\"vc\":1"
#define CLOSE_B                                                                                    \
    "\"sx\":1,\"sy\":2,\"saddr\":\"0x41000\",\"dx\":3,\"dy\":4,\"daddr\":\"0x37000\",\"size\":4,"  \
    "\"vc\":1"
#define SEMAPHORE_TO_ALL                                                                           \
    "\"mcast\":true,\"sx\":1,\"sy\":2,\"saddr\":\"0x30000\",\"dx\":3,\"dy\":2,\"dx2\":4,\"dy2\":"  \
    "3,"                                                                                           \
    "\"daddr\":\"0x30000\",\"size\":4"
#define PAGE_FROM_C                                                                                \
    "\"sx\":5,\"sy\":6,\"saddr\":\"0x50000\",\"dx\":1,\"dy\":2,\"daddr\":\"0x40000\",\"size\":64"

static const struct {
    const char *name;
    const char *rule;
    uint64_t index, related; /* of the second access and of the first */
    const char *fault, *repaired;
} cases[] = {
    {"a kernel ends with writes under way", "NOC-029", 1, 0,
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) LEAVES(2, A_, "brisc"),
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) ENDS(2, A_, "brisc", 0, "write", "sent")
         LEAVES(3, A_, "brisc")},
    {"a multicast counts on more receivers than there are", "NOC-046", 3, 2,
     HEAD LOADS(1, A_, "brisc", "0xffb20204", "0x10")
         REQUEST(2, A_, "brisc", 0, "write", SEMAPHORE_TO_ALL)
             LOADS(3, A_, "brisc", "0xffb20204",
                   "0x12") "{\"t\":4,\"ev\":\"read\",\"by\":\"brisc\"," A_
                           ",\"addr\":\"0xffb20204\",\"size\":4,"
                           "\"value\":\"0x14\",\"n\":90000,\"t2\":500000}\n",
     HEAD LOADS(1, A_, "brisc", "0xffb20204", "0x10")
         REQUEST(2, A_, "brisc", 0, "write",
                 SEMAPHORE_TO_ALL) "{\"t\":3,\"ev\":\"read\",\"by\":\"brisc\"," A_
                                   ",\"addr\":\"0xffb20204\",\"size\":4,"
                                   "\"value\":\"0x13\",\"n\":90000,\"t2\":500000}\n" LOADS(
                                       500001, A_, "brisc", "0xffb20204", "0x14")
                                       STORES(500002, A_, "brisc", "0x50000", "0x1")},
    {"no write barrier after a semaphore multicast", "NOC-029", 1, 0,
     HEAD REQUEST(1, A_, "brisc", 0, "write", SEMAPHORE_TO_ALL) LEAVES(2, A_, "brisc"),
     HEAD REQUEST(1, A_, "brisc", 0, "write", SEMAPHORE_TO_ALL)
         ENDS(2, A_, "brisc", 0, "write", "done") LEAVES(3, A_, "brisc")},
    {"an atomic barrier where a write barrier belongs", "NOC-041", 4, 0,
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) ENDS(2, A_, "brisc", 0, "atomic", "done")
         REQUEST(3, A_, "brisc", 1, "atomic", FLAG_OF_B) LOADS(9, B_, "ncrisc", "0x37000", "0x1")
             LOADS(10, B_, "ncrisc", "0x38010", "0x5"),
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) ENDS(2, A_, "brisc", 0, "write", "done")
         REQUEST(3, A_, "brisc", 1, "atomic", FLAG_OF_B) LOADS(9, B_, "ncrisc", "0x37000", "0x1")
             LOADS(10, B_, "ncrisc", "0x38010", "0x5")},
    {"a flush where a write barrier belongs", "NOC-041", 4, 0,
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) ENDS(2, A_, "brisc", 0, "write", "sent")
         REQUEST(3, A_, "brisc", 1, "atomic", FLAG_OF_B) LOADS(9, B_, "ncrisc", "0x37000", "0x1")
             LOADS(10, B_, "ncrisc", "0x38010", "0x5"),
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) ENDS(2, A_, "brisc", 0, "write", "sent")
         REQUEST(3, A_, "brisc", 0, "atomic", FLAG_OF_B) LOADS(9, B_, "ncrisc", "0x37000", "0x1")
             LOADS(10, B_, "ncrisc", "0x38010", "0x5")},
    {"a core looks at the counter once and does not wait", "NOC-029", 5, 3,
     HEAD LOADS(1, A_, "brisc", "0xffb20208", "0x7") REQUEST(2, A_, "brisc", 0, "read", PAGE_FROM_C)
         LOADS(3, A_, "brisc", "0xffb20208", "0x8") REQUEST(4, A_, "brisc", 0, "read", PAGE_FROM_C)
             LOADS(5, A_, "brisc", "0xffb20208", "0x8") LOADS(6, A_, "brisc", "0x40000", "0x5"),
     HEAD LOADS(1, A_, "brisc", "0xffb20208", "0x7") REQUEST(2, A_, "brisc", 0, "read", PAGE_FROM_C)
         LOADS(3, A_, "brisc", "0xffb20208", "0x8") REQUEST(4, A_, "brisc", 0, "read", PAGE_FROM_C)
             LOADS(5, A_, "brisc", "0xffb20208", "0x8") LOADS(6, A_, "brisc", "0xffb20208", "0x9")
                 LOADS(7, A_, "brisc", "0x40000", "0x5") LEAVES(8, A_, "brisc")},
    {"no atomic barrier at the end of a kernel", "NOC-029", 3, 2,
     HEAD REQUEST(1, A_, "brisc", 0, "atomic", FLAG_OF_B) ENDS(2, A_, "brisc", 0, "atomic", "done")
         REQUEST(3, A_, "brisc", 0, "atomic", FLAG_OF_B) LEAVES(4, A_, "brisc"),
     HEAD REQUEST(1, A_, "brisc", 0, "atomic", FLAG_OF_B) ENDS(2, A_, "brisc", 0, "atomic", "done")
         REQUEST(3, A_, "brisc", 0, "atomic", FLAG_OF_B) ENDS(4, A_, "brisc", 0, "atomic", "done")
             LEAVES(5, A_, "brisc")},
    {"the source of a semaphore multicast is set again before it left", "NOC-029", 1, 0,
     HEAD REQUEST(1, A_, "brisc", 0, "write", SEMAPHORE_TO_ALL) STORES(
         2, A_, "brisc", "0x30000", "0x2") REQUEST(3, A_, "brisc", 0, "write", SEMAPHORE_TO_ALL),
     HEAD REQUEST(1, A_, "brisc", 0, "write", SEMAPHORE_TO_ALL)
         ENDS(2, A_, "brisc", 0, "write", "sent") STORES(3, A_, "brisc", "0x30000", "0x2")
             REQUEST(4, A_, "brisc", 0, "write", SEMAPHORE_TO_ALL)
                 ENDS(5, A_, "brisc", 0, "write", "sent") LEAVES(6, A_, "brisc")},
    {"GO without a barrier after the semaphores of a kernel", "NOC-041", 3, 0,
     HEAD REQUEST(1, A_, "brisc", 1, "write",
                  "\"sx\":1,\"sy\":2,\"saddr\":\"0x40000\",\"dx\":3,\"dy\":4,\"daddr\":\"0x82b0\","
                  "\"size\":64,\"vc\":1")
         REQUEST(2, A_, "brisc", 1, "write",
                 "\"mcast\":true,\"sx\":1,\"sy\":2,\"saddr\":\"0x41000\",\"dx\":3,\"dy\":4,"
                 "\"dx2\":4,\"dy2\":4,\"daddr\":\"0x370\",\"size\":4,\"vc\":5")
             LOADS(8, B_, "brisc", "0x370", "0x80000000") LOADS(9, B_, "brisc", "0x82c0", "0x0"),
     HEAD REQUEST(1, A_, "brisc", 1, "write",
                  "\"sx\":1,\"sy\":2,\"saddr\":\"0x40000\",\"dx\":3,\"dy\":4,\"daddr\":\"0x82b0\","
                  "\"size\":64,\"vc\":1") ENDS(2, A_, "brisc", 1, "write", "done")
         REQUEST(3, A_, "brisc", 1, "write",
                 "\"mcast\":true,\"sx\":1,\"sy\":2,\"saddr\":\"0x41000\",\"dx\":3,\"dy\":4,"
                 "\"dx2\":4,\"dy2\":4,\"daddr\":\"0x370\",\"size\":4,\"vc\":5")
             LOADS(8, B_, "brisc", "0x370", "0x80000000") LOADS(9, B_, "brisc", "0x82c0", "0x0")},
    {"GO overtakes the launch message", "NOC-041", 3, 0,
     HEAD REQUEST(1, A_, "brisc", 1, "write",
                  "\"posted\":true,\"mcast\":true,\"sx\":1,\"sy\":2,\"saddr\":\"0x40000\",\"dx\":3,"
                  "\"dy\":4,\"dx2\":4,\"dy2\":4,\"daddr\":\"0x70\",\"size\":96")
         REQUEST(2, A_, "brisc", 1, "write",
                 "\"sx\":1,\"sy\":2,\"saddr\":\"0x41000\",\"dx\":3,\"dy\":4,\"daddr\":\"0x370\","
                 "\"size\":4") LOADS(8, B_, "brisc", "0x370", "0x80000000")
             LOADS(9, B_, "brisc", "0xbc", "0x1"),
     HEAD REQUEST(1, A_, "brisc", 1, "write",
                  "\"posted\":true,\"mcast\":true,\"sx\":1,\"sy\":2,\"saddr\":\"0x40000\",\"dx\":3,"
                  "\"dy\":4,\"dx2\":4,\"dy2\":4,\"daddr\":\"0x70\",\"size\":96")
         REQUEST(2, A_, "brisc", 1, "write",
                 "\"posted\":true,\"mcast\":true,\"sx\":1,\"sy\":2,\"saddr\":\"0x41000\",\"dx\":3,"
                 "\"dy\":4,\"dx2\":4,\"dy2\":4,\"daddr\":\"0x370\",\"size\":4")
             LOADS(8, B_, "brisc", "0x370", "0x80000000") LOADS(9, B_, "brisc", "0xbc", "0x1")},
    {"data on one NOC, the end of the connection on the other", "NOC-041", 3, 0,
     HEAD REQUEST(1, A_, "ncrisc", 0, "write", DATA_TO_B ",\"vc\":1")
         REQUEST(2, A_, "ncrisc", 1, "write", CLOSE_B) LOADS(8, B_, "brisc", "0x37000", "0x1")
             REQUEST(9, B_, "brisc", 0, "write",
                     "\"sx\":3,\"sy\":4,\"saddr\":\"0x38000\",\"dx\":5,\"dy\":6,"
                     "\"daddr\":\"0x50000\",\"size\":64"),
     HEAD REQUEST(1, A_, "ncrisc", 0, "write", DATA_TO_B ",\"vc\":1")
         REQUEST(2, A_, "ncrisc", 0, "write", CLOSE_B) LOADS(8, B_, "brisc", "0x37000", "0x1")
             REQUEST(9, B_, "brisc", 0, "write",
                     "\"sx\":3,\"sy\":4,\"saddr\":\"0x38000\",\"dx\":5,\"dy\":6,"
                     "\"daddr\":\"0x50000\",\"size\":64")},
    {"a page is sent on before it has come", "NOC-041", 1, 0,
     HEAD REQUEST(1, A_, "brisc", 0, "read", PAGE_FROM_C)
         REQUEST(2, A_, "brisc", 0, "write", DATA_TO_B),
     HEAD REQUEST(1, A_, "brisc", 0, "read", PAGE_FROM_C) ENDS(2, A_, "brisc", 0, "read", "done")
         REQUEST(3, A_, "brisc", 0, "write", DATA_TO_B)},
    {"a page is fetched over one that has not left", "NOC-042", 1, 0,
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B)
         REQUEST(2, A_, "brisc", 0, "read", PAGE_FROM_C),
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) ENDS(2, A_, "brisc", 0, "write", "sent")
         REQUEST(3, A_, "brisc", 0, "read", PAGE_FROM_C)},
    {"two tiles write the same bytes", "NOC-043", 1, 0,
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B)
         REQUEST(2, C_, "brisc", 0, "write",
                 "\"sx\":5,\"sy\":6,\"saddr\":\"0x40000\",\"dx\":3,\"dy\":4,\"daddr\":\"0x38020\","
                 "\"size\":64"),
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) ENDS(2, A_, "brisc", 0, "write", "done")
         REQUEST(3, A_, "brisc", 0, "atomic",
                 "\"dx\":5,\"dy\":6,\"daddr\":\"0x37000\",\"size\":4,\"value\":\"0x1\"")
             LOADS(8, C_, "brisc", "0x37000", "0x1")
                 REQUEST(9, C_, "brisc", 0, "write",
                         "\"sx\":5,\"sy\":6,\"saddr\":\"0x40000\",\"dx\":3,\"dy\":4,"
                         "\"daddr\":\"0x38020\",\"size\":64")},
    {"nothing waits for a posted write", "NOC-043", 1, 0,
     HEAD REQUEST(1, A_, "brisc", 0, "write", "\"posted\":true," DATA_TO_B)
         REQUEST(2, A_, "brisc", 1, "write", DATA_TO_B),
     HEAD REQUEST(1, A_, "brisc", 0, "write", "\"posted\":true," DATA_TO_B)
         REQUEST(2, A_, "brisc", 0, "write", DATA_TO_B)},
    {"a page is released before the copy of it has left", "NOC-042", 3, 0,
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B)
         REQUEST(2, A_, "brisc", 1, "atomic",
                 "\"dx\":5,\"dy\":6,\"daddr\":\"0x37000\",\"size\":4,\"value\":\"0x1\"")
             LOADS(8, C_, "brisc", "0x37000", "0x1")
                 REQUEST(9, C_, "brisc", 0, "write",
                         "\"sx\":5,\"sy\":6,\"saddr\":\"0x60000\",\"dx\":1,\"dy\":2,"
                         "\"daddr\":\"0x40000\",\"size\":64"),
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) ENDS(2, A_, "brisc", 0, "write", "sent")
         REQUEST(3, A_, "brisc", 1, "atomic",
                 "\"dx\":5,\"dy\":6,\"daddr\":\"0x37000\",\"size\":4,\"value\":\"0x1\"")
             LOADS(8, C_, "brisc", "0x37000", "0x1")
                 REQUEST(9, C_, "brisc", 0, "write",
                         "\"sx\":5,\"sy\":6,\"saddr\":\"0x60000\",\"dx\":1,\"dy\":2,"
                         "\"daddr\":\"0x40000\",\"size\":64")},
    {"the notification goes through a core of the same tile", "NOC-041", 6, 0,
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) REQUEST(
         2, A_, "brisc", 1, "atomic", FLAG_OF_B) LOADS(8, B_, "brisc", "0x37000", "0x1")
         LOADS(9, B_, "ncrisc", "0x37100", "0x0") STORES(10, B_, "brisc", "0x37100", "0x7")
             LOADS(11, B_, "ncrisc", "0x37100", "0x7") LOADS(12, B_, "ncrisc", "0x38000", "0x5"),
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) ENDS(2, A_, "brisc", 0, "write", "done")
         REQUEST(3, A_, "brisc", 1, "atomic", FLAG_OF_B) LOADS(8, B_, "brisc", "0x37000", "0x1")
             LOADS(9, B_, "ncrisc", "0x37100", "0x0") STORES(10, B_, "brisc", "0x37100", "0x7")
                 LOADS(11, B_, "ncrisc", "0x37100", "0x7")
                     LOADS(12, B_, "ncrisc", "0x38000", "0x5")},
    {"a write into memory that a core holds", "NOC-044", 1, 0,
     HEAD NOTES(1, B_, "lock mem ncrisc 0x38000 4096")
         REQUEST(2, A_, "brisc", 0, "write", DATA_TO_B),
     HEAD NOTES(1, B_, "lock mem ncrisc 0x38000 4096")
         NOTES(2, B_, "unlock mem ncrisc 0x38000 4096") NOTES(3, B_, "lock mem ncrisc 0x39000 64")
             REQUEST(4, A_, "brisc", 0, "write", DATA_TO_B)},
    {"a write into a circular buffer that a core holds", "NOC-045", 1, 0,
     HEAD NOTES(1, B_, "lock cb ncrisc 0x38000 4096")
         REQUEST(2, A_, "brisc", 0, "write", DATA_TO_B),
     HEAD NOTES(1, B_, "lock cb ncrisc 0x39000 4096")
         REQUEST(2, A_, "brisc", 0, "write", DATA_TO_B)},
    {"on Wormhole too: a page is used before it has come", "NOC-041", 1, 0,
     HEAD_WORMHOLE REQUEST(1, A_, "ncrisc", 1, "read", PAGE_FROM_C)
         REQUEST(2, A_, "ncrisc", 1, "write", DATA_TO_B),
     HEAD_WORMHOLE REQUEST(1, A_, "ncrisc", 1, "read", PAGE_FROM_C)
         ENDS(2, A_, "ncrisc", 1, "read", "done") REQUEST(3, A_, "ncrisc", 1, "write", DATA_TO_B)},
    {"on Wormhole too: a kernel ends with reads under way", "NOC-029", 1, 0,
     HEAD_WORMHOLE REQUEST(1, A_, "ncrisc", 1, "read", PAGE_FROM_C) LEAVES(2, A_, "ncrisc"),
     HEAD_WORMHOLE REQUEST(1, A_, "ncrisc", 1, "read", PAGE_FROM_C)
         ENDS(2, A_, "ncrisc", 1, "read", "done") LEAVES(3, A_, "ncrisc")},
};

/* Traces on which nothing may be said although they look much like a race. */
static const struct {
    const char *name, *trace;
} silent[] = {
    {"a counter tells what each that added knew, who added last or not",
     HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) REQUEST(
         2, A_, "brisc", 1, "atomic", BEGUN_OF_B) LOADS(3, B_, "ncrisc", "0x37100", "0x1")
         ENDS(4, A_, "brisc", 0, "write", "done") REQUEST(5, A_, "brisc", 1, "atomic", FLAG_OF_B)
             REQUEST(6, C_, "brisc", 1, "atomic", FLAG_OF_B) REQUEST(7, C_, "brisc", 1, "atomic",
                                                                     FLAG_OF_B)
                 LOADS(8, B_, "ncrisc", "0x37000", "0x3") LOADS(9, B_, "ncrisc", "0x38010", "0x5")},
    {"flags are there to be polled", HEAD LOADS(1, B_, "brisc", "0x37000", "0x0") REQUEST(
                                         2, A_, "brisc", 0, "write",
                                         "\"sx\":1,\"sy\":2,\"saddr\":\"0x40000\","
                                         "\"dx\":3,\"dy\":4,\"daddr\":\"0x37000\","
                                         "\"size\":16") LOADS(3, B_, "brisc", "0x37000", "0x1")},
    {"many add to one semaphore",
     HEAD REQUEST(1, A_, "brisc", 0, "atomic", FLAG_OF_B)
         REQUEST(2, C_, "brisc", 1, "atomic", FLAG_OF_B) STORES(3, B_, "brisc", "0x37000", "0x0")
             LOADS(4, B_, "brisc", "0x37000", "0x0")},
    {"how barriers show is not known",
     "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p150\",\"observes\":[\"noc\"]}\n" REQUEST(
         1, A_, "brisc", 0, "read", PAGE_FROM_C) REQUEST(2, A_, "brisc", 0, "write", DATA_TO_B)},
    {"what told the second core is not in the trace",
     HEAD REQUEST(1, A_, "brisc", 0, "write",
                  DATA_TO_B) "{\"t\":2,\"ev\":\"write\",\"by\":\"host\"," B_
                             ",\"addr\":\"0x37000\",\"size\":4,"
                             "\"value\":\"0x1\"}\n" LOADS(3, B_, "brisc", "0x37000", "0x1")
                                 LOADS(4, B_, "brisc", "0x38000", "0x5")},
    {"events were lost in between",
     HEAD REQUEST(1, A_, "brisc", 0, "read",
                  PAGE_FROM_C) "{\"t\":2,\"ev\":\"drop\",\"count\":3}\n" REQUEST(3, A_, "brisc", 0,
                                                                                 "write",
                                                                                 DATA_TO_B)},
    {"the same path keeps two writes in order", HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B)
                                                    REQUEST(2, A_, "brisc", 0, "write", DATA_TO_B)},
    {"a sibling saw the counter",
     HEAD LOADS(1, A_, "ncrisc", "0xffb20208", "0x0")
         REQUEST(2, A_, "brisc", 0, "read", PAGE_FROM_C) LOADS(3, A_, "ncrisc", "0xffb20208", "0x1")
             REQUEST(4, A_, "brisc", 0, "write", DATA_TO_B)},
};

static struct nocap_report *judge(const char *text)
{
    struct nocap_report *report;
    struct nocap_error err;
    write_text("race.jsonl", text);
    if (nocap_check(&report, "race.jsonl", NULL, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return report;
}

static bool is_of_noc(const struct nocap_finding *finding)
{
    return strncmp(nocap_rules[finding->rule].id, "NOC-", 4) == 0;
}

static size_t count_of_noc(const struct nocap_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->finding_count; i++) {
        count += is_of_noc(&report->findings[i]);
    }
    return count;
}

static void fail_with(const struct nocap_report *report, const char *name, const char *what)
{
    (void)nocap_report_text(stderr, report, false, true, NULL);
    fail_msg("%s: %s", name, what);
}

static void each_fault_is_found_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct nocap_report *report = judge(cases[i].fault);
        if (count_of_noc(report) != 1) {
            fail_with(report, cases[i].name, "not one finding");
        }
        for (size_t f = 0; f < report->finding_count; f++) {
            const struct nocap_finding *finding = &report->findings[f];
            if (is_of_noc(finding)) {
                assert_string_equal(nocap_rules[finding->rule].id, cases[i].rule);
                assert_int_equal(finding->index, cases[i].index);
                assert_true(finding->related_count >= 1);
                assert_int_equal(finding->related[0], cases[i].related);
            }
        }
        nocap_report_free(report);
    }
}

static void what_is_repaired_is_silent(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct nocap_report *report = judge(cases[i].repaired);
        int rule = nocap_rule_from_id(cases[i].rule);
        if (count_of_noc(report) != 0) {
            fail_with(report, cases[i].name, "a finding on the repaired trace");
        }
        if (report->rules[rule].verdict != NOCAP_HELD) {
            fail_with(report, cases[i].name, "the rule was not exercised");
        }
        nocap_report_free(report);
    }
}

static void what_is_not_known_is_silent(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        struct nocap_report *report = judge(silent[i].trace);
        if (count_of_noc(report) != 0) {
            fail_with(report, silent[i].name, "a finding");
        }
        nocap_report_free(report);
    }
}

static void a_finding_names_both_and_what_is_missing(void **state)
{
    (void)state;
    struct nocap_report *report = judge(cases[3].fault);
    assert_int_equal(report->finding_count, 1);
    assert_contains(report->findings[0].observed,
                    "a NOC write of brisc 1,2 on NOC 0 at event 0 and a load of ncrisc 3,4 at "
                    "event 4 both touch 0x38010..0x38013");
    assert_contains(report->findings[0].observed, "a notification that may overtake");
    assert_contains(report->findings[0].expected,
                    "a write barrier before signalling the other agent");
    nocap_report_free(report);
}

/* What comes of one fault is reported under it. */
static void what_comes_of_a_fault_follows(void **state)
{
    static const struct {
        const char *rule;
        uint64_t index;
        const char *text;
    } twice[] = {
        {"NOC-041", 4,
         HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) ENDS(
             2, A_, "brisc", 0, "atomic", "done") REQUEST(3, A_, "brisc", 1, "atomic", FLAG_OF_B)
             LOADS(9, B_, "ncrisc", "0x37000", "0x1") LOADS(10, B_, "ncrisc", "0x38010", "0x5")
                 LOADS(11, B_, "brisc", "0x37000", "0x1") LOADS(12, B_, "brisc", "0x38010", "0x5")},
        {"NOC-030", 1,
         HEAD STORES(1, A_, "brisc", "0xffb20018", "0x400") LEAVES(2, A_, "brisc")
             LEAVES(3, A_, "brisc")},
        {"NOC-044", 2,
         HEAD NOTES(1, B_, "lock mem ncrisc 0x38000 4096") NOTES(2, B_, "lock mem brisc 0x38000 64")
             REQUEST(3, A_, "brisc", 0, "write", DATA_TO_B)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++) {
        size_t roots = 0, consequences = 0;
        struct nocap_report *report = judge(twice[i].text);
        for (size_t f = 0; f < report->finding_count; f++) {
            const struct nocap_finding *finding = &report->findings[f];
            roots += strcmp(nocap_rules[finding->rule].id, twice[i].rule) == 0 &&
                     finding->index == twice[i].index;
        }
        for (size_t f = 0; f < report->consequence_count; f++) {
            const struct nocap_finding *finding = &report->consequences[f];
            consequences += strcmp(nocap_rules[finding->rule].id, twice[i].rule) == 0 &&
                            finding->follows == twice[i].index;
        }
        if (count_of_noc(report) != 1 || roots != 1 || consequences != 1) {
            fail_with(report, twice[i].rule, "not a finding with one consequence");
        }
        nocap_report_free(report);
    }
}

/* ---- who waits ---- */

static struct nocap_engine *replay(const char *text)
{
    struct nocap_reader *reader;
    struct nocap_engine *engine;
    struct nocap_error err;
    const struct nocap_event *events;
    size_t count;
    write_text("wait.jsonl", text);
    assert_int_equal(nocap_import_open(&reader, "wait.jsonl", false, NULL, &err), NOCAP_OK);
    static struct nocap_header header;
    assert_int_equal(nocap_header_copy(&header, nocap_reader_header(reader), &err), NOCAP_OK);
    const struct nocap_engine_options options = {.size = sizeof options};
    assert_int_equal(nocap_engine_new(&engine, &header, &options, &err), NOCAP_OK);
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        assert_int_equal(nocap_engine_feed(engine, events, count, &err), NOCAP_OK);
    }
    nocap_reader_close(reader);
    nocap_header_free(&header);
    return engine;
}

/* NULL: the core has gone on. */
static const struct noc_wait *waiting(const struct nocap_engine *engine)
{
    const struct tile *tile = tile_find(&engine->model, 0, (struct nocap_xy){1, 2});
    assert_non_null(tile);
    const struct noc_tile *t = noc_part(tile)->noc;
    return (t->waiting >> NOCAP_BY_BRISC & 1) != 0 ? &t->waits[NOCAP_PROCESSOR_BRISC] : NULL;
}

#define READS_TWICE                                                                                \
    HEAD LOADS(1, A_, "brisc", "0xffb20208", "0x7")                                                \
        REQUEST(2, A_, "brisc", 0, "read", PAGE_FROM_C)                                            \
            REQUEST(3, A_, "brisc", 0, "read", PAGE_FROM_C)

static void a_barrier_is_known_from_its_first_poll(void **state)
{
    (void)state;
    struct nocap_engine *engine = replay(READS_TWICE LOADS(4, A_, "brisc", "0xffb20208", "0x7")
                                             LOADS(5, A_, "brisc", "0xffb20208", "0x8"));
    const struct noc_wait *w = waiting(engine);
    assert_non_null(w);
    assert_int_equal(w->kind, NOCAP_READS);
    assert_int_equal(w->since.index, 3);
    assert_false(w->said || w->idle);
    assert_int_equal(w->settled, 0);
    nocap_engine_free(engine);
    engine = replay(READS_TWICE LOADS(4, A_, "brisc", "0xffb20208", "0x9"));
    assert_int_equal(waiting(engine)->settled, 1); /* its count came */
    nocap_engine_free(engine);
    engine = replay(READS_TWICE LOADS(4, A_, "brisc", "0xffb20208", "0x8")
                        STORES(5, A_, "brisc", "0x50000", "0x1"));
    assert_null(waiting(engine)); /* it went on */
    nocap_engine_free(engine);
    engine = replay(HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B)
                        NOTES(2, A_, "wait write noc0 brisc"));
    w = waiting(engine);
    assert_non_null(w);
    assert_int_equal(w->kind, NOCAP_WRITES);
    assert_true(w->said && !w->idle);
    nocap_engine_free(engine);
    engine = replay(HEAD REQUEST(1, A_, "brisc", 0, "write", DATA_TO_B) NOTES(
        2, A_, "wait write noc0 brisc") ENDS(3, A_, "brisc", 0, "write", "done"));
    assert_null(waiting(engine));
    nocap_engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_found_once),
        cmocka_unit_test(what_is_repaired_is_silent),
        cmocka_unit_test(what_is_not_known_is_silent),
        cmocka_unit_test(a_finding_names_both_and_what_is_missing),
        cmocka_unit_test(what_comes_of_a_fault_follows),
        cmocka_unit_test(a_barrier_is_known_from_its_first_poll),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
