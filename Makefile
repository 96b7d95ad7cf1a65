# Everything runs from here: `make demo`, `make test`. Python 3.11+, Node.js 20+ and a POSIX system are all it asks for.

UV   := .tools/bin/uv
RUN  := .venv/bin
LOCAL := $(RUN)/python -m infra.local
TOOLS := .tools/stamp
export UV_PYTHON_DOWNLOADS := never
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20

.PHONY: mutants setup demo demo-console browser up down status test crash-matrix crash-matrix-deep explore lint format golden openapi clean kill-test bench-safety bench-counts spec

setup: .venv/stamp node_modules/stamp .emulator/stamp ## install everything, locked, inside this folder

demo: setup ## deploy to a local AWS and play the scenes of order 4471
	$(RUN)/python -m infra.local.demo

demo-console: setup ## the console with something to decide, and three people to sign in as; Ctrl-C ends it
	$(RUN)/python -m infra.local.demo.console

up: setup ## start the local AWS, deploy, seed
	$(LOCAL) up

down: ## end the local AWS; what was in it is gone
	$(LOCAL) down

status: ## what is running, and where
	$(LOCAL) status

test: lint ## every check and every test there is, end to end ones too
	$(RUN)/pytest -n 2 --dist loadgroup

browser: ## Debian's chromium for the browser tests, where it is missing: needs root
	command -v chromium >/dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core)

crash-matrix: setup ## every boundary of every step, times every fault
	$(RUN)/python -m tests.simulation.matrix

crash-matrix-deep: setup ## pairs of faults, for plans of up to three steps: about an hour; EVERY=20 takes a sample
	$(RUN)/python -m tests.simulation.matrix --deep --every $(or $(EVERY),1)

screenshots: setup ## every view of the page at two widths, light and dark, into .local/screenshots
	$(RUN)/python -m tests.browser.pictures

explore: setup ## random schedules of faults: RUNS=10000 SEED=1; RUNS=1 replays a seed with its trace
	$(RUN)/python -m tests.simulation.explore --runs $(or $(RUNS),10000) --seed $(or $(SEED),1)

lint: setup ## style, types, architecture
	$(RUN)/ruff check . && $(RUN)/ruff format --check . && $(RUN)/mypy && $(RUN)/lint-imports

format: setup
	$(RUN)/ruff format . && $(RUN)/ruff check --fix .

golden: setup ## write the golden machines anew, to be reviewed like code
	$(RUN)/python -m statemachines.golden

openapi: setup ## write docs/openapi.json and docs/problems.md anew from the code
	$(RUN)/python -m infra.documents

kill-test: setup ## real sagas on the local stage while our functions are killed: RUNS=300
	$(RUN)/python -m benchmarks.kill --runs $(or $(RUNS),60)

bench-safety: setup .bench/stamp ## a kill between effect and record: this product and its alternatives, side by side
	.bench/bin/python -m benchmarks.safety --trials $(or $(RUNS),300)

bench-counts: setup ## what a saga costs: transitions, invocations, writes, reads; and what each handler loads
	$(RUN)/python -m benchmarks.counts

spec: .spec/stamp ## the protocol as a TLA+ specification: TLC checks it, and that it misses each of its rules
	.spec/bin/python docs/spec/check.py

clean: down ## remove all that `make setup` and the local stage made
	rm -rf .tools .venv .emulator .bench .spec .local node_modules cdk.out

$(TOOLS):
	python3 -m venv .tools && .tools/bin/pip install --quiet --disable-pip-version-check uv==0.13.9 && touch $@

.venv/stamp: $(TOOLS) pyproject.toml uv.lock
	$(UV) sync --frozen --quiet && touch $@

node_modules/stamp: package.json package-lock.json
	npm ci --silent --no-fund --no-audit && touch $@

.emulator/stamp: $(TOOLS) infra/local/emulator-requirements.txt
	$(UV) venv --quiet --clear .emulator && $(UV) pip install --quiet --python .emulator --require-hashes -r infra/local/emulator-requirements.txt && touch $@

.spec/stamp: $(TOOLS) docs/spec/requirements.txt
	$(UV) venv --quiet --clear .spec && $(UV) pip install --quiet --python .spec --require-hashes -r docs/spec/requirements.txt && touch $@

.bench/stamp: $(TOOLS) benchmarks/safety/requirements.txt
	$(UV) venv --quiet --clear .bench && $(UV) pip install --quiet --python .bench --require-hashes -r benchmarks/safety/requirements.txt && touch $@

mutants: setup ## take every check of the kernel away, one at a time: the tests have to notice
	$(RUN)/python -m tests.mutants
