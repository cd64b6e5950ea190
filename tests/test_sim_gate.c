/* SPDX-License-Identifier: Apache-2.0 */
/* The coprocessor of the built-in device model: faults of its kernels and of its Wait Gate, each of
 * which is one finding. */
#include "tests/cq_run.h"
#include "tests/effort.h"

static uint64_t seeds(void)
{
    return effort(20, 4);
}

static bool is_of_the_gate(const struct nocap_sim_fault_info *info)
{
    return strncmp(info->rules, "TNX-", 4) == 0;
}

static void every_fault_is_found(void **state)
{
    (void)state;
    unsigned faults = 0;
    for (unsigned fault = 1; fault < NOCAP_SIM_FAULT_COUNT; fault++) {
        if (!is_of_the_gate(&nocap_sim_faults[fault])) {
            continue;
        }
        faults++;
        for (uint64_t seed = 0; seed < seeds(); seed++) {
            enum nocap_sim_scenario scenario =
                seed % 2 == 0 ? NOCAP_SIM_LAUNCH_HOST : NOCAP_SIM_LAUNCH_DEV;
            assert_true(strikes_in(fault, scenario));
            assert_found((struct nocap_sim_options){.scenario = scenario,
                                                    .fault = fault,
                                                    .tiles = 2,
                                                    .launches = 4,
                                                    .board = 1 + seed / 2 % 2,
                                                    .seed = seed});
        }
    }
    assert_true(faults >= 11);
}

static void correct_kernels_are_clean(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < seeds(); seed++) {
        assert_clean((struct nocap_sim_options){.scenario = seed % 2 == 0 ? NOCAP_SIM_LAUNCH_HOST
                                                                          : NOCAP_SIM_LAUNCH_DEV,
                                                .tiles = 2,
                                                .seed = seed});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_found),
        cmocka_unit_test(correct_kernels_are_clean),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
