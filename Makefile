# `make demo` and `make test` need python3 >= 3.11, pip, make and git; they install the rest.

PYTHON ?= python3
JOBS ?= 2
# More than cores: many tests wait for a terminal, a server or a scheduler.
TEST_JOBS ?= 3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
RUNNABLE := $(VENV)/runnable
CHECKABLE := $(VENV)/checkable
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
EXTRAS := dev trainers parquet zstd torch claude
CHECK_EXTRAS := dev parquet zstd claude
DEMO_EXTRAS := claude zstd
PINS := $(VENV)/pins.txt

ROOMS := $(addprefix .editable/mltd/,runs analyzers sessions diagnosis tui themes)
LINKED := $(addsuffix /__init__.py,$(ROOMS))
MISSING := $(filter-out $(wildcard $(LINKED)),$(LINKED))

# program:package, for the tests that talk to real services
SERVICES := ssh:openssh-client sshd:openssh-server sshfs:sshfs tmux:tmux munged:munge \
	slurmctld:slurmctld slurmd:slurmd squeue:slurm-client busybox:busybox

.PHONY: help
help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(RUNNABLE)  ## Replay recorded failing runs as if live
	$(BIN)/mltd-tui demo

.PHONY: test
test: system-packages lint  ## Run every check: style, types, imports, tests
	$(BIN)/python -m pytest -n $(TEST_JOBS) --dist loadfile

# ROOM=runs, or several: ROOM="runs tui"; BASE=<commit> compares with another one.
.PHONY: quick
quick: $(CHECKABLE)  ## Check what you changed, within a minute and without services or torch
	@$(BIN)/python -m tests.quick $(ROOM)

.PHONY: test-costs
test-costs: $(INSTALLED)  ## Run the tests and list what each costs of CPU time
	$(BIN)/python -m pytest -n $(TEST_JOBS) --dist loadfile -q -p tests.costs --costs test-costs.tsv

.PHONY: lint
lint: $(INSTALLED)  ## Check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy hatch_build.py constraints.py demo/record.py demo/screenshots.py $(wildcard benchmarks/*.py)
	$(BIN)/mypy -p benchmarks.faults
	$(BIN)/mypy -p benchmarks.second
	$(BIN)/mypy -p benchmarks.recorded
	$(BIN)/mypy -p benchmarks.reading
	$(BIN)/lint-imports

.PHONY: format
format: $(INSTALLED)  ## Rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: recordings
recordings: $(INSTALLED)  ## Train the demo models again and replace the bundled logs
	$(BIN)/python demo/record.py

.PHONY: cases
cases: $(INSTALLED)  ## Train the end-to-end cases of the tests again
	$(BIN)/python demo/cases/make.py

.PHONY: bench
bench: $(INSTALLED)  ## Measure how fast logs are read and judged
	$(BIN)/python benchmarks/ingest.py
	$(BIN)/python benchmarks/analyzers.py

.PHONY: bench-tui
bench-tui: $(INSTALLED)  ## Measure how the app feels in a terminal, beside a bare Textual program
	$(BIN)/python benchmarks/tui.py

.PHONY: bench-probe
bench-probe: $(INSTALLED)  ## What the probe costs a training, beside the same training without it
	$(BIN)/python benchmarks/probe.py

.PHONY: screenshots
screenshots: $(INSTALLED)  ## Draw the pictures of the documentation from the demo
	$(BIN)/python demo/screenshots.py

.PHONY: catalogue
catalogue: $(INSTALLED)  ## Write docs/catalogue.md from the analyzers' own words
	$(BIN)/mltd-tui explain --markdown > docs/catalogue.new
	mv docs/catalogue.new docs/catalogue.md

.PHONY: keys
keys: $(INSTALLED)  ## Write the list of commands in docs/keys.md from the bindings
	$(BIN)/python -m mltd.tui.keys_text docs/keys.md

.PHONY: bench-faults
bench-faults: $(INSTALLED)  ## Train faulty and healthy models, score the diagnosis on them
	$(BIN)/python -m benchmarks.faults generate --jobs $(JOBS)
	$(BIN)/python -m benchmarks.faults score --split test --misses --jobs $(JOBS) \
		--report docs/accuracy.md

.PHONY: bench-second
bench-second: $(INSTALLED)  ## Score the diagnosis on a bench that knows nothing of the analyzers
	$(BIN)/python -m benchmarks.second generate --jobs $(JOBS)
	$(BIN)/python -m benchmarks.second score --misses --jobs $(JOBS)

.PHONY: bench-recorded
bench-recorded: $(INSTALLED)  ## Score the diagnosis on recorded runs of others
	$(BIN)/python -m benchmarks.recorded --misses --jobs $(JOBS)

.PHONY: install
install: $(INSTALLED)  ## Only create the virtual environment

.PHONY: clean
clean:  ## Remove everything that can be made again
	rm -rf $(VENV) .editable dist build .mypy_cache .pytest_cache .ruff_cache \
		.import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "mltd-tui needs Python 3.11 or newer; try: make PYTHON=/path/to/python3.11" >&2; \
		exit 1; }
	@echo "making a virtual environment in $(VENV)"
	@# Debian splits ensurepip off into python3-venv; the system's pip can stand in for it.
	@if $(PYTHON) -c 'import ensurepip; ensurepip.version' 2>/dev/null; then \
		$(PYTHON) -m venv $(VENV); \
	else \
		$(PYTHON) -m venv --without-pip $(VENV) && \
		$(PYTHON) -m pip --quiet --python $(BIN)/python install pip; \
	fi || { \
		rm -rf $(VENV); \
		echo "no virtual environment could be made; try: apt-get install python3-venv" >&2; \
		exit 1; }

SOURCES := pyproject.toml constraints.txt constraints.py hatch_build.py $(if $(MISSING),relink)

VERIFIED := $(PIP) install --require-hashes --no-deps
WHEELS := $(VENV)/wheels

# Every file is verified by its hash. pip does not verify a folder, so the project itself comes last,
# without its dependencies and built by the pinned hatchling.
define install_pinned
	$(BIN)/python constraints.py select $(1) > $(PINS)
	$(VERIFIED) --requirement $(PINS)
	$(PIP) install --no-deps --no-build-isolation --editable .
endef

# torch is fetched before it is verified: given hashes, pip prefers the index's build for CUDA to a
# local one for CPUs. A build for CUDA then brings packages that torch pins and we do not, so they
# come without our hashes; with one for CPUs nothing is left to install.
define install_torch
	$(PIP) download --no-deps --only-binary :all: --dest $(WHEELS) \
		"$$($(BIN)/python constraints.py version torch)"
	$(BIN)/python constraints.py only torch > $(PINS)
	$(VERIFIED) --no-index --find-links $(WHEELS) --requirement $(PINS)
	rm -rf $(WHEELS)
	$(PIP) install "$$($(BIN)/python constraints.py version torch)"
endef

$(INSTALLED): $(SOURCES)
	@$(MAKE) --no-print-directory $(BIN)/python
	@echo "installing mltd-tui and its tools into $(VENV); the first time takes some minutes"
	$(call install_pinned,$(EXTRAS))
	$(install_torch)
	@$(PIP) check || echo "the pins in constraints.txt do not fit this Python completely" >&2
	@touch $@ $(RUNNABLE) $(CHECKABLE)

# A look at the demo must not wait for torch and for what only the tests need.
$(RUNNABLE): $(SOURCES)
	@$(MAKE) --no-print-directory $(BIN)/python
	@echo "installing mltd-tui into $(VENV); the first time takes half a minute"
	$(call install_pinned,$(DEMO_EXTRAS))
	@touch $@

# What `make quick` needs: all tools, none of the libraries that train.
$(CHECKABLE): $(SOURCES)
	@$(MAKE) --no-print-directory $(BIN)/python
	@echo "installing mltd-tui and its tools into $(VENV); the first time takes a minute"
	$(call install_pinned,$(CHECK_EXTRAS))
	@touch $@ $(RUNNABLE)

.PHONY: constraints
constraints: $(BIN)/python  ## Renew the hashes in constraints.txt, and pin what has no version there
	$(BIN)/python constraints.py renew

.PHONY: relink
relink:

.PHONY: system-packages
system-packages:  ## Install the Debian packages that some tests need (only as root)
	@missing=""; \
	for service in $(SERVICES); do \
		PATH="$$PATH:/usr/sbin:/sbin" command -v "$${service%%:*}" >/dev/null \
			|| missing="$$missing $${service#*:}"; \
	done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing$$missing"; \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -q --no-install-recommends $$missing \
			|| echo "could not install$$missing; tests that need them are skipped" >&2; \
	else \
		echo "tests that need$$missing are skipped; as root: apt-get install$$missing"; \
	fi
