#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the command over real traces and compares every sheet with the right answer.

usage: run_golden.py TRACELENS_BINARY [CASE_GLOB ...]

Traces, right answers and the comparing tool (tools/score.py) lie outside of the project, in
$TRACELENS_CORPUS or else in ../shared beside the project's root. Without them the test is skipped
(under Meson with exit status 77, which it knows). Without case names it runs the cases below.
"""
import fnmatch
import os
import subprocess
import sys

ROOT = os.environ.get("TL_SOURCE_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES = ["pytorch_mi300_*", "pytorch_h100_*", "pytorch_normalization_layers", "pytorch_mi210_gpu_only",
         "pytorch_torch_compile_triton", "options_*", "topk_*", "recompute_*", "callstack_*",
         "tree_*"]
SKIPPED = 77 if "TL_SOURCE_ROOT" in os.environ else 0


def corpus():
    """The folder with golden/, corpus/ and tools/, or None."""
    shared = os.environ.get("TRACELENS_CORPUS") or os.path.join(ROOT, "..", "shared")
    needed = ("golden", "corpus", os.path.join("tools", "score.py"))
    return shared if all(os.path.exists(os.path.join(shared, n)) for n in needed) else None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    shared = corpus()
    if not shared:
        print("skipped: no corpus")
        return SKIPPED
    globs = sys.argv[2:] or CASES
    cases = os.listdir(os.path.join(shared, "golden"))
    for glob in globs:  # a pattern that meets nothing would pass unnoticed
        if not fnmatch.filter(cases, glob):
            print(f"no golden case is named {glob}")
            return 1
    score = os.path.join(shared, "tools", "score.py")
    return subprocess.run([sys.executable, score, os.path.abspath(sys.argv[1]), *globs]).returncode


if __name__ == "__main__":
    sys.exit(main())
