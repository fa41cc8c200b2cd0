#!/bin/sh
# Runs all checks that need an NVIDIA GPU, prints a record, and exits with 1 if a check failed. It
# needs python3, and uses torch, cupy, jax and tvm-ffi if that Python has them. docs/gpu.md
# describes the checks.
#
# usage: run.sh [BIN]
#
# Without BIN, it builds its programs first, which needs gcc and g++. For a machine without a
# compiler, build them elsewhere into the folder BIN: `run.sh --build BIN`. A program that could not
# be built is reported, and its checks are skipped by name.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3}

# Runs a command that builds the named program or library, or reports that it was not built.
try() {
	what=$1
	shift
	"$@" >"$bin/said" 2>&1 || echo "not built: $what: $(tail -1 "$bin/said")"
	rm -f "$bin/said"
}

# Builds modules with the stable ABI, for Python 3.11 and newer.
build_modules() {
	headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
	for name in checked untrusted; do
		try "$name.abi3.so" gcc -std=gnu11 -O1 -w -shared -fPIC -fvisibility=hidden -DPy_LIMITED_API=0x030B0000 \
			-I "$root/gen/c" -isystem "$headers" -o "$bin/$name.abi3.so" "$root/tests/python/module/$name.c"
	done
	try fast.abi3.so gcc -std=gnu11 -O2 -w -shared -fPIC -fvisibility=hidden -DPy_LIMITED_API=0x030B0000 \
		-I "$root/gen/c" -isystem "$headers" -o "$bin/fast.abi3.so" "$root/bench/testdata/python/fast.c"
	try nop_ffi.so gcc -std=gnu11 -O2 -shared -fPIC -o "$bin/nop_ffi.so" "$root/bench/testdata/python/nop_ffi.c"
}

# Generates the described kernels, because the other machine may lack Go. nvcc compiles them there.
generate_kernels() {
	command -v go >/dev/null || { echo "not built: kernels: no go" && return; }
	mkdir -p "$bin/kernels"
	cp "$root/tests/gpu/kernels/dlpackgen.yaml" "$bin/kernels"
	(cd "$root" && go run ./cmd/dlpackgen generate --quiet --config "$bin/kernels/dlpackgen.yaml")
}

build() {
	bin=$1
	mkdir -p "$bin"
	cuda="$root/backends/cuda"
	gcc -std=gnu11 -O2 -static-libgcc -I "$cuda" -o "$bin/client" "$root/tests/devices/testdata/client.c" \
		"$cuda/dlpackgen_cuda.c" -ldl -lpthread
	gcc -std=gnu11 -O2 -static-libgcc -shared -fPIC -o "$bin/libdlpackgen_cuda.so" "$cuda/dlpackgen_cuda.c" -ldl
	gcc -std=gnu11 -O2 -static-libgcc -I "$cuda" -o "$bin/measure" "$root/bench/testdata/devices/measure.c" \
		"$cuda/dlpackgen_cuda.c" -ldl
	gcc -std=gnu11 -O2 -static-libgcc -I "$cuda" -o "$bin/conformance" "$cuda/conformance/conformance.c" \
		"$cuda/dlpackgen_cuda.c" -ldl -lpthread
	if command -v go >/dev/null; then
		(cd "$root" && try golang go build -o "$bin/golang" ./tests/devices/testdata/golang)
	else
		echo "not built: golang: no go"
	fi
	build_modules
	generate_kernels
}

if [ "${1:-}" = --build ]; then
	build "${2:?usage: run.sh --build BIN}"
	exit 0
fi
bin=${1:-}
if [ -z "$bin" ]; then
	made=$(mktemp -d)
	trap 'rm -rf "$made"' EXIT
	build "$made"
fi
date -u
uname -srm
if command -v nvidia-smi >/dev/null; then
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
fi
"$python" "$here/gpu.py" "$bin"
