# SPDX-License-Identifier: MIT
"""Puts the package together in the build folder: links to its sources, and the extension module beside them.

usage: stage.py SOURCE_FOLDER MODULE STAMP     the package lies beside STAMP
"""
import os
import sys


def link(target, path):
    if os.path.islink(path) or os.path.isfile(path):
        os.unlink(path)
    os.symlink(os.path.abspath(target), path)


def main():
    source, module, stamp = sys.argv[1:]
    package = os.path.join(os.path.dirname(os.path.abspath(stamp)), "TraceLens")
    os.makedirs(package, exist_ok=True)
    for name in os.listdir(package):
        os.unlink(os.path.join(package, name)) if os.path.islink(os.path.join(package, name)) else None
    for name in os.listdir(source):
        if name != "__pycache__" and not name.endswith(".so"):
            link(os.path.join(source, name), os.path.join(package, name))
    link(module, os.path.join(package, os.path.basename(module)))
    with open(stamp, "w", encoding="utf-8"):
        pass


if __name__ == "__main__":
    main()
