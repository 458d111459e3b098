# `make setup` needs nothing but Python 3.11 or newer. Every other target sets up by itself.
PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.setup-done
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo up test test-all test-gpu bench-gpu proofs hostile faults mutate wheels bundle check lint format reference screenshots bench clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv with grader and everything it needs

$(STAMP): pyproject.toml scripts/setup scripts/build_client web/client/package-lock.json $(wildcard web/client/*.js web/client/src/*.js sandbox/emulator/*/*.[ch] sandbox/emulator/engine/alu.ops sandbox/emulator/build.sh)
	@PYTHON="$(PYTHON)" VENV="$(VENV)" sh scripts/setup
	@touch $@

demo: $(STAMP) ## Judge right and wrong kernels of six challenges through CLI and queue
	@$(BIN)/python scripts/demo.py

up: $(STAMP) ## Start web, queue and worker on this machine; Ctrl-C ends them
	@$(BIN)/grader up

# How many processes run tests. Three, whatever the cores: a test starts processes of its own, and often waits for them.
JOBS ?= 3

# pytest keeps what it makes of all asserts only without the variable: else each process makes it again, in each run.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest --durations=25 --numprocesses=$(JOBS) --dist=loadscope --no-loadscope-reorder

# Hundreds of processes import these, and where Python may keep no bytecode, each would compile them.
COMPILE = @$(BIN)/python -m compileall -q grader sandbox web tests

test: $(STAMP) ## Run the tests (JOBS=3 at a time); GRADER_REQUIRE=docker,browser,postgres makes missing parts failures, GRADER_PROVE=all proves all challenges
	$(COMPILE)
	$(PYTEST)

test-all: $(STAMP) ## Run the full matrix, as CI does: `make test`, what is tried in turn, every test on PostgreSQL too, the images, and faults
	$(COMPILE)
	$(PYTEST) --matrix

wheels: $(STAMP) ## Build wheels into dist/: for any system, and for Linux on x86-64 and on aarch64 with the emulated GPU's engine
	$(BIN)/python -m pip install --quiet --editable '.[wheels]'
	_PYTHON_HOST_PLATFORM=any $(BIN)/python -m build --wheel --no-isolation
	_PYTHON_HOST_PLATFORM=linux-x86_64 $(BIN)/python -m build --wheel --no-isolation
	_PYTHON_HOST_PLATFORM=linux-aarch64 $(BIN)/python -m build --wheel --no-isolation

bundle: $(STAMP) ## Collect what a GPU host without a network lacks into .bundle/ (under 48 MiB)
	$(BIN)/python scripts/bundle.py

test-gpu: ## On a GPU host: run the GPU's tests, from .bundle/ where it is there; needs no network and no setup
	$(PYTHON) scripts/test_gpu.py

bench-gpu: ## On a GPU host: the tests and every figure, one after the other (ARGS="proofs solutions --budget 600")
	$(PYTHON) benchmarks/gpu/run.py $(ARGS)

proofs: $(STAMP) ## Prove every challenge on cpu and on the emulated GPU, except those proven already from the same files
	$(BIN)/python benchmarks/proofs.py --changed --json --seconds 3600
	$(BIN)/python benchmarks/proofs.py --device emulated --changed --json --seconds 3600

hostile: $(STAMP) ## Judge every attack and honest control; fails if one gets through or is refused (ARGS=--json)
	$(BIN)/python scripts/hostile.py $(ARGS)

faults: $(STAMP) ## Strike a platform under load with 200 faults; fails if a submission is lost or misjudged (ARGS=--seed N)
	$(BIN)/python scripts/faults.py $(ARGS)

mutate: $(STAMP) ## Change the modules that judge and guard, one place at a time; fails if tests miss more than 10 % (ARGS="compare rule")
	$(BIN)/python scripts/mutate.py $(ARGS)

check: $(STAMP) ## What a change most often forgets, in two minutes: format, lint, types, layers, reference, docs, commands, routes
	@$(BIN)/python scripts/check.py

C_FILES := $(wildcard sandbox/emulator/engine/*.[ch] sandbox/emulator/host/*.[ch])

lint: $(STAMP) ## Ruff, clang-format, mypy (strict) and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(C_FILES)
	$(BIN)/mypy
	MYPYPATH=sandbox/runner $(BIN)/mypy --explicit-package-bases $(wildcard sandbox/runner/*.py)
	$(BIN)/lint-imports

format: $(STAMP) ## Let ruff and clang-format fix what they can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(C_FILES)

reference: $(STAMP) ## Write docs/reference/ from commands, API, settings, errors and figures (ARGS=--check says what is stale)
	$(BIN)/python scripts/reference.py $(ARGS)

screenshots: $(STAMP) ## Take pictures of every page into .screenshots/, and the README's into docs/images (ARGS="home challenge front")
	$(BIN)/python scripts/screenshots.py $(ARGS)

bench: $(STAMP) ## Measure the figures; results go to benchmarks/results
	$(BIN)/python benchmarks/cli_start.py --json
	$(BIN)/python benchmarks/turnaround.py --json
	$(BIN)/python benchmarks/turnaround.py --cuda --json
	$(BIN)/python benchmarks/judge_cost.py --json
	$(BIN)/python benchmarks/box_start.py --json
	$(BIN)/python benchmarks/emulator.py --json

clean: ## Remove what was built, not what was recorded
	rm -rf $(VENV) web/client/node_modules web/static/built sandbox/emulator/built .demo dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
