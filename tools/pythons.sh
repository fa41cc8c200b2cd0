#!/bin/sh
# Runs the scripts of tests/python, tests/kernels and tests/gopy with builds of CPython that this
# Debian does not package: release and debug builds of newer versions, and a free-threaded build.
#
# usage: tools/pythons.sh [VERSION ...]      default: 3.14 3.14-dbg 3.15 3.15-dbg 3.13t
#
# The script installs nothing into the system. The release and debug builds are packages of Debian's
# next releases, unpacked into .cache/pythons and started by their own dynamic loader. The
# free-threaded build (a version that ends in t) is compiled from Debian's source package, which
# takes minutes. NumPy and torch are added to each build for which a wheel exists.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 3.14 3.14-dbg 3.15 3.15-dbg 3.13t

if [ ! -x .venv/bin/python ]; then
	echo "pythons: .venv is missing: run make setup" >&2
	exit 1
fi
mkdir -p .cache/pythons
home=$(cd .cache/pythons && pwd)
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

say() { echo "pythons: $*"; }

# Writes separate package lists for apt, with the system's mirror.
configure_apt() {
	mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null |
		grep -v security | head -n 1 | tr -d ' ')
	mkdir -p "$home/apt/state/lists/partial" "$home/apt/cache/archives/partial" "$home/debs" "$home/system"
	for suite in trixie sid; do
		for kind in deb deb-src; do
			echo "$kind [signed-by=$keyring] $mirror $suite main"
		done
	done >"$home/apt/sources.list"
}

# Runs apt-get with these lists and separate folders, so that the system's packages do not change.
apt() {
	command=$1
	shift
	apt-get -q -o Dir::Etc::sourcelist="$home/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State="$home/apt/state" -o Dir::State::status=/var/lib/dpkg/status \
		-o Dir::Cache="$home/apt/cache" -o APT::Sandbox::User=root "$command" "$@"
}

# Prints the packages of one version. A debug build also needs the modules of the release build.
packages_of() {
	base=${1%-dbg}
	echo "python$base python$base-minimal libpython$base-stdlib libpython$base-minimal libpython$base-dev"
	[ "$base" = "$1" ] || echo "python$base-dbg libpython$base-dbg"
}

libraries="libc6 libgcc-s1 libstdc++6 libexpat1 libffi8 libssl3t64 libsqlite3-0 zlib1g libbz2-1.0 liblzma5
	libuuid1 libzstd1 libreadline8t64 libtinfo6 libncursesw6"

unpack() {
	version=$1
	say "unpacking $version"
	(
		cd "$home/debs"
		for package in $libraries $(packages_of "$version"); do
			ls "${package}"_*.deb >/dev/null 2>&1 || apt download "$package/sid" >/dev/null
		done
		for archive in *.deb; do
			[ -f "$archive.unpacked" ] || { dpkg-deb -x "$archive" "$home/system" && touch "$archive.unpacked"; }
		done
	)
}

compile() {
	version=$1
	base=${version%t}
	say "compiling $version"
	(
		cd "$home"
		apt source --download-only "python$base/trixie" >/dev/null
		rm -rf src && mkdir src
		tar xf python"${base}"_*.orig.tar.xz -C src --strip-components=1
		cd src
		{ ./configure -q --prefix="$home/$version" --disable-gil && make -s -j2 && make -s install; } \
			>"$home/compile-$version.log" 2>&1
	)
}

# Writes a script that starts a version with its own libraries.
write_starter() {
	version=$1
	starter=$home/bin/python$version
	mkdir -p "$home/bin"
	case $version in
	*t) echo "exec '$home/$version/bin/python$version' \"\$@\"" ;;
	*)
		libraries_in="$home/system/usr/lib/x86_64-linux-gnu:$home/system/lib/x86_64-linux-gnu"
		loader=$(ls "$home"/system/usr/lib64/ld-linux-x86-64.so.2 \
			"$home"/system/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 \
			"$home"/system/lib64/ld-linux-x86-64.so.2 2>/dev/null | head -n 1)
		echo "export PYTHONHOME='$home/system/usr'"
		echo "exec '$loader' --library-path '$libraries_in' '$home/system/usr/bin/python$version' \"\$@\""
		;;
	esac | {
		echo "#!/bin/sh"
		echo "export PYTHONPATH=\"\${PYTHONPATH:+\$PYTHONPATH:}$home/site/${version%-dbg}:$home/pure\""
		cat
	} >"$starter"
	chmod +x "$starter"
}

# Installs a wheel for one version in a separate folder. The pure packages that torch imports, and
# its CUDA libraries, are linked from .venv.
add_wheel() {
	version=$1
	wheel=$2
	base=${version%-dbg}
	case $base in *t) plain=${base%t} ;; *) plain=$base ;; esac
	abi=cp$(echo "$base" | tr -d .)
	[ ! -f "$home/site/$base/$wheel" ] || return 0
	if .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps \
		--only-binary :all: --implementation cp --python-version "$plain" --abi "$abi" \
		--platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
		--target "$home/site/$base" "$wheel" 2>/dev/null; then
		touch "$home/site/$base/$wheel"
	else
		say "no wheel of $wheel for $base"
	fi
}

link_pure_packages() {
	rm -rf "$home/pure" && mkdir "$home/pure"
	site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
	for package in typing_extensions.py sympy mpmath networkx jinja2 markupsafe filelock fsspec nvidia; do
		[ ! -e "$site/$package" ] || ln -s "$(readlink -f "$site/$package")" "$home/pure/"
	done
}

configure_apt
starters=""
updated=no
for version in "$@"; do
	starter=$home/bin/python$version
	if [ ! -x "$starter" ]; then
		[ $updated = yes ] || apt update >/dev/null
		updated=yes
		case $version in *t) compile "$version" ;; *) unpack "$version" ;; esac
		write_starter "$version"
	fi
	for wheel in $(grep -hE '^(numpy|ml_dtypes|torch)==' tests/requirements.txt tests/requirements-frameworks.txt); do
		add_wheel "$version" "$wheel"
	done
	starters="$starters $starter"
done
link_pure_packages
DLPACKGEN_PYTHONS=$starters exec go test -count=1 -timeout=0 -v -run '^TestOtherPythons$' \
	./tests/python ./tests/kernels ./tests/gopy ./tests/clients
