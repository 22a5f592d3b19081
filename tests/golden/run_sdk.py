#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what the calls of the SDK return for real traces with the right answers.

usage: run_sdk.py SDK_TABLES

SDK_TABLES is the program made of sdk_tables.c. Traces and answers lie outside of the project, as for run_golden.py.
"""
import os
import subprocess
import sys
import tempfile

from run_golden import SKIPPED, corpus


def compare(shared, case, program):
    """Prints the comparison of one case; whether it agrees."""
    golden = os.path.join(shared, "golden", case)
    trace = os.path.join(shared, "corpus", "pytorch", case[len("sdk_"):] + ".json.gz")
    prefix, families = "perf_metrics_", []
    for name in sorted(os.listdir(golden)):
        if name.startswith(prefix) and not name.startswith(prefix + "summary_"):
            families.append(name[len(prefix):-len(".csv")])
    with tempfile.TemporaryDirectory() as out:
        if subprocess.run([program, trace, out, *families]).returncode:
            return False
        tool = os.path.join(shared, "tools", "compare_tables.py")
        return subprocess.run([sys.executable, tool, golden, out]).returncode == 0


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    shared = corpus()
    if not shared:
        print("skipped: no corpus")
        return SKIPPED
    cases = sorted(c for c in os.listdir(os.path.join(shared, "golden")) if c.startswith("sdk_"))
    if not cases:
        print("no golden case of the SDK")
        return 1
    failed = [c for c in cases if not compare(shared, c, os.path.abspath(sys.argv[1]))]
    print("failed: " + ", ".join(failed) if failed else f"{len(cases)} cases agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
