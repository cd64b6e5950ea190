/* SPDX-License-Identifier: Apache-2.0 */
/* How fast `nocap check` judges a trace that is all NOC: workers that fetch pages, pass them on,
 * wait at barriers, signal each other and poll. usage: bench_noc BUILD [EVENTS] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/trace/trace.h"

enum {
    COLUMNS = 12,
    ROWS = 10,
    WORKERS = COLUMNS * ROWS,
    PAGE = 2048,
    PAGES = 8,
    IN = 0x40000,
    OUT = 0x60000,
    FLAG = 0x30000,
    EVENTS = 20000000,
    CLASSES = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_CORE_STORE | NOCAP_CLASS_CORE_LOAD |
              NOCAP_CLASS_CORE_MMIO | NOCAP_CLASS_NOC | NOCAP_CLASS_NOC_BARRIER,
};

struct bench {
    struct nocap_writer *writer;
    struct nocap_event event;
    uint64_t t, events;
    struct nocap_error err;
};

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static struct nocap_xy worker(unsigned i)
{
    unsigned x = 1 + i % WORKERS / ROWS, y = 2 + i % ROWS;
    return (struct nocap_xy){(uint8_t)(x < 8 ? x : x + 2), (uint8_t)y};
}

static struct nocap_event *begin(struct bench *b, enum nocap_kind kind, unsigned i)
{
    struct nocap_event *e = &b->event;
    memset(e, 0, sizeof *e);
    e->kind = (uint8_t)kind;
    e->t = b->t += 3;
    e->by = NOCAP_BY_BRISC;
    e->at = worker(i);
    e->has = NOCAP_F_BY | NOCAP_F_AT;
    return e;
}

static void put(struct bench *b)
{
    if (nocap_writer_add(b->writer, &b->event, &b->err) != NOCAP_OK) {
        die(b->err.text);
    }
    b->events++;
}

static void request(struct bench *b, unsigned i, enum nocap_op op, unsigned from, unsigned to,
                    uint64_t saddr, uint64_t daddr, uint64_t size)
{
    struct nocap_event *e = begin(b, NOCAP_EV_NOC, i);
    e->op = (uint8_t)op;
    e->d = worker(to);
    e->daddr = daddr;
    e->size = size;
    e->has |= NOCAP_F_NOC | NOCAP_F_D | NOCAP_F_DADDR | NOCAP_F_SIZE;
    if (op != NOCAP_OP_ATOMIC) {
        e->s = worker(from);
        e->saddr = saddr;
        e->has |= NOCAP_F_S | NOCAP_F_SADDR;
    }
    put(b);
}

static void barrier(struct bench *b, unsigned i, enum nocap_op op, enum nocap_phase phase)
{
    struct nocap_event *e = begin(b, NOCAP_EV_NOC, i);
    e->op = (uint8_t)op;
    e->phase = (uint8_t)phase;
    e->has |= NOCAP_F_NOC | NOCAP_F_PHASE;
    put(b);
}

static void access_word(struct bench *b, unsigned i, enum nocap_kind kind, uint64_t addr,
                        uint64_t v)
{
    struct nocap_event *e = begin(b, kind, i);
    e->addr = addr;
    e->size = 4;
    e->value = v;
    e->has |= NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE;
    put(b);
}

/* One round of one worker: fetches two pages from its right neighbour, passes one on to the left
 * one, and tells it. */
static void round_of(struct bench *b, unsigned i, uint64_t round)
{
    unsigned left = (i + WORKERS - 1) % WORKERS, right = (i + 1) % WORKERS;
    uint64_t page = round % PAGES * PAGE;
    access_word(b, i, NOCAP_EV_READ, FLAG, round);
    request(b, i, NOCAP_OP_READ, right, i, OUT + page, IN + page, PAGE);
    request(b, i, NOCAP_OP_READ, right, i, OUT + PAGES * PAGE + page, IN + PAGES * PAGE + page,
            PAGE);
    barrier(b, i, NOCAP_OP_READ, NOCAP_PHASE_DONE);
    access_word(b, i, NOCAP_EV_READ, IN + page, round);
    request(b, i, NOCAP_OP_WRITE, i, left, IN + page, IN + 4 * PAGES * PAGE + page, PAGE);
    barrier(b, i, NOCAP_OP_WRITE, NOCAP_PHASE_DONE);
    request(b, i, NOCAP_OP_ATOMIC, i, left, 0, FLAG, 4);
}

static void record(const char *path, uint64_t wanted, struct bench *b)
{
    struct nocap_header header;
    nocap_header_init(&header);
    header.board = NOCAP_BOARD_P150;
    header.has_observes = true;
    header.observes = CLASSES;
    if (nocap_writer_open(&b->writer, path, &header, NULL, &b->err) != NOCAP_OK) {
        die(b->err.text);
    }
    for (uint64_t round = 0; b->events < wanted; round++) {
        for (unsigned i = 0; i < WORKERS; i++) {
            round_of(b, i, round);
        }
    }
    if (nocap_writer_close(b->writer, NULL, &b->err) != NOCAP_OK) {
        die(b->err.text);
    }
    nocap_header_free(&header);
}

/* Seconds on a core, which others may use too, and peak memory in KiB of `nocap check` with some
 * rules. */
static double check(const char *build, const char *path, const char *rules, long *peak)
{
    char program[512];
    struct rusage usage;
    int status;
    snprintf(program, sizeof program, "%s/nocap", build);
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, "check", path, "--rules", rules, "-o", "/dev/null", (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0) {
        die("nocap check does not find the trace clean");
    }
    *peak = usage.ru_maxrss;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int main(int argc, char **argv)
{
    static const char without[] = "-NOC-041,-NOC-042,-NOC-043,-NOC-044,-NOC-045";
    struct bench b = {0};
    char path[] = "/tmp/nocap-bench-noc-XXXXXX";
    long peak, plain_peak;
    if (argc < 2) {
        die("usage: bench_noc BUILD [EVENTS]");
    }
    int fd = mkstemp(path);
    if (fd < 0) {
        die("no temporary file");
    }
    close(fd);
    record(path, argc > 2 ? strtoull(argv[2], NULL, 10) : EVENTS, &b);
    double plain = check(argv[1], path, without, &plain_peak);
    double races = check(argv[1], path, "TRC,MAP,RST,SYN,GO,TNX,CQ,NOC", &peak);
    printf("%-35s %8.2f M/s  goal %5.1f M/s  %5.2f of %s (%.2f M/s)\n", "check, NOC with races",
           (double)b.events / races * 1e-6, 2.0, plain / races, "without races",
           (double)b.events / plain * 1e-6);
    printf("peak memory of check               %8.1f MiB   goal    64\n", (double)peak / 1024);
    unlink(path);
    return 0;
}
