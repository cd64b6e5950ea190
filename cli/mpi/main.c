/* SPDX-License-Identifier: Apache-2.0 */
/* nocap-mpi: `nocap check` over the ranks of MPI. Rank 0 hands out traces, keeps the journal and
 * prints the report; every rank, the first too, judges one trace at a time in a child, so that a
 * trace that crashes the checker ends no rank. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/crew.h"

enum { TAG_TRACE = 1, TAG_HEAD, TAG_TEXT };
enum { LOOK_NANOSECONDS = 500000, PROGRESS_SECONDS = 10 };
#define NO_MORE UINT64_MAX

/* What a rank says of a trace before the text. */
struct head {
    uint64_t at, size;
    int32_t signal, status;
};

struct ranks {
    struct crew_ranks ranks; /* the first member */
    struct crew crew;        /* of rank 0 */
    size_t count;
    bool *busy; /* by rank; rank 0 judges, too */
    struct crew_child own;
    crew_judge *judge;
    const void *context;
    bool served; /* another rank: it was told that there is no more */
    uint64_t taken;
    time_t shown; /* when the last line of progress was */
};

/* MPI ends the program where it cannot go on. */
static void send_bytes(const void *bytes, uint64_t size, int rank, int tag)
{
    enum { PIECE = 1 << 30 };
    const uint8_t *at = bytes;
    for (uint64_t done = 0; done < size || size == 0; done += PIECE) {
        uint64_t rest = size - done;
        MPI_Send(at + done, (int)(rest < PIECE ? rest : PIECE), MPI_BYTE, rank, tag,
                 MPI_COMM_WORLD);
        if (size == 0) {
            return;
        }
    }
}

static void receive_bytes(void *bytes, uint64_t size, int rank, int tag)
{
    enum { PIECE = 1 << 30 };
    uint8_t *at = bytes;
    for (uint64_t done = 0; done < size || size == 0; done += PIECE) {
        uint64_t rest = size - done;
        MPI_Recv(at + done, (int)(rest < PIECE ? rest : PIECE), MPI_BYTE, rank, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (size == 0) {
            return;
        }
    }
}

/* ---- rank 0 ---- */

static struct ranks *of_crew(struct crew *crew)
{
    return (struct ranks *)(void *)((char *)crew - offsetof(struct ranks, crew));
}

static enum nocap_status give(struct crew *crew, uint64_t at, struct nocap_error *err)
{
    struct ranks *r = of_crew(crew);
    size_t rank = r->count - 1; /* the others first: they have nothing else to do */
    while (r->busy[rank]) {
        rank--;
    }
    r->busy[rank] = true;
    if (rank == 0) {
        return crew_child_start(&r->own, r->judge, r->context, at, err);
    }
    MPI_Send(&at, 1, MPI_UINT64_T, (int)rank, TAG_TRACE, MPI_COMM_WORLD);
    return NOCAP_OK;
}

/* A line on stderr every few seconds. */
static void report_progress(struct ranks *r)
{
    time_t now = time(NULL);
    r->taken++;
    if (now - r->shown >= PROGRESS_SECONDS) {
        r->shown = now;
        fprintf(stderr, "nocap-mpi: %llu traces judged by %zu ranks\n",
                (unsigned long long)r->taken, r->count);
    }
}

static enum nocap_status take_remote(struct ranks *r, int rank, struct crew_result *result,
                                     struct nocap_error *err)
{
    struct head head;
    receive_bytes(&head, sizeof head, rank, TAG_HEAD);
    r->busy[rank] = false;
    *result = (struct crew_result){.at = head.at,
                                   .signal = head.signal,
                                   .status = (enum nocap_status)head.status,
                                   .text = malloc(head.size + 1),
                                   .size = head.size};
    RETURN_ERROR_IF(result->text == NULL, err, NOCAP_E_MEMORY, "out of memory");
    receive_bytes(result->text, head.size, rank, TAG_TEXT);
    result->text[head.size] = 0;
    return NOCAP_OK;
}

static enum nocap_status take(struct crew *crew, struct crew_result *result,
                              struct nocap_error *err)
{
    struct ranks *r = of_crew(crew);
    const struct timespec pause = {.tv_nsec = LOOK_NANOSECONDS};
    for (;;) {
        MPI_Status from;
        int there = 0, status;
        if (r->own.pid != 0 && waitpid(r->own.pid, &status, WNOHANG) == r->own.pid) {
            r->busy[0] = false;
            report_progress(r);
            return crew_child_end(&r->own, status, result, err);
        }
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_HEAD, MPI_COMM_WORLD, &there, &from);
        if (there) {
            report_progress(r);
            return take_remote(r, from.MPI_SOURCE, result, err);
        }
        nanosleep(&pause, NULL);
    }
}

static enum nocap_status open_crew(struct crew_ranks *ranks, crew_judge *judge, const void *context,
                                   struct crew **crew, struct nocap_error *err)
{
    struct ranks *r = (struct ranks *)(void *)ranks;
    r->busy = calloc(r->count, sizeof *r->busy);
    RETURN_ERROR_IF(r->busy == NULL, err, NOCAP_E_MEMORY, "out of memory");
    r->judge = judge;
    r->context = context;
    r->shown = time(NULL);
    r->crew = (struct crew){.size = r->count, .give = give, .take = take};
    *crew = &r->crew;
    return NOCAP_OK;
}

static void end_others(const struct ranks *r)
{
    uint64_t none = NO_MORE;
    for (size_t rank = 1; rank < r->count; rank++) {
        MPI_Send(&none, 1, MPI_UINT64_T, (int)rank, TAG_TRACE, MPI_COMM_WORLD);
    }
}

/* ---- the others ---- */

/* Waits without taking a core. */
static uint64_t next_trace(void)
{
    const struct timespec pause = {.tv_nsec = LOOK_NANOSECONDS};
    uint64_t at;
    int there = 0;
    for (;;) {
        MPI_Iprobe(0, TAG_TRACE, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (there) {
            break;
        }
        nanosleep(&pause, NULL);
    }
    MPI_Recv(&at, 1, MPI_UINT64_T, 0, TAG_TRACE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return at;
}

static enum nocap_status judge_one(crew_judge *judge, const void *context, uint64_t at,
                                   struct nocap_error *err)
{
    struct crew_child child;
    struct crew_result result;
    int status;
    RETURN_IF_FAILED(crew_child_start(&child, judge, context, at, err));
    while (waitpid(child.pid, &status, 0) < 0) {
        RETURN_ERROR_IF(errno != EINTR, err, NOCAP_E_MEMORY, "a process was lost: %s",
                        strerror(errno));
    }
    RETURN_IF_FAILED(crew_child_end(&child, status, &result, err));
    const struct head head = {at, result.size, result.signal, (int32_t)result.status};
    send_bytes(&head, sizeof head, 0, TAG_HEAD);
    send_bytes(result.text, result.size, 0, TAG_TEXT);
    free(result.text);
    return NOCAP_OK;
}

static enum nocap_status serve(struct crew_ranks *ranks, crew_judge *judge, const void *context,
                               struct nocap_error *err)
{
    struct ranks *r = (struct ranks *)(void *)ranks;
    enum nocap_status status = NOCAP_OK;
    for (uint64_t at = next_trace(); at != NO_MORE && status == NOCAP_OK; at = next_trace()) {
        status = judge_one(judge, context, at, err);
    }
    r->served = true;
    return status;
}

/* What was to be said of the command line rank 0 says. */
static void be_silent(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDERR_FILENO);
        dup2(null, STDOUT_FILENO);
        close(null);
    }
}

int main(int argc, char **argv)
{
    int rank, count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    struct ranks ranks = {.ranks = {.rank = (size_t)rank, .open = open_crew, .serve = serve},
                          .count = (size_t)count};
    if (rank != 0) {
        be_silent();
    }
    int result = cli_program(argc, argv, &ranks.ranks);
    if (rank == 0) {
        end_others(&ranks);
    } else {
        while (!ranks.served && next_trace() != NO_MORE) {
        }
        result = 0;
    }
    free(ranks.busy);
    MPI_Finalize();
    return result;
}
