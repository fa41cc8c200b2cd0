#!/bin/sh
# Installs the dependencies of the tests that this machine lacks:
#
# - Debian packages (tests/packages.txt), if run by root
# - Python packages (tests/requirements.txt, tests/requirements-frameworks.txt), into .venv
# - the packages of tests/requirements-oneapi.txt, -tvm.txt, -legacytvm.txt, -zig.txt, -docs.txt and
#   -ci.txt, into .cache/oneapi, .cache/tvm and so on
# - the suite's linters, into .cache/bin
# - the crates of a test, and drivers that run without a GPU
#
# An unavailable part is reported and omitted; the tests that need it are skipped with a reason.
set -u
cd "$(dirname "$0")/.." || exit 2

say() { echo "setup: $*"; }

# The lines of tests/packages.txt of which no package is installed.
missing_packages() {
	dpkg-query -W -f='${db:Status-Status} ${Package}\n' | awk -F'|' '
		installed { if (sub(/^installed /, "")) found[$0]; next }
		{ sub(/[ \t]*#.*/, "") }
		NF { for (i = 1; i <= NF; i++) if ($i in found) next; print }
	' installed=1 - installed=0 tests/packages.txt
}

# apt-get fails for all packages if one name is unknown, so unknown names are removed first.
first_available() {
	for package in $(echo "$1" | tr '|' ' '); do
		if [ -n "$(apt-cache show --no-all-versions "$package" 2>/dev/null)" ]; then
			echo "$package"
			return
		fi
	done
	say "apt has no package $1" >&2
}

install_packages() {
	missing=$(missing_packages)
	if [ -z "$missing" ]; then
		say "Debian packages: all installed"
	elif [ "$(id -u)" -ne 0 ]; then
		say "not root, so not installed:" $missing
	else
		export DEBIAN_FRONTEND=noninteractive
		say "apt-get update"
		apt-get update -q >/dev/null || say "apt-get update failed"
		wanted=$(for choice in $missing; do first_available "$choice"; done)
		say "apt-get install" $wanted
		# shellcheck disable=SC2086 # a list of names, to be split
		apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 $wanted >/dev/null ||
			say "apt-get install failed: tests that need these packages skip"
	fi
}

# NumPy 2.4 needs Python 3.11; a Python without ensurepip cannot create a venv.
find_python() {
	for python in python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11; do
		if "$python" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
			echo "$python"
			return
		fi
	done
}

install_python() {
	if cmp -s tests/requirements.txt .venv/installed.txt && .venv/bin/python -c 'import numpy' 2>/dev/null; then
		say "Python packages: all installed"
		return
	fi
	python=$(find_python)
	if [ -z "$python" ]; then
		say "no Python 3.11 or newer with venv: tests that need Python skip"
		return
	fi
	say "creating .venv with $python:" $(sed 's/#.*//' tests/requirements.txt)
	rm -rf .venv
	"$python" -m venv .venv &&
		.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
			-r tests/requirements.txt &&
		cp tests/requirements.txt .venv/installed.txt ||
		say "the Python packages could not be installed: tests that need them skip"
}

# Prints the free space at .venv, in KiB.
free_space() {
	df -Pk . | awk 'NR == 2 { print $4 }'
}

# Installs torch, jax and paddle: 7 GB, and as much again during the installation.
install_frameworks() {
	if [ ! -f .venv/installed.txt ]; then
		return # there is no .venv, which install_python has reported
	elif cmp -s tests/requirements-frameworks.txt .venv/frameworks.txt; then
		say "Python frameworks: all installed"
	elif [ "$(free_space)" -lt 16000000 ]; then
		say "less than 16 GB free: tests that need torch, jax or paddle skip"
	else
		say "installing torch, jax and paddle into .venv"
		.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps \
			--only-binary :all: -r tests/requirements-frameworks.txt &&
			cp tests/requirements-frameworks.txt .venv/frameworks.txt ||
			say "the frameworks could not be installed: tests that need them skip"
	fi
}

# Installs tests/requirements-NAME.txt into .cache/NAME, separate from the frameworks. The arguments
# are the name, the contents, and the required space in KiB.
install_apart() {
	dir=.cache/$1
	file=tests/requirements-$1.txt
	if [ ! -x .venv/bin/python ] || cmp -s $file $dir/installed.txt; then
		return
	elif [ "$(uname -m)" != x86_64 ]; then
		say "not an x86-64 machine: tests that need $2 skip"
	elif [ "$(free_space)" -lt "$3" ]; then
		say "less than $(($3 / 1000000)) GB free: tests that need $2 skip"
	else
		say "installing $2 into $dir"
		rm -rf $dir
		.venv/bin/python -m venv $dir &&
			$dir/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps \
				--only-binary :all: -r $file &&
			cp $file $dir/installed.txt ||
			say "$2 could not be installed: tests that need it skip"
	fi
}

# Installs the linters, which takes a minute; otherwise, the suite would compile them.
install_linters() {
	command -v go >/dev/null || return
	for file in tools/suite/steps.go tests/bazel/bazel_test.go; do
		linter=$(sed -n 's/^const [a-z]* = "\(.*@v.*\)"$/\1/p' $file 2>/dev/null)
		[ -z "$linter" ] || GOBIN=$PWD/.cache/bin go install "$linter" || say "$linter could not be installed"
	done
}

# Compiles the parts of Go's standard library that tests build for the race detector, for shared
# libraries and for Windows. Otherwise, the suite would compile them, while both cores have other
# work.
build_library() {
	command -v go >/dev/null || return
	packages=$(go list -deps -test -f '{{if .Standard}}{{.ImportPath}}{{end}}' ./gen/go/dlpack/dlpacktest |
		grep -v '^unsafe$' | sort -u)
	go build -race $packages && go list -export -buildmode=c-shared $packages >/dev/null ||
		say "the standard library could not be compiled for tests"
	command -v x86_64-w64-mingw32-gcc >/dev/null || return 0
	(
		export CGO_ENABLED=1 GOOS=windows GOARCH=amd64 CC=x86_64-w64-mingw32-gcc
		packages=$(go list -deps -f '{{if .Standard}}{{.ImportPath}}{{end}}' ./gen/go/dlpack ./backends/cuda)
		go build $packages
	) || say "the standard library could not be compiled for Windows"
}

# Downloads the Go modules, so that later steps need no network; a failed download is repeated.
fetch_modules() {
	command -v go >/dev/null || return
	for module in . tools/release; do
		(cd $module && { go mod download || go mod download || go mod download; }) >/dev/null 2>&1 ||
			say "the Go modules of $module could not be downloaded"
	done
}

# Downloads the crates of a test to Cargo's cache; the test builds offline.
fetch_crates() {
	crate=tests/tvmffi/testdata/rust/Cargo.toml
	if [ -f $crate ] && command -v cargo >/dev/null; then
		cargo fetch --quiet --locked --manifest-path $crate ||
			say "the crate tvm-ffi could not be fetched: the test that needs it skips"
	fi
}

# Unpacks drivers and libraries of other Debian releases into .cache/NAME with a test's script,
# unless a file exists: the name, the script and the file. The tests need no GPU for them.
fetch_driver() {
	if [ -e ".cache/$1/$3" ] || [ "$(uname -m)" != x86_64 ] || ! command -v apt-get >/dev/null; then
		return
	fi
	say "unpacking $1 into .cache/$1"
	"$2" "$PWD/.cache/$1" >/dev/null 2>&1 || say "$1 could not be fetched: the tests that need it skip"
}

if command -v dpkg-query >/dev/null; then
	install_packages
else
	say "not Debian: install the equivalents of tests/packages.txt yourself"
fi
install_python
fetch_modules
{
	install_linters
	build_library
} & # meanwhile, packages are downloaded
install_frameworks
fetch_crates
fetch_driver pocl tests/devices/fetch-pocl.sh vendors/pocl.icd
fetch_driver hip tests/devices/fetch-hip.sh whole
fetch_driver libcuda tests/devices/fetch-libcuda.sh root/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1
fetch_driver levelzero tests/oneapi/fetch-level-zero.sh done
# Separate environments, because some versions (MKL, TBB) differ from those of the frameworks.
install_apart oneapi "SYCL and dpnp" 8000000
install_apart tvm TVM 2000000
install_apart legacytvm "TVM 0.19" 1000000
install_apart zig Zig 1000000
install_apart docs "the documentation's generator" 500000
install_apart ci "Conan, pre-commit, check-jsonschema, mypy and meson-python" 500000
wait
