/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands write for launches: messages, what workers run, go words that are none of
 * SEND_GO_SIGNAL. Rules CQ-050, CQ-052, CQ-053. */
#include "replay/cq/cq_private.h"

/* What a launch works with between GO and notify. */
static bool hits_launch(const struct cq *q, const struct cq_target *t)
{
    const struct nocap_mailbox_layout *l = q->m->layout;
    struct access a = {.addr = t->addr, .size = t->size};
    uint32_t config = q->sem[CQ_PREFETCH] - 16;
    return touches(&a, l->launch_base, l->launch_slots * l->launch_size) ||
           touches(&a, l->go_messages, NOCAP_GO_WORD_SIZE) || touches(&a, l->go_message_index, 4) ||
           (q->program.blob_end > config && touches(&a, config, q->program.blob_end - config));
}

/* What is wrong with a command's messages so far, which are the same for each rectangle of workers.
 */
struct message_faults {
    fault_id slot, mode;
};

static void take_message(struct cq *q, const struct cq_target *t, const struct cq_tile_set *tiles,
                         struct message_faults *wrong)
{
    const struct nocap_mailbox_layout *l = q->m->layout;
    struct nocap_launch message;
    bool first = t->addr == l->launch_base;
    bool known = t->known >= l->launch_size;
    if (known) {
        nocap_launch_decode(l, t->payload, &message);
    }
    bool resets = q->numbers->inline_only != 0 || cq_set_meets(tiles, &q->program.reset);
    CQ_HOST_AFTER(q, CQ_052, wrong->slot, first || !resets, NO_REFS,
                  "launch messages in slot 0, since every launch resets the read pointer",
                  "launch message written at 0x%llx, not in slot 0", wide(t->addr));
    cq_blame(&wrong->slot, fault_of(q->m, first || !resets));
    if (known && message.enables != 0) {
        bool right = message.mode == NOCAP_MODE_DEV;
        CQ_HOST_AFTER(q, CQ_053, wrong->mode, right, NO_REFS,
                      "launch mode DEV for workers: in HOST mode they never notify",
                      "launch mode %u for workers, not DEV", message.mode);
        cq_blame(&wrong->mode, fault_of(q->m, right));
    }
    cq_set_join(&q->program.messaged, tiles);
    q->program.unacked_message |= q->command.mcast;
}

/* What a write brings: launch messages, a go message that resets, kernels. */
static void take_kind(struct cq *q, const struct cq_target *t, const struct cq_tile_set *tiles,
                      bool busy, struct message_faults *wrong)
{
    struct cq_program *p = &q->program;
    const struct nocap_mailbox_layout *l = q->m->layout;
    const unsigned id = q->command.record.dispatch.id;
    const bool packed = /* what kernels need; others bring data */
        id == NOCAP_CQ_DISPATCH_WRITE_PACKED || id == NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE;
    uint64_t ring = t->addr - l->launch_base;
    if (t->addr >= l->launch_base && ring < (uint64_t)l->launch_slots * l->launch_size &&
        ring % l->launch_size == 0 && t->size != 0 && t->size % l->launch_size == 0) {
        take_message(q, t, tiles, wrong);
    } else if (t->addr == l->go_messages && t->size >= NOCAP_GO_WORD_SIZE) {
        bool known = t->known > NOCAP_GO_SIGNAL_BYTE;
        uint8_t signal = known ? t->payload[NOCAP_GO_SIGNAL_BYTE] : 0;
        if (!known || (signal != NOCAP_GO_GO && signal != NOCAP_GO_DONE)) {
            cq_set_join(&p->reset, tiles);
        }
    } else if (packed && !busy && t->addr >= q->sem[CQ_PREFETCH] - 16 && t->addr < NOCAP_L1_SIZE &&
               t->size < NOCAP_L1_SIZE && t->addr + t->size > p->blob_end) {
        p->blob_end = (uint32_t)(t->addr + t->size);
    }
}

static void take_write(struct cq *q, const struct cq_target *t, struct message_faults *wrong)
{
    struct cq_program *p = &q->program;
    const struct cq_tile_set tiles = cq_target_tiles(q, t);
    bool hits = hits_launch(q, t);
    bool busy = cq_set_meets(&tiles, &p->busy);
    if (busy) {
        CQ_HOST_AFTER(q, CQ_050, p->busy_written != FAULT_NONE ? p->busy_written : p->waited, !hits,
                      NO_REFS,
                      "go message, launch message and kernels of a worker core unchanged until its "
                      "notify was waited for",
                      "%llu bytes written at 0x%llx of a worker core between its GO and the WAIT "
                      "for its notify",
                      wide(t->size), wide(t->addr));
        p->busy_written = hits ? q->m->fault : p->busy_written;
        cq_blame(&wrong->slot, fault_of(q->m, !hits));
    }
    if (q->command.mcast) { /* it begins with a write barrier of its own */
        p->unacked = true;
        p->unacked_index = q->m->event->index;
        p->unacked_tiles = tiles;
    }
    const struct access a = {.addr = t->addr, .size = t->size};
    if (touches(&a, q->m->layout->go_message_index, 4)) {
        cq_launch_lose_answers(q->m);
    }
    take_kind(q, t, &tiles, busy, wrong);
}

fault_id cq_launch_writes(struct cq *q, struct cq_command *k)
{
    struct message_faults wrong = {FAULT_NONE, FAULT_NONE};
    if (!cq_offsets_move(&q->program.offsets, k)) {
        cq_launch_lose(q, false);
        cq_launch_lose_answers(q->m);
        return FAULT_NONE;
    }
    for (uint32_t i = 0; i < k->known && !k->targets[i].memory; i++) {
        take_write(q, &k->targets[i], &wrong);
    }
    return wrong.mode;
}
