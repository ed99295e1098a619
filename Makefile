# Two commands for newcomers: `make demo` and `make test`. Both set up .venv first if it is not there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal

.PHONY: demo test test-full lint types docs bench clean

$(VENV)/.installed: pyproject.toml setup.py $(wildcard src/onefit/*/*.pyx src/onefit/*/*/*.p[yx][xd])
	@echo "==> setting up a virtual environment in $(VENV) and installing onefit"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

demo: $(VENV)/.installed
	@echo "==> choosing kernel width and ridge on a data set that ships with scikit-learn"
	@$(BIN)/python benchmarks/demo.py

# Every test once: `test` leaves out what is marked `slow` (what takes long, and combinations of parameters all of whose
# pairs it tries in others: tests/conftest.py), and `test-full` runs `test`, then that.
test: $(VENV)/.installed
	@echo "==> running the quick tests, two at a time (2 minutes)"
	@$(PYTEST)

test-full: test
	@echo "==> running all other tests, two at a time (10 minutes)"
	@$(PYTEST) -m slow

lint: $(VENV)/.installed
	@echo "==> ruff"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.installed
	@echo "==> mypy (strict from linalg to bounds)"
	@$(BIN)/mypy

docs: $(VENV)/.documented
	@echo "==> building the documentation (a few minutes: its examples are run)"
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "==> open docs/_build/html/index.html"

$(VENV)/.documented: $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@

bench: $(VENV)/.installed
	@echo "==> comparing with GridSearchCV, himalaya and plain NumPy, one thread each"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[benchmark]"
	@$(BIN)/python benchmarks/main_road.py
	@$(BIN)/python benchmarks/kernel_ridge.py
	@for machine in svc svr l2svc; do $(BIN)/python benchmarks/support_vector.py --machine $$machine; done
	@$(BIN)/python benchmarks/criteria.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build docs/gallery docs/generated
