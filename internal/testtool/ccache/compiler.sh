#!/bin/bash
# Runs the compiler of the same name by ccache. Each source is compiled apart, since
# ccache keeps no results of commands that link.
set -u
here=$(dirname "$0")
real=$(basename "$0")
export CCACHE_NODIRECT=1 CCACHE_NOHASHDIR=1 CCACHE_PREFIX_CPP=$here/stable

# GCC would collect garbage from 128 MB on, an eighth of its time for the headers of libtorch.
case $real in clang*) collects= ;; *) collects="--param ggc-min-heapsize=4000000" ;; esac

links=yes plain=no value=no
sources=() compile=() objects=()
for word in "$@"; do
	if [ $value != no ]; then
		[ $value = link ] || compile+=("$word")
		value=no
		continue
	fi
	case $word in
	-c) links=no ;;
	-E | -S | -M* | -x* | -v | -\#\#\# | - | @* | -fsyntax-only | --version | -print-* | -dump* | -save-temps*)
		plain=yes
		;;
	-o | -L | -Xlinker | -T | -z) value=link ;;
	-l* | -L* | -Wl,* | -shared | -static | -rdynamic) ;;
	-I | -D | -U | -include | -isystem | -iquote | -idirafter | -imacros | -isysroot | -target)
		value=compile
		compile+=("$word")
		;;
	-*) compile+=("$word") ;;
	*.c | *.cc | *.cpp | *.cxx) sources+=("$word") ;;
	esac
done
if [ $plain = yes ] || [ ${#sources[@]} = 0 ]; then
	exec "$real" $collects "$@"
elif [ $links = no ]; then
	exec ccache "$real" $collects "$@"
fi

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
case $real in clang*) quiet=-Qunused-arguments ;; *) quiet= ;; esac
for i in "${!sources[@]}"; do
	ccache "$real" $collects "${compile[@]}" $quiet -c "${sources[$i]}" -o "$made/$i.o" || exit
done
for word in "$@"; do
	for i in "${!sources[@]}"; do
		[ "$word" != "${sources[$i]}" ] || word=$made/$i.o
	done
	objects+=("$word")
done
"$real" $quiet "${objects[@]}"
