#!/bin/sh
# Installs the module into a scratch folder and compares it with each library's own
# softmax. The Python is $DLPACKGEN_PYTHON or python3; the arguments are the names of
# libraries, all by default.
set -eu
cd "$(dirname "$0")"
python=${DLPACKGEN_PYTHON:-python3}
export DLPACKGEN_HEADERS="${DLPACKGEN_HEADERS:-$PWD/../../gen/c}"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cp -r . "$build/source" # pip builds where the sources are
"$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-index \
	--no-build-isolation --no-deps --target "$build/installed" "$build/source"
PYTHONPATH="$build/installed" PYTHONDONTWRITEBYTECODE=1 "$python" -W ignore compare.py "$@"
