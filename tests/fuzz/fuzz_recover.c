/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture that was killed left behind, beside a trace: the input is what the head of the
 * ring file says (struct said), the contents of two rings, and the trace or its frames (frames.h).
 * Whatever they hold, the trace is read, and no event that recovery tells of is lost. */
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "formats/import/import.h"
#include "formats/rings/recover.h"
#include "formats/rings/ring_file.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TRACE_MAX = 1 << 17, RINGS = 2 };

enum lie {
    NO_MAGIC = 1,
    RING_BYTES = 2,
    NO_HASH = 4,
    COMMIT = 8,
    SHORT = 16,
    NO_TRACE = 32,
    NO_FILE = 64,  /* what should be the trace is a folder */
    NO_ROOM = 128, /* rings of a size that memory does not have */
};

struct said {
    uint8_t lies, slots_used, from_user, cut;
    uint8_t dropped[RINGS], told[RINGS];
    uint8_t lost, lost_reported;
    uint16_t content[RINGS]; /* bytes of each ring */
    uint16_t src[RINGS];
    uint16_t tail[RINGS];
    uint32_t more[RINGS]; /* head - tail - content */
    uint64_t mult;
};

struct ring_image {
    struct ring_file_head head;
    uint8_t rest[RING_FILE_FIRST - sizeof(struct ring_file_head)];
    uint8_t ring[RINGS][RING_BYTES_MIN];
};

/* The head as a writer would have left it, but for what is said. */
static void make_head(struct ring_file_head *head, const struct said *s, const uint8_t *trace,
                      size_t trace_size)
{
    struct ring_commit *commit = &head->commits[1];
    size_t cut = s->cut < trace_size ? trace_size - s->cut : trace_size;
    size_t hashed = cut < RING_HASHED ? cut : RING_HASHED;
    atomic_init(&head->magic, (s->lies & NO_MAGIC) != 0 ? 0 : RING_FILE_MAGIC);
    head->ring_bytes = (s->lies & RING_BYTES) != 0 ? s->mult
                       : (s->lies & NO_ROOM) != 0  ? RING_BYTES_MAX
                                                   : RING_BYTES_MIN;
    head->clock =
        (struct ring_clock){.start = s->lost, .mult = s->mult, .from_user = s->from_user % 2};
    atomic_init(&head->slots_used, s->slots_used);
    atomic_init(&head->commit, (s->lies & COMMIT) != 0 ? s->cut : 1);
    atomic_init(&head->lost, s->lost);
    commit->trace_bytes = cut;
    commit->trace_hash = nocap_fnv1a64(NOCAP_FNV1A64_START, trace + cut - hashed, hashed);
    commit->trace_hash ^= (s->lies & NO_HASH) != 0;
    commit->lost_reported = s->lost_reported;
    for (unsigned i = 0; i < RINGS; i++) {
        commit->ring[i] = (struct ring_position){.tail = s->tail[i], .reported = s->told[i]};
        atomic_init(&head->ring[i].head, (uint64_t)s->tail[i] + s->content[i] + s->more[i]);
        atomic_init(&head->ring[i].dropped, s->dropped[i]);
        atomic_init(&head->ring[i].src, s->src[i]);
    }
}

/* Reads all there is and gives how many events that were. */
static uint64_t read_back(struct nocap_reader *reader)
{
    const struct nocap_event *events;
    struct nocap_error err;
    size_t count;
    uint64_t total = 0;
    enum nocap_status status;
    while ((status = nocap_reader_next(reader, &events, &count, &err)) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            require(events[i].kind < NOCAP_EV_COUNT);
        }
        total += count;
    }
    require(status == NOCAP_END || err.text[0] != '\0');
    nocap_reader_close(reader);
    return total;
}

static void recover(const char *path)
{
    struct nocap_reader *reader = NULL;
    struct nocap_recovered recovered;
    struct nocap_error err = {""};
    char out_path[sizeof folder + 16];
    snprintf(out_path, sizeof out_path, "%s/out.nocap", folder);
    int fd = open(out_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    require(fd >= 0 && !nocap_rings_capturing(path));
    (void)nocap_rings_committed(path);
    enum nocap_status status = nocap_rings_recover(path, fd, &recovered, &err);
    require(status == NOCAP_OK || status == NOCAP_END || err.text[0] != '\0');
    if (status == NOCAP_OK) {
        require(nocap_reader_open(&reader, out_path, &err) == NOCAP_OK);
        require(read_back(reader) >= recovered.events);
    }
    close(fd);
    err.text[0] = '\0';
    reader = NULL;
    if (nocap_import_open(&reader, path, false, NULL, &err) == NOCAP_OK) {
        (void)read_back(reader);
    } else {
        require(err.text[0] != '\0');
        nocap_reader_close(reader); /* nothing, or what is still open */
    }
}

/* A trace as it stands, end and all, or what makes one. */
static size_t make_trace(uint8_t trace[TRACE_MAX], const uint8_t *data, size_t size)
{
    static const uint8_t magic[] = {0x28, 0xB5, 0x2F, 0xFD};
    if (size < sizeof magic || size > TRACE_MAX || memcmp(data, magic, sizeof magic) != 0) {
        return frames_compress(trace, TRACE_MAX, data, size);
    }
    memcpy(trace, data, size);
    return size;
}

/* To less than one ring more than there is now. */
static void limit_memory(const struct rlimit *before)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    require(file != NULL && fscanf(file, "%llu", &pages) == 1);
    fclose(file);
    rlim_t now = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
    const struct rlimit limit = {.rlim_cur = now + RING_BYTES_MAX, .rlim_max = before->rlim_max};
    require(setrlimit(RLIMIT_AS, &limit) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ring_image image;
    static uint8_t trace[TRACE_MAX];
    char path[sizeof folder + 16], rings[sizeof folder + 32];
    struct said said;
    if (size < sizeof said) {
        return 0;
    }
    memcpy(&said, data, sizeof said);
    data += sizeof said;
    size -= sizeof said;
    memset(&image, 0, sizeof image);
    for (unsigned i = 0; i < RINGS; i++) {
        size_t n = said.content[i] < size ? said.content[i] : size;
        size_t at = said.tail[i] % RING_BYTES_MIN;
        n = n < RING_BYTES_MIN - at ? n : RING_BYTES_MIN - at;
        memcpy(image.ring[i] + at, data, n);
        data += n;
        size -= n;
    }
    size_t trace_size = make_trace(trace, data, size);
    make_head(&image.head, &said, trace, trace_size);
    folder_make();
    snprintf(path, sizeof path, "%s/a.nocap", folder);
    snprintf(rings, sizeof rings, "%s" NOCAP_RINGS_SUFFIX, path);
    if ((said.lies & NO_FILE) != 0) {
        require(mkdir(path, 0777) == 0);
    } else if ((said.lies & NO_TRACE) == 0) {
        folder_put(path, trace, trace_size);
    }
    folder_put(rings, &image, sizeof image);
    bool no_room = (said.lies & NO_ROOM) != 0;
    uint64_t bytes = no_room ? RING_BYTES_MAX : RING_BYTES_MIN;
    uint64_t whole = RING_FILE_FIRST + RING_SLOTS * bytes;
    require(truncate(rings, (off_t)((said.lies & SHORT) != 0 ? said.mult % whole : whole)) == 0);
    struct rlimit before;
    require(getrlimit(RLIMIT_AS, &before) == 0);
    if (no_room) {
        limit_memory(&before);
    }
    recover(path);
    require(setrlimit(RLIMIT_AS, &before) == 0);
    folder_empty();
    return 0;
}
