#!/bin/sh
# Makes the sources, builds the library by one command, trains with it in torch, jits it in JAX:
# ./run.sh [library ...], of numpy, torch and jax
set -e
cd "$(dirname "$0")"
python=${DLPACKGEN_PYTHON:-python3}
libraries=${*:-numpy torch jax}
mkdir -p build
if [ -z "$DLPACKGEN" ]; then
    DLPACKGEN=build/dlpackgen
    (cd ../.. && go build -o examples/go-kernel/$DLPACKGEN ./cmd/dlpackgen)
fi
"$DLPACKGEN" generate --quiet

headers=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
CGO_CFLAGS="-O2 -isystem $headers" go build -buildmode=c-shared -ldflags="-s -w" -o build/_kernels.abi3.so \
    ./generated/gokernels
cp generated/python/_kernels.pyi generated/torchshim/*.py generated/jax/*.py build/

PYTHONPATH=build "$python" train.py $libraries
