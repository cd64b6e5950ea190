/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/profile/profile_elf.h"

#include <stdlib.h>
#include <string.h>

#include "formats/profile/elf_facts.h"

/* A profile under construction, and who says what. */
struct making {
    struct nocap_profile *profile;
    struct nocap_profile_origins *origins;
};

/* ---- numbers of values, in the order of nocap_profile_value ---- */

static size_t number_index(size_t offset)
{
    size_t i = 0;
    while (i < profile_number_count && profile_numbers[i].offset != offset) {
        i++;
    }
    return i;
}

static size_t form_index(unsigned side, unsigned id)
{
    size_t n = profile_number_count + NOCAP_LAUNCH_FIELDS;
    for (unsigned s = 0; s <= side; s++) {
        for (unsigned i = 0; i < (s == side ? id : (unsigned)NOCAP_CQ_IDS); i++) {
            n += nocap_cq_name((enum nocap_cq_side)s, i) != NULL;
        }
    }
    return n;
}

static void said_by(const struct making *m, size_t index, uint8_t file)
{
    if (index < NOCAP_PROFILE_VALUES_MAX) {
        m->origins->said += m->origins->file[index] == 0;
        m->origins->file[index] = file;
    }
}

/* ---- applying facts ---- */

static void say_number(const struct making *m, size_t offset, uint64_t value, uint8_t file)
{
    size_t i = number_index(offset);
    if (i < profile_number_count && file != 0 && value <= profile_numbers[i].most) {
        profile_number_set(m->profile, &profile_numbers[i], value);
        said_by(m, i, file);
    }
}
#define SAY(m, member, value, file)                                                                \
    say_number(m, offsetof(struct nocap_profile, member), value, file)

static void say_mailbox(const struct making *m, const struct elf_facts *f)
{
    struct nocap_mailbox_layout *l = &m->profile->mailbox;
    uint32_t base =
        f->mailbox_base.file != 0 ? (uint32_t)f->mailbox_base.value : NOCAP_MAILBOX_BASE;
    for (unsigned i = 0; f->launch_file != 0 && i < NOCAP_LAUNCH_FIELDS; i++) {
        l->fields[i] = f->fields[i];
        said_by(m, profile_number_count + i, f->launch_file);
    }
    SAY(m, mailbox.launch_size, f->launch_size, f->launch_file);
    SAY(m, mailbox.core_types, f->fields[NOCAP_LAUNCH_kernel_config_base].count, f->launch_file);
    SAY(m, mailbox.launch_slots, f->launch_slots, f->mailbox_file);
    SAY(m, mailbox.go_words, f->go_words, f->mailbox_file);
    SAY(m, mailbox.sync, base + f->sync, f->mailbox_file);
    SAY(m, mailbox.rd_ptr, base + f->rd_ptr, f->mailbox_file);
    SAY(m, mailbox.launch_base, base + f->launch, f->mailbox_file);
    SAY(m, mailbox.go_messages, base + f->go_messages, f->mailbox_file);
    SAY(m, mailbox.timestamp, base + f->timestamp, f->mailbox_file);
    SAY(m, mailbox.go_message_index, base + f->go_message_index, f->mailbox_file);
}

static bool same_layout(const struct nocap_mailbox_layout *a, const struct nocap_mailbox_layout *b)
{
    return memcmp(a->fields, b->fields, sizeof a->fields) == 0 &&
           a->launch_size == b->launch_size && a->core_types == b->core_types &&
           a->launch_slots == b->launch_slots && a->go_words == b->go_words && a->sync == b->sync &&
           a->rd_ptr == b->rd_ptr && a->launch_base == b->launch_base &&
           a->go_messages == b->go_messages && a->timestamp == b->timestamp &&
           a->go_message_index == b->go_message_index;
}

/* A layout that nocap knows has its name, and the place of the zeros that no file says. */
static void name_mailbox(struct nocap_mailbox_layout *l)
{
    for (unsigned i = 0; i < NOCAP_LAYOUT_COUNT; i++) {
        if (same_layout(l, &nocap_layouts[i])) {
            *l = nocap_layouts[i];
            return;
        }
    }
    strcpy(l->name, "from-elf");
    l->zeros = 0;
}

static void say_forms(const struct making *m, const struct elf_facts *f)
{
    struct nocap_command_set *set = &m->profile->commands;
    for (unsigned side = 0; side <= NOCAP_CQ_SUB; side++) {
        for (unsigned id = 0; id < NOCAP_CQ_IDS; id++) {
            struct nocap_cq_form *form = &set->forms[side][id];
            const struct form_fact *said = &f->forms[side][id];
            bool command = side != NOCAP_CQ_SUB, listed = command && f->ids_file[side] != 0;
            if (nocap_cq_name((enum nocap_cq_side)side, id) == NULL) {
                continue;
            }
            if (listed && f->ids[side][id].file == 0) {
                *form = (struct nocap_cq_form){0}; /* the enumeration lacks it */
                said_by(m, form_index(side, id), f->ids_file[side]);
                continue;
            }
            if (listed) {
                form->wire = (uint8_t)f->ids[side][id].value;
                form->header = form->header != 0 ? form->header : NOCAP_CQ_HEADER;
                said_by(m, form_index(side, id), f->ids[side][id].file);
            }
            if (said->file != 0 && (!command || form->header != 0)) {
                form->header = !command                        ? said->bytes
                               : said->bytes > NOCAP_CQ_HEADER ? NOCAP_CQ_HEADER_MAX
                                                               : NOCAP_CQ_HEADER;
                memcpy(form->fields, said->fields, sizeof form->fields);
                said_by(m, form_index(side, id), said->file);
            }
        }
    }
}

static void say_queue(const struct making *m, const struct elf_facts *f)
{
    const struct nocap_queue *q = &m->profile->queue;
    for (size_t i = 0; i < sizeof f->constants / sizeof f->constants[0]; i++) {
        say_number(m, offsetof(struct nocap_profile, queue) + 4 * i, f->constants[i].value,
                   f->constants[i].file);
    }
    SAY(m, queue.entry_bytes, f->entry_bytes.value, f->entry_bytes.file);
    if (f->entry_bytes.file != 0) {
        SAY(m, queue.entry_stall, UINT64_C(1) << (8 * (q->entry_bytes & 7) - 1) % 64,
            f->entry_bytes.file);
    }
    if (f->queue_size.file != 0 && q->entry_bytes != 0) {
        SAY(m, queue.queue_slots, f->queue_size.value / q->entry_bytes, f->queue_size.file);
    }
    if (f->log_page.file != 0 && f->log_page.value < 31) {
        SAY(m, queue.page, UINT64_C(1) << f->log_page.value, f->log_page.file);
    }
}

static void say_flags(const struct making *m, const struct elf_facts *f)
{
    for (unsigned i = 0; i < NOCAP_CQ_FLAGS; i++) {
        if (f->flags[i].file != 0) {
            m->profile->commands.flags[i] = (uint8_t)f->flags[i].value;
            said_by(m, form_index(NOCAP_CQ_SUB, NOCAP_CQ_IDS) + i, f->flags[i].file);
        }
    }
}

/* The base with all that the files say; how many of its values they contradict. */
static size_t apply(struct nocap_profile *profile, struct nocap_profile_origins *origins,
                    const struct nocap_profile *base, const struct elf_facts *facts)
{
    const struct making m = {profile, origins};
    *profile = *base;
    *origins = (struct nocap_profile_origins){.base = base->name};
    say_mailbox(&m, facts);
    if (facts->launch_file != 0 || facts->mailbox_file != 0) {
        name_mailbox(&profile->mailbox);
    }
    say_queue(&m, facts);
    say_forms(&m, facts);
    say_flags(&m, facts);
    struct nocap_profile_value a, b;
    for (size_t i = 0; nocap_profile_value(base, i, &a) && nocap_profile_value(profile, i, &b);
         i++) {
        origins->contradicted += strcmp(a.value, b.value) != 0;
    }
    return origins->contradicted;
}

/* ---- the nearest ---- */

struct work {
    struct elf_facts facts;
    struct nocap_profile base, made;
    struct nocap_profile_origins origins;
};

static enum nocap_status choose(struct nocap_profile *profile,
                                struct nocap_profile_origins *origins, struct work *w,
                                struct nocap_error *err)
{
    size_t least = SIZE_MAX;
    for (size_t i = 0; nocap_profile_name(i) != NULL; i++) {
        RETURN_IF_FAILED(nocap_profile_find(&w->base, nocap_profile_name(i), err));
        if (apply(&w->made, &w->origins, &w->base, &w->facts) < least) {
            least = w->origins.contradicted;
            *profile = w->made;
            *origins = w->origins;
            origins->base = nocap_profile_name(i);
        }
    }
    RETURN_ERROR_IF(origins->said == 0, err, NOCAP_E_INPUT,
                    "no file says anything of mailboxes or commands: give brisc.elf, or the "
                    "kernels cq_prefetch and cq_dispatch, with debug information");
    if (least != 0) {
        strcpy(profile->name, "from-elf");
        snprintf(profile->source, sizeof profile->source,
                 "%zu values from the debug information of ELF files, the others as in %s",
                 origins->said, origins->base);
    }
    enum nocap_status status = profile_complete(profile, err);
    return status == NOCAP_OK ? status : nocap_fail_context(err, status, "what the ELF files say");
}

enum nocap_status nocap_profile_from_elf(struct nocap_profile *profile,
                                         struct nocap_profile_origins *origins,
                                         const char *const *paths, size_t count,
                                         struct nocap_error *err)
{
    struct work *w = calloc(1, sizeof *w);
    RETURN_ERROR_IF(w == NULL, err, NOCAP_E_MEMORY, "out of memory for a profile");
    enum nocap_status status = NOCAP_OK;
    if (count > NOCAP_PROFILE_ELFS) {
        status = nocap_fail(err, NOCAP_E_USAGE, "more than %d ELF files", NOCAP_PROFILE_ELFS);
    }
    for (size_t i = 0; status == NOCAP_OK && i < count; i++) {
        struct nocap_elf_image *image;
        status = nocap_elf_open(&image, paths[i], 0, err);
        if (status == NOCAP_OK) {
            status = elf_facts_add(&w->facts, image, paths[i], err);
            nocap_elf_close(image);
        }
    }
    status = status == NOCAP_OK ? choose(profile, origins, w, err) : status;
    free(w);
    return status;
}

enum nocap_status nocap_profile_from_elf_memory(struct nocap_profile *profile,
                                                struct nocap_profile_origins *origins,
                                                const void *bytes, size_t size, const char *name,
                                                struct nocap_error *err)
{
    struct work *w = calloc(1, sizeof *w);
    struct nocap_elf_image *image;
    RETURN_ERROR_IF(w == NULL, err, NOCAP_E_MEMORY, "out of memory for a profile");
    enum nocap_status status = nocap_elf_open_memory(&image, bytes, size, name, 0, err);
    if (status == NOCAP_OK) {
        status = elf_facts_add(&w->facts, image, name, err);
        nocap_elf_close(image);
    }
    status = status == NOCAP_OK ? choose(profile, origins, w, err) : status;
    free(w);
    return status;
}
