/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a uC in its binary form: 32 bytes that begin with a count of 64 bits, then records of
 * 32 bytes: length in words, time, file, line, number of the message, up to two arguments. Source:
 * AIE control code fact sheet, section 6. */
#include <string.h>

#include "formats/aie/postmortem_private.h"

enum { WORDS_FIXED = 6, AT_ID = 20, AT_FIRST = 24, AT_SECOND = 28 };

enum record {
#define RECORD(NAME, id) RECORD_##NAME = (id),
#include "formats/aie/postmortem.def"
};

/* Text has no zeros; a count of more than 4 GiB is none. */
bool postmortem_is_log(const uint8_t *head, size_t size)
{
    static const uint8_t zeros[4];
    return size == POSTMORTEM_RECORD && memcmp(head + sizeof zeros, zeros, sizeof zeros) == 0;
}

static bool is_register(uint32_t id)
{
    switch (id) {
#define REGISTER(id, text) case (id):
#include "formats/aie/postmortem.def"
        return true;
    default: return false;
    }
}

static void take_record(struct postmortem_reading *r, const uint8_t *record)
{
    uint32_t words = nocap_aie_u32(record), id = nocap_aie_u32(record + AT_ID);
    uint32_t first = nocap_aie_u32(record + AT_FIRST), second = nocap_aie_u32(record + AT_SECOND);
    bool one = words == WORDS_FIXED + 1, two = words == WORDS_FIXED + 2;
    if (id == RECORD_WATCHDOG && two) {
        postmortem_watchdog(r);
        postmortem_place(r, second, first);
    } else if (id == RECORD_UNFINISHED && words == WORDS_FIXED) {
        postmortem_list(r);
    } else if (id == RECORD_JOB && two && r->listing) {
        postmortem_job(r, &(struct nocap_aie_left_job){.id = first});
    } else if (id == RECORD_PC && one && r->listing) {
        postmortem_job_pc(r, first);
    } else if (is_register(id) && two) {
        postmortem_register(r, first, second);
    }
}

void postmortem_read_log(struct postmortem_reading *r, FILE *stream)
{
    uint8_t record[POSTMORTEM_RECORD];
    while (!r->memory && r->column != NULL && fread(record, sizeof record, 1, stream) == 1) {
        take_record(r, record);
    }
}
