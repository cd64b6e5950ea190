/* SPDX-License-Identifier: Apache-2.0 */
/* For waveform viewers: a value change dump. The signals must be declared before the first change,
 * so changes go to a temporary file until all signals are known. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/temporary.h"
#include "checker/views/view.h"

/* Slices become a wire of one bit: something is open. */
struct signal {
    struct nocap_track what;
    uint32_t number;
    uint8_t open;
};

struct vcd {
    FILE *out, *changes;
    bool cycles;
    struct signal *signals; /* by number of the track - 1; number 0: there is none */
    uint32_t count;
    bool timed, left_out, out_of_memory; /* left_out: findings, waits at the end */
    uint64_t t;
};

static struct signal *signal_of(struct vcd *v, uint32_t number)
{
    return number <= v->count ? &v->signals[number - 1] : NULL;
}

static void track(void *view, uint32_t number, const struct nocap_track *t)
{
    struct vcd *v = view;
    while (number > v->count) {
        if (LIST_NEXT(v->signals, v->count) == NULL) {
            v->out_of_memory = true;
            return;
        }
        v->count++;
    }
    v->signals[number - 1] = (struct signal){.what = *t, .number = number};
}

/* ---- changes ---- */

/* Identifiers are of printable characters, '!' to '~'. */
static void put_id(FILE *out, uint32_t number)
{
    for (uint32_t n = number; n != 0; n /= 94) {
        fputc('!' + (int)(n % 94), out);
    }
}

/* Time in the file does not go back: what is reported late is reported now. */
static void put_time(struct vcd *v, uint64_t t)
{
    if (!v->timed || t > v->t) {
        v->t = t;
        v->timed = true;
        fprintf(v->changes, "#%llu\n", (unsigned long long)t);
    }
}

static void put_value(struct vcd *v, const struct signal *s, uint64_t t, uint64_t value, bool known)
{
    put_time(v, t);
    if (s->what.bits <= 1) {
        fputc(!known ? 'x' : value != 0 ? '1' : '0', v->changes);
    } else {
        fputc('b', v->changes);
        unsigned bits = s->what.bits;
        for (unsigned i = bits; i-- > 0 && known;) {
            fputc('0' + (int)(value >> i & 1), v->changes);
        }
        fputs(known ? " " : "x ", v->changes);
    }
    put_id(v->changes, s->number);
    fputc('\n', v->changes);
}

static void begin(void *view, uint32_t number, uint64_t t, const struct nocap_mark *mark)
{
    struct vcd *v = view;
    struct signal *s = signal_of(v, number);
    (void)mark;
    if (s != NULL && s->what.role != NOCAP_ROLE_WAIT && s->open++ == 0) {
        put_value(v, s, t, 1, true);
    }
}

static void end(void *view, uint32_t number, uint64_t t)
{
    struct vcd *v = view;
    struct signal *s = signal_of(v, number);
    if (s != NULL && s->open != 0 && --s->open == 0) {
        put_value(v, s, t, 0, true);
    }
}

/* Has no place in a waveform. */
static void instant(void *view, uint32_t number, uint64_t t, const struct nocap_mark *mark)
{
    const struct signal *s = signal_of(view, number);
    (void)t;
    ((struct vcd *)view)->left_out |=
        mark->finding != NULL || (s != NULL && s->what.role == NOCAP_ROLE_WAIT);
}

static void value(void *view, uint32_t number, uint64_t t, uint64_t v,
                  const struct nocap_mark *mark)
{
    const struct signal *s = signal_of(view, number);
    if (s != NULL) {
        put_value(view, s, t, v, mark != NULL);
    }
}

/* ---- the whole ---- */

/* Without what stands after it in parentheses, for people. */
static void put_name(FILE *out, const char *name)
{
    const char *end = strstr(name, " (");
    for (; *name != '\0' && name != end; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                     (*name >= '0' && *name <= '9');
        fputc(plain ? *name : '_', out);
    }
}

static bool has_wire(const struct signal *s)
{
    return s->number != 0 && s->what.kind != NOCAP_TRACK_GROUP && s->what.role != NOCAP_ROLE_WAIT &&
           s->what.role != NOCAP_ROLE_FINDING;
}

static void put_wires(const struct vcd *v, uint32_t group)
{
    for (uint32_t i = 0; i < v->count; i++) {
        const struct signal *s = &v->signals[i];
        if (has_wire(s) && s->what.parent == group) {
            fprintf(v->out, "$var wire %u ", s->what.bits > 1 ? s->what.bits : 1u);
            put_id(v->out, s->number);
            fputc(' ', v->out);
            put_name(v->out, s->what.name);
            fprintf(v->out, "_%u $end\n", s->number);
        }
    }
}

static void put_declarations(const struct vcd *v)
{
    fprintf(v->out,
            "$version nocap %s $end\n$comment %s $end\n$timescale 1 ns $end\n"
            "$scope module trace $end\n",
            NOCAP_VERSION, v->cycles ? "one unit of time is one cycle" : "times are nanoseconds");
    for (uint32_t i = 0; i < v->count; i++) {
        const struct signal *s = &v->signals[i];
        if (s->number != 0 && s->what.kind == NOCAP_TRACK_GROUP) {
            fputs("$scope module ", v->out);
            put_name(v->out, s->what.name);
            fputs(" $end\n", v->out);
            put_wires(v, s->number);
            fputs("$upscope $end\n", v->out);
        }
    }
    fputs("$upscope $end\n$enddefinitions $end\n", v->out);
    fputs("$dumpvars\n", v->out);
    for (uint32_t i = 0; i < v->count; i++) {
        if (has_wire(&v->signals[i])) {
            fputs(v->signals[i].what.kind == NOCAP_TRACK_SLICES ? "0"
                  : v->signals[i].what.bits > 1                 ? "bx "
                                                                : "x",
                  v->out);
            put_id(v->out, v->signals[i].number);
            fputc('\n', v->out);
        }
    }
    fputs("$end\n", v->out);
}

static enum nocap_status finish(void *view, const struct view_end *e,
                                struct nocap_export_result *result, struct nocap_error *err)
{
    struct vcd *v = view;
    char block[1 << 16];
    size_t size;
    RETURN_ERROR_IF(v->out_of_memory, err, NOCAP_E_MEMORY, "out of memory");
    result->empty = v->timed ? NULL : "there is no signal that changes";
    put_time(v, e->hang->report->t_last);
    RETURN_ERROR_IF(fflush(v->changes) != 0 || fseek(v->changes, 0, SEEK_SET) != 0, err,
                    NOCAP_E_OUTPUT, "cannot write a temporary file: %s", strerror(errno));
    put_declarations(v);
    while ((size = fread(block, 1, sizeof block, v->changes)) != 0) {
        fwrite(block, 1, size, v->out);
    }
    RETURN_ERROR_IF(ferror(v->changes), err, NOCAP_E_OUTPUT, "cannot read a temporary file");
    if (v->left_out) {
        result->missing = "a waveform has no place for findings and who waits at the end";
    }
    return NOCAP_OK;
}

static void header(void *view, const struct nocap_header *h)
{
    ((struct vcd *)view)->cycles = h->time_unit == NOCAP_TIME_CYCLES;
}

static void close_view(void *view)
{
    struct vcd *v = view;
    fclose(v->changes);
    free(v->signals);
    free(v);
}

static void *open_view(FILE *out)
{
    struct vcd *v = calloc(1, sizeof *v);
    int fd = v != NULL ? temporary_nameless() : -1;
    FILE *changes = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (changes == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        free(v);
        return NULL;
    }
    v->out = out;
    v->changes = changes;
    return v;
}

const struct view_ops view_vcd = {
    .items = {.track = track, .begin = begin, .end = end, .instant = instant, .value = value},
    .open = open_view,
    .header = header,
    .finish = finish,
    .close = close_view,
};
