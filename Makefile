# make test     format, lint, types, layers, tests; everything it needs goes into .venv
# make demo     records three models and draws them; says where the pictures are
# make format   rewrite the sources as `make test` wants them
# make bench    print the figures of benchmarks/
# make clean    remove .venv and all that is made

PYTHON ?= python3
TORCH ?= torch==2.13.0
PYTEST_OPTIONS ?=

BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: test demo format bench clean

test: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest --cov $(PYTEST_OPTIONS)

demo: $(STAMP)
	$(BIN)/python examples/demo.py

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)
	for file in benchmarks/*.py; do echo "--- $$file"; $(BIN)/python $$file || exit 1; done

# torch comes first and alone: so an index that holds only torch, or a torch for CPUs, can be named for it
$(STAMP): pyproject.toml Makefile
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "trec needs Python 3.11 or newer; name one with make PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv || $(PYTHON) -m virtualenv .venv
	$(BIN)/python -m pip install --quiet '$(TORCH)'
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(STAMP)

clean:
	rm -rf .venv build dist demo .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
