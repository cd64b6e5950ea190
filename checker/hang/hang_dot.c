/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/json_text.h"
#include "checker/hang/hang_private.h"

/* A string of Graphviz's language. Texts are clean UTF-8 without control characters. */
static void put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            fputc('\\', out);
        }
        fputc(*text, out);
    }
}

static void put_party(FILE *out, const struct nocap_hang *h, size_t i)
{
    const struct nocap_hang_party *p = &h->parties[i];
    char name[64];
    fprintf(out, "    n%zu [label=\"%s", i, nocap_party_name(&p->id, name, sizeof name));
    if (p->wait != SIZE_MAX) {
        fputs("\\n", out);
        put_text(out, h->waits[p->wait].state);
        if (p->root) {
            fputs("\\n", out);
            put_text(out, h->waits[p->wait].what);
        }
    }
    fprintf(out, "\"%s];\n", p->root ? ", style=filled, fillcolor=\"#f4b6b6\"" : "");
}

enum nocap_status nocap_hang_dot(FILE *out, const struct nocap_hang *h, struct nocap_error *err)
{
    fprintf(out, "digraph hang {\n    label=\"%s\";\n    node [shape=box];\n",
            nocap_hang_verdict_name(h->verdict));
    for (size_t i = 0; i < h->party_count; i++) {
        put_party(out, h, i);
    }
    for (size_t i = 0; i < h->wait_count; i++) {
        const struct nocap_hang_wait *w = &h->waits[i];
        if (w->by == SIZE_MAX) {
            continue;
        }
        fprintf(out, "    n%zu -> n%zu [label=\"", w->who, w->by);
        put_text(out, w->what);
        if (w->wait.counted) {
            fprintf(out, " (%" PRIu64 " of %" PRIu64 ")", w->wait.have, w->wait.need);
        }
        fputs("\"];\n", out);
    }
    fputs("}\n", out);
    return nocap_flush(out, "the graph", err);
}
