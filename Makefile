# make test     format, lint, types, layers, tests; everything it needs goes into .venv
# make demo     records three models and draws them; says where the pictures are
# make docs     build the documentation into site/, with what it warns of as errors
# make examples run what is in examples/ and write examples/output/ anew
# make format   rewrite the sources as `make test` wants them
# make dist     build the packages, and try them installed in new environments without PyTorch
# make bench    print the figures of benchmarks/
# make clean    remove .venv and all that is made

PYTHON ?= python3
TORCH ?= torch==2.13.0
PYTEST_OPTIONS ?=
# what `make dist` tries the packages with: those of these that are there
PYTHONS ?= python3.11 python3.12 python3.13

BIN := .venv/bin
STAMP := .venv/.installed
BUILT := .venv/.docs-installed

.PHONY: test demo docs examples format dist try bench clean

test: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest --cov $(PYTEST_OPTIONS)

demo: $(STAMP)
	$(BIN)/python examples/demo.py

docs: $(BUILT)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

examples: $(STAMP)
	for file in examples/*.py; do echo "--- $$file"; $(BIN)/python $$file || exit 1; done

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

dist: $(STAMP)
	rm -rf dist build
	$(BIN)/hatchling build
	$(BIN)/pytest tests/test_dist.py
	for python in $(PYTHONS); do \
	    if $$python -c ''; then $(MAKE) --no-print-directory try TRIED=$$python || exit 1; fi; \
	done

# the tests of the source package, without its folder `trec`: so they run with the wheel
try:
	rm -rf build && mkdir build
	$(TRIED) -m venv build/environment || $(TRIED) -m virtualenv build/environment
	build/environment/bin/python -m pip install --quiet "$$(ls -d $$PWD/dist/*.whl)[test-saved]"
	tar -xzf dist/*.tar.gz --strip-components 1 --one-top-level=build/source
	rm -r build/source/trec
	cd build/source && ../environment/bin/python -m pytest $(PYTEST_OPTIONS) tests

bench: $(STAMP)
	for file in benchmarks/*.py; do echo "--- $$file"; $(BIN)/python $$file || exit 1; done

# torch comes first and alone: so an index that holds only torch, or a torch for CPUs, can be named for it
$(STAMP): pyproject.toml Makefile
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "trec needs Python 3.11 or newer; name one with make PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv || $(PYTHON) -m virtualenv .venv
	$(BIN)/python -m pip install --quiet '$(TORCH)'
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(STAMP)

$(BUILT): $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $(BUILT)

clean:
	rm -rf .venv build dist demo site .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
