#!/bin/sh
# Makes the backend, builds it, tests it and uses it. usage: run.sh [FOLDER]
# RUNNER goes before each program, as a loader with a path of libraries.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-}
if [ -z "$out" ]; then
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
fi
cp -R "$here/clusm" "$out"
(cd "$here/../.." && go run ./cmd/dlpackgen generate --config "$here/dlpackgen.yaml" --out "$out")
cmp "$here/clusm/clusm_impl.c" "$out/clusm/clusm_impl.c"
cmp "$here/clusm/conformance/clusm_hooks.h" "$out/clusm/conformance/clusm_hooks.h"
cc="${CC:-cc} -std=c11 -O2 -Wall -Wextra"
$cc -o "$out/conformance" "$out"/clusm/conformance/conformance.c "$out"/clusm/*.c -ldl -lpthread
$cc -I "$out" -o "$out/two_queues" "$here/two_queues.c" "$out"/clusm/*.c -ldl -lpthread
${RUNNER:-} "$out/conformance"
${RUNNER:-} "$out/two_queues"
