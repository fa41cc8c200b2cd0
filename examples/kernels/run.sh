#!/bin/sh
# Makes the sources, builds the module, and calls it: ./run.sh [library ...]
set -e
cd "$(dirname "$0")"
python=${DLPACKGEN_PYTHON:-python3}
if [ -z "$DLPACKGEN" ]; then
    DLPACKGEN=build/dlpackgen
    (cd ../.. && go build -o examples/kernels/$DLPACKGEN ./cmd/dlpackgen)
fi
"$DLPACKGEN" generate
include=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
mkdir -p build
${CC:-cc} -std=c11 -O2 -fPIC -shared -fvisibility=hidden -DPy_LIMITED_API=0x030B0000 \
    -Igenerated/c -Igenerated/python -Igenerated/kernels -isystem "$include" \
    generated/python/_kernels.c generated/kernels/kernels.c kernels_impl.c -lm -o build/_kernels.abi3.so
cp generated/python/_kernels.pyi generated/python/py.typed build/
PYTHONPATH=build "$python" use.py "$@"
if "$python" -c 'import hypothesis, pytest' 2>/dev/null; then
    only=$(echo "${*:-numpy torch}" | sed 's/ / or /g')
    PYTHONPATH=build:. "$python" -m pytest -q -p no:cacheprovider -k "$only" generated/python/tests
else
    echo "pytest and hypothesis are not installed: the tests of the kernels are not run"
fi
