# make quick    checks formatting and generated files, runs vet and the short tests: half a minute
# make test     runs the tests that a change must pass, and installs what they need;
#               FUZZTIME=5m fuzzes longer
# make nightly  make test with emulators, other versions of hosts, and long fuzzing
# make torches  reads the tensors of two older versions of torch, which take 12 GB
# make hosts    runs the callers under other versions of torch, JAX, ONNX Runtime, NumPy and
#               Paddle, which take 10 GB
# make pythons  runs the tests of Python modules under newer, debug and free-threaded builds
#               of CPython
# make generate renders gen/ and backends/    make check  reports files that are out of date
# make golden   updates golden/, the pages and the schema that tests generate, and docs/layout.svg
# make docs     builds the documentation site in .cache/site/html
# make release  builds the packages of the commit, in bin/release
# make bench    measures, and prints a line for each goal; ONLY=generate runs one suite
# make fuzz-long passes hostile tensors to the validators of C, C++ and Python;
#               RUNS=100000000 takes a few hours
ONLY ?= all
RUNS ?= 100000000
FUZZTIME ?= 1s
BASE := 834f5b66
# A build must not depend on whether the checkout has a readable .git. With -trimpath, builds of
# tests in other folders share the standard library and the dependencies.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false -trimpath)
# What tests run needs no optimization and no debug information, which take longer to compile. Tests
# that set these variables begin their values with -O0 too, because the go command compiles the C of
# the standard library for each value. make nightly has Go's own flags.
quick test setup: export CGO_CFLAGS := -O0
quick test setup: export CGO_CXXFLAGS := -O0
# Go programs, among them the go command, its compiler and its linker, collect garbage less often
# with this value. They take up to a third less CPU time, and more memory.
quick test setup: export GOGC := 400

.PHONY: help quick test ids nightly torches hosts pythons generate check golden docs release bench fuzz-long setup clean

help:
	@sed -n 's/^# make/  make/p' Makefile

quick:
	@go run ./tools/suite -quick

test: setup ids
	@go run ./tools/suite -fuzztime=$(FUZZTIME)

# Compares with the commit from which no check may be lost. A clone without its history, such as a
# shallow one, has nothing to compare with.
ids:
	@if git cat-file -e $(BASE)^{commit} 2>/dev/null; then go run ./tools/ids -since $(BASE); fi

nightly: setup ids
	@go run ./tools/suite -nightly -fuzztime=2m
	@tools/torches.sh
	@tools/hosts.sh
	@tools/pythons.sh

torches:
	@tools/torches.sh

hosts:
	@tools/hosts.sh

pythons:
	@tools/pythons.sh

setup:
	@tools/setup.sh

generate:
	go run ./cmd/dlpackgen generate

check:
	go run ./cmd/dlpackgen check

golden:
	@tools/golden.sh

docs:
	@go run ./tools/site

release:
	@cd tools/release && go run . -root ../.. -out ../../bin/release

bench:
	@go run ./bench -only=$(ONLY)

# Another seed than that of the tests, each time.
fuzz-long:
	FUZZ_RUNS=$(RUNS) FUZZ_SEED=0 nice go test ./tests/safety -count=1 -timeout=0 -v -run='^TestHostileTensors$$'

clean:
	rm -rf .venv .cache bin
