/* SPDX-License-Identifier: Apache-2.0 */
/* How fast, how small, how much memory: one run over one trace of the built-in device model, each
 * figure beside something measured in the same run. usage: bench_trace BUILD [EVENTS] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/sim/sim.h"
#include "formats/trace/jsonl.h"
#include "formats/trace/nocap.pb-c.h"
#include "formats/trace/trace.h"

enum { CHUNK = 1 << 16, SAMPLE = 1 << 20, PAYLOAD = 16 << 20 };

struct bench {
    char path[512];
    uint64_t wanted, events;
    struct nocap_writer *writer;
    struct nocap_event *chunk; /* events that were generated and not written yet */
    uint8_t *payload;
    size_t count, payload_size;
    double write_seconds;
    struct nocap_event *sample; /* the first of them, without payload, for the baselines */
    size_t sample_count;
    struct nocap_error err;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what, const struct nocap_error *err)
{
    fprintf(stderr, "bench: %s: %s\n", what, err->text);
    exit(1);
}

static void write_chunk(struct bench *b)
{
    double start = seconds();
    for (size_t i = 0; i < b->count; i++) {
        if (nocap_writer_add(b->writer, &b->chunk[i], &b->err) != NOCAP_OK) {
            die("write", &b->err);
        }
    }
    b->write_seconds += seconds() - start;
    b->events += b->count;
    b->count = b->payload_size = 0;
}

/* Keeps a copy, so that generating an event does not count as writing it. Stops the device when
 * there are enough. */
static enum nocap_status take(void *context, const struct nocap_event *event,
                              struct nocap_error *err)
{
    struct bench *b = context;
    (void)err;
    struct nocap_event *copy = &b->chunk[b->count++];
    *copy = *event;
    if (event->data_size > 0) {
        memcpy(b->payload + b->payload_size, event->data, event->data_size);
        copy->data = b->payload + b->payload_size;
        b->payload_size += event->data_size;
    }
    if (b->sample_count < SAMPLE) {
        struct nocap_event *s = &b->sample[b->sample_count++];
        *s = *event;
        s->data = NULL;
        s->data_size = 0;
    }
    if (b->count == CHUNK || b->payload_size > PAYLOAD / 2) {
        write_chunk(b);
    }
    return b->events + b->count < b->wanted ? NOCAP_OK : NOCAP_END;
}

/* The same events, one protobuf message each. */
static void one_message_an_event(const struct bench *b, double *pack, double *unpack)
{
    size_t capacity = (size_t)SAMPLE * 96, used = 0;
    uint8_t *out = malloc(capacity);
    double start = seconds();
    for (size_t i = 0; i < b->sample_count; i++) {
        const struct nocap_event *e = &b->sample[i];
        Nocap__Shape m = NOCAP__SHAPE__INIT;
        uint64_t slots[NOCAP_SLOTS];
        memcpy(slots, e->slot, sizeof slots);
        m.kind = e->kind;
        m.op = e->op;
        m.has_op = 1;
        m.has = e->has;
        m.slot = slots;
        for (m.n_slot = NOCAP_SLOTS; m.n_slot > 0 && slots[m.n_slot - 1] == 0; m.n_slot--) {
        }
        size_t size = nocap__shape__get_packed_size(&m);
        if (used + size + 1 > capacity) {
            break;
        }
        out[used] = (uint8_t)size;
        used += 1 + nocap__shape__pack(&m, out + used + 1);
    }
    *pack = (double)b->sample_count / (seconds() - start);
    start = seconds();
    size_t n = 0;
    for (size_t at = 0; at < used; at += 1u + out[at]) {
        Nocap__Shape *m = nocap__shape__unpack(NULL, out[at], out + at + 1);
        nocap__shape__free_unpacked(m, NULL);
        n++;
    }
    *unpack = (double)n / (seconds() - start);
    free(out);
}

static double read_all(const char *path, bool print, uint64_t *bytes)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    struct nocap_text text = {0};
    const struct nocap_event *events;
    size_t count;
    uint64_t total = 0;
    volatile uint64_t sum = 0; /* every event is looked at */
    double start = seconds();
    if (nocap_reader_open(&reader, path, &err) != NOCAP_OK) {
        die("read", &err);
    }
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        uint64_t s = 0;
        for (size_t i = 0; i < count; i++) {
            s += events[i].value + events[i].addr;
            if (print && nocap_jsonl_print_event(&text, &events[i], &err) != NOCAP_OK) {
                die("print", &err);
            }
        }
        sum += s;
        total += count;
        *bytes += text.size;
        text.size = 0;
    }
    double rate = (double)total / (seconds() - start);
    free(text.data);
    nocap_reader_close(reader);
    return rate;
}

/* `nocap check`, run by a process that was made while this one was small: a program's peak memory
 * counts from that of the process that starts it. */
struct apart {
    int go, done; /* pipes */
};
struct apart_result {
    double seconds;
    long peak_kib;
    int status;
};

static void run_apart(const struct apart *apart, const char *build, const char *path)
{
    char program[512], byte;
    struct apart_result result = {0};
    snprintf(program, sizeof program, "%s/nocap", build);
    if (read(apart->go, &byte, 1) != 1) {
        _exit(0);
    }
    double start = seconds();
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, "check", path, "--jobs", "1", "--fail-on", "warning", "-o",
              "/dev/null", (char *)NULL);
        _exit(127);
    }
    struct rusage usage;
    if (child > 0 && wait4(child, &result.status, 0, &usage) == child) {
        result.seconds = seconds() - start;
        result.peak_kib = usage.ru_maxrss;
    }
    _exit(write(apart->done, &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
}

static struct apart start_apart(const char *build, const char *path)
{
    int go[2], done[2];
    struct nocap_error err = {"no pipe"};
    if (pipe(go) != 0 || pipe(done) != 0) {
        die("check", &err);
    }
    if (fork() == 0) {
        close(go[1]);
        run_apart(&(struct apart){go[0], done[1]}, build, path);
    }
    close(go[0]);
    close(done[1]);
    return (struct apart){go[1], done[0]};
}

static double check_apart(const struct bench *b, const struct apart *apart, long *peak_kib)
{
    struct apart_result result;
    if (write(apart->go, "", 1) != 1 ||
        read(apart->done, &result, sizeof result) != (ssize_t)sizeof result || result.status != 0) {
        fprintf(stderr,
                "bench: nocap check does not find the built-in device model's trace clean\n");
        exit(1);
    }
    *peak_kib = result.peak_kib;
    return (double)b->events / result.seconds;
}

static double import_rate(struct bench *b)
{
    FILE *file = tmpfile();
    struct nocap_header header;
    struct nocap_text text = {0};
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_LAUNCH_HOST};
    if (file == NULL || nocap_sim_header(&options, &header, &b->err) != NOCAP_OK ||
        nocap_jsonl_print_header(&text, &header, &b->err) != NOCAP_OK) {
        die("header", &b->err);
    }
    for (size_t i = 0; i < b->sample_count; i++) {
        if (nocap_jsonl_print_event(&text, &b->sample[i], &b->err) != NOCAP_OK) {
            die("print", &b->err);
        }
        if (text.size > 1 << 20) {
            fwrite(text.data, 1, text.size, file);
            text.size = 0;
        }
    }
    fwrite(text.data, 1, text.size, file);
    rewind(file);
    struct nocap_jsonl_reader *reader;
    struct nocap_event event;
    uint64_t n = 0;
    double start = seconds();
    if (nocap_jsonl_open(&reader, file, "bench", &b->err) != NOCAP_OK) {
        die("import", &b->err);
    }
    while (nocap_jsonl_next(reader, &event, &b->err) == NOCAP_OK) {
        n++;
    }
    double rate = (double)n / (seconds() - start);
    nocap_jsonl_close(reader);
    nocap_header_free(&header);
    free(text.data);
    fclose(file);
    return rate;
}

static void row(const char *what, double rate, double goal, double baseline, const char *of)
{
    printf("%-34s %8.1f M/s   goal %5.1f   %6.1f x %s\n", what, rate / 1e6, goal / 1e6,
           rate / baseline, of);
}

static void record(struct bench *b)
{
    struct nocap_sim_options options = {.size = sizeof options,
                                        .scenario = NOCAP_SIM_LAUNCH_HOST,
                                        .tiles = 8,
                                        .launches = 1 << 30,
                                        .seed = 1};
    struct nocap_header header;
    if (nocap_sim_header(&options, &header, &b->err) != NOCAP_OK ||
        nocap_writer_open(&b->writer, b->path, &header, NULL, &b->err) != NOCAP_OK) {
        die("open", &b->err);
    }
    enum nocap_status status = nocap_sim_run(&options, take, b, &b->err);
    if (status != NOCAP_OK && status != NOCAP_END) {
        die("device", &b->err);
    }
    write_chunk(b);
    double start = seconds();
    struct nocap_trace_totals totals;
    if (nocap_writer_close(b->writer, &totals, &b->err) != NOCAP_OK) {
        die("close", &b->err);
    }
    b->write_seconds += seconds() - start;
    nocap_header_free(&header);
    printf("trace of the built-in device model: %" PRIu64 " events, %" PRIu64
           " bytes, %.2f bytes an event (goal 3)\n",
           totals.events, totals.bytes, (double)totals.bytes / (double)totals.events);
}

int main(int argc, char **argv)
{
    struct bench b = {.wanted = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000000};
    snprintf(b.path, sizeof b.path, "%s/bench.nocap", argc > 1 ? argv[1] : ".");
    struct apart apart = start_apart(argc > 1 ? argv[1] : ".", b.path);
    b.chunk = malloc(CHUNK * sizeof *b.chunk);
    b.payload = malloc(PAYLOAD);
    b.sample = malloc(SAMPLE * sizeof *b.sample);
    if (b.chunk == NULL || b.payload == NULL || b.sample == NULL) {
        return 1;
    }
    record(&b);
    double pack, unpack;
    one_message_an_event(&b, &pack, &unpack);
    uint64_t bytes = 0;
    long peak_kib;
    double read = read_all(b.path, false, &bytes);
    double dump = read_all(b.path, true, &bytes);
    double check = check_apart(&b, &apart, &peak_kib);
    double import = import_rate(&b);
    row("write (columns, zstd level 1)", (double)b.events / b.write_seconds, 5e6, pack,
        "one message an event");
    row("read and decode", read, 30e6, unpack, "one message an event");
    row("check, all rules", check, 5e6, read, "reading alone");
    row("dump as JSON Lines", dump, 2e6, read, "reading alone");
    row("import JSON Lines", import, 6e6, dump, "printing them");
    printf("peak memory of check               %8.1f MiB   goal    64\n", (double)peak_kib / 1024);
    unlink(b.path);
    free(b.chunk);
    free(b.payload);
    free(b.sample);
    return 0;
}
