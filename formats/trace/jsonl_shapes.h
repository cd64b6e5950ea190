/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the JSON Lines reader: lines that differ in nothing but their values, which a program
 * writes by the million, are read without looking for their members again. */
#ifndef NOCAP_TRACE_JSONL_SHAPES_H
#define NOCAP_TRACE_JSONL_SHAPES_H

#include "formats/trace/jsonl_members.h"

enum {
    JSONL_SHAPES_MAX = 16,      /* that are kept */
    JSONL_SHAPE_TEXT_MAX = 512, /* bytes of a line without its values */
    JSONL_SHAPE_STEPS_MAX = 32, /* values of a line, each item of a list for itself */
    JSONL_SHAPE_GUESSES = 64,
    JSONL_SHAPE_NAME_MAX = 16, /* bytes of a name, with its closing quote */
};

enum jsonl_value { JSONL_DECIMAL, JSONL_HEX, JSONL_NAME, JSONL_BYTES };

/* A text that stands in the line, then a value. */
struct jsonl_step {
    uint16_t text_size;
    uint8_t value; /* enum jsonl_value */
    uint8_t field; /* of a name: enum nocap_field */
    uint16_t at;   /* where struct nocap_event holds it */
    uint8_t width; /* bytes there */
    uint8_t name_size;
    uint8_t name_value;
    char name[JSONL_SHAPE_NAME_MAX]; /* that stood there last, with its closing quote */
};

struct jsonl_shape {
    unsigned count;
    struct jsonl_step steps[JSONL_SHAPE_STEPS_MAX];
    char text[JSONL_SHAPE_TEXT_MAX]; /* of all steps, then of the end of the line */
    size_t text_size;
    struct nocap_event event; /* with all that does not depend on values */
};

struct jsonl_shapes {
    unsigned count, learnt;
    uint8_t guess[JSONL_SHAPE_GUESSES]; /* of lines that begin alike, which shape came last */
    struct jsonl_shape list[JSONL_SHAPES_MAX];
    struct jsonl_shape made;
};

/* Whether the line has a shape that is known and values that need no closer look. `payload` has
 * room for half the line; of `event` nothing is promised if it is false. */
bool jsonl_shapes_read(struct jsonl_shapes *shapes, const char *text, size_t size, uint8_t *payload,
                       struct nocap_event *event);
/* The line, taken apart into `members`, is `event`, and is of no known shape. */
void jsonl_shapes_learn(struct jsonl_shapes *shapes, const struct jsonl_members *members,
                        const char *text, size_t size, const struct nocap_event *event);

#endif
