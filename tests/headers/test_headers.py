#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each public header compiles alone, as C11 and as C++11, without a warning; all of them together, too.

usage: test_headers.py C_COMPILER [CXX_COMPILER]

A compiler is one argument; words in it are separated by blanks. Without a C++ compiler that part is skipped.
"""
import os
import subprocess
import sys
import tempfile

ROOT = os.environ.get("TL_SOURCE_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = os.path.join(ROOT, "include")
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", INCLUDE]

# Options zero-initialised, a callback, and an enumeration, as C++ programs use them.
PROGRAM = """
#include <tracelens/tracelens.h>
static int receive(void *, const char *, size_t) { return 0; }
int use(const char *path)
{
	tl_error err = TL_ERROR_INIT;
	tl_trace_options options = {};
	tl_launcher_options columns = {};
	const tl_statistic mean[] = {TL_STAT_MEAN};
	tl_stat_options summary = {};
	tl_trace *trace = nullptr;
	tl_tree *tree = nullptr;
	tl_analyzer *analyzer = nullptr;
	tl_table *table = nullptr, *sums = nullptr;
	options.keep_raw = columns.kernel_details = true;
	summary.statistics = mean;
	summary.n_statistics = 1;
	int code = tl_trace_open(&trace, path, &options, &err);
	if (code == 0)
		code = tl_tree_build(&tree, trace, nullptr, &err);
	if (code == 0)
		code = tl_tree_print(tree, 0, nullptr, receive, nullptr, &err);
	if (code == 0)
		code = tl_analyzer_new(&analyzer, tree, nullptr, &err);
	if (code == 0)
		code = tl_analyzer_launchers(&table, analyzer, &columns, &err);
	if (code == 0)
		code = tl_launchers_by_args(&sums, table, &summary, &err);
	tl_table_free(sums);
	tl_table_free(table);
	tl_analyzer_free(analyzer);
	tl_tree_free(tree);
	tl_trace_free(trace);
	return code;
}
"""


def compiles(compiler, language, standard, text):
    with tempfile.NamedTemporaryFile("w", suffix=".c" if language == "c" else ".cpp") as f:
        f.write(text)
        f.flush()
        run = subprocess.run([*compiler.split(), "-x", language, "-std=" + standard, *STRICT, f.name],
                             capture_output=True, text=True)
    if run.returncode:
        print(run.stderr)
    return run.returncode == 0


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    headers = sorted(os.listdir(os.path.join(INCLUDE, "tracelens")))
    failed = [f"{h} as C" for h in headers
              if not compiles(sys.argv[1], "c", "c11", f"#include <tracelens/{h}>\nint nothing;\n")]
    if len(sys.argv) > 2:
        failed += [f"{h} as C++" for h in headers
                   if not compiles(sys.argv[2], "c++", "c++11", f"#include <tracelens/{h}>\n")]
        if not compiles(sys.argv[2], "c++", "c++11", PROGRAM):
            failed.append("a C++ program")
    else:
        print("skipped: no C++ compiler")
    print("failed: " + ", ".join(failed) if failed else f"{len(headers)} headers are fine")
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
