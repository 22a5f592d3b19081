# SPDX-License-Identifier: MIT
"""Runs the tests of the Python package; exit status 77 where pandas is missing.

usage: run.py [NAME ...]          test_NAME.py only
       run.py --script FILE       a program instead, which must end well
"""
import glob
import os
import runpy
import sys
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))


def main():
    try:
        import pandas  # noqa: F401
    except ImportError:
        print("skipped: no pandas")
        return 77
    if sys.argv[1:2] == ["--script"]:
        sys.argv = sys.argv[2:]
        runpy.run_path(sys.argv[0], run_name="__main__")
        return 0
    sys.path.insert(0, FOLDER)
    names = [f"test_{name}" for name in sys.argv[1:]] or sorted(
        os.path.splitext(os.path.basename(path))[0] for path in glob.glob(os.path.join(FOLDER, "test_*.py")))
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    return 0 if unittest.TextTestRunner(verbosity=1, buffer=True).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
