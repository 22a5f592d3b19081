#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tests of the Python package under AddressSanitizer and UndefinedBehaviorSanitizer, in an ordinary interpreter
# that loads the sanitizer first. Memory of the library that is left behind counts; that of the interpreter does not, and
# neither what a Python object still holds, for which test_memory.py is there.
# usage: run_asan.sh BUILD [NAME ...]     BUILD is a sanitized build with the Python package in it
set -eu

build=$(cd "$1" && pwd)
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
library=$(${CC:-cc} -print-file-name=libasan.so)
if [ "${library#/}" = "$library" ]; then
	echo "skipped: ${CC:-cc} has no libasan.so to load first"
	exit 0
fi
module=$(ls "$build"/python/_core.*.so 2>/dev/null | head -n 1)
if [ -z "$module" ]; then
	echo "skipped: the build has no Python package (python3-dev is missing)"
	exit 0
fi

# an interpreter of the version that the module is made for, with pandas
fits() {
	"$1" -c 'import sys, sysconfig, pandas; sys.exit(not sys.argv[1].endswith("_core" + sysconfig.get_config_var("EXT_SUFFIX")))' \
		"$module" 2>/dev/null
}
python=
for candidate in ${PYTHON:-} python3 "${build%-asan}/python-check/newest/bin/python" /usr/bin/python3; do
	if [ -z "$python" ] && fits "$candidate"; then
		python=$candidate
	fi
done
if [ -z "$python" ]; then
	echo "skipped: no interpreter of this version has pandas (make python-check makes one)"
	exit 0
fi

cd "$root"
# four frames of each allocation: enough for the library's own, so that the interpreter's further up decide nothing
env TL_SOURCE_ROOT="$root" TL_COMMAND="$build/tracelens" PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1 \
	PYTHONMALLOC=malloc UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	ASAN_OPTIONS=detect_leaks=1:malloc_context_size=4 \
	LSAN_OPTIONS=suppressions="$root/tests/python/interpreter.supp":print_suppressions=0 \
	LD_PRELOAD="$library $(${CC:-cc} -print-file-name=libstdc++.so)" \
	"$python" tests/python/run.py "$@"
