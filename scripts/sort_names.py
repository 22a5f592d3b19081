#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sorts the entries of a table by name, so that a program can look names up by halving.

usage: sort_names.py MACRO TABLE.def OUTPUT.inc

TABLE has one entry a line, MACRO("name", ...). OUTPUT lists the numbers of the entries (the first is 0) in the order of
their names, byte by byte.
"""
import re
import sys


def main(macro, table, output):
    entry = re.compile(rb'^' + macro.encode() + rb'\("((?:[^"\\]|\\.)*)"')
    names = []
    with open(table, "rb") as f:
        for number, line in enumerate(f, 1):
            if not line.startswith(macro.encode() + b"("):
                continue
            match = entry.match(line)
            if not match or b"\\" in match.group(1):
                sys.exit("%s:%d: the entry must begin with a plain name in quotes" % (table, number))
            names.append(match.group(1))
    order = sorted(range(len(names)), key=names.__getitem__)
    for before, after in zip(order, order[1:]):
        if names[before] == names[after]:
            sys.exit("%s: two entries for %s" % (table, names[before].decode()))
    with open(output, "w", encoding="ascii") as f:
        f.write("/* Made by scripts/sort_names.py; changes are lost. */\n")
        f.writelines("%d,\n" % i for i in order)


if __name__ == "__main__":
    main(*sys.argv[1:])
