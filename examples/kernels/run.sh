#!/bin/sh
# Makes the sources, builds the callers, and prints a table of what each gives:
# ./run.sh [library ...], of numpy, torch, jax and paddle; CFLAGS is -O2 by default
set -e
cd "$(dirname "$0")"
python=${DLPACKGEN_PYTHON:-python3}
libraries=${*:-numpy torch}
mkdir -p build
if [ -z "$DLPACKGEN" ]; then
    DLPACKGEN=build/dlpackgen
    (cd ../.. && go build -o examples/kernels/$DLPACKGEN ./cmd/dlpackgen)
fi
"$DLPACKGEN" generate

# The kernels, and one module for all libraries of Python.
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
flags="${CFLAGS:--O2} -fPIC -fvisibility=hidden -Igenerated/c -Igenerated/kernels"
${CC:-cc} -std=c11 $flags -c kernels_impl.c -o build/kernels_impl.o
${CC:-cc} -std=c11 $flags -c generated/kernels/kernels.c -o build/kernels.o
${CC:-cc} -std=c11 $flags -shared -DPy_LIMITED_API=0x030B0000 -Igenerated/python -isystem "$headers" \
    generated/python/_kernels.c build/kernels.o build/kernels_impl.o -lm -o build/_kernels.abi3.so
cp generated/python/_kernels.pyi generated/python/py.typed build/

# The operators of torch.
case " $libraries " in *" torch "*)
    torch=$("$python" -c 'import torch; print(torch.__path__[0])')
    ${CXX:-c++} -std=c++20 $flags -DNDEBUG -shared -Igenerated/cpp -isystem "$torch/include" -isystem "$headers" \
        generated/cpp/dlpackgen_torch/described_kernels.cpp build/kernels.o build/kernels_impl.o \
        -L "$torch/lib" -ltorch_cpu -ltorch -lc10 -lm -o build/operators.so
    export DLPACKGEN_OPERATORS=build/operators.so ;; # for the tests of gradients
esac

# The table.
PYTHONPATH=build "$python" use.py $libraries
${CXX:-c++} -std=c++17 ${CFLAGS:--O2} -Igenerated/c -Igenerated/cpp -Igenerated/kernels cpp/main.cpp build/kernels.o \
    build/kernels_impl.o -lm -o build/main
build/main
go run .

# The tests of the description.
if "$python" -c 'import hypothesis, pytest' 2>/dev/null; then
    PYTHONPATH=build:. "$python" -m pytest -q -p no:cacheprovider -k "$(echo test_gradients $libraries | sed 's/ / or /g')" \
        generated/python/tests
else
    echo "pytest and hypothesis are not installed: the tests of the kernels are not run"
fi
