# The one door, for people and for CI. `make` alone says what there is.

NPM_CI = npm ci --no-audit --no-fund
ARGS ?=
export REF
export INIT_CWD = $(CURDIR)

help:
	@echo 'make start        install, serve the demo app on http://localhost:4000 (PORT)'
	@echo 'make test         install, run all tests'
	@echo 'make battle       hello world against the field (ARGS="--quick")'
	@echo 'make bench-NAME   dropin mw front soak versions connections static rpc growth types (ARGS=…)'
	@echo 'make bench-compare REF=main~1   the checkout against a revision of kone, or REF=a..b'
	@echo 'make results      copy complete runs to benchmarks/results'
	@echo 'make report       README, docs/reports and charts from benchmarks/results, and an HTML page'
	@echo 'make docs         builds the documentation, serves it on http://localhost:4173 (PORT)'
	@echo '                  ARGS=build only builds it, ARGS=dev shows every change at once'
	@echo 'make fuzz         the HTTP/1.1 front against node:http for minutes'
	@echo 'make siege        hostile and slow clients against the front and node:http for minutes'
	@echo 'make cover lint types compat'
	@echo 'make pack         the tarball to install elsewhere: npm install ./kone-2.17.0.tgz'
	@echo 'make release VERSION=2.18.0   version, changelog, tarball, tag; pushes and publishes nothing'
	@echo 'make index        middleware/index.js and .d.ts, made of the folders'
	@echo 'make runs-unchanged   the lists of packages in documents, made of the tests'

start: node_modules
	node examples/app

test: node_modules benchmarks/node_modules
	node test/run.js $(ARGS)

lint: node_modules
	npx eslint .

index:
	node tools/middleware-index.js

runs-unchanged: node_modules
	node tools/runs-unchanged.js $(ARGS)

pack:
	npm pack $(ARGS)

release: node_modules
	node tools/release.js $(VERSION)

types: node_modules
	node --test test/types.test.js

cover: node_modules
	npx c8 --include 'lib/**/*.js' --check-coverage --lines 98 --reporter text --reporter lcovonly \
	  node test/run.js test/application test/context test/request test/response test/compose \
	  test/compat/koa.test.js test/compat/packages.test.js test/security test/http1

fuzz: node_modules
	node test/http1/fuzz.js $(ARGS)

siege: node_modules
	node test/http1/siege/run.js $(ARGS)

compat: node_modules
	node test/compat/real/run.js $(ARGS)

battle: node_modules benchmarks/node_modules
	cd benchmarks && node labs/battle $(ARGS)

bench-%: node_modules benchmarks/node_modules
	cd benchmarks && node labs/$* $(ARGS)

docs: node_modules docs/node_modules
	cd docs && npm run --silent $(or $(ARGS),start)

# Complete runs of benchmarks/out to benchmarks/results.
results: benchmarks/node_modules
	cd benchmarks && node results.js $(ARGS)

report: node_modules benchmarks/node_modules
	cd benchmarks && node report.js $(ARGS)

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

.PHONY: help start test lint index runs-unchanged types pack release cover fuzz siege compat battle docs results report
