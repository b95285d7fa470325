# make run: from nothing to a running server. make check: what to run while you work. make test: what must pass before a
# change goes in, with examples of each rule. make proofs: everything else; CI runs it without what takes minutes (.ci/run).

.PHONY: backup run check test tests proofs slow-tests lint i18n strings pictures browser clean crowd crowd-kills exact storm live hot reads cost truth webhooks wheel documents docs hostile soak spine-workers large-project imports damaged hostile-files exports copies paint walk audit constraints images sbom vendor class-room museum budgets upload-folder media first-hour analyses trust trust-cost slow-reads page-flood nodes move-in pitr full-disks hands
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

spine = tests/test_loop.py tests/test_crowd.py tests/test_exact.py tests/test_daemon.py tests/api/tasks/test_newtask.py \
  tests/api/tasks/test_leases.py tests/api/tasks/test_task_runs.py tests/pages/test_live.py

run: .venv/installed-embedded
	@exec $(venv)crowdctl serve

test: .venv/installed-embedded,test browser
	@$(MAKE) --no-print-directory -j2 lint tests

# Without a browser and without tests that take longer than most (tests/suite/slow_tests.txt): those left out are counted at the end.
check: .venv/installed-embedded,test
	@$(MAKE) --no-print-directory -j2 lint tests CHOSEN='not browser and not slow and not proof'

# What make test shows by examples: the other cases, each page and each way to use it in a browser, and the proofs of bench/
# in small (crowds, storms, attacks, large files).
proofs: .venv/installed-embedded,test browser
	@$(MAKE) --no-print-directory tests CHOSEN='proof'

# Where nobody looks on, a test that failed runs up to twice more, a second later: a machine that is too busy must not
# refuse a change. Such tests are listed at the end (RERUN) and have to be repaired.
tests:
	@# The first time once alone, so that asserts are compiled by one process instead of by each.
	@ls tests/__pycache__/conftest.*-pytest-*.pyc > /dev/null 2>&1 || $(venv)pytest --collect-only -qq > /dev/null || true
	@$(venv)pytest -n $(workers) --dist worksteal $(if $(CI),--reruns 2 --reruns-delay 1 --rerun-show-tracebacks) -m '$(CHOSEN)'

# Measures all tests and writes the list of those that take longer than most.
slow-tests: .venv/installed-embedded,test browser
	@PYTHONPATH=tests $(venv)pytest -n $(workers) --dist worksteal -m 'not size' -p support.suite.slow_tests

lint: .venv/installed-embedded,test
	@$(venv)ruff check .
	@$(venv)mypy
	@$(venv)lint-imports

# Any Python from 3.11 on that can make virtual environments, unless one is named: make run PYTHON=... The system's comes
# first: it is optimized by profiles, which one that pyenv built often is not (record 57).
.venv/made-in:
	@for python in $(or $(PYTHON),/usr/bin/python3 python3.11 python3 python3.13 python3.12); do \
	  if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "Making .venv with $$($$python --version)"; \
	    $$python -m venv --clear .venv && echo "$(CURDIR)" > $@ && exit; exit 1; \
	  fi; \
	done; echo "crowdd needs Python 3.11 or newer with venv: apt-get install python3 python3-venv" >&2; exit 1

# What etc/constraints*.txt pin for crowdd and these extras, with hashes, where they are for this Python and machine; else
# the newest of the ranges in setup.py. Packages that come as source are built by the setuptools that is pinned.
# editable_mode=compat, or twistd does not find crowdd's plugin. pip need not have a cache. Byte code halves the time that
# every command takes to start; compileall makes it on all cores, pip would on one. It complains of templates for Python 2.
.venv/installed-%: .venv/made-in setup.py $(wildcard etc/constraints*.txt)
	@echo "Installing crowdd and what it needs"
	@test -w "$${XDG_CACHE_HOME:-$$HOME}" || export PIP_NO_CACHE_DIR=1; \
	  pip="$(venv)python -m pip install -qq --disable-pip-version-check --no-compile --use-pep517"; \
	  editable='--config-settings editable_mode=compat --editable'; \
	  platform=$$($(venv)python -c '$(platform)'); \
	  if grep -q "^# For .*\b$$platform\b" etc/constraints.txt; then \
	    $$pip --require-hashes -r etc/constraints-build.txt && \
	    $$pip --require-hashes --no-build-isolation -r etc/constraints.txt $(pins_of_extras) && \
	    $$pip --no-deps --no-build-isolation $$editable .; \
	  else \
	    echo "Nothing is pinned for $$platform: the newest versions in the ranges of setup.py are installed"; \
	    $$pip $$editable '.[$*]'; \
	  fi
	@env -u PYTHONPYCACHEPREFIX $(venv)python -m compileall -qq -j 0 .venv/lib crowdd || true
	@touch '$@'

# Looks through the code for words and brings the catalogues up to date. Then translate what is new in the .po files.
i18n: .venv/installed-embedded,test
	@$(venv)python -m crowdd.kernel.languages.update

# Lists every text that people read, with its file and line: pages, mail, help, errors and logs.
strings: .venv/installed-embedded,test
	@$(venv)python -m crowdd.kernel.languages.strings

# Draws the pictures of docs/images from the cases of the tests; with TO=folder every page, to be looked at.
pictures: .venv/installed-embedded,test browser
	@PYTHONPATH=tests $(venv)python -m browser.pictures $(if $(TO),--to $(TO)) $(if $(ONLY),--only $(ONLY))

# Debian's headless shell drives the tests for a third of the time that a whole Chromium takes, which will do as well.
# The browser's tests say themselves what is missing where this cannot help.
browser:
	@test -n "$$CHROMIUM" || command -v chromium-headless-shell >/dev/null || \
	  { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && echo "Installing Chromium" && apt-get -qq update && \
	    { apt-get -qq install -y chromium-headless-shell || apt-get -qq install -y chromium; } >/dev/null; } || true

# Long proofs: bench/README.md says what they show.
crowd: .venv/installed-embedded,test
	@$(venv)python -m bench.crowd

crowd-kills: .venv/installed-embedded,test
	@$(venv)python -m bench.crowd --kill-every 5

exact: .venv/installed-embedded,test
	@$(venv)python -m bench.exact

storm: .venv/installed-embedded,test
	@$(venv)python -m bench.storm

hot: .venv/installed-embedded,test
	@$(venv)python -m bench.hot

reads: .venv/installed-embedded,test
	@$(venv)python -m bench.reads

cost: .venv/installed-embedded,test
	@$(venv)python -m bench.cost

live: .venv/installed-embedded,test
	@$(venv)python -m bench.live

budgets: .venv/installed-embedded,test
	@$(venv)python -m bench.budgets.pages
	@$(venv)python -m bench.budgets.parts

analyses: .venv/installed-embedded,test
	@$(venv)python -m bench.budgets.analyses
	@$(venv)python -m bench.budgets.analysis_beside

# Volunteers beside 64 clients that load pages (ten minutes: python -m bench.budgets.page_flood --minutes 10)
page-flood: .venv/installed-embedded,test
	@$(venv)python -m bench.budgets.page_flood

slow-reads: .venv/installed-embedded,test
	@$(venv)python -m bench.budgets.slow_reads

trust-cost: .venv/installed-embedded,test
	@$(venv)python -m bench.budgets.trust_cost

large-project: .venv/installed-embedded,test
	@$(venv)python -m bench.budgets.large_project

trust: .venv/installed-embedded,test
	@$(venv)python -m bench.trust

truth: .venv/installed-embedded,test
	@$(venv)python -m bench.truth

# As root also the part of an ordinary user on a machine without PostgreSQL.
backup: .venv/installed-embedded,test
	@$(venv)python -m bench.backups.backup

webhooks: .venv/installed-embedded,test
	@$(venv)python -m bench.webhooks

wheel: .venv/installed-embedded,test
	@$(venv)python -m bench.release.wheel

# Writes etc/crowdd.conf and the tables of settings, errors and metrics in docs/ from the code.
documents: .venv/installed-embedded,test
	@$(venv)python -m bench.release.documents

docs: .venv/installed-embedded,docs documents
	@$(venv)sphinx-build -q -W --keep-going -b html docs docs/_build
	@echo "docs/_build/index.html"

hostile: .venv/installed-embedded,test
	@$(venv)python -m bench.hostile

soak: .venv/installed-embedded,test
	@$(venv)python -m bench.soak

# In Chromium: what a volunteer waits for.
walk: .venv/installed-embedded,test browser
	@PYTHONPATH=tests $(venv)python -m bench.budgets.walk

first-hour: .venv/installed-embedded,test browser
	@PYTHONPATH=tests $(venv)python -m bench.budgets.first_hour

paint: .venv/installed-embedded,test browser
	@PYTHONPATH=tests $(venv)python -m bench.paint

# Volunteers with hands: each stored row is compared with what was meant. INTENTS=, SEED=, WORKERS=; with RESUME=folder it
# goes on where it was ended.
hands: .venv/installed-embedded,test browser
	@PYTHONPATH=tests $(venv)python -m hands.run $(if $(INTENTS),--intents $(INTENTS)) $(if $(SEED),--seed $(SEED)) \
	  $(if $(WORKERS),--workers $(WORKERS)) $(if $(ONLY),--only "$(ONLY)") $(if $(RESUME),--resume $(RESUME))

# The spine of the suite on a server of two processes: the main loop, exactness with kills (of all, and of one process),
# leases, streams; the rate limit over both and jobs are in test_daemon.py.
spine-workers: .venv/installed-embedded,test
	@CROWDD_DAEMON_WORKERS=2 $(venv)pytest -m "not browser and not inside" $(spine)

# Two servers behind HAProxy, restarted and upgraded under load.
nodes: .venv/installed-embedded,test
	@command -v haproxy >/dev/null || test -x /usr/sbin/haproxy || \
	  { echo "HAProxy is not installed: apt-get install -y --no-install-recommends haproxy" >&2; exit 1; }
	@$(venv)python -m bench.nodes $(if $(RATE),--rate $(RATE))

# The primary of three PostgreSQL servers fails under load.
ha: .venv/installed-embedded,test
	@$(venv)python -m bench.ha $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(RATE),--rate $(RATE))

# Known vulnerabilities of the installed dependencies: asks the network (docs/operations.md).
audit: .venv/installed-embedded,test
	@$(venv)python -m bench.release.audit

# Pins what crowdd and its extras need, with hashes, in etc/constraints*.txt: after a change of setup.py, and for new
# versions.
constraints: .venv/installed-embedded,test
	@$(venv)python -m bench.release.constraints

# Refuses a release whose images have no digests (docs/operations.md).
images: .venv/installed-embedded,test
	@$(venv)python -m bench.release.images

# The software bill of materials of these pins, as CycloneDX: crowdd.cdx.json.
sbom: .venv/installed-embedded,test
	@$(venv)python -m bench.release.sbom

# Takes libraries of others for browsers out of pinned npm packages: crowdd/http/static/vendor. Needs npm.
vendor: .venv/installed-embedded,test
	@$(venv)python -m bench.release.vendor

clean:
	rm -rf .venv build docs/_build docs/reference *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find crowdd tests twisted bench examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

upload-folder: .venv/installed-embedded,test
	@$(venv)python -m bench.transfer.upload_folder

imports: .venv/installed-embedded,test
	@$(venv)python -m bench.transfer.imports

# Files of tasks that were damaged on their way: no database, no server.
damaged: .venv/installed-embedded,test
	@$(venv)python -m bench.fuzz.damaged_files

# Hostile files of tasks, with what each costs; then addresses that lead inside, to pages, or never end, and hostile pictures,
# sounds, documents and archives.
hostile-files: .venv/installed-embedded,test
	@$(venv)python -m bench.fuzz.hostile_files
	@$(venv)pytest -q --no-header -rA -p no:warnings tests/pages/imports/test_hostile_sources.py tests/pages/imports/test_import_iiif.py \
	  $(addprefix tests/domain/media/test_,preparing_pictures.py preparing_sound.py unpacking.py) \
	  -k "hostile or inside or scripts or behind or bombs or refused" | grep -E "^(PASSED|FAILED|ERROR|[0-9]+ )"

exports: .venv/installed-embedded,test
	@$(venv)python -m bench.transfer.exports

copies: .venv/installed-embedded,test
	@$(venv)python -m bench.transfer.copies

class-room: .venv/installed-embedded,test
	@$(venv)python -m bench.class_room

museum: .venv/installed-embedded,test
	@$(venv)python -m bench.transfer.museum

# Photographs and hostile files: memory and CPU of preparing them. No database, no server.
media: .venv/installed-embedded,test
	@$(venv)python -m bench.transfer.media

# A PyBossa database of 100,000 answers: how long the move takes, and what five kills leave.
move-in: .venv/installed-embedded,test
	@$(venv)python -m bench.transfer.move_in

# Disks that fill up: of the database, of uploads, of the log and of temporary files. Only root may mount them.
full-disks: .venv/installed-embedded,test
	@$(venv)python -m bench.full_disks

# Restore to the moment before a project was deleted, with pgBackRest.
pitr: .venv/installed-embedded,test
	@command -v pgbackrest >/dev/null || \
	  { echo "pgBackRest is not installed: apt-get install -y --no-install-recommends pgbackrest" >&2; exit 1; }
	@$(venv)python -m bench.backups.pitr
