#!/bin/sh
# Builds the modules for Python and runs their checks. usage: run.sh [FOLDER]
# The Python is $DLPACKGEN_PYTHON or python3, with NumPy 2; with torch, PyTorch's part too.
# RUNNER goes before the program, as a loader with a path of libraries.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
python=${DLPACKGEN_PYTHON:-python3}
out=${1:-}
if [ -z "$out" ]; then
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
fi
cp -R "$here/clusm" "$out"
(cd "$here/../.." && go run ./cmd/dlpackgen generate --config "$here/dlpackgen.yaml" --out "$out")
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
${CC:-cc} -std=c11 -O2 -Wall -Wextra -shared -fPIC -fvisibility=hidden -DPy_LIMITED_API=0x030B0000 \
	-I "$out" -I "$out/c" -isystem "$headers" -o "$out/clusm.abi3.so" \
	"$here/python/clusm_module.c" "$out"/clusm/*.c -ldl -lpthread
run() {
	if [ -z "${RUNNER:-}" ]; then
		"$python" "$@"
	else
		$RUNNER --argv0 "$(command -v "$python")" "$(readlink -f "$(command -v "$python")")" "$@"
	fi
}
export PYTHONPATH="$out:$here/python" PYTHONDONTWRITEBYTECODE=1
run "$here/python/check.py"
torch=$("$python" -c 'import importlib.util
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] if spec else "")')
if [ -z "$torch" ]; then
	echo "not checked: PyTorch: $python has no torch"
	exit 0
fi
${CXX:-c++} -std=c++20 -O1 -w -shared -fPIC -fvisibility=hidden -I "$out" -I "$out/c" -isystem "$headers" \
	-isystem "$torch/include" -o "$out/clusm_torch.so" "$here/torch/clusm_torch.cpp" \
	-L"$torch/lib" -Wl,-rpath,"$torch/lib" -lc10 -ltorch_cpu
run "$here/torch/check.py"
