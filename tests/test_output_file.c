/* SPDX-License-Identifier: Apache-2.0 */
/* Output files: whatever fails, the old file or the new one is whole, and nothing else stays. */
#include "tests/temp_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/output_file.h"
#include "base/temporary.h"

/* In the place of the C library's: which call fails, and whether files without name are there. */
static enum { NO_REFS, FSYNC, CLOSE, RENAME } failing;
static bool no_proc;
static unsigned synchronised;

static int fail_if(int call)
{
    errno = EIO;
    return failing == (unsigned)call ? -1 : 0;
}

int fsync(int fd)
{
    synchronised++;
    return fail_if(FSYNC) != 0 ? -1 : (int)syscall(SYS_fsync, fd);
}

int close(int fd)
{
    syscall(SYS_close, fd);
    return fail_if(CLOSE);
}

int rename(const char *from, const char *to)
{
    return fail_if(RENAME) != 0 ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int access(const char *path, int mode)
{
    errno = ENOENT;
    return no_proc && strncmp(path, "/proc/", 6) == 0
               ? -1
               : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void expect(const char *path, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t n = fread(found, 1, sizeof found - 1, file);
    found[n] = '\0';
    fclose(file);
    assert_string_equal(found, text);
}

/* How many names the directory has. */
static unsigned names(const char *path)
{
    unsigned count = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    }
    closedir(dir);
    return count;
}

static enum nocap_status write_new(const char *path, bool keep)
{
    struct output_file file;
    struct nocap_error err;
    assert_int_equal(output_file_open(&file, path, O_WRONLY, &err), NOCAP_OK);
    assert_int_equal(write(file.fd, "new", 3), 3);
    enum nocap_status status = NOCAP_OK;
    if (keep) {
        status = output_file_commit(&file, &err);
    }
    output_file_abandon(&file);
    return status;
}

static void the_old_file_or_the_new_one(void **state)
{
    (void)state;
    mkdir("plain", 0777);
    for (unsigned i = 0; i < 2; i++) {
        no_proc = i == 1; /* then the new file has a name of its own from the start */
        put("plain/out", "old");
        write_new("plain/out", false);
        expect("plain/out", "old");
        for (failing = FSYNC; failing <= RENAME; failing++) {
            assert_int_equal(write_new("plain/out", true), NOCAP_E_OUTPUT);
            expect("plain/out", "old");
            assert_int_equal(names("plain"), 1);
        }
        failing = NO_REFS;
        synchronised = 0;
        assert_int_equal(write_new("plain/out", true), NOCAP_OK);
        expect("plain/out", "new");
        assert_int_equal(synchronised, 2); /* the file and the folder */
        assert_int_equal(unlink("plain/out"), 0);
        synchronised = 0;
        assert_int_equal(write_new("plain/out", true), NOCAP_OK);
        assert_int_equal(synchronised, 0); /* there was nothing to lose */
        assert_int_equal(names("plain"), 1);
    }
    no_proc = false;
}

static void links_stay_links(void **state)
{
    (void)state;
    struct stat st;
    mkdir("target", 0777);
    put("target/file", "old");
    assert_int_equal(symlink("target/file", "link"), 0);
    assert_int_equal(symlink("target/none", "dangling"), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(write_new("link", true), NOCAP_OK);
    expect("target/file", "new");
    assert_int_equal(write_new("dangling", true), NOCAP_OK);
    expect("target/none", "new");
    assert_true(lstat("link", &st) == 0 && S_ISLNK(st.st_mode));
    assert_true(lstat("dangling", &st) == 0 && S_ISLNK(st.st_mode));
    struct output_file file;
    struct nocap_error err;
    assert_int_equal(output_file_open(&file, "link", O_WRONLY | O_NOFOLLOW, &err), NOCAP_OK);
    assert_int_equal(output_file_commit(&file, &err), NOCAP_OK);
    assert_true(lstat("link", &st) == 0 && S_ISREG(st.st_mode));
    expect("target/file", "new");
    assert_int_equal(output_file_open(&file, "loop", O_WRONLY, &err), NOCAP_E_OUTPUT);
    assert_int_equal(output_file_open(&file, "no/such", O_WRONLY, &err), NOCAP_E_OUTPUT);
    assert_contains(err.text, "cannot create no/such: No such file");
    assert_int_equal(output_file_open(&file, "target", O_WRONLY, &err), NOCAP_E_OUTPUT);
    assert_int_equal(output_file_open(&file, "target/", O_WRONLY, &err), NOCAP_E_OUTPUT);
}

static void devices_are_written_not_replaced(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(write_new("/dev/null", true), NOCAP_OK);
    assert_true(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
}

static void a_file_that_is_placed_is_written_on(void **state)
{
    (void)state;
    struct output_file file;
    struct nocap_error err;
    put("placed", "old");
    assert_int_equal(output_file_open(&file, "placed", O_RDWR, &err), NOCAP_OK);
    int fd = file.fd;
    assert_int_equal(write(fd, "head ", 5), 5);
    expect("placed", "old");
    assert_int_equal(output_file_place(&file, &err), NOCAP_OK);
    expect("placed", "head ");
    assert_int_equal(write(fd, "rest", 4), 4);
    expect("placed", "head rest");
    close(fd);
}

static void a_name_may_be_as_long_as_names_are(void **state)
{
    (void)state;
    char name[256];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    no_proc = true;
    assert_int_equal(write_new(name, true), NOCAP_OK);
    no_proc = false;
    expect(name, "new");
}

/* What a signal handler does, in a process that ends after it. */
static void what_is_listed_goes_at_a_signal(void **state)
{
    (void)state;
    int status;
    mkdir("listed", 0777);
    setenv("TMPDIR", "listed", 1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct output_file file;
        struct nocap_error err;
        char path[PATH_MAX];
        no_proc = true;
        bool ok = output_file_open(&file, "listed/out", O_WRONLY, &err) == NOCAP_OK &&
                  temporary_make(path, "nocap-part", &err) == NOCAP_OK &&
                  temporary_nameless() >= 0 && names("listed") == 2 &&
                  write_new("listed/whole", true) == NOCAP_OK;
        temporary_remove_all();
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(names("listed"), 1);
    expect("listed/whole", "new");
    unsetenv("TMPDIR");
}

static bool folder_goes(bool by_signal)
{
    char folder[] = "listed-XXXXXX", file[64], never[64];
    if (temporary_make_folder(folder, NULL) != NOCAP_OK) {
        return false;
    }
    snprintf(file, sizeof file, "%s/file", folder);
    snprintf(never, sizeof never, "%s/never", folder);
    temporary_list(file);
    temporary_list(never);
    put(file, "x");
    if (by_signal) {
        temporary_remove_all();
    } else {
        temporary_remove_folder(folder);
    }
    return faccessat(AT_FDCWD, folder, F_OK, 0) != 0;
}

static void folders_go_with_what_was_listed(void **state)
{
    char folder[] = "a/b/XXXXXX";
    int status;
    (void)state;
    assert_true(folder_goes(false));
    pid_t child = fork(); /* what a signal removes is freed by nobody */
    assert_true(child >= 0);
    if (child == 0) {
        _exit(folder_goes(true) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(temporary_make_folder(folder, NULL), NOCAP_E_OUTPUT);
    assert_string_equal(folder, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_old_file_or_the_new_one),
        cmocka_unit_test(links_stay_links),
        cmocka_unit_test(devices_are_written_not_replaced),
        cmocka_unit_test(a_file_that_is_placed_is_written_on),
        cmocka_unit_test(a_name_may_be_as_long_as_names_are),
        cmocka_unit_test(what_is_listed_goes_at_a_signal),
        cmocka_unit_test(folders_go_with_what_was_listed),
    };
    return cmocka_run_group_tests_name("output files", tests, temp_dir_enter, temp_dir_leave);
}
