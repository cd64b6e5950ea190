/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of control code: what the machine runs, the model accepts in every order; what is
 * changed in such a trace, it tells. */
#include "tests/cert_recording.h"

#include <limits.h>

static void every_order_is_accepted(void **state)
{
    (void)state;
    static const char *const programs[] = {busy, pages};
    size_t least = SIZE_MAX, most = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        options.preempt = seed % 3 == 0;
        struct recording *r = record(programs[seed % 2], &options);
        assert_int_equal(r->result.stuck, 0);
        least = r->count < least ? r->count : least;
        most = r->count > most ? r->count : most;
        assert_clean(r, seed);
        forget(r);
    }
    assert_true(least < most); /* orders do differ */
}

/* Which of two chains made a write that both begin with, nobody can tell. */
static void chains_that_begin_alike_are_accepted(void **state)
{
    (void)state;
    static const char alike[] =
        "START_JOB 1\n UC_DMA_WRITE_DES_SYNC @c\nEND_JOB\n"
        "START_JOB 2\n UC_DMA_WRITE_DES_SYNC @d\nEND_JOB\nEOF\n"
        ".align 16\nc:\n UC_DMA_BD 0, 0x1A0000, @w, 1, 0, 1\n UC_DMA_BD 0, 0x1A0020, @w, 1, 0, 0\n"
        "d:\n UC_DMA_BD 0, 0x1A0000, @w, 1, 0, 1\n UC_DMA_BD 0, 0x1A0040, @w, 1, 0, 0\n"
        ".align 4\nw:\n .long 1\n";
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *r = record(alike, &options);
        assert_clean(r, seed);
        forget(r);
    }
}

static void equal_seeds_give_equal_traces(void **state)
{
    (void)state;
    struct nocap_aie_run_options options = seeded(7);
    struct recording *a = record(busy, &options), *b = record(busy, &options);
    options.seed = 8;
    struct recording *c = record(busy, &options);
    assert_int_equal(a->count, b->count);
    bool differs = a->count != c->count;
    for (size_t i = 0; i < a->count; i++) {
        assert_true(a->events[i].t == b->events[i].t && a->events[i].op == b->events[i].op);
        differs |= i < c->count && a->events[i].t != c->events[i].t;
    }
    assert_true(differs);
    forget(a);
    forget(b);
    forget(c);
}

/* ---- what is changed is reported ---- */

static void take_out(struct recording *r, size_t first, size_t count)
{
    memmove(&r->events[first], &r->events[first + count],
            (r->count - first - count) * sizeof r->events[0]);
    r->count -= count;
    for (size_t i = 0; i < r->count; i++) {
        r->events[i].index = i;
    }
}

/* The first event of this kind from `from` on. */
static size_t find(const struct recording *r, size_t from, unsigned kind, unsigned op,
                   unsigned opcode)
{
    for (size_t i = from; i < r->count; i++) {
        const struct nocap_event *e = &r->events[i];
        if (e->kind == kind && e->op == op &&
            (op != NOCAP_OP_START || opcode == UINT_MAX || e->data[0] == opcode)) {
            return i;
        }
    }
    fail_msg("no such event");
    return 0;
}

static size_t find_start(const struct recording *r, uint8_t opcode)
{
    return find(r, 0, NOCAP_EV_CERT, NOCAP_OP_START, opcode);
}

/* The event of this op of the same instruction. */
static size_t follow(const struct recording *r, size_t start, unsigned op)
{
    for (size_t i = start; i < r->count; i++) {
        const struct nocap_event *e = &r->events[i], *s = &r->events[start];
        if (e->kind == NOCAP_EV_CERT && e->op == op && e->uc == s->uc && e->page == s->page &&
            e->job == s->job && e->off == s->off) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void wrong_values_are_told(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *r = record(busy, &options);
        size_t changed = 0;
        for (size_t i = 0; i < r->count; i++) {
            struct nocap_event *e = &r->events[i];
            uint64_t word = (e->addr - 0x1D000) / 4; /* of the table; 1, 2 and 8 are not known */
            if (e->kind != NOCAP_EV_WRITE || word == 1 || word == 2 || word == 8) {
                continue;
            }
            bool bytes = (e->has & NOCAP_F_DATA) != 0;
            uint8_t *p = bytes ? r->data[i] : (uint8_t *)&e->value;
            p[0] ^= 0x40;
            assert_found(r, AIE_067, i, "value");
            p[0] ^= 0x40;
            if (bytes) { /* of a transfer, which is all that follows from it */
                e->addr ^= 0x100000;
                assert_found(r, AIE_067, i, "address");
                e->addr ^= 0x100000;
            }
            changed++;
        }
        assert_true(changed > 10);
        assert_clean(r, seed);
        forget(r);
    }
}

static void skipped_instructions_are_told(void **state)
{
    (void)state;
    static const uint8_t opcodes[] = {NOCAP_AIE_NOP, NOCAP_AIE_YIELD, NOCAP_AIE_ADD,
                                      NOCAP_AIE_LAUNCH_JOB};
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *r = record(busy, &options);
        size_t start = find_start(r, opcodes[seed % 4]);
        const struct nocap_event skipped = r->events[start];
        take_out(r, start, 2);
        size_t next = start;
        while (r->events[next].op != NOCAP_OP_START || r->events[next].job != skipped.job) {
            next++;
        }
        assert_found(r, AIE_069, next, "skipped");
        forget(r);
    }
}

/* Nothing of one instruction is shown, whatever it is. */
static void any_skipped_instruction_is_told_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *whole = record(busy, &options);
        for (size_t start = 1; start < whole->count; start++) {
            const struct nocap_event s = whole->events[start];
            size_t end = s.kind == NOCAP_EV_CERT && s.op == NOCAP_OP_START
                             ? follow(whole, start, NOCAP_OP_END)
                             : SIZE_MAX;
            if (end == SIZE_MAX || s.off == 16 ||
                whole->events[start].data[0] == NOCAP_AIE_END_JOB) {
                continue;
            }
            uint8_t opcode = whole->data[start][0];
            bool blocked = follow(whole, start, NOCAP_OP_BLOCK) < end;
            bool poll = opcode == NOCAP_AIE_POLL_32 || opcode == NOCAP_AIE_MASK_POLL_32;
            uint64_t polled = poll ? nocap_aie_u32(whole->data[start] + 4) : UINT64_MAX;
            struct recording *r = record(busy, &options);
            for (size_t i = r->count; i-- > 0;) {
                const struct nocap_event *e = &r->events[i];
                bool access = e->kind != NOCAP_EV_CERT && i > start && i < end &&
                              (e->addr == polled || !blocked);
                bool own = e->kind == NOCAP_EV_CERT && e->job == s.job && e->off == s.off &&
                           (e->has & NOCAP_F_OFF) != 0 && e->page == s.page;
                if (own || access) {
                    take_out(r, i, 1);
                }
            }
            struct verdict v = judge(r, true);
            /* What a transfer writes, who goes on from a barrier, who runs while the job waits: all
             * of that may show before the skip. */
            const struct nocap_aie_insn_info *info = nocap_aie_insn_info(NOCAP_AIE_SEED, opcode);
            unsigned orders = 0, others = 0;
            for (size_t i = 0; i < v.count; i++) {
                orders += v.rules[i] == AIE_069;
                others += v.rules[i] != AIE_069 && !info->blocks;
            }
            if (orders != 1 || others != 0 || v.count > 2) {
                fail_msg("seed %llu, opcode %u of job %u at %u: %zu findings; %s",
                         (unsigned long long)seed, opcode, (unsigned)s.job, (unsigned)s.off,
                         v.count, v.text);
            }
            forget(r);
        }
        forget(whole);
    }
}

static void waits_that_end_early_are_told(void **state)
{
    (void)state;
    static const struct {
        uint8_t opcode;
        enum nocap_rule rule;
    } cases[] = {{NOCAP_AIE_WAIT_UC_DMA, AIE_068},
                 {NOCAP_AIE_UC_DMA_WRITE_DES_SYNC, AIE_068},
                 {NOCAP_AIE_WAIT_TCTS, AIE_068},
                 {NOCAP_AIE_LOCAL_BARRIER, AIE_065}};
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *r = record(busy, &options);
        size_t start = find_start(r, cases[seed % 4].opcode);
        size_t block = follow(r, start, NOCAP_OP_BLOCK), unblock;
        unblock = block == SIZE_MAX ? SIZE_MAX : follow(r, block, NOCAP_OP_UNBLOCK);
        if (unblock == SIZE_MAX || unblock == block + 1 ||
            r->events[block].why == NOCAP_WHY_QUEUE) {
            forget(r);
            continue;
        }
        struct nocap_event moved = r->events[unblock];
        memmove(&r->events[block + 2], &r->events[block + 1],
                (unblock - block - 1) * sizeof r->events[0]);
        r->events[block + 1] = moved;
        for (size_t i = block + 1; i <= unblock; i++) {
            r->events[i].index = i;
            r->events[i].t = r->events[block].t;
        }
        assert_found(r, cases[seed % 4].rule, block + 1, "early");
        forget(r);
    }
}

static void columns_that_go_on_early_are_told(void **state)
{
    (void)state;
    unsigned told = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *r = record(pages, &options);
        size_t start = find_start(r, NOCAP_AIE_REMOTE_BARRIER);
        size_t block = follow(r, start, NOCAP_OP_BLOCK);
        size_t unblock = block == SIZE_MAX ? SIZE_MAX : follow(r, block, NOCAP_OP_UNBLOCK);
        if (unblock != SIZE_MAX && unblock > block + 1) {
            r->events[unblock].index = block + 1;
            struct nocap_event moved = r->events[unblock];
            take_out(r, unblock, 1);
            memmove(&r->events[block + 2], &r->events[block + 1],
                    (r->count - block - 1) * sizeof r->events[0]);
            r->events[block + 1] = moved;
            r->events[block + 1].t = r->events[block].t;
            r->count++;
            for (size_t i = 0; i < r->count; i++) {
                r->events[i].index = i;
            }
            assert_found(r, AIE_065, block + 1, "remote");
            told++;
        }
        forget(r);
    }
    assert_true(told > 10);
}

/* Of three columns two go on while the third has not come: one fault of the barrier. */
static void a_barrier_that_lets_several_go_early_is_one_finding(void **state)
{
    (void)state;
    enum { PARTIES = 3 };
    unsigned told = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *r =
            record(".attach_to_group 0\nSTART_JOB 1\n REMOTE_BARRIER $rb0, 7\nEND_JOB\nEOF\n"
                   ".attach_to_group 1\nSTART_JOB 1\n REMOTE_BARRIER $rb0, 7\nEND_JOB\nEOF\n"
                   ".attach_to_group 2\nSTART_JOB 1\n REMOTE_BARRIER $rb0, 7\nEND_JOB\nEOF\n",
                   &options);
        size_t starts = 0, last = 0, moved = 0;
        for (size_t i = 0; i < r->count; i++) {
            const struct nocap_event *e = &r->events[i];
            bool start = e->kind == NOCAP_EV_CERT && e->op == NOCAP_OP_START && e->data_size > 0 &&
                         e->data[0] == NOCAP_AIE_REMOTE_BARRIER;
            starts += start;
            last = start ? i : last;
        }
        assert_int_equal(starts, PARTIES);
        for (size_t i = last; i < r->count; i++) {
            if (r->events[i].kind != NOCAP_EV_CERT || r->events[i].op != NOCAP_OP_UNBLOCK) {
                continue;
            }
            struct nocap_event unblock = r->events[i];
            memmove(&r->events[last + moved + 1], &r->events[last + moved],
                    (i - last - moved) * sizeof unblock);
            unblock.t = r->events[last + moved + 1].t;
            r->events[last + moved++] = unblock;
        }
        for (size_t i = 0; i < r->count; i++) {
            r->events[i].index = i;
        }
        struct verdict v = judge(r, true);
        if (moved == PARTIES - 1) {
            assert_int_equal(v.count, 1);
            assert_int_equal(v.rules[0], AIE_065);
            told++;
        }
        forget(r);
    }
    assert_true(told > 0);
}

static void polls_that_end_without_their_value_are_told(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *r = record(busy, &options);
        size_t start = find_start(r, NOCAP_AIE_POLL_32);
        size_t over = follow(r, start, NOCAP_OP_END), last = SIZE_MAX;
        for (size_t i = start; i < over; i++) {
            last = r->events[i].kind == NOCAP_EV_READ && r->events[i].addr == 0x2000 ? i : last;
        }
        r->events[last].value ^= 1;
        assert_found(r, AIE_068, over, "poll");
        forget(r);
    }
}

/* A poll that is woken looks once more: its last read lies before its end, not before the job may
 * go on. */
static void a_poll_may_look_once_more_when_it_is_woken(void **state)
{
    (void)state;
    unsigned blocked = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *r = record(busy, &options);
        size_t start = find_start(r, NOCAP_AIE_POLL_32);
        size_t woken = follow(r, start, NOCAP_OP_UNBLOCK), end = follow(r, start, NOCAP_OP_END);
        if (woken < end) {
            size_t last = woken - 1;
            while (r->events[last].kind != NOCAP_EV_READ || r->events[last].addr != 0x2000) {
                last--;
            }
            struct nocap_event read = r->events[last];
            memmove(&r->events[last], &r->events[last + 1], (woken - last) * sizeof read);
            read.t = r->events[woken - 1].t;
            r->events[woken] = read;
            for (size_t i = last; i <= woken; i++) {
                r->events[i].index = i;
            }
            blocked++;
            assert_int_equal(judge(r, true).count, 0);
        }
        forget(r);
    }
    assert_true(blocked > 0);
}

static void other_bytes_than_the_files_are_told(void **state)
{
    (void)state;
    struct nocap_aie_run_options options = seeded(3);
    struct recording *r = record(busy, &options);
    for (size_t i = 0; i < r->count; i++) {
        if (r->events[i].op == NOCAP_OP_START) {
            r->data[i][r->events[i].data_size - 1] ^= 1;
            assert_found(r, AIE_070, i, "bytes");
            r->data[i][r->events[i].data_size - 1] ^= 1;
        }
    }
    forget(r);
}

static void a_page_that_runs_too_early_is_told(void **state)
{
    (void)state;
    struct nocap_aie_run_options options = seeded(1);
    struct recording *r = record(pages, &options);
    size_t eof = find(r, 0, NOCAP_EV_CERT, NOCAP_OP_EOF, 0);
    size_t last = eof;
    while (r->events[last].op != NOCAP_OP_JOB_END || r->events[last].uc != r->events[eof].uc) {
        last--;
    }
    /* the END_JOB of its last job is missing: its start, its end, job-end */
    size_t start = last;
    while (r->events[start].op != NOCAP_OP_START || r->events[start].uc != r->events[eof].uc) {
        start--;
    }
    r->events[start].kind = r->events[last].kind = NOCAP_EV_NOTE;
    r->events[follow(r, start + 1, NOCAP_OP_END)].kind = NOCAP_EV_NOTE;
    for (size_t i = start; i <= last; i++) {
        if (r->events[i].kind == NOCAP_EV_NOTE ||
            (r->events[i].uc == r->events[eof].uc && r->events[i].off == r->events[start].off)) {
            r->events[i].kind = NOCAP_EV_NOTE;
            r->events[i].op = NOCAP_OP_NONE;
            r->events[i].has = NOCAP_F_TEXT;
        }
    }
    struct verdict v = judge(r, true);
    assert_true(v.count >= 1);
    assert_int_equal(v.rules[0], AIE_065);
    assert_int_equal(v.index[0], eof);
    forget(r);
}

static void lost_events_silence_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *r = record(seed % 2 == 0 ? busy : pages, &options);
        size_t at = 3 + seed * 5 % (r->count / 2);
        take_out(r, at, 9);
        r->events[at].kind = NOCAP_EV_DROP;
        r->events[at].op = NOCAP_OP_NONE;
        r->events[at].has = NOCAP_F_DROPPED;
        r->events[at].value = 10;
        struct verdict v = judge(r, true);
        if (v.count != 1 || v.rules[0] != TRC_003) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, v.text);
        }
        forget(r);
    }
}

static void races_on_shared_registers_are_told(void **state)
{
    (void)state;
    static const char race[] = "START_JOB 1\n YIELD\n MOV $g0, 0x1000\n YIELD\nEND_JOB\n"
                               "START_JOB 2\n MOV $g1, 0x1000\n YIELD\n READ_32_D $g1, $r2\n"
                               " READ_32_D $g0, $r1\n READ_32_D $g0, $r1\nEND_JOB\nEOF\n";
    static const char ordered[] = "START_JOB 1\n YIELD\n MOV $g0, 0x1000\n LOCAL_BARRIER $lb0, 2\n"
                                  " ADD $g1, 1\nEND_JOB\nSTART_JOB 2\n LOCAL_BARRIER $lb0, 2\n"
                                  " READ_32_D $g0, $r1\n ADD $g1, 1\n LAUNCH_JOB 3\nEND_JOB\n"
                                  "START_JOB_DEFERRED 3\n READ_32_D $g0, $r1\nEND_JOB\nEOF\n";
    size_t late = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *r = record(race, &options);
        size_t written =
            find(r, find_start(r, NOCAP_AIE_MOV) + 1, NOCAP_EV_CERT, NOCAP_OP_START, NOCAP_AIE_MOV);
        written = r->events[written].job == 1 ? written : find_start(r, NOCAP_AIE_MOV);
        size_t read = find_start(r, NOCAP_AIE_READ_32_D);
        read = find(r, read + 1, NOCAP_EV_CERT, NOCAP_OP_START, NOCAP_AIE_READ_32_D);
        if (written < read) {
            assert_found(r, AIE_026, read, "race");
            late++;
        } else {
            assert_clean(r, seed);
        }
        forget(r);
        r = record(ordered, &options);
        assert_clean(r, seed);
        forget(r);
    }
    assert_true(late > 0 && late < 40);
}

static void a_second_launch_is_told(void **state)
{
    (void)state;
    static const char twice[] = "START_JOB 1\n LAUNCH_JOB 5\n YIELD\n LAUNCH_JOB 5\nEND_JOB\n"
                                "START_JOB_DEFERRED 5\n NOP\nEND_JOB\nEOF\n";
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *r = record(twice, &options);
        size_t second = find(r, find_start(r, NOCAP_AIE_LAUNCH_JOB) + 1, NOCAP_EV_CERT,
                             NOCAP_OP_START, NOCAP_AIE_LAUNCH_JOB);
        assert_found(r, AIE_020, follow(r, second, NOCAP_OP_END), "second launch");
        forget(r);
    }
}

static void captures_that_begin_later_are_accepted(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        options.preempt = true;
        struct recording *r = record(seed % 2 == 0 ? busy : pages, &options);
        r->header.complete = NOCAP_ABSENT;
        take_out(r, 0, 1 + seed * 3 % (r->count / 2));
        assert_clean(r, seed);
        forget(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_is_accepted),
        cmocka_unit_test(chains_that_begin_alike_are_accepted),
        cmocka_unit_test(equal_seeds_give_equal_traces),
        cmocka_unit_test(wrong_values_are_told),
        cmocka_unit_test(skipped_instructions_are_told),
        cmocka_unit_test(any_skipped_instruction_is_told_once),
        cmocka_unit_test(waits_that_end_early_are_told),
        cmocka_unit_test(columns_that_go_on_early_are_told),
        cmocka_unit_test(a_barrier_that_lets_several_go_early_is_one_finding),
        cmocka_unit_test(polls_that_end_without_their_value_are_told),
        cmocka_unit_test(a_poll_may_look_once_more_when_it_is_woken),
        cmocka_unit_test(other_bytes_than_the_files_are_told),
        cmocka_unit_test(a_page_that_runs_too_early_is_told),
        cmocka_unit_test(races_on_shared_registers_are_told),
        cmocka_unit_test(a_second_launch_is_told),
        cmocka_unit_test(lost_events_silence_the_model),
        cmocka_unit_test(captures_that_begin_later_are_accepted),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
