/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for what where control code stood. */
#include <stdlib.h>

#include "base/foreign_text.h"
#include "checker/aie/postmortem.h"
#include "formats/aie/operands.h"

enum { TEXT = 400 };

static struct nocap_party party(uint32_t uc, int32_t job)
{
    return (struct nocap_party){.agent = (uint8_t)(NOCAP_BY_UC0 + uc), .job = job};
}

/* The last instruction before the job's `times`-th use of the barrier that something outside of the
 * jobs must end; NULL: none. */
static const struct blocked_op *outside_before(const struct blocked_column *c,
                                               const struct blocked_job *job, uint32_t barrier,
                                               uint32_t times)
{
    const struct blocked_op *last = NULL;
    for (uint32_t i = job->first; i < job->end && times != 0; i++) {
        const struct blocked_op *op = &c->ops[i];
        bool inside =
            op->info->opcode == NOCAP_AIE_LOCAL_BARRIER || op->info->opcode == NOCAP_AIE_YIELD;
        last = op->info->blocks && !inside ? op : last;
        times -= op->info->opcode == NOCAP_AIE_LOCAL_BARRIER &&
                 V(op, LOCAL_BARRIER, local_barrier_id) == barrier;
    }
    return last;
}

/* Who has not come to the barrier at which the job stands: those that cannot have, or else, if one
 * of the others must be missing, those that something may hold before it. */
static void report_local(const struct blocked_column *c, const struct blocked_job *job,
                         struct nocap_wait *wait, char *text)
{
    const struct blocked_op *op = &c->ops[job->at];
    uint32_t id = V(op, LOCAL_BARRIER, local_barrier_id),
             wanted = V(op, LOCAL_BARRIER, num_participants);
    uint32_t times = blocked_came(c, job, NOCAP_AIE_LOCAL_BARRIER, id),
             here = blocked_locals(c, job);
    int used =
        snprintf(text, TEXT, "local barrier %u: %u of %u jobs can have arrived", id, here, wanted);
    bool first = true;
    for (uint32_t j = 0; j < c->job_count && used < TEXT; j++) {
        const struct blocked_job *other = &c->jobs[j];
        bool late = blocked_came(c, other, NOCAP_AIE_LOCAL_BARRIER, id) < times;
        const struct blocked_op *outside = outside_before(c, other, id, times);
        bool may_be =
            here >= wanted && !other->fixed && !blocked_is_over(c, other) && outside != NULL;
        if (blocked_uses(c, other, NOCAP_AIE_LOCAL_BARRIER, id) < times || !(late || may_be)) {
            continue;
        }
        used += snprintf(text + used, (size_t)(TEXT - used), "%s %u",
                         !first ? ","
                         : late ? ", missing job"
                                : "; one that may be blocked earlier is job",
                         other->id);
        if (used < TEXT && !late) {
            used += snprintf(text + used, (size_t)(TEXT - used), " (%s at offset %u)",
                             outside->info->mnemonic, outside->off);
        } else if (used < TEXT && !other->started) {
            used += snprintf(text + used, (size_t)(TEXT - used), " (not launched)");
        }
        wait->by = first ? party(c->page->uc, (int32_t)other->id) : wait->by;
        first = false;
    }
    if (first && used < TEXT) {
        snprintf(text + used, (size_t)(TEXT - used),
                 here >= wanted ? "; nothing blocks them: what was seen does not fit the file"
                                : ", and no other job comes");
    }
    wait->release = "the missing participants";
}

/* The job of a column that is before its next use of a remote barrier, or else one that is
 * anywhere; -1: none. */
static int32_t job_before(const struct blocked_column *c, uint32_t id)
{
    int32_t any = -1;
    for (uint32_t j = 0; j < c->job_count; j++) {
        const struct blocked_job *job = &c->jobs[j];
        if (!job->started || job->at == job->end) {
            continue;
        }
        if (blocked_uses(c, job, NOCAP_AIE_REMOTE_BARRIER, id) >
            blocked_came(c, job, NOCAP_AIE_REMOTE_BARRIER, id)) {
            return (int32_t)job->id;
        }
        any = (int32_t)job->id;
    }
    return any;
}

static void report_remote(const struct blocked *s, const struct blocked_column *c,
                          const struct blocked_op *op, struct nocap_wait *wait, char *text)
{
    uint32_t id = V(op, REMOTE_BARRIER, remote_barrier_id), unknown = 0;
    uint32_t mask = V(op, REMOTE_BARRIER, party_mask), missing = blocked_remotes_missing(s, c, op);
    for (uint32_t uc = 0; uc < STUCK_COLUMNS; uc++) {
        bool known = c->main && s->columns[uc].page != NULL && s->columns[uc].main;
        unknown |= known ? 0 : mask & 1u << uc;
    }
    int used = snprintf(text, TEXT, "remote barrier %u, mask 0x%x: ", id - 1, mask);
    if (missing != 0) {
        uint32_t first = (uint32_t)__builtin_ctz(missing);
        used +=
            snprintf(text + used, (size_t)(TEXT - used), "columns of mask 0x%x cannot have come%s",
                     missing, unknown != 0 ? ", " : "");
        wait->by = party(first, job_before(&s->columns[first], id));
    }
    if (unknown != 0) {
        snprintf(text + used, (size_t)(TEXT - used),
                 "the position of those of mask 0x%x is not known", unknown);
    } else if (missing == 0) {
        snprintf(text + used, (size_t)(TEXT - used),
                 "each column can have come; which did not is not known");
    }
    wait->release = "the columns that did not come";
}

static void report_poll(const struct blocked *s, const struct blocked_op *op,
                        struct nocap_wait *wait, char *text)
{
    uint32_t mask = blocked_poll_mask(op), value = blocked_poll_value(op),
             addr = V(op, POLL_32, address);
    bool never = (value & ~mask) != 0;
    char place[64];
    int used = snprintf(text, TEXT, "0x%x under mask 0x%x to become 0x%x (%s)%s", addr, mask, value,
                        nocap_aie_address_text(s->image->chip, addr, place, sizeof place),
                        never ? ", unsatisfiable" : "");
    for (size_t i = 0; i < s->postmortem->register_count; i++) {
        if (s->postmortem->registers[i].addr == addr) {
            snprintf(text + used, (size_t)(TEXT - used), "; it was 0x%x in the end",
                     s->postmortem->registers[i].value);
        }
    }
    wait->release = never ? NULL : "the value";
}

static void report_tokens(const struct blocked *s, const struct blocked_column *c,
                          const struct blocked_op *op, struct nocap_wait *wait, char *text)
{
    const uint32_t both = 1u << NOCAP_AIE_C_TCT_REQUESTED | 1u << NOCAP_AIE_C_TCT_RECEIVED;
    char channel[64];
    int used =
        snprintf(text, TEXT, "%u tokens of %s", V(op, WAIT_TCTS, target_tcts),
                 nocap_aie_channel_text(s->image->chip, V(op, WAIT_TCTS, tile_id),
                                        V(op, WAIT_TCTS, actor_id), channel, sizeof channel));
    if ((c->postmortem->counted & both) == both) {
        snprintf(text + used, (size_t)(TEXT - used),
                 "; of all channels the uC has asked for %u and got %u",
                 c->postmortem->counters[NOCAP_AIE_C_TCT_REQUESTED],
                 c->postmortem->counters[NOCAP_AIE_C_TCT_RECEIVED]);
    }
    wait->release = "the missing tokens";
}

static void report_job(struct blocked *s, const struct blocked_column *c,
                       const struct blocked_job *job)
{
    char text[TEXT] = "";
    bool over = job->at == job->end;
    const struct blocked_op *op = &c->ops[over ? job->first : job->at];
    struct nocap_wait wait = {.who = party(c->page->uc, (int32_t)job->id),
                              .by = {.agent = NOCAP_BY_NONE, .job = -1},
                              .state = job->fixed ? "blocked" : "cannot pass",
                              .since = UINT64_MAX,
                              .index = UINT64_MAX,
                              .thread = -1,
                              .certain = !over && op->info->blocks,
                              .has_place = !over,
                              .page = c->page->index,
                              .off = op->off,
                              .progress = {.index = UINT64_MAX}};
    unsigned why = NOCAP_WHY_COUNT; /* none */
    switch (over ? NOCAP_AIE_NOP : op->info->opcode) {
    case NOCAP_AIE_LOCAL_BARRIER:
        why = NOCAP_WHY_LOCAL;
        report_local(c, job, &wait, text);
        break;
    case NOCAP_AIE_REMOTE_BARRIER:
        why = NOCAP_WHY_REMOTE;
        report_remote(s, c, op, &wait, text);
        break;
    case NOCAP_AIE_POLL_32:
    case NOCAP_AIE_MASK_POLL_32:
        why = NOCAP_WHY_POLL;
        report_poll(s, op, &wait, text);
        break;
    case NOCAP_AIE_WAIT_TCTS:
        why = NOCAP_WHY_TCT;
        report_tokens(s, c, op, &wait, text);
        break;
    case NOCAP_AIE_WAIT_UC_DMA:
    case NOCAP_AIE_UC_DMA_WRITE_DES_SYNC: /* a full queue looks like a transfer here */
        why = NOCAP_WHY_DMA;
        snprintf(text, TEXT, "%s: the end of a transfer", op->info->mnemonic);
        wait.release = "the end of the transfer";
        break;
    default:
        snprintf(text, TEXT, over ? "not finished; position unknown" : "%s to end",
                 op->info->mnemonic);
        wait.state = "not over";
        break;
    }
    wait.what = text;
    wait.why = nocap_field_value_name(NOCAP_FIELD_WHY, why);
    nocap_hang_take(&s->waits, &wait);
}

/* A column of which is known where it stood, but none of its jobs that waits: what could have. */
static void report_column(struct blocked *s, const struct blocked_column *c)
{
    char text[TEXT];
    int used =
        snprintf(text, TEXT, "page %u, where it is not known which job waits", c->page->index);
    const char *before = "; one of";
    for (uint32_t i = 0; i < c->op_count && used < TEXT; i++) {
        const struct blocked_op *op = &c->ops[i];
        if (op->info->blocks && op->info->opcode != NOCAP_AIE_YIELD) {
            used += snprintf(text + used, (size_t)(TEXT - used), "%s %s at offset 0x%x", before,
                             op->info->mnemonic, op->off);
            before = ",";
        }
    }
    nocap_hang_take(&s->waits, &(struct nocap_wait){.who = party(c->page->uc, -1),
                                                    .by = {.agent = NOCAP_BY_NONE, .job = -1},
                                                    .what = text,
                                                    .state = "not over",
                                                    .since = UINT64_MAX,
                                                    .index = UINT64_MAX,
                                                    .thread = -1,
                                                    .certain = c->postmortem->hang,
                                                    .has_place = c->postmortem->has_off,
                                                    .page = c->page->index,
                                                    .off = c->postmortem->off,
                                                    .progress = {.index = UINT64_MAX}});
}

void blocked_report(struct blocked *s)
{
    for (uint32_t uc = 0; uc < STUCK_COLUMNS; uc++) {
        const struct blocked_column *c = &s->columns[uc];
        bool any = false;
        for (uint32_t j = 0; j < c->job_count; j++) {
            const struct blocked_job *job = &c->jobs[j];
            if ((job->started && job->at < job->end) || job->left) {
                any = true;
                report_job(s, c, job);
            }
        }
        if (c->page != NULL && !any) {
            report_column(s, c);
        }
    }
}

char *blocked_place(const struct blocked_column *c, const struct nocap_aie_lines *lines,
                    uint32_t off)
{
    const struct nocap_aie_line *line =
        nocap_aie_lines_find(lines, c->page->uc, c->page->index, off);
    const char *mnemonic = "no instruction";
    char at[32] = "";
    char *text = NULL, *clean = NULL;
    for (uint32_t i = 0; i < c->op_count; i++) {
        mnemonic = c->ops[i].off == off ? c->ops[i].info->mnemonic : mnemonic;
    }
    if (line != NULL) {
        snprintf(at, sizeof at, ":%u", line->line);
    }
    int length = asprintf(&text, "page %u offset 0x%x, %s%s%s%s", c->page->index, off, mnemonic,
                          line == NULL ? "" : ", ", line == NULL ? "" : line->file, at);
    if (length >= 0) {
        clean = foreign_copy(text);
        free(text);
    }
    return clean;
}
