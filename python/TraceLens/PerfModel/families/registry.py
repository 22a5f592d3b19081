# SPDX-License-Identifier: MIT
"""Which operation has which class; which operations there are is what the library says."""
import re

from ... import _core

#: Operation -> category, backward category, sheet, as the library has them, in the order of the sheets.
REGISTRY = {name: (category, backward, sheet) for name, category, backward, sheet in _core.builtin_models()}
#: Operation -> class.
OP_TO_CLASS = {}
#: First operation of a class -> all its operations.
_operations = {}


def operations_of(first):
    """All operations of the class whose first one this is."""
    return _operations.get(first, ())


def sheet_of(category):
    """Family of a category: ``"CONV_fwd"`` belongs to ``"CONV"``."""
    return category[:-4] if category.endswith(("_fwd", "_bwd")) else category


def matching(pattern, sheet=None):
    """Operations of the library whose whole names match a regular expression, of all sheets or of one."""
    return [name for name, (_, _, its_sheet) in REGISTRY.items()
            if re.fullmatch(pattern, name) and sheet in (None, its_sheet)]


def define(module, name, base, *operations, mapped=True, **attributes):
    """Makes the class of some operations, whose arguments the library reads."""
    first = operations[0]
    _operations[first] = frozenset(operations)
    category, backward, sheet = REGISTRY.get(first, (base.category, base.bwd_category, None))
    names = ", ".join(f"``{operation}``" for operation in operations)
    values = {"__doc__": f"{base.__name__.lstrip('_')} of {names}.", "__module__": module, "operation": first,
              "category": category, "bwd_category": backward, **attributes}
    if sheet is not None and sheet != sheet_of(category):
        values["sheet_category"] = sheet
    made = type(name, (base,), values)
    if mapped:
        OP_TO_CLASS.update((operation, made) for operation in operations if operation in REGISTRY)
    return made


def public(module, names):
    """``__all__`` of a module: its own classes and functions without an underscore. ``names``: its globals."""
    return [name for name, value in names.items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module]
