#!/bin/sh
# Unpacks Intel's Level Zero from a newer Debian suite (9 MB) into DIR/root: its loader, headers and
# GPU driver, and the C library that they need. This Debian's older loader is unpacked into DIR/old.
# This requires no root, and does not change the system's apt configuration.
#
# usage: fetch-level-zero.sh DIR
set -eu
dir=${1:?usage: fetch-level-zero.sh DIR}
suite=forky
rm -rf "$dir"
mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/debs" "$dir/older"
# The mirror of this machine's apt configuration.
mirror=$(apt-get indextargets --format '$(SITE)' | grep -E '/debian/?$' | sort -u | head -n 1)
[ -n "$mirror" ] || { echo "no Debian mirror is configured; run apt-get update first" >&2; exit 1; }
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] $mirror $suite main" >"$dir/apt/suite.list"
options="-oDir::Etc::sourcelist=$dir/apt/suite.list -oDir::Etc::sourceparts=- -oDir::State::Lists=$dir/apt/lists
	-oDir::Cache=$dir/apt/cache -oAPT::Architecture=amd64 -oAcquire::Check-Valid-Until=false"
# shellcheck disable=SC2086 # options, to be split
apt-get $options -q update
# shellcheck disable=SC2086
(cd "$dir/debs" && apt-get $options -q download libze-intel-gpu1 libigdgmm12 libze1 libze-dev libc6 libstdc++6 \
	libgcc-s1)
(cd "$dir/older" && apt-get -q download libze1)
for deb in "$dir"/debs/*.deb; do dpkg -x "$deb" "$dir/root"; done
for deb in "$dir"/older/*.deb; do dpkg -x "$deb" "$dir/old"; done
touch "$dir/done"
