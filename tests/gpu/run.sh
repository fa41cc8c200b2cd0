#!/bin/sh
# Everything that needs a GPU of NVIDIA, in one go: prints a record, and ends with 1
# when something failed. It needs python3 and, for what it builds there, gcc; torch,
# cupy and jax are used where that Python has them. usage: run.sh [BIN]
# BIN holds `client` and `libdlpackgen_cuda.so` where there is no compiler: make them
# with `run.sh --build BIN`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

build() {
	mkdir -p "$1"
	gcc -std=gnu11 -O2 -I "$root/backends/cuda" -o "$1/client" "$root/tests/devices/testdata/client.c" \
		"$root/backends/cuda/dlpackgen_cuda.c" -ldl -lpthread
	gcc -std=gnu11 -O2 -shared -fPIC -o "$1/libdlpackgen_cuda.so" "$root/backends/cuda/dlpackgen_cuda.c" -ldl
	gcc -std=gnu11 -O2 -I "$root/backends/cuda" -o "$1/measure" "$root/bench/testdata/devices/measure.c" \
		"$root/backends/cuda/dlpackgen_cuda.c" -ldl
}

if [ "${1:-}" = --build ]; then
	build "${2:?usage: run.sh --build BIN}"
	exit 0
fi
bin=${1:-}
if [ -z "$bin" ]; then
	bin=$(mktemp -d)
	trap 'rm -rf "$bin"' EXIT
	build "$bin"
fi
date -u
if command -v nvidia-smi >/dev/null; then
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
fi
"${PYTHON:-python3}" "$here/gpu.py" "$bin"
