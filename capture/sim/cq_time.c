/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of time of the simulated command queue: a heap of agents and packets. Equal times are
 * served in the order in which they were asked for. Who waits is not in it. */
#include "capture/sim/cq_machine.h"
#include "capture/sim/random.h"

static bool before(const struct cq_event_time *a, const struct cq_event_time *b)
{
    return a->t < b->t || (a->t == b->t && (int32_t)(a->order - b->order) < 0);
}

void sim_cq_schedule(struct sim_cq *q, uint16_t what, uint64_t t)
{
    struct cq_event_time entry = {t, q->order++, what};
    uint32_t i = q->heap_size++;
    for (; i > 0 && before(&entry, &q->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        q->heap[i] = q->heap[(i - 1) / 2];
    }
    q->heap[i] = entry;
}

static struct cq_event_time take_first(struct sim_cq *q)
{
    struct cq_event_time first = q->heap[0], last = q->heap[--q->heap_size];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= q->heap_size) {
            break;
        }
        if (child + 1 < q->heap_size && before(&q->heap[child + 1], &q->heap[child])) {
            child++;
        }
        if (!before(&q->heap[child], &last)) {
            break;
        }
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = last;
    return first;
}

uint64_t sim_cq_peek(const struct sim_cq *q)
{
    return q->heap_size > 0 ? q->heap[0].t : UINT64_MAX;
}

static void run_agent(struct sim_cq *q, struct cq_agent *a)
{
    a->armed = false;
    do {
        q->again = false;
        if (a->run != NULL) {
            a->run(q, a);
        }
    } while (q->again);
}

void sim_cq_run_all(struct sim_cq *q)
{
    while (q->status == NOCAP_OK && q->heap_size > 0) {
        struct cq_event_time next = take_first(q);
        q->now = next.t;
        if (next.what < CQ_AGENTS_MAX) {
            run_agent(q, &q->agent[next.what]);
        } else {
            sim_cq_packet_arrives(q, &q->packet[next.what - CQ_AGENTS_MAX]);
        }
    }
}

void sim_cq_sleep(struct sim_cq *q, struct cq_agent *a, uint32_t least, uint32_t spread)
{
    a->armed = true;
    sim_cq_schedule(q, a->id, q->now + least + sim_cq_below(q, spread));
}

void sim_cq_block(struct cq_agent *a, uint16_t what, const struct cq_place *poll)
{
    a->watch = what;
    a->poll = poll != NULL ? *poll : (struct cq_place){.size = 0, .period = 8};
}

void sim_cq_poke(struct sim_cq *q, struct cq_agent *a)
{
    if (a->watch != 0 && !a->armed) {
        a->watch = 0;
        sim_cq_sleep(q, a, 1, a->poll.period);
    }
}

void sim_cq_changed(struct sim_cq *q, uint16_t what)
{
    for (unsigned i = 0; i < CQ_AGENT_WORKERS; i++) {
        if ((q->agent[i].watch & what) != 0) {
            sim_cq_poke(q, &q->agent[i]);
        }
    }
}

uint32_t sim_cq_below(struct sim_cq *q, uint32_t n)
{
    return sim_next_below(&q->random, n);
}

uint64_t sim_cq_mix(const struct sim_cq *q, uint64_t a, uint64_t b)
{
    return sim_mix_seed(q->options.variant, a, b);
}

void sim_cq_start_random(struct sim_cq *q)
{
    q->random = sim_mix_seed(q->options.seed, 4, 0) | 1;
}
