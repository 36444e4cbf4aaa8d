# `make run` and `make test` do all the set-up; a second time they find it done. `make help` lists the targets.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
CATALOG := build/catalog.sqlite
COMPILED := $(patsubst resources/%.po,build/%.mo,$(wildcard resources/translations/*/LC_MESSAGES/gpudesk.po))
# What the program reads of a checkout that has to be made first.
MADE := $(CATALOG) $(COMPILED)
SAMPLE := 70b-chat-on-four
DISPLAY_PROBLEM := from gpudesk.cli.main import find_display_problem; print(find_display_problem() or "")
PYTEST := QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest
WORKERS ?= 2
TOP ?= 0
PACKAGES := build/packages
FROZEN := $(PACKAGES)/frozen/gpudesk
DIST := $(PACKAGES)/dist
PARITY := build/parity
# Of each package what is quick and would break first: golden figures, every rule, worked examples, files, words, windows.
QUICK_TESTS := tests/architecture $(addprefix tests/unit/,text engine/test_golden_cache.py engine/test_golden_weights.py \
	engine/test_plans.py engine/test_serving.py evidence/test_calibration_file.py calibration/test_priors.py \
	estimation/test_golden.py estimation/test_requests.py costing/test_owning.py \
	decision/test_rules.py decision/test_scoring.py catalog/test_queries.py catalog/test_values.py \
	documents/test_scenario_file.py report/test_examples.py report/test_sections.py report/test_table_export.py \
	cli/test_main.py cli/test_tables.py desktop/pages/compare desktop/session/test_desk.py)
# What `make test` runs side by side.
TEST_PARTS := part-rest part-desktop part-program
PART_desktop := tests/unit/desktop
PART_program := tests/e2e tests/walks
PART_rest := tests $(addprefix --ignore=,tests/benchmarks tests/soak tests/frozen $(PART_desktop) $(PART_program))
# Folders of packages of which hardly anything is imported: two fifths of their code.
HARDLY_IMPORTED := /(dialects|examples|mypyc?|pkg_resources|pygments|setuptools|tests)/
PIP_QUIET := --quiet --disable-pip-version-check

# What the catalog is made from. Folders count too: they change when a file is removed.
DATA := $(shell find data \( -name '*.py' -o -path data/accuracy \) -prune -o -print 2>/dev/null)
CATALOG_CODE := $(shell find gpudesk/catalog gpudesk/domain packaging/catalog_build -name '*.py' 2>/dev/null)

.DELETE_ON_ERROR:
.PHONY: help run prepare quick style types quick-tests test $(TEST_PARTS) lint walks bench soak parity parity-record parity-speed calibrate golden golden-texts peers accuracy catalog translations fuzz lock notices manual screenshots wheel wheel-test bare-test freeze freeze-test packages packages-test windows-test clean

help:
	@echo "run         set up, then open the window; without a display, make a sample comparison sheet"
	@echo "quick       what tells most in under a minute: style, types, import rules, and the fastest tests of each package"
	@echo "test        set up, then run all tests but the benchmarks"
	@echo "test-NAME   the tests of one package: test-engine, test-desktop; and test-e2e, test-packaging"
	@echo "lint        style, types, import rules, the words of shown texts, and whether all are translated"
	@echo "walks       count the files, functions and calls between a key and what is seen; TOP=20 lists functions"
	@echo "bench       measure speed and accuracy"
	@echo "soak        take thousands of random steps at the window, and try many more examples of what tests draw"
	@echo "fuzz        damage thousands of files and command lines, drawn anew; SECONDS=900 at the most; failures in build/fuzz"
	@echo "parity      record what this state and that of BASE=revision produce, and compare them; QUICK=1 for a part"
	@echo "parity-record  record what this state produces into OUT=folder; QUICK=1 for a part"
	@echo "parity-speed   measure this state and that of BASE=revision in turn"
	@echo "calibrate   fit the constants to data/measurements and write data/calibration.json; a quarter of an hour"
	@echo "golden      answer the self-test's questions anew, after calibrate or a change of the engine that is meant"
	@echo "golden-texts  update the golden files of messages and help, and what the manual shows of the program"
	@echo "peers       ask other estimators for the measured runs, for the accuracy report"
	@echo "accuracy    write the accuracy report of the manual from what folds say of the measured runs"
	@echo "catalog     build the shipped catalog from data/, and compile the translations"
	@echo "translations  bring the files of translators up to the texts of the program, and make what the program reads"
	@echo "wheel       build the wheel"
	@echo "wheel-test  use the wheel where it was installed to be frozen"
	@echo "bare-test   do 'make test' and 'make run' in a minimal Debian 12 (as root)"
	@echo "freeze      collect the program and all it needs into a folder that runs without Python"
	@echo "freeze-test try that folder: self-test, window, no network"
	@echo "packages    make the packages that users install, from that folder"
	@echo "packages-test  install, use, upgrade and remove the packages in bare systems (as root)"
	@echo "windows-test   try the installer for Windows under wine, with a stand-in for the program (as root)"
	@echo "lock        write the lock files anew; UPGRADE=--upgrade finds newer versions"
	@echo "screenshots take the pictures of the README from the real window"
	@echo "manual      make the manual as HTML in build/manual"
	@echo "notices     write THIRD_PARTY_NOTICES.md from the installed packages"
	@echo "clean       remove everything that was built"

run: $(VENV)/.ready build/.debian-run $(MADE)
	@problem=$$($(BIN)/python -c '$(DISPLAY_PROBLEM)') && \
	if [ -z "$$problem" ]; then exec $(BIN)/gpudesk; fi && \
	echo "No window: $$problem. Instead, the sample comparison as a sheet:" && \
	$(BIN)/gpudesk sheet --template $(SAMPLE) -o build/sample-comparison.pdf

# What several targets need that run side by side: the system's packages are installed one after the other.
prepare: $(VENV)/.ready build/.debian-test build/.debian-run build/.debian-freeze $(MADE)

test: $(VENV)/.ready build/.debian-test $(MADE)
	$(MAKE) --no-print-directory --keep-going --jobs=$(WORKERS) $(TEST_PARTS)

# Processes of their own rather than workers of one: these would each import all tests and compute anew what
# neighbours share. The longest first. With arguments that choose tests, a part may have none of them.
$(TEST_PARTS): part-%: $(VENV)/.ready build/.debian-test $(MADE)
	$(PYTEST) -q -p no:xdist -m "not thorough" $(PART_$*) $(PYTEST_ARGS) $(if $(PYTEST_ARGS),|| [ $$? -eq 5 ])

# One package alone: its own tests, or one of the other folders of tests.
test-%: $(VENV)/.ready build/.debian-test $(MADE)
	$(PYTEST) -q $(wildcard tests/unit/$* $(if $(wildcard tests/unit/$*),,tests/$*)) -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

# Two at a time: neither style nor types take more than one core.
quick: $(VENV)/.ready build/.debian-test $(MADE)
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target style types quick-tests

style: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready
	$(BIN)/mypy

quick-tests: $(VENV)/.ready build/.debian-test $(MADE)
	$(PYTEST) -q -p no:cacheprovider $(QUICK_TESTS) $(PYTEST_ARGS)

lint: style types
	$(PYTEST) -q -p no:cacheprovider tests/architecture tests/words
	$(BIN)/python packaging/translations.py missing

# What it prints is enforced by tests/walks/test_walks.py.
walks: $(VENV)/.ready build/.debian-test $(MADE)
	$(BIN)/python -m tests.walks --top $(TOP)
	$(PYTEST) -q tests/walks -n $(WORKERS)

bench: $(VENV)/.ready build/.debian-test $(MADE) freeze
	$(PYTEST) tests/benchmarks --benchmark-autosave -p no:xdist $(PYTEST_ARGS)

soak: $(VENV)/.ready build/.debian-test $(MADE)
	HYPOTHESIS_PROFILE=explore $(PYTEST) tests/unit tests/e2e -m "thorough or hypothesis" -n $(WORKERS) --dist worksteal
	SOAK_KILLS=50 $(PYTEST) tests/unit/catalog/test_user_file_kills.py tests/soak -p no:xdist $(PYTEST_ARGS)

# Its cases are drawn from a seed that it prints; SEED=number draws the same again.
fuzz: $(VENV)/.ready $(MADE)
	$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),900) --workers $(WORKERS) $(if $(SEED),--seed $(SEED))

parity-record: $(VENV)/.ready $(MADE)
	$(if $(OUT),,$(error say OUT=folder))
	$(BIN)/python -m tests.parity.record $(OUT) --workers $(WORKERS) $(if $(QUICK),--quick)

# Both are recorded, by the recorder of this state and in the same environment.
parity: $(VENV)/.ready $(MADE)
	$(if $(BASE),,$(error say BASE=revision))
	tests/parity/base.sh $(BASE) $(PARITY)/base $(BIN)/python
	$(BIN)/python -m tests.parity.record $(PARITY)/old --tree $(PARITY)/base --workers $(WORKERS) $(if $(QUICK),--quick)
	$(BIN)/python -m tests.parity.record $(PARITY)/new --workers $(WORKERS) $(if $(QUICK),--quick)
	$(BIN)/python -m tests.parity.compare $(PARITY)/old $(PARITY)/new

parity-speed: $(VENV)/.ready $(MADE)
	$(if $(BASE),,$(error say BASE=revision))
	tests/parity/base.sh $(BASE) $(PARITY)/base $(BIN)/python
	$(BIN)/python -m tests.parity.speed $(PARITY)/base .

calibrate: $(VENV)/.ready $(MADE)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python packaging/calibrate.py $(CATALOG)

golden: $(VENV)/.ready $(MADE)
	$(BIN)/python packaging/make_golden.py $(CATALOG)

golden-texts: $(VENV)/.ready $(MADE)
	$(PYTEST) -q tests/unit/text/test_messages.py tests/unit/cli/test_help.py tests/unit/cli/test_manual.py --update-golden
	$(PYTEST) -q tests/unit/desktop/window/test_manual.py --update-golden

peers: $(VENV)/.ready $(MADE) build/peers/aiconfigurator/.ready build/peers/llm-analysis/.ready
	$(BIN)/python -m tests.benchmarks.peers.run_peers

accuracy: $(VENV)/.ready $(MADE)
	$(BIN)/python packaging/accuracy.py $(CATALOG)

# Environments of their own: what peers need stands against what this program needs.
build/peers/%/.ready: tests/benchmarks/peers/%.txt
	packaging/make_venv.sh build/peers/$*
	build/peers/$*/bin/python -m pip install $(PIP_QUIET) --requirement $<
	touch $@

catalog: $(MADE)

$(CATALOG): $(DATA) $(CATALOG_CODE) | $(VENV)/.ready
	@mkdir -p $(@D)
	$(BIN)/python packaging/make_catalog.py $@

$(COMPILED): build/%.mo: resources/%.po packaging/translations.py | $(VENV)/.ready
	$(BIN)/python packaging/translations.py compile

wheel: $(VENV)/.ready
	rm -rf build/wheel
	$(BIN)/python -m build --quiet --wheel --no-isolation --outdir build/wheel .

# Where it was installed to be frozen: an environment with the locked versions and nothing of the checkout.
wheel-test: freeze build/.debian-run
	packaging/wheel_test.sh $(BIN)/python $(PACKAGES)/venv

freeze: $(VENV)/.ready build/.debian-freeze
	$(BIN)/python packaging/freeze.py

# The quick part; `make packages-test` runs what takes longer too.
freeze-test: freeze build/.debian-test
	$(PYTEST) tests/frozen -m "not thorough" $(PYTEST_ARGS)

packages: freeze build/.debian-package
	packaging/linux/make_packages.sh $(FROZEN) $(PACKAGES)/icons $(DIST) $(PACKAGES)/venv/bin/python
	@# An installer for Windows of what was frozen on Linux: the script is checked, and nothing of it is published.
	rm -rf $(PACKAGES)/staged $(PACKAGES)/staged-installer
	$(BIN)/python packaging/windows/stage_tree.py $(FROZEN) $(PACKAGES)/staged
	$(BIN)/python packaging/windows/make_installer.py $(PACKAGES)/staged $(PACKAGES)/icons $(PACKAGES)/staged-installer --staged

packages-test: $(VENV)/.ready build/.debian-package
	$(PYTEST) tests/frozen $(PYTEST_ARGS)
	packaging/linux/deb_test.sh $(DIST)/gpudesk_*_amd64.deb
	packaging/linux/deb_test.sh $(DIST)/gpudesk_*_amd64.deb trixie
	lintian --fail-on error,warning $(DIST)/gpudesk_*_amd64.deb
	packaging/linux/portable_test.sh $(DIST)/gpudesk-*-linux-x86_64.tar.xz
	cd $(DIST) && sha256sum --check --quiet SHA256SUMS

windows-test: build/.debian-package
	packaging/windows/installer_test.sh

bare-test:
	packaging/bare_test.sh

lock: | $(VENV)/.ready
	packaging/lock.sh $(BIN)/python $(UPGRADE)

translations: $(VENV)/.ready
	$(BIN)/python packaging/translations.py update
	$(MAKE) --no-print-directory catalog

notices: $(VENV)/.ready
	$(BIN)/python packaging/inventory/notices.py > build/notices.md
	mv build/notices.md THIRD_PARTY_NOTICES.md

manual: $(VENV)/.ready
	$(BIN)/python packaging/make_manual.py build/manual

screenshots: $(VENV)/.ready build/.debian-run $(MADE)
	$(BIN)/python packaging/screenshots.py resources/pictures

clean:
	rm -rf build dist $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Brought up to date when the locked versions or the project's metadata change.
$(VENV)/.ready: requirements.lock pyproject.toml
	packaging/make_venv.sh $(VENV)
	$(BIN)/python -m pip install $(PIP_QUIET) --no-compile --require-hashes -r requirements.lock
	@# pip would compile on one core, and all. A template of PySide6 is no Python, which is no fault.
	$(BIN)/python -m compileall -qq -j 0 -x '$(HARDLY_IMPORTED)' $(VENV)/lib || true
	$(BIN)/python -m pip install $(PIP_QUIET) --no-deps --no-build-isolation --editable .
	touch $@

build/.debian-%: packaging/setup_debian.sh
	packaging/setup_debian.sh $*
	@mkdir -p $(@D)
	@touch $@
