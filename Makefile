# Needs Python 3.11 or later with pip, and make: all else is installed into .venv from the hashed constraints.
#
#   make demo [DEMO=./demo-data] [PORT=8350]  a base with real facts in it, served, and what to try on it;
#                                           ARGS=--accept-clock when the host's clock was set back
#   make demo-reset                         the same, started over
#   make serve [DATA=./data] [PORT=8350]    the service
#   make test [ARGS='-x tests/kernel'] [WORKERS=2]  the tests, so many at a time; those that need a browser, Node or
#                                           ../shared skip without them
#   make lint                               style, types, layers
#   make fuzz                               every test, the randomised ones at length
#   make bench                              ratios against peers measured in the same run
#   make size                               what the core installs, in megabytes
#   make constraints [UPGRADE=--upgrade]    the constraints made anew from pyproject.toml; needs uv

PYTHON ?= python3
UV ?= uv
DATA ?= ./data
DEMO ?= ./demo-data
PORT ?= 8350
WORKERS ?= 2
CORE_LIMIT_MB := 130

BIN := .venv/bin
LOCKED := install --quiet --no-compile --require-hashes --only-binary :all:
OURS := install --quiet --no-deps --no-build-isolation --editable .
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate $(UPGRADE) pyproject.toml

.DELETE_ON_ERROR:
.PHONY: .venv demo demo-reset serve test lint fuzz bench size constraints

.venv: .venv/test

demo: .venv/core
	@$(BIN)/muniment demo --data $(or $(DEMO),./demo-data) --port $(PORT) $(ARGS)

demo-reset: .venv/core
	@$(BIN)/muniment demo --data $(or $(DEMO),./demo-data) --port $(PORT) --reset

serve: .venv/core
	$(BIN)/muniment serve --data $(or $(DATA),./data) --port $(PORT) $(ARGS)

test: .venv/test
	$(BIN)/pytest -n $(WORKERS) --dist loadfile $(ARGS)

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

fuzz: .venv/test
	$(BIN)/pytest --hypothesis-profile=fuzz -o timeout=7200 -m "fuzz or not fuzz" $(ARGS)

bench: .venv/core
	$(BIN)/python -m bench $(ARGS)

# Bytecode of all the core would be a quarter of its size, most of it never used, so Python writes what it needs; the
# tests, which start the service many times, have it all.
#
# The environment has no pip of its own, so that it can be made where Python comes without ensurepip.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Muniment needs Python 3.11 or later: make PYTHON=..." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --without-pip .venv

.venv/core: $(BIN)/python constraints-core.txt pyproject.toml
	$(PYTHON) -m pip --python .venv $(LOCKED) --requirement constraints-core.txt
	$(PYTHON) -m pip --python .venv $(OURS)
	@touch $@

.venv/test: .venv/core constraints.txt
	$(PYTHON) -m pip --python .venv $(LOCKED) --requirement constraints.txt
	$(BIN)/python -m compileall -qq .venv/lib
	@touch $@

size:
	rm -rf build/size
	$(PYTHON) -m venv --without-pip build/size
	$(PYTHON) -m pip --python build/size $(LOCKED) --requirement constraints-core.txt
	@mb=$$(du -sm build/size/lib | cut -f1); echo "core: $$mb MB of $(CORE_LIMIT_MB)"; test $$mb -lt $(CORE_LIMIT_MB)

constraints:
	$(COMPILE) --generate-hashes --group build --extra mcp --extra postgres --extra test --output-file constraints.txt
	$(COMPILE) --generate-hashes --group build --constraints constraints.txt --output-file constraints-core.txt
	$(COMPILE) --extra embeddings --constraints constraints.txt --output-file constraints-embeddings.txt
