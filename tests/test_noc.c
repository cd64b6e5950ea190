/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, and doors of tiles that are no workers: one fault gives one finding, and what is right
 * gives none. The rules' own examples are in checker/rules/examples. */
#include "tests/rows.h"
#include "tests/temp_dir.h"

#include "checker/core/checker.h"

#define HEAD(observes)                                                                             \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p150\",\"observes\":[" observes "]}\n"
#define HOST(t, ev, xy, addr, value)                                                               \
    "{\"t\":" #t ",\"ev\":\"" ev "\",\"by\":\"host\"," xy ",\"addr\":\"" addr                      \
    "\",\"size\":4,\"value\":\"" value "\"}\n"
#define STORES(t, addr, value)                                                                     \
    "{\"t\":" #t ",\"ev\":\"write\",\"by\":\"brisc\",\"x\":1,\"y\":2,\"addr\":\"" addr             \
    "\",\"size\":4,\"value\":\"" value "\"}\n"
#define REQUEST(t, rest)                                                                           \
    "{\"t\":" #t ",\"ev\":\"noc\",\"x\":1,\"y\":2,\"by\":\"brisc\",\"noc\":0," rest "}\n"

#define KERNEL(t, op)                                                                              \
    "{\"t\":" #t ",\"ev\":\"kernel\",\"op\":\"" op "\",\"by\":\"brisc\",\"x\":1,\"y\":2}\n"
#define NOTIFY(t)                                                                                  \
    REQUEST(t, "\"op\":\"inline\",\"posted\":true,\"dx\":14,\"dy\":3,"                             \
               "\"daddr\":\"0xffb70438\",\"size\":4,\"value\":\"0x40\"")
#define POWERED_ON                                                                                 \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p150\",\"complete\":true,"                    \
    "\"observes\":[\"host-mmio\",\"noc\"]}\n"

/* A write to the mailbox of (2,2), and a queue that is seen to work. */
#define MAILBOX(t, x, y, addr, size)                                                               \
    "{\"t\":" #t ",\"ev\":\"noc\",\"x\":" #x ",\"y\":" #y                                          \
    ",\"by\":\"brisc\",\"noc\":0,\"op\":\"write\",\"sx\":" #x ",\"sy\":" #y ",\"saddr\":\"" addr   \
    "\",\"dx\":2,\"dy\":2,\"daddr\":\"" addr "\",\"size\":" #size "}\n"
#define QUEUE                                                                                      \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p150\",\"observes\":[\"noc\",\"cq\"],"        \
    "\"cq\":{\"prefetch\":[14,2],\"dispatch\":[14,3],\"sysmem\":\"0x40000000\"}}\n"                \
    "{\"t\":1,\"ev\":\"cq\",\"op\":\"fetch\",\"slot\":0,\"addr\":\"0x200\",\"size\":64}\n"

#define ETHERNET "\"x\":20,\"y\":25"
#define ARC      "\"x\":8,\"y\":0"
#define QUEUES                                                                                     \
    HEAD("\"host-mmio\"")                                                                          \
    HOST(1, "read", ARC, "0x8003042c", "0x10000300")                                               \
    HOST(2, "read", ARC, "0x10000300", "0x10000400")                                               \
    HOST(3, "read", ARC, "0x10000304", "0x408")
#define READ_OF_64                                                                                 \
    "\"buf\":1,\"op\":\"read\",\"sx\":2,\"sy\":2,\"saddr\":\"0x38000\",\"dx\":1,\"dy\":2,"         \
    "\"daddr\":\"0x40000\",\"size\":64"
/* The same as stores: registers are kept from request to request. */
#define PROGRAM                                                                                    \
    HEAD("\"core-mmio\",\"noc\"")                                                                  \
    STORES(1, "0xffb20800", "0x38000")                                                             \
    STORES(2, "0xffb20804", "0x0")                                                                 \
    STORES(3, "0xffb20808", "0x82")                                                                \
    STORES(4, "0xffb2080c", "0x40000")                                                             \
    STORES(5, "0xffb20810", "0x0")                                                                 \
    STORES(6, "0xffb20814", "0x81") STORES(7, "0xffb2081c", "0x90") STORES(8, "0xffb20820", "0x40")
#define SEND(t) STORES(t, "0xffb20840", "0x1")

static const struct row {
    const char *name, *rule; /* NULL: nothing is found */
    uint64_t index;
    const char *trace;
} cases[] = {
    {"a stream of an Ethernet tile by the NOC", "NOC-007", 0,
     HEAD("\"noc\"") REQUEST(1, "\"op\":\"inline\",\"posted\":true,\"dx\":20,\"dy\":25,"
                                "\"daddr\":\"0xffb70438\",\"size\":4,\"value\":\"0x1\"")},
    {"the last stream of an Ethernet tile", NULL, 0,
     HEAD("\"noc\"") REQUEST(1, "\"op\":\"inline\",\"posted\":true,\"dx\":20,\"dy\":25,"
                                "\"daddr\":\"0xffb5f438\",\"size\":4,\"value\":\"0x1\"")},
    {"a fourth queue that receives", "NOC-017", 0,
     HEAD("\"host-mmio\"") HOST(1, "write", ETHERNET, "0xffb97000", "0x2")},
    {"a fourth queue, word by word", "NOC-017", 0,
     HEAD("\"host-mmio\"") HOST(1, "write", ETHERNET, "0xffb93018", "0x1000")
         HOST(2, "write", ETHERNET, "0xffb9301c", "0x10")
             HOST(3, "write", ETHERNET, "0xffb93004", "0x2")},
    {"the third queue that receives", NULL, 0,
     HEAD("\"host-mmio\"") HOST(1, "write", ETHERNET, "0xffb96000", "0x2")},
    {"a transfer after the other side's L1", "NOC-017", 2,
     HEAD("\"host-mmio\"") HOST(1, "write", ETHERNET, "0xffb92018", "0x1000")
         HOST(2, "write", ETHERNET, "0xffb9201c", "0x7f010")
             HOST(3, "write", ETHERNET, "0xffb92004", "0x2")},
    {"bounds of another queue", NULL, 0,
     HEAD("\"host-mmio\"") HOST(1, "write", ETHERNET, "0xffb92018", "0x1000")
         HOST(2, "write", ETHERNET, "0xffb9101c", "0x7f010")
             HOST(3, "write", ETHERNET, "0xffb92004", "0x2")},
    {"a control block that is nowhere", "NOC-018", 1,
     HEAD("\"host-mmio\"") HOST(1, "read", ARC, "0x8003042c", "0x0")
         HOST(2, "write", ARC, "0x800b0000", "0x1")},
    {"the same by BAR0", "NOC-018", 1,
     HEAD("\"host-mmio\"") HOST(1, "read", "\"space\":\"bar0\"", "0x1ff3042c", "0x0")
         HOST(2, "write", "\"space\":\"bar0\"", "0x1ff30100", "0x10000")},
    {"a second queue that is full", "NOC-018", 4,
     QUEUES HOST(4, "read", ARC, "0x10000630", "0x2") HOST(5, "write", ARC, "0x10000620", "0xb")},
    {"a second queue that is just full", NULL, 0,
     QUEUES HOST(4, "read", ARC, "0x10000630", "0x2") HOST(5, "write", ARC, "0x10000620", "0xa")},
    {"what was fetched is not known", NULL, 0, QUEUES HOST(4, "write", ARC, "0x10000620", "0xb")},
    {"a hole of the debug page", "NOC-015", 0,
     HEAD("\"host-mmio\"") HOST(1, "read", "\"x\":1,\"y\":2", "0xffb12040", "0x0")},
    {"too long, and over the mailbox", "NOC-022", 0,
     HEAD("\"noc\"") REQUEST(1, "\"op\":\"read\",\"sx\":2,\"sy\":2,\"saddr\":\"0x38010\",\"dx\":1,"
                                "\"dy\":2,\"daddr\":\"0x10\",\"size\":20000")},
    {"a launch message in its slot", NULL, 0, HEAD("\"noc\"") MAILBOX(1, 1, 2, "0xd0", 96)},
    {"two of them, and their go word", NULL, 0,
     HEAD("\"noc\"") MAILBOX(1, 1, 2, "0x70", 192) MAILBOX(2, 1, 2, "0x370", 4)},
    {"a piece of a launch message", "NOC-032", 0, HEAD("\"noc\"") MAILBOX(1, 1, 2, "0x80", 16)},
    {"a message between two slots", "NOC-032", 0, HEAD("\"noc\"") MAILBOX(1, 1, 2, "0x80", 96)},
    {"two go words at once", "NOC-032", 0, HEAD("\"noc\"") MAILBOX(1, 1, 2, "0x370", 8)},
    {"go_message_index", NULL, 0, HEAD("\"noc\"") MAILBOX(1, 1, 2, "0x3a0", 4)},
    {"the read pointer", "NOC-032", 0, HEAD("\"noc\"") MAILBOX(1, 1, 2, "0x6c", 4)},
    {"a go word of the dispatcher", NULL, 0, QUEUE MAILBOX(2, 14, 3, "0x370", 4)},
    {"a go word of a kernel, beside a queue", "NOC-032", 1, QUEUE MAILBOX(2, 1, 2, "0x370", 4)},
    {"a request of no bytes", "NOC-022", 0,
     HEAD("\"noc\"") REQUEST(1, "\"op\":\"write\",\"sx\":1,\"sy\":2,\"saddr\":\"0x37010\",\"dx\":2,"
                                "\"dy\":2,\"daddr\":\"0x38010\",\"size\":0")},
    {"data for a tile that nobody has booted", NULL, 0,
     POWERED_ON HOST(1, "write", "\"x\":2,\"y\":3", "0x30000", "0x1")
         REQUEST(2, "\"op\":\"write\",\"sx\":1,\"sy\":2,\"saddr\":\"0x20000\",\"dx\":3,"
                    "\"dy\":3,\"daddr\":\"0x40000\",\"size\":64")},
    {"firmware for a tile that nobody holds in reset", "RST-001", 0,
     POWERED_ON HOST(1, "write", "\"x\":2,\"y\":3", "0x3840", "0x1")},
    {"a register asked for across two, where requests alone are seen", "MAP-012", 0,
     HEAD("\"noc\"")
         REQUEST(1, "\"op\":\"read\",\"sx\":3,\"sy\":3,\"saddr\":\"0xffb2014a\",\"dx\":1,"
                    "\"dy\":2,\"daddr\":\"0x5000a\",\"size\":4")},
    {"the register before it", NULL, 0,
     HEAD("\"noc\"")
         REQUEST(1, "\"op\":\"read\",\"sx\":3,\"sy\":3,\"saddr\":\"0xffb20148\",\"dx\":1,"
                    "\"dy\":2,\"daddr\":\"0x50008\",\"size\":4")},
    {"bytes past the end of L1, where requests alone are seen", "MAP-002", 0,
     HEAD("\"noc\"") REQUEST(1, "\"op\":\"read\",\"sx\":3,\"sy\":3,\"saddr\":\"0x17fff0\",\"dx\":1,"
                                "\"dy\":2,\"daddr\":\"0x50000\",\"size\":32")},
    {"the last bytes of L1", NULL, 0,
     HEAD("\"noc\"") REQUEST(1, "\"op\":\"read\",\"sx\":3,\"sy\":3,\"saddr\":\"0x17fff0\",\"dx\":1,"
                                "\"dy\":2,\"daddr\":\"0x50000\",\"size\":16")},
    {"the reserved block, where requests alone are seen", "MAP-013", 0,
     HEAD("\"noc\"")
         REQUEST(1, "\"op\":\"read\",\"sx\":3,\"sy\":3,\"saddr\":\"0xffb10000\",\"dx\":1,"
                    "\"dy\":2,\"daddr\":\"0x50000\",\"size\":4")},
    {"a gap of the tile, where requests alone are seen", "MAP-001", 0,
     HEAD("\"noc\"") REQUEST(1, "\"op\":\"read\",\"sx\":3,\"sy\":3,\"saddr\":\"0x180000\",\"dx\":1,"
                                "\"dy\":2,\"daddr\":\"0x50000\",\"size\":16")},
    {"the padding above the private memory of TRISC0, where requests alone are seen", "MAP-005", 0,
     HEAD("\"noc\"")
         REQUEST(1, "\"op\":\"read\",\"sx\":3,\"sy\":3,\"saddr\":\"0xffb19000\",\"dx\":1,"
                    "\"dy\":2,\"daddr\":\"0x50000\",\"size\":4")},
    {"zeros for a tile that is not held in reset, below its firmware", NULL, 0,
     POWERED_ON HOST(1, "write", "\"x\":2,\"y\":3", "0x3240", "0x0")},
    {"words for debugging in a tile that is not held in reset, below its firmware", NULL, 0,
     POWERED_ON HOST(1, "write", "\"x\":2,\"y\":3", "0x383c", "0x1")},
    {"a request of the firmware before the kernel", NULL, 0,
     HEAD("\"noc\",\"noc-barrier\",\"kernel\"") NOTIFY(1) KERNEL(2, "enter") KERNEL(3, "exit")},
    {"the same request in the kernel", "NOC-029", 2,
     HEAD("\"noc\",\"noc-barrier\",\"kernel\"") KERNEL(1, "enter") NOTIFY(2) KERNEL(3, "exit")},
    {"an event that says what the registers say", NULL, 0, PROGRAM SEND(9) REQUEST(10, READ_OF_64)},
    {"an event without a store", "NOC-040", 10,
     PROGRAM SEND(9) REQUEST(10, READ_OF_64) REQUEST(11, READ_OF_64)},
    {"an event that differs, to a tile that is not there", "NOC-032", 9,
     PROGRAM SEND(9)
         REQUEST(10, "\"buf\":1,\"op\":\"read\",\"sx\":17,\"sy\":3,\"saddr\":\"0x38000\","
                     "\"dx\":1,\"dy\":2,\"daddr\":\"0x40000\",\"size\":64")},
};

static void one_fault_is_one_finding(void **state)
{
    const struct row *row = *state;
    struct nocap_report *report;
    struct nocap_error err;
    write_text("noc.jsonl", row->trace);
    if (nocap_check(&report, "noc.jsonl", NULL, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    if (report->finding_count != (row->rule != NULL)) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("%zu findings", report->finding_count);
    }
    if (row->rule != NULL) {
        assert_string_equal(nocap_rules[report->findings[0].rule].id, row->rule);
        assert_int_equal(report->findings[0].index, row->index);
    }
    nocap_report_free(report);
}

int main(void)
{
    struct rows rows = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rows_add(&rows, cases[i].name, one_fault_is_one_finding, &cases[i]);
    }
    return rows_run(&rows, "noc");
}
