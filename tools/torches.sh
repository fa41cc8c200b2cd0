#!/bin/sh
# Tests older versions of torch (tests/requirements-torch-*.txt), each installed into .cache once.
# The tests read their tensors with the module that is built for the version in .venv, and with
# dlpackgen_torch built for each version. They also run the operators through the C shim.
set -eu
cd "$(dirname "$0")/.."

if [ ! -x .venv/bin/python ]; then
	echo "torches: .venv is missing: run make setup" >&2
	exit 1
fi
pythons=""
for file in tests/requirements-torch-*.txt; do
	dir=.cache/$(basename "$file" .txt)
	if ! cmp -s "$file" "$dir/installed.txt"; then
		echo "torches: installing $file into $dir"
		rm -rf "$dir"
		.venv/bin/python -m venv "$dir"
		"$dir/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps \
			--only-binary :all: -r "$file"
		cp "$file" "$dir/installed.txt"
	fi
	pythons="$pythons $PWD/$dir/bin/python"
done
DLPACKGEN_TORCHES=$pythons exec go test -count=1 -timeout=0 -v -run TestOlderTorches \
	./tests/clients ./tests/torch ./tests/torchshim
