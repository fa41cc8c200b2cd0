#!/bin/bash
# Preprocesses for ccache, which hashes the output: folders of tests have random names, which stand
# for the same files in each run.
"$@" || exit
while [ $# -gt 1 ] && [ "$1" != -o ]; do shift; done
temporary=${TMPDIR:-/tmp}
temporary=${temporary%/}
exec sed -i -E 's#'"${temporary//./\\.}"'/[^/" ]*[0-9]{6,}(/[0-9]{3})?#/tmp/test#g' "$2"
