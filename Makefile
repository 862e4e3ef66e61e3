# A thin layer over meson and ninja: `make help` lists what there is to make.
#
# Everything that needs set-up depends on it; what is there already is left alone
# (tools/setup), so a second run is quick. Each compiler and each kind of build
# has a folder of its own, build*/, or FOLDER, FOLDER-asan and FOLDER-fuzz with
# BUILD=FOLDER, which may be outside of a tree that is read-only.

PREFIX ?= /usr/local
comma := ,
FUZZ_SECONDS ?= 60
BENCH_FLAGS ?=
BENCH_MINE_FLAGS ?=
BENCH_RECORD_FLAGS ?=
BENCH_BUDGET_FLAGS ?=
BENCH_STACKS_FLAGS ?=
BENCH_HUNT_FLAGS ?= --quick

# `make` alone lets meson choose the compiler; `make CC=clang` builds in build-clang/.
ifneq ($(filter default undefined,$(origin CC)),)
BUILD := build
else
space := $(subst ,, )
suffix := $(filter-out -cc -gcc,-$(subst /,-,$(subst $(space),-,$(strip $(CC)))))
BUILD := build$(suffix)
export CC
endif

# Warnings stop the build only where they are asked to: a compiler that is newer than Lode may have new ones.
# Continuous integration sets CI. Not given, a build folder keeps what it has.
WERROR ?= $(if $(filter true,$(CI)),1)
werror = $(if $(WERROR),-Dwerror=$(if $(filter 0,$(WERROR)),false,true))

# Groups of tools/setup that are in place are marked in the build folder.
mark = $(BUILD)/.setup/$(1)
# $(call configure,FOLDER,OPTIONS OF A NEW FOLDER,OPTIONS OF ANY FOLDER)
configure = tools/configure $(1) -Dprefix=$(PREFIX) -Dpage-modules=$(abspath $(PAGE)/node_modules) $(2) --set $(3)
ASAN := $(BUILD)-asan
TSAN := $(BUILD)-tsan
RELEASE := $(BUILD)-release
DEB := $(BUILD)/deb
# Fuzzing chooses its own compiler.
FUZZ := $(if $(filter command line,$(origin BUILD)),$(BUILD),build)-fuzz
# The architecture of the other kind of machine, in Debian's words.
CROSS ?= $(if $(filter x86_64,$(shell uname -m)),arm64,amd64)
CROSS_BUILD := $(BUILD)-$(CROSS)
# What `make clean` removes: a folder that was named counts only when a build made it.
NAMED := $(patsubst %/.setup,%,$(patsubst %/build.ninja,%,$(foreach folder,$(BUILD) $(ASAN) $(TSAN) $(RELEASE) $(CROSS_BUILD) $(FUZZ),\
	$(firstword $(wildcard $(folder)/.setup $(folder)/build.ninja)))))
FOLDERS := $(if $(filter command line,$(origin BUILD)),$(NAMED),build $(wildcard build-*/))
# What the page is built from: the same for all builds.
PAGE := $(BUILD)/web

.PHONY: all setup check check-all check-cross demo bench fuzz asan tsan install dist deb clean help build-folder FORCE
.DELETE_ON_ERROR:
# apt-get cannot run twice at a time; ninja uses all processors by itself.
.NOTPARALLEL:

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

help:
	@echo 'make            build the program: $(BUILD)/src/cmd/lode'
	@echo 'make demo       build, record small programs that are too slow, and look into them'
	@echo 'make check      the tests, the unit tests under sanitizers, some under ThreadSanitizer, and the rules'
	@echo '                of the house'
	@echo 'make check-all  all tests in each of these builds: for the night, and before a release'
	@echo 'make asan       all tests under sanitizers'
	@echo 'make tsan       all tests with threads under ThreadSanitizer'
	@echo 'make check-cross'
	@echo '                build for the other architecture (CROSS=amd64 or arm64), and run its unit tests under qemu'
	@echo 'make fuzz       each fuzz target for FUZZ_SECONDS (60)'
	@echo 'make bench      import and load, side by side with perf script (needs perf and root); mining; explain; recording;'
	@echo '                user stacks of real programs; latencies, their truth, and finding planted delays in real'
	@echo '                programs; hunting; the page beside speedscope; the'
	@echo '                causes of problems of real services, in the first finding'
	@echo 'make install    build for release, and install under DESTDIR and PREFIX (/usr/local)'
	@echo 'make dist       $(BUILD)/lode-VERSION.tar.xz: what is released, of the last commit'
	@echo 'make deb        Debian packages of it, in $(DEB)'
	@echo 'make setup      install what the build and the tests need, and nothing else'
	@echo 'make clean      remove all build folders, recordings of make bench too'
	@echo 'CC=clang takes another compiler and a build folder of its own.'
	@echo 'WERROR=1 makes warnings errors, as CI=true does; WERROR=0 makes them warnings again.'
	@echo 'BUILD=FOLDER builds in FOLDER, which may be anywhere: for a tree that is read-only.'

setup: $(call mark,build) $(call mark,check)

build-folder:
	@{ mkdir -p $(BUILD) && test -w $(BUILD); } 2>/dev/null || { \
		echo 'make: $(BUILD): nothing can be written there; build elsewhere: make BUILD=/tmp/lode-build' >&2; \
		exit 1; }

$(BUILD)/.setup/%: tools/setup | build-folder
	@tools/setup $*
	@mkdir -p $(@D) && touch $@

# Without it lode is built without its page, and says so. A release has the page already (tools/dist).
$(PAGE)/node_modules/.complete: web/package-lock.json | $(call mark,build)
	@test -e web/page.html || { tools/setup web && tools/web $(PAGE); } || echo 'make: lode is built without its page' >&2

# Each time: compilers may have been replaced since.
$(BUILD)/build.ninja: FORCE | $(call mark,build) $(PAGE)/node_modules/.complete
	@$(call configure,$(BUILD),,$(werror))

$(ASAN)/build.ninja: FORCE | $(call mark,build) $(PAGE)/node_modules/.complete
	@$(call configure,$(ASAN),-Doptimization=1 -Db_sanitize=address$(comma)undefined -Db_lundef=false,$(werror))

# Never with -Werror: fences towards the kernel, which ThreadSanitizer does not know, make gcc warn.
$(TSAN)/build.ninja: FORCE | $(call mark,build) $(PAGE)/node_modules/.complete
	@$(call configure,$(TSAN),-Doptimization=1 -Db_sanitize=thread -Db_lundef=false)

$(FUZZ)/build.ninja: FORCE | $(call mark,build) $(call mark,fuzz)
	@CC=clang $(call configure,$(FUZZ),-Dfuzzing=true)

# Tests run programs that may bring compilers along: those first, then the folders.
check: $(call mark,check) $(BUILD)/build.ninja $(ASAN)/build.ninja $(TSAN)/build.ninja
	@tools/setup browser || echo 'make: the page is not looked at in a browser' >&2
	@tools/check $(BUILD) $(ASAN) $(TSAN)

check-all: $(call mark,check) $(BUILD)/build.ninja $(ASAN)/build.ninja $(TSAN)/build.ninja
	@tools/setup browser || echo 'make: the page is not looked at in a browser' >&2
	@tools/check --all $(BUILD) $(ASAN) $(TSAN)

asan: $(call mark,check) $(ASAN)/build.ninja
	@tools/check --only $(ASAN)

tsan: $(call mark,check) $(TSAN)/build.ninja
	@tools/check --threads $(TSAN)

$(CROSS_BUILD)/build.ninja: tools/cross/$(CROSS).ini | build-folder
	@tools/setup --cross $(CROSS)
	@meson setup $(CROSS_BUILD) -Dprefix=$(PREFIX) $(if $(wildcard $@),--wipe) --cross-file $< -Dwerror=true -Dpage=disabled

check-cross: $(CROSS_BUILD)/build.ninja
	@tools/check --emulated $(CROSS_BUILD)

fuzz: $(FUZZ)/build.ninja
	@tools/fuzz $(FUZZ) $(FUZZ_SECONDS)

demo: $(BUILD)/build.ninja
	@ninja -C $(BUILD) demo-programs
	@demo/run $(BUILD)

bench: $(call mark,bench) all
	@bench/import $(BENCH_FLAGS) $(BUILD) || [ $$? = 77 ]
	@bench/formats $(BENCH_FORMATS_FLAGS) $(BUILD)
	@bench/mine $(BENCH_MINE_FLAGS) $(BUILD)
	@bench/explain $(BUILD)
	@bench/record $(BENCH_RECORD_FLAGS) $(BUILD) || [ $$? = 77 ]
	@bench/record --budget $(BENCH_BUDGET_FLAGS) $(BUILD) || [ $$? = 77 ]
	@for load in turns web database; do bench/slots --load $$load $(BUILD) || [ $$? = 77 ]; done
	@bench/thinned $(BUILD) || [ $$? = 77 ]
	@bench/stacks $(BENCH_STACKS_FLAGS) $(BUILD) || [ $$? = 77 ]
	@bench/languages_cost $(BUILD) || [ $$? = 77 ]
	@ninja -C $(BUILD) bench/latency && $(BUILD)/bench/latency
	@bench/latency-truth --quick $(BUILD) || [ $$? = 77 ]
	@bench/diff $(BUILD) || [ $$? = 77 ]
	@bench/hunt $(BENCH_HUNT_FLAGS) $(BUILD) || [ $$? = 77 ]
	@bench/page $(BUILD) || [ $$? = 77 ]
	@bench/services || [ $$? = 77 ]

# Without the switches that make memory and files fail, which are for the tests.
$(RELEASE)/build.ninja: FORCE | $(call mark,build) $(PAGE)/node_modules/.complete
	@$(call configure,$(RELEASE),-Dbuildtype=release,-Dprefix=$(PREFIX))

install: $(RELEASE)/build.ninja
	@ninja -C $(RELEASE)
	@$(if $(DESTDIR),DESTDIR=$(abspath $(DESTDIR))) meson install -C $(RELEASE)

dist: $(BUILD)/build.ninja
	@test ! -e $(PAGE)/node_modules/.complete || ninja -C $(BUILD) web/page.html
	@tools/dist $(BUILD)

# A release has what 'make dist' would make.
deb: $(call mark,deb) $(if $(wildcard .git),dist)
	@tools/deb $(BUILD) $(DEB)

clean:
	@rm -rf $(FOLDERS) 2>/dev/null || { \
		echo 'make: $(FOLDERS): cannot be removed; is the tree read-only, or a folder of another user?' >&2; \
		exit 1; }
