/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/profile/profile.h"

#include <string.h>

#include "formats/blackhole/cq_layout.h"
#include "formats/blackhole/registers.h"
#include "formats/profile/profile_private.h"

/* ---- blackhole-py, from the tables ---- */

#define AT(offset, width, count, stride)                                                           \
    {                                                                                              \
        (offset), (width), (count), (stride)                                                       \
    }
#define LAUNCH_SCALAR(type, member, a, b1, b2, c, d, e, f) .fields[NOCAP_LAUNCH_##member] = a,
#define LAUNCH_ARRAY(type, member, elements, a, b1, b2, c, d, e, f)                                \
    .fields[NOCAP_LAUNCH_##member] = a,
#define NOT_THERE                                                                                  \
    {                                                                                              \
        0, 0, 0, 0                                                                                 \
    }
#define LAYOUT(ID, name, launch_size, types, go, time, index, zeros)                               \
    LAYOUT_##ID(name, launch_size, types, go, time, index, zeros)
#define LAYOUT_A(name_, size, types, go, time, index, zeros_)                                      \
    .name = name_, .launch_size = (size), .core_types = (types),                                   \
    .launch_slots = NOCAP_LAUNCH_SLOTS, .go_words = NOCAP_GO_WORDS, .sync = NOCAP_SYNC,            \
    .rd_ptr = NOCAP_RD_PTR, .launch_base = NOCAP_LAUNCH_RING, .go_messages = (go),                 \
    .timestamp = (time), .go_message_index = (index), .zeros = (zeros_),
#define LAYOUT_B1(...)
#define LAYOUT_B2(...)
#define LAYOUT_C(...)
#define LAYOUT_D(...)
#define LAYOUT_E(...)
#define LAYOUT_F(...)
#define QUEUE(type, member, form, value, text) .member = (value),
__extension__ static const struct nocap_profile blackhole_py = {
    .name = "blackhole-py",
    .source = "read from boopdotpng/blackhole-py: riscv-firmware/p100a at "
              "5d08c239d3218551c1c6dcf8422af455b987842e (mailbox), firmware/cq at d5703946 "
              "(commands), 32e2dd54 (addresses of the queue)",
    .mailbox =
        {
#include "formats/blackhole/layouts.def"
        },
    .queue =
        {
#include "formats/profile/numbers.def"
        },
    .commands =
        {
#include "formats/blackhole/cq_default_set.h"
        },
};

const struct nocap_profile *nocap_profile_default(void)
{
    return &blackhole_py;
}

/* ---- the others ---- */

/* {name, JSON}: what differs from the profile that `base` names. Made of the files *.json. */
static const struct shipped {
    const char *name, *json;
} shipped[] = {
#include "formats/profile/shipped.inc"
};
enum { SHIPPED = sizeof shipped / sizeof shipped[0] };

const char *nocap_profile_name(size_t i)
{
    return i == 0 ? blackhole_py.name : i <= SHIPPED ? shipped[i - 1].name : NULL;
}

const char *nocap_profile_newest(void)
{
    return nocap_profile_name(SHIPPED);
}

enum nocap_status nocap_profile_find(struct nocap_profile *profile, const char *name,
                                     struct nocap_error *err)
{
    if (strcmp(name, blackhole_py.name) == 0) {
        *profile = blackhole_py;
        return NOCAP_OK;
    }
    char names[256];
    size_t used = (size_t)snprintf(names, sizeof names, "%s", blackhole_py.name);
    for (size_t i = 0; i < SHIPPED; i++) {
        if (strcmp(name, shipped[i].name) == 0) {
            return nocap_profile_read(profile, shipped[i].json, err);
        }
        if (used < sizeof names) {
            used += (size_t)snprintf(names + used, sizeof names - used, ", %s", shipped[i].name);
        }
    }
    return nocap_fail(err, NOCAP_E_INPUT, "there is no profile '%.60s'; there are %s", name, names);
}

/* ---- numbers ---- */

#define DECIMAL false
#define HEX     true
#define MAILBOX(member, form, most)                                                                \
    {"mailbox", #member, form, sizeof(uint32_t), offsetof(struct nocap_profile, mailbox.member),   \
     most},
#define QUEUE(type, member, form, value, text)                                                     \
    {"queue",                                                                                      \
     #member,                                                                                      \
     form,                                                                                         \
     sizeof(type),                                                                                 \
     offsetof(struct nocap_profile, queue.member),                                                 \
     sizeof(type) == 8 ? UINT64_MAX : UINT32_MAX},
const struct profile_number profile_numbers[] = {
#include "formats/profile/numbers.def"
};
const size_t profile_number_count = sizeof profile_numbers / sizeof profile_numbers[0];
const char *const profile_sides[NOCAP_CQ_SUB + 1] = {"prefetch", "dispatch", "sub"};

uint64_t profile_number_get(const struct nocap_profile *p, const struct profile_number *n)
{
    const char *at = (const char *)p + n->offset;
    uint32_t narrow;
    uint64_t wide;
    if (n->width == sizeof wide) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

void profile_number_set(struct nocap_profile *p, const struct profile_number *n, uint64_t v)
{
    uint32_t narrow = (uint32_t)v;
    memcpy((char *)p + n->offset, n->width == sizeof v ? (const void *)&v : &narrow, n->width);
}

/* ---- what can be judged ---- */

/* What cores, host and dispatcher tell each other by. */
static bool mailbox_parts_apart(const struct nocap_mailbox_layout *l)
{
    const struct {
        uint32_t first, size;
    } parts[] = {{l->sync, NOCAP_SYNC_BYTES},
                 {l->rd_ptr, sizeof(uint32_t)},
                 {l->launch_base, l->launch_slots * l->launch_size},
                 {l->go_messages, l->go_words * NOCAP_GO_WORD_SIZE},
                 {l->go_message_index, sizeof(uint32_t)}};
    bool apart = true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        apart &= parts[i].first >= NOCAP_MAILBOX_BASE && parts[i].first % sizeof(uint32_t) == 0;
        for (size_t j = 0; j < i; j++) {
            apart &= parts[i].first >= parts[j].first + parts[j].size ||
                     parts[j].first >= parts[i].first + parts[i].size;
        }
    }
    return apart;
}

const char *nocap_profile_mailbox_problem(const struct nocap_mailbox_layout *l)
{
    if (!mailbox_parts_apart(l)) {
        return "words or launch ring lie before 0x60, overlap, or are not aligned to 4 bytes";
    }
    if (l->launch_slots != NOCAP_LAUNCH_SLOTS || l->go_words != NOCAP_GO_WORDS) {
        return "there are not 8 launch messages and 9 go messages";
    }
    return NULL;
}

bool nocap_queue_split(struct nocap_queue *queue, uint32_t queues)
{
    enum { PARTS = 4 }; /* of which completions have one */
    if (queues == queue->queues) {
        return true;
    }
    if (queues == 0 || queues > queue->queues_most || queue->queues != 1) {
        return false;
    }
    const uint32_t size = queue->sysmem_size / queues;
    const uint32_t pages = (size - queue->issue) / queue->page / PARTS;
    queue->queues = queues;
    queue->sysmem_size = size;
    queue->completion_size = pages * queue->page;
    queue->issue_size = size - queue->issue - queue->completion_size;
    queue->completion = queue->issue + queue->issue_size;
    return true;
}
