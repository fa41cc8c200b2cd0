#!/bin/sh
# Runs the tests of callers with further versions of their hosts, besides those in .venv.
#
# usage: tools/hosts.sh [HOST-VERSION ...]      default: all versions below
#
# Each version is installed once into .cache/hosts, with 1 to 2 GB for torch. All other imports come
# from .venv. torch 2.10 is not listed: tools/torches.sh installs it, with its older CUDA libraries.
set -eu
cd "$(dirname "$0")/.."

# Each line is a version, and the packages to install for it.
versions="
torch-2.11.0 torch==2.11.0 nvidia-curand==10.4.3.29
torch-2.12.1 torch==2.12.1 nvidia-curand==10.4.3.29
torch-2.13.0 torch==2.13.0 nvidia-curand==10.4.3.29
torch-2.14.1 torch==2.14.1 nvidia-curand==10.4.3.29
jax-0.5.3 jax==0.5.3 jaxlib==0.5.3 absl-py==2.5.1
jax-0.6.2 jax==0.6.2 jaxlib==0.6.2
jax-0.7.2 jax==0.7.2 jaxlib==0.7.2
jax-0.8.3 jax==0.8.3 jaxlib==0.8.3
jax-0.9.2 jax==0.9.2 jaxlib==0.9.2
onnxruntime-1.24.1 onnxruntime==1.24.1
onnxruntime-1.26.0 onnxruntime==1.26.0
numpy-1.23.2 numpy==1.23.2
numpy-1.26.4 numpy==1.26.4
numpy-2.0.2 numpy==2.0.2
paddle-3.0.0 paddlepaddle==3.0.0 astor==0.8.1 decorator==5.2.1
paddle-3.2.2 paddlepaddle==3.2.2
"

if [ ! -x .venv/bin/python ]; then
	echo "hosts: .venv is missing: run make setup" >&2
	exit 1
fi
[ $# -gt 0 ] || set -- $(echo "$versions" | cut -d' ' -f1)

# Installs a version, and prints the path of its Python.
install() {
	packages=$(echo "$versions" | sed -n "s/^$1 //p")
	dir=$PWD/.cache/hosts/$1
	if [ -z "$packages" ]; then
		echo "hosts: no version $1 is listed" >&2
		return 1
	fi
	if [ "$(cat "$dir/installed.txt" 2>/dev/null)" != "$packages" ]; then
		echo "hosts: installing $packages into .cache/hosts/$1" >&2
		rm -rf "$dir"
		.venv/bin/python -m venv --without-pip "$dir"
		site=$("$dir/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
		.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/venv.pth"
		# shellcheck disable=SC2086 # a list of packages
		.venv/bin/python -m pip --python "$dir/bin/python" install --quiet --disable-pip-version-check --no-cache-dir \
			--no-deps --only-binary :all: --ignore-installed $packages >&2
		echo "$packages" >"$dir/installed.txt"
	fi
	echo "$dir/bin/python"
}

torches=
jaxes=
onnxruntimes=
numpys=
paddles=
for version in "$@"; do
	python=$(install "$version")
	case $version in
	torch-*) torches="$torches $python" ;;
	jax-*) jaxes="$jaxes $python" ;;
	onnxruntime-*) onnxruntimes="$onnxruntimes $python" ;;
	numpy-*) numpys="$numpys $python" ;;
	paddle-*) paddles="$paddles $python" ;;
	esac
done

# Runs a test if versions of its host were selected.
run() {
	[ -z "$1" ] || go test -count=1 -v -timeout=0 -run "^$2\$" "./tests/$3"
}
DLPACKGEN_TORCHES=$torches run "$torches" TestOlderTorches torchshim
DLPACKGEN_JAXES=$jaxes run "$jaxes" TestOtherJAX jaxkernels
DLPACKGEN_ONNXRUNTIMES=$onnxruntimes run "$onnxruntimes" TestOtherONNXRuntime onnxruntime
DLPACKGEN_NUMPYS=$numpys run "$numpys" TestOtherNumPy ufunc
DLPACKGEN_PADDLES=$paddles run "$paddles" TestOtherPaddle paddle
