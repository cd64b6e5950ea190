# nocap: build, demo, test. `make help` lists the targets.
VERSION := 0.1.0
CC ?= gcc
BUILD ?= build
PKGS := libzstd libprotobuf-c libelf libdw yajl
WARN := -Wall -Wextra -Wconversion -Wshadow -Werror
CFLAGS ?= -O2 -g
NOCAP_CFLAGS := -std=c11 -D_GNU_SOURCE -fPIC -fvisibility=hidden -I. -I$(BUILD)/gen -DNOCAP_VERSION='"$(VERSION)"' $(WARN)
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS))
LDLIBS = $(shell pkg-config --libs $(PKGS))

LIB_SRC := $(wildcard formats/*.c formats/*/*.c replay/*.c checker/*.c capture/*/*.c)
CLI_SRC := $(wildcard cli/*.c)
GEN := $(BUILD)/gen/formats/trace/nocap.pb-c.c
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/gen/nocap.pb-c.o
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/obj/%.o)
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))

all: $(BUILD)/nocap $(BUILD)/libnocap.a

$(BUILD)/gen/formats/trace/nocap.pb-c.c: formats/trace/nocap.proto
	@mkdir -p $(BUILD)/gen
	protoc-c --c_out=$(BUILD)/gen -I. formats/trace/nocap.proto
$(BUILD)/gen/formats/trace/nocap.pb-c.h: $(GEN)
$(BUILD)/obj/gen/nocap.pb-c.o: $(GEN)
	@mkdir -p $(@D)
	$(CC) -std=c11 -fPIC -I$(BUILD)/gen $(CFLAGS) -w -c -o $@ $<
$(BUILD)/obj/%.o: %.c | $(GEN)
	@mkdir -p $(@D)
	$(CC) $(NOCAP_CFLAGS) $(PKG_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/libnocap.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^
$(BUILD)/nocap: $(CLI_OBJ) $(BUILD)/libnocap.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/libnocap.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

check-units: $(TESTS)
	@for t in $(TESTS); do $$t || exit 1; done

clean:
	rm -rf $(BUILD)
.PHONY: all check-units clean
.SECONDARY:
-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d)
