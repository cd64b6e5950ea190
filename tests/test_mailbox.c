/* SPDX-License-Identifier: Apache-2.0 */
/* Mailbox layouts, launch messages and go words: against offsets that were written down from the
 * documents, and a launch message of real firmware. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/blackhole/mailbox.h"

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    return z ^ (z >> 27);
}

static const char *const names[] = {"bh-launch96",      "bh-launch112", "bh-launch112-4",
                                    "bh-launch128",     "bh-launch144", "bh-launch160",
                                    "bh-launch144-text"};
enum { LAYOUTS = sizeof(names) / sizeof(names[0]) };

static void layouts(void **state)
{
    (void)state;
    const struct {
        uint32_t launch_size, core_types, go_messages, timestamp, go_message_index;
    } want[LAYOUTS] = {
        {96, 3, 0x370, 0x398, 0x3A0},  {112, 3, 0x3F0, 0x418, 0x420}, {112, 4, 0x3F0, 0x418, 0x420},
        {128, 4, 0x470, 0x498, 0x4A0}, {144, 4, 0x4F0, 0x518, 0x520}, {160, 4, 0x570, 0x598, 0x5A0},
        {144, 4, 0x4F0, 0x518, 0x520},
    };
    assert_int_equal(NOCAP_LAYOUT_COUNT, LAYOUTS);
    for (size_t i = 0; i < LAYOUTS; i++) {
        const struct nocap_mailbox_layout *layout = nocap_layout_find(names[i]);
        assert_non_null(layout);
        assert_ptr_equal(layout, &nocap_layouts[i]);
        assert_string_equal(layout->name, names[i]);
        assert_int_equal(layout->launch_size, want[i].launch_size);
        assert_int_equal(layout->core_types, want[i].core_types);
        assert_int_equal(layout->launch_base, 0x70);
        assert_int_equal(layout->go_messages, want[i].go_messages);
        assert_int_equal(layout->timestamp, want[i].timestamp);
        assert_int_equal(layout->go_message_index, want[i].go_message_index);
        /* ring, go words, timestamp and index follow one another */
        assert_int_equal(nocap_launch_slot(layout, 8), layout->go_messages);
        assert_true(nocap_go_word_address(layout, 9) <= layout->timestamp);
        assert_int_equal(layout->timestamp + 8, layout->go_message_index);
        assert_true(layout->launch_size <= NOCAP_LAUNCH_SIZE_MAX);
    }
    assert_ptr_equal(nocap_layout_find(NULL), nocap_layout_find("bh-launch96"));
    assert_null(nocap_layout_find("bh-launch97"));
    assert_null(nocap_layout_find(""));
}

/* Every field lies inside the message and no byte belongs to two. */
static void fields_do_not_overlap(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAYOUTS; l++) {
        const struct nocap_mailbox_layout *layout = &nocap_layouts[l];
        uint8_t owner[NOCAP_LAUNCH_SIZE_MAX] = {0};
        unsigned bytes = 0;
        for (unsigned f = 0; f < NOCAP_LAUNCH_FIELDS; f++) {
            const struct nocap_launch_place *place = &layout->fields[f];
            for (unsigned i = 0; i < place->count * place->width; i++) {
                unsigned at = place->offset + i / place->width * place->stride + i % place->width;
                assert_true(at < layout->launch_size);
                assert_int_equal(owner[at], 0);
                owner[at] = (uint8_t)(f + 1);
                bytes++;
            }
        }
        /* what is left are the padding bytes of the structures */
        static const unsigned padding[LAYOUTS] = {2, 14, 8, 8, 8, 20, 20};
        assert_int_equal(layout->launch_size - bytes, padding[l]);
    }
}

static void offsets(void **state)
{
    (void)state;
    const struct {
        enum nocap_launch_field field;
        unsigned at[LAYOUTS];
    } want[] = {
        {NOCAP_LAUNCH_kernel_config_base, {0, 0, 0, 0, 0, 0, 0}},
        {NOCAP_LAUNCH_sem_offset, {0x0C, 0x0C, 0x10, 0x10, 0x10, 0x10, 0x10}},
        {NOCAP_LAUNCH_local_cb_offset, {0x12, 0x12, 0x18, 0x18, 0x18, 0x18, 0x18}},
        {NOCAP_LAUNCH_remote_cb_offset, {0x14, 0x14, 0x1A, 0x1A, 0x1A, 0x1A, 0x1A}},
        {NOCAP_LAUNCH_rta_offset, {0x16, 0x16, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C}},
        {NOCAP_LAUNCH_mode, {0x2A, 0x2A, 0x30, 0x30, 0x30, 0x30, 0x30}},
        {NOCAP_LAUNCH_kernel_text_offset, {0x2C, 0x2C, 0x34, 0x34, 0x34, 0x34, 0x34}},
        {NOCAP_LAUNCH_local_cb_mask, {0x40, 0x40, 0x48, 0x48, 0x48, 0x68, 0x68}},
        {NOCAP_LAUNCH_brisc_noc_id, {0x44, 0x48, 0x50, 0x50, 0x50, 0x70, 0x70}},
        {NOCAP_LAUNCH_host_assigned_id, {0x48, 0x4C, 0x54, 0x54, 0x54, 0x74, 0x74}},
        {NOCAP_LAUNCH_enables, {0x4C, 0x50, 0x58, 0x58, 0x58, 0x78, 0x78}},
        {NOCAP_LAUNCH_watcher_kernel_ids, {0x50, 0x54, 0x5C, 0x5C, 0x5C, 0x7C, 0x7C}},
        {NOCAP_LAUNCH_ncrisc_kernel_size16, {0x5A, 0x5E, 0x66, 0x66, 0x66, 0x86, 0x86}},
        {NOCAP_LAUNCH_sub_device_origin_x, {0x5C, 0x60, 0x68, 0x68, 0x68, 0x88, 0x88}},
        {NOCAP_LAUNCH_preload, {0x5F, 0x6F, 0x6F, 0x7F, 0x8F, 0x9F, 0x8F}},
    };
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        for (size_t l = 0; l < LAYOUTS; l++) {
            assert_int_equal(nocap_layouts[l].fields[want[i].field].offset, want[i].at[l]);
        }
    }
    assert_int_equal(nocap_layouts[NOCAP_LAYOUT_B2].fields[NOCAP_LAUNCH_threads].count, 0);
    assert_int_equal(nocap_layouts[NOCAP_LAYOUT_D].fields[NOCAP_LAUNCH_threads].offset, 0x6F);
    assert_int_equal(nocap_layouts[NOCAP_LAYOUT_D].fields[NOCAP_LAUNCH_kernel_text_size].count, 0);
    assert_int_equal(nocap_layouts[NOCAP_LAYOUT_E].fields[NOCAP_LAUNCH_kernel_text_size].offset,
                     0x48);
}

/* Host launch of five kernels, as it crossed the bus. */
static const uint8_t real_message[96] = {
    0xb0, 0x82, 0x00, 0x00, 0xb0, 0x82, 0x00, 0x00, 0xb0, 0x82, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x20, 0x00, 0x30, 0x01, 0x00, 0x00, 0x20, 0x00, 0x08, 0x00, 0x20, 0x00, 0x10, 0x00,
    0x20, 0x00, 0x10, 0x00, 0x20, 0x00, 0x10, 0x00, 0x20, 0x00, 0x01, 0x00, 0x30, 0x01, 0x00, 0x00,
    0x40, 0x01, 0x00, 0x00, 0x50, 0x01, 0x00, 0x00, 0x60, 0x01, 0x00, 0x00, 0x70, 0x01, 0x00, 0x00,
    0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x00,
};

static void real_launch_message(void **state)
{
    (void)state;
    const struct nocap_mailbox_layout *a = nocap_layout_find(NULL);
    struct nocap_launch launch;
    nocap_launch_decode(a, real_message, &launch);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(launch.kernel_config_base[i], 0x82B0);
    }
    assert_int_equal(launch.kernel_config_base[3], 0); /* this layout has three */
    assert_int_equal(launch.local_cb_offset, 0x20);
    assert_int_equal(launch.remote_cb_offset, 0x130);
    assert_int_equal(launch.rta_offset[1], 0x08);
    assert_int_equal(launch.crta_offset[1], 0x20);
    assert_int_equal(launch.rta_offset[4], 0x10);
    assert_int_equal(launch.mode, NOCAP_MODE_HOST);
    assert_int_equal(launch.kernel_text_offset[0], 0x130);
    assert_int_equal(launch.kernel_text_offset[4], 0x170);
    assert_int_equal(launch.local_cb_mask, 0x10001);
    assert_int_equal(launch.min_remote_cb_start_index, 0x20);
    assert_int_equal(launch.enables, 0x1F);
    assert_int_equal(launch.preload, 0);
    assert_int_equal(nocap_kernel_entry(&launch, NOCAP_PROCESSOR_TRISC1), 0x8410);
    assert_int_equal(nocap_launch_get(a, real_message, NOCAP_LAUNCH_kernel_text_offset, 3), 0x160);
    assert_int_equal(nocap_launch_get(a, real_message, NOCAP_LAUNCH_kernel_text_offset, 5), 0);
    assert_int_equal(nocap_launch_get(a, real_message, NOCAP_LAUNCH_threads, 0), 0);
    uint8_t bytes[96];
    nocap_launch_encode(a, &launch, bytes);
    assert_memory_equal(bytes, real_message, sizeof(bytes));
}

static void round_trip(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (size_t l = 0; l < LAYOUTS; l++) {
        const struct nocap_mailbox_layout *layout = &nocap_layouts[l];
        for (unsigned round = 0; round < 200; round++) {
            /* exactly as large as the message, so that a sanitizer sees a byte too many */
            uint8_t *bytes = malloc(layout->launch_size);
            uint8_t *again = malloc(layout->launch_size);
            assert_non_null(bytes);
            assert_non_null(again);
            for (uint32_t i = 0; i < layout->launch_size; i++) {
                bytes[i] = (uint8_t)next_random(&seed);
            }
            struct nocap_launch launch, twice;
            nocap_launch_decode(layout, bytes, &launch);
            nocap_launch_encode(layout, &launch, again);
            nocap_launch_decode(layout, again, &twice);
            assert_memory_equal(&launch, &twice, sizeof(launch));
            for (unsigned f = 0; f < NOCAP_LAUNCH_FIELDS; f++) {
                const struct nocap_launch_place *place = &layout->fields[f];
                for (unsigned i = 0; i < place->count; i++) {
                    size_t at = place->offset + i * (size_t)place->stride;
                    assert_memory_equal(again + at, bytes + at, place->width);
                }
            }
            free(bytes);
            free(again);
        }
    }
}

static void go_words(void **state)
{
    (void)state;
    struct nocap_go_word go = nocap_go_decode(0x80020300); /* bytes 00 03 02 80 */
    assert_int_equal(go.offset, 0);
    assert_int_equal(go.master_x, 3);
    assert_int_equal(go.master_y, 2);
    assert_int_equal(go.signal, NOCAP_GO_GO);
    uint64_t seed = 1;
    for (unsigned i = 0; i < 1000; i++) {
        uint32_t word = (uint32_t)next_random(&seed);
        assert_int_equal(nocap_go_encode(nocap_go_decode(word)), word);
    }
    assert_string_equal(nocap_go_name(0x00), "DONE");
    assert_string_equal(nocap_go_name(0x40), "INIT");
    assert_string_equal(nocap_go_name(0x80), "GO");
    assert_string_equal(nocap_go_name(0xC0), "RESET_READ_PTR");
    assert_string_equal(nocap_go_name(0xE0), "RESET_READ_PTR_FROM_HOST");
    assert_string_equal(nocap_go_name(0xF0), "REPLAY_TRACE");
    assert_null(nocap_go_name(0x20));
    assert_string_equal(nocap_sync_name(0x01), "LOAD");
    assert_string_equal(nocap_sync_name(0x03), "INIT_SYNC_REGISTERS");
    assert_string_equal(nocap_sync_name(0x80), "GO");
    assert_null(nocap_sync_name(0xC0));
}

static void detection(void **state)
{
    (void)state;
    const struct nocap_mailbox_layout *a = &nocap_layouts[NOCAP_LAYOUT_A];
    const struct nocap_mailbox_layout *b1 = &nocap_layouts[NOCAP_LAYOUT_B1];
    const struct nocap_mailbox_layout *b2 = &nocap_layouts[NOCAP_LAYOUT_B2];
    assert_ptr_equal(nocap_layout_from_go_address(0x370), a);
    assert_ptr_equal(nocap_layout_from_go_address(0x373), a);
    assert_ptr_equal(nocap_layout_from_go_address(0x3F0), b1);
    assert_ptr_equal(nocap_layout_from_go_address(0x470), &nocap_layouts[NOCAP_LAYOUT_C]);
    assert_ptr_equal(nocap_layout_from_go_address(0x4F3), &nocap_layouts[NOCAP_LAYOUT_D]);
    assert_null(nocap_layout_from_go_address(0x371));
    assert_null(nocap_layout_from_go_address(0x374));
    assert_null(nocap_layout_from_go_address(UINT64_C(0x100000370)));
    struct nocap_launch launch = {
        .enables = 0x1F, .mode = NOCAP_MODE_HOST, .kernel_config_base = {0x9F00}};
    uint8_t message[112];
    nocap_launch_encode(b2, &launch, message);
    assert_ptr_equal(nocap_layout_refine(b1, message, sizeof(message)), b2);
    assert_ptr_equal(nocap_layout_refine(b2, message, sizeof(message)), b2);
    nocap_launch_encode(b1, &launch, message);
    assert_ptr_equal(nocap_layout_refine(b1, message, sizeof(message)), b1);
    assert_ptr_equal(nocap_layout_refine(b2, message, sizeof(message)), b1);
    const struct nocap_mailbox_layout *d = &nocap_layouts[NOCAP_LAYOUT_D];
    const struct nocap_mailbox_layout *f = &nocap_layouts[NOCAP_LAYOUT_F];
    for (uint32_t text = 0; text < 0x2000; text += 0x800) {
        uint8_t longer[144];
        launch.kernel_text_size[4] = text;
        nocap_launch_encode(f, &launch, longer);
        assert_ptr_equal(nocap_layout_refine(d, longer, sizeof(longer)), f);
        nocap_launch_encode(d, &launch, longer);
        assert_ptr_equal(nocap_layout_refine(d, longer, sizeof(longer)), d);
    }
    memset(message, 0, sizeof(message)); /* says nothing */
    assert_ptr_equal(nocap_layout_refine(b2, message, sizeof(message)), b2);
    assert_ptr_equal(nocap_layout_refine(b2, message, 4), b2); /* too short to say anything */
    assert_ptr_equal(nocap_layout_refine(a, real_message, sizeof(real_message)), a);
}

static void assert_named(const struct nocap_mailbox_layout *layout, uint64_t addr, uint64_t width,
                         const char *want)
{
    char buffer[64];
    assert_string_equal(nocap_mailbox_field_name(layout, addr, width, buffer, sizeof(buffer)),
                        want);
}

static void field_names(void **state)
{
    (void)state;
    const struct nocap_mailbox_layout *a = &nocap_layouts[NOCAP_LAYOUT_A];
    assert_named(a, 0x5F, 1, "");
    assert_named(a, 0x60, 4, "ncrisc_halt.resume_addr");
    assert_named(a, 0x65, 1, "ncrisc_halt.stack_save+1");
    assert_named(a, 0x68, 4, "subordinate_sync");
    assert_named(a, 0x68, 1, "subordinate_sync.dm1");
    assert_named(a, 0x68, 0, "subordinate_sync.dm1");
    assert_named(a, 0x6A, 1, "subordinate_sync.trisc1");
    assert_named(a, 0x6B, 1, "subordinate_sync.trisc2");
    assert_named(a, 0x6C, 4, "launch_msg_rd_ptr");
    assert_named(a, 0x6E, 1, "launch_msg_rd_ptr+2");
    assert_named(a, 0x70, 96, "launch[0]");
    assert_named(a, 0x70, 4, "launch[0].kernel_config_base[0]");
    assert_named(a, 0x70 + 0x4C, 4, "launch[0].enables");
    assert_named(a, 0x70 + 96 * 2 + 0x4D, 1, "launch[2].enables+1");
    assert_named(a, 0x70 + 0x16, 2, "launch[0].rta_offset[0]");
    assert_named(a, 0x70 + 0x18, 2, "launch[0].crta_offset[0]");
    assert_named(a, 0x70 + 0x1B, 1, "launch[0].rta_offset[1]+1");
    assert_named(a, 0x70 + 0x2B, 1, "launch[0]+0x2b");
    assert_named(a, 0x36F, 1, "launch[7].preload");
    assert_named(a, 0x370, 4, "go_messages[0]");
    assert_named(a, 0x370, 1, "go_messages[0].offset");
    assert_named(a, 0x373, 1, "go_messages[0].signal");
    assert_named(a, 0x375, 1, "go_messages[1].master_x");
    assert_named(a, 0x390, 4, "go_messages[8]");
    assert_named(a, 0x394, 4, "");
    assert_named(a, 0x398, 8, "link_status_check_timestamp");
    assert_named(a, 0x3A0, 4, "go_message_index");
    assert_named(a, 0x3A3, 1, "go_message_index+3");
    assert_named(a, 0x3A4, 1, "");
    const struct nocap_mailbox_layout *c = &nocap_layouts[NOCAP_LAYOUT_C];
    assert_named(c, 0x70 + 0x58, 4, "launch[0].enables");
    assert_named(c, 0x70 + 128 + 0x7F, 1, "launch[1].preload");
    assert_named(c, 0x70 + 0x71, 1, "launch[0].threads[2]");
    assert_named(c, 0x473, 1, "go_messages[0].signal");
}

/* Every byte of every layout has a name that its place agrees with, cut or not. */
static void locate_agrees(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAYOUTS; l++) {
        const struct nocap_mailbox_layout *layout = &nocap_layouts[l];
        for (uint32_t addr = 0; addr < 0x800; addr++) {
            struct nocap_mailbox_place place = nocap_mailbox_locate(layout, addr);
            char whole[64], cut[12];
            nocap_mailbox_field_name(layout, addr, 1, whole, sizeof(whole));
            nocap_mailbox_field_name(layout, addr, 1, cut, sizeof(cut));
            assert_int_equal(place.area == NOCAP_AREA_NONE, whole[0] == '\0');
            assert_memory_equal(cut, whole, strlen(cut));
            bool ring = addr >= 0x70 && addr < layout->go_messages;
            assert_int_equal(place.area == NOCAP_AREA_LAUNCH, ring);
            if (ring) {
                assert_int_equal(place.index, (addr - 0x70) / layout->launch_size);
                assert_int_equal(place.offset, (addr - 0x70) % layout->launch_size);
            }
        }
        assert_int_equal(nocap_mailbox_locate(layout, UINT64_MAX).area, NOCAP_AREA_NONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts),       cmocka_unit_test(fields_do_not_overlap),
        cmocka_unit_test(offsets),       cmocka_unit_test(real_launch_message),
        cmocka_unit_test(round_trip),    cmocka_unit_test(go_words),
        cmocka_unit_test(detection),     cmocka_unit_test(field_names),
        cmocka_unit_test(locate_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
