# SPDX-License-Identifier: MIT
"""Events as mappings: what the C type leaves to Python."""
from collections.abc import Mapping, MutableMapping, Sequence

from . import _core


class _Missing:
    """Marks a key of an event that was deleted."""

    __slots__ = ()

    def __repr__(self):
        return "<deleted>"


MISSING = _Missing()


class Args(dict):
    """The ``args`` of an event: a dict that tells the tree when it is changed.

    What is put into it directly is kept and seen by the next analysis. Lists inside are those of the moment: assign a
    new list instead of changing one in place.
    """

    __slots__ = ("_tree", "_row")

    def __init__(self, values, tree=None, row=None):
        super().__init__(values)
        self._tree = tree
        self._row = row

    def _changed(self):
        if self._tree is not None:
            self._tree.event(self._row)["args"] = self

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self._changed()

    def __delitem__(self, key):
        super().__delitem__(key)
        self._changed()

    def __ior__(self, other):
        super().update(other)
        self._changed()
        return self

    def clear(self):
        super().clear()
        self._changed()

    def pop(self, *args):
        value = super().pop(*args)
        self._changed()
        return value

    def popitem(self):
        item = super().popitem()
        self._changed()
        return item

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *args, **kwargs):
        super().update(*args, **kwargs)
        self._changed()

    def copy(self):
        return dict(self)

    __copy__ = copy

    def __reduce__(self):
        return dict, (dict(self),)


_core.set_helpers(Args, MISSING)
MutableMapping.register(_core.Event)
Sequence.register(_core.Events)


def uid_of(event):
    """UID that an event, a dict with the key ``UID``, or an integer means."""
    if isinstance(event, _core.Event):
        return event
    if isinstance(event, Mapping):
        try:
            return event["UID"]
        except KeyError:
            raise ValueError("the event has no UID: it does not come from a tree") from None
    return event
