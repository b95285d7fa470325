# make help says what there is. From nothing, make run starts a server, and make test runs the tests.

.PHONY: help run test check proofs tests slow-tests lint i18n pictures browser documents docs constraints clean
.DELETE_ON_ERROR:

# Also where somebody wants no compiled modules: a test starts hundreds of programs, which would all compile the same.
test check proofs tests slow-tests: export PYTHONDONTWRITEBYTECODE =

venv = .venv/bin/

comma = ,
pins_of_extras = $(patsubst %,-r etc/constraints-%.txt,$(subst $(comma), ,$*))
platform = import platform, sys; print("%d.%d-%s-%s" % (*sys.version_info[:2], platform.machine(), platform.libc_ver()[0]))

CHOSEN := not proof

# Tests wait now and then, for processes to start and for browsers, so one worker more than cores. Each has a PostgreSQL, a
# server and a browser of its own: further ones cost more than they gain.
workers := $(shell echo $$(( $$(nproc 2>/dev/null || echo 2) + 1 )))

# The virtual environment works only where it was made, and only as long as its Python is there.
ifneq ($(shell $(venv)python -c '' 2>/dev/null && cat .venv/made-in 2>/dev/null),$(CURDIR))
.PHONY: .venv/made-in
endif

help: .venv/installed-embedded,test	## Lists the targets, and the programs of bench.
	@sed -n 's/^\([a-z0-9-]*\):.*\t## /\1\t/p' Makefile | sort | expand -t 14
	@echo && $(venv)python -m bench

run: .venv/installed-embedded,heic,pdf,posters,signin,workbooks	## Starts everything and serves until Ctrl-C.
	@exec $(venv)crowdctl serve

test: .venv/installed-embedded,test browser	## What must pass before a change goes in: lint, and examples of each rule.
	@$(MAKE) --no-print-directory -j2 lint tests

# Without a browser and without tests that take longer than most (tests/suite/slow_tests.txt): those left out are counted at the end.
check: .venv/installed-embedded,test	## What to run while you work: without browsers and slow tests.
	@$(MAKE) --no-print-directory -j2 lint tests CHOSEN='not browser and not slow and not proof'

# What make test shows by examples: the other cases, each page and each way to use it in a browser, and the proofs of bench/
# in small (crowds, storms, attacks, large files).
proofs: .venv/installed-embedded,test browser	## All other tests.
	@$(MAKE) --no-print-directory tests CHOSEN='proof'

# Where nobody looks on, a test that failed runs up to twice more, a second later: a machine that is too busy must not
# refuse a change. Such tests are listed at the end (RERUN) and have to be repaired.
tests:
	@# The first time once alone, so that asserts are compiled by one process instead of by each.
	@ls tests/__pycache__/conftest.*-pytest-*.pyc > /dev/null 2>&1 || $(venv)pytest --collect-only -qq > /dev/null || true
	@$(venv)pytest -n $(workers) --dist worksteal $(if $(CI),--reruns 2 --reruns-delay 1 --rerun-show-tracebacks) -m '$(CHOSEN)'

# Measures all tests and writes the list of those that take longer than most.
slow-tests: .venv/installed-embedded,test browser	## Lists the tests that take longer than most.
	@PYTHONPATH=tests $(venv)pytest -n $(workers) --dist worksteal -m 'not size' -p support.suite.slow_tests

lint: .venv/installed-embedded,test	## ruff, mypy, and which module may import which.
	@$(venv)ruff check .
	@$(venv)ruff format --check --quiet .
	@$(venv)mypy
	@$(venv)lint-imports

# Any Python from 3.11 on that can make virtual environments, unless one is named: make run PYTHON=... The system's comes
# first: it is optimized by profiles, which one that pyenv built often is not (record 57).
.venv/made-in:
	@for python in $(or $(PYTHON),/usr/bin/python3 python3.11 python3 python3.13 python3.12); do \
	  if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "Making .venv with $$($$python --version) and installing crowdd there: one to five minutes"; \
	    $$python -m venv --clear .venv && echo "$(CURDIR)" > $@ && exit; exit 1; \
	  fi; \
	done; echo "crowdd needs Python 3.11 or newer with venv: apt-get install python3 python3-venv" >&2; exit 1

# What etc/constraints*.txt pin for crowdd and these extras, with hashes, where they are for this Python and machine; else
# the newest of the ranges in setup.py. Packages that come as source are built by the setuptools that is pinned.
# editable_mode=compat, or twistd does not find crowdd's plugin. pip need not have a cache. Byte code halves the time that
# every command takes to start; compileall makes it on all cores, pip would on one. It complains of templates for Python 2.
.venv/installed-%: .venv/made-in setup.py $(wildcard etc/constraints*.txt)
	@echo "Installing crowdd and what it needs: some 55 packages (300 MB). This takes one to five minutes"
	@test -w "$${XDG_CACHE_HOME:-$$HOME}" || export PIP_NO_CACHE_DIR=1; exec 3>&2 2> .venv/pip.log; \
	  pip="$(venv)python -m pip install -qq --disable-pip-version-check --retries 1 --no-compile --use-pep517"; \
	  editable='--config-settings editable_mode=compat --editable'; \
	  platform=$$($(venv)python -c '$(platform)'); \
	  if grep -q "^# For .*\b$$platform\b" etc/constraints.txt; then \
	    $$pip --require-hashes -r etc/constraints-build.txt && \
	    $$pip --require-hashes --no-build-isolation -r etc/constraints.txt $(pins_of_extras) && \
	    $$pip --no-deps --no-build-isolation $$editable .; \
	  else \
	    echo "Nothing is pinned for $$platform: the newest versions in the ranges of setup.py are installed"; \
	    $$pip $$editable '.[$*]'; \
	  fi || { if grep -q 'NewConnectionError\|NameResolutionError\|ProxyError\|Timeout' .venv/pip.log; then echo "No package index can be reached." \
	    "Set https_proxy, or PIP_INDEX_URL to an index of your own. What pip said is in .venv/pip.log."; \
	    else cat .venv/pip.log; echo "crowdd could not be installed; the lines above say why."; fi >&3; exit 1; }
	@env -u PYTHONPYCACHEPREFIX $(venv)python -m compileall -qq -j 0 .venv/lib crowdd || true
	@touch '$@'

# Looks through the code for words and brings the catalogues up to date. Then translate what is new in the .po files.
i18n: .venv/installed-embedded,test	## Brings the catalogues up to date.
	@$(venv)python -m crowdd.kernel.languages.update

# Draws the pictures of docs/images from the cases of the tests; with TO=folder every page, to be looked at.
pictures: .venv/installed-embedded,test browser	## Draws the pictures of the docs; with TO=folder every page.
	@PYTHONPATH=tests $(venv)python -m browser.pictures $(if $(TO),--to $(TO)) $(if $(ONLY),--only $(ONLY))

# Debian's headless shell drives the tests for a third of the time that a whole Chromium takes, which will do as well.
# The browser's tests say themselves what is missing where this cannot help.
browser:
	@test -n "$$CHROMIUM" || command -v chromium-headless-shell >/dev/null || \
	  { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && echo "Installing Chromium" && apt-get -qq update && \
	    { apt-get -qq install -y chromium-headless-shell || apt-get -qq install -y chromium; } >/dev/null; } || true

documents: .venv/installed-embedded,test	## Writes what the docs take from the code.
	@$(venv)python -m bench.release.documents

docs: .venv/installed-embedded,docs documents	## Builds the docs as pages.
	@$(venv)sphinx-build -q -W --keep-going -b html docs docs/_build
	@echo "docs/_build/index.html"

# Pins what crowdd and its extras need, with hashes, in etc/constraints*.txt: after a change of setup.py, and for new
# versions.
constraints: .venv/installed-embedded,test	## Pins the newest versions in the ranges of setup.py.
	@$(venv)python -m bench.release.constraints

clean:	## Removes .venv and what was built.
	rm -rf .venv build docs/_build docs/reference *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find crowdd tests twisted bench examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# make NAME for all other names: the proofs and measurements of bench/__main__.py.
.DEFAULT:
	@$(MAKE) --no-print-directory .venv/installed-embedded,test
	@$(venv)python -m bench $@
