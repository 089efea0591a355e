# Two commands do everything on a fresh machine with Python 3.11 and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS := $(shell $(PYTHON) -c 'import os; print(2 + (os.cpu_count() or 1))')  # two more than cores: a third of the time tests wait
unexport PYTHONDONTWRITEBYTECODE  # images set it; compiled once, a process starts in a third of the time

.DEFAULT_GOAL := help
.PHONY: help demo test test-engines check audit bench bench-ordinary compare docs notebooks dist format constraints clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(READY) ## set up, then the whole story about 8,366 real people: profile, plan, release, report, refusal
	@$(BIN)/discreet demo

test: $(READY) ## set up, then all tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test-engines: $(READY) ## every statistic on Dask and on Spark, digit by digit (Spark where Java 17 is found)
	$(BIN)/python -m pytest -m engines tests/engines

check: $(READY) ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

audit: $(READY) ## the studies among the tests, then the long audit of every mechanism and of whole questions
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m study
	$(BIN)/python -m benchmarks.audit
	$(BIN)/python -m benchmarks.questions

bench: $(READY) ## the bars of speed and accuracy, ours beside the baselines
	$(BIN)/python -m benchmarks.run

bench-ordinary: $(READY) ## every statistic on real tables: do its intervals hold the table's values?
	@$(BIN)/uv pip install --quiet -c constraints.txt -e '.[bench]' || $(BIN)/python -m pip install --quiet -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks.ordinary

compare: $(READY) ## ours beside other packages and published methods: docs/compare.md
	test -x .venv-compare/bin/python || $(PYTHON) -m venv .venv-compare
	.venv-compare/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/compare/constraints.txt
	$(BIN)/python -m benchmarks.compare

docs: $(READY) ## the site, into build/site: offline, a warning is an error
	@$(BIN)/uv pip install --quiet -c constraints.txt -e '.[docs]' || $(BIN)/python -m pip install --quiet -c constraints.txt -e '.[docs]'
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going -b html docs build/site
	@echo "open build/site/index.html"

notebooks: $(READY) ## run the lectures' notebooks and the gallery, and keep their output and pictures
	@$(BIN)/uv pip install --quiet -c constraints.txt -e '.[docs]' || $(BIN)/python -m pip install --quiet -c constraints.txt -e '.[docs]'
	$(BIN)/python -m scripts.notebooks
	$(BIN)/python -m scripts.gallery

dist: $(READY) ## wheel and sdist, into dist, checked as an index would check them
	@$(BIN)/uv pip install --quiet -c constraints.txt -e '.[dist]' || $(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dist]'
	rm -rf dist
	$(BIN)/uv build --quiet
	$(BIN)/twine check --strict dist/*

format: $(READY) ## put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

constraints: $(READY) ## choose the exact versions anew
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url --no-annotate --no-header \
		--extra dev --extra bench --extra dist --extra docs --upgrade pyproject.toml --output-file constraints.txt

clean: ## remove what was set up
	rm -rf $(VENV) .venv-compare .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# uv installs in seconds; where it cannot be had, pip does the same from the same file
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "discreet needs Python 3.11 or newer; try make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@if $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv; then \
		echo "installing with uv"; VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet -c constraints.txt -e '.[dev]'; \
	else \
		echo "installing with pip"; $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'; \
	fi
	@touch $@
