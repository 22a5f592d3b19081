# SPDX-License-Identifier: MIT
"""Which event of one tree is which of the other, as a mapping that is not made before somebody looks."""
from collections.abc import Mapping


def whole(number):
    """UIDs come out of DataFrames as 12.0 where a cell of the column is empty, and empty ones as NaN: -1, no UID."""
    if isinstance(number, float):
        return int(number) if number.is_integer() else -1
    return number


class UIDMap(Mapping):
    """``(tree, UID)`` -> UID of the event in the other tree, -1 when there is none. Trees are 1 and 2.

    It has an entry for every node of both trees and every GPU event; ``dict(...)`` of it is a plain dict."""

    __slots__ = ("_diff", "_trees", "_loose")

    def __init__(self, diff, baseline, variant):
        self._diff = diff
        self._trees = (baseline, variant)
        self._loose = [None, None]  # UIDs of GPU events without a launch in the trace, once they are asked for

    def _without_launch(self, number):
        if self._loose[number - 1] is None:
            self._loose[number - 1] = dict.fromkeys(self._trees[number - 1].unlinked())
        return self._loose[number - 1]

    def __getitem__(self, key):
        try:
            number, uid = key
            uid = whole(uid)
            there = number in (1, 2) and (
                self._trees[number - 1].is_linked(uid) or uid in self._without_launch(number))
        except (TypeError, ValueError, KeyError):
            raise KeyError(key) from None
        if not there:
            raise KeyError(key)
        other = self._diff.corresponding(number, uid)
        return -1 if other is None else other

    def __iter__(self):
        for number in (1, 2):
            for uid in self._trees[number - 1].nodes():
                yield number, uid
            for uid in self._without_launch(number):
                yield number, uid

    def __len__(self):
        return sum(len(self._trees[number - 1].nodes()) + len(self._without_launch(number)) for number in (1, 2))

    def __repr__(self):
        return f"<UIDMap: {len(self)} events>"
