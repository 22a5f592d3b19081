# SPDX-License-Identifier: MIT
"""Events as mappings: what the C type leaves to Python."""
import functools
import pprint
from collections.abc import Mapping, MutableMapping, Sequence

from . import _core


class _Missing:
    """Marks a key of an event that was deleted."""

    __slots__ = ()

    def __repr__(self):
        return "<deleted>"


MISSING = _Missing()


def _assigned(values, key):
    """What a script assigned to a key of the event that a mapping or list belongs to; MISSING: it deleted the key."""
    return None if values._tree is None else values._tree.overlay.get(values._row, {}).get(key)


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

    def _refresh(self):
        """Takes over what was changed by way of another mapping of the same event."""
        if _assigned(self, "args") is MISSING:
            self._tree = None
        if self._tree is not None:
            now = self._tree.event(self._row).get("args")
            if now is not self and isinstance(now, dict):
                super().clear()
                super().update(now)

    def _changed(self):
        if self._tree is not None:
            self._tree.event(self._row)["args"] = self

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def copy(self):
        return dict(self)

    __copy__ = copy

    def __reduce__(self):
        return dict, (dict(self),)


class Uids(list):
    """A list of UIDs of an event, such as its ``children``: a list that tells the tree when it is changed."""

    __slots__ = ("_tree", "_row", "_key")

    def __init__(self, values=(), tree=None, row=None, key=None):
        super().__init__(values)
        self._tree = tree
        self._row = row
        self._key = key

    def _refresh(self):
        """Takes over what was changed by way of another list of the same event."""
        if _assigned(self, self._key) is MISSING:
            self._tree = None
        if self._tree is not None:
            super().__setitem__(slice(None), self._tree.event(self._row).get(self._key) or ())

    def _changed(self):
        if self._tree is None:
            return
        event, assigned = self._tree.event(self._row), _assigned(self, self._key)
        try:
            event[self._key] = list(self)
        except (KeyError, TypeError, ValueError):
            self._refresh()
            raise
        if isinstance(assigned, list):  # a script that keeps the list that it assigned sees the change there, too
            assigned[:] = self
            event[self._key] = assigned

    def copy(self):
        return list(self)

    __copy__ = copy

    def __reduce__(self):
        return list, (list(self),)


def _telling(base, name):
    """A method of a container that changes it, and tells the tree."""
    change = getattr(base, name)

    @functools.wraps(change)
    def method(self, *args, **kwargs):
        self._refresh()
        result = change(self, *args, **kwargs)
        self._changed()
        return result

    return method


for _name in ("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "update"):
    setattr(Args, _name, _telling(dict, _name))
for _name in ("__setitem__", "__delitem__", "__iadd__", "__imul__", "append", "clear", "extend", "insert", "pop", "remove",
              "reverse", "sort"):
    setattr(Uids, _name, _telling(list, _name))

_core.set_helpers(Args, Uids, MISSING)
MutableMapping.register(_core.Event)
Sequence.register(_core.Events)


def _pprint_event(printer, event, *args):
    printer._pprint_dict(dict(event), *args)


#: pprint shows an event as it shows a dict, where its printer can be told so.
getattr(pprint.PrettyPrinter, "_dispatch", {})[_core.Event.__repr__] = _pprint_event


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
