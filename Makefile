# SPDX-License-Identifier: MIT
# A front for Meson: the commands that people type. 'make help' lists them.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
TRACE ?= examples/traces/transformer_rank0.json.gz
comma := ,
SOURCES = $(shell git ls-files '*.[ch]' 2>/dev/null || find src include tests fuzz bench examples -name '*.[ch]')

.PHONY: help all deps demo demo-compare check test python-check golden asan python-asan tsan fuzz bench lint format install uninstall clean

help: ## list these targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | \
		awk -F'\t' '{ printf "  make %-13s %s\n", $$1, $$2 }'

deps:
	@scripts/install-deps

# $(call setup,FOLDER,OPTIONS): meson tells what is wrong on standard output, which is long when all is well
setup = test -f $(1)/build.ninja || meson setup $(1) $(2) >/dev/null || { tail -20 $(1)/meson-logs/meson-log.txt; exit 1; }

$(BUILD)/build.ninja: | deps
	@$(call setup,$(BUILD),--prefix=$(abspath $(PREFIX)))

all: deps $(BUILD)/build.ninja ## build the library and the command (in build/)
	@ninja -C $(BUILD) -v > $(BUILD)/ninja.log 2>&1 || { tail -40 $(BUILD)/ninja.log; exit 1; }

demo: all ## install what is missing, build, and report on a bundled trace
	@mkdir -p $(BUILD)/demo
	$(BUILD)/tracelens report pytorch $(TRACE) --output_xlsx_path $(BUILD)/demo/report.xlsx --output_csvs_dir $(BUILD)/demo/csv

demo-compare: all ## make a slower variant of that trace and compare the two (docs/comparing.md tells the same)
	@mkdir -p $(BUILD)/demo
	python3 scripts/make_trace.py $(BUILD)/demo/baseline.json.gz
	python3 scripts/make_trace.py $(BUILD)/demo/variant.json.gz --slower flash_bwd=1.5 --slower vectorized_layer_norm=0.5
	$(BUILD)/tracelens diff $(BUILD)/demo/baseline.json.gz $(BUILD)/demo/variant.json.gz -o $(BUILD)/demo/rprt_diff --top 3
	@echo
	$(BUILD)/tracelens compare $(BUILD)/demo/baseline.json.gz $(BUILD)/demo/variant.json.gz --names baseline variant \
		-o $(BUILD)/demo/comparison.xlsx --output_csvs_dir $(BUILD)/demo/comparison
	@echo
	$(BUILD)/tracelens report $(BUILD)/demo/variant.json.gz --comparison_json_path $(BUILD)/demo/baseline.json.gz \
		--output_csvs_dir $(BUILD)/demo/inline

check: demo test ## the demo, then every test

test: all
	meson test -C $(BUILD) --print-errorlogs

python-check: deps ## pip install the Python package into fresh environments and run its tests there
	@tests/python/run_in_venv.sh $(BUILD)/python-check

golden: all ## the golden cases of the shared corpus, when it is there
	python3 tests/golden/run_golden.py $(BUILD)/tracelens

asan: deps ## every test under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(call setup,$(BUILD)-asan,-Db_sanitize=address$(comma)undefined -Db_lundef=false -Dbuildtype=debugoptimized)
	ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		meson test -C $(BUILD)-asan --print-errorlogs --timeout-multiplier 6

python-asan: deps ## the tests of the Python package under the same, where an interpreter has pandas
	@$(call setup,$(BUILD)-asan,-Db_sanitize=address$(comma)undefined -Db_lundef=false -Dbuildtype=debugoptimized)
	@meson configure $(BUILD)-asan -Dpython=auto
	@ninja -C $(BUILD)-asan > $(BUILD)-asan/ninja.log 2>&1 || { tail -40 $(BUILD)-asan/ninja.log; exit 1; }
	tests/python/run_asan.sh $(BUILD)-asan

tsan: deps ## the threaded tests under ThreadSanitizer
	@$(call setup,$(BUILD)-tsan,-Db_sanitize=thread -Db_lundef=false -Dpython=disabled -Dbuildtype=debugoptimized)
	TSAN_OPTIONS=halt_on_error=1 meson test -C $(BUILD)-tsan --print-errorlogs --timeout-multiplier 10 --suite threads

fuzz: deps ## run every fuzz target for FUZZ_SECONDS (60) each
	@export CC=clang CXX=clang++; $(call setup,$(BUILD)-fuzz,-Dfuzz=true -Db_lundef=false -Dpython=disabled \
		-Dbuildtype=debugoptimized -Db_sanitize=address$(comma)undefined)
	@ninja -C $(BUILD)-fuzz > $(BUILD)-fuzz/ninja.log 2>&1 || { tail -40 $(BUILD)-fuzz/ninja.log; exit 1; }
	scripts/run-fuzz $(BUILD)-fuzz $(FUZZ_SECONDS)

bench: all ## measure speed and memory; REFERENCE_CMD and REFERENCE_DIFF_CMD add the Python reference (bench/bench.py)
	@meson configure $(BUILD) -Dbench=true >/dev/null
	@ninja -C $(BUILD) > $(BUILD)/ninja.log 2>&1 || { tail -40 $(BUILD)/ninja.log; exit 1; }
	python3 bench/bench.py --build $(BUILD)

lint: all ## formatting and static analysis
	@for tool in clang-format clang-tidy; do command -v $$tool >/dev/null || \
		{ echo "make lint: there is no $$tool here (package $$tool)" >&2; exit 1; }; done
	@clang-format --dry-run -Werror $(SOURCES)
	@printf '%s\n' $(filter-out %_test.c,$(filter src/%.c,$(SOURCES))) | \
		xargs -P "$$(nproc)" -n 1 clang-tidy -p $(BUILD) --quiet 2>/dev/null
	@echo "lint: clean"

format: ## format the C sources in place
	@clang-format -i $(SOURCES)

# PREFIX given on the command line or in the environment goes before the one that the folder was set up with
install: all ## install command, library, headers, man page (PREFIX, DESTDIR); ALIAS=1: also under the Python tool's names
	@meson configure $(BUILD) $(if $(filter-out file,$(origin PREFIX)),--prefix=$(abspath $(PREFIX))) \
		-Dreference_command=$(if $(ALIAS),true,false) >/dev/null
	@ninja -C $(BUILD) > $(BUILD)/ninja.log 2>&1 || { tail -40 $(BUILD)/ninja.log; exit 1; }
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild --tags runtime,devel,man < /dev/null > $(BUILD)/install.log 2>&1 || \
		{ grep 'Error' $(BUILD)/install.log; echo "make install: not (all) installed. As root: sudo make install;" \
		'for yourself: make install PREFIX=$$HOME/.local' >&2; exit 1; }
	@cat $(BUILD)/install.log

uninstall: ## take out again what 'make install' put there
	ninja -C $(BUILD) uninstall

clean: ## remove build folders
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz
