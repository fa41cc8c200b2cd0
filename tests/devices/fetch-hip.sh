#!/bin/sh
# Unpacks two versions of AMD's HIP runtime with their headers (80 MB in all): version 5 of Debian
# 12, and version 6 of a newer suite with the libraries that it needs. This requires no root, and
# does not change the system's apt configuration. Without a GPU, both report that there is none.
#
# usage: fetch-hip.sh DIR
set -eu
dir=${1:?usage: fetch-hip.sh DIR}
# The mirror of this machine's apt configuration.
mirror=$(apt-get indextargets --format '$(SITE)' | grep -E '/debian/?$' | sort -u | head -n 1)
[ -n "$mirror" ] || { echo "no Debian mirror is configured; run apt-get update first" >&2; exit 1; }

# unpack FOLDER SUITE PACKAGE...
unpack() {
	at=$dir/$1
	mkdir -p "$at/apt/lists/partial" "$at/apt/cache/archives/partial" "$at/debs"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $2 main" >"$at/apt/suite.list"
	options="-oDir::Etc::sourcelist=$at/apt/suite.list -oDir::Etc::sourceparts=- -oDir::State::Lists=$at/apt/lists
		-oDir::Cache=$at/apt/cache -oAPT::Architecture=amd64 -oAcquire::Check-Valid-Until=false"
	shift 2
	# shellcheck disable=SC2086 # options, to be split
	apt-get $options -q update
	# shellcheck disable=SC2086
	(cd "$at/debs" && apt-get $options -q download "$@")
	for deb in "$at"/debs/*.deb; do dpkg -x "$deb" "$at/root"; done
	rm -rf "$at/debs" "$at/apt" "$at/root/usr/share"
}

unpack 5 bookworm libamdhip64-5 libamdhip64-dev libhsa-runtime64-1 libhsakmt1 libamd-comgr2 libnuma1
unpack 6 "${SUITE:-forky}" libamdhip64-6 libamdhip64-dev libhsa-runtime64-1 libamd-comgr3 libnuma1 libdrm2 \
	libdrm-amdgpu1 libelf1t64 libllvm21 libc6 libstdc++6 libgcc-s1 libedit2 libffi8 libtinfo6 libxml2-16 \
	libz3-4 libzstd1 zlib1g libbsd0 libmd0
touch "$dir/whole"
