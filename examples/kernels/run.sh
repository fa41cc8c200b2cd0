#!/bin/sh
# Makes the sources, builds the callers, and prints a table of what each gives:
# ./run.sh [library ...], of numpy, torch, jax and paddle; CFLAGS is -O2 by default
set -e
cd "$(dirname "$0")"
python=${DLPACKGEN_PYTHON:-python3}
libraries=${*:-numpy torch}
if ! command -v "$python" >/dev/null; then
    echo "$0: $python is not found: set DLPACKGEN_PYTHON to a Python with $libraries" >&2
    exit 1
fi
"$python" -c "import importlib.util, sys
missing = [name for name in sys.argv[1:] if not importlib.util.find_spec(name)]
sys.exit(f'{sys.executable} lacks: {\" \".join(missing)} (see README.md)' if missing else 0)" $libraries
mkdir -p build
if [ -z "$DLPACKGEN" ]; then
    DLPACKGEN=build/dlpackgen
    (cd ../.. && go build -o examples/kernels/$DLPACKGEN ./cmd/dlpackgen)
fi
"$DLPACKGEN" generate

# One library: the module for all libraries of Python, with the operators of torch.
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
flags="${CFLAGS:--O2} -fPIC -fvisibility=hidden -Igenerated/c -Igenerated/kernels"
${CC:-cc} -std=c11 $flags -c kernels_impl.c -o build/kernels_impl.o
${CC:-cc} -std=c11 $flags -c generated/kernels/kernels.c -o build/kernels.o
${CC:-cc} -std=c11 $flags -fexceptions -shared -DPy_LIMITED_API=0x030B0000 -Igenerated/python -isystem "$headers" \
    generated/python/_kernels.c generated/torchshim/kernels_torch.c build/kernels.o build/kernels_impl.o -lm \
    -o build/_kernels.abi3.so
cp generated/python/_kernels.pyi generated/python/py.typed generated/torchshim/*.py build/
export DLPACKGEN_OPERATORS=kernels_torch # for the tests of gradients

# The table.
PYTHONPATH=build "$python" use.py $libraries
${CXX:-c++} -std=c++17 ${CFLAGS:--O2} -Igenerated/c -Igenerated/cpp -Igenerated/kernels cpp/main.cpp build/kernels.o \
    build/kernels_impl.o -lm -o build/main
build/main
go run .

# The tests of the description.
if "$python" -c 'import hypothesis, pytest' 2>/dev/null; then
    PYTHONPATH=build:. "$python" -m pytest -q -p no:cacheprovider \
        -k "$(echo test_gradients $libraries | sed 's/ / or /g')" generated/python/tests
else
    echo "pytest and hypothesis are not installed: the tests of the kernels are not run"
fi
