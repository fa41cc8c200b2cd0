#!/bin/sh
# Builds the Go library and exchanges arrays with NumPy. The Python, which needs
# NumPy 2, is $DLPACKGEN_PYTHON or python3; the argument is the number of rounds
# of the search for leaks, 100,000 by default.
set -eu
cd "$(dirname "$0")"
python=${DLPACKGEN_PYTHON:-python3}
if ! "$python" -c 'import numpy; exit(int(numpy.__version__.split(".")[0]) < 2)' 2>/dev/null; then
	echo "$python has no NumPy 2; python3 -m venv venv && venv/bin/pip install 'numpy>=2', then DLPACKGEN_PYTHON=venv/bin/python $0" >&2
	exit 2
fi
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
go build -buildmode=c-shared -o "$build/libgonumpy.so" .
GONUMPY_LIB="$build/libgonumpy.so" PYTHONDONTWRITEBYTECODE=1 "$python" exchange.py "$@"
