# shardsim: GNU make 4.3 or later.
#
#   make              libshardsim.a, libshardsim.so and build/shardsim
#   make check        all tests; check_<module> runs one test program
#   make sweep        the main job: speedups over the published model scenarios
#   make results      regenerate results/
#   make check-page   the HTML report in headless Chromium: sorting, filtering, widths
#   make check-slurm  a sweep on a real Slurm cluster of two nodes on this machine
#   make check-emit   plans as programs: 200 under mpirun, 10,000 by interpreters; minutes
#   make check-exhaustive   every small problem with every planner: minutes
#   make fuzz         SECONDS=60: random texts for every reader, that long for each
#   make bench        what planning, clocks, sweeps and large machines cost
#   make bench-home   plans under mpirun on this machine beside what is simulated of them
#   make bench-peers  simulated times, seconds and memory beside SMPI
#   make coverage     the tests again, counting the lines of models/ and sim/ they reach
#   make valgrind     the smoke suite under valgrind; a leak is an error
#   make install      PREFIX=/usr/local DESTDIR=
#   make format, format-check, tidy, layers, compile_commands.json, deps, clean
#
# VARIANT=release (default), debug, asan, cov or fuzz (clang's) selects build/$(VARIANT)/. The binary
# build/shardsim is the release one whatever VARIANT says. CC, CFLAGS, CPPFLAGS, LDFLAGS
# and LDLIBS are honoured; CFLAGS come last, so they override ours.

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules
# All cores, unless -j was given (make lets the command line win) or make called us.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

VERSION := $(shell sed -n 's/^#define SHARDSIM_VERSION "\(.*\)"/\1/p' models/shardsim.h)
SOVERSION := 0
VARIANT := release
PREFIX := /usr/local
DESTDIR :=

VARIANTS := release debug asan cov fuzz
ifeq ($(filter $(VARIANT),$(VARIANTS)),)
$(error VARIANT=$(VARIANT) is none of: $(VARIANTS))
endif

export LC_ALL := C
B := build/$(VARIANT)

# `make V=1` shows the commands; else only what compilers have to say is seen.
ifneq ($V,1)
quiet := @
endif

# --- flags ---------------------------------------------------------------------------
#
# One set for every file, so that the compilation database tells the truth. Contraction
# is off because tables must have the same digits whichever compiler built the program.

FLAGS_release := -O2 -g
FLAGS_debug := -Og -g
FLAGS_asan := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined
# The counters between its branches hide from gcc what is always set.
FLAGS_cov := -O1 -g --coverage -Wno-maybe-uninitialized
FLAGS_fuzz := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined -fsanitize=fuzzer-no-link
LINK_asan := -fsanitize=address,undefined
LINK_cov := --coverage

# SimGrid's headers alone: sim/platform/simgrid.c loads the library when it is needed.
PACKAGES := simgrid gsl check yaml-0.1 libxml-2.0 jansson sqlite3

# Asked once, at first use and not before: pkg-config may be what `deps` installs.
once = $(eval $1 := $2)$($1)
PACKAGE_CFLAGS = $(call once,PACKAGE_CFLAGS,$(patsubst \
	-I%,-isystem %,$(shell pkg-config --cflags $(PACKAGES))))
TEST_LIBS = $(call once,TEST_LIBS,$(shell pkg-config --libs check gsl jansson yaml-0.1))
PROGRAM_LIBS = $(call once,PROGRAM_LIBS,$(shell pkg-config --libs \
	$(filter-out check simgrid,$(PACKAGES))))
CHECK_LIBS = $(call once,CHECK_LIBS,$(shell pkg-config --libs check))
SHARED_LIBS = $(call once,SHARED_LIBS,$(shell pkg-config --libs gsl jansson yaml-0.1))

COMPILE = $(CC) -D_GNU_SOURCE -Imodels -Isim $(PACKAGE_CFLAGS) $(CPPFLAGS) \
	-std=c11 -Wall -Wextra -Werror -fPIC -fno-semantic-interposition \
	-ffp-contract=off $(FLAGS_$(VARIANT)) $(CFLAGS)
LINK = $(CC) $(FLAGS_$(VARIANT)) $(LINK_$(VARIANT)) $(CFLAGS) $(LDFLAGS)

# --- files ---------------------------------------------------------------------------

MODEL_SOURCES := $(filter-out models/tests/% models/examples/%, \
	$(wildcard models/*/*.c models/*/*/*.c))
MODEL_HEADERS := $(filter-out models/tests/%,$(wildcard models/*.h models/*/*.h models/*/*/*.h))
# What other people's programs may include; the shared library exports what these declare,
# by the list in models/shardsim.map.
PUBLIC_HEADERS := $(addprefix models/,shardsim.h planner/planner.h plan/plan.h plan/problem.h \
	array/array.h array/layout.h array/mesh.h array/type.h \
	base/arena.h base/error.h base/scan.h)
EXAMPLES := $(wildcard models/examples/*.c)
SIM_SOURCES := $(filter-out sim/tests/%,$(wildcard sim/*.c sim/*/*.c sim/*/*/*.c))
SIM_HEADERS := $(filter-out sim/tests/%,$(wildcard sim/*/*.h sim/*/*/*.h))
WEB_SOURCES := sim/web/page.css sim/web/page.js
# What emitted programs have in common, byte by byte: emit_text_NAME[] of NAME.in.
EMIT_TEXTS := $(wildcard models/emit/texts/*.in)
TEST_SOURCES := $(wildcard models/tests/*.c sim/tests/*.c)
SOURCES := $(MODEL_SOURCES) $(SIM_SOURCES) $(TEST_SOURCES)
HEADERS := $(MODEL_HEADERS) $(SIM_HEADERS) $(wildcard models/tests/*.h sim/tests/*.h)

objects = $(patsubst %.c,$B/%.o,$1)
MODEL_OBJECTS := $(call objects,$(MODEL_SOURCES)) $B/emit_text.o
# Of the program; without main.c they are those of tests and benchmarks.
SIM_OBJECTS := $(call objects,$(SIM_SOURCES)) $B/version.o $B/web.o
TESTED_OBJECTS := $(filter-out $B/sim/main.o,$(SIM_OBJECTS))
programs = $(patsubst %.c,$B/%,$(wildcard $1/tests/check_*.c))
# Files beside the tests that are no test themselves are linked into each of them, but for
# those that need GLPK.
helpers = $(call objects,$(filter-out $(patsubst %,$1/tests/%, \
	check_% bench_% exhaust_% fuzz_% glpk_% main.c),$(wildcard $1/tests/*.c)))

MODEL_TESTS := $(call programs,models)
SIM_TESTS := $(call programs,sim)
GOLDEN := $(patsubst %.cmd,$B/%,$(wildcard sim/tests/*.cmd))
# Tables of timings that constants are fitted to.
GIVEN := $(addprefix platforms/,measured.csv measured-more.csv measured-xla.csv measured-late.csv)
INPUTS := $(filter-out %.md scenarios/models scenarios/programs,$(wildcard platforms/* scenarios/* scenarios/*/*))

EMIT_TESTS := $(wildcard sim/tests/emit/check_*.py)

.PHONY: all bench-home check check-emit check-page check-slurm check-exhaustive fuzz sweep results bench bench-peers coverage valgrind install format format-check \
	tidy layers deps clean compile_commands.json FORCE
all: $B/libshardsim.a $B/libshardsim.so $B/shardsim build/shardsim

# --- compile and link ----------------------------------------------------------------

deps:
	@.ci/deps

TOOLS := glpk mpicc mpirun torch jsonschema chromium chromedriver curl jq gcovr valgrind clang-format clang-tidy
.PHONY: $(TOOLS:%=tool-%)
$(TOOLS:%=tool-%): tool-%: | deps
	@.ci/deps $*

# Rewritten only when the commands change; everything built depends on it.
$B/flags: FORCE | deps
	@mkdir -p $(@D)
	@printf '%s\n' '$(COMPILE)' '$(LINK)' '$(PROGRAM_LIBS) $(TEST_LIBS) $(LDLIBS)' \
		>$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@ && \
		echo "  compiling $(words $(MODEL_SOURCES) $(SIM_SOURCES)) files into $B"; fi

$B/%.o: %.c $B/flags
	@mkdir -p $(@D)
	@rm -f $(@:.o=.gcda)
	$(quiet)$(COMPILE) -MMD -MP -c -o $@ $<

# Rewritten only when a source of the program has changed, appeared or gone.
PROGRAM_SOURCES := $(sort $(MODEL_SOURCES) $(MODEL_HEADERS) $(SIM_SOURCES) $(SIM_HEADERS) \
	$(WEB_SOURCES) $(EMIT_TEXTS))
$B/version.c: FORCE
	@mkdir -p $(@D)
	@printf '#include "system/version.h"\n\nconst char version_text[] = "%s (sources %.8s)";\n' \
		'$(VERSION)' "$$(sha256sum $(PROGRAM_SOURCES) | sha256sum)" >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$B/version.o: $B/version.c sim/system/version.h $B/flags
	$(quiet)$(COMPILE) -c -o $@ $<

# The script and the style of the report's page, byte by byte: web_page_js[], web_page_css[].
$B/web.c: $(WEB_SOURCES) $B/flags
	@mkdir -p $(@D)
	@echo '#include "report/web.h"' >$@
	@for file in $(WEB_SOURCES); do \
		printf '\nconst char web_%s[] = {\n' "$$(basename $$file | tr . _)" && \
		od -An -v -td1 $$file | sed 's/  *\(-*[0-9]*\)/\1,/g' && echo '0};' || exit 1; \
	done >>$@

$B/web.o: $B/web.c sim/report/web.h $B/flags
	$(quiet)$(COMPILE) -c -o $@ $<

$B/emit_text.c: $(EMIT_TEXTS) $B/flags
	@mkdir -p $(@D)
	@echo '#include "emit/emit.h"' >$@
	@for file in $(EMIT_TEXTS); do \
		printf '\nconst char emit_text_%s[] = {\n' "$$(basename $$file .in)" && \
		od -An -v -td1 $$file | sed 's/  *\(-*[0-9]*\)/\1,/g' && echo '0};' || exit 1; \
	done >>$@

$B/emit_text.o: $B/emit_text.c models/emit/emit.h $B/flags
	$(quiet)$(COMPILE) -c -o $@ $<

$B/libshardsim.a: $(MODEL_OBJECTS) $B/flags
	@rm -f $@
	$(quiet)ar qcs $@ $(filter %.o,$^)

SONAME := libshardsim.so.$(SOVERSION)
$B/$(SONAME): $(MODEL_OBJECTS) models/shardsim.map $B/flags
	$(quiet)$(LINK) -shared -Wl,-soname,$(SONAME) \
		-Wl,--version-script=models/shardsim.map -o $@ $(filter %.o,$^) \
		$(SHARED_LIBS) $(LDLIBS) -lm

$B/libshardsim.so: $B/$(SONAME)
	@ln -sf $(SONAME) $@

$B/shardsim: $(SIM_OBJECTS) $B/libshardsim.a $B/flags
	$(quiet)$(LINK) -o $@ $(filter %.o %.a,$^) $(PROGRAM_LIBS) $(LDLIBS) -lm

ifeq ($(VARIANT),release)
build/shardsim: $B/shardsim
	$(quiet)cp -f $< $@
else
build/shardsim: FORCE
	@$(MAKE) --no-print-directory VARIANT=release $@
endif

$(MODEL_TESTS): %: %.o $(call helpers,models) $B/models/tests/main.o $B/libshardsim.a $B/flags
	$(quiet)$(LINK) -o $@ $(filter %.o %.a,$^) $(TEST_LIBS) $(LDLIBS) -lm

# The linear programs that bounds are held to.
$B/models/tests/check_bound_lp $B/models/tests/check_transpose_lp: LDLIBS += -lglpk
$B/models/tests/check_bound_lp: $B/models/tests/glpk_flows.o
$B/models/tests/glpk_flows.o $B/models/tests/check_transpose_lp.o: | tool-glpk

$(SIM_TESTS): %: %.o $(call helpers,sim) $B/models/tests/main.o $(TESTED_OBJECTS) \
		$B/libshardsim.a $B/flags
	$(quiet)$(LINK) -o $@ $(filter %.o %.a,$^) $(CHECK_LIBS) \
		$(PROGRAM_LIBS) $(LDLIBS) -lm

# Goes through all placements, as tests of models/ do.
$B/sim/tests/check_p2_order: $B/models/tests/placement_help.o \
	$B/models/tests/reduction_check.o

-include $(patsubst %.c,$B/%.d,$(SOURCES))

# --- tests ---------------------------------------------------------------------------
#
# A .result holds how many checks passed and failed and the seconds they took, the .log
# beside it says which. One with failures is dated back, so that the next `make check` runs
# it again.

# Programs that reach with thousands of cases the lines that others reach with a few.
AGAIN := check_exhaustive check_dtensor_search
RESULTS := $(addsuffix .result,$B/layers $(if $(filter cov,$(VARIANT)), \
	$(filter-out $(addprefix %/,$(AGAIN)),$(MODEL_TESTS)),$(MODEL_TESTS)) $(SIM_TESTS) $(GOLDEN) \
	$(if $(wildcard README.md),$B/readme) $B/schema $B/execute \
	$(patsubst %.py,$B/%,$(EMIT_TESTS)) \
	$(if $(filter release,$(VARIANT)),$B/installed))

check: $(RESULTS)
	@.ci/summary $(RESULTS)

$(addsuffix .result,$(MODEL_TESTS)): %.result: % .ci/unit .ci/environment \
		$(filter-out %.c %.h %.o,$(wildcard models/tests/*.*)) \
		$(wildcard scenarios/programs/*)
	@.ci/unit $(VARIANT) $* $@

$(addsuffix .result,$(SIM_TESTS)): %.result: % .ci/unit .ci/environment \
		$B/shardsim $(INPUTS) $(wildcard sim/tests/corpus/*/*) \
		$(filter-out %.c %.h %.o %.cmd %.out %.err %.exit, \
		$(wildcard sim/tests/*.*))
	@.ci/unit $(VARIANT) $* $@

.SECONDEXPANSION:
$(addsuffix .result,$(GOLDEN)): $B/%.result: .ci/golden .ci/environment \
		$B/shardsim $(INPUTS) \
		$$(wildcard $$*.cmd $$*.out $$*.err $$*.exit)
	@.ci/golden $(VARIANT) $* $@

$B/readme.result: README.md $(wildcard */README.md) .ci/readme .ci/environment $B/shardsim $(INPUTS)
	@.ci/readme $(VARIANT) $@

$B/schema.result: .ci/schema sim/doc/shardsim-1.schema.json .ci/environment \
		$B/shardsim $(INPUTS) $(wildcard sim/tests/*.out) | tool-jsonschema
	@.ci/schema $(VARIANT) $@

$B/execute.result: .ci/execute $(wildcard sim/tests/execute/*.py) .ci/environment \
		$B/shardsim $(INPUTS) | tool-jsonschema
	@.ci/execute $(VARIANT) $@

$(patsubst %.py,$B/%.result,$(EMIT_TESTS)): $B/%.result: %.py .ci/emit .ci/environment \
		$(wildcard sim/tests/emit/*.py sim/tests/execute/*.py) $B/shardsim $(INPUTS) \
		| tool-mpicc tool-mpirun
	@.ci/emit $(VARIANT) $< $@

$B/installed.result: .ci/installed .ci/environment $B/libshardsim.a \
		$B/libshardsim.so $B/shardsim build/shardsim $(PUBLIC_HEADERS) $(EXAMPLES) \
		models/shardsim.map $(INPUTS) \
		$(wildcard sim/doc/*)
	+@.ci/installed $(VARIANT) $@

# Calls are looked for in the objects, includes in the sources.
LAYERED := $(call objects,$(MODEL_SOURCES) $(SIM_SOURCES))
$B/layers.result: .ci/layers .ci/environment $(LAYERED) $(SOURCES) $(HEADERS)
	@.ci/layers $B $@

$B/sim/tests/layers.result: .ci/layers
$B/sim/tests/deps.result: .ci/deps
$B/sim/tests/report_tables.result: sim/tests/report_tables.py

layers: $(LAYERED)
	@.ci/layers $B

# `make check_units` runs that program alone and shows all it says.
TEST_NAMES := $(notdir $(MODEL_TESTS) $(SIM_TESTS))
.PHONY: $(TEST_NAMES)
$(TEST_NAMES): $$(filter %/$$@,$(MODEL_TESTS) $(SIM_TESTS)) \
		$$(if $$(filter %/$$@,$(SIM_TESTS)),$B/shardsim)
	@.ci/unit $(VARIANT) $<

# Installs Debian's Slurm where it is not there, which `make check` does not need.
check-page: build/shardsim | tool-chromium tool-chromedriver tool-curl tool-jq
	@.ci/page

# Side by side, the longest first; one that fails does not stop the others.
EMIT_RUNS := run_check_programs $(filter-out run_check_programs, \
	$(patsubst sim/tests/emit/%.py,run_%,$(EMIT_TESTS)))
.PHONY: $(EMIT_RUNS) run_torch
$(EMIT_RUNS): run_%:
	@.ci/emit $(VARIANT) sim/tests/emit/$*.py

run_torch:
	@.ci/emit-torch $(VARIANT)

check-emit: $B/shardsim | tool-mpicc tool-mpirun tool-torch
	+@$(MAKE) --no-print-directory --keep-going $(EMIT_RUNS) run_torch

bench-home: $B/shardsim | tool-mpicc tool-mpirun
	@.ci/home $(VARIANT)

check-slurm: $B/shardsim
	@.ci/slurm $(VARIANT)

EXHAUSTS := $(patsubst %.c,$B/%,$(wildcard models/tests/exhaust_*.c))
$(EXHAUSTS): %: %.o $(call helpers,models) $B/libshardsim.a $B/flags
	$(quiet)$(LINK) -o $@ $(filter %.o %.a,$^) $(TEST_LIBS) $(LDLIBS) -lm

SIM_EXHAUSTS := $(patsubst %.c,$B/%,$(wildcard sim/tests/exhaust_*.c))
$(SIM_EXHAUSTS): %: %.o $(call helpers,sim) $(TESTED_OBJECTS) $B/libshardsim.a $B/flags
	$(quiet)$(LINK) -o $@ $(filter %.o %.a,$^) $(CHECK_LIBS) \
		$(PROGRAM_LIBS) $(LDLIBS) -lm

check-exhaustive: $(EXHAUSTS) $(SIM_EXHAUSTS)
	@for program in $^; do $$program || exit 1; done

# What makes a reader fail is kept as build/fuzz/found/NAME-*; once it is mended, a copy
# in sim/tests/corpus/NAME/ is run by every `make check`.
SECONDS := 60
FUZZ_TARGETS := notation problem plan plan_json suite families platform family program \
	workload tensors tactics automap
ifeq ($(VARIANT),fuzz)
$B/fuzz_reader: $B/sim/tests/fuzz_reader.o $B/sim/tests/corpus.o $(TESTED_OBJECTS) \
		$B/libshardsim.a $B/flags
	$(quiet)$(LINK) -fsanitize=fuzzer -o $@ $(filter %.o %.a,$^) \
		$(PROGRAM_LIBS) $(LDLIBS) -lm

fuzz: $B/fuzz_reader
	@.ci/fuzz $(SECONDS) $(FUZZ_TARGETS)
else
fuzz:
	@$(MAKE) --no-print-directory VARIANT=fuzz CC=clang $@
endif

# What workers and replays reach is not counted: they end without a word.
coverage: | tool-gcovr
	+$(MAKE) --no-print-directory VARIANT=cov check
	gcovr -j $$(nproc) --root . --filter models/ --exclude models/tests/ \
		--print-summary --fail-under-line 90 build/cov/models
	gcovr -j $$(nproc) --root . --filter sim/ --exclude sim/tests/ \
		--print-summary --fail-under-line 90 build/cov/sim

# Workers end without freeing anything, and what lies in arenas is pointed into.
VALGRIND := valgrind --quiet --trace-children=yes --error-exitcode=3 \
	--leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
	--suppressions=.ci/valgrind.supp
valgrind: $B/shardsim | tool-valgrind
	rm -rf build/valgrind
	$(VALGRIND) $B/shardsim sweep scenarios/smoke.yaml --platform tpu-v5e:4x8 \
		--planner $(PLANNERS) --clock model,fluid,simgrid --out build/valgrind
	$(VALGRIND) $B/shardsim report build/valgrind --baseline xla-2021

# --- the main job --------------------------------------------------------------------

comma := ,
empty :=
list = $(subst $(empty) ,$(comma),$(strip $1))
# Each scenario runs on machines of its own size.
PLATFORMS := $(call list,tpu-v4:{n} tpu-v5e:{n} tpu-v5p:{n} dgx-a100:{n} dgx-h100:{n} \
	gb200-nvl72:{n})
PLANNERS := $(call list,gather synth synth-rewrite xla-2021)
# Fewer of both for the first minute.
SWEPT := $(call list,best best-portable synth xla xla-2021)
SWEPT_PLATFORMS := $(call list,tpu-v4:{n} tpu-v5e:{n} dgx-a100:{n} dgx-h100:{n})

TRAINING := dgx-h100:8 aws-p5en:8 mi300x:8 gb200-nvl72:1 tpu-v5p:4x4x4 tpu-v4:4x4x4

# Its figures in one screen; the page and the plot have the rest.
sweep: build/shardsim
	@rm -rf build/sweep
	@build/shardsim sweep scenarios/models.yaml --platform '$(SWEPT_PLATFORMS)' \
		--planner $(SWEPT) --clock simgrid --out build/sweep
	@build/shardsim report build/sweep --baseline xla-2021
	@build/shardsim report build/sweep --baseline xla-2021 --format html \
		>build/sweep/report.html
	@build/shardsim report build/sweep --baseline xla-2021 --clock simgrid \
		--plot build/sweep/speedup.svg
	@echo "page: build/sweep/report.html   plot: build/sweep/speedup.svg"

# One report in its three formats: $1 the sweep's folder, $2 the file, $3 options.
define report
	build/shardsim report build/results/$1 $3 --details --format md >results/$2.md
	build/shardsim report build/results/$1 $3 --format csv >results/$2.csv
	build/shardsim report build/results/$1 $3 --details --format tex >results/$2.tex
endef

.PHONY: results-placement
results-placement: build/shardsim
	build/shardsim place scenarios/placement.yaml >results/placement.md
	build/shardsim place scenarios/placement.yaml --format csv >results/placement.csv
	for p in $(TRAINING); do build/shardsim place --with scenarios/training.yaml \
		--platform $$p --clock model,simgrid && echo || exit 1; done >results/training.txt

# Published training steps: errors, and every row.
.PHONY: results-steps
results-steps: build/shardsim
	build/shardsim validate platforms/steps.csv --leave-one-out >results/steps.md
	build/shardsim validate platforms/steps.csv --format csv >results/steps.csv

# Training steps by degrees and by figures of a network.
.PHONY: results-degrees
results-degrees: build/shardsim
	rm -rf build/results-degrees
	build/shardsim sweep scenarios/steps.yaml --out build/results-degrees
	build/shardsim report build/results-degrees >results/degrees.md
	build/shardsim report build/results-degrees --format csv >results/degrees.csv

# How far plans are from their bounds, also as schedules of messages: a suite and its machine.
# And machines of 64 devices, where schedules are timed without rounds.
OPTIMAL := 4x4x4=tpu-v4:4x4x4 16x16=tpu-v5e:16x16 8x8=dgx-h100:8
# What a round of a schedule may cost, beside nothing.
ROUNDS := {scheduled=1} $(foreach s,1us 5us 10us,{scheduled=1$(comma)scheduled_round_s=$s})
UNROUNDED := 4x4x4=tpu-v4:4x4x4 8x8=tpu-v5e:8x8 8x8=dgx-h100:8
OPTIMAL_ROWS := $(foreach p,$(OPTIMAL),build/results-optimal/$(firstword $(subst =, ,$p)).csv)
FLOW_ROWS := $(foreach p,$(UNROUNDED),build/results-optimal/flow-$(subst :,-,$(lastword \
	$(subst =, ,$p))).csv)
.PHONY: results-optimal
results-optimal: build/shardsim $B/models/tests/check_bound_lp
	rm -rf build/results-optimal
	mkdir -p build/results-optimal
	for p in $(OPTIMAL); do build/shardsim sweep scenarios/optimal-$${p%%=*}.yaml \
		--planner best --clock model \
		--platform "$${p#*=},$(call list,$(addprefix $${p#*=},$(ROUNDS)))" \
		--out build/results-optimal/$${p%%=*} && build/shardsim report --rows \
		build/results-optimal/$${p%%=*} >build/results-optimal/$${p%%=*}.csv || \
		exit 1; done
	for p in $(UNROUNDED); do to=build/results-optimal/flow-$$(echo "$${p#*=}" | tr : -) && \
		build/shardsim sweep scenarios/optimal-$${p%%=*}.yaml --planner direct \
		--clock model,flow --platform "$${p#*=},$${p#*=}{scheduled=1}" --out $$to && \
		build/shardsim report --rows $$to >$$to.csv || exit 1; done
	$B/models/tests/check_bound_lp >build/results-optimal/lp.txt
	.ci/optimal $(OPTIMAL_ROWS) build/results-optimal/lp.txt $(FLOW_ROWS) >results/optimal.md

# Measured times of whole programs: errors, and every row.
.PHONY: results-programs
results-programs: build/shardsim
	build/shardsim validate platforms/program-times.csv >results/programs.md
	build/shardsim validate platforms/program-times.csv --format csv >results/programs.csv

# Block graphs on 16 nodes, and published refits of weights.
BLOCK_NODES := cluster:nodes=16,gpus=1,nics=1,nic.bandwidth=20Gb/s
.PHONY: results-moves
results-moves: build/shardsim
	build/shardsim place --blocks --platform '$(BLOCK_NODES)' >results/blocks.md
	build/shardsim place --blocks --platform '$(BLOCK_NODES)' --format csv \
		>results/blocks.csv
	build/shardsim validate platforms/refits.csv >results/refits.md
	build/shardsim validate platforms/refits.csv --format csv >results/refits.csv

# Shardings of whole programs: strategies that are known, and what a search finds.
.PHONY: results-automap
results-automap: build/shardsim
	build/shardsim automap scenarios/automap.yaml >results/automap.md
	echo >>results/automap.md
	build/shardsim automap platforms/steps.csv >>results/automap.md
	build/shardsim automap platforms/steps.csv --format csv >results/automap-published.csv
	build/shardsim automap scenarios/automap.yaml --format csv >results/automap.csv
	build/shardsim automap scenarios/splitbrain.yaml >results/splitbrain.md
	echo >>results/splitbrain.md
	build/shardsim automap scenarios/splitbrain-v100.yaml >>results/splitbrain.md
	build/shardsim automap scenarios/splitbrain.yaml --format csv >results/splitbrain.csv
	build/shardsim automap scenarios/jobs.yaml >results/jobs.md
	build/shardsim automap scenarios/jobs.yaml --format csv >results/jobs.csv

results: results-placement results-moves results-steps results-programs results-degrees \
		results-automap results-optimal build/shardsim
	rm -rf build/results
	mkdir -p build/results
	build/shardsim sweep scenarios/models.yaml scenarios/random.yaml \
		--platform '$(PLATFORMS)' --clock model,simgrid --out build/results/speedup
	build/shardsim sweep scenarios/layouts.yaml --platform '$(PLATFORMS)' \
		--out build/results/layouts
	build/shardsim sweep scenarios/uneven.yaml --platform '$(PLATFORMS)' \
		--clock model,simgrid --out build/results/uneven
	build/shardsim sweep scenarios/cross-mesh.yaml --planner direct,best \
		--platform 'tpu-v4:{n},dgx-a100:{n},dgx-h100:{n}' --clock model,simgrid \
		--out build/results/cross-mesh
	build/shardsim sweep scenarios/models.yaml scenarios/random.yaml \
		scenarios/cross-mesh.yaml --planner direct,best \
		--platform 'tpu-v4:{n},dgx-h100:{n}' --clock simgrid,flow \
		--out build/results/clocks
	build/shardsim sweep scenarios/overlap.yaml --planner synth,best \
		--platform 'tpu-v4:{n},dgx-h100:{n}' --clock fluid,flow \
		--out build/results/overlap
	$(call report,speedup,speedup,--baseline xla-2021)
	$(call report,layouts,layouts,--baseline xla)
	$(call report,layouts,layouts-4GiB,--baseline xla --family '*-4GiB')
	$(call report,uneven,uneven,--baseline xla)
	$(call report,cross-mesh,cross-mesh,--baseline direct)
	$(call report,clocks,clocks,--baseline direct)
	$(call report,overlap,overlap,--baseline synth)
	build/shardsim report build/results/speedup --baseline xla-2021 --clock simgrid \
		--plot results/speedup.svg
	build/shardsim validate platforms/measured.csv >results/validate.md
	build/shardsim validate platforms/measured.csv --format csv >results/validate.csv
	build/shardsim validate platforms/measured.csv --plot results/validate.svg
	build/shardsim fit platforms/measured.csv >results/fit.md
	build/shardsim validate platforms/measured-more.csv >results/validate-more.md
	build/shardsim fit $(GIVEN) >results/fit-more.md
	build/shardsim validate platforms/held-out.csv >results/held-out.md
	build/shardsim validate platforms/held-out.csv --format csv >results/held-out.csv
	build/shardsim validate platforms/measured-xla.csv >results/validate-xla.md
	build/shardsim validate platforms/measured-late.csv >results/validate-late.md
	build/shardsim validate $(GIVEN) >results/validate-all.md
	build/shardsim validate platforms/measured.csv platforms/measured-more.csv --algorithm tuner \
		>results/validate-tuner.md
	echo >>results/validate-tuner.md
	build/shardsim validate platforms/held-out.csv --algorithm tuner >>results/validate-tuner.md
	$(MAKE) results/graphs.md

# What NCCL's own model picks for all-reduces when a figure of its graphs is half or twice of
# what the family states: the algorithm and protocol of five sizes.
GRAPHS := polaris:2=graph_net_channels:4,graph_net_Bps:12GB/s,graph_tree_Bps:12GB/s \
	aws-p4de:2=graph_net_channels:8,graph_net_Bps:6GB/s,graph_tree_Bps:12GB/s \
	dgx-a100:1=graph_channels:24,graph_Bps:10GB/s \
	dgx-h100:1=graph_channels:24,graph_Bps:15GB/s,graph_nvls_channels:8,graph_nvls_Bps:40GB/s \
	dgx-h100:4=graph_net_channels:16,graph_nvls_channels:8,graph_nvls_Bps:40GB/s \
	dgx-b200:1=graph_channels:24,graph_Bps:30GB/s,graph_nvls_channels:8,graph_nvls_Bps:80GB/s
.PHONY: results/graphs.md
results/graphs.md: build/shardsim
	.ci/graphs $(GRAPHS) >$@

# What is fitted to, and how sure times are that follow from it.
.PHONY: intervals
intervals: build/shardsim
	build/shardsim fit $(GIVEN) --steps platforms/steps.csv \
		--intervals platforms/intervals.csv >/dev/null

BENCHES := $(patsubst %.c,$B/%,$(wildcard sim/tests/bench_*.c))
$(BENCHES): %: %.o $(TESTED_OBJECTS) $B/libshardsim.a $B/flags
	$(quiet)$(LINK) -o $@ $(filter %.o %.a,$^) $(PROGRAM_LIBS) $(LDLIBS) -lm

bench: $(BENCHES) build/shardsim
	@for bench in $(BENCHES); do $$bench || exit 1; done

bench-peers: build/shardsim
	@.ci/deps /usr/bin/time
	@PATH=$(CURDIR)/build:$$PATH .ci/peers

# --- install -------------------------------------------------------------------------

define PC
prefix=$(PREFIX)
exec_prefix=$${prefix}
libdir=$${exec_prefix}/lib
includedir=$${prefix}/include

Name: shardsim
Description: Plans and prices the redistribution of sharded arrays
Version: $(VERSION)
Requires.private: gsl jansson yaml-0.1
Libs: -L$${libdir} -lshardsim
Libs.private: -lm
Cflags: -I$${includedir}/shardsim
endef

ifeq ($(VARIANT),release)
install: all
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/lib/pkgconfig"
	install -m 755 build/shardsim "$(DESTDIR)$(PREFIX)/bin/"
	install -m 644 $B/libshardsim.a $B/$(SONAME) "$(DESTDIR)$(PREFIX)/lib/"
	ln -sf $(SONAME) "$(DESTDIR)$(PREFIX)/lib/libshardsim.so"
	$(file >$B/shardsim.pc,$(PC))
	install -m 644 $B/shardsim.pc "$(DESTDIR)$(PREFIX)/lib/pkgconfig/"
	for h in $(PUBLIC_HEADERS:models/%=%); do \
		install -D -m 644 models/$$h \
			"$(DESTDIR)$(PREFIX)/include/shardsim/$$h" || exit 1; \
	done
	for f in $(EXAMPLES); do \
		install -D -m 644 $$f \
			"$(DESTDIR)$(PREFIX)/share/doc/shardsim/examples/$${f##*/}" || exit 1; \
	done
	for f in $(INPUTS); do \
		install -D -m 644 $$f \
			"$(DESTDIR)$(PREFIX)/share/shardsim/$$f" || exit 1; \
	done
	for f in README.md $(wildcard */README.md); do \
		install -D -m 644 $$f \
			"$(DESTDIR)$(PREFIX)/share/doc/shardsim/$$f" || exit 1; \
	done
	install -m 644 sim/doc/shardsim-1.schema.json "$(DESTDIR)$(PREFIX)/share/shardsim/"
	for n in 1 3; do \
		install -D -m 644 sim/doc/shardsim.$$n \
			"$(DESTDIR)$(PREFIX)/share/man/man$$n/shardsim.$$n" || exit 1; \
	done
	install -D -m 644 sim/doc/completion.bash \
		"$(DESTDIR)$(PREFIX)/share/bash-completion/completions/shardsim"
else
install:
	@$(MAKE) --no-print-directory VARIANT=release $@
endif

# --- upkeep --------------------------------------------------------------------------

format: | tool-clang-format
	clang-format -i $(SOURCES) $(HEADERS) $(EXAMPLES)

format-check: | tool-clang-format
	clang-format --dry-run --Werror $(SOURCES) $(HEADERS) $(EXAMPLES)

# clang-tidy 14 must see one file per call: with several it reports va_list errors that
# are not there.
TIDY := $(SOURCES:%.c=$B/%.tidy)
tidy: $(TIDY)
$(TIDY): $B/%.tidy: %.c $(HEADERS) .clang-tidy | build/compile_commands.json \
		tool-clang-tidy
	@mkdir -p $(@D)
	clang-tidy -p build --quiet $<
	@touch $@

compile_commands.json: build/compile_commands.json
build/compile_commands.json: $(SOURCES) $B/flags
	$(file >$@,[$(subst } {,}$(comma) {,$(foreach s,$(SOURCES),$(call entry,$s)))])
entry = {"directory": "$(CURDIR)", "file": "$1", "command": "$(COMPILE) -c $1"}

clean:
	rm -rf build
