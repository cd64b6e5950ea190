# SPDX-License-Identifier: Apache-2.0
# nocap: build, demo, test, install. `make help` lists the targets.
VERSION := 0.1.0
SOVERSION := 0
ifeq ($(origin CC),default)
CC := gcc
endif
BUILD ?= build
PREFIX ?= /usr/local
# Below PREFIX: the libraries, and the Python module.
LIBDIR ?= lib
# Where the system's Python looks, if that is below PREFIX.
PYTHONDIR ?= $(or $(patsubst $(PREFIX)/%,%,$(filter $(PREFIX)/%,$(shell \
	python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))' 2>/dev/null))),share/nocap/python)
FUZZ_SECONDS ?= 300
CFLAGS ?= -O2 -g
OBJCOPY ?= objcopy
# For what runs while nocap is built.
HOSTCC ?= $(CC)

PKGS := libzstd libprotobuf-c libelf libdw yajl libxxhash
DEPS := gcc libc6-dev make pkg-config libzstd-dev libprotobuf-c-dev protobuf-c-compiler \
	protobuf-compiler libelf-dev libdw-dev libcmocka-dev libyajl-dev libxxhash-dev zstd \
	gcc-riscv64-unknown-elf g++ python3 python3-jsonschema libzydis-dev strace jq \
	libsqlite3-dev sqlite3 libncurses-dev tmux
# What `make fuzz`, `make fuzz-coverage` and a check with the second compiler need on top.
DEPS_CLANG := clang libclang-rt-14-dev llvm
# What `make analyse` needs on top.
DEPS_ANALYSE := clang-tidy cppcheck
# What looks at wave forms; without it that test says that it is skipped.
DEPS_VIEWS := gtkwave
# What `make mpi` needs on top.
DEPS_MPI := libopenmpi-dev openmpi-bin
# What `make bench-peers` compares with.
DEPS_PEERS := lttng-tools liblttng-ust-dev babeltrace2
# What `make deb` needs on top, and `make deb-try` on top of that.
DEPS_DEB := debhelper dh-python lintian fakeroot
DEPS_DEB_TRY := debootstrap

# After `make pgo` all that is compiled in this BUILD is compiled with what the program did; what it
# did not do, as without.
TRAINED := $(if $(wildcard $(BUILD)/trained),-fprofile-use -fprofile-partial-training \
	-Wno-missing-profile -Wno-coverage-mismatch)
# What gcc warns of depends on optimisation: `make WERROR=` for unusual CFLAGS.
WERROR ?= $(if $(TRAINED),,-Werror)
WARN := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wformat=2 $(WERROR)
# Texts of rules are longer than what C99 asks of a compiler.
WARN += -Wno-overlength-strings
# Messages may be cut at the size of their buffer; only gcc has the warning.
WARN += $(if $(findstring clang,$(CC)),,-Wno-format-truncation)
NOCAP_CFLAGS := -std=c11 -D_GNU_SOURCE -fPIC -fno-semantic-interposition -Iinclude -I. \
	-I$(BUILD)/gen \
	-DNOCAP_VERSION='"$(VERSION)"' $(WARN)
# gcc makes `rep stos` and `rep movs` of structs of more than 128 bytes: some processors need 19 ns to
# begin one, where the library's function takes 4 in all.
ifneq ($(findstring clang,$(CC)),clang)
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
NOCAP_CFLAGS += -mmemset-strategy=unrolled_loop:64:noalign,libcall:-1:noalign \
	-mmemcpy-strategy=unrolled_loop:64:noalign,libcall:-1:noalign
endif
endif
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
COMPILE = $(CC) $(NOCAP_CFLAGS) $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(TRAINED)
# Shows what is made; `make V=1` the whole commands, `make -s` nothing.
SILENT := $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
Q = $(if $(V),,@$(if $(SILENT),,printf '  %s\n' '$(@:$(BUILD)/%=%)';))
LINK = $(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed
# All debug information of the library in each test would take longer than to compile them;
# `make TEST_LDFLAGS=` for a debugger.
TEST_LDFLAGS ?= $(if $(findstring -fsanitize,$(CFLAGS)),,-Wl,-S)

# Libraries of their own, which programs load in place of others or beside them.
TTSIM_SRC := $(wildcard capture/ttsim/*.c)
PRELOAD_SRC := $(wildcard capture/preload/*.c)
LIB_SRC := $(filter-out $(TTSIM_SRC) $(PRELOAD_SRC) checker/rules/%,$(wildcard api/*.c base/*.c formats/*.c formats/*/*.c replay/*.c \
	replay/*/*.c checker/*.c checker/*/*.c capture/*/*.c capture/sim/*/*.c))
# Compiled twice: for the program, and as an extension for the shell of SQLite.
SQL_SRC := $(wildcard checker/query/sql/*.c)
CLI_SRC := $(sort $(wildcard cli/*.c))
TEST_SRC := $(wildcard tests/test_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)
PROTO := $(BUILD)/gen/formats/trace/nocap.pb-c
# The rule set, a file a family, in the order in which the rules are listed.
RULE_FAMILIES := TRC MAP RST SYN GO TNX CQ NOC AIE TXN
RULE_FILES := $(RULE_FAMILIES:%=checker/rules/%.rules)
RULE_IDS := $(BUILD)/gen/replay/core/rule_ids.h
PROFILES := $(sort $(wildcard formats/profile/*.json))
SHIPPED := $(BUILD)/gen/formats/profile/shipped.inc
# The page of `nocap export --to html`, as texts of C.
PAGE := $(patsubst checker/%,$(BUILD)/gen/checker/%.inc,$(wildcard checker/views/*.html $(addprefix checker/views/,*.css *.js uplot/*)))
RULE_TABLES := $(BUILD)/gen/checker/rule_tables.c
MAKE_RULES := $(BUILD)/make_rules
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/gen/nocap.pb-c.o $(BUILD)/obj/gen/rule_tables.o
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/obj/%.o) $(SQL_SRC:%.c=$(BUILD)/obj/%.o)
CLI_LIBS := -lsqlite3 -lncurses -ltinfo
SQL_OBJ := $(SQL_SRC:%.c=$(BUILD)/obj/extension/%.o)
# The program as a function, for the fuzz target that calls it.
CALLED_OBJ := $(filter-out $(BUILD)/obj/cli/main.o,$(CLI_OBJ))
TESTS := $(TEST_SRC:tests/%.c=$(BUILD)/tests/%)
REPLAYS := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/tests/replay_%)
FUZZERS := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzzers/%)
SCRIPTS := $(sort $(wildcard tests/cli/test_*.sh))
# Those that do the more the longer they may, and take longest: first, so that none is left at the end.
LONG := $(patsubst %,$(BUILD)/tests/test_%,sim_profiles sim_profiles_runs sim_queues sim_cq sim_cq_long sim_gate cq_shown cut metamorphic aie_identity \
	beside begun)
LONG_SCRIPTS := $(patsubst %,tests/cli/test_%.sh,host_only golden recompress shard usage profile_queue views \
	dense model read_errors full_view width profile)
# So many runs of each fault; `make long-seeds LONG_SEEDS=1` is a part of it.
LONG_SEEDS ?= 50
# What starts threads; the thread sanitizer has nothing to say of the rest, and takes ten times as long.
THREADED := test_base test_beside test_recorder test_recorder_order test_recorder_full test_recorder_kill test_rings test_ttsim test_preload
THREADED_SCRIPTS := capture check ci golden live output recorder
BENCHES := $(BENCH_SRC:tests/bench/%.c=$(BUILD)/bench/%)
# What is installed; all else is private.
HEADERS := $(wildcard include/nocap/*.h)
# All objects of the library, for the program, the shims and the tests.
INTERNAL := $(BUILD)/internal.a

SHIMS := $(BUILD)/libnocap-ttsim.so $(BUILD)/libnocap-preload.so $(BUILD)/libnocap-sqlite.so
FAKES := $(patsubst tests/fakes/%.c,$(BUILD)/tests/libfake-%.so,$(wildcard tests/fakes/*.c)) \
	$(BUILD)/tests/kmd_client $(BUILD)/tests/kmd_ways $(BUILD)/tests/sim_client

all: $(BUILD)/nocap $(BUILD)/libnocap.a $(BUILD)/libnocap.so $(SHIMS) ## program and libraries (default)

# A change of compiler or flags rebuilds; the file changes only when its text does.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(COMPILE) $(LDFLAGS))' | cmp -s - $@ || \
	 printf '%s\n' '$(subst ','\'',$(COMPILE) $(LDFLAGS))' > $@

$(PROTO).c $(PROTO).h &: formats/trace/nocap.proto
	@mkdir -p $(BUILD)/gen
	$(Q)protoc-c --c_out=$(BUILD)/gen -I. formats/trace/nocap.proto
# The rules have one list; the models need no more of it than their names. What says the same as before
# is not touched, so that a rule's text does not build the models again.
$(MAKE_RULES): $(wildcard checker/rules/*.[ch]) formats/trace/header.h include/nocap/trace.h
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=c11 -D_GNU_SOURCE -I. -Iinclude -Wall -Wextra $(WERROR) -O1 -o $@ $(filter %.c,$^)
$(BUILD)/gen/rules.stamp: $(MAKE_RULES) $(RULE_FILES) checker/rules/examples $(wildcard checker/rules/examples/*)
	@mkdir -p $(dir $(RULE_IDS) $(RULE_TABLES))
	$(Q)$(MAKE_RULES) ids $(RULE_IDS) $(RULE_FILES)
	@$(MAKE_RULES) tables $(RULE_TABLES) $(RULE_FILES)
	@touch $@
$(RULE_IDS) $(RULE_TABLES): $(BUILD)/gen/rules.stamp ;
$(BUILD)/obj/gen/rule_tables.o: $(RULE_TABLES) $(BUILD)/flags | $(PROTO).h $(RULE_IDS)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -Wno-overlength-strings -MMD -MP -c -o $@ $<
# Profiles as texts of C: {"name", "the JSON of its file"}.
$(SHIPPED): $(PROFILES) Makefile
	@mkdir -p $(@D)
	$(Q){ for p in $(PROFILES); do printf '{"%s",\n' $$(basename $$p .json); \
	 sed 's/["\\]/\\&/g; s/.*/ "&\\n"/' $$p; echo '},'; done; } > $@
$(BUILD)/gen/checker/views/%.inc: checker/views/% Makefile
	@mkdir -p $(@D)
	$(Q)sed 's/["\\?]/\\&/g; s/.*/"&\\n"/' $< > $@ # \? since ??= is a trigraph
$(BUILD)/obj/gen/nocap.pb-c.o: $(PROTO).c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -fPIC -I$(BUILD)/gen $(PKG_CFLAGS) $(CFLAGS) -w -c -o $@ $<
$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(PROTO).h $(RULE_IDS) $(SHIPPED) $(PAGE)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<
$(LIB_OBJ): private NOCAP_CFLAGS += -fvisibility=hidden
$(INTERNAL): $(LIB_OBJ)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
# One object of which nothing but what libnocap.map lists is seen from outside.
$(BUILD)/libnocap.a: $(LIB_OBJ) libnocap.map
	@rm -f $@
	@sed -n 's/^ *\(nocap_[a-z0-9_]*\);$$/\1/p' libnocap.map > $(BUILD)/libnocap.symbols
	$(Q)$(CC) -r -nostdlib -o $(BUILD)/libnocap.o $(LIB_OBJ)
	@$(OBJCOPY) --keep-global-symbols=$(BUILD)/libnocap.symbols $(BUILD)/libnocap.o
	@$(AR) rcs $@ $(BUILD)/libnocap.o
$(BUILD)/libnocap.so: $(LIB_OBJ) libnocap.map
	$(Q)$(LINK) -shared -Wl,-soname,libnocap.so.$(SOVERSION) -Wl,--version-script,libnocap.map \
		-Wl,-z,defs -o $@ $(LIB_OBJ) $(PKG_LIBS)
$(BUILD)/libnocap-ttsim.so: $(TTSIM_SRC:%.c=$(BUILD)/obj/%.o) $(INTERNAL) capture/ttsim/exports.map
	$(Q)$(LINK) -shared -Wl,--version-script,capture/ttsim/exports.map -Wl,-z,defs -o $@ \
		$(filter %.o %.a,$^) $(PKG_LIBS) -ldl
# Nothing but what EXPORT names is seen from outside. What stands before functions of the C library
# cannot be compiled against their fortified forms.
$(PRELOAD_SRC:%.c=$(BUILD)/obj/%.o): private NOCAP_CFLAGS += -fvisibility=hidden
$(PRELOAD_SRC:%.c=$(BUILD)/obj/%.o): private override CPPFLAGS += -U_FORTIFY_SOURCE
$(BUILD)/libnocap-preload.so: $(PRELOAD_SRC:%.c=$(BUILD)/obj/%.o) $(INTERNAL)
	$(Q)$(LINK) -shared -Wl,--exclude-libs,ALL -Wl,-z,defs -Wl,-z,now -o $@ $^ $(PKG_LIBS) -lZydis -ldl
$(SQL_OBJ): private NOCAP_CFLAGS += -fvisibility=hidden -DNOCAP_SQL_EXTENSION
$(BUILD)/obj/extension/%.o: %.c $(BUILD)/flags | $(PROTO).h $(RULE_IDS) $(SHIPPED)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<
$(BUILD)/libnocap-sqlite.so: $(SQL_OBJ) $(INTERNAL)
	$(Q)$(LINK) -shared -Wl,--exclude-libs,ALL -Wl,-z,defs -o $@ $^ $(PKG_LIBS)
$(BUILD)/nocap: $(CLI_OBJ) $(INTERNAL)
	$(Q)$(LINK) $(PROGRAM_LDFLAGS) -o $@ $^ $(PKG_LIBS) $(CLI_LIBS)
$(BUILD)/obj/tests/%.o: private CPPFLAGS += -DGOLDEN_DIR='"$(CURDIR)/golden"' \
	-DDATA_DIR='"$(CURDIR)/tests/data"' -DEXAMPLES_DIR='"$(CURDIR)/checker/rules/examples"'
$(BUILD)/tests/test_%: $(BUILD)/obj/tests/test_%.o $(INTERNAL)
	@mkdir -p $(@D)
	$(Q)$(LINK) $(TEST_LDFLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka
# A program that tests run under the driver shim.
$(BUILD)/tests/kmd_client: $(patsubst %,$(BUILD)/obj/tests/%.o,kmd_client kmd_client_rest kmd_client_queue) $(INTERNAL)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(PKG_LIBS) -lpthread
$(BUILD)/tests/kmd_ways: $(BUILD)/obj/tests/kmd_ways.o
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lpthread
# A host of a simulator.
$(BUILD)/tests/sim_client: $(BUILD)/obj/tests/sim_client.o $(INTERNAL)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(PKG_LIBS) $(CLI_LIBS) -lpthread -ldl
# Stand-ins for what tests cannot have.
$(BUILD)/tests/libfake-%.so: $(BUILD)/obj/tests/fakes/%.o $(INTERNAL)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -Wl,--exclude-libs,ALL -o $@ $^ -ldl
# Each fuzz target once more as a plain program that runs its corpus.
$(BUILD)/tests/replay_%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/driver.o \
		$(INTERNAL)
	@mkdir -p $(@D)
	$(Q)$(LINK) $(TEST_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PKG_LIBS) $(CLI_LIBS)
$(BUILD)/fuzzers/%: $(BUILD)/obj/tests/fuzz/%.o $(INTERNAL)
	@mkdir -p $(@D)
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PKG_LIBS) $(CLI_LIBS)
$(BUILD)/tests/replay_fuzz_program $(BUILD)/fuzzers/fuzz_program: $(CALLED_OBJ)
$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(INTERNAL)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(PKG_LIBS)

deps: ## install what the build needs (Debian; as root), or print the command
	@.ci/deps $(DEPS)
deps-clang: ## the same for clang and the fuzzers
	@.ci/deps $(DEPS) $(DEPS_CLANG)

deps-more: ## what some tests use if it is there, and what nocap-mpi needs
	@.ci/deps $(DEPS_VIEWS) $(DEPS_MPI)

# After `deps` make starts afresh, so that pkg-config finds what was just installed.
demo: deps ## capture the built-in device model, check its trace; then a fault and its finding
	+@$(MAKE) --no-print-directory demo-run
demo-run: $(BUILD)/nocap
	@tests/cli/demo.sh $(BUILD)
# A program of its own, for which nocap needs nothing.
MPICC ?= mpicc
mpi: deps ## nocap-mpi, check over the ranks of Open MPI, and its test
	@.ci/deps $(DEPS_MPI)
	+@$(MAKE) --no-print-directory $(BUILD)/nocap-mpi $(BUILD)/nocap
	@tests/run $(BUILD) tests/cli/mpi.sh
$(BUILD)/obj/cli/mpi/main.o: cli/mpi/main.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)OMPI_CC='$(CC)' $(MPICC) $(NOCAP_CFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/nocap-mpi: $(BUILD)/obj/cli/mpi/main.o $(filter-out $(BUILD)/obj/cli/main.o,$(CLI_OBJ)) $(INTERNAL)
	$(Q)OMPI_CC='$(CC)' $(MPICC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $^ $(PKG_LIBS) $(CLI_LIBS) -lpthread
pgo: deps ## all of it compiled with what the program did on traces of the device model: faster by a tenth
	+@$(MAKE) --no-print-directory pgo-run
pgo-run:
	$(if $(findstring clang,$(CC)),$(error `make pgo` is for gcc))
	@rm -f $(BUILD)/trained
	@find $(BUILD)/obj -name '*.gcda' -delete 2>/dev/null || true
	+@$(MAKE) --no-print-directory WERROR= CFLAGS='$(CFLAGS) -fprofile-generate' $(BUILD)/nocap
	$(Q)tests/bench/train $(BUILD)/nocap
	@touch $(BUILD)/trained
	+@$(MAKE) --no-print-directory all
test: deps ## unit tests, program tests, fuzz corpora; ends with the sums
	+@$(MAKE) --no-print-directory test-run
test-run: all $(MAKE_RULES) $(TESTS) $(REPLAYS) $(FAKES)
	@tests/run $(BUILD) $(filter $(LONG),$(TESTS)) $(SCRIPTS) $(filter-out $(LONG),$(TESTS)) $(REPLAYS)
long-seeds: all $(LONG) $(FAKES) ## what `make test` does with few seeds, with LONG_SEEDS (50) of them
	@NOCAP_LONG_SEEDS=$(LONG_SEEDS) TEST_SECONDS=$${TEST_SECONDS:-86400} nice tests/run $(BUILD) $(LONG) $(LONG_SCRIPTS)
long-runs: long-seeds ## the same; faults in every system call; each exception switched off
	@nice tests/faults $(BUILD)
	@python3 tests/rules_filter $(BUILD)/nocap 500 1 golden/*.nocap
	@nice tests/exceptions $(BUILD)
check-units: $(TESTS) $(SHIMS) $(FAKES) ## the unit tests only
	@tests/run $(BUILD) $(TESTS)

SAN_CFLAGS := -O1 -g -fno-omit-frame-pointer
# Tests start the program some ten thousand times: at fixed addresses and with its run time inside
# it starts in half the time.
ASAN_PROGRAM := $(if $(findstring clang,$(CC)),,-no-pie -static-libasan -static-libubsan)
asan: deps ## everything once more with address and undefined-behaviour sanitizers
	+@TEST_SECONDS=$${TEST_SECONDS:-1200} $(MAKE) --no-print-directory test-run BUILD=$(BUILD)/asan WERROR= CFLAGS='$(SAN_CFLAGS) \
		-fsanitize=address$(,)undefined -fno-sanitize-recover=all' PROGRAM_LDFLAGS='$(ASAN_PROGRAM)'
tsan: deps ## what has threads once more with the thread sanitizer
	+@$(MAKE) --no-print-directory test-run BUILD=$(BUILD)/tsan WERROR= CFLAGS='$(SAN_CFLAGS) \
		-fsanitize=thread' TESTS='$(THREADED:%=$(BUILD)/tsan/tests/%)' \
		REPLAYS=$(BUILD)/tsan/tests/replay_fuzz_program \
		SCRIPTS='$(THREADED_SCRIPTS:%=tests/cli/test_%.sh)'
fuzz: deps-clang ## every fuzz target for FUZZ_SECONDS (300) with clang's libFuzzer
	+@$(MAKE) --no-print-directory fuzz-run BUILD=$(BUILD)/fuzz CC=clang WERROR= \
		CFLAGS='$(SAN_CFLAGS) -fsanitize=fuzzer-no-link$(,)address$(,)undefined -fno-sanitize-recover=all'
fuzz-coverage: deps-clang ## lines of each parser that the fuzz corpora reach
	@tests/fuzz/coverage $(BUILD)/coverage
replays: $(REPLAYS)
fuzz-run: $(FUZZERS)
	@tests/fuzz/run $(BUILD) $(FUZZ_SECONDS) $(FUZZERS)
analyse: deps ## clang-tidy and cppcheck over all sources, without findings
	@.ci/deps $(DEPS_ANALYSE)
	+@$(MAKE) --no-print-directory analyse-run
analyse-run: all
	@tests/analyse $(BUILD) -std=c11 -D_GNU_SOURCE -Iinclude -I. -I$(BUILD)/gen \
		$(PKG_CFLAGS) "-DNOCAP_VERSION='\"$(VERSION)\"'" -- \
		$(LIB_SRC) $(TTSIM_SRC) $(PRELOAD_SRC) $(CLI_SRC) $(SQL_SRC)
bench: deps ## measured speed of reading, checking and converting
	+@$(MAKE) --no-print-directory bench-run
bench-peers: deps ## the same beside LTTng and babeltrace2, which it installs
	@.ci/deps $(DEPS_PEERS)
	+@$(MAKE) --no-print-directory $(BUILD)/nocap $(BENCHES)
	@tests/bench/peers/run $(BUILD)
REV ?= HEAD
bench-compare: $(BUILD)/nocap ## this tree's program beside that of revision REV (HEAD), pairwise
	@tests/bench/compare $(BUILD) $(REV)
bench-run: $(BUILD)/nocap $(BENCHES) $(SHIMS) $(FAKES)
	@set -e; for b in $(BENCHES); do $$b $(BUILD); done; tests/bench/check $(BUILD)

man: $(BUILD)/man/nocap.1 ## manual pages, one a command, of what --help says: $(BUILD)/man
$(BUILD)/man/nocap.1: $(BUILD)/nocap docs/man/page $(wildcard docs/man/*.roff)
	@mkdir -p $(@D)
	$(Q)for c in $$($(BUILD)/nocap --help | sed -n '/^[a-z]*:$$/,$$s/^  \([a-z]*\) .*/\1/p'); do \
		docs/man/page $(BUILD)/nocap $$c > $(@D)/nocap-$$c.1 || exit 1; done; \
		docs/man/page $(BUILD)/nocap > $@

# Where it goes, as one word of the shell: a path may have blanks.
INTO = "$(DESTDIR)$(PREFIX)"
INTO_LIB = "$(DESTDIR)$(PREFIX)/$(LIBDIR)"
# Debian's static yajl has a name that its own pkg-config file does not know.
YAJL_STATIC = $(if $(wildcard $(shell pkg-config --variable=libdir yajl)/libyajl_s.a),-lyajl_s)
install: all man ## into $(DESTDIR)$(PREFIX)
	install -d $(INTO)/bin $(INTO_LIB)/pkgconfig $(INTO)/lib/nocap $(INTO)/include/nocap \
		$(INTO)/share/man/man1 \
		$(INTO)/share/bash-completion/completions
	install -m 755 $(BUILD)/nocap $(INTO)/bin/nocap
	install -m 644 $(BUILD)/libnocap.a $(INTO_LIB)/libnocap.a
	install -m 755 $(SHIMS) $(INTO)/lib/nocap/
	install -m 755 $(BUILD)/libnocap.so $(INTO_LIB)/libnocap.so.$(VERSION)
	ln -sf libnocap.so.$(VERSION) $(INTO_LIB)/libnocap.so.$(SOVERSION)
	ln -sf libnocap.so.$(VERSION) $(INTO_LIB)/libnocap.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' \
		-e 's|@PKGS@|$(if $(YAJL_STATIC),$(filter-out yajl,$(PKGS)),$(PKGS))|' \
		-e 's|@PRIVATE@|$(YAJL_STATIC)|' nocap.pc.in > $(INTO_LIB)/pkgconfig/nocap.pc
	install -m 644 $(HEADERS) $(INTO)/include/nocap/
	install -D -m 644 capture/python/nocap.py "$(DESTDIR)$(PREFIX)/$(PYTHONDIR)/nocap.py"
	install -m 644 $(BUILD)/man/*.1 $(INTO)/share/man/man1/
	install -m 644 cli/nocap.bash-completion $(INTO)/share/bash-completion/completions/nocap
uninstall: ## take that away again
	rm -f $(INTO)/bin/nocap $(INTO_LIB)/libnocap.a $(INTO_LIB)/libnocap.so* \
		$(INTO_LIB)/pkgconfig/nocap.pc $(INTO)/share/man/man1/nocap.1 \
		$(INTO)/share/man/man1/nocap-*.1 \
		$(INTO)/share/bash-completion/completions/nocap \
		"$(DESTDIR)$(PREFIX)/$(PYTHONDIR)/nocap.py"
	rm -rf $(INTO)/include/nocap $(INTO)/lib/nocap $(INTO)/share/nocap

dist: ## source archive of the commit that is checked out: $(BUILD)/nocap-VERSION.tar.gz
	@mkdir -p $(BUILD)
	@git diff --quiet HEAD || echo 'not in the archive: changes that are not committed' >&2
	git archive --format=tar.gz --prefix=nocap-$(VERSION)/ -o $(BUILD)/nocap-$(VERSION).tar.gz HEAD
deb: dist ## Debian packages of that archive in $(BUILD)/deb; lintian looks at them
	@.ci/deps $(DEPS) $(DEPS_DEB)
	debian/build $(BUILD) $(VERSION)
deb-try: ## install these in a new minimal Debian and run what they have there (root)
	@.ci/deps $(DEPS_DEB_TRY)
	debian/try $(BUILD)/deb

docs: $(MAKE_RULES) ## make docs/rules from the rule set
	@mkdir -p docs/rules
	@$(MAKE_RULES) index docs/rules/README.md $(RULE_FILES)
	@for f in $(RULE_FAMILIES); do $(MAKE_RULES) $$f docs/rules/$$f.md $(RULE_FILES) || exit 1; done

FORMAT ?= $(LIB_SRC) $(CLI_SRC) $(SQL_SRC) $(TEST_SRC) $(FUZZ_SRC)
format: ## clang-format the sources in place, or those of FORMAT="..."
	clang-format -i $(FORMAT)
clean: ## remove the build directory
	rm -rf $(BUILD)
help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

, := ,
FORCE:
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all man deps deps-clang demo demo-run pgo pgo-run test test-run long-seeds long-runs check-units asan tsan fuzz fuzz-run \
	fuzz-coverage replays analyse analyse-run bench bench-run bench-compare install uninstall dist deb deb-try \
	docs format clean help FORCE
-include $(TTSIM_SRC:%.c=$(BUILD)/obj/%.d) $(SQL_OBJ:.o=.d) $(PRELOAD_SRC:%.c=$(BUILD)/obj/%.d) $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(TEST_SRC:%.c=$(BUILD)/obj/%.d) \
	$(FUZZ_SRC:%.c=$(BUILD)/obj/%.d) $(BENCH_SRC:%.c=$(BUILD)/obj/%.d)
