/* SPDX-License-Identifier: Apache-2.0 */
/* What can be said of a hang where the host's side is all that was recorded, or less: how long a
 * silence must last, and what leaves no sign at all. */
#include "tests/hang_answers.h"

#define HEADER_OF(unit, classes)                                                                   \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",\"time_unit\":\"" unit                 \
    "\",\"observes\":[" classes "]}\n"
#define HOST         HEADER_OF("cycles", "\"host-mmio\"")
#define HOST_NS      HEADER_OF("ns", "\"host-mmio\"")
#define OF_HOST      "\"by\":\"host\",\"x\":1,\"y\":2,"
#define STORE(t, to) "{\"t\":" #t ",\"ev\":\"write\"," OF_HOST to "}\n"
#define STORE_OTHER(t, to)                                                                         \
    "{\"t\":" #t ",\"ev\":\"write\",\"by\":\"host\",\"x\":2,\"y\":2," to "}\n"
#define LOOK_OTHER(t)                                                                              \
    "{\"t\":" #t ",\"ev\":\"read\",\"by\":\"host\",\"x\":2,\"y\":2,\"addr\":\"0x373\",\"size\":1," \
    "\"value\":\"0x80\"}\n"
#define RELEASE_BOTH(t)                                                                            \
    "{\"t\":" #t ",\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"x2\":2,\"y2\":2," RELEASE    \
    "}\n"
#define GO      "\"addr\":\"0x370\",\"size\":4,\"value\":\"0x80000000\""
#define RELEASE "\"addr\":\"0xffb121b0\",\"size\":4,\"value\":\"0x47000\""
#define HELD    "\"addr\":\"0xffb121b0\",\"size\":4,\"value\":\"0x47800\""
#define TEXT    "\"addr\":\"0x40000\",\"size\":4,\"value\":\"0x1\""
#define LOOKS(t, signal, n, t2)                                                                    \
    "{\"t\":" #t ",\"ev\":\"read\"," OF_HOST "\"addr\":\"0x373\",\"size\":1,\"value\":\"" #signal  \
    "\",\"n\":" #n ",\"t2\":" #t2 "}\n"
#define DROP(t) "{\"t\":" #t ",\"ev\":\"drop\",\"count\":7}\n"
#define QUEUE(classes)                                                                             \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",\"profile\":\"blackhole-py\",\"cq\":{" \
    "\"prefetch\":[14,2],\"dispatch\":[14,3],\"sysmem\":\"0x40000000\"},\"observes\":[" classes    \
    "]}\n"
#define CORE_LOOKS(t, y, addr, value, n, t2)                                                       \
    "{\"t\":" #t ",\"ev\":\"read\",\"by\":\"brisc\",\"x\":14,\"y\":" #y ",\"addr\":\"" #addr       \
    "\",\"size\":4,\"value\":\"" #value "\",\"n\":" #n ",\"t2\":" #t2 "}\n"
#define ENTRY(t)                                                                                   \
    "{\"t\":" #t                                                                                   \
    ",\"ev\":\"write\",\"by\":\"host\",\"x\":14,\"y\":2,\"addr\":\"0x19840\",\"size\":2,"          \
    "\"value\":\"0x4\"}\n"
#define NEWS(t, n, t2)                                                                             \
    "{\"t\":" #t                                                                                   \
    ",\"ev\":\"read\",\"by\":\"host\",\"space\":\"sysmem\",\"addr\":\"0x80\",\"size\":4,"          \
    "\"value\":\"0x4400010\",\"n\":" #n ",\"t2\":" #t2 "}\n"
#define JOBS(classes)                                                                              \
    "{\"nocap\":1,\"arch\":\"aie2ps\",\"time_unit\":\"cycles\",\"observes\":[" classes "]}\n"
#define CERT_(t, operation, more)                                                                  \
    "{\"t\":" #t ",\"ev\":\"cert\",\"uc\":0,\"page\":0,\"op\":\"" operation "\"," more "}\n"
#define JOB_ENDS                                                                                   \
    CERT_(1, "start", "\"off\":80,\"job\":2,\"insn\":\"07000000\"")                                \
    CERT_(2, "end", "\"off\":80,\"job\":2") CERT_(3, "job-end", "\"off\":80,\"job\":2")
#define SEEN "\"host-mmio\",\"sysmem\",\"core-load\""
/* Three launches of a thousand, then one more. */
#define LAUNCHED(a, b, c) STORE(a, GO) LOOKS(b, 0x80, 10, b) LOOKS(c, 0x0, 1, c)
#define LAUNCHES                                                                                   \
    LAUNCHED(1000, 1900, 2000) LAUNCHED(3000, 3900, 4000) LAUNCHED(5000, 5900, 6000) STORE(7000, GO)

static const struct {
    const char *name, *trace;
    enum nocap_hang_verdict verdict;
    const char *why;
} cases[] = {
    {"a kernel that takes forty times as long as those before",
     HOST LAUNCHES LOOKS(7100, 0x80, 400, 47000), NOCAP_HANG_INCONCLUSIVE, "too little"},
    {"one that is silent for longer than any host would take for slow",
     HOST LAUNCHES LOOKS(7100, 0x80, 4000, 407000), NOCAP_HANG_HUNG, "no progress"},
    {"the same silence in nanoseconds is less than a kernel may take",
     HOST_NS LAUNCHES LOOKS(7100, 0x80, 4000, 407000), NOCAP_HANG_INCONCLUSIVE, "too little"},
    {"a tenth of a second in nanoseconds", HOST_NS LAUNCHES LOOKS(7100, 0x80, 4000, 100007000),
     NOCAP_HANG_HUNG, "no progress"},
    {"a GO within the time that launches took, before the host looks", HOST LAUNCHES,
     NOCAP_HANG_RUNNING, "in progress"},
    {"a GO that is older, and the host has not looked", HOST LAUNCHES STORE(9000, TEXT),
     NOCAP_HANG_INCONCLUSIVE, "the host found DONE"},
    {"a release that is all that happens", HOST STORE(10, HELD) STORE(20, TEXT) STORE(30, RELEASE),
     NOCAP_HANG_INCONCLUSIVE, "the host found DONE"},
    {"two tiles are released, of which the host looks at one",
     HOST STORE(10, HELD) STORE_OTHER(10, HELD) STORE(20, TEXT) STORE_OTHER(20, TEXT)
         RELEASE_BOTH(30) LOOKS(40, 0x40, 10, 900) LOOKS(1000, 0x0, 1, 1000),
     NOCAP_HANG_NONE, "no agent"},
    {"an upload, and nothing runs", HOST STORE(10, TEXT), NOCAP_HANG_INCONCLUSIVE,
     "nothing was observed"},
    {"words that are pushed, and whether they issue is not observed",
     HEADER_OF("cycles", "\"tensix-push\"") "{\"t\":1,\"ev\":\"tensix\",\"op\":\"push\",\"x\":1,"
                                            "\"y\":2,\"thread\":0,"
                                            "\"word\":\"0x02000000\"}\n",
     NOCAP_HANG_INCONCLUSIVE, "nothing was observed"},
    {"records of a queue alone",
     HEADER_OF("cycles", "\"cq-host\"") "{\"t\":1,\"ev\":\"cq\",\"op\":\"record\",\"slot\":0,"
                                        "\"entry\":\"0x4\",\"addr\":\"0x100\","
                                        "\"size\":64}\n",
     NOCAP_HANG_INCONCLUSIVE, "a command queue is in use"},
    {"the cores leave reset, and nothing else of them is observed",
     HEADER_OF("cycles", "\"reset\"") "{\"t\":1,\"ev\":\"reset\",\"op\":\"run\",\"x\":1,\"y\":2,"
                                      "\"by\":\"brisc\"}\n",
     NOCAP_HANG_INCONCLUSIVE, "the host found DONE"},
    {"the end is lost", HOST LAUNCHED(1000, 1900, 2000) DROP(2100), NOCAP_HANG_INCONCLUSIVE,
     "events were lost"},
    {"events are lost, and what comes then shows no wait",
     HOST LAUNCHED(1000, 1900, 2000) DROP(2100) LOOKS(3000, 0x0, 1, 3000) STORE(3100, TEXT),
     NOCAP_HANG_NONE, "no agent"},
    {"the host looks at its own memory, and no queue is seen",
     QUEUE(SEEN) CORE_LOOKS(5, 3, 0x19640, 0x2, 1, 5) NEWS(10, 952, 400000),
     NOCAP_HANG_INCONCLUSIVE, "does not show what"},
    {"it looked now and then", QUEUE(SEEN) CORE_LOOKS(5, 3, 0x19640, 0x2, 1, 5) NEWS(10, 20, 4000),
     NOCAP_HANG_NONE, "no agent"},
    {"the dispatcher looks at a counter of workers, what for is before the trace",
     QUEUE(SEEN) ENTRY(10) CORE_LOOKS(20, 2, 0x19844, 0x0, 900, 400000)
         CORE_LOOKS(21, 3, 0xffb704a4, 0x4, 900, 400000),
     NOCAP_HANG_INCONCLUSIVE, "does not show what"},
    {"commands are not observed, nor that the prefetcher looks for one",
     QUEUE("\"host-mmio\",\"core-load\"") ENTRY(10) CORE_LOOKS(21, 3, 0x196d0, 0x4, 9, 4000),
     NOCAP_HANG_INCONCLUSIVE, "does not show what"},
    {"commands are not observed, and it looks at an empty entry",
     QUEUE("\"host-mmio\",\"core-load\",\"noc\"") ENTRY(10)
         CORE_LOOKS(21, 2, 0x19844, 0x0, 900, 400000),
     NOCAP_HANG_NONE, "no agent"},
    {"nor is it observed what becomes of them",
     QUEUE("\"host-mmio\",\"core-load\"") ENTRY(10) CORE_LOOKS(21, 2, 0x19844, 0x0, 900, 400000),
     NOCAP_HANG_INCONCLUSIVE, "does not show what"},
    {"a job ends, and what others of its page do is not known",
     JOBS("\"cert\"") JOB_ENDS CERT_(1000000, "tct", "\"tile\":1,\"actor\":0"),
     NOCAP_HANG_INCONCLUSIVE, "control code"},
    {"its page ends, too", JOBS("\"cert\"") JOB_ENDS CERT_(4, "eof", "\"off\":84"), NOCAP_HANG_NONE,
     "no agent"},
    {"a job blocks that began before the trace",
     JOBS("\"cert\"") CERT_(1, "block", "\"off\":36,\"job\":1,\"why\":\"local\""),
     NOCAP_HANG_INCONCLUSIVE, "control code"},
    {"what jobs do is not observed",
     JOBS("\"aie-mmio\"") "{\"t\":1,\"ev\":\"write\",\"by\":\"uc0\",\"space\":\"aie\","
                          "\"addr\":\"0x40000\",\"size\":4,\"value\":\"0x1\"}\n",
     NOCAP_HANG_INCONCLUSIVE, "control code"},
};

static void verdicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_text("case.jsonl", cases[i].trace);
        struct nocap_hang *h = hang_of("case.jsonl");
        if (h->verdict != cases[i].verdict || strstr(h->why, cases[i].why) == NULL) {
            print(h);
            fail_msg("%s", cases[i].name);
        }
        nocap_hang_free(h);
    }
}

/* Of two launches the host looks at one only. The other one is not waited for any more; where the
 * host goes round, both are. */
static void who_is_waited_for(void **state)
{
    (void)state;
    static const struct {
        const char *trace;
        size_t one, other;
    } rows[] = {
        {LOOK_OTHER(7300) LOOKS(7400, 0x80, 4000, 407000), 1, 0},
        {LOOKS(7300, 0x80, 9, 7400) LOOK_OTHER(7500) LOOKS(7600, 0x80, 15, 407000), 1, 1},
        {LOOKS(7300, 0x80, 4000, 407000) LOOK_OTHER(407100) LOOKS(407200, 0x80, 1, 407200), 1, 1},
        {LOOK_OTHER(7300) LOOKS(7400, 0x80, 900, 97000) LOOKS(98000, 0x0, 1, 98000)
             STORE(498000, TEXT),
         0, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[4096];
        snprintf(text, sizeof text, "%s%s",
                 HOST LAUNCHES STORE_OTHER(7010, GO) LOOKS(7100, 0x80, 1, 7100), rows[i].trace);
        write_text("case.jsonl", text);
        struct nocap_hang *h = hang_of("case.jsonl");
        if (root_count(h, (struct nocap_xy){1, 2}) != rows[i].one ||
            root_count(h, (struct nocap_xy){2, 2}) != rows[i].other) {
            print(h);
            fail_msg("row %zu", i);
        }
        nocap_hang_free(h);
    }
}

/* The time since the trace began, where nobody was seen to act. */
static void silence_from_the_beginning(void **state)
{
    (void)state;
    write_text("case.jsonl", HOST LOOKS(100, 0x80, 2000, 1000100));
    struct nocap_hang *h = hang_of("case.jsonl");
    assert_int_equal(h->quiet, 1000000);
    nocap_hang_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(who_is_waited_for),
        cmocka_unit_test(silence_from_the_beginning),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
