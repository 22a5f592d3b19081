# SPDX-License-Identifier: MIT
"""Tables of the library as pandas DataFrames, column by column."""
import numpy as np
import pandas as pd

_PARAMETER = "param: "
#: Columns of parameters may hold anything; those that hold nothing but one of these are numbers.
_NUMBERS = {int: np.int64, bool: bool, float: np.float64}


def _text_type():
    """The dtype that pandas has for texts, or None where they are objects (before pandas 3)."""
    dtype = pd.Index(["text"]).dtype
    return None if isinstance(dtype, np.dtype) else dtype


#: the dtype of columns of texts, or None for objects
TEXT = _text_type()


def _objects(table, name, text):
    """A column as an array of objects, without a look into the tuples and lists that it holds. Texts are given their
    dtype ``text``: pandas would look at each twice to find it."""
    cells = np.empty(len(table), dtype=object)
    kind, empty = table.fill(name, cells)
    if kind is str and text is not None:
        return text.construct_array_type()._from_sequence(cells, dtype=text)
    if not name.startswith(_PARAMETER) or kind not in _NUMBERS:
        return cells
    if empty:  # numbers stay integers, and comparisons of the column answer for the others, too
        cells[np.equal(cells, None)] = np.nan
        return cells
    try:
        return cells.astype(_NUMBERS[kind])
    except OverflowError:  # beyond 64 bits
        return cells


def _column(table, name, kind, text):
    """A column as an array."""
    if kind in ("int64", "double", "bool"):
        kind, cells = table.column(name)
        if kind != "O":
            return np.frombuffer(cells, dtype=kind if kind != "b1" else bool)
    return _objects(table, name, text)


def _made(table, drop, text):
    return pd.DataFrame({name: _column(table, name, kind, text) for name, kind in zip(table.columns, table.types)
                         if name not in drop}, copy=False)


def frame(table, drop=()):
    """A DataFrame of a table; columns named in ``drop`` are left out. It owns its columns, none is copied."""
    made = _made(table, drop, TEXT)
    if TEXT is not None and made.columns.dtype != TEXT:  # texts are objects by now: the user has changed an option
        made = _made(table, drop, None)
    return made
