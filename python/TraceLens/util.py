# SPDX-License-Identifier: MIT
"""Loading of traces as plain JSON, and helpers on lists of plain events."""
import gzip
import json
import os
import re
from enum import Enum

from . import _core

#: Kernels with one of these in their names communicate, whatever the case.
COMMUNICATION_KEYS = ["rccl", "nccl"]
#: Further communication kernels: pattern, and the collective that it does.
DEFAULT_CUSTOM_COLLECTIVE_PATTERNS = [("cross_device_reduce", "allreduce")]


class _StrEnum(str, Enum):
    __str__ = str.__str__
    __format__ = str.__format__


class DataLoader:
    """Loading of trace files as they are."""

    @staticmethod
    def load_data(filename_path, save_preprocessed=False):
        """The JSON value in a file, plain or packed with gzip, zstd or zip, found by content.

        A PyTorch trace is a dict with the key ``traceEvents``. For analyses use
        :meth:`TreePerfAnalyzer.from_file`, which needs a fraction of time and memory.

        ValueError when it is no JSON, OSError when it cannot be read.
        """
        path = os.fspath(filename_path)
        data = _unpack(path)
        try:
            value = json.loads(data)
        except ValueError as error:
            raise ValueError(f"{path}: this is no JSON: {error}") from None
        if save_preprocessed:
            with open(_beside(path), "wb") as out:
                out.write(data)
        return value


def _beside(path):
    for suffix in (".json.gz", ".json", ".gz"):
        if path.endswith(suffix):
            return path[: -len(suffix)] + ".processed.json"
    return path + ".processed.json"


def _unpack(path):
    with open(path, "rb") as file:
        head = file.read(4)
        file.seek(0)
        if head[:2] == b"\x1f\x8b":
            with gzip.open(file) as packed:
                return packed.read()
        if head == b"PK\x03\x04":
            import zipfile

            with zipfile.ZipFile(file) as packed:
                return packed.read(packed.namelist()[0])
        if head == b"\x28\xb5\x2f\xfd":
            return _unpack_zstd(path)
        return file.read()


def _unpack_zstd(path):
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        try:
            import zstandard
        except ImportError:
            raise ValueError(f"{path}: zstd needs Python 3.14 or the package zstandard; from_file reads it as it is"
                             ) from None
        with open(path, "rb") as file:
            return zstandard.ZstdDecompressor().stream_reader(file).read()
    with zstd.open(path) as file:
        return file.read()


def _metadata_value(event):
    """(field, value) of a metadata event, or None for one that says nothing known."""
    source = {"process_name": "name", "process_labels": "labels", "process_sort_index": "sort_index",
              "thread_name": "name", "thread_sort_index": "sort_index"}.get(event.get("name"))
    args = event.get("args")
    if source is None or not args or source not in args:
        return None
    return event["name"], args[source]


class TraceEventUtils:
    """Helpers on lists of events, which are dicts or events of a tree."""

    class TraceKeys(_StrEnum):
        PID = "pid"
        TID = "tid"
        Phase = "ph"
        Args = "args"
        Name = "name"
        TimeStamp = "ts"
        Duration = "dur"
        Category = "cat"
        TimeEnd = "t_end"
        UID = "UID"

    class TracePhases(_StrEnum):
        DurationBegin = "B"
        DurationEnd = "E"
        Complete = "X"
        Counter = "C"
        Sample = "P"
        Metadata = "M"

    class MetadataFields(_StrEnum):
        ProcessName = "process_name"
        ProcessLabels = "process_labels"
        ProcessSort = "process_sort_index"
        ThreadName = "thread_name"
        ThreadSort = "thread_sort_index"

    class ArgNames(_StrEnum):
        Name = "name"
        SortIndex = "sort_index"
        StreamIndex = "stream_index"
        Labels = "labels"

    class GpuEventCategories(_StrEnum):
        Kernel = "kernel"
        MemSet = "gpu_memset"
        MemCpy = "gpu_memcpy"

    class CpuEventCategories(_StrEnum):
        Kernel = "cpu_op"
        Runtime = "cuda_runtime"
        Driver = "cuda_driver"

    @staticmethod
    def split_by_field(events, field, defaultKey=None):
        """Value of a field -> list of the events that have it, in order of first appearance."""
        groups = {}
        for event in events:
            groups.setdefault(event.get(field, defaultKey), []).append(event)
        return groups

    @staticmethod
    def split_event_list(events):
        """(metadata as get_metadata gives it, the other events)."""
        return TraceEventUtils.get_metadata(events), TraceEventUtils.non_metadata_events(events)

    @staticmethod
    def get_metadata(events):
        """pid -> tid -> field -> value from the metadata events; a later event goes before an earlier one."""
        metadata = {}
        for event in events:
            value = _metadata_value(event) if event.get("ph") == "M" else None
            if value:
                metadata.setdefault(event.get("pid"), {}).setdefault(event.get("tid"), {})[value[0]] = value[1]
        return metadata

    @staticmethod
    def non_metadata_events(events):
        """The events that are no metadata, as a list."""
        return [event for event in events if event.get("ph") != "M"]

    @staticmethod
    def default_categorizer(event):
        """Category of an event of a PyTorch trace."""
        return event.get("cat")

    @staticmethod
    def split_events_by_pid_tid(events):
        """pid -> tid -> list of the events that are no metadata."""
        split = {}
        for event in TraceEventUtils.non_metadata_events(events):
            split.setdefault(event.get("pid"), {}).setdefault(event.get("tid"), []).append(event)
        return split

    @staticmethod
    def sort_events_by_timestamp_duration(events):
        """Sorts a list in place by start, then duration."""
        events.sort(key=lambda event: (event.get("ts", 0), event.get("dur", 0)))

    @staticmethod
    def find_thread_by_item_in_metadata(metadata, select_item):
        """The first key whose (key, value) item satisfies a predicate. StopIteration when there is none."""
        return next(key for key, value in metadata.items() if select_item((key, value)))

    @staticmethod
    def find_threads_by_item_in_metadata(metadata, select_item):
        """All keys whose (key, value) item satisfies a predicate, one by one."""
        return (key for key, value in metadata.items() if select_item((key, value)))

    @staticmethod
    def compute_event_end_times(events):
        """Gives each event with ``ts`` and ``dur`` its ``t_end`` (µs), unless it has one."""
        for event in events:
            TraceEventUtils.compute_single_event_end_time(event)

    @staticmethod
    def compute_single_event_end_time(event):
        """The same for one event."""
        if "ts" in event and "dur" in event and "t_end" not in event:
            event["t_end"] = event["ts"] + event["dur"]

    @staticmethod
    def get_communication_regexes(custom_collective_patterns=None):
        """Compiled patterns of the names of communication kernels, with those of (regex, collective) pairs."""
        return TraceEventUtils.build_collective_filter_and_inference_rules(custom_collective_patterns)[0]

    @staticmethod
    def build_collective_filter_and_inference_rules(custom_collective_patterns=None):
        """(patterns of names, list of (pattern, collective)); a list of pairs replaces the default ones."""
        custom = DEFAULT_CUSTOM_COLLECTIVE_PATTERNS if custom_collective_patterns is None else custom_collective_patterns
        rules = [(re.compile(pattern, re.IGNORECASE), collective) for pattern, collective in custom]
        keys = [re.compile(key, re.IGNORECASE) for key in COMMUNICATION_KEYS]
        return keys + [pattern for pattern, _ in rules], rules

    @staticmethod
    def is_communication_string(text):
        """Whether a kernel's name is that of communication."""
        return bool(text) and _core.classify("gpu_memset", text) == "communication"

    @staticmethod
    def is_rocm_legacy_memcpy(text):
        """Whether a kernel's name is one by which ROCm copies."""
        return bool(text) and _core.classify("kernel", text) == "memcpy"

    @staticmethod
    def is_rocm_legacy_memset(text):
        """Whether a kernel's name is one by which ROCm fills memory."""
        return bool(text) and re.match(r"__amd_rocclr_fillBuffer(Aligned)?(\.kd)?$", text) is not None
