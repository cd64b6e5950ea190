/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated command queue: which workers, which view, who starts, and the run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/sim/cq/machine.h"
#include "capture/sim/scenario.h"

enum { START = 1000 };

#define VIEW(NAME, name, classes) (classes),
static const uint32_t view_classes[] = {NOCAP_SIM_VIEWS(VIEW)};
#undef VIEW

bool sim_cq_fault_due(struct sim_cq *q, enum nocap_sim_fault fault)
{
    return sim_strike(&q->k, fault, sim_cq_fault_pending(q, fault));
}

bool sim_cq_fault_pending(const struct sim_cq *q, enum nocap_sim_fault fault)
{
    return sim_fault_planned(&q->k, fault) && q->host.program >= q->fault_program;
}

bool sim_cq_lasts(struct sim_cq *q, enum nocap_sim_fault fault)
{
    bool has = q->k.fault == fault;
    q->k.struck = q->k.struck || has;
    return has;
}

/* ---- workers ---- */

/* Runs of rows in one column, and neighbouring columns with the same rows, make a rectangle. */
static void cover(const struct sim_cq *q, struct cq_cores *cores)
{
    for (uint32_t i = cores->first; i < cores->first + cores->count;) {
        struct nocap_cq_rect run = {q->worker[i].at, q->worker[i].at};
        for (i++; i < cores->first + cores->count && q->worker[i].at.x == run.low.x &&
                  q->worker[i].at.y == run.high.y + 1;
             i++) {
            run.high.y++;
        }
        struct nocap_cq_rect *last = cores->rects > 0 ? &cores->rect[cores->rects - 1] : NULL;
        if (last != NULL && last->high.x + 1 == run.low.x && last->low.y == run.low.y &&
            last->high.y == run.high.y) {
            last->high.x = run.low.x;
        } else {
            cores->rect[cores->rects++] = run;
        }
    }
}

static void choose_roles(struct sim_cq *q)
{
    uint32_t half = (q->workers + 1) / 2;
    q->cores[CQ_ROLE_ALL] = (struct cq_cores){.count = q->workers};
    q->cores[CQ_ROLE_A] = (struct cq_cores){.count = half};
    q->cores[CQ_ROLE_B] = (struct cq_cores){.first = half, .count = q->workers - half};
    for (unsigned i = 0; i < CQ_ROLES; i++) {
        cover(q, &q->cores[i]);
    }
}

/* ---- one queue, or two ---- */

/* Launch messages that go round in their ring must be of one host. */
static bool may_share(const struct nocap_sim_options *o)
{
    return o->scenario != NOCAP_SIM_FAST_DISPATCH_SUBORDINATE &&
           o->scenario != NOCAP_SIM_FAST_DISPATCH_MULTICAST;
}

/* Whether both queues launch on all workers; else each has its own. */
static bool shares_workers(const struct nocap_sim_options *o)
{
    return o->queues > 1 && (o->workers == 1 || (may_share(o) && o->variant % 2 == 0));
}

/* The workers of a queue: the first of them, and how many. */
static uint32_t first_worker(const struct nocap_sim_options *o, uint32_t number, uint32_t *count)
{
    bool own = o->queues > 1 && !shares_workers(o);
    uint32_t half = (o->workers + 1) / 2;
    *count = !own ? o->workers : number == 0 ? half : o->workers - half;
    return own ? number * half : 0;
}

/* The first of each queue are. */
static bool is_observed(const struct nocap_sim_options *o, uint32_t worker)
{
    bool is = false;
    for (uint32_t i = 0; i < o->queues; i++) {
        uint32_t count, first = first_worker(o, i, &count);
        uint32_t most = CQ_WORKERS_OBSERVED / (count < o->workers ? o->queues : 1);
        is |= worker >= first && worker - first < (count < most ? count : most);
    }
    return is;
}

/* ---- the run ---- */

static struct cq_agent *add_agent(struct sim_cq *q, cq_routine *run)
{
    struct cq_agent *a = &q->agent[q->agents];
    a->id = (uint16_t)q->agents++;
    a->run = run;
    sim_cq_sleep(q, a, START, 1);
    return a;
}

static void show_mailbox(struct sim_cq *q, struct nocap_xy at)
{
    static const uint8_t zeros[NOCAP_GO_WORDS * NOCAP_GO_WORD_SIZE];
    if (sim_cq_shows(q, NOCAP_CLASS_CORE_STORE)) {
        sim_cq_emit_mem(q, NOCAP_SPACE_TILE, at, NOCAP_MAILBOX_BASE, zeros,
                        q->layout->launch_base - NOCAP_MAILBOX_BASE);
        sim_cq_emit_mem(q, NOCAP_SPACE_TILE, at, nocap_go_word_address(q->layout, 0), zeros,
                        sizeof zeros);
        sim_cq_emit_mem(q, NOCAP_SPACE_TILE, at, q->layout->go_message_index, zeros, 4);
    }
}

/* The workers of all queues are agents of the first one. */
static void set_up_workers(struct sim_cq *q)
{
    struct nocap_xy at[NOCAP_GRID_WIDTH * NOCAP_GRID_HEIGHT];
    sim_list_workers(&q->options, at);
    for (uint32_t i = 0; i < q->options.workers; i++) {
        q->worker[i].at = at[i];
        q->worker[i].observed = is_observed(&q->options, i);
        sim_cq_worker_init(q, &q->worker[i]);
        if (q->worker[i].observed) {
            show_mailbox(q, at[i]);
        }
    }
}

static void set_up(struct sim_cq *q)
{
    uint64_t first = nocap_sim_faults[q->k.fault].first_launch;
    uint64_t span = q->options.launches - first;
    if (q->options.scenario == NOCAP_SIM_FAST_DISPATCH_RINGS) {
        span = (span + 1) / 2; /* its occasion, a wrap, comes later */
    }
    q->fault_program = first + sim_mix(&q->k, 5, 0) % span;
    q->board = sim_queue_tiles(&q->options, q->number);
    q->shows = view_classes[q->options.view];
    for (uint16_t i = 0; i < CQ_PACKETS_MAX; i++) {
        q->packet[i].next = (uint16_t)(i + 1);
    }
    q->k.now = START;
    if (q->number == 0) {
        set_up_workers(q);
    } else {
        q->worker = q->peer->worker;
    }
    q->worker += first_worker(&q->options, q->number, &q->workers);
    show_mailbox(q, q->board.prefetch);
    show_mailbox(q, q->board.dispatch);
    if (sim_cq_is_apart(q)) {
        show_mailbox(q, q->board.subordinate);
    }
    choose_roles(q);
    q->k.now = 0;
    add_agent(q, sim_cq_host_boot);
    add_agent(q, sim_cq_prefetch_boot);
    add_agent(q, sim_cq_dispatch_boot);
    if (sim_cq_splits(q)) {
        add_agent(q, sim_cq_subordinate_boot);
    } else {
        q->agents++;
    }
    for (uint32_t i = 0; q->number == 0 && i < q->options.workers; i++) {
        q->worker[i].brisc = add_agent(q, sim_cq_worker_brisc);
        q->worker[i].others = add_agent(q, sim_cq_worker_others);
    }
}

static void go_on(struct sim_cq *q, uint16_t timer)
{
    if (timer >= CQ_AGENTS_MAX) {
        sim_cq_packet_arrives(q, &q->packet[timer - CQ_AGENTS_MAX]);
        return;
    }
    struct cq_agent *a = &q->agent[timer];
    do {
        q->k.again = false;
        if (a->run != NULL) {
            a->run(q, a);
        }
    } while (q->k.again);
}

/* Two queues go by one time: that in which something happens next sets it. */
static struct sim_cq *next_queue(struct sim_cq *q)
{
    return q->peer != NULL && sim_peek(&q->peer->k) < sim_peek(&q->k) ? q->peer : q;
}

static enum nocap_status run_all(struct sim_cq *first)
{
    for (;;) {
        struct sim_cq *q = next_queue(first);
        uint16_t timer = sim_next(&q->k);
        if (timer == SIM_NOTHING) {
            break;
        }
        if (q->peer != NULL) {
            q->peer->k.now = q->k.now;
        }
        go_on(q, timer);
        if (q->k.status != NOCAP_OK) {
            return q->k.status;
        }
    }
    sim_cq_emit_last_polls(first);
    if (first->peer != NULL && first->k.status == NOCAP_OK) {
        sim_cq_emit_last_polls(first->peer);
        return first->peer->k.status;
    }
    return first->k.status;
}

static void tear_down(struct sim_cq *q)
{
    if (q != NULL) {
        free(q->k.timer);
        if (q->sysmem != MAP_FAILED) {
            munmap(q->sysmem, q->numbers.sysmem_size);
        }
        free(q->prefetch_l1);
        free(q->dispatch_l1);
        free(q->subordinate_l1);
    }
    free(q);
}

/* Little of it is used: not from the heap, where a sanitizer would mark all of it. */
static void *new_sysmem(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
}

/* NULL: out of memory. */
static struct sim_cq *new_queue(const struct nocap_profile *profile, uint32_t number)
{
    struct sim_cq *q = calloc(1, sizeof *q);
    if (q == NULL) {
        return NULL;
    }
    q->number = number;
    q->numbers = profile->queue;
    q->numbers.sysmem += (uint64_t)profile->queue.sysmem_size * number;
    q->n = &q->numbers;
    q->set = &profile->commands;
    q->layout = &profile->mailbox;
    q->sysmem = new_sysmem(profile->queue.sysmem_size);
    q->prefetch_l1 = calloc(1, NOCAP_L1_SIZE);
    q->dispatch_l1 = calloc(1, NOCAP_L1_SIZE);
    q->subordinate_l1 = calloc(1, NOCAP_L1_SIZE);
    if (q->sysmem == MAP_FAILED || q->prefetch_l1 == NULL || q->dispatch_l1 == NULL ||
        q->subordinate_l1 == NULL || !sim_time_init(&q->k, CQ_AGENTS_MAX + CQ_PACKETS_MAX)) {
        tear_down(q);
        return NULL;
    }
    return q;
}

/* What the second queue has of its own: its program, its delays, numbers of its requests. */
static void set_apart(struct sim_cq *q, const struct nocap_sim_options *o)
{
    struct sim_kernel *k = &q->k;
    bool fails = o->queues == 1 || o->variant / 2 % 2 == q->number;
    k->fault = fails ? o->fault : NOCAP_SIM_FAULT_NONE;
    if (q->number > 0) {
        k->variant = sim_mix_seed(o->variant, 11, q->number);
        q->next_id = q->next_seq = (uint64_t)q->number << 32;
    }
}

enum nocap_status sim_cq_run(const struct nocap_sim_options *o, const struct nocap_profile *profile,
                             nocap_machine_sink *sink, void *context, struct nocap_error *err)
{
    enum { FIRST_MACHINE = 4, SECOND_MACHINE = 9 };
    enum nocap_status status = NOCAP_E_MEMORY;
    struct sim_cq *queues[2] = {new_queue(profile, 0), NULL};
    struct cq_worker *workers = calloc(o->workers, sizeof *workers);
    queues[1] = o->queues > 1 ? new_queue(profile, 1) : NULL;
    if (queues[0] != NULL && workers != NULL && (queues[1] != NULL || o->queues == 1)) {
        bool struck = false;
        queues[0]->worker = workers;
        for (unsigned i = 0; i < o->queues; i++) {
            struct sim_cq *q = queues[i];
            q->options = *o;
            q->peer = queues[1 - i];
            q->shares = shares_workers(o);
            sim_kernel_begin(&q->k, o, i == 0 ? FIRST_MACHINE : SECOND_MACHINE, sink, context, err);
            set_apart(q, o);
            set_up(q);
        }
        status = run_all(queues[0]);
        for (unsigned i = 0; i < o->queues; i++) {
            struck |= queues[i]->k.struck;
        }
        if (status == NOCAP_OK && o->fault != NOCAP_SIM_FAULT_NONE && !struck) {
            status = nocap_fail(err, NOCAP_E_USAGE,
                                "fault %s found no occasion in %llu programs; ask for more, or for "
                                "another seed",
                                nocap_sim_faults[o->fault].name, (unsigned long long)o->launches);
        }
    } else {
        nocap_fail(err, status, "out of memory for the command queue of the device model");
    }
    tear_down(queues[0]);
    tear_down(queues[1]);
    free(workers);
    return status;
}

/* Why the fault is none to this runtime; NULL: it is one. */
static const char *no_fault(enum nocap_sim_fault fault, const struct nocap_queue *n)
{
    bool stamps = fault == NOCAP_SIM_FAULT_TIMESTAMP_OUTSIDE ||
                  fault == NOCAP_SIM_FAULT_TIMESTAMPS_READ_EARLY;
    if (stamps && n->timestamp_slots == 0) {
        return "it has no timestamps";
    }
    if (fault == NOCAP_SIM_FAULT_WAIT_NOTIFIES_PREFETCH && n->semaphore_count > 2) {
        return "it has the semaphore for that";
    }
    if (fault == NOCAP_SIM_FAULT_GO_MULTICAST && n->go_multicast != 0) {
        return "it multicasts go messages";
    }
    return NULL;
}

/* The list of go words must fit a page of the subordinate dispatcher. */
static enum nocap_status check_subordinate(const struct nocap_sim_options *o,
                                           const struct nocap_profile *profile,
                                           struct nocap_error *err)
{
    const struct nocap_queue *n = &profile->queue;
    uint32_t most = (n->subordinate_page - NOCAP_CQ_HEADER) / (uint32_t)sizeof(uint32_t);
    RETURN_ERROR_IF(n->dispatchers < 2, err, NOCAP_E_USAGE,
                    "scenario %s is none under --profile %s: it has one dispatcher; leave "
                    "--profile out for the newest one that has two",
                    nocap_sim_scenarios[o->scenario].name, profile->name);
    RETURN_ERROR_IF(o->workers > most, err, NOCAP_E_USAGE,
                    "--workers %u: the subordinate dispatcher's page has room for %u go messages; "
                    "ask for at most so many",
                    o->workers, most);
    return NOCAP_OK;
}

enum nocap_status sim_cq_complete(struct nocap_sim_options *o, const struct nocap_profile *profile,
                                  struct nocap_error *err)
{
    struct nocap_xy at[NOCAP_GRID_WIDTH * NOCAP_GRID_HEIGHT];
    const struct nocap_queue *n = &profile->queue;
    RETURN_ERROR_IF(o->queues > n->queues_most, err, NOCAP_E_USAGE,
                    "--queues %u: under --profile %s a chip has one command queue; leave --profile "
                    "out for the newest runtime that may have two",
                    o->queues, profile->name);
    RETURN_ERROR_IF(o->apart && n->p100_x != 0, err, NOCAP_E_USAGE,
                    "--apart: under --profile %s the places of the queue's cores are fixed; leave "
                    "--profile out for the newest runtime that chooses them",
                    profile->name);
    uint32_t workers = sim_list_workers(o, at);
    o->workers = o->workers == 0 ? NOCAP_SIM_WORKERS : o->workers;
    RETURN_ERROR_IF(o->workers > workers, err, NOCAP_E_USAGE,
                    "--workers %u: a %s board has %u worker cores for programs beside its command "
                    "queue; ask for at most so many",
                    o->workers, nocap_board_name(o->board), workers);
    RETURN_ERROR_IF(o->workers < o->queues && !may_share(o), err, NOCAP_E_USAGE,
                    "--workers %u: in scenario %s each queue has workers of its own; ask for more",
                    o->workers, nocap_sim_scenarios[o->scenario].name);
    RETURN_ERROR_IF(n->go_table > NOCAP_CQ_GO_TABLE || n->streams > CQ_STREAMS_MAX ||
                        n->reads_in_flight >= CQ_READS_MAX,
                    err, NOCAP_E_INTERNAL,
                    "the device model has no room for the queue of profile %s", profile->name);
    RETURN_ERROR_IF(o->scenario == NOCAP_SIM_FAST_DISPATCH_PACKED && n->inline_only != 0, err,
                    NOCAP_E_USAGE,
                    "scenario %s is none under --profile %s: its host puts one command into a "
                    "prefetch_q entry; leave --profile out for the newest one that puts several",
                    nocap_sim_scenarios[o->scenario].name, profile->name);
    if (o->scenario == NOCAP_SIM_FAST_DISPATCH_SUBORDINATE) {
        RETURN_IF_FAILED(check_subordinate(o, profile, err));
    }
    RETURN_ERROR_IF(o->scenario == NOCAP_SIM_FAST_DISPATCH_MULTICAST && n->go_multicast == 0, err,
                    NOCAP_E_USAGE,
                    "scenario %s is none under --profile %s: its go messages go to one worker core "
                    "each; leave --profile out for the newest one that multicasts them",
                    nocap_sim_scenarios[o->scenario].name, profile->name);
    const char *why = no_fault(o->fault, n);
    RETURN_ERROR_IF(why != NULL, err, NOCAP_E_USAGE, "--fault %s is none under --profile %s: %s",
                    nocap_sim_faults[o->fault].name, profile->name, why);
    RETURN_ERROR_IF(o->view >= NOCAP_SIM_VIEW_COUNT, err, NOCAP_E_INTERNAL,
                    "the device model knows no such view");
    return NOCAP_OK;
}

void sim_cq_header(const struct nocap_sim_options *o, const struct nocap_profile *profile,
                   struct nocap_header *header)
{
    const struct sim_queue_tiles board = sim_queue_tiles(o, 0);
    struct nocap_xy at[NOCAP_GRID_WIDTH * NOCAP_GRID_HEIGHT];
    header->complete = NOCAP_FALSE;
    header->observes = view_classes[o->view];
    header->cq = (struct nocap_cq_place){.present = true,
                                         .has_prefetch = true,
                                         .has_dispatch = true,
                                         .has_sysmem = true,
                                         .has_kernel_config = true,
                                         .prefetch = board.prefetch,
                                         .dispatch = board.dispatch,
                                         .sysmem = profile->queue.sysmem,
                                         .kernel_config = profile->queue.kernel_config};
    if ((header->observes & NOCAP_CLASS_CORE_STORE) != 0) {
        uint32_t count = 0;
        sim_list_workers(o, at);
        for (uint32_t i = 0; i < o->workers; i++) {
            if (is_observed(o, i)) {
                at[count++] = at[i];
            }
        }
        for (uint32_t i = 0; i < o->queues; i++) {
            struct sim_queue_tiles of = sim_queue_tiles(o, i);
            at[count++] = of.prefetch;
            at[count++] = of.dispatch;
            if (!nocap_xy_equal(of.subordinate, of.dispatch)) {
                at[count++] = of.subordinate;
            }
        }
        header->scope = malloc(count * sizeof *header->scope);
        header->has_scope = true;
        if (header->scope != NULL) {
            memcpy(header->scope, at, count * sizeof *header->scope);
        }
        header->scope_count = count;
    }
}
