#!/bin/sh
# Builds the module and compares it with torch. The Python, which needs torch and
# NumPy, is $DLPACKGEN_PYTHON or python3; the argument is the number of rounds
# that are timed, 30 by default.
set -eu
cd "$(dirname "$0")"
python=${DLPACKGEN_PYTHON:-python3}
if ! "$python" -c 'from importlib.metadata import version as v; v("numpy"), v("torch")' 2>/dev/null; then
	echo "$python has no torch; python3 -m venv venv && venv/bin/pip install torch numpy, then DLPACKGEN_PYTHON=venv/bin/python $0" >&2
	exit 2
fi
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
go build -buildmode=c-shared -o "$build/gotorch.so" .
PYTHONPATH="$build" PYTHONDONTWRITEBYTECODE=1 "$python" softmax.py "$@"
