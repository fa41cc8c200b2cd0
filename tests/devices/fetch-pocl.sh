#!/bin/sh
# Unpacks PoCL 7 (OpenCL on the CPU, with unified shared memory, which that of Debian
# 12 lacks), its loader and OpenCL's headers into a folder: 120 MB of packages of a newer
# suite, without root and without touching the system's apt configuration. Programs
# run against it through its own ld.so. usage: fetch-pocl.sh DIR
set -eu
dir=${1:?usage: fetch-pocl.sh DIR}
mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/debs" "$dir/vendors"
# The mirror that this machine already uses.
mirror=$(apt-get indextargets --format '$(SITE)' | grep -E '/debian/?$' | sort -u | head -n 1)
[ -n "$mirror" ] || { echo "no Debian mirror is configured; run apt-get update first" >&2; exit 1; }
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] $mirror ${SUITE:-forky} main" >"$dir/apt/suite.list"
options="-oDir::Etc::sourcelist=$dir/apt/suite.list -oDir::Etc::sourceparts=- -oDir::State::Lists=$dir/apt/lists
	-oDir::Cache=$dir/apt/cache -oAPT::Architecture=amd64 -oAcquire::Check-Valid-Until=false"
# shellcheck disable=SC2086 # the options are words
apt-get $options -q update
# What PoCL needs to start, and not what it compiles kernels with.
# shellcheck disable=SC2086
needed=$(apt-cache $options depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
	--no-enhances libpocl2t64 | grep '^[a-z]' | sort -u | grep -E '^(lib[a-z0-9.+-]*|zlib1g)$' | grep -vE -- '-(dev|common|extra)$|san[0-9]+$|^lib(binutils|ctf|gprofng|objc)')
# shellcheck disable=SC2086
(cd "$dir/debs" && apt-get $options -q download $needed ocl-icd-libopencl1 opencl-c-headers)
for deb in "$dir"/debs/*.deb; do dpkg -x "$deb" "$dir/root"; done
rm -rf "$dir/debs" "$dir/apt" "$dir/root/usr/share"
echo "$dir/root/usr/lib/x86_64-linux-gnu/libpocl.so.2" >"$dir/vendors/pocl.icd"
