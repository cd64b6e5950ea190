/* SPDX-License-Identifier: Apache-2.0 */
/* Whole command lines over whole files: the program runs in this process, with its streams where
 * the driver sends them and with all its files in a folder of its own. The input is
 *
 *     check --waivers b a
 *     rf 120
 *     the 120 bytes of file a, then file b
 *
 * The first line has the words of the command line. The second has the form of each file - r: as it
 * stands; f: two bytes of length and so many of content, which become a frame of zstd; n: there is
 * none - and the size of the first. The folder holds a and b, and g, a golden directory: b is its
 * manifest, a its trace x. Standard input is a. The custom mutator draws words from the program's
 * own tables, so that an option that is new is tried at once.
 *
 * Nothing outside the folder is written: no word leads out of it (is_safe). Nothing is executed:
 * the functions that would are replaced below. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>

#include "cli/commands.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));

extern const struct cli_command *const __start_nocap_commands[];
extern const struct cli_command *const __stop_nocap_commands[];

enum { LINE_MAX_BYTES = 256, WORDS_MAX = 24, FRAMES_MAX = 1 << 17, DIGITS_MAX = 4 };

/* ---- nothing is executed ---- */

int execl(const char *path, const char *argument, ...)
{
    (void)path, (void)argument;
    errno = EACCES;
    return -1;
}

int execvp(const char *file, char *const arguments[])
{
    (void)file, (void)arguments;
    errno = EACCES;
    return -1;
}

/* ---- the files ---- */

static int folder_fd = -1, home_fd = -1;

static void enter_folder(void)
{
    if (folder_fd < 0) {
        folder_make();
        require(setenv("TMPDIR", folder, 1) == 0);
        folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        home_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    require(fchdir(folder_fd) == 0);
}

static void leave_folder(void)
{
    require(fchdir(home_fd) == 0);
    folder_empty();
}

struct part {
    const uint8_t *data;
    size_t size;
};

static void put(const char *name, const char *again, struct part content, char form)
{
    static uint8_t frames[FRAMES_MAX];
    if (form == 'f') {
        content.size = frames_compress(frames, sizeof frames, content.data, content.size);
        content.data = frames;
    }
    if (form != 'n') {
        folder_put(name, content.data, content.size);
        folder_put(again, content.data, content.size);
    }
}

/* What does not fit into a pipe is left out. */
static int open_pipe(struct part content)
{
    int ends[2];
    require(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    require(content.size == 0 || write(ends[1], content.data, content.size) > 0);
    close(ends[1]);
    return ends[0];
}

static void put_files(const char *forms, struct part a, struct part b)
{
    require(mkdir("g", 0777) == 0);
    put("a", "g/x.nocap", a, forms[0]);
    put("b", "g/manifest.txt", b, forms[1]);
    int in = forms[0] == 'p' ? open_pipe(a) : open(forms[0] != 'n' ? "a" : "/dev/null", O_RDONLY);
    require(in >= 0 && dup2(in, STDIN_FILENO) == STDIN_FILENO);
    close(in);
}

/* ---- the command line ---- */

static bool is_safe(const char *word)
{
    size_t length = strlen(word);
    bool known = strcmp(word, "g/x.nocap") == 0 || strcmp(word, "g/manifest.txt") == 0;
    return (known || strchr(word, '/') == NULL) &&
           (length < 2 || strcmp(word + length - 2, "..") != 0);
}

/* Numbers that say how much there is to do stay small. */
static bool is_small(const char *word)
{
    size_t digits = 0, most = 0;
    for (const char *p = word; *p != '\0'; p++) {
        digits = isxdigit((unsigned char)*p) ? digits + 1 : 0;
        most = digits > most ? digits : most;
    }
    return most <= DIGITS_MAX;
}

/* Devices of a manifest's making could be as large. */
static bool orders_devices(const char *command, struct part b)
{
    static const char *const orders[] = {"--launches", "--programs", "--tiles", "--workers"};
    bool found = false;
    for (size_t i = 0; strcmp(command, "golden") == 0 && i < sizeof orders / sizeof *orders; i++) {
        found |= memmem(b.data, b.size, orders[i], strlen(orders[i])) != NULL;
    }
    return found;
}

static bool may_run(char **words, int count, struct part b)
{
    bool device = strcmp(words[1], "capture") == 0 || strcmp(words[1], "golden") == 0;
    for (int i = 1; i < count; i++) {
        if (!is_safe(words[i]) || (device && !is_small(words[i]))) {
            return false;
        }
    }
    return !orders_devices(words[1], b);
}

static int split(char *line, char **words)
{
    static char name[] = "nocap";
    char *rest;
    int count = 0;
    words[count++] = name;
    for (char *w = strtok_r(line, " ", &rest); w != NULL && count < WORDS_MAX;
         w = strtok_r(NULL, " ", &rest)) {
        words[count++] = w;
    }
    words[count] = NULL;
    return count;
}

struct input {
    char line[LINE_MAX_BYTES];
    char forms[3];
    struct part a, b;
};

/* Takes a line off the input; false: there is none, or it is too long. */
static bool take_line(struct part *rest, char line[LINE_MAX_BYTES])
{
    const uint8_t *end = memchr(rest->data, '\n', rest->size);
    size_t length = end != NULL ? (size_t)(end - rest->data) : LINE_MAX_BYTES;
    if (length >= LINE_MAX_BYTES) {
        return false;
    }
    memcpy(line, rest->data, length);
    line[length] = '\0';
    *rest = (struct part){rest->data + length + 1, rest->size - length - 1};
    return true;
}

static bool take_input(struct input *input, const uint8_t *data, size_t size)
{
    struct part rest = {data, size};
    char files[LINE_MAX_BYTES];
    size_t first;
    if (size == 0 || !take_line(&rest, input->line) || !take_line(&rest, files) ||
        sscanf(files, "%2[rfnp] %zu", input->forms, &first) != 2 || input->forms[1] == '\0') {
        return false;
    }
    first = first < rest.size ? first : rest.size;
    input->a = (struct part){rest.data, first};
    input->b = (struct part){rest.data + first, rest.size - first};
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input;
    char *words[WORDS_MAX + 1];
    if (!take_input(&input, data, size)) {
        return 0;
    }
    int count = split(input.line, words);
    if (count < 2 || !may_run(words, count, input.b)) {
        return 0;
    }
    enter_folder();
    put_files(input.forms, input.a, input.b);
    int status = cli_program(count, words, NULL);
    require(status >= CLI_EXIT_OK && status <= CLI_EXIT_INTERNAL);
    leave_folder();
    return 0;
}

/* ---- the mutator ---- */

static unsigned draw(unsigned *seed, size_t limit)
{
    *seed = *seed * 1103515245u + 12345u;
    return (unsigned)((*seed >> 16) % limit);
}

/* One of the words of "a|b|c". */
static const char *draw_choice(unsigned *seed, const char *choices)
{
    static char word[LINE_MAX_BYTES];
    size_t count = 1;
    for (const char *p = choices; *p != '\0'; p++) {
        count += *p == '|';
    }
    for (size_t skip = draw(seed, count); skip > 0; skip--) {
        choices = strchr(choices, '|') + 1;
    }
    snprintf(word, sizeof word, "%.*s", (int)strcspn(choices, "|"), choices);
    return word;
}

static const char *draw_value(unsigned *seed)
{
    static const char values[] =
        "a|b|o|-|g|x|0|1|7|1,2|2..5|brisc=b|trisc1=a|1,2=a|0:1,2@0x100=b|kind==write|"
        "addr<64&&tile==1,2|SYN,-GO-001|GO-004|AIE-041|jsonl|noc-json|l1-dump|watcher|list|verify|"
        "update|record|asm|disasm|lint|run|0=b|0:0:4|0x100=7|launch-host|fast-dispatch|--yes|--run|"
        "--";
    return draw_choice(seed, values);
}

/* A command, or an option of this one with a value, or a value. */
static void draw_words(unsigned *seed, const char *command, char words[LINE_MAX_BYTES])
{
    size_t count = (size_t)(__stop_nocap_commands - __start_nocap_commands);
    const struct cli_command *v = __start_nocap_commands[draw(seed, count)];
    for (size_t i = 0; i < count; i++) {
        v = strcmp(__start_nocap_commands[i]->name, command) == 0 ? __start_nocap_commands[i] : v;
    }
    size_t options = v->option_count + v->more_count, which = draw(seed, options + 4);
    if (which >= options) {
        snprintf(words, LINE_MAX_BYTES, "%s", draw_value(seed));
        return;
    }
    const struct cli_option *o =
        which < v->option_count ? &v->options[which] : &v->more_options[which - v->option_count];
    snprintf(words, LINE_MAX_BYTES, "--%s%s%s", o->name, o->type == CLI_FLAG ? "" : "=",
             o->type == CLI_FLAG     ? ""
             : o->type == CLI_CHOICE ? draw_choice(seed, o->value)
                                     : draw_value(seed));
}

/* Another command, a word more, one less, or another one. */
static void change_line(unsigned *seed, char line[LINE_MAX_BYTES])
{
    enum { COMMAND, ADD, REMOVE, REPLACE, WAYS };
    char *words[WORDS_MAX + 1], drawn[LINE_MAX_BYTES], old[LINE_MAX_BYTES];
    size_t commands = (size_t)(__stop_nocap_commands - __start_nocap_commands),
           way = draw(seed, WAYS);
    memcpy(old, line, sizeof old);
    int count = split(old, words), at = 2 + (int)draw(seed, (size_t)count);
    const char *command =
        count > 1 && way != COMMAND ? words[1] : __start_nocap_commands[draw(seed, commands)]->name;
    draw_words(seed, command, drawn);
    size_t used = (size_t)snprintf(line, LINE_MAX_BYTES, "%s", command);
    for (int i = 2; i <= count; i++) {
        bool adds = i == at && (way == ADD || way == REPLACE);
        bool keeps = i < count && (i != at || way == ADD || way == COMMAND);
        if (used < LINE_MAX_BYTES) {
            used +=
                (size_t)snprintf(line + used, LINE_MAX_BYTES - used, "%s%s%s%s", adds ? " " : "",
                                 adds ? drawn : "", keeps ? " " : "", keeps ? words[i] : "");
        }
    }
}

/* The bytes of one file as libFuzzer changes them; NULL: no memory. */
static uint8_t *change_bytes(struct part *part, size_t max_size)
{
    uint8_t *bytes = malloc(max_size + 1);
    if (bytes != NULL) {
        memcpy(bytes, part->data, part->size);
        *part = (struct part){bytes, LLVMFuzzerMutate(bytes, part->size, max_size)};
    }
    return bytes;
}

/* What a member of a JSON object may hold, or better not. */
static void draw_member(unsigned *seed, char value[LINE_MAX_BYTES])
{
    static const char others[] = "0|1|2|3|4|7|15|16|255|256|65535|65536|4294967295|4294967296|"
                                 "18446744073709551615|\"0xffffffffffffffff\"|-1|true|[]|\"\"";
    enum { AGENT, KIND, OP, OTHER, SORTS };
    switch (draw(seed, SORTS)) {
    case AGENT:
        snprintf(value, LINE_MAX_BYTES, "\"%s\"", nocap_agent_name(draw(seed, UINT8_MAX + 1)));
        break;
    case KIND:
        snprintf(value, LINE_MAX_BYTES, "\"%s\"", nocap_kind_name(draw(seed, NOCAP_EV_COUNT)));
        break;
    case OP:
        snprintf(value, LINE_MAX_BYTES, "\"%s\"", nocap_op_name(draw(seed, NOCAP_OP_COUNT)));
        break;
    default: snprintf(value, LINE_MAX_BYTES, "%s", draw_choice(seed, others)); break;
    }
}

/* Another value for a member of an object, if there is one. NULL: as it is. */
static uint8_t *change_member(unsigned *seed, struct part *part, size_t max_size)
{
    char value[LINE_MAX_BYTES];
    const uint8_t *end = part->data + part->size, *from = NULL, *at = part->data;
    for (size_t seen = 1; (at = memmem(at, (size_t)(end - at), "\":", 2)) != NULL; seen++) {
        at += 2;
        from = draw(seed, seen) == 0 ? at : from;
    }
    if (from == NULL) {
        return NULL;
    }
    const uint8_t *to = from;
    while (to < end && strchr(",}\n", *to) == NULL) {
        to++;
    }
    draw_member(seed, value);
    size_t before = (size_t)(from - part->data), after = (size_t)(end - to), length = strlen(value);
    uint8_t *bytes = before + length + after <= max_size ? malloc(before + length + after) : NULL;
    if (bytes != NULL) {
        memcpy(bytes, part->data, before);
        memcpy(bytes + before, value, length);
        memcpy(bytes + before + length, to, after);
        *part = (struct part){bytes, before + length + after};
    }
    return bytes;
}

/* Changes the command line, or one of the files: the size of the first is told as it is then. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct input input;
    char head[2 * LINE_MAX_BYTES];
    uint8_t *bytes = NULL, *all = malloc(max_size + 1);
    if (all == NULL || !take_input(&input, data, size)) {
        free(all);
        return LLVMFuzzerMutate(data, size, max_size);
    }
    struct part *changed = draw(&seed, 2) == 0 ? &input.a : &input.b;
    if (draw(&seed, 3) == 0) {
        change_line(&seed, input.line);
    } else {
        size_t room = changed->size + max_size - size;
        bytes = draw(&seed, 2) == 0 ? change_member(&seed, changed, room) : NULL;
        bytes = bytes != NULL ? bytes : change_bytes(changed, room);
    }
    if (draw(&seed, 64) == 0) {
        input.forms[draw(&seed, 2)] = "rfnp"[draw(&seed, 4)];
    }
    size_t used =
        (size_t)snprintf(head, sizeof head, "%s\n%s %zu\n", input.line, input.forms, input.a.size);
    size_t total = used + input.a.size + input.b.size;
    if (total <= max_size) {
        memcpy(all, head, used);
        memcpy(all + used, input.a.data, input.a.size);
        memcpy(all + used + input.a.size, input.b.data, input.b.size);
        memcpy(data, all, total);
    }
    free(bytes);
    free(all);
    return total <= max_size ? total : size;
}
