/* SPDX-License-Identifier: Apache-2.0 */
/* What an access under the driver shim costs: a client of the fake driver measures itself, with the
 * shim and without. usage: bench_preload BUILD */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Microseconds of a scalar store and of a locked add. */
static void measure(const char *build, const char *preload, const char *count, double *move,
                    double *step)
{
    char command[2048];
    snprintf(command, sizeof command,
             "NOCAP_CAPTURE=%s/bench-preload.nocap LD_PRELOAD=\"%s %s/tests/libfake-kmd.so\" "
             "%s/tests/kmd_client measure %s",
             build, preload, build, build, count);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL || fscanf(pipe, "%lf %lf", move, step) != 2 || pclose(pipe) != 0) {
        fprintf(stderr, "bench: the client of the driver failed\n");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    char *build = realpath(argc > 1 ? argv[1] : ".", NULL), shim[1024], trace[1024];
    double move, step, bare_move, bare_step;
    if (build == NULL) {
        return 1;
    }
    snprintf(shim, sizeof shim, "%s/libnocap-preload.so", build);
    snprintf(trace, sizeof trace, "%s/bench-preload.nocap", build);
    measure(build, "", "10000000", &bare_move, &bare_step);
    measure(build, shim, "300000", &move, &step);
    printf("shim, a scalar access          %8.2f us   goal  4   %.0f x without\n", move,
           move / bare_move);
    printf("shim, any other instruction    %8.2f us   goal 12   %.0f x without\n", step,
           step / bare_step);
    unlink(trace);
    free(build);
    return 0;
}
