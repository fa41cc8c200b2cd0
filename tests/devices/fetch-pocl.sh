#!/bin/sh
# Unpacks PoCL 7, its loader and OpenCL's headers from a newer suite into a folder (120 MB). PoCL is
# OpenCL on the CPU; Debian 12's version lacks unified shared memory. This requires no root, and
# does not change the system's apt configuration. Programs run with the unpacked ld.so.
#
# usage: fetch-pocl.sh DIR
set -eu
dir=${1:?usage: fetch-pocl.sh DIR}
mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/debs" "$dir/vendors"
# The mirror of this machine's apt configuration.
mirror=$(apt-get indextargets --format '$(SITE)' | grep -E '/debian/?$' | sort -u | head -n 1)
[ -n "$mirror" ] || { echo "no Debian mirror is configured; run apt-get update first" >&2; exit 1; }
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] $mirror ${SUITE:-forky} main" >"$dir/apt/suite.list"
options="-oDir::Etc::sourcelist=$dir/apt/suite.list -oDir::Etc::sourceparts=- -oDir::State::Lists=$dir/apt/lists
	-oDir::Cache=$dir/apt/cache -oAPT::Architecture=amd64 -oAcquire::Check-Valid-Until=false"
# shellcheck disable=SC2086 # options, to be split
apt-get $options -q update
# The libraries that PoCL needs to start, without those for compiling kernels.
# shellcheck disable=SC2086
needed=$(apt-cache $options depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
	--no-replaces --no-enhances libpocl2t64 | grep '^[a-z]' | sort -u | grep -E '^(lib[a-z0-9.+-]*|zlib1g)$' |
	grep -vE -- '-(dev|common|extra)$|san[0-9]+$|^lib(binutils|ctf|gprofng|objc)')
# shellcheck disable=SC2086
(cd "$dir/debs" && apt-get $options -q download $needed ocl-icd-libopencl1 opencl-c-headers)
for deb in "$dir"/debs/*.deb; do dpkg -x "$deb" "$dir/root"; done
rm -rf "$dir/debs" "$dir/apt" "$dir/root/usr/share"
echo "$dir/root/usr/lib/x86_64-linux-gnu/libpocl.so.2" >"$dir/vendors/pocl.icd"
