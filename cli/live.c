/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/foreign_text.h"
#include "base/output_file.h"
#include "base/sum.h"
#include "base/temporary.h"
#include "capture/live/session.h"
#include "formats/import/import.h"

#define TRAP    "NOCAP_CAPTURE_TRAP"
#define PRELOAD "LD_PRELOAD"

static const char *const trap_names[] = {"full", "registers", "off"};
enum { TRAP_IS_OFF = 2, TMPDIR_MAX = 200 };
#define LINKER_SPECIAL " :$"

struct live {
    const struct cli_call *call;
    const struct cli_live_settings *settings;
    char output[PATH_MAX];      /* absolute, links resolved */
    struct stat before;         /* of what has the name, if it `existed` */
    bool existed, failed;       /* failed: something of what was captured is not in its trace */
    char library_dir[PATH_MAX]; /* of libnocap-preload.so and libnocap-ttsim.so */
    char dir[256];              /* temporary: sums, a link to the library */
    char sums[272], claim[272];
};

/* ---- the pieces ---- */

/* Beside the program, as it is built, or in ../lib/nocap, as it is installed. */
static bool find_libraries(struct live *live)
{
    static const char *const places[] = {"", "../lib/nocap/"};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    if (n <= 0 && realpath((const char *)getauxval(AT_EXECFN), self) == NULL) {
        return false;
    }
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++) {
        char path[PATH_MAX + 64];
        slash[1] = '\0';
        snprintf(live->library_dir, sizeof live->library_dir, "%.4000s%s", self, places[i]);
        snprintf(path, sizeof path, "%slibnocap-preload.so", live->library_dir);
        if (access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* A link in the temporary directory, which goes with it. */
static bool link_to(const char *to, const char *name)
{
    temporary_list(name);
    return symlink(to, name) == 0;
}

/* The dynamic linker takes blanks and colons in the variable for separators, and a dollar for the
 * start of a token: a path that has one is named by a link in the temporary directory. */
static bool put_preload(const struct live *live)
{
    static const char preload[] = "libnocap-preload.so";
    const char *before = getenv(PRELOAD);
    char path[PATH_MAX + 64], link[sizeof live->dir + sizeof preload + 1];
    bool linked = strpbrk(live->library_dir, LINKER_SPECIAL) != NULL;
    char *value = NULL;
    snprintf(path, sizeof path, "%s%s", live->library_dir, preload);
    snprintf(link, sizeof link, "%s/%s", live->dir, preload);
    if ((linked && !link_to(path, link)) ||
        asprintf(&value, "%s%s%s", linked ? link : path, before != NULL ? " " : "",
                 before != NULL ? before : "") < 0) {
        return false;
    }
    setenv(PRELOAD, value, 1);
    free(value);
    return true;
}

/* Where programs look for it; whatever they load is found when they load it. */
static void name_simulator(const char *path)
{
    static const char *const names[] = {"TT_METAL_SIMULATOR", "TT_UMD_SIMULATOR",
                                        "TT_UMD_SIMULATOR_PATH"};
    for (size_t i = 0; path != NULL && i < sizeof names / sizeof names[0]; i++) {
        setenv(names[i], path, 1);
    }
}

/* Whether a trace can be written is known before CMD runs; one that is there stays until CMD has
 * something to put in its place. */
static enum nocap_status find_trace(struct live *live, const char *output, struct nocap_error *err)
{
    struct output_file file;
    RETURN_IF_FAILED(output_file_open(&file, output, O_RDWR, err));
    bool plain = file.path != NULL;
    snprintf(live->output, sizeof live->output, "%s", plain ? file.path : "");
    output_file_abandon(&file);
    RETURN_ERROR_IF(!plain, err, NOCAP_E_OUTPUT, "cannot capture into %s: it must be a plain file",
                    output);
    RETURN_ERROR_IF(nocap_rings_capturing(live->output), err, NOCAP_E_OUTPUT,
                    "cannot write %s: another program is capturing into it", output);
    live->existed = stat(live->output, &live->before) == 0;
    return NOCAP_OK;
}

/* Whether the trace is of this run. */
static bool is_new(const struct live *live)
{
    struct stat now;
    return stat(live->output, &now) == 0 && !(live->existed && now.st_dev == live->before.st_dev &&
                                              now.st_ino == live->before.st_ino);
}

/* Has room before anything is captured, to tell of a disk that is full: on the disk, or in memory
 * where that is full already. */
static void reserve_sums(struct live *live)
{
    enum { ROOM = 1 << 16 };
    snprintf(live->sums, sizeof live->sums, "%s/sums", live->dir);
    temporary_list(live->sums);
    int fd = open(live->sums, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool room = fd >= 0 && posix_fallocate(fd, 0, ROOM) == 0;
    if (fd >= 0) {
        close(fd);
    }
    fd = room ? -1 : memfd_create("sums", MFD_CLOEXEC);
    if (fd >= 0) { /* stays open while the command runs */
        snprintf(live->sums, sizeof live->sums, "/proc/%d/fd/%d", (int)getpid(), fd);
    }
}

static enum nocap_status prepare(struct live *live, const char *output, struct nocap_error *err)
{
    const char *simulator = live->settings->ttsim;
    RETURN_ERROR_IF(simulator != NULL && access(simulator, R_OK) != 0, err, NOCAP_E_INPUT,
                    "cannot read the simulator %s: %s", simulator, strerror(errno));
    RETURN_IF_FAILED(find_trace(live, output, err));
    RETURN_ERROR_IF(!find_libraries(live), err, NOCAP_E_INTERNAL,
                    "libnocap-preload.so is neither beside nocap nor in ../lib/nocap");
    const char *temporary = getenv("TMPDIR");
    bool usable = temporary != NULL && temporary[0] == '/' && strlen(temporary) <= TMPDIR_MAX &&
                  strpbrk(temporary, LINKER_SPECIAL) == NULL;
    snprintf(live->dir, sizeof live->dir, "%s/nocap-capture-XXXXXX", usable ? temporary : "/tmp");
    RETURN_IF_FAILED(temporary_make_folder(live->dir, err));
    snprintf(live->claim, sizeof live->claim, "%s/claim", live->dir);
    temporary_list(live->claim);
    reserve_sums(live);
    setenv(LIVE_TRACE, live->output, 1);
    setenv(LIVE_CLAIM, live->claim, 1);
    setenv(LIVE_SUMS, live->sums, 1);
    setenv(TRAP, trap_names[live->settings->trap], 1);
    name_simulator(live->settings->ttsim);
    if (live->settings->sample.given) {
        char clocks[24];
        snprintf(clocks, sizeof clocks, "%" PRIu64, live->settings->sample.value);
        setenv(LIVE_SAMPLE, clocks, 1);
    }
    if (live->settings->drop) {
        setenv(LIVE_POLICY, "drop", 1);
    }
    RETURN_ERROR_IF(!put_preload(live), err, NOCAP_E_OUTPUT,
                    "cannot name libnocap-preload.so to the dynamic linker: %s", strerror(errno));
    return NOCAP_OK;
}

/* ---- the command ---- */

static volatile sig_atomic_t child;

/* A signal sent to nocap is meant for the command. What the terminal sends both have. */
static void forward(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (child > 0 && info->si_code <= 0) {
        kill((pid_t)child, number);
    }
}

static const int passed[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2};
enum { PASSED = sizeof passed / sizeof passed[0] };

/* `before`: what the signals did. */
static pid_t start(const char *const *command, struct sigaction before[PASSED])
{
    const struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGPIPE, SIG_DFL);
        execvp(command[0], (char *const *)command);
        foreign_line(stderr, "nocap capture: cannot run %s: %s", command[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    child = pid;
    for (size_t i = 0; i < PASSED; i++) {
        sigaction(passed[i], &action, &before[i]);
    }
    return pid;
}

static int wait_for(struct live *live, pid_t pid, struct cli_follow *follow)
{
    int status;
    for (;;) {
        pid_t ended = waitpid(pid, &status, live->settings->follow ? WNOHANG : 0);
        if (ended == pid) {
            child = 0;
            return status;
        }
        if (ended == 0) {
            const struct timespec pause = {0, 50000000};
            nanosleep(&pause, NULL);
            cli_follow_look(follow);
        }
    }
}

/* ---- what was captured ---- */

struct sum {
    uint64_t events, bytes, dropped;
    char seconds[32], path[PATH_MAX];
    char why[sizeof(struct nocap_error)]; /* what failed, "" is nothing */
};

/* One line for each trace, whatever came of it. */
static void report_sum(struct live *live, const struct sum *s)
{
    char rings[PATH_MAX];
    snprintf(rings, sizeof rings, "%.4000s" NOCAP_RINGS_SUFFIX, s->path);
    bool left = s->why[0] != '\0' && access(rings, F_OK) == 0;
    cli_message(
        live->call, "%" PRIu64 " events, %" PRIu64 " bytes, %" PRIu64 " dropped, %s s: %s%s%s%s%s",
        s->events, s->bytes, s->dropped, s->seconds, s->path, s->why[0] != '\0' ? ": " : "", s->why,
        left ? "; the last events are in its rings: make room, then nocap capture "
               "--recover "
             : "",
        left ? s->path : "");
    live->failed |= s->why[0] != '\0';
}

/* The next of the file that captures write to when they end. */
static bool next_sum(FILE *file, struct sum *s)
{
    char line[PATH_MAX + 128];
    if (file == NULL || fgets(line, sizeof line, file) == NULL ||
        sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %31s %4095[^\n]", &s->events, &s->bytes,
               &s->dropped, s->seconds, s->path) != 5 ||
        fgets(s->why, sizeof s->why, file) == NULL) {
        return false;
    }
    s->why[strcspn(s->why, "\n")] = '\0';
    return true;
}

/* Captures that ended said so. */
static unsigned report_sums(struct live *live)
{
    FILE *file = fopen(live->sums, "re");
    struct sum sum;
    unsigned reported = 0;
    while (next_sum(file, &sum)) {
        report_sum(live, &sum);
        reported++;
    }
    if (file != NULL) {
        fclose(file);
    }
    return reported;
}

/* Whether the capture ended by itself, rings or not. */
static bool has_ended(const struct live *live, const char *path)
{
    FILE *file = fopen(live->sums, "re");
    struct sum sum;
    bool ended = false;
    while (!ended && next_sum(file, &sum)) {
        ended = strcmp(sum.path, path) == 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return ended;
}

/* What a trace holds, with its rings if they could not be written into it, because of `why`. */
static void report_recovered(struct live *live, const char *path, double seconds, const char *why)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    const struct nocap_event *events;
    size_t count;
    struct sum sum = {0};
    struct stat st = {0};
    snprintf(sum.seconds, sizeof sum.seconds, "%.3f", seconds);
    snprintf(sum.path, sizeof sum.path, "%s", path);
    snprintf(sum.why, sizeof sum.why, "%s", why);
    if (nocap_import_open(&reader, path, true, NULL, &err) != NOCAP_OK) {
        cli_message(live->call, "%s", err.text);
        return;
    }
    const struct nocap_header *header = nocap_reader_header(reader);
    enum nocap_status status;
    while ((status = nocap_reader_next(reader, &events, &count, &err)) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            bool drop = events[i].kind == NOCAP_EV_DROP &&
                        nocap_header_event_problem(header, &events[i]) == NULL;
            sum.dropped = sum_of(sum.dropped, drop ? events[i].value : 0);
        }
        sum.events += count;
    }
    nocap_reader_close(reader);
    if (status != NOCAP_END) {
        cli_message(live->call, "%s", err.text);
        return;
    }
    if (sum.dropped != 0 && sum.why[0] == '\0' && !live->settings->drop) {
        snprintf(sum.why, sizeof sum.why, "there was no room for what was dropped");
    }
    stat(path, &st);
    sum.bytes = (uint64_t)st.st_size;
    report_sum(live, &sum);
}

/* A process that was killed, or ended by _exit, left its rings. */
static unsigned report_killed(struct live *live, const char *path, double seconds)
{
    char rings[PATH_MAX];
    snprintf(rings, sizeof rings, "%.4000s" NOCAP_RINGS_SUFFIX, path);
    if (access(rings, F_OK) != 0 || has_ended(live, path)) {
        return 0;
    }
    if (nocap_rings_capturing(path)) {
        cli_message(live->call, "%s: a process of the command is still capturing into it", path);
    } else {
        int result = cli_recover(live->call, path, NULL);
        bool failed = result != CLI_EXIT_OK && result != CLI_EXIT_FINDINGS;
        report_recovered(live, path, seconds, failed ? "its rings are not in the file" : "");
    }
    return 1;
}

/* The same for all traces of this run: STEM.<pid>.nocap beside STEM.nocap. */
static unsigned report_all_killed(struct live *live, double seconds, time_t since)
{
    static const char suffix[] = ".nocap", rings[] = ".nocap" NOCAP_RINGS_SUFFIX;
    const char *slash = strrchr(live->output, '/');
    const char *name = slash != NULL ? slash + 1 : live->output;
    char folder[PATH_MAX];
    size_t stem = strlen(name);
    if (stem > strlen(suffix) && strcmp(name + stem - strlen(suffix), suffix) == 0) {
        stem -= strlen(suffix);
    }
    snprintf(folder, sizeof folder, "%.*s", (int)(name - live->output), live->output);
    unsigned reported = is_new(live) ? report_killed(live, live->output, seconds) : 0;
    DIR *dir = opendir(folder[0] != '\0' ? folder : ".");
    if (dir == NULL) {
        cli_message(live->call, "cannot look for the traces of its processes in %s: %s",
                    folder[0] != '\0' ? folder : "this folder", strerror(errno));
        live->failed = true;
    }
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        size_t length = strlen(e->d_name);
        char path[2 * PATH_MAX];
        struct stat st;
        if (length <= stem + strlen(rings) || strncmp(e->d_name, name, stem) != 0 ||
            e->d_name[stem] != '.' || strcmp(e->d_name + length - strlen(rings), rings) != 0) {
            continue;
        }
        snprintf(path, sizeof path, "%s%s", folder, e->d_name);
        bool ours = stat(path, &st) == 0 && st.st_mtime >= since;
        path[strlen(path) - strlen(NOCAP_RINGS_SUFFIX)] = '\0';
        reported += ours ? report_killed(live, path, seconds) : 0;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return reported;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

/* As shells say it, and as start() does: that was reported already. */
static bool could_not_run(int status)
{
    return WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127);
}

static int exit_status(int status, bool failed, uint64_t found)
{
    if (WIFSIGNALED(status)) {
        fflush(NULL);
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    int result = WEXITSTATUS(status);
    return result != 0  ? result
           : failed     ? CLI_EXIT_INTERNAL
           : found != 0 ? CLI_EXIT_FINDINGS
                        : CLI_EXIT_OK;
}

int cli_live_run(const struct cli_call *call, const struct cli_live_settings *settings,
                 const struct cli_live_profile *profile, const char *output,
                 const char *const *command)
{
    struct live live = {.call = call, .settings = settings};
    struct nocap_error err = {{0}};
    struct timespec began;
    struct cli_follow follow;
    enum nocap_status status = prepare(&live, output, &err);
    if (profile->json != NULL) {
        setenv(LIVE_PROFILE, profile->json, 1);
    }
    if (status != NOCAP_OK) {
        if (live.dir[0] != '\0') {
            temporary_remove_folder(live.dir);
        }
        return cli_fail(call, status, &err);
    }
    clock_gettime(CLOCK_MONOTONIC, &began);
    time_t since = time(NULL);
    cli_follow_start(&follow, call, live.output);
    struct sigaction before[PASSED];
    pid_t pid = start(command, before);
    if (pid < 0) {
        nocap_fail(&err, NOCAP_E_INTERNAL, "cannot start %s: %s", command[0], strerror(errno));
        temporary_remove_folder(live.dir);
        return cli_fail(call, NOCAP_E_INTERNAL, &err);
    }
    int ended = wait_for(&live, pid, &follow);
    for (size_t i = 0; i < PASSED; i++) {
        sigaction(passed[i], &before[i], NULL);
    }
    unsigned reported = report_all_killed(&live, seconds_since(&began), since);
    reported += report_sums(&live);
    if (reported == 0 && !could_not_run(ended)) {
        cli_message(call, "nothing was captured: %s %s loaded no simulator", command[0],
                    settings->trap == TRAP_IS_OFF ? "was not to be trapped, and"
                                                  : "mapped no device and");
    }
    uint64_t found = settings->follow ? cli_follow_end(&follow, is_new(&live)) : 0;
    temporary_remove_folder(live.dir);
    cli_live_profile_again(call, command, profile);
    return exit_status(ended, live.failed, found);
}
