PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Of `make dashboard`: the port, and a folder with runs beside the project's own.
PORT ?= 8501
ROOT ?=

.PHONY: dashboard test check format bench screenshots clean help

help:
	@echo "make dashboard  prepare what is missing and open the review pages at http://localhost:$(PORT)"
	@echo "                (PORT=8502 takes another port, ROOT=DIR adds a folder with runs)"
	@echo "make test       run every test (a real browser included)"
	@echo "make check      format, lint and type check, changing nothing"
	@echo "make format     apply the formatter and the safe lint fixes"
	@echo "make screenshots  take the pictures of the README (needs Chromium and a CJK font)"
	@echo "make bench      run the benchmarks and print their ratios"

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Two stamps, so that `make dashboard` installs no test tools and nothing is installed twice.
$(VENV)/.runtime: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.development: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,dev]'
	@touch $(VENV)/.runtime $@

dashboard: $(VENV)/.runtime
	$(BIN)/shopsim-review dashboard --port $(PORT)$(if $(ROOT), --root "$(ROOT)")

test: $(VENV)/.development
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(VENV)/.development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.development
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.development
	$(BIN)/python -m benchmarks

screenshots: $(VENV)/.development
	$(BIN)/python docs/screenshots.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis data/prepared .shopsim
