# make demo      set up, compare the shipped scans with their simulations, write the page
# make figures   set up, run the whole chain, draw the figures, write the report
# make test      set up, check style, types and imports, run the quick tests
# make help      the other targets

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(VENV)/.packages
READY := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev
# Programs of an environment name its place, so one that was moved is made again.
MOVED := $(if $(wildcard $(READY)),$(shell [ -L $(VENV) ] || [ "$$(cat $(READY))" = "$(CURDIR)" ] || echo moved))
# Packages are kept in the home, for the next time, unless it is not there or cannot be written.
KEEP := $(shell [ -z "$$HOME" ] || [ -w "$$HOME" ] || echo --no-cache-dir)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input --require-hashes $(KEEP)
# Python keeps what it has compiled of a package, unless it is told not to, as containers
# often tell it: then each job would compile for seconds, and all is compiled here.
COMPILED := $(if $(PYTHONDONTWRITEBYTECODE),--compile-bytecode)
# By uv, and by pip where uv cannot: it reads no mirror that pip was told of. Both hold to the hashes.
install = $(BIN)/uv pip install --quiet --system-certs --require-hashes $(KEEP) $(COMPILED) --python $(BIN)/python $(1) 2> $(VENV)/uv.log \
  || { [ ! -x $(BIN)/uv ] || echo "uv could not ($$(tail -n 1 $(VENV)/uv.log | sed 's/^ *//')): pip takes some minutes"; \
  $(PIP) --use-pep517 $(1); }
ON = $(if $(PROFILE),--profile conf/profile/$(PROFILE))
RUN := PATH="$(CURDIR)/$(BIN):$$PATH" PYTHONPATH= $(BIN)/python -m

# Programs of the system that a target needs, and the packages of Debian that hold them.
needed = [ "$$(id -u)" = 0 ] || { echo "error: make $@ needs root" >&2; exit 2; }; \
  for program in $(1); do PATH="$$PATH:/usr/sbin:$(lastword $(wildcard /usr/lib/postgresql/*/bin))" \
  command -v $$program > /dev/null || { echo "error: $$program is not on this machine;" \
  "on Debian: apt-get install $(2)" >&2; exit 2; }; done

# All but what has a target of its own.
SUITE := --ignore tests/browser --ignore tests/faults --ignore tests/cluster --ignore tests/shipped

# WORKERS=0 runs tests in one process, as a debugger needs it. Three use two cores well,
# because some tests wait for processes. Files go to workers in the order of their names:
# sorted by their number of tests, few and long ones would end it.
SPREAD = -n $(or $(WORKERS),3) --dist loadfile --no-loadscope-reorder --durations 20

# Small matrices everywhere: threads of the linear algebra only get in each other's way.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

# Containers often ask for no bytecode: hundreds of processes would each compile our modules.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := setup
.PHONY: setup demo figures gallery docs study ui paper archive test lint types style test-browser test-long test-faults test-cluster test-shipped bench formats ratios lock audit clean help

setup: $(READY)

# One lock for Python 3.11 to 3.13, pinned by hash. The stamp is written last, so that an
# interrupted installation is taken up again.
.PHONY: moved
$(PACKAGES): requirements.lock $(MOVED)
	@command -v $(PYTHON) > /dev/null || { echo "error: there is no $(PYTHON): Python 3.11, 3.12 or 3.13 is needed" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(not (3, 11) <= v <= (3, 13))' \
	  || { echo "error: $(PYTHON) is $$($(PYTHON) --version 2>&1): Python 3.11, 3.12 or 3.13 is needed, e.g. make PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null \
	  || { echo "error: this Python has no venv; on Debian: apt-get install python3-venv" >&2; exit 2; }
	@[ ! -L $(VENV) ] || { echo "error: $(VENV) is a link to another folder's packages, which would be emptied: remove the link, or run make setup there" >&2; exit 2; }
	@echo "installing the packages of requirements.lock into $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@sed -n '/^uv==/,/^    # /p' requirements.lock > $(VENV)/uv.lock
	@$(PIP) --no-deps -r $(VENV)/uv.lock 2> $(VENV)/uv.log || echo "uv is not to be had: pip takes some minutes"
	@$(call install,-r requirements.lock)
	@touch $@

# The command morphtrack, which runs the code of this folder; nothing is fetched for it.
$(READY): $(PACKAGES) pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input --no-index \
	  --no-deps --no-build-isolation --editable .
	@$(RUN) pipeline.scans.open3d_loader
	@printf '%s' "$(CURDIR)" > $@

# What the checks and tests need beside it.
$(READY_DEV): $(READY) tests/requirements.lock
	@echo "adding the packages of tests/requirements.lock"
	@$(call install,--no-deps -r tests/requirements.lock)
	@touch $@

# The locks made again from pyproject.toml: a version that still fits stays, and what
# requirements.lock holds is left out of the others, but for colorama, there for Windows alone.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml
lock_beside = $(LOCK) --extra $(1) --constraint requirements.lock -o $(2) > /dev/null \
  --no-emit-package pip $$(sed -n '/^colorama/!s/^\([a-z0-9-]*\)==.*/--no-emit-package \1/p' requirements.lock) \
  && sed '/^$$/,$$d' $(2) > $(2).part && mv $(2).part $(2) # uv lists at the end what it left out
lock:
	@command -v uv > /dev/null || { echo "error: make lock needs uv: pip install uv" >&2; exit 2; }
	@$(LOCK) --extra setup -o requirements.lock > /dev/null
	@$(call lock_beside,dev,tests/requirements.lock)
	@$(call lock_beside,bench,tests/bench/requirements.lock)
	@$(call lock_beside,formats,pipeline/scans/requirements.lock)
	@$(call lock_beside,audit,tests/audit/requirements.lock)

demo: $(READY)
	@$(RUN) pipeline make comparisons $(ON)

figures: $(READY)
	@$(RUN) pipeline make $(ON)

figure-%: $(READY)
	@$(RUN) pipeline make $* $(ON)

# The pictures of docs, drawn again from the commands of its pages; PAGE=docs/gallery/index.md
# draws those of one page.
gallery: $(READY)
	@PATH="$(CURDIR)/$(BIN):$$PATH" PYTHONPATH= $(BIN)/python docs/tools/pictures.py $(PAGE)

# The documentation, in site/index.html; a broken link or an unknown name fails.
docs: $(READY_DEV)
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH= $(BIN)/mkdocs build --strict --quiet
	@echo "wrote site/index.html"

# make study NAME=sheet_size; RETRY=failed repeats the runs that failed by themselves;
# PROFILE=slurm runs it on the cluster that conf/profile/slurm describes
study: $(READY)
	@$(RUN) pipeline study $(if $(NAME),$(NAME),--help) $(if $(RETRY),--retry-$(RETRY)) $(ON)

# PORT=5000
ui: $(READY)
	@$(RUN) pipeline ui $(if $(PORT),--port $(PORT))

# results/paper/paper.tex, a LaTeX article around the numbers of the demo
paper: demo
	@$(RUN) pipeline report --paper

# One RO-Crate of code, configurations, data and results: results/morphtrack.crate.zip
archive: $(READY)
	@$(RUN) pipeline archive

lint: $(READY_DEV)
	@$(MAKE) --no-print-directory -j2 types style

types: $(READY_DEV)
	$(BIN)/mypy

style: $(READY_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile
	$(BIN)/lint-imports

# Types are checked meanwhile: tests that wait for processes leave room.
test: style
	@$(BIN)/mypy > $(VENV)/mypy.log 2>&1 & types=$$!; \
	$(RUN) pytest $(SUITE) $(SPREAD); tests=$$?; \
	wait $$types; types=$$?; cat $(VENV)/mypy.log; exit $$((tests || types))

# The report in a real browser, and the picking window on a screen of its own; on Debian:
# apt-get install chromium xvfb xdotool libgl1-mesa-dri. Without them it fails.
test-browser: $(READY_DEV)
	$(RUN) pytest tests/browser -m "slow or not slow"

# SHARE=3/60 is the third of sixty shares, drawn by the tests' names.
test-long: $(READY_DEV)
	LONG_SHARE=$(SHARE) $(RUN) pytest $(SUITE) $(SPREAD) -m "slow or long"

# Fuzzed readers, shells with limits, full disks, an MLflow server that fails, and what is
# killed, edited or started twice; SMALL=1 leaves out what is marked long. On Debian, as
# root: apt-get install postgresql.
test-faults: $(READY_DEV)
	@$(call needed,initdb mount,postgresql)
	$(RUN) pytest tests/faults tests/pipeline/tracking tests/pipeline/workflow/test_guarantees.py \
	  -m "slow$(if $(SMALL), and not long)" -n 2 --dist loadfile

# A Slurm of one node; on Debian, as root: apt-get install slurm-wlm munge
test-cluster: $(READY_DEV)
	@$(call needed,munged slurmctld slurmd sbatch,slurm-wlm munge)
	$(RUN) pytest tests/cluster -m "slow or not slow"

# What make figures makes, in a copy: counts, links, traces, and the archive that rebuilds
# it; the shell lines of the shipped workflow. SMALL=1 leaves out what takes longest.
test-shipped: $(READY_DEV)
	SMALL=$(SMALL) $(RUN) pytest tests/shipped tests/pipeline/workflow/test_shell_lines.py -m "slow or not slow"

# Readers of LAS, LAZ, E57, C3D and DXF, added to the environment.
formats: $(READY)
	@$(call install,--no-deps -r pipeline/scans/requirements.lock)

# The peers of the benchmarks, added to the environment.
bench: $(READY_DEV)
	@$(call install,--no-deps -r tests/bench/requirements.lock)
	@ls tests/bench/bench_*.py | sed 's|^|$(BIN)/python |'

# This software beside NumPy and SciPy in turns; ratios are printed, counts decide.
ratios: $(READY_DEV)
	$(RUN) tests.bench.bench_ratios

# Known vulnerabilities of what the locks pin, where the package index has advisories.
audit: $(READY_DEV)
	@$(call install,--no-deps -r tests/audit/requirements.lock)
	@for lock in requirements.lock */requirements.lock */*/requirements.lock; do \
	  echo "$$lock:"; $(BIN)/pip-audit --require-hashes --disable-pip -r $$lock 2> $(VENV)/audit.log || found=1; \
	  tail -n 1 $(VENV)/audit.log; done; exit $${found:-0}

clean:
	rm -rf .numba_cache .snakemake .mypy_cache .ruff_cache .pytest_cache .hypothesis

help:
	@sed -n 's/^# //p' Makefile | head -4
	@echo "make figure-NAME  make one figure and what it needs, such as figure-dejong-3"
	@echo "make docs         the documentation, in site/index.html"
	@echo "make gallery      the pictures of the documentation, drawn again; PAGE=FILE of one page"
	@echo "make study NAME=sheet_size   run a study of conf/study; RETRY=failed repeats failures,"
	@echo "                  PROFILE=slurm runs it on a cluster"
	@echo "make ui           open MLflow on the runs, at http://127.0.0.1:5000; PORT=5001 elsewhere"
	@echo "make paper        fill a LaTeX article with the numbers of the demo, in results/paper"
	@echo "make archive      pack everything into one RO-Crate, results/morphtrack.crate.zip"
	@echo "make lint         style, types and imports"
	@echo "make test WORKERS=0   the quick tests in one process, for a debugger"
	@echo "make test-long    the slow tests and the statistics"
	@echo "make test-faults  fuzzed readers, limits of a shell, full disks, kills, a failing"
	@echo "                  server (as root, needs postgresql)"
	@echo "make test-cluster a study on a Slurm of one node (as root, needs slurm-wlm, munge)"
	@echo "make test-browser the report in a real browser, the picking window (needs chromium, xvfb, xdotool)"
	@echo "make bench        install the peers, print the benchmarks, a command each"
	@echo "make ratios       this software beside NumPy and SciPy, and the ratios that were kept"
	@echo "make formats      adds the readers of LAS, LAZ, E57, C3D and DXF"
	@echo "make audit        known vulnerabilities of the packages, where the index has advisories"
	@echo "make lock         make the locks again from pyproject.toml (needs uv); versions that fit stay"
	@echo "make clean        remove caches; results stay"
