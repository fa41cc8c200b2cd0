#!/bin/sh
# Rewrites the golden files with the current output of the tests. Only packages with golden files
# have the flag -update, and only those tests run.
set -eu
cd "$(dirname "$0")/.."

uses='golden\.(Assert|Orphans|Updates)\('
files=$(grep -rlE --include='*_test.go' "$uses" .)
tests=$(awk -v uses="$uses" '
	/^func Test/ { sub(/\(.*/, "", $2); test = $2 }
	$0 ~ uses { print test }' $files | sort -u | paste -sd '|' -)
packages=$(dirname $files | sort -u)
# shellcheck disable=SC2086 # a list of folders, to be split
go test -timeout=0 $packages -update -run "^($tests)\$"
