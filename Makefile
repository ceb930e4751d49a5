# On a fresh machine, run `make demo` or `make test`; both create an environment in .venv if there is none.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
BENCH  := .venv-bench
TORCH  := .venv-torch
# Tests run in parallel. Compiling takes much of their time, so what XLA need not do is off; numbers must not depend on it.
XLA    := JAX_PLATFORMS=cpu JAX_DISABLE_MOST_OPTIMIZATIONS=1 XLA_FLAGS=--xla_cpu_use_fusion_emitters=false
TEST   := $(XLA) $(BIN)/python -m pytest -n auto --dist worksteal
COVER  := $(if $(COVERAGE),--cov --cov-append --cov-report=,)

.PHONY: demo test test-slow test-all test-torch fuzz round-trips soak check size packages sbom docs paper bench coverage clean

demo: $(VENV)/.installed
	$(BIN)/fuzzymil demo --output demo

# Every behavior once.
test: $(VENV)/.dev
	$(TEST) -m "not slow" $(COVER)

# What takes long: scikit-learn's checks on every comparator, processes, browser, experiments, long fuzzing.
test-slow: $(VENV)/.dev
	$(TEST) -m slow $(COVER)

test-all: test test-slow

# What needs PyTorch, in an environment of its own because PyTorch is large; `make test` skips it.
test-torch: $(TORCH)/.installed
	$(XLA) OMP_NUM_THREADS=1 $(TORCH)/bin/python -m pytest -n auto \
		tests/pytorch tests/inference/test_engines.py tests/inference/test_namespaces.py tests/reference/test_network.py tests/reference/test_operators.py \
		src/fuzzymil/torch.py src/fuzzymil/inference/engines docs/tutorials/digits.md

# Fits, kills, resumes, full disks and concurrent writers for ten minutes; fails if anything is lost.
soak: $(VENV)/.dev
	$(XLA) $(BIN)/python tests/soak.py --seconds $(or $(SECONDS),600) --seed $(or $(SEED),0)
	$(BIN)/python tests/failpoints.py
	$(BIN)/python tests/endurance.py --seconds $(or $(SECONDS),600) --seed $(or $(SEED),0)

# Mutates every kind of file N times and reads it; fails on a crash, hang, internal exception or silent difference.
fuzz: $(VENV)/.dev
	$(BIN)/python tests/fuzz/run.py -n $(or $(N),1000) --seed $(or $(SEED),0)

# Writes and reads N random systems in every format; the answers must stay the same.
round-trips: $(VENV)/.dev
	$(BIN)/python tests/reference/round_trips.py -n $(or $(N),1000) --seed $(or $(SEED),0)

# `make test-all coverage COVERAGE=1` measures which lines the tests run.
coverage: $(VENV)/.dev
	$(BIN)/python -m coverage report --fail-under=90

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Lines, files and modules per package, and how much of the library a call enters.
size: $(VENV)/.dev
	$(BIN)/python tools/size.py

# The sdist and wheel: built, installed in empty environments on every Python from 3.11 that is here, and used.
packages: $(VENV)/.dev
	$(BIN)/nox

# The site of this version, in site/VERSION/, beside those of others; a broken link, anchor or name is an error.
docs: $(VENV)/.docs
	$(BIN)/python tools/site.py

# What an installation consists of, as CycloneDX, in dist/.
sbom: $(VENV)/.dev
	$(BIN)/nox -s sbom

# An experiment of the paper (`all` for every one): make paper EXPERIMENT=landmine [QUICK=1] [OUTPUT=results]
paper: $(VENV)/.dev
	$(BIN)/python -m paper $(or $(EXPERIMENT),all) $(if $(QUICK),--quick) $(if $(OUTPUT),--output $(OUTPUT))

# Speed compared with other packages, which have their own environment; QUICK=1 for a short run.
bench: $(BENCH)/.installed
	$(BENCH)/bin/python bench/run.py $(if $(QUICK),--quick)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

# pip learned --group in 25.1; older ones are upgraded inside the environment.
$(VENV)/.dev: pyproject.toml $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

$(VENV)/.docs: pyproject.toml $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

$(TORCH)/.installed: pyproject.toml
	$(PYTHON) -m venv $(TORCH)
	$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(TORCH)/bin/python -m pip install --quiet torch==2.13.0
	$(TORCH)/bin/python -m pip install --quiet --editable '.[torch]' --group dev
	touch $@

# Packages that cannot be installed are skipped; the tables report them. xanfis needs an older NumPy.
$(BENCH)/.installed: pyproject.toml bench/requirements.txt bench/requirements-alone.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[train]'
	grep -v '^#' bench/requirements.txt | while read -r package; do \
		$(BENCH)/bin/python -m pip install --quiet --constraint bench/requirements.txt "$$package" || true; done
	grep -v '^#' bench/requirements-alone.txt | while read -r package; do \
		$(BENCH)/bin/python -m pip install --quiet --no-deps "$$package" || true; done
	$(PYTHON) -m venv $(BENCH)-xanfis
	$(BENCH)-xanfis/bin/python -m pip install --quiet torch==2.13.0 'numpy<2' xanfis==1.1.0 || true
	$(PYTHON) -m venv $(BENCH)-commands
	$(BENCH)-commands/bin/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

clean:
	rm -rf $(VENV) $(TORCH) $(BENCH) $(BENCH)-xanfis $(BENCH)-commands demo site .pytest_cache .mypy_cache .ruff_cache .coverage .hypothesis
