# `make lab` and `make test` are the two commands of the course. Both need only python3 >= 3.11 and make:
# they build .venv from the hash-locked lists, once, and afterwards start at once.
# Another Python:  make lab PYTHON=python3.12      More arguments:  make test ARGS="tests/cli -x"
# Tests run in as many processes as there are processors, or one more (tests/tiers.py); in one:  make test PROCESSES=0

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
PROCESSES ?= auto
BIN = $(VENV)/bin
# Not $(BIN)/course: a script holds the folder that it was made in, `python -m` works wherever the folder is.
COURSE = $(BIN)/python -m course_lib
PIP = $(BIN)/python -m pip --disable-pip-version-check
LAB_READY = $(VENV)/.ready-lab
TEST_READY = $(VENV)/.ready-test
BOOK_READY = $(VENV)/.ready-book
CUDA_READY = build/cuda-compiler/.ready
LAB_SIZE = 690 MB

.PHONY: help install lab check test notebooks exercises release html bench lint lock clean place

# A stamp says that an install was complete. It is worth nothing where the Python below the environment is gone or has
# become another version, without the packages; then everything is made anew.
ifneq ($(wildcard $(LAB_READY)),)
ifneq ($(filter install lab check test notebooks exercises release html bench lint,$(MAKECMDGOALS)),)
SOUND := $(shell $(BIN)/python -c 'import importlib.util as u, sys; \
  sys.exit(None in map(u.find_spec, ["pip", "numba", "typer"]))' >/dev/null 2>&1 && echo yes)
ifneq ($(SOUND),yes)
$(info The Python below $(VENV) is gone, or another one than it was made with: the environment is made anew.)
$(shell rm -f $(LAB_READY) $(TEST_READY) $(BOOK_READY))
endif
endif
endif

help:
	@echo "make lab        set up once ($(LAB_SIZE) in $(VENV)), then open the lessons in JupyterLab"
	@echo "make install    set up once, and open nothing: for who grades, or works in another editor"
	@echo "make check      set up once, then ruff and the fast tests: a minute, for the time between two edits"
	@echo "make test       set up once, then run every check"
	@echo "make notebooks  build and execute the notebooks and sheets whose source changed"
	@echo "make exercises  print the kill table: what each solution, stub and wrong answer gets"
	@echo "make release    write the archive for students to build/release"
	@echo "make html       set up once more for pages, run the lessons and write them as web pages to build/html"
	@echo "make bench      time the library on this machine, against PyTorch where it is installed"
	@echo "make lint       ruff: style and formatting of the Python files"
	@echo "make lock       write the locks anew from pyproject.toml (needs uv)"
	@echo "make clean      remove $(VENV), build/ and caches"

install: $(LAB_READY) place
	@echo "The course is installed in $(VENV). Try:  $(BIN)/course doctor"

lab: $(LAB_READY) place
	@$(COURSE) lab $(ARGS)

check: $(TEST_READY) place
	@$(BIN)/ruff check .
	@$(BIN)/python -m pytest -n $(PROCESSES) -m fast $(ARGS)

test: $(TEST_READY) $(CUDA_READY) place
	@$(BIN)/python -m pytest -n $(PROCESSES) $(ARGS)

notebooks: $(TEST_READY) place
	@$(BIN)/python tools/build_notebooks.py $(ARGS)

exercises: $(TEST_READY) place
	@$(BIN)/python tools/kill_table.py $(ARGS)

release: $(LAB_READY) place
	@$(COURSE) release $(ARGS)

html: $(BOOK_READY) place
	@$(COURSE) run --out build/html $(ARGS)

bench: $(LAB_READY) place
	@$(COURSE) bench cpu $(ARGS)

lint: $(TEST_READY) place
	@$(BIN)/ruff check .

# A folder that was renamed, moved or copied with its environment: set right what holds the old path, in a second.
place: $(LAB_READY)
	@[ "`cat $(VENV)/.place 2>/dev/null`" = "`pwd -P`" ] || $(BIN)/python tools/movable.py $(VENV)

# The stamp is the last thing written, so an interrupted install is simply done again.
$(LAB_READY): requirements.lock pyproject.toml
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { \
	  echo "make: no '$(PYTHON)' here. Install Python 3.11 or newer, or name one: make lab PYTHON=python3.12"; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "make: '$(PYTHON)' is `"$(PYTHON)" -V 2>&1`; the course needs 3.11 or newer. Name one: make lab PYTHON=python3.12"; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "make: '$(PYTHON)' cannot make virtual environments. On Debian and Ubuntu: sudo apt-get install python3-venv"; exit 1; }
	@rm -f $(LAB_READY) $(TEST_READY) $(BOOK_READY) $(VENV)/.place
	@echo "Installing JupyterLab, NumPy, Numba, matplotlib and what they need from requirements.lock into $(VENV):"
	@echo "about $(LAB_SIZE) on disk, a few minutes, once."
	@if [ -e "$(VENV)" ] && ! "$(BIN)/python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then rm -rf "$(VENV)"; fi
	@[ -e "$(VENV)" ] || "$(PYTHON)" -m venv "$(VENV)"
	$(PIP) install --require-hashes -r requirements.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(TEST_READY): requirements-test.lock $(LAB_READY)
	@rm -f $@
	@echo "Installing what only the tests need (requirements-test.lock):"
	$(PIP) install --require-hashes -r requirements-test.lock
	@touch $@

$(BOOK_READY): requirements-book.lock $(LAB_READY)
	@rm -f $@
	@echo "Installing what makes web pages of the lessons (requirements-book.lock): about 40 MB on disk, once."
	$(PIP) install --require-hashes -r requirements-book.lock
	@touch $@

# A compiler for GPU kernels, so that tests/gates can read the machine code without a GPU. It stays out of the
# environment: lessons do not need it, and there it would take the place of Numba's own CUDA target.
$(CUDA_READY): requirements-cuda.lock $(TEST_READY)
	@rm -rf build/cuda-compiler && mkdir -p build/cuda-compiler
	@if [ "`uname -s` `uname -m`" = "Linux x86_64" ]; then \
	  echo "Downloading NVIDIA's CUDA compiler for the tests of the kernels (requirements-cuda.lock): 125 MB, 400 MB on disk, once."; \
	  $(PIP) install --require-hashes --no-deps --target build/cuda-compiler -r requirements-cuda.lock; \
	else echo "NVIDIA has no CUDA compiler for this system; the tests that need it are skipped."; fi
	@touch $@

lock:
	uv pip compile pyproject.toml --group build --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --no-header -o requirements.lock $(ARGS)
	uv pip compile pyproject.toml --group build --extra book --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --no-header -c requirements.lock -o requirements-book.lock $(ARGS)
	uv pip compile pyproject.toml --group build --extra book --extra test --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --no-header -c requirements-book.lock -o requirements-test.lock $(ARGS)
	uv pip compile --group cuda-compiler --no-deps --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --no-header -o requirements-cuda.lock $(ARGS)

clean:
	rm -rf $(VENV) build .pytest_cache .ruff_cache .hypothesis htmlcov .coverage
