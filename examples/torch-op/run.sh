#!/bin/sh
# Makes the sources of the kernels with dlpackgen, builds the package as a wheel, installs it into a
# scratch folder and trains with it; then builds its library by CMake, where that is there, and
# trains with that one. The Python is $DLPACKGEN_PYTHON or python3, and has torch; $CMAKE is cmake,
# or empty to leave it out; $BUILD_TYPE is CMake's, Release by default.
set -eu
cd "$(dirname "$0")"
python=${DLPACKGEN_PYTHON:-python3}
export DLPACKGEN_HEADERS="${DLPACKGEN_HEADERS:-$PWD/../../gen}"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cp -r . "$build/source" # pip builds where the sources are
rm -rf "$build/source/generated" "$build/source/dlpackgen.lock"
(cd ../.. && go run ./cmd/dlpackgen generate --quiet --config examples/torch-op/dlpackgen.yaml --out "$build/source")
"$python" -m pip wheel --quiet --disable-pip-version-check --no-index --no-build-isolation --no-deps \
	--wheel-dir "$build" "$build/source"
"$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-index --no-deps \
	--target "$build/installed" "$build"/torchop-*.whl
export PYTHONPATH="$build/installed" PYTHONDONTWRITEBYTECODE=1
"$python" -W ignore train.py
echo "ok wheel"
cp -r "$build/installed" "$build/other"
mv "$build"/other/torchop/_kernels_* "$build/other/torchop/_kernels_0_1.so" # of another torch
PYTHONPATH="$build/other" "$python" -W ignore -c 'import torchop' 2>"$build/rejected" && exit 1
grep 'ImportError: torchop is built for torch 0\.1, and this is torch [1-9]' "$build/rejected" ||
	{ cat "$build/rejected"; exit 1; }
echo "ok other torch"
cmake=${CMAKE-cmake}
if command -v "$cmake" >/dev/null; then
	"$cmake" -S "$build/source" -B "$build/cmake" -DPython="$python" -DHEADERS="$DLPACKGEN_HEADERS" \
		-DCMAKE_BUILD_TYPE="${BUILD_TYPE-Release}" >"$build/log" || { cat "$build/log"; exit 1; }
	"$cmake" --build "$build/cmake" >"$build/log" || { cat "$build/log"; exit 1; }
	TORCHOP_LIBRARY="$build/cmake/libtorchop.so" "$python" -W ignore train.py
	echo "ok cmake"
fi
