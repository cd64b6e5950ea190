/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a trace names: what is opened, what is not, how often, and what is said of it. */
#include "temp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/regular_file.h"
#include "checker/core/checker.h"
#include "formats/firmware_files.h"

enum { MANY = 96, PAGE = 8192 };

static const char header_start[] = "{\"nocap\":1,\"arch\":\"aie2ps\",\"observes\":[\"cert\"],";

/* traces/ with a column image (fw/a.bin), links to it and out of it, a FIFO; secret.bin beside. */
static int make_files(void **state)
{
    static uint8_t page[PAGE] = {0xff, 0xff};
    if (temp_dir_enter(state) != 0) {
        return 1;
    }
    mkdir("traces", 0777);
    mkdir("traces/fw", 0777);
    write_bytes("traces/fw/a.bin", page, sizeof page);
    write_bytes("secret.bin", page, sizeof page);
    write_bytes("traces/fw/not.elf", "text", 4);
    return link("traces/fw/a.bin", "traces/fw/same.bin") != 0 ||
           symlink("a.bin", "traces/fw/link.bin") != 0 ||
           symlink("../../secret.bin", "traces/fw/out.bin") != 0 ||
           symlink("../../nothing.bin", "traces/fw/nowhere.bin") != 0 ||
           symlink("/etc", "traces/etc") != 0 || symlink("fw", "traces/dir") != 0 ||
           mkfifo("traces/fifo", 0666) != 0;
}

/* ---- below a folder ---- */

static enum nocap_status open_below(const char *name, struct nocap_error *err)
{
    struct regular_file file;
    enum nocap_status status = regular_file_open_below(&file, "traces", name, PAGE, err);
    regular_file_close(&file);
    return status;
}

static void names_do_not_lead_out(void **state)
{
    static const char *const out[] = {
        "/etc/passwd",
        "/etc/no such file",
        "/",
        "..",
        "../secret.bin",
        "../nothing",
        "fw/../../secret.bin",
        "fw/out.bin",
        "fw/nowhere.bin",
        "etc/passwd",
        "etc/no such file",
        "/proc/self/cmdline",
    };
    (void)state;
    for (size_t i = 0; i < sizeof out / sizeof out[0]; i++) {
        struct nocap_error err, want;
        snprintf(want.text, sizeof want.text, "%s leads out of its folder", out[i]);
        assert_int_equal(open_below(out[i], &err), NOCAP_E_USAGE);
        assert_string_equal(err.text, want.text); /* whether or not something is there */
    }
}

static void names_below_are_opened(void **state)
{
    static const char *const in[] = {"fw/a.bin", "fw//a.bin", "./fw/a.bin", "fw/link.bin",
                                     "dir/a.bin"};
    (void)state;
    for (size_t i = 0; i < sizeof in / sizeof in[0]; i++) {
        assert_int_equal(open_below(in[i], NULL), NOCAP_OK);
    }
}

static void only_regular_files_are_opened(void **state)
{
    static const char *const odd[] = {"fifo", "fw", "", "fw/none", "fw/a.bin/b"};
    struct nocap_error err;
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        assert_int_equal(open_below(odd[i], &err), NOCAP_E_INPUT);
    }
    struct regular_file file;
    assert_int_equal(regular_file_open(&file, "traces/fifo", PAGE, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "not a regular file");
    assert_int_equal(regular_file_open(&file, "traces/fw/a.bin", PAGE - 1, &err), NOCAP_E_INPUT);
}

/* Kernels before 5.6, and sandboxes, do not have openat2. */
static void deny_openat2(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* the number of the call */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        _exit(77);
    }
}

static bool is_out(const char *name)
{
    return open_below(name, NULL) == NOCAP_E_USAGE;
}

static void without_openat2(void **state)
{
    int status;
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        deny_openat2();
        bool out = is_out("/etc/passwd") && is_out("..") && is_out("../secret.bin") &&
                   is_out("fw/../../secret.bin") && is_out("fw/out.bin") &&
                   is_out("fw/nowhere.bin") && open_below("etc/passwd", NULL) != NOCAP_OK;
        bool in = open_below("fw/a.bin", NULL) == NOCAP_OK &&
                  open_below("./fw//a.bin", NULL) == NOCAP_OK &&
                  open_below("fifo", NULL) == NOCAP_E_INPUT;
        _exit(out && in ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        skip();
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- what a header names ---- */

static struct nocap_aie_image *control(struct firmware_files *files, char *core, char *path)
{
    const struct nocap_firmware firmware = {.core = core, .path = path};
    struct nocap_aie_image *image;
    struct nocap_error err;
    assert_int_equal(firmware_files_control(files, &firmware, &image, &err), NOCAP_OK);
    return image;
}

static void each_file_is_read_once(void **state)
{
    struct firmware_files files;
    struct nocap_error problem;
    (void)state;
    assert_int_equal(firmware_files_open(&files, "traces/t.nocap", false, &problem), NOCAP_OK);
    struct nocap_aie_image *first = control(&files, "uc", "fw/a.bin");
    static char *const names[] = {"fw/a.bin", "./fw/a.bin", "fw/link.bin", "fw/same.bin"};
    assert_non_null(first);
    for (unsigned i = 0; i < MANY; i++) {
        char core[8];
        snprintf(core, sizeof core, "uc%u", i);
        struct nocap_aie_image *other = control(&files, core, names[i % 4]);
        assert_ptr_equal(other, first);
        nocap_aie_image_close(other);
    }
    assert_null(control(&files, "uc7", "fw/a.bin")); /* the first name of a core counts */
    assert_int_equal(files.bytes, PAGE);
    assert_int_equal(firmware_files_problem(&files, 0, &problem), NOCAP_OK);
    assert_string_equal(problem.text, "");
    assert_int_equal(firmware_files_problem(&files, 1, &problem), NOCAP_END);
    firmware_files_close(&files);
    assert_int_equal(first->page_count, 1); /* whoever has it keeps it */
    nocap_aie_image_close(first);
}

static void files_have_a_bound_together(void **state)
{
    enum { SIZE = 127 << 20 };
    struct firmware_files files;
    struct nocap_error problem;
    (void)state;
    assert_int_equal(firmware_files_open(&files, "traces/t.nocap", false, &problem), NOCAP_OK);
    for (unsigned i = 0; i < 3; i++) { /* holes: no room is taken, until they are read */
        char core[8], name[16], path[32];
        snprintf(core, sizeof core, "uc%u", i);
        snprintf(name, sizeof name, "big%u", i);
        snprintf(path, sizeof path, "traces/big%u", i);
        write_bytes(path, "", 0);
        assert_int_equal(truncate(path, SIZE), 0);
        assert_null(control(&files, core, name)); /* it is no image either */
    }
    assert_int_equal(firmware_files_problem(&files, 2, &problem), NOCAP_OK);
    assert_contains(problem.text, "more than 256 MiB");
    assert_true(files.bytes <= FIRMWARE_BYTES_MAX);
    firmware_files_close(&files);
}

/* The notes of a check of a trace with this `firmware`, a line each; the caller frees it. */
static char *notes_of(const char *firmware, bool trusted)
{
    const struct nocap_check_options options = {.size = sizeof options, .trust_paths = trusted};
    struct nocap_report *report;
    struct nocap_error err;
    char *text = NULL;
    size_t size;
    FILE *out = fopen("traces/t.jsonl", "w");
    fprintf(out, "%s\"firmware\":{%s}}\n", header_start, firmware);
    fprintf(out, "{\"t\":1,\"ev\":\"note\",\"text\":\"x\"}\n");
    fclose(out);
    assert_int_equal(nocap_check(&report, "traces/t.jsonl", &options, &err), NOCAP_OK);
    out = open_memstream(&text, &size);
    for (size_t i = 0; i < report->unopened_count; i++) {
        fprintf(out, "%s\n", report->notes[report->unopened + i]);
    }
    fclose(out);
    nocap_report_free(report);
    return text;
}

static void assert_notes(const char *firmware, bool trusted, const char *wanted)
{
    char *notes = notes_of(firmware, trusted);
    assert_string_equal(notes, wanted);
    free(notes);
}

#define NAMES "the trace names firmware for "
#define GIVE  ", give it with --elf"
#define TRUST ", or trust its names with --trust-paths"

static void what_is_not_opened_is_said_once(void **state)
{
    (void)state;
    assert_notes("\"uc\":\"fw/a.bin\"", false, "");
    assert_notes("\"uc\":\"../secret.bin\"", false,
                 NAMES "uc" GIVE TRUST ": ../secret.bin leads out of its folder\n");
    assert_notes("\"uc\":\"../nothing.bin\",\"uc1\":\"/etc/passwd\",\"uc2\":\"/none\"", false,
                 NAMES "uc and 2 more" GIVE TRUST ": ../nothing.bin leads out of its folder\n");
    assert_notes("\"uc\":\"fifo\",\"uc1\":\"fifo\"", false,
                 NAMES "uc and 1 more" GIVE
                       ": fifo: not a regular file of at most 536870912 bytes\n");
    assert_notes("\"uc0\":\"none\",\"uc1\":\"fw/a.bin\",\"uc2\":\"none\"", false,
                 NAMES "uc0 and 1 more" GIVE ": cannot open none: No such file or directory\n");
    assert_notes("\"brisc\":\"fw/not.elf\",\"ncrisc\":\"fw/not.elf\"", false,
                 NAMES "brisc and 1 more" GIVE
                       ": fw/not.elf: not an ELF file; give the firmware file of one RISC\n");
}

static void trusted_names_lead_anywhere(void **state)
{
    char inner[256], wanted[512];
    (void)state;
    assert_notes("\"uc\":\"../secret.bin\"", true, "");
    assert_notes("\"uc\":\"secret.bin\"", true, ""); /* as it stands, if nothing is beside */
    snprintf(inner, sizeof inner, "\"uc\":\"%s/secret.bin\"", temp_dir_path);
    assert_notes(inner, true, "");
    snprintf(wanted, sizeof wanted,
             NAMES "uc" GIVE TRUST ": %s/secret.bin leads out of its folder\n", temp_dir_path);
    assert_notes(inner, false, wanted);
    assert_notes("\"uc\":\"fifo\"", true,
                 NAMES "uc" GIVE ": traces/fifo: not a regular file of at most 536870912 bytes\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_do_not_lead_out),
        cmocka_unit_test(names_below_are_opened),
        cmocka_unit_test(only_regular_files_are_opened),
        cmocka_unit_test(without_openat2),
        cmocka_unit_test(each_file_is_read_once),
        cmocka_unit_test(files_have_a_bound_together),
        cmocka_unit_test(what_is_not_opened_is_said_once),
        cmocka_unit_test(trusted_names_lead_anywhere),
    };
    return cmocka_run_group_tests(tests, make_files, temp_dir_leave);
}
