#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes files into a C source, so that the program carries them with it.

usage: embed.py OUTPUT.c FILE ...

Defines tl__embedded, an array of {name without extension, text, size} that ends with a NULL name.
"""
import os
import sys


def literal(data):
    """The bytes as C string literals, one a line; octal escapes cannot run into the next character."""
    lines = []
    for line in data.splitlines(keepends=True) or [b""]:
        text = "".join(
            chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else "\\%03o" % b for b in line
        )
        lines.append('\t "%s"' % text)
    return "\n".join(lines)


def main(output, paths):
    out = ["/* Made by scripts/embed.py; changes are lost. */", '#include "perf/embedded.h"', ""]
    out.append("const tl_embedded tl__embedded[] = {")
    for path in paths:
        with open(path, "rb") as f:
            data = f.read()
        name = os.path.splitext(os.path.basename(path))[0]
        out.append('\t{"%s", %s, %d},' % (name, "\n" + literal(data), len(data)))
    out += ["\t{0, 0, 0},", "};", ""]
    with open(output, "w", encoding="ascii") as f:
        f.write("\n".join(out))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
