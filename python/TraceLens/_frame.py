# SPDX-License-Identifier: MIT
"""Tables of the library as pandas DataFrames, column by column."""
import numpy as np
import pandas as pd


def column(table, name):
    """A column as an array of numbers or a list."""
    kind, cells = table.column(name)
    return cells if kind == "O" else np.frombuffer(cells, dtype=kind if kind != "b1" else bool)


def _array(cells):
    """A column as an array: a list as one of objects, without a look into the tuples and lists that it holds."""
    return np.fromiter(cells, dtype=object, count=len(cells)) if isinstance(cells, list) else cells


def frame(table, drop=()):
    """A DataFrame of a table; columns named in ``drop`` are left out. It owns its columns, none is copied."""
    return pd.DataFrame({name: _array(column(table, name)) for name in table.columns if name not in drop}, copy=False)
