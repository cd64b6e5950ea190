/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/profile/profile.h"

/* In the order of the words of --board. */
static const enum nocap_board boards[] = {NOCAP_BOARD_P100, NOCAP_BOARD_P150};
/* Of --view. */
static const struct {
    const char *name;
    enum nocap_sim_view view;
} views[] = {{"raw", NOCAP_SIM_VIEW_RAW},
             {"cq", NOCAP_SIM_VIEW_CQ},
             {"host", NOCAP_SIM_VIEW_HOST},
             {"all", NOCAP_SIM_VIEW_ALL}};

const struct cli_option cli_sim_options[CLI_SIM_OPTIONS] = {
    {"sim", "SCENARIO",
     "record the built-in device model; --sim list names\n"
     "scenarios and faults",
     offsetof(struct cli_sim_settings, scenario), CLI_TEXT, 0},
    {"tiles", "N", "simulated worker cores (4)", offsetof(struct cli_sim_settings, tiles),
     CLI_NUMBER, 0},
    {"launches", "M", "kernel launches on each worker core (8)",
     offsetof(struct cli_sim_settings, launches), CLI_NUMBER, 0},
    {"programs", "M",
     "the same of the fast-dispatch scenarios: programs\n"
     "that run (8)",
     offsetof(struct cli_sim_settings, programs), CLI_NUMBER, 0},
    {"workers", "W",
     "worker cores that run programs, fast-dispatch\n"
     "scenarios (4)",
     offsetof(struct cli_sim_settings, workers), CLI_NUMBER, 0},
    {"queues", "N",
     "command queues of the chip, 1 or 2, fast-dispatch\n"
     "scenarios (1)",
     offsetof(struct cli_sim_settings, queues), CLI_NUMBER, 0},
    {"apart", NULL,
     "each kernel of a queue on a core of its own,\n"
     "fast-dispatch scenarios",
     offsetof(struct cli_sim_settings, apart), CLI_FLAG, 0},
    {"view", "raw|cq|host|all",
     "what fast-dispatch shows: accesses, prefetch commands\n"
     "as units, the host's side, all (raw)",
     offsetof(struct cli_sim_settings, view), CLI_CHOICE, 0},
    {"board", "p100|p150", "the board (p100)", offsetof(struct cli_sim_settings, board), CLI_CHOICE,
     0},
    {"seed", "S",
     "of the device's stalls (0); equal seeds give equal\n"
     "traces",
     offsetof(struct cli_sim_settings, seed), CLI_NUMBER, 0},
    {"variant", "V", "of the program: which launches, kernels and sizes (0)",
     offsetof(struct cli_sim_settings, variant), CLI_NUMBER, 0},
    {"profile", "PROFILE",
     "whose runtime it speaks the protocol of, or CMD does,\n"
     "then also a file",
     offsetof(struct cli_sim_settings, profile), CLI_TEXT, 0},
    {"fault", "NAME", "inject one fault", offsetof(struct cli_sim_settings, fault), CLI_TEXT, 0},
};

/* Options that one kind of scenario has and the other has not. */
enum { LAUNCHES_MAX = 100000000 };

static enum nocap_status refuse_misplaced(const struct cli_sim_settings *s,
                                          enum nocap_sim_scenario scenario, struct nocap_error *err)
{
    bool queue = nocap_sim_has_queue(scenario);
    RETURN_ERROR_IF(
        !queue &&
            (s->programs.given || s->workers.given || s->queues.given || s->apart || s->view != 0),
        err, NOCAP_E_USAGE,
        "--programs, --workers, --queues, --apart and --view belong to the fast-dispatch "
        "scenarios; %s "
        "has --launches and --tiles",
        s->scenario);
    RETURN_ERROR_IF(queue && s->tiles.given, err, NOCAP_E_USAGE,
                    "--tiles does not belong to scenario %s: --workers says how many run programs",
                    s->scenario);
    RETURN_ERROR_IF(s->launches.value > LAUNCHES_MAX || s->programs.value > LAUNCHES_MAX, err,
                    NOCAP_E_USAGE, "%s takes 1 to %d",
                    s->programs.given ? "--programs" : "--launches", LAUNCHES_MAX);
    RETURN_ERROR_IF(s->programs.given && (s->launches.given || s->programs.value == 0), err,
                    NOCAP_E_USAGE,
                    "--programs takes a number from 1 on, and stands for --launches");
    RETURN_ERROR_IF(s->workers.given && (s->workers.value == 0 || s->workers.value > UINT32_MAX),
                    err, NOCAP_E_USAGE, "--workers takes a number from 1 on");
    RETURN_ERROR_IF(s->queues.given && (s->queues.value == 0 || s->queues.value > 2), err,
                    NOCAP_E_USAGE, "--queues takes 1 or 2");
    return NOCAP_OK;
}

/* The name as it lives forever. */
static enum nocap_status find_profile(const char *name, const char **found, struct nocap_error *err)
{
    struct nocap_profile unused;
    for (size_t i = 0; name != NULL && (*found = nocap_profile_name(i)) != NULL; i++) {
        if (strcmp(*found, name) == 0) {
            return NOCAP_OK;
        }
    }
    return name == NULL ? NOCAP_OK : nocap_profile_find(&unused, name, err);
}

enum nocap_status cli_sim_resolve(const struct cli_sim_settings *s,
                                  struct nocap_sim_options *options, struct nocap_error *err)
{
    int scenario = nocap_sim_scenario_from_name(s->scenario);
    int fault = s->fault != NULL ? nocap_sim_fault_from_name(s->fault) : NOCAP_SIM_FAULT_NONE;
    RETURN_ERROR_IF(scenario < 0, err, NOCAP_E_USAGE,
                    "there is no scenario '%.100s'; --sim list names them", s->scenario);
    RETURN_ERROR_IF(fault < 0, err, NOCAP_E_USAGE,
                    "there is no fault '%.100s'; --sim list names them", s->fault);
    RETURN_ERROR_IF(s->tiles.given && (s->tiles.value == 0 || s->tiles.value > UINT32_MAX), err,
                    NOCAP_E_USAGE, "--tiles takes a number from 1 on");
    RETURN_ERROR_IF(s->launches.given && s->launches.value == 0, err, NOCAP_E_USAGE,
                    "--launches takes a number from 1 on");
    RETURN_IF_FAILED(refuse_misplaced(s, (enum nocap_sim_scenario)scenario, err));
    const char *profile = NULL;
    RETURN_IF_FAILED(find_profile(s->profile, &profile, err));
    *options = (struct nocap_sim_options){
        .size = sizeof *options,
        .scenario = (enum nocap_sim_scenario)scenario,
        .fault = (enum nocap_sim_fault)fault,
        .board = boards[s->board],
        .tiles = (uint32_t)s->tiles.value,
        .launches = s->programs.given ? s->programs.value : s->launches.value,
        .seed = s->seed.value,
        .variant = s->variant.value,
        .view = views[s->view].view,
        .workers = (uint32_t)s->workers.value,
        .queues = (uint32_t)s->queues.value,
        .apart = s->apart,
        .profile = profile,
    };
    return NOCAP_OK;
}

static size_t add_number(char *line, size_t size, size_t used, const char *name,
                         const struct cli_number *number)
{
    int n = number->given && used < size
                ? snprintf(line + used, size - used, " --%s %" PRIu64, name, number->value)
                : 0;
    return used + (size_t)n;
}

enum nocap_status cli_sim_to_line(const struct cli_sim_settings *s, char *line, size_t size,
                                  struct nocap_error *err)
{
    size_t used = (size_t)snprintf(line, size, "%s", s->scenario);
    used = add_number(line, size, used, "tiles", &s->tiles);
    used = add_number(line, size, used, "launches", &s->launches);
    used = add_number(line, size, used, "programs", &s->programs);
    used = add_number(line, size, used, "workers", &s->workers);
    used = add_number(line, size, used, "queues", &s->queues);
    if (used < size && s->apart) {
        used += (size_t)snprintf(line + used, size - used, " --apart");
    }
    if (used < size && s->view != 0) {
        used += (size_t)snprintf(line + used, size - used, " --view %s", views[s->view].name);
    }
    used = add_number(line, size, used, "seed", &s->seed);
    used = add_number(line, size, used, "variant", &s->variant);
    if (used < size && boards[s->board] != boards[0]) {
        used += (size_t)snprintf(line + used, size - used, " --board %s",
                                 nocap_board_name(boards[s->board]));
    }
    if (used < size && s->profile != NULL) {
        used += (size_t)snprintf(line + used, size - used, " --profile %s", s->profile);
    }
    if (used < size && s->fault != NULL) {
        used += (size_t)snprintf(line + used, size - used, " --fault %s", s->fault);
    }
    RETURN_ERROR_IF(used >= size, err, NOCAP_E_USAGE,
                    "the options of --sim are longer than %zu characters", size);
    return NOCAP_OK;
}

enum nocap_status cli_sim_from_line(const char *line, struct nocap_sim_options *options,
                                    struct nocap_error *err)
{
    enum { WORDS_MAX = 32 };
    char *words[WORDS_MAX + 1] = {NULL};
    int count = 0;
    struct cli_sim_settings settings = {0};
    const struct cli_options table = {cli_sim_options, CLI_SIM_OPTIONS, &settings, NULL};
    struct cli_operands operands = {0};
    char *rest, *copy = strdup(line);
    RETURN_ERROR_IF(copy == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (char *w = strtok_r(copy, " ", &rest); w != NULL && count < WORDS_MAX;
         w = strtok_r(NULL, " ", &rest)) {
        words[count++] = w;
    }
    enum nocap_status status = cli_options_parse(&table, 1, count, words, &operands, err);
    if (status == NOCAP_OK && (settings.scenario != NULL || operands.count != 1)) {
        status = nocap_fail(err, NOCAP_E_USAGE, "'%.200s' is no scenario with its options", line);
    }
    if (status == NOCAP_OK) {
        settings.scenario = operands.items[0];
        status = cli_sim_resolve(&settings, options, err);
    }
    cli_options_free(&table, 1, &operands);
    free(copy);
    return status;
}

struct sink {
    struct nocap_writer *writer;
    struct cli_progress *progress;
    const struct cli_sim_bounds *within;
    int fd;
    uint64_t events;
};

enum { EVENTS_A_LOOK = 1 << 16 }; /* how often the clock is asked */

static enum nocap_status check_bounds(const struct sink *sink, struct nocap_error *err)
{
    const struct cli_sim_bounds *within = sink->within;
    struct stat st;
    if (within == NULL) {
        return NOCAP_OK;
    }
    if (fstat(sink->fd, &st) == 0 && (uint64_t)st.st_size > within->bounds->mib << 20) {
        return cli_too_much(within->how, within->bounds, err);
    }
    return cli_remaining(&within->deadline) == 0 ? cli_too_long(within->how, within->bounds, err)
                                                 : NOCAP_OK;
}

static enum nocap_status take(void *context, const struct nocap_event *event,
                              struct nocap_error *err)
{
    struct sink *sink = context;
    if (++sink->events % EVENTS_A_LOOK == 0) {
        if (sink->progress != NULL) {
            cli_progress_show(sink->progress, sink->events, 0);
        }
        RETURN_IF_FAILED(check_bounds(sink, err));
    }
    return nocap_writer_add(sink->writer, event, err);
}

enum nocap_status cli_sim_write(const struct nocap_sim_options *options, int fd,
                                struct cli_progress *progress, const struct cli_sim_bounds *within,
                                struct nocap_trace_totals *totals, struct nocap_error *err)
{
    struct nocap_header header;
    struct sink sink = {.progress = progress, .within = within, .fd = fd};
    RETURN_IF_FAILED(nocap_sim_header(options, &header, err));
    enum nocap_status status = nocap_writer_open_fd(&sink.writer, fd, &header, NULL, err);
    if (status == NOCAP_OK) {
        status = nocap_sim_run(options, take, &sink, err);
        if (status == NOCAP_OK) {
            status = nocap_writer_close(sink.writer, totals, err);
        } else {
            nocap_writer_abandon(sink.writer);
        }
    }
    nocap_header_free(&header);
    return status;
}

/* As capture/sim/faults.def has them. */
static const char scenario_letters[] = "BHDQRPSM";
_Static_assert(sizeof scenario_letters == NOCAP_SIM_SCENARIO_COUNT + 1, "one each");

/* "HD": the scenarios in which a fault can strike, into `text`. */
static const char *places_of(const struct nocap_sim_fault_info *fault, char *text)
{
    char *end = text;
    for (unsigned i = 0; i < NOCAP_SIM_SCENARIO_COUNT; i++) {
        if (nocap_sim_fault_triggers(fault, i)) {
            *end++ = scenario_letters[i];
        }
    }
    *end = '\0';
    return text;
}

void cli_sim_list(FILE *out, const void *nothing)
{
    (void)nothing;
    fputs("scenarios:\n", out);
    for (unsigned i = 0; i < NOCAP_SIM_SCENARIO_COUNT; i++) {
        fprintf(out, "  %-26s %c  %s\n", nocap_sim_scenarios[i].name, scenario_letters[i],
                nocap_sim_scenarios[i].line);
    }
    fputs("\nfaults, with the rules that they violate and the letters of the scenarios in which "
          "they can strike:\n",
          out);
    for (unsigned i = NOCAP_SIM_FAULT_NONE + 1; i < NOCAP_SIM_FAULT_COUNT; i++) {
        const struct nocap_sim_fault_info *f = &nocap_sim_faults[i];
        char where[NOCAP_SIM_SCENARIO_COUNT + 1];
        fprintf(out, "  %-26s %-16s %-6s %s\n", f->name, f->rules[0] != '\0' ? f->rules : "a hang",
                places_of(f, where), f->line);
    }
}
