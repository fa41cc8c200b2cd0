#!/bin/sh
# Unpacks NVIDIA's libcuda.so.1 (3 MB, from Debian's section non-free) into a folder. This requires
# no root, and does not change the system's apt configuration. Without a GPU, the library reports
# that there is none.
#
# usage: fetch-libcuda.sh DIR
set -eu
dir=${1:?usage: fetch-libcuda.sh DIR}
mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/debs"
# The mirror of this machine's apt configuration.
mirror=$(apt-get indextargets --format '$(SITE)' | grep -E '/debian/?$' | sort -u | head -n 1)
[ -n "$mirror" ] || { echo "no Debian mirror is configured; run apt-get update first" >&2; exit 1; }
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] $mirror bookworm non-free" >"$dir/apt/suite.list"
options="-oDir::Etc::sourcelist=$dir/apt/suite.list -oDir::Etc::sourceparts=- -oDir::State::Lists=$dir/apt/lists
	-oDir::Cache=$dir/apt/cache -oAPT::Architecture=amd64 -oAcquire::Check-Valid-Until=false"
# shellcheck disable=SC2086 # options, to be split
apt-get $options -q update
# shellcheck disable=SC2086
(cd "$dir/debs" && apt-get $options -q download libcuda1)
for deb in "$dir"/debs/*.deb; do dpkg -x "$deb" "$dir/root"; done
