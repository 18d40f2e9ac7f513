# All commands of the repository, for people and for CI. `make` alone lists them.

NPM_CI = npm ci --no-audit --no-fund
ARGS ?=
export REF
export INIT_CWD = $(CURDIR)

# A wrong name ends here, before anything is installed.
LABS = $(notdir $(wildcard benchmarks/labs/*))
$(foreach lab,$(patsubst bench-%,%,$(filter bench-%,$(MAKECMDGOALS))),$(if $(filter $(lab),$(LABS)),,$(error no lab $(lab): expected $(LABS:%=bench-%))))
$(if $(filter docs,$(MAKECMDGOALS)),$(if $(filter-out start build dev,$(ARGS)),$(error docs: ARGS is build or dev, not $(ARGS))))

help:
	@echo 'make start        installs, serves the demo app on http://localhost:4000 (PORT), in one process; npm start: on all cores'
	@echo 'make test         installs, runs the tests on the newest Node, from npm (ARGS=--here: on the one at hand)'
	@echo 'make test-all     also what takes longer, and parts on Node 20, 22 and 24'
	@echo 'make quick        runs the tests of lib and of the set (ARGS=test/context: these)'
	@echo 'make battle       benchmark: hello world on kone, node:http, Koa and other frameworks within four minutes (ARGS=--full: a result)'
	@echo 'make bench-NAME   other benchmarks: dropin mw front versions connections static overload (ARGS=…)'
	@echo 'make bench-compare REF=main~1   compares the checkout with a revision of kone, or REF=a..b two revisions'
	@echo 'make results      copies complete benchmark runs to benchmarks/results'
	@echo 'make report       writes tables and charts of README, the site and docs/reports from benchmarks/results'
	@echo 'make docs         builds the documentation, serves it on http://localhost:4173 (PORT)'
	@echo '                  ARGS=build only builds it, ARGS=dev shows every change at once'
	@echo 'make fuzz         sends random requests to kone and to node:http for minutes, compares the responses'
	@echo 'make siege        runs hostile and slow clients against kone and node:http for minutes'
	@echo 'make soak         the same for a million requests of each engine: what they leave behind in memory'
	@echo 'make mutants      changes lib one expression at a time, and names the changes that no test notices'
	@echo 'make node-duties  compares functions of node:http whose work the front does with those that were read'
	@echo 'make cover        runs the tests of lib with coverage'
	@echo 'make lint         checks the style, the types of lib and the set, unused files and dependencies'
	@echo 'make types        compiles the type tests'
	@echo 'make compat       runs real applications on Koa and on kone, compares the responses (ARGS=strapi)'
	@echo 'make pack         makes the tarball to install elsewhere: npm install ./kone-2.17.0.tgz (KOA=3: with Koa 3 API)'
	@echo 'make release VERSION=2.18.0   sets version and changelog, checks the tarball, tags; pushes and publishes nothing'
	@echo 'make index        writes the index of the middleware set, and from the options their tables and types'
	@echo 'make runs-unchanged   writes the lists of packages in docs and kone doctor from the tests'

start: node_modules
	node examples/app

test:
	node test/run.js $(ARGS)

test-all:
	node test/run.js --all

quick: node_modules
	node test/run.js $(or $(ARGS),--quick)

lint: node_modules
	npm run --silent lint

index:
	node tools/middleware-index.js

runs-unchanged: node_modules
	node tools/runs-unchanged.js $(ARGS)

pack:
	@node tools/pack.js $(if $(KOA),--koa $(KOA)) $(ARGS)

release: node_modules
	node tools/release.js $(VERSION)

types: node_modules
	node --test test/types/types.test.js

cover: node_modules
	npx c8 --include 'lib/**/*.js' --check-coverage --lines 98 --reporter text --reporter lcovonly \
	  node test/run.js test/application test/context test/request test/response test/compose \
	  test/compat/koa.test.js test/compat/engines.test.js test/compat/packages.test.js test/security test/engines/http1

fuzz: node_modules
	$(if $(ARGS),,node test/engines/http1/output.model.js --cases 20000 --pairs)
	$(if $(ARGS),,node test/engines/http1/framing.js --cases 50000)
	node test/engines/http1/fuzz.js $(or $(ARGS),--pairs)
	$(if $(ARGS),,node test/engines/http1/input.model.js --depths 10,9,7,6)

siege: node_modules
	node test/engines/http1/siege/run.js $(ARGS)

soak: node_modules
	node test/engines/http1/siege/run.js --soak 29000 $(ARGS)

node-duties: node_modules
	node test/engines/http1/duties.js $(ARGS)

mutants: node_modules
	node test/mutants/run.js $(ARGS)

compat: node_modules
	node test/compat/real/run.js $(ARGS)

battle: node_modules benchmarks/node_modules
	cd benchmarks && node labs/battle $(ARGS)

bench-%: node_modules benchmarks/node_modules
	cd benchmarks && node labs/$* $(ARGS)

docs: node_modules docs/node_modules
	cd docs && npm run --silent $(or $(ARGS),start)

# Copies complete runs from benchmarks/out to benchmarks/results.
results: benchmarks/node_modules
	cd benchmarks && node results.js $(ARGS)

report: node_modules benchmarks/node_modules
	cd benchmarks && node report.js $(ARGS)
	node tools/runs-unchanged.js # gains in command/doctor.json

# Reinstalled when the lock file is newer.
node_modules: package-lock.json
	$(NPM_CI)
	@touch node_modules

docs/node_modules: docs/package-lock.json
	cd docs && $(NPM_CI)
	@touch docs/node_modules

benchmarks/node_modules: benchmarks/package-lock.json
	cd benchmarks && $(NPM_CI)
	@touch benchmarks/node_modules

.PHONY: help start test test-all quick lint index runs-unchanged types pack release cover fuzz siege soak mutants node-duties compat battle docs results report
