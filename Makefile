# Two commands matter: `make run` (the check-up on the embedded models) and `make test` (the suite).
PYTHON ?= python3
VENV := .venv
UV := $(shell command -v uv || echo .tools/bin/uv)
BIN := $(VENV)/bin
INSPECT := .tools/inspect
LOCK := requirements/dev.lock
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where it is set, each of the many processes that the tests start would compile its libraries anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup run test test-slow test-inspect bench lint lock clean

run: setup
	$(BIN)/checkup run

test: setup lint
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile --no-loadscope-reorder --cov

test-slow: setup
	$(BIN)/python -m pytest -m slow

# Logs and scores of Inspect against ours, in an environment of its own: its libraries are not in the lock file.
test-inspect: $(INSPECT)/.ready
	$(INSPECT)/bin/python -m pytest -m inspect tests/flows tests/score

$(INSPECT)/.ready: pyproject.toml | $(UV)
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(INSPECT)
	$(UV) pip install --quiet --python $(INSPECT)/bin/python --group dev --group inspect --editable .
	touch $@

# What asking costs beside other clients, on an idle machine, in some minutes; benchmarks/README.md says what it measures.
# INSPECT_PYTHON names an interpreter that has inspect_ai, BENCH takes further options: make bench BENCH="--n 20000".
bench: setup
	$(BIN)/python -m benchmarks.asking $(if $(INSPECT_PYTHON),--inspect $(INSPECT_PYTHON)) $(BENCH)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

setup: $(VENV)/.ready

$(VENV)/.ready: $(LOCK) pyproject.toml | $(UV)
	@echo "Installing into $(VENV): about 2.1 GB with the libraries and two small models."
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
	$(UV) pip sync --quiet --compile-bytecode --python $(BIN)/python --require-hashes $(LOCK)
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	$(BIN)/python -m flows.server
	touch $@

.tools/bin/uv:
	$(PYTHON) -m venv .tools
	.tools/bin/python -m pip install --quiet --require-hashes --requirement requirements/uv.lock

lock: | $(UV)
	$(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 --extra local --extra dask --group dev --output-file $(LOCK) pyproject.toml

clean:
	rm -rf $(VENV) .tools .mypy_cache .pytest_cache .ruff_cache .coverage
