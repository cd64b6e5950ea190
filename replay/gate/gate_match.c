/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the words that a thread must issue the issued one is; after one that did not fit, where
 * the thread goes on, and which words are out of their place since. */
#include <string.h>

#include "replay/gate/gate_private.h"

/* ---- words that are out of their place ---- */

bool gate_stray_take(struct gate_strays *strays, uint32_t word)
{
    for (unsigned i = 0; i < strays->count; i++) {
        if (strays->words[i] == word) {
            strays->count--;
            memmove(&strays->words[i], &strays->words[i + 1],
                    (strays->count - i) * sizeof strays->words[0]);
            return true;
        }
    }
    return false;
}

static void stray_add(struct gate_strays *strays, uint32_t word)
{
    if (strays->count == GATE_STRAYS) {
        (void)gate_stray_take(strays, strays->words[0]);
    }
    strays->words[strays->count++] = word;
}

/* One that issues later than that is another one that says the same. */
static void forget_strays(struct gate_stream *s)
{
    if (!s->searching && s->strays_age >= GATE_STRAYS_FOR) {
        s->missing.count = s->early.count = 0;
    }
}

static bool take_vanishing(struct gate_strays *strays)
{
    for (unsigned i = 0; i < strays->count; i++) {
        if (gate_may_vanish(strays->words[i])) {
            return gate_stray_take(strays, strays->words[i]);
        }
    }
    return false;
}

/* ---- after a mismatch ---- */

/* Of a fault, and not for long: what issues counts once its place is known. */
static bool in_doubt(const struct gate_stream *s)
{
    return s->searching && s->complete && s->seen <= GATE_LOOKAHEAD;
}

/* The place of the next word is over. */
static void pass(struct gate_stream *s)
{
    if (s->next.known && !gate_may_vanish(s->next.word)) {
        s->passed[s->passed_count++ % GATE_LOOKAHEAD] = s->next.word;
    }
    s->next.valid = false;
}

/* Whether it is what comes next at another place that fitted. */
static bool fits_elsewhere(const struct gate_stream *s, uint32_t word)
{
    uint32_t words[GATE_LOOKAHEAD + 1];
    bool ambiguous = (s->ahead | s->behind) != 0, fits = false;
    unsigned count = ambiguous ? stream_look_ahead(s, words, GATE_LOOKAHEAD + 1) : 0;
    for (unsigned n = 1; ambiguous && n <= GATE_LOOKAHEAD; n++) {
        fits |= (s->ahead >> (n - 1) & 1) != 0 && n < count && words[n] == word;
        fits |= (s->behind >> (n - 1) & 1) != 0 &&
                s->passed[(s->passed_count - n) % GATE_LOOKAHEAD] == word;
    }
    return fits;
}

fault_id stream_misfit_since(const struct gate_stream *s, uint32_t word)
{
    return s->wrong == word          ? s->wrong_since
           : fits_elsewhere(s, word) ? s->place_since
                                     : FAULT_NONE;
}

void stream_note_misfit(struct gate_stream *s, uint32_t word)
{
    if (s->next.valid && s->next.expanded && s->wrong_since != s->since) {
        s->wrong = word;
        s->wrong_since = s->since;
    }
}

/* Goes on after the next `count` words that are known and no NOP. */
static void advance(const struct gate_word *w, unsigned count)
{
    struct gate_stream *s = &w->t->stream;
    while (count > 0 && stream_next(s)) {
        count -= s->next.known && !gate_may_vanish(s->next.word);
        pass(s);
        if (s->next.known) {
            gate_makes(w->g, s->next.word, s->since);
        }
    }
}

/* The words of the search against those whose place is over: what did not issue may come late, and
 * what is too much may have come early. As many of both: one issued instead of the other. */
static void sort_out(struct gate_stream *s, const uint32_t *passed, unsigned count)
{
    struct gate_strays missing = s->missing, early = s->early;
    bool used[GATE_LOOKAHEAD] = {false};
    unsigned issued = s->seen - GATE_WINDOW, more = 0, fewer = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned k = 0;
        while (k < issued && (used[k] || s->issued[k] != passed[i])) {
            k++;
        }
        if (k < issued) {
            used[k] = true;
        } else if (!gate_stray_take(&early, passed[i])) {
            stray_add(&missing, passed[i]);
            fewer++;
        }
    }
    for (unsigned k = 0; k < issued; k++) {
        if (!used[k] && !gate_stray_take(&missing, s->issued[k])) {
            stray_add(&early, s->issued[k]);
            more++;
        }
    }
    if (more != fewer) {
        s->missing = missing;
        s->early = early;
    }
}

/* The words whose place is over at the end of a search, and those that issued. */
struct course {
    const uint32_t *due, *issued;
    unsigned due_count, issued_count;
};

/* So many agree from there on. */
static unsigned agree(const struct course *c, unsigned i, unsigned k)
{
    unsigned n = 0;
    while (i + n < c->due_count && k + n < c->issued_count && c->due[i + n] == c->issued[k + n]) {
        n++;
    }
    return n;
}

/* Whether a search met two faults: a word that is missing, too many or another, words that agree,
 * and one more of that. Not what is missing here and too much there, nor the same word once more,
 * as in an expansion. `at`: where in the words the second one is. */
static bool differs_twice(const struct course *c, struct course *at)
{
    static const struct {
        unsigned due, issued;
    } ways[] = {{1, 0}, {0, 1}, {1, 1}};
    bool twice = false;
    for (unsigned a = 0; a < 9; a++) {
        const unsigned i = ways[a / 3].due, k = ways[a / 3].issued;
        const unsigned n = i > c->due_count || k > c->issued_count ? 0 : agree(c, i, k);
        const unsigned i2 = i + n + ways[a % 3].due, k2 = k + n + ways[a % 3].issued;
        if (i + n == c->due_count && k + n == c->issued_count) {
            return false; /* once */
        }
        if (n == 0 || i2 > c->due_count || k2 > c->issued_count ||
            i2 + agree(c, i2, k2) < c->due_count || c->due_count - i2 != c->issued_count - k2) {
            continue;
        }
        const uint32_t *due = c->due + i + n, *issued = c->issued + k + n;
        if (c->due[0] == *issued || c->issued[0] == *due || c->due[0] == *due ||
            c->issued[0] == *issued) {
            return false;
        }
        *at = (struct course){.due = due, .issued = issued};
        twice = true;
    }
    return twice;
}

/* Where the latest issued words fit: at the place nearest to the one that they would have if as
 * many words were missing as are too many. */
static void search(const struct gate_word *w, struct stream_match *match)
{
    struct gate_stream *s = &w->t->stream;
    uint32_t words[GATE_LOOKAHEAD + GATE_WINDOW];
    if (gate_may_vanish(w->word)) {
        return;
    }
    s->issued[s->seen % GATE_LOOKAHEAD] = w->word;
    s->seen++;
    /* the first word is the one that did not fit; a long search looks now and then */
    if (s->seen <= GATE_WINDOW || (s->seen > GATE_LOOKAHEAD && s->seen % GATE_PACE != 0)) {
        return;
    }
    unsigned count = stream_look_ahead(s, words, GATE_LOOKAHEAD + GATE_WINDOW), best = UINT32_MAX;
    unsigned first = s->seen - GATE_WINDOW;
    bool fits[GATE_LOOKAHEAD + 1] = {false};
    int64_t wanted = s->complete ? first : 0, distance = INT64_MAX;
    for (unsigned d = 0; d + GATE_WINDOW <= count; d++) {
        unsigned i = 0;
        while (i < GATE_WINDOW && s->issued[(first + i) % GATE_LOOKAHEAD] == words[d + i]) {
            i++;
        }
        int64_t off = wanted > (int64_t)d ? wanted - (int64_t)d : (int64_t)d - wanted;
        fits[d] = i == GATE_WINDOW;
        if (fits[d] && off < distance) {
            best = d;
            distance = off;
        }
    }
    /* what is far off needs as many words that show it */
    if (best != UINT32_MAX && (!s->complete || distance < s->seen)) {
        if (in_doubt(s)) {
            const struct course course = {words, s->issued, best, first};
            struct course second;
            if (differs_twice(&course, &second)) {
                match->issued = *second.issued;
                match->expected = *second.due;
                match->twice = true;
            }
            sort_out(s, words, best);
        }
        advance(w, best + GATE_WINDOW);
        s->searching = false;
        s->place_since = s->since;
        s->ahead = s->behind = 0;
        for (unsigned d = 0; d <= GATE_LOOKAHEAD; d++) {
            s->ahead |= d > best ? (uint64_t)fits[d] << (d - best - 1) : 0;
            s->behind |= d < best ? (uint64_t)fits[d] << (best - d - 1) : 0;
        }
    }
}

/* ---- the words as they come ---- */

/* BRISC's words join after the MOP expander, anywhere between those of the TRISC. Where none of
 * the TRISC's comes next, those before the word are lost. */
static void match_brisc(struct gate_stream *s, uint32_t word, struct stream_match *match)
{
    struct gate_queue *q = &s->brisc;
    bool first = true;
    for (uint32_t i = 0; i < q->count && (first || !s->next.valid); i++) {
        const struct gate_entry *entry = gate_entry_of(q, q->first + i);
        uint32_t pushed = entry->word;
        if (first &&
            (nocap_tensix_opcode(pushed) == NOCAP_TENSIX_REPLAY || s->cursor.replay.left > 0)) {
            stream_lose(s); /* whose words it takes depends on the merge */
            match->fit = STREAM_FITS;
            return;
        }
        if (pushed == word) {
            match->fit = first ? STREAM_FITS : STREAM_AHEAD;
            q->first += i + 1;
            q->count -= i + 1;
            return;
        }
        if (first && !gate_may_vanish(pushed)) {
            first = false;
            if (!match->has_expected) {
                match->has_expected = true;
                match->expected = pushed;
                match->since = entry->since;
            }
        }
    }
}

/* A word that may vanish, and is not what comes next: BRISC's, or one that was taken as swallowed
 * already. Beside what is unknown it may be anything. */
static bool explains(struct gate_stream *s, uint32_t word)
{
    struct gate_queue *q = &s->brisc;
    for (uint32_t i = 0; i < q->count && gate_may_vanish(gate_entry_of(q, q->first + i)->word);
         i++) {
        if (gate_entry_of(q, q->first + i)->word == word) {
            q->first += i + 1;
            q->count -= i + 1;
            return true;
        }
    }
    bool swallowed = s->vanished > 0;
    s->vanished -= swallowed;
    return swallowed || !s->complete || (s->next.valid && !s->next.known);
}

/* Words that issued before their place, or may be swallowed, are passed over. Whether the word is
 * what comes then. */
static bool comes_next(const struct gate_word *w, struct stream_match *match)
{
    struct gate_stream *s = &w->t->stream;
    while (stream_next(s) && s->next.known) {
        uint32_t next = s->next.word;
        bool right = next == w->word, vanishes = gate_may_vanish(next);
        bool early = !right && !vanishes && gate_stray_take(&s->early, next);
        if (!right && !vanishes && !early) {
            return false;
        }
        match->drained |= s->next.drained;
        match->expanded = s->next.expanded;
        pass(s);
        if (right) {
            return true;
        }
        s->vanished += vanishes;
        if (early) {
            w->t->held &= w->t->held_word != next; /* it stalled after it had issued */
            gate_makes(w->g, next, s->strays_since);
        }
    }
    return false;
}

static struct stream_match match_word(const struct gate_word *w)
{
    struct gate_stream *s = &w->t->stream;
    uint32_t word = w->word;
    struct stream_match match = {.fit = STREAM_FITS};
    bool vanishes = gate_may_vanish(word);
    if (s->brisc.count == 0 && !vanishes) {
        s->vanished = 0; /* the merge cannot have put one further behind */
    }
    if (comes_next(w, &match)) {
        return match;
    }
    if (vanishes && explains(s, word)) {
        return (struct stream_match){.fit = STREAM_FITS};
    }
    match = (struct stream_match){.fit = STREAM_ALIEN,
                                  .has_expected = s->next.valid,
                                  .expected = s->next.valid ? s->next.word : 0,
                                  .since = s->next.valid ? s->next.since : FAULT_NONE};
    if (vanishes) {
        stray_add(&s->early, word);
        return match; /* one too many, and nothing is missing */
    }
    match_brisc(s, word, &match);
    if (match.fit == STREAM_FITS) {
        return match;
    }
    if (gate_stray_take(&s->missing, word)) {
        match.fit = STREAM_LATE;
        match.since = s->strays_since;
        return match;
    }
    if (!s->complete || (s->next.valid && !s->next.known)) {
        s->complete = false;
        match.fit = STREAM_UNKNOWN;
    } else if (!s->next.valid) {
        stray_add(&s->early, word);
        return match; /* nothing was to come but BRISC's: one word too many */
    }
    uint32_t words[GATE_LOOKAHEAD];
    unsigned count = match.fit == STREAM_ALIEN ? stream_look_ahead(s, words, GATE_LOOKAHEAD) : 0;
    for (unsigned i = 0; i < count; i++) {
        if (words[i] == word) {
            match.fit = STREAM_AHEAD;
        }
    }
    if (match.fit == STREAM_AHEAD && take_vanishing(&s->early)) {
        match.since = s->strays_since; /* it was not too many: another was missing before it */
    }
    s->searching = true;
    s->brisc.count = 0;
    s->issued[0] = word;
    s->seen = 1;
    return match;
}

struct stream_match stream_issue(const struct gate_word *w)
{
    struct gate_stream *s = &w->t->stream;
    struct stream_match match = {.fit = STREAM_UNKNOWN};
    bool before = in_doubt(s), searches = s->searching;
    forget_strays(s);
    if (searches) {
        search(w, &match);
    } else {
        match = match_word(w);
    }
    s->strays_age = searches ? 0 : s->strays_age + !match.expanded; /* expansions lie between */
    bool unknown = match.fit == STREAM_UNKNOWN && !before;
    match.place = in_doubt(s)                           ? GATE_IN_DOUBT
                  : match.fit == STREAM_FITS || unknown ? GATE_IN_PLACE
                                                        : GATE_OUT_OF_PLACE;
    return match;
}
