
# Finds an implementation of SYCL for dlpackgen_oneapi_sycl.cpp, and prints the compiler, its flags,
# or the linker's flags. The first available one is used: icpx in PATH, ONEAPI_ROOT, or the wheel
# intel-sycl-rt of the Python in PYTHON. usage: sh sycl_find.sh compiler|compile|link
set -eu
what=${1:-}
case $what in compiler | compile | link) ;; *)
	echo "usage: sh sycl_find.sh compiler|compile|link" >&2
	exit 2
	;;
esac

# The folders of an implementation without its own compiler.
tell() {
	case $what in
	compiler) echo "${CXX:-g++}" ;;
	compile) echo "-std=c++17 -DSYCL_DISABLE_FSYCL_SYCLHPP_WARNING -isystem $1/include -isystem $1/include/sycl" ;;
	link) echo "-L$1/lib -Wl,-rpath,$1/lib -lsycl" ;;
	esac
}

if command -v icpx >/dev/null; then
	case $what in compiler) echo icpx ;; compile) echo "-std=c++17 -fsycl" ;; link) echo "-fsycl" ;; esac
	exit
fi
root=${ONEAPI_ROOT:-/nothing}/compiler/latest
wheel=$("${PYTHON:-python3}" -c 'import sys; print(sys.prefix)' 2>/dev/null || echo /nothing)
for folder in "$root" "$wheel"; do
	if [ -f "$folder/include/sycl/sycl.hpp" ] && [ -f "$folder/lib/libsycl.so" ]; then
		tell "$folder"
		exit
	fi
done
python=${PYTHON:-python3}
echo "no SYCL: found neither icpx in PATH, nor ONEAPI_ROOT, nor the wheel intel-sycl-rt of $python" >&2
echo "install it: pip install intel-sycl-rt" >&2
exit 1
