# Two commands do everything on a fresh machine: `make demo` and `make test`.
# Each makes its own environment in .venv when there is none.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Tests run in parallel processes; one compute thread each is plenty.
TEST   := JAX_PLATFORMS=cpu $(BIN)/python -m pytest

.PHONY: demo test check docs bench clean

demo: $(VENV)/.installed
	$(BIN)/fuzzymil demo --output demo

test: $(VENV)/.dev
	$(TEST) -n auto --cov --cov-report=term --cov-fail-under=90

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The site, in site/; a broken link, anchor or name is an error.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.dev
	$(BIN)/python bench/run.py

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

clean:
	rm -rf $(VENV) demo site .pytest_cache .mypy_cache .ruff_cache .coverage .hypothesis
