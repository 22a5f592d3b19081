# SPDX-License-Identifier: MIT
"""Tables of the library as pandas DataFrames, column by column."""
import numpy as np
import pandas as pd


def column(table, name):
    """A column as an array of numbers or a list."""
    kind, cells = table.column(name)
    return cells if kind == "O" else np.frombuffer(cells, dtype=kind if kind != "b1" else bool)


_PARAMETER = "param: "


def _array(cells, name):
    """A column as an array: a list as one of objects, without a look into the tuples and lists that it holds. Columns
    of parameters may hold anything; those that hold nothing but integers, truth values or fractions are numbers."""
    if not isinstance(cells, list):
        return cells
    if name.startswith(_PARAMETER) and cells:
        kinds = set(map(type, cells))
        if len(kinds) == 1 and kinds <= {int, bool, float}:
            try:
                return np.array(cells, dtype={int: np.int64, bool: bool, float: np.float64}[kinds.pop()])
            except OverflowError:  # beyond 64 bits
                pass
    return np.fromiter(cells, dtype=object, count=len(cells))


def frame(table, drop=()):
    """A DataFrame of a table; columns named in ``drop`` are left out. It owns its columns, none is copied."""
    return pd.DataFrame({name: _array(column(table, name), name) for name in table.columns if name not in drop}, copy=False)
