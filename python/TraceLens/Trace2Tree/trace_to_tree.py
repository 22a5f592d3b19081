# SPDX-License-Identifier: MIT
"""The call tree of a PyTorch trace: host operations nested by time, GPU work below what launched it."""
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from numbers import Real

from .. import _core
from .._edit import commit
from .._event import uid_of
from ..util import TraceEventUtils

_NEEDS_PYTHON = ("This method requires the add_python_func flag to be set to True when building the tree.")
_CATEGORY = TraceEventUtils.default_categorizer


def _text_of(events, event_to_category):
    """A list of events as the JSON text of a trace, packed into bytes."""
    if isinstance(events, (str, bytes, Mapping)) or not isinstance(events, Iterable):
        raise TypeError(f"events_data must be a list of events, not {type(events).__name__}")
    pieces = []
    encode = json.JSONEncoder(check_circular=False, default=_plain).encode
    for event in events:
        if not isinstance(event, Mapping):
            raise TypeError(f"an event is a mapping, not {type(event).__name__}")
        if event_to_category is not _CATEGORY:
            event = {**event, "cat": event_to_category(event)}
        pieces.append(encode(event if type(event) is dict else dict(event)))
    return ('{"traceEvents": [' + ",\n".join(pieces) + "]}").encode()


def _plain(value):
    """Values that JSON does not know but lists of events hold: events, numbers of NumPy, sets."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"an event holds a value of type {type(value).__name__}, which is no JSON")


class _EventsByUID(Mapping):
    """UID -> event."""

    __slots__ = ("_tree",)

    def __init__(self, tree):
        self._tree = tree

    def __getitem__(self, uid):
        if uid is None:  # the parent of a root, of which scripts ask for the event
            raise KeyError(uid)
        return self._tree.event(uid)

    def __setitem__(self, uid, event):
        if uid == len(self._tree):
            self._tree.append(event)
        elif uid not in self:
            raise ValueError(f"the next UID is {len(self._tree)}, not {uid}")
        elif self._tree.event(uid) != event:
            self._tree.event(uid).update({k: v for k, v in event.items() if k != "UID"})

    def __contains__(self, uid):
        return isinstance(uid, Real) and uid == uid // 1 and 0 <= uid < len(self._tree)

    def __iter__(self):
        return iter(range(len(self._tree)))

    def __len__(self):
        return len(self._tree)


class TraceToTree:
    """The call tree of a list of events.

    Parameters
    ----------
    events_data : list of dicts, as ``json.load(file)["traceEvents"]`` gives them. Times in µs.
    prune_nongpu_paths : events without GPU work below them have the key ``non_gpu_path``
    compute_end_times, linking_key : accepted; end times are always there, and links are found by every means
    event_to_category : function of an event that gives its ``cat``
    trace_metadata : top-level keys of the file, kept as they are

    Attributes: ``events`` (all events, by UID), ``events_by_uid``, ``trace_metadata``, ``metadata``
    (pid -> tid -> field -> value), ``linking_key``, ``cpu_root_nodes`` (UIDs of outermost operations by start),
    ``name2event_uids`` (name -> UIDs), and after :meth:`build_tree` ``add_python_func``.
    """

    def __init__(self, events_data, prune_nongpu_paths=True, compute_end_times=True, linking_key=None,
                 event_to_category=_CATEGORY, trace_metadata=None):
        text = _text_of(events_data, event_to_category)
        self._begin(_core.Trace.open_memory(text), prune_nongpu_paths, linking_key, event_to_category, trace_metadata)

    @classmethod
    def _of_trace(cls, trace, trace_metadata=None):
        """A tree of a loaded trace."""
        self = cls.__new__(cls)
        TraceToTree._begin(self, trace, True, None, _CATEGORY, trace_metadata)
        return self

    def _begin(self, trace, prune, linking_key, event_to_category, trace_metadata):
        self._core = _core.Tree(trace, prune_nongpu_paths=prune)
        self._linking_key = linking_key
        self._clipped = False
        self.event_to_category = event_to_category
        self.prune_nongpu_paths = prune
        self._trace = trace
        if trace_metadata is not None:
            self.trace_metadata = dict(trace_metadata)

    @cached_property
    def trace_metadata(self):
        """Top-level keys of the file other than ``traceEvents``, with their values."""
        return self._trace.metadata()

    # ---- building ----

    def build_tree(self, add_python_func=False, link_fwd_bwd=True, metadata_events=None, pb_file_name=None, **kwargs):
        """Builds the tree, with Python frames as nodes on request. A tree that is built that way already stays.

        ``clip_stream_overruns=True`` ends GPU events that overrun the next one on their stream by 1 ms or more there."""
        add_python_func, clip = bool(add_python_func), bool(kwargs.get("clip_stream_overruns"))
        if not self._core.built or self._core.has_python != add_python_func or self._clipped != clip:
            if self._core.edited:
                raise ValueError("the tree was edited: build it with or without Python frames before")
            self._core.build(add_python_func, clip)
            self._clipped = clip
            self._forget()
        self.add_python_func = add_python_func

    def build_host_call_stack_tree(self, add_python_func=False):
        """The same as :meth:`build_tree`: the library builds the whole tree at once."""
        self.build_tree(add_python_func)

    def add_gpu_ops_to_tree(self):
        """Links are part of :meth:`build_tree`."""
        self._built()

    def label_non_gpu_paths(self):
        """From now on events without GPU work below them have the key ``non_gpu_path``: they have it anyway."""
        self._built()

    def link_all_fwd_bwd_events(self):
        """Forward and backward events are linked by :meth:`build_tree`."""
        self._built()

    @staticmethod
    def default_categorizer(event):
        """``event["cat"]``."""
        return event["cat"]

    def _built(self):
        if not self._core.built:
            raise ValueError("the tree is not built yet: call build_tree first")
        return self._core

    def _sealed(self):
        """The core tree, with everything that was assigned to events."""
        if self._built().dirty and commit(self._core):
            self._forget()
        return self._core

    def _forget(self):
        for name in ("cpu_root_nodes", "name2event_uids", "_index", "_busy_times"):
            self.__dict__.pop(name, None)

    # ---- events ----

    @property
    def events(self):
        """All events as a sequence: the position is the UID. Objects are made when asked for."""
        return self._core.events

    @property
    def events_by_uid(self):
        """UID -> event."""
        return _EventsByUID(self._core)

    def get_UID2event(self, UID):
        """The event of a UID. KeyError, also for None, which is no event's UID."""
        return self.events_by_uid[UID]

    def get_parent_event(self, event):
        """The event above, or None."""
        parent = self._own(event).get("parent")
        return None if parent is None else self._core.event(parent)

    def get_children_events(self, event):
        """The events directly below, by start, GPU events last."""
        return [self._core.event(uid) for uid in self._own(event).get("children", ())]

    def get_gpu_events(self, event):
        """The GPU events below, in order of launch."""
        return [self._core.event(uid) for uid in self._own(event).get("gpu_events", ())]

    def _own(self, event):
        """The event itself; a copy of one or a UID are taken for the event they name."""
        return self._core.event(uid_of(event))

    def get_node_by_ext_id_pid_tid(self, ext_id, pid, tid):
        """The first event of a thread with this ``External id``, or None."""
        uid = self._index["external"].get((ext_id, pid, tid))
        return None if uid is None else self._core.event(uid)

    def get_seq_nums_for_node_subtree(self, node_UID):
        """The set of ``Sequence number`` of an event and all below it."""
        numbers = set()
        for uid in self._sealed().subtree(self._own(node_UID)):
            number = (self._core.event(uid).get("args") or {}).get("Sequence number")
            if number is not None:
                numbers.add(number)
        return numbers

    def get_subtree_bwd_events(self, event_UID):
        """UIDs of the backward events of an event and all below it, ascending."""
        core = self._sealed()
        return sorted({uid for node in core.subtree(self._own(event_UID)) for uid in core.backward(node)})

    # ---- printing ----

    def traverse_subtree_and_print(self, node, prune_non_gpu=True, cpu_op_fields=(), include_bwd=False):
        """Prints an event and what is below it: UID, category, name, and the duration of GPU events in µs.

        ``cpu_op_fields`` are keys of ``args`` to show of operations, ``include_bwd`` adds backward events."""
        core = self._sealed()
        print(core.print(self._own(node), _fields(cpu_op_fields), not prune_non_gpu, include_bwd), end="")

    def traverse_parents_and_print(self, node, cpu_op_fields=(), follow_fwd_link=False):
        """Prints an event and the chain of its parents. Returns the last of them."""
        core = self._sealed()
        text, root = core.print_parents(self._own(node), _fields(cpu_op_fields), follow_fwd_link)
        print(text, end="")
        return core.event(root)

    def traverse_parents_and_get_callstack(self, node, filter=(), follow_fwd_link=False):
        """Names from an event to its root; of its parents those that contain one of ``filter``, all when it is empty."""
        return self._sealed().call_stack(self._own(node), _fields(filter or (), "filter"), follow_fwd_link)

    # ---- nn.Modules ----

    def get_nn_module_children(self, nn_module_event):
        """UIDs of the nn.Modules nearest below, by start; from then on the event has them as ``nn_module_children``, and
        they have ``nn_module_parent``. ValueError without Python frames in the tree."""
        core, event = self._with_python(), self._own(nn_module_event)
        children = core.module_children(event)
        event["nn_module_children"] = children
        for uid in children:
            core.event(uid)["nn_module_parent"] = event["UID"]
        return children

    def get_nn_module_parent(self, nn_module_event):
        """UID of the nn.Module nearest above, or None. ValueError without Python frames in the tree."""
        return self._with_python().module_parent(self._own(nn_module_event))

    def _with_python(self):
        if not self._built().has_python:
            raise ValueError(_NEEDS_PYTHON)
        return self._sealed()

    # ---- annotations ----

    def apply_annotation(self, name_filters=()):
        """Gives each event whose name starts with one of ``name_filters`` the key ``annotation``: the name of the
        first annotation by start that contains it, else ``"NA"``."""
        annotations = sorted((e for e in self.events if "user_annotation" in (e["cat"] or "")),
                             key=lambda e: e.get("ts", 0))
        spans = [(a.get("ts", 0), a.get("ts", 0) + a.get("dur", 0), a["name"]) for a in annotations]
        for event in self.events:
            name = event.get("name") or ""
            if not name.startswith(tuple(name_filters)) or not name_filters:
                continue
            start = event.get("ts", 0)
            end = start + event.get("dur", 0)
            event["annotation"] = next((n for a, b, n in spans if a <= start and end < b), "NA")

    # ---- indexes, made when asked for ----

    @cached_property
    def cpu_root_nodes(self):
        """UIDs of operations without an operation above them, by start."""
        return self._built().operation_roots() if self._core.built else []

    @cached_property
    def name2event_uids(self):
        """Name -> UIDs: host events by start, then GPU events in order of launch."""
        return defaultdict(list, self._built().names() if self._core.built else {})

    @property
    def linking_key(self):
        """The key of ``args`` that links launches and GPU events: ``correlation`` where the first launch has it."""
        if self._linking_key:
            return self._linking_key
        return self._index["link"] or "External id"

    @property
    def metadata(self):
        """pid -> tid -> field -> value, of the metadata events."""
        return self._index["metadata"]

    @property
    def seq_num2event_uids_map(self):
        """``Sequence number`` -> UIDs."""
        return self._index["sequence"]

    @property
    def runtime_event_uids(self):
        """UIDs of runtime and driver calls."""
        return self._index["runtime"]

    @property
    def ac2g_event_map(self):
        """``start`` and ``end`` -> id -> half of an arrow."""
        return self._index["flows"]

    @property
    def linking_id_to_gpu_events(self):
        """Link value -> GPU events."""
        return {key: [self._core.event(u) for u in uids] for key, uids in self._index["links"].items()}

    @property
    def pid_tid_event_map(self):
        """(pid, tid, link value) -> event."""
        return {key: self._core.event(uid) for key, uid in self._index["threads"].items()}

    @property
    def dict_stream_index2event(self):
        """(stream, position on it) -> GPU event; where devices have streams of one number, the first one's."""
        found = {}
        for uid in self._built().all_gpu_events(False):
            event = self._core.event(uid)
            args = event.get("args") or {}
            if "stream_index" in args:
                found.setdefault((args["stream"], args["stream_index"]), event)
        return found

    @cached_property
    def _busy_times(self):
        """UID -> (µs in which GPU events below it run, number of these), as far as they were asked for."""
        return {}

    @cached_property
    def _index(self):
        """One pass over all events; few scripts need it."""
        index = {"external": {}, "sequence": defaultdict(list), "runtime": [], "flows": {"start": {}, "end": {}},
                 "links": defaultdict(list), "threads": {}, "link": None}
        metadata = []
        for event in self.events:
            _index_event(index, metadata, event)
        index["metadata"] = TraceEventUtils.get_metadata(metadata)
        return index


def _index_event(index, metadata, event):
    uid, cat, args = event["UID"], event["cat"], event.get("args") or {}
    if event.get("ph") == "M":
        metadata.append(event)
    if cat == "ac2g":
        half = {"s": "start", "f": "end"}.get(event.get("ph"))
        if half:
            index["flows"][half][event.get("id")] = event.copy()
        return
    if cat in ("cuda_runtime", "cuda_driver"):
        index["runtime"].append(uid)
        if index["link"] is None and "launch" in (event.get("name") or "").lower():
            index["link"] = "correlation" if "correlation" in args else "External id"
    pid, tid = event.get("pid"), event.get("tid")
    if "External id" in args:
        index["external"].setdefault((args["External id"], pid, tid), uid)
    if args.get("Sequence number") is not None:
        index["sequence"][args["Sequence number"]].append(uid)
    link = args.get("correlation")
    if link is not None:
        if cat in ("kernel", "gpu_memcpy", "gpu_memset"):
            index["links"][link].append(uid)
        index["threads"][(pid, tid, link)] = uid


def _fields(fields, what="cpu_op_fields"):
    if isinstance(fields, (str, bytes)):
        raise TypeError(f"{what} is a sequence of names, not one {type(fields).__name__}")
    return tuple(fields)
