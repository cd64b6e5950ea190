/* SPDX-License-Identifier: Apache-2.0 */
/* Hangs that people met, as small traces: verdict and root. And what is no hang. */
#include "tests/hang_answers.h"

/* ---- small traces ---- */

#define HEADER(classes)                                                                            \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",\"observes\":[" classes                \
    "],\"scope\":[[1,2]]}\n"
#define INSIDE  HEADER("\"host-mmio\",\"core-store\",\"core-load\",\"core-mmio\",\"noc\",\"kernel\"")
#define OUTSIDE HEADER("\"host-mmio\"")

#define AT "\"x\":1,\"y\":2,"
#define MEM(t, addr, data)                                                                         \
    "{\"t\":" #t ",\"ev\":\"mem\"," AT "\"addr\":\"" #addr "\",\"data\":\"" data "\"}\n"
#define WRITE(t, by, addr, size, value)                                                            \
    "{\"t\":" #t ",\"ev\":\"write\",\"by\":\"" #by "\"," AT "\"addr\":\"" #addr                    \
    "\",\"size\":" #size ",\"value\":\"" #value "\"}\n"
#define READ(t, by, addr, size, value)                                                             \
    "{\"t\":" #t ",\"ev\":\"read\",\"by\":\"" #by "\"," AT "\"addr\":\"" #addr                     \
    "\",\"size\":" #size ",\"value\":\"" #value "\"}\n"
#define POLL(t, by, addr, size, value, n, t2)                                                      \
    "{\"t\":" #t ",\"ev\":\"read\",\"by\":\"" #by "\"," AT "\"addr\":\"" #addr                     \
    "\",\"size\":" #size ",\"value\":\"" #value "\",\"n\":" #n ",\"t2\":" #t2 "}\n"
#define ENTER(t, by)                                                                               \
    "{\"t\":" #t ",\"ev\":\"kernel\",\"op\":\"enter\"," AT "\"by\":\"" #by "\",\"pc\":\"0x8700\"}" \
    "\n"
#define NOC(t, by, rest)                                                                           \
    "{\"t\":" #t ",\"ev\":\"noc\"," AT "\"by\":\"" #by "\",\"noc\":0," rest "}\n"

#define CLEAN MEM(100, 0x60, "00000000000000000000000000000000")
#define GO    WRITE(100, host, 0x370, 4, 0x80000000)
/* BRISC takes the GO up and runs its kernel. */
#define BRISC_RUNS CLEAN GO WRITE(110, brisc, 0xffef02e4, 4, 0x1f) ENTER(120, brisc)
/* The TRISCs are told to run; this one does, the others are through. */
#define TRISC_RUNS(trisc, byte)                                                                    \
    CLEAN GO WRITE(110, brisc, 0xffef02e4, 4, 0x1f) WRITE(115, brisc, byte, 1, 0x80)               \
        ENTER(120, trisc)
#define HOST_POLLS POLL(150, host, 0x373, 1, 0x80, 2000, 400000)

struct hang_case {
    const char *name; /* what people called it */
    const char *trace;
    enum nocap_hang_verdict verdict;
    unsigned agent;   /* of the root; NONE: there is none to be named */
    const char *what; /* in what is said of it */
    int cause;        /* rule that is cited, -1: any or none */
    bool wedged;
};

#define BARRIERS      HEADER("\"noc\",\"noc-barrier\"")
#define CORES         HEADER("\"core-store\",\"core-load\",\"core-mmio\",\"noc\"")
#define NOTE(t, text) "{\"t\":" #t ",\"ev\":\"note\"," AT "\"text\":\"" text "\"}\n"
#define ONE_READ      NOC(100, ncrisc, "\"op\":\"read\",\"sx\":3,\"sy\":4,\"dx\":1,\"dy\":2,\"size\":64")

/* A worker core that boots, and then reports one launch as done. */
#define BOOTS                                                                                      \
    MEM(0, 0x3a0, "00000000")                                                                      \
    MEM(0, 0x370, "00000040")                                                                      \
    WRITE(0, host, 0xffb121b0, 4, 0x47800)                                                         \
    WRITE(1, host, 0xffb121b0, 4, 0x47000)                                                         \
    WRITE(2, brisc, 0x6c, 4, 0x0)                                                                  \
    WRITE(10, brisc, 0x68, 4, 0x40404040)                                                          \
    WRITE(20, ncrisc, 0x68, 1, 0x0)                                                                \
    WRITE(21, trisc0, 0x69, 1, 0x0) WRITE(22, trisc2, 0x6b, 1, 0x0)                                \
        WRITE(23, trisc1, 0x6a, 1, 0x0) WRITE(30, brisc, 0x373, 1, 0x0)                            \
            READ(40, host, 0x373, 1, 0x0)

static const struct hang_case cases[] = {
    {"two consumers of a circular buffer and one token: the other waits forever",
     INSIDE TRISC_RUNS(trisc0, 0x69) POLL(140, trisc0, 0xffb48028, 4, 0x0, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_TRISC0, "CB 0: received 0, acked not seen; polls tiles received", -1,
     false},
    {"push_back on a core for which it does nothing: the reader starves",
     INSIDE BRISC_RUNS POLL(140, brisc, 0xffb4a028, 4, 0x3, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_BRISC, "CB 2: received 3", -1, false},
    {"a compute kernel pops and pushes the same circular buffer: stuck in reserve_back",
     INSIDE TRISC_RUNS(trisc2, 0x6b) POLL(140, trisc2, 0xffb49020, 4, 0x2, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_TRISC2, "CB 1: received not seen, acked 2", -1, false},
    {"a producer does not go on, and what it polls is not observed",
     INSIDE TRISC_RUNS(trisc2, 0x6b) WRITE(125, trisc2, 0xffb58028, 4, 0x2)
         WRITE(126, brisc, 0xffb58020, 4, 0x0) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_TRISC2, "(CB 16: received 2, acked 0)", -1, false},
    {"a core that fills a buffer and empties it itself does not wait for itself",
     HEADER("\"host-mmio\",\"core-store\",\"core-mmio\",\"kernel\"") TRISC_RUNS(trisc2, 0x6b)
         WRITE(125, trisc2, 0xffb58028, 4, 0x1) WRITE(126, trisc2, 0xffb58020, 4, 0x1) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_TRISC2, "never left its kernel", -1, false},
    {"a kernel ends with non-posted writes pending and flushes forever",
     INSIDE BRISC_RUNS NOC(130, brisc,
                           "\"op\":\"write\",\"id\":1,\"sx\":1,\"sy\":2,\"saddr\":\"0x20000\","
                           "\"dx\":2,\"dy\":2,\"daddr\":\"0x20000\",\"size\":64")
         POLL(140, brisc, 0xffb20204, 4, 0x4, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_BRISC, "1 write issued, 0 known to have ended", -1, false},
    {"the same in a kernel that began before the trace",
     CORES NOC(130, brisc,
               "\"op\":\"write\",\"id\":1,\"sx\":1,\"sy\":2,\"saddr\":\"0x20000\","
               "\"dx\":2,\"dy\":2,\"daddr\":\"0x20000\",\"size\":64")
         POLL(140, brisc, 0xffb20204, 4, 0x4, 9000, 400000),
     NOCAP_HANG_HUNG, NOCAP_BY_BRISC, "1 write issued, 0 known to have ended", -1, false},
    {"a kernel that began before the trace and waits for a word: perhaps for work",
     CORES POLL(140, brisc, 0x1b000, 4, 0x1, 9000, 400000), NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_BRISC,
     "polls L1 0x1b000", -1, false},
    {"a prefetcher that waits for a record",
     "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",\"observes\":[\"noc\",\"core-store\","
     "\"core-load\",\"core-mmio\"],\"cq\":{\"prefetch\":[1,2],\"dispatch\":[14,3]}}\n" POLL(
         140, brisc, 0x1b000, 4, 0x1, 9000, 400000),
     NOCAP_HANG_NONE, NOCAP_BY_NONE, "", -1, false},
    {"polls of a kernel that began before the trace, the last of which found what they wanted",
     CORES POLL(140, brisc, 0xffb20204, 4, 0x4, 200, 4000) READ(4010, brisc, 0xffb20204, 4, 0x5)
         READ(4020, brisc, 0xffb20204, 4, 0x5),
     NOCAP_HANG_NONE, NOCAP_BY_NONE, "", -1, false},
    {"a kernel that began before the trace, whose polls are not observed",
     HEADER("\"core-store\",\"core-mmio\"") WRITE(130, brisc, 0x20000, 4, 0x1) NOTE(1000000, "end"),
     NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_NONE, "", -1, false},
    {"register stores of a core, and nothing that would show what it waits for",
     HEADER("\"core-mmio\"") WRITE(130, brisc, 0xffb20100, 4, 0x1) NOTE(1000000, "end"),
     NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_NONE, "", -1, false},
    {"a core in its kernel, and no more of it",
     HEADER("\"core-mmio\",\"kernel\"") WRITE(130, brisc, 0xffb20100, 4, 0x1) NOTE(1000000, "end"),
     NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_NONE, "", -1, false},
    {"a kernel that is entered and not left, and nothing else of the launch",
     HEADER("\"kernel\"") ENTER(120, trisc1) NOTE(1000000, "end"), NOCAP_HANG_INCONCLUSIVE,
     NOCAP_BY_TRISC1, "never left its kernel", -1, false},
    {"BRISC is out of its kernel and TRISC1 not, and their commands came before the trace",
     INSIDE ENTER(120, brisc) ENTER(121, trisc1) "{\"t\":130,\"ev\":\"kernel\",\"op\":\"exit\"," AT
                                                 "\"by\":\"brisc\"}\n" HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_TRISC1, "never left its kernel", -1, false},
    {"a multicast that names too many receivers: more acknowledgements awaited than come",
     INSIDE BRISC_RUNS NOC(
         130, brisc,
         "\"op\":\"write\",\"id\":1,\"mcast\":true,\"sx\":1,\"sy\":2,\"saddr\":\"0x20000\","
         "\"dx\":3,\"dy\":3,\"dx2\":2,\"dy2\":2,\"daddr\":\"0x20000\",\"size\":64")
         NOC(135, brisc, "\"op\":\"write\",\"phase\":\"done\",\"id\":1")
             POLL(140, brisc, 0xffb20204, 4, 0x8, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_BRISC, "1 write issued, 1 known to have ended", -1, false},
    {"no barrier after a semaphore multicast: the reader's semaphore never moves",
     INSIDE BRISC_RUNS POLL(140, brisc, 0x1b000, 4, 0x1, 9000, 400000) HOST_POLLS, NOCAP_HANG_HUNG,
     NOCAP_BY_BRISC, "polls L1 0x1b000", -1, false},
    {"a missing atomic barrier: the atomic is not acknowledged",
     INSIDE BRISC_RUNS NOC(130, brisc,
                           "\"op\":\"atomic\",\"id\":7,\"dx\":2,\"dy\":2,\"daddr\":\"0x1b000\","
                           "\"size\":4,\"value\":\"0x1\"")
         POLL(140, brisc, 0xffb20200, 4, 0x9, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_BRISC, "1 atomic issued", -1, false},
    {"the path reservation of a multicast is never released: the command buffer stays busy",
     INSIDE BRISC_RUNS POLL(140, brisc, 0xffb20028, 4, 0x1, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_BRISC, "CMD_BUF0", -1, false},
    {"a unicast while a linked multicast is open",
     INSIDE BRISC_RUNS NOC(
         130, brisc,
         "\"op\":\"write\",\"buf\":0,\"id\":1,\"mcast\":true,\"linked\":true,\"sx\":1,\"sy\":2,"
         "\"saddr\":\"0x20000\",\"dx\":3,\"dy\":3,\"dx2\":2,\"dy2\":2,\"daddr\":\"0x20000\","
         "\"size\":64")
         NOC(135, brisc,
             "\"op\":\"write\",\"buf\":0,\"id\":2,\"sx\":1,\"sy\":2,\"saddr\":\"0x20000\","
             "\"dx\":2,\"dy\":2,\"daddr\":\"0x20000\",\"size\":64")
             POLL(140, brisc, 0xffb20028, 4, 0x1, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_BRISC, "CMD_BUF0", NOC_024, false},
    {"reads on the network that the sibling multicasts on: the other command buffer stays busy",
     INSIDE TRISC_RUNS(ncrisc, 0x68) POLL(140, ncrisc, 0xffb21028, 4, 0x1, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_NCRISC, "CMD_BUF2", -1, false},
    {"a read of a tile that does not exist",
     INSIDE BRISC_RUNS NOC(130, brisc,
                           "\"op\":\"read\",\"id\":1,\"sx\":16,\"sy\":16,\"saddr\":\"0x0\","
                           "\"dx\":1,\"dy\":2,\"daddr\":\"0x20000\",\"size\":64")
         POLL(140, brisc, 0xffb20208, 4, 0x5, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_BRISC, "from 16,16", NOC_032, false},
    {"a poll of remotely written memory through a stale cache",
     INSIDE TRISC_RUNS(ncrisc, 0x68) WRITE(130, noc, 0x1c000, 4, 0x1)
         POLL(140, ncrisc, 0x1c000, 4, 0x0, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_NCRISC, "polls L1 0x1c000", -1, false},
    {"a sync word of a router stays at STARTED: the host waits for another value",
     INSIDE CLEAN POLL(150, host, 0x1e000, 4, 0xa0b0c0d0, 2000, 400000), NOCAP_HANG_HUNG,
     NOCAP_BY_BRISC, "", -1, false},
    {"reads give all ones after a power fault: no fault of the protocol",
     OUTSIDE WRITE(100, host, 0x370, 4, 0x80000000) READ(200, host, 0x370, 4, 0xffffffff)
         READ(300, host, 0x68, 4, 0xffffffff),
     NOCAP_HANG_HUNG, NOCAP_BY_NOC, "all ones", -1, true},
    {"reads from a core that is gone, again and again",
     OUTSIDE POLL(200, host, 0x373, 1, 0x80, 5, 300)
         POLL(400, host, 0x370, 4, 0xffffffff, 50, 9000),
     NOCAP_HANG_HUNG, NOCAP_BY_NOC, "all ones", -1, true},
    {"a slow launch that is alive is no hang",
     INSIDE BRISC_RUNS POLL(150, host, 0x373, 1, 0x80, 40, 9000) WRITE(9100, brisc, 0x20000, 4, 0x1)
         POLL(9200, host, 0x373, 1, 0x80, 60, 20000),
     NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_BRISC, "", -1, false},
    {"a timeout of one slow read is no hang",
     OUTSIDE READ(100, host, 0x373, 1, 0x80) READ(2000100, host, 0x373, 1, 0x0), NOCAP_HANG_NONE,
     NOCAP_BY_NONE, "", -1, false},
    {"a kernel that still writes when the trace ends",
     INSIDE BRISC_RUNS HOST_POLLS WRITE(399990, brisc, 0x20000, 4, 0x1), NOCAP_HANG_RUNNING,
     NOCAP_BY_BRISC, "", -1, false},
    {"a launch of which the host alone is seen, and sees the end",
     OUTSIDE GO POLL(150, host, 0x373, 1, 0x80, 40, 9000) READ(9100, host, 0x373, 1, 0x0),
     NOCAP_HANG_NONE, NOCAP_BY_NONE, "", -1, false},
    {"a launch of which the host alone is seen, and does not ask", OUTSIDE GO,
     NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_NONE, "", -1, false},
    {"the same after one that ended",
     OUTSIDE GO READ(9100, host, 0x373, 1, 0x0) WRITE(9200, host, 0x370, 4, 0x80000000),
     NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_NONE, "", -1, false},
    {"the same, of a tile that shows nothing though its cores are said to be observed",
     INSIDE GO READ(9100, host, 0x373, 1, 0x0) WRITE(9200, host, 0x370, 4, 0x80000000),
     NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_NONE, "", -1, false},
    {"a launch of which the host alone is seen: at last it reads the sync word",
     OUTSIDE GO HOST_POLLS READ(400010, host, 0x68, 4, 0x00800000), NOCAP_HANG_HUNG,
     NOCAP_BY_TRISC1, "signalled to run", -1, false},
    {"a GO in a word that BRISC does not look at",
     INSIDE CLEAN MEM(100, 0x3a0, "00000000") MEM(100, 0x370, "00000000")
         WRITE(105, brisc, 0x6c, 4, 0x1) WRITE(110, host, 0x374, 4, 0x80000000)
             POLL(150, host, 0x377, 1, 0x80, 2000, 400000),
     NOCAP_HANG_HUNG, NOCAP_BY_BRISC, "go_message_index selects", GO_017, false},
    {"a reader waits for tiles of a core that waits for a NOC read",
     INSIDE BRISC_RUNS WRITE(121, brisc, 0x69, 1, 0x80) ENTER(122, trisc0) WRITE(125, brisc,
                                                                                 0xffb48028, 4, 0x1)
         NOC(130, brisc,
             "\"op\":\"read\",\"id\":1,\"sx\":2,\"sy\":2,\"saddr\":\"0x0\",\"dx\":1,\"dy\":2,"
             "\"daddr\":\"0x20000\",\"size\":64") POLL(140, brisc, 0xffb20208, 4, 0x5, 9000, 400000)
             POLL(141, trisc0, 0xffb48028, 4, 0x1, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_BRISC, "in a NOC barrier", -1, false},
    {"the semaphore of a neighbour that is through with its kernel",
     INSIDE TRISC_RUNS(ncrisc, 0x68) WRITE(125, brisc, 0x1b000, 4, 0x1) ENTER(
         126, brisc) "{\"t\":130,\"ev\":\"kernel\",\"op\":\"exit\",\"x\":1,\"y\":2,\"by\":"
                     "\"brisc\"}\n" POLL(140, ncrisc, 0x1b000, 4, 0x1, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_NCRISC, "brisc of 1,2 wrote it last", -1, false},
    {"two cores wait for tiles of each other: a circle",
     INSIDE BRISC_RUNS WRITE(121, brisc, 0x6b, 1, 0x80) ENTER(122, trisc2)
         WRITE(125, brisc, 0xffb48028, 4, 0x1) WRITE(126, trisc2, 0xffb58028, 4, 0x1)
             POLL(140, brisc, 0xffb58028, 4, 0x1, 9000, 400000)
                 POLL(141, trisc2, 0xffb48028, 4, 0x1, 9000, 400000) HOST_POLLS,
     NOCAP_HANG_HUNG, NOCAP_BY_TRISC2, "CB 0: received 1, acked not seen; polls tiles received", -1,
     false},
    {"memory alone: mailboxes of a tile whose TRISC1 does not end",
     HEADER("") MEM(1, 0x60, "00000000000000000000800000000000") MEM(1, 0x370, "00000080")
         MEM(1, 0x3a0, "00000000"),
     NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_TRISC1, "signalled to run", -1, false},
    {"a core says that it waits for its reads, and nothing comes of it",
     BARRIERS ONE_READ NOTE(110, "wait read noc0 ncrisc") NOTE(1000000, "end"),
     NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_NCRISC, "waits for its reads on noc0: 1 read issued", -1,
     false},
    {"a core says that it waits for a semaphore, and nothing comes of it",
     BARRIERS ONE_READ NOTE(110, "wait semaphore ncrisc") NOTE(1000000, "end"),
     NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_NCRISC, "waits for a semaphore", -1, false},
    {"a barrier that ends",
     BARRIERS ONE_READ NOTE(110, "wait read noc0 ncrisc")
         NOC(120, ncrisc, "\"op\":\"read\",\"phase\":\"done\"") NOTE(1000000, "end"),
     NOCAP_HANG_NONE, NOCAP_BY_NONE, "", -1, false},
    {"a picture of memory that shows no go word",
     HEADER("") MEM(100, 0x0, "00000000000000000000000000000000"), NOCAP_HANG_INCONCLUSIVE,
     NOCAP_BY_NONE, "", -1, false},
    {"a picture of memory whose go word is no such thing", HEADER("") MEM(100, 0x370, "12345678"),
     NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_NONE, "", -1, false},
    {"a picture of memory with DONE in its go word", HEADER("") MEM(100, 0x370, "00000000"),
     NOCAP_HANG_NONE, NOCAP_BY_NONE, "", -1, false},
    {"a picture of memory that is all ones: no fault of the protocol",
     HEADER("") MEM(100, 0x360, "ffffffffffffffffffffffffffffffffffffffff"),
     NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_NOC, "all ones", -1, true},
    {"a trace of nothing", INSIDE, NOCAP_HANG_INCONCLUSIVE, NOCAP_BY_NONE, "", -1, false},
    {"INIT stored for GO, and the RISCs are observed",
     INSIDE BOOTS WRITE(100, host, 0x370, 4, 0x40000000)
         POLL(150, host, 0x373, 1, 0x40, 2000, 400000),
     NOCAP_HANG_HUNG, NOCAP_BY_HOST, "no GO is there: the signal stays 0x40", -1, false},
};

static void known_hangs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct hang_case *c = &cases[i];
        write_text("case.jsonl", c->trace);
        struct nocap_hang *h = hang_of("case.jsonl");
        const struct nocap_hang_party *root =
            c->agent != NOCAP_BY_NONE ? root_named(h, c->agent, (struct nocap_xy){1, 2}) : NULL;
        bool said = c->what[0] == '\0' ||
                    (root != NULL && root->wait != SIZE_MAX &&
                     strstr(h->waits[root->wait].what, c->what) != NULL) ||
                    (root != NULL && root->wait != SIZE_MAX &&
                     strstr(h->waits[root->wait].state, c->what) != NULL);
        bool there = c->agent == NOCAP_BY_NONE ? h->party_count == 0 : root != NULL;
        if (h->verdict != c->verdict || !there || !said || !cites(h, c->cause) ||
            h->wedged != c->wedged) {
            print(h);
            fail_msg("%s", c->name);
        }
        nocap_hang_free(h);
    }
}

/* NCRISC fills buffer 0, TRISC0 takes tiles out of it, and neither leaves its kernel. */
#define PIPE(classes)                                                                              \
    HEADER("\"host-mmio\",\"core-store\",\"core-mmio\",\"kernel\"" classes)                        \
    CLEAN GO WRITE(110, brisc, 0xffef02e4, 4, 0x1f) WRITE(115, brisc, 0x68, 1, 0x80)               \
        WRITE(116, brisc, 0x69, 1, 0x80) ENTER(120, ncrisc) ENTER(121, trisc0)
#define PUSHED(t, n)            WRITE(t, ncrisc, 0xffb48028, 4, n)
#define POPPED(t, n)            WRITE(t, trisc0, 0xffb48020, 4, n)
#define ZEROED(t)               WRITE(t, trisc0, 0xffb48028, 4, 0x0) WRITE(t, trisc0, 0xffb48020, 4, 0x0)
#define POLLED(by, addr, value) POLL(145, by, addr, 4, value, 9000, 400000)
#define LOADS                   ",\"core-load\""

static const struct {
    const char *name, *trace;
    unsigned agent; /* a root */
    size_t roots;
} pipes[] = {
    {"the buffer is empty: TRISC0 waits for tiles",
     PIPE("") PUSHED(130, 0x1) PUSHED(131, 0x2) POPPED(132, 0x1) POPPED(133, 0x2) HOST_POLLS,
     NOCAP_BY_NCRISC, 1},
    {"it was emptied in the launch before, and zeroed since",
     PIPE("") PUSHED(130, 0x1) POPPED(131, 0x1) ZEROED(132) HOST_POLLS, NOCAP_BY_NCRISC, 1},
    {"it holds as much as it ever did: NCRISC waits for room",
     PIPE("") ZEROED(129) PUSHED(130, 0x1) PUSHED(131, 0x2) POPPED(132, 0x1) PUSHED(133, 0x3)
         HOST_POLLS,
     NOCAP_BY_TRISC0, 1},
    {"it holds less than it did: neither need wait for the other",
     PIPE("") ZEROED(129) PUSHED(130, 0x1) PUSHED(131, 0x2) POPPED(132, 0x1) HOST_POLLS,
     NOCAP_BY_TRISC0, 2},
    {"no tile was ever taken out: how many it can hold is not known",
     PIPE("") POPPED(129, 0x1) ZEROED(130) PUSHED(131, 0x1) PUSHED(132, 0x2) HOST_POLLS,
     NOCAP_BY_TRISC0, 2},
    {"who filled it has left its kernel",
     PIPE("") PUSHED(130, 0x1) POPPED(131, 0x1)
         WRITE(132, brisc, 0x6a, 1, 0x80) "{\"t\":133,\"ev\":\"kernel\",\"op\":\"exit\"," AT
                                          "\"by\":\"ncrisc\"}\n" HOST_POLLS,
     NOCAP_BY_TRISC0, 3},
    {"TRISC0 says that it waits for a semaphore",
     PIPE("") PUSHED(130, 0x1) POPPED(131, 0x1) NOTE(140, "at NSW trisc0") HOST_POLLS,
     NOCAP_BY_TRISC0, 2},
    {"loads are observed, and none of TRISC0 is there: it does not wait for tiles",
     PIPE(LOADS) PUSHED(130, 0x1) POPPED(131, 0x1) HOST_POLLS, NOCAP_BY_TRISC0, 2},
    {"TRISC0 polls what it zeroed itself: NCRISC would push",
     PIPE(LOADS) PUSHED(130, 0x1) POPPED(131, 0x1) ZEROED(132) POLLED(trisc0, 0xffb48028, 0x0)
         HOST_POLLS,
     NOCAP_BY_NCRISC, 1},
};

static void who_stands_at_a_buffer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pipes / sizeof pipes[0]; i++) {
        write_text("case.jsonl", pipes[i].trace);
        struct nocap_hang *h = hang_of("case.jsonl");
        const struct nocap_xy at = {1, 2};
        if (root_count(h, at) != pipes[i].roots || root_named(h, pipes[i].agent, at) == NULL) {
            print(h);
            fail_msg("%s", pipes[i].name);
        }
        nocap_hang_free(h);
    }
}

/* ---- what is printed ---- */

static void forms_of_the_answer(void **state)
{
    (void)state;
    write_text("case.jsonl", cases[0].trace);
    struct nocap_hang *h = hang_of("case.jsonl");
    char *json = printed(nocap_hang_json, h);
    assert_contains(json, "\"nocap_hang\":1,\"hung\":true");
    assert_contains(json, "\"chain\":[\"host 1,2\",\"brisc 1,2\",\"trisc0 1,2\"]");
    assert_contains(json, "\"by\":\"trisc0\"");
    free(json);
    char *dot = printed(nocap_hang_dot, h);
    assert_contains(dot, "digraph hang {");
    assert_contains(dot, "->");
    free(dot);
    assert_int_equal(h->event_count, 2);
    assert_contains(h->events[1], "tiles_received");
    nocap_hang_free(h);
}

/* A host that reads the program counters over the debug bus of a tile that hangs. */
static void program_counter_over_the_debug_bus(void **state)
{
    (void)state;
    write_text("case.jsonl", INSIDE TRISC_RUNS(trisc1, 0x6a)
                                 HOST_POLLS WRITE(400010, host, 0xffb12054, 4, 0x2207000f)
                                     READ(400020, host, 0xffb1205c, 4, 0x40006a08));
    struct nocap_hang *h = hang_of("case.jsonl");
    const struct nocap_hang_party *root = root_named(h, NOCAP_BY_TRISC1, (struct nocap_xy){1, 2});
    assert_non_null(root);
    assert_non_null(root->source);
    assert_string_equal(root->source, "pc 0x6a08");
    nocap_hang_free(h);
}

/* Five launches as the host sees them: all but the third take 90 or 91 cycles. */
#define LAUNCH(t, asked, found)                                                                    \
    WRITE(t, host, 0x370, 4, 0x80000000)                                                           \
    READ(asked, host, 0x373, 1, 0x80) READ(found, host, 0x373, 1, 0x0)
#define LAUNCHES(third)                                                                            \
    OUTSIDE LAUNCH(100, 110, 200) LAUNCH(300, 310, 401) LAUNCH(500, 510, third)                    \
        LAUNCH(5000, 5010, 5100) LAUNCH(6000, 6010, 6100)

static void a_launch_that_took_long_and_ended_is_told(void **state)
{
    (void)state;
    write_text("case.jsonl", LAUNCHES(1310));
    struct nocap_hang *h = hang_of("case.jsonl");
    assert_int_equal(h->verdict, NOCAP_HANG_NONE);
    char *json = printed(nocap_hang_json, h);
    assert_contains(json, "\"recovered\":{\"index\":7,\"until\":8,\"took\":800,\"others\":91,\"count\":5,\"addr\":883}");
    free(json);
    nocap_hang_free(h);
    write_text("case.jsonl", LAUNCHES(1200));
    h = hang_of("case.jsonl");
    assert_false(h->recovered);
    nocap_hang_free(h);
}

/* Two tiles are released; the host looks at one after the other, and no store of a core is
 * observed. */
#define BOTH                                                                                       \
    "{\"t\":1,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"x2\":1,\"y2\":3,\"size\":4,"
#define LEAVE "\"ev\":\"reset\",\"op\":\"run\",\"x\":1,\"y\":2,"
#define LOOKS "\"ev\":\"read\",\"by\":\"host\",\"x\":1,\"addr\":\"0x373\",\"size\":1,"
static const char slow_boot[] =
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",\"complete\":true,"
    "\"observes\":[\"host-mmio\",\"kernel\",\"reset\"]}\n" BOTH
    "\"addr\":\"0x370\",\"value\":\"0x40000000\"}\n" BOTH
    "\"addr\":\"0xffb121b0\",\"value\":\"0x47000\"}\n"
    "{\"t\":307," LEAVE "\"by\":\"brisc\"}\n"
    "{\"t\":2663," LEAVE "\"by\":\"ncrisc\"}\n"
    "{\"t\":3000," LOOKS "\"y\":2,\"value\":\"0x40\",\"n\":10,\"t2\":7822}\n"
    "{\"t\":8322," LOOKS "\"y\":2,\"value\":\"0x0\"}\n"
    "{\"t\":8339," LOOKS "\"y\":3,\"value\":\"0x40\",\"n\":20,\"t2\":17839}\n";

/* Cores whose stores are not observed have acted where the host finds another value. */
static void what_the_host_finds_is_progress(void **state)
{
    (void)state;
    write_text("case.jsonl", slow_boot);
    struct nocap_hang *h = hang_of("case.jsonl");
    assert_int_equal(h->verdict, NOCAP_HANG_INCONCLUSIVE);
    assert_int_equal(h->expected, 8322 - 2663);
    nocap_hang_free(h);
}

/* Who gives up takes the cores into reset; then nobody waits, but somebody did. */
static void a_host_that_gave_up(void **state)
{
    (void)state;
    write_text("case.jsonl", INSIDE TRISC_RUNS(trisc1, 0x6a)
                                 HOST_POLLS WRITE(400010, host, 0xffb121b0, 4, 0x47800));
    struct nocap_hang *h = hang_of("case.jsonl");
    assert_int_equal(h->verdict, NOCAP_HANG_NONE);
    assert_true(h->gave_up);
    assert_int_equal(h->last_look.index, 5);
    char *json = printed(nocap_hang_json, h);
    char times[64]; /* of the last event, as check says it; polls go on until `end` */
    snprintf(times, sizeof times, "\"t_last\":%llu,\"end\":%llu",
             (unsigned long long)h->report->t_last, (unsigned long long)h->end);
    assert_contains(json, times);
    assert_contains(json, "\"gave_up\":{\"x\":1,\"y\":2,\"index\":5,\"t\":400000}");
    free(json);
    nocap_hang_free(h);
    struct nocap_error err;
    const struct nocap_hang_options options = {
        .size = sizeof options, .has_at = true, .at = 400000};
    assert_int_equal(nocap_hang(&h, "case.jsonl", &options, &err), NOCAP_OK);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    nocap_hang_free(h);
}

/* The moment is the caller's choice: before the first event nothing is known. */
static void an_earlier_moment(void **state)
{
    (void)state;
    struct nocap_hang *h;
    struct nocap_error err;
    const struct nocap_hang_options options = {.size = sizeof options, .has_at = true, .at = 99};
    write_text("case.jsonl", cases[0].trace);
    assert_int_equal(nocap_hang(&h, "case.jsonl", &options, &err), NOCAP_OK);
    assert_int_equal(h->verdict, NOCAP_HANG_INCONCLUSIVE);
    assert_contains(h->why, "nothing was observed");
    nocap_hang_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hangs),
        cmocka_unit_test(who_stands_at_a_buffer),
        cmocka_unit_test(forms_of_the_answer),
        cmocka_unit_test(an_earlier_moment),
        cmocka_unit_test(a_host_that_gave_up),
        cmocka_unit_test(what_the_host_finds_is_progress),
        cmocka_unit_test(a_launch_that_took_long_and_ended_is_told),
        cmocka_unit_test(program_counter_over_the_debug_bus),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
