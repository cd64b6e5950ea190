#include "cli/live.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/live/session.h"
#include "formats/import/import.h"

#define SIMULATOR  "TT_METAL_SIMULATOR"
#define REAL_TTSIM "NOCAP_TTSIM_LIB"
#define TRAP       "NOCAP_CAPTURE_TRAP"
#define PRELOAD    "LD_PRELOAD"

static const char *const trap_names[] = {"full", "registers", "off"};
enum { TRAP_IS_OFF = 2 };

struct live {
    const struct cli_call *call;
    const struct cli_live_settings *settings;
    const char *output;
    char library_dir[PATH_MAX]; /* of libnocap-preload.so and libnocap-ttsim.so */
    char dir[256];              /* temporary: sums, the simulator's stand-in */
    char sums[272];
};

/* ---- the pieces ---- */

/* Beside the program, as it is built, or in ../lib, as it is installed. */
static bool find_libraries(struct live *live)
{
    static const char *const places[] = {"", "../lib/"};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
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

/* A directory with the proxy under the simulator's name, and what lay beside the simulator. */
static bool put_proxy(struct live *live, const char *real)
{
    char full[PATH_MAX], proxy[PATH_MAX + 64], link[PATH_MAX + 64];
    if (realpath(real, full) == NULL) {
        return false;
    }
    char *slash = strrchr(full, '/');
    snprintf(proxy, sizeof proxy, "%slibnocap-ttsim.so", live->library_dir);
    snprintf(link, sizeof link, "%s%s", live->dir, slash);
    if (symlink(proxy, link) != 0) {
        return false;
    }
    setenv(REAL_TTSIM, full, 1);
    setenv(SIMULATOR, link, 1);
    *slash = '\0';
    DIR *dir = opendir(full);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        size_t length = strlen(e->d_name);
        if (length > 5 && strcmp(e->d_name + length - 5, ".yaml") == 0) {
            char from[2 * PATH_MAX];
            snprintf(from, sizeof from, "%s/%s", full, e->d_name);
            snprintf(link, sizeof link, "%s/%s", live->dir, e->d_name);
            if (symlink(from, link) != 0) {
                cli_message(live->call, "cannot link %s: %s", from, strerror(errno));
            }
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return true;
}

static bool put_preload(const struct live *live)
{
    const char *before = getenv(PRELOAD);
    char *value = NULL;
    if (asprintf(&value, "%slibnocap-preload.so%s%s", live->library_dir, before != NULL ? " " : "",
                 before != NULL ? before : "") < 0) {
        return false;
    }
    setenv(PRELOAD, value, 1);
    free(value);
    return true;
}

static enum nocap_status prepare(struct live *live, struct nocap_error *err)
{
    const char *real = live->settings->ttsim != NULL ? live->settings->ttsim : getenv(SIMULATOR);
    char full[PATH_MAX], rings[PATH_MAX + 16];
    RETURN_ERROR_IF(nocap_rings_capturing(live->output), err, NOCAP_E_OUTPUT,
                    "cannot write %s: another program is capturing into it", live->output);
    FILE *file = fopen(live->output, "we"); /* whether it can be written is known before CMD runs */
    RETURN_ERROR_IF(file == NULL || realpath(live->output, full) == NULL, err, NOCAP_E_OUTPUT,
                    "cannot create %s: %s", live->output, strerror(errno));
    fclose(file);
    snprintf(rings, sizeof rings, "%s" NOCAP_RINGS_SUFFIX, full);
    unlink(full);
    unlink(rings);
    RETURN_ERROR_IF(!find_libraries(live), err, NOCAP_E_INTERNAL,
                    "libnocap-preload.so is neither beside nocap nor in ../lib");
    const char *temporary = getenv("TMPDIR");
    snprintf(live->dir, sizeof live->dir, "%.200s/nocap-capture-XXXXXX",
             temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp");
    RETURN_ERROR_IF(mkdtemp(live->dir) == NULL, err, NOCAP_E_OUTPUT,
                    "cannot make a temporary directory: %s", strerror(errno));
    snprintf(live->sums, sizeof live->sums, "%s/sums", live->dir);
    setenv(LIVE_TRACE, full, 1);
    setenv(LIVE_KEEP, "1", 1);
    setenv(LIVE_SUMS, live->sums, 1);
    setenv(TRAP, trap_names[live->settings->trap], 1);
    if (live->settings->drop) {
        setenv(LIVE_POLICY, "drop", 1);
    }
    RETURN_ERROR_IF(real != NULL && !put_proxy(live, real), err, NOCAP_E_INPUT,
                    "cannot put the proxy in the place of %s: %s", real, strerror(errno));
    RETURN_ERROR_IF(live->settings->trap != TRAP_IS_OFF && !put_preload(live), err, NOCAP_E_MEMORY,
                    "out of memory");
    return NOCAP_OK;
}

static void remove_dir(const struct live *live)
{
    DIR *dir = opendir(live->dir);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        char path[sizeof live->dir + sizeof e->d_name + 1];
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", live->dir, e->d_name);
            unlink(path);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    rmdir(live->dir);
}

/* ---- the command ---- */

static volatile sig_atomic_t child;

/* What somebody sends to nocap is meant for the command. What the terminal sends both have. */
static void forward(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (child > 0 && info->si_code <= 0) {
        kill((pid_t)child, number);
    }
}

static pid_t start(const char *const *command)
{
    static const int passed[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2};
    const struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGPIPE, SIG_DFL);
        execvp(command[0], (char *const *)command);
        fprintf(stderr, "nocap capture: cannot run %s: %s\n", command[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    child = pid;
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++) {
        sigaction(passed[i], &action, NULL);
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

static void tell_trace(const struct live *live, uint64_t events, uint64_t bytes, uint64_t dropped,
                       const char *seconds, const char *path)
{
    cli_message(live->call, "%" PRIu64 " events, %" PRIu64 " bytes, %" PRIu64 " dropped, %s s: %s",
                events, bytes, dropped, seconds, path);
}

/* Captures that ended said so in the file of sums. */
static unsigned tell_sums(const struct live *live)
{
    FILE *file = fopen(live->sums, "re");
    char line[PATH_MAX + 128], path[PATH_MAX], seconds[32];
    uint64_t events, bytes, dropped;
    unsigned told = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %31s %4095[^\n]", &events, &bytes,
                   &dropped, seconds, path) == 5) {
            tell_trace(live, events, bytes, dropped, seconds, path);
            told++;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return told;
}

static void tell_recovered(const struct live *live, const char *path, double seconds)
{
    char text[32];
    struct nocap_reader *reader;
    struct nocap_error err;
    const struct nocap_event *events;
    size_t count;
    uint64_t all = 0, dropped = 0;
    struct stat st = {0};
    if (nocap_reader_open(&reader, path, &err) != NOCAP_OK) {
        cli_message(live->call, "%s", err.text);
        return;
    }
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            dropped += events[i].kind == NOCAP_EV_DROP ? events[i].value : 0;
        }
        all += count;
    }
    nocap_reader_close(reader);
    stat(path, &st);
    snprintf(text, sizeof text, "%.3f", seconds);
    tell_trace(live, all, (uint64_t)st.st_size, dropped, text, path);
}

/* A process that was killed, or ended by _exit, left its rings. */
static unsigned tell_killed(const struct live *live, const char *path, double seconds)
{
    char rings[PATH_MAX];
    snprintf(rings, sizeof rings, "%.4000s" NOCAP_RINGS_SUFFIX, path);
    if (access(rings, F_OK) != 0) {
        return 0;
    }
    if (nocap_rings_capturing(path)) {
        cli_message(live->call, "%s: a process of the command is still capturing into it", path);
    } else if (cli_recover(live->call, path, NULL) == CLI_EXIT_OK) {
        tell_recovered(live, path, seconds);
    }
    return 1;
}

/* The same for all traces of this run: STEM.<pid>.nocap beside STEM.nocap. */
static unsigned tell_all_killed(const struct live *live, double seconds, time_t since)
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
    DIR *dir = opendir(folder[0] != '\0' ? folder : ".");
    unsigned told = tell_killed(live, live->output, seconds);
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
        told += ours ? tell_killed(live, path, seconds) : 0;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return told;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

/* As shells say it, and as start() does: that was told already. */
static bool could_not_run(int status)
{
    return WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127);
}

static int exit_status(int status, uint64_t found)
{
    if (WIFSIGNALED(status)) {
        fflush(NULL);
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    int result = WEXITSTATUS(status);
    return result == 0 && found != 0 ? CLI_EXIT_FINDINGS : result;
}

int cli_live_run(const struct cli_call *call, const struct cli_live_settings *settings,
                 const char *output, const char *const *command)
{
    struct live live = {.call = call, .settings = settings, .output = output};
    struct nocap_error err = {{0}};
    struct timespec began;
    struct cli_follow follow;
    enum nocap_status status = prepare(&live, &err);
    if (status != NOCAP_OK) {
        if (live.dir[0] != '\0') {
            remove_dir(&live);
        }
        return cli_fail(call, status, &err);
    }
    clock_gettime(CLOCK_MONOTONIC, &began);
    time_t since = time(NULL);
    cli_follow_start(&follow, call, output);
    pid_t pid = start(command);
    if (pid < 0) {
        remove_dir(&live);
        nocap_fail(&err, NOCAP_E_INTERNAL, "cannot start %s: %s", command[0], strerror(errno));
        return cli_fail(call, NOCAP_E_INTERNAL, &err);
    }
    int ended = wait_for(&live, pid, &follow);
    unsigned told = tell_all_killed(&live, seconds_since(&began), since) + tell_sums(&live);
    if (told == 0 && !could_not_run(ended)) {
        cli_message(call, "nothing was captured: %s %s loaded no simulator", command[0],
                    settings->trap == TRAP_IS_OFF ? "was not to be trapped, and"
                                                  : "opened no device and");
    }
    uint64_t found = settings->follow ? cli_follow_end(&follow, told != 0) : 0;
    remove_dir(&live);
    return exit_status(ended, found);
}
