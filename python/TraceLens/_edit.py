# SPDX-License-Identifier: MIT
"""Assignments to events become changes of the tree.

What a script assigns to events is kept beside the tree and seen by whoever reads the events. Before the next analysis
:func:`commit` tells the tree, in one edit: names, categories, times and arguments first, then new events, then places.
If something cannot be, the tree stays as it was, the assignments stay too, and the analysis raises.
"""
import json

from . import _core
from ._event import MISSING, Args

_CHILDREN_LAST = ("parent", "children", "gpu_events")


def commit(tree):
    """Makes what was assigned to events of a core tree its own. Returns whether there was anything."""
    if not tree.dirty:
        return False
    edit = _core.Edit(tree)
    try:
        rows = sorted(tree.dirty)
        overlay = tree.overlay
        added = _order_of_making(tree, overlay)
        for row in added:
            _append(edit, tree, overlay, row)
        for row in rows:
            _set_values(edit, tree, overlay, row)
        _place(edit, overlay, rows)
        _link(edit, overlay, rows)
        edit.commit()
    except BaseException:
        edit.abort()
        raise
    for row in rows:
        for key in _CHILDREN_LAST:
            overlay.get(row, {}).pop(key, None)
        args = overlay.get(row, {}).get("args")
        if type(args) is dict or isinstance(args, Args) and (args._tree, args._row) != (tree, row):
            # from now on it must tell of changes, and of those of this event
            overlay[row]["args"] = Args(args, tree, row)
    tree.settled()
    return True


def _value(overlay, row, key):
    value = overlay.get(row, {}).get(key, MISSING)
    return None if value is MISSING else value


def _uid(value):
    if isinstance(value, _core.Event):
        return value["UID"]
    uid = int(value)
    if uid != value or not 0 <= uid < 1 << 32:
        raise KeyError(value)
    return uid


def _uids(values):
    return [] if values is None else [_uid(value) for value in values]


# ---- new events ----


def _order_of_making(tree, overlay):
    """UIDs of new events as they were appended: the tree hands out UIDs in the same order."""
    return list(tree.added)


def _like(edit, tree, overlay, row):
    """An event whose thread and times a new one takes: its parent, or something below it."""
    first = tree.added[0]
    seen = {row}
    names = ("parent", "children", "gpu_events")
    wanted = [row]
    while wanted:
        at = wanted.pop(0)
        for name in names:
            value = _value(overlay, at, name)
            found = [] if value is None else [_uid(value)] if name == "parent" else _uids(value)
            for uid in found:
                if uid < first:
                    if edit.time(uid)[0] is not None:
                        return uid
                elif uid not in seen:
                    seen.add(uid)
                    wanted.append(uid)
    raise ValueError(f"event {row} was appended without a parent, children or gpu_events that are in the tree")


def _append(edit, tree, overlay, row):
    cat = _value(overlay, row, "cat") or "cpu_op"
    if cat != "cpu_op":
        raise ValueError(f"event {row} was appended with the category {cat!r}: only operations (cpu_op) can be")
    made = edit.append(str(_value(overlay, row, "name") or ""), _like(edit, tree, overlay, row))
    if made != row:
        raise ValueError(f"event {row} was appended while pseudo-operations were made")


# ---- values ----


def _set_values(edit, tree, overlay, row):
    values = overlay.get(row, {})
    name, cat, args = (_value(overlay, row, key) for key in ("name", "cat", "args"))
    if "name" in values:
        edit.rename(row, name or "")
    if cat is not None:
        edit.set_category(row, cat)
    if "ts" in values or "dur" in values:
        _set_time(edit, tree, values, row)
    if args is not None:
        _set_args(edit, row, args)


def _set_time(edit, tree, values, row):
    start, duration = edit.time(row)
    if values.get("ts", MISSING) is not MISSING:
        start = _core.picoseconds(values["ts"], tree.base_us)
    if values.get("dur", MISSING) is not MISSING:
        duration = _core.picoseconds(values["dur"], 0)
    if start is None:
        raise ValueError(f"event {row} has no usable ts")
    edit.set_time(row, start, duration or 0)


_KNOWN_ARGS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs", "kernel_file", "Sequence number",
               "External id", "Fwd thread id")
_OF_LAUNCHES = ("correlation", "stream", "device", "grid", "block")


def _set_args(edit, row, args):
    for key in _KNOWN_ARGS:
        if key not in args and edit.arg(row, key) is not None:
            _set_arg(edit, row, key, None)
    for key, value in args.items():
        if key == "stream_index":  # told, not asked for
            continue
        if not isinstance(key, str):
            raise TypeError(f"keys of args are str, not {type(key).__name__}")
        _set_arg(edit, row, key, value)


def _set_arg(edit, row, key, value):
    try:
        text = None if value is None else json.dumps(value, default=str)
    except (TypeError, ValueError) as error:
        raise ValueError(f"args[{key!r}] of event {row} is no JSON value: {error}") from None
    before = edit.arg(row, key)
    if before is None and text is None:
        return
    if before is not None and text is not None and json.loads(before) == json.loads(text):
        return
    if key in _OF_LAUNCHES and before is None:
        return
    edit.set_arg(row, key, text)


# ---- places ----


def _place(edit, overlay, rows):
    """Parents first, then lists of children, which say the order, then GPU events."""
    for row in rows:
        if "parent" in overlay.get(row, {}):
            _set_parent(edit, row, _value(overlay, row, "parent"))
    for row in rows:
        if "children" in overlay.get(row, {}):
            _set_children(edit, overlay, row, _uids(_value(overlay, row, "children")))
    for row in rows:
        if "gpu_events" in overlay.get(row, {}):
            _set_gpu_events(edit, row, _uids(_value(overlay, row, "gpu_events")))


def _set_parent(edit, row, parent):
    parent = None if parent is None else _uid(parent)
    if not edit.in_tree(row) or edit.parent(row) != parent:
        edit.reparent(row, parent)


def _set_children(edit, overlay, row, wanted):
    wanted = list(dict.fromkeys(wanted))  # scripts append what is there already
    present = edit.children(row)
    if present == wanted:
        return
    keep = set(wanted)
    up = edit.parent(row)
    for child in present:
        # one that is left out goes where it says, else it stays beside its former parent
        if child not in keep and "parent" not in overlay.get(child, {}):
            edit.reparent(child, up) if up is not None else edit.detach(child)
    for child in wanted:
        edit.reparent(child, row)


def _set_gpu_events(edit, row, wanted):
    present = set(edit.gpu_events(row))
    up = edit.parent(row)
    for uid in wanted:
        if uid not in present:
            edit.reparent(uid, row)
    for uid in present.difference(wanted):
        edit.reparent(uid, up) if up is not None else edit.detach(uid)


# ---- forward and backward ----


def _link(edit, overlay, rows):
    """Links that scripts added; those that the trace has stay."""
    for row in rows:
        for backward in _uids(_value(overlay, row, "bwd_events")):
            edit.link(row, backward)
        forward = _value(overlay, row, "fwd_event")
        if forward is not None:
            edit.link(_uid(forward), row)
