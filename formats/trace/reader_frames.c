/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader makes of the frames of its file, one after the other: blocks, the footer, damage.
 */
#include <stdarg.h>
#include <stdio.h>

#include "formats/trace/reader_private.h"

enum {
    /* Events beyond the first ones need bytes: else a small file would take hours. */
    DENSE_FREE = 1 << 22,
    DENSE_EVENTS_A_BYTE = 256,
};

void reader_damage(struct nocap_reader *r, enum nocap_damage_kind kind, uint64_t offset,
                   const char *format, ...)
{
    struct nocap_integrity *integrity = &r->integrity;
    if (integrity->count < NOCAP_DAMAGE_KEPT || kind == NOCAP_DAMAGE_CUT) {
        size_t last = NOCAP_DAMAGE_KEPT - 1;
        struct nocap_damage *d =
            &integrity->damage[integrity->count < last ? integrity->count : last];
        d->kind = kind;
        d->index = r->expected;
        d->offset = offset;
        va_list args;
        va_start(args, format);
        vsnprintf(d->text, sizeof d->text, format, args);
        va_end(args);
    }
    integrity->count++;
}

bool reader_split(const struct bytes *content, uint64_t *field, struct span *message)
{
    struct span s = {content->data, content->data + content->size};
    uint64_t tag, size;
    if (!span_varint(&s, &tag) || (tag & 7) != 2 || !span_varint(&s, &size) ||
        size != (uint64_t)(s.end - s.at)) {
        return false;
    }
    *field = tag >> 3;
    *message = s;
    return true;
}

bool reader_has_block_index(const struct nocap_reader *r)
{
    return r->footer != NULL && !r->footer_wrong && r->frames.frame_count == r->footer->blocks + 2;
}

void reader_read_from(struct nocap_reader *r, uint64_t offset)
{
    r->offset = offset;
    block_decoder_drop(r->decoder);
    r->whole = false;
    r->ended = r->footer_passed = false;
    r->resync = true;
    r->expected = 0;
    r->read = r->stored = 0;
    r->handed_out = false;
    r->integrity.nothing = false;
    r->integrity.count = 0;
    if (r->footer_wrong) {
        r->integrity.damage[r->integrity.count++] = r->how_wrong;
    }
}

bool nocap_dense(uint64_t events, uint64_t bytes)
{
    return events > DENSE_FREE && events / DENSE_EVENTS_A_BYTE > bytes;
}

/* The block that was begun, against what the footer says of it. False: what was passed over because
 * of the footer may be what is wanted, so reading begins anew at the first block. */
static bool believe_footer(struct nocap_reader *r, uint64_t offset)
{
    size_t frame = reader_has_block_index(r) ? frame_number(&r->frames, offset) : SIZE_MAX;
    if (frame == 0 || frame == SIZE_MAX) {
        return true;
    }
    char why[FOOTER_WHY];
    const struct footer_block block = {.number = frame - 1,
                                       .first = block_decoder_first_index(r->decoder),
                                       .count = block_decoder_left(r->decoder),
                                       .times = block_decoder_times(r->decoder),
                                       .before = r->read != 0 ? &r->last_time : NULL};
    if (footer_agrees(r->footer, &r->place, &block, why)) {
        return true;
    }
    r->footer_wrong = true;
    r->how_wrong =
        (struct nocap_damage){.kind = NOCAP_DAMAGE_COUNTS, .index = block.first, .offset = offset};
    bool again = r->sought && !r->handed_out;
    bool lacks = r->sought && !again;
    snprintf(r->how_wrong.text, sizeof r->how_wrong.text, "%s%s", why,
             lacks ? "; more may be wanted" : "");
    if (again) {
        r->sought = false;
        r->skip_until = r->skip_otherwise;
        reader_read_from(r, r->first_block);
        return false;
    }
    if (r->integrity.count < NOCAP_DAMAGE_KEPT) {
        r->integrity.damage[r->integrity.count] = r->how_wrong;
    }
    r->integrity.count++;
    return true;
}

static void end(struct nocap_reader *r)
{
    r->ended = true;
    r->integrity.nothing = r->read == 0 && !r->sought;
}

/* False: so many events in so few bytes are left out, with all that follow. */
static bool is_stored(struct nocap_reader *r, uint64_t offset)
{
    uint64_t events = r->read + block_decoder_left(r->decoder);
    r->stored += r->frames.next - offset;
    uint64_t bytes = r->made_of != 0 ? r->made_of : r->stored;
    if (r->dense || !nocap_dense(events, bytes)) {
        return true;
    }
    reader_damage(
        r, NOCAP_DAMAGE_BLOCK, offset,
        "%llu events in %llu bytes, more than %d a byte: left out from here on (--dense reads "
        "them)",
        (unsigned long long)events, (unsigned long long)bytes, DENSE_EVENTS_A_BYTE);
    block_decoder_drop(r->decoder);
    r->integrity.lost_end = true;
    end(r);
    return false;
}

static void start_block(struct nocap_reader *r, const struct span *message, uint64_t offset)
{
    const char *why =
        block_decoder_start(r->decoder, message->at, (size_t)(message->end - message->at));
    if (why == block_no_memory) {
        frame_reader_no_memory(&r->frames, offset);
        return;
    }
    if (why != NULL) {
        reader_damage(r, NOCAP_DAMAGE_BLOCK, offset, "%s", why);
        r->resync = true;
        return;
    }
    uint64_t first = block_decoder_first_index(r->decoder);
    if (first < r->expected) {
        reader_damage(r, NOCAP_DAMAGE_BLOCK, offset,
                      "a block repeats events from %llu on; it is left out",
                      (unsigned long long)first);
        block_decoder_drop(r->decoder);
        return;
    }
    if (!is_stored(r, offset) || !believe_footer(r, offset)) {
        return;
    }
    if (first > r->expected && !r->resync) {
        reader_damage(r, NOCAP_DAMAGE_BLOCK, offset, "events %llu to %llu are missing",
                      (unsigned long long)r->expected, (unsigned long long)first - 1);
    }
    r->expected = first;
    r->resync = false;
}

/* The end of the frames: is everything there that the writer put at the end? */
static void finish(struct nocap_reader *r, bool cut, bool garbage)
{
    end(r);
    r->integrity.lost_end = r->resync;
    if (!r->footer_passed || (r->frames.frame_count == 0 && (cut || !garbage))) {
        char used[64] = "no block is whole";
        if (r->read != 0) {
            snprintf(used, sizeof used, "all %llu events of whole blocks are used",
                     (unsigned long long)r->read);
        }
        reader_damage(r, NOCAP_DAMAGE_CUT, r->frames.source.size,
                      "the file ends without its footer; %s", used);
    } else if (r->frames.frame_count == 0) {
        reader_damage(
            r, NOCAP_DAMAGE_BLOCK, r->frames.source.size,
            "the seek table does not fit the file: all events up to the first footer are used");
    }
    if (r->whole && r->footer != NULL && r->footer->events != r->read && r->integrity.count == 0) {
        reader_damage(r, NOCAP_DAMAGE_COUNTS, r->frames.source.size,
                      "the footer says %llu events, the blocks hold %llu",
                      (unsigned long long)r->footer->events, (unsigned long long)r->read);
    }
    if (r->footer_passed && r->footer != NULL && r->footer->has_cut_line) {
        const char *damage = r->footer->cut_damage;
        r->integrity.lost_end = true;
        reader_damage(
            r, damage != NULL ? NOCAP_DAMAGE_BLOCK : NOCAP_DAMAGE_CUT, r->frames.source.size,
            "the input of the trace breaks off in line %llu%s%s; input up to that point was used",
            (unsigned long long)r->footer->cut_line, damage != NULL ? ": " : "",
            damage != NULL ? damage : "");
    }
}

static void pass_footer(struct nocap_reader *r, const struct span *message, uint64_t offset)
{
    r->footer_passed = true;
    bool no_memory = false;
    if (r->footer == NULL) {
        r->footer = footer_unpack(message, &no_memory);
    }
    if (no_memory) {
        frame_reader_no_memory(&r->frames, offset);
    } else if (r->footer == NULL) {
        reader_damage(r, NOCAP_DAMAGE_BLOCK, offset,
                      "the footer does not decode; no event is lost");
    }
}

enum nocap_status reader_next_frame(struct nocap_reader *r, struct nocap_error *err)
{
    uint64_t offset = r->offset, field;
    struct span message;
    enum frame_result result = frame_read(&r->frames, offset);
    r->offset = r->frames.next;
    switch (result) {
    case FRAME_GOOD:
        if (!reader_split(&r->frames.content, &field, &message)) {
            reader_damage(r, NOCAP_DAMAGE_BLOCK, offset, "a frame holds no field of a trace");
            r->resync = true;
        } else if (field == TRACE_BLOCK) {
            start_block(r, &message, offset);
        } else if (field == TRACE_FOOTER) {
            pass_footer(r, &message, offset);
        }
        break;
    case FRAME_SKIPPABLE:
        if (r->footer_passed) {
            finish(r, false, true);
        }
        break;
    case FRAME_DAMAGED:
        if (r->footer_passed) {
            finish(r, false, true);
        } else {
            reader_damage(r, NOCAP_DAMAGE_BLOCK, offset, "%s", r->frames.why);
            r->resync = true;
        }
        break;
    case FRAME_CUT: finish(r, true, false); break;
    case FRAME_END: finish(r, false, false); break;
    case FRAME_FAILED: return frame_reader_failed(&r->frames, r->name, err);
    }
    return NOCAP_OK;
}
