#!/bin/sh
# Makes the sources, and calls the kernels from Go.
set -e
cd "$(dirname "$0")"
if [ -z "$DLPACKGEN" ]; then
    DLPACKGEN=build/dlpackgen
    (cd ../.. && go build -o examples/kernels/$DLPACKGEN ./cmd/dlpackgen)
fi
"$DLPACKGEN" generate
go run .
