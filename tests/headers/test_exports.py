#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shared library exports what the public headers declare as TL_API, and nothing else.

usage: test_exports.py LIBRARY
"""
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.environ.get("TL_SOURCE_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def declared():
    names = []
    for path in sorted(glob.glob(os.path.join(ROOT, "include", "tracelens", "*.h"))):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        names += re.findall(r"^TL_API\s[^;(]*?\b(tl_\w+)\s*\(", text, flags=re.M)
    return names


def exported(library):
    run = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = [line.split()[-1] for line in run.stdout.splitlines()]
    return {name.split("@")[0] for name in names if not name.startswith("_")}  # those are the linker's and sanitizers'


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not shutil.which("nm"):
        print("skipped: no nm")
        return 77
    wanted, there = declared(), exported(sys.argv[1])
    twice = sorted({name for name in wanted if wanted.count(name) > 1})
    missing, unknown = sorted(set(wanted) - there), sorted(there - set(wanted))
    for what, names in (("declared twice", twice), ("declared, not exported", missing),
                        ("exported, in no header", unknown)):
        if names:
            print(f"{what}: {', '.join(names)}")
    print(f"{len(wanted)} functions")
    return 1 if twice or missing or unknown or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
